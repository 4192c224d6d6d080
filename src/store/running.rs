//! Which programs are at work on this machine: `running/` in the data folder, a file each while it has something to send.
//!
//! A program holds its file locked, and removes it when it ends. The lock is the operating system's, so it ends with the process, however that ends: a
//! file that nobody holds is of a program that was killed. Never says who is at work on what.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{atomic, home};

const FOLDER: &str = "running";

/// This program's place among them. Nothing is written before its name is asked for.
#[derive(Debug)]
pub struct Running {
    folder: PathBuf,
    mine: Mutex<Option<(String, File)>>,
}

/// A program that was killed. While this lives, nobody else settles what it left.
#[derive(Debug)]
pub struct Killed {
    /// Its name.
    pub name: String,
    path: PathBuf,
    held: File,
}

impl Running {
    /// Takes the program's data folder.
    pub fn new(data: &Path) -> Self {
        Self { folder: data.join(FOLDER), mine: Mutex::default() }
    }

    /// Returns this program's name, by which others can tell whether it still runs.
    pub fn name(&self) -> io::Result<String> {
        let mut mine = self.mine.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((name, _)) = &*mine {
            return Ok(name.clone());
        }
        atomic::make_folders(&self.folder)?;
        let name = format!("p-{}", ulid::Ulid::generate());
        let path = self.folder.join(&name);
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        if let Err(e) = file.lock() {
            // A file system without locks: nobody could tell whether this program runs.
            let _ = std::fs::remove_file(&path);
            return Err(e);
        }
        *mine = Some((name.clone(), file));
        Ok(name)
    }

    /// Returns the programs that were killed and that nobody has settled yet. Makes nothing.
    pub fn killed(&self) -> io::Result<Vec<Killed>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            other => other?,
        };
        let mine =
            self.mine.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|(name, _)| name.clone());
        let mut killed = vec![];
        for entry in entries {
            let name = entry?.file_name();
            let Some(name) = name.to_str().filter(|name| home::file_name(name, "").is_ok()) else { continue };
            if mine.as_deref() == Some(name) {
                continue;
            }
            let path = self.folder.join(name);
            // One that is gone by now has just ended.
            let Ok(file) = OpenOptions::new().write(true).open(&path) else { continue };
            if file.try_lock().is_ok() {
                killed.push(Killed { name: name.to_owned(), path, held: file });
            }
        }
        Ok(killed)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mine = self.mine.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some((name, _file)) = mine.take() {
            // What can't be removed looks like a killed program that has left nothing.
            let _ = std::fs::remove_file(self.folder.join(name));
        }
    }
}

impl Killed {
    /// Nothing of it is left to settle.
    pub fn settled(self) -> io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Whether it had something to send longer ago than `age`.
    pub fn is_older_than(&self, age: Duration) -> bool {
        let modified = self.held.metadata().and_then(|file| file.modified());
        modified.is_ok_and(|at| at.elapsed().is_ok_and(|passed| passed > age))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(running: &Running) -> Vec<String> {
        running.killed().unwrap().into_iter().map(|killed| killed.name).collect()
    }

    #[test]
    fn one_that_runs_is_not_killed_and_one_that_ends_leaves_nothing() {
        let data = tempfile::tempdir().unwrap();
        let (one, other) = (Running::new(data.path()), Running::new(data.path()));
        assert_eq!(names(&one), [""; 0]);
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0, "asking makes nothing");
        let name = other.name().unwrap();
        assert_eq!(other.name().unwrap(), name);
        assert_ne!(one.name().unwrap(), name);
        assert_eq!(names(&one), [""; 0]);
        drop(other);
        assert_eq!(names(&one), [""; 0]);
        assert_eq!(std::fs::read_dir(data.path().join(FOLDER)).unwrap().count(), 1, "its own");
    }

    #[test]
    fn one_that_was_killed_is_settled_by_one_alone_and_once() {
        let data = tempfile::tempdir().unwrap();
        let (one, other) = (Running::new(data.path()), Running::new(data.path()));
        one.name().unwrap();
        // As the system leaves it behind: a file that nobody holds.
        std::fs::write(data.path().join(FOLDER).join("p-gone"), "").unwrap();
        let killed = one.killed().unwrap();
        assert_eq!(killed[0].name, "p-gone");
        assert_eq!(names(&other), [""; 0], "somebody settles it already");
        drop(killed);
        assert_eq!(names(&other), ["p-gone"], "and had not done so");
        one.killed().unwrap().remove(0).settled().unwrap();
        assert_eq!(names(&other), [""; 0]);
    }
}
