//! Puts right a step that was cut short: by a crash, a kill, a machine that lost power.
//!
//! A step whose files were all written is finished; any other is put back, so that it counts as never begun. Words that were written into a file since then
//! stay: the step's own change is taken out of them, and where that can't be done without loss the file stays as it is and the record is kept aside.

use std::path::Path;

use crate::domain::ids::ProposalId;
use crate::proposal::merge::merge;
use crate::store::atomic;
use crate::store::proposals::Changed;

use super::JournalError;
use super::record::{FileStep, Record, Side, io_error, path};

/// What became of a step that was cut short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    /// All files were written: it only has to be recorded.
    Finished(Vec<Changed>),
    /// It counts as never begun.
    PutBack,
}

/// How a file stands to the step.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stand {
    Before,
    After,
    /// Written, and edited since; the text without the step's change.
    Carries(String),
    /// Not written, and edited since.
    Lacks,
    /// Edited since, where the step's change is or would be.
    Unclear,
}

/// Settles step `number` of a proposal. `None`: it has no record, so that nothing was begun.
pub fn settle(root: &Path, id: &ProposalId, number: usize) -> Result<Option<Settled>, JournalError> {
    if !super::has(root, id, number) {
        return Ok(None);
    }
    let record = match Record::read(root, id, number) {
        Ok(record) => record,
        Err(JournalError::NoRecord { .. }) => {
            // Records are never torn by a crash. This one was by something else, and there is nothing to go by.
            set_aside(root, id, number)?;
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    for file in &record.files {
        clear(root, file);
    }
    let stands: Vec<Stand> = record.files.iter().map(|file| stand(root, file)).collect();
    if stands.iter().all(|stand| matches!(stand, Stand::After | Stand::Carries(_))) {
        // A kill may have come between the last file and its folders.
        for file in record.files.iter().filter(|file| file.after.is_none()) {
            file.remove_folders(root).map_err(|e| io_error(&file.path.under(root), e))?;
        }
        return Ok(Some(Settled::Finished(record.changes())));
    }
    for (file, stand) in record.files.iter().zip(&stands).rev() {
        let written = match stand {
            Stand::After => file.write(root, Side::Before),
            Stand::Carries(without) => atomic::write(root, &file.path.under(root), without.as_bytes()),
            Stand::Before if file.before.is_none() => file.remove_folders(root),
            Stand::Before | Stand::Lacks | Stand::Unclear => Ok(()),
        };
        written.map_err(|e| io_error(&file.path.under(root), e))?;
    }
    if stands.contains(&Stand::Unclear) {
        set_aside(root, id, number)?;
    } else {
        record.forget(root)?;
    }
    Ok(Some(Settled::PutBack))
}

/// What a kill left of writing a file: the beginning of one of its two texts beside it.
fn clear(root: &Path, file: &FileStep) {
    let texts = [&file.before, &file.after];
    let ours =
        |bytes: &[u8]| texts.iter().any(|t| t.as_ref().is_some_and(|t| t.as_bytes().starts_with(bytes)));
    if let Ok(real) = atomic::resolve(root, &file.path.under(root)) {
        atomic::clear_leftovers(&real, ours);
    }
}

fn stand(root: &Path, file: &FileStep) -> Stand {
    if file.is(root, Side::After) {
        return Stand::After;
    }
    if file.is(root, Side::Before) {
        return Stand::Before;
    }
    let now = atomic::resolve(root, &file.path.under(root)).and_then(std::fs::read);
    let now = now.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let (Some(now), Some(before), Some(after)) = (now, &file.before, &file.after) else {
        return Stand::Unclear;
    };
    // The change is in the text if making it again changes nothing, and is not if taking it out changes nothing.
    let with = merge(before, &now, after).clean();
    let without = merge(after, &now, before).clean();
    match (with, without) {
        (_, Some(without)) if without == now => Stand::Lacks,
        (Some(with), Some(without)) if with == now => Stand::Carries(without),
        _ => Stand::Unclear,
    }
}

/// Keeps a record under a name that no step has.
fn set_aside(root: &Path, id: &ProposalId, number: usize) -> Result<(), JournalError> {
    let from = path(root, id, number, false)?;
    let mut to = from.with_extension("aside");
    let mut again = 2;
    while to.exists() {
        to = from.with_extension(format!("aside-{again}"));
        again += 1;
    }
    atomic::rename(&from, &to).map_err(|e| io_error(&from, e))
}
