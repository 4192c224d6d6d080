//! Judging proposals: apply, reject, undo. The same for a key in the popup and a command line.

use serde::Serialize;

use crate::domain::ids::ProposalId;
use crate::proposal::{Proposal, Status};

use super::Workbench;

/// A proposal with its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedProposal {
    /// The proposal.
    pub proposal: Proposal,
    /// What became of it. `Stale` is worked out against the files as they are.
    pub status: Status,
}

/// A proposal as JSON output shows it.
#[derive(Debug, Clone, Serialize)]
pub struct Judged {
    /// Which.
    pub id: ProposalId,
    /// Its state now.
    pub status: Status,
}

/// Why a proposal was not applied, rejected or undone.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// There is none with this id.
    #[error("there is no proposal {0}")]
    Unknown(ProposalId),
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
    Conflict(#[from] crate::proposal::apply::Conflict),
    /// The file has changed since it was applied.
    #[error("{path} has changed since this was applied; it was not undone")]
    ChangedSince {
        /// The file.
        path: crate::domain::ids::BookPath,
    },
    /// The file system said no.
    #[error("can't write {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

impl Workbench {
    /// Returns all proposals of this book, oldest first.
    pub fn proposals(&self) -> Vec<QueuedProposal> {
        todo!()
    }

    /// Returns one.
    pub fn proposal(&self, id: &ProposalId) -> Option<QueuedProposal> {
        todo!()
    }

    /// Writes it. `hunks`: see [`crate::proposal::apply::plan`].
    pub fn apply(&self, id: &ProposalId, hunks: &[Vec<bool>]) -> Result<QueuedProposal, JudgeError> {
        todo!()
    }

    /// Replaces the proposed text of one file before it is accepted (the author edited it).
    pub fn edit(&self, id: &ProposalId, file: usize, proposed: String) -> Result<QueuedProposal, JudgeError> {
        todo!()
    }

    /// Refuses it; the reason is told to the model with the next turn.
    pub fn reject(&self, id: &ProposalId, why: Option<&str>) -> Result<QueuedProposal, JudgeError> {
        todo!()
    }

    /// Takes an applied one back, to the exact bytes.
    pub fn undo(&self, id: &ProposalId) -> Result<QueuedProposal, JudgeError> {
        todo!()
    }

    /// Applies an undone one again.
    pub fn redo(&self, id: &ProposalId) -> Result<QueuedProposal, JudgeError> {
        todo!()
    }
}
