//! Fitting text into columns: one width for wrapping, cutting, padding and drawing.
//!
//! Everything that leaves here is safe for a terminal, and no row is ever wider than asked, at any width.

use std::ops::Range;

use ratatui::buffer::CellWidth;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_linebreak::linebreaks;
use unicode_segmentation::UnicodeSegmentation;

use crate::domain::safe_text;

/// Stands for what was cut off, and for a character that is wider than the whole row.
const CUT: &str = "…";
const CUT_COLUMNS: usize = 1;

/// Returns the columns that `text` takes on screen, grapheme by grapheme, as they are drawn.
pub fn width(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// Returns the columns of one grapheme. Control characters are not drawn and take none.
pub fn grapheme_width(grapheme: &str) -> usize {
    if grapheme.contains(char::is_control) { 0 } else { usize::from(grapheme.cell_width()) }
}

/// Whether every byte is one visible column.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b' '..=b'~'))
}

/// Returns one safe line of at most `columns`; what does not fit ends in an ellipsis.
pub fn fit(text: &str, columns: usize) -> String {
    let safe = safe_text::line(text);
    if width(&safe) <= columns {
        return safe.into_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let kept = prefix(&safe, columns - 1);
    format!("{}{CUT}", safe[..kept].trim_end())
}

/// Like [`fit`], but keeps the end, which says more of a path.
pub fn fit_end(text: &str, columns: usize) -> String {
    let safe = safe_text::line(text);
    if width(&safe) <= columns {
        return safe.into_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let (mut kept, mut left) = (safe.len(), columns - 1);
    for (at, grapheme) in safe.grapheme_indices(true).rev() {
        let Some(rest) = left.checked_sub(grapheme_width(grapheme)) else { break };
        (kept, left) = (at, rest);
    }
    format!("{CUT}{}", &safe[kept..])
}

/// Returns one safe line of exactly `columns`: cut with an ellipsis, or filled with spaces.
pub fn pad(text: &str, columns: usize) -> String {
    let mut line = fit(text, columns);
    line.extend(std::iter::repeat_n(' ', columns.saturating_sub(width(&line))));
    line
}

/// Wraps safe text into rows of at most `columns`, between words where it can. No column: no rows.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    if columns == 0 {
        return vec![];
    }
    let safe = safe_text::block(text);
    rows(&safe, columns, columns).into_iter().map(|row| narrowed(&safe[row], columns)).collect()
}

/// Returns how many bytes of `text` fit into `columns`.
fn prefix(text: &str, columns: usize) -> usize {
    let mut left = columns;
    for (at, grapheme) in text.grapheme_indices(true) {
        let Some(rest) = left.checked_sub(grapheme_width(grapheme)) else { return at };
        left = rest;
    }
    text.len()
}

/// Replaces what is wider than a whole row.
fn narrowed(row: &str, columns: usize) -> String {
    if width(row) <= columns { row.into() } else { CUT.into() }
}

/// Returns the byte ranges of the rows of `text`: at most `first` columns in the first row, `rest` in the others, broken
/// at line feeds and where [UAX #14](https://www.unicode.org/reports/tr14/) allows. White space at a break belongs to no row.
///
/// A row wider than that is a single grapheme that fits nowhere. Widths of 0 count as 1.
pub fn rows(text: &str, first: usize, rest: usize) -> Vec<Range<usize>> {
    let mut rows =
        Rows { text, limit: first.max(1), rest: rest.max(1), done: vec![], start: 0, end: 0, used: 0 };
    let mut line_start = 0;
    for line in text.split('\n') {
        let line_end = line_start + line.len();
        (rows.start, rows.end, rows.used) = (line_start, line_start, 0);
        rows.line(line);
        rows.close(line_end);
        line_start = line_end + 1;
    }
    rows.done
}

/// Rows that are being filled. `start..end` is the open row, without the white space after it; `used` counts its columns with it.
struct Rows<'a> {
    text: &'a str,
    limit: usize,
    rest: usize,
    done: Vec<Range<usize>>,
    start: usize,
    end: usize,
    used: usize,
}

