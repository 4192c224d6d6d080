//! Quotations in a shown answer: what stands between double quotation marks, straight or curly, or guillemets.
//!
//! Single quotation marks are not looked at: they cannot be told from apostrophes.

use std::ops::Range;

/// A quoted stretch of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quotation {
    /// With its quotation marks.
    pub outer: Range<usize>,
    /// The words alone.
    pub inner: Range<usize>,
}

/// Finds quotations in reading order. None reaches over the end of its paragraph or list item, and none stands within another.
pub fn quotations(text: &str) -> Vec<Quotation> {
    let mut found = vec![];
    for block in blocks(text) {
        in_block(text, block, &mut found);
    }
    found
}

/// Splits a text at blank lines and before lines that begin a list item, a heading or a table row.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let (mut blocks, mut start, mut at) = (vec![], 0, 0);
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() || begins_block(line) {
            blocks.push(start..at);
            start = at;
        }
        at += line.len();
    }
    blocks.push(start..at);
    blocks
}

fn begins_block(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with(['#', '|'])
        || ["- ", "* ", "+ "].iter().any(|bullet| line.starts_with(bullet))
        || number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "))
}

fn in_block(text: &str, block: Range<usize>, found: &mut Vec<Quotation>) {
    let mut open: Option<(usize, char)> = None;
    let mut before = None;
    let mut chars = text[block.clone()].char_indices().map(|(at, c)| (block.start + at, c)).peekable();
    while let Some((at, c)) = chars.next() {
        let after = chars.peek().map(|(_, next)| *next);
        match open {
            Some((start, mark)) if closes(mark, c, before, after) => {
                let words = &text[start + mark.len_utf8()..at];
                let inner = start + mark.len_utf8() + (words.len() - words.trim_start().len());
                if !words.trim().is_empty() {
                    let inner = inner..inner + words.trim().len();
                    found.push(Quotation { outer: start..at + c.len_utf8(), inner });
                }
                open = None;
            }
            // A mark that opens again means that the earlier one never closed.
            Some((_, mark)) if mark == c && opens(c, before, after) => open = Some((at, c)),
            None if opens(c, before, after) => open = Some((at, c)),
            _ => {}
        }
        before = Some(c);
    }
}

fn opens(mark: char, before: Option<char>, after: Option<char>) -> bool {
    let words_follow = after.is_some_and(|c| !c.is_whitespace());
    let stands_free = before.is_none_or(|c| !c.is_alphanumeric());
    match mark {
        '“' | '„' => words_follow,
        // French puts a space inside.
        '«' => after.is_some_and(|c| !c.is_whitespace() || matches!(c, ' ' | '\u{a0}' | '\u{202f}')),
        '"' | '”' | '»' => words_follow && stands_free,
        _ => false,
    }
}

fn closes(opened_by: char, mark: char, before: Option<char>, after: Option<char>) -> bool {
    let words_precede = before.is_some_and(|c| !c.is_whitespace());
    match (opened_by, mark) {
        ('“' | '„' | '”', '”') | ('„', '“') | ('«', '»') | ('»', '«') => true,
        ('"' | '“', '"') => words_precede && after.is_none_or(|c| !c.is_alphanumeric()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str) -> Vec<&str> {
        quotations(text).into_iter().map(|q| &text[q.inner]).collect()
    }

    #[test]
    fn quotation_marks_of_many_kinds_are_found() {
        let table: [(&str, &[&str]); 18] = [
            ("He says \"no way\" twice.", &["no way"]),
            ("\"Seven,\" she said, \"and one.\"", &["Seven,", "and one."]),
            ("“Curly” and ”Swedish” and „German“ and „Polish”.", &["Curly", "Swedish", "German", "Polish"]),
            ("« Bonjour » et «\u{202f}salut\u{202f}», »nein«", &["Bonjour", "salut", "nein"]),
            ("*\"In emphasis\"* (\"in brackets\")", &["In emphasis", "in brackets"]),
            ("“opened curly, closed straight\"", &["opened curly, closed straight"]),
            ("It's 6\" wide and 7\" high.", &[]),
            ("She said “never closed.\n\nAnother “one” here.", &["one"]),
            ("- six \" inches\n- \"a line\"\n1. \"two", &["a line"]),
            ("“the first “and second”", &["and second"]),
            ("don't, 'single marks', rock 'n' roll", &[]),
            ("“He said \"no\" to me”", &["He said \"no"]),
            ("\"\" and \" \" and “”", &[]),
            ("\"a line\nthat goes on\"", &["a line\nthat goes on"]),
            ("\"word\"\"word\"", &["word", "word"]),
            ("\"", &[]),
            ("", &[]),
            ("“日本語の引用”", &["日本語の引用"]),
        ];
        for (text, expected) in table {
            assert_eq!(quoted(text), expected, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn quotations_are_in_order_and_apart(text in "[\"“”„«»a \n.-]{0,60}") {
            let mut end = 0;
            for q in quotations(&text) {
                proptest::prop_assert!(q.outer.start >= end && q.outer.start < q.inner.start && q.inner.end < q.outer.end);
                proptest::prop_assert!(!text[q.inner.clone()].trim().is_empty());
                end = q.outer.end;
            }
        }
    }
}
