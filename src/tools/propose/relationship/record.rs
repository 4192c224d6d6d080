//! One end of a relationship, written into one entry in the entry's own form: an item of its `relationships:` list, or a line below a heading.
//!
//! Only that item or line is added; everything else of the file stays, byte for byte.

use serde_json::{Map, Value, json};

use super::link::Links;
use crate::domain::codex::Entry;
use crate::domain::{frontmatter, passage};
use crate::proposal::change::{self, Part, Section};
use crate::tools::propose::own::OwnKeys;

/// Headings under which relationships stand, folded.
const HEADINGS: [&str; 9] = [
    "relationships",
    "relationship",
    "relations",
    "connections",
    "ties",
    "key relationships",
    "character relationships",
    "relationships and connections",
    "family and relationships",
];

/// Frontmatter keys that hold relationships.
const KEYS: [&str; 4] = ["relationships", "relations", "connections", "relationship"];

/// Keys of an item for the other's name, for what it is, and for words about it.
const NAME_KEYS: [&str; 12] = [
    "name",
    "character",
    "target",
    "who",
    "with",
    "to",
    "entry",
    "person",
    "entity",
    "other",
    "npc",
    "location",
];
const KIND_KEYS: [&str; 7] = ["type", "kind", "relation", "relationship", "relationshiptype", "as", "role"];
const WORDS_KEYS: [&str; 8] =
    ["description", "desc", "notes", "note", "details", "summary", "about", "comment"];

/// What is to be recorded in an entry.
pub(super) struct Bond<'a> {
    pub holder: &'a Entry,
    pub other: &'a Entry,
    /// What the other is to the holder.
    pub kind: &'a str,
    /// One line about it; may be empty.
    pub words: &'a str,
    /// The author's own names of keys.
    pub own: OwnKeys<'a>,
}

/// What came of recording it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recorded {
    /// The entry says it already, in this line of the file.
    Already(usize),
    /// The file with it, and the new lines.
    Added { text: String, lines: String },
    /// It can't be added safely.
    Unsafe(String),
}

