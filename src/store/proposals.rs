//! The queue of proposals: `.scritorio/proposals.jsonl`, one event a line, only ever appended to.
//!
//! What became of a proposal is folded from its events. Nothing here touches the files that a proposal is about: that is the journal's work.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::ids::{BookPath, ProposalId, SessionId, TurnId};
use crate::domain::passage::sha256_hex;
use crate::proposal::{Proposal, Status};

use super::{home, jsonl};

const FILE: &str = "proposals.jsonl";

/// Something that happened to a proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// A persona made it.
    Proposed {
        /// In this conversation.
        session: SessionId,
        /// In this turn.
        turn: TurnId,
        /// All of it, with the bytes that it was written against.
        proposal: Box<Proposal>,
    },
    /// The author changed the proposed text of one file.
    Edited {
        /// Which file of the proposal, from 0.
        file: usize,
        /// The whole file as it would be.
        proposed: String,
    },
    /// The author settled a file that they and the proposal had both changed in the same place.
    Resolved {
        /// Which file of the proposal, from 0.
        file: usize,
        /// The whole file as the author saw it then.
        base: String,
        /// The whole file as it would be.
        proposed: String,
    },
    /// It was written.
    Applied {
        /// The files, with their hashes.
        files: Vec<Changed>,
        /// For every file of the proposal which of its hunks were chosen; nothing: all of them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        taken: Vec<Vec<bool>>,
    },
    /// The author refused it.
    Rejected {
        /// In the author's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// It was taken back.
    Undone {
        /// The files, with their hashes.
        files: Vec<Changed>,
    },
    /// It was written again.
    Redone {
        /// The files, with their hashes.
        files: Vec<Changed>,
    },
}

/// A file before and after, as SHA-256 in lowercase hex; `None`: it did not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// The file.
    pub path: BookPath,
    /// Its hash before.
    pub before: Option<String>,
    /// Its hash after.
    pub after: Option<String>,
}

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    v: u32,
    id: ProposalId,
    at: String,
    #[serde(flatten)]
    event: Event,
}

/// A proposal with what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Queued {
    /// The proposal, with the author's edits.
    pub proposal: Proposal,
    /// Pending, applied, rejected or undone. Whether it is stale depends on the files and is not known here.
    pub status: Status,
    /// The conversation that it came from.
    pub session: SessionId,
    /// The turn that it came from.
    pub turn: TurnId,
    /// Why it was rejected.
    pub why: Option<String>,
    /// When it was made, RFC 3339 in UTC.
    pub proposed_at: String,
    /// When the last event happened, RFC 3339 in UTC.
    pub at: String,
    /// How many steps changed its files: it was applied, undone, redone. The journal numbers them from 1.
    pub steps: usize,
    /// For every file which of its hunks were chosen when it was applied; nothing: all of them.
    pub taken: Vec<Vec<bool>>,
}

/// Everything that the queue holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Queue {
    /// The proposals, oldest first.
    pub items: Vec<Queued>,
    /// Lines that could not be read, or belong to no proposal.
    pub skipped: usize,
}

/// Reads the queue of the book in `root`.
pub fn load(root: &Path) -> io::Result<Queue> {
    let lines = jsonl::read::<Line>(&home::path(root, FILE)?)?;
    let mut queue = Queue { items: vec![], skipped: lines.skipped };
    for line in lines.records {
        if !queue.take(line) {
            queue.skipped += 1;
        }
    }
    Ok(queue)
}

/// Records an event, durably. Makes `.scritorio`.
pub fn append(root: &Path, id: &ProposalId, event: Event) -> io::Result<()> {
    let line = Line { v: jsonl::VERSION, id: id.clone(), at: super::now(), event };
    jsonl::append(&home::make(root, FILE)?, &[line])
}

