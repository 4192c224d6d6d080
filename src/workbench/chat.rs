//! The same request as a plain Chat Completions body, for reading and for trying it elsewhere. Nothing here is ever sent.
//!
//! <https://platform.openai.com/docs/api-reference/chat/create>

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::providers::{Item, Request, ToolChoice};
use crate::tools::{Registry, schema};

/// Builds the body. Raw items are another protocol's, and what they say is in the items beside them.
pub(super) fn body(request: &Request, registry: &Registry) -> Value {
    let mut messages = vec![json!({ "role": "system", "content": request.instructions })];
    let answered: HashSet<_> = request
        .items
        .iter()
        .filter_map(|item| if let Item::Output { call_id, .. } = item { Some(call_id) } else { None })
        .collect();
    for item in &request.items {
        match item {
            Item::Context(text) | Item::Author(text) => {
                messages.push(json!({ "role": "user", "content": text }));
            }
            Item::Persona(text) => messages.push(json!({ "role": "assistant", "content": text })),
            Item::Call { call_id, name, arguments } if answered.contains(call_id) => {
                let function = json!({ "name": name, "arguments": arguments });
                let call = json!({ "id": call_id, "type": "function", "function": function });
                messages.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
            }
            Item::Output { call_id, output, .. } => {
                messages.push(json!({ "role": "tool", "tool_call_id": call_id, "content": output }));
            }
            Item::Call { .. } | Item::Raw(_) => {}
        }
    }
    let options = &request.options;
    let mut body = Map::new();
    let mut put = |field: &str, value: Option<Value>| body.extend(value.map(|v| (field.to_owned(), v)));
    put("model", Some(request.model.as_str().into()));
    put("messages", Some(messages.into()));
    if !request.tools.is_empty() {
        put("tools", Some(registry.specs().map(schema::chat_completions).collect()));
        put("tool_choice", Some(tool_choice(&request.tool_choice)));
        put("parallel_tool_calls", Some(false.into()));
    }
    put("max_completion_tokens", options.max_output_tokens.map(Into::into));
    put("reasoning_effort", options.reasoning_effort.as_deref().map(Into::into));
    put("verbosity", options.verbosity.as_deref().map(Into::into));
    put("service_tier", options.service_tier.as_deref().map(Into::into));
    put("store", Some(options.store.into()));
    put("stream", Some(true.into()));
    put("stream_options", Some(json!({ "include_usage": true })));
    Value::Object(body)
}

fn tool_choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Named(name) => json!({ "type": "function", "function": { "name": name } }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::CallId;
    use crate::providers::Options;

    #[test]
    fn every_call_in_the_body_has_its_output() {
        let call =
            |id: &str| Item::Call { call_id: CallId::new(id), name: "t".into(), arguments: "{}".into() };
        let registry = Registry::canon_only();
        let request = Request {
            model: "m".into(),
            instructions: "Be kind.".into(),
            items: vec![
                Item::Author("Who?".into()),
                Item::Raw(json!({ "type": "reasoning" })),
                call("c-1"),
                Item::Output { call_id: CallId::new("c-1"), name: "t".into(), output: "[]".into() },
                call("c-2"),
                Item::Persona("She.".into()),
            ],
            question: 0,
            fresh: 0,
            previous_response_id: Some("resp_1".into()),
            tools: registry.specs().map(schema::responses).collect(),
            tool_choice: ToolChoice::Named("search_codex".into()),
            options: Options { verbosity: Some("low".into()), ..Options::default() },
        };
        let body = body(&request, &registry);
        let roles: Vec<_> = body["messages"].as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant"]);
        assert_eq!(body["messages"][2]["tool_calls"][0]["id"], body["messages"][3]["tool_call_id"]);
        assert_eq!(body["tool_choice"]["function"]["name"], "search_codex");
        assert_eq!(body["tools"].as_array().unwrap().len(), 12);
        assert_eq!((&body["parallel_tool_calls"], &body["verbosity"]), (&json!(false), &json!("low")));
        assert!(body.get("previous_response_id").is_none() && body.get("max_completion_tokens").is_none());
    }
}
