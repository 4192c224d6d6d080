//! Unsaved text, and who may write to the book.

use std::io;
use std::sync::PoisonError;

use crate::domain::ids::BookPath;
use crate::store::lock::{self, Taken};
use crate::store::{home, recovery};

pub use crate::store::lock::Holder;
pub use crate::store::recovery::{Edit, Log as RecoveryLog, Recovered};

use super::Workbench;

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

    /// Starts the log of a document's unsaved edits; see [`recovery::Log::start`].
    pub fn recovery_log(&self, path: &BookPath, base_hash: Option<&str>) -> io::Result<RecoveryLog> {
        self.take();
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
