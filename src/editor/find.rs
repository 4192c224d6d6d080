//! Finding words in a text, and replacing them.
//!
//! A search ignores case unless the author typed a capital, takes straight and typographic quotation marks for the same,
//! and a space for any single space. It never finds part of a grapheme and never looks across a line end. It reads the text
//! line by line where it stands, so looking for the next place costs the way to it.

use std::borrow::Cow;
use std::ops::Range;

use regex::{Regex, RegexBuilder};
use ropey::{Rope, RopeSlice};

use super::boundary;
use super::buffer::Buffer;
use super::cells::certain_boundary;

/// Longer needles are no words that an author looks for, and would cost memory.
const LONGEST: usize = 1000;

/// What to look for.
#[derive(Debug, Clone)]
pub struct Needle {
    pattern: Regex,
}

impl Needle {
    /// Prepares a search for `words`; `None` when there is nothing to look for: no text, a line end in it, or far too much.
    pub fn new(words: &str) -> Option<Self> {
        if words.is_empty() || words.contains(['\n', '\r']) || words.chars().count() > LONGEST {
            return None;
        }
        let pattern: String = words.chars().map(class_of).collect();
        let any_case = !words.chars().any(char::is_uppercase);
        RegexBuilder::new(&pattern).case_insensitive(any_case).build().ok().map(|pattern| Self { pattern })
    }

    /// Finds the first place that starts at or after a byte. It does not start again at the top.
    pub fn next(&self, buffer: &Buffer, from: usize) -> Option<Range<usize>> {
        self.places_from(buffer, from).next()
    }

    /// Finds the last place that starts before a byte.
    pub fn previous(&self, buffer: &Buffer, before: usize) -> Option<Range<usize>> {
        let last = buffer.line_of(before);
        let mut lines = buffer.rope().lines_at(last + 1).reversed();
        (0..=last).rev().find_map(|number| {
            let line = text_of(lines.next()?);
            let start = buffer.line_start(number);
            self.places_in(buffer.rope(), &line, start).filter(|place| place.start < before).last()
        })
    }

    /// Finds all places, in order. They do not overlap.
    pub fn all(&self, buffer: &Buffer) -> Vec<Range<usize>> {
        self.places_from(buffer, 0).collect()
    }

    /// Finds the places that touch a range, to be marked on the screen. Looks at no more than the lines of the range.
    pub fn within(&self, buffer: &Buffer, range: &Range<usize>) -> Vec<Range<usize>> {
        let end = buffer.line_end(buffer.line_of(range.end));
        let start = buffer.line_start(buffer.line_of(range.start));
        let lines = self.places(buffer, buffer.line_of(start)..buffer.line_of(end) + 1);
        lines.filter(|place| place.end > range.start && place.start < range.end).collect()
    }

    /// Captures the text as it is now, so that the places in it can be counted elsewhere. Costs the same for a text of any length.
    pub fn counting(&self, buffer: &Buffer) -> Counting {
        Counting { needle: self.clone(), text: buffer.rope().clone() }
    }

    /// Replaces the place at exactly these bytes, if it is one, as one step of history. Returns where the new words end.
    pub fn replace(&self, buffer: &mut Buffer, place: &Range<usize>, with: &str) -> Option<usize> {
        if self.next(buffer, place.start).as_ref() != Some(place) {
            return None;
        }
        buffer.replace(place.clone(), with);
        Some(place.start + with.len())
    }

    /// Replaces all places as one step of history, and returns how many there were.
    pub fn replace_all(&self, buffer: &mut Buffer, with: &str) -> usize {
        let places = self.all(buffer);
        let count = places.len();
        buffer.replace_all(places.into_iter().map(|place| (place, with.to_owned())).collect());
        count
    }

    fn places_from<'a>(&'a self, buffer: &'a Buffer, from: usize) -> impl Iterator<Item = Range<usize>> + 'a {
        let lines = buffer.line_of(from)..buffer.lines();
        self.places(buffer, lines).filter(move |place| place.start >= from)
    }

