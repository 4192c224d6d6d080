//! What a proposal would do to the files as they are now, and settling what the author and the persona both changed.
//!
//! Looking writes nothing. Settling a file writes nothing either: it records the author's text for it, and the proposal is applied like any other.

use crate::domain::ids::{BookPath, ProposalId};
use crate::domain::passage::sha256_hex;
use crate::proposal::apply::Conflict;
use crate::proposal::merge::{Merged, Pick, Region, merge, settle_all};
use crate::proposal::revert::Trace;
use crate::proposal::{FileChange, Status, diff};
use crate::store::journal;
use crate::store::proposals::{Changed, Event};

use super::judge::{JudgeError, QueuedProposal};
use super::open::Workbench;

/// A proposal beside the files as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The proposal and its state.
    pub queued: QueuedProposal,
    /// Its files, in its order.
    pub files: Vec<FileReview>,
}

impl Review {
    /// Whether the author and the proposal changed the same place of some file.
    pub fn is_open(&self) -> bool {
        self.files.iter().any(|file| matches!(file.outcome, Outcome::Conflict(_)))
    }
}

/// One file of a proposal beside what is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReview {
    /// The file.
    pub path: BookPath,
    /// The whole file as it is; `None`: there is none.
    pub now: Option<String>,
    /// The whole file as it was proposed; `None`: it would be removed.
    pub proposed: Option<String>,
    /// What applying would make of it.
    pub outcome: Outcome,
    /// What the proposal did to it, where it was applied (and perhaps undone since). `None` otherwise, and where the record is lost.
    pub written: Option<Written>,
}

/// What a proposal that was applied did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Which of its hunks the author had chosen; nothing: all of them.
    pub taken: Vec<bool>,
    /// The file without and with the change, as it was written or taken back last; `None`: nothing was written to this file.
    pub change: Option<Trace>,
}

impl Written {
    /// Whether the change stands in the file as it was proposed, but for the hunks that were left out.
    pub fn is_as_proposed(&self, change: &FileChange) -> bool {
        let Some(trace) = &self.change else { return false };
        let base = change.base.as_deref().unwrap_or_default();
        let proposed = change.proposed.as_deref().map(|text| diff::apply_hunks(base, text, &self.taken));
        trace.without == change.base && trace.with == proposed
    }
}

/// What applying would make of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// This text. Where the file has not changed since, it is the proposed one; where it has, it holds both changes.
    Written(String),
    /// The file goes.
    Removed,
    /// Nothing: it holds the change already.
    Unchanged,
    /// Nothing can be written before the author has chosen for every open region: see [`Workbench::resolve`].
    Conflict(Vec<Region>),
    /// Nothing can be written, for this reason, and there is nothing to choose.
    Blocked(String),
}

impl Workbench {
    /// Looks at a proposal beside the files as they are. With one that is not pending the outcome is the one that applying it now would have.
    pub fn review(&self, id: &ProposalId) -> Result<Review, JudgeError> {
        let queued = self.proposal(id).ok_or_else(|| JudgeError::Unknown(id.clone()))?;
        let written = match queued.status {
            Status::Applied | Status::Undone => self.written(id),
            _ => vec![],
        };
        let mut files: Vec<FileReview> =
            queued.proposal.files.iter().map(|file| self.review_file(file)).collect();
        for (file, written) in files.iter_mut().zip(written) {
            file.written = Some(written);
        }
        Ok(Review { queued, files })
    }

    /// What an applied proposal did to each of its files; nothing where the record is lost.
    fn written(&self, id: &ProposalId) -> Vec<Written> {
        let Ok(queued) = self.queued(id) else { return vec![] };
        let Ok(traces) = journal::traces(self.root(), id, queued.steps) else { return vec![] };
        let of_file = |(i, file): (usize, &FileChange)| Written {
            taken: queued.taken.get(i).cloned().unwrap_or_default(),
            change: traces.iter().find(|trace| trace.path == file.path).cloned(),
        };
        queued.proposal.files.iter().enumerate().map(of_file).collect()
    }

