//! Everything that has a time, and its order.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::dates::EventNames;
use super::{Kind, Placed, Row, text};
use crate::canon::story_time::{field, in_order, place_in, steps};
use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::passage::{fold, line_column};
use crate::domain::story_date::{Moment, Span, StoryDate, When};

/// Keys of an event's date, the strongest first.
pub(super) const DATES: [&str; 5] = ["story date", "date", "when", "start", "year"];
const ENDS: [&str; 2] = ["end", "until"];
const CHAPTERS: [&str; 2] = ["chapter", "chapters"];
const FOUNDINGS: [&str; 5] = ["founded", "established", "founding", "date founded", "date of founding"];
const ORDERS: [&str; 3] = ["order", "sequence", "timeline order"];
pub(super) const BIRTHS: [&str; 5] = ["born", "birth", "birthday", "birthdate", "date of birth"];
pub(super) const DEATHS: [&str; 4] = ["died", "death", "date of death", "deceased"];

/// Returns everything that has a time, in its order: by date, what has none behind the chapter that it belongs to or behind the chapter before
/// it; then what has only an `order`; then what can't be ordered.
pub fn rows(book: &Book) -> Vec<Row> {
    let clock = Clock::of(book);
    let mut all: Vec<(Key, Row)> = vec![];
    for (place, chapter) in book.chapters.iter().enumerate() {
        let time = Time { date: chapter.time.date.clone(), chapter: Some(place), order: None };
        let line = line_of(&chapter.text, chapter.body_start, &["story date", "date", "when", "start"]);
        let mut row = row(Kind::Chapter, &chapter.title, &chapter.path, line);
        row.out_of_order = chapter.time.out_of_order;
        all.push(clock.place(row, time));
    }
    let events = EventNames::of(book.entries_of(EntryType::Event).filter(|event| !text::is_chronicle(event)));
    for entry in &book.entries {
        of_entry(book, entry, &events, &clock, &mut all);
    }
    all.sort_by(|(a, x), (b, y)| {
        a.cmp(b).then_with(|| x.title.cmp(&y.title)).then_with(|| (&x.path, x.line).cmp(&(&y.path, y.line)))
    });
    all.into_iter().map(|(_, row)| row).collect()
}

fn of_entry(book: &Book, entry: &Entry, events: &EventNames, clock: &Clock<'_>, all: &mut Vec<(Key, Row)>) {
    let head = entry.body.start;
    let mut add = |kind: Kind, title: &str, line: usize, time: Time, facts: Map<String, Value>| {
        let mut row = row(kind, title, &entry.path, line);
        row.entry_type = Some(entry.entry_type);
        row.facts = facts;
        all.push(clock.place(row, time));
    };
    let kinds: &[(Kind, &[&str])] = match entry.entry_type {
        EntryType::Character => &[(Kind::Birth, &BIRTHS), (Kind::Death, &DEATHS)],
        EntryType::Location | EntryType::Organization => &[(Kind::Founding, &FOUNDINGS)],
        _ => &[],
    };
    for (kind, keys) in kinds {
        if let Some(date) = date_of(entry, keys) {
            add(*kind, &entry.name, line_in(entry, keys), Time::of(book, &[date]), Map::new());
        }
    }
    if entry.entry_type == EntryType::Event {
        let time = time_of_event(book, entry);
        let told = if time.is_known() { vec![] } else { text::dated_lines(entry) };
        let is_list = !told.is_empty() && text::is_chronicle(entry);
        if !is_list {
            let line = line_in(entry, &[&DATES[..], &CHAPTERS, &ORDERS].concat());
            add(Kind::Event, &entry.name, line, time, Map::new());
        }
        // An event of its own has its own row.
        for told in told.into_iter().filter(|told| events.begins(&told.what).is_none()) {
            let title = if is_list { told.what } else { format!("{}: {}", entry.name, told.what) };
            let time = Time { date: Some(told.date), ..Time::default() };
            add(Kind::Event, &title, told.line, time, Map::new());
        }
    }
    for step in steps(entry) {
        let line = step.places.first().map_or(1, |place| line_of_step(&entry.text, head, &place.text));
        let facts = step.facts.iter().map(|(key, value)| ((*key).to_owned(), (*value).clone())).collect();
        add(Kind::Progression, &entry.name, line, Time::of(book, &step.places), facts);
    }
}

