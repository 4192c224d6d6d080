//! Ollama's own protocol (`POST /api/chat`, one JSON document a line).
//!
//! Unlike its Chat Completions it takes the size of the context, without which the beginning of a long request is cut off in silence.
//!
//! Facts: <https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion>.

mod body;
mod reader;

use serde_json::Value;

use super::Request;
use super::abilities::Abilities;
use super::wire::{Reader, Wire};

/// The protocol.
#[derive(Debug, Clone, Copy)]
pub struct Ollama;

impl Wire for Ollama {
    fn path(&self) -> &'static str {
        "/api/chat"
    }

    fn body(&self, request: &Request, can: &Abilities) -> Value {
        body::body(request, can)
    }

    fn reader(&self, request: &Request, _can: &Abilities) -> Box<dyn Reader> {
        Box::new(reader::Lines::new(request))
    }
}
