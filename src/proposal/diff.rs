//! Differences between two texts, by line into hunks and by word inside them.

use std::ops::Range;

/// A run of lines that differ, with the lines of both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Line indexes (from 0) in the old text.
    pub old_lines: Range<usize>,
    /// Line indexes (from 0) in the new text.
    pub new_lines: Range<usize>,
    /// Pieces of both sides in reading order, by word.
    pub pieces: Vec<Piece>,
}

/// A piece of text and the side that it is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Which side.
    pub side: Side,
    /// The words, white space and line feeds included.
    pub text: String,
}

/// Which side of a difference a piece is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// On both.
    Both,
    /// Only in the old text: struck.
    Old,
    /// Only in the new text: underlined.
    New,
}

/// Returns the hunks between `old` and `new`; adjacent changed lines are one hunk. Equal texts have none.
pub fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    todo!()
}

/// Returns `old` with only those hunks applied whose flag is set (a missing flag counts as set).
pub fn apply_hunks(old: &str, new: &str, chosen: &[bool]) -> String {
    todo!()
}

/// Returns a unified diff with three lines of context, as `git diff` prints it.
pub fn unified(path: &str, old: &str, new: &str) -> String {
    todo!()
}