/// When something is, as far as it says.
#[derive(Debug, Default)]
pub(super) struct Time {
    pub date: Option<StoryDate>,
    /// Index of the chapter.
    pub chapter: Option<usize>,
    pub order: Option<f64>,
}

impl Time {
    /// Whether anything puts it in the order.
    fn is_known(&self) -> bool {
        self.date.is_some() || self.chapter.is_some() || self.order.is_some()
    }

    fn of(book: &Book, places: &[StoryDate]) -> Self {
        let chapter = places.iter().find_map(|place| place_in(book, place));
        let calendar = places.iter().find(|place| place.span().is_some());
        let other = || places.iter().find(|place| place_in(book, place).is_none());
        Self { date: calendar.or_else(other).cloned(), chapter, order: None }
    }
}

/// Reads when an event is. A date without an end is one; an end that can't be read takes nothing from the beginning.
pub(super) fn time_of_event(book: &Book, entry: &Entry) -> Time {
    let start = field(&entry.fields, &DATES).and_then(StoryDate::of);
    let start = start.or_else(|| text::keyed(entry, &DATES));
    let end = field(&entry.fields, &ENDS).and_then(StoryDate::of);
    let date = start.map(|start| {
        let whole = end.map(|end| StoryDate::parse(&format!("{} to {}", start.text, end.text)));
        whole.filter(|whole| whole.span().is_some()).unwrap_or(start)
    });
    // `date: chapter 7` is a chapter.
    let (date, by_date) = match date {
        Some(date) if matches!(date.when, When::Chapter(..)) => (None, place_in(book, &date)),
        date => (date, None),
    };
    let chapter = field(&entry.fields, &CHAPTERS).and_then(StoryDate::of_place);
    let order = field(&entry.fields, &ORDERS).and_then(number);
    Time { date, chapter: chapter.and_then(|chapter| place_in(book, &chapter)).or(by_date), order }
}

/// The date under one of some keys; of an object, that of its `date`. `died: yes` says no time.
pub(super) fn date_of(entry: &Entry, keys: &[&str]) -> Option<StoryDate> {
    let date = match field(&entry.fields, keys) {
        Some(Value::Object(map)) => StoryDate::of_place(field(map, &["date", "when", "year"])?)?,
        Some(value) => StoryDate::of_place(value)?,
        None => text::keyed(entry, keys)?,
    };
    let says_no_time = matches!(fold(&date.text).as_str(), "yes" | "no" | "true" | "false" | "unknown" | "?");
    (!says_no_time).then_some(date)
}

fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

fn row(kind: Kind, title: &str, path: &crate::domain::ids::BookPath, line: usize) -> Row {
    Row {
        kind,
        title: title.to_owned(),
        entry_type: None,
        path: path.clone(),
        line,
        chapter: None,
        date: None,
        from: None,
        to: None,
        placed: Placed::None,
        out_of_order: false,
        facts: Map::new(),
    }
}

/// A place in the order; the least is the first.
#[derive(Debug, PartialEq)]
struct Key {
    group: u8,
    date: Option<Moment>,
    /// Index of the chapter; behind all of them without one.
    chapter: usize,
    /// Longer stretches before shorter ones that begin with them.
    ends: Option<std::cmp::Reverse<Moment>>,
    order: f64,
    kind: Kind,
}

impl Key {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.group, self.date, self.chapter)
            .cmp(&(other.group, other.date, other.chapter))
            .then_with(|| self.order.total_cmp(&other.order))
            .then_with(|| (self.ends, self.kind).cmp(&(other.ends, other.kind)))
    }
}

