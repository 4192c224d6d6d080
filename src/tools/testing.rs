//! A book made of texts, for tests of tools. It never touches a disk.

use std::sync::{Arc, LazyLock, OnceLock};

use serde_json::{Map, Value};

use super::desk::{Desk, Limits, Outcome, Seen};
use super::{Registry, ToolError};
use crate::canon::index::Index;
use crate::domain::book::{Book, Note};
use crate::domain::codex::{Entry, EntryType, Soul, TypeFrom};
use crate::domain::ids::BookPath;
use crate::domain::manuscript::{Chapter, NumberFrom, StoryTime};
use crate::domain::story_date::StoryDate;
use crate::domain::{frontmatter, passage};

pub(super) static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::advisor);
static NOTHING: LazyLock<Seen> = LazyLock::new(Seen::default);

pub(super) fn path(raw: &str) -> BookPath {
    BookPath::new(raw).unwrap()
}

pub(super) fn call(desk: &Desk<'_>, tool: &str, args: &Value) -> Result<Outcome, ToolError> {
    REGISTRY.run(desk, tool, &args.to_string())
}

/// A book in the making.
#[derive(Default)]
pub(super) struct Shelf {
    pub(super) book: Book,
    index: OnceLock<Index>,
}

impl Shelf {
    pub(super) fn new() -> Self {
        Self { book: Book { name: "the-long-silence".into(), ..Book::default() }, ..Self::default() }
    }

    pub(super) fn desk(&self) -> Desk<'_> {
        Desk {
            book: &self.book,
            meaning: None,
            index: self.index.get_or_init(|| Index::of(&self.book)),
            current: None,
            chapter: None,
            selection: None,
            seen: &NOTHING,
            persona: None,
            limits: Limits::default(),
        }
    }

    pub(super) fn chapter(mut self, raw: &str, text: &str) -> Self {
        let path = path(raw);
        let body_start = frontmatter::split(text).body_start;
        let title = word(&frontmatter::parse(text).fields, "title")
            .unwrap_or_else(|| passage::readable_stem(path.stem()));
        let date = frontmatter::parse(text).fields.get("date").and_then(StoryDate::of);
        self.book.chapters.push(Chapter {
            time: StoryTime { date, ..StoryTime::default() },
            number: self.book.chapters.len() as u32 + 1,
            number_from: NumberFrom::Position,
            title,
            words: passage::count_words(&text[body_start..]),
            text: Arc::from(text),
            body_start,
            path,
        });
        self
    }

    pub(super) fn entry(mut self, raw: &str, text: &str) -> Self {
        let path = path(raw);
        let fields = frontmatter::parse(text).fields;
        let body_start = frontmatter::split(text).body_start;
        let kind = word(&fields, "type");
        let entry_type = EntryType::ALL.into_iter().find(|t| kind.as_deref() == Some(t.as_str()));
        let prose = text[body_start..].lines().find(|l| !l.trim().is_empty() && !l.starts_with('#'));
        let aliases = fields.get("aliases").and_then(Value::as_array).cloned().unwrap_or_default();
        self.book.entries.push(Entry {
            entry_type: entry_type.unwrap_or(EntryType::Character),
            name: word(&fields, "name").unwrap_or_else(|| passage::readable_stem(path.stem())),
            title: word(&fields, "title"),
            aliases: aliases.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            summary: prose.unwrap_or_default().to_owned(),
            text: Arc::from(text),
            soul: None,
            warnings: vec![],
            body: body_start..text.len(),
            heading: None,
            type_from: TypeFrom::Key("type".into()),
            fields,
            path,
        });
        self.book.entries.sort_by(|a, b| (a.entry_type, &a.name).cmp(&(b.entry_type, &b.name)));
        self
    }

    /// Gives the entry in the same folder a soul.
    pub(super) fn soul(mut self, raw: &str, text: &str) -> Self {
        let path = path(raw);
        let entry = self.book.entries.iter_mut().find(|e| e.path.parent() == path.parent()).unwrap();
        entry.soul = Some(Soul { path, text: Arc::from(text) });
        self
    }

    pub(super) fn note(mut self, raw: &str, text: &str) -> Self {
        let path = path(raw);
        let title = passage::readable_stem(path.stem());
        self.book.notes.push(Note { path, title, tags: vec![], text: Arc::from(text) });
        self
    }
}

fn word(fields: &Map<String, Value>, key: &str) -> Option<String> {
    fields.get(key).and_then(Value::as_str).map(str::to_owned)
}
