//! Judging proposals: apply, reject, undo. The same for a key in the popup and a command line.
//!
//! Nothing is written that was not checked against the files as they are now, and nothing that can't be taken back.

mod error;
mod named;
mod turn;

use crate::domain::ids::{BookPath, ProposalId};
use crate::domain::passage::sha256_hex;
use crate::proposal::apply::{self, Write};
use crate::proposal::{FileChange, Proposal, Status};
use crate::store::document;
use crate::store::journal::{self, Settled, Step};
use crate::store::lock::{self, Lock};
use crate::store::proposals::{self, Changed, Event, Queued};
use crate::store::provenance::{FateRecord, Record};

use super::Workbench;
pub use error::{Blocker, JudgeError, Obstacle};
use error::{LINK, store_error};

/// A proposal with its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedProposal {
    /// The proposal.
    pub proposal: Proposal,
    /// What became of it. `Stale` is worked out against the files as they are.
    pub status: Status,
    /// Why the author refused it.
    pub why: Option<String>,
}

impl Workbench {
    /// Returns all proposals of this book, oldest first.
    pub fn proposals(&self) -> Vec<QueuedProposal> {
        self.settle_all();
        let queue = proposals::load(self.root()).map(|queue| queue.items).unwrap_or_default();
        queue.into_iter().map(|queued| self.as_it_stands(queued)).collect()
    }

    /// Returns one.
    pub fn proposal(&self, id: &ProposalId) -> Option<QueuedProposal> {
        self.settle_all();
        self.queued(id).ok().map(|queued| self.as_it_stands(queued))
    }

    /// Writes it. `hunks`: see [`crate::proposal::apply::plan`].
    pub fn apply(&self, id: &ProposalId, hunks: &[Vec<bool>]) -> Result<QueuedProposal, JudgeError> {
        let (_busy, queued) = self.settled(id)?;
        queued.must_be(&[Status::Pending], "applied")?;
        if let Some(hidden) = queued.proposal.files.iter().find(|f| is_hidden(&f.path)) {
            return Err(JudgeError::Hidden { path: hidden.path.clone() });
        }
        if let Some(file) = queued.proposal.files.iter().find(|f| self.removes_a_link(f)) {
            return Err(JudgeError::Link { path: file.path.clone() });
        }
        if let Some((path, why)) = self.read_only(&queued.proposal) {
            return Err(JudgeError::ReadOnly { path, why });
        }
        let writes = apply::plan(&queued.proposal, |file| self.text_now(&file.path), hunks)?;
        let files = self.write(&queued, false, &writes)?;
        let taken = if hunks.iter().flatten().all(|taken| *taken) { vec![] } else { hunks.to_vec() };
        self.record(&queued, "applied", files.clone(), Event::Applied { files, taken })
    }

    /// Replaces the proposed text of one file before it is accepted (the author edited it).
    pub fn edit(&self, id: &ProposalId, file: usize, proposed: String) -> Result<QueuedProposal, JudgeError> {
        let (_busy, queued) = self.settled(id)?;
        queued.must_be(&[Status::Pending], "edited")?;
        let Some(change) = queued.proposal.files.get(file) else {
            return Err(JudgeError::NoFile { id: id.clone(), files: queued.proposal.files.len() });
        };
        if change.proposed.is_none() {
            return Err(JudgeError::Removal { path: change.path.clone() });
        }
        let files = vec![Changed {
            path: change.path.clone(),
            before: change.proposed.as_deref().map(sha256_hex),
            after: Some(sha256_hex(&proposed)),
        }];
        self.record(&queued, "edited", files, Event::Edited { file, proposed })
    }

    /// Refuses it; the reason is told to the model with the next turn.
    pub fn reject(&self, id: &ProposalId, why: Option<&str>) -> Result<QueuedProposal, JudgeError> {
        let (_busy, queued) = self.settled(id)?;
        queued.must_be(&[Status::Pending, Status::Undone], "rejected")?;
        let why = why.map(str::trim).filter(|why| !why.is_empty()).map(str::to_owned);
        self.record(&queued, "rejected", vec![], Event::Rejected { why })
    }

