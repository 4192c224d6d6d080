//! Every place of a quotation in a book.
//!
//! A text is made searchable only when it must be: those that the model had before it always, all others only where they may hold a
//! quotation, and once.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::AhoCorasick;

use crate::domain::book::Book;
use crate::domain::conversation::QuoteSource;
use crate::domain::ids::BookPath;
use crate::domain::passage::{Found, Searchable};

/// A place of a quotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place<'a> {
    /// The file.
    pub path: &'a BookPath,
    /// What kind of file it is.
    pub source: QuoteSource,
    /// Its bytes in the file.
    pub range: Range<usize>,
    /// Whether it stands there to the letter.
    pub exact: bool,
    /// Whether the file was open, or read in this turn.
    pub near: bool,
}

struct Document<'a> {
    path: &'a BookPath,
    source: QuoteSource,
    text: &'a Arc<str>,
    /// Where its prose starts.
    from: usize,
    near: bool,
    searchable: OnceCell<Searchable>,
}

impl<'a> Document<'a> {
    fn searchable(&self) -> &Searchable {
        self.searchable.get_or_init(|| Searchable::new(self.text.clone()))
    }

    /// What of `found` is prose, as places.
    fn found(&self, found: impl IntoIterator<Item = Found>) -> impl Iterator<Item = Place<'a>> {
        let (path, source, near, from) = (self.path, self.source, self.near, self.from);
        let prose = found.into_iter().filter(move |f| f.range.start >= from);
        prose.map(move |f| Place { path, source, range: f.range, exact: f.exact, near })
    }
}

/// Finds every place of every quotation, nearest first: the open document, then files that were read, then the rest; among those
/// the manuscript before the Codex before notes, in reading order.
pub fn find<'a>(
    book: &'a Book,
    current: Option<&BookPath>,
    read: &[BookPath],
    quotes: &[&'a str],
) -> HashMap<&'a str, Vec<Place<'a>>> {
    let documents = documents(book, current, read);
    let (near, far) = documents.split_at(documents.iter().take_while(|d| d.near).count());
    let mut places: HashMap<&str, Vec<Place<'_>>> = quotes.iter().map(|quote| (*quote, vec![])).collect();
    for (quote, places) in &mut places {
        for document in near {
            places.extend(document.found(document.searchable().find(quote)));
        }
    }
    let all = Sieve::new(places.keys().map(|quote| (*quote, quote.trim().to_owned())));
    for document in far {
        for quote in all.candidates(document.text) {
            let exact = document.searchable().find(quote).into_iter().filter(|f| f.exact);
            places.entry(quote).or_default().extend(document.found(exact));
        }
    }
    let missing = places.iter().filter(|(_, places)| places.is_empty());
    let missing = Sieve::new(missing.map(|(quote, _)| (*quote, core(quote))));
    if !missing.is_empty() {
        for document in far {
            for quote in missing.candidates(document.searchable().plain()) {
                let found = document.searchable().find(quote);
                places.entry(quote).or_default().extend(document.found(found));
            }
        }
    }
    places
}

fn documents<'a>(book: &'a Book, current: Option<&BookPath>, read: &[BookPath]) -> Vec<Document<'a>> {
    let chapters = book.chapters.iter().map(|c| (&c.path, QuoteSource::Manuscript, &c.text, c.body_start));
    // A file that holds many entries is one document.
    let mut taken = HashSet::new();
    let files = book.entries.iter().filter(move |e| e.heading.is_none() || taken.insert(&e.path));
    let entries = files.flat_map(|e| {
        let soul = e.soul.iter().map(|s| (&s.path, QuoteSource::Codex, &s.text, 0));
        std::iter::once((&e.path, QuoteSource::Codex, &e.text, 0)).chain(soul)
    });
    let notes = book.notes.iter().map(|n| (&n.path, QuoteSource::Note, &n.text, 0));
    let embedded = book.embedded.iter().map(|(path, text)| (path, QuoteSource::Codex, text, 0));
    let distance = |path: &BookPath| match () {
        () if current == Some(path) => 0,
        () if read.contains(path) => 1,
        () => 2,
    };
    let mut documents: Vec<(u8, Document<'_>)> = chapters
        .chain(entries)
        .chain(notes)
        .chain(embedded)
        .map(|(path, source, text, from)| {
            let distance = distance(path);
            let near = distance < 2;
            (distance, Document { path, source, text, from, near, searchable: OnceCell::new() })
        })
        .collect();
    // Stable: what is equally near stays in order of kind and reading.
    documents.sort_by_key(|(distance, _)| *distance);
    documents.into_iter().map(|(_, document)| document).collect()
}