impl Bond<'_> {
    /// Records the bond in `text`, the holder's main file (perhaps with the other end in it already, further down).
    pub(super) fn record(&self, text: &str, links: Links) -> Recorded {
        let part = Part::of(self.holder);
        if let Some(line) = self.line_of_same(text, &part) {
            return Recorded::Already(line);
        }
        if let Some((key, items)) = self.list(text) {
            let item = self.item(&items, links);
            return match change::add_to_list(text, &key, &item) {
                Some(changed) => Recorded::Added { lines: shown(&item), text: changed },
                None => Recorded::Unsafe(change::obstacle(text, &key)),
            };
        }
        let line = self.line(links);
        let found: Vec<Section> = part.sections(text).into_iter().filter(is_relations).collect();
        let changed = match found.first() {
            Some(section) => {
                let marker = list_marker(&text[section.own.clone()]);
                change::append(text, Some(section), &section.heading, &format!("{marker}{line}"))
            }
            None => part.add_section(text, "Relationships", &format!("- {line}")),
        };
        let marker = found.first().map_or("- ", |s| list_marker(&text[s.own.clone()]));
        // In a code block or comment that is never closed the line would say nothing.
        let grown = changed.len().saturating_sub(text.len());
        let after = Part { range: part.range.start..part.range.end + grown, level: part.level };
        if self.line_of_same(&changed, &after).is_none() {
            return Recorded::Unsafe("a line at its end would not be read as one; look for a code block or comment that is not closed, or ask the author to write it".to_owned());
        }
        Recorded::Added { text: changed, lines: format!("{marker}{line}") }
    }

    /// The kinds of relationship to the other that the entry has already.
    pub(super) fn known_kinds(&self, text: &str) -> Vec<String> {
        let part = Part::of(self.holder);
        let in_list = self.list(text).map(|(_, items)| items).unwrap_or_default();
        let in_lines = lines_in(text, &part);
        let of_items = in_list.iter().filter_map(|item| self.kind_in(item));
        let of_lines = in_lines.iter().filter_map(|(line, _)| self.kind_in_line(line));
        of_items.chain(of_lines).collect()
    }

    /// The list in the frontmatter, where the file is this entry alone and the list has items.
    fn list(&self, text: &str) -> Option<(String, Vec<Value>)> {
        if self.holder.heading.is_some() {
            return None;
        }
        let fields = frontmatter::parse(text).fields;
        let key = KEYS.iter().find_map(|key| self.own.find(&fields, key))?;
        let items = fields[key].as_array().filter(|items| !items.is_empty())?;
        Some((key.to_owned(), items.clone()))
    }

    fn line_of_same(&self, text: &str, part: &Part) -> Option<usize> {
        let same = |kind: String| passage::fold(&kind) == passage::fold(self.kind);
        let in_lines = lines_in(text, part);
        if let Some((_, at)) = in_lines.iter().find(|(line, _)| self.kind_in_line(line).is_some_and(same)) {
            return Some(passage::line_column(text, *at).0);
        }
        let (key, items) = self.list(text)?;
        items.iter().find(|item| self.kind_in(item).is_some_and(same))?;
        let block = frontmatter::split(text).block;
        let at = text[block.clone()].find(&key).map_or(block.start, |at| block.start + at);
        Some(passage::line_column(text, at).0)
    }

    /// What an item of the list says that the other is, if it is about the other.
    fn kind_in(&self, item: &Value) -> Option<String> {
        match item {
            Value::String(line) => self.kind_in_line(line),
            Value::Object(fields) => {
                let lone = fields.iter().next().filter(|_| fields.len() == 1);
                if let Some((name, Value::String(kind))) = lone
                    && means(self.other, name)
                {
                    return Some(kind.clone());
                }
                let kind = key_of(fields, &KIND_KEYS);
                let about = fields.iter().any(|(key, value)| {
                    Some(key.as_str()) != kind && value.as_str().is_some_and(|name| means(self.other, name))
                });
                about.then(|| kind.and_then(|key| fields[key].as_str()).unwrap_or_default().to_owned())
            }
            _ => None,
        }
    }

    fn kind_in_line(&self, line: &str) -> Option<String> {
        let (name, rest) = name_and_rest(line);
        means(self.other, name).then(|| kind_of(rest).to_owned())
    }

    /// One more item in the shape of the last one.
    fn item(&self, items: &[Value], links: Links) -> Value {
        match items.last() {
            Some(Value::Object(shape)) if !shape.is_empty() => self.map_item(shape, links),
            Some(Value::String(shape)) => {
                let (name, rest) = name_and_rest(shape);
                let name = if name.contains("[[") { links.link(self.other) } else { self.other.name.clone() };
                let words = if self.words.is_empty() { String::new() } else { format!(". {}", self.words) };
                json!(match rest.trim_start().chars().next() {
                    Some('(') => format!("{name} ({}){words}", self.kind),
                    Some(dash @ ('-' | '\u{2013}')) => format!("{name} {dash} {}{words}", self.kind),
                    _ => format!("{name}: {}{words}", self.kind),
                })
            }
            _ => json!({"name": self.other.name, "type": self.kind}),
        }
    }

    fn map_item(&self, shape: &Map<String, Value>, links: Links) -> Value {
        let spelled =
            |old: &str| if old.contains("[[") { links.link(self.other) } else { self.other.name.clone() };
        let kind_key = key_of(shape, &KIND_KEYS);
        let words_key = key_of(shape, &WORDS_KEYS);
        if let (1, None, Some((name, Value::String(_)))) = (shape.len(), kind_key, shape.iter().next())
            && key_of(shape, &NAME_KEYS).is_none()
        {
            return json!({ spelled(name): self.kind });
        }
        let is_text = |key: &&String| shape[key.as_str()].is_string();
        let name_key = key_of(shape, &NAME_KEYS)
            .filter(|key| Some(*key) != kind_key)
            .or_else(|| {
                let mut keys = shape.keys().filter(is_text).map(String::as_str);
                keys.find(|key| Some(*key) != kind_key && Some(*key) != words_key)
            })
            .unwrap_or("name");
        let old = shape.get(name_key).and_then(Value::as_str).unwrap_or_default();
        let mut item = Map::new();
        for key in shape.keys().map(String::as_str) {
            if key == name_key {
                item.insert(key.to_owned(), json!(spelled(old)));
            } else if Some(key) == kind_key {
                item.insert(key.to_owned(), json!(self.kind));
            } else if Some(key) == words_key && !self.words.is_empty() {
                item.insert(key.to_owned(), json!(self.words));
            }
        }
        item.entry(name_key).or_insert_with(|| json!(self.other.name));
        item.entry(kind_key.unwrap_or("type")).or_insert_with(|| json!(self.kind));
        if !self.words.is_empty() {
            item.entry(words_key.unwrap_or("description")).or_insert_with(|| json!(self.words));
        }
        Value::Object(item)
    }

    fn line(&self, links: Links) -> String {
        let words = if self.words.is_empty() { String::new() } else { format!(". {}", self.words) };
        format!("{}: {}{words}", links.link(self.other), self.kind)
    }
}

