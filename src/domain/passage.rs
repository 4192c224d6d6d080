//! Places in a text: words, paragraphs, lines, hashes, and quotations found in spite of typography.

use std::ops::Range;

/// Counts words of prose: what stands between white space and holds a letter or a digit.
pub fn count_words(text: &str) -> usize {
    todo!()
}

/// Returns the SHA-256 of `bytes` as lowercase hex.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    todo!()
}

/// Returns the byte ranges of the paragraphs of `text`: what stands between blank lines, without surrounding white space.
pub fn paragraphs(text: &str) -> Vec<Range<usize>> {
    todo!()
}

/// Returns line and column (in characters) of a byte offset, both from 1.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    todo!()
}

/// Cuts `text` to at most `max_chars` characters on a paragraph boundary (or, in a paragraph that is itself longer, a word).
/// Returns the kept part; it is `text` itself when everything fits.
pub fn cut(text: &str, max_chars: usize) -> &str {
    todo!()
}

/// Makes a file stem readable: `03-the-long_night` becomes `The Long Night`.
pub fn readable_stem(stem: &str) -> String {
    todo!()
}

/// Folds text for comparing names: case, accents, typographic quotes, possessive `'s`, and runs of white space, hyphens and underscores.
pub fn fold(text: &str) -> String {
    todo!()
}

/// A place where a quotation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its bytes in the searched text.
    pub range: Range<usize>,
    /// Whether the bytes are the very bytes of the quotation.
    pub exact: bool,
}

/// Finds every place of `quote` in `text`.
///
/// Tolerates what models change: straight or curly quotes and apostrophes, dashes, ellipses, runs of white space, line
/// breaks and invisible characters, Markdown emphasis, the letter case of the first letter, a comma or full stop at the end of the
/// quotation. Never tolerates changed words; matches start and end at word boundaries.
pub fn find_quote(text: &str, quote: &str) -> Vec<Found> {
    todo!()
}
