//! A proposal to judge: warnings first, the change by hunk and by word, and a key for every fate.
//!
//! What it shows is compared in the background and handed over as [`Compared`]: a key never compares two texts. It decides nothing
//! itself: every verdict leaves as a message.

mod deciding;
mod editing;
mod head;
mod marks;
mod walking;

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::Reply;
use crate::command::Context;
use crate::domain::ids::ProposalId;
use crate::proposal::Status;
use crate::proposal::merge::Pick;
use crate::tui::keymap::Keymap;
use crate::tui::msg::{Beside, Msg, Verdict};
use crate::tui::review::Compared;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::diff::{self, Item, Look, Pages, Shown, Taken};
use crate::tui::widgets::{popup, text};
use crate::workbench::QueuedProposal;

use editing::Editing;
pub(in crate::tui) use marks::Marks;

/// Keys that decide do nothing this long after the popup was opened by a key.
const GUARD: Duration = Duration::from_millis(250);

/// Columns of prose that still read well, and of two columns of it.
const WIDEST: u16 = 112;
const WIDEST_BESIDE: u16 = 196;

/// Where a proposal stands in the queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::tui) struct Place {
    /// Which it is, from 1.
    pub(in crate::tui) at: usize,
    /// The state of every one.
    pub(in crate::tui) states: Vec<Status>,
}

/// The popup.
#[derive(Debug)]
pub(in crate::tui) struct DiffPopup {
    queued: QueuedProposal,
    place: Place,
    opened: Instant,
    /// What was compared; what is shown of it is in `pages`.
    compared: Option<Compared>,
    pages: Option<Pages>,
    /// The header that keys act on: an item of `pages`.
    at: Option<usize>,
    look: Look,
    marks: Marks,
    said: Option<(String, Role)>,
    /// `a` was pressed once over an edit that is not kept.
    insists: bool,
    editor: Option<Editing>,
    lines: Vec<Line<'static>>,
    size: (u16, u16),
    /// Columns that the popup could have.
    room: u16,
}

impl DiffPopup {
    /// Opens a proposal, with what the author did to it before. What it shows comes with [`DiffPopup::show`].
    pub(in crate::tui) fn new(
        queued: QueuedProposal,
        place: Place,
        marks: Marks,
        look: Look,
        now: Instant,
    ) -> Self {
        Self {
            queued,
            place,
            opened: now,
            compared: None,
            pages: None,
            at: None,
            look,
            marks,
            said: None,
            insists: false,
            editor: None,
            lines: vec![],
            size: (0, 0),
            room: 0,
        }
    }

    pub(in crate::tui) fn id(&self) -> &ProposalId {
        &self.queued.proposal.id
    }

    /// How it is arranged, for the next one.
    pub(in crate::tui) fn look(&self) -> Look {
        self.look
    }

    /// Whether the author is writing in it.
    pub(super) fn is_editing(&self) -> bool {
        self.editor.is_some()
    }

    /// Whether it waits for a verdict.
    fn is_open(&self) -> bool {
        matches!(self.queued.status, Status::Pending | Status::Stale)
    }

    /// Gives the marks back, an edit that is open with them.
    pub(in crate::tui) fn into_marks(mut self) -> Marks {
        self.take_marks()
    }

    /// Lends the marks out, an edit that is open with them.
    pub(in crate::tui) fn take_marks(&mut self) -> Marks {
        self.leave_editor();
        if let Some(compared) = &self.compared {
            self.marks.apply_as(compared);
        }
        std::mem::take(&mut self.marks)
    }

    /// Takes lent marks back.
    pub(in crate::tui) fn return_marks(&mut self, marks: Marks) {
        self.marks = marks;
    }

    /// Whether a proposal is the very one that is shown, in the same state.
    pub(in crate::tui) fn is_as(&self, queued: &QueuedProposal) -> bool {
        self.queued == *queued
    }

    /// Shows what was compared.
    pub(in crate::tui) fn show(&mut self, mut compared: Compared) {
        let shown = std::mem::take(&mut compared.shown);
        let same = self.compared.as_ref() == Some(&compared);
        if same && self.pages.as_ref().is_some_and(|pages| pages.files() == shown) {
            return;
        }
        self.marks.fit(&compared.stamp, &compared.files, &shown);
        self.pages = Some(Pages::new(shown, self.look));
        self.compared = Some(compared);
        self.at = self.headers().first().copied();
        self.retake();
    }

