//! What of an entry, a chapter or a note is read into the index, and how a change of it is noticed.
//!
//! Sources are compared with what a book holds now, text by text; nothing is taken to be unchanged because of its name or its size.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::corpus::{Corpus, Next};
use super::segment::Builder;
use super::words::Language;
use crate::domain::book::Note;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::frontmatter;
use crate::domain::ids::BookPath;
use crate::domain::manuscript::Chapter;
use crate::domain::passage::paragraphs;

/// A part of a text, with what a word in it weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Name,
    Alias,
    Title,
    Tag,
    Summary,
    Type,
    Fact,
    Heading,
    Path,
    Body,
}

impl Field {
    /// All, the weightiest first.
    pub const ALL: [Self; 10] = [
        Self::Name,
        Self::Alias,
        Self::Title,
        Self::Tag,
        Self::Summary,
        Self::Type,
        Self::Fact,
        Self::Heading,
        Self::Path,
        Self::Body,
    ];

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Alias => "alias",
            Self::Title => "title",
            Self::Tag => "tag",
            Self::Summary => "summary",
            Self::Type => "type",
            Self::Fact => "fields",
            Self::Heading => "heading",
            Self::Path => "path",
            Self::Body => "body",
        }
    }

    /// Returns how many words of the body one word in it is worth.
    pub fn weight(self) -> u16 {
        match self {
            Self::Name => 10,
            Self::Alias => 8,
            Self::Title => 6,
            Self::Tag => 5,
            Self::Summary => 3,
            Self::Type | Self::Fact | Self::Heading => 2,
            Self::Path | Self::Body => 1,
        }
    }

    /// Returns its bit.
    pub fn bit(self) -> u16 {
        1 << self as u16
    }

    fn read(self, builder: &mut Builder<'_>, text: &str) {
        builder.field(self.bit(), self.weight(), text);
    }
}

/// What was read of one thing in a book.
pub trait Source: Sized {
    /// The thing.
    type Of;

    /// Whether `thing` is by its address what this was read from.
    fn is_of(&self, thing: &Self::Of) -> bool;

    /// The address of a thing, for a search among all.
    fn address(thing: &Self::Of) -> String;

    /// The address of what this was read from.
    fn own_address(&self) -> String;

    /// Whether nothing that is read differs.
    fn still_holds(&self, thing: &Self::Of) -> bool;

    /// Reads a thing into `next`, keeping what `before` (a source with the numbers of its texts) has already.
    fn read(thing: &Self::Of, before: Option<(&Self, &[u32])>, next: &mut Next<'_>) -> Self;
}

/// Sources of one kind, in the order of the book, with their texts.
#[derive(Debug)]
pub struct Shelf<S> {
    pub sources: Vec<Arc<S>>,
    pub corpus: Corpus,
}

impl<S> Default for Shelf<S> {
    fn default() -> Self {
        Self { sources: vec![], corpus: Corpus::default() }
    }
}

impl<S> Clone for Shelf<S> {
    fn clone(&self) -> Self {
        Self { sources: self.sources.clone(), corpus: self.corpus.clone() }
    }
}

impl<S: Source> Shelf<S> {
    /// Returns the shelf of `things`, reading only what changed.
    pub fn following(&self, things: &[S::Of], language: &Language) -> Self {
        let mut next = Next::after(&self.corpus, language);
        let mut search =
            Search { old: &self.sources, taken: vec![false; self.sources.len()], at: 0, by_address: None };
        let sources = things
            .iter()
            .map(|thing| {
                next.unit();
                let before = search.before(thing);
                match before {
                    Some(at) if self.sources[at].still_holds(thing) => {
                        self.corpus.texts_of(at).iter().for_each(|id| next.keep(*id));
                        Arc::clone(&self.sources[at])
                    }
                    _ => {
                        let before = before.map(|at| (&*self.sources[at], self.corpus.texts_of(at)));
                        Arc::new(S::read(thing, before, &mut next))
                    }
                }
            })
            .collect();
        Self { sources, corpus: next.finish() }
    }
}

/// Finds the old source of a thing. Mostly it is the next one.
struct Search<'a, S> {
    old: &'a [Arc<S>],
    taken: Vec<bool>,
    at: usize,
    by_address: Option<HashMap<String, usize>>,
}

