//! What a body says, in plain form whichever wire it is made for: words, calls, and what tools returned.
//!
//! Whoever shows or counts what is sent reads it from the body, so that nobody is told anything else than what leaves. What only the server can read
//! (encrypted thoughts, signatures, ids) is no part of it.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

/// One thing that is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'b> {
    /// The system prompt.
    System(&'b str),
    /// A message of the author's side, or a whole conversation as one text with labels.
    Author(&'b str),
    /// The model.
    Model(&'b str),
    /// What the model thought, where it is told again.
    Thought(&'b str),
    /// A call by the model.
    Call {
        /// Which tool.
        name: &'b str,
        /// Its arguments, JSON.
        arguments: Cow<'b, str>,
    },
    /// What a tool returned.
    Output {
        /// Which tool; empty where the body does not say.
        name: &'b str,
        /// The result.
        output: &'b str,
    },
}

/// Returns what a body says, in its order; `None`: it is of no wire.
pub fn parts(body: &Value) -> Option<Vec<Part<'_>>> {
    let said = body.get("input").or_else(|| body.get("messages"))?;
    let mut reading = Reading::default();
    let system = ["instructions", "system"].into_iter().find_map(|field| body.get(field)?.as_str());
    reading.parts.extend(system.map(Part::System));
    match said {
        Value::String(words) => reading.parts.push(Part::Author(words)),
        said => said.as_array()?.iter().for_each(|message| reading.message(message)),
    }
    Some(reading.parts)
}

#[derive(Default)]
struct Reading<'b> {
    parts: Vec<Part<'b>>,
    /// Which tool a call was of, by its id.
    tools: HashMap<&'b str, &'b str>,
}

impl<'b> Reading<'b> {
    /// An item of the Responses API, or a message of the others.
    fn message(&mut self, message: &'b Value) {
        match text(message, "type") {
            "function_call" => return self.call(text(message, "call_id"), message),
            "function_call_output" => return self.output(text(message, "call_id"), &message["output"]),
            _ => {}
        }
        let role = text(message, "role");
        if role == "tool" {
            return self.output(text(message, "tool_call_id"), &message["content"]);
        }
        if let Some(thought) = message.get("reasoning_content").and_then(Value::as_str) {
            self.parts.push(Part::Thought(thought));
        }
        for detail in array(message, "reasoning_details") {
            let words = ["text", "summary"].into_iter().find_map(|field| detail.get(field)?.as_str());
            self.parts.extend(words.map(Part::Thought));
        }
        match &message["content"] {
            Value::String(words) => self.words(role, words),
            content => content.as_array().into_iter().flatten().for_each(|block| self.block(role, block)),
        }
        for call in array(message, "tool_calls") {
            self.call(text(call, "id"), &call["function"]);
        }
    }

    fn block(&mut self, role: &str, block: &'b Value) {
        match text(block, "type") {
            "tool_use" => self.call(text(block, "id"), block),
            "tool_result" => self.output(text(block, "tool_use_id"), &block["content"]),
            "thinking" => self.parts.push(Part::Thought(text(block, "thinking"))),
            "refusal" => self.words(role, text(block, "refusal")),
            _ => self.words(role, text(block, "text")),
        }
    }

    fn words(&mut self, role: &str, words: &'b str) {
        if words.is_empty() {
            return;
        }
        self.parts.push(match role {
            "system" | "developer" => Part::System(words),
            "assistant" => Part::Model(words),
            _ => Part::Author(words),
        });
    }

    /// A call: name, and arguments as a text or an object, under one of two names.
    fn call(&mut self, id: &'b str, call: &'b Value) {
        let name = text(call, "name");
        self.tools.insert(id, name);
        let arguments = match call.get("arguments").or_else(|| call.get("input")) {
            Some(Value::String(arguments)) => Cow::Borrowed(arguments.as_str()),
            Some(arguments) => arguments.to_string().into(),
            None => Cow::default(),
        };
        self.parts.push(Part::Call { name, arguments });
    }

    fn output(&mut self, id: &str, output: &'b Value) {
        let name = self.tools.get(id).copied().unwrap_or_default();
        self.parts.push(Part::Output { name, output: output.as_str().unwrap_or_default() });
    }
}

fn text<'b>(value: &'b Value, field: &str) -> &'b str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn array<'b>(value: &'b Value, field: &str) -> impl Iterator<Item = &'b Value> {
    value.get(field).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::ids::CallId;
    use crate::providers::abilities::Abilities;
    use crate::providers::wire::Protocol;
    use crate::providers::{Item, Options, Request, tokens};

    fn request() -> Request {
        let call_id = || CallId::new("c");
        let items = vec![
            Item::Author("One?".into()),
            Item::Call { call_id: call_id(), name: "look".into(), arguments: "{\"a\":1}".into() },
            Item::Output { call_id: call_id(), name: "look".into(), output: "much ".repeat(1_000) },
            Item::Persona("Yes.".into()),
            Item::Context("Open.".into()),
            Item::Author("Two?".into()),
        ];
        Request {
            model: "m".into(),
            instructions: "Be kind.".into(),
            question: 5,
            items,
            tools: vec![
                json!({ "type": "function", "name": "look", "description": "Looks.", "parameters": {} }),
            ],
            ..Request::default()
        }
    }

    #[test]
    fn every_wire_says_the_same_and_what_one_leaves_out_is_not_there() {
        let request = request();
        let body = |wire: Protocol| wire.wire().body(&request, &Abilities::default());
        let called = Part::Call { name: "look", arguments: "{\"a\":1}".into() };
        for wire in [Protocol::Chat, Protocol::Ollama, Protocol::Anthropic] {
            let body = body(wire);
            let parts = parts(&body).unwrap();
            assert_eq!(
                parts[..3],
                [Part::System("Be kind."), Part::Author("One?"), called.clone()],
                "{wire:?}"
            );
            assert!(matches!(parts[3], Part::Output { name: "look", output } if output.len() == 5_000));
            assert_eq!(parts[4..], [Part::Model("Yes."), Part::Author("Open.\n\nTwo?")], "{wire:?}");
        }
        let labelled = "User: One?\n\nAssistant: Yes.\n\nUser: Open.\n\nUser: Two?";
        let responses = body(Protocol::Responses);
        assert_eq!(parts(&responses).unwrap(), [Part::System("Be kind."), Part::Author(labelled)]);
        assert_eq!(parts(&json!({ "question": "Who?" })), None);
    }

    #[test]
    fn a_running_turn_of_the_responses_api_is_read_item_by_item() {
        let mut request = request();
        request.question = 0;
        request
            .items
            .insert(1, Item::Raw(json!({ "type": "reasoning", "id": "r", "encrypted_content": "e" })));
        let body = Protocol::Responses.wire().body(&request, &Abilities::default());
        let parts = parts(&body).unwrap();
        assert_eq!(
            parts[1..3],
            [Part::Author("User: One?"), Part::Call { name: "look", arguments: "{\"a\":1}".into() }]
        );
        assert!(matches!(parts[3], Part::Output { name: "look", .. }));
    }

    #[test]
    fn tokens_are_those_of_what_is_sent_and_of_what_the_server_remembers() {
        let mut request = request();
        let of = |wire: Protocol, request: &Request, can: &Abilities| {
            tokens::of(request, &wire.wire().body(request, can))
        };
        let (none, openai) = (Abilities::default(), Abilities::openai());
        let short = of(Protocol::Responses, &request, &none);
        assert!(short < 150, "{short}: what the tool returned does not leave");
        assert!(of(Protocol::Chat, &request, &none) > 1_000);
        request.options = Options { store: true, ..Options::default() };
        assert!(of(Protocol::Responses, &request, &openai).abs_diff(short) < 20);
        (request.fresh, request.previous_response_id) = (4, Some("r".into()));
        let continued = of(Protocol::Responses, &request, &openai);
        assert!(continued > 1_000, "{continued}: the server remembers it");
        let body = Protocol::Responses.wire().body(&request, &openai);
        let remembered = tokens::remembered(&request, &body);
        assert!((1_000..continued).contains(&remembered));
        assert_eq!(tokens::remembered(&request, &Protocol::Responses.wire().body(&request, &none)), 0);
    }
}
