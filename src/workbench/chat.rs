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
