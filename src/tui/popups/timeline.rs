//! The timeline: what contradicts itself and where time is missing, then everything in its order.

use std::ops::Range;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::{Popup, Reply};
use crate::command::Context;
use crate::domain::book::Book;
use crate::domain::ids::BookPath;
use crate::domain::safe_text;
use crate::tui::document::Place;
use crate::tui::keymap::Keymap;
use crate::tui::msg::Msg;
use crate::tui::theme::{Role, Theme};
use crate::tui::turn_lines::count;
use crate::tui::widgets::input::{Edit, Input};
use crate::tui::widgets::list::{List, Row};
use crate::tui::widgets::{popup, text};
use crate::workbench::timeline::{self, Finding, Placed, Timeline, Verdict};

/// Rows below the list that say more about the selected one.
const ABOUT: u16 = 4;

/// A line of the list.
#[derive(Debug)]
pub(in crate::tui) struct Item {
    label: String,
    detail: String,
    about: String,
    path: BookPath,
    /// Bytes of the line in its file.
    range: Range<usize>,
}

/// The list.
pub(in crate::tui) struct TimelinePopup {
    title: String,
    filter: Input,
    items: Vec<Item>,
    /// Rows stand for places in `items`.
    list: List<usize>,
    size: (u16, u16),
}

impl std::fmt::Debug for TimelinePopup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TimelinePopup").field("title", &self.title).finish_non_exhaustive()
    }
}

/// Prepares the popup. Looks lines up in the whole book: done in the background.
pub(in crate::tui) fn prepare(book: &Book, timeline: &Timeline) -> Popup {
    if timeline.rows.is_empty() {
        return Popup::text(
            "Timeline",
            "The book has no chapter and no dated entry yet.\n\nA chapter says when it happens with `date:` in its frontmatter, an event with `date:` or `chapter:`.",
        );
    }
    let mut items = vec![];
    for (mark, findings) in [("\u{2717} conflict", &timeline.conflicts), ("\u{25b3} gap", &timeline.gaps)] {
        items.extend(findings.iter().map(|finding| of_finding(book, mark, finding)));
    }
    items.extend(timeline.rows.iter().map(|row| of_row(book, timeline, row)));
    let rules = |verdict: Verdict| timeline.rules.iter().filter(|rule| rule.verdict == verdict).count();
    let mut title = format!(
        "Timeline \u{b7} {} \u{b7} {}",
        count(timeline.conflicts.len(), "conflict"),
        count(timeline.gaps.len(), "gap")
    );
    let open = rules(Verdict::NotEvaluated);
    if open > 0 {
        title.push_str(&format!(" \u{b7} {} not evaluated", count(open, "rule")));
    }
    let row =
        |(value, item): (usize, &Item)| Row { value, label: item.label.clone(), detail: item.detail.clone() };
    let list = List::new(items.iter().enumerate().map(row).collect());
    let filter = Input::default().with_placeholder("type to narrow");
    Popup::Timeline(Box::new(TimelinePopup { title, filter, items, list, size: (0, 0) }))
}

fn of_finding(book: &Book, mark: &str, finding: &Finding) -> Item {
    let mut about = finding.message.clone();
    if let Some(other) = finding.related.first() {
        about.push_str(&format!(" See {}, line {}.", other.path, other.line));
    }
    Item {
        label: format!("{mark}  {}", finding.message),
        detail: String::new(),
        about,
        path: finding.path.clone(),
        range: line_in(book, &finding.path, finding.line),
    }
}

