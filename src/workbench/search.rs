//! Searching the whole book at once, as an author does: the Codex, the notes and the manuscript in one ranked list.
//!
//! The same functions answer the personas' search tools, so that the author sees the scores that they see.

use std::ops::Range;

use crate::canon::search;
use crate::domain::book::Book;
use crate::domain::codex::EntryType;
use crate::domain::ids::BookPath;

use super::Workbench;

/// What kind of text a hit is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitKind {
    /// An entry of the Codex.
    Entry(EntryType),
    /// A passage of the manuscript.
    Chapter,
    /// A note.
    Note,
}

impl HitKind {
    /// Returns the word for lists.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Entry(entry_type) => entry_type.as_str(),
            Self::Chapter => "chapter",
            Self::Note => "note",
        }
    }
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// What it is in.
    pub kind: HitKind,
    /// Name of the entry, title of the chapter or note.
    pub title: String,
    /// The file.
    pub path: BookPath,
    /// Bytes of the file to show.
    pub range: Range<usize>,
    /// A short excerpt, or the entry's summary.
    pub excerpt: String,
    /// How well it matched; only comparable within one search.
    pub score: f64,
}

impl Workbench {
    /// Searches Codex, notes and manuscript, the best hits first.
    pub fn search_book(&self, query: &str, limit: usize) -> Vec<Hit> {
        let book = self.book();
        let mut hits: Vec<Hit> = search::codex(&book, None, query, limit)
            .into_iter()
            .map(|found| Hit {
                kind: HitKind::Entry(found.entry.entry_type),
                title: found.entry.name.clone(),
                path: found.entry.path.clone(),
                range: found.entry.body.start..found.entry.body.start,
                excerpt: found.entry.summary.clone(),
                score: found.score,
            })
            .collect();
        hits.extend(passages(&book, query, limit));
        hits.truncate(limit);
        hits
    }
}

fn passages(book: &Book, query: &str, limit: usize) -> Vec<Hit> {
    search::manuscript(book, query, limit)
        .into_iter()
        .map(|found| Hit {
            kind: HitKind::Chapter,
            title: format!("{} · {}", found.chapter.number, found.chapter.title),
            path: found.chapter.path.clone(),
            range: found.range,
            excerpt: found.excerpt,
            score: 0.0,
        })
        .collect()
}
