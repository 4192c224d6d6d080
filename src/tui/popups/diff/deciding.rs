//! What the author decides in the popup: take, leave, settle, edit, accept, reject. Every decision leaves as a message.

use crossterm::event::KeyEvent;

use super::editing::{Did, Editing};
use super::{DiffPopup, Marks};
use crate::domain::ids::ProposalId;
use crate::proposal::Status;
use crate::proposal::merge::Pick;
use crate::tui::keymap::Keymap;
use crate::tui::msg::{Msg, Verdict};
use crate::tui::popups::field::Field;
use crate::tui::popups::{Popup, Reply};
use crate::tui::theme::Role;
use crate::tui::widgets::diff::Item;

impl DiffPopup {
    pub(super) fn accept(&mut self, id: ProposalId, insists: bool) -> Reply {
        match self.queued.status {
            Status::Pending | Status::Stale => {}
            Status::Undone => return Reply::Do(vec![Msg::Judge(Verdict::Redo(id))]),
            Status::Applied => return self.not_now("It is applied already; u undoes it."),
            Status::Rejected => return self.not_now("It was rejected. Ask again for a new one."),
        }
        let Some(compared) = &self.compared else {
            return self.not_now("The texts are still being compared: a moment, please.");
        };
        if self.marks.has_drafts() && !insists {
            self.insists = true;
            return self
                .not_now("Your edit is not kept yet: e goes on with it. Once more a accepts without it.");
        }
        if !self.marks.takes_anything(compared) {
            return self
                .not_now("Every change is left out: Space takes one in again, r rejects the proposal.");
        }
        let undecided = self.marks.undecided();
        if undecided > 0 {
            let first = self.headers().into_iter().find(|at| self.is_undecided(*at));
            self.move_to(first);
            return self.not_now("Choose first where both have changed the same words: 1 keeps yours, 2 takes the proposed ones, 3 both.");
        }
        let chosen = Marks::verdict(&self.marks.chosen, compared);
        let picks = |file: usize| self.marks.picks.get(file).map(Vec::as_slice).unwrap_or_default();
        let settled: Vec<(usize, String, String)> = compared
            .files
            .iter()
            .enumerate()
            .filter_map(|(i, file)| {
                let dispute = file.dispute.as_ref()?;
                Some((i, dispute.now.clone(), dispute.settled(picks(i))?))
            })
            .collect();
        let stamp = compared.stamp.clone();
        Reply::Do(vec![Msg::Judge(if settled.is_empty() {
            Verdict::Accept(id, chosen, stamp)
        } else {
            Verdict::Settle(id, settled, chosen, stamp)
        })])
    }

    pub(super) fn is_undecided(&self, at: usize) -> bool {
        match self.pages.as_ref().and_then(|p| p.items().get(at)) {
            Some(Item::Dispute(file, dispute)) => {
                self.marks.picks.get(*file).and_then(|f| f.get(*dispute)).is_some_and(Option::is_none)
            }
            _ => false,
        }
    }

    pub(super) fn reject(&mut self, id: ProposalId) -> Reply {
        if !matches!(self.queued.status, Status::Pending | Status::Stale | Status::Undone) {
            return self.not_now("Only a pending proposal can be rejected.");
        }
        let words = "A word why, if you like: the persona is told with your next question. Enter without a word rejects too.";
        let field = Field::plain("Reject this proposal", words, move |why| {
            let why = why.trim();
            vec![Msg::Judge(Verdict::Reject(id, (!why.is_empty()).then(|| why.to_owned())))]
        })
        .verb("reject");
        Reply::Do(vec![Msg::Popup(Box::new(Popup::Field(field)))])
    }