fn of_row(book: &Book, timeline: &Timeline, row: &timeline::Row) -> Item {
    let date = match (row.placed, &row.date) {
        (Placed::Date, Some(date)) => date.clone(),
        (Placed::Chapter, _) => format!("in ch. {}", row.chapter.unwrap_or_default()),
        (_, Some(date)) => format!("({date})"),
        (_, None) => "no date".to_owned(),
    };
    let marks = |findings: &[Finding]| {
        let here = |place: &(&BookPath, usize)| *place == (&row.path, row.line);
        findings.iter().any(|f| {
            here(&(&f.path, f.line)) || f.related.iter().any(|place| here(&(&place.path, place.line)))
        })
    };
    let mut detail = vec![row.kind.as_str().to_owned()];
    if let (Some(chapter), Placed::Date) = (row.chapter, row.placed) {
        detail.push(format!("ch. {chapter}"));
    }
    if row.out_of_order {
        detail.push("out of order".to_owned());
    }
    if marks(&timeline.conflicts) {
        detail.push("\u{2717} conflict".to_owned());
    } else if marks(&timeline.gaps) {
        detail.push("\u{25b3} gap".to_owned());
    }
    let facts = row.facts.iter().map(|(key, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{key}: {value}")
    });
    let facts = facts.collect::<Vec<_>>().join("; ");
    let about = match row.placed {
        Placed::Date | Placed::Chapter => facts,
        Placed::Order => format!("Placed by its order number. {facts}"),
        Placed::None => format!("Its date can't be ordered. {facts}"),
    };
    let title =
        if row.facts.is_empty() { row.title.clone() } else { format!("{}: {}", row.title, first(&about)) };
    Item {
        label: format!("{date}  {title}"),
        detail: detail.join(" \u{b7} "),
        about: format!("{} {}", row.path, about).trim_end().to_owned(),
        path: row.path.clone(),
        range: line_in(book, &row.path, row.line),
    }
}

/// The beginning of a text, for a row.
fn first(words: &str) -> String {
    text::fit(words, 48)
}

/// Returns the bytes of a line; nothing is selected where it is not there.
fn line_in(book: &Book, path: &BookPath, line: usize) -> Range<usize> {
    let Some((_, words)) = book.document(path) else { return 0..0 };
    let mut at = 0;
    for (number, text) in (1..).zip(words.split_inclusive('\n')) {
        if number == line {
            return at..at + text.trim_end().len();
        }
        at += text.len();
    }
    0..0
}

impl TimelinePopup {
    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> Reply {
        match keymap.lookup(Context::List, &key).map(|c| c.name) {
            Some("list-choose") => return self.open(),
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

    fn selected(&self) -> Option<&Item> {
        self.items.get(self.list.selected()?.value)
    }

    fn open(&self) -> Reply {
        let Some(item) = self.selected() else { return Reply::Keep };
        let place = Place { range: item.range.clone(), words: String::new() };
        let place = (!item.range.is_empty()).then_some(place);
        Reply::Close(vec![Msg::Show(item.path.clone(), place)])
    }

    pub(super) fn paste(&mut self, words: &str) {
        self.filter.insert(words);
        self.list.set_query(self.filter.text());
    }

    pub(super) fn step(&mut self, rows: isize) {
        self.list.move_by(rows);
    }

    pub(super) fn lay_out(&mut self, screen: Rect) {
        let room = screen.height.saturating_sub(7 + ABOUT).max(1);
        let rows = room.min(self.items.len().try_into().unwrap_or(room)).max(1);
        self.size = (screen.width.saturating_sub(8).min(110), rows);
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme) -> Option<Position> {
        let (width, rows) = self.size;
        let place = match self.list.len() {
            0 => "nothing matches".to_owned(),
            n => format!("{} of {n}", self.list.position() + 1),
        };
        let hints = [("Enter".to_owned(), "open"), ("Esc".to_owned(), "close"), (place, "")];
        let popup = popup::Popup { title: &self.title, hints: &hints, width, height: rows + ABOUT + 2 };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        let part = |y: u16, height: u16| Rect { y: inner.y + y, height, ..inner }.intersection(inner);
        let field = part(0, 1);
        frame.render_widget(Span::styled("\u{203a} ", theme.style(Role::Accent)), field);
        let typed = Rect { x: field.x + 2, width: field.width.saturating_sub(2), ..field };
        let at = self.filter.draw(typed, frame.buffer_mut(), theme);
        self.list.draw(part(1, rows), frame.buffer_mut(), theme);
        let about = self.selected().map(|item| safe_text::line(&item.about).into_owned()).unwrap_or_default();
        let lines = text::wrap(&about, usize::from(inner.width))
            .into_iter()
            .take(usize::from(ABOUT))
            .map(|row| Line::styled(row, theme.style(Role::Dim)));
        Popup::lines(frame, part(rows + 2, ABOUT), theme, lines.collect());
        at
    }
}
