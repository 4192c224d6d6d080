//! The body of a request: a pure function of what is asked and of what the server takes.
//!
//! There is no `tool_choice` here: a tool that must be called is called by the program itself where the model does not.

use serde_json::{Map, Value, json};

use crate::providers::Request;
use crate::providers::abilities::Abilities;
use crate::providers::call_ids::{CallIds, distinct};
use crate::providers::chat::{Message, nested, said};
use crate::providers::wire::Protocol;

/// Builds the body.
pub fn body(request: &Request, can: &Abilities) -> Value {
    let options = &request.options;
    let tools = if can.tools { &request.tools[..] } else { &[] };
    let mut body = Map::new();
    let mut put = |field: &str, value: Option<Value>| body.extend(value.map(|v| (field.to_owned(), v)));
    put("model", Some(request.model.as_str().into()));
    put("messages", Some(messages(request, !tools.is_empty()).into()));
    put("tools", (!tools.is_empty()).then(|| tools.iter().map(|tool| nested(tool, false)).collect()));
    put("stream", Some(true.into()));
    put("think", options.reasoning_effort.as_deref().filter(|_| can.reasoning_effort).map(think));
    put("format", options.response_format.as_ref().and_then(format));
    let mut limits = Map::new();
    limits.extend(can.context.map(|tokens| ("num_ctx".to_owned(), tokens.into())));
    let most = options.max_output_tokens.or(can.output_limit);
    limits.extend(most.map(|tokens| ("num_predict".to_owned(), tokens.into())));
    put("options", (!limits.is_empty()).then(|| limits.into()));
    can.without_refused(Value::Object(body))
}

/// How much to think: not at all, or one of three levels.
fn think(effort: &str) -> Value {
    match effort {
        "none" => false.into(),
        "minimal" | "low" => "low".into(),
        "medium" => "medium".into(),
        _ => "high".into(),
    }
}

fn format(format: &Value) -> Option<Value> {
    match format {
        Value::String(kind) => (kind == "json_object").then(|| "json".into()),
        schema => Some(schema.clone()),
    }
}

fn messages(request: &Request, tools: bool) -> Vec<Value> {
    let mut messages = vec![];
    if !request.instructions.is_empty() {
        messages.push(json!({ "role": "system", "content": request.instructions }));
    }
    let items = distinct(request, CallIds::Any);
    messages.extend(said(&items, request.question, Protocol::Ollama, tools).into_iter().map(|message| {
        match message {
            Message::User(text) => json!({ "role": "user", "content": text }),
            Message::Model { words, calls, .. } => {
                let mut message = json!({ "role": "assistant", "content": words });
                if !calls.is_empty() {
                    let call = |(id, name, arguments): (&_, &str, &str)| {
                        // Arguments are an object here.
                        let arguments =
                            serde_json::from_str::<Value>(arguments).ok().filter(Value::is_object);
                        let arguments = arguments.unwrap_or_else(|| json!({}));
                        json!({ "id": id, "function": { "name": name, "arguments": arguments } })
                    };
                    message["tool_calls"] = calls.into_iter().map(call).collect();
                }
                message
            }
            Message::Output { call_id, name, output } => {
                json!({ "role": "tool", "tool_name": name, "tool_call_id": call_id, "content": output })
            }
        }
    }));
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::CallId;
    use crate::providers::{Item, Options, ToolChoice};

    #[test]
    fn a_request_says_how_much_it_holds_and_repeats_arguments_as_objects() {
        let call_id = CallId::new("c-1");
        let request = Request {
            model: "qwen3".into(),
            instructions: "Be kind.".into(),
            items: vec![
                Item::Author("Who?".into()),
                Item::Call { call_id: call_id.clone(), name: "look".into(), arguments: "{\"a\":1}".into() },
                Item::Output { call_id, name: "look".into(), output: "[]".into() },
            ],
            tools: vec![
                json!({ "type": "function", "name": "look", "description": "Looks.", "parameters": {}, "strict": true }),
            ],
            tool_choice: ToolChoice::Named("look".into()),
            options: Options { reasoning_effort: Some("xhigh".into()), ..Options::default() },
            ..Request::default()
        };
        let can = Abilities {
            context: Some(16_384),
            output_limit: Some(8192),
            reasoning_effort: true,
            ..Abilities::default()
        };
        assert_eq!(
            body(&request, &can),
            json!({
                "model": "qwen3",
                "messages": [
                    { "role": "system", "content": "Be kind." },
                    { "role": "user", "content": "Who?" },
                    { "role": "assistant", "content": "", "tool_calls": [{ "id": "c-1", "function": { "name": "look", "arguments": { "a": 1 } } }] },
                    { "role": "tool", "tool_name": "look", "tool_call_id": "c-1", "content": "[]" },
                ],
                "tools": [{ "type": "function", "function": { "name": "look", "description": "Looks.", "parameters": {} } }],
                "stream": true,
                "think": "high",
                "options": { "num_ctx": 16_384, "num_predict": 8192 },
            })
        );
        let none = Options { reasoning_effort: Some("none".into()), ..Options::default() };
        assert_eq!(body(&Request { options: none, ..request }, &can)["think"], false);
    }
}
