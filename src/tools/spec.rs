//! The public face of a registered tool.

use regex::{Regex, RegexBuilder};
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
    pub pattern: Regex,
    /// A match that this one is found in does not count.
    pub unless: Option<Regex>,
    /// The tool makes sense only with a selection or an open document.
    pub needs_document: bool,
}

impl Force {
    /// A pattern that holds for every question. `pattern` is a constant of the program, never text from outside.
    pub(super) fn always(pattern: &str) -> Self {
        Self { pattern: compiled(pattern), unless: None, needs_document: false }
    }

    /// A pattern that holds only where a document is open or words are selected.
    pub(super) fn with_document(pattern: &str) -> Self {
        Self { needs_document: true, ..Self::always(pattern) }
    }

    /// Lets matches that hold `pattern` pass by.
    #[must_use]
    pub(super) fn unless(self, pattern: &str) -> Self {
        Self { unless: Some(compiled(pattern)), ..self }
    }

    /// Returns the length of the longest match in `question`, in characters; 0 where there is none.
    pub fn longest_match(&self, question: &str) -> usize {
        self.pattern
            .find_iter(question)
            .map(|found| found.as_str().trim())
            .filter(|found| self.unless.as_ref().is_none_or(|unless| !unless.is_match(found)))
            .map(|found| found.chars().count())
            .max()
            .unwrap_or(0)
    }
}

#[expect(clippy::expect_used, reason = "patterns are constants, and every registry is built in the tests")]
fn compiled(pattern: &str) -> Regex {
    RegexBuilder::new(pattern).case_insensitive(true).build().expect("a constant pattern")
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

impl ToolSpec {
    /// Returns the first sentence of what it does, for tables.
    pub fn brief(&self) -> &'static str {
        self.about.split_once(". ").map_or(self.about, |(first, _)| first).trim_end_matches('.')
    }

    /// Iterates over its arguments in order: the name, and whether it may be left out.
    pub fn arguments(&self) -> impl Iterator<Item = (&str, bool)> {
        let properties = self.parameters["properties"].as_object();
        properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| (name.as_str(), super::schema::is_nullable(schema)))
    }
}
