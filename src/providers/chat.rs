//! Chat Completions (`POST /chat/completions`, streamed), as OpenAI documents it and as the servers speak it that call themselves compatible.
//!
//! Facts: <https://platform.openai.com/docs/api-reference/chat/create>.

mod body;
pub(super) mod calls;
mod details;
pub(super) mod gathering;
mod reader;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::Request;
use super::abilities::Abilities;
use super::wire::{Reader, Wire};

pub(super) use body::{Message, nested, said};

/// The protocol.
#[derive(Debug, Clone, Copy)]
pub struct Chat;

impl Wire for Chat {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn body(&self, request: &Request, can: &Abilities) -> Value {
        body::body(request, can)
    }

    fn reader(&self, request: &Request, can: &Abilities) -> Box<dyn Reader> {
        Box::new(reader::Chunks::new(request, can))
    }
}
