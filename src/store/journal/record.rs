//! One record of the journal, and bringing its files to one of its sides.
//!
//! A file is replaced only when it is, byte for byte, what the other side of the record says.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::ids::{BookPath, ProposalId};
use crate::domain::passage::sha256_hex;
use crate::proposal::apply::Write;
use crate::store::proposals::Changed;
use crate::store::{atomic, home, jsonl};

use super::{JournalError, Step};

/// What one step of a proposal does to files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    v: u32,
    id: ProposalId,
    #[serde(default = "first")]
    step: usize,
    /// Whether it takes the proposal back.
    #[serde(default)]
    pub back: bool,
    at: String,
    pub files: Vec<FileStep>,
}

fn first() -> usize {
    1
}

/// One file: texts, and the folders that are made for it or go with it, outermost first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FileStep {
    pub path: BookPath,
    pub before: Option<String>,
    #[serde(deserialize_with = "Option::deserialize")]
    pub after: Option<String>,
    #[serde(default)]
    folders: Vec<BookPath>,
    /// Permissions with which the file is made anew, on either side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
}

/// Returns where the record of a step is, or would be. `make`: its folder exists then.
pub(super) fn path(root: &Path, id: &ProposalId, number: usize, make: bool) -> Result<PathBuf, JournalError> {
    let extension = if number == 1 { ".json".to_owned() } else { format!(".{number}.json") };
    let name = home::file_name(id.as_str(), &extension).map(|n| format!("journal/{n}"));
    name.and_then(|n| if make { home::make(root, &n) } else { home::path(root, &n) })
        .map_err(|source| JournalError::Io { path: home::NAME.into(), source })
}

pub(super) fn io_error(path: &Path, source: io::Error) -> JournalError {
    JournalError::Io { path: path.display().to_string(), source }
}

impl Record {
    pub fn new(id: &ProposalId, step: Step, files: Vec<FileStep>) -> Self {
        let Step { number, back } = step;
        Self { v: jsonl::VERSION, id: id.clone(), step: number, back, at: crate::store::now(), files }
    }

    pub fn read(root: &Path, id: &ProposalId, number: usize) -> Result<Self, JournalError> {
        let missing = || JournalError::NoRecord { id: id.clone() };
        let bytes = std::fs::read(path(root, id, number, false)?).map_err(|_| missing())?;
        let record: Self = serde_json::from_slice(&bytes).map_err(|_| missing())?;
        let fits = record.v == jsonl::VERSION && record.id == *id && record.step == number;
        if fits { Ok(record) } else { Err(missing()) }
    }

    /// Writes the record, durably.
    pub fn keep(&self, root: &Path) -> Result<(), JournalError> {
        let path = path(root, &self.id, self.step, true)?;
        // What an earlier one that was killed left of its own record; nobody else writes here meanwhile.
        atomic::clear_leftovers(&path, |_| true);
        let bytes = serde_json::to_vec_pretty(self).map_err(|e| io_error(&path, e.into()))?;
        atomic::write(root, &path, &bytes).map_err(|e| io_error(&path, e))
    }

    /// Removes the record, durably.
    pub fn forget(&self, root: &Path) -> Result<(), JournalError> {
        let path = path(root, &self.id, self.step, false)?;
        atomic::remove(&path).map_err(|e| io_error(&path, e))
    }

    /// Brings every file from before to after, or none.
    pub fn go(&self, root: &Path) -> Result<(), JournalError> {
        for file in &self.files {
            // The record took its time, and so did the files before this one: somebody may have saved this one meanwhile.
            let is_as_it_was = file.is(root, Side::Before);
            let error = match is_as_it_was.then(|| file.write(root, Side::After)) {
                Some(Ok(())) => continue,
                Some(Err(source)) => io_error(&file.path.under(root), source),
                None => JournalError::Changed { path: file.path.clone() },
            };
            for file in self.files.iter().rev().filter(|f| f.is(root, Side::After)) {
                // A disk that refuses this too leaves the record, from which the rest can be put right later.
                let _ = file.write(root, Side::Before);
            }
            return Err(error);
        }
        Ok(())
    }

    pub fn changes(&self) -> Vec<Changed> {
        let hash = |text: &Option<String>| text.as_deref().map(sha256_hex);
        let changed =
            |f: &FileStep| Changed { path: f.path.clone(), before: hash(&f.before), after: hash(&f.after) };
        self.files.iter().map(changed).collect()
    }
}

impl FileStep {
    /// Prepares a write. The folders that go with a file are those that an earlier step made for it.
    pub fn new(root: &Path, write: &Write, earlier: &[Record]) -> Self {
        let Write { path, before, after } = write.clone();
        let folders = match (&before, &after) {
            (None, _) => missing_folders(root, &path),
            (_, None) => {
                let same = earlier.iter().flat_map(|r| &r.files).filter(|f| f.path == path);
                let made = same.filter(|f| f.before.is_none()).map(|f| f.folders.clone());
                made.fold(vec![], |all, some| if all.len() < some.len() { some } else { all })
            }
            _ => vec![],
        };
        let mode = match (&before, &after) {
            (Some(_), None) => atomic::mode_of(root, &path.under(root)),
            (None, Some(_)) => {
                let same = earlier.iter().flat_map(|r| &r.files).filter(|f| f.path == path);
                same.filter_map(|f| f.mode).next_back()
            }
            _ => None,
        };
        Self { path, before, after, folders, mode }
    }

    /// Whether the file would go, and is only a link to another one: then that one would go, or be left without its name.
    pub fn removes_a_link(&self, root: &Path) -> bool {
        self.after.is_none() && self.path.under(root).is_symlink()
    }

    fn text(&self, side: Side) -> Option<&str> {
        match side {
            Side::Before => self.before.as_deref(),
            Side::After => self.after.as_deref(),
        }
    }

    /// Whether the file on disk is, byte for byte, what it is on `side`.
    pub fn is(&self, root: &Path, side: Side) -> bool {
        let found = atomic::resolve(root, &self.path.under(root)).and_then(std::fs::read);
        match (found, self.text(side)) {
            (Ok(bytes), Some(text)) => bytes == text.as_bytes(),
            (Err(e), None) => e.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }

    pub fn write(&self, root: &Path, side: Side) -> io::Result<()> {
        let path = self.path.under(root);
        if let Some(text) = self.text(side) {
            return atomic::write_as(root, &path, text.as_bytes(), self.mode);
        }
        atomic::remove(&atomic::resolve(root, &path)?)?;
        self.remove_folders(root)
    }

    /// Removes the folders that were made for the file. One that holds something else by now stays.
    pub fn remove_folders(&self, root: &Path) -> io::Result<()> {
        for folder in self.folders.iter().rev() {
            let folder = folder.under(root);
            if std::fs::remove_dir(&folder).is_err() {
                break;
            }
            atomic::sync_folder(folder.parent().unwrap_or(root))?;
        }
        Ok(())
    }
}

/// The folders above `path` that do not exist, outermost first.
fn missing_folders(root: &Path, path: &BookPath) -> Vec<BookPath> {
    let mut missing = vec![];
    let mut folder = path.parent().and_then(|p| BookPath::new(p).ok());
    while let Some(at) = folder.filter(|f| !f.under(root).exists()) {
        folder = at.parent().and_then(|p| BookPath::new(p).ok());
        missing.push(at);
    }
    missing.reverse();
    missing
}
