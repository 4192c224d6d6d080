//! A book: its settings, chapters, Codex and notes as they were read.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use super::codex::{Entry, EntryType};
use super::frontmatter::Problem;
use super::ids::BookPath;
use super::links::{self, Targets};
use super::manuscript::Chapter;
use super::privacy;

/// Everything that was read from one book's folder. Cheap to share behind an `Arc`; never changed in place.
#[derive(Debug, Clone, Default)]
pub struct Book {
    /// Name of the folder: what tools call the project. Never a path.
    pub name: String,
    /// What `scritorio.toml` says.
    pub settings: BookSettings,
    /// The text of `scritorio.toml`; `None` where there is none.
    pub settings_text: Option<Arc<str>>,
    /// Chapters in reading order.
    pub chapters: Vec<Chapter>,
    /// Codex entries, sorted by type, then by name.
    pub entries: Vec<Entry>,
    /// Notes, sorted by path.
    pub notes: Vec<Note>,
    /// Markdown files that are neither manuscript, canon nor notes.
    pub others: Vec<BookPath>,
    /// Folders right inside the book's folder, sorted, and those of the settings that exist.
    pub folders: Vec<String>,
    /// Why files of `others` that could have been canon are none: one sentence each.
    pub not_canon: BTreeMap<BookPath, String>,
    /// Files that AI never reads: they say `ai: never`, or they are `kept`.
    pub private: BTreeSet<BookPath>,
    /// Files that `[ai] never` keeps from AI, whatever they say themselves: it names them, a folder above them, or what they are a link to.
    pub kept: BTreeSet<BookPath>,
    /// Texts of those `others` that an entry embeds (`![[file]]`).
    pub embedded: BTreeMap<BookPath, Arc<str>>,
    /// Files whose lines end in carriage returns on disk, as the old Mac OS wrote them; the texts of this book have line feeds there.
    pub old_mac: BTreeSet<BookPath>,
    /// What could not be read as the author may have meant it.
    pub warnings: Vec<Warning>,
    /// What the folder was like when all this was read, as one number: names, lengths and times. `None`: that is not certain.
    pub as_found: Option<u64>,
}

impl Book {
    /// Whether the settings keep a file from AI, whatever it says itself. It need not be in the book.
    pub fn keeps(&self, path: &BookPath) -> bool {
        self.kept.contains(path) || privacy::is_below(path, &self.settings.ai_never)
    }

    /// Returns the title, or the folder's name where none is set.
    pub fn title(&self) -> &str {
        self.settings.title.as_deref().unwrap_or(&self.name)
    }

    /// Returns the chapter at `path`.
    pub fn chapter(&self, path: &BookPath) -> Option<&Chapter> {
        self.chapters.iter().find(|c| &c.path == path)
    }

    /// Returns the entry whose main file or soul is at `path`; of a file that holds many, the first.
    pub fn entry(&self, path: &BookPath) -> Option<&Entry> {
        self.entries.iter().find(|e| &e.path == path || e.soul.as_ref().is_some_and(|s| &s.path == path))
    }

    /// Returns the place in [`Book::entries`] of the entry at a byte of the file at `path`; before the first heading of a file with many entries
    /// there is none, and its heading belongs to an entry.
    pub fn entry_at(&self, path: &BookPath, offset: usize) -> Option<usize> {
        let of_file = |is_here: &dyn Fn(&Entry) -> bool| {
            self.entries.iter().position(|e| &e.path == path && (e.heading.is_none() || is_here(e)))
        };
        // Right behind an entry begins the next one, if there is one.
        of_file(&|e| (e.start()..e.body.end).contains(&offset)).or_else(|| of_file(&|e| e.body.end == offset))
    }

