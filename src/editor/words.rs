//! The number of words of a text, kept up to date edit by edit.
//!
//! A word stands between white space and holds a letter or a digit. Frontmatter (a closed block of `---` or `+++` lines
//! at the very start) is no prose and not counted. An edit costs the words that it touches; only one that makes or breaks
//! a fence of the frontmatter looks further.

use std::ops::Range;

use ropey::{Rope, RopeSlice};

use super::buffer::Buffer;
use crate::domain::passage::WordCounter;

/// Words of a text and of its frontmatter.
#[derive(Debug)]
pub(super) struct WordCount {
    all: usize,
    front: usize,
    /// First byte after the frontmatter; 0 without one.
    front_end: usize,
}

/// What has to be known of a text before an edit to count after it.
pub(super) struct Before {
    words: usize,
    start: usize,
    end: usize,
    fence: bool,
}

impl WordCount {
    /// Counts a whole text.
    pub(super) fn new(rope: &Rope) -> Self {
        let mut count = Self { all: count_words(rope.slice(..)), front: 0, front_end: 0 };
        count.find_frontmatter(rope);
        count
    }

    /// Words of prose.
    pub(super) fn prose(&self) -> usize {
        self.all - self.front
    }

    /// Looks at what an edit of the bytes `range` is about to change.
    pub(super) fn before(rope: &Rope, range: &Range<usize>) -> Before {
        let around = words_around(rope, range);
        Before {
            words: count_words(rope.byte_slice(around.clone())),
            fence: touches_fence(rope, range),
            start: around.start,
            end: around.end,
        }
    }

    /// Counts after the edit, which put `inserted` bytes in the place of `range`.
    pub(super) fn after(&mut self, rope: &Rope, before: &Before, range: &Range<usize>, inserted: usize) {
        let end = before.end - range.len() + inserted;
        let words = count_words(rope.byte_slice(before.start..end));
        self.all = self.all + words - before.words;
        if before.fence || touches_fence(rope, &(range.start..range.start + inserted)) {
            self.find_frontmatter(rope);
        } else if range.start < self.front_end {
            self.front = self.front + words - before.words;
            self.front_end = self.front_end - range.len() + inserted;
        }
    }

    fn find_frontmatter(&mut self, rope: &Rope) {
        self.front_end = frontmatter_end(rope);
        self.front = count_words(rope.byte_slice(..self.front_end));
    }
}

/// The words of a part of a text that grows and shrinks at one end, as a selection does. What it held before is not counted again.
#[derive(Debug, Default)]
pub struct PartCount {
    /// The text that was counted: its buffer and revision.
    text: Option<(u64, u64)>,
    part: Range<usize>,
    words: usize,
}

impl PartCount {
    /// Returns the words in a part of the buffer's text, which must begin and end between characters.
    pub fn count(&mut self, buffer: &Buffer, part: &Range<usize>) -> usize {
        let rope = buffer.rope();
        let text = Some((buffer.id(), buffer.revision()));
        let words = |part: Range<usize>| count_words(rope.byte_slice(part));
        let (old, new) = (&self.part, part);
        // A word that reaches over the end that moved is counted as a whole.
        self.words = if self.text == text && old.start == new.start {
            let end = old.end.min(new.end);
            let from = words_around(rope, &(end..end)).start.max(new.start);
            self.words + words(from..new.end) - words(from..old.end)
        } else if self.text == text && old.end == new.end {
            let start = old.start.max(new.start);
            let to = words_around(rope, &(start..start)).end.min(new.end);
            self.words + words(new.start..to) - words(old.start..to)
        } else {
            words(new.clone())
        };
        (self.text, self.part) = (text, part.clone());
        self.words
    }
}

/// Counts words across the chunks of a rope.
fn count_words(text: RopeSlice<'_>) -> usize {
    let mut counter = WordCounter::default();
    text.chunks().for_each(|chunk| counter.read(chunk));
    counter.words()
}

