//! Locate markers and quotations: hidden from view, checked against the book.
//!
//! The book decides, not the model: a quotation has a place only where its words stand, in whatever typography, and a reference
//! is a link only where a tool has returned its file. Nothing here changes the answer's words.

mod markers;
mod places;
mod quotations;

use std::ops::Range;

use crate::domain::book::Book;
use crate::domain::conversation::{Quote, QuoteSource, Verdict};
use crate::domain::ids::BookPath;
use crate::domain::passage::{count_words, fold};
use markers::Piece;
use places::Place;
use quotations::quotations;

/// Fewest words of a quotation without a marker that is looked up.
const MIN_WORDS: usize = 2;

/// Fewest words of a quotation without a marker that is listed although the book does not hold it.
const MIN_MISSING_WORDS: usize = 4;

/// A quotation with its place in the shown answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedQuote {
    /// The quotation and its verdict.
    pub quote: Quote,
    /// Bytes of the shown text that hold the quoted words (with their quotation marks). Empty where a marker stands behind
    /// other words than its own: then it is where the marker stood.
    pub shown: Range<usize>,
    /// Every place of it in the book, nearest first: path, start, end.
    pub places: Vec<(BookPath, usize, usize)>,
}

/// Words of the shown answer that lead to a file: a `[[codex:NAME]]` reference or a path, and only where a tool returned the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Bytes of the shown text.
    pub shown: Range<usize>,
    /// The file.
    pub path: BookPath,
}

/// An answer ready to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grounded {
    /// The text without its markers.
    pub shown: String,
    /// Its quotations in reading order.
    pub quotes: Vec<PlacedQuote>,
    /// Its links in reading order. What is not among them is plain text, web addresses always.
    pub links: Vec<Link>,
}

/// Removes markers, a half-arrived one at the end included. For text that still streams in.
pub fn hide_markers(answer: &str) -> String {
    let shown = |piece| match piece {
        Piece::Text(text) | Piece::Codex(text) => text,
        Piece::Locate(_) => "",
    };
    markers::pieces(answer, true).into_iter().map(shown).collect()
}

/// Removes markers and checks every quotation against the book; `read` are files that tools returned in this turn, `current` is the open document.
///
/// A quotation *moved* when something was open or read, and it stands somewhere else. Where it stands in several places it is *ambiguous*.
pub fn ground(answer: &str, book: &Book, current: Option<&BookPath>, read: &[BookPath]) -> Grounded {
    let mut shown = String::with_capacity(answer.len());
    let (mut marks, mut links) = (vec![], vec![]);
    for piece in markers::pieces(answer, false) {
        match piece {
            Piece::Text(text) => shown.push_str(text),
            Piece::Locate("") => {}
            Piece::Locate(words) => marks.push((words, shown.len())),
            Piece::Codex(name) => {
                let start = shown.len();
                shown.push_str(name);
                let path = entry_that_was_read(book, name, read);
                links.extend(path.map(|path| Link { shown: start..shown.len(), path: path.clone() }));
            }
        }
    }
    links.extend(paths_in(&shown, read));
    links.sort_by_key(|link| link.shown.start);

    let candidates = candidates(&shown, &marks);
    let texts: Vec<&str> = candidates.iter().map(|c| c.text).collect();
    let found = places::find(book, current, read, &texts);
    let has_near = current.is_some() || !read.is_empty();
    let judge = |c: Candidate<'_>| judge(&c, &found[c.text], has_near);
    let quotes = candidates.into_iter().filter_map(judge).collect();
    Grounded { shown, quotes, links }
}

/// Words that claim to stand in the book.
struct Candidate<'a> {
    text: &'a str,
    marked: bool,
    shown: Range<usize>,
}

