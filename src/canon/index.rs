//! Everything that can be found in a book, prepared for finding it fast.
//!
//! An [`Index`] holds no more than the book that it was made of: what is not in that book is in no result, no count and no score. It reads no
//! file and never changes; a changed book gets an index of its own, which shares with the one before whatever stayed the same.

pub(super) mod corpus;
mod segment;
mod source;
pub(super) mod words;

use std::sync::{Arc, LazyLock, OnceLock};

use super::lookup::Known;
use super::relations::Graph;
use crate::domain::book::Book;
use corpus::Corpus;
use source::{ChapterSource, EntrySource, NoteSource, Shelf};
use words::Language;

pub(super) use source::Field;

/// An index of one book.
#[derive(Debug, Clone)]
pub struct Index {
    tag: Option<String>,
    language: Arc<Language>,
    entries: Shelf<EntrySource>,
    chapters: Shelf<ChapterSource>,
    notes: Shelf<NoteSource>,
    known: Arc<Known>,
    /// Who belongs to whom, worked out when it is first asked for.
    graph: Arc<OnceLock<Graph>>,
}

impl Index {
    /// Reads the whole book.
    pub fn of(book: &Book) -> Self {
        let tag = book.settings.language.clone();
        let language = Arc::new(Language::of(tag.as_deref()));
        let empty = Self {
            tag,
            language,
            entries: Shelf::default(),
            chapters: Shelf::default(),
            notes: Shelf::default(),
            known: Arc::default(),
            graph: Arc::default(),
        };
        empty.following(book)
    }

    /// Returns the index of `book`, reading only what differs from the book that this index was made of. Equal to [`Index::of`] in every result.
    #[must_use]
    pub fn following(&self, book: &Book) -> Self {
        if self.tag != book.settings.language {
            return Self::of(book);
        }
        Self {
            tag: self.tag.clone(),
            language: Arc::clone(&self.language),
            entries: self.entries.following(&book.entries, &self.language),
            chapters: self.chapters.following(&book.chapters, &self.language),
            notes: self.notes.following(&book.notes, &self.language),
            known: Known::following(&self.known, book),
            graph: Arc::default(),
        }
    }

    /// Returns the names of the book's entries.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// Returns the relationships of the book, which must be the one of this index.
    pub fn graph(&self, book: &Book) -> &Graph {
        self.graph.get_or_init(|| Graph::of(book))
    }

    pub(super) fn language(&self) -> &Language {
        &self.language
    }

    /// The texts of the entries: one each, numbered as in the book.
    pub(super) fn entries(&self) -> &Corpus {
        &self.entries.corpus
    }

    /// The paragraphs of the chapters.
    pub(super) fn chapters(&self) -> &Corpus {
        &self.chapters.corpus
    }

    /// The texts of the notes: one each.
    pub(super) fn notes(&self) -> &Corpus {
        &self.notes.corpus
    }

    /// Returns the bytes of a paragraph in the body of its chapter.
    pub(super) fn paragraph(&self, chapter: usize, part: usize) -> Option<std::ops::Range<usize>> {
        self.chapters.sources.get(chapter)?.paragraph(part)
    }
}

impl Default for Index {
    fn default() -> Self {
        Self::of(&Book::default())
    }
}

/// An index that is made when it is first asked for: a turn that looks nothing up does not wait for it.
#[derive(Clone)]
pub struct LaterIndex(Arc<LazyLock<Arc<Index>, Make>>);

type Make = Box<dyn FnOnce() -> Arc<Index> + Send>;

impl LaterIndex {
    /// Takes how to make it.
    pub fn new(make: impl FnOnce() -> Arc<Index> + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(make))))
    }

    /// Returns it, made now if it was not yet.
    pub fn get(&self) -> &Arc<Index> {
        &self.0
    }
}

impl std::fmt::Debug for LaterIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LaterIndex").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
