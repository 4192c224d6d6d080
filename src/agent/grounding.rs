//! Locate markers and quotations: hidden from view, checked against the book.

use std::ops::Range;

use crate::domain::book::Book;
use crate::domain::conversation::Quote;
use crate::domain::ids::BookPath;

/// A quotation with its place in the shown answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedQuote {
    /// The quotation and its verdict.
    pub quote: Quote,
    /// Bytes of the shown text that hold the quoted words (with their quotation marks).
    pub shown: Range<usize>,
    /// Every place of it in the book, nearest first: path, start, end.
    pub places: Vec<(BookPath, usize, usize)>,
}

/// An answer ready to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grounded {
    /// The text without its markers.
    pub shown: String,
    /// Its quotations in reading order.
    pub quotes: Vec<PlacedQuote>,
}

/// Removes markers, a half-arrived one at the end included. For text that still streams in.
pub fn hide_markers(answer: &str) -> String {
    todo!()
}

/// Removes markers and checks every quotation against the book; `read` are files that tools returned in this turn, `current` is the open document.
pub fn ground(answer: &str, book: &Book, current: Option<&BookPath>, read: &[BookPath]) -> Grounded {
    todo!()
}
