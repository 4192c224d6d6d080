//! What applying, undoing and redoing proposals wrote: `.scritorio/journal/<proposal id>.json` and `<proposal id>.<n>.json`.
//!
//! Every step of a proposal has a record of its own: the first is its applying, the next its undoing, and so on. A record holds every file's exact
//! text before and after, and is on the disk before the first file is replaced. So a step can be taken back, also after a restart, and
//! one that a crash cut short is noticed and put right ([`settle()`]). Nothing here overwrites a file that is not what the record says.

mod record;
mod settle;

use std::io;
use std::path::Path;

use crate::domain::ids::{BookPath, ProposalId};
use crate::proposal::apply::Write;
use crate::proposal::revert::Trace;

use super::proposals::Changed;
use record::{FileStep, Record, Side};
pub use settle::{Settled, settle};

/// Why files were not changed, or not changed back.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file is not what it was.
    #[error("{path} has changed since; nothing was written")]
    Changed {
        /// Which.
        path: BookPath,
    },
    /// A file that would go is a link.
    #[error("{path} is a link to another file, and is not removed; nothing was written")]
    Link {
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

/// Which step of a proposal, from 1, and whether it takes the proposal back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// 1 for applying, and one more for every undo and redo.
    pub number: usize,
    /// Whether the proposal's change goes with it.
    pub back: bool,
}

/// Writes the files of a step. All of them or, if one can't be written, none.
pub fn write(
    root: &Path,
    id: &ProposalId,
    step: Step,
    writes: &[Write],
) -> Result<Vec<Changed>, JournalError> {
    let before = past(root, id, step.number)?;
    let mut files: Vec<FileStep> = writes.iter().map(|write| FileStep::new(root, write, &before)).collect();
    if let Some(file) = files.iter().find(|f| f.removes_a_link(root)) {
        return Err(JournalError::Link { path: file.path.clone() });
    }
    keep_modes_of_moved(&mut files);
    let record = Record::new(id, step, files);
    if let Some(file) = record.files.iter().find(|f| !f.is(root, Side::Before)) {
        return Err(JournalError::Changed { path: file.path.clone() });
    }
    record.keep(root)?;
    if let Err(error) = record.go(root) {
        let is_changed = |f: &FileStep| matches!(&error, JournalError::Changed { path } if *path == f.path);
        if record.files.iter().all(|f| f.is(root, Side::Before) || is_changed(f)) {
            // Kept only where files could not be put back: then it is what they are put right from.
            let _ = record.forget(root);
        }
        return Err(error);
    }
    Ok(record.changes())
}

/// A file that moves keeps its permissions: one is made with the very text of one that goes, or is followed by it.
fn keep_modes_of_moved(files: &mut [FileStep]) {
    let goes = |f: &&FileStep| f.after.is_none();
    let mode = |at: usize, file: &FileStep| {
        let same_text = files.iter().filter(goes).find(|gone| gone.before == file.after);
        same_text.or_else(|| files.get(at + 1).filter(goes)).and_then(|gone| gone.mode)
    };
    let is_new = |f: &FileStep| f.before.is_none() && f.mode.is_none();
    let modes: Vec<Option<u32>> =
        files.iter().enumerate().map(|(at, f)| if is_new(f) { mode(at, f) } else { f.mode }).collect();
    for (file, mode) in files.iter_mut().zip(modes) {
        file.mode = mode;
    }
}

/// Returns, for every file that a proposal has changed, its text without and with the proposal: from the newest of the first `steps` steps that
/// changed the file. A step whose record is missing left the bytes of the one before it.
pub fn traces(root: &Path, id: &ProposalId, steps: usize) -> Result<Vec<Trace>, JournalError> {
    let mut traces: Vec<Trace> = vec![];
    let records = past(root, id, steps + 1)?;
    if records.is_empty() {
        return Err(JournalError::NoRecord { id: id.clone() });
    }
    // The first record says in which order the files are gone through.
    for record in &records {
        for file in record.files.iter().filter(|f| f.before != f.after) {
            let (without, with) = if record.back {
                (file.after.clone(), file.before.clone())
            } else {
                (file.before.clone(), file.after.clone())
            };
            let new = Trace { path: file.path.clone(), without, with };
            match traces.iter_mut().find(|t| t.path == new.path) {
                Some(trace) => *trace = new,
                None => traces.push(new),
            }
        }
    }
    Ok(traces)
}

/// Whether a step has a record. One that is not in the queue of proposals was cut short.
pub fn has(root: &Path, id: &ProposalId, number: usize) -> bool {
    record::path(root, id, number, false).is_ok_and(|path| path.exists())
}

/// The records of the steps before `number`, oldest first; steps without one are left out, and so are steps whose record can't be read.
fn past(root: &Path, id: &ProposalId, number: usize) -> Result<Vec<Record>, JournalError> {
    let mut records = vec![];
    for earlier in 1..number {
        match Record::read(root, id, earlier) {
            Ok(record) => records.push(record),
            Err(JournalError::NoRecord { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(records)
}

#[cfg(test)]
mod tests;
