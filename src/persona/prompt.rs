//! The system prompt, in its fixed order.

use super::board::Member;
use crate::domain::book::BookSettings;

/// An unknown placeholder in an author's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown placeholder `{{{{{name}}}}}` in line {line} of {origin}; known are {known}")]
pub struct UnknownPlaceholder {
    /// Its name.
    pub name: String,
    /// Line, from 1.
    pub line: usize,
    /// Which text: `[board.<id>] editable`, ...
    pub origin: String,
    /// The known placeholders.
    pub known: String,
}

/// Builds the system prompt. `tools` are name and description of every tool on offer, in order; with none the tool guidance is left out.
pub fn system(
    member: &Member,
    settings: &BookSettings,
    tools: &[(&str, &str)],
) -> Result<String, UnknownPlaceholder> {
    todo!()
}
