//! A change that a persona suggests and only the author may apply.
//!
//! Pure: text in, text or a reason out. Writing to disk is the store's work, and nothing here can reach it.

pub mod apply;
pub mod change;
pub mod diff;
pub mod path;
pub mod role;

use serde::{Deserialize, Serialize};

use crate::domain::codex::EntryType;
use crate::domain::ids::{BookPath, ProposalId};

/// A suggested change to one or more files, with the bytes that it was written against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Identity, the same in the interface, on the command line and after a restart.
    pub id: ProposalId,
    /// Tool that made it.
    pub tool: String,
    /// Type of the entry that it is about.
    pub entry_type: EntryType,
    /// Name of the entry that it is about.
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

/// One file of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The file.
    pub path: BookPath,
    /// The whole file as the proposal saw it (its bytes are UTF-8); `None` for a new file.
    pub base: Option<String>,
    /// SHA-256 of `base`, lowercase hex of the raw bytes.
    pub base_hash: Option<String>,
    /// The whole file as it would be.
    pub proposed: String,
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