    /// Returns what an entry shows of other files: every file that it embeds (`![[file]]`, `![[file#heading]]`) with the part that is meant. Pictures,
    /// missing files and the entry's own are left out; what those files embed in their turn is not followed.
    pub fn embeds(&self, entry: &Entry) -> Vec<(BookPath, &str)> {
        if !entry.body().contains("![[") {
            return vec![];
        }
        let souls = self.entries.iter().filter_map(|e| e.soul.as_ref()).map(|s| &s.path);
        let paths = self.chapters.iter().map(|c| &c.path).chain(self.entries.iter().map(|e| &e.path));
        let paths = paths.chain(souls).chain(self.notes.iter().map(|n| &n.path)).chain(self.embedded.keys());
        let targets = Targets::of(paths);
        let mut shown = vec![];
        for link in links::links(entry.body()).into_iter().filter(|link| link.is_embed) {
            let Some(path) = targets.find(link.target).filter(|path| **path != entry.path) else { continue };
            let Some((_, text)) = self.document(path) else { continue };
            let body = &text[super::frontmatter::split(text).body_start..];
            let part = link.part.map_or(Some(body), |part| links::part_of(body, part));
            if let Some(part) = part.map(str::trim).filter(|part| !part.is_empty()) {
                shown.push((path.clone(), part));
            }
        }
        shown
    }

    /// Returns the text of any file that was read, with the words that name it in an answer: its title.
    pub fn document(&self, path: &BookPath) -> Option<(&str, &Arc<str>)> {
        if let Some(c) = self.chapter(path) {
            return Some((&c.title, &c.text));
        }
        if let Some(e) = self.entry(path) {
            let text = if &e.path == path { &e.text } else { &e.soul.as_ref()?.text };
            // Of a file that holds many entries none gives it its title.
            return Some((if e.heading.is_some() { e.path.stem() } else { &e.name }, text));
        }
        let note = self.notes.iter().find(|n| &n.path == path).map(|n| (n.title.as_str(), &n.text));
        note.or_else(|| self.embedded.get_key_value(path).map(|(path, text)| (path.stem(), text)))
    }

    /// Returns every text that is read of the book, with its file; the file of many entries comes once for each of them.
    pub fn texts(&self) -> impl Iterator<Item = (&BookPath, &str)> {
        let chapters = self.chapters.iter().map(|c| (&c.path, &*c.text));
        let entries = self.entries.iter().map(|e| (&e.path, &*e.text));
        let souls = self.entries.iter().filter_map(|e| e.soul.as_ref()).map(|soul| (&soul.path, &*soul.text));
        let notes = self.notes.iter().map(|note| (&note.path, &*note.text));
        let embedded = self.embedded.iter().map(|(path, text)| (path, &**text));
        chapters.chain(entries).chain(souls).chain(notes).chain(embedded)
    }

    /// Returns a text of the file at `path` with the line ends that the file has on disk.
    pub fn as_on_disk<'t>(&self, path: &BookPath, text: &'t str) -> Cow<'t, str> {
        if self.old_mac.contains(path) {
            Cow::Owned(text.replace("\r\n", "\r").replace('\n', "\r"))
        } else {
            Cow::Borrowed(text)
        }
    }

    /// Returns the entries of one type.
    pub fn entries_of(&self, entry_type: EntryType) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |e| e.entry_type == entry_type)
    }

    /// Returns the number of words in all chapters.
    pub fn words(&self) -> usize {
        self.chapters.iter().map(|c| c.words).sum()
    }
}

/// A Markdown file in the notes folder.
#[derive(Debug, Clone)]
pub struct Note {
    /// Where it is.
    pub path: BookPath,
    /// Frontmatter title, first heading, or the file's name made readable.
    pub title: String,
    /// Tags from the frontmatter.
    pub tags: Vec<String>,
    /// The whole file.
    pub text: Arc<str>,
}

/// Something in a file that could not be taken as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The file.
    pub path: BookPath,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong and what was done instead.
    pub message: String,
}

