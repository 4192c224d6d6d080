//! Judging proposals: apply, reject, undo. The same for a key in the popup and a command line.
//!
//! Nothing is written that was not checked against the files as they are now, and nothing that can't be taken back.

use std::io;

use crate::domain::ids::{BookPath, ProposalId};
use crate::domain::passage::sha256_hex;
use crate::proposal::apply::{self, Conflict};
use crate::proposal::{Proposal, Status};
use crate::store::document;
use crate::store::journal::{self, Extent, JournalError};
use crate::store::lock::{self, Lock};
use crate::store::proposals::{self, Changed, Event, Queued};
use crate::store::provenance::{FateRecord, Record};

use super::Workbench;

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
    Conflict(#[from] Conflict),
    /// A file has changed since it was applied or undone.
    #[error("{path} has changed since; nothing was written")]
    ChangedSince {
        /// The file.
        path: BookPath,
    },
    /// It would write into a hidden folder.
    #[error("{path} lies in a hidden folder, where no proposal may write")]
    Hidden {
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

impl Workbench {
    /// Returns all proposals of this book, oldest first.
    pub fn proposals(&self) -> Vec<QueuedProposal> {
        let queue = proposals::load(self.root()).map(|queue| queue.items).unwrap_or_default();
        queue.into_iter().map(|queued| self.as_it_stands(queued)).collect()
    }

    /// Returns one.
    pub fn proposal(&self, id: &ProposalId) -> Option<QueuedProposal> {
        self.queued(id).ok().map(|queued| self.as_it_stands(queued))
    }

    /// Writes it. `hunks`: see [`crate::proposal::apply::plan`].
    pub fn apply(&self, id: &ProposalId, hunks: &[Vec<bool>]) -> Result<QueuedProposal, JudgeError> {
        let (_busy, queued) = self.settled(id)?;
        queued.must_be(&[Status::Pending], "applied")?;
        if let Some(hidden) = queued.proposal.files.iter().find(|f| is_hidden(&f.path)) {
            return Err(JudgeError::Hidden { path: hidden.path.clone() });
        }
        if let Some((path, why)) = self.read_only(&queued.proposal) {
            return Err(JudgeError::ReadOnly { path, why });
        }
        let writes = apply::plan(&queued.proposal, |file| self.text_now(&file.path), hunks)?;
        let files = journal::apply(self.root(), id, &writes)?;
        self.record(&queued, "applied", files.clone(), Event::Applied { files })
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

    /// Takes an applied one back, to the exact bytes.
    pub fn undo(&self, id: &ProposalId) -> Result<QueuedProposal, JudgeError> {
        let (_busy, queued) = self.settled(id)?;
        queued.must_be(&[Status::Applied], "undone")?;
        let files = journal::undo(self.root(), id)?;
        self.record(&queued, "undone", files.clone(), Event::Undone { files })
    }

    /// Applies an undone one again.
    pub fn redo(&self, id: &ProposalId) -> Result<QueuedProposal, JudgeError> {
        let (_busy, queued) = self.settled(id)?;
        queued.must_be(&[Status::Undone], "redone")?;
        let files = journal::redo(self.root(), id)?;
        self.record(&queued, "redone", files.clone(), Event::Redone { files })
    }

    /// Returns the present text of a file of the book, for showing it beside a proposal. `None`: there is none.
    pub fn text_now(&self, path: &BookPath) -> Option<String> {
        // Where bytes are no UTF-8 the text is not theirs, and the journal, which compares bytes, writes nothing.
        document::read(self.root(), path).ok().map(|document| document.text)
    }

    /// The first file of a proposal that may not be written as it is, and why: not UTF-8, write-protected.
    fn read_only(&self, proposal: &Proposal) -> Option<(BookPath, String)> {
        proposal.files.iter().find_map(|file| Some((file.path.clone(), self.cannot_write(&file.path)?)))
    }

    /// Why a file that is there may not be written as it is.
    pub(super) fn cannot_write(&self, path: &BookPath) -> Option<String> {
        document::read(self.root(), path).ok()?.read_only
    }

    /// Waits for other processes that judge, puts right what a crash left half done, and returns the proposal.
    pub(super) fn settled(&self, id: &ProposalId) -> Result<(Lock, Queued), JudgeError> {
        self.queued(id)?;
        let busy = lock::busy(self.root()).map_err(store_error)?;
        let queued = self.queued(id)?;
        if queued.status != Status::Pending {
            return Ok((busy, queued));
        }
        match journal::extent(self.root(), id)? {
            Some(Extent::After) => {
                let files = journal::changes(self.root(), id)?;
                self.record(&queued, "applied", files.clone(), Event::Applied { files })?;
            }
            Some(Extent::Before | Extent::Between) => journal::roll_back(self.root(), id)?,
            Some(Extent::Elsewhere) | None => {}
        }
        Ok((busy, self.queued(id)?))
    }

    fn queued(&self, id: &ProposalId) -> Result<Queued, JudgeError> {
        let queue = proposals::load(self.root()).map_err(store_error)?;
        let found = queue.items.into_iter().find(|queued| queued.proposal.id == *id);
        found.ok_or_else(|| JudgeError::Unknown(id.clone()))
    }

    /// Compares a proposal with the files as they are.
    fn as_it_stands(&self, queued: Queued) -> QueuedProposal {
        let Queued { mut proposal, mut status, why, .. } = queued;
        if status == Status::Pending {
            let written = journal::extent(self.root(), &proposal.id).ok().flatten();
            let plan = || apply::plan(&proposal, |file| self.text_now(&file.path), &[]);
            match written {
                Some(Extent::After) => status = Status::Applied,
                Some(Extent::Between) => proposal.warnings.insert(0, INTERRUPTED.into()),
                _ if plan().is_err() => status = Status::Stale,
                _ => {}
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
        proposals::append(self.root(), id, event).map_err(store_error)?;
        let queued = self.queued(id)?;
        let record = Record::Fate(FateRecord {
            proposal: id.clone(),
            session: queued.session.clone(),
            fate: fate.to_owned(),
            edited: queued.proposal.edited,
            files,
        });
        self.ledger().append(record).map_err(store_error)?;
        // A book that can't be read in this moment stays as it was read; the proposal's fate does not depend on it.
        let _ = self.refresh();
        Ok(self.as_it_stands(queued))
    }
}

const INTERRUPTED: &str = "The program ended while this was being applied: some files hold the new text. Applying or rejecting it puts them right first.";

/// Whether a file is one of those that no persona has any business in: ours, git's, and whatever else hides.
fn is_hidden(path: &BookPath) -> bool {
    path.as_str().split('/').any(|part| part.starts_with('.'))
}

fn store_error(source: io::Error) -> JudgeError {
    JudgeError::Io { path: "the book's .scritorio folder".into(), source }
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

impl From<JournalError> for JudgeError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Changed { path } => Self::ChangedSince { path },
            JournalError::NoRecord { id } => Self::NoRecord(id),
            JournalError::Io { path, source } => Self::Io { path, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::domain::codex::EntryType;
    use crate::domain::ids::{SessionId, TurnId};
    use crate::proposal::FileChange;
    use crate::workbench::{Overrides, Surroundings};

    struct Desk {
        folder: tempfile::TempDir,
        bench: Workbench,
    }

    impl Desk {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let book = folder.path().join("book");
            fs::create_dir_all(book.join("codex/characters")).unwrap();
            fs::write(book.join("codex/characters/mira.md"), "role: rival\n").unwrap();
            let surroundings = Surroundings::in_folders(folder.path());
            let bench = Workbench::open_in(&book, Overrides::default(), surroundings).unwrap();
            Self { folder, bench }
        }

        /// The same book after the program was started again.
        fn again(&self) -> Workbench {
            let surroundings = Surroundings::in_folders(self.folder.path());
            Workbench::open_in(self.bench.root(), Overrides::default(), surroundings).unwrap()
        }

        fn propose(&self, files: &[(&str, Option<&str>, &str)]) -> ProposalId {
            let id = ProposalId::mint();
            let file = |(path, base, proposed): &(&str, Option<&str>, &str)| FileChange {
                path: BookPath::new(path).unwrap(),
                base: base.map(str::to_owned),
                base_hash: base.map(sha256_hex),
                proposed: Some((*proposed).to_owned()),
            };
            let proposal = Proposal {
                id: id.clone(),
                tool: "propose_codex_update".into(),
                subject: EntryType::Character.into(),
                entry: "Mira".into(),
                summary: "Mira is an ally".into(),
                warnings: vec![],
                files: files.iter().map(file).collect(),
                edited: false,
            };
            self.bench.queue(&SessionId::new("s-1"), &TurnId::new("t-1"), &proposal).unwrap();
            id
        }

        fn both(&self) -> ProposalId {
            self.propose(&[
                ("codex/characters/mira.md", Some("role: rival\n"), "role: ally\n"),
                ("codex/characters/ilse/soul.md", None, "Ilse\n"),
            ])
        }

        fn read(&self, path: &str) -> Option<String> {
            fs::read_to_string(self.bench.root().join(path)).ok()
        }
    }

    #[test]
    fn accepting_writes_and_taking_back_restores_also_after_a_restart() {
        let desk = Desk::new();
        let id = desk.both();
        assert_eq!(desk.bench.apply(&id, &[]).unwrap().status, Status::Applied);
        assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: ally\n");
        assert_eq!(desk.again().undo(&id).unwrap().status, Status::Undone);
        assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: rival\n");
        assert!(!desk.bench.root().join("codex/characters/ilse").exists());
        assert_eq!(desk.bench.redo(&id).unwrap().status, Status::Applied);
        assert_eq!(desk.read("codex/characters/ilse/soul.md").unwrap(), "Ilse\n");
    }

    #[test]
    fn a_verdict_fits_the_state_or_is_refused() {
        let desk = Desk::new();
        let id = desk.both();
        assert!(matches!(desk.bench.undo(&id), Err(JudgeError::State { .. })));
        assert!(matches!(desk.bench.redo(&id), Err(JudgeError::State { .. })));
        desk.bench.reject(&id, Some(" ")).unwrap();
        assert_eq!(desk.bench.proposal(&id).unwrap().why, None);
        let error = desk.bench.apply(&id, &[]).unwrap_err().to_string();
        assert!(error.ends_with("is rejected, so it can't be applied"), "{error}");
        assert!(matches!(desk.bench.apply(&ProposalId::new("p-none"), &[]), Err(JudgeError::Unknown(_))));
    }

    #[test]
    fn what_the_author_edited_is_what_is_written() {
        let desk = Desk::new();
        let id = desk.both();
        assert!(desk.bench.edit(&id, 0, "role: friend\n".into()).unwrap().proposal.edited);
        assert!(matches!(desk.bench.edit(&id, 2, String::new()), Err(JudgeError::NoFile { files: 2, .. })));
        desk.bench.apply(&id, &[]).unwrap();
        assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: friend\n");
        assert!(matches!(desk.bench.edit(&id, 0, String::new()), Err(JudgeError::State { .. })));
    }

    #[test]
    fn a_file_that_is_there_by_now_is_not_overwritten() {
        let desk = Desk::new();
        let id = desk.both();
        fs::create_dir_all(desk.bench.root().join("codex/characters/ilse")).unwrap();
        fs::write(desk.bench.root().join("codex/characters/ilse/soul.md"), "mine").unwrap();
        assert_eq!(desk.bench.proposal(&id).unwrap().status, Status::Stale);
        assert!(matches!(desk.bench.apply(&id, &[]), Err(JudgeError::Conflict(Conflict::Exists { .. }))));
        assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: rival\n", "all or nothing");
    }

    #[test]
    fn a_file_in_an_old_encoding_is_left_alone_and_the_reason_is_told() {
        let desk = Desk::new();
        let bytes = b"role: h\xe9ros\n";
        fs::write(desk.bench.root().join("codex/characters/mira.md"), bytes).unwrap();
        let id = desk.propose(&[("codex/characters/mira.md", Some("role: h\u{e9}ros\n"), "role: ally\n")]);
        let warning = &desk.bench.proposal(&id).unwrap().proposal.warnings[0];
        assert!(warning.contains("can't be changed: the file is not UTF-8"), "{warning}");
        assert!(matches!(desk.bench.apply(&id, &[]), Err(JudgeError::ReadOnly { .. })));
        assert_eq!(fs::read(desk.bench.root().join("codex/characters/mira.md")).unwrap(), bytes);
    }

    #[test]
    fn a_hidden_folder_is_out_of_bounds() {
        let desk = Desk::new();
        for path in [".git/hooks/pre-commit", ".scritorio/proposals.jsonl", "codex/.x/a.md"] {
            let id = desk.propose(&[(path, None, "x")]);
            assert!(matches!(desk.bench.apply(&id, &[]), Err(JudgeError::Hidden { .. })), "{path}");
            assert!(desk.bench.root().join(path).is_file() == path.contains("proposals.jsonl"));
        }
    }

    /// Applies, and forgets that it did: what is left on the disk when the program ends right after the files were written.
    fn cut_short(desk: &Desk, id: &ProposalId) {
        let queue = desk.bench.root().join(".scritorio/proposals.jsonl");
        let before = fs::read(&queue).unwrap();
        desk.bench.apply(id, &[]).unwrap();
        fs::write(&queue, before).unwrap();
    }

    #[test]
    fn an_apply_that_was_written_but_not_recorded_counts_as_applied() {
        let desk = Desk::new();
        let id = desk.both();
        cut_short(&desk, &id);
        let bench = desk.again();
        assert_eq!(bench.proposal(&id).unwrap().status, Status::Applied);
        assert!(matches!(bench.apply(&id, &[]), Err(JudgeError::State { status: Status::Applied, .. })));
        bench.undo(&id).unwrap();
        assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: rival\n");
    }

    #[test]
    fn an_apply_that_was_half_written_says_so_and_is_put_right_first() {
        let desk = Desk::new();
        let id = desk.both();
        cut_short(&desk, &id);
        fs::remove_dir_all(desk.bench.root().join("codex/characters/ilse")).unwrap();
        let bench = desk.again();
        let queued = bench.proposal(&id).unwrap();
        assert_eq!(queued.status, Status::Pending);
        assert_eq!(queued.proposal.warnings, [INTERRUPTED]);
        bench.reject(&id, None).unwrap();
        assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: rival\n");
        assert_eq!(bench.proposal(&id).unwrap().status, Status::Rejected);
    }

    #[test]
    fn chosen_hunks_alone_are_written_and_taken_back_and_written_again() {
        let desk = Desk::new();
        let base = "one\n2\n3\n4\n5\n6\n7\nend\n";
        fs::write(desk.bench.root().join("codex/characters/mira.md"), base).unwrap();
        let proposed = base.replace("one", "ONE").replace("end", "END");
        let id = desk.propose(&[("codex/characters/mira.md", Some(base), &proposed)]);
        desk.bench.apply(&id, &[vec![true, false]]).unwrap();
        let half = base.replace("one", "ONE");
        assert_eq!(desk.read("codex/characters/mira.md").unwrap(), half);
        desk.bench.undo(&id).unwrap();
        desk.bench.redo(&id).unwrap();
        assert_eq!(desk.read("codex/characters/mira.md").unwrap(), half, "what was chosen stays chosen");
    }

    #[test]
    fn two_that_judge_at_once_do_not_both_win() {
        let desk = Desk::new();
        let id = desk.both();
        let won = std::thread::scope(|scope| {
            let judges = [desk.again(), desk.again()].map(|bench| {
                let id = id.clone();
                scope.spawn(move || bench.apply(&id, &[]).is_ok())
            });
            judges.map(|judge| judge.join().unwrap())
        });
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
        assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: ally\n");
    }
}
