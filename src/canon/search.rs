//! Scored search over canon, manuscript and notes.
//!
//! Deterministic: scores depend on the query and the texts of the book alone, and ties have an order. Scores of one search can be compared with each
//! other, and with nothing else. The index that is given must be that of the book that is given.

mod excerpt;

use std::ops::Range;

use crate::domain::book::{Book, Note};
use crate::domain::codex::{Entry, EntryType};
use crate::domain::frontmatter;
use crate::domain::ids::BookPath;
use crate::domain::manuscript::Chapter;

use super::index::corpus::{Corpus, Hit, Ranking, rank};
use super::index::words::Query;
use super::index::{Field, Index};
use super::lookup::{Grade, Strength};
use excerpt::{best_paragraph, excerpt, place_in, stretch};

/// Most results that a model's search of the Codex returns.
pub const MAX_MATCHES: usize = 8;

/// An entry that matches a query.
#[derive(Debug, Clone)]
pub struct Match<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// Its score, above 0; only comparable within one search.
    pub score: f64,
    /// Which field matched best: `name`, `alias`, `title`, `type`, `path`, `summary`, `fields`, `heading` or `body`.
    pub field: &'static str,
}

/// A paragraph of the manuscript that holds words of a query.
#[derive(Debug, Clone)]
pub struct Passage<'a> {
    /// The chapter.
    pub chapter: &'a Chapter,
    /// Number of the paragraph in the chapter, from 1.
    pub paragraph: usize,
    /// Bytes in the chapter's text: the phrase, or the word if one was asked for, else the paragraph.
    pub range: Range<usize>,
    /// A short excerpt around it, on one line.
    pub excerpt: String,
    /// Bytes in the chapter's text of the paragraph.
    pub whole: Range<usize>,
    /// Its score, above 0; only comparable within one search.
    pub score: f64,
}

/// A note that matches a query.
#[derive(Debug, Clone)]
pub struct NoteMatch<'a> {
    /// The note.
    pub note: &'a Note,
    /// Its score, above 0; only comparable within one search.
    pub score: f64,
    /// Which field matched best: `title`, `tag`, `heading`, `path` or `body`.
    pub field: &'static str,
    /// The paragraph of its text that matches best, in bytes.
    pub paragraph: Range<usize>,
}

/// Something in the book that matches a query.
#[derive(Debug, Clone)]
pub enum Piece<'a> {
    /// An entry, with the paragraph of its text that matches best, in bytes of that text.
    Canon(Match<'a>, Range<usize>),
    /// A paragraph of a chapter.
    Manuscript(Passage<'a>),
    /// A note.
    Note(NoteMatch<'a>),
}

impl Piece<'_> {
    /// Returns its score.
    pub fn score(&self) -> f64 {
        match self {
            Self::Canon(found, _) => found.score,
            Self::Manuscript(found) => found.score,
            Self::Note(found) => found.score,
        }
    }

    pub(super) fn scored(mut self, score: f64) -> Self {
        match &mut self {
            Self::Canon(found, _) => found.score = score,
            Self::Manuscript(found) => found.score = score,
            Self::Note(found) => found.score = score,
        }
        self
    }
}

/// Searches names, aliases, titles, summaries, frontmatter and texts of the entries; best first, ties by name then path; at most `limit`.
///
/// Words count by their rarity and by the field that they stand in (BM25 over weighted fields, Robertson, Zaragoza and Taylor, "Simple BM25
/// Extension to Multiple Weighted Fields", 2004, <https://doi.org/10.1145/1031171.1031181>), entries that hold more of the words come before those that
/// hold one of them often, and an entry that the whole query names comes before those that only mention it.
pub fn codex<'a>(
    index: &Index,
    book: &'a Book,
    entry_type: Option<EntryType>,
    query: &str,
    limit: usize,
) -> Vec<Match<'a>> {
    let (ranking, query) = ranked(index, &[index.entries()], query);
    let mut found = entries(index, book, &ranking, &query.asked, 0);
    found.retain(|c| entry_type.is_none_or(|wanted| c.entry.entry_type == wanted));
    best(
        &mut found,
        limit,
        |c| c.score,
        |a, b| (&a.entry.name, a.address()).cmp(&(&b.entry.name, b.address())),
    );
    found.into_iter().map(|candidate| candidate.told(&ranking)).collect()
}

