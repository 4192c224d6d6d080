//! Scored search over the Codex and over the manuscript.
//!
//! Deterministic: scores depend on the query and the texts alone, and ties have an order.

use std::collections::HashSet;
use std::ops::Range;

use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::manuscript::Chapter;
use crate::domain::nearness::distance;
use crate::domain::passage::{Searchable, fold, paragraphs};

/// Most results that a model's search returns.
pub const MAX_MATCHES: usize = 8;

/// An entry that matches a query.
#[derive(Debug, Clone)]
pub struct Match<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// Its score, above 0; only comparable within one search.
    pub score: f64,
    /// Which field matched best: `name`, `alias`, `title`, `type`, `path`, `summary` or `body`.
    pub field: &'static str,
}

/// Words that say nothing about what is looked for.
const SMALL_WORDS: [&str; 24] = [
    "a", "an", "and", "are", "about", "at", "by", "did", "do", "for", "from", "in", "is", "of", "on", "or",
    "the", "to", "was", "what", "who", "why", "with", "how",
];

/// Searches name, title, aliases, type, path, summary and body; best first, ties by name then path; at most `limit`.
///
/// Every word of the query counts where it weighs most; entries that hold more of the words come before those that hold one of them often. The
/// beginning of a word counts less than a word, and a slip of the finger counts in names only.
pub fn codex<'a>(book: &'a Book, entry_type: Option<EntryType>, query: &str, limit: usize) -> Vec<Match<'a>> {
    let terms = terms(query);
    if terms.is_empty() {
        return vec![];
    }
    let phrase = fold(query);
    let mut matches: Vec<Match<'a>> = book
        .entries
        .iter()
        .filter(|entry| entry_type.is_none_or(|wanted| entry.entry_type == wanted))
        .filter_map(|entry| score(entry, &terms, &phrase))
        .collect();
    matches.sort_by(|a, b| {
        let names = || (&a.entry.name, &a.entry.path).cmp(&(&b.entry.name, &b.entry.path));
        b.score.total_cmp(&a.score).then_with(names)
    });
    matches.truncate(limit);
    matches
}

/// The words of a query, folded, each once; small ones only if there are no others.
fn terms(query: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let folded = fold(query);
    let all: Vec<String> =
        words(&folded).filter(|word| seen.insert(word.to_string())).map(str::to_owned).collect();
    let telling: Vec<String> =
        all.iter().filter(|word| !SMALL_WORDS.contains(&word.as_str())).cloned().collect();
    if telling.is_empty() { all } else { telling }
}

/// The words of a folded text; a possessive is the word itself.
fn words(folded: &str) -> impl Iterator<Item = &str> {
    folded
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .map(|word| word.strip_suffix("'s").unwrap_or(word).trim_matches('\''))
        .filter(|word| !word.is_empty())
}

/// The part of an entry that a word was found in, with what a whole word in it weighs.
struct Field {
    name: &'static str,
    weight: f64,
    text: String,
}

fn score<'a>(entry: &'a Entry, terms: &[String], phrase: &str) -> Option<Match<'a>> {
    let mut fields = vec![Field { name: "name", weight: 12.0, text: fold(&entry.name) }];
    fields.extend(entry.aliases.iter().map(|alias| Field { name: "alias", weight: 10.0, text: fold(alias) }));
    fields.extend(entry.title.iter().map(|title| Field { name: "title", weight: 8.0, text: fold(title) }));
    fields.push(Field { name: "summary", weight: 4.0, text: fold(&entry.summary) });
    fields.push(Field {
        name: "type",
        weight: 3.0,
        text: format!("{} {}", entry.entry_type.as_str(), entry.entry_type.plural()),
    });
    fields.push(Field { name: "path", weight: 3.0, text: fold(entry.path.as_str()) });
    fields.push(Field { name: "body", weight: 1.0, text: body(entry) });

    let mut best = vec![(0.0, "body"); terms.len()];
    let (mut total, mut field) = (0.0, (0.0, "body"));
    for one in &fields {
        let mut here = 0.0;
        for (term, best) in terms.iter().zip(&mut best) {
            let points = one.weight * how_well(term, one);
            here += points;
            if points > best.0 {
                *best = (points, one.name);
            }
        }
        if one.weight > 3.0 && (one.text == phrase || (terms.len() > 1 && holds_phrase(&one.text, phrase))) {
            here += 2.0 * one.weight;
            total += 2.0 * one.weight;
        }
        if here > field.0 {
            field = (here, one.name);
        }
    }
    let found = best.iter().filter(|(points, _)| *points > 0.0).count();
    total += best.iter().map(|(points, _)| points).sum::<f64>();
    let score = total * found as f64 / terms.len() as f64;
    (score > 0.0).then_some(Match { entry, score, field: field.1 })
}

