//! Where graphemes, words and paragraphs of a rope begin and end.
//!
//! Every function takes any offset and returns one that stands between two graphemes. The cost is that of the word or
//! paragraph looked at, not of the text.

use std::ops::Range;

use ropey::Rope;
use unicode_segmentation::UnicodeSegmentation;

use super::cells::{certain_boundary, clusters};

/// Returns the last place at or before `at` that does not split a character.
pub(super) fn floor_char(rope: &Rope, at: usize) -> usize {
    rope.char_to_byte(rope.byte_to_char(at.min(rope.len_bytes())))
}

/// Clamps a range to the text and to whole characters.
pub(super) fn floor_range(rope: &Rope, range: &Range<usize>) -> Range<usize> {
    let end = floor_char(rope, range.end);
    floor_char(rope, range.start).min(end)..end
}

/// Returns the bytes of the grapheme that holds the byte `at`; empty at the end of the text.
pub(super) fn grapheme_at(rope: &Rope, at: usize) -> Range<usize> {
    if at >= rope.len_bytes() {
        return rope.len_bytes()..rope.len_bytes();
    }
    let inside = rope.byte_to_char(at);
    let (mut first, mut end) = (inside, inside + 1);
    let mut after = rope.char(inside);
    let mut back = rope.chars_at(inside);
    while let Some(before) = back.prev() {
        if certain_boundary(before, after) {
            break;
        }
        first -= 1;
        after = before;
    }
    let mut before = rope.char(inside);
    for after in rope.chars_at(end) {
        if certain_boundary(before, after) {
            break;
        }
        end += 1;
        before = after;
    }
    let start = rope.char_to_byte(first);
    if end == first + 1 {
        return start..start + before.len_utf8();
    }
    let stretch = String::from(rope.slice(first..end));
    let found = clusters(&stretch).map(|(i, g)| start + i..start + i + g.len()).find(|g| g.contains(&at));
    found.unwrap_or(start..start + stretch.len())
}

/// Returns the last grapheme boundary at or before `at`.
pub(super) fn floor_grapheme(rope: &Rope, at: usize) -> usize {
    grapheme_at(rope, at).start
}

/// Returns the first grapheme boundary at or after `at`.
pub(super) fn ceil_grapheme(rope: &Rope, at: usize) -> usize {
    let grapheme = grapheme_at(rope, at);
    if grapheme.start == at { at } else { grapheme.end }
}

/// Returns the grapheme boundary after `at`.
pub(super) fn next_grapheme(rope: &Rope, at: usize) -> usize {
    grapheme_at(rope, at).end
}

/// Returns the grapheme boundary before `at`.
pub(super) fn previous_grapheme(rope: &Rope, at: usize) -> usize {
    let at = at.min(rope.len_bytes());
    if at == 0 { 0 } else { grapheme_at(rope, at - 1).start }
}

/// Returns the end of the word at or after `at`, as GTK and readline do: past spaces and punctuation, then to the end of
/// the word.
pub(super) fn word_right(rope: &Rope, at: usize) -> usize {
    let mut from = token_at(rope, at).start;
    while from < rope.len_bytes() {
        let token = token_at(rope, from);
        let text = String::from(rope.byte_slice(token.clone()));
        let ends = text.unicode_word_indices().map(|(i, word)| token.start + i + word.len());
        if let Some(end) = ends.map(|end| ceil_grapheme(rope, end)).find(|end| *end > at) {
            return end;
        }
        from = if token.end > from { token.end } else { next_grapheme(rope, from) };
    }
    rope.len_bytes()
}

/// Returns the start of the word at or before `at`.
pub(super) fn word_left(rope: &Rope, at: usize) -> usize {
    let mut token = token_at(rope, at);
    loop {
        let text = String::from(rope.byte_slice(token.clone()));
        let starts = text.unicode_word_indices().map(|(i, _)| token.start + i);
        if let Some(start) = starts.map(|start| floor_grapheme(rope, start)).rfind(|start| *start < at) {
            return start;
        }
        if token.start == 0 {
            return 0;
        }
        token = token_at(rope, floor_char(rope, token.start - 1));
    }
}

