//! Undo for applied proposals: `.scritorio/journal/<proposal id>.json`.
//!
//! The record holds every file's exact text before and after, and is on the disk before the first file is replaced. So a proposal
//! can be taken back to the byte, also after a restart, and an apply that a crash cut short is noticed.
//! Nothing here overwrites a file that is not what the record says.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::ids::{BookPath, ProposalId};
use crate::domain::passage::sha256_hex;
use crate::proposal::apply::Write;

use super::proposals::Changed;
use super::{atomic, home, jsonl};

/// Why files were not changed, or not changed back.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file is not what it was.
    #[error("{path} has changed since; nothing was written")]
    Changed {
        /// Which.
        path: BookPath,
    },
    /// There is no record to go by.
    #[error("the undo record of {id} is missing or can't be read")]
    NoRecord {
        /// Of which proposal.
        id: ProposalId,
    },
    /// The file system said no.
    #[error("can't write {path}: {source}")]
    Io {
        /// What.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// How far the files of a record are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Every file is as it was before.
    Before,
    /// Every file is as it should be after.
    After,
    /// Some are before, some after: an apply or an undo was cut short.
    Between,
    /// At least one file is neither: it was changed later.
    Elsewhere,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    v: u32,
    id: ProposalId,
    at: String,
    files: Vec<Step>,
}

/// One file: texts, and the folders that had to be made for it, outermost first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Step {
    path: BookPath,
    before: Option<String>,
    #[serde(deserialize_with = "Option::deserialize")]
    after: Option<String>,
    #[serde(default)]
    folders: Vec<BookPath>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// Writes the files of a proposal. All of them or, if one can't be written, none.
pub fn apply(root: &Path, id: &ProposalId, writes: &[Write]) -> Result<Vec<Changed>, JournalError> {
    let files = writes
        .iter()
        .map(|write| Step {
            path: write.path.clone(),
            before: write.before.clone(),
            after: write.after.clone(),
            folders: missing_folders(root, &write.path),
        })
        .collect();
    let record = Record { v: jsonl::VERSION, id: id.clone(), at: super::now(), files };
    let path = record_path(root, id, true)?;
    if let Some(step) = record.files.iter().find(|s| !s.is(root, Side::Before)) {
        return Err(JournalError::Changed { path: step.path.clone() });
    }
    let bytes = serde_json::to_vec_pretty(&record).map_err(|e| io_error(&path, e.into()))?;
    atomic::write(root, &path, &bytes).map_err(|e| io_error(&path, e))?;
    if let Err(error) = record.go(root, Side::After) {
        if record.files.iter().all(|s| s.is(root, Side::Before)) {
            // Kept only where files could not be put back: then it is what they are put right from.
            let _ = std::fs::remove_file(&path);
        }
        return Err(error);
    }
    Ok(record.changes(Side::After))
}

/// Takes an applied proposal back, to the exact bytes. A file that it made is deleted, with the folders made for it that are empty.
pub fn undo(root: &Path, id: &ProposalId) -> Result<Vec<Changed>, JournalError> {
    let record = read(root, id)?;
    record.go(root, Side::Before)?;
    Ok(record.changes(Side::Before))
}

/// Writes an undone proposal again.
pub fn redo(root: &Path, id: &ProposalId) -> Result<Vec<Changed>, JournalError> {
    let record = read(root, id)?;
    record.go(root, Side::After)?;
    Ok(record.changes(Side::After))
}

/// Returns the files that a record has written, with their hashes.
pub fn changes(root: &Path, id: &ProposalId) -> Result<Vec<Changed>, JournalError> {
    Ok(read(root, id)?.changes(Side::After))
}

/// Compares the record of a proposal with the files. `None`: there is no record.
pub fn extent(root: &Path, id: &ProposalId) -> Result<Option<Extent>, JournalError> {
    if !record_path(root, id, false)?.exists() {
        return Ok(None);
    }
    let record = read(root, id)?;
    let all = |side| record.files.iter().all(|s| s.is(root, side));
    let known = |s: &Step| s.is(root, Side::Before) || s.is(root, Side::After);
    Ok(Some(match () {
        () if all(Side::After) => Extent::After,
        () if all(Side::Before) => Extent::Before,
        () if record.files.iter().all(known) => Extent::Between,
        () => Extent::Elsewhere,
    }))
}

/// Puts back what an apply that was cut short has written, and forgets its record.
/// Files that were changed since stay as they are.
pub fn roll_back(root: &Path, id: &ProposalId) -> Result<(), JournalError> {
    let record = read(root, id)?;
    for step in record.files.iter().rev().filter(|s| s.is(root, Side::After)) {
        step.write(root, Side::Before).map_err(|e| io_error(&step.path.under(root), e))?;
    }
    let path = record_path(root, id, false)?;
    std::fs::remove_file(&path).map_err(|e| io_error(&path, e))
}