    /// Takes over the state of the proposal after it was judged.
    pub(in crate::tui) fn refresh(&mut self, queued: QueuedProposal) {
        self.said = None;
        self.insists = false;
        if queued.proposal.edited
            && let Some(editing) = self.editor.take()
        {
            self.marks.drafts.remove(&editing.file);
        }
        self.queued = queued;
    }

    /// Takes over where it stands in the queue.
    pub(in crate::tui) fn set_place(&mut self, place: Place) {
        self.place = place;
    }

    /// Shows why something was not done.
    pub(in crate::tui) fn say(&mut self, words: &str) {
        self.said = Some((format!("✗ {words}"), Role::Error));
    }

    /// What is shown of a file.
    fn shown(&self, file: usize) -> Option<&Shown> {
        self.pages.as_ref()?.files().get(file)
    }

    /// Items that keys can act on.
    fn headers(&self) -> Vec<usize> {
        let items = self.pages.as_ref().map(Pages::items).unwrap_or_default();
        let acts = |item: &Item| matches!(item, Item::Hunk(..) | Item::Dispute(..));
        items.iter().enumerate().filter(|(_, item)| acts(item)).map(|(i, _)| i).collect()
    }

    /// The header that keys act on.
    fn current(&self) -> Option<Item> {
        self.pages.as_ref()?.items().get(self.at?).copied()
    }