    fn places<'a>(
        &'a self,
        buffer: &'a Buffer,
        lines: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut start = buffer.line_start(lines.start);
        buffer.rope().lines_at(lines.start).take(lines.len()).flat_map(move |line| {
            let line_start = start;
            start += line.len_bytes();
            // An empty list costs nothing, and most lines have no place.
            self.places_in(buffer.rope(), &text_of(line), line_start).collect::<Vec<_>>()
        })
    }

    fn places_in<'a>(
        &'a self,
        text: &'a Rope,
        line: &'a str,
        start: usize,
    ) -> impl Iterator<Item = Range<usize>> + 'a {
        let whole = move |at: usize| match (line[..at].chars().next_back(), line[at..].chars().next()) {
            (Some(before), Some(after)) if !certain_boundary(before, after) => {
                boundary::floor_grapheme(text, start + at) == start + at
            }
            _ => true,
        };
        let found =
            self.pattern.find_iter(line).filter(move |found| whole(found.start()) && whole(found.end()));
        found.map(move |found| start + found.start()..start + found.end())
    }
}

/// A needle and the text that it is to be counted in, as it was.
#[derive(Debug, Clone)]
pub struct Counting {
    needle: Needle,
    text: Rope,
}

/// Where the places of a needle begin, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// Their first bytes.
    starts: Vec<usize>,
    /// Whether there are more than these.
    pub is_more: bool,
}

impl Counting {
    /// Finds the first `most` places. Reads no further than it has to.
    pub fn count(&self, most: usize) -> Counted {
        let mut starts = vec![];
        let mut start = 0;
        for line in self.text.lines() {
            let words = text_of(line);
            let places = self.needle.places_in(&self.text, &words, start).take(most + 1 - starts.len());
            starts.extend(places.map(|place| place.start));
            start += line.len_bytes();
            if starts.len() > most {
                break;
            }
        }
        let is_more = starts.len() > most;
        starts.truncate(most);
        Counted { starts, is_more }
    }
}

impl Counted {
    /// How many places are known.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the number, from 1, of the place that begins at this byte.
    pub fn number_at(&self, start: usize) -> Option<usize> {
        self.starts.binary_search(&start).ok().map(|at| at + 1)
    }
}

/// The part of the pattern for one character of the needle.
fn class_of(c: char) -> String {
    match c {
        '\'' | '‘' | '’' | '‚' | '‛' | 'ʼ' => "['‘’‚‛ʼ]".to_owned(),
        '"' | '“' | '”' | '„' | '‟' => "[\"“”„‟]".to_owned(),
        ' ' | '\u{a0}' | '\u{202f}' => "[ \u{a0}\u{202f}]".to_owned(),
        _ => regex::escape(c.encode_utf8(&mut [0; 4])),
    }
}

