//! What the reader makes of whole vaults: every folder of `tests/vaults/` against the table beside it.
//!
//! A table names each entry with its type and what gave it, its name, other names, summary and warnings, and each file that is no canon with the reason. Where
//! one differs, the test prints the whole table as it is read now.

#![expect(clippy::unwrap_used, reason = "a test that can't read its own files has failed")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use scritorio::domain::book::Book;
use scritorio::domain::codex::Entry;
use scritorio::store::book::{read, with_text};
use serde::{Deserialize, Serialize};

/// What a table says of a vault.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// Entries by their addresses.
    #[serde(default)]
    entry: BTreeMap<String, Row>,
    /// Files that are no canon, with the reason.
    #[serde(default)]
    not_canon: BTreeMap<String, String>,
    #[serde(default)]
    chapters: Vec<String>,
    #[serde(default)]
    notes: Vec<String>,
    /// Warnings about the settings, as `line:column message`.
    #[serde(default)]
    settings: Vec<String>,
}

/// What a table says of an entry.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(rename = "type")]
    entry_type: String,
    from: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    aliases: Vec<String>,
    summary: String,
    /// Line of its heading, in a file of many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    soul: Option<String>,
    /// As `line:column message`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vaults")
}

fn vaults() -> Vec<PathBuf> {
    let mut all: Vec<_> = fs::read_dir(folder()).unwrap().map(|item| item.unwrap().path()).collect();
    all.retain(|path| path.is_dir());
    all.sort();
    all
}

fn row(entry: &Entry) -> Row {
    // Long summaries are told by their beginning.
    let summary: String = entry.summary.chars().take(120).collect();
    Row {
        entry_type: entry.entry_type.to_string(),
        from: entry.type_from.to_string(),
        name: entry.name.clone(),
        title: entry.title.clone(),
        aliases: entry.aliases.clone(),
        summary,
        line: entry.heading.as_ref().map(|_| entry.line()),
        soul: entry.soul.as_ref().map(|soul| soul.path.to_string()),
        warnings: entry.warnings.iter().map(|w| format!("{}:{} {}", w.line, w.column, w.message)).collect(),
    }
}

fn table(book: &Book) -> Table {
    let entry: BTreeMap<_, _> = book.entries.iter().map(|e| (e.address(), row(e))).collect();
    assert_eq!(entry.len(), book.entries.len(), "no address stands for two entries");
    let why = |path| book.not_canon.get(path).cloned().unwrap_or_default();
    Table {
        entry,
        not_canon: book.others.iter().map(|path| (path.to_string(), why(path))).collect(),
        chapters: book.chapters.iter().map(|chapter| chapter.path.to_string()).collect(),
        notes: book.notes.iter().map(|note| note.path.to_string()).collect(),
        settings: book
            .warnings
            .iter()
            .filter(|w| w.path.as_str() == "scritorio.toml")
            .map(|w| format!("{}:{} {}", w.line, w.column, w.message))
            .collect(),
    }
}

/// Says what a table has otherwise than another.
fn differences(expected: &Table, read: &Table) -> String {
    let mut out = String::new();
    for (address, row) in &expected.entry {
        match read.entry.get(address) {
            None => writeln!(out, "missing: {address}").unwrap(),
            Some(now) if now != row => writeln!(out, "expected {address}: {row:?}\n    read {now:?}").unwrap(),
            Some(_) => {}
        }
    }
    for (address, row) in read.entry.iter().filter(|(address, _)| !expected.entry.contains_key(*address)) {
        writeln!(out, "not expected: {address}: {row:?}").unwrap();
    }
    for (what, expected, read) in [
        ("no canon", format!("{:?}", expected.not_canon), format!("{:?}", read.not_canon)),
        ("chapters", format!("{:?}", expected.chapters), format!("{:?}", read.chapters)),
        ("notes", format!("{:?}", expected.notes), format!("{:?}", read.notes)),
        ("settings", format!("{:?}", expected.settings), format!("{:?}", read.settings)),
    ] {
        if expected != read {
            writeln!(out, "expected {what}: {expected}\n    read {read}").unwrap();
        }
    }
    out
}

#[test]
fn every_vault_is_read_as_its_author_meant_it() {
    let mut wrong = String::new();
    let mut files = 0;
    for vault in vaults() {
        let name = vault.file_name().unwrap().to_string_lossy().into_owned();
        let expected: Table = fs::read_to_string(vault.with_extension("toml"))
            .map(|text| toml::from_str(&text).unwrap())
            .unwrap_or_default();
        let read = table(&read(&vault).unwrap());
        files += read.entry.len() + read.not_canon.len();
        let differences = differences(&expected, &read);
        if !differences.is_empty() {
            let now = toml::to_string(&read).unwrap();
            writeln!(wrong, "=== {name}\n{differences}\n--- {name}.toml as it is read now\n{now}--- end").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(files >= 120, "{files} files and entries");
}

#[test]
fn an_entry_lies_inside_its_file_and_beside_the_others() {
    for vault in vaults() {
        let book = read(&vault).unwrap();
        for (at, entry) in book.entries.iter().enumerate() {
            let place = format!("{}: {}", vault.display(), entry.address());
            assert!(entry.text.get(entry.body.clone()).is_some(), "{place}");
            assert!(entry.line() <= entry.text.matches('\n').count() + 1, "{place}");
            for other in book.entries[at + 1..].iter().filter(|other| other.path == entry.path) {
                let (a, b) = (&entry.body, &other.body);
                assert!(a.end <= b.start || b.end <= a.start, "{place} and {}", other.address());
            }
        }
    }
}

#[test]
fn the_same_text_unsaved_gives_the_same_book() {
    for vault in vaults() {
        let book = read(&vault).unwrap();
        let before = table(&book);
        for entry in &book.entries {
            // What is not on disk in UTF-8 is a warning about the disk, which an unsaved text does not have.
            if entry.warnings.iter().any(|w| w.message.contains("UTF-")) {
                continue;
            }
            let again = table(&with_text(&book, &entry.path, std::sync::Arc::clone(&entry.text)));
            let differences = differences(&before, &again);
            assert!(differences.is_empty(), "{}: {}\n{differences}", vault.display(), entry.address());
        }
    }
}
