//! Who and what belongs together: the relationships that entries of the Codex state, and the graph that they make.
//!
//! Only what an author wrote as a relationship counts: a frontmatter key, a list of relationships, a line under a heading such as
//! `## Relationships`. Nothing is worked out from prose, no inverse is invented, and what names nobody in the Codex is kept and said.

mod graph;
mod read;
mod words;

pub use graph::{Edge, Graph, Neighbour, Node, Said};
pub use words::Circle;

use super::links::Directory;
use crate::domain::book::Book;
use crate::domain::ids::BookPath;

/// One relationship as one entry states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The entry that says it: its place in [`Book::entries`].
    pub source: usize,
    /// Whom it is about.
    pub target: Target,
    /// What the target is to the source, as written: `sister`, `birthplace`.
    pub kind: Option<String>,
    /// More words about it.
    pub description: Option<String>,
    /// The file that says it.
    pub path: BookPath,
    /// Its line there, from 1.
    pub line: usize,
}

/// Whom a relationship is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// An entry: its place in [`Book::entries`].
    Entry(usize),
    /// Words that name no entry.
    Unknown(String),
}

/// Returns every relationship that an entry states, in the order of the entries and of their texts.
pub fn statements(book: &Book) -> Vec<Statement> {
    let names = Directory::of(book);
    (0..book.entries.len()).flat_map(|at| read::of_entry(book, &names, at)).collect()
}

/// Returns what one entry states (its place in [`Book::entries`]); nothing where there is none.
pub fn statements_of(book: &Book, entry: usize) -> Vec<Statement> {
    read::of_entry(book, &Directory::of(book), entry)
}

#[cfg(test)]
mod tests;