/// Tells cheaply which quotations a text can't hold, for all of them in one pass.
struct Sieve<'a> {
    quotes: Vec<&'a str>,
    automaton: Option<AhoCorasick>,
}

impl<'a> Sieve<'a> {
    /// Takes quotations, each with a stretch that stands in every text that holds it.
    fn new(stretches: impl Iterator<Item = (&'a str, String)>) -> Self {
        let (quotes, stretches): (Vec<_>, Vec<_>) = stretches.filter(|(_, s)| !s.is_empty()).unzip();
        // Building fails only for patterns of gigabytes.
        let automaton = if quotes.is_empty() { None } else { AhoCorasick::new(stretches).ok() };
        Self { quotes, automaton }
    }

    fn is_empty(&self) -> bool {
        self.automaton.is_none()
    }

    fn candidates(&self, text: &str) -> Vec<&'a str> {
        let Some(automaton) = &self.automaton else { return vec![] };
        let mut held = vec![false; self.quotes.len()];
        let mut left = held.len();
        for found in automaton.find_overlapping_iter(text) {
            if !std::mem::replace(&mut held[found.pattern().as_usize()], true) {
                left -= 1;
            }
            if left == 0 {
                break;
            }
        }
        self.quotes.iter().zip(held).filter(|(_, held)| *held).map(|(quote, _)| *quote).collect()
    }
}

/// What of a quotation's plain form stands in every text that holds it in any typography: all but its first letter, whose case may differ,
/// and the punctuation at its ends.
fn core(quote: &str) -> String {
    let plain = Searchable::new(quote);
    let words = plain.plain().trim_matches(|c: char| !c.is_alphanumeric());
    let first = words.chars().next().map_or(0, char::len_utf8);
    let rest = words[first..].trim_start_matches(|c: char| !c.is_alphanumeric());
    if rest.is_empty() { words.to_lowercase() } else { rest.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::testing::{book, chapter, path};

    #[test]
    fn what_the_sieve_lets_fall_is_never_in_the_text() {
        let book = book();
        for document in documents(&book, None, &[]) {
            let words: Vec<&str> = document.text.split(' ').collect();
            let quotes: Vec<String> = words
                .windows(3)
                .map(|w| w.join(" ").replace(['’', '\n', '*'], "'").replace('—', " -- "))
                .collect();
            let sieve = Sieve::new(quotes.iter().map(|q| (q.as_str(), core(q))));
            let candidates = sieve.candidates(document.searchable().plain());
            for quote in &quotes {
                let is_there = !document.searchable().find(quote).is_empty();
                assert!(!is_there || candidates.contains(&quote.as_str()), "{quote:?}");
            }
        }
    }

    #[test]
    fn an_exact_place_far_away_does_not_hide_a_near_one_in_other_typography() {
        let mut book = book();
        book.chapters.push(chapter(4, "manuscript/04.md", "Four", "He said that it isn't a gull.\n"));
        let near = path("manuscript/01-harbour.md");
        let quote = "isn't a gull";
        let places = &find(&book, Some(&near), &[], &[quote])[quote];
        let told: Vec<_> = places.iter().map(|p| (p.path.as_str(), p.exact, p.near)).collect();
        assert_eq!(told, [("manuscript/01-harbour.md", false, true), ("manuscript/04.md", true, false)]);
    }
}
