//! A run of whole paragraphs of a text that fits a limit, and where to go on.
//!
//! A paragraph longer than the limit counts as one for every line (or stretch of words) of it, so that every part of every
//! text can be reached.

use std::ops::Range;

use crate::domain::passage;

/// A run of paragraphs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Portion<'a> {
    /// The words, exactly as in the text.
    pub text: &'a str,
    /// Paragraphs of the whole text.
    pub paragraphs: usize,
    /// Number of the first paragraph returned, from 1.
    pub from: usize,
    /// Number of the first paragraph that did not fit, from 1.
    pub next: Option<usize>,
    /// Words that did not fit, to the end of the text.
    pub words_left: usize,
}

/// Takes as many paragraphs of `text` from number `from` (from 1) on as `room` characters hold. `limit` is the most that one paragraph may be
/// long. `None`: there is no such paragraph.
pub(super) fn portion(text: &str, from: usize, room: usize, limit: usize) -> Option<Portion<'_>> {
    let all = pieces(text, limit.max(1));
    if all.is_empty() && from == 1 {
        return Some(Portion { text: "", paragraphs: 0, from, next: None, words_left: 0 });
    }
    let first = from.checked_sub(1).and_then(|i| all.get(i))?.start;
    let end_of_room = text[first..].char_indices().nth(room).map_or(text.len(), |(at, _)| first + at);
    let fitting = all[from - 1..].iter().take_while(|p| p.end <= end_of_room).count();
    let next = (from - 1 + fitting < all.len()).then_some(from + fitting);
    let end = if fitting == 0 { first } else { all[from + fitting - 2].end };
    let words_left = if next.is_some() { passage::count_words(&text[end..]) } else { 0 };
    Some(Portion { text: &text[first..end], paragraphs: all.len(), from, next, words_left })
}

fn pieces(text: &str, limit: usize) -> Vec<Range<usize>> {
    let mut out = vec![];
    for paragraph in passage::paragraphs(text) {
        if text[paragraph.clone()].chars().count() <= limit {
            out.push(paragraph);
            continue;
        }
        let mut at = paragraph.start;
        for line in text[paragraph].split_inclusive('\n') {
            split_line(text, at..at + line.len(), limit, &mut out);
            at += line.len();
        }
    }
    out
}

fn split_line(text: &str, range: Range<usize>, limit: usize, out: &mut Vec<Range<usize>>) {
    let (mut at, end) = (range.start, range.start + text[range].trim_end().len());
    while at < end {
        let rest = &text[at..end];
        at += rest.len() - rest.trim_start().len();
        let kept = passage::cut(&text[at..end], limit);
        if kept.is_empty() {
            return;
        }
        out.push(at..at + kept.len());
        at += kept.len();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "One two.\n\nThree four.\n\nFive.";

    #[test]
    fn whole_paragraphs_are_returned_with_the_place_to_go_on() {
        let first = portion(TEXT, 1, 21, 100).unwrap();
        assert_eq!(
            (first.text, first.paragraphs, first.next, first.words_left),
            ("One two.\n\nThree four.", 3, Some(3), 1)
        );
        let rest = portion(TEXT, 3, 21, 100).unwrap();
        assert_eq!((rest.text, rest.next, rest.words_left), ("Five.", None, 0));
        assert_eq!(portion(TEXT, 4, 21, 100), None);
        assert_eq!(portion("", 1, 21, 100).unwrap().paragraphs, 0);
    }

    #[test]
    fn without_room_nothing_is_returned_and_nothing_is_lost() {
        let none = portion(TEXT, 2, 3, 100).unwrap();
        assert_eq!((none.text, none.next, none.words_left), ("", Some(2), 3));
    }

    #[test]
    fn a_paragraph_over_the_limit_can_be_read_in_parts() {
        let text = "aaa bbb ccc\nddd eee fff ggg";
        let mut seen = vec![];
        let mut from = 1;
        loop {
            let part = portion(text, from, 8, 8).unwrap();
            seen.push(part.text);
            match part.next {
                Some(next) => from = next,
                None => break,
            }
        }
        assert_eq!(seen, ["aaa bbb", "ccc", "ddd eee", "fff ggg"]);
    }

    proptest! {
        #[test]
        fn going_on_reads_every_word_and_ends(text in "[a-zé日 \n\r]{0,120}", room in 1_usize..30) {
            let (mut words, mut from, mut calls) = (vec![], 1, 0);
            while let Some(part) = portion(&text, from, room, room) {
                prop_assert!(part.text.chars().count() <= room);
                words.push(part.text.to_owned());
                calls += 1;
                prop_assert!(calls <= 130);
                match part.next {
                    Some(next) => { prop_assert!(next > from); from = next; }
                    None => break,
                }
            }
            let squeeze = |s: &str| s.split_whitespace().collect::<String>();
            prop_assert_eq!(squeeze(&words.concat()), squeeze(&text));
        }
    }
}
