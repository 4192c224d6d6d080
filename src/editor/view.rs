//! One buffer shown at a width: soft wrap, scrolling, and where on the grid the cursor is.
//!
//! Lines are wrapped when they are first shown or passed, and remembered until they change. The view is anchored at a row
//! of a line, never at a row of the text, so nothing here depends on the length of the text. A view that is handed another
//! buffer, or one that changed while it did not look, shows that buffer as it is now.
//!
//! Text wraps at one cell less than the width: the last column is for the cursor after a full row and for the space that
//! hangs past the margin. Hanging white space beyond that is not drawn, and a cursor in it stays in the last column.

use std::collections::BTreeMap;
use std::ops::Range;

use super::boundary;
use super::buffer::{Buffer, LineChange};
use super::cells::{advance, clusters, columns};
use super::wrap::{Wrapped, hangs};

mod motion;

pub use motion::{Delete, Motion};

/// Rows that stay visible above and below the cursor where the height allows.
const CONTEXT: usize = 2;

/// Wrapped lines that are remembered; enough for every screen, and for walking back and forth.
const REMEMBERED_LINES: usize = 4096;

/// One visible row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The line that it belongs to, from 0.
    pub line: usize,
    /// Its bytes in the buffer, without the line feed.
    pub range: Range<usize>,
    /// Whether it is the first row of its line.
    pub first: bool,
    /// Its text as it is in the buffer; [`display`](super::display) says what to draw.
    pub text: String,
}

/// A row, by the line that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Place {
    line: usize,
    row: usize,
}

/// Something that holds for one cursor position of one revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct At<T> {
    revision: u64,
    cursor: usize,
    is: T,
}

/// A soft-wrapped window onto one buffer.
#[derive(Debug, Default)]
pub struct View {
    /// The buffer that was shown last.
    buffer: Option<u64>,
    /// Its revision when it was shown last.
    revision: u64,
    width: usize,
    height: usize,
    wrapped: BTreeMap<usize, Wrapped>,
    top: Place,
    /// The column that moving up and down aims for.
    goal: Option<At<usize>>,
    /// A cursor between two rows stands at the end of the first one.
    at_row_end: Option<At<()>>,
    /// The cursor is to be in sight when the view is looked at next.
    to_reveal: bool,
    typewriter: bool,
    /// A byte that was to be centred before the view had a size.
    to_center: Option<usize>,
}

impl View {
    /// A view without a size.
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes the size. The cursor stays in its row of the screen, as far as that exists; when it was out of sight, the
    /// text at the top stays.
    pub fn resize(&mut self, buffer: &Buffer, width: u16, height: u16) {
        let (width, height) = (usize::from(width), usize::from(height));
        self.sync(buffer);
        if (self.width, self.height) == (width, height) {
            return;
        }
        let cursor_row = self.cursor_place(buffer).and_then(|place| self.row_on_screen(buffer, place));
        let top = self.row_range(buffer, self.top).start;
        if width != self.width {
            self.wrapped.clear();
        }
        (self.width, self.height) = (width, height);
        if height > 0
            && let Some(at) = self.to_center.take()
        {
            self.center(buffer, at);
            return;
        }
        match cursor_row.filter(|_| height > 0) {
            Some(row) => {
                let cursor = self.place_of_cursor(buffer);
                self.top = self.step(buffer, cursor, -(row.min(height - 1) as isize));
                self.reveal(buffer);
            }
            None => self.top = self.place_of(buffer, top),
        }
    }

    /// Returns the visible rows, from the top.
    pub fn rows(&mut self, buffer: &Buffer) -> Vec<Row> {
        self.sync(buffer);
        let mut rows = Vec::with_capacity(self.height);
        let mut place = self.top;
        while rows.len() < self.height && place.line < buffer.lines() {
            let range = self.row_range(buffer, place);
            let text = buffer.slice(range.clone());
            rows.push(Row { line: place.line, range, first: place.row == 0, text });
            place.row += 1;
            if place.row == self.rows_of(buffer, place.line).len() {
                place = Place { line: place.line + 1, row: 0 };
            }
        }
        rows
    }

    /// Returns the cell of the cursor, for the terminal's own cursor; `None` when it is out of sight.
    pub fn cursor_cell(&mut self, buffer: &Buffer) -> Option<(u16, u16)> {
        self.sync(buffer);
        let place = self.cursor_place(buffer)?;
        let y = self.row_on_screen(buffer, place)?;
        let column = self.column_in(buffer, place, buffer.cursor());
        let x = column.min(self.width.saturating_sub(1));
        Some((u16::try_from(x).ok()?, u16::try_from(y).ok()?))
    }

    /// Returns the grapheme boundary that is nearest to a cell: for the mouse.
    pub fn hit(&mut self, buffer: &Buffer, x: u16, y: u16) -> usize {
        self.sync(buffer);
        let place = self.step(buffer, self.top, isize::try_from(y).unwrap_or(isize::MAX));
        self.offset_in(buffer, place, usize::from(x))
    }