    /// Records the author's whole text for a file of a pending proposal: what they chose where both sides changed the same place.
    /// `seen` is the file's text that they chose over ([`FileReview::now`]). What changes after that is merged when the proposal is applied.
    pub fn resolve(
        &self,
        id: &ProposalId,
        file: usize,
        seen: &str,
        settled: String,
    ) -> Result<QueuedProposal, JudgeError> {
        let (_busy, queued) = self.settled(id)?;
        queued.must_be(&[Status::Pending], "settled")?;
        let Some(change) = queued.proposal.files.get(file) else {
            return Err(JudgeError::NoFile { id: id.clone(), files: queued.proposal.files.len() });
        };
        let path = change.path.clone();
        if change.proposed.is_none() {
            return Err(JudgeError::Removal { path });
        }
        if change.base.is_none() {
            // A new file never takes the place of one that is there.
            return Err(Conflict::Exists { path }.into());
        }
        let files = vec![Changed {
            path,
            before: change.proposed.as_deref().map(sha256_hex),
            after: Some(sha256_hex(&settled)),
        }];
        self.record(
            &queued,
            "edited",
            files,
            Event::Resolved { file, base: seen.to_owned(), proposed: settled },
        )
    }

    /// Settles every place that the author and the proposal both changed in one way, and applies the proposal.
    pub fn apply_settled(&self, id: &ProposalId, pick: Pick) -> Result<QueuedProposal, JudgeError> {
        let review = self.review(id)?;
        let settled = |file: &FileReview| match &file.outcome {
            Outcome::Conflict(regions) => Some(settle_all(regions, pick)),
            _ => None,
        };
        let leaves = |file: &FileReview| match &file.outcome {
            Outcome::Unchanged => true,
            Outcome::Conflict(_) => settled(file) == file.now,
            _ => false,
        };
        let is_blocked = review.files.iter().any(|file| matches!(file.outcome, Outcome::Blocked(_)));
        if review.queued.status == Status::Stale && !is_blocked {
            if review.files.iter().all(leaves) {
                return Err(Conflict::Nothing.into());
            }
            for (i, file) in review.files.iter().enumerate() {
                if let (Some(text), Some(now)) = (settled(file), &file.now) {
                    self.resolve(id, i, now, text)?;
                }
            }
        }
        self.apply(id, &[])
    }

    fn review_file(&self, file: &FileChange) -> FileReview {
        let now = self.text_now(&file.path);
        let outcome = match self.cannot_change(file) {
            Some(why) => Outcome::Blocked(format!("{} can't be changed: {why}", file.path)),
            None => outcome(file, now.as_deref()),
        };
        FileReview { path: file.path.clone(), now, proposed: file.proposed.clone(), outcome, written: None }
    }
}

fn outcome(file: &FileChange, now: Option<&str>) -> Outcome {
    let path = file.path.clone();
    let blocked = |conflict: Conflict| {
        let why = conflict.to_string();
        Outcome::Blocked(why.trim_end_matches("; nothing was written").to_owned())
    };
    if !file.is_whole() {
        return blocked(Conflict::Damaged { path });
    }
    match (&file.base, now, &file.proposed) {
        (_, None, None) => Outcome::Unchanged,
        (base, Some(now), None) if base.as_deref() == Some(now) => Outcome::Removed,
        (_, Some(_), None) => blocked(Conflict::Kept { path }),
        (None, None, Some(proposed)) => Outcome::Written(proposed.clone()),
        (None, Some(_), Some(_)) => blocked(Conflict::Exists { path }),
        (Some(_), None, Some(_)) => blocked(Conflict::Gone { path }),
        (Some(base), Some(now), Some(proposed)) => match merge(base, now, proposed) {
            Merged::Clean(text) if text == now => Outcome::Unchanged,
            Merged::Clean(text) => Outcome::Written(text),
            Merged::Conflict { regions } => Outcome::Conflict(regions),
        },
    }
}
