//! What would be sent, made by the same function that sends it.

use serde_json::Value;

use super::{Ask, Workbench};

/// Everything that a question would send.
#[derive(Debug, Clone)]
pub struct Peek {
    /// Where it goes, in words.
    pub destination: String,
    /// The system prompt.
    pub instructions: String,
    /// The context message, if any.
    pub context: Option<String>,
    /// Names of the tools on offer.
    pub tools: Vec<String>,
    /// The whole body, byte for byte as it is sent (pretty-printed only for display).
    pub body: Value,
    /// Bytes of the body as sent.
    pub bytes: usize,
    /// What is captured for the turn but not sent unless a tool asks.
    pub private: Option<String>,
}

impl Peek {
    /// Renders the peek view as plain text, the same in the popup and in `scritorio prompt --format text`.
    pub fn text(&self) -> String {
        todo!()
    }
}

impl Workbench {
    /// Builds the request for `ask` without sending it. `format` asks for another wire than the provider's own: `responses` or `chat`.
    pub fn peek(
        &self,
        ask: &Ask,
        format: Option<&str>,
    ) -> Result<Peek, crate::domain::conversation::Failure> {
        todo!()
    }
}