fn read(root: &Path, id: &ProposalId) -> Result<Record, JournalError> {
    let missing = || JournalError::NoRecord { id: id.clone() };
    let bytes = std::fs::read(record_path(root, id, false)?).map_err(|_| missing())?;
    let record: Record = serde_json::from_slice(&bytes).map_err(|_| missing())?;
    if record.v == jsonl::VERSION && record.id == *id { Ok(record) } else { Err(missing()) }
}

fn record_path(root: &Path, id: &ProposalId, make: bool) -> Result<PathBuf, JournalError> {
    let name = home::file_name(id.as_str(), ".json").map(|n| format!("journal/{n}"));
    name.and_then(|n| if make { home::make(root, &n) } else { home::path(root, &n) })
        .map_err(|source| JournalError::Io { path: home::NAME.into(), source })
}

fn io_error(path: &Path, source: io::Error) -> JournalError {
    JournalError::Io { path: path.display().to_string(), source }
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

impl Record {
    /// Brings every file to `side`, or none.
    fn go(&self, root: &Path, side: Side) -> Result<(), JournalError> {
        let other = side.other();
        if let Some(step) = self.files.iter().find(|s| !s.is(root, side) && !s.is(root, other)) {
            return Err(JournalError::Changed { path: step.path.clone() });
        }
        let mut done: Vec<&Step> = vec![];
        for step in self.files.iter().filter(|s| !s.is(root, side)) {
            let Err(source) = step.write(root, side) else {
                done.push(step);
                continue;
            };
            for step in done.into_iter().rev() {
                // A disk that refuses this too leaves the record, from which the rest can be put right later.
                let _ = step.write(root, other);
            }
            return Err(io_error(&step.path.under(root), source));
        }
        Ok(())
    }

    fn changes(&self, now: Side) -> Vec<Changed> {
        let hash = |step: &Step, side| step.text(side).map(sha256_hex);
        let changed =
            |s: &Step| Changed { path: s.path.clone(), before: hash(s, now.other()), after: hash(s, now) };
        self.files.iter().map(changed).collect()
    }
}

impl Step {
    fn text(&self, side: Side) -> Option<&str> {
        match side {
            Side::Before => self.before.as_deref(),
            Side::After => self.after.as_deref(),
        }
    }

    /// Whether the file on disk is, byte for byte, what it is on `side`.
    fn is(&self, root: &Path, side: Side) -> bool {
        let found = atomic::resolve(root, &self.path.under(root)).and_then(std::fs::read);
        match (found, self.text(side)) {
            (Ok(bytes), Some(text)) => bytes == text.as_bytes(),
            (Err(e), None) => e.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }

    fn write(&self, root: &Path, side: Side) -> io::Result<()> {
        let path = self.path.under(root);
        if let Some(text) = self.text(side) {
            return atomic::write(root, &path, text.as_bytes());
        }
        let real = atomic::resolve(root, &path)?;
        std::fs::remove_file(&real)?;
        for folder in self.folders.iter().rev() {
            // A folder that holds something else by now stays.
            if std::fs::remove_dir(folder.under(root)).is_err() {
                break;
            }
        }
        let parent = real.ancestors().skip(1).find(|p| p.is_dir()).unwrap_or(root);
        atomic::sync_folder(parent)
    }
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Before => Self::After,
            Self::After => Self::Before,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn path(raw: &str) -> BookPath {
        BookPath::new(raw).unwrap()
    }

    fn write(raw: &str, before: Option<&str>, after: &str) -> Write {
        Write { path: path(raw), before: before.map(Into::into), after: Some(after.into()) }
    }

    fn id() -> ProposalId {
        ProposalId::new("p-1")
    }

    fn book() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("a.md"), "\u{feff}role: rival\r\nno end").unwrap();
        root
    }

    const BEFORE: Option<&str> = Some("\u{feff}role: rival\r\nno end");

    fn both() -> [Write; 2] {
        [write("a.md", BEFORE, "role: ally"), write("codex/characters/ilse/dossier.md", None, "# Ilse")]
    }

    #[test]
    fn undo_restores_the_exact_bytes_and_removes_what_was_made() {
        let root = book();
        let changed = apply(root.path(), &id(), &both()).unwrap();
        assert_eq!(changed[0].before, Some(sha256_hex(BEFORE.unwrap())));
        assert_eq!(changed[1].before, None);
        assert_eq!(fs::read_to_string(root.path().join("a.md")).unwrap(), "role: ally");
        assert_eq!(extent(root.path(), &id()).unwrap(), Some(Extent::After));

        let changed = undo(root.path(), &id()).unwrap();
        assert_eq!(changed[1].after, None);
        assert_eq!(fs::read_to_string(root.path().join("a.md")).unwrap(), BEFORE.unwrap());
        assert!(!root.path().join("codex").exists(), "folders that it made are gone");

        redo(root.path(), &id()).unwrap();
        assert_eq!(
            fs::read_to_string(root.path().join("codex/characters/ilse/dossier.md")).unwrap(),
            "# Ilse"
        );
    }

    #[test]
    fn a_folder_that_holds_something_else_by_now_stays() {
        let root = book();
        apply(root.path(), &id(), &both()).unwrap();
        fs::write(root.path().join("codex/characters/mine.md"), "mine").unwrap();
        undo(root.path(), &id()).unwrap();
        assert!(root.path().join("codex/characters/mine.md").exists());
        assert!(!root.path().join("codex/characters/ilse").exists());
    }

    #[test]
    fn a_later_edit_is_never_taken_back_silently() {
        let root = book();
        apply(root.path(), &id(), &both()).unwrap();
        fs::write(root.path().join("a.md"), "role: ally, and more").unwrap();
        assert!(matches!(undo(root.path(), &id()), Err(JournalError::Changed { .. })));
        assert!(root.path().join("codex/characters/ilse/dossier.md").exists(), "all or nothing");
        assert_eq!(extent(root.path(), &id()).unwrap(), Some(Extent::Elsewhere));
    }

    #[test]
    fn a_file_that_is_not_what_was_planned_for_is_not_written() {
        let root = book();
        fs::write(root.path().join("a.md"), "theirs").unwrap();
        assert!(matches!(apply(root.path(), &id(), &both()), Err(JournalError::Changed { .. })));
        assert_eq!(fs::read_to_string(root.path().join("a.md")).unwrap(), "theirs");
        assert_eq!(extent(root.path(), &id()).unwrap(), None);
    }

    #[cfg(unix)]
    #[test]
    fn when_the_second_file_fails_the_first_is_put_back() {
        let root = book();
        // The name is allowed, but leaves no room for that of the temporary file beside it.
        let long = write(&format!("{}.md", "x".repeat(250)), None, "new");
        let failed = apply(root.path(), &id(), &[both()[0].clone(), long]);
        assert!(matches!(failed, Err(JournalError::Io { .. })), "{failed:?}");
        assert_eq!(fs::read_to_string(root.path().join("a.md")).unwrap(), BEFORE.unwrap());
        assert_eq!(extent(root.path(), &id()).unwrap(), None, "nothing is left to undo");
    }

    #[test]
    fn an_apply_that_was_cut_short_is_noticed_and_can_be_put_back() {
        let root = book();
        apply(root.path(), &id(), &both()).unwrap();
        fs::remove_dir_all(root.path().join("codex")).unwrap();
        assert_eq!(extent(root.path(), &id()).unwrap(), Some(Extent::Between));
        roll_back(root.path(), &id()).unwrap();
        assert_eq!(fs::read_to_string(root.path().join("a.md")).unwrap(), BEFORE.unwrap());
        assert_eq!(extent(root.path(), &id()).unwrap(), None);
    }

    #[test]
    fn a_file_that_was_removed_comes_back_to_the_byte_and_goes_again() {
        let root = book();
        let gone = Write { path: path("a.md"), before: BEFORE.map(Into::into), after: None };
        let changed = apply(root.path(), &id(), &[both()[1].clone(), gone]).unwrap();
        assert!(!root.path().join("a.md").exists());
        assert_eq!((&changed[1].before, &changed[1].after), (&BEFORE.map(sha256_hex), &None));
        assert_eq!(extent(root.path(), &id()).unwrap(), Some(Extent::After));
        undo(root.path(), &id()).unwrap();
        assert_eq!(fs::read_to_string(root.path().join("a.md")).unwrap(), BEFORE.unwrap());
        assert!(!root.path().join("codex").exists());
        redo(root.path(), &id()).unwrap();
        assert!(
            !root.path().join("a.md").exists()
                && root.path().join("codex/characters/ilse/dossier.md").exists()
        );
    }

    #[test]
    fn an_undo_that_was_cut_short_can_be_finished() {
        let root = book();
        apply(root.path(), &id(), &both()).unwrap();
        fs::write(root.path().join("a.md"), BEFORE.unwrap()).unwrap();
        undo(root.path(), &id()).unwrap();
        assert!(!root.path().join("codex").exists());
    }

    #[test]
    fn a_record_that_is_torn_or_strange_is_an_error_and_changes_nothing() {
        let root = book();
        apply(root.path(), &id(), &both()).unwrap();
        fs::write(root.path().join(".scritorio/journal/p-1.json"), "{\"v\":1,\"id\":\"p-").unwrap();
        assert!(matches!(undo(root.path(), &id()), Err(JournalError::NoRecord { .. })));
        assert!(undo(root.path(), &ProposalId::new("../../a")).is_err());
        assert_eq!(fs::read_to_string(root.path().join("a.md")).unwrap(), "role: ally");
    }

    proptest::proptest! {
        #[test]
        fn any_text_comes_back_to_the_byte(before in "\\PC*|[\\x00-\\x7f]{0,40}", after in "\\PC{0,40}") {
            let root = tempfile::tempdir().unwrap();
            fs::write(root.path().join("a.md"), &before).unwrap();
            apply(root.path(), &id(), &[write("a.md", Some(&before), &after)]).unwrap();
            proptest::prop_assert_eq!(fs::read_to_string(root.path().join("a.md")).unwrap(), after);
            undo(root.path(), &id()).unwrap();
            proptest::prop_assert_eq!(fs::read_to_string(root.path().join("a.md")).unwrap(), before);
        }
    }
}