/// The Markdown of an entry and of its soul, folded.
fn body(entry: &Entry) -> String {
    let mut text = fold(entry.body());
    if let Some(soul) = &entry.soul {
        text.push(' ');
        text.push_str(&fold(&soul.text));
    }
    text
}

/// 1 for a whole word (a little more where it stands often), less for the beginning of one or a slip of the finger, else 0.
fn how_well(term: &str, field: &Field) -> f64 {
    let is_name = matches!(field.name, "name" | "alias");
    let (mut whole, mut begun) = (0_u32, false);
    if field.text.contains(term) {
        for word in words(&field.text).filter(|word| word.starts_with(term)) {
            if word.len() == term.len() {
                whole += 1;
            } else {
                begun |= term.chars().nth(2).is_some();
            }
        }
    }
    if whole > 0 {
        return 1.0 + 0.1 * f64::from(whole - 1).min(5.0);
    }
    if begun {
        return 0.5;
    }
    let long_enough = term.chars().nth(3).is_some();
    let slip = is_name
        && long_enough
        && words(&field.text).any(|w| w.len().abs_diff(term.len()) <= 4 && distance(w, term) <= 1);
    if slip { 0.4 } else { 0.0 }
}

fn holds_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let free = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        free(text[..at].chars().next_back()) && free(text[at + phrase.len()..].chars().next())
    })
}

/// A passage of the manuscript that holds the words of a query.
#[derive(Debug, Clone)]
pub struct Passage<'a> {
    /// The chapter.
    pub chapter: &'a Chapter,
    /// Bytes in the chapter's text.
    pub range: Range<usize>,
    /// A short excerpt around it, on one line.
    pub excerpt: String,
}

/// Finds `query` in the manuscript: first as a phrase (case-insensitive, tolerant of typography), then paragraphs with all of its words.
///
/// The last word of a phrase and every word of a paragraph may go on (`mug` finds `mugs`). Within each group in reading order; the range is the phrase or the
/// paragraph; frontmatter is not searched.
pub fn manuscript<'a>(book: &'a Book, query: &str, limit: usize) -> Vec<Passage<'a>> {
    passages(book.chapters.iter(), query, limit)
}

/// The same in some chapters only.
pub fn passages<'a>(
    chapters: impl IntoIterator<Item = &'a Chapter>,
    query: &str,
    limit: usize,
) -> Vec<Passage<'a>> {
    let query = query.trim();
    let terms = terms(query.trim_matches(['"', '\u{201c}', '\u{201d}']));
    let (mut phrases, mut paragraphs) = (vec![], vec![]);
    for chapter in chapters {
        if phrases.len() >= limit || terms.is_empty() {
            break;
        }
        let body = Searchable::caseless(chapter.body());
        let found = places(&body, query);
        for place in &found {
            phrases.push(passage(chapter, place));
        }
        if phrases.len() + paragraphs.len() < limit {
            let more = with_all_words(&body, &terms).into_iter();
            let new = more.filter(|p| !found.iter().any(|f| p.start <= f.start && f.start < p.end));
            paragraphs.extend(new.map(|place| passage(chapter, &place)));
        }
    }
    phrases.append(&mut paragraphs);
    phrases.truncate(limit);
    phrases
}