/// The settings of one book, as read from `scritorio.toml`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BookSettings {
    /// `[book] title`
    pub title: Option<String>,
    /// `[book] author`
    pub author: Option<String>,
    /// `[book] genre`
    pub genre: Option<String>,
    /// `[book] language`, a BCP 47 tag.
    pub language: Option<String>,
    /// `[audience]`
    pub audience: Audience,
    /// `[manuscript] dir`
    pub manuscript_dir: Option<String>,
    /// `[manuscript] order`: paths relative to the manuscript folder, in reading order.
    pub order: Vec<String>,
    /// `[codex] dirs`; empty: the usual names.
    pub codex_dirs: Vec<String>,
    /// `[codex.types]`: the author's words for types, as written.
    pub codex_types: BTreeMap<String, EntryType>,
    /// `[codex.keys]`: the author's names of frontmatter keys, as written, with the key that each one means.
    pub codex_keys: BTreeMap<String, String>,
    /// `[notes] dir`
    pub notes_dir: Option<String>,
    /// `[board.<id>]`
    pub board: BTreeMap<String, BoardSettings>,
    /// `[provider] name`
    pub provider: Option<String>,
    /// `[provider] model`
    pub model: Option<String>,
    /// `[ai] never`: folders, files and patterns that AI never reads, as written.
    pub ai_never: Vec<String>,
    /// Where each of them stands in the file: line and column, from 1.
    pub ai_never_at: Vec<(usize, usize)>,
    /// What of `[ai]` can't be obeyed: while there is any, nobody is asked.
    pub ai_refused: Vec<Problem>,
    /// What `[ai] never` names and is not there, a sentence each: the author is told with every question.
    pub ai_missing: Vec<String>,
    /// `[tools] disabled`
    pub disabled_tools: Vec<String>,
    /// `[goals] words`: of the whole book.
    pub goal_words: Option<usize>,
    /// `[goals] per_day`: words a day.
    pub goal_per_day: Option<usize>,
    /// `[goals] deadline`, an ISO date.
    pub deadline: Option<String>,
}

/// `[board.<id>]`: what one book says to one board member.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoardSettings {
    /// Book-level configuration, position 4 of the prompt.
    pub notes: Option<String>,
    /// Replaces the editable sections of the shipped prompt.
    pub editable: Option<String>,
    /// Whether the member can be chosen. Default: yes.
    pub enabled: Option<bool>,
    /// Whether the member knows nothing of what comes after the open chapter. Default: the First-Time Reader alone.
    pub blind: Option<bool>,
    /// How its model is asked.
    pub asks: MemberOptions,
}

/// How the model of one board member is asked. What is `None` is as for everybody.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemberOptions {
    /// `model`
    pub model: Option<String>,
    /// `effort`: how much it thinks.
    pub effort: Option<String>,
    /// `verbosity`
    pub verbosity: Option<String>,
    /// `max_output_tokens`
    pub max_output_tokens: Option<u32>,
    /// `tier`: of the service.
    pub tier: Option<String>,
    /// `web_search`: whether its provider may search the web for it.
    pub web_search: Option<bool>,
}

/// Whom the book is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audience {
    /// For example `adult` or `young adult`.
    pub age_group: Option<String>,
    /// `any`, `female` or `male`.
    pub lens: Lens,
    /// Age of the First-Time Reader, in years.
    pub reader_age: Option<u32>,
}

/// Target audience sex/gender lens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lens {
    /// No lens.
    #[default]
    Any,
    /// Women and girls.
    Female,
    /// Men and boys.
    Male,
}

impl Lens {
    /// Returns the raw value, as in `scritorio.toml`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Female => "female",
            Self::Male => "male",
        }
    }
}

impl std::str::FromStr for Lens {
    type Err = ();

    fn from_str(raw: &str) -> Result<Self, ()> {
        match raw {
            "any" => Ok(Self::Any),
            "female" => Ok(Self::Female),
            "male" => Ok(Self::Male),
            _ => Err(()),
        }
    }
}