/// Returns the word, or the run of spaces or punctuation, that holds `at`; at the end of a line the last one of the line.
pub(super) fn word_at(rope: &Rope, at: usize) -> Range<usize> {
    let grapheme = grapheme_at(rope, at);
    let at_line_end = grapheme.is_empty() || rope.char(rope.byte_to_char(grapheme.start)) == '\n';
    let inside = if at_line_end { previous_grapheme(rope, grapheme.start) } else { grapheme.start };
    let line = rope.line_to_byte(rope.byte_to_line(grapheme.start));
    if inside < line || inside == rope.len_bytes() {
        return grapheme.start..grapheme.start;
    }
    let token = token_at(rope, inside);
    if token.contains(&inside) {
        let text = String::from(rope.byte_slice(token.clone()));
        let mut parts =
            text.split_word_bound_indices().map(|(i, part)| token.start + i..token.start + i + part.len());
        let part = parts.find(|part| part.contains(&inside)).unwrap_or(token);
        return floor_grapheme(rope, part.start)..ceil_grapheme(rope, part.end);
    }
    let space = |c: &char| c.is_whitespace() && *c != '\n';
    let here = rope.byte_to_char(inside);
    let before: usize = reversed(rope, here).take_while(space).map(char::len_utf8).sum();
    let after: usize = rope.chars_at(here).take_while(space).map(char::len_utf8).sum();
    inside - before..inside + after
}

/// Returns what stands around `at` without white space; empty between two spaces.
fn token_at(rope: &Rope, at: usize) -> Range<usize> {
    let at = floor_char(rope, at);
    let here = rope.byte_to_char(at);
    let before: usize = reversed(rope, here).take_while(|c| !c.is_whitespace()).map(char::len_utf8).sum();
    let after: usize = rope.chars_at(here).take_while(|c| !c.is_whitespace()).map(char::len_utf8).sum();
    at - before..at + after
}

/// Yields the characters before the one with index `char`, backwards.
fn reversed(rope: &Rope, char: usize) -> impl Iterator<Item = char> {
    rope.chars_at(char).reversed()
}

/// Returns the bytes of the paragraph that holds `at`, without white space around it; empty on a blank line.
/// A paragraph is what stands between blank lines, as in Markdown.
pub(super) fn paragraph_at(rope: &Rope, at: usize) -> Range<usize> {
    let at = at.min(rope.len_bytes());
    let line = rope.byte_to_line(at);
    if is_blank(rope, line) {
        return at..at;
    }
    let first = rope.line_to_byte(block_start(rope, line));
    let mut end_line = line + 1;
    while end_line < rope.len_lines() && !is_blank(rope, end_line) {
        end_line += 1;
    }
    let end = rope.line_to_byte(end_line);
    let leading: usize =
        (rope.chars_at(rope.byte_to_char(first))).take_while(|c| c.is_whitespace()).map(char::len_utf8).sum();
    let trailing: usize =
        reversed(rope, rope.byte_to_char(end)).take_while(|c| c.is_whitespace()).map(char::len_utf8).sum();
    floor_grapheme(rope, first + leading)..ceil_grapheme(rope, end - trailing)
}

/// Returns the start of the paragraph, or of the one before when `at` is already there.
pub(super) fn paragraph_up(rope: &Rope, at: usize) -> usize {
    let mut line = rope.byte_to_line(at.min(rope.len_bytes()));
    if !is_blank(rope, line) {
        line = block_start(rope, line);
        if rope.line_to_byte(line) < at {
            return rope.line_to_byte(line);
        }
    }
    while line > 0 {
        line -= 1;
        if !is_blank(rope, line) {
            return rope.line_to_byte(block_start(rope, line));
        }
    }
    0
}

