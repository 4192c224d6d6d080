//! Soft wrap of one line of text into rows.
//!
//! Rows break where the Unicode line breaking algorithm allows it (<https://www.unicode.org/reports/tr14/>). White space
//! at the end of a row hangs past the margin and never starts the next row. A word that is longer than a row breaks
//! between graphemes; a wide one never straddles the margin. Rows cover the line without gap or overlap.

use unicode_linebreak::{linebreaks, split_at_safe};

use super::cells::{advance, clusters, columns};

/// Rows before a change that are wrapped again: a row ends where the one after it begins to be too long, and what belongs
/// to one grapheme may reach over the change.
const UNSURE_ROWS: usize = 3;

/// The rows of one line.
#[derive(Debug)]
pub(super) struct Wrapped {
    starts: Vec<usize>,
    damage: Option<Damage>,
}

/// A stretch of bytes that another one took the place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damage {
    start: usize,
    /// Its end before the change.
    old_end: usize,
    /// Its end after the change.
    new_end: usize,
}

impl Damage {
    /// A change at a byte of a line, from one length to another.
    pub(super) fn new(at: usize, removed: usize, inserted: usize) -> Self {
        Self { start: at, old_end: at + removed, new_end: at + inserted }
    }

    /// Both this change and a later one.
    fn and(self, later: Self) -> Self {
        let end = self.new_end.max(later.old_end);
        Self {
            start: self.start.min(later.start),
            old_end: self.old_end + (end - self.new_end),
            new_end: end - later.old_end + later.new_end,
        }
    }
}

impl Wrapped {
    /// Wraps a line into rows of `measure` cells.
    pub(super) fn new(line: &str, measure: usize) -> Self {
        let mut starts = vec![0];
        each_row_start(line, 0, measure, |start| {
            starts.push(start);
            true
        });
        Self { starts, damage: None }
    }

    /// Remembers that a part of the line changed.
    pub(super) fn damage(&mut self, change: Damage) {
        self.damage = Some(self.damage.map_or(change, |earlier| earlier.and(change)));
    }

    /// Returns the byte in the line where each row starts; the first is always 0. After a change it asks for the line and
    /// wraps from shortly before the change to where the rows are again what they were.
    pub(super) fn rows(&mut self, line: impl FnOnce() -> String, measure: usize) -> &[usize] {
        if let Some(damage) = self.damage.take() {
            self.starts = rewrap(&line(), &self.starts, damage, measure);
        }
        &self.starts
    }
}

fn rewrap(line: &str, old: &[usize], damage: Damage, measure: usize) -> Vec<usize> {
    let touched = old.partition_point(|start| *start <= damage.start);
    let mut rows = old[..touched.saturating_sub(UNSURE_ROWS).max(1)].to_vec();
    let from = rows[rows.len() - 1];
    each_row_start(line, from, measure, |start| {
        if start > damage.new_end && independent_before(line, start) >= damage.new_end {
            let before = start - damage.new_end + damage.old_end;
            if let Ok(row) = old.binary_search(&before) {
                rows.extend(old[row..].iter().map(|start| start - damage.old_end + damage.new_end));
                return false;
            }
        }
        rows.push(start);
        true
    });
    rows
}

/// Tells where the rows after the one at `from` start, until it is told to stop.
fn each_row_start(line: &str, from: usize, measure: usize, mut found: impl FnMut(usize) -> bool) {
    let safe = independent_before(line, from);
    let mut opportunities = linebreaks(&line[safe..]).map(|(at, _)| safe + at).peekable();
    let mut opportunity = None;
    let mut column = 0;
    for (at, grapheme) in clusters(&line[from..]) {
        let at = from + at;
        while let Some(allowed) = opportunities.next_if(|allowed| *allowed <= at) {
            // Where the two algorithms disagree, a grapheme stays whole.
            if allowed == at && column > 0 {
                opportunity = Some(at);
            }
        }
        let cells = advance(grapheme, column);
        if cells > 0 && !hangs(grapheme) {
            while column > 0 && column + cells > measure {
                let start = opportunity.take().unwrap_or(at);
                if !found(start) {
                    return;
                }
                column = columns(&line[start..at]);
            }
        }
        column += cells;
    }
}

/// Returns a byte at or before `at` from which on line breaking finds the same opportunities as from the start.
fn independent_before(line: &str, at: usize) -> usize {
    split_at_safe(&line[..at]).0.len()
}