    pub(super) fn toggle(&mut self, whole_file: bool) -> Reply {
        if !self.is_open() {
            return self.not_now("It was decided already.");
        }
        let (file, hunk) = match self.current() {
            Some(Item::Hunk(file, hunk)) => (file, hunk),
            Some(Item::Dispute(..)) => {
                return self.not_now("1 keeps yours, 2 takes the proposed words, 3 both.");
            }
            _ => return Reply::Keep,
        };
        let Some(shown) = self.compared.as_ref().and_then(|c| c.files.get(file)) else { return Reply::Keep };
        if shown.dispute.is_some() {
            return self.not_now(
                "This file is settled as a whole: choose above what each place becomes, or e edits it.",
            );
        }
        let together = whole_file || !shown.one_by_one;
        let Some(chosen) = self.marks.chosen.get_mut(file) else { return Reply::Keep };
        let to = !chosen.get(hunk).copied().unwrap_or(true);
        if together {
            chosen.fill(to);
        } else if let Some(one) = chosen.get_mut(hunk) {
            *one = to;
        }
        Reply::Keep
    }

    pub(super) fn pick(&mut self, pick: Pick) -> Reply {
        let Some(Item::Dispute(file, dispute)) = self.current() else {
            return self.not_now("There is nothing to choose between here.");
        };
        if !self.is_open() {
            return self.not_now("It was decided already.");
        }
        if let Some(chosen) = self.marks.picks.get_mut(file).and_then(|f| f.get_mut(dispute)) {
            *chosen = Some(pick);
        }
        self.retake();
        // On to the next one that waits.
        let here = self.at.unwrap_or(0);
        let next = self.headers().into_iter().find(|at| *at > here && self.is_undecided(*at));
        if next.is_some() {
            self.move_to(next);
        }
        Reply::Keep
    }

    pub(super) fn edit(&mut self) -> Reply {
        if !self.is_open() {
            return self.not_now("Only a pending proposal can be edited.");
        }
        let index = self.current_file();
        if let Some(draft) = self.marks.drafts.remove(&index) {
            self.editor = Some(draft);
            return Reply::Keep;
        }
        let Some(change) = self.queued.proposal.files.get(index) else { return Reply::Keep };
        let Some(proposed) = &change.proposed else {
            return self.not_now("This file would be removed: there is no text to edit.");
        };
        let Some(compared) = &self.compared else {
            return self.not_now("The texts are still being compared: a moment, please.");
        };
        let dispute = compared.files.get(index).and_then(|file| file.dispute.as_ref());
        let picks = self.marks.picks.get(index).map(Vec::as_slice).unwrap_or_default();
        let line = match self.current() {
            Some(Item::Dispute(file, at)) => {
                self.shown(file).and_then(|s| s.disputes.get(at)).map_or(0, |d| d.line.saturating_sub(1))
            }
            Some(Item::Hunk(file, hunk)) => {
                let section = self.shown(file).and_then(|s| s.reading.sections.get(hunk));
                section.map_or(0, |section| section.new_lines.start)
            }
            _ => 0,
        };
        let editing = match dispute {
            Some(dispute) => Editing::new(index, &dispute.draft(picks), line, Some(dispute.now.clone())),
            None => Editing::new(index, proposed, line, None),
        };
        self.editor = Some(editing);
        Reply::Keep
    }

    pub(super) fn edit_key(&mut self, key: KeyEvent, keymap: &Keymap) -> Reply {
        let Some(editing) = &mut self.editor else { return Reply::Keep };
        match editing.key(key, keymap) {
            Did::Nothing => Reply::Keep,
            Did::Copy(words) => Reply::Do(vec![Msg::CopyText(words)]),
            Did::Leave => {
                self.leave_editor();
                Reply::Keep
            }
            Did::Keep if !editing.is_changed() && editing.settles.is_none() => {
                self.editor = None;
                self.said = Some(("› Nothing was changed.".to_owned(), Role::Dim));
                Reply::Keep
            }
            // It stays until the edit is kept: see `refresh`.
            Did::Keep => Reply::Do(vec![Msg::Judge(editing.keeping(self.queued.proposal.id.clone()))]),
        }
    }
}
