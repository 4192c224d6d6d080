//! Searching the whole book: what is typed is looked for in the background, and the hits come as a message.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::{Popup, Reply};
use crate::command::Context;
use crate::domain::safe_text;
use crate::tui::document::Place;
use crate::tui::keymap::Keymap;
use crate::tui::msg::Msg;
use crate::tui::theme::{Role, Theme};
use crate::tui::turn_lines::thousands;
use crate::tui::widgets::input::{Edit, Input};
use crate::tui::widgets::list::{List, Row};
use crate::tui::widgets::{popup, text};
use crate::workbench::Hit;

/// Rows of the excerpt below the list.
const EXCERPT: u16 = 3;
/// What is said where nothing matches.
const NOTHING: &str = "nothing found";

/// The field, and what was found last.
pub(in crate::tui) struct SearchPopup {
    query: Input,
    /// What `hits` are the answer to.
    answered: String,
    hits: Vec<Hit>,
    /// Rows stand for places in `hits`; never filtered, since the search has done that.
    list: List<usize>,
    size: (u16, u16),
}

impl std::fmt::Debug for SearchPopup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchPopup").field("query", &self.query.text()).finish_non_exhaustive()
    }
}

impl SearchPopup {
    /// An open field with `words` in it, which the first character that is typed replaces.
    pub(in crate::tui) fn new(words: &str) -> Self {
        Self {
            query: Input::prefilled(words).with_placeholder("words, a name, or a \"phrase\""),
            answered: String::new(),
            hits: vec![],
            list: List::new(vec![]),
            size: (0, 0),
        }
    }

    /// Takes what was found, unless something else has been typed since.
    pub(in crate::tui) fn found(&mut self, query: &str, hits: Vec<Hit>) {
        if query != self.query.text() {
            return;
        }
        query.clone_into(&mut self.answered);
        let row = |(value, hit): (usize, &Hit)| Row {
            value,
            label: hit.title.clone(),
            // A chapter may be found in many places.
            detail: format!("{} · line {} · {:.2}", hit.kind.as_str(), thousands(hit.line), hit.score),
        };
        self.list = List::new(hits.iter().enumerate().map(row).collect());
        self.hits = hits;
    }

    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> Reply {
        match keymap.lookup(Context::List, &key).map(|c| c.name) {
            Some("list-choose") => return self.open(),
            Some("cancel") => return Reply::Close(vec![]),
            Some(command) if self.list.walks(command, self.size.1) => {}
            _ => {
                if self.query.key(&key) == Edit::Changed {
                    return Reply::Do(vec![self.ask()]);
                }
            }
        }
        Reply::Keep
    }

    /// Looks for what is typed now.
    pub(in crate::tui) fn ask(&self) -> Msg {
        Msg::Search(self.query.text().to_owned())
    }

    fn open(&self) -> Reply {
        let Some(hit) = self.selected() else { return Reply::Keep };
        let place = Place { range: hit.range.clone(), words: String::new() };
        Reply::Close(vec![Msg::Show(hit.path.clone(), Some(place))])
    }

    fn selected(&self) -> Option<&Hit> {
        self.hits.get(self.list.selected()?.value)
    }

    pub(super) fn paste(&mut self, words: &str) -> Msg {
        self.query.insert(words);
        self.ask()
    }

    pub(super) fn step(&mut self, rows: isize) {
        self.list.move_by(rows);
    }

    pub(super) fn lay_out(&mut self, screen: Rect) {
        let rows = screen.height.saturating_sub(8 + EXCERPT).clamp(1, 20);
        self.size = (screen.width.saturating_sub(8).min(96), rows);
    }

    /// How the search stands, in words.
    fn state(&self) -> String {
        if self.query.text().trim().is_empty() {
            return "Codex, notes and manuscript".to_owned();
        }
        match self.hits.len() {
            _ if self.answered != self.query.text() => "looking…".to_owned(),
            0 => NOTHING.to_owned(),
            n => format!("{} of {n}", self.list.position() + 1),
        }
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme) -> Option<Position> {
        let (width, rows) = self.size;
        let hints = [("Enter".to_owned(), "open"), ("Esc".to_owned(), "close"), (self.state(), "")];
        let height = rows + EXCERPT + 2;
        let popup = popup::Popup { title: "Search the book", hints: &hints, width, height };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        let part = |y: u16, height: u16| Rect { y: inner.y + y, height, ..inner }.intersection(inner);
        let field = part(0, 1);
        frame.render_widget(Span::styled("› ", theme.style(Role::Accent)), field);
        let typed = Rect { x: field.x + 2, width: field.width.saturating_sub(2), ..field };
        let at = self.query.draw(typed, frame.buffer_mut(), theme);
        if !self.hits.is_empty() {
            self.list.draw(part(1, rows), frame.buffer_mut(), theme);
        }
        if self.state() == NOTHING {
            let words = format!("{NOTHING}: no name, text or note of this book has these words");
            Popup::lines(frame, part(1, 1), theme, vec![Line::styled(words, theme.style(Role::Dim))]);
        }
        let excerpt =
            self.selected().map(|hit| safe_text::line(&hit.excerpt).into_owned()).unwrap_or_default();
        let lines = text::wrap(&excerpt, usize::from(inner.width))
            .into_iter()
            .take(usize::from(EXCERPT))
            .map(|row| Line::styled(row, theme.style(Role::Dim)));
        Popup::lines(frame, part(rows + 2, EXCERPT), theme, lines.collect());
        at
    }
}
