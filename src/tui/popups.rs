//! The popup stack: one enum, one reply type. A popup knows what it shows and what a key means in it, and nothing of the rest.

pub(super) mod board;
pub(super) mod card;
pub(super) mod chooser;
pub(super) mod confirm;
pub(super) mod conversations;
pub(super) mod diff;
pub(super) mod evidence;
pub(super) mod field;
pub(super) mod go_to;
pub(super) mod graph;
pub(super) mod help;
pub(super) mod key_entry;
pub(super) mod models;
pub(super) mod new_entry;
pub(super) mod palette;
pub(super) mod peek;
pub(super) mod proposals;
pub(super) mod providers;
pub(super) mod rename;
pub(super) mod search;
pub(super) mod text;
pub(super) mod timeline;

use std::time::Instant;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::keymap::Keymap;
use super::msg::Msg;
use super::theme::{Role, Theme};
use crate::command::Context;

/// Whatever lies over the panes.
#[derive(Debug)]
pub(super) enum Popup {
    /// A filtered list to choose from.
    Chooser(chooser::Chooser),
    /// Text to read.
    Text(text::TextPopup),
    /// A question with a key for every answer.
    Confirm(confirm::Confirm),
    /// One line to type.
    Field(field::Field),
    /// A search of the whole book.
    Search(search::SearchPopup),
    /// The story in the order of its time.
    Timeline(Box<timeline::TimelinePopup>),
    /// A proposal to judge.
    Diff(Box<diff::DiffPopup>),
    /// What led to a proposal.
    Evidence(Box<evidence::EvidencePopup>),
    /// The relationships of an entry.
    Graph(graph::GraphPopup),
    /// The places of a name that is changed.
    Rename(Box<rename::RenamePopup>),
    /// All conversations.
    Conversations(Box<conversations::ConversationsPopup>),
}

/// What a popup says to a key. The same for every popup.
#[derive(Debug)]
pub(super) enum Reply {
    /// Not done yet.
    Keep,
    /// Stay, and let these happen.
    Do(Vec<Msg>),
    /// Done; let these happen.
    Close(Vec<Msg>),
}

