//! The public face of a registered tool.

use serde_json::Value;

/// What a tool may do. Fixed by the kind of registration, never by a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Reads the author's prose.
    ReadsProse,
    /// Reads canon.
    ReadsCanon,
    /// Drafts a change for the author to judge.
    Proposes,
}

impl Effect {
    /// Returns the words for tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadsProse => "reads prose",
            Self::ReadsCanon => "reads canon",
            Self::Proposes => "proposes",
        }
    }
}

/// A pattern over the author's message that forces a tool in the first round.
#[derive(Debug, Clone)]
pub struct Force {
    /// Matched without letter case against the question.
    pub pattern: regex::Regex,
    /// The tool makes sense only with a selection or an open document.
    pub needs_document: bool,
}

/// One tool, as every wire format and every table sees it.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// Name on the wire.
    pub name: &'static str,
    /// What it does and when to use it, for the model; its first sentence is for tables.
    pub about: &'static str,
    /// What it may do.
    pub effect: Effect,
    /// Part of the canon-only subset of `ai tool-smoke`.
    pub canon: bool,
    /// Strict JSON Schema of its arguments.
    pub parameters: Value,
    /// Patterns that force it.
    pub force: Vec<Force>,
}