    /// The file that keys act on.
    fn current_file(&self) -> usize {
        let of = |item: Item| match item {
            Item::Hunk(file, _) | Item::Dispute(file, _) => Some(file),
            _ => None,
        };
        self.current().and_then(of).unwrap_or(0)
    }

    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap, now: Instant) -> Reply {
        if self.editor.is_some() {
            return self.edit_key(key, keymap);
        }
        if key.code == KeyCode::Esc {
            return Reply::Close(vec![]);
        }
        let Some(command) = keymap.lookup(Context::Diff, &key) else { return Reply::Keep };
        if decides(command.name) && self.is_guarded(now) {
            return Reply::Keep;
        }
        self.said = None;
        let insists = std::mem::take(&mut self.insists);
        let id = self.id().clone();
        match command.name {
            "accept-proposal" => self.accept(id, insists),
            "reject-proposal" => self.reject(id),
            "undo-proposal" => match self.queued.status {
                Status::Applied => Reply::Do(vec![Msg::Judge(Verdict::Undo(id))]),
                _ => self.not_now("Only an applied proposal can be undone."),
            },
            "accept-all-seen" | "show-evidence" => Reply::Do(vec![Msg::Run(command.name)]),
            "next-proposal" => Reply::Do(vec![Msg::ReviewBeside(id, Beside::Waiting)]),
            "following-proposal" => Reply::Do(vec![Msg::ReviewBeside(id, Beside::Next)]),
            "preceding-proposal" => Reply::Do(vec![Msg::ReviewBeside(id, Beside::Previous)]),
            "edit-proposal" => self.edit(),
            "toggle-hunk" | "toggle-file" => self.toggle(command.name == "toggle-file"),
            "keep-mine" => self.pick(Pick::Mine),
            "take-proposed" => self.pick(Pick::Theirs),
            "keep-both" => self.pick(Pick::Both),
            "side-by-side" => self.side_by_side(),
            "whole-file" => self.arrange(Look { whole: !self.look.whole, ..self.look }),
            "cancel" => Reply::Close(vec![]),
            name => {
                self.go(name);
                Reply::Keep
            }
        }
    }

    fn is_guarded(&self, now: Instant) -> bool {
        now.duration_since(self.opened) < GUARD
    }

    fn not_now(&mut self, words: &str) -> Reply {
        self.say(words);
        Reply::Keep
    }

    /// Shows which sides of the places in dispute are taken.
    fn retake(&mut self) {
        let Some(pages) = &mut self.pages else { return };
        for (file, picks) in self.marks.picks.iter().enumerate() {
            for (dispute, pick) in picks.iter().enumerate() {
                let sides =
                    self.compared.as_ref().and_then(|c| c.files.get(file)?.dispute.as_ref()?.sides(dispute));
                if let (Some(pick), Some(sides)) = (pick, sides) {
                    let (mine, theirs) = (*pick != Pick::Theirs, *pick != Pick::Mine);
                    pages.take(file, dispute, Taken { mine, theirs, becomes: sides.pick(*pick) });
                }
            }
        }
    }

    fn side_by_side(&mut self) -> Reply {
        if usize::from(self.room) < 2 * diff::SIDE_AT_LEAST + 3 {
            return self
                .not_now("Side by side needs a wider screen: 73 columns at least, and 140 to read well.");
        }
        self.arrange(Look { beside: !self.look.beside, ..self.look })
    }

    /// Arranges everything anew, and stays at the same change.
    fn arrange(&mut self, look: Look) -> Reply {
        let here = self.current();
        self.look = look;
        if let Some(pages) = &mut self.pages {
            pages.arrange(look);
            self.at = pages.items().iter().position(|item| Some(*item) == here);
            if let Some(at) = self.at {
                pages.go_to(at);
            }
        }
        Reply::Keep
    }

    /// Leaves the editor; what was changed stays as a draft.
    fn leave_editor(&mut self) {
        if let Some(editing) = self.editor.take().filter(Editing::is_changed) {
            self.marks.drafts.insert(editing.file, editing);
        }
    }

    pub(super) fn paste(&mut self, words: &str) {
        if let Some(editing) = &mut self.editor {
            editing.paste(words);
        }
    }

    pub(super) fn lay_out(&mut self, screen: Rect, theme: &Theme) {
        let widest = if self.look.beside { WIDEST_BESIDE } else { WIDEST };
        self.room = screen.width.saturating_sub(6);
        let width = self.room.min(widest);
        let height = screen.height.saturating_sub(if screen.height > 30 { 6 } else { 3 });
        self.size = (width, height);
        if let Some(editing) = &mut self.editor {
            self.lines = vec![];
            editing.lay_out(width, height);
            return;
        }
        // Warnings never scroll away, but they leave room for what they warn of.
        let mut head = self.head(usize::from(width), theme);
        let most = usize::from(height) * 2 / 3;
        if head.len() > most {
            let left = head.len() - most.saturating_sub(1);
            head.truncate(most.saturating_sub(1));
            let words = format!("… {left} more rows: a taller window shows them");
            head.push(Line::styled(text::fit(&words, usize::from(width)), theme.style(Role::Warning)));
        }
        let body = height.saturating_sub(head.len() as u16);
        let Some(pages) = &mut self.pages else {
            head.push(Line::styled("Comparing the texts…", theme.style(Role::Dim)));
            self.size = (width, head.len() as u16);
            self.lines = head;
            return;
        };
        if let Some(rows) = pages.lay_out(width, body, theme) {
            self.size.1 = (head.len() + rows).min(usize::from(height)) as u16;
        }
        for hunk in pages.seen() {
            self.marks.see(hunk);
        }
        // How far down it is, is known only now.
        if let Some(first) = head.first_mut() {
            *first = self.state_row(usize::from(width), theme);
        }
        self.lines = head;
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme, keymap: &Keymap) -> Option<Position> {
        let proposal = &self.queued.proposal;
        let (width, height) = self.size;
        let mut title = format!("{} · {}", proposal.subject, proposal.entry);
        if let Some(editing) = &self.editor {
            let path = proposal.files.get(editing.file).map(|f| f.path.as_str()).unwrap_or_default();
            title = format!("Edit · {path}");
        }
        let hints = self.hints(keymap);
        let popup = popup::Popup { title: &title, hints: &hints, width, height };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        if let Some(editing) = &self.editor {
            return editing.draw(frame, inner, theme);
        }
        let mut shown = self.lines.clone();
        if let Some(pages) = &self.pages {
            shown.extend(pages.rows(|item| self.header(item, usize::from(inner.width), theme)));
        }
        super::Popup::lines(frame, inner, theme, shown);
        None
    }
}

/// Whether a command changes anything: its key counts only when it comes alone, never as a part of what is pasted or composed.
pub(super) fn counts_alone(command: &str) -> bool {
    let chooses = ["edit-proposal", "toggle-hunk", "toggle-file", "keep-mine", "take-proposed", "keep-both"];
    decides(command) || chooses.contains(&command)
}

/// Whether a command decides something: those wait a moment after the popup has opened.
fn decides(command: &str) -> bool {
    matches!(command, "accept-proposal" | "reject-proposal" | "undo-proposal" | "accept-all-seen")
}
