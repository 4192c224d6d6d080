//! Opening a book.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::domain::book::Book;
use crate::domain::ids::BookPath;

/// An open book with its settings, stores and sessions. Cheap to clone: clones share everything.
#[derive(Clone)]
pub struct Workbench {
    // Arc<Inner>
}

/// What the command line says over all settings.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--provider`
    pub provider: Option<String>,
    /// `--model`
    pub model: Option<String>,
    /// `--rounds`
    pub rounds: Option<u32>,
}

/// Why a book can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It can't be read.
    #[error(transparent)]
    Read(#[from] crate::store::book::ReadError),
    /// The user's settings are wrong.
    #[error("{0}")]
    Config(String),
}

impl Workbench {
    /// Opens the book in `root`.
    pub fn open(root: &Path, overrides: Overrides) -> Result<Self, OpenError> {
        todo!()
    }

    /// Returns the book's folder.
    pub fn root(&self) -> &Path {
        todo!()
    }

    /// Returns the book as last read.
    pub fn book(&self) -> Arc<Book> {
        todo!()
    }

    /// Reads the folder again and returns the book.
    pub fn refresh(&self) -> Result<Arc<Book>, OpenError> {
        todo!()
    }

    /// Returns the book with the unsaved text of one document in place.
    pub fn book_with(&self, path: &BookPath, text: &str) -> Arc<Book> {
        todo!()
    }

    /// Returns provider and model that a question would go to, as shown in the status row.
    pub fn provider_and_model(&self) -> (String, String) {
        todo!()
    }
}
