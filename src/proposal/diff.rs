//! Differences between two texts, by line into hunks and by word inside them.
//!
//! Lines end at a line feed and nowhere else, and belong to the text with their ends: what is shown and what is applied are the very
//! bytes of both sides. Which lines make a hunk never depends on time, so that a choice made on screen means the same when it
//! is applied; only the words inside a hunk are compared against a clock.

use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::domain::passage::old_mac_lines;
use similar::{Algorithm, ChangeTag, DiffTag, TextDiff};

/// How long the words of all hunks of one call may be compared; later hunks are then coarser, never wrong.
const WORD_TIME: Duration = Duration::from_millis(250);

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
    let (old_lines, new_lines) = (lines(old), lines(new));
    let deadline = Instant::now() + WORD_TIME;
    changed_lines(&old_lines, &new_lines)
        .into_iter()
        .map(|(old_range, new_range)| {
            let pieces = words(
                &old_lines[old_range.clone()].concat(),
                &new_lines[new_range.clone()].concat(),
                deadline,
            );
            Hunk { old_lines: old_range, new_lines: new_range, pieces }
        })
        .collect()
}

/// Returns `old` with only those hunks applied whose flag is set (a missing flag counts as set).
pub fn apply_hunks(old: &str, new: &str, chosen: &[bool]) -> String {
    let (old_lines, new_lines) = (lines(old), lines(new));
    let mut out = String::with_capacity(old.len().max(new.len()));
    let mut at = 0;
    for (i, (old_range, new_range)) in changed_lines(&old_lines, &new_lines).into_iter().enumerate() {
        let kept = if chosen.get(i).copied().unwrap_or(true) {
            &new_lines[new_range]
        } else {
            &old_lines[old_range.clone()]
        };
        out.extend(old_lines[at..old_range.start].iter().chain(kept).copied());
        at = old_range.end;
    }
    out.extend(old_lines[at..].iter().copied());
    out
}

/// Returns a unified diff with three lines of context, as `git diff` prints it. A text that is empty stands for a file that does not exist.
pub fn unified(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let name = |side: &str, text: &str| {
        if text.is_empty() { Cow::Borrowed("/dev/null") } else { Cow::Owned(format!("{side}/{path}")) }
    };
    let shown = |text| old_mac_lines(text).map_or(Cow::Borrowed(text), Cow::Owned);
    let (old_lines, new_lines) = (shown(old), shown(new));
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Patience)
        .newline_terminated(true)
        .diff_slices(&lines(&old_lines), &lines(&new_lines));
    diff.unified_diff().context_radius(3).header(&name("a", old), &name("b", new)).to_string()
}

/// The line end that a text uses first; LF where it has none.
pub(crate) fn line_end_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        None if text.contains('\r') => "\r",
        _ => "\n",
    }
}

/// The lines of a text. Where no line feed ends one, carriage returns do, as in files of the old Mac OS.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive(if text.contains('\n') { '\n' } else { '\r' }).collect()
}

fn changed_lines(old: &[&str], new: &[&str]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut runs: Vec<(Range<usize>, Range<usize>)> = vec![];
    for op in similar::capture_diff_slices(Algorithm::Patience, old, new) {
        if op.tag() == DiffTag::Equal {
            continue;
        }
        let (old_range, new_range) = (op.old_range(), op.new_range());
        match runs.last_mut() {
            Some((o, n)) if o.end == old_range.start && n.end == new_range.start => {
                o.end = old_range.end;
                n.end = new_range.end;
            }
            _ => runs.push((old_range, new_range)),
        }
    }
    runs
}

fn words(old: &str, new: &str, deadline: Instant) -> Vec<Piece> {
    let diff =
        TextDiff::configure().algorithm(Algorithm::Patience).deadline(deadline).diff_unicode_words(old, new);
    let mut pieces = Pieces::default();
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Equal => pieces.both(change.value()),
            ChangeTag::Delete => pieces.old.push_str(change.value()),
            ChangeTag::Insert => pieces.new.push_str(change.value()),
        }
    }
    pieces.finish()
}

/// Collects changes so that a run of changed words reads as one: a lone space between two changed words belongs to the run.
#[derive(Default)]
struct Pieces {
    done: Vec<Piece>,
    old: String,
    new: String,
    gap: String,
    gap_at: (usize, usize),
}

impl Pieces {
    fn both(&mut self, text: &str) {
        let changing = !self.old.is_empty() || !self.new.is_empty();
        let blank = !text.contains('\n') && text.chars().all(char::is_whitespace);
        if changing && blank && self.gap.is_empty() {
            self.gap_at = (self.old.len(), self.new.len());
            text.clone_into(&mut self.gap);
            return;
        }
        self.flush();
        self.push(Side::Both, text);
    }

    fn flush(&mut self) {
        let (old, new) = (std::mem::take(&mut self.old), std::mem::take(&mut self.new));
        let gap = std::mem::take(&mut self.gap);
        if gap.is_empty() {
            self.push(Side::Old, &old);
            self.push(Side::New, &new);
            return;
        }
        let (old_before, old_after) = old.split_at(self.gap_at.0);
        let (new_before, new_after) = new.split_at(self.gap_at.1);
        let replaced_on_both_ends = !old_before.is_empty()
            && !new_before.is_empty()
            && !old_after.is_empty()
            && !new_after.is_empty();
        if replaced_on_both_ends {
            self.push(Side::Old, &format!("{old_before}{gap}{old_after}"));
            self.push(Side::New, &format!("{new_before}{gap}{new_after}"));
        } else {
            self.push(Side::Old, old_before);
            self.push(Side::New, new_before);
            self.push(Side::Both, &gap);
            self.push(Side::Old, old_after);
            self.push(Side::New, new_after);
        }
    }

