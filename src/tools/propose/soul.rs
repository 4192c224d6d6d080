//! A first soul for a character: `soul.md` beside its dossier. A character in one flat file moves into a folder of its own in the same step.
//!
//! The dossier's words move unchanged, to the byte; a file that is there is never overwritten.

use serde_json::json;

use super::changed_file;
use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::ids::BookPath;
use crate::proposal::change::normalise;
use crate::proposal::{FileChange, path};
use crate::tools::ToolError;

/// Names of files whose folder is the entry.
const DOSSIERS: [&str; 3] = ["dossier", "index", "readme"];

/// A soul that was worked out.
pub(super) struct NewSoul {
    pub files: Vec<FileChange>,
    pub path: BookPath,
    pub text: String,
    pub warnings: Vec<String>,
}

/// Whether a target names the soul as a whole.
pub(super) fn is_soul(target: &str) -> bool {
    let bare = target.trim().trim_start_matches('#').trim();
    bare.eq_ignore_ascii_case("soul") || bare.eq_ignore_ascii_case("soul.md")
}

/// Works out the files for a character that has no soul yet.
pub(super) fn first_soul(book: &Book, entry: &Entry, markdown: &str) -> Result<NewSoul, ToolError> {
    if entry.entry_type != EntryType::Character {
        let message =
            format!("only characters have a soul, and {} is of type {}", entry.name, entry.entry_type);
        return Err(ToolError::in_field("targetSection", message, &["a section of the entry"]));
    }
    let refuse = |message: String| Err(ToolError::refused(message, json!({"path": entry.path})));
    if entry.heading.is_some() {
        return refuse(format!(
            "{} shares {} with other entries, so that it can't get a soul.md; put what you have into a section of the entry",
            entry.name, entry.path
        ));
    }
    let eol = if entry.text.contains("\r\n") { "\r\n" } else { "\n" };
    let text = normalise(markdown.trim_start_matches('\u{feff}'), eol);
    if text.is_empty() {
        return Err(ToolError::in_field("proposedMarkdown", "`proposedMarkdown` is empty", &[]));
    }
    let text = text + eol;
    let stem = entry.path.stem();
    let in_folder = DOSSIERS.iter().any(|name| stem.eq_ignore_ascii_case(name));
    let parent = entry.path.parent();
    let own = match (in_folder, parent) {
        (true, Some(parent)) => parent.to_owned(),
        (false, Some(parent)) => format!("{parent}/{stem}"),
        (_, None) => {
            return refuse(format!(
                "{} lies in the book's own folder and can't be moved into one",
                entry.path
            ));
        }
    };
    let file = |name: &str| BookPath::new(format!("{own}/{name}"));
    let (Ok(soul), Ok(dossier)) = (file("soul.md"), file("dossier.md")) else {
        return refuse(format!("{} is too long a path to get a folder", entry.path));
    };
    let new = |path: &BookPath, text: &str| FileChange {
        path: path.clone(),
        base: None,
        base_hash: None,
        proposed: Some(text.to_owned()),
    };
    if in_folder {
        if path::is_taken(book, &soul) {
            return refuse(format!("{soul} is there already, but is not read as the soul of {}", entry.name));
        }
        return Ok(NewSoul { files: vec![new(&soul, &text)], path: soul, text, warnings: vec![] });
    }
    if path::has_files_below(book, &own) {
        return refuse(format!("there is a folder {own} already, so that {} can't move into it", entry.path));
    }
    let gone = FileChange { proposed: None, ..changed_file(&entry.path, &entry.text, String::new()) };
    let mut warnings =
        vec![format!("{} moves to {dossier}, unchanged, so that soul.md can stand beside it.", entry.path)];
    let links = links_by_file_name(book, &entry.path);
    if !links.is_empty() {
        warnings.push(format!(
            "These files link to {} by its file name: {}.",
            entry.path.file_name(),
            links.join(", ")
        ));
    }
    let moved = book.as_on_disk(&entry.path, &entry.text);
    let files = vec![new(&dossier, &moved), new(&soul, &text), gone];
    Ok(NewSoul { files, path: soul, text, warnings })
}

/// Files that hold a Markdown link to a file by name, which a move breaks. (`[[x]]` still finds the folder `x`.)
fn links_by_file_name<'a>(book: &'a Book, target: &BookPath) -> Vec<&'a str> {
    let name = target.file_name();
    let encoded = name.replace(' ', "%20");
    let links = |text: &str| {
        [name, encoded.as_str()]
            .iter()
            .any(|n| text.contains(&format!("/{n})")) || text.contains(&format!("({n})")))
    };
    let chapters = book.chapters.iter().map(|c| (&c.path, &c.text));
    let entries = book.entries.iter().map(|e| (&e.path, &e.text));
    let notes = book.notes.iter().map(|n| (&n.path, &n.text));
    let mut found: Vec<&str> = chapters
        .chain(entries)
        .chain(notes)
        .filter(|(path, text)| *path != target && links(text))
        .map(|(path, _)| path.as_str())
        .collect();
    found.dedup();
    found
}
