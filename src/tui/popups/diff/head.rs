//! Words and headers of the popup: state, place in the queue, warnings, what every header says, the keys below.

use ratatui::text::{Line, Span};

use super::DiffPopup;
use crate::proposal::Status;
use crate::proposal::merge::Pick;
use crate::tui::keymap::Keymap;
use crate::tui::review::Verb;
use crate::tui::theme::{Role, Theme};
use crate::tui::turn_lines::{count, state_words};
use crate::tui::widgets::diff::Item;
use crate::tui::widgets::text;

/// Proposals of the queue whose states are shown one by one.
const STATES: usize = 16;

impl DiffPopup {
    /// What stands above the change and never scrolls away: state, place in the queue, warnings, why something was not done, what it is.
    pub(super) fn head(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let proposal = &self.queued.proposal;
        let mut lines = vec![self.state_row(width, theme)];
        let mut say = |words: &str, role: Role| {
            lines
                .extend(text::wrap(words, width).into_iter().map(|row| Line::styled(row, theme.style(role))));
        };
        if let Some((said, role)) = &self.said {
            say(said, *role);
        }
        for warning in &proposal.warnings {
            say(&format!("⚠ {warning}"), Role::Warning);
        }
        if self.marks.has_drafts() && self.editor.is_none() {
            say(
                "✎ An edit of yours is not kept yet: e goes on with it, and there Ctrl-S keeps it.",
                Role::Warning,
            );
        }
        say(&proposal.summary, Role::Popup);
        lines.push(Line::default());
        lines
    }

    /// Whether what was chosen means anything: it was, or will be, written.
    fn shows_choice(&self) -> bool {
        self.queued.status != Status::Rejected
    }

