//! What a tool may see, and what it gives back.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::canon::index::Index;
use crate::canon::meaning::ByMeaning;
use crate::canon::story_time::Now;
use crate::domain::book::Book;
use crate::domain::ids::BookPath;
use crate::proposal::Proposal;

/// What lies before a tool. Everything is borrowed and immutable: a tool cannot write.
#[derive(Debug, Clone, Copy)]
pub struct Desk<'a> {
    /// The book as it was when the question was sent (with the open document's unsaved text in place).
    pub book: &'a Book,
    /// The index of that book.
    pub index: &'a Index,
    /// Who finds texts by what they mean, where the author switched that on.
    pub meaning: Option<&'a dyn ByMeaning>,
    /// The open document: a chapter, an entry or a note.
    pub current: Option<&'a BookPath>,
    /// The chapter as of which canon is told where the open document is none: the one that was open last.
    pub chapter: Option<&'a BookPath>,
    /// The captured selection.
    pub selection: Option<&'a Selection>,
    /// What tools returned earlier in this conversation.
    pub seen: &'a Seen,
    /// Id of the board member who is talking; `None`: the default one.
    pub persona: Option<&'a str>,
    /// Limits of one call.
    pub limits: Limits,
}

impl<'a> Desk<'a> {
    /// Returns where the story stands: at the open chapter, else at the one that was open last.
    pub fn now(&self) -> Option<Now<'a>> {
        let chapters = [self.current, self.chapter];
        chapters.into_iter().flatten().find_map(|path| Now::at(self.book, path))
    }
}

/// Limits of one call, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Prose of one call. Default: 24,000.
    pub prose: usize,
    /// Excerpt of one entry. Default: 2,400.
    pub excerpt: usize,
    /// Arguments of one call, in bytes. Default: 262,144.
    pub arguments: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { prose: 24_000, excerpt: 2_400, arguments: 262_144 }
    }
}

/// Text that the author selected, captured when the question was sent. Private to the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The document that it is from.
    pub path: BookPath,
    /// That document's title.
    pub title: String,
    /// Words in that document.
    pub source_words: usize,
    /// Byte offset in the document where it starts.
    pub start: usize,
    /// The selected words.
    pub text: Arc<str>,
}

/// What a call came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What the model gets.
    pub result: Value,
    /// What the author's row shows.
    pub evidence: Evidence,
    /// Text of the book that the result holds, for grounding and for [`Seen`].
    pub material: Vec<Material>,
    /// A change for the author to judge.
    pub proposal: Option<Proposal>,
}

/// Compact metadata about a result: never prose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Files that were read.
    pub resolved: Vec<BookPath>,
    /// Title or name of the first thing found.
    pub title: Option<String>,
    /// Its type, e.g. `character` or `chapter`.
    pub kind: Option<String>,
    /// Number of results.
    pub results: usize,
    /// Words of prose returned.
    pub words: Option<usize>,
    /// Something asked for was not found.
    pub missing: bool,
    /// Something was cut to fit the limits.
    pub truncated: bool,
}

/// A stretch of a file that was returned to the model, exactly as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Material {
    /// The file.
    pub path: BookPath,
    /// The stretch.
    pub text: String,
}

/// What the model was given earlier in a conversation. A section that it has not seen whole can't be replaced by it.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    texts: HashMap<BookPath, Vec<String>>,
}

impl Seen {
    /// Remembers what a call returned.
    pub fn add(&mut self, material: &[Material]) {
        for m in material {
            let texts = self.texts.entry(m.path.clone()).or_default();
            if !texts.contains(&m.text) {
                texts.push(m.text.clone());
            }
        }
    }

    /// Whether all of `text` (without surrounding white space) was returned from the file at `path`.
    pub fn holds(&self, path: &BookPath, text: &str) -> bool {
        let text = text.trim();
        text.is_empty() || self.texts.get(path).is_some_and(|all| all.iter().any(|t| t.contains(text)))
    }

    /// Whether anything was returned from the file at `path`.
    pub fn knows(&self, path: &BookPath) -> bool {
        self.texts.contains_key(path)
    }
}
