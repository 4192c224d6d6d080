//! A filtered list to choose from: the palette, the board, chapters, proposals.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Span;

use super::Reply;
use crate::command::Context;
use crate::tui::keymap::Keymap;
use crate::tui::msg::Msg;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::input::{Edit, Input};
use crate::tui::widgets::list::{List, Row};
use crate::tui::widgets::popup;

/// Something that can be chosen.
#[derive(Debug)]
pub(in crate::tui) struct Item {
    label: String,
    detail: String,
    found_by: Option<String>,
    msg: Msg,
}

impl Item {
    /// An item with a name, and more about it beside the name.
    pub(in crate::tui) fn new(label: &str, detail: &str, msg: Msg) -> Self {
        Self { label: label.to_owned(), detail: detail.to_owned(), found_by: None, msg }
    }

    /// Lets it be found by its name and these words alone, and not by what is said beside it. Holds for a list where every item says so.
    pub(in crate::tui) fn found_by(mut self, words: &str) -> Self {
        self.found_by = Some(words.to_owned());
        self
    }

    /// Says what kind of thing it is.
    pub(in crate::tui) fn kind(mut self, kind: &str) -> Self {
        self.detail =
            if self.detail.is_empty() { kind.to_owned() } else { format!("{kind} · {}", self.detail) };
        self
    }

    /// Says of a file whether AI never reads it.
    pub(in crate::tui) fn kept_from_ai(mut self, private: bool) -> Self {
        if private {
            self.detail.push_str(crate::tui::panes::codex::NEVER_READ);
        }
        self
    }
}

/// What typed text may mean instead of a filter.
type Otherwise = fn(&str) -> Option<Msg>;

/// The list.
pub(in crate::tui) struct Chooser {
    title: String,
    /// Rows stand for places in `messages`.
    list: List<usize>,
    messages: Vec<Option<Msg>>,
    filter: Input,
    otherwise: Option<Otherwise>,
    size: (u16, u16),
}

impl std::fmt::Debug for Chooser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chooser").field("title", &self.title).finish_non_exhaustive()
    }
}

impl Chooser {
    /// A list of everything that can be chosen, in its order.
    pub(in crate::tui) fn new(title: &str, items: Vec<Item>) -> Self {
        let mut rows = vec![];
        let mut messages = vec![];
        let words: Option<Vec<String>> = items.iter().map(|item| item.found_by.clone()).collect();
        for (value, item) in items.into_iter().enumerate() {
            rows.push(Row { value, label: item.label, detail: item.detail });
            messages.push(Some(item.msg));
        }
        Self {
            title: title.to_owned(),
            list: match words {
                Some(words) => List::new(rows).found_by(&words),
                None => List::new(rows),
            },
            messages,
            filter: Input::default().with_placeholder("type to narrow"),
            otherwise: None,
            size: (0, 0),
        }
    }

    /// Selects an item to begin with.
    pub(in crate::tui) fn select(mut self, index: usize) -> Self {
        self.list.select(index);
        self
    }

    /// Lets typed text mean something else than a filter.
    pub(in crate::tui) fn otherwise(mut self, otherwise: Otherwise) -> Self {
        self.otherwise = Some(otherwise);
        self
    }

    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> Reply {
        match keymap.lookup(Context::List, &key).map(|c| c.name) {
            Some("list-choose") => return self.choose(),
            Some("cancel") => return Reply::Close(vec![]),
            Some(command) if self.list.walks(command, self.size.1) => {}
            _ => {
                if self.filter.key(&key) == Edit::Changed {
                    self.list.set_query(self.filter.text());
                }
            }
        }
        Reply::Keep
    }

    fn choose(&mut self) -> Reply {
        if let Some(msg) = self.otherwise.and_then(|f| f(self.filter.text())) {
            return Reply::Close(vec![msg]);
        }
        let chosen = self.list.selected().map(|row| row.value);
        match chosen.and_then(|i| self.messages.get_mut(i)?.take()) {
            Some(msg) => Reply::Close(vec![msg]),
            None => Reply::Keep,
        }
    }

    pub(super) fn paste(&mut self, words: &str) {
        self.filter.insert(words);
        self.list.set_query(self.filter.text());
    }

    pub(super) fn step(&mut self, rows: isize) {
        self.list.move_by(rows);
    }

    pub(super) fn lay_out(&mut self, screen: Rect) {
        let width = screen.width.saturating_sub(8).min(90);
        let height = screen.height.saturating_sub(8).max(1).min(self.list.total().max(1) as u16);
        self.size = (width, height);
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme) -> Option<Position> {
        let (width, height) = self.size;
        let place = match self.list.len() {
            0 => "nothing matches".to_owned(),
            n => format!("{} of {n}", self.list.position() + 1),
        };
        let hints = [("Enter".to_owned(), "choose"), ("Esc".to_owned(), "close"), (place, "")];
        let popup = popup::Popup { title: &self.title, hints: &hints, width, height: height + 1 };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        let field = Rect { height: 1.min(inner.height), ..inner };
        frame.render_widget(
            Span::styled("› ", theme.style(Role::Accent)),
            Rect { width: 2.min(field.width), ..field },
        );
        let typed = Rect { x: field.x + 2, width: field.width.saturating_sub(2), ..field };
        let at = self.filter.draw(typed, frame.buffer_mut(), theme);
        let rows = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
        self.list.draw(rows, frame.buffer_mut(), theme);
        at
    }
}
