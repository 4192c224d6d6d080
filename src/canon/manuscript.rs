//! Finding a chapter by what an author calls it.
//!
//! Pure functions over a book. A reference is never opened as a path: it is only compared with the chapters that were read.

use std::sync::LazyLock;

use regex::Regex;

use super::lookup::by_likeness;
use crate::domain::book::Book;
use crate::domain::manuscript::Chapter;
use crate::domain::numeral;
use crate::domain::passage::{Searchable, find_quote, fold, readable_stem};

/// What a reference came to.
#[derive(Debug, Clone)]
pub enum ChapterRef<'a> {
    /// This chapter.
    Found(&'a Chapter),
    /// None; these three titles are nearest.
    Missing(Vec<String>),
}

/// Titles that are offered for a reference that means no chapter.
const MAX_NEAR: usize = 3;

/// A title at least this like the reference may be what was meant.
const LIKE_ENOUGH: f64 = 0.7;

/// By how much the best title must be more like it than the next one.
const CLEARLY: f64 = 0.1;

/// Resolves a chapter number (`3`, `chapter 3`, `ch. 3`, `three`, `III`), a title (exact, then without case and accents, then
/// fuzzy), a relative path, or a file stem. Of several chapters with one number or title the first is taken.
pub fn resolve<'a>(book: &'a Book, reference: &str) -> ChapterRef<'a> {
    let reference = reference.trim().trim_matches(['"', '\u{201c}', '\u{201d}', '`']).trim();
    let numbered = numeral::of_chapter(reference);
    let by_digits = reference.bytes().all(|b| b.is_ascii_digit())
        || numbered.is_some_and(|n| n.labelled && n.rest.is_empty());
    let number = numeral::parse(reference).or_else(|| numbered.map(|numbered| numbered.number));
    let by_number =
        || number.and_then(|number| book.chapters.iter().find(|chapter| chapter.number == number));
    let found = if by_digits { by_number() } else { None }
        .or_else(|| by_path(book, reference))
        .or_else(|| by_title(book, reference))
        .or_else(|| numbered.filter(|n| !n.rest.is_empty()).and_then(|n| by_title(book, n.rest)))
        .or_else(by_number)
        .or_else(|| by_stem(book, reference))
        .or_else(|| by_likely_title(book, reference));
    match (found, number) {
        (Some(chapter), _) => ChapterRef::Found(chapter),
        (None, Some(number)) => ChapterRef::Missing(titles_by_number(book, number)),
        (None, None) => ChapterRef::Missing(titles_by_likeness(book, reference)),
    }
}

/// A path, with or without the manuscript folder and the extension.
fn by_path<'a>(book: &'a Book, reference: &str) -> Option<&'a Chapter> {
    let wanted = reference.trim_start_matches("./");
    let is_tail = |path: &str| {
        path.strip_suffix(wanted)
            .is_some_and(|before| !wanted.is_empty() && (before.is_empty() || before.ends_with('/')))
    };
    let without_extension = |path: &'a str| path.rsplit_once('.').map_or(path, |(before, _)| before);
    book.chapters
        .iter()
        .find(|chapter| chapter.path.as_str() == wanted)
        .or_else(|| book.chapters.iter().find(|chapter| is_tail(chapter.path.as_str())))
        .or_else(|| book.chapters.iter().find(|chapter| is_tail(without_extension(chapter.path.as_str()))))
}

fn by_title<'a>(book: &'a Book, title: &str) -> Option<&'a Chapter> {
    let folded = fold(title);
    book.chapters
        .iter()
        .find(|chapter| chapter.title == title)
        .or_else(|| book.chapters.iter().find(|chapter| !folded.is_empty() && fold(&chapter.title) == folded))
}

fn by_stem<'a>(book: &'a Book, stem: &str) -> Option<&'a Chapter> {
    let folded = fold(stem);
    book.chapters.iter().find(|chapter| {
        let own = chapter.path.stem();
        !folded.is_empty() && (fold(own) == folded || fold(&readable_stem(own)) == folded)
    })
}

