//! Undoing and redoing in any order: what each file must become, or whose change is in the way.
//!
//! Reads files and records, writes nothing.

use crate::domain::ids::{BookPath, ProposalId};
use crate::proposal::Status;
use crate::proposal::apply::Write;
use crate::proposal::revert::{Stuck, Trace, Turned};
use crate::store::document::{self, DocumentError};
use crate::store::proposals::Queued;
use crate::store::{journal, proposals};

use super::error::{Blocker, JudgeError, Obstacle, store_error};
use super::{Workbench, is_hidden};

impl Workbench {
    /// Plans taking a proposal out of its files (`back`), or putting it in again. Files that are so already are left out.
    pub(super) fn turn(&self, queued: &Queued, back: bool) -> Result<Vec<Write>, JudgeError> {
        let id = &queued.proposal.id;
        let mut writes = vec![];
        for trace in journal::traces(self.root(), id, queued.steps)? {
            let path = trace.path.clone();
            if is_hidden(&path) {
                return Err(JudgeError::Hidden { path });
            }
            let now = self.exact_text(&path)?;
            match trace.turn(now.as_deref(), back) {
                Ok(Turned::Already) => {}
                Ok(Turned::To(after)) => writes.push(Write { path, before: now, after }),
                Err(stuck) => return Err(self.in_the_way(id, &trace, &stuck, now.as_deref(), back)?),
            }
        }
        Ok(writes)
    }

    /// The bytes of a file as text; `None`: there is none. Refuses one that is not UTF-8 or write-protected.
    fn exact_text(&self, path: &BookPath) -> Result<Option<String>, JudgeError> {
        match document::read(self.root(), path) {
            Ok(document) => match document.read_only {
                Some(why) => Err(JudgeError::ReadOnly { path: path.clone(), why }),
                None => Ok(Some(document.text)),
            },
            Err(DocumentError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Ok(None)
            }
            Err(DocumentError::Io { source, .. }) => Err(JudgeError::Io { path: path.to_string(), source }),
            Err(other) => Err(JudgeError::ReadOnly { path: path.clone(), why: other.to_string() }),
        }
    }

    /// Finds out whose change is in the way, by trying: a later proposal is, if with that one taken out nothing is.
    fn in_the_way(
        &self,
        id: &ProposalId,
        trace: &Trace,
        stuck: &Stuck,
        now: Option<&str>,
        back: bool,
    ) -> Result<JudgeError, JudgeError> {
        let others = self.others_in(id, &trace.path)?;
        let alone = others.iter().find(|(_, other)| match other.turn(now, true) {
            Ok(Turned::To(without)) => trace.turn(without.as_deref(), back).is_ok(),
            _ => false,
        });
        let ids = match alone {
            Some((other, _)) => vec![other.clone()],
            None => together(&others, trace, now, back),
        };
        let blocker = if ids.is_empty() { Blocker::Author(obstacle(stuck)) } else { Blocker::Proposals(ids) };
        let verb = if back { "undone" } else { "redone" };
        Ok(JudgeError::InTheWay { verb, path: trace.path.clone(), line: stuck.line(), blocker })
    }

    /// The other applied proposals that changed a file, the one that was judged last first.
    fn others_in(&self, id: &ProposalId, path: &BookPath) -> Result<Vec<(ProposalId, Trace)>, JudgeError> {
        let mut items = proposals::load(self.root()).map_err(store_error)?.items;
        items.retain(|q| q.status == Status::Applied && q.proposal.id != *id);
        items.reverse();
        items.sort_by(|a, b| b.at.cmp(&a.at));
        let mut found = vec![];
        for queued in items {
            // One whose record is lost can't be tried.
            let traces = journal::traces(self.root(), &queued.proposal.id, queued.steps).unwrap_or_default();
            let here = traces.into_iter().find(|trace| trace.path == *path);
            found.extend(here.map(|trace| (queued.proposal.id, trace)));
        }
        Ok(found)
    }
}

/// The fewest of the newest proposals that are in the way only together; none: what is in the way is no proposal.
fn together(others: &[(ProposalId, Trace)], trace: &Trace, now: Option<&str>, back: bool) -> Vec<ProposalId> {
    let mut text = now.map(str::to_owned);
    let mut taken_out = vec![];
    for (id, other) in others {
        if let Ok(Turned::To(without)) = other.turn(text.as_deref(), true) {
            text = without;
            taken_out.push(id.clone());
            if trace.turn(text.as_deref(), back).is_ok() {
                return taken_out;
            }
        }
    }
    vec![]
}

fn obstacle(stuck: &Stuck) -> Obstacle {
    match stuck {
        Stuck::Overlap(_) => Obstacle::SameWords,
        Stuck::Edited => Obstacle::Edited,
        Stuck::Taken => Obstacle::Taken,
        Stuck::Gone => Obstacle::Gone,
    }
}