/// The dates of the chapters, also of those that have none.
struct Clock<'a> {
    book: &'a Book,
    /// For each chapter its first minute, else that of a neighbour.
    dates: Vec<Option<Moment>>,
}

/// When a chapter says that it happens.
fn own_span(book: &Book, place: usize) -> Option<Span> {
    book.chapters[place].time.date.as_ref().and_then(StoryDate::span)
}

impl<'a> Clock<'a> {
    fn of(book: &'a Book) -> Self {
        let own = |place: usize| own_span(book, place);
        let ordered = |place: usize| in_order(&book.chapters[place]).and_then(StoryDate::span);
        let first = (0..book.chapters.len()).find_map(ordered);
        let mut last: Option<Span> = None;
        let mut dates = vec![];
        for place in 0..book.chapters.len() {
            last = ordered(place).or(last);
            dates.push(own(place).or(last).or(first).map(|span| span.first));
        }
        Self { book, dates }
    }

    fn own(&self, place: usize) -> Option<Span> {
        own_span(self.book, place)
    }

    /// Finds the place of a row, and notes in the row what gave it.
    fn place(&self, mut row: Row, time: Time) -> (Key, Row) {
        let span = time.date.as_ref().and_then(StoryDate::span);
        // What has no date of its own stands behind its chapter, and so ends with it.
        let ends = span.or_else(|| time.chapter.and_then(|place| self.own(place)));
        let of_chapter = time.chapter.map(|place| self.dates[place]);
        let (group, date, placed) = match (span, of_chapter) {
            (Some(span), _) => (0, Some(span.first), Placed::Date),
            (None, Some(Some(date))) => (0, Some(date), Placed::Chapter),
            (None, Some(None)) => (1, None, Placed::Chapter),
            (None, None) if time.order.is_some() => (2, None, Placed::Order),
            (None, None) => (3, None, Placed::None),
        };
        row.placed = placed;
        row.chapter = time.chapter.map(|place| self.book.chapters[place].number);
        row.date = time.date.map(|date| date.text);
        row.from = span.map(|span| span.first.to_string());
        row.to = span.map(|span| span.last.to_string());
        let key = Key {
            group,
            date,
            chapter: time.chapter.unwrap_or(usize::MAX),
            ends: ends.map(|span| std::cmp::Reverse(span.last)),
            order: time.order.unwrap_or(f64::MAX),
            kind: row.kind,
        };
        (key, row)
    }
}

/// Returns the line of an entry's file that has the first of some keys: in the frontmatter, else in the text; else 1.
pub(super) fn line_in(entry: &Entry, keys: &[&str]) -> usize {
    match line_of(&entry.text, entry.body.start, keys) {
        1 => text::line_of(entry, keys).unwrap_or(1),
        line => line,
    }
}

/// Returns the line of the frontmatter with the first of some keys that is there, else 1.
pub(super) fn line_of(text: &str, head: usize, keys: &[&str]) -> usize {
    let front = text.get(..head).unwrap_or_default();
    let of = |wanted: &&str| {
        front.lines().position(|line| {
            line.split_once([':', '=']).is_some_and(|(key, _)| fold(key.trim_matches(['"', ' '])) == **wanted)
        })
    };
    keys.iter().find_map(of).map_or(1, |line| line + 1)
}

/// Returns the line of the frontmatter below `progressions` that has this place, else that of `progressions`.
pub(super) fn line_of_step(text: &str, head: usize, place: &str) -> usize {
    let front = text.get(..head).unwrap_or_default();
    let from = front.to_ascii_lowercase().find("progression").unwrap_or(0);
    let at = front[from..].match_indices(place).find(|(at, _)| {
        let before = front[from..from + at].trim_end_matches([' ', '"', '\'']);
        before.ends_with([':', '='])
    });
    line_column(text, from + at.map_or(0, |(at, _)| at)).0
}
