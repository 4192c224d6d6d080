//! A filtered list to choose from: the palette, the board, chapters, proposals.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::Reply;
use crate::command::Context;
use crate::tui::keymap::Keymap;
use crate::tui::msg::Msg;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::input::Input;
use crate::tui::widgets::list::fuzzy;
use crate::tui::widgets::{popup, text};

/// Something that can be chosen.
#[derive(Debug)]
pub(in crate::tui) struct Item {
    label: String,
    /// Shown dimmed at the right.
    hint: String,
    /// Shown in front of the label, e.g. `chapter`.
    kind: &'static str,
    msg: Option<Msg>,
}

impl Item {
    pub(in crate::tui) fn new(label: &str, hint: &str, msg: Msg) -> Self {
        Self { label: label.to_owned(), hint: hint.to_owned(), kind: "", msg: Some(msg) }
    }

    /// Says what kind of thing it is.
    pub(in crate::tui) fn kind(mut self, kind: &'static str) -> Self {
        self.kind = kind;
        self
    }
}

/// What typed text that matches nothing may mean.
type Otherwise = fn(&str) -> Option<Msg>;

/// The list.
#[derive(Debug)]
pub(in crate::tui) struct Chooser {
    title: String,
    items: Vec<Item>,
    filter: Input,
    otherwise: Option<Otherwise>,
    /// Items that the filter keeps, best first, with the characters of the label that it matched.
    kept: Vec<(usize, Vec<usize>)>,
    selected: usize,
    top: usize,
    size: (u16, u16),
}

impl Chooser {
    pub(in crate::tui) fn new(title: &str, items: Vec<Item>) -> Self {
        let mut chooser = Self {
            title: title.to_owned(),
            items,
            filter: Input::default(),
            otherwise: None,
            kept: vec![],
            selected: 0,
            top: 0,
            size: (0, 0),
        };
        chooser.narrow();
        chooser
    }

    /// Selects an item to begin with.
    pub(in crate::tui) fn select(mut self, index: usize) -> Self {
        self.selected = index.min(self.kept.len().saturating_sub(1));
        self
    }

    /// Lets typed text mean something else than a filter.
    pub(in crate::tui) fn otherwise(mut self, otherwise: Otherwise) -> Self {
        self.otherwise = Some(otherwise);
        self
    }

    fn narrow(&mut self) {
        let needle = self.filter.text().trim();
        self.selected = 0;
        self.top = 0;
        if needle.is_empty() {
            self.kept = (0..self.items.len()).map(|i| (i, vec![])).collect();
            return;
        }
        let labels: Vec<&str> = self.items.iter().map(|i| i.label.as_str()).collect();
        self.kept = fuzzy(needle, &labels).into_iter().map(|m| (m.index, m.positions)).collect();
        // Aliases and kinds are found too, after the labels.
        let more: Vec<String> = self.items.iter().map(|i| format!("{} {}", i.hint, i.kind)).collect();
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        let found: std::collections::HashSet<usize> = self.kept.iter().map(|(i, _)| *i).collect();
        let others = fuzzy(needle, &more).into_iter().map(|m| m.index).filter(|i| !found.contains(i));
        self.kept.extend(others.map(|i| (i, vec![])));
    }

    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> Reply {
        match keymap.lookup(Context::List, &key).map(|c| c.name) {
            Some("list-up") => self.step(-1),
            Some("list-down") => self.step(1),
            Some("list-page-up") => self.step(-isize::try_from(self.size.1).unwrap_or(10)),
            Some("list-page-down") => self.step(isize::try_from(self.size.1).unwrap_or(10)),
            Some("list-first") => self.step(isize::MIN),
            Some("list-last") => self.step(isize::MAX),
            Some("list-choose") => return self.choose(),
            Some("cancel") => return Reply::Close(vec![]),
            _ => {
                if self.filter.key(&key) {
                    self.narrow();
                }
            }
        }
        Reply::Keep
    }

    fn choose(&mut self) -> Reply {
        let typed = self.filter.text();
        if let Some(msg) = self.otherwise.and_then(|f| f(typed)) {
            return Reply::Close(vec![msg]);
        }
        let chosen = self.kept.get(self.selected).and_then(|(i, _)| self.items.get_mut(*i));
        match chosen.and_then(|item| item.msg.take()) {
            Some(msg) => Reply::Close(vec![msg]),
            None => Reply::Keep,
        }
    }

    pub(super) fn paste(&mut self, words: &str) {
        self.filter.insert(words);
        self.narrow();
    }

    pub(super) fn step(&mut self, rows: isize) {
        let last = self.kept.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(rows).min(last);
    }

    pub(super) fn lay_out(&mut self, screen: Rect) {
        let width = screen.width.saturating_sub(8).min(86);
        let room = screen.height.saturating_sub(8).max(1);
        let height = room.min(self.items.len().max(1) as u16);
        self.size = (width, height);
        let height = usize::from(height);
        if self.selected < self.top {
            self.top = self.selected;
        } else if self.selected >= self.top + height {
            self.top = self.selected + 1 - height;
        }
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme) -> Option<Position> {
        let (width, height) = self.size;
        let place = match self.kept.len() {
            0 => "nothing matches".to_owned(),
            n => format!("{} of {n}", self.selected + 1),
        };
        let hint = format!("{place} · Enter chooses · Esc closes");
        let inner = popup::frame(frame, theme, &self.title, &hint, (width, height + 4));
        let field = Rect { height: 1, ..inner };
        frame.render_widget(Span::styled("› ", theme.style(Role::Accent)), Rect { width: 2, ..field });
        let typed = Rect { x: field.x + 2, width: field.width.saturating_sub(2), ..field };
        let at = self.filter.draw(frame, typed, theme);
        let rows = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
        let visible = self.kept.iter().enumerate().skip(self.top).zip(rows.top()..rows.bottom());
        for ((i, (index, matched)), y) in visible {
            let place = Rect { y, height: 1, ..rows };
            if let Some(item) = self.items.get(*index) {
                frame.render_widget(row(item, matched, usize::from(rows.width), theme), place);
            }
            if i == self.selected {
                frame.buffer_mut().set_style(place, theme.style(Role::Selection));
            }
        }
        Some(at)
    }
}

fn row(item: &Item, matched: &[usize], width: usize, theme: &Theme) -> Line<'static> {
    const KIND: usize = 13;
    let kind = if item.kind.is_empty() { String::new() } else { text::pad(item.kind, KIND) };
    let room = width.saturating_sub(text::width(&kind) + 1);
    let label = text::fit(&item.label, room);
    let hint = text::fit(&item.hint, room.saturating_sub(text::width(&label) + 2));
    let gap = room.saturating_sub(text::width(&label) + text::width(&hint));
    let mut spans = vec![Span::styled(format!(" {kind}"), theme.style(Role::Dim))];
    let (plain, hit) = (theme.style(Role::Popup), theme.style(Role::Popup).patch(theme.style(Role::Match)));
    for (i, c) in label.chars().enumerate() {
        let style = if matched.contains(&i) { hit } else { plain };
        match spans.last_mut() {
            Some(last) if i > 0 && last.style == style => last.content.to_mut().push(c),
            _ => spans.push(Span::styled(c.to_string(), style)),
        }
    }
    spans.push(Span::styled(" ".repeat(gap), plain));
    spans.push(Span::styled(hint, theme.style(Role::Dim)));
    Line::from(spans)
}
