//! A proposal to judge: warnings first, the change by hunk and by word, and a key for every fate.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::Reply;
use super::field::Field;
use crate::command::Context;
use crate::domain::ids::ProposalId;
use crate::proposal::Status;
use crate::proposal::diff::{Hunk, hunks};
use crate::tui::keymap::Keymap;
use crate::tui::msg::{Msg, Verdict};
use crate::tui::theme::{Role, Theme};
use crate::tui::turn_lines::state_words;
use crate::tui::widgets::{diff, popup, text};
use crate::workbench::QueuedProposal;

/// Keys that decide do nothing this long after the popup has opened.
const GUARD: Duration = Duration::from_millis(250);

/// Columns that the popup has at least, where the screen has them: room for its keys.
const NARROWEST: u16 = 96;

/// The popup.
#[derive(Debug)]
pub(in crate::tui) struct DiffPopup {
    queued: QueuedProposal,
    /// Which of how many in the queue.
    place: (usize, usize),
    opened: Instant,
    files: Vec<FileView>,
    /// File and hunk that the cursor is on.
    at: (usize, usize),
    side_by_side: bool,
    whole: bool,
    said: Option<String>,
    editor: Option<Editing>,
    lines: Vec<Line<'static>>,
    /// First line of every hunk in `lines`, with its file and place.
    starts: Vec<(usize, usize, usize)>,
    top: usize,
    size: (u16, u16),
    /// Columns that the popup could have.
    room: u16,
}

#[derive(Debug)]
struct FileView {
    hunks: Vec<Hunk>,
    chosen: Vec<bool>,
}

/// The author edits the proposed text.
#[derive(Debug)]
struct Editing {
    file: usize,
    /// Whether the text differs from what was proposed.
    changed: bool,
    /// `Esc` was pressed once over a changed text.
    leaving: bool,
    area: ratatui_textarea::TextArea<'static>,
}

impl DiffPopup {
    /// Opens a proposal; `place` is which of how many in the queue.
    pub(in crate::tui) fn new(queued: QueuedProposal, place: (usize, usize), now: Instant) -> Self {
        let mut popup = Self {
            queued,
            place,
            opened: now,
            files: vec![],
            at: (0, 0),
            side_by_side: false,
            whole: false,
            said: None,
            editor: None,
            lines: vec![],
            starts: vec![],
            top: 0,
            size: (0, 0),
            room: 0,
        };
        popup.compare();
        popup
    }

    pub(in crate::tui) fn id(&self) -> &ProposalId {
        &self.queued.proposal.id
    }

    /// Whether the author is writing in it.
    pub(super) fn is_editing(&self) -> bool {
        self.editor.is_some()
    }

    /// Takes over the state of the proposal after it was judged.
    pub(in crate::tui) fn refresh(&mut self, queued: QueuedProposal) {
        self.said = None;
        self.editor = None;
        self.queued = queued;
        self.compare();
    }

    /// Shows why something was not done.
    pub(in crate::tui) fn say(&mut self, words: String) {
        self.said = Some(words);
    }

