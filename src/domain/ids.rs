//! Newtypes for identity: what a thing is called on disk and on the wire.

use serde::{Deserialize, Serialize};

macro_rules! id_type {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Wraps an identifier that was minted elsewhere.
            pub fn new(raw: impl Into<String>) -> Self {
                Self(raw.into())
            }

            /// Returns the identifier as it is written to disk.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }
    )+};
}

id_type! {
    /// A conversation, `s-` and a ULID.
    SessionId;
    /// One question with everything that answers it, `t-` and a ULID.
    TurnId;
    /// A proposed change, `p-` and a ULID.
    ProposalId;
    /// One tool call within a turn, as the provider named it.
    CallId;
}

impl SessionId {
    /// Mints a new identifier.
    pub fn mint() -> Self {
        Self(format!("s-{}", ulid::Ulid::generate()))
    }
}

impl TurnId {
    /// Mints a new identifier.
    pub fn mint() -> Self {
        Self(format!("t-{}", ulid::Ulid::generate()))
    }
}

impl ProposalId {
    /// Mints a new identifier.
    pub fn mint() -> Self {
        Self(format!("p-{}", ulid::Ulid::generate()))
    }
}

/// Why a text is no path inside a book.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is not a path inside the book: {reason}")]
pub struct BadPath {
    /// The text, cut and made safe to show.
    shown: String,
    /// What is wrong with it.
    reason: &'static str,
}

/// A path relative to the book's folder, with `/` between its parts.
///
/// By construction it is not empty, not absolute, holds no `.` or `..` part, no back slash, no
/// control character and no part that a common file system refuses. It says nothing about symbolic links: the
/// store checks those when it opens the file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BookPath(String);

impl BookPath {
    /// Checks `raw` and takes it as a path inside the book.
    pub fn new(raw: impl AsRef<str>) -> Result<Self, BadPath> {
        let raw = raw.as_ref();
        let bad = |reason| {
            let shown = raw.chars().take(60).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
            Err(BadPath { shown, reason })
        };
        if raw.is_empty() {
            return bad("it is empty");
        }
        if raw.len() > 1024 {
            return bad("it is longer than 1,024 bytes");
        }
        if raw.starts_with('/') || raw.starts_with('~') {
            return bad("it is absolute");
        }
        if raw.chars().any(char::is_control) {
            return bad("it holds a control character");
        }
        if raw.contains('\\') || raw.chars().nth(1) == Some(':') {
            return bad("parts are separated by `/`, and there is no drive");
        }
        if raw.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
            return bad("it has an empty, `.` or `..` part");
        }
        Ok(Self(raw.to_owned()))
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last part.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the last part without its extension.
    pub fn stem(&self) -> &str {
        let name = self.file_name();
        match name.rfind('.') {
            Some(dot) if dot > 0 => &name[..dot],
            _ => name,
        }
    }

    /// Returns the folder that holds the file, or `None` when it is the book's own.
    pub fn parent(&self) -> Option<&str> {
        self.0.rfind('/').map(|slash| &self.0[..slash])
    }

    /// Returns this path under another root, for the file system.
    pub fn under(&self, root: &std::path::Path) -> std::path::PathBuf {
        let mut path = root.to_path_buf();
        path.extend(self.0.split('/'));
        path
    }
}

impl std::fmt::Display for BookPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for BookPath {
    type Error = BadPath;

    fn try_from(raw: String) -> Result<Self, BadPath> {
        Self::new(raw)
    }
}

impl From<BookPath> for String {
    fn from(path: BookPath) -> Self {
        path.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leaves_the_book_is_refused() {
        for raw in
            ["", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a\\b", "C:/x", "~/x", "a\0b", "a\x1b[2J"]
        {
            assert!(BookPath::new(raw).is_err(), "{raw:?}");
        }
        assert!(BookPath::new("a/".repeat(800) + "b").is_err());
    }

    #[test]
    fn a_path_knows_its_parts() {
        let path = BookPath::new("codex/characters/adrian-vale/dossier.md").unwrap();
        assert_eq!(path.file_name(), "dossier.md");
        assert_eq!(path.stem(), "dossier");
        assert_eq!(path.parent(), Some("codex/characters/adrian-vale"));
    }
}