    /// Takes an applied one back: to the exact bytes where nothing has changed since, else its change alone. Other proposals and the author's own
    /// later words stay; where they are in the way it is refused.
    pub fn undo(&self, id: &ProposalId) -> Result<QueuedProposal, JudgeError> {
        let (_busy, queued) = self.settled(id)?;
        queued.must_be(&[Status::Applied], "undone")?;
        let writes = self.turn(&queued, true)?;
        let files = self.write(&queued, true, &writes)?;
        self.record(&queued, "undone", files.clone(), Event::Undone { files })
    }

    /// Applies an undone one again. Later words are kept as when undoing.
    pub fn redo(&self, id: &ProposalId) -> Result<QueuedProposal, JudgeError> {
        let (_busy, queued) = self.settled(id)?;
        queued.must_be(&[Status::Undone], "redone")?;
        let writes = self.turn(&queued, false)?;
        let files = self.write(&queued, false, &writes)?;
        self.record(&queued, "redone", files.clone(), Event::Redone { files })
    }

    /// Writes the next step of a proposal, with its record.
    fn write(&self, queued: &Queued, back: bool, writes: &[Write]) -> Result<Vec<Changed>, JudgeError> {
        if writes.is_empty() {
            return Ok(vec![]);
        }
        let step = Step { number: queued.steps + 1, back };
        Ok(journal::write(self.root(), &queued.proposal.id, step, writes)?)
    }

    /// Returns the present text of a file of the book, for showing it beside a proposal. `None`: there is none.
    pub fn text_now(&self, path: &BookPath) -> Option<String> {
        // Where bytes are no UTF-8 the text is not theirs, and the journal, which compares bytes, writes nothing.
        document::read(self.root(), path).ok().map(|document| document.text)
    }

    /// The first file of a proposal that may not be written as it is, and why: not UTF-8, write-protected.
    fn read_only(&self, proposal: &Proposal) -> Option<(BookPath, String)> {
        proposal.files.iter().find_map(|file| Some((file.path.clone(), self.cannot_change(file)?)))
    }

    /// Why a file of a proposal may not become what is proposed.
    pub(super) fn cannot_change(&self, file: &FileChange) -> Option<String> {
        self.cannot_write(&file.path).or_else(|| self.removes_a_link(file).then(|| LINK.to_owned()))
    }

    fn removes_a_link(&self, file: &FileChange) -> bool {
        file.proposed.is_none() && file.path.under(self.root()).is_symlink()
    }

    /// Why a file that is there may not be written as it is.
    pub(super) fn cannot_write(&self, path: &BookPath) -> Option<String> {
        document::read(self.root(), path).ok()?.read_only
    }

    /// Waits for other processes that judge, puts right what a crash left half done, and returns the proposal.
    pub(super) fn settled(&self, id: &ProposalId) -> Result<(Lock, Queued), JudgeError> {
        self.queued(id)?;
        let busy = lock::busy(self.root()).map_err(store_error)?;
        for queued in proposals::load(self.root()).map_err(store_error)?.items {
            if queued.proposal.id == *id || self.is_cut_short(&queued) {
                self.settle(&queued)?;
            }
        }
        Ok((busy, self.queued(id)?))
    }

    /// Puts right what a crash left half done. A book that can't be written now stays as it is; [`Self::proposals`] then says so of each.
    fn settle_all(&self) {
        let cut_short = || {
            let items = proposals::load(self.root()).map(|queue| queue.items).unwrap_or_default();
            items.into_iter().filter(|queued| self.is_cut_short(queued)).collect::<Vec<_>>()
        };
        if cut_short().is_empty() {
            return;
        }
        // Another process may be writing just now: what is still unfinished when it has ended was cut short.
        let Ok(_busy) = lock::busy(self.root()) else { return };
        for queued in cut_short() {
            let _ = self.settle(&queued);
        }
    }

