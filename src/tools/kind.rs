//! The two kinds of tool. What a tool may do follows from the trait that it implements, never from a flag.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Desk, Evidence, Force, Material, ToolError};
use crate::proposal::Proposal;

/// What was looked up.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// What the model gets.
    pub result: Value,
    /// What the author's row shows.
    pub evidence: Evidence,
    /// Stretches of the book that the result holds.
    pub material: Vec<Material>,
}

/// What came of drafting a change.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// What the model gets.
    pub result: Value,
    /// What the author's row shows.
    pub evidence: Evidence,
    /// Stretches of the book that the result holds.
    pub material: Vec<Material>,
    /// The change; `None` where there is nothing to propose, and the result says why.
    pub proposal: Option<Proposal>,
}

/// A tool that looks things up. It has no way to propose.
pub trait ReadTool: Send + Sync + 'static {
    /// Parsed arguments; their schema is what the model sees.
    type Args: DeserializeOwned + JsonSchema;

    /// Returns the name on the wire.
    fn name(&self) -> &'static str;

    /// Returns what it does and when to use it, for the model; the first sentence is for tables.
    fn about(&self) -> &'static str;

    /// Returns the patterns that force it in the first round.
    fn force(&self) -> Vec<Force> {
        vec![]
    }

    /// Answers the call.
    fn read(&self, desk: &Desk<'_>, args: Self::Args) -> Result<Reading, ToolError>;
}

/// A tool that drafts a change for the author to judge.
pub trait ProposeTool: Send + Sync + 'static {
    /// Parsed arguments; their schema is what the model sees.
    type Args: DeserializeOwned + JsonSchema;

    /// Returns the name on the wire.
    fn name(&self) -> &'static str;

    /// Returns what it does and when to use it, for the model; the first sentence is for tables.
    fn about(&self) -> &'static str;

    /// Drafts the change.
    fn propose(&self, desk: &Desk<'_>, args: Self::Args) -> Result<Draft, ToolError>;
}
