//! A text being edited: its words, its history, and the form in which its file is kept.
//!
//! Every change goes through one place, which keeps line ends, word count, revision and the lists of edits in step. The
//! bytes that nobody touched are given back as they came, mixed line ends and byte order mark included.

use std::collections::vec_deque::{self, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use ropey::Rope;

use super::boundary;
use super::history::{Act, Caret, Change, History, Piece};
use super::line_ends::{self, LineEnd, LineEnds};
use super::words::WordCount;
use super::wrap::Damage;

mod selection;

/// A view that looks more seldom than once in so many changes wraps anew what it shows.
const REMEMBERED_CHANGES: usize = 256;

const BOM: &str = "\u{feff}";

/// A change of the text, in the order in which it was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The byte where it was done, in the text as it was then.
    pub at: usize,
    /// What was there.
    pub removed: String,
    /// What is there instead.
    pub inserted: String,
}

/// The lines that a change touched, for views.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineChange {
    /// The first of them.
    pub(super) line: usize,
    /// Line feeds that went.
    pub(super) removed: usize,
    /// Line feeds that came.
    pub(super) inserted: usize,
    /// The bytes of the change in its first line.
    pub(super) bytes: Damage,
}

/// A text with cursor, selection, history and word count.
#[derive(Debug)]
pub struct Buffer {
    id: u64,
    rope: Rope,
    has_bom: bool,
    ends: LineEnds,
    caret: Caret,
    history: History,
    words: WordCount,
    revision: u64,
    line_changes: VecDeque<LineChange>,
    edits: Vec<Edit>,
}

