//! Where the story stands at a chapter, and what holds of an entry there: its `progressions` up to that place.
//!
//! A progression says `from:` a chapter or a date. Where it can't be told whether that time has come, it does not count.

use serde_json::{Map, Value};

use crate::domain::book::Book;
use crate::domain::codex::Entry;
use crate::domain::ids::BookPath;
use crate::domain::manuscript::Chapter;
use crate::domain::passage::fold;
use crate::domain::story_date::{StoryDate, When};

/// Keys that say when a progression begins.
const PLACES: [&str; 6] = ["from", "since", "chapter", "date", "when", "start"];

/// A place in reading order with its time.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// The book.
    pub book: &'a Book,
    /// The chapter.
    pub chapter: &'a Chapter,
    /// Its index among the chapters.
    pub place: usize,
    /// The date of the chapter, else of the last one before it that has one and does not stand out of the order of time.
    pub date: Option<&'a StoryDate>,
}

/// One of an entry's `progressions`.
#[derive(Debug, Clone)]
pub struct Step<'a> {
    /// When it begins, as often as it says so.
    pub places: Vec<StoryDate>,
    /// What holds from there on.
    pub facts: Vec<(&'a str, &'a Value)>,
}

/// What holds of an entry at a chapter.
#[derive(Debug, Clone, PartialEq)]
pub struct AsOf<'a> {
    /// The chapter's number.
    pub chapter: u32,
    /// The date there, as written.
    pub date: Option<&'a str>,
    /// What holds, later steps over earlier ones.
    pub facts: Map<String, Value>,
}

impl<'a> Now<'a> {
    /// Stands at the chapter with this path; `None` if it is no chapter.
    pub fn at(book: &'a Book, chapter: &BookPath) -> Option<Self> {
        let place = book.chapters.iter().position(|c| &c.path == chapter)?;
        let chapter = &book.chapters[place];
        let date = chapter.time.date.as_ref().filter(|date| date.span().is_some());
        let before = || book.chapters[..place].iter().rev().find_map(in_order);
        Some(Self { book, chapter, place, date: date.or_else(before) })
    }

    /// Whether the time of `from` has come here. Of a date that is told less exactly, the beginning counts.
    pub fn has_come(&self, from: &StoryDate) -> bool {
        match from.when {
            When::Calendar(span) => {
                let here = self.date.and_then(StoryDate::span);
                here.is_some_and(|here| span.first <= here.first)
            }
            When::Chapter(number, _) => match place_of_number(self.book, number) {
                Some(place) => place <= self.place,
                None => number <= self.chapter.number,
            },
            When::Free => place_of_title(self.book, &from.text).is_some_and(|place| place <= self.place),
        }
    }
}

impl Step<'_> {
    /// Whether it has begun: by its chapter if it names one, else by its date.
    pub fn has_come(&self, now: &Now<'_>) -> bool {
        let of_chapter = |place: &&StoryDate| place_in(now.book, place).is_some();
        self.places.iter().find(of_chapter).or(self.places.first()).is_some_and(|from| now.has_come(from))
    }
}

/// The date of a chapter that can be compared and that takes part in the order of time.
pub(super) fn in_order(chapter: &Chapter) -> Option<&StoryDate> {
    let date = chapter.time.date.as_ref().filter(|_| !chapter.time.out_of_order)?;
    date.span().map(|_| date)
}

/// Returns the index of the chapter that a place names by number or by title.
pub(super) fn place_in(book: &Book, place: &StoryDate) -> Option<usize> {
    match place.when {
        When::Chapter(number, _) => place_of_number(book, number),
        When::Free => place_of_title(book, &place.text),
        When::Calendar(_) => None,
    }
}

fn place_of_number(book: &Book, number: u32) -> Option<usize> {
    book.chapters.iter().position(|chapter| chapter.number == number)
}

/// A whole title, file name or path: a likeness would be a guess.
fn place_of_title(book: &Book, title: &str) -> Option<usize> {
    let title = fold(title.trim_matches(['[', ']']));
    let bears = |chapter: &Chapter| {
        [chapter.title.as_str(), chapter.path.stem(), chapter.path.as_str()]
            .iter()
            .any(|known| fold(known) == title)
    };
    if title.is_empty() { None } else { book.chapters.iter().position(bears) }
}

/// Finds the first of `keys` (folded) that is there and says something.
pub(super) fn field<'a>(fields: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    let says = |value: &&Value| !value.is_null() && value.as_str() != Some("");
    keys.iter().find_map(|key| {
        fields.iter().find(|(name, _)| fold(name) == *key).map(|(_, value)| value).filter(says)
    })
}