/// Finds `query` in the manuscript, the best paragraph first, ties in reading order; `only` says which chapters, by their place in the book.
///
/// Where paragraphs hold all of the words, those that hold only some are left out. Frontmatter is not searched.
pub fn manuscript<'a>(
    index: &Index,
    book: &'a Book,
    only: Option<&[usize]>,
    query: &str,
    limit: usize,
) -> Vec<Passage<'a>> {
    let (mut ranking, query) = ranked(index, &[index.chapters()], query);
    if let Some(only) = only {
        ranking.hits.retain(|hit| only.contains(&(hit.place.unit as usize)));
    }
    let all = query.words.terms.len();
    if ranking.hits.iter().any(|hit| hit.found == all) {
        ranking.hits.retain(|hit| hit.found == all);
    }
    best(&mut ranking.hits, limit, |hit| hit.score, |a, b| a.place.cmp(&b.place));
    ranking.hits.iter().filter_map(|hit| passage(index, book, hit, &query)).collect()
}

/// Searches titles, tags and texts of the notes, best first, ties by path.
pub fn notes<'a>(index: &Index, book: &'a Book, query: &str, limit: usize) -> Vec<NoteMatch<'a>> {
    let (mut ranking, query) = ranked(index, &[index.notes()], query);
    best(&mut ranking.hits, limit, |hit| hit.score, |a, b| a.place.cmp(&b.place));
    ranking.hits.iter().filter_map(|hit| note(book, &ranking, hit, &query)).collect()
}

/// Searches canon, manuscript and notes together, best first; ties in this order.
pub fn knowledge<'a>(index: &Index, book: &'a Book, query: &str, limit: usize) -> Vec<Piece<'a>> {
    let corpora: [&Corpus; 3] = [index.entries(), index.chapters(), index.notes()];
    let (ranking, query) = ranked(index, &corpora, query);
    let mut canon = entries(index, book, &ranking, &query.asked, 0);
    best(&mut canon, limit, |c| c.score, |a, b| a.address().cmp(&b.address()));
    let mut found: Vec<Piece<'a>> = canon
        .into_iter()
        .map(|candidate| {
            let m = candidate.told(&ranking);
            let paragraph = best_paragraph(m.entry.body(), &query.words);
            let from = m.entry.body.start;
            Piece::Canon(m, from + paragraph.start..from + paragraph.end)
        })
        .collect();
    let mut others: Vec<Hit> = ranking.hits.iter().filter(|hit| hit.corpus > 0).copied().collect();
    best(&mut others, limit, |hit| hit.score, |a, b| (a.corpus, a.place).cmp(&(b.corpus, b.place)));
    found.extend(others.iter().filter_map(|hit| match hit.corpus {
        1 => passage(index, book, hit, &query).map(Piece::Manuscript),
        _ => note(book, &ranking, hit, &query).map(Piece::Note),
    }));
    // The sort is stable, so that ties keep the order in which they were added.
    found.sort_by(|a, b| b.score().total_cmp(&a.score()));
    found.truncate(limit);
    found
}

/// A query as it was asked, and its words.
struct Asked {
    asked: String,
    words: Query,
}

fn ranked(index: &Index, corpora: &[&Corpus], query: &str) -> (Ranking, Asked) {
    let asked = query.trim().trim_matches(['"', '\u{201c}', '\u{201d}']).trim().to_owned();
    let words = Query::of(&asked, index.language());
    let near = |word: &str| -> Vec<String> {
        let mut stems: Vec<String> =
            index.known().near_words(word).map(|known| index.language().stem(known).into_owned()).collect();
        stems.sort_unstable();
        stems.dedup();
        stems
    };
    (rank(corpora, &words, &near), Asked { asked, words })
}