    /// Whether a step was begun that the queue does not know.
    fn is_cut_short(&self, queued: &Queued) -> bool {
        journal::has(self.root(), &queued.proposal.id, queued.steps + 1)
    }

    fn settle(&self, queued: &Queued) -> Result<(), JudgeError> {
        let id = &queued.proposal.id;
        if let Some(Settled::Finished(files)) = journal::settle(self.root(), id, queued.steps + 1)? {
            let (fate, event) = match queued.status {
                Status::Applied => ("undone", Event::Undone { files: files.clone() }),
                Status::Undone => ("redone", Event::Redone { files: files.clone() }),
                _ => ("applied", Event::Applied { files: files.clone(), taken: vec![] }),
            };
            self.record(queued, fate, files, event)?;
        }
        Ok(())
    }

    pub(super) fn queued(&self, id: &ProposalId) -> Result<Queued, JudgeError> {
        let queue = proposals::load(self.root()).map_err(store_error)?;
        let found = queue.items.into_iter().find(|queued| queued.proposal.id == *id);
        found.ok_or_else(|| JudgeError::Unknown(id.clone()))
    }

    /// Compares a proposal with the files as they are.
    fn as_it_stands(&self, queued: Queued) -> QueuedProposal {
        let Queued { mut proposal, mut status, why, steps, .. } = queued;
        if journal::has(self.root(), &proposal.id, steps + 1) {
            proposal.warnings.insert(0, INTERRUPTED.into());
        }
        if status == Status::Pending {
            if apply::plan(&proposal, |file| self.text_now(&file.path), &[]).is_err() {
                status = Status::Stale;
            }
            if let Some((path, why)) = self.read_only(&proposal) {
                proposal.warnings.insert(0, format!("{path} can't be changed: {why}."));
            }
        }
        QueuedProposal { proposal, status, why }
    }

    /// Records what became of a proposal in the queue and in the provenance, and reads the book again.
    pub(super) fn record(
        &self,
        queued: &Queued,
        fate: &str,
        files: Vec<Changed>,
        event: Event,
    ) -> Result<QueuedProposal, JudgeError> {
        let id = &queued.proposal.id;
        let record = FateRecord {
            proposal: id.clone(),
            session: queued.session.clone(),
            fate: fate.to_owned(),
            edited: queued.proposal.edited || fate == "edited",
            files,
        };
        // The ledger first: what was cut short is seen in the queue, and then recorded here only if it is not yet.
        let is_known = self.is_cut_short(queued)
            && self.ledger().last_fate(id).is_ok_and(|last| last.as_ref() == Some(&record));
        let told = if is_known { Ok(()) } else { self.ledger().append(Record::Fate(record)) };
        proposals::append(self.root(), id, event).map_err(store_error)?;
        told.map_err(store_error)?;
        let queued = self.queued(id)?;
        // A book that can't be read in this moment stays as it was read; the proposal's fate does not depend on it.
        let _ = self.refresh();
        Ok(self.as_it_stands(queued))
    }
}

const INTERRUPTED: &str = "The program ended while this was being written, and the book can't be written now: some of its files may hold the new text. It is put right as soon as the book can be written.";

/// Whether a file is one of those that no persona has any business in: ours, git's, and whatever else hides.
fn is_hidden(path: &BookPath) -> bool {
    path.as_str().split('/').any(|part| part.starts_with('.'))
}

impl Queued {
    pub(super) fn must_be(&self, allowed: &[Status], verb: &'static str) -> Result<(), JudgeError> {
        if allowed.contains(&self.status) {
            Ok(())
        } else {
            Err(JudgeError::State { id: self.proposal.id.clone(), status: self.status, verb })
        }
    }
}

#[cfg(test)]
mod tests;
