//! Looking things up in the open book: entries, mentions, chapters, passages, and what a tool would say.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::canon::manuscript::ChapterRef;
use crate::canon::{manuscript, mentions, search};
use crate::domain::book::{Book, Warning};
use crate::domain::codex::{Entry, EntryType};
use crate::domain::conversation::Failure;
use crate::domain::ids::{BookPath, SessionId, TurnId};
use crate::domain::manuscript::Chapter;
use crate::domain::passage::{count_words, line_column};
use crate::domain::privacy;
use crate::persona::board;
use crate::tools::desk::Limits;
use crate::tools::{Desk, Registry, Seen, Selection, ToolError};

use super::blind::View;
use super::egress::Known;
use super::private;
use super::{Ask, Workbench};

/// An entry in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntryRow {
    /// Its type.
    #[serde(rename = "type")]
    pub entry_type: EntryType,
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// Its other names.
    pub aliases: Vec<String>,
    /// Its main file.
    pub path: BookPath,
    /// The heading that it stands under, where the file holds many entries.
    pub heading: Option<String>,
    /// What said that it is of its type, e.g. ``folder `people` ``.
    pub type_from: String,
    /// One sentence or paragraph.
    pub summary: String,
    /// What could not be read as meant.
    pub warnings: Vec<Warning>,
    /// How well it matched, in a search; only comparable within one.
    pub score: Option<f64>,
    /// `never` where AI never reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai: Option<&'static str>,
}

impl EntryRow {
    fn of(book: &Book, entry: &Entry, score: Option<f64>) -> Self {
        Self {
            ai: never(book, &entry.path),
            entry_type: entry.entry_type,
            name: entry.name.clone(),
            title: entry.title.clone(),
            aliases: entry.aliases.clone(),
            path: entry.path.clone(),
            heading: entry.heading.clone(),
            type_from: entry.type_from.to_string(),
            summary: entry.summary.clone(),
            warnings: entry.warnings.clone(),
            score,
        }
    }
}

/// An entry, whole.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntryView {
    /// The row of a list.
    #[serde(flatten)]
    pub row: EntryRow,
    /// Frontmatter keys and values.
    pub fields: serde_json::Map<String, Value>,
    /// The main file; of a file that holds many entries, the part that is this one with its heading.
    pub text: String,
    /// `soul.md`, if there is one.
    pub soul: Option<String>,
    /// Names of entries that match as well.
    pub also_matched: Vec<String>,
}

/// A place where a name stands in the manuscript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MentionRow {
    /// The entry's name.
    pub name: String,
    /// The chapter's file.
    pub path: BookPath,
    /// Byte offset where it starts.
    pub start: usize,
    /// Byte offset where it ends.
    pub end: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// A chapter in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChapterRow {
    /// Its number.
    pub number: u32,
    /// Its title.
    pub title: String,
    /// Its file.
    pub path: BookPath,
    /// Words of prose.
    pub words: usize,
    /// `never` where AI never reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai: Option<&'static str>,
}

/// A passage of the manuscript.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PassageRow {
    /// The chapter's file.
    pub path: BookPath,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Byte offset where it starts.
    pub start: usize,
    /// Byte offset where it ends.
    pub end: usize,
    /// A short excerpt.
    pub excerpt: String,
    /// The chapter's number.
    pub chapter: u32,
    /// Number of the paragraph in the chapter, from 1.
    pub paragraph: usize,
    /// How well it matched; only comparable within one search.
    pub score: f64,
}

/// Nothing has that name; these are near.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the book has no {what} `{asked}`")]
pub struct NotFound {
    /// `entry`, `chapter`, `document`.
    pub what: &'static str,
    /// What was asked for.
    pub asked: String,
    /// The nearest names.
    pub near: Vec<String>,
}

/// Why a selection can't be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// There is no such document.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// The range is not one of the file.
    #[error("{start} to {end} is no range of characters in {path}, which has {length} bytes")]
    Range {
        /// The file.
        path: BookPath,
        /// Asked start.
        start: usize,
        /// Asked end.
        end: usize,
        /// Bytes of the file.
        length: usize,
    },
    /// The words stand nowhere.
    #[error("these words stand in no chapter, entry or note as they are given")]
    Nowhere,
}

