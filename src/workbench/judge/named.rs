//! Finding a proposal by what a person types: the beginning of its id, or `last`.

use crate::domain::ids::ProposalId;
use crate::proposal::Status;
use crate::store::proposals::{self, Queued};

use super::Workbench;
use super::error::{JudgeError, store_error};

/// How many ids are named where several fit.
const NAMED: usize = 4;

impl Workbench {
    /// Returns the id that `name` begins, in any letter case and with or without `p-`. `last` is the proposal whose state changed last among those that can be
    /// `verb` (`shown`, `applied`, `rejected`, `undone`, `redone`).
    pub fn proposal_named(&self, name: &str, verb: &'static str) -> Result<ProposalId, JudgeError> {
        let items = proposals::load(self.root()).map_err(store_error)?.items;
        if name == "last" {
            let mut fitting: Vec<Queued> = items.into_iter().filter(|q| fits(q.status, verb)).collect();
            // Of two in the same moment the one that was made later.
            fitting.sort_by(|a, b| a.at.cmp(&b.at));
            return fitting.pop().map(|q| q.proposal.id).ok_or(JudgeError::NoLast { verb });
        }
        let unknown = || JudgeError::Unknown(ProposalId::new(name));
        let mut ids: Vec<ProposalId> = items.into_iter().map(|q| q.proposal.id).collect();
        if let Some(exact) = ids.iter().find(|id| id.as_str() == name) {
            return Ok(exact.clone());
        }
        let wanted = name.to_ascii_lowercase();
        let wanted = wanted.strip_prefix("p-").unwrap_or(&wanted);
        if wanted.is_empty() {
            return Err(unknown());
        }
        ids.retain(|id| {
            let id = id.as_str().to_ascii_lowercase();
            id.strip_prefix("p-").unwrap_or(&id).starts_with(wanted)
        });
        match ids.len() {
            0 => Err(unknown()),
            1 => ids.pop().ok_or_else(unknown),
            _ => {
                ids.truncate(NAMED);
                Err(JudgeError::Ambiguous { name: name.to_owned(), ids })
            }
        }
    }
}

fn fits(status: Status, verb: &str) -> bool {
    match verb {
        "applied" => status == Status::Pending,
        "rejected" => matches!(status, Status::Pending | Status::Undone),
        "undone" => status == Status::Applied,
        "redone" => status == Status::Undone,
        _ => true,
    }
}