/// Returns a line, copied only where it stands in more than one piece.
fn text_of(line: RopeSlice<'_>) -> Cow<'_, str> {
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(text: &'a str, words: &str) -> Vec<&'a str> {
        let buffer = Buffer::from_text(text);
        Needle::new(words).unwrap().all(&buffer).into_iter().map(|place| &text[place]).collect()
    }

    #[test]
    fn case_matters_only_when_a_capital_is_typed() {
        assert_eq!(found("Ilse saw ilse. ÉCLAIR", "ilse"), ["Ilse", "ilse"]);
        assert_eq!(found("Ilse saw ilse.", "Ilse"), ["Ilse"]);
        assert_eq!(found("Ilse ÉCLAIR", "éclair"), ["ÉCLAIR"]);
    }

    #[test]
    fn quotation_marks_and_spaces_are_found_in_every_shape() {
        assert_eq!(found("don’t and don't", "don't"), ["don’t", "don't"]);
        assert_eq!(found("“No” \"No\" „No“", "\"no”"), ["“No”", "\"No\"", "„No“"]);
        assert_eq!(found("10\u{a0}km", "10 km"), ["10\u{a0}km"]);
    }

    #[test]
    fn signs_are_taken_as_they_are() {
        assert_eq!(found("a.b a*b (?i)", "a.b"), ["a.b"]);
        assert_eq!(found("a.b a*b (?i)", "(?i)"), ["(?i)"]);
    }

    #[test]
    fn a_letter_is_not_found_under_its_accent() {
        assert!(found("cafe\u{301}", "e").is_empty());
        assert!(found("👨‍👩‍👧", "👩").is_empty());
    }

    #[test]
    fn nothing_lines_and_whole_books_are_no_needles() {
        assert!(Needle::new("").is_none());
        assert!(Needle::new("a\nb").is_none());
        assert!(Needle::new(&"é".repeat(2000)).is_none());
        assert!(Needle::new(&"é\"".repeat(500)).is_some());
    }

    #[test]
    fn the_next_and_the_previous_place_are_seen_from_the_cursor() {
        let buffer = Buffer::from_text("one two\none two\n\none");
        let needle = Needle::new("one").unwrap();
        assert_eq!(needle.next(&buffer, 0), Some(0..3));
        assert_eq!(needle.next(&buffer, 1), Some(8..11));
        assert_eq!(needle.next(&buffer, 18), None);
        assert_eq!(needle.next(&buffer, 999), None);
        assert_eq!(needle.previous(&buffer, 999), Some(17..20));
        assert_eq!(needle.previous(&buffer, 17), Some(8..11));
        assert_eq!(needle.previous(&buffer, 9), Some(8..11));
        assert_eq!(needle.previous(&buffer, 8), Some(0..3));
        assert_eq!(needle.previous(&buffer, 0), None);
        assert_eq!(needle.within(&buffer, &(1..9)), [0..3, 8..11]);
        assert!(needle.within(&buffer, &(3..8)).is_empty());
        assert_eq!(needle.within(&buffer, &(0..999)).len(), 3);
    }

    #[test]
    fn places_are_counted_in_the_text_as_it_was_and_no_further_than_asked() {
        let mut buffer = Buffer::from_text("one two\none\n\none");
        let counting = Needle::new("one").unwrap().counting(&buffer);
        buffer.replace(0..3, "two");
        let all = counting.count(3);
        assert_eq!((all.len(), all.is_more), (3, false));
        assert_eq!((all.number_at(8), all.number_at(9)), (Some(2), None));
        let some = counting.count(2);
        assert_eq!((some.len(), some.is_more), (2, true));
        assert_eq!(some.number_at(13), None);
    }

    #[test]
    fn all_places_are_replaced_in_one_step() {
        let mut buffer = Buffer::from_text("one two\r\none");
        let needle = Needle::new("one").unwrap();
        assert_eq!(needle.replace_all(&mut buffer, "three"), 2);
        assert_eq!(buffer.to_text(), "three two\r\nthree");
        assert!(buffer.undo());
        assert_eq!(buffer.to_text(), "one two\r\none");
        assert!(!buffer.undo());
    }

    #[test]
    fn one_place_is_replaced_only_where_it_is() {
        let mut buffer = Buffer::from_text("one two one");
        let needle = Needle::new("one").unwrap();
        assert_eq!(needle.replace(&mut buffer, &(1..4), "x"), None);
        assert_eq!(needle.replace(&mut buffer, &(8..11), "three"), Some(13));
        assert_eq!(buffer.to_text(), "one two three");
    }

    proptest::proptest! {
        #[test]
        fn walking_either_way_meets_the_same_places(text in "[ab\n ]{0,60}", words in "[ab]{1,2}") {
            let buffer = Buffer::from_text(&text);
            let needle = Needle::new(&words).unwrap();
            let all = needle.all(&buffer);
            let (mut forth, mut back) = (vec![], vec![]);
            let mut at = 0;
            while let Some(place) = needle.next(&buffer, at) {
                at = place.end;
                forth.push(place);
            }
            at = buffer.len() + 1;
            while let Some(place) = needle.previous(&buffer, at) {
                at = place.start;
                back.insert(0, place);
            }
            let counted = needle.counting(&buffer).count(999);
            proptest::prop_assert_eq!(&counted.starts, &all.iter().map(|place| place.start).collect::<Vec<_>>());
            proptest::prop_assert_eq!(&forth, &all);
            proptest::prop_assert_eq!(&back, &all);
        }
    }
}
