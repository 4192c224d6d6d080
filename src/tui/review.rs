//! What the popup of a proposal shows, compared in the background: for every file what would really be written.
//!
//! Made from a [`Review`], which has looked at the files as they are. Nothing here reads a file or decides anything.

use crate::domain::ids::BookPath;
use crate::domain::passage::{count_words, sha256_hex};
use crate::proposal::diff::{self, Hunk, Side};
use crate::proposal::merge::{Pick, Region, Sides, settle, settle_all};
use crate::proposal::{FileChange, Proposal, Status};
use crate::workbench::{FileReview, Outcome, Review, Written};

use super::widgets::diff::{Dispute, Reading, Shown};

/// A proposal ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Compared {
    /// Hash of the texts that it was made of: what was read or chosen holds for these and no others.
    pub(super) stamp: String,
    /// Its files, in its order.
    pub(super) files: Vec<FileShown>,
    /// What is shown of them, in the same order.
    pub(super) shown: Vec<Shown>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileShown {
    pub(super) path: BookPath,
    pub(super) verb: Verb,
    /// Hunks that the author can choose from.
    pub(super) hunks: usize,
    /// Whether they can be chosen one by one. Where a merge has joined changes, only all of them together.
    pub(super) one_by_one: bool,
    /// Words of a new or a removed file.
    pub(super) words: usize,
    /// What the author has to choose between.
    pub(super) dispute: Option<Disputed>,
    /// Whether nothing can be written to it as things are.
    pub(super) blocked: bool,
    /// Which of its hunks were taken, where that is decided.
    pub(super) taken: Option<Vec<bool>>,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Makes,
    Changes,
    Removes,
}

/// A file that the author and the persona changed in the same place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Disputed {
    /// The file as it is.
    pub(super) now: String,
    regions: Vec<Region>,
    /// How many places are open.
    pub(super) open: usize,
}

impl Disputed {
    /// Returns both sides of a place that is open.
    pub(super) fn sides(&self, place: usize) -> Option<&Sides> {
        self.regions.iter().filter_map(Region::open).nth(place)
    }

    /// Returns the whole text once every place has a choice.
    pub(super) fn settled(&self, picks: &[Option<Pick>]) -> Option<String> {
        let picks: Option<Vec<Pick>> = picks.iter().copied().collect();
        settle(&self.regions, &picks?)
    }

    /// Returns the whole text to go on from by hand: where nothing was chosen, both.
    pub(super) fn draft(&self, picks: &[Option<Pick>]) -> String {
        let picks: Vec<Pick> = picks.iter().map(|p| p.unwrap_or(Pick::Both)).collect();
        settle(&self.regions, &picks).unwrap_or_else(|| settle_all(&self.regions, Pick::Both))
    }
}

impl Compared {
    /// Compares everything. May take long for long texts.
    pub(super) fn of(review: &Review) -> Self {
        let proposal = &review.queued.proposal;
        let live = matches!(review.queued.status, Status::Pending | Status::Stale);
        let all = proposal.files.iter().zip(&review.files);
        let all = all.map(|(change, file)| match &file.written {
            _ if live => open(change, file),
            Some(written) => done(change, written),
            None => decided(change),
        });
        let (files, shown) = all.unzip();
        Self { stamp: stamp(proposal), files, shown }
    }
}

/// Hashes the texts of a proposal.
pub(super) fn stamp(proposal: &Proposal) -> String {
    let mut all = String::new();
    for file in &proposal.files {
        let texts = (&file.path, &file.base, &file.proposed);
        all.push_str(&sha256_hex(format!("{texts:?}")));
    }
    sha256_hex(all)
}

/// A proposal that was decided: what it was about.
fn decided(change: &FileChange) -> (FileShown, Shown) {
    let base = change.base.as_deref().unwrap_or_default();
    let reading = Reading::of(base, change.text());
    let hunks = reading.sections.len();
    (file(change, hunks, None, false), Shown { reading, notes: vec![], disputes: vec![] })
}

