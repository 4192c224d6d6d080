//! Where the author was: the open document and the place in it, the board member. `.scritorio/desk.json`, one machine's own.
//!
//! A convenience: what can't be read is nothing, and what can't be written is not missed. Never makes `.scritorio`.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::ids::BookPath;

use super::{atomic, home};

const FILE: &str = "desk.json";

/// Where the author was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Desk {
    /// Version of the file.
    pub v: u32,
    /// The open document.
    pub document: Option<BookPath>,
    /// The chapter that was open last.
    pub chapter: Option<BookPath>,
    /// Byte offset of the cursor in its file.
    pub cursor: usize,
    /// Id of the board member.
    pub persona: Option<String>,
    /// The day that `words` is about, as `2027-01-31`, by the author's clock.
    pub day: Option<String>,
    /// Words of manuscript written on that day; fewer than none where more were cut.
    pub words: i64,
}

/// Reads it.
pub fn read(root: &Path) -> Desk {
    let text = home::path(root, FILE).and_then(std::fs::read_to_string).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Writes it, in a book that has a folder of ours already.
pub fn write(root: &Path, desk: &Desk) -> std::io::Result<()> {
    if !root.join(home::NAME).is_dir() {
        return Ok(());
    }
    let text = serde_json::to_vec_pretty(desk)?;
    atomic::write(root, &home::path(root, FILE)?, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_author_comes_back_to_where_she_was() {
        let root = tempfile::tempdir().unwrap();
        let desk = Desk {
            v: 1,
            document: BookPath::new("manuscript/02.md").ok(),
            chapter: BookPath::new("manuscript/01.md").ok(),
            cursor: 40,
            persona: Some("writing-coach".into()),
            day: Some("2027-01-31".into()),
            words: 120,
        };
        write(root.path(), &desk).unwrap();
        assert_eq!(read(root.path()), Desk::default(), "a book that was only read stays without a trace");
        home::make(root.path(), FILE).unwrap();
        write(root.path(), &desk).unwrap();
        assert_eq!(read(root.path()), desk);
    }

    #[test]
    fn a_broken_file_is_nothing() {
        let root = tempfile::tempdir().unwrap();
        let file = home::make(root.path(), FILE).unwrap();
        for text in ["", "{", "[]", "{\"document\": \"../../etc/passwd\"}"] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(read(root.path()), Desk::default(), "{text}");
        }
    }
}
