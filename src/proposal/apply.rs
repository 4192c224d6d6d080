//! Checks a proposal against the files as they are now, and says what to write.

use super::{FileChange, Proposal};

/// What one file must become. `content` is the whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The file.
    pub path: crate::domain::ids::BookPath,
    /// Its bytes before; `None` when it must not exist.
    pub before: Option<String>,
    /// Its bytes after.
    pub after: String,
}

/// Why a proposal can't be applied as it stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The file is not what the proposal was made for.
    #[error("{path} has changed since this was proposed; nothing was written")]
    Changed {
        /// The file.
        path: crate::domain::ids::BookPath,
    },
    /// A new file would overwrite one.
    #[error("{path} exists already; nothing was written")]
    Exists {
        /// The file.
        path: crate::domain::ids::BookPath,
    },
    /// The file is gone.
    #[error("{path} is no longer there; nothing was written")]
    Gone {
        /// The file.
        path: crate::domain::ids::BookPath,
    },
    /// No hunk was chosen.
    #[error("no change is selected; nothing was written")]
    Nothing,
}

/// Plans the writes. `now` gives the present text of a file (`None`: it does not exist); `hunks` keeps, for the file at the same place, only the hunks
/// (of [`super::diff::hunks`]) whose flag is set; an absent list keeps all.
pub fn plan(
    proposal: &Proposal,
    now: impl Fn(&FileChange) -> Option<String>,
    hunks: &[Vec<bool>],
) -> Result<Vec<Write>, Conflict> {
    todo!()
}