/// A proposal that was applied: what was really written, and which of its changes were left out.
fn done(change: &FileChange, written: &Written) -> (FileShown, Shown) {
    let some_left_out = written.taken.contains(&false);
    if let Some(trace) = written.change.as_ref().filter(|_| !written.is_as_proposed(change)) {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let reading = Reading::of(&text(&trace.without), &text(&trace.with));
        let mut notes = vec![
            "The file was not as the proposal had seen it. Both were merged: below is what was really written."
                .to_owned(),
        ];
        if some_left_out {
            notes.push("Not all that was proposed is in it: some changes were left out.".to_owned());
        }
        let file = file(change, reading.sections.len(), None, false);
        return (file, Shown { reading, notes, disputes: vec![] });
    }
    let (mut file, mut shown) = decided(change);
    let is_taken = |hunk: usize| written.change.is_some() && written.taken.get(hunk).copied().unwrap_or(true);
    file.taken = Some((0..file.hunks).map(is_taken).collect());
    if written.change.is_none() && !some_left_out {
        shown.notes.push("The file held this already: nothing was written to it.".to_owned());
    }
    (file, shown)
}

fn file(change: &FileChange, hunks: usize, dispute: Option<Disputed>, blocked: bool) -> FileShown {
    let (verb, words) = match (&change.base, &change.proposed) {
        (_, None) => (Verb::Removes, change.base.as_deref().map_or(0, count_words)),
        (None, Some(text)) => (Verb::Makes, count_words(text)),
        (Some(_), Some(_)) => (Verb::Changes, 0),
    };
    FileShown {
        path: change.path.clone(),
        verb,
        hunks,
        one_by_one: true,
        words,
        dispute,
        blocked,
        taken: None,
    }
}

/// A proposal that waits: what would be written as things are.
fn open(change: &FileChange, review: &FileReview) -> (FileShown, Shown) {
    let base = change.base.as_deref().unwrap_or_default();
    let moved_on = review.now != change.base;
    match &review.outcome {
        Outcome::Blocked(why) => {
            let reading = Reading::of(base, change.text());
            let why = why.trim_end_matches("; nothing was written");
            let notes = vec![format!("Nothing can be written: {why}.")];
            (file(change, reading.sections.len(), None, true), Shown { reading, notes, disputes: vec![] })
        }
        Outcome::Conflict(regions) => disputed(change, review, regions),
        Outcome::Unchanged => {
            let reading = Reading::of(base, base);
            let notes = vec!["The file holds this already: there is nothing to write.".to_owned()];
            (file(change, 0, None, false), Shown { reading, notes, disputes: vec![] })
        }
        Outcome::Written(text) if moved_on => merged(change, review.now.as_deref().unwrap_or_default(), text),
        Outcome::Written(_) | Outcome::Removed => decided(change),
    }
}

/// A file that has changed since, where both changes fit: what is shown is what will be written.
fn merged(change: &FileChange, now: &str, text: &str) -> (FileShown, Shown) {
    let base = change.base.as_deref().unwrap_or_default();
    let (proposed, merged) = (diff::hunks(base, change.text()), diff::hunks(now, text));
    let one_by_one = same_changes(&proposed, &merged);
    let mut notes = vec![
        "This file has changed since it was proposed. Both were merged: below is what will really be written.".to_owned(),
    ];
    if !one_by_one && proposed.len() > 1 {
        notes.push("Its changes can only be taken or left together.".to_owned());
    }
    let mut file = file(change, proposed.len(), None, false);
    file.one_by_one = one_by_one;
    (file, Shown { reading: Reading::of(now, text), notes, disputes: vec![] })
}

/// Whether the hunks of a merge are those of the proposal, one for one: then a choice among them means the same.
fn same_changes(proposed: &[Hunk], merged: &[Hunk]) -> bool {
    let changes = |hunk: &Hunk| -> Vec<(Side, String)> {
        let changed = hunk.pieces.iter().filter(|p| p.side != Side::Both);
        changed.map(|p| (p.side, p.text.trim().to_owned())).collect()
    };
    proposed.len() == merged.len() && proposed.iter().zip(merged).all(|(a, b)| changes(a) == changes(b))
}

fn disputed(change: &FileChange, review: &FileReview, regions: &[Region]) -> (FileShown, Shown) {
    let now = review.now.clone().unwrap_or_default();
    let places: Vec<Dispute> = regions
        .iter()
        .filter_map(|region| {
            let sides = region.open()?;
            Some(Dispute {
                line: sides.line,
                around: around(&now, &region.mine),
                mine: sides.mine.clone(),
                theirs: sides.theirs.clone(),
            })
        })
        .collect();
    // The rest of it, so that nothing is written that was not shown.
    let reading = Reading::of(&now, &settle_all(regions, Pick::Mine));
    let notes = vec![
        "You and the proposal have changed the same place since. Nothing is written before you have chosen."
            .to_owned(),
    ];
    let dispute = Disputed { now, regions: regions.to_vec(), open: places.len() };
    let mut file = file(change, reading.sections.len(), Some(dispute), false);
    file.one_by_one = false;
    (file, Shown { reading, notes, disputes: places })
}

