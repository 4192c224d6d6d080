//! The index of the open book, and of books that differ from it a little.
//!
//! An index is made when it is first asked for, and follows the book from then on. Whoever asks while another makes one waits for that one.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::canon::index::{Index, LaterIndex};
use crate::domain::book::Book;

use super::Workbench;

/// Indexes of books that are not the one on disk: unsaved texts, books without their later chapters.
const VARIANTS: usize = 4;

/// The indexes that were made.
#[derive(Default)]
pub(super) struct Indexes {
    made: Mutex<Made>,
}

#[derive(Default)]
struct Made {
    /// Of the book on disk, as it was read last when an index was asked for. All others follow it.
    main: Option<(Weak<Book>, Arc<Index>)>,
    /// The latest last.
    variants: Vec<(Weak<Book>, Arc<Index>)>,
}

impl Workbench {
    /// Returns the index that fits `book`, which is [`Workbench::book`] or a variant of it. Takes seconds for the first one of a long book, and
    /// milliseconds from then on; never call it where the interface would wait.
    pub fn index_of(&self, book: &Arc<Book>) -> Arc<Index> {
        let mut made = self.inner.indexes.made.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |(of, _): &&(Weak<Book>, Arc<Index>)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(book));
        if let Some((_, index)) = made.main.iter().chain(&made.variants).find(fits) {
            return Arc::clone(index);
        }
        let on_disk = self.book();
        if made.main.is_none() {
            made.main = Some((Arc::downgrade(&on_disk), Arc::new(Index::of(&on_disk))));
        }
        let index = match &made.main {
            Some((of, index)) if std::ptr::eq(of.as_ptr(), Arc::as_ptr(book)) => return Arc::clone(index),
            Some((_, before)) => Arc::new(before.following(book)),
            None => Arc::new(Index::of(book)),
        };
        let known = (Arc::downgrade(book), Arc::clone(&index));
        if Arc::ptr_eq(book, &on_disk) {
            made.main = Some(known);
        } else {
            made.variants.retain(|(of, _)| of.strong_count() > 0);
            if made.variants.len() == VARIANTS {
                made.variants.remove(0);
            }
            made.variants.push(known);
        }
        index
    }

    /// Returns the index of a book for when it is needed.
    pub(super) fn later_index_of(&self, book: &Arc<Book>) -> LaterIndex {
        let (bench, book) = (self.clone(), Arc::clone(book));
        LaterIndex::new(move || bench.index_of(&book))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::domain::ids::BookPath;
    use crate::workbench::{Overrides, Surroundings};

    use super::*;

    #[test]
    fn a_book_has_one_index_and_a_variant_has_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("book");
        fs::create_dir_all(root.join("manuscript")).unwrap();
        fs::write(root.join("manuscript/01.md"), "# One\n\nThe lamp.\n").unwrap();
        let bench =
            Workbench::open_in(&root, Overrides::default(), Surroundings::in_folders(folder.path())).unwrap();
        let path = BookPath::new("manuscript/01.md").unwrap();
        let (book, unsaved) = (bench.book(), bench.book_with(&path, "# One\n\nThe bell.\n"));

        let index = bench.index_of(&book);
        assert!(Arc::ptr_eq(&index, &bench.index_of(&book)));
        assert!(Arc::ptr_eq(&index, bench.later_index_of(&book).get()));
        let other = bench.index_of(&unsaved);
        assert!(!Arc::ptr_eq(&index, &other) && Arc::ptr_eq(&other, &bench.index_of(&unsaved)));

        let again = bench.refresh().unwrap();
        let newer = bench.index_of(&again);
        assert!(!Arc::ptr_eq(&index, &newer) && Arc::ptr_eq(&newer, &bench.index_of(&again)));
    }
}
