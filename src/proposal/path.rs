//! Where a new entry goes: beside entries of its type, named in the book's own style.

use crate::domain::book::Book;
use crate::domain::codex::EntryType;
use crate::domain::ids::BookPath;

/// Suggests a path inside the book for a new entry that no file of the book has yet. `folder_shape` asks for `<slug>/dossier.md`.
pub fn suggest(book: &Book, entry_type: EntryType, name: &str, folder_shape: bool) -> BookPath {
    todo!()
}
