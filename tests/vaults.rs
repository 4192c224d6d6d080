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
            Some(now) if now != row => {
                writeln!(out, "expected {address}: {row:?}\n    read {now:?}").unwrap();
            }
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
            writeln!(wrong, "=== {name}\n{differences}\n--- {name}.toml as it is read now\n{now}--- end")
                .unwrap();
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

#[test]
fn fields_show_what_keys_links_and_lines_say() {
    let table = [
        ("obsidian", "Characters/Mira Okafor.md", "home", "Port Amity"),
        ("obsidian", "Characters/Mira Okafor.md", "born", "15th of Hammer, 5421"),
        ("obsidian", "Characters/Tobias Wren.md", "Role", "customs clerk"),
        ("obsidian", "Characters/Tobias Wren.md", "faction", "The Quiet Hand"),
        ("obsidian", "Characters/Tobias Wren.md", "mood", "tired"),
        ("obsidian", "Places/Rope Walk.md", "owner", "Ilse Søndergaard"),
        ("obsidian", "Places/Rope Walk.md", "block", "the quay"),
        ("obsidian", "Places/Rope Walk.md", "district", "Port Amity"),
        ("plain", "people/03_doctor_hallam.md", "Role", "physician"),
        ("plain", "people/Sister Agnes.markdown", "Born", "1841"),
        ("plain", "Ferris Lund.md", "Age", "17"),
        ("plain", "people/signe.md", "Role", "midwife"),
        ("plain", "history/The Great Fog.md", "Chapter", "2"),
        ("italian", "Personaggi/nina.md", "role", "protagonista"),
        ("lists", "codex/characters.md#Mira Okafor", "Born", "2281"),
        ("lists", "codex/events.md#The Inquiry (2)", "Date", "2311-01-02"),
        ("one-file", "bible.md#Lantern", "mood", "unquiet"),
        ("one-file-deep", "Story Bible/The Hollow Crown - Series Bible.md#Queen Isaude", "Age", "44"),
        ("exports", "codex/characters/hundred-keys.md", "custom_299", "value 299"),
        ("exports", "codex/entities/a1.md", "updated_at", "2024-02-30"),
        ("broken", "codex/characters/yaml-types.md", "age", "007"),
        ("bytes", "codex/characters/latin1.md", "role", "Müller"),
        ("bytes", "codex/characters.md#Wilkin Dray (aka Dray)", "Role", "carter"),
    ];
    for (vault, address, key, value) in table {
        let book = read(&folder().join(vault)).unwrap();
        let entry = book.entries.iter().find(|entry| entry.address() == address).unwrap();
        assert_eq!(entry.fields.get(key).and_then(|v| v.as_str()), Some(value), "{vault} {address} {key}");
    }
    let book = read(&folder().join("exports")).unwrap();
    let weir = book.entries.iter().find(|entry| entry.name == "Jonas Weir").unwrap();
    let shown = serde_json::to_string(&weir.fields["relationships"]).unwrap();
    assert_eq!(shown, r#"[{"character":"Maud","type":"employer"},{"character":"Aino","type":"rival"}]"#);
}

#[test]
fn what_an_entry_embeds_is_shown_with_its_file() {
    let book = read(&folder().join("obsidian")).unwrap();
    let shown = |name: &str| {
        let entry = book.entries.iter().find(|entry| entry.name == name).unwrap();
        let all = book.embeds(entry);
        all.into_iter().map(|(path, text)| (path.to_string(), text.to_owned())).collect::<Vec<_>>()
    };
    let pell = shown("Jory Pell");
    assert_eq!(pell.len(), 2);
    assert_eq!(pell[0].0, "Fragments/Jory - short.md");
    assert!(pell[0].1.starts_with("Jory rings the bells"));
    assert_eq!(pell[1].1, "He was asleep when the *Amity* burned. ^asleep");
    assert_eq!(shown("Perrin Lost"), [], "pictures, missing notes and missing blocks show nothing");
    assert_eq!(shown("Bell-Ringer's Guild Master").len(), 1, "a circle is no problem");
}

/// Whatever bytes a file has, its book is read, and its entries lie inside it.
fn check_bytes(name: &str, bytes: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("codex/characters")).unwrap();
    fs::create_dir(dir.path().join("manuscript")).unwrap();
    for folder in ["codex", "codex/characters", "."] {
        fs::write(dir.path().join(folder).join(name), bytes).unwrap();
    }
    let book = read(dir.path()).unwrap();
    assert_eq!(
        book.entries.iter().filter(|e| e.heading.is_none()).count()
            + book
                .entries
                .iter()
                .filter(|e| e.heading.is_some())
                .map(|e| &e.path)
                .collect::<std::collections::BTreeSet<_>>()
                .len()
            + book.others.len(),
        3,
        "every file is somewhere"
    );
    for entry in &book.entries {
        assert!(entry.text.get(entry.body.clone()).is_some());
        assert!(entry.line() <= entry.text.matches('\n').count() + 1);
        assert!(!entry.name.is_empty() && entry.warnings.iter().all(|w| w.line >= 1 && w.column >= 1));
        assert!(book.entry_at(&entry.path, entry.body.start).is_some());
        book.embeds(entry);
        let again = with_text(&book, &entry.path, std::sync::Arc::clone(&entry.text));
        assert_eq!(again.entries.len(), book.entries.len());
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        check_bytes("any.md", &bytes);
    }

    #[test]
    fn any_marks_are_read(text in "(---\n)?([a-z]{1,6}: [\\[\"a-z#\\]|]{0,9}\n){0,3}(---\n)?((#{1,4} |- |\\*\\*|%%|<!--|```\n|!?\\[\\[|\\]\\]|::|\\||=====|-----|#npc|Characters|Places|Mira|Role: x|é|\r\n|\n|\n\n| ){0,24})") {
        check_bytes("characters.md", text.as_bytes());
        check_bytes("bible.md", text.as_bytes());
    }
}