    /// Moves the window by rows, down or (negative) up, not past the last screen. The cursor stays where it is.
    pub fn scroll(&mut self, buffer: &Buffer, rows: isize) {
        self.sync(buffer);
        let lowest = self.lowest_top(buffer);
        let target = self.step(buffer, self.top, rows);
        self.top = if rows > 0 { target.min(lowest).max(self.top) } else { target };
    }

    /// Like [`View::reveal`], but only when the view is looked at next: of many edits in a row the last one alone costs a look.
    pub fn reveal_later(&mut self) {
        self.to_reveal = true;
    }

    /// Brings the cursor into sight, after an edit or a motion, with some rows of context.
    pub fn reveal(&mut self, buffer: &Buffer) {
        self.to_reveal = true;
        self.sync(buffer);
    }

    fn bring_into_sight(&mut self, buffer: &Buffer) {
        if self.height == 0 {
            return;
        }
        let cursor = self.place_of_cursor(buffer);
        if self.typewriter {
            self.top = self.step(buffer, cursor, -((self.height / 2) as isize));
            return;
        }
        let context = CONTEXT.min((self.height - 1) / 2);
        let highest = self.step(buffer, cursor, -(context as isize));
        if highest < self.top {
            self.top = highest;
            return;
        }
        let below = self.step(buffer, cursor, context as isize);
        let lowest = self.step(buffer, below, -((self.height - 1) as isize));
        self.top = self.top.max(lowest);
    }

    /// Scrolls so that a byte is about a third down the screen; a view without a size does so once it has one.
    pub fn center(&mut self, buffer: &Buffer, at: usize) {
        self.sync(buffer);
        self.to_center = (self.height == 0).then_some(at);
        let place = self.place_of(buffer, at);
        let lowest = self.lowest_top(buffer);
        self.top = self.step(buffer, place, -((self.height / 3) as isize)).min(lowest);
    }

    /// Returns the line at the top.
    pub fn top_line(&self) -> usize {
        self.top.line
    }

    /// Returns how far down the window is, by line: 0 at the start, 1 when the last row is in sight.
    pub fn progress(&mut self, buffer: &Buffer) -> f64 {
        self.sync(buffer);
        let lowest = self.lowest_top(buffer);
        if self.top >= lowest {
            return if self.top == Place::default() { 0.0 } else { 1.0 };
        }
        self.top.line as f64 / buffer.lines() as f64
    }

    /// Keeps the cursor's row in the middle of the screen, or stops doing so.
    pub fn set_typewriter(&mut self, on: bool) {
        self.typewriter = on;
    }

    /// Catches up with what happened to the buffer.
    fn sync(&mut self, buffer: &Buffer) {
        if self.buffer != Some(buffer.id()) {
            self.buffer = Some(buffer.id());
            self.wrapped.clear();
            self.top = Place::default();
            (self.goal, self.at_row_end, self.to_center) = (None, None, None);
        } else if self.revision != buffer.revision() {
            self.to_center = None;
            match buffer.line_changes_since(self.revision) {
                Some(changes) => changes.for_each(|change| self.follow(change)),
                None => self.wrapped.clear(),
            }
        }
        self.revision = buffer.revision();
        if self.top.line >= buffer.lines() {
            self.top = Place { line: buffer.lines() - 1, row: usize::MAX };
        }
        let rows = self.rows_of(buffer, self.top.line).len();
        self.top.row = self.top.row.min(rows - 1);
        if std::mem::take(&mut self.to_reveal) {
            self.bring_into_sight(buffer);
        }
    }

    /// Forgets the lines that changed, and renumbers those after them. A change within a line only damages its rows.
    fn follow(&mut self, change: &LineChange) {
        let LineChange { line, removed, inserted, .. } = *change;
        if removed + inserted == 0 {
            if let Some(wrapped) = self.wrapped.get_mut(&line) {
                wrapped.damage(change.bytes);
            }
            return;
        }
        let after = self.wrapped.split_off(&line);
        let kept = after.into_iter().filter(|(at, _)| *at > line + removed);
        self.wrapped.extend(kept.map(|(at, rows)| (at - removed + inserted, rows)));
        if self.top.line > line + removed {
            self.top.line = self.top.line - removed + inserted;
        } else if self.top.line > line {
            self.top = Place { line: line + inserted.min(self.top.line - line), row: 0 };
        }
    }

    /// Where the rows of a line start.
    fn rows_of(&mut self, buffer: &Buffer, line: usize) -> &[usize] {
        if self.wrapped.len() > REMEMBERED_LINES {
            self.wrapped.clear();
        }
        let measure = self.measure();
        let text = || buffer.slice(buffer.line_start(line)..buffer.line_end(line));
        let wrapped = self.wrapped.entry(line).or_insert_with(|| Wrapped::new(&text(), measure));
        wrapped.rows(text, measure)
    }

    /// Cells that a row of text may take.
    fn measure(&self) -> usize {
        self.width.saturating_sub(1).max(1)
    }

