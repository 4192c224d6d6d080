//! Everything that can be found in a book, prepared for finding it fast.
//!
//! An [`Index`] holds no more than the book that it was made of: what is not in that book is in no result, no count and no score. It reads no
//! file and never changes; a changed book gets an index of its own, which shares with the one before whatever stayed the same.

use std::sync::{Arc, LazyLock};

use crate::domain::book::Book;

/// An index of one book.
#[derive(Debug, Clone, Default)]
pub struct Index {
    language: Option<String>,
}

impl Index {
    /// Reads the whole book.
    pub fn of(book: &Book) -> Self {
        Self { language: book.settings.language.clone() }
    }

    /// Returns the index of `book`, reading only what differs from the book that this index was made of. Equal to [`Index::of`] in every result.
    #[must_use]
    pub fn following(&self, book: &Book) -> Self {
        if self.language == book.settings.language { self.clone() } else { Self::of(book) }
    }
}

/// An index that is made when it is first asked for: a turn that looks nothing up does not wait for it.
#[derive(Clone)]
pub struct LaterIndex(Arc<LazyLock<Arc<Index>, Box<dyn FnOnce() -> Arc<Index> + Send>>>);

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
