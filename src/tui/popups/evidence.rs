//! What led to a proposal: question, what was looked up, quotations with their verdict. `Enter` goes to the place in the book.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Reply;
use crate::agent::grounding::PlacedQuote;
use crate::command::Context;
use crate::domain::conversation::{ToolRecord, Verdict};
use crate::tui::document::Place;
use crate::tui::keymap::Keymap;
use crate::tui::msg::Msg;
use crate::tui::theme::{Role, Theme};
use crate::tui::turn_lines::tool_words;
use crate::tui::when::when;
use crate::tui::widgets::{popup, text};
use crate::workbench::Evidence;

/// Columns that the popup has at most.
const WIDEST: u16 = 88;

/// The popup.
#[derive(Debug)]
pub(in crate::tui) struct EvidencePopup {
    evidence: Evidence,
    /// First row of every place that can be gone to, with the message that goes there.
    stops: Vec<(usize, Msg)>,
    at: usize,
    lines: Vec<Line<'static>>,
    made_for: (u16, String),
    size: (u16, u16),
    top: usize,
}

impl EvidencePopup {
    /// Shows what led to a proposal.
    pub(in crate::tui) fn new(evidence: Evidence) -> Self {
        Self {
            evidence,
            stops: vec![],
            at: 0,
            lines: vec![],
            made_for: (0, String::new()),
            size: (0, 0),
            top: 0,
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> Reply {
        let back = keymap.lookup(Context::Diff, &key).is_some_and(|c| c.name == "show-evidence");
        if back || matches!(key.code, KeyCode::Esc | KeyCode::Char('q')) {
            return Reply::Close(vec![]);
        }
        match keymap.lookup(Context::List, &key).map(|c| c.name) {
            Some("list-up") => self.walk(-1),
            Some("list-down") => self.walk(1),
            Some("list-page-up") => self.scroll(-isize::try_from(self.size.1).unwrap_or(10)),
            Some("list-page-down") => self.scroll(isize::try_from(self.size.1).unwrap_or(10)),
            Some("list-choose") if self.at < self.stops.len() => {
                let (_, msg) = self.stops.swap_remove(self.at);
                // The proposal below closes too: the author wants to see the place.
                return Reply::Close(vec![Msg::CloseProposal, msg]);
            }
            _ => {}
        }
        Reply::Keep
    }

    fn walk(&mut self, by: isize) {
        let last = self.stops.len().saturating_sub(1);
        let next = self.at.saturating_add_signed(by).min(last);
        if next == self.at {
            self.scroll(by);
            return;
        }
        self.at = next;
        if let Some((line, _)) = self.stops.get(self.at) {
            let height = usize::from(self.size.1);
            if *line < self.top || *line + 1 >= self.top + height {
                self.top = line.saturating_sub(height / 2);
            }
        }
    }

    pub(super) fn scroll(&mut self, rows: isize) {
        let last = self.lines.len().saturating_sub(usize::from(self.size.1));
        self.top = self.top.saturating_add_signed(rows).min(last);
    }

    pub(super) fn lay_out(&mut self, screen: Rect, theme: &Theme) {
        let width = screen.width.saturating_sub(8).min(WIDEST);
        if self.made_for != (width, theme.name().to_owned()) {
            let mut page = Page { width: usize::from(width), theme, lines: vec![], stops: vec![] };
            page.all(&self.evidence);
            (self.lines, self.stops) = (page.lines, page.stops);
            self.made_for = (width, theme.name().to_owned());
        }
        self.size = (width, screen.height.saturating_sub(4).min(self.lines.len() as u16).max(1));
        self.scroll(0);
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme) -> Option<Position> {
        let (width, height) = self.size;
        let mut hints = vec![("Esc".to_owned(), "back")];
        if !self.stops.is_empty() {
            hints.insert(0, ("Enter".to_owned(), "goes there"));
            hints.insert(1, ("Up/Down".to_owned(), "walk"));
        }
        let popup = popup::Popup { title: "What led to this proposal", hints: &hints, width, height };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        let shown: Vec<Line<'_>> =
            self.lines.iter().skip(self.top).take(usize::from(inner.height)).cloned().collect();
        super::Popup::lines(frame, inner, theme, shown);
        if let Some((line, _)) = self.stops.get(self.at)
            && let Some(y) = line.checked_sub(self.top).filter(|y| *y < usize::from(inner.height))
        {
            let row = Rect { y: inner.y + y as u16, height: 1, ..inner };
            frame.buffer_mut().set_stringn(row.x, row.y, "▸", 1, theme.style(Role::Accent));
        }
        None
    }
}

/// The rows, as they are made.
struct Page<'a> {
    width: usize,
    theme: &'a Theme,
    lines: Vec<Line<'static>>,
    stops: Vec<(usize, Msg)>,
}

impl Page<'_> {
    fn all(&mut self, evidence: &Evidence) {
        self.say(&format!("Proposed {}.", when(&evidence.at)), Role::Dim, 0);
        let Some(source) = &evidence.turn else {
            self.say("It was made outside of a conversation, or its conversation is gone: there is nothing more to show.", Role::Text, 0);
            return;
        };
        self.head(&format!("You asked the {} ({})", source.member, source.model));
        self.say(&source.question, Role::Text, 2);
        if let Some(selection) = &source.selection {
            let words = format!("with a selection of {} words from {}", selection.words, selection.title);
            self.say(&words, Role::Dim, 2);
        }
        if source.running {
            self.say("The turn has not ended: what it looks up stands in the chat.", Role::Warning, 0);
            return;
        }
        self.head("What was looked up before it");
        if source.tools.is_empty() {
            self.say("nothing", Role::Dim, 2);
        }
        for tool in &source.tools {
            self.tool(tool);
        }
        self.head("What the answer quotes");
        if source.quotes.is_empty() {
            self.say("nothing", Role::Dim, 2);
        }
        for quote in &source.quotes {
            self.quote(quote);
        }
    }