impl Workbench {
    /// Lists the entries of one type, or of all.
    pub fn codex(&self, entry_type: Option<EntryType>) -> Vec<EntryRow> {
        let book = self.book();
        let wanted = |e: &&Entry| entry_type.is_none_or(|t| e.entry_type == t);
        book.entries.iter().filter(wanted).map(|e| EntryRow::of(&book, e, None)).collect()
    }

    /// Searches the Codex, best first.
    pub fn search_codex(&self, entry_type: Option<EntryType>, query: &str, limit: usize) -> Vec<EntryRow> {
        let book = self.book();
        let found = search::codex(&self.index_of(&book), &book, entry_type, query, limit);
        found.into_iter().map(|m| EntryRow::of(&book, m.entry, Some(m.score))).collect()
    }

    /// Returns the entry of that name.
    pub fn entry(&self, entry_type: Option<EntryType>, name: &str) -> Result<EntryView, NotFound> {
        let book = self.book();
        let found = self.index_of(&book).known().find(&book, entry_type, name);
        let Some((entry, _)) = found.best else {
            return Err(NotFound { what: "entry", asked: name.to_owned(), near: found.near });
        };
        Ok(EntryView {
            row: EntryRow::of(&book, entry, None),
            fields: entry.fields.clone(),
            text: entry.own_text().to_owned(),
            soul: entry.soul.as_ref().map(|soul| soul.text.to_string()),
            also_matched: found.also_matched.iter().map(|e| e.name.clone()).collect(),
        })
    }

    /// Returns where an entry is mentioned in the manuscript, in reading order.
    pub fn mentions(&self, name: &str) -> Result<Vec<MentionRow>, NotFound> {
        let book = self.book();
        let found = self.index_of(&book).known().find(&book, None, name);
        let Some((wanted, _)) = found.best else {
            return Err(NotFound { what: "entry", asked: name.to_owned(), near: found.near });
        };
        let address = wanted.address();
        let names = mentions::Names::of(&book);
        let mut rows = vec![];
        for chapter in &book.chapters {
            for mention in names.find(&chapter.text) {
                let Some(entry) = names.entries.get(mention.entry).filter(|e| e.address == address) else {
                    continue;
                };
                if mention.range.start < chapter.body_start {
                    continue;
                }
                let (line, column) = line_column(&chapter.text, mention.range.start);
                let (start, end) = (mention.range.start, mention.range.end);
                rows.push(MentionRow {
                    name: entry.name.clone(),
                    path: chapter.path.clone(),
                    start,
                    end,
                    line,
                    column,
                });
            }
        }
        Ok(rows)
    }

    /// Lists the chapters in reading order.
    pub fn chapters(&self) -> Vec<ChapterRow> {
        {
            let book = self.book();
            book.chapters.iter().map(|chapter| ChapterRow::of(&book, chapter)).collect()
        }
    }

    /// Returns the chapter that a reference names (number, title, path, file stem), with its text.
    pub fn chapter(&self, reference: &str) -> Result<(ChapterRow, String), NotFound> {
        let book = self.book();
        match manuscript::resolve(&book, reference) {
            ChapterRef::Found(chapter) => Ok((ChapterRow::of(&book, chapter), chapter.text.to_string())),
            ChapterRef::Missing(near) => Err(NotFound { what: "chapter", asked: reference.to_owned(), near }),
        }
    }

