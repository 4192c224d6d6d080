//! A new Codex entry, made by the author.

use std::fmt::Write;

use crate::canon::lookup;
use crate::domain::codex::EntryType;
use crate::domain::ids::BookPath;
use crate::proposal::path;
use crate::store::document::{self, DocumentError};

use super::Workbench;

/// Why no entry was made.
#[derive(Debug, thiserror::Error)]
pub enum NewEntryError {
    /// There is no name.
    #[error("an entry needs a name")]
    NoName,
    /// An entry bears it already.
    #[error("{name} is in the Codex already: {path}")]
    Exists {
        /// The name.
        name: String,
        /// Its entry's file.
        path: BookPath,
    },
    /// It can't be written.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl Workbench {
    /// Makes an entry from the template of its type, beside others of that type. Returns its file. Never overwrites one.
    pub fn new_entry(&self, entry_type: EntryType, name: &str) -> Result<BookPath, NewEntryError> {
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        if name.is_empty() {
            return Err(NewEntryError::NoName);
        }
        let book = self.book();
        if let Some(entry) = lookup::same_name(&book, &name).first() {
            return Err(NewEntryError::Exists { name, path: entry.path.clone() });
        }
        let path = path::suggest(&book, entry_type, &name, false);
        document::save(self.root(), &path, &template(entry_type, &name), None)?;
        Ok(path)
    }
}

/// Frontmatter, and the sections that an entry of this type usually has.
fn template(entry_type: EntryType, name: &str) -> String {
    let keys = match entry_type {
        EntryType::Character => "role: \"\"\naliases: []\n",
        EntryType::Event => "date: \"\"\nchapter: \"\"\n",
        EntryType::Style => "",
        _ => "aliases: []\n",
    };
    let sections: &[&str] = match entry_type {
        EntryType::Character => &["Summary", "Appearance", "Motivation", "Relationships"],
        EntryType::Location => &["Summary", "Layout", "Atmosphere"],
        EntryType::Organization => &["Summary", "Goals", "Members"],
        EntryType::Item => &["Summary", "Appearance", "History"],
        EntryType::Concept => &["Summary", "Rules", "Limits"],
        EntryType::Event => &["Summary", "Consequences"],
        EntryType::Style => &["Rules", "Examples"],
    };
    // A JSON string is a YAML string, whatever the name holds.
    let quoted = serde_json::Value::from(name);
    let mut text = format!("---\ntype: {entry_type}\nname: {quoted}\n{keys}---\n\n# {name}\n");
    for section in sections {
        let _ = write!(text, "\n## {section}\n\n");
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
