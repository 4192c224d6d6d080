//! Wire shapes of a [`super::ToolSpec`], and the strict JSON Schema of its arguments.

use serde_json::Value;

use super::ToolSpec;

/// Encodes a tool for `POST /v1/responses` (flat, strict).
pub fn responses(spec: &ToolSpec) -> Value {
    todo!()
}

/// Encodes a tool for `POST /v1/chat/completions` (nested under `function`, strict).
pub fn chat_completions(spec: &ToolSpec) -> Value {
    todo!()
}

/// Encodes a tool for Ollama's `/api/chat` (nested, without `strict`).
pub fn ollama(spec: &ToolSpec) -> Value {
    todo!()
}

/// Encodes a tool for MCP's `tools/list` (`inputSchema`, annotations).
pub fn mcp(spec: &ToolSpec) -> Value {
    todo!()
}