/// Keeps the best `limit`, in order.
fn best<T>(
    found: &mut Vec<T>,
    limit: usize,
    score: impl Fn(&T) -> f64,
    tie: impl Fn(&T, &T) -> std::cmp::Ordering,
) {
    let order = |a: &T, b: &T| score(b).total_cmp(&score(a)).then_with(|| tie(a, b));
    if limit > 0 && found.len() > limit {
        found.select_nth_unstable_by(limit - 1, order);
    }
    found.truncate(limit);
    found.sort_by(order);
}

/// An entry that may be among the best: what is told of it is worked out only if it is.
struct Candidate<'a, 'r> {
    entry: &'a Entry,
    score: f64,
    hit: Option<&'r Hit>,
    grade: Option<Grade>,
}

impl<'a> Candidate<'a, '_> {
    /// What orders entries of the same score.
    fn address(&self) -> (&BookPath, Option<&str>) {
        (&self.entry.path, self.entry.heading.as_deref())
    }

    fn told(&self, ranking: &Ranking) -> Match<'a> {
        let by_words = || self.hit.map_or("body", |hit| field_of(ranking, hit));
        Match { entry: self.entry, score: self.score, field: self.grade.map_or_else(by_words, named_in) }
    }
}

/// The entries of a ranking, with those that the whole query names.
fn entries<'a, 'r>(
    index: &Index,
    book: &'a Book,
    ranking: &'r Ranking,
    asked: &str,
    corpus: usize,
) -> Vec<Candidate<'a, 'r>> {
    let mut named: Vec<Option<Grade>> = vec![None; book.entries.len()];
    for (grade, entry) in index.known().named_by(asked) {
        if let Some(place) = named.get_mut(entry as usize) {
            *place = Some(grade);
        }
    }
    let mut found = vec![];
    for hit in ranking.hits.iter().filter(|hit| hit.corpus == corpus) {
        let at = hit.place.unit as usize;
        let Some(entry) = book.entries.get(at) else { continue };
        let grade = named[at].take();
        let score = hit.score + grade.map_or(0.0, worth);
        found.push(Candidate { entry, score, hit: Some(hit), grade });
    }
    for (entry, grade) in book.entries.iter().zip(named) {
        found.extend(grade.map(|g| Candidate { entry, score: worth(g), hit: None, grade }));
    }
    found
}

/// What being named by the whole query is worth, beside words that weigh some 20 each at most.
fn worth(grade: Grade) -> f64 {
    match grade.strength {
        Strength::Name => 60.0,
        Strength::Title => 52.0,
        Strength::Stem => 44.0,
        Strength::Alias => 48.0,
        Strength::Partial => 16.0 - f64::from(grade.detail.min(8)),
        Strength::Near => 8.0,
    }
}

fn named_in(grade: Grade) -> &'static str {
    match grade.strength {
        Strength::Title => "title",
        Strength::Stem => "path",
        Strength::Alias => "alias",
        Strength::Partial if grade.detail < 8 && grade.detail % 2 == 1 => "alias",
        Strength::Name | Strength::Partial | Strength::Near => "name",
    }
}

/// The field in which the words of the query weigh most.
fn field_of(ranking: &Ranking, hit: &Hit) -> &'static str {
    let mut weights = [0.0; Field::ALL.len()];
    for (rarity, fields) in ranking.fields(hit) {
        for (weight, field) in
            weights.iter_mut().zip(Field::ALL).filter(|(_, field)| fields & field.bit() != 0)
        {
            *weight += rarity * f64::from(field.weight());
        }
    }
    let all = weights.into_iter().zip(Field::ALL);
    let best = all.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map_or("body", |(_, field)| field.as_str())
}