/// Grows a range to the white space around it.
fn words_around(rope: &Rope, range: &Range<usize>) -> Range<usize> {
    let (first, end) = (rope.byte_to_char(range.start), rope.byte_to_char(range.end));
    let solid = |c: &char| !c.is_whitespace();
    let before: usize = rope.chars_at(first).reversed().take_while(solid).map(char::len_utf8).sum();
    let after: usize = rope.chars_at(end).take_while(solid).map(char::len_utf8).sum();
    range.start - before..range.end + after
}

/// Returns the first byte after a closed block of frontmatter, or 0.
fn frontmatter_end(rope: &Rope) -> usize {
    let Some(fence) = fence(rope.line(0)) else { return 0 };
    let closing = rope.lines().enumerate().skip(1).find(|(_, line)| self::fence(*line) == Some(fence));
    closing.map_or(0, |(line, _)| rope.line_to_byte(line + 1))
}

fn touches_fence(rope: &Rope, range: &Range<usize>) -> bool {
    let lines = rope.byte_to_line(range.start)..=rope.byte_to_line(range.end);
    let count = lines.end() - lines.start() + 1;
    rope.lines_at(*lines.start()).take(count).any(|line| fence(line).is_some())
}

/// Returns the sign of a fence line: three of them and nothing else but white space.
fn fence(line: RopeSlice<'_>) -> Option<char> {
    let mut chars = line.chars();
    let sign = chars.next().filter(|c| matches!(c, '-' | '+'))?;
    let closed = chars.next() == Some(sign) && chars.next() == Some(sign) && chars.all(char::is_whitespace);
    closed.then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> usize {
        WordCount::new(&Rope::from_str(text)).prose()
    }

    #[test]
    fn a_word_holds_a_letter_or_a_digit() {
        assert_eq!(words("The well-known “Ilse” — 1912 … don’t\u{a0}go."), 6);
        assert_eq!(words(" \n* * *\n"), 0);
        assert_eq!(words(""), 0);
    }

    #[test]
    fn frontmatter_is_not_prose() {
        assert_eq!(words("---\ntitle: The Storm\n---\nIt rained."), 2);
        assert_eq!(words("+++\ntitle = 1\n+++ \nIt rained."), 2);
        assert_eq!(words("---\nnever closed, so all is prose"), 6);
        assert_eq!(words("Text\n---\nmore\n---\n"), 2);
    }

    proptest::proptest! {
        #[test]
        fn a_part_that_grows_and_shrinks_is_counted_as_if_anew(
            text in r"([a-z .*\n]|—|’){0,60}",
            ends in proptest::collection::vec((0_usize..80, 0_usize..80, proptest::bool::ANY), 1..12),
        ) {
            let buffer = Buffer::from_text(&text);
            let mut count = PartCount::default();
            let mut fixed = 0;
            for (a, b, other) in ends {
                let place = |at: usize| text.floor_char_boundary(at);
                if other {
                    fixed = place(b);
                }
                let part = fixed.min(place(a))..fixed.max(place(a));
                let slowly = crate::domain::passage::count_words(&text[part.clone()]);
                proptest::prop_assert_eq!(count.count(&buffer, &part), slowly);
            }
        }

        #[test]
        fn counting_edit_by_edit_gives_what_counting_all_gives(
            start in r"(---\n)?[a-z \n]{0,20}(---\n)?([a-zé’ \n—-]){0,40}",
            edits in proptest::collection::vec((0_usize..70, 0_usize..12, r"(---|\n|\n---\n|[a-z \n-]{0,6})"), 1..20),
        ) {
            let mut rope = Rope::from_str(&start);
            let mut count = WordCount::new(&rope);
            for (at, len, text) in edits {
                let at = at.min(rope.len_chars());
                let end = (at + len).min(rope.len_chars());
                let range = rope.char_to_byte(at)..rope.char_to_byte(end);
                let before = WordCount::before(&rope, &range);
                rope.remove(at..end);
                rope.insert(at, &text);
                count.after(&rope, &before, &range, text.len());
                proptest::prop_assert_eq!(count.prose(), words(&String::from(&rope)));
            }
        }
    }
}