/// The title that is clearly more like the reference than any other.
fn by_likely_title<'a>(book: &'a Book, reference: &str) -> Option<&'a Chapter> {
    let said = reference
        .strip_prefix("the chapter ")
        .or_else(|| reference.strip_prefix("chapter "))
        .unwrap_or(reference);
    let words = words_of(said);
    if words.is_empty() {
        return None;
    }
    let mut ranked: Vec<(f64, &Chapter)> = book
        .chapters
        .iter()
        .map(|chapter| {
            let typed = by_likeness(said, [chapter.title.as_str()]).first().map_or(0.0, |(alike, _)| *alike);
            (typed.max(shared_words(&words, &words_of(&chapter.title))), chapter)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (best, chapter) = *ranked.first()?;
    let next = ranked.get(1).map_or(0.0, |(alike, _)| *alike);
    (best >= LIKE_ENOUGH && best - next >= CLEARLY).then_some(chapter)
}

/// The words of a title that mean something.
fn words_of(text: &str) -> Vec<String> {
    let folded = fold(text);
    let small = ["a", "an", "the", "of", "and", "in", "on", "at", "to"];
    let words = folded.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    words.filter(|word| !small.contains(word)).map(str::to_owned).collect()
}

/// 0.8 to 1 where all words of one are words of the other, the more the better; else 0.
fn shared_words(said: &[String], title: &[String]) -> f64 {
    let (few, many) = if said.len() <= title.len() { (said, title) } else { (title, said) };
    if few.is_empty() || !few.iter().all(|word| many.contains(word)) {
        return 0.0;
    }
    0.8 + 0.2 * few.len() as f64 / many.len() as f64
}

fn titles_by_number(book: &Book, number: u32) -> Vec<String> {
    let mut chapters: Vec<&Chapter> = book.chapters.iter().collect();
    chapters.sort_by_key(|chapter| chapter.number.abs_diff(number));
    chapters.into_iter().take(MAX_NEAR).map(|chapter| chapter.title.clone()).collect()
}

fn titles_by_likeness(book: &Book, reference: &str) -> Vec<String> {
    let ranked = by_likeness(reference, book.chapters.iter().map(|chapter| chapter.title.as_str()));
    ranked.into_iter().take(MAX_NEAR).map(|(_, title)| title.to_owned()).collect()
}

/// Returns the chapter references that a question makes in words: `chapter 3`, `ch. 3`, `chapter three`, or a whole title. In the order of
/// the question, each once, as texts that [`resolve`] takes. A number counts whether or not there is such a chapter. Of a title of one word the
/// letter case counts, and it must be quoted or stand inside a sentence.
pub fn references_in(book: &Book, question: &str) -> Vec<String> {
    let mut found: Vec<(usize, String)> = vec![];
    for label in LABEL.captures_iter(question) {
        let Some(numbers) = label.get(1) else { continue };
        // "A chapter I liked" speaks of its author.
        let is_pronoun = numbers.as_str() == "I" && question[numbers.end()..].starts_with(' ');
        for number in NUMBER.find_iter(numbers.as_str()).filter(|_| !is_pronoun) {
            if let Some(value) = numeral::parse(number.as_str()) {
                found.push((numbers.start() + number.start(), format!("chapter {value}")));
            }
        }
    }
    let caseless = Searchable::caseless(question);
    for chapter in &book.chapters {
        let title = chapter.title.as_str();
        let mut places =
            if words_of(title).len() > 1 { caseless.find(title) } else { find_quote(question, title) }
                .into_iter();
        if let Some(place) = places.find(|place| names_a_chapter(question, title, place.range.start)) {
            found.push((place.range.start, title.to_owned()));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    let mut seen = std::collections::HashSet::new();
    found
        .into_iter()
        .map(|(_, reference)| reference)
        .filter(|reference| seen.insert(reference.clone()))
        .collect()
}

/// `chapter` or `ch.` with everything that can be a list of numbers behind it.
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"(?:\d{1,4}|[ivxlc]{1,8}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)";
    let list = format!(
        r"\b(?:chapters?|chaps?\.?|chs?\.?)\s*#?({number}\b(?:\s*(?:,|and|&|or|to|with|,\s*and)\s*{number}\b)*)"
    );
    pattern(&format!("(?i){list}"))
});

/// One number of such a list.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\d+|[a-z]+ty[- ](?:one|two|three|four|five|six|seven|eight|nine)\b|[a-z]+")
});

fn pattern(text: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and tests use them")]
    Regex::new(text).expect("a pattern")
}

