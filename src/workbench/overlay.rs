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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::manuscript::{Chapter, NumberFrom};

    #[test]
    fn one_chapter_has_its_unsaved_text_and_the_book_as_read_is_untouched() {
        let path = BookPath::new("manuscript/01.md").unwrap();
        let chapter = Chapter {
            path: path.clone(),
            number: 1,
            number_from: NumberFrom::FileName,
            title: "One".into(),
            text: "# One\n".into(),
            body_start: 0,
            words: 1,
        };
        let book = Arc::new(Book { chapters: vec![chapter], ..Book::default() });
        let unsaved = with_text(&book, &path, "---\ntitle: One\n---\nTwo more words");
        assert_eq!((unsaved.chapters[0].words, unsaved.chapters[0].body()), (3, "Two more words"));
        assert_eq!(&*book.chapters[0].text, "# One\n");
        assert!(Arc::ptr_eq(&book, &with_text(&book, &path, "# One\n")), "nothing to change");
        assert!(Arc::ptr_eq(&book, &with_text(&book, &BookPath::new("other.md").unwrap(), "x")));
    }
}