impl Popup {
    /// Offers a key to the popup.
    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap, now: Instant) -> Reply {
        match self {
            Self::Chooser(p) => p.key(key, keymap),
            Self::Text(p) => p.key(key, keymap),
            Self::Confirm(p) => p.key(key, now),
            Self::Field(p) => p.key(key),
            Self::Search(p) => p.key(key, keymap),
            Self::Timeline(p) => p.key(key, keymap),
            Self::Diff(p) => p.key(key, keymap, now),
            Self::Evidence(p) => p.key(key, keymap),
            Self::Graph(p) => p.key(key, keymap),
            Self::Rename(p) => p.key(key, keymap, now),
            Self::Conversations(p) => p.key(key, keymap),
        }
    }

    /// Whether a key is the popup's own, although it also is one of a command that works everywhere.
    pub(super) fn claims(&self, command: &str, key: &KeyEvent) -> bool {
        let types = super::update::is_text(key);
        match self {
            Self::Chooser(_)
            | Self::Field(_)
            | Self::Search(_)
            | Self::Timeline(_)
            | Self::Conversations(_) => types,
            Self::Confirm(p) => types || command == "help" || (command == "quit" && p.asks_to_quit()),
            Self::Diff(p) => p.is_editing() && (types || command == "save"),
            Self::Text(_) => command == "help",
            Self::Evidence(_) | Self::Graph(_) | Self::Rename(_) => false,
        }
    }

    /// Whether a key does something here that must not happen by accident: it counts only when it comes alone.
    pub(super) fn decides(&self, key: &KeyEvent, keymap: &Keymap) -> bool {
        match self {
            Self::Diff(p) if p.is_editing() => false,
            Self::Diff(_) => keymap.lookup(Context::Diff, key).is_some_and(|c| diff::counts_alone(c.name)),
            Self::Confirm(p) => p.answers(key),
            Self::Rename(_) => {
                keymap.lookup(Context::Rename, key).is_some_and(|c| rename::counts_alone(c.name))
            }
            Self::Chooser(_)
            | Self::Text(_)
            | Self::Field(_)
            | Self::Search(_)
            | Self::Timeline(_)
            | Self::Evidence(_)
            | Self::Graph(_)
            | Self::Conversations(_) => false,
        }
    }

    /// Offers pasted text to the popup. Only fields take it. Returns what it asks for then, if anything.
    pub(super) fn paste(&mut self, text: &str) -> Option<Msg> {
        match self {
            Self::Chooser(p) => p.paste(text),
            Self::Field(p) => p.paste(text),
            Self::Timeline(p) => p.paste(text),
            Self::Diff(p) => p.paste(text),
            Self::Search(p) => return Some(p.paste(text)),
            Self::Conversations(p) => return p.paste(text),
            Self::Text(_) | Self::Confirm(_) | Self::Evidence(_) | Self::Graph(_) | Self::Rename(_) => {}
        }
        None
    }

    /// Scrolls the popup.
    pub(super) fn scroll(&mut self, rows: isize) {
        match self {
            Self::Chooser(p) => p.step(rows),
            Self::Text(p) => p.scroll(rows),
            Self::Diff(p) => p.scroll(rows),
            Self::Evidence(p) => p.scroll(rows),
            Self::Search(p) => p.step(rows),
            Self::Timeline(p) => p.step(rows),
            Self::Graph(p) => p.step(rows),
            Self::Rename(p) => p.step(rows),
            Self::Conversations(p) => p.step(rows),
            Self::Confirm(_) | Self::Field(_) => {}
        }
    }

    /// Fits the popup to the screen, before it is drawn.
    pub(super) fn lay_out(&mut self, screen: Rect, theme: &Theme) {
        match self {
            Self::Chooser(p) => p.lay_out(screen),
            Self::Text(p) => p.lay_out(screen, theme),
            Self::Diff(p) => p.lay_out(screen, theme),
            Self::Evidence(p) => p.lay_out(screen, theme),
            Self::Search(p) => p.lay_out(screen),
            Self::Timeline(p) => p.lay_out(screen),
            Self::Graph(p) => p.lay_out(screen),
            Self::Rename(p) => p.lay_out(screen),
            Self::Conversations(p) => p.lay_out(screen),
            Self::Confirm(_) | Self::Field(_) => {}
        }
    }

    /// Draws the popup. Returns where the terminal's cursor belongs, if it has a field.
    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme, keymap: &Keymap) -> Option<Position> {
        match self {
            Self::Chooser(p) => p.draw(frame, theme),
            Self::Text(p) => p.draw(frame, theme),
            Self::Confirm(p) => p.draw(frame, theme),
            Self::Field(p) => p.draw(frame, theme),
            Self::Search(p) => p.draw(frame, theme),
            Self::Timeline(p) => p.draw(frame, theme),
            Self::Diff(p) => p.draw(frame, theme, keymap),
            Self::Evidence(p) => p.draw(frame, theme),
            Self::Graph(p) => p.draw(frame, theme, keymap),
            Self::Rename(p) => p.draw(frame, theme, keymap),
            Self::Conversations(p) => p.draw(frame, theme, keymap),
        }
    }

    /// Draws lines of text in a popup: the popup's ground lies under all of them.
    fn lines(frame: &mut Frame<'_>, area: Rect, theme: &Theme, lines: Vec<Line<'_>>) {
        frame.render_widget(Paragraph::new(lines), area);
        let ground = Style { bg: theme.style(Role::Popup).bg, ..Style::default() };
        frame.buffer_mut().set_style(area, ground);
    }

    /// A popup with text to read.
    pub(super) fn text(title: &str, text: &str) -> Self {
        Self::Text(text::TextPopup::plain(title, text))
    }
}