impl Queue {
    /// Folds a line in; `false` when it fits no proposal.
    fn take(&mut self, line: Line) -> bool {
        let known = self.items.iter_mut().find(|q| q.proposal.id == line.id);
        let Some(queued) = known else {
            let Event::Proposed { session, turn, proposal } = line.event else { return false };
            let proposal = *proposal;
            let fits = proposal.id == line.id;
            if fits {
                let (status, why) = (Status::Pending, None);
                let proposed_at = line.at.clone();
                self.items.push(Queued {
                    proposal,
                    status,
                    session,
                    turn,
                    why,
                    proposed_at,
                    at: line.at,
                    steps: 0,
                    taken: vec![],
                });
            }
            return fits;
        };
        match line.event {
            Event::Proposed { .. } => return false,
            Event::Edited { file, proposed } => {
                let Some(change) = queued.proposal.files.get_mut(file) else { return false };
                change.proposed = Some(proposed);
                queued.proposal.edited = true;
            }
            Event::Resolved { file, base, proposed } => {
                let Some(change) = queued.proposal.files.get_mut(file) else { return false };
                change.base_hash = Some(sha256_hex(&base));
                change.base = Some(base);
                change.proposed = Some(proposed);
                queued.proposal.edited = true;
            }
            Event::Applied { taken, .. } => {
                queued.status = Status::Applied;
                queued.steps += 1;
                queued.taken = taken;
            }
            Event::Redone { .. } => {
                queued.status = Status::Applied;
                queued.steps += 1;
            }
            Event::Undone { .. } => {
                queued.status = Status::Undone;
                queued.steps += 1;
            }
            Event::Rejected { why } => {
                queued.status = Status::Rejected;
                queued.why = why;
            }
        }
        queued.at = line.at;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::domain::codex::EntryType;
    use crate::proposal::FileChange;

    pub(crate) fn role_change(id: &str) -> Proposal {
        Proposal {
            id: ProposalId::new(id),
            tool: "propose_codex_update".into(),
            subject: EntryType::Character.into(),
            entry: "Mira Okafor".into(),
            summary: "Mira is the ally".into(),
            warnings: vec![],
            files: vec![FileChange {
                path: BookPath::new("codex/characters/mira.md").unwrap(),
                base: Some("role: rival\n".into()),
                base_hash: Some("aa".into()),
                proposed: Some("role: ally\n".into()),
            }],
            edited: false,
        }
    }

    fn propose(root: &Path, id: &str) -> ProposalId {
        let proposal = role_change(id);
        let (session, turn) = (SessionId::new("s-1"), TurnId::new("t-1"));
        let id = proposal.id.clone();
        append(root, &id, Event::Proposed { session, turn, proposal: Box::new(proposal) }).unwrap();
        id
    }

    #[test]
    fn a_book_without_proposals_stays_untouched() {
        let root = tempfile::tempdir().unwrap();
        assert!(load(root.path()).unwrap().items.is_empty());
        assert!(!root.path().join(home::NAME).exists());
    }

    #[test]
    fn the_last_event_says_what_became_of_a_proposal() {
        let root = tempfile::tempdir().unwrap();
        let id = propose(root.path(), "p-1");
        let other = propose(root.path(), "p-2");
        let status = || load(root.path()).unwrap().items[0].status;
        assert_eq!(status(), Status::Pending);
        append(root.path(), &id, Event::Edited { file: 0, proposed: "role: friend\n".into() }).unwrap();
        append(root.path(), &id, Event::Applied { files: vec![], taken: vec![vec![true, false]] }).unwrap();
        assert_eq!(status(), Status::Applied);
        append(root.path(), &id, Event::Undone { files: vec![] }).unwrap();
        assert_eq!(status(), Status::Undone);
        append(root.path(), &id, Event::Redone { files: vec![] }).unwrap();
        append(root.path(), &other, Event::Rejected { why: Some("too soon".into()) }).unwrap();
        let queue = load(root.path()).unwrap();
        assert_eq!(queue.skipped, 0);
        assert_eq!((queue.items[0].status, queue.items[0].steps), (Status::Applied, 3));
        assert_eq!(queue.items[0].taken, [[true, false]]);
        assert!(queue.items[0].proposal.edited);
        assert_eq!(queue.items[0].proposal.files[0].text(), "role: friend\n");
        assert_eq!(queue.items[1].why.as_deref(), Some("too soon"));
    }

    #[test]
    fn a_line_that_fits_nothing_is_counted_and_costs_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        propose(root.path(), "p-1");
        append(root.path(), &ProposalId::new("p-9"), Event::Applied { files: vec![], taken: vec![] })
            .unwrap();
        append(root.path(), &ProposalId::new("p-1"), Event::Edited { file: 7, proposed: String::new() })
            .unwrap();
        let path = root.path().join(".scritorio/proposals.jsonl");
        let mut text = fs::read_to_string(&path).unwrap();
        text.push_str("{\"v\":1,\"id\":\"p-1\",\"at\":\"\",\"event\":\"blessed\"}\n{\"v\":7,\"id\":\"p-1\"}\n{\"v\":1,\"id\":\"p-1\",\"ev");
        fs::write(&path, text).unwrap();
        let queue = load(root.path()).unwrap();
        assert_eq!((queue.items.len(), queue.items[0].status, queue.skipped), (1, Status::Pending, 5));
        append(root.path(), &ProposalId::new("p-1"), Event::Rejected { why: None }).unwrap();
        assert_eq!(load(root.path()).unwrap().items[0].status, Status::Rejected);
    }
}
