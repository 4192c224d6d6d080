//! The Codex: canon entries and their types.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::book::Warning;
use super::ids::BookPath;

/// The seven kinds of entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryType {
    /// A person, or what acts like one.
    Character,
    /// A place.
    Location,
    /// A group of people with a purpose.
    Organization,
    /// A thing.
    Item,
    /// A rule of the world, a technology, a custom.
    Concept,
    /// Something that happened.
    Event,
    /// How the book is written.
    Style,
}

impl EntryType {
    /// All types, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Character,
        Self::Location,
        Self::Organization,
        Self::Item,
        Self::Concept,
        Self::Event,
        Self::Style,
    ];

    /// Returns the name on the wire and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Character => "character",
            Self::Location => "location",
            Self::Organization => "organization",
            Self::Item => "item",
            Self::Concept => "concept",
            Self::Event => "event",
            Self::Style => "style",
        }
    }

    /// Returns the name of a folder or list of such entries.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Character => "characters",
            Self::Location => "locations",
            Self::Organization => "organizations",
            Self::Item => "items",
            Self::Concept => "concepts",
            Self::Event => "events",
            Self::Style => "style",
        }
    }
}

impl std::fmt::Display for EntryType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// One entry of the Codex.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The main file (in the folder shape `dossier.md`).
    pub path: BookPath,
    /// What it describes.
    pub entry_type: EntryType,
    /// The name that prose uses.
    pub name: String,
    /// A title such as `Captain`.
    pub title: Option<String>,
    /// Other names.
    pub aliases: Vec<String>,
    /// One sentence or paragraph; empty when the file holds no prose.
    pub summary: String,
    /// Frontmatter keys and values in file order, then Dataview fields and the `Key: value` lines at the top; values are shown as the author wrote
    /// them. A key that the book's settings map to another has the name that it is mapped to.
    pub fields: serde_json::Map<String, serde_json::Value>,
    /// The whole main file, exactly as on disk.
    pub text: Arc<str>,
    /// Bytes of `text` where the Markdown of this entry stands: all below the frontmatter, or below its heading where the file holds many entries.
    pub body: Range<usize>,
    /// Words of the heading that the entry stands under, where its file holds many; `None` where the file is one entry. Unique in its file: of
    /// two headings with the same words the second has a number behind it, `The Inquiry (2)`.
    pub heading: Option<String>,
    /// What said that it is of its type.
    pub type_from: TypeFrom,
    /// `soul.md` beside the dossier: the inner life.
    pub soul: Option<Soul>,
    /// What could not be read as meant.
    pub warnings: Vec<Warning>,
}

impl Entry {
    /// Returns the Markdown below the frontmatter.
    pub fn body(&self) -> &str {
        &self.text[self.body.clone()]
    }

    /// Returns the byte of the file where the entry starts: that of its heading, or 0 where the file is one entry.
    pub fn start(&self) -> usize {
        if self.heading.is_none() {
            return 0;
        }
        let line_start = |end: usize| {
            let above = self.text.get(..end).unwrap_or_default();
            above.strip_suffix('\n').unwrap_or(above).rfind('\n').map_or(0, |newline| newline + 1)
        };
        let start = line_start(self.body.start);
        let line = self.text.get(start..self.body.start).unwrap_or_default().trim();
        let is_underline =
            !line.is_empty() && (line.bytes().all(|b| b == b'=') || line.bytes().all(|b| b == b'-'));
        if is_underline { line_start(start) } else { start }
    }

    /// Returns the line of the file where the entry starts, from 1.
    pub fn line(&self) -> usize {
        super::passage::line_column(&self.text, self.start()).0
    }

    /// Returns the text of the entry with its heading; the whole file where that is one entry.
    pub fn own_text(&self) -> &str {
        match self.heading {
            Some(_) => self.text.get(self.start()..self.body.end).unwrap_or_default(),
            None => &self.text,
        }
    }

    /// Returns what tells this entry from all others: its path, and its heading where the file holds many (`codex/people.md#Mira Okafor`).
    pub fn address(&self) -> String {
        match &self.heading {
            Some(heading) => format!("{}#{heading}", self.path),
            None => self.path.as_str().to_owned(),
        }
    }

    /// Returns the name and all aliases, the title with the name and the title with the last word of the name.
    pub fn names(&self) -> Vec<String> {
        let mut names = vec![self.name.clone()];
        names.extend(self.aliases.iter().cloned());
        if let Some(title) = &self.title {
            names.push(format!("{title} {}", self.name));
            if let Some(last) = self.name.split_whitespace().next_back().filter(|l| *l != self.name) {
                names.push(format!("{title} {last}"));
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|n| !n.trim().is_empty() && seen.insert(n.clone()));
        names
    }
}

/// What said that a file or a heading is an entry of its type, strongest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeFrom {
    /// A key of its frontmatter, e.g. `type`.
    Key(String),
    /// A tag, e.g. `#character`.
    Tag(String),
    /// The name of a folder above it.
    Folder(String),
    /// The name of the file that it stands in, e.g. `characters.md`.
    File(String),
    /// The heading above it, e.g. `# Places`.
    Heading(String),
}

impl std::fmt::Display for TypeFrom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (kind, name) = match self {
            Self::Key(name) => ("key", name),
            Self::Tag(name) => ("tag", name),
            Self::Folder(name) => ("folder", name),
            Self::File(name) => ("file name", name),
            Self::Heading(name) => ("heading", name),
        };
        write!(f, "{kind} `{name}`")
    }
}

/// The inner life of a character, in its own file.
#[derive(Debug, Clone)]
pub struct Soul {
    /// Where it is.
    pub path: BookPath,
    /// The whole file.
    pub text: Arc<str>,
}
