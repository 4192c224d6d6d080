//! A change that a persona suggests and only the author may apply.
//!
//! Pure: text in, text or a reason out. Writing to disk is the store's work, and nothing here can reach it.

pub mod apply;
pub mod change;
pub mod diff;
pub mod merge;
pub mod path;
pub mod revert;
pub mod role;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::domain::book::Book;
use crate::domain::codex::EntryType;
use crate::domain::ids::{BookPath, ProposalId};
use crate::domain::passage::sha256_hex;

/// A suggested change to one or more files, with the bytes that it was written against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Identity, the same in the interface, on the command line and after a restart.
    pub id: ProposalId,
    /// Tool that made it.
    pub tool: String,
    /// What kind of thing it is about.
    #[serde(rename = "entry_type")]
    pub subject: Subject,
    /// Name of the entry, or title of the scene or note, that it is about.
    pub entry: String,
    /// What changes, in one line, in the persona's words.
    pub summary: String,
    /// What the author should know before accepting; shown first.
    pub warnings: Vec<String>,
    /// The files, main file first. Never empty.
    pub files: Vec<FileChange>,
    /// Whether the author edited the text before accepting it.
    #[serde(default)]
    pub edited: bool,
}

impl Proposal {
    /// Returns the main file's path.
    pub fn path(&self) -> Option<&BookPath> {
        self.files.first().map(|f| &f.path)
    }
}

/// What a proposal is about. In JSON one word: the type of the entry, or the kind of other text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Subject {
    /// An entry of the Codex.
    Entry(EntryType),
    /// Something else.
    Other(Other),
}

/// What is no entry and can be proposed all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Other {
    /// A new file of the manuscript.
    Scene,
    /// A new note.
    Note,
    /// The editable section of a board member's prompt.
    Persona,
    /// One thing in many files, e.g. a name.
    Book,
}

impl Subject {
    /// Returns the word for screens and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Entry(entry_type) => entry_type.as_str(),
            Self::Other(Other::Scene) => "scene",
            Self::Other(Other::Note) => "note",
            Self::Other(Other::Persona) => "persona",
            Self::Other(Other::Book) => "book",
        }
    }
}

impl From<EntryType> for Subject {
    fn from(entry_type: EntryType) -> Self {
        Self::Entry(entry_type)
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// One file of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The file.
    pub path: BookPath,
    /// The whole file as the proposal saw it (its bytes are UTF-8); `None` for a new file.
    pub base: Option<String>,
    /// SHA-256 of `base`, lowercase hex of the raw bytes.
    pub base_hash: Option<String>,
    /// The whole file as it would be; `None` where it would be removed. Never absent in JSON: a torn line must not read as a removal.
    #[serde(deserialize_with = "Option::deserialize")]
    pub proposed: Option<String>,
}

impl FileChange {
    /// Whether the base is, byte for byte, what its hash says.
    pub fn is_whole(&self) -> bool {
        match (&self.base, &self.base_hash) {
            (Some(base), Some(hash)) => sha256_hex(base) == *hash,
            _ => true,
        }
    }

    /// Gives texts that were made from a book as it was read the line ends that the file has on disk.
    pub fn keep_line_ends(&mut self, book: &Book) {
        for text in [&mut self.base, &mut self.proposed].into_iter().flatten() {
            if let Cow::Owned(on_disk) = book.as_on_disk(&self.path, text) {
                *text = on_disk;
            }
        }
        if book.old_mac.contains(&self.path) {
            self.base_hash = self.base.as_deref().map(sha256_hex);
        }
    }

    /// Returns the whole file as it would be; empty where it would be removed.
    pub fn text(&self) -> &str {
        self.proposed.as_deref().unwrap_or_default()
    }
}

/// What became of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Not decided.
    Pending,
    /// Written to disk.
    Applied,
    /// Refused by the author.
    Rejected,
    /// Applied, then taken back.
    Undone,
    /// The file has changed since, so that it can't be applied as it stands.
    Stale,
}

impl Status {
    /// Returns the word for screens and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Applied => "applied",
            Self::Rejected => "rejected",
            Self::Undone => "undone",
            Self::Stale => "stale",
        }
    }
}