    fn tool(&mut self, tool: &ToolRecord) {
        if let Some(path) = tool.resolved.first() {
            self.stops.push((self.lines.len(), Msg::Show(path.clone(), None)));
        }
        let (head, tail) = tool_words(tool);
        self.say(&head, Role::ToolDone, 2);
        self.say(&tail, Role::ToolRow, 4);
    }

    fn quote(&mut self, placed: &PlacedQuote) {
        let (symbol, words, role) = match (placed.quote.marked, placed.quote.verdict) {
            (_, Verdict::Missing) => ("✗", "not in the book", Role::QuoteMissing),
            (true, _) => ("✓", "in the book", Role::QuoteFound),
            (false, _) => ("·", "in the book, not marked as a quotation", Role::QuoteNeutral),
        };
        let place = placed.places.first();
        if let Some((path, start, end)) = place {
            let place = Place { range: *start..*end, words: placed.quote.text.clone() };
            self.stops.push((self.lines.len(), Msg::Show(path.clone(), Some(place))));
        }
        let found = place.map_or_else(String::new, |(path, ..)| format!(": {path}"));
        self.say(&format!("{symbol} “{}”", placed.quote.text), role, 2);
        let more = match placed.places.len() {
            0 | 1 => String::new(),
            n => format!(" and {} more", n - 1),
        };
        self.say(&format!("{words}{found}{more}"), Role::Dim, 4);
    }

    fn head(&mut self, words: &str) {
        self.lines.push(Line::default());
        self.say(words, Role::Title, 0);
    }

    fn say(&mut self, words: &str, role: Role, indent: usize) {
        let style: Style = self.theme.style(role);
        for row in text::wrap(words, self.width.saturating_sub(indent)) {
            self.lines.push(Line::from(vec![Span::raw(" ".repeat(indent)), Span::styled(row, style)]));
        }
    }
}
