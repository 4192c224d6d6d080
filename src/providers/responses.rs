//! The OpenAI Responses API (`POST /responses`, streamed), and the servers that speak it more or less.
//!
//! Facts: <https://platform.openai.com/docs/api-reference/responses>.

mod assembly;
mod body;
mod seen;

use serde_json::Value;

use super::Request;
use super::abilities::Abilities;
use super::wire::{Reader, Wire};

/// OpenAI's own address.
pub const OPENAI: &str = "https://api.openai.com/v1";

/// The model that is asked where settings name none.
pub const DEFAULT_MODEL: &str = "gpt-5-mini";

/// The protocol.
#[derive(Debug, Clone, Copy)]
pub struct Responses;

impl Wire for Responses {
    fn path(&self) -> &'static str {
        "/responses"
    }

    fn body(&self, request: &Request, can: &Abilities) -> Value {
        body::body(request, can)
    }

    fn afresh(&self, request: &Request, can: &Abilities) -> Value {
        body::whole_conversation(request, can)
    }

    fn reader(&self, request: &Request, can: &Abilities) -> Box<dyn Reader> {
        Box::new(assembly::Assembly::new(request, body::output_limit(request, can)))
    }
}