/// Where the phrase stands: as given, else with its last word going on.
fn places(body: &Searchable, query: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = body.find(query).into_iter().map(|found| found.range).collect();
    for begun in body.find_prefix(query) {
        if !found.iter().any(|f| f.start < begun.end && begun.start < f.end) {
            found.push(begun);
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

/// The paragraphs in which every term begins a word.
fn with_all_words(body: &Searchable, terms: &[String]) -> Vec<Range<usize>> {
    let (rarest, others) = match terms.iter().enumerate().max_by_key(|(_, term)| term.len()) {
        Some((at, rarest)) => {
            (rarest, terms.iter().enumerate().filter(move |(i, _)| *i != at).map(|(_, t)| t))
        }
        None => return vec![],
    };
    let text = body.text();
    let mut hits = body.find_prefix(rarest).into_iter().peekable();
    if hits.peek().is_none() {
        return vec![];
    }
    let others: Vec<&String> = others.collect();
    let mut found = vec![];
    for paragraph in paragraphs(text) {
        while hits.next_if(|hit| hit.start < paragraph.start).is_some() {}
        if hits.peek().is_none_or(|hit| hit.start >= paragraph.end) {
            continue;
        }
        let folded = fold(&text[paragraph.clone()]);
        if others.iter().all(|term| words(&folded).any(|word| word.starts_with(term.as_str()))) {
            found.push(paragraph);
        }
    }
    found
}

/// Characters of context on either side of a passage in its excerpt.
const CONTEXT: usize = 60;

fn passage<'a>(chapter: &'a Chapter, place: &Range<usize>) -> Passage<'a> {
    let range = chapter.body_start + place.start..chapter.body_start + place.end;
    Passage { chapter, excerpt: excerpt(chapter.body(), place), range }
}

/// The words around `place` on one line, with `…` where they were cut.
fn excerpt(body: &str, place: &Range<usize>) -> String {
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
        codex(&book, None, query, MAX_MATCHES).into_iter().map(|m| (m.entry.name.clone(), m.field)).collect()
    }

    #[test]
    fn the_best_entry_comes_first_with_the_field_that_tells() {
        let first = |query| found(query).into_iter().next().map(|(name, field)| format!("{name}/{field}"));
        let table = [
            ("Halcyon", "Halcyon/name"),
            ("adrian", "Adrian Vale/name"),
            ("captain vale", "Adrian Vale/name"),
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
        let items = codex(&book, Some(EntryType::Item), "adrian vale", 8);
        assert_eq!(items.iter().map(|m| m.entry.name.as_str()).collect::<Vec<_>>(), ["Halcyon"]);
        assert_eq!(codex(&book, None, "halcyon adrian", 2).len(), 2);
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
        let places = |query: &str| {
            let all = manuscript(&book, query, 10);
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
        assert_eq!(manuscript(&book, "mug", 2).len(), 2);
        for nothing in ["", "  ", "“”", "zanzibar", "ug"] {
            assert!(places(nothing).is_empty(), "{nothing:?}");
        }
    }

    #[test]
    fn an_excerpt_is_one_line_of_whole_words() {
        let text = format!("{}needle {}", "haystack ".repeat(50), "straw\n".repeat(50));
        let book = novel(vec![chapter("1.md", 1, "One", &text)]);
        let excerpt = &manuscript(&book, "needle", 1)[0].excerpt;
        assert!(excerpt.starts_with("…haystack") && excerpt.ends_with("straw…"), "{excerpt}");
        assert!(excerpt.contains("haystack needle straw") && excerpt.chars().count() < 160);
    }

    proptest::proptest! {
        #[test]
        fn any_query_can_be_asked(query in "\\PC{0,12}|[a-z' éø\"]{0,10}", text in "\\PC{0,40}|[a-z \n’é]{0,80}") {
            let shelf = book(vec![entry("items/x.md", &text).text(&text)]);
            codex(&shelf, None, &query, 8);
            let book = novel(vec![chapter("1.md", 1, "One", &text)]);
            for passage in manuscript(&book, &query, 5) {
                proptest::prop_assert!(passage.chapter.text.get(passage.range).is_some());
            }
        }
    }
}
