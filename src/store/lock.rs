//! Who has a book open for writing.
//!
//! The lock is the operating system's, on `.scritorio/lock`: it ends with the process that holds it, however that ends, so a stale one
//! can't exist. It keeps a second interface from editing the same book; single commands do not need it, since every write of theirs checks hashes.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{home, jsonl};

/// The program that holds a book.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process id; 0 where the system does not let it be read.
    pub pid: u32,
    /// Since when, RFC 3339 in UTC.
    pub since: String,
}

/// The right to write to a book. Given back when dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// What came of asking.
#[derive(Debug)]
pub enum Taken {
    /// The book is ours.
    Mine(Lock),
    /// Another program has it.
    HeldBy(Holder),
}

/// Takes the lock of the book in `root`, without waiting. Makes `.scritorio`.
pub fn take(root: &Path) -> io::Result<Taken> {
    let mut file = open(&home::make(root, "lock")?, true)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Taken::HeldBy(read_holder(&mut file))),
        Err(TryLockError::Error(e)) => return Err(e),
    }
    let holder = Holder { pid: std::process::id(), since: super::now() };
    file.set_len(0)?;
    file.write_all(&serde_json::to_vec(&holder)?)?;
    Ok(Taken::Mine(Lock { _file: file }))
}

/// Returns who holds the book, if anyone does. Makes nothing.
pub fn holder(root: &Path) -> io::Result<Option<Holder>> {
    let mut file = match open(&home::path(root, "lock")?, false) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(Some(read_holder(&mut file))),
        Err(TryLockError::Error(e)) => Err(e),
        Ok(()) => Ok(None),
    }
}

/// Waits until no other process is judging proposals of this book, for as long as the result lives.
pub fn busy(root: &Path) -> io::Result<Lock> {
    let file = open(&home::make(root, "busy")?, true)?;
    jsonl::lock(&file)?;
    Ok(Lock { _file: file })
}

fn open(path: &Path, create: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(create).truncate(false).open(path)
}

fn read_holder(file: &mut File) -> Holder {
    let mut text = String::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_string(&mut text));
    read.ok()
        .and_then(|_| serde_json::from_str(&text).ok())
        .unwrap_or(Holder { pid: 0, since: String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_one_is_told_who_has_the_book() {
        let root = tempfile::tempdir().unwrap();
        let Taken::Mine(lock) = take(root.path()).unwrap() else { panic!("nobody has it") };
        let Taken::HeldBy(holder) = take(root.path()).unwrap() else { panic!("it is taken") };
        assert_eq!(holder.pid, std::process::id());
        assert_eq!(super::holder(root.path()).unwrap(), Some(holder));
        drop(lock);
        assert_eq!(super::holder(root.path()).unwrap(), None);
        assert!(matches!(take(root.path()).unwrap(), Taken::Mine(_)));
    }

    #[test]
    fn asking_who_has_a_book_makes_nothing() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(holder(root.path()).unwrap(), None);
        assert!(!root.path().join(home::NAME).exists());
    }
}
