//! Searching the whole book at once, as an author does: the Codex, the notes and the manuscript in one ranked list.
//!
//! The same functions answer the personas' search tools, so that the author sees the scores that they see.

use std::ops::Range;

use crate::canon::search::{self, Piece};
use crate::domain::book::Book;
use crate::domain::codex::EntryType;
use crate::domain::ids::BookPath;
use crate::domain::passage::line_column;

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
    /// The line of the file on which they begin, from 1.
    pub line: usize,
    /// A short excerpt, or the entry's summary.
    pub excerpt: String,
    /// How well it matched; only comparable within one search.
    pub score: f64,
}

/// The line of a file of the book, from 1, on which a byte stands.
fn line_of(book: &Book, path: &BookPath, at: usize) -> usize {
    book.document(path).map_or(1, |(_, text)| line_column(text, at).0)
}

/// Longest excerpt, in characters.
const EXCERPT: usize = 300;

impl Workbench {
    /// Searches Codex, notes and manuscript together, the best hits first.
    pub fn search_book(&self, query: &str, limit: usize) -> Vec<Hit> {
        let book = self.book();
        let index = self.index_of(&book);
        let told = |text: &str, paragraph: &Range<usize>| {
            let words = search::told(&index, text, paragraph, query, EXCERPT);
            let words = text.get(words).unwrap_or_default();
            words.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let hit = |piece: Piece<'_>| {
            let score = piece.score();
            let hit = match piece {
                Piece::Canon(found, paragraph) => Hit {
                    kind: HitKind::Entry(found.entry.entry_type),
                    title: found.entry.name.clone(),
                    path: found.entry.path.clone(),
                    excerpt: told(&found.entry.text, &paragraph),
                    range: paragraph,
                    line: 0,
                    score,
                },
                Piece::Manuscript(found) => Hit {
                    kind: HitKind::Chapter,
                    title: format!("{} · {}", found.chapter.number, found.chapter.title),
                    path: found.chapter.path.clone(),
                    range: found.range,
                    line: 0,
                    excerpt: found.excerpt,
                    score,
                },
                Piece::Note(found) => Hit {
                    kind: HitKind::Note,
                    title: found.note.title.clone(),
                    path: found.note.path.clone(),
                    excerpt: told(&found.note.text, &found.paragraph),
                    range: found.paragraph,
                    line: 0,
                    score,
                },
            };
            Hit { line: line_of(&book, &hit.path, hit.range.start), ..hit }
        };
        search::knowledge(&index, &book, query, limit).into_iter().map(hit).collect()
    }
}
