//! The body of a request: a pure function of what is asked and of what the server takes.
//!
//! Never sends `temperature` (reasoning models refuse it), never a field that the request leaves open or the server is not known to
//! take. Every call in it has its output and every output its call; messages of one side that follow each other are one, since the
//! templates of many models want them to take turns. For the same reason words of the program stand where a turn ended on an output.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::domain::ids::CallId;
use crate::providers::abilities::{Abilities, Forcing};
use crate::providers::call_ids::distinct;
use crate::providers::speech::is_object;
use crate::providers::wire::Protocol;
use crate::providers::{Item, Request, ToolChoice, raw};

/// What stands for the answer of a turn that was stopped, or fell silent, after its tools had answered: some servers refuse a question right after an output.
const NO_ANSWER: &str = "[No answer was given here.]";

/// Builds the body.
pub fn body(request: &Request, can: &Abilities) -> Value {
    let options = &request.options;
    let tools = if can.tools { &request.tools[..] } else { &[] };
    let mut body = Map::new();
    let mut put = |field: &str, value: Option<Value>| body.extend(value.map(|v| (field.to_owned(), v)));
    put("model", Some(request.model.as_str().into()));
    put("messages", Some(messages(request, can).into()));
    if !tools.is_empty() {
        put("tools", Some(tools.iter().map(|tool| nested(tool, can.strict)).collect()));
        put("tool_choice", tool_choice(&request.tool_choice, can.tool_choice));
        put("parallel_tool_calls", can.parallel_switch.then(|| false.into()));
    }
    let limit = options.max_output_tokens.or(can.output_limit);
    put(can.max_tokens.as_str(), limit.map(Into::into));
    let effort = options.reasoning_effort.as_deref().filter(|_| can.reasoning_effort);
    put("reasoning_effort", effort.map(Into::into));
    put("verbosity", options.verbosity.as_deref().filter(|_| can.verbosity).map(Into::into));
    put("response_format", options.response_format.as_ref().map(response_format));
    put("service_tier", can.tier(options.service_tier.as_deref()).map(Into::into));
    put("stream", Some(true.into()));
    put("stream_options", can.usage_option.then(|| json!({ "include_usage": true })));
    can.without_refused(Value::Object(body))
}

/// A tool, nested under `function`.
pub fn nested(tool: &Value, strict: bool) -> Value {
    let mut function = Map::new();
    for field in ["name", "description", "parameters"] {
        function.extend(tool.get(field).map(|value| (field.to_owned(), value.clone())));
    }
    if strict {
        function.extend(tool.get("strict").map(|value| ("strict".to_owned(), value.clone())));
    }
    json!({ "type": "function", "function": function })
}

fn tool_choice(choice: &ToolChoice, forcing: Forcing) -> Option<Value> {
    let named = |name: &str| json!({ "type": "function", "function": { "name": name } });
    match (choice, forcing) {
        (_, Forcing::Never) => None,
        (ToolChoice::Named(name), Forcing::Named) => Some(named(name)),
        (ToolChoice::Named(_) | ToolChoice::Required, Forcing::Required | Forcing::Named) => {
            Some("required".into())
        }
        _ => Some("auto".into()),
    }
}

fn response_format(format: &Value) -> Value {
    match format {
        Value::String(kind) => json!({ "type": kind }),
        Value::Object(fields) if fields.contains_key("type") && !fields.contains_key("properties") => {
            format.clone()
        }
        schema => {
            let named = json!({ "name": "answer", "schema": schema, "strict": true });
            json!({ "type": "json_schema", "json_schema": named })
        }
    }
}

/// One message, in no protocol's words yet.
#[derive(Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// From the author.
    User(String),
    /// From the model: words, and calls with name and arguments.
    Model {
        /// What it said.
        words: String,
        /// What it called.
        calls: Vec<(&'a CallId, &'a str, &'a str)>,
        /// What it thought, as this wire's own raw items say.
        raw: Vec<&'a Value>,
    },
    /// The output of a call.
    Output {
        /// Which call.
        call_id: &'a CallId,
        /// Which tool.
        name: &'a str,
        /// The result.
        output: &'a str,
    },
}

