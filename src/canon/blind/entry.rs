//! One entry as it is known so far.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::horizon::Horizon;
use super::known::{Form, KnownEntry};
use super::pinned::{self, Keep};
use crate::canon::story_time::{Step, steps};
use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType, TypeFrom};
use crate::domain::ids::BookPath;
use crate::domain::manuscript::Chapter;
use crate::domain::passage::{fold, readable_stem};
use crate::domain::story_date::StoryDate;

/// Longest sentence that stands in for a summary, in characters.
const SENTENCE: usize = 300;

/// Keys of an event that say when it is.
const TIMES: [&str; 5] = ["chapter", "date", "when", "start", "end"];

/// Keys of a progression that give names.
const NAMES: [&str; 5] = ["name", "alias", "aliases", "aka", "title"];

/// Words in paths that say nothing of an entry.
const PLAIN: [&str; 44] = [
    "codex",
    "canon",
    "bible",
    "story",
    "world",
    "worldbuilding",
    "wiki",
    "dossier",
    "index",
    "readme",
    "book",
    "md",
    "markdown",
    "txt",
    "the",
    "a",
    "an",
    "of",
    "and",
    "character",
    "characters",
    "cast",
    "people",
    "npcs",
    "location",
    "locations",
    "places",
    "settings",
    "organization",
    "organizations",
    "organisations",
    "factions",
    "item",
    "items",
    "objects",
    "concept",
    "concepts",
    "lore",
    "event",
    "events",
    "style",
    "styles",
    "guide",
    "voice",
];

/// Returns an entry that was named in what was read, as it is known there; `None` if every name that stands there is still a secret of it.
pub(super) fn reached(
    full: &Entry,
    known: &KnownEntry,
    read: &[Chapter],
    horizon: &Horizon<'_>,
) -> Option<Entry> {
    let steps = steps(full);
    let (told, untold): (Vec<&Step<'_>>, Vec<&Step<'_>>) = steps
        .iter()
        .partition(|step| !step.places.is_empty() && step.places.iter().all(|p| horizon.is_told(p)));
    let secret = Secret(untold.iter().flat_map(|step| names_in(step)).collect());
    let forms: Vec<&Form> = known.forms.iter().filter(|form| !secret.stands_in(&form.name)).collect();
    let stands = |name: &str| forms.iter().any(|form| fold(&form.name) == fold(name));
    let names: Vec<&String> =
        std::iter::once(&full.name).chain(&full.aliases).filter(|name| stands(name)).collect();
    let first = forms.first()?;
    let name = names.first().map_or(&first.name, |name| *name).clone();
    let title = full.title.clone().filter(|title| {
        let before = format!("{} ", fold(title));
        !secret.stands_in(title) && forms.iter().any(|form| fold(&form.name).starts_with(&before))
    });
    let mut fields = Map::new();
    for (key, value) in full.fields.iter().filter(|(key, _)| TIMES.contains(&fold(key).as_str())) {
        if StoryDate::of_place(value).is_some_and(|date| horizon.is_told(&date)) {
            fields.insert(key.clone(), value.clone());
        }
    }
    let is_later = |text: &str| secret.stands_in(text) || horizon.names_later(text);
    let progressions: Vec<Value> = told.iter().filter_map(|step| as_told(step, &is_later)).collect();
    if !progressions.is_empty() {
        fields.insert("progressions".into(), progressions.into());
    }
    let text = pinned::reduce(full.body(), horizon, Keep::Pinned, &|text| secret.stands_in(text));
    Some(Entry {
        aliases: names.into_iter().filter(|alias| **alias != name).cloned().collect(),
        name,
        title,
        summary: first_mention(first, read),
        fields,
        ..alone(full, text)
    })
}

/// An entry at the place of `full` that has a text of its own, and nothing else of it.
fn alone(full: &Entry, text: String) -> Entry {
    Entry {
        path: full.path.clone(),
        entry_type: full.entry_type,
        name: String::new(),
        title: None,
        aliases: vec![],
        summary: String::new(),
        fields: Map::new(),
        body: 0..text.len(),
        text: Arc::from(text),
        heading: None,
        type_from: TypeFrom::Key("type".into()),
        soul: None,
        warnings: vec![],
    }
}

/// Returns a style entry without what names later things; `None` where its name does.
pub(super) fn of_style(full: &Entry, horizon: &Horizon<'_>) -> Option<Entry> {
    if horizon.names_later(&full.name) {
        return None;
    }
    let text = pinned::reduce(full.body(), horizon, Keep::AllButLater, &|_| false);
    let summary = Some(&full.summary).filter(|summary| !horizon.names_later(summary)).cloned();
    Some(Entry {
        entry_type: EntryType::Style,
        name: full.name.clone(),
        aliases: full.aliases.iter().filter(|alias| !horizon.names_later(alias)).cloned().collect(),
        summary: summary.unwrap_or_default(),
        ..alone(full, text)
    })
}