fn key_of<'a>(fields: &'a Map<String, Value>, known: &[&str]) -> Option<&'a str> {
    known.iter().find_map(|key| change::find_key(fields, key))
}

fn is_relations(section: &Section) -> bool {
    let heading = passage::fold(&section.heading);
    HEADINGS.contains(&heading.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// The lines below headings for relationships, each with its place in the file.
fn lines_in<'a>(text: &'a str, part: &Part) -> Vec<(&'a str, usize)> {
    let mut found = vec![];
    for section in part.sections(text).iter().filter(|s| is_relations(s)) {
        let mut at = section.content.start;
        for line in text[section.content.clone()].split_inclusive('\n') {
            found.push((line, at));
            at += line.len();
        }
    }
    found
}

/// The mark before the items of a list, with its indentation; `- ` where there is none.
fn list_marker(text: &str) -> &'static str {
    let marks = |line: &str| ["- ", "* ", "+ "].into_iter().find(|mark| line.starts_with(mark));
    text.lines().rev().find_map(marks).unwrap_or("- ")
}

/// Cuts a line into the name that it begins with and the rest: `[[X]]: kind`, `**X** (kind)`, `X - kind`.
fn name_and_rest(line: &str) -> (&str, &str) {
    let line = line.trim();
    let line = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let line = line.trim_start_matches(['*', '_', ' ']);
    let from = line.find("]]").map_or(0, |at| if line.starts_with("[[") { at + 2 } else { 0 });
    let rest = &line[from..];
    let ends =
        [rest.find(':'), rest.find(" ("), rest.find(" - "), rest.find(" \u{2013} "), rest.find(" \u{2014} ")];
    let end = ends.into_iter().flatten().min().map_or(line.len(), |at| from + at);
    (&line[..end], &line[end..])
}

/// The kind in what follows a name: up to a full stop, a bracket or the end.
fn kind_of(rest: &str) -> &str {
    let rest = rest.trim_start_matches([':', '(', '-', '\u{2013}', '\u{2014}', '*', '_', ' ']);
    let end =
        [rest.find(". "), rest.find(')'), rest.find(" (")].into_iter().flatten().min().unwrap_or(rest.len());
    rest[..end].trim().trim_end_matches(['.', '*', '_'])
}

/// Whether a name as it is written in a relationship means an entry.
fn means(entry: &Entry, written: &str) -> bool {
    let bare = written.trim().trim_matches(['*', '_', '"']).trim();
    let inner = bare.strip_prefix("[[").and_then(|w| w.strip_suffix("]]")).unwrap_or(bare);
    let target = inner.split(['|', '#']).next().unwrap_or_default();
    let target = target.trim_end_matches('\\').rsplit('/').next().unwrap_or_default();
    let wanted = passage::fold(target.strip_suffix(".md").unwrap_or(target));
    let names = entry.names();
    !wanted.is_empty()
        && (names.iter().any(|name| passage::fold(name) == wanted)
            || passage::fold(super::link::stem(entry)) == wanted)
}

/// An item of a list for the model's eyes.
fn shown(item: &Value) -> String {
    item.as_str().map_or_else(|| item.to_string(), str::to_owned)
}