    fn compare(&mut self) {
        let old: Vec<Vec<bool>> = self.files.iter().map(|f| f.chosen.clone()).collect();
        self.files = self
            .queued
            .proposal
            .files
            .iter()
            .enumerate()
            .map(|(i, file)| {
                let hunks = hunks(file.base.as_deref().unwrap_or(""), file.text());
                let chosen = match old.get(i) {
                    Some(kept) if kept.len() == hunks.len() => kept.clone(),
                    _ => vec![true; hunks.len()],
                };
                FileView { hunks, chosen }
            })
            .collect();
        self.at = (0, 0);
    }

    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap, now: Instant) -> Reply {
        if self.editor.is_some() {
            return self.edit_key(key);
        }
        if key.code == KeyCode::Esc {
            return Reply::Close(vec![]);
        }
        let Some(command) = keymap.lookup(Context::Diff, &key) else { return Reply::Keep };
        let decides = matches!(command.name, "accept-proposal" | "reject-proposal" | "undo-proposal");
        if decides && now.duration_since(self.opened) < GUARD {
            return Reply::Keep;
        }
        let id = self.id().clone();
        match command.name {
            "accept-proposal" => self.accept(id),
            "reject-proposal" => self.reject(id),
            "undo-proposal" => match self.queued.status {
                Status::Applied => Reply::Do(vec![Msg::Judge(Verdict::Undo(id))]),
                _ => self.not_now("Only an applied proposal can be undone."),
            },
            "edit-proposal" => self.edit(),
            "toggle-hunk" => {
                let (file, hunk) = self.at;
                if let Some(chosen) = self.files.get_mut(file).and_then(|f| f.chosen.get_mut(hunk)) {
                    *chosen = !*chosen;
                }
                Reply::Keep
            }
            "next-hunk" => self.walk(true),
            "previous-hunk" => self.walk(false),
            "diff-page-up" => self.page(-1),
            "diff-page-down" => self.page(1),
            "following-proposal" => Reply::Do(vec![Msg::ReviewBeside(id, true)]),
            "preceding-proposal" => Reply::Do(vec![Msg::ReviewBeside(id, false)]),
            "side-by-side" => {
                if self.room >= diff::SIDE_BY_SIDE_FROM {
                    self.side_by_side = !self.side_by_side;
                    Reply::Keep
                } else {
                    self.not_now("Side by side needs a screen of 148 columns.")
                }
            }
            "whole-file" => {
                self.whole = !self.whole;
                Reply::Keep
            }
            "cancel" => Reply::Close(vec![]),
            _ => Reply::Keep,
        }
    }

    fn not_now(&mut self, words: &str) -> Reply {
        self.said = Some(words.to_owned());
        Reply::Keep
    }

    fn accept(&mut self, id: ProposalId) -> Reply {
        match self.queued.status {
            Status::Pending | Status::Stale => {
                let chosen = self.files.iter().map(|f| f.chosen.clone()).collect();
                Reply::Do(vec![Msg::Judge(Verdict::Accept(id, chosen))])
            }
            Status::Undone => Reply::Do(vec![Msg::Judge(Verdict::Redo(id))]),
            Status::Applied => self.not_now("It is applied already; u undoes it."),
            Status::Rejected => self.not_now("It was rejected. Ask again for a new one."),
        }
    }

    fn reject(&mut self, id: ProposalId) -> Reply {
        if !matches!(self.queued.status, Status::Pending | Status::Stale) {
            return self.not_now("Only a pending proposal can be rejected.");
        }
        let words = "A word why, if you like: the persona is told with your next question. Enter without a word rejects too.";
        let field = Field::plain("Reject this proposal", words, move |why| {
            let why = why.trim();
            vec![Msg::Judge(Verdict::Reject(id, (!why.is_empty()).then(|| why.to_owned())))]
        });
        Reply::Do(vec![Msg::Popup(Box::new(super::Popup::Field(field)))])
    }

    fn edit(&mut self) -> Reply {
        if !matches!(self.queued.status, Status::Pending | Status::Stale) {
            return self.not_now("Only a pending proposal can be edited.");
        }
        let file = self.at.0;
        let Some(change) = self.queued.proposal.files.get(file) else { return Reply::Keep };
        let Some(proposed) = &change.proposed else {
            return self.not_now("This file would be removed: there is no text to edit.");
        };
        if proposed.contains('\r') {
            return self
                .not_now("This file has CRLF line ends: accept it, then edit it in the manuscript pane.");
        }
        let mut area = ratatui_textarea::TextArea::new(proposed.split('\n').map(str::to_owned).collect());
        area.set_wrap_mode(ratatui_textarea::WrapMode::WordOrGlyph);
        if let Some(hunk) = self.files.get(file).and_then(|f| f.hunks.get(self.at.1)) {
            let line = u16::try_from(hunk.new_lines.start).unwrap_or(0);
            area.move_cursor(ratatui_textarea::CursorMove::Jump(line, 0));
        }
        self.editor = Some(Editing { file, changed: false, leaving: false, area });
        Reply::Keep
    }

    fn edit_key(&mut self, key: KeyEvent) -> Reply {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, control) {
            (KeyCode::Esc, _) => {
                match &mut self.editor {
                    Some(editing) if editing.changed && !editing.leaving => editing.leaving = true,
                    _ => self.editor = None,
                }
                Reply::Keep
            }
            (KeyCode::Char('s'), true) => {
                // It stays until the edit is kept: see `refresh`.
                let Some(editing) = &self.editor else { return Reply::Keep };
                let text = editing.area.lines().join("\n");
                Reply::Do(vec![Msg::Judge(Verdict::Edit(self.id().clone(), editing.file, text))])
            }
            (KeyCode::Char('z'), true) => {
                if let Some(editing) = &mut self.editor {
                    editing.area.undo();
                }
                Reply::Keep
            }
            _ => {
                if let Some(editing) = &mut self.editor {
                    editing.changed |= editing.area.input(key);
                    editing.leaving = false;
                }
                Reply::Keep
            }
        }
    }

    pub(super) fn paste(&mut self, words: &str) {
        if let Some(editing) = &mut self.editor {
            editing.changed |= editing.area.insert_str(words.replace("\r\n", "\n"));
        }
    }

    fn walk(&mut self, forward: bool) -> Reply {
        let here = self.starts.iter().position(|(_, f, h)| (*f, *h) == self.at).unwrap_or(0);
        let next = if forward { here + 1 } else { here.saturating_sub(1) };
        match self.starts.get(next) {
            Some((line, file, hunk)) if next != here => {
                self.at = (*file, *hunk);
                let height = usize::from(self.size.1);
                if *line < self.top || line + 3 > self.top + height {
                    self.top = line.saturating_sub(1);
                }
            }
            _ => self.scroll(if forward { 1 } else { -1 }),
        }
        Reply::Keep
    }

    fn page(&mut self, direction: isize) -> Reply {
        self.scroll(direction * (isize::try_from(self.size.1).unwrap_or(10) - 2).max(1));
        Reply::Keep
    }

    pub(super) fn scroll(&mut self, rows: isize) {
        let last = self.lines.len().saturating_sub(usize::from(self.size.1));
        self.top = self.top.saturating_add_signed(rows).min(last);
    }

    pub(super) fn lay_out(&mut self, screen: Rect, theme: &Theme) {
        let width = screen.width.saturating_sub(8).min(if self.side_by_side { 200 } else { 160 });
        let height = screen.height.saturating_sub(6);
        self.size = (width, height);
        self.room = width;
        let inner = width;
        let mut lines = self.head(usize::from(inner), theme);
        self.starts.clear();
        for (index, view) in self.files.iter().enumerate() {
            let Some(file) = self.queued.proposal.files.get(index) else { continue };
            let verb = if file.base.is_some() { "change" } else { "new file" };
            let words = text::fit(&format!("{} ({verb})", file.path), usize::from(inner));
            lines.push(Line::styled(words, theme.style(Role::Title)));
            let shown = diff::View {
                hunks: &view.hunks,
                chosen: &view.chosen,
                current: if self.at.0 == index { self.at.1 } else { usize::MAX },
                whole: self.whole.then(|| file.base.as_deref().unwrap_or("")),
            };
            let drawn = if self.side_by_side && width >= diff::SIDE_BY_SIDE_FROM {
                diff::side_by_side(&shown, inner, theme)
            } else {
                diff::unified(&shown, inner, theme)
            };
            for (hunk, line) in drawn.hunks.iter().enumerate() {
                self.starts.push((lines.len() + line, index, hunk));
            }
            lines.extend(drawn.lines);
            lines.push(Line::default());
        }
        // A small change needs no wide popup.
        let longest = lines.iter().map(Line::width).max().unwrap_or(0);
        self.size.0 = width.min((longest as u16).max(NARROWEST));
        self.lines = lines;
        self.scroll(0);
    }

    /// What stands above the change: state, what it is, warnings, why something was not done.
    fn head(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let proposal = &self.queued.proposal;
        let (state, role) = state_words(self.queued.status, proposal.edited);
        let mut lines = vec![Line::from(vec![
            Span::styled(state, theme.style(role)),
            Span::styled(format!("  {} by {}", self.place_words(), proposal.tool), theme.style(Role::Dim)),
        ])];
        let mut say = |words: &str, role: Role| {
            lines
                .extend(text::wrap(words, width).into_iter().map(|row| Line::styled(row, theme.style(role))));
        };
        for warning in &proposal.warnings {
            say(&format!("⚠ {warning}"), Role::Warning);
        }
        say(&proposal.summary, Role::Popup);
        if self.queued.status == Status::Stale {
            say(
                "⚠ The file has changed since this was proposed. Accepting is refused unless it still fits.",
                Role::Warning,
            );
        }
        if let Some(said) = &self.said {
            say(&format!("✗ {said}"), Role::Error);
        }
        lines.push(Line::default());
        lines
    }

    fn place_words(&self) -> String {
        format!("{} of {}", self.place.0, self.place.1)
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme, keymap: &Keymap) -> Option<Position> {
        let proposal = &self.queued.proposal;
        let title = format!("{} · {}", proposal.subject, proposal.entry);
        let (width, height) = self.size;
        if let Some(editing) = &self.editor {
            let leave = if editing.leaving { "again throws the edit away" } else { "leave it" };
            let hints = [("Ctrl-S".to_owned(), "keep the edit"), ("Esc".to_owned(), leave)];
            let title = format!("Edit · {title}");
            let popup = popup::Popup { title: &title, hints: &hints, width, height };
            let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
            frame.render_widget(&editing.area, inner);
            return None;
        }
        let hints = self.hints(keymap);
        let height = (self.lines.len() as u16).min(height);
        let popup = popup::Popup { title: &title, hints: &hints, width, height };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        let shown: Vec<Line<'_>> =
            self.lines.iter().skip(self.top).take(usize::from(inner.height)).cloned().collect();
        super::Popup::lines(frame, inner, theme, shown);
        None
    }

    fn hints(&self, keymap: &Keymap) -> Vec<(String, &'static str)> {
        let key = |name: &str, words: &'static str| (keymap.key_of(name).unwrap_or_default(), words);
        let close = ("Esc".to_owned(), "close");
        let wide = self.room >= diff::SIDE_BY_SIDE_FROM;
        match self.queued.status {
            Status::Pending | Status::Stale => vec![
                key("accept-proposal", "accept"),
                key("reject-proposal", "reject"),
                ("Esc".to_owned(), "later"),
                key("edit-proposal", "edit"),
                key("toggle-hunk", "hunk"),
                key("following-proposal", "next"),
                key("preceding-proposal", "previous"),
                key("whole-file", "whole file"),
            ]
            .into_iter()
            .chain(wide.then(|| key("side-by-side", "side by side")))
            .collect(),
            Status::Applied => vec![key("undo-proposal", "undo"), close],
            Status::Undone => vec![key("accept-proposal", "apply again"), close],
            Status::Rejected => vec![close],
        }
    }
}
