//! What the author has done to a proposal so far in this run: what was chosen, what was read, what was written and not kept.
//!
//! Outlives the popup, so that going to the next proposal and back loses nothing.

use std::collections::HashMap;

use super::editing::Editing;
use crate::domain::ids::ProposalId;
use crate::proposal::merge::Pick;
use crate::tui::msg::Verdict;
use crate::tui::review::{Compared, FileShown, Verb};
use crate::tui::widgets::diff::Shown;

/// The marks on one proposal.
#[derive(Debug, Default)]
pub(in crate::tui) struct Marks {
    /// The texts that they were made on; see [`Compared::stamp`].
    stamp: String,
    /// For every file and hunk, whether it will be applied.
    pub(super) chosen: Vec<Vec<bool>>,
    /// For every file and hunk, whether all of it has been on screen.
    seen: Vec<Vec<bool>>,
    /// The same in the proposal's own count.
    applied: Vec<Vec<bool>>,
    /// For every file and place in dispute, the words of both sides.
    disputes: Vec<Vec<(String, String)>>,
    /// For every file and place in dispute, what the author takes.
    pub(super) picks: Vec<Vec<Option<Pick>>>,
    /// Edits that were left without being kept, by file.
    pub(super) drafts: HashMap<usize, Editing>,
}

impl Marks {
    /// Fits the marks to what is shown now. What was chosen and read holds only for the very same texts.
    pub(super) fn fit(&mut self, stamp: &str, files: &[FileShown], shown: &[Shown]) {
        let hunks: Vec<usize> = shown.iter().map(|s| s.reading.sections.len()).collect();
        let places = |s: &Shown| s.disputes.iter().map(|d| (d.mine.clone(), d.theirs.clone())).collect();
        let sides: Vec<Vec<(String, String)>> = shown.iter().map(places).collect();
        let same = self.stamp == stamp
            && self.chosen.iter().map(Vec::len).eq(hunks.iter().copied())
            && self.disputes == sides;
        self.disputes = sides;
        if !same {
            stamp.clone_into(&mut self.stamp);
            self.chosen = hunks.iter().map(|n| vec![true; *n]).collect();
            self.seen = hunks.iter().map(|n| vec![false; *n]).collect();
            self.picks = self.disputes.iter().map(|places| vec![None; places.len()]).collect();
        }
        for (file, chosen) in files.iter().zip(&mut self.chosen) {
            if let Some(taken) = &file.taken {
                chosen.clone_from(taken);
            } else if !file.one_by_one && chosen.contains(&false) {
                // They were chosen one by one before the file moved on, and can't be any more: none is better than one too many.
                chosen.fill(false);
            }
        }
    }

    /// The texts that the marks were made on.
    pub(in crate::tui) fn stamp(&self) -> &str {
        &self.stamp
    }

    /// Whether everything has been on screen.
    pub(in crate::tui) fn seen_to_the_end(&self) -> bool {
        !self.stamp.is_empty() && self.seen.iter().flatten().all(|seen| *seen)
    }

    /// Whether an edit was left without being kept.
    pub(in crate::tui) fn has_drafts(&self) -> bool {
        !self.drafts.is_empty()
    }

    /// Returns what keeps the edits that were left without being kept.
    pub(in crate::tui) fn keeping(&self, id: &ProposalId) -> Vec<Verdict> {
        self.drafts.values().map(|editing| editing.keeping(id.clone())).collect()
    }

    pub(super) fn see(&mut self, (file, hunk): (usize, usize)) {
        if let Some(seen) = self.seen.get_mut(file).and_then(|f| f.get_mut(hunk)) {
            *seen = true;
        }
    }

    pub(super) fn is_chosen(&self, file: usize, hunk: usize) -> bool {
        self.chosen.get(file).and_then(|f| f.get(hunk)).copied().unwrap_or(true)
    }

    /// How many hunks are chosen, and how many there are.
    pub(super) fn count(&self) -> (usize, usize) {
        let all = self.chosen.iter().flatten();
        (all.clone().filter(|chosen| **chosen).count(), all.count())
    }

    /// What would be applied, as it was when the popup was left.
    pub(in crate::tui) fn applied(&self) -> &[Vec<bool>] {
        &self.applied
    }

    /// Remembers what would be applied.
    pub(super) fn apply_as(&mut self, compared: &Compared) {
        self.applied = Self::verdict(&self.chosen, compared);
    }

    /// What is applied: for every file the flags of its hunks, in the proposal's own count.
    pub(super) fn verdict(chosen: &[Vec<bool>], compared: &Compared) -> Vec<Vec<bool>> {
        let flags = |(i, file): (usize, &FileShown)| match chosen.get(i) {
            Some(chosen) if file.one_by_one && file.dispute.is_none() => chosen.clone(),
            Some(chosen) if file.dispute.is_none() && chosen.contains(&false) => vec![false; file.hunks],
            _ => vec![],
        };
        compared.files.iter().enumerate().map(flags).collect()
    }

    /// Whether anything is left to be written.
    pub(super) fn takes_anything(&self, compared: &Compared) -> bool {
        compared.files.iter().enumerate().any(|(i, file)| {
            let chosen = self.chosen.get(i).map(Vec::as_slice).unwrap_or_default();
            file.dispute.is_some()
                || chosen.contains(&true)
                || (chosen.is_empty() && file.verb != Verb::Changes)
        })
    }

    /// How many places in dispute have no choice yet.
    pub(super) fn undecided(&self) -> usize {
        self.picks.iter().flatten().filter(|pick| pick.is_none()).count()
    }
}
