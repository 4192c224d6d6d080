//! Reading and saving one text of the book without ever losing the other side's words.

use std::path::Path;

use crate::domain::ids::BookPath;

/// A document as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its text; a BOM is kept.
    pub text: String,
    /// SHA-256 of its bytes, lowercase hex.
    pub hash: String,
    /// Why it can't be saved (not UTF-8, no permission), if so.
    pub read_only: Option<String>,
}

/// Why a document was not read or saved.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It has changed on disk since it was read.
    #[error("{path} has changed on disk since it was opened")]
    Changed {
        /// Which.
        path: BookPath,
    },
    /// It leads out of the book.
    #[error("{path} leads out of the book's folder")]
    Outside {
        /// Which.
        path: BookPath,
    },
    /// The file system said no.
    #[error("can't {verb} {path}: {source}")]
    Io {
        /// `read` or `save`.
        verb: &'static str,
        /// Which.
        path: BookPath,
        /// Why.
        source: std::io::Error,
    },
}

/// Reads a document.
pub fn read(root: &Path, path: &BookPath) -> Result<Document, DocumentError> {
    todo!()
}

/// Saves a document. `expected` is the hash that it had when it was read (`None`: it must not exist); with another one on disk nothing is written.
/// Returns the new hash.
pub fn save(
    root: &Path,
    path: &BookPath,
    text: &str,
    expected: Option<&str>,
) -> Result<String, DocumentError> {
    todo!()
}
