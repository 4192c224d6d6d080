//! Anthropic's Messages API (`POST /messages`, streamed).
//!
//! Facts: <https://docs.anthropic.com/en/api/messages>, <https://docs.anthropic.com/en/docs/build-with-claude/streaming>,
//! <https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking>.

mod body;
mod reader;

use serde_json::Value;

use super::Request;
use super::abilities::Abilities;
use super::wire::{Reader, Wire};

/// The protocol.
#[derive(Debug, Clone, Copy)]
pub struct Anthropic;

impl Wire for Anthropic {
    fn path(&self) -> &'static str {
        "/messages"
    }

    fn body(&self, request: &Request, can: &Abilities) -> Value {
        body::body(request, can)
    }

    fn reader(&self, request: &Request, _can: &Abilities) -> Box<dyn Reader> {
        Box::new(reader::Blocks::new(request))
    }
}