impl Buffer {
    /// Opens the text of a file as it is: a byte order mark and any line ends are kept for [`Buffer::to_text`].
    pub fn from_text(file_text: &str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (has_bom, body) = match file_text.strip_prefix(BOM) {
            Some(body) => (true, body),
            None => (false, file_text),
        };
        let (text, ends) = line_ends::parse(body);
        let rope = Rope::from_str(&text);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            words: WordCount::new(&rope),
            rope,
            has_bom,
            ends,
            caret: Caret::default(),
            history: History::new(),
            revision: 0,
            line_changes: VecDeque::new(),
            edits: vec![],
        }
    }

    /// Returns the text to save: without an edit the very bytes of [`Buffer::from_text`]. New lines end as most lines of
    /// the file do.
    pub fn to_text(&self) -> String {
        let mut out = String::with_capacity(self.rope.len_bytes() + self.rope.len_lines() + BOM.len());
        if self.has_bom {
            out.push_str(BOM);
        }
        if self.ends.uniform() && self.ends.usual() == LineEnd::Lf {
            self.rope.chunks().for_each(|chunk| out.push_str(chunk));
            return out;
        }
        for (number, line) in self.rope.lines().enumerate() {
            line.chunks().for_each(|chunk| out.push_str(chunk));
            if out.ends_with('\n') && number + 1 < self.rope.len_lines() {
                out.pop();
                out.push_str(self.end_of_line(number).as_str());
            }
        }
        out
    }

    /// Returns the text without copying it: a clone is cheap and can be handed to another thread.
    pub fn rope(&self) -> &Rope {
        &self.rope
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.rope.len_bytes()
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a part of the text, clamped to the text and to whole characters.
    pub fn slice(&self, range: Range<usize>) -> String {
        self.rope.byte_slice(boundary::floor_range(&self.rope, &range)).into()
    }

    /// Returns the place between two characters that is at or before a byte.
    pub fn floor_char(&self, at: usize) -> usize {
        boundary::floor_char(&self.rope, at)
    }

    /// Returns the words of prose: what stands between white space and holds a letter or a digit, without frontmatter.
    pub fn words(&self) -> usize {
        self.words.prose()
    }

    /// Returns a number that grows with every change of the text, undo included.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether the text differs from what was last saved. Undoing back to it makes it unmodified again.
    pub fn is_modified(&self) -> bool {
        self.history.is_modified()
    }

    /// Says that the text as it is now has been saved.
    pub fn mark_saved(&mut self) {
        self.history.mark_saved();
    }

    /// Says that the text as it is now is being saved: typing that goes on meanwhile is not part of what is saved.
    pub fn begin_save(&mut self) {
        self.history.begin_save();
    }

    /// Says that the save that was begun has ended, and whether it ended well.
    pub fn end_save(&mut self, well: bool) {
        self.history.end_save(well);
    }

    /// Returns the changes since the last call, oldest first, undo included. Typing that goes on at the same place is one
    /// change. They are kept until they are asked for.
    pub fn changes(&mut self) -> Vec<Edit> {
        std::mem::take(&mut self.edits)
    }

    /// Returns the number of lines, at least 1: a line feed at the end is followed by an empty line.
    pub fn lines(&self) -> usize {
        self.rope.len_lines()
    }

    /// Returns the line, from 0, that holds a byte.
    pub fn line_of(&self, at: usize) -> usize {
        self.rope.byte_to_line(at.min(self.len()))
    }

    /// Returns the first byte of a line; the end of the text for lines past the last.
    pub fn line_start(&self, line: usize) -> usize {
        self.rope.line_to_byte(line.min(self.rope.len_lines()))
    }

    /// Returns the end of a line, before its line feed.
    pub fn line_end(&self, line: usize) -> usize {
        let next = self.line_start(line.saturating_add(1));
        if line.saturating_add(1) < self.lines() { next - 1 } else { next }
    }

    /// Returns where a byte of the text is in the file.
    pub fn to_file_offset(&self, at: usize) -> usize {
        let at = boundary::floor_char(&self.rope, at);
        self.bytes_before_line(self.line_of(at)) + at
    }

    /// Returns where a byte of the file is in the text; inside a line end it is the end of the line.
    pub fn from_file_offset(&self, at: usize) -> usize {
        let start = |line: usize| self.line_start(line) + self.bytes_before_line(line);
        let (mut line, mut end) = (0, self.lines());
        while end - line > 1 {
            let middle = line.midpoint(end);
            if start(middle) <= at { line = middle } else { end = middle }
        }
        let in_line = at.saturating_sub(start(line));
        let found = self.line_start(line).saturating_add(in_line).min(self.line_end(line));
        boundary::floor_char(&self.rope, found)
    }

    /// Bytes of byte order mark and line ends that the file has before a line and the text has not.
    fn bytes_before_line(&self, line: usize) -> usize {
        let extra = |end: LineEnd| end.as_str().len() - 1;
        let odd: Vec<_> = self.ends.odd_before(line).collect();
        let usual = (line - odd.len()) * extra(self.ends.usual());
        // A line end may be written longer than it is, see `end_of_line`.
        let odd: usize = odd
            .iter()
            .map(|(number, _)| {
                let next = number + 1;
                let lengthened = next < line
                    && self.ends.of(next) == self.ends.usual()
                    && self.end_of_line(next) != self.ends.of(next);
                extra(self.end_of_line(*number)) + usize::from(lengthened)
            })
            .sum();
        usize::from(self.has_bom) * BOM.len() + usual + odd
    }

    /// How a line ends in the file that is written. An empty line's line feed after a lone carriage return would make
    /// one line end of two: it gets a carriage return of its own.
    fn end_of_line(&self, line: usize) -> LineEnd {
        let end = self.ends.of(line);
        let fuses = end == LineEnd::Lf
            && line > 0
            && self.ends.of(line - 1) == LineEnd::Cr
            && self.line_start(line) == self.line_end(line);
        if fuses { LineEnd::CrLf } else { end }
    }

    /// Types `text` at the cursor, in the place of the selection. A typed word is one step of history, a typed line end too.
    pub fn insert(&mut self, text: &str) {
        self.put(text, Act::Typing);
    }

    /// Puts `text` at the cursor, in the place of the selection, as one step of history.
    pub fn paste(&mut self, text: &str) {
        self.put(text, Act::Whole);
    }

    fn put(&mut self, text: &str, act: Act) {
        let text = line_ends::to_line_feeds(text);
        let range = self.selection().unwrap_or(self.caret.cursor..self.caret.cursor);
        if range.is_empty() && text.is_empty() {
            return;
        }
        let end = range.start + text.len();
        self.edit(vec![(range, &text)], act, Some(end));
    }

    /// Replaces a part of the text as one step of history. The cursor stays with the words around it.
    pub fn replace(&mut self, range: Range<usize>, text: &str) {
        self.replace_all(vec![(range, text.to_owned())]);
    }

    /// Replaces several parts of the text as one step of history. Parts that overlap an earlier one are left out.
    pub fn replace_all(&mut self, mut parts: Vec<(Range<usize>, String)>) {
        parts.sort_by_key(|(range, _)| range.start);
        let mut end = 0;
        let mut ranges = vec![];
        for (range, text) in &parts {
            let range = boundary::floor_range(&self.rope, range);
            if range.start >= end && !(range.is_empty() && text.is_empty()) {
                end = range.end;
                ranges.push((range, line_ends::to_line_feeds(text)));
            }
        }
        // From the last to the first, so that each one's place is still true when its turn comes.
        let changes = ranges.iter().rev().map(|(range, text)| (range.clone(), text.as_ref())).collect();
        self.edit(changes, Act::Whole, None);
    }

    /// Deletes a part of the text; the cursor ends in its place.
    pub(super) fn delete(&mut self, range: Range<usize>, act: Act) {
        let range = boundary::floor_range(&self.rope, &range);
        if !range.is_empty() {
            let start = range.start;
            self.edit(vec![(range, "")], act, Some(start));
        }
    }

    /// Takes the last step back, and the cursor and selection to where they were. Returns whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(step) = self.history.pop_done() else { return false };
        for change in step.changes.iter().rev() {
            self.splice(change.at, change.inserted.text.len(), &change.removed);
        }
        self.caret = step.before;
        self.history.undone(step);
        true
    }

    /// Does the last undone step again. Returns whether there was one.
    pub fn redo(&mut self) -> bool {
        let Some(step) = self.history.pop_undone() else { return false };
        for change in &step.changes {
            self.splice(change.at, change.removed.text.len(), &change.inserted);
        }
        self.caret = step.after;
        self.history.redone(step);
        true
    }

    /// Does and records one step. Without a `cursor` the old one moves with the text around it.
    fn edit(&mut self, parts: Vec<(Range<usize>, &str)>, act: Act, cursor: Option<usize>) {
        if parts.is_empty() {
            return;
        }
        let before = self.caret;
        let mut kept = before.cursor;
        let mut changes = Vec::with_capacity(parts.len());
        for (range, text) in parts {
            if kept >= range.end {
                kept = kept - range.len() + text.len();
            } else if kept > range.start {
                kept = range.start + text.len();
            }
            let inserted = Piece::from(text);
            let removed = self.splice(range.start, range.len(), &inserted);
            changes.push(Change { at: range.start, removed, inserted });
        }
        // What was inserted may have joined the grapheme after it.
        let cursor = boundary::ceil_grapheme(&self.rope, cursor.unwrap_or(kept));
        self.caret = Caret { cursor, anchor: None, marking: false };
        self.history.record(changes, act, before, self.caret);
    }

    /// The only place where the text changes: puts `piece` in the place of `len` bytes and returns what was there.
    fn splice(&mut self, at: usize, len: usize, piece: &Piece) -> Piece {
        let range = at..at + len;
        let removed = String::from(self.rope.byte_slice(range.clone()));
        let words = WordCount::before(&self.rope, &range);
        let line = self.rope.byte_to_line(at);
        let change = LineChange {
            line,
            removed: self.rope.byte_to_line(range.end) - line,
            inserted: piece.text.bytes().filter(|b| *b == b'\n').count(),
            bytes: Damage::new(at - self.rope.line_to_byte(line), len, piece.text.len()),
        };
        let first = self.rope.byte_to_char(at);
        self.rope.remove(first..self.rope.byte_to_char(range.end));
        self.rope.insert(first, &piece.text);
        self.words.after(&self.rope, &words, &range, piece.text.len());
        let odd_ends = self.ends.splice(line, change.removed, change.inserted, &piece.odd_ends);
        self.tell(change, at, &removed, &piece.text);
        Piece { text: removed, odd_ends }
    }

    fn tell(&mut self, change: LineChange, at: usize, removed: &str, inserted: &str) {
        self.revision += 1;
        if self.line_changes.len() == REMEMBERED_CHANGES {
            self.line_changes.pop_front();
        }
        self.line_changes.push_back(change);
        match self.edits.last_mut() {
            Some(last) if removed.is_empty() && at == last.at + last.inserted.len() => {
                last.inserted.push_str(inserted);
            }
            _ => self.edits.push(Edit { at, removed: removed.to_owned(), inserted: inserted.to_owned() }),
        }
    }

    /// A number that no other buffer of this run has.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Returns the changes since a revision, or `None` when they are no longer remembered.
    pub(super) fn line_changes_since(&self, revision: u64) -> Option<vec_deque::Iter<'_, LineChange>> {
        let missed = usize::try_from(self.revision.checked_sub(revision)?).ok()?;
        let first = self.line_changes.len().checked_sub(missed)?;
        Some(self.line_changes.range(first..))
    }
}