/// Words of the same line before and after a place, as many as help to know it again.
fn around(text: &str, place: &std::ops::Range<usize>) -> (String, String) {
    const REACH: usize = 80;
    let before = text.get(..place.start).unwrap_or_default();
    let after = text.get(place.end..).unwrap_or_default();
    let before = before.rsplit('\n').next().unwrap_or_default();
    let after = after.split('\n').next().unwrap_or_default().trim_end_matches('\r');
    let from = before.ceil_char_boundary(before.len().saturating_sub(REACH));
    let to = after.floor_char_boundary(REACH);
    let cut = |cut: bool| if cut { "…" } else { "" };
    (format!("{}{}", cut(from > 0), &before[from..]), format!("{}{}", &after[..to], cut(to < after.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::codex::EntryType;
    use crate::domain::ids::ProposalId;
    use crate::proposal::merge::{Merged, merge};
    use crate::workbench::QueuedProposal;

    const BASE: &str = "one\n\ntwo\n\nthree\n\nfour\n\nfive\n";

    fn compared(now: &str, proposed: &str) -> Compared {
        let change = FileChange {
            path: BookPath::new("a.md").unwrap(),
            base: Some(BASE.to_owned()),
            base_hash: Some(sha256_hex(BASE)),
            proposed: Some(proposed.to_owned()),
        };
        let outcome = match merge(BASE, now, proposed) {
            Merged::Clean(text) if text == now => Outcome::Unchanged,
            Merged::Clean(text) => Outcome::Written(text),
            Merged::Conflict { regions } => Outcome::Conflict(regions),
        };
        let file = FileReview {
            path: change.path.clone(),
            now: Some(now.to_owned()),
            proposed: change.proposed.clone(),
            outcome,
            written: None,
        };
        let proposal = Proposal {
            id: ProposalId::new("p-1"),
            tool: "propose_codex_update".into(),
            subject: EntryType::Character.into(),
            entry: "Mira".into(),
            summary: String::new(),
            warnings: vec![],
            files: vec![change],
            edited: false,
        };
        let queued = QueuedProposal { proposal, status: Status::Pending, why: None };
        Compared::of(&Review { queued, files: vec![file] })
    }

    #[test]
    fn a_file_that_has_moved_on_is_shown_as_it_will_be_written() {
        let found =
            compared(&BASE.replace("five", "FIVE"), &BASE.replace("one", "eins").replace("three", "drei"));
        let file = &found.files[0];
        assert!(file.one_by_one && file.hunks == 2 && found.shown[0].notes[0].contains("merged"));
        assert_eq!(found.shown[0].reading.sections.len(), 2, "the author's own change is no change");
    }

    #[test]
    fn changes_that_a_merge_has_joined_are_taken_together() {
        let proposed = BASE.replace("one", "eins").replace("three", "drei");
        let found = compared(&BASE.replace("one", "eins"), &proposed);
        assert!(!found.files[0].one_by_one);
        assert_eq!((found.files[0].hunks, found.shown[0].reading.sections.len()), (2, 1));
    }

    #[test]
    fn what_both_changed_waits_for_the_author() {
        let found =
            compared(&BASE.replace("two", "my two"), &BASE.replace("two", "zwei").replace("five", "5"));
        let dispute = found.files[0].dispute.as_ref().unwrap();
        assert_eq!((dispute.open, found.shown[0].disputes.len()), (1, 1));
        assert_eq!(dispute.settled(&[None]), None);
        let theirs = dispute.settled(&[Some(Pick::Theirs)]).unwrap();
        assert!(theirs.contains("zwei") && theirs.contains("\n5\n"), "{theirs}");
        let mine = dispute.settled(&[Some(Pick::Mine)]).unwrap();
        assert!(mine.contains("my two") && mine.contains("\n5\n"), "{mine}");
        let both = dispute.draft(&[None]);
        assert!(both.contains("my") && both.contains("zwei"), "{both}");
        assert_eq!(found.shown[0].reading.sections.len(), 1, "the rest is shown too");
    }

    #[test]
    fn another_text_has_another_stamp() {
        let (a, b) = (compared(BASE, "one\n"), compared(BASE, "two\n"));
        assert_ne!(a.stamp, b.stamp);
        assert_eq!(a.stamp, compared(BASE, "one\n").stamp);
    }
}
