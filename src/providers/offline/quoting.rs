//! Exact quotations from what a tool returned, each with its locate marker.

use std::ops::Range;

use crate::canon::mentions::Names;
use crate::craft::Prose;

/// Words of the shortest quotation: fewer say nothing and stand in many places.
const MIN_WORDS: usize = 5;

/// Words of the longest quotation.
const MAX_WORDS: usize = 45;

/// Words that a quotation has best.
const GOOD_WORDS: usize = 16;

/// Words of length or sentences of distance that a whole sentence is worth.
const PIECE_PENALTY: usize = 8;

/// Renders a quotation with its marker. `words` must stand in the manuscript; only white space is changed.
pub fn marked(words: &str) -> String {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("\"{words}\" [[locate:{words}]]")
}

/// The part of a stretch of prose that can be quoted: its longest piece without quotation marks and brackets, if it is long enough. Emphasis stays, as long
/// as it is whole.
pub fn quotable(stretch: &str) -> Option<&str> {
    let edges = [',', ';', ':', '-', '>', ' '];
    let pieces =
        stretch.split(['"', '“', '”', '„', '«', '»', '[', ']']).map(|p| p.trim().trim_matches(edges));
    let longest = pieces.max_by_key(|p| words(p))?;
    let is_whole = |mark: char| longest.matches(mark).count().is_multiple_of(2);
    let fits = (MIN_WORDS..=MAX_WORDS).contains(&words(longest)) && !longest.contains('>');
    (fits && is_whole('*') && is_whole('_')).then_some(longest)
}

/// Finds up to `limit` quotations that name the entry at `address`, in reading order.
pub fn naming<'t>(text: &'t str, names: &Names, address: &str, limit: usize) -> Vec<&'t str> {
    let is_named = |piece: &str| names.find(piece).iter().any(|m| names.entries[m.entry].address == address);
    best(text, limit, is_named)
}

/// Finds up to `limit` quotations that hold `word` as a word, in reading order.
pub fn holding<'t>(text: &'t str, word: &str, limit: usize) -> Vec<&'t str> {
    best(text, limit, |piece| positions(piece, word).next().is_some())
}

/// Every place where `word` stands between word boundaries.
pub fn positions<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(word).map(|(at, found)| at..at + found.len()).filter(move |range| {
        !is_letter(text[..range.start].chars().next_back()) && !is_letter(text[range.end..].chars().next())
    })
}

fn best(text: &str, limit: usize, fits: impl Fn(&str) -> bool) -> Vec<&str> {
    let prose = Prose::of(text);
    let sentences = prose.sentences().iter().map(|s| &text[s.range.clone()]);
    let pieces = sentences.filter_map(|s| Some((s, quotable(s)?))).filter(|(_, piece)| fits(piece));
    // Best is a whole sentence of a good length near the beginning.
    let rank = |at: usize, sentence: &str, piece: &str| {
        words(piece).abs_diff(GOOD_WORDS) + at + if piece == sentence { 0 } else { PIECE_PENALTY }
    };
    let mut ranked: Vec<(usize, usize, &str)> =
        pieces.enumerate().map(|(at, (sentence, piece))| (rank(at, sentence, piece), at, piece)).collect();
    ranked.sort_unstable();
    ranked.truncate(limit);
    ranked.sort_by_key(|(_, at, _)| *at);
    let mut found: Vec<&str> = ranked.into_iter().map(|(_, _, piece)| piece).collect();
    found.dedup();
    found
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_is_a_whole_piece_without_marks_inside() {
        for (sentence, expected) in [
            (
                "Captain Vale put his hand straight on the switch.",
                Some("Captain Vale put his hand straight on the switch."),
            ),
            ("\"Noted,\" said the Captain, who had no answer.", Some("said the Captain, who had no answer.")),
            ("He went aboard the *Halcyon* once more.", Some("He went aboard the *Halcyon* once more.")),
            ("*He went aboard once more. He", None),
            ("He said: \"You want to try the Captain's,\" and went.", Some("You want to try the Captain's")),
            ("He ran.", None),
        ] {
            assert_eq!(quotable(sentence), expected);
        }
        assert_eq!(quotable(&"word ".repeat(60)), None);
    }

    #[test]
    fn a_marker_repeats_the_very_words() {
        assert_eq!(marked("one\n two"), "\"one two\" [[locate:one two]]");
    }

    #[test]
    fn a_word_is_found_between_its_boundaries() {
        let text = "Pell spelled Pell's name to Pellham, and Pell smiled at all of it.";
        assert_eq!(positions(text, "Pell").count(), 3);
        assert_eq!(
            holding("Nobody said a word. Then Pell smiled at all of it.", "Pell", 2),
            ["Then Pell smiled at all of it."]
        );
    }
}