impl<S: Source> Search<'_, S> {
    fn before(&mut self, thing: &S::Of) -> Option<usize> {
        let is_next = self.old.get(self.at).is_some_and(|old| old.is_of(thing));
        let at = if is_next {
            self.at
        } else {
            let old = self.old;
            let all = self.by_address.get_or_insert_with(|| {
                old.iter().enumerate().map(|(at, source)| (source.own_address(), at)).collect()
            });
            *all.get(&S::address(thing))?
        };
        if std::mem::replace(self.taken.get_mut(at)?, true) {
            return None;
        }
        self.at = at + 1;
        Some(at)
    }
}

/// A text that is shared with the book.
#[derive(Debug)]
struct Shared {
    text: Arc<str>,
    range: Range<usize>,
}

impl Shared {
    fn of(text: &Arc<str>, range: Range<usize>) -> Self {
        Self { text: Arc::clone(text), range }
    }

    fn str(&self) -> &str {
        self.text.get(self.range.clone()).unwrap_or_default()
    }

    fn is(&self, text: &Arc<str>, range: Range<usize>) -> bool {
        (Arc::ptr_eq(&self.text, text) && self.range == range) || text.get(range) == Some(self.str())
    }
}

/// What is read of an entry.
#[derive(Debug)]
pub struct EntrySource {
    path: BookPath,
    heading: Option<String>,
    entry_type: EntryType,
    name: String,
    title: Option<String>,
    aliases: Vec<String>,
    summary: String,
    /// Values of the frontmatter, one a line.
    facts: String,
    body: Shared,
    soul: Option<Shared>,
}

/// Keys whose values are read from elsewhere.
const GIVEN: [&str; 8] = ["type", "name", "title", "aliases", "alias", "aka", "summary", "description"];

/// Gives every text and number of the frontmatter.
fn each_fact(fields: &Map<String, Value>, take: &mut dyn FnMut(&str)) {
    fn each(value: &Value, take: &mut dyn FnMut(&str)) {
        match value {
            Value::String(text) => take(text),
            Value::Number(number) => take(&number.to_string()),
            Value::Array(items) => items.iter().for_each(|item| each(item, take)),
            Value::Object(object) => object.values().for_each(|value| each(value, take)),
            Value::Null | Value::Bool(_) => {}
        }
    }
    for (_, value) in
        fields.iter().filter(|(key, _)| !GIVEN.iter().any(|given| key.eq_ignore_ascii_case(given)))
    {
        each(value, take);
    }
}

fn same_facts(known: &str, fields: &Map<String, Value>) -> bool {
    let mut rest = Some(known);
    each_fact(fields, &mut |fact| {
        rest = rest.and_then(|rest| rest.strip_prefix(fact)?.strip_prefix('\n'));
    });
    rest == Some("")
}

impl Source for EntrySource {
    type Of = Entry;

    fn is_of(&self, entry: &Entry) -> bool {
        self.path == entry.path && self.heading == entry.heading
    }

    fn address(entry: &Entry) -> String {
        entry.address()
    }

    fn own_address(&self) -> String {
        match &self.heading {
            Some(heading) => format!("{}#{heading}", self.path),
            None => self.path.as_str().to_owned(),
        }
    }

    fn still_holds(&self, entry: &Entry) -> bool {
        let soul = match (&self.soul, &entry.soul) {
            (Some(known), Some(soul)) => known.is(&soul.text, 0..soul.text.len()),
            (None, None) => true,
            _ => false,
        };
        soul && self.is_of(entry)
            && self.entry_type == entry.entry_type
            && self.name == entry.name
            && self.title == entry.title
            && self.aliases == entry.aliases
            && self.summary == entry.summary
            && self.body.is(&entry.text, entry.body.clone())
            && same_facts(&self.facts, &entry.fields)
    }

    fn read(entry: &Entry, _: Option<(&Self, &[u32])>, next: &mut Next<'_>) -> Self {
        let mut facts = String::new();
        each_fact(&entry.fields, &mut |fact| {
            facts.push_str(fact);
            facts.push('\n');
        });
        let text = next.text();
        Field::Name.read(text, &entry.name);
        entry.aliases.iter().for_each(|alias| Field::Alias.read(text, alias));
        entry.title.iter().for_each(|title| Field::Title.read(text, title));
        Field::Summary.read(text, &entry.summary);
        Field::Type.read(text, entry.entry_type.as_str());
        Field::Path.read(text, entry.path.as_str());
        facts.lines().for_each(|fact| Field::Fact.read(text, fact));
        read_markdown(text, entry.body());
        entry.soul.iter().for_each(|soul| read_markdown(text, &soul.text));
        Self {
            path: entry.path.clone(),
            heading: entry.heading.clone(),
            entry_type: entry.entry_type,
            name: entry.name.clone(),
            title: entry.title.clone(),
            aliases: entry.aliases.clone(),
            summary: entry.summary.clone(),
            facts,
            body: Shared::of(&entry.text, entry.body.clone()),
            soul: entry.soul.as_ref().map(|soul| Shared::of(&soul.text, 0..soul.text.len())),
        }
    }
}

