//! Characters who are there after their death or before their birth.
//!
//! Being mentioned is not being there: the dead are remembered. Being there is what a chapter's frontmatter or an event lists, and words of
//! speech or movement right beside the name.

use super::rows::{BIRTHS, DEATHS, date_of, line_in, line_of, time_of_event};
use super::{Checked, Finding, Place, Severity, finding};
use crate::canon::mentions::Names;
use crate::canon::story_time::{field, place_in};
use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::manuscript::Chapter;
use crate::domain::passage::{fold, line_column};
use crate::domain::story_date::{Span, StoryDate};
use serde_json::Value;

const RULE: &str = "presence";

/// Keys of an event that list who was there.
const CAST: [&str; 6] = ["characters", "participants", "present", "people", "who", "cast"];

/// Words beside a name that say that its bearer does something there.
const ACTS: [&str; 24] = [
    "said",
    "says",
    "asked",
    "asks",
    "answered",
    "replied",
    "whispered",
    "shouted",
    "murmured",
    "nodded",
    "smiled",
    "laughed",
    "walked",
    "stood",
    "sat",
    "turned",
    "looked",
    "shrugged",
    "sighed",
    "ran",
    "came",
    "entered",
    "left",
    "waited",
];

/// A character's life, as far as it is dated.
struct Life<'a> {
    entry: &'a Entry,
    /// Its index among the names.
    named: usize,
    born: Option<StoryDate>,
    died: Option<StoryDate>,
}

impl Life<'_> {
    /// Returns what excludes a time: `died: ...` or `born: ...`, with the keys that say so.
    fn excludes(&self, span: Span) -> Option<(String, &'static [&'static str])> {
        let date = |date: &Option<StoryDate>| date.as_ref().and_then(|d| Some((d.text.clone(), d.span()?)));
        if let Some((text, _)) = date(&self.died).filter(|(_, died)| died.is_before(&span)) {
            return Some((format!("died: {text}"), &DEATHS));
        }
        let (text, _) = date(&self.born).filter(|(_, born)| span.is_before(born))?;
        Some((format!("born: {text}"), &BIRTHS))
    }

    /// The same for a chapter behind the one in which the character dies.
    fn died_before(
        &self,
        book: &Book,
        place: usize,
        chapter: &Chapter,
    ) -> Option<(String, &'static [&'static str])> {
        let died = self.died.as_ref().filter(|_| !chapter.time.out_of_order)?;
        let there = place_in(book, died).filter(|there| *there < place)?;
        Some((format!("died: chapter {}", book.chapters[there].number), &DEATHS))
    }

    fn line(&self, keys: &[&str]) -> Place {
        Place::at(&self.entry.path, line_in(self.entry, keys))
    }
}