/// Whether a title that stands at `start` of a question is meant as one.
fn names_a_chapter(question: &str, title: &str, start: usize) -> bool {
    if title.split_whitespace().nth(1).is_some() {
        return true;
    }
    let before = question[..start].trim_end();
    let quoted = question[..start].ends_with(['"', '\u{201c}', '\'', '\u{2018}', '*', '_']);
    let starts_a_sentence = before.is_empty() || before.ends_with(['.', '?', '!', ':']);
    let capital = question[start..].starts_with(char::is_uppercase);
    quoted || (capital && !starts_a_sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::shelf::{chapter, manuscript};

    fn novel() -> Book {
        manuscript(vec![
            chapter("manuscript/00-prologue.md", 0, "Prologue", ""),
            chapter("manuscript/01-the-listening-post.md", 1, "The Listening Post", ""),
            chapter("manuscript/02-ships-log.md", 2, "Ship’s Log, Outbound", ""),
            chapter("manuscript/03-an-inventory.md", 3, "An Inventory", ""),
            chapter("manuscript/part2/07-the-inquiry.md", 7, "The Inquiry", ""),
            chapter("manuscript/part2/12-seven.md", 12, "Seven", ""),
            chapter("manuscript/21-élan.md", 21, "Élan Vital", ""),
        ])
    }

    fn found(reference: &str) -> Option<u32> {
        match resolve(&novel(), reference) {
            ChapterRef::Found(chapter) => Some(chapter.number),
            ChapterRef::Missing(_) => None,
        }
    }

    #[test]
    fn a_chapter_is_found_by_whatever_it_is_called() {
        let table = [
            ("3", 3),
            (" 03 ", 3),
            ("chapter 3", 3),
            ("Ch. 3", 3),
            ("ch3", 3),
            ("three", 3),
            ("Chapter Three", 3),
            ("III", 3),
            ("chapter iii", 3),
            ("twenty-one", 21),
            ("Chapter Twenty One", 21),
            ("Ch 3: An Inventory", 3),
            ("Chapter 7 - The Inquiry", 7),
            ("chapter 9: The Inquiry", 7),
            ("chapter seven", 7),
            ("Seven", 12),
            ("0", 0),
            ("The Inquiry", 7),
            ("the inquiry", 7),
            ("“ship's log, outbound”", 2),
            ("ELAN VITAL", 21),
            ("manuscript/03-an-inventory.md", 3),
            ("03-an-inventory.md", 3),
            ("03-an-inventory", 3),
            ("part2/07-the-inquiry", 7),
            ("./manuscript/part2/07-the-inquiry.md", 7),
            ("Ships Log", 2),
            ("listening post", 1),
            ("The Listning Post", 1),
            ("the chapter Inventory", 3),
            ("prolog", 0),
        ];
        for (reference, number) in table {
            assert_eq!(found(reference), Some(number), "{reference:?}");
        }
    }

    #[test]
    fn what_is_no_chapter_has_three_near_titles() {
        let missing = |reference: &str| match resolve(&novel(), reference) {
            ChapterRef::Found(chapter) => panic!("{reference}: {}", chapter.title),
            ChapterRef::Missing(near) => near,
        };
        assert_eq!(missing("20"), ["Élan Vital", "Seven", "The Inquiry"]);
        assert_eq!(missing("chapter 8")[0], "The Inquiry");
        assert_eq!(missing("The Enquirer")[0], "The Inquiry");
        for reference in
            ["", "../../etc/passwd", "/etc/passwd", "The", "the of", "Zanzibar", "y.md", "ory.md", "current"]
        {
            assert_eq!(missing(reference).len(), 3, "{reference:?}");
        }
        assert!(matches!(resolve(&Book::default(), "1"), ChapterRef::Missing(near) if near.is_empty()));
    }

    #[test]
    fn a_likeness_that_two_titles_share_is_no_answer() {
        let book = manuscript(vec![
            chapter("a.md", 1, "The Long Night", ""),
            chapter("b.md", 2, "The Long Light", ""),
        ]);
        assert!(matches!(resolve(&book, "The Long Sight"), ChapterRef::Missing(_)));
    }

    #[test]
    fn a_question_names_its_chapters() {
        let references = |question: &str| references_in(&novel(), question);
        assert_eq!(references("Does chapter 3 drag, compared with Ch. 7?"), ["chapter 3", "chapter 7"]);
        assert_eq!(references("Compare chapters 1, 2 and three."), ["chapter 1", "chapter 2", "chapter 3"]);
        assert_eq!(references("In chapter Twenty-One or chapter IV"), ["chapter 21", "chapter 4"]);
        assert_eq!(
            references("Is “The Inquiry” better than the listening post?"),
            ["The Inquiry", "The Listening Post"]
        );
        assert_eq!(references("Is the inquiry better than Ship's log, outbound?"), ["Ship’s Log, Outbound"]);
        assert_eq!(
            references("Seven of them in a prologue? In Seven and the \"prologue\"."),
            ["Seven", "Prologue"]
        );
        assert_eq!(
            references("The chapter in which he leaves, or a chapter I liked, on charts 3"),
            ["chapter 1"][..0]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_reference_can_be_asked_for(reference in "\\PC{0,20}|(ch|chapter)?[a-z0-9 ./:éIVX-]{0,12}") {
            let book = novel();
            resolve(&book, &reference);
            references_in(&book, &reference);
        }
    }
}