/// Gathers marked words and quotations in reading order. A marker speaks for the quotation right before it if that has the same words.
fn candidates<'a>(shown: &'a str, marks: &[(&'a str, usize)]) -> Vec<Candidate<'a>> {
    let quotations = quotations(shown);
    let mut is_marked = vec![false; quotations.len()];
    let mut all = vec![];
    for (words, at) in marks {
        // By the inner end: some models put the marker before the closing quotation mark.
        let before = quotations.partition_point(|q| q.inner.end <= *at).checked_sub(1);
        let same = before.filter(|q| {
            let inner = &quotations[*q].inner;
            let gap = &shown[inner.end..*at];
            !is_marked[*q] && !gap.contains("\n\n") && have_same_words(&shown[inner.clone()], words)
        });
        let shown = match same {
            Some(q) => {
                is_marked[q] = true;
                quotations[q].outer.clone()
            }
            None => last_words(shown, *at, words),
        };
        all.push(Candidate { text: words, marked: true, shown });
    }
    let unmarked = quotations.into_iter().zip(is_marked).filter(|(_, marked)| !marked);
    all.extend(unmarked.filter_map(|(q, _)| {
        let text = &shown[q.inner];
        (count_words(text) >= MIN_WORDS).then_some(Candidate { text, marked: false, shown: q.outer })
    }));
    all.sort_by_key(|c| (c.shown.start, c.shown.end));
    all
}

fn have_same_words(a: &str, b: &str) -> bool {
    fn words(text: &str) -> Vec<String> {
        fold(text)
            .split(|c: char| !c.is_alphanumeric())
            .filter(|w| !w.is_empty())
            .map(str::to_owned)
            .collect()
    }
    a == b || words(a) == words(b)
}

/// Where the text before byte `at` ends with `words` (a block quote, emphasis), those; else the empty range at `at`.
fn last_words(shown: &str, at: usize, words: &str) -> Range<usize> {
    let before = shown[..at].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_'));
    match before.strip_suffix(words) {
        Some(rest) if !rest.ends_with(char::is_alphanumeric) => rest.len()..before.len(),
        _ => at..at,
    }
}

/// Gives the verdict, or `None` for words that need no mark and no mention.
fn judge(candidate: &Candidate<'_>, places: &[Place<'_>], has_near: bool) -> Option<PlacedQuote> {
    let verdict = match places {
        [] if !candidate.marked && count_words(candidate.text) < MIN_MISSING_WORDS => return None,
        [] => Verdict::Missing,
        [_, _, ..] => Verdict::Ambiguous,
        [only] if has_near && !only.near => Verdict::Moved,
        [only] if only.exact => Verdict::Exact,
        [_] => Verdict::Variant,
    };
    let first = places.first();
    let quote = Quote {
        text: candidate.text.to_owned(),
        marked: candidate.marked,
        source: first.map_or(QuoteSource::Manuscript, |p| p.source),
        verdict,
        path: first.map(|p| p.path.clone()),
        start: first.map(|p| p.range.start),
        end: first.map(|p| p.range.end),
    };
    let places = places.iter().map(|p| (p.path.clone(), p.range.start, p.range.end)).collect();
    Some(PlacedQuote { quote, shown: candidate.shown.clone(), places })
}

/// The file of the entry that bears this name, if a tool returned it in this turn.
fn entry_that_was_read<'a>(book: &'a Book, name: &str, read: &[BookPath]) -> Option<&'a BookPath> {
    let wanted = fold(name);
    let is_read = |path: &BookPath, soul: Option<&BookPath>| {
        read.contains(path) || soul.is_some_and(|s| read.contains(s))
    };
    book.entries
        .iter()
        .filter(|e| e.names().iter().any(|n| fold(n) == wanted))
        .find(|e| is_read(&e.path, e.soul.as_ref().map(|s| &s.path)))
        .map(|e| &e.path)
}