    fn push(&mut self, side: Side, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.done.last_mut() {
            Some(last) if last.side == side => last.text.push_str(text),
            _ => self.done.push(Piece { side, text: text.to_owned() }),
        }
    }

    fn finish(mut self) -> Vec<Piece> {
        self.flush();
        self.done
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn side(pieces: &[Piece], without: Side) -> String {
        pieces.iter().filter(|p| p.side != without).map(|p| p.text.as_str()).collect()
    }

    #[test]
    fn one_changed_word_is_one_struck_and_one_new_word() {
        let found = hunks("a\nHis eyes are grey.\nb\n", "a\nHis eyes are green.\nb\n");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].old_lines.clone(), found[0].new_lines.clone()), (1..2, 1..2));
        let changed: Vec<_> =
            found[0].pieces.iter().filter(|p| p.side != Side::Both).map(|p| p.text.as_str()).collect();
        assert_eq!(changed, ["grey", "green"]);
    }

    #[test]
    fn neighbouring_changed_words_read_as_one_change() {
        let found = hunks("the old grey coat\n", "the new blue coat\n");
        let changed: Vec<_> = found[0].pieces.iter().map(|p| (p.side, p.text.as_str())).collect();
        assert_eq!(
            changed,
            [(Side::Both, "the "), (Side::Old, "old grey"), (Side::New, "new blue"), (Side::Both, " coat\n")]
        );
    }

    #[test]
    fn a_hunk_that_is_not_chosen_leaves_its_lines() {
        let (old, new) = ("a\nb\nc\nd\ne\n", "A\nb\nc\nD\ne\n");
        assert_eq!(hunks(old, new).len(), 2);
        assert_eq!(apply_hunks(old, new, &[false, true]), "a\nb\nc\nD\ne\n");
        assert_eq!(apply_hunks(old, new, &[true, false]), "A\nb\nc\nd\ne\n");
    }

    #[test]
    fn two_chosen_lines_never_run_into_one() {
        let (old, new) = ("a\nx\ny", "b\nx\ny\n");
        for flags in [[true, false], [false, true]] {
            let merged = apply_hunks(old, new, &flags);
            assert_eq!(merged.lines().count(), 3, "{flags:?}: {merged:?}");
        }
    }

    #[test]
    fn a_unified_diff_reads_as_git_prints_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9";
        assert_eq!(
            unified("codex/a.md", old, new),
            "--- a/codex/a.md\n+++ b/codex/a.md\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
        let old_mac = |text: &str| text.replace('\n', "\r");
        assert_eq!(unified("codex/a.md", &old_mac(old), &old_mac(new)), unified("codex/a.md", old, new));
        assert_eq!(unified("n.md", "", "x\n"), "--- /dev/null\n+++ b/n.md\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(
            unified("n.md", "x", "x\n"),
            "--- a/n.md\n+++ b/n.md\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n"
        );
        assert_eq!(unified("n.md", "x", "x"), "");
    }

    #[test]
    fn two_long_texts_without_a_common_word_are_still_compared() {
        let text = |word: &str| (0..6_000).map(|i| format!("{word}{i}")).collect::<Vec<_>>().join(" ");
        let (old, new) = (text("old"), text("new"));
        let found = hunks(&old, &new);
        assert_eq!(side(&found[0].pieces, Side::New), old);
        assert_eq!(side(&found[0].pieces, Side::Old), new);
    }

    /// Texts with few different lines, so that they share some; with and without a last line end, LF and CRLF.
    fn text() -> impl Strategy<Value = String> {
        let line = prop_oneof!["[ab] [cd]é?", Just(String::new()), "\\PC{0,8}"];
        let end = prop_oneof![Just("\n"), Just("\r\n")];
        (prop::collection::vec(line, 0..12), end, any::<bool>()).prop_map(|(lines, end, last)| {
            let text = lines.join(end);
            if last { text + end } else { text }
        })
    }

    proptest! {
        #[test]
        fn all_hunks_make_the_new_text_and_none_the_old(old in text(), new in text()) {
            let count = hunks(&old, &new).len();
            prop_assert_eq!(apply_hunks(&old, &new, &[]), new.clone());
            prop_assert_eq!(apply_hunks(&old, &new, &vec![true; count]), new.clone());
            prop_assert_eq!(apply_hunks(&old, &new, &vec![false; count]), old.clone());
            prop_assert_eq!(count == 0, old == new);
        }

        #[test]
        fn the_pieces_of_a_hunk_are_the_bytes_of_both_sides(old in text(), new in text()) {
            let (old_lines, new_lines) = (lines(&old), lines(&new));
            for hunk in hunks(&old, &new) {
                prop_assert_eq!(side(&hunk.pieces, Side::New), old_lines[hunk.old_lines].concat());
                prop_assert_eq!(side(&hunk.pieces, Side::Old), new_lines[hunk.new_lines].concat());
            }
        }
    }
}
