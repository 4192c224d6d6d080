//! A book with the text of one document that is not saved yet.
//!
//! Everything but that document is shared with the book as it was read; no file is touched.

use std::sync::Arc;

use crate::domain::book::Book;
use crate::domain::frontmatter;
use crate::domain::ids::BookPath;
use crate::domain::passage::count_words;

/// Puts `text` in the place of the document at `path`. A document that the book does not have changes nothing.
pub(super) fn with_text(book: &Arc<Book>, path: &BookPath, text: &str) -> Arc<Book> {
    if book.document(path).is_none_or(|(_, old)| &**old == text) {
        return Arc::clone(book);
    }
    let text: Arc<str> = text.into();
    let body_start = frontmatter::split(&text).body_start;
    let mut book = Book::clone(book);
    if let Some(chapter) = book.chapters.iter_mut().find(|c| &c.path == path) {
        chapter.words = count_words(&text[body_start..]);
        chapter.body_start = body_start;
        chapter.text = text;
    } else if let Some(entry) = book.entries.iter_mut().find(|e| &e.path == path) {
        entry.fields = frontmatter::parse(&text).fields;
        entry.body_start = body_start;
        entry.text = text;
    } else if let Some(soul) =
        book.entries.iter_mut().filter_map(|e| e.soul.as_mut()).find(|s| &s.path == path)
    {
        soul.text = text;
    } else if let Some(note) = book.notes.iter_mut().find(|n| &n.path == path) {
        note.text = text;
    }
    Arc::new(book)
}