/// Whether a grapheme is white space at which a row may break.
pub(super) fn hangs(grapheme: &str) -> bool {
    grapheme.chars().all(|c| {
        matches!(
            c,
            ' ' | '\t' | '\u{1680}' | '\u{2000}'..='\u{2006}' | '\u{2008}'..='\u{200a}' | '\u{205f}' | '\u{3000}'
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(line: &str, measure: usize) -> Vec<&str> {
        let starts = Wrapped::new(line, measure).starts;
        let ends = starts[1..].iter().copied().chain([line.len()]);
        starts.iter().zip(ends).map(|(start, end)| &line[*start..end]).collect()
    }

    #[test]
    fn words_move_to_the_next_row_and_spaces_hang() {
        assert_eq!(rows("the long silence", 8), ["the long ", "silence"]);
        assert_eq!(rows("the    long", 4), ["the    ", "long"]);
        assert_eq!(rows("", 8), [""]);
        assert_eq!(rows("exactly", 7), ["exactly"]);
    }

    #[test]
    fn a_word_longer_than_the_row_breaks_between_letters() {
        assert_eq!(rows("a silence", 4), ["a ", "sile", "nce"]);
        assert_eq!(rows("ne\u{301}e\u{301}e\u{301}", 2), ["ne\u{301}", "e\u{301}e\u{301}"]);
    }

    #[test]
    fn wide_letters_never_straddle_the_margin() {
        assert_eq!(rows("日本語", 5), ["日本", "語"]);
        assert_eq!(rows("日本", 1), ["日", "本"]);
        assert_eq!(rows("a👨‍👩‍👧b", 2), ["a", "👨‍👩‍👧", "b"]);
    }

    #[test]
    fn punctuation_stays_with_its_word() {
        assert_eq!(rows("“Well,” she said.", 7), ["“Well,” ", "she ", "said."]);
        assert_eq!(rows("wait—no", 5), ["wait—", "no"]);
        assert_eq!(rows("so well-known", 8), ["so well-", "known"]);
        assert_eq!(rows("no 10\u{a0}km", 5), ["no ", "10\u{a0}km"]);
        assert_eq!(rows("don’t", 5), ["don’t"]);
    }

    #[test]
    fn tabs_are_measured_from_their_row() {
        assert_eq!(rows("ab\tcd", 5), ["ab\t", "cd"]);
        assert_eq!(rows("ab\tcd", 6), ["ab\tcd"]);
    }

    proptest::proptest! {
        #[test]
        fn wrapping_around_changes_gives_what_wrapping_all_gives(
            line in r"([a-z é日“”() —\t\u{3000}\u{200b}\u{300}\u{1f468}\u{200d}\u{1f1e9}\u{2060}-]|[a-z]{1,6} ){0,200}",
            changes in proptest::collection::vec((0.0..1.0_f64, 0_usize..9, r"[a-z “日\u{300}\u{200d}\u{1f1e9}]{0,5}"), 1..4),
            measure in 1_usize..24,
        ) {
            let mut line = line;
            let mut wrapped = Wrapped::new(&line, measure);
            for (at, len, text) in changes {
                let place = |at: usize| (0..=at.min(line.len())).rev().find(|at| line.is_char_boundary(*at)).unwrap();
                let start = place((at * line.len() as f64) as usize);
                let end = place(start + len).max(start);
                line.replace_range(start..end, &text);
                wrapped.damage(Damage::new(start, end - start, text.len()));
                // Sometimes two changes come before the next look.
                if len % 2 == 0 {
                    wrapped.rows(|| line.clone(), measure);
                }
            }
            let whole = Wrapped::new(&line, measure).starts;
            proptest::prop_assert_eq!(wrapped.rows(|| line.clone(), measure), &whole[..]);
        }

        #[test]
        fn rows_fit_the_measure(
            line in r"(\PC|[a-z é日\u{3000}\t\u{200b}\u{300}\u{1f468}\u{200d}\u{1f1e9}\x1b-]){0,120}",
            measure in 1_usize..50,
        ) {
            let rows = rows(&line, measure);
            proptest::prop_assert_eq!(rows.concat(), line.clone());
            for row in &rows {
                proptest::prop_assert!(!row.is_empty() || line.is_empty());
                let visible: Vec<_> = clusters(row).filter(|(_, g)| !hangs(g) && advance(g, 0) > 0).collect();
                let end = visible.last().map_or(0, |(at, g)| at + g.len());
                proptest::prop_assert!(
                    columns(&row[..end]) <= measure || visible.len() == 1,
                    "{:?} is wider than {}", row, measure
                );
            }
        }
    }
}
