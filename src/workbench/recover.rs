//! Unsaved text, and who may write to the book.

use std::io;

use crate::domain::ids::BookPath;
pub use crate::store::lock::{Holder, Lock, Taken};
pub use crate::store::recovery::{Edit, Log, Recovered};
use crate::store::{lock, recovery};

use super::Workbench;

impl Workbench {
    /// Takes the right to write to this book, for as long as the result lives. Makes `.scritorio`, so that an interface asks
    /// [`Workbench::writer`] when it opens a book and takes the lock with the author's first change.
    pub fn lock(&self) -> io::Result<Taken> {
        lock::take(self.root())
    }

    /// Returns the program that has this book open for writing, if there is one. Writes nothing.
    pub fn writer(&self) -> io::Result<Option<Holder>> {
        lock::holder(self.root())
    }

    /// Starts the log of a document's unsaved edits; see [`recovery::Log::start`].
    pub fn recovery_log(&self, path: &BookPath, base_hash: Option<&str>) -> io::Result<Log> {
        Log::start(self.root(), path, base_hash)
    }

    /// Returns the unsaved texts that an earlier run left behind, oldest first.
    pub fn recovered(&self) -> io::Result<Vec<Recovered>> {
        recovery::pending(self.root())
    }

    /// Deletes what an earlier run left behind, after the author took it or threw it away.
    pub fn discard_recovered(&self, recovered: &Recovered) -> io::Result<()> {
        recovery::discard(recovered)
    }
}
