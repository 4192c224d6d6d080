//! Soft wrap of one line of text into rows.
//!
//! Rows break where the Unicode line breaking algorithm allows it (<https://www.unicode.org/reports/tr14/>). White space
//! at the end of a row hangs past the margin and never starts the next row. A word that is longer than a row breaks
//! between graphemes; a wide one never straddles the margin. Rows cover the line without gap or overlap.

use unicode_linebreak::linebreaks;

use super::cells::{advance, clusters, columns};

/// Returns the byte offset in `line` where each row starts; the first is always 0.
pub(super) fn wrap(line: &str, measure: usize) -> Vec<usize> {
    let mut rows = vec![0];
    let mut opportunities = linebreaks(line).map(|(at, _)| at).peekable();
    let mut opportunity = None;
    let mut column = 0;
    for (at, grapheme) in clusters(line) {
        while let Some(found) = opportunities.next_if(|found| *found <= at) {
            // Where the two algorithms disagree, a grapheme stays whole.
            if found == at && column > 0 {
                opportunity = Some(at);
            }
        }
        let cells = advance(grapheme, column);
        if cells > 0 && !hangs(grapheme) {
            while column > 0 && column + cells > measure {
                let start = opportunity.take().unwrap_or(at);
                rows.push(start);
                column = columns(&line[start..at]);
            }
        }
        column += cells;
    }
    rows
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
        let starts = wrap(line, measure);
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