    /// Searches the manuscript.
    pub fn search_manuscript(&self, query: &str, limit: usize) -> Vec<PassageRow> {
        let book = self.book();
        let row = |found: search::Passage<'_>| {
            let (line, column) = line_column(&found.chapter.text, found.range.start);
            PassageRow {
                path: found.chapter.path.clone(),
                line,
                column,
                start: found.range.start,
                end: found.range.end,
                excerpt: found.excerpt,
                chapter: found.chapter.number,
                paragraph: found.paragraph,
                score: found.score,
            }
        };
        search::manuscript(&self.index_of(&book), &book, None, query, limit).into_iter().map(row).collect()
    }

    /// Captures a range of bytes of a document, as on disk, BOM included.
    pub fn select(&self, path: &BookPath, start: usize, end: usize) -> Result<Selection, SelectError> {
        let book = self.book();
        let Some((title, text)) = book.document(path) else {
            return Err(NotFound { what: "document", asked: path.to_string(), near: vec![] }.into());
        };
        match text.get(start..end).filter(|words| !words.is_empty()) {
            Some(words) => Ok(selection(path, title, text, start, words)),
            None => Err(SelectError::Range { path: path.clone(), start, end, length: text.len() }),
        }
    }

    /// Captures words by finding them: in the current document if there is one, else in chapters, entries and notes, in this order.
    pub fn select_text(&self, words: &str, current: Option<&BookPath>) -> Result<Selection, SelectError> {
        let book = self.book();
        if words.trim().is_empty() {
            return Err(SelectError::Nowhere);
        }
        let paths: Vec<&BookPath> = current.map_or_else(|| documents(&book), |path| vec![path]);
        for path in paths {
            if let Some((title, text)) = book.document(path)
                && let Some(start) = text.find(words)
            {
                return Ok(selection(path, title, text, start, words));
            }
        }
        Err(SelectError::Nowhere)
    }

    /// Runs one tool as a model would, and returns what the model would get: as the board member of `ask` would, if it names one. A proposal goes into the book's queue.
    pub fn call_tool(&self, name: &str, arguments: &str, ask: &Ask) -> Result<Value, ToolError> {
        let book = match &ask.current {
            Some((path, Some(text))) => self.book_with(path, text),
            _ => self.book(),
        };
        let (whole, book) = (Arc::clone(&book), self.for_ai(&book));
        let refused =
            |failure: Failure| ToolError::Refused { message: failure.message, details: Value::Null };
        let known = private::known(ask, &whole).map_err(refused)?;
        let ask = &known.ask;
        let view = match &ask.persona {
            Some(id) => Self::view(book, board::member(Some(id)), ask).map_err(refused)?,
            None => View {
                book,
                current: ask.current.as_ref().map(|(path, _)| path.clone()),
                chapter: ask.chapter.clone(),
                selection: ask.selection.clone(),
                read_to: None,
            },
        };
        let registry = Self::tools_for(ask, &view.book, view.read_to.is_some());
        let meaning = self.by_meaning(&view.book, &self.witness(None, &whole, Known::default()));
        let desk = Desk {
            book: &view.book,
            index: &self.index_of(&view.book),
            meaning: meaning.as_deref(),
            current: view.current.as_ref(),
            chapter: view.chapter.as_ref(),
            selection: view.selection.as_ref(),
            seen: &Seen::default(),
            persona: ask.persona.as_deref(),
            limits: Limits::default(),
        };
        let outcome = registry.run(&desk, name, arguments)?;
        if let Some(proposal) = &outcome.proposal {
            let session = ask.session.clone().unwrap_or_else(SessionId::mint);
            self.queue(&session, &TurnId::mint(), proposal).map_err(|e| ToolError::Refused {
                message: format!("the proposal could not be kept: {e}"),
                details: Value::Null,
            })?;
        }
        Ok(outcome.result)
    }

    /// Returns the tools that this book offers.
    pub fn registry(&self) -> Registry {
        Registry::advisor().without(&self.book().settings.disabled_tools)
    }
}

fn never(book: &Book, path: &BookPath) -> Option<&'static str> {
    private::is_private(book, path).then_some(privacy::NEVER)
}

impl ChapterRow {
    fn of(book: &Book, chapter: &Chapter) -> Self {
        Self {
            ai: never(book, &chapter.path),
            number: chapter.number,
            title: chapter.title.clone(),
            path: chapter.path.clone(),
            words: chapter.words,
        }
    }
}

fn documents(book: &Book) -> Vec<&BookPath> {
    let entries = book.entries.iter().flat_map(|e| [Some(&e.path), e.soul.as_ref().map(|s| &s.path)]);
    let chapters = book.chapters.iter().map(|c| &c.path);
    chapters.chain(entries.flatten()).chain(book.notes.iter().map(|n| &n.path)).collect()
}

fn selection(path: &BookPath, title: &str, text: &str, start: usize, words: &str) -> Selection {
    Selection {
        path: path.clone(),
        title: title.to_owned(),
        source_words: count_words(text),
        start,
        text: words.into(),
    }
}