fn passage<'a>(index: &Index, book: &'a Book, hit: &Hit, query: &Asked) -> Option<Passage<'a>> {
    let (at, part) = (hit.place.unit as usize, hit.place.part as usize);
    let chapter = book.chapters.get(at)?;
    let whole = index.paragraph(at, part)?;
    let body = chapter.body();
    let inside = place_in(body.get(whole.clone())?, &query.asked, &query.words);
    let place = whole.start + inside.start..whole.start + inside.end;
    let in_text = |range: &Range<usize>| chapter.body_start + range.start..chapter.body_start + range.end;
    Some(Passage {
        chapter,
        paragraph: part + 1,
        range: in_text(&place),
        excerpt: excerpt(body, &place),
        whole: in_text(&whole),
        score: hit.score,
    })
}

fn note<'a>(book: &'a Book, ranking: &Ranking, hit: &Hit, query: &Asked) -> Option<NoteMatch<'a>> {
    let note = book.notes.get(hit.place.unit as usize)?;
    let start = frontmatter::split(&note.text).body_start;
    let inside = best_paragraph(note.text.get(start..)?, &query.words);
    let paragraph = start + inside.start..start + inside.end;
    Some(NoteMatch { note, score: hit.score, field: field_of(ranking, hit), paragraph })
}

