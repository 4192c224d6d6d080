//! Small books for tests, made by hand.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType, TypeFrom};
use crate::domain::ids::BookPath;
use crate::domain::manuscript::{Chapter, NumberFrom, StoryTime};
use crate::domain::passage::count_words;
use crate::domain::story_date::StoryDate;

/// Returns an entry whose type is that of its folder.
pub fn entry(path: &str, name: &str) -> Entry {
    let folder = path.split('/').next().unwrap();
    Entry {
        path: BookPath::new(format!("codex/{path}")).unwrap(),
        entry_type: EntryType::ALL.into_iter().find(|t| t.plural() == folder).unwrap(),
        name: name.to_owned(),
        title: None,
        aliases: vec![],
        summary: String::new(),
        fields: serde_json::Map::new(),
        text: Arc::from(""),
        body: 0..0,
        heading: None,
        type_from: TypeFrom::Folder(folder.to_owned()),
        soul: None,
        warnings: vec![],
    }
}

/// What an entry can be given besides its name.
pub trait With {
    fn title(self, title: &str) -> Self;
    fn aliases(self, aliases: &[&str]) -> Self;
    fn summary(self, summary: &str) -> Self;
    fn text(self, text: &str) -> Self;
    fn field(self, key: &str, value: Value) -> Self;
}

impl With for Entry {
    fn title(self, title: &str) -> Self {
        Self { title: Some(title.to_owned()), ..self }
    }

    fn aliases(self, aliases: &[&str]) -> Self {
        Self { aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(), ..self }
    }

    fn summary(self, summary: &str) -> Self {
        Self { summary: summary.to_owned(), ..self }
    }

    fn text(self, text: &str) -> Self {
        Self { text: Arc::from(text), body: 0..text.len(), ..self }
    }

    fn field(mut self, key: &str, value: Value) -> Self {
        self.fields.insert(key.to_owned(), value);
        self
    }
}

/// Returns a chapter.
pub fn chapter(path: &str, number: u32, title: &str, text: &str) -> Chapter {
    Chapter {
        path: BookPath::new(path).unwrap(),
        number,
        number_from: NumberFrom::Position,
        title: title.to_owned(),
        text: Arc::from(text),
        body_start: 0,
        words: count_words(text),
        time: StoryTime::default(),
    }
}

/// Returns a chapter with a date.
pub fn dated(path: &str, number: u32, date: &str) -> Chapter {
    let time = StoryTime { date: Some(StoryDate::parse(date)), ..StoryTime::default() };
    Chapter { time, ..chapter(path, number, &format!("Chapter {number}"), "Text.\n") }
}

/// Returns a book of entries.
pub fn book(entries: Vec<Entry>) -> Book {
    Book { entries, ..Book::default() }
}

/// Returns a book of chapters.
pub fn manuscript(chapters: Vec<Chapter>) -> Book {
    Book { chapters, ..Book::default() }
}