    pub(super) fn state_row(&self, width: usize, theme: &Theme) -> Line<'static> {
        let (state, role) = state_words(self.queued.status, self.queued.proposal.edited);
        let mut left = state.to_owned();
        if let Some(why) = &self.queued.why {
            left.push_str(&format!(": {why}"));
        }
        let (chosen, all) = self.marks.count();
        if (self.is_open() && all > 1) || (self.shows_choice() && chosen < all) {
            left.push_str(&format!(" · {chosen} of {}", count(all, "change")));
        }
        let undecided = self.marks.undecided();
        if undecided > 0 && self.is_open() {
            left.push_str(&format!(" · {} to choose", count(undecided, "place")));
        }
        let mut right = format!("{} of {}", self.place.at, self.place.states.len().max(1));
        if (2..=STATES).contains(&self.place.states.len()) {
            right.push(' ');
            for (i, state) in self.place.states.iter().enumerate() {
                let symbol = state_words(*state, false).0.chars().next().unwrap_or('○');
                if i + 1 == self.place.at {
                    right.push_str(&format!("[{symbol}]"));
                } else {
                    right.push(symbol);
                }
            }
        }
        match self.pages.as_ref().and_then(crate::tui::widgets::diff::Pages::progress) {
            Some(100) => right.push_str(" · end"),
            Some(percent) => right.push_str(&format!(" · {percent}% ↓")),
            None => {}
        }
        let room = width.saturating_sub(text::width(&right) + 1);
        let left = text::fit(&left, room);
        let gap = width.saturating_sub(text::width(&left) + text::width(&right));
        let right = text::fit(&right, width.saturating_sub(text::width(&left) + 1));
        Line::from(vec![
            Span::styled(left, theme.style(role)),
            Span::raw(" ".repeat(gap)),
            Span::styled(right, theme.style(Role::Dim)),
        ])
    }

    /// The one row that says something about what follows it.
    pub(super) fn header(&self, item: Item, width: usize, theme: &Theme) -> Line<'static> {
        let current = self.at.and_then(|at| self.pages.as_ref()?.items().get(at).copied()) == Some(item);
        let style = theme.style(if current { Role::Hunk } else { Role::Dim });
        let pointer = if current { "▶" } else { " " };
        let words = match item {
            Item::File(file) => {
                let words = self.file_words(file);
                return text::line_of([(words.as_str(), theme.style(Role::Title))], width);
            }
            Item::Hunk(file, hunk) => format!("{pointer} {}", self.hunk_words(file, hunk)),
            Item::Dispute(file, dispute) => format!("{pointer} {}", self.dispute_words(file, dispute)),
            _ => String::new(),
        };
        text::line_of([(words.as_str(), style)], width)
    }

    fn file_words(&self, index: usize) -> String {
        let Some(compared) = &self.compared else { return String::new() };
        let file = &compared.files[index];
        let mut words = match compared.files.len() {
            1 => String::new(),
            all => format!("{}/{all} ", index + 1),
        };
        words.push_str(file.path.as_str());
        words.push_str(&match file.verb {
            Verb::Makes => format!(" · new file, {}", count(file.words, "word")),
            Verb::Removes => format!(" · is removed, {}", count(file.words, "word")),
            Verb::Changes => String::new(),
        });
        let all = self.shown(index).map_or(0, |shown| shown.reading.sections.len());
        let chosen = (0..all).filter(|hunk| self.marks.is_chosen(index, *hunk)).count();
        if file.verb == Verb::Changes && all > 1 {
            words.push_str(&format!(" · {}", count(all, "change")));
        }
        if chosen < all && self.shows_choice() {
            words.push_str(if chosen == 0 { " · left out" } else { " · in part" });
        }
        words
    }

    fn hunk_words(&self, file: usize, hunk: usize) -> String {
        let Some(shown) = self.shown(file) else {
            return String::new();
        };
        let sections = &shown.reading.sections;
        let Some(section) = sections.get(hunk) else { return String::new() };
        let shown_file = self.compared.as_ref().and_then(|c| c.files.get(file));
        let disputed = shown_file.is_some_and(|f| f.dispute.is_some());
        let chosen = self.marks.is_chosen(file, hunk);
        let (mark, fate) = match (self.is_open() && !disputed, chosen) {
            (true, true) => ("[x] ", ""),
            (true, false) => ("[ ] ", ""),
            (false, false) if self.shows_choice() => ("", " · left out"),
            (false, _) => ("", ""),
        };
        if shown_file.is_some_and(|f| f.verb != Verb::Changes) {
            return format!("{mark}The whole file{fate}");
        }
        let change = if disputed { "Also changes" } else { "Change" };
        let place = if section.place.is_empty() { String::new() } else { format!(" · {}", section.place) };
        let line = section.old_lines.start + 1;
        format!("{mark}{change} {} of {}{place} · line {line}{fate}", hunk + 1, sections.len())
    }

    fn dispute_words(&self, file: usize, dispute: usize) -> String {
        let Some(shown) = self.shown(file) else {
            return String::new();
        };
        let line = shown.disputes.get(dispute).map_or(0, |d| d.line);
        let pick = self.marks.picks.get(file).and_then(|f| f.get(dispute)).copied().flatten();
        let words = match pick {
            None => "choose: 1 yours, 2 proposed, 3 both",
            Some(Pick::Mine) => "yours stays",
            Some(Pick::Theirs) => "the proposed words",
            Some(Pick::Both) => "both, yours first",
        };
        format!("Both changed {} of {} · line {line} · {words}", dispute + 1, shown.disputes.len())
    }

    /// Keys and what they do, most important first.
    pub(super) fn hints(&self, keymap: &Keymap) -> Vec<(String, &'static str)> {
        let key = |name: &str, words: &'static str| (keymap.key_of(name).unwrap_or_default(), words);
        if self.editor.is_some() {
            return vec![
                key("save", "keeps the edit"),
                ("Esc".to_owned(), "leaves it as a draft"),
                key("undo", "undo"),
            ];
        }
        let mut hints = vec![];
        match self.queued.status {
            Status::Pending | Status::Stale => {
                hints.push(key("accept-proposal", "accept"));
                hints.push(key("reject-proposal", "reject"));
                hints.push(key("edit-proposal", "edit"));
                if self.marks.picks.iter().any(|f| !f.is_empty()) {
                    hints.push(key("keep-mine", "yours"));
                    hints.push(key("take-proposed", "proposed"));
                    hints.push(key("keep-both", "both"));
                } else if self.marks.count().1 > 1 {
                    hints.push(key("toggle-hunk", "toggle"));
                }
            }
            Status::Applied => hints.push(key("undo-proposal", "undo")),
            Status::Undone => {
                hints.push(key("accept-proposal", "apply again"));
                hints.push(key("reject-proposal", "reject"));
            }
            Status::Rejected => {}
        }
        let many = self.place.states.len() > 1;
        if many {
            hints.push(key("following-proposal", "next"));
        }
        hints.push(key("help", "keys"));
        hints.push(("Esc".to_owned(), if self.is_open() { "later" } else { "close" }));
        hints.push(key("show-evidence", "evidence"));
        if many {
            hints.push(key("preceding-proposal", "previous"));
        }
        hints.push(key("side-by-side", "side by side"));
        hints.push(key("whole-file", "whole file"));
        if self.place.states.iter().filter(|s| matches!(s, Status::Pending | Status::Stale)).count() > 1 {
            hints.push(key("accept-all-seen", "accept all read"));
        }
        hints
    }
}