/// Returns the part of a paragraph of `text` that says most about a query: at most `max` characters, whole words.
pub fn told(index: &Index, text: &str, paragraph: &Range<usize>, query: &str, max: usize) -> Range<usize> {
    let words = Query::of(query, index.language());
    let Some(whole) = text.get(paragraph.clone()) else { return 0..0 };
    let mut place = place_in(whole, query, &words);
    if place.len() == whole.len() {
        // No phrase: around the first of the words.
        let first = words.terms.iter().filter_map(|term| {
            let one = Query { terms: vec![term.clone()], phrase: vec![] };
            let place = place_in(whole, &term.word, &one);
            (place.len() < whole.len()).then_some(place)
        });
        place = first.min_by_key(|place| place.start).unwrap_or(0..0);
    }
    let inside = stretch(whole, &place, max);
    paragraph.start + inside.start..paragraph.start + inside.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::shelf::{With, book, chapter, entry, manuscript as novel};

    fn library() -> Book {
        book(vec![
            entry("characters/vale.md", "Adrian Vale")
                .title("Captain")
                .summary("Master of the Halcyon.")
                .text("He keeps bees."),
            entry("characters/mira.md", "Mira Okafor")
                .aliases(&["Miss Okafor"])
                .summary("Signals officer of the Halcyon."),
            entry("items/halcyon.md", "Halcyon")
                .summary("A relay tender.")
                .text("Captain: Adrian Vale. Adrian."),
            entry("locations/lantern.md", "Lantern")
                .summary("Under the ice.")
                .text("Bees do not live here. The Captain’s house."),
            entry("concepts/rule.md", "Twelve-Year Rule"),
        ])
    }

    fn found(query: &str) -> Vec<(String, &'static str)> {
        let book = library();
        codex(&Index::of(&book), &book, None, query, MAX_MATCHES)
            .into_iter()
            .map(|m| (m.entry.name.clone(), m.field))
            .collect()
    }

    #[test]
    fn the_best_entry_comes_first_with_the_field_that_tells() {
        let first = |query| found(query).into_iter().next().map(|(name, field)| format!("{name}/{field}"));
        let table = [
            ("Halcyon", "Halcyon/name"),
            ("adrian", "Adrian Vale/name"),
            ("captain vale", "Adrian Vale/title"),
            ("miss okafor", "Mira Okafor/alias"),
            ("signals officer", "Mira Okafor/summary"),
            ("who is the captain", "Adrian Vale/title"),
            ("bees", "Adrian Vale/body"),
            ("location", "Lantern/type"),
            ("twelve year rule", "Twelve-Year Rule/name"),
            ("Okafr", "Mira Okafor/name"),
            ("lant", "Lantern/name"),
            ("rule.md", "Twelve-Year Rule/name"),
            ("the house", "Lantern/body"),
        ];
        for (query, best) in table {
            assert_eq!(first(query).as_deref(), Some(best), "{query:?}: {:?}", found(query));
        }
        assert_eq!(found("zanzibar"), []);
        assert_eq!(found("  "), []);
    }

    #[test]
    fn a_search_can_be_narrowed_and_is_the_same_each_time() {
        let book = library();
        let index = Index::of(&book);
        let items = codex(&index, &book, Some(EntryType::Item), "adrian vale", 8);
        assert_eq!(items.iter().map(|m| m.entry.name.as_str()).collect::<Vec<_>>(), ["Halcyon"]);
        assert_eq!(codex(&index, &book, None, "halcyon adrian", 2).len(), 2);
        assert_eq!(found("halcyon captain"), found("halcyon captain"));
        assert_eq!(found("bees")[..2], [("Adrian Vale".to_owned(), "body"), ("Lantern".to_owned(), "body")]);
    }

    #[test]
    fn passages_are_found_as_phrases_first_and_by_words_then() {
        let book = novel(vec![
            chapter(
                "1.md",
                1,
                "One",
                "# One\n\nThe mugs hung on hooks, eleven of them.\n\nHis own mug was\non the “eleventh” hook.",
            ),
            chapter("2.md", 2, "Two", "A hook, and another mug.\n\nNothing. ÉLAN!"),
        ]);
        let index = Index::of(&book);
        let places = |query: &str| {
            let mut all = manuscript(&index, &book, None, query, 10);
            all.sort_by_key(|p| (p.chapter.number, p.paragraph));
            all.into_iter()
                .map(|p| (p.chapter.number, p.chapter.text[p.range].to_owned(), p.excerpt))
                .collect::<Vec<_>>()
        };
        let mugs = places("MUG");
        let words: Vec<_> = mugs.iter().map(|(number, words, _)| (*number, words.as_str())).collect();
        assert_eq!(words, [(1, "mug"), (1, "mug"), (2, "mug")]);
        assert_eq!(mugs[0].2, "The mugs hung on hooks, eleven of them.");
        assert_eq!(places("was on the 'eleventh' hook")[0].1, "was\non the “eleventh” hook");
        assert_eq!(places("hook mug").iter().map(|(n, ..)| *n).collect::<Vec<_>>(), [1, 1, 2]);
        assert_eq!(places("elan")[0].1, "ÉLAN");
        assert_eq!(manuscript(&index, &book, None, "mug", 2).len(), 2);
        for nothing in ["", "  ", "“”", "zanzibar", "ug"] {
            assert!(places(nothing).is_empty(), "{nothing:?}");
        }
    }

    #[test]
    fn an_excerpt_is_one_line_of_whole_words() {
        let text = format!("{}needle {}", "haystack ".repeat(50), "straw\n".repeat(50));
        let book = novel(vec![chapter("1.md", 1, "One", &text)]);
        let excerpt = &manuscript(&Index::of(&book), &book, None, "needle", 1)[0].excerpt;
        assert!(excerpt.starts_with("…haystack") && excerpt.ends_with("straw…"), "{excerpt}");
        assert!(excerpt.contains("haystack needle straw") && excerpt.chars().count() < 160);
    }

    proptest::proptest! {
        #[test]
        fn any_query_can_be_asked(query in "\\PC{0,12}|[a-z' éø\"]{0,10}", text in "\\PC{0,40}|[a-z \n’é]{0,80}") {
            let shelf = book(vec![entry("items/x.md", &text).text(&text)]);
            codex(&Index::of(&shelf), &shelf, None, &query, 8);
            let book = novel(vec![chapter("1.md", 1, "One", &text)]);
            for passage in manuscript(&Index::of(&book), &book, None, &query, 5) {
                proptest::prop_assert!(passage.chapter.text.get(passage.range).is_some());
            }
        }
    }
}
