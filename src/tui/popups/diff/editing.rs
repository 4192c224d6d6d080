//! The proposed text under the author's own hands, in the same editor core as the manuscript. Keeps what was typed until it is kept
//! or undone; line ends and a byte order mark stay as they are.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::command::Context;
use crate::domain::ids::ProposalId;
use crate::editor::{Buffer, Delete, Row, View, display};
use crate::tui::document::motion_named;
use crate::tui::keymap::Keymap;
use crate::tui::msg::Verdict;
use crate::tui::theme::{Role, Theme};

/// An edit of one file.
#[derive(Debug)]
pub(super) struct Editing {
    pub(super) file: usize,
    /// Text of the file that a dispute is settled over, where that is what the edit does.
    pub(super) settles: Option<String>,
    buffer: Buffer,
    view: View,
    rows: Vec<Row>,
    cursor: Option<(u16, u16)>,
}

/// What a key did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Did {
    Nothing,
    /// Leave the editor; the text stays.
    Leave,
    /// Keep the text.
    Keep,
    /// Copy these words.
    Copy(String),
}

impl Editing {
    /// Opens the text of a file at one of its lines, from 0.
    pub(super) fn new(file: usize, text: &str, line: usize, settles: Option<String>) -> Self {
        let mut buffer = Buffer::from_text(text);
        buffer.set_cursor(buffer.line_start(line), false);
        Self { file, settles, buffer, view: View::new(), rows: vec![], cursor: None }
    }

    /// The whole text, with the line ends of its file.
    fn text(&self) -> String {
        self.buffer.to_text()
    }

    /// Returns what keeps the text.
    pub(super) fn keeping(&self, id: ProposalId) -> Verdict {
        match self.settles.clone() {
            Some(seen) => Verdict::Resolve(id, self.file, seen, self.text()),
            None => Verdict::Edit(id, self.file, self.text()),
        }
    }

    /// Whether the author has changed anything.
    pub(super) fn is_changed(&self) -> bool {
        self.buffer.is_modified()
    }

    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> Did {
        if key.code == KeyCode::Esc {
            if self.buffer.selection().is_some() || self.buffer.anchor_active() {
                self.buffer.clear_selection();
                return Did::Nothing;
            }
            return Did::Leave;
        }
        if let Some(command) = keymap.lookup(Context::Manuscript, &key) {
            let extend = key.modifiers.contains(KeyModifiers::SHIFT);
            if let Some(motion) = motion_named(command.name) {
                self.view.apply(&mut self.buffer, motion, extend);
                return Did::Nothing;
            }
            return self.run(command.name);
        }
        let word = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        let (buffer, view) = (&mut self.buffer, &mut self.view);
        match key.code {
            KeyCode::Char(c) if !word => buffer.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Enter => buffer.insert("\n"),
            KeyCode::Tab => buffer.insert("\t"),
            KeyCode::Backspace => {
                view.delete(buffer, if word { Delete::WordBack } else { Delete::GraphemeBack });
            }
            KeyCode::Delete => {
                view.delete(buffer, if word { Delete::WordForward } else { Delete::GraphemeForward });
            }
            _ => return Did::Nothing,
        }
        view.reveal(buffer);
        Did::Nothing
    }

    fn run(&mut self, command: &str) -> Did {
        match command {
            "save" => return Did::Keep,
            "undo" => {
                self.buffer.undo();
            }
            "redo" => {
                self.buffer.redo();
            }
            "select-all" => self.buffer.select_all(),
            "selection-mode" if self.buffer.anchor_active() => self.buffer.clear_selection(),
            "selection-mode" => self.buffer.start_selection(),
            "copy" | "cut" => {
                let Some(words) = self.buffer.selected_text() else { return Did::Nothing };
                if command == "cut" {
                    self.buffer.insert("");
                }
                self.view.reveal(&self.buffer);
                return Did::Copy(words);
            }
            _ => return Did::Nothing,
        }
        self.view.reveal(&self.buffer);
        Did::Nothing
    }

    pub(super) fn paste(&mut self, words: &str) {
        self.buffer.paste(words);
        self.view.reveal(&self.buffer);
    }

    pub(super) fn scroll(&mut self, rows: isize) {
        self.view.scroll(&self.buffer, rows);
    }

    /// Fits the text to a size. The first time the cursor is brought into the upper third.
    pub(super) fn lay_out(&mut self, width: u16, height: u16) {
        let first = self.rows.is_empty();
        self.view.resize(&self.buffer, width, height);
        if first {
            self.view.center(&self.buffer, self.buffer.cursor());
        }
        self.rows = self.view.rows(&self.buffer);
        self.cursor = self.view.cursor_cell(&self.buffer);
    }

    /// Draws the text. Returns where the cursor is.
    pub(super) fn draw(&self, frame: &mut Frame<'_>, area: Rect, theme: &Theme) -> Option<Position> {
        let selection = self.buffer.selection();
        let ground = Style { bg: theme.style(Role::Popup).bg, ..theme.style(Role::Text) };
        let selected = theme.style(Role::Selection);
        let cells = frame.buffer_mut();
        for (row, y) in self.rows.iter().zip(area.top()..area.bottom()) {
            let mut x = area.x;
            for (byte, shown, width) in display(&row.text) {
                if usize::from(x) + width > usize::from(area.right()) {
                    break;
                }
                let at = row.range.start + byte;
                let inside = selection.as_ref().is_some_and(|s| s.contains(&at));
                let style = if inside { ground.patch(selected) } else { ground };
                cells.set_stringn(x, y, &shown, width, style);
                x += width as u16;
            }
            let empty = row.text.is_empty();
            if empty && selection.as_ref().is_some_and(|s| s.contains(&row.range.start)) {
                cells.set_stringn(area.x, y, " ", 1, selected);
            }
        }
        let (x, y) = self.cursor?;
        Some(Position::new(area.x + x.min(area.width.saturating_sub(1)), area.y + y))
    }
}
