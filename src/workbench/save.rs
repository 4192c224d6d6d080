//! Opening and saving the documents that an author edits.

use crate::domain::ids::BookPath;
use crate::store::document::{self, Document, DocumentError};

use super::Workbench;

impl Workbench {
    /// Reads a document from disk.
    pub fn read_document(&self, path: &BookPath) -> Result<Document, DocumentError> {
        document::read(self.root(), path)
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
