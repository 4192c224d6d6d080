//! Names of Codex entries where they stand in prose.

use std::ops::Range;
use std::sync::Arc;

use crate::domain::book::Book;
use crate::domain::codex::EntryType;

/// One name of one entry, as an index of its entry in [`Names::entries`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Bytes of the text; a possessive `'s` is not part of it.
    pub range: Range<usize>,
    /// Index into [`Names::entries`].
    pub entry: usize,
}

/// An entry that can be mentioned.
#[derive(Debug, Clone)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its type.
    pub entry_type: EntryType,
    /// Its file.
    pub path: crate::domain::ids::BookPath,
}

/// All names and aliases of a Codex, compiled for searching (Aho-Corasick, leftmost longest). Cheap to clone.
#[derive(Debug, Clone)]
pub struct Names {
    /// The entries, in the book's order.
    pub entries: Arc<[Named]>,
    // the automaton and its pattern -> entry table
}

impl Names {
    /// Compiles the names of `book`. Single common words in lower case and names shorter than two characters are left out; style entries too.
    pub fn of(book: &Book) -> Self {
        todo!()
    }

    /// Finds the names in `text`, at word boundaries, in order, without overlaps. Letter case counts, except that an ALL-CAPS name is found too.
    pub fn find(&self, text: &str) -> Vec<Mention> {
        todo!()
    }
}
