//! Where the author is in a text: the cursor, and the selection between it and its anchor.
//!
//! Both always stand between two graphemes. Moving ends the step of history that typing would otherwise go on with.

use std::ops::Range;

use super::Buffer;
use crate::editor::boundary;
use crate::editor::history::Caret;

impl Buffer {
    /// Returns the insertion point.
    pub fn cursor(&self) -> usize {
        self.caret.cursor
    }

    /// Returns what is selected, if that is anything.
    pub fn selection(&self) -> Option<Range<usize>> {
        let (anchor, cursor) = (self.caret.anchor?, self.caret.cursor);
        (anchor != cursor).then_some(anchor.min(cursor)..anchor.max(cursor))
    }

    /// Returns the selected text.
    pub fn selected_text(&self) -> Option<String> {
        self.selection().map(|range| self.slice(range))
    }

    /// Whether [`Buffer::start_selection`] makes every motion extend the selection.
    pub fn anchor_active(&self) -> bool {
        self.caret.marking
    }

    /// Starts a selection at the cursor that every motion extends, until it is cleared or the text is edited.
    pub fn start_selection(&mut self) {
        self.place(Caret { cursor: self.caret.cursor, anchor: Some(self.caret.cursor), marking: true });
    }

    /// Selects nothing; the cursor stays.
    pub fn clear_selection(&mut self) {
        self.place(Caret { cursor: self.caret.cursor, anchor: None, marking: false });
    }

    /// Selects a range, grown to whole graphemes, with the cursor at its end.
    pub fn select(&mut self, range: Range<usize>) {
        let start = boundary::floor_grapheme(&self.rope, range.start.min(range.end));
        let end = boundary::ceil_grapheme(&self.rope, range.end.min(self.len()));
        self.place(Caret { cursor: end, anchor: Some(start), marking: false });
    }

    /// Selects the whole text.
    pub fn select_all(&mut self) {
        self.select(0..self.len());
    }

    /// Selects the word at a byte, or the run of spaces or punctuation that is there.
    pub fn select_word_at(&mut self, at: usize) {
        self.select(boundary::word_at(&self.rope, at));
    }

    /// Selects the paragraph at a byte: what stands between blank lines.
    pub fn select_paragraph_at(&mut self, at: usize) {
        self.select(boundary::paragraph_at(&self.rope, at));
    }

    /// Puts the cursor on the grapheme boundary at or before a byte. With `extend` the selection reaches to it, else
    /// there is none.
    pub fn set_cursor(&mut self, at: usize, extend: bool) {
        let cursor = boundary::floor_grapheme(&self.rope, at);
        let extend = extend || self.caret.marking;
        let anchor = extend.then(|| self.caret.anchor.unwrap_or(self.caret.cursor));
        self.place(Caret { cursor, anchor, marking: self.caret.marking });
    }

    fn place(&mut self, caret: Caret) {
        self.caret = caret;
        self.history.seal();
    }
}
