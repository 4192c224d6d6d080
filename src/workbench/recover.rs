//! Unsaved text, and who may write to the book.

use std::io;
use std::sync::PoisonError;

use crate::domain::ids::BookPath;
use crate::store::lock::{self, Taken};
use crate::store::{desk, home, recovery};

pub use crate::store::desk::Desk;
pub use crate::store::lock::Holder;
pub use crate::store::recovery::{Edit, Log as RecoveryLog, Recovered};

use super::Workbench;

/// Why the unsaved edits of a document are not logged.
#[derive(Debug, thiserror::Error)]
pub enum NotLogged {
    /// Another program has the book open for writing.
    #[error("process {} has the book open", .0.pid)]
    HeldBy(Holder),
    /// The log can't be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Workbench {
    /// Takes the book for an interface, for as long as it is open, and returns the program that has it if another one does. Writes
    /// nothing in a book that has no `.scritorio` yet: there the first unsaved edit takes it.
    pub fn hold(&self) -> Option<Holder> {
        if self.root().join(home::NAME).is_dir() { self.take() } else { None }
    }

    /// Returns the program that has this book open for writing, if there is one. Writes nothing.
    pub fn writer(&self) -> io::Result<Option<Holder>> {
        lock::holder(self.root())
    }

    /// Takes the book before something is written to it, and returns the program that has it if another one does: then nothing may be written.
    pub fn hold_to_write(&self) -> Option<Holder> {
        self.take()
    }

    /// Takes the book and starts the log of a document's unsaved edits; see [`recovery::Log::start`].
    pub fn recovery_log(
        &self,
        path: &BookPath,
        base_hash: Option<&str>,
        text: Option<&str>,
    ) -> Result<RecoveryLog, NotLogged> {
        match self.take() {
            Some(holder) => Err(NotLogged::HeldBy(holder)),
            None => Ok(RecoveryLog::start(self.root(), path, base_hash, text)?),
        }
    }

    /// Returns the unsaved texts that an earlier run left behind, oldest first.
    pub fn recovered(&self) -> io::Result<Vec<Recovered>> {
        recovery::pending(self.root())
    }

    /// Deletes what an earlier run left behind, after the author took it or threw it away.
    pub fn discard_recovered(&self, recovered: &Recovered) -> io::Result<()> {
        recovery::discard(recovered)
    }

    /// Returns where the author was when this book was last open.
    pub fn desk(&self) -> Desk {
        desk::read(self.root())
    }

    /// Returns the day, by the author's clock, as `2027-01-31`.
    pub fn today(&self) -> String {
        jiff::Zoned::now().date().to_string()
    }

    /// Remembers where the author is. What can't be written is not missed.
    pub fn leave_desk(&self, left: &Desk) {
        let _ = desk::write(self.root(), left);
    }

    /// Takes the lock, or returns who has it. A file system without locks can't tell, and is no reason to refuse the author's own book.
    fn take(&self) -> Option<Holder> {
        let mut held = self.inner.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_some() {
            return None;
        }
        match lock::take(self.root()) {
            Ok(Taken::Mine(lock)) => {
                *held = Some(lock);
                None
            }
            Ok(Taken::HeldBy(holder)) => Some(holder),
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::domain::passage::sha256_hex;
    use crate::workbench::{Overrides, Surroundings};

    #[test]
    fn the_second_window_learns_who_has_the_book_and_a_new_book_stays_without_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("book");
        fs::create_dir(&book).unwrap();
        fs::write(book.join("one.md"), "One.").unwrap();
        let open = || {
            Workbench::open_in(&book, Overrides::default(), Surroundings::in_folders(folder.path())).unwrap()
        };
        let (first, second) = (open(), open());
        assert_eq!(first.hold(), None);
        assert!(!book.join(home::NAME).exists(), "nothing was written yet");
        let path = BookPath::new("one.md").unwrap();
        let mut log = first.recovery_log(&path, Some(&sha256_hex("One.")), None).unwrap();
        log.append(&[Edit { at: 0, removed: 3, inserted: "Two".into() }]).unwrap();
        assert_eq!(second.hold().map(|h| h.pid), Some(std::process::id()));
        assert_eq!(second.hold_to_write().map(|h| h.pid), Some(std::process::id()));
        let refused = second.recovery_log(&path, None, None);
        assert!(matches!(refused, Err(NotLogged::HeldBy(_))), "{refused:?}");
        assert_eq!(first.hold_to_write(), None);
        assert!(second.recovered().unwrap().is_empty());
        drop((first, log));
        assert_eq!(second.hold(), None, "the lock ends with the window");
        let found = second.recovered().unwrap();
        assert_eq!(found[0].text, "Two.");
        second.discard_recovered(&found[0]).unwrap();
        assert!(second.recovered().unwrap().is_empty());
    }
}
