//! A window onto differences: wraps what is in sight, scrolls, and knows what has been in sight.
//!
//! It is anchored at a row of an item, never at a row of the whole, so that a megabyte costs no more than a screen.

use std::collections::HashMap;

use ratatui::text::{Line, Span};

use super::super::super::theme::{Role, Theme};
use super::super::text;
use super::items::arrange;
use super::{Item, Look, Shown, one_column, outcome_of_dispute, same, side_of_dispute, two_columns};

/// Wrapped items that are kept.
const KEPT: usize = 4096;

/// A row, by the item that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Place {
    item: usize,
    row: usize,
}

/// What was chosen for a place in dispute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The author's side is in it.
    pub mine: bool,
    /// The proposed one is in it.
    pub theirs: bool,
    /// What stands there then.
    pub becomes: String,
}

/// The window.
#[derive(Debug, Default)]
pub struct Pages {
    files: Vec<Shown>,
    items: Vec<Item>,
    look: Look,
    /// What was chosen for places in dispute.
    taken: HashMap<(usize, usize), Taken>,
    wrapped: HashMap<usize, Vec<Line<'static>>>,
    /// Width and theme that `wrapped` was made for.
    width: u16,
    theme: Theme,
    height: usize,
    top: Place,
    /// Of every item, whether its first and its last row have been in sight.
    seen: Vec<(bool, bool)>,
}

impl Pages {
    /// A window onto these files, at their start.
    pub fn new(files: Vec<Shown>, look: Look) -> Self {
        let mut pages = Self { files, ..Self::default() };
        pages.arrange(look);
        pages
    }

    /// Returns the files.
    pub fn files(&self) -> &[Shown] {
        &self.files
    }

    /// Returns the items, from above.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Arranges everything anew, and goes to the start.
    pub fn arrange(&mut self, look: Look) {
        self.look = look;
        self.items = arrange(&self.files, look);
        self.seen = vec![(false, false); self.items.len()];
        self.wrapped.clear();
        self.top = Place::default();
    }

    /// Says what was chosen for a place in dispute.
    pub fn take(&mut self, file: usize, dispute: usize, taken: Taken) {
        self.taken.insert((file, dispute), taken);
        self.wrapped.clear();
    }

    /// Fits the window to a size. Returns how many rows there are, where they all fit.
    pub fn lay_out(&mut self, width: u16, height: u16, theme: &Theme) -> Option<usize> {
        if self.width != width || self.theme.name() != theme.name() {
            (self.width, self.theme) = (width, theme.clone());
            self.wrapped.clear();
        }
        if self.wrapped.len() > KEPT {
            self.wrapped.clear();
        }
        self.height = usize::from(height);
        let lowest = self.lowest();
        self.top = self.top.min(lowest);
        let rows = self.rows_of(self.top.item);
        self.top.row = self.top.row.min(rows.saturating_sub(1));
        self.look_at_window();
        (lowest == Place::default()).then(|| (0..self.items.len()).map(|item| self.rows_of(item)).sum())
    }

    /// Wraps what is in sight, and remembers that it was.
    fn look_at_window(&mut self) {
        let (mut left, Place { mut item, mut row }) = (self.height, self.top);
        while left > 0 && item < self.items.len() {
            let rows = self.rows_of(item);
            let shown = left.min(rows - row.min(rows));
            let seen = &mut self.seen[item];
            seen.0 |= row == 0;
            seen.1 |= row + shown == rows;
            left -= shown;
            (item, row) = (item + 1, 0);
        }
    }

