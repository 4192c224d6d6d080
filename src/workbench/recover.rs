//! Unsaved text, and who may write to the book.

use std::io;
use std::sync::PoisonError;

use crate::domain::ids::BookPath;
use crate::store::lock::{self, Holder, Lock, Taken};
use crate::store::{home, recovery};

pub use crate::store::recovery::{Edit, Log as RecoveryLog, Recovered};

use super::Workbench;

/// Whether an interface holds the book.
#[derive(Debug, Default)]
pub(super) enum Writing {
    /// Nobody asked: single commands do not hold a book.
    #[default]
    NotAsked,
    /// An interface has the book open, which has no `.scritorio` yet to lock. The first write takes the lock.
    Later,
    /// It is ours until the program ends.
    Held { _lock: Lock },
    /// Another program has it.
    Elsewhere,
}

impl Workbench {
    /// Takes the book for an interface, for as long as it is open, and says why it is read-only if another program has it. Writes
    /// nothing in a book that has no `.scritorio` yet: there the first write takes it.
    pub fn read_only(&self) -> Option<String> {
        if !self.root().join(home::NAME).is_dir() {
            *self.writing() = Writing::Later;
            return None;
        }
        match self.take() {
            Some(Holder { pid, .. }) if pid != 0 => {
                Some(format!("This book is open in another window (process {pid}), so it is read-only here."))
            }
            Some(_) => Some("This book is open in another window, so it is read-only here.".to_owned()),
            None => None,
        }
    }

    /// Returns the program that has this book open for writing, if there is one. Writes nothing.
    pub fn writer(&self) -> io::Result<Option<Holder>> {
        lock::holder(self.root())
    }

    /// Starts the log of a document's unsaved edits; see [`recovery::Log::start`].
    pub fn recovery_log(&self, path: &BookPath, base_hash: Option<&str>) -> io::Result<RecoveryLog> {
        self.first_write();
        RecoveryLog::start(self.root(), path, base_hash)
    }

    /// Returns the unsaved texts that an earlier run left behind, oldest first.
    pub fn recovered(&self) -> io::Result<Vec<Recovered>> {
        recovery::pending(self.root())
    }

    /// Deletes what an earlier run left behind, after the author took it or threw it away.
    pub fn discard_recovered(&self, recovered: &Recovered) -> io::Result<()> {
        recovery::discard(recovered)
    }

    /// Takes the lock that an interface could not take when it opened the book.
    pub(super) fn first_write(&self) {
        if matches!(*self.writing(), Writing::Later) {
            self.take();
        }
    }

    /// Takes the lock, or returns who has it. A file system without locks can't tell, and is no reason to refuse the author's own book.
    fn take(&self) -> Option<Holder> {
        let mut writing = self.writing();
        if matches!(*writing, Writing::Held { .. }) {
            return None;
        }
        match lock::take(self.root()) {
            Ok(Taken::Mine(lock)) => {
                *writing = Writing::Held { _lock: lock };
                None
            }
            Ok(Taken::HeldBy(holder)) => {
                *writing = Writing::Elsewhere;
                Some(holder)
            }
            Err(_) => None,
        }
    }

    fn writing(&self) -> std::sync::MutexGuard<'_, Writing> {
        self.inner.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