impl Rows<'_> {
    fn line(&mut self, line: &str) {
        let base = self.start;
        if line.is_empty() {
            return;
        }
        if is_plain(line) && line.len() <= self.limit {
            self.end = base + line.trim_end().len();
            return;
        }
        let mut from = 0;
        for (to, _) in linebreaks(line) {
            self.word(base + from, &line[from..to]);
            from = to;
        }
        if from < line.len() {
            self.word(base + from, &line[from..]);
        }
    }

    /// Adds a word with the white space behind it.
    fn word(&mut self, at: usize, word: &str) {
        let visible = word.trim_end_matches(' ');
        let columns = width(visible);
        if self.used + columns > self.limit && self.end > self.start {
            self.close(at);
        }
        if self.used + columns > self.limit {
            self.split(at, visible);
        } else {
            self.used += columns;
        }
        if !visible.is_empty() {
            self.end = at + visible.len();
        }
        self.used += word.len() - visible.len();
    }

    /// Spreads a word that is longer than a row over several.
    fn split(&mut self, at: usize, word: &str) {
        for (offset, grapheme) in word.grapheme_indices(true) {
            let columns = grapheme_width(grapheme);
            if self.used + columns > self.limit && self.used > 0 {
                self.end = at + offset;
                self.close(at + offset);
            }
            self.used += columns;
        }
    }

    /// Ends the open row; the next starts at `next`.
    fn close(&mut self, next: usize) {
        debug_assert!(self.text.is_char_boundary(self.start) && self.text.is_char_boundary(self.end));
        self.done.push(self.start..self.end.max(self.start));
        (self.start, self.end, self.used, self.limit) = (next, next, 0, self.rest);
    }
}

/// Wraps runs of safe text as one text. Each row lists its pieces in order: which run, and which bytes of it.
pub fn wrap_runs(runs: &[&str], columns: usize) -> Vec<Vec<(usize, Range<usize>)>> {
    let all = runs.concat();
    let mut starts = Vec::with_capacity(runs.len());
    let mut end = 0;
    for run in runs {
        starts.push(end);
        end += run.len();
    }
    let pieces = |row: Range<usize>| {
        let first = starts.partition_point(|start| *start <= row.start).saturating_sub(1);
        let inside = runs.iter().zip(&starts).enumerate().skip(first).take_while(|(_, (_, s))| **s < row.end);
        let piece = |(i, (run, start)): (usize, (&&str, &usize))| {
            (i, row.start.max(*start) - start..(row.end - start).min(run.len()))
        };
        inside.map(piece).filter(|(_, range)| !range.is_empty()).collect()
    };
    rows(&all, columns, columns).into_iter().map(pieces).collect()
}

/// Returns one row of at most `columns` from styled pieces in order; what does not fit ends in an ellipsis.
pub fn line_of<'a>(pieces: impl IntoIterator<Item = (&'a str, Style)>, columns: usize) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = vec![];
    let pieces: Vec<_> = pieces.into_iter().map(|(text, style)| (safe_text::line(text), style)).collect();
    let total: usize = pieces.iter().map(|(text, _)| width(text)).sum();
    let mut left = if total > columns { columns.saturating_sub(CUT_COLUMNS) } else { columns };
    for (text, style) in pieces {
        let wide = width(&text);
        if wide > left {
            let kept = prefix(&text, left);
            add(&mut spans, &text[..kept], style);
            if let Some(last) = spans.last_mut() {
                let words = last.content.trim_end().len();
                last.content.to_mut().truncate(words);
            }
            add(&mut spans, if columns > 0 { CUT } else { "" }, style);
            break;
        }
        left -= wide;
        add(&mut spans, &text, style);
    }
    Line::from(spans)
}

