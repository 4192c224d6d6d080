//! Short stretches of a text around the words that were looked for.

use std::ops::Range;

use crate::canon::index::words::{Query, each_word};
use crate::domain::passage::{Searchable, paragraphs};

/// Characters of context on either side of a passage in its excerpt.
const CONTEXT: usize = 60;

/// The words around `place` on one line, with `…` where they were cut.
pub fn excerpt(body: &str, place: &Range<usize>) -> String {
    let long = 3 * CONTEXT;
    let shown_end =
        body[place.clone()].char_indices().nth(long).map_or(place.end, |(at, _)| place.start + at);
    let before = &body[..place.start];
    let after = &body[shown_end..];
    let from = before.char_indices().nth_back(CONTEXT - 1).map_or(0, |(at, _)| word_start(body, at));
    let to = after.char_indices().nth(CONTEXT).map_or(body.len(), |(at, _)| word_end(body, shown_end + at));
    let paragraph_from = body[from..place.start].rfind("\n\n").map_or(from, |gap| from + gap);
    let paragraph_to = body[shown_end..to].find("\n\n").map_or(to, |gap| shown_end + gap);
    let words: Vec<&str> = body[paragraph_from..paragraph_to].split_whitespace().collect();
    let cut_before = paragraph_from == from && from > 0;
    let cut_after = paragraph_to == to && to < body.len();
    format!(
        "{}{}{}",
        if cut_before { "\u{2026}" } else { "" },
        words.join(" "),
        if cut_after { "\u{2026}" } else { "" }
    )
}

/// The start of the next word, so that an excerpt does not begin inside one.
fn word_start(body: &str, at: usize) -> usize {
    if body[..at].ends_with(char::is_whitespace) || at == 0 {
        return at;
    }
    body[at..].find(char::is_whitespace).map_or(at, |gap| at + gap)
}

fn word_end(body: &str, at: usize) -> usize {
    body[..at].rfind(char::is_whitespace).unwrap_or(at)
}

/// Where the words of a query stand in a paragraph: as a phrase, whose last word may go on, else the first of them; else the whole paragraph.
pub fn place_in(paragraph: &str, wanted: &str, query: &Query) -> Range<usize> {
    let text = Searchable::caseless(paragraph);
    let phrase = |words: &str| {
        let whole = text.find(words).into_iter().map(|found| found.range).next();
        whole.or_else(|| text.find_prefix(words).into_iter().next())
    };
    let as_a_phrase = phrase(wanted);
    match &query.terms[..] {
        [only] => as_a_phrase.or_else(|| phrase(&only.word)).or_else(|| phrase(&only.stem)),
        _ => as_a_phrase,
    }
    .unwrap_or(0..paragraph.len())
}

/// The paragraph of a text that holds the most words of a query; the first one where none does. A heading tells little, and counts only where
/// there is nothing else.
pub fn best_paragraph(text: &str, query: &Query) -> Range<usize> {
    let held = |paragraph: &Range<usize>| {
        let mut found = vec![false; query.terms.len()];
        each_word(&text[paragraph.clone()], |word| {
            for (found, term) in found.iter_mut().zip(&query.terms) {
                *found |= word == term.word || word.starts_with(&term.stem);
            }
        });
        found.into_iter().filter(|found| *found).count()
    };
    let is_heading = |paragraph: &Range<usize>| {
        let words = &text[paragraph.clone()];
        words.starts_with('#') && !words.contains('\n')
    };
    let all = paragraphs(text);
    let only_headings = all.iter().all(is_heading);
    let told = all.into_iter().filter(|paragraph| only_headings || !is_heading(paragraph));
    let graded = told.map(|paragraph| (held(&paragraph), paragraph));
    let best = graded.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map_or(0..0, |(_, paragraph)| paragraph)
}

/// A stretch of a paragraph that is at most `max` characters long, whole words, around `place`.
pub fn stretch(paragraph: &str, place: &Range<usize>, max: usize) -> Range<usize> {
    if paragraph.char_indices().nth(max).is_none() {
        return 0..paragraph.len();
    }
    let before = &paragraph[..place.start];
    let from = before
        .char_indices()
        .nth_back(max / 4)
        .map_or(0, |(at, _)| word_start(paragraph, at).min(place.start));
    let rest = &paragraph[from..];
    let to = rest.char_indices().nth(max).map_or(paragraph.len(), |(at, _)| {
        let end = word_end(paragraph, from + at);
        if end > from { end } else { from + at }
    });
    from..to
}