/// Gathers items into messages. Calls without an output and outputs without a call are left out, and all of them where no tools are on offer:
/// servers refuse them then. Raw items are kept of `wire` alone, and only of the turn that is running: of what follows the `question`. Ids are
/// taken to be unique ([`distinct`]). Between an output and the next question there is always a message of the model.
pub fn said<'a>(items: &'a [Item], question: usize, wire: Protocol, tools: bool) -> Vec<Message<'a>> {
    let called: HashSet<&CallId> = items
        .iter()
        .filter_map(|i| if let Item::Call { call_id, .. } = i { Some(call_id) } else { None })
        .collect();
    let answered: HashSet<&CallId> = items
        .iter()
        .filter_map(|i| if let Item::Output { call_id, .. } = i { Some(call_id) } else { None })
        .collect();
    let mut messages: Vec<Message<'a>> = vec![];
    for (at, item) in items.iter().enumerate() {
        match item {
            Item::Context(text) | Item::Author(text) => match messages.last_mut() {
                Some(Message::User(before)) => {
                    before.push_str("\n\n");
                    before.push_str(text);
                }
                _ => messages.push(Message::User(text.clone())),
            },
            Item::Persona(text) => {
                let (words, calls, _) = model(&mut messages);
                if !calls.is_empty() {
                    messages.push(Message::Model { words: text.clone(), calls: vec![], raw: vec![] });
                } else if words.is_empty() {
                    words.clone_from(text);
                } else {
                    words.push_str("\n\n");
                    words.push_str(text);
                }
            }
            Item::Call { call_id, name, arguments } => {
                if tools && answered.contains(call_id) {
                    model(&mut messages).1.push((call_id, name, arguments));
                }
            }
            Item::Output { call_id, name, output } => {
                if tools && called.contains(call_id) {
                    messages.push(Message::Output { call_id, name, output });
                }
            }
            Item::Raw(item) => {
                if let Some(own) = raw::of(wire, item).filter(|_| at > question) {
                    model(&mut messages).2.push(own);
                }
            }
        }
    }
    messages.retain(|message| match message {
        Message::Model { words, calls, .. } => !words.trim().is_empty() || !calls.is_empty(),
        Message::User(_) | Message::Output { .. } => true,
    });
    answered_before_each_question(messages)
}