/// Reads headings as such and everything else as body, in the order of the text.
fn read_markdown(builder: &mut Builder<'_>, markdown: &str) {
    let (mut from, mut at) = (0, 0);
    for line in markdown.split_inclusive('\n') {
        if line.starts_with('#') {
            Field::Body.read(builder, &markdown[from..at]);
            Field::Heading.read(builder, line);
            from = at + line.len();
        }
        at += line.len();
    }
    Field::Body.read(builder, &markdown[from..]);
}

/// What is read of a chapter: each paragraph is a text.
#[derive(Debug)]
pub struct ChapterSource {
    path: BookPath,
    body: Shared,
    /// Bytes of the body.
    paragraphs: Vec<Range<usize>>,
}

impl ChapterSource {
    /// Returns the bytes of a paragraph in the body.
    pub fn paragraph(&self, part: usize) -> Option<Range<usize>> {
        self.paragraphs.get(part).cloned()
    }
}

impl Source for ChapterSource {
    type Of = Chapter;

    fn is_of(&self, chapter: &Chapter) -> bool {
        self.path == chapter.path
    }

    fn address(chapter: &Chapter) -> String {
        chapter.path.as_str().to_owned()
    }

    fn own_address(&self) -> String {
        self.path.as_str().to_owned()
    }

    fn still_holds(&self, chapter: &Chapter) -> bool {
        self.is_of(chapter) && self.body.is(&chapter.text, chapter.body_start..chapter.text.len())
    }

    fn read(chapter: &Chapter, before: Option<(&Self, &[u32])>, next: &mut Next<'_>) -> Self {
        let body = chapter.body();
        let found = paragraphs(body);
        let (known, ids) = match before {
            Some((source, ids)) => {
                (source.paragraphs.iter().map(|r| &source.body.str()[r.clone()]).collect(), ids)
            }
            None => (vec![], &[][..]),
        };
        // An edit leaves paragraphs before and behind it as they were.
        let same = |(range, known): &(&Range<usize>, &&str)| body[(*range).clone()] == ***known;
        let before_it = found.iter().zip(&known).take_while(same).count();
        let rest = found.len().min(known.len()) - before_it;
        let behind_it = found.iter().rev().zip(known.iter().rev()).take(rest).take_while(same).count();
        ids[..before_it].iter().for_each(|id| next.keep(*id));
        for range in &found[before_it..found.len() - behind_it] {
            Field::Body.read(next.text(), &body[range.clone()]);
        }
        ids[known.len() - behind_it..].iter().for_each(|id| next.keep(*id));
        let body = Shared::of(&chapter.text, chapter.body_start..chapter.text.len());
        Self { path: chapter.path.clone(), body, paragraphs: found }
    }
}

/// What is read of a note.
#[derive(Debug)]
pub struct NoteSource {
    path: BookPath,
    title: String,
    tags: Vec<String>,
    text: Shared,
}

impl Source for NoteSource {
    type Of = Note;

    fn is_of(&self, note: &Note) -> bool {
        self.path == note.path
    }

    fn address(note: &Note) -> String {
        note.path.as_str().to_owned()
    }

    fn own_address(&self) -> String {
        self.path.as_str().to_owned()
    }

    fn still_holds(&self, note: &Note) -> bool {
        self.is_of(note)
            && self.title == note.title
            && self.tags == note.tags
            && self.text.is(&note.text, 0..note.text.len())
    }

    fn read(note: &Note, _: Option<(&Self, &[u32])>, next: &mut Next<'_>) -> Self {
        let text = next.text();
        Field::Title.read(text, &note.title);
        note.tags.iter().for_each(|tag| Field::Tag.read(text, tag));
        Field::Path.read(text, note.path.as_str());
        read_markdown(text, &note.text[frontmatter::split(&note.text).body_start..]);
        Self {
            path: note.path.clone(),
            title: note.title.clone(),
            tags: note.tags.clone(),
            text: Shared::of(&note.text, 0..note.text.len()),
        }
    }
}
