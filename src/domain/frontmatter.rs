//! The block of keys before a Markdown text: YAML (`---`), TOML (`+++`) or JSON (`{`).

use std::ops::Range;

use serde_json::{Map, Value};

/// Which syntax a frontmatter block uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// There is no block.
    None,
    /// Between `---` lines.
    Yaml,
    /// Between `+++` lines.
    Toml,
    /// One JSON object.
    Json,
}

/// Where the frontmatter of a text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Its syntax.
    pub syntax: Syntax,
    /// Bytes between the fences (for JSON: the object).
    pub block: Range<usize>,
    /// First byte of the body.
    pub body_start: usize,
}

/// What a frontmatter block says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frontmatter {
    /// Keys and values in file order.
    pub fields: Map<String, Value>,
    /// What could not be read, with its place in the file.
    pub problems: Vec<Problem>,
}

/// A part of a frontmatter block that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Finds the frontmatter of `text` (a BOM before it is allowed). A block that is never closed is none.
pub fn split(text: &str) -> Split {
    todo!()
}

/// Reads the frontmatter of `text`. Never fails: what can't be read becomes a problem, what can is kept.
pub fn parse(text: &str) -> Frontmatter {
    todo!()
}