fn add(spans: &mut Vec<Span<'static>>, text: &str, style: Style) {
    match spans.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.style == style => last.content.to_mut().push_str(text),
        _ => spans.push(Span::styled(text.to_owned(), style)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_does_not_fit_ends_in_an_ellipsis() {
        assert_eq!(fit("The Listening Post", 18), "The Listening Post");
        assert_eq!(fit("The Listening Post", 14), "The Listening…");
        assert_eq!(fit("The Listening Post", 5), "The…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("日本語", 1), "…");
        assert_eq!(fit("any", 0), "");
        assert_eq!(fit("a\x1b[2Jb", 10), "a␛[2Jb");
        assert_eq!(fit_end("codex/characters/ilse.md", 10), "…s/ilse.md");
        assert_eq!(fit_end("short", 10), "short");
        assert_eq!(pad("日本", 6), "日本  ");
        assert_eq!(pad("longer", 3), "lo…");
    }

    #[test]
    fn text_wraps_between_words() {
        assert_eq!(wrap("the quick brown fox", 9), ["the quick", "brown fox"]);
        assert_eq!(wrap("one\n\ntwo", 9), ["one", "", "two"]);
        assert_eq!(wrap("incomprehensible", 6), ["incomp", "rehens", "ible"]);
        assert_eq!(wrap("a incomprehensible b", 6), ["a", "incomp", "rehens", "ible b"]);
        assert_eq!(wrap("  indented text", 10), ["  indented", "text"]);
        assert_eq!(wrap("  incomprehensible", 6), ["  inco", "mprehe", "nsible"]);
        assert_eq!(wrap("日本語のテキスト", 5), ["日本", "語の", "テキ", "スト"]);
        assert_eq!(wrap("", 5), [""]);
        assert!(wrap("nothing", 0).is_empty());
        assert_eq!(wrap("日", 1), ["…"]);
    }

    #[test]
    fn a_family_is_never_torn_apart() {
        for columns in 1..12 {
            let text = "👨‍👩‍👧‍👦👨‍👩‍👧‍👦 e\u{301}e\u{301}e\u{301} 🇩🇪🇩🇪";
            for row in wrap(text, columns) {
                assert!(!row.starts_with(['\u{200d}', '\u{301}']), "{columns}: {row:?}");
            }
        }
    }

    #[test]
    fn the_first_row_may_have_less_room() {
        let text = "alpha beta gamma";
        let found: Vec<_> = rows(text, 5, 10).into_iter().map(|r| &text[r]).collect();
        assert_eq!(found, ["alpha", "beta gamma"]);
    }

    #[test]
    fn runs_wrap_as_one_text() {
        let runs = ["the ", "qui", "ck brown", " fox"];
        let wrapped = wrap_runs(&runs, 9);
        let shown: Vec<String> =
            wrapped.iter().map(|row| row.iter().map(|(i, r)| &runs[*i][r.clone()]).collect()).collect();
        assert_eq!(shown, ["the quick", "brown fox"]);
        assert_eq!(wrapped[0], [(0, 0..4), (1, 0..3), (2, 0..2)]);
    }

    #[test]
    fn pieces_of_one_style_become_one_span() {
        let bold = Style::new().bold();
        let line = line_of([("a", bold), ("b", bold), ("cde", Style::new())], 4);
        assert_eq!(line.spans.len(), 2);
        assert_eq!(line.to_string(), "abc…");
        let letters = line_of([("a", bold), ("b", Style::new()), ("c", bold)], 2);
        assert_eq!(letters.to_string(), "a…");
        assert_eq!(line_of([("a", bold), ("b", bold)], 2).to_string(), "ab");
        assert_eq!(line_of([("a", bold)], 0).width(), 0);
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_asked_and_no_word_is_lost(
            text in "([a-z]{1,9}|日本語|👩‍🚀|e\u{301}|\x1b\\[|\u{fe0f}|\u{200b}|[ \n\t-]|\\PC){0,40}",
            columns in 1usize..30,
        ) {
            let wrapped = wrap(&text, columns);
            for row in &wrapped {
                prop_assert!(width(row) <= columns, "{:?} is {} wide", row, width(row));
                prop_assert!(!row.contains(char::is_control));
            }
            // Where every grapheme fits, the rows hold the whole text but for white space at breaks.
            if columns > 2 && !wrapped.iter().any(|r| r == CUT) {
                let squeezed = |t: &str| t.chars().filter(|c| !matches!(c, ' ' | '\n')).collect::<String>();
                prop_assert_eq!(squeezed(&wrapped.concat()), squeezed(&safe_text::block(&text)));
            }
        }

        #[test]
        fn fitting_never_exceeds(text in "(\\PC|[\\x00-\\x1f]){0,30}", columns in 0usize..12) {
            prop_assert!(width(&fit(&text, columns)) <= columns);
            prop_assert!(width(&fit_end(&text, columns)) <= columns);
            prop_assert_eq!(width(&pad(&text, columns)), columns);
        }
    }
}