/// Returns the `progressions` of an entry, in their order. Items that are no keys and values are left out.
pub fn steps(entry: &Entry) -> Vec<Step<'_>> {
    let listed = field(&entry.fields, &["progressions", "progression"]);
    let items = match listed {
        Some(Value::Array(items)) => items.iter().collect(),
        Some(single @ Value::Object(_)) => vec![single],
        _ => vec![],
    };
    items.into_iter().filter_map(Value::as_object).map(step).collect()
}

fn step(item: &Map<String, Value>) -> Step<'_> {
    let is_place = |key: &str| PLACES.contains(&fold(key).as_str());
    let places = PLACES.iter().filter_map(|key| field(item, &[key]).and_then(StoryDate::of_place)).collect();
    let facts = item.iter().filter(|(key, _)| !is_place(key)).map(|(key, value)| (key.as_str(), value));
    Step { places, facts: facts.collect() }
}

/// Returns what holds of `entry` at a chapter; `None` for an entry without progressions.
pub fn as_of<'a>(now: &Now<'a>, entry: &Entry) -> Option<AsOf<'a>> {
    let steps = steps(entry);
    if steps.is_empty() {
        return None;
    }
    let mut facts = Map::new();
    for step in steps.iter().filter(|step| step.has_come(now)) {
        facts.extend(step.facts.iter().map(|(key, value)| ((*key).to_owned(), (*value).clone())));
    }
    Some(AsOf { chapter: now.chapter.number, date: now.date.map(|date| date.text.as_str()), facts })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::canon::shelf::{With, book, chapter, dated, entry};

    fn a() -> Entry {
        entry("characters/a.md", "A").field(
            "progressions",
            json!([
                {"from": "2307-03-14", "status": "young"},
                {"from": 2, "status": "here", "knows": "all"},
                {"From": "chapter 3", "status": "gone"},
                {"from": "The Fourth", "status": "back"},
                {"from": "later", "status": "never"},
                {"status": "without a time"},
                "not a step",
            ]),
        )
    }

    fn shelf() -> Book {
        let mut book = book(vec![a()]);
        book.chapters = vec![
            chapter("m/1.md", 1, "One", "Text."),
            dated("m/2.md", 2, "2318-06-03"),
            chapter("m/3.md", 3, "Three", "Text."),
            chapter("m/4.md", 4, "The Fourth", "Text."),
        ];
        book
    }

    fn facts(chapter: &str) -> Value {
        let book = shelf();
        let now = Now::at(&book, &BookPath::new(chapter).unwrap()).unwrap();
        as_of(&now, &book.entries[0]).unwrap().facts.into()
    }

    #[test]
    fn what_holds_follows_the_chapter() {
        assert_eq!(facts("m/1.md"), json!({}));
        assert_eq!(facts("m/2.md"), json!({"status": "here", "knows": "all"}));
        assert_eq!(facts("m/3.md"), json!({"status": "gone", "knows": "all"}));
        assert_eq!(facts("m/4.md"), json!({"status": "back", "knows": "all"}));
    }

    #[test]
    fn a_place_that_is_no_chapter_has_no_time() {
        let book = shelf();
        assert!(Now::at(&book, &BookPath::new("codex/characters/a.md").unwrap()).is_none());
        let now = Now::at(&book, &BookPath::new("m/1.md").unwrap()).unwrap();
        assert_eq!(as_of(&now, &entry("characters/b.md", "B")), None);
    }

    #[test]
    fn a_chapter_out_of_order_does_not_set_the_clock_back() {
        let mut book = shelf();
        book.chapters[2] = dated("m/3.md", 3, "2307-01-01");
        book.chapters[2].time.out_of_order = true;
        let date = |chapter: &str| {
            let now = Now::at(&book, &BookPath::new(chapter).unwrap()).unwrap();
            now.date.map(|date| date.text.clone())
        };
        assert_eq!(date("m/1.md"), None);
        assert_eq!(date("m/3.md").as_deref(), Some("2307-01-01"), "there it has its own time");
        assert_eq!(date("m/4.md").as_deref(), Some("2318-06-03"));
    }

    #[test]
    fn a_date_is_compared_as_far_as_it_is_told() {
        let come = |from: Value, here: &str| {
            let mut book = book(vec![]);
            book.chapters = vec![dated("m/1.md", 1, here)];
            let now = Now::at(&book, &book.chapters[0].path).unwrap();
            now.has_come(&StoryDate::of_place(&from).unwrap())
        };
        assert!(come(json!("2318"), "2318-06-03"));
        assert!(come(json!(2318), "2318-06-03"), "four digits alone are a year");
        assert!(come(json!("2318-06"), "3 June 2318"));
        assert!(!come(json!("2318-07"), "2318-06-03"));
        assert!(!come(json!("2318-06-04"), "2318-06-03"));
        assert!(!come(json!("2318"), "15th hammer"));
        assert!(!come(json!("15th hammer"), "2318-06-03"));
        assert!(!come(json!("2318-06-03"), "2318"));
    }
}
