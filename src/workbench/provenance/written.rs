//! What accepted proposals brought into the text.
//!
//! Which ones were accepted is what the chains say, which go wherever the book goes. What each brought is counted from its exact texts before and after, which stay on the
//! machine that accepted it: where these are missing, or are not those that the chain names, the proposal counts as not known, and never as nothing.

use std::collections::BTreeMap;
use std::io;

use crate::domain::ids::{BookPath, ProposalId};
use crate::domain::passage::sha256_hex;
use crate::proposal::Status;
use crate::proposal::kept::{self, Brought};
use crate::proposal::revert::Trace;
use crate::store::proposals::{Changed, Queued};
use crate::store::provenance::FateRecord;
use crate::store::{journal, proposals};

use super::{FileWritten, Workbench, Written};

/// A proposal whose change is in the book.
struct Accepted<'a> {
    id: &'a ProposalId,
    /// How many steps changed its files.
    steps: usize,
    /// What the last of them left, by the chain; `None`: the chain does not know it.
    left: Option<&'a [Changed]>,
}

impl Workbench {
    /// Counts what accepted proposals brought. `fates` are those of all chains, oldest first.
    pub(super) fn brought_into_text(&self, fates: &[&FateRecord]) -> io::Result<Written> {
        let book = self.book();
        let queue = proposals::load(self.root())?.items;
        let mut written = Written::default();
        let mut files: BTreeMap<BookPath, Brought> = BTreeMap::new();
        for accepted in accepted(fates, &queue) {
            let Some(traces) = self.traces_of(&accepted) else {
                written.not_known += 1;
                continue;
            };
            for trace in traces {
                let now = self.text_now(&trace.path);
                let (without, with) = (trace.without.unwrap_or_default(), trace.with.unwrap_or_default());
                let more = kept::brought(&without, &with, now.as_deref());
                let sum = files.entry(trace.path).or_default();
                sum.added += more.added;
                sum.still_there += more.still_there;
            }
        }
        for (path, Brought { added, still_there }) in files {
            let chars = self.text_now(&path).map_or(0, |text| text.chars().count());
            // Two proposals for one place bring the same words twice; a file has no more than it holds.
            let still_there = still_there.min(chars);
            if book.chapter(&path).is_some() {
                written.manuscript_still_there += still_there;
            }
            written.files.push(FileWritten { path, added, still_there, chars });
        }
        written.manuscript_chars = book.chapters.iter().map(|c| c.text.chars().count()).sum();
        Ok(written)
    }

    /// Returns the texts without and with a proposal; `None`: they are not here, or not those that the chain names.
    fn traces_of(&self, accepted: &Accepted<'_>) -> Option<Vec<Trace>> {
        let changed = accepted.left.unwrap_or_default().iter().filter(|file| file.before != file.after);
        let changed: Vec<&Changed> = changed.collect();
        if accepted.left.is_some() && changed.is_empty() {
            // The files held it already.
            return Some(vec![]);
        }
        let traces = journal::traces(self.root(), accepted.id, accepted.steps).ok()?;
        let is_here = |changed: &&Changed| {
            let mut here = traces.iter().filter(|trace| trace.path == changed.path);
            here.any(|trace| trace.with.as_deref().map(sha256_hex) == changed.after)
        };
        changed.iter().all(is_here).then_some(traces)
    }
}

/// The proposals whose change is in the book: as the chains have it, and those that only the queue of this machine knows.
fn accepted<'a>(fates: &[&'a FateRecord], queue: &'a [Queued]) -> Vec<Accepted<'a>> {
    let mut steps: BTreeMap<&ProposalId, Vec<&'a FateRecord>> = BTreeMap::new();
    for fate in fates.iter().filter(|fate| matches!(fate.fate.as_str(), "applied" | "undone" | "redone")) {
        steps.entry(&fate.proposal).or_default().push(fate);
    }
    let queued = |id: &ProposalId| queue.iter().find(|queued| queued.proposal.id == *id);
    let by_chain = steps.iter().filter_map(|(id, fates)| {
        let last = fates.last().filter(|last| last.fate != "undone")?;
        let steps = queued(id).map_or(0, |queued| queued.steps).max(fates.len());
        Some(Accepted { id, steps, left: Some(&last.files) })
    });
    let by_queue = queue
        .iter()
        .filter(|queued| queued.status == Status::Applied && !steps.contains_key(&queued.proposal.id))
        .map(|queued| Accepted { id: &queued.proposal.id, steps: queued.steps, left: None });
    by_chain.chain(by_queue).collect()
}
