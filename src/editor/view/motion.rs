//! Moving the cursor and deleting, by grapheme, word, row of the screen, paragraph and page.
//!
//! Words follow GTK and readline: right goes to the end of a word, left to its start. Left and right without extending
//! first collapse a selection to its end on that side. Up on the first row goes to the start of the text, down on the last
//! row to its end. A motion that cannot go further leaves the cursor where it is.

use super::{At, Buffer, Place, View, boundary};
use crate::editor::history::Act;

/// Where the cursor goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// One grapheme back.
    Left,
    /// One grapheme on.
    Right,
    /// To the start of this word, or of the one before.
    WordLeft,
    /// To the end of this word, or of the next.
    WordRight,
    /// One row of the screen up, in the same column as far as there is one.
    Up,
    /// One row of the screen down.
    Down,
    /// To the start of the row.
    RowStart,
    /// To the end of the row, after its last word.
    RowEnd,
    /// To the start of this paragraph, or of the one before.
    ParagraphUp,
    /// To the start of the next paragraph.
    ParagraphDown,
    /// Nearly one screen up.
    PageUp,
    /// Nearly one screen down.
    PageDown,
    /// To the start of the text.
    DocumentStart,
    /// To the end of the text.
    DocumentEnd,
}

/// What goes away when nothing is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delete {
    /// The grapheme before the cursor.
    GraphemeBack,
    /// The grapheme after the cursor.
    GraphemeForward,
    /// Back to the start of a word.
    WordBack,
    /// On to the end of a word.
    WordForward,
    /// Back to the start of the row; at the start of one, the grapheme before it.
    LineStart,
    /// On to the end of the row; at the end of one, the grapheme after it.
    LineEnd,
}

impl View {
    /// Moves the cursor and shows it. With `extend` the selection reaches to it.
    pub fn apply(&mut self, buffer: &mut Buffer, motion: Motion, extend: bool) {
        self.sync(buffer);
        match motion {
            Motion::Up => self.by_rows(buffer, -1, extend),
            Motion::Down => self.by_rows(buffer, 1, extend),
            Motion::PageUp => self.by_page(buffer, -1, extend),
            Motion::PageDown => self.by_page(buffer, 1, extend),
            Motion::RowEnd => {
                let place = self.place_of_cursor(buffer);
                self.show_at_row_end(buffer, place, extend);
            }
            _ => {
                let to = self.target(buffer, motion, extend);
                buffer.set_cursor(to, extend);
            }
        }
        self.reveal(buffer);
    }

    /// Deletes the selection, or else what `what` says, and shows the cursor.
    pub fn delete(&mut self, buffer: &mut Buffer, what: Delete) {
        self.sync(buffer);
        if let Some(selection) = buffer.selection() {
            buffer.delete(selection, Act::Whole);
        } else {
            let at = buffer.cursor();
            let (motion, act) = match what {
                Delete::GraphemeBack => (Motion::Left, Act::DeleteBack),
                Delete::GraphemeForward => (Motion::Right, Act::DeleteForward),
                Delete::WordBack => (Motion::WordLeft, Act::Whole),
                Delete::WordForward => (Motion::WordRight, Act::Whole),
                Delete::LineStart => (Motion::RowStart, Act::Whole),
                Delete::LineEnd => (Motion::RowEnd, Act::Whole),
            };
            let to = match self.target(buffer, motion, false) {
                to if to != at => to,
                _ if what == Delete::LineStart => boundary::previous_grapheme(buffer.rope(), at),
                _ if what == Delete::LineEnd => boundary::next_grapheme(buffer.rope(), at),
                to => to,
            };
            buffer.delete(at.min(to)..at.max(to), act);
        }
        self.reveal(buffer);
    }

    /// Where a motion that needs no column leads.
    fn target(&mut self, buffer: &Buffer, motion: Motion, extend: bool) -> usize {
        let (rope, at) = (buffer.rope(), buffer.cursor());
        let collapse = buffer.selection().filter(|_| !extend && !buffer.anchor_active());
        match (motion, collapse) {
            (Motion::Left, Some(selection)) => selection.start,
            (Motion::Right, Some(selection)) => selection.end,
            (Motion::Left, None) => boundary::previous_grapheme(rope, at),
            (Motion::Right, None) => boundary::next_grapheme(rope, at),
            (Motion::WordLeft, _) => boundary::word_left(rope, at),
            (Motion::WordRight, _) => boundary::word_right(rope, at),
            (Motion::ParagraphUp, _) => boundary::paragraph_up(rope, at),
            (Motion::ParagraphDown, _) => boundary::paragraph_down(rope, at),
            (Motion::RowStart, _) => {
                let place = self.place_of_cursor(buffer);
                self.row_range(buffer, place).start
            }
            (Motion::RowEnd, _) => {
                let place = self.place_of_cursor(buffer);
                self.end_of_row(buffer, place)
            }
            (Motion::DocumentStart, _) => 0,
            (Motion::DocumentEnd, _) => buffer.len(),
            (Motion::Up | Motion::Down | Motion::PageUp | Motion::PageDown, _) => at,
        }
    }

    /// Puts the cursor at the end of a row; where that is the start of the next one too, it is shown in this one.
    fn show_at_row_end(&mut self, buffer: &mut Buffer, place: Place, extend: bool) {
        let end = self.end_of_row(buffer, place);
        buffer.set_cursor(end, extend);
        self.at_row_end = Some(At { revision: buffer.revision(), cursor: buffer.cursor(), is: () });
    }

    fn by_rows(&mut self, buffer: &mut Buffer, rows: isize, extend: bool) {
        let from = self.place_of_cursor(buffer);
        let goal = match self.goal {
            Some(goal) if goal.cursor == buffer.cursor() && goal.revision == buffer.revision() => goal.is,
            _ => self.column_in(buffer, from, buffer.cursor()),
        };
        let place = self.step(buffer, from, rows);
        let end = self.end_of_row(buffer, place);
        if place == from {
            buffer.set_cursor(if rows < 0 { 0 } else { buffer.len() }, extend);
        } else if goal >= self.column_in(buffer, place, end) {
            self.show_at_row_end(buffer, place, extend);
        } else {
            let to = self.offset_in(buffer, place, goal);
            buffer.set_cursor(to, extend);
        }
        self.goal = Some(At { revision: buffer.revision(), cursor: buffer.cursor(), is: goal });
    }

    fn by_page(&mut self, buffer: &mut Buffer, direction: isize, extend: bool) {
        let rows = self.height.saturating_sub(super::CONTEXT).max(1) as isize * direction;
        let top: Place = self.top;
        self.by_rows(buffer, rows, extend);
        self.top = top;
        self.scroll(buffer, rows);
    }
}