/// Returns the start of the next paragraph, or the end of the text.
pub(super) fn paragraph_down(rope: &Rope, at: usize) -> usize {
    let from = rope.byte_to_line(at.min(rope.len_bytes()));
    let mut lines = from..rope.len_lines();
    if !is_blank(rope, from) {
        lines.find(|line| is_blank(rope, *line));
    }
    lines.find(|line| !is_blank(rope, *line)).map_or(rope.len_bytes(), |line| rope.line_to_byte(line))
}

fn block_start(rope: &Rope, line: usize) -> usize {
    (0..line).rev().find(|line| is_blank(rope, *line)).map_or(0, |blank| blank + 1)
}

fn is_blank(rope: &Rope, line: usize) -> bool {
    rope.line(line).chars().all(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_one_grapheme_wherever_it_is_touched() {
        let rope = Rope::from_str("a👨‍👩‍👧e\u{301}");
        for at in 1..19 {
            assert_eq!(grapheme_at(&rope, at), 1..19, "{at}");
        }
        assert_eq!(previous_grapheme(&rope, 22), 19);
        assert_eq!(grapheme_at(&rope, 99), 22..22);
    }

    #[test]
    fn a_word_is_found_from_its_inside_and_from_the_end_of_its_line() {
        let rope = Rope::from_str("well, don’t\n  go");
        let word = |at| rope.byte_slice(word_at(&rope, at)).to_string();
        assert_eq!(word(0), "well");
        assert_eq!(word(4), ",");
        assert_eq!(word(5), " ");
        assert_eq!(word(9), "don’t");
        assert_eq!(word(13), "don’t");
        assert_eq!(word(15), "  ");
        assert_eq!(word(99), "go");
        assert_eq!(word_at(&Rope::from_str("\n"), 0), 0..0);
        assert_eq!(word_at(&Rope::from_str(""), 0), 0..0);
    }

    #[test]
    fn a_paragraph_is_what_stands_between_blank_lines() {
        let text = "one\ntwo  \n \n\n three\n";
        let rope = Rope::from_str(text);
        let paragraph = |at| &text[paragraph_at(&rope, at)];
        assert_eq!(paragraph(5), "one\ntwo");
        assert_eq!(paragraph(14), "three");
        assert_eq!(paragraph_at(&rope, 11), 11..11);
    }

    proptest::proptest! {
        #[test]
        fn rope_and_string_agree_about_graphemes(text in r"(\PC|[a-z \né\u{300}\u{200d}\u{1f468}\u{1f1e9}\u{915}\u{94d}\u{600}\u{1100}\u{1161}]){0,60}") {
            let rope = Rope::from_str(&text);
            let whole: Vec<_> = text.grapheme_indices(true).map(|(i, g)| i..i + g.len()).collect();
            for at in 0..text.len() {
                let expected = whole.iter().find(|g| g.contains(&at)).unwrap();
                proptest::prop_assert_eq!(&grapheme_at(&rope, at), expected);
            }
        }

        #[test]
        fn every_motion_goes_its_way_and_ends_on_a_boundary(text in r"(\PC|[a-z \n,’\u{300}\u{200d}\u{1f468}\u{1f1e9}日]){0,60}") {
            let rope = Rope::from_str(&text);
            for at in (0..=text.len()).filter(|at| floor_grapheme(&rope, *at) == *at) {
                for after in [next_grapheme(&rope, at), word_right(&rope, at), paragraph_down(&rope, at)] {
                    proptest::prop_assert!(after > at || at == text.len());
                    proptest::prop_assert_eq!(floor_grapheme(&rope, after), after);
                }
                for before in [previous_grapheme(&rope, at), word_left(&rope, at), paragraph_up(&rope, at)] {
                    proptest::prop_assert!(before < at || at == 0);
                    proptest::prop_assert_eq!(floor_grapheme(&rope, before), before);
                }
                let (word, paragraph) = (word_at(&rope, at), paragraph_at(&rope, at));
                proptest::prop_assert!(word.start <= word.end && word.start <= at);
                proptest::prop_assert!(paragraph.start <= paragraph.end);
            }
        }
    }
}