    /// Returns the rows in sight; `header` draws the header rows, whose looks depend on what the author has chosen.
    pub fn rows(&self, header: impl Fn(Item) -> Line<'static>) -> Vec<Line<'static>> {
        let mut rows = Vec::with_capacity(self.height);
        let Place { mut item, mut row } = self.top;
        while rows.len() < self.height && item < self.items.len() {
            let room = self.height - rows.len();
            if self.items[item].is_header() {
                rows.push(header(self.items[item]));
            } else {
                let lines = self.wrapped.get(&item).map(Vec::as_slice).unwrap_or_default();
                rows.extend(lines.iter().skip(row).take(room).cloned());
            }
            (item, row) = (item + 1, 0);
        }
        rows
    }

    /// Scrolls by rows, not past the last screen.
    pub fn scroll(&mut self, rows: isize) {
        let lowest = self.lowest();
        self.top = self.step(self.top, rows).min(lowest.max(Place::default()));
    }

    /// Goes to the first or the last row.
    pub fn go_to_end(&mut self, last: bool) {
        self.top = if last { self.lowest() } else { Place::default() };
    }

    /// Brings an item to a row below the top.
    pub fn go_to(&mut self, item: usize) {
        let lowest = self.lowest();
        self.top = self.step(Place { item, row: 0 }, -1).min(lowest);
    }

    /// Returns the items in sight.
    pub fn window(&self) -> std::ops::Range<usize> {
        let (mut left, Place { mut item, mut row }) = (self.height, self.top);
        while left > 0 && item < self.items.len() {
            let rows =
                if self.items[item].is_header() { 1 } else { self.wrapped.get(&item).map_or(1, Vec::len) };
            left = left.saturating_sub(rows.saturating_sub(row));
            (item, row) = (item + 1, 0);
        }
        self.top.item..item
    }

    /// Returns how far down the window is, in hundredths by item; `None` where everything is in sight.
    pub fn progress(&self) -> Option<usize> {
        let window = self.window();
        let all_of_last = window.end == self.items.len() && self.seen.last().is_some_and(|s| s.1);
        match (self.top == Place::default(), all_of_last && self.is_at_end()) {
            (true, true) => None,
            (_, true) => Some(100),
            _ => Some((window.end * 100 / self.items.len().max(1)).min(99)),
        }
    }

    /// Whether the last row is in sight.
    fn is_at_end(&self) -> bool {
        let below: usize = self.items[self.top.item.min(self.items.len())..]
            .iter()
            .enumerate()
            .map(|(i, item)| {
                let at = self.top.item + i;
                if item.is_header() {
                    1
                } else {
                    self.wrapped.get(&at).map_or(usize::from(u16::MAX), Vec::len)
                }
            })
            .take(self.height + 1)
            .sum();
        below.saturating_sub(self.top.row) <= self.height
    }

    /// Returns every hunk whose rows have all been in sight, among those that are in sight now.
    pub fn seen(&self) -> Vec<(usize, usize)> {
        let mut hunks: Vec<(usize, usize)> =
            self.items[self.window()].iter().filter_map(|item| item.hunk()).collect();
        hunks.dedup();
        let all = |hunk: &(usize, usize)| {
            let of_hunk = |(item, _): &(&Item, &(bool, bool))| item.hunk() == Some(*hunk);
            self.items.iter().zip(&self.seen).filter(of_hunk).all(|(_, seen)| *seen == (true, true))
        };
        hunks.retain(all);
        hunks
    }

    fn rows_of(&mut self, item: usize) -> usize {
        let Some(what) = self.items.get(item).copied() else { return 0 };
        if what.is_header() {
            return 1;
        }
        if !self.wrapped.contains_key(&item) {
            let mut rows = self.wrap(what);
            if rows.is_empty() {
                rows.push(Line::default());
            }
            self.wrapped.insert(item, rows);
        }
        self.wrapped.get(&item).map_or(1, Vec::len)
    }

    fn wrap(&self, item: Item) -> Vec<Line<'static>> {
        let (width, theme) = (usize::from(self.width), &self.theme);
        let file = |file: usize| &self.files[file];
        let part = |f: usize, hunk: usize, part: usize| file(f).reading.sections.get(hunk)?.parts.get(part);
        let short = !self.look.whole;
        match item {
            Item::Blank | Item::File(_) | Item::Dispute(..) | Item::Hunk(..) => vec![],
            Item::Note(f, note) => text::wrap(&format!("› {}", file(f).notes[note]), width)
                .into_iter()
                .map(|row| Line::styled(row, theme.style(Role::Warning)))
                .collect(),
            Item::DisputeSide(f, dispute, mine) => {
                let taken = self.taken.get(&(f, dispute)).map(|t| if mine { t.mine } else { t.theirs });
                side_of_dispute(&file(f).disputes[dispute], mine, taken, width, theme)
            }
            Item::DisputeEnd(f, dispute) => self.taken.get(&(f, dispute)).map_or_else(Vec::new, |taken| {
                outcome_of_dispute(&file(f).disputes[dispute], &taken.becomes, width, theme)
            }),
            Item::Same(f, line) => same(&file(f).reading.line(line), width, theme),
            Item::Near(f, line, end) => {
                let words = file(f).reading.line(line);
                let room = width.saturating_sub(super::GUTTER);
                let fitted = if end { text::fit_end(&words, room) } else { text::fit(&words, room) };
                vec![Line::from(Span::styled(format!("  {fitted}"), theme.style(Role::Dim)))]
            }
            Item::More(lines) => {
                let words = format!("  … {lines} unchanged lines …");
                vec![text::line_of([(words.as_str(), theme.style(Role::Dim))], width)]
            }
            Item::Part(f, hunk, at) => {
                part(f, hunk, at).map_or_else(Vec::new, |p| one_column(p, short, width, theme))
            }
            Item::Beside(f, hunk, old, new) => {
                let (old, new) = (old.and_then(|at| part(f, hunk, at)), new.and_then(|at| part(f, hunk, at)));
                two_columns((old, new), short, width, theme)
            }
        }
    }

    /// Moves by rows and stops at the first and the last.
    fn step(&mut self, from: Place, rows: isize) -> Place {
        let Place { mut item, mut row } = from;
        let mut left = rows.unsigned_abs();
        if rows < 0 {
            while left > row {
                if item == 0 {
                    return Place::default();
                }
                left -= row + 1;
                item -= 1;
                row = self.rows_of(item).saturating_sub(1);
            }
            return Place { item, row: row - left };
        }
        loop {
            let here = self.rows_of(item);
            if left + row < here {
                return Place { item, row: row + left };
            }
            if item + 1 >= self.items.len() {
                return Place { item, row: here.saturating_sub(1) };
            }
            left = (left + row).saturating_sub(here);
            (item, row) = (item + 1, 0);
        }
    }

    /// The top of the last full window.
    fn lowest(&mut self) -> Place {
        let Some(item) = self.items.len().checked_sub(1) else { return Place::default() };
        let row = self.rows_of(item).saturating_sub(1);
        self.step(Place { item, row }, -(self.height.saturating_sub(1) as isize))
    }
}
