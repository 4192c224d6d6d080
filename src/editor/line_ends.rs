//! The line ends of a file, so that saving gives back the bytes that nobody touched.
//!
//! A buffer holds line feeds only. Most files have one kind of line end; where a few lines differ, those lines are
//! remembered one by one, and move with the text. New lines get the usual end of the file.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// How a line ends in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// A line feed: Unix, macOS.
    Lf,
    /// Carriage return and line feed: Windows.
    CrLf,
    /// A carriage return: the old Mac OS.
    Cr,
}

impl LineEnd {
    /// The bytes in the file.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Cr => "\r",
        }
    }
}

/// The line ends that differ from the usual one, as (lines after the first, end).
pub(super) type OddEnds = Vec<(usize, LineEnd)>;

/// The line ends of a whole text.
#[derive(Debug)]
pub(super) struct LineEnds {
    usual: LineEnd,
    odd: BTreeMap<usize, LineEnd>,
}

impl LineEnds {
    /// The end of most lines.
    pub(super) fn usual(&self) -> LineEnd {
        self.usual
    }

    /// The end of the line with this number.
    pub(super) fn of(&self, line: usize) -> LineEnd {
        self.odd.get(&line).copied().unwrap_or(self.usual)
    }

    /// Whether all lines end alike.
    pub(super) fn uniform(&self) -> bool {
        self.odd.is_empty()
    }

    /// The lines before `line` that end in another way than usual.
    pub(super) fn odd_before(&self, line: usize) -> impl Iterator<Item = (usize, LineEnd)> {
        self.odd.range(..line).map(|(line, end)| (*line, *end))
    }

    /// Replaces the ends of `removed` lines from `line` on by `inserted` ones, and returns what was odd among the removed.
    pub(super) fn splice(&mut self, line: usize, removed: usize, inserted: usize, odd: &OddEnds) -> OddEnds {
        let mut gone = vec![];
        if removed + inserted == 0 || (self.odd.is_empty() && odd.is_empty()) {
            return gone;
        }
        for (at, end) in self.odd.split_off(&line) {
            if at < line + removed {
                gone.push((at - line, end));
            } else {
                self.odd.insert(at - removed + inserted, end);
            }
        }
        self.odd.extend(odd.iter().map(|(after, end)| (line + after, *end)));
        gone
    }
}

/// Takes the text of a file apart into text with line feeds only and its line ends.
pub(super) fn parse(file_text: &str) -> (Cow<'_, str>, LineEnds) {
    let mut ends = vec![];
    let text = normalize(file_text, |end| ends.push(end));
    let count = |kind| ends.iter().filter(|end| **end == kind).count();
    // `max_by_key` takes the last of equals: a tie, or no line end at all, goes to the line feed.
    let kinds = [LineEnd::Cr, LineEnd::CrLf, LineEnd::Lf];
    let usual = kinds.into_iter().max_by_key(|kind| count(*kind)).unwrap_or(LineEnd::Lf);
    let odd = ends.iter().copied().enumerate().filter(|(_, end)| *end != usual).collect();
    (text, LineEnds { usual, odd })
}

/// Makes every line end a line feed.
pub(super) fn to_line_feeds(text: &str) -> Cow<'_, str> {
    normalize(text, |_| {})
}

/// Makes every line end a line feed, and tells each one, unless all of them are line feeds already.
fn normalize(text: &str, mut seen: impl FnMut(LineEnd)) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\r', '\n']) {
        out.push_str(&rest[..at]);
        out.push('\n');
        let end = if rest[at..].starts_with('\n') {
            LineEnd::Lf
        } else if rest[at..].starts_with("\r\n") {
            LineEnd::CrLf
        } else {
            LineEnd::Cr
        };
        seen(end);
        rest = &rest[at + end.as_str().len()..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_end_is_the_usual_one() {
        let (text, ends) = parse("a\r\nb\nc\r\nd\re");
        assert_eq!(text, "a\nb\nc\nd\ne");
        assert_eq!(ends.usual(), LineEnd::CrLf);
        assert_eq!(ends.odd_before(9).collect::<Vec<_>>(), [(1, LineEnd::Lf), (3, LineEnd::Cr)]);
        assert_eq!(parse("a\nb").1.usual(), LineEnd::Lf);
        assert_eq!(parse("a\rb\r").1.usual(), LineEnd::Cr);
    }

    #[test]
    fn odd_ends_move_with_their_lines_and_come_back() {
        let mut ends = parse("a\nb\r\nc\nd\r\ne\n").1;
        let gone = ends.splice(1, 2, 1, &vec![]);
        assert_eq!(gone, [(0, LineEnd::CrLf)]);
        assert_eq!(ends.of(1), LineEnd::Lf);
        assert_eq!(ends.of(2), LineEnd::CrLf);
        assert!(ends.splice(1, 1, 2, &gone).is_empty());
        assert_eq!((1..5).map(|line| ends.of(line)).filter(|end| *end == LineEnd::CrLf).count(), 2);
        assert_eq!(ends.of(1), LineEnd::CrLf);
        assert_eq!(ends.of(3), LineEnd::CrLf);
    }
}
