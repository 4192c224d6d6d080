//! Scored search over the Codex and over the manuscript.

use std::ops::Range;

use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::manuscript::Chapter;

/// Most results that a model's search returns.
pub const MAX_MATCHES: usize = 8;

/// An entry that matches a query.
#[derive(Debug, Clone)]
pub struct Match<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// Its score, above 0; only comparable within one search.
    pub score: f64,
    /// Which field matched best: `name`, `alias`, `title`, `type`, `path`, `summary` or `body`.
    pub field: &'static str,
}

/// Searches name, title, aliases, type, path, summary and body; best first, ties by name then path; at most `limit`.
pub fn codex<'a>(book: &'a Book, entry_type: Option<EntryType>, query: &str, limit: usize) -> Vec<Match<'a>> {
    todo!()
}

/// A passage of the manuscript that holds the words of a query.
#[derive(Debug, Clone)]
pub struct Passage<'a> {
    /// The chapter.
    pub chapter: &'a Chapter,
    /// Bytes in the chapter's text.
    pub range: Range<usize>,
    /// A short excerpt around it, on one line.
    pub excerpt: String,
}

/// Finds `query` in the manuscript: first as a phrase (case-insensitive, tolerant of typography), then paragraphs with all of its words.
pub fn manuscript<'a>(book: &'a Book, query: &str, limit: usize) -> Vec<Passage<'a>> {
    todo!()
}
