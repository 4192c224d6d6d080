//! Every tool by name: registration, dispatch, forced choice.

use super::{Desk, Outcome, ToolError, ToolSpec};

/// The tools that a conversation offers, in a fixed order.
pub struct Registry {
    // specs and handlers
}

impl Registry {
    /// The thirteen advisor tools.
    pub fn advisor() -> Self {
        todo!()
    }

    /// The twelve canon-only tools of `ai tool-smoke`.
    pub fn canon_only() -> Self {
        todo!()
    }

    /// Leaves out the tools named (those that the book switched off).
    pub fn without(self, names: &[String]) -> Self {
        todo!()
    }

    /// Iterates over the specs, in the order of registration.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        std::iter::empty()
    }

    /// Finds a spec.
    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        todo!()
    }

    /// The tool that the author's message forces in the first round: of several the longest match wins, then the order of registration.
    pub fn forced_by(&self, question: &str, has_document: bool) -> Option<&ToolSpec> {
        todo!()
    }

    /// Runs a call. `arguments` is the model's text: anything can be in it.
    pub fn run(&self, desk: &Desk<'_>, name: &str, arguments: &str) -> Result<Outcome, ToolError> {
        todo!()
    }
}
