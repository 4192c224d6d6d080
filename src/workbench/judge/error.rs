//! Why a proposal was not judged, in words that say to which file, and whose change is in the way.

use std::io;

use crate::domain::ids::{BookPath, ProposalId};
use crate::proposal::Status;
use crate::proposal::apply::Conflict;
use crate::store::journal::JournalError;

/// Whose change is in the way of an undo or a redo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocker {
    /// These proposals were applied later and hold the place, newest first. With them undone there would be nothing in the way.
    Proposals(Vec<ProposalId>),
    /// What the author, or another program, wrote into the file.
    Author(Obstacle),
}

/// What the author did to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// Changed the same words.
    SameWords,
    /// Edited a file that would go.
    Edited,
    /// Made a file where one would be made.
    Taken,
    /// Removed the file.
    Gone,
}

/// Why a proposal was not applied, rejected or undone.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// There is none with this id.
    #[error("there is no proposal {0}")]
    Unknown(ProposalId),
    /// Several begin so.
    #[error("several proposals begin with {name}: {}", ids.iter().map(ProposalId::as_str).collect::<Vec<_>>().join(", "))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// The first few.
        ids: Vec<ProposalId>,
    },
    /// There is no last one.
    #[error("there is no proposal that can be {verb}")]
    NoLast {
        /// `shown`, `applied`, `rejected`, `undone` or `redone`.
        verb: &'static str,
    },
    /// It is not in a state for this.
    #[error("proposal {id} is {status}, so it can't be {verb}", status = status.as_str())]
    State {
        /// Which.
        id: ProposalId,
        /// Its state.
        status: Status,
        /// `applied`, `rejected` or `undone`.
        verb: &'static str,
    },
    /// The files are not what it was made for.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// A file has changed in the moment between looking and writing.
    #[error("{path} was changed by something else just now; nothing was written")]
    ChangedSince {
        /// The file.
        path: BookPath,
    },
    /// A later change is in the way of taking it back or writing it again.
    #[error("{}; nothing was written", in_the_way(.verb, path, *line, blocker))]
    InTheWay {
        /// `undone` or `redone`.
        verb: &'static str,
        /// The file.
        path: BookPath,
        /// The line of the file, from 1; `None`: the whole file.
        line: Option<usize>,
        /// Whose change.
        blocker: Blocker,
    },
    /// It would write into a hidden folder.
    #[error("{path} lies in a hidden folder, where no proposal may write")]
    Hidden {
        /// The file.
        path: BookPath,
    },
    /// A file that would go is only a link to another one.
    #[error("{path} is a link to another file, which no proposal removes; nothing was written")]
    Link {
        /// The file.
        path: BookPath,
    },
    /// A file that may not be written as it is.
    #[error("{path} can't be changed: {why}; nothing was written")]
    ReadOnly {
        /// The file.
        path: BookPath,
        /// Why.
        why: String,
    },
    /// It has no such file.
    #[error("proposal {id} has {files} files")]
    NoFile {
        /// Which.
        id: ProposalId,
        /// How many there are.
        files: usize,
    },
    /// The file would be removed.
    #[error("{path} would be removed by this proposal, so that there is no text to edit")]
    Removal {
        /// The file.
        path: BookPath,
    },
    /// There is nothing to undo or redo it from.
    #[error("the undo record of proposal {0} is missing or can't be read; nothing was written")]
    NoRecord(ProposalId),
    /// The file system said no.
    #[error("can't write {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

fn in_the_way(verb: &str, path: &BookPath, line: Option<usize>, blocker: &Blocker) -> String {
    let place = line.map_or_else(|| path.to_string(), |line| format!("{path}, line {line}"));
    match blocker {
        Blocker::Proposals(ids) => {
            let ids: Vec<_> = ids.iter().map(ProposalId::as_str).collect();
            let (one, ids) = (ids.len() == 1, ids.join(", "));
            let proposals = if one { "proposal" } else { "proposals" };
            format!("it can't be {verb}: {proposals} {ids} changed {place}, since")
        }
        Blocker::Author(obstacle) => {
            let what = match obstacle {
                Obstacle::SameWords => format!("the same words of {place}, were changed by hand since"),
                Obstacle::Edited => format!("{place} would go, and was edited since"),
                Obstacle::Taken => format!("there is another {place} by now"),
                Obstacle::Gone => format!("{place} is no longer there"),
            };
            format!("it can't be {verb}: {what}")
        }
    }
}

/// Why a link is not removed.
pub(super) const LINK: &str = "it is a link to another file, which no proposal removes";

pub(super) fn store_error(source: io::Error) -> JudgeError {
    JudgeError::Io { path: "the book's .scritorio folder".into(), source }
}

impl From<JournalError> for JudgeError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Changed { path } => Self::ChangedSince { path },
            JournalError::Link { path } => Self::Link { path },
            JournalError::NoRecord { id } => Self::NoRecord(id),
            JournalError::Io { path, source } => Self::Io { path, source },
        }
    }
}