fn answered_before_each_question(messages: Vec<Message<'_>>) -> Vec<Message<'_>> {
    let mut all: Vec<Message<'_>> = Vec::with_capacity(messages.len());
    for message in messages {
        if matches!((all.last(), &message), (Some(Message::Output { .. }), Message::User(_))) {
            all.push(Message::Model { words: NO_ANSWER.to_owned(), calls: vec![], raw: vec![] });
        }
        all.push(message);
    }
    all
}

type OfModel<'m, 'a> = (&'m mut String, &'m mut Vec<(&'a CallId, &'a str, &'a str)>, &'m mut Vec<&'a Value>);

/// The message of the model that is last, or a new one.
fn model<'m, 'a>(messages: &'m mut Vec<Message<'a>>) -> OfModel<'m, 'a> {
    if !matches!(messages.last(), Some(Message::Model { .. })) {
        messages.push(Message::Model { words: String::new(), calls: vec![], raw: vec![] });
    }
    match messages.last_mut() {
        Some(Message::Model { words, calls, raw }) => (words, calls, raw),
        _ => unreachable!("one was just put there"),
    }
}

fn messages(request: &Request, can: &Abilities) -> Vec<Value> {
    let tools = can.tools && !request.tools.is_empty();
    let mut messages = vec![];
    if !request.instructions.is_empty() {
        messages.push(json!({ "role": "system", "content": request.instructions }));
    }
    let items = distinct(request, can.call_ids);
    let running = items.get(request.question..).unwrap_or_default();
    let is_running =
        |id: &CallId| running.iter().any(|i| matches!(i, Item::Call { call_id, .. } if call_id == id));
    messages.extend(said(&items, request.question, Protocol::Chat, tools).into_iter().map(|message| {
        match message {
            Message::User(text) => json!({ "role": "user", "content": text }),
            Message::Model { words, calls, raw } => {
                let content = if words.is_empty() { Value::Null } else { words.into() };
                let mut message = json!({ "role": "assistant", "content": content });
                if let Some((id, ..)) = calls.first() {
                    // A server that wants thoughts back wants the field with every call of this turn, also where there were none.
                    if can.echo_reasoning && is_running(id) {
                        message["reasoning_content"] = "".into();
                    }
                    message["tool_calls"] = calls.into_iter().map(call).collect();
                    for (field, wanted) in
                        [("reasoning_content", can.echo_reasoning), ("reasoning_details", can.echo_details)]
                    {
                        let thoughts = raw.iter().filter_map(|r| r.get(field)).next_back();
                        if let Some(thoughts) = thoughts.filter(|_| wanted) {
                            message[field] = thoughts.clone();
                        }
                    }
                }
                message
            }
            Message::Output { call_id, output, .. } => {
                json!({ "role": "tool", "tool_call_id": call_id, "content": output })
            }
        }
    }));
    messages
}

fn call((id, name, arguments): (&CallId, &str, &str)) -> Value {
    // Templates read the arguments as JSON, and fail on what is none. Its output says what was wrong with it.
    let arguments = if is_object(arguments) { arguments } else { "{}" };
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::Options;
    use crate::providers::abilities::LimitField;

    fn call_item(id: &str, arguments: &str) -> Item {
        Item::Call { call_id: CallId::new(id), name: "look".into(), arguments: arguments.into() }
    }

    fn output(id: &str) -> Item {
        Item::Output { call_id: CallId::new(id), name: "look".into(), output: format!("out {id}") }
    }

    fn request(items: Vec<Item>) -> Request {
        let tool = json!({ "type": "function", "name": "look", "description": "Looks.", "parameters": {}, "strict": true });
        Request {
            model: "m".into(),
            instructions: "Be kind.".into(),
            question: items.iter().rposition(|i| matches!(i, Item::Author(_))).unwrap_or(0),
            items,
            fresh: 0,
            previous_response_id: Some("resp_1".into()),
            tools: vec![tool],
            tool_choice: ToolChoice::Named("look".into()),
            options: Options::default(),
        }
    }

    #[test]
    fn every_call_has_its_output_and_sides_take_turns() {
        let items = vec![
            Item::Context("Open.".into()),
            Item::Author("Who?".into()),
            Item::Raw(json!({ "type": "reasoning", "encrypted_content": "secret" })),
            Item::Persona("Let me see.".into()),
            call_item("c-1", "{\"a\":1}"),
            call_item("c-2", "{\"a\":"),
            output("c-1"),
            output("c-2"),
            call_item("forced", "{}"),
            output("forced"),
            call_item("open", "{}"),
            output("of nobody"),
            Item::Persona("She.".into()),
            Item::Author("And he?".into()),
        ];
        let body = body(&request(items.clone()), &Abilities::default());
        let call = |id: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": "look", "arguments": arguments } });
        let out = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": format!("out {id}") });
        assert_eq!(
            body["messages"],
            json!([
                { "role": "system", "content": "Be kind." },
                { "role": "user", "content": "Open.\n\nWho?" },
                { "role": "assistant", "content": "Let me see.", "tool_calls": [call("c-1", "{\"a\":1}"), call("c-2", "{}")] },
                out("c-1"),
                out("c-2"),
                { "role": "assistant", "content": null, "tool_calls": [call("forced", "{}")] },
                out("forced"),
                { "role": "assistant", "content": "She." },
                { "role": "user", "content": "And he?" },
            ])
        );
        let fields: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ["model", "messages", "tools", "tool_choice", "stream", "stream_options"]);
        let without = super::body(&Request { tools: vec![], ..request(items) }, &Abilities::default());
        let roles: Vec<_> =
            without["messages"].as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"], "a server without tools knows no calls");
        assert!(without.get("tools").is_none() && without.get("tool_choice").is_none());
    }

    #[test]
    fn a_server_is_sent_only_what_it_takes() {
        let mut request = request(vec![Item::Author("Who?".into())]);
        request.options = Options {
            max_output_tokens: Some(900),
            reasoning_effort: Some("low".into()),
            verbosity: Some("high".into()),
            service_tier: Some("flex".into()),
            response_format: Some(json!({ "type": "object", "properties": {} })),
            ..Options::default()
        };
        let all = body(&request, &Abilities::openai());
        assert_eq!((&all["max_completion_tokens"], &all["reasoning_effort"]), (&900.into(), &"low".into()));
        assert_eq!((&all["verbosity"], &all["service_tier"]), (&"high".into(), &"flex".into()));
        assert_eq!(all["tools"][0]["function"]["strict"], true);
        assert_eq!(
            (&all["parallel_tool_calls"], &all["tool_choice"]["function"]["name"]),
            (&false.into(), &"look".into())
        );
        assert_eq!(all["response_format"]["json_schema"]["name"], "answer");
        let few = body(
            &request,
            &Abilities { tool_choice: Forcing::Required, usage_option: false, ..Abilities::default() },
        );
        assert_eq!((&few["max_tokens"], &few["tool_choice"]), (&900.into(), &"required".into()));
        for field in
            ["reasoning_effort", "verbosity", "service_tier", "parallel_tool_calls", "stream_options"]
        {
            assert!(few.get(field).is_none(), "{field}");
        }
        assert!(few["tools"][0]["function"].get("strict").is_none());
        request.options.max_output_tokens = None;
        let local = Abilities {
            output_limit: Some(77),
            max_tokens: LimitField::MaxTokens,
            tools: false,
            ..Abilities::default()
        };
        let local = body(&request, &local);
        assert_eq!(local["max_tokens"], 77, "a local server may never stop by itself");
        assert!(local.get("tools").is_none());
    }

    #[test]
    fn what_was_thought_goes_back_only_where_it_is_wanted_and_within_the_turn() {
        let thought =
            |text: &str| Item::Raw(raw::wrap(Protocol::Chat, &json!({ "reasoning_content": text })));
        let items = vec![
            Item::Author("One?".into()),
            thought("old"),
            call_item("c-1", "{}"),
            output("c-1"),
            Item::Persona("Yes.".into()),
            Item::Author("Two?".into()),
            thought("new"),
            call_item("c-2", "{}"),
            output("c-2"),
        ];
        let asked = request(items);
        let plain = body(&asked, &Abilities::default()).to_string();
        assert!(!plain.contains("reasoning_content"));
        let echo = body(&asked, &Abilities { echo_reasoning: true, ..Abilities::default() });
        assert_eq!(echo["messages"][6]["reasoning_content"], "new");
        assert!(!echo.to_string().contains("old"));
    }

    #[test]
    fn calls_without_thoughts_have_an_empty_one_where_the_server_wants_them_back() {
        let thought = Item::Raw(raw::wrap(Protocol::Chat, &json!({ "reasoning_content": "hm" })));
        let items = vec![
            Item::Author("One?".into()),
            call_item("c-1", "{}"),
            output("c-1"),
            Item::Persona("Yes.".into()),
            Item::Author("Two?".into()),
            thought,
            call_item("c-2", "{}"),
            output("c-2"),
            call_item("forced-1", "{}"),
            output("forced-1"),
            Item::Persona("Hm.".into()),
        ];
        let asked = request(items);
        let echo = body(&asked, &Abilities { echo_reasoning: true, ..Abilities::default() });
        let thoughts: Vec<Option<&str>> = echo["messages"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|message| message["role"] == "assistant")
            .map(|message| message.get("reasoning_content").and_then(Value::as_str))
            .collect();
        assert_eq!(thoughts, [None, None, Some("hm"), Some(""), None]);
        assert!(!body(&asked, &Abilities::default()).to_string().contains("reasoning_content"));
    }

    #[test]
    fn a_turn_that_was_stopped_at_its_tools_leaves_a_conversation_in_which_sides_take_turns() {
        let stopped = |id: &str| {
            let said = Item::Persona("Let me look.".into());
            [Item::Author("One?".into()), said, call_item(id, "{}"), output(id)]
        };
        let items = [&stopped("c-1")[..], &[Item::Context("Open.".into())], &stopped("c-2")[..]].concat();
        let asked = request(items);
        let body = body(&asked, &Abilities::default());
        let messages = body["messages"].as_array().unwrap();
        let roles: Vec<_> = messages.iter().map(|m| m["role"].as_str().unwrap()).collect();
        let turn = ["user", "assistant", "tool"];
        assert_eq!(roles, [&["system"][..], &turn, &["assistant"], &turn].concat());
        assert_eq!(messages[4], json!({ "role": "assistant", "content": "[No answer was given here.]" }));
        let without = super::body(&Request { tools: vec![], ..asked }, &Abilities::default());
        assert!(
            !without.to_string().contains("[No answer"),
            "without tools the words before them are the answer"
        );
    }

    #[test]
    fn words_of_the_program_in_the_middle_of_a_turn_do_not_end_it() {
        let thought = Item::Raw(raw::wrap(Protocol::Chat, &json!({ "reasoning_content": "hm" })));
        let own = Item::Author("The program called `x` itself.".into());
        let items = vec![Item::Author("One?".into()), thought, call_item("c-1", "{}"), output("c-1"), own];
        let asked = Request { question: 0, ..request(items) };
        let echo = body(&asked, &Abilities { echo_reasoning: true, ..Abilities::default() });
        assert_eq!(echo["messages"][2]["reasoning_content"], "hm");
    }

    #[test]
    fn ids_are_unique_over_all_turns_and_of_the_form_that_a_server_takes() {
        let turn = || [Item::Author("?".into()), call_item("forced-1", "{}"), output("forced-1")];
        let asked = request([turn(), turn()].concat());
        let ids = |can: &Abilities| -> Vec<String> {
            let messages = body(&asked, can)["messages"].clone();
            let of = |message: &Value| {
                let id = message.get("tool_call_id").or_else(|| message["tool_calls"][0].get("id"));
                id.and_then(Value::as_str).map(str::to_owned)
            };
            messages.as_array().unwrap().iter().filter_map(of).collect()
        };
        assert_eq!(ids(&Abilities::default()), ["forced-1-2", "forced-1-2", "forced-1", "forced-1"]);
        let mistral = crate::providers::presets::named("mistral").unwrap().abilities;
        let nine = ids(&mistral);
        assert!(nine.iter().all(|id| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric())));
        assert!(nine[0] == nine[1] && nine[2] == nine[3] && nine[0] != nine[2], "{nine:?}");
        assert_eq!(ids(&mistral), nine);
    }

    #[test]
    fn thoughts_in_parts_go_back_as_they_came() {
        let details = json!([{ "type": "reasoning.encrypted", "data": "x", "id": "c-1", "index": 0 }]);
        let items = vec![
            Item::Author("One?".into()),
            Item::Raw(raw::wrap(Protocol::Chat, &json!({ "reasoning_details": details }))),
            call_item("c-1", "{}"),
            output("c-1"),
        ];
        let asked = request(items);
        let echo = body(&asked, &Abilities { echo_details: true, ..Abilities::default() });
        assert_eq!(echo["messages"][2]["reasoning_details"], details);
        assert!(!body(&asked, &Abilities::default()).to_string().contains("reasoning_details"));
    }
}