/// Paths in the text that a tool returned in this turn.
fn paths_in(shown: &str, read: &[BookPath]) -> Vec<Link> {
    let is_of_path = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_');
    let stands_alone = |range: &Range<usize>| {
        let after = &shown[range.end..];
        let goes_on = after.strip_prefix('.').unwrap_or(after).starts_with(is_of_path);
        !shown[..range.start].ends_with(|c: char| is_of_path(c) || matches!(c, '.' | ':')) && !goes_on
    };
    let mut links = vec![];
    for (at, path) in read.iter().enumerate() {
        if read[..at].contains(path) {
            continue;
        }
        let places = shown.match_indices(path.as_str()).map(|(start, found)| start..start + found.len());
        links.extend(places.filter(stands_alone).map(|shown| Link { shown, path: path.clone() }));
    }
    links
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;
    use crate::agent::testing::{LANTERN, book, chapter, path};

    /// Quotes as `shown words | marked | verdict | first path`.
    fn told(answer: &str, current: Option<&str>, read: &[&str]) -> Vec<String> {
        let read: Vec<BookPath> = read.iter().map(|p| path(p)).collect();
        let grounded = ground(answer, &book(), current.map(path).as_ref(), &read);
        let line = |q: &PlacedQuote| {
            let (shown, mark) =
                (&grounded.shown[q.shown.clone()], if q.quote.marked { "marked" } else { "unmarked" });
            let file = q.quote.path.as_ref().map_or("nowhere", |p| p.file_name());
            format!("{shown} | {mark} | {:?} | {file}", q.quote.verdict)
        };
        grounded.quotes.iter().map(line).collect()
    }

    const HARBOUR: &str = "manuscript/01-harbour.md";
    const LAMP: &str = "manuscript/02-lantern.md";
    const KEEPER: &str = "manuscript/03-keeper.md";
    const MIRA: &str = "codex/characters/mira.md";

    #[test]
    fn a_verdict_says_how_a_quotation_compares_with_the_book() {
        let table: [(&str, &str, &[&str], &str); 12] = [
            (
                "\"cold as a key\" [[locate:cold as a key]]",
                LAMP,
                &[],
                "\"cold as a key\" | marked | Exact | 02-lantern.md",
            ),
            (
                "“Cold as a key,” [[locate:Cold as a key,]]",
                LAMP,
                &[],
                "“Cold as a key,” | marked | Variant | 02-lantern.md",
            ),
            (
                "\"one that isn't a gull\" [[locate:one that isn't a gull]]",
                HARBOUR,
                &[],
                "\"one that isn't a gull\" | marked | Variant | 01-harbour.md",
            ),
            (
                "\"a second lantern under the bed\"",
                LAMP,
                &[],
                "\"a second lantern under the bed\" | unmarked | Moved | 03-keeper.md",
            ),
            (
                "\"a second lantern under the bed\"",
                LAMP,
                &[KEEPER],
                "\"a second lantern under the bed\" | unmarked | Variant | 03-keeper.md",
            ),
            (
                "\"The light went out\" [[locate:The light went out]]",
                LAMP,
                &[],
                "\"The light went out\" | marked | Ambiguous | 02-lantern.md",
            ),
            (
                "\"The light went out\" [[locate:The light went out]]",
                KEEPER,
                &[LAMP],
                "\"The light went out\" | marked | Ambiguous | 02-lantern.md",
            ),
            (
                "\"cold as a stone\" [[locate:cold as a stone]]",
                LAMP,
                &[],
                "\"cold as a stone\" | marked | Missing | nowhere",
            ),
            (
                "\"nobody had touched it at all\"",
                LAMP,
                &[],
                "\"nobody had touched it at all\" | unmarked | Missing | nowhere",
            ),
            (
                "\"She never lies to children\" [[locate:She never lies to children]]",
                LAMP,
                &[MIRA],
                "\"She never lies to children\" | marked | Exact | mira.md",
            ),
            ("\"the keeper drown\"", LAMP, &[], "\"the keeper drown\" | unmarked | Moved | plan.md"),
            (
                "\"on the wall\" [[locate:on the wall]]",
                LAMP,
                &[],
                "\"on the wall\" | marked | Moved | 01-harbour.md",
            ),
        ];
        for (answer, current, read, expected) in table {
            assert_eq!(told(answer, Some(current), read), [expected], "{answer}");
        }
    }

    #[test]
    fn with_nothing_open_or_read_there_is_no_elsewhere() {
        assert_eq!(
            told("\"cold as a key\" and \"Cold as a key\"", None, &[]),
            [
                "\"cold as a key\" | unmarked | Exact | 02-lantern.md",
                "\"Cold as a key\" | unmarked | Variant | 02-lantern.md"
            ]
        );
    }

    #[test]
    fn short_words_in_quotation_marks_are_no_claim() {
        assert_eq!(told("The \"lantern\" is \"very nice\" and \"not in there\".", Some(LAMP), &[]), [""; 0]);
        assert_eq!(told("\"lantern\" [[locate:lantern]]", Some(LAMP), &[]).len(), 1, "a marker is");
    }

    #[test]
    fn a_marker_stands_for_the_quotation_right_before_it_or_for_itself() {
        for (answer, shown, expected) in [
            ("As “cold as a key” [[locate:cold as a key]].", "As “cold as a key”.", "“cold as a key”"),
            ("> cold as a key [[locate:cold as a key]]", "> cold as a key", "cold as a key"),
            ("*cold as a key* [[locate:cold as a key]]", "*cold as a key*", "cold as a key"),
            ("That line [[locate:cold as a key]] works.", "That line works.", ""),
            ("\"warm\" [[locate:cold as a key]]", "\"warm\"", ""),
            (
                "“cold as a key [[locate:cold as a key]]”, she says",
                "“cold as a key”, she says",
                "“cold as a key”",
            ),
            ("scold as a key [[locate:cold as a key]]", "scold as a key", ""),
            ("“cold as a key”\n\nLater [[locate:cold as a key]]", "“cold as a key”\n\nLater", ""),
            (
                "“Cold, as a Key” (ch. 2) [[locate:cold as a key]]",
                "“Cold, as a Key” (ch. 2)",
                "“Cold, as a Key”",
            ),
        ] {
            let grounded = ground(answer, &book(), Some(&path(LAMP)), &[]);
            assert_eq!(grounded.shown, shown);
            let marked = grounded.quotes.iter().find(|q| q.quote.marked).unwrap();
            assert_eq!(&grounded.shown[marked.shown.clone()], expected, "{answer}");
            assert_eq!(marked.quote.verdict, Verdict::Exact);
        }
        let two = "\"cold as a key\" [[locate:cold as a key]] [[locate:cold as a key]]";
        let shown: Vec<_> =
            ground(two, &book(), Some(&path(LAMP)), &[]).quotes.into_iter().map(|q| q.shown).collect();
        assert_eq!(shown, [0..15, 15..15], "one quotation answers for one marker");
    }

    #[test]
    fn every_place_is_given_nearest_first() {
        let places = |current: &str, read: &[&str]| -> Vec<String> {
            let read: Vec<BookPath> = read.iter().map(|p| path(p)).collect();
            let grounded = ground("\"The light went out.\"", &book(), Some(&path(current)), &read);
            grounded.quotes[0].places.iter().map(|(p, ..)| p.file_name().to_owned()).collect()
        };
        assert_eq!(places(LAMP, &[]), ["02-lantern.md", "01-harbour.md"]);
        assert_eq!(places(HARBOUR, &[]), ["01-harbour.md", "02-lantern.md"]);
        assert_eq!(places(KEEPER, &[LAMP]), ["02-lantern.md", "01-harbour.md"]);
        assert_eq!(places(KEEPER, &[]), ["01-harbour.md", "02-lantern.md"]);
    }

    #[test]
    fn offsets_count_from_the_first_byte_of_the_file() {
        let grounded = ground("\"cold as a key\" [[locate:cold as a key]]", &book(), None, &[]);
        let quote = &grounded.quotes[0].quote;
        assert_eq!(&LANTERN[quote.start.unwrap()..quote.end.unwrap()], "cold as a key");

        let in_frontmatter = ground("\"title: The Harbour\"", &book(), None, &[]);
        assert_eq!(in_frontmatter.quotes, [], "a chapter's frontmatter is no prose");
    }

    #[test]
    fn a_reference_is_a_link_only_where_a_tool_returned_the_file() {
        let answer = "See [[codex:mira okafor]] and [[codex:Nobody]], https://example.org/x, codex/characters/mira.md, \
                      manuscript/03-keeper.md and xcodex/characters/mira.mdx.";
        let links = |read: &[&str]| -> Vec<(String, String)> {
            let read: Vec<BookPath> = read.iter().map(|p| path(p)).collect();
            let grounded = ground(answer, &book(), None, &read);
            assert!(grounded.shown.starts_with("See mira okafor and Nobody, https://example.org/x, "));
            let shown = |l: &Link| (grounded.shown[l.shown.clone()].to_owned(), l.path.to_string());
            grounded.links.iter().map(shown).collect()
        };
        assert_eq!(links(&[]), []);
        assert_eq!(
            links(&[MIRA, MIRA]),
            [("mira okafor".into(), MIRA.into()), (MIRA.into(), MIRA.into())] as [(String, String); 2]
        );
    }

    #[test]
    fn a_whole_answer_shows_no_marker() {
        for answer in [
            "\"a\" [[locate:a]] b [[codex:C]] d",
            "cut \"a\" [[locate:a",
            "cut [[loc\n\n[The answer was cut at the output limit.]",
            "[[locate:]] [[ LOCATE : x ]]",
        ] {
            let shown = ground(answer, &book(), None, &[]).shown;
            assert!(!shown.to_lowercase().contains("[[lo") && !shown.contains("]]"), "{shown:?}");
        }
    }

    #[test]
    fn a_long_answer_over_a_long_book_is_checked_quickly() {
        let mut book = book();
        for number in 0..100 {
            let mut text = String::new();
            for line in 0..1000 {
                let _ = writeln!(text, "Line {line} of chapter {number} goes on for ten words.\n");
            }
            book.chapters.push(chapter(number + 10, &format!("manuscript/x{number:03}.md"), "X", &text));
        }
        assert!(book.chapters.iter().map(|c| c.words).sum::<usize>() >= 1_000_000);
        let mut answer = String::new();
        for n in 0..60 {
            let _ = writeln!(
                answer,
                "\"line {n} of chapter {n} goes on\" and \"line {n} of no chapter at all\".\n"
            );
        }
        let started = std::time::Instant::now();
        let grounded = ground(&answer, &book, None, &[]);
        let missing = grounded.quotes.iter().filter(|q| q.quote.verdict == Verdict::Missing).count();
        assert_eq!((grounded.quotes.len(), missing), (120, 60));
        // Generous: this runs unoptimised, beside other tests.
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }

    proptest! {
        #[test]
        fn what_streams_in_is_a_beginning_of_what_is_shown(
            answer in "(\\[\\[locate:|\\[\\[codex:|\\]\\]|\\[|\\]|\"|”|é| |\n|ab ){0,16}",
        ) {
            let whole = hide_markers(&answer);
            for (cut, _) in answer.char_indices() {
                let so_far = hide_markers(&answer[..cut]);
                prop_assert!(whole.starts_with(so_far.trim_end()), "{so_far:?} of {whole:?}");
            }
            let grounded = ground(&answer, &Book::default(), None, &[]);
            prop_assert!(grounded.shown.starts_with(whole.trim_end_matches(['[', ' '])), "{:?} {whole:?}", grounded.shown);
            for quote in grounded.quotes {
                prop_assert!(grounded.shown.get(quote.shown).is_some());
            }
        }
    }
}