/// Gives an entry whose path says more than its names a path that does not. No such path is that of a file of the book.
pub(super) fn give_plain_paths(book: &Book, entries: &mut [Entry]) {
    let mut taken: BTreeSet<String> = book.entries.iter().map(|e| e.path.as_str().to_owned()).collect();
    taken.extend(
        book.notes.iter().map(|note| &note.path).chain(&book.others).map(|path| path.as_str().to_owned()),
    );
    taken.extend(book.chapters.iter().map(|chapter| chapter.path.as_str().to_owned()));
    for entry in entries {
        if says_no_more(entry) {
            continue;
        }
        let stem: String =
            fold(&entry.name).chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
        let stem = stem.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
        let stem: String = stem.chars().take(80).collect();
        let plain = (1..).find_map(|n: u32| {
            let count = if n == 1 { String::new() } else { format!("-{n}") };
            let path = format!("codex/{}/{stem}{count}.md", entry.entry_type.plural());
            (!taken.contains(&path)).then(|| BookPath::new(&path).ok().map(|book_path| (path, book_path)))
        });
        if let Some((path, plain)) = plain.flatten() {
            taken.insert(path);
            entry.path = plain;
        }
    }
}

/// Whether all words of the path are words of the names, or plain.
fn says_no_more(entry: &Entry) -> bool {
    let words = |text: &str| -> Vec<String> {
        let folded = fold(text);
        folded.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned).collect()
    };
    let names: BTreeSet<String> =
        std::iter::once(&entry.name).chain(&entry.aliases).flat_map(|name| words(name)).collect();
    let is_plain = |word: &String| {
        names.contains(word) || PLAIN.contains(&word.as_str()) || word.bytes().all(|b| b.is_ascii_digit())
    };
    entry.path.as_str().split('/').all(|part| words(&readable_stem(part)).iter().all(is_plain))
}

/// Names that a progression gives, folded, without punctuation.
fn names_in(step: &Step<'_>) -> Vec<String> {
    let gives = |key: &str| NAMES.contains(&fold(key).as_str());
    let values = step.facts.iter().filter(|(key, _)| gives(key)).flat_map(|(_, value)| texts(value));
    let bare = |name: &str| {
        let folded = fold(name);
        let words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ")
    };
    let names = values.flat_map(|text| text.split([',', ';']).map(bare).collect::<Vec<_>>());
    names.filter(|name| !name.is_empty()).collect()
}

/// Names of an entry, folded, that are told later.
struct Secret(BTreeSet<String>);

impl Secret {
    /// Whether one of them stands in a text, also as a part of a longer name.
    fn stands_in(&self, text: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let words: String = fold(text).chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
        let words = format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "));
        self.0.iter().any(|secret| words.contains(&format!(" {secret} ")))
    }
}

/// A progression without the facts that name later things.
fn as_told(step: &Step<'_>, is_later: &dyn Fn(&str) -> bool) -> Option<Value> {
    let names_later =
        |key: &str, value: &Value| is_later(key) || texts(value).iter().any(|text| is_later(text));
    let facts = step.facts.iter().filter(|(key, value)| !names_later(key, value));
    let facts: Map<String, Value> = facts.map(|(key, value)| ((*key).to_owned(), (*value).clone())).collect();
    let from = step.places.first()?;
    let mut told = Map::from_iter([("from".to_owned(), Value::from(from.text.as_str()))]);
    let says_something = !facts.is_empty();
    told.extend(facts);
    says_something.then_some(Value::Object(told))
}

/// Every text in a value, names of nested keys included.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null => vec![],
        Value::String(text) => vec![text.clone()],
        Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(map) => {
            map.iter().flat_map(|(key, value)| std::iter::once(key.clone()).chain(texts(value))).collect()
        }
    }
}

/// The sentence that names an entry first, and where it stands.
fn first_mention(form: &Form, read: &[Chapter]) -> String {
    let Some(chapter) = read.get(form.chapter) else { return String::new() };
    let (text, range) = (chapter.body(), &form.range);
    let ends = |text: &str| {
        [". ", "? ", "! ", ".\n", "?\n", "!\n", "\n"]
            .iter()
            .filter_map(|e| text.find(e).map(|at| (at, e.len())))
            .min()
    };
    let before = &text[..range.start];
    let starts = [". ", "? ", "! ", "\n", "\u{201d} "];
    let start =
        starts.iter().filter_map(|mark| before.rfind(mark).map(|at| at + mark.len())).max().unwrap_or(0);
    let end = ends(&text[range.end..]).map_or(text.len(), |(at, _)| range.end + at + 1);
    let sentence = text[start..end.min(text.len())].split_whitespace().collect::<Vec<_>>().join(" ");
    let mut cut: String = sentence.chars().take(SENTENCE).collect();
    if cut.len() < sentence.len() {
        cut.push('\u{2026}');
    }
    format!("Named first in chapter {}: {cut}", chapter.number)
}