    fn row_range(&mut self, buffer: &Buffer, place: Place) -> Range<usize> {
        let (start, end) = (buffer.line_start(place.line), buffer.line_end(place.line));
        let rows = self.rows_of(buffer, place.line);
        let from = rows.get(place.row).map_or(end, |at| start + at);
        from..rows.get(place.row + 1).map_or(end, |at| start + at)
    }

    fn is_last_row(&mut self, buffer: &Buffer, place: Place) -> bool {
        place.row + 1 >= self.rows_of(buffer, place.line).len()
    }

    /// The row of a byte; between two rows the second one.
    fn place_of(&mut self, buffer: &Buffer, at: usize) -> Place {
        let line = buffer.line_of(at);
        let in_line = at.min(buffer.len()) - buffer.line_start(line);
        let rows = self.rows_of(buffer, line);
        Place { line, row: rows.partition_point(|start| *start <= in_line).saturating_sub(1) }
    }

    /// The row that the cursor stands in; between two rows the first one after [`Motion::RowEnd`].
    fn place_of_cursor(&mut self, buffer: &Buffer) -> Place {
        let place = self.place_of(buffer, buffer.cursor());
        let here = At { revision: buffer.revision(), cursor: buffer.cursor(), is: () };
        if self.at_row_end == Some(here)
            && place.row > 0
            && self.row_range(buffer, place).start == buffer.cursor()
        {
            return Place { row: place.row - 1, ..place };
        }
        place
    }

    fn cursor_place(&mut self, buffer: &Buffer) -> Option<Place> {
        (self.height > 0 && self.width > 0).then(|| self.place_of_cursor(buffer))
    }

    /// The number of a row on the screen, if it is there.
    fn row_on_screen(&mut self, buffer: &Buffer, place: Place) -> Option<usize> {
        if place < self.top {
            return None;
        }
        let (mut y, mut line) = (0, self.top.line);
        while line < place.line && y < self.height + self.top.row {
            y += self.rows_of(buffer, line).len();
            line += 1;
        }
        let y = (y + place.row).checked_sub(self.top.row)?;
        (line == place.line && y < self.height).then_some(y)
    }

    /// Moves by rows and stops at the first and the last.
    fn step(&mut self, buffer: &Buffer, from: Place, rows: isize) -> Place {
        let Place { mut line, mut row } = from;
        let mut left = rows.unsigned_abs();
        if rows < 0 {
            while left > row {
                if line == 0 {
                    return Place::default();
                }
                left -= row + 1;
                line -= 1;
                row = self.rows_of(buffer, line).len() - 1;
            }
            return Place { line, row: row - left };
        }
        loop {
            let rows = self.rows_of(buffer, line).len();
            if left < rows - row {
                return Place { line, row: row + left };
            }
            if line + 1 >= buffer.lines() {
                return Place { line, row: rows - 1 };
            }
            left -= rows - row;
            line += 1;
            row = 0;
        }
    }

    /// The top of the last full screen.
    fn lowest_top(&mut self, buffer: &Buffer) -> Place {
        let line = buffer.lines() - 1;
        let last = Place { line, row: self.rows_of(buffer, line).len() - 1 };
        self.step(buffer, last, -(self.height.saturating_sub(1) as isize))
    }

    /// The column of a byte in its row.
    fn column_in(&mut self, buffer: &Buffer, place: Place, at: usize) -> usize {
        let range = self.row_range(buffer, place);
        columns(&buffer.slice(range.start..at.clamp(range.start, range.end)))
    }

    /// The end of a row as an author sees it: of its line, or, where the row goes on below, after its last word.
    fn end_of_row(&mut self, buffer: &Buffer, place: Place) -> usize {
        let range = self.row_range(buffer, place);
        if self.is_last_row(buffer, place) {
            return range.end;
        }
        let text = buffer.slice(range.clone());
        let words = clusters(&text).filter(|(_, grapheme)| !hangs(grapheme));
        words.last().map_or(range.end, |(at, grapheme)| range.start + at + grapheme.len())
    }

    /// The boundary in a row that is nearest to a column. The end of a row that goes on belongs to the next one.
    fn offset_in(&mut self, buffer: &Buffer, place: Place, goal: usize) -> usize {
        let range = self.row_range(buffer, place);
        let goes_on = !self.is_last_row(buffer, place);
        let text = buffer.slice(range.clone());
        let (mut column, mut last) = (0, 0);
        for (at, grapheme) in clusters(&text) {
            last = at;
            let cells = advance(grapheme, column);
            // The first cell of a grapheme is before it; of a wide one, the second half is after.
            let before = if cells > 1 { goal < column + cells / 2 } else { goal < column + cells };
            // All cells of what hangs past the margin are the last column.
            let hanging = column + 1 >= self.width && hangs(grapheme);
            if before || hanging {
                return range.start + at;
            }
            column += cells;
        }
        if goes_on { range.start + last } else { range.end }
    }
}