/// Characters who are present or act after they died or before they were born.
pub(super) fn after_death_or_before_birth(book: &Book) -> Checked {
    let lives = lives(book);
    let what = ("time in a life", "times of chapters and events with a life");
    if lives.is_empty() {
        return Checked::new(RULE, vec![], 0, ("birth or death", "dated births or deaths"), None);
    }
    let names = Names::of(book);
    let (mut found, mut compared, mut mentioned, mut undated) = (vec![], 0, 0, 0);
    for (place, chapter) in book.chapters.iter().enumerate() {
        let span = chapter.time.date.as_ref().and_then(StoryDate::span);
        undated += usize::from(span.is_none());
        let excluded: Vec<(&Life<'_>, (String, &[&str]))> = lives
            .iter()
            .filter_map(|life| {
                let why = span.and_then(|span| life.excludes(span));
                Some((life, why.or_else(|| life.died_before(book, place, chapter))?))
            })
            .collect();
        compared += if span.is_some() { lives.len() } else { 0 };
        let found_here = if excluded.is_empty() { vec![] } else { names.find(&chapter.text) };
        for (life, (why, keys)) in excluded {
            let ranges =
                found_here.iter().filter(|m| m.entry == life.named && m.range.start >= chapter.body_start);
            let ranges: Vec<_> = ranges.map(|m| m.range.clone()).collect();
            match in_chapter(chapter, life.entry, &ranges) {
                Some((at, severity, how)) => {
                    let message = format!(
                        "{} {how} in chapter {}{}, but the entry says {why}.",
                        life.entry.name,
                        chapter.number,
                        dated(chapter.time.date.as_ref())
                    );
                    found.push(finding(RULE, severity, at, message, vec![life.line(keys)]));
                }
                None => mentioned += usize::from(!ranges.is_empty()),
            }
        }
    }
    found.extend(at_events(book, &lives, &mut compared));
    let mut left_out = vec![];
    if undated > 0 {
        left_out.push(format!("Chapters without a date that can be ordered: {undated}."));
    }
    if mentioned > 0 {
        left_out.push(format!("Mentions that may be memories: in {mentioned} chapters."));
    }
    Checked::new(RULE, found, compared, what, Some(left_out.join(" ")).filter(|words| !words.is_empty()))
}

fn dated(date: Option<&StoryDate>) -> String {
    date.map(|date| format!(" ({})", date.text)).unwrap_or_default()
}

fn lives(book: &Book) -> Vec<Life<'_>> {
    let named = book.entries.iter().filter(|entry| entry.entry_type != EntryType::Style).enumerate();
    let characters = named.filter(|(_, entry)| entry.entry_type == EntryType::Character);
    let lives = characters.map(|(named, entry)| {
        let can_be_compared = |date: &StoryDate| date.span().is_some() || place_in(book, date).is_some();
        let date = |keys: &[&str]| date_of(entry, keys).filter(can_be_compared);
        Life { entry, named, born: date(&BIRTHS), died: date(&DEATHS) }
    });
    lives.filter(|life| life.born.is_some() || life.died.is_some()).collect()
}

/// How a character is in a chapter: listed, or doing something.
fn in_chapter(
    chapter: &Chapter,
    entry: &Entry,
    ranges: &[std::ops::Range<usize>],
) -> Option<(Place, Severity, &'static str)> {
    if chapter.time.cast.iter().any(|name| is_name_of(entry, name)) {
        let keys = ["pov", "characters", "present", "cast", "on stage", "participants"];
        let at = line_of(&chapter.text, chapter.body_start, &keys);
        return Some((Place::at(&chapter.path, at), Severity::Error, "is listed as present"));
    }
    let range = ranges.iter().find(|range| acts(&chapter.text, range))?;
    let (line, column) = line_column(&chapter.text, range.start);
    Some((Place { path: chapter.path.clone(), line, column }, Severity::Warning, "speaks or acts"))
}

fn is_name_of(entry: &Entry, name: &str) -> bool {
    entry.names().iter().any(|known| fold(known) == fold(name))
}

/// Whether a word of speech or movement stands right before or behind a name.
fn acts(text: &str, range: &std::ops::Range<usize>) -> bool {
    let behind = text[range.end..].split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty());
    let apart = text[range.end..].starts_with(' ');
    let before = text[..range.start]
        .strip_suffix(' ')
        .and_then(|before| before.rsplit(|c: char| !c.is_alphabetic()).next());
    let is_act = |word: &str| ACTS.contains(&word);
    apart && behind.is_some_and(is_act) || before.is_some_and(|word| ACTS[..10].contains(&word))
}

fn at_events(book: &Book, lives: &[Life<'_>], compared: &mut usize) -> Vec<Finding> {
    let mut found = vec![];
    for event in book.entries_of(EntryType::Event) {
        let date = time_of_event(book, event).date;
        let Some(span) = date.as_ref().and_then(StoryDate::span) else { continue };
        for key in CAST {
            let listed: Vec<&str> = match field(&event.fields, &[key]) {
                Some(Value::String(names)) => names.split([',', ';']).map(str::trim).collect(),
                Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
                _ => vec![],
            };
            for life in lives.iter().filter(|life| listed.iter().any(|name| is_name_of(life.entry, name))) {
                *compared += 1;
                let Some((why, keys)) = life.excludes(span) else { continue };
                let message = format!(
                    "{} is listed as present at \"{}\"{}, but the entry says {why}.",
                    life.entry.name,
                    event.name,
                    dated(date.as_ref())
                );
                let at = Place::at(&event.path, line_in(event, &[key]));
                found.push(finding(RULE, Severity::Error, at, message, vec![life.line(keys)]));
            }
        }
    }
    found
}
