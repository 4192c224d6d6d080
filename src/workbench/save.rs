//! Opening and saving the documents that an author edits.

use crate::domain::ids::BookPath;
use crate::store::document::{self, Document, DocumentError};

use super::Workbench;

impl Workbench {
    /// Reads a document from disk.
    pub fn read_document(&self, path: &BookPath) -> Result<Document, DocumentError> {
        document::read(self.root(), path)
    }

    /// Returns the hash of a document as it is on disk; `None` when it is not there or can't be read.
    pub fn hash_on_disk(&self, path: &BookPath) -> Option<String> {
        self.read_document(path).ok().map(|document| document.hash)
    }

    /// Saves a document; see [`crate::store::document::save`]. Returns the new hash.
    pub fn save_document(
        &self,
        path: &BookPath,
        text: &str,
        expected: Option<&str>,
    ) -> Result<String, DocumentError> {
        document::save(self.root(), path, text, expected)
    }
}
