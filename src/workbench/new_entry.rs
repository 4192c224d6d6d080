//! A new Codex entry that the author asks for: a file from the template, beside its kind.

use crate::canon::lookup::same_name;
use crate::domain::codex::EntryType;
use crate::domain::ids::BookPath;
use crate::proposal::path::suggest;
use crate::store::document::DocumentError;

use super::Workbench;

/// Why no entry was made.
#[derive(Debug, thiserror::Error)]
pub enum NewEntryError {
    /// It has no name.
    #[error("an entry needs a name")]
    NoName,
    /// One bears the name.
    #[error("{name} is in the Codex already: {path}")]
    Taken {
        /// The name.
        name: String,
        /// The entry that bears it.
        path: BookPath,
    },
    /// The file could not be written.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl Workbench {
    /// Makes an entry of this type and name, and returns its file. A name or alias that exists is refused.
    pub fn new_entry(&self, entry_type: EntryType, name: &str) -> Result<BookPath, NewEntryError> {
        if name.trim().is_empty() {
            return Err(NewEntryError::NoName);
        }
        let book = self.book();
        if let Some(entry) = same_name(&book, name).first() {
            return Err(NewEntryError::Taken { name: name.to_owned(), path: entry.path.clone() });
        }
        let path = suggest(&book, entry_type, name, false);
        self.save_document(&path, &template(entry_type, name), None)?;
        Ok(path)
    }
}

/// The text of a new entry: what it is, and the headings that such entries usually have.
fn template(entry_type: EntryType, name: &str) -> String {
    let sections: &[&str] = match entry_type {
        EntryType::Character => &["Summary", "Appearance", "Voice", "Backstory", "Relationships"],
        EntryType::Location => &["Summary", "Look and sound", "History"],
        EntryType::Organization => &["Summary", "Purpose", "People"],
        EntryType::Item => &["Summary", "Look", "Where it is"],
        EntryType::Concept => &["Summary", "Rules", "Consequences"],
        EntryType::Event => &["Summary", "What happened", "Consequences"],
        EntryType::Style => &["Summary", "Do", "Avoid"],
    };
    let role = if entry_type == EntryType::Character { "role:\n" } else { "" };
    let date = if entry_type == EntryType::Event { "date:\n" } else { "" };
    let quoted = serde_json::Value::from(name).to_string();
    let mut text = format!(
        "---\ntype: {entry_type}\nname: {quoted}\naliases: []\n{role}{date}summary:\n---\n\n# {name}\n"
    );
    for section in sections {
        text.extend(["\n## ", section, "\n\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::frontmatter;

    #[test]
    fn a_name_with_quotes_and_colons_is_read_back() {
        for entry_type in EntryType::ALL {
            let text = template(entry_type, "The \"Halcyon\": a ship");
            let read = frontmatter::parse(&text);
            assert!(read.problems.is_empty(), "{:?}", read.problems);
            assert_eq!(read.fields["name"], "The \"Halcyon\": a ship");
            assert_eq!(read.fields["type"], entry_type.as_str());
        }
    }
}
