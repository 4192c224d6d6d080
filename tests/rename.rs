//! Renaming in the example book against lists that a reader made, and on the command line: what is shown, what is written, what comes back.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't go on has failed"
)]

#[path = "support/book.rs"]
mod book;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use book::{Folders, MIRA};
use scritorio::workbench::rename::{Kind, Place};
use scritorio::workbench::{Overrides, Surroundings, Workbench};
use serde_json::Value;

/// A list of `line:column old -> new`, by file and label.
struct Labels {
    old: String,
    new: String,
    places: BTreeMap<String, String>,
}

fn labels(name: &str) -> Labels {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/rename/{name}.toml"));
    let table: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
    let mut places = BTreeMap::new();
    for file in table["files"].as_array().unwrap() {
        let path = file["path"].as_str().unwrap();
        for label in ["take", "ask", "leave"] {
            let rows = file.get(label).map_or(&[][..], |rows| rows.as_array().unwrap());
            for row in rows {
                let listed = places.insert(format!("{path}:{}", row.as_str().unwrap()), label.to_owned());
                assert!(listed.is_none(), "{path}: {row} twice");
            }
        }
    }
    let word = |key: &str| table[key].as_str().unwrap().to_owned();
    Labels { old: word("old"), new: word("new"), places }
}

fn row(place: &Place) -> String {
    format!("{}:{}:{} {} -> {}", place.path, place.line, place.column, place.text, place.becomes)
}

#[test]
fn every_place_that_a_reader_marked_is_found_and_none_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/the-long-silence");
    let bench =
        Workbench::open_in(&root, Overrides::default(), Surroundings::in_folders(folder.path())).unwrap();
    for name in ["adrian-vale", "mira-okafor", "ruth-adeyinka", "lantern"] {
        let labels = labels(name);
        assert!(labels.places.len() > 20, "{name}");
        let found = bench.rename(&labels.old, &labels.new).unwrap();
        let places: BTreeMap<String, &Place> =
            found.places.iter().filter(|p| p.kind != Kind::File).map(|p| (row(p), p)).collect();
        for (place, label) in &labels.places {
            let found = places.get(place).unwrap_or_else(|| panic!("{name}: {place} was missed"));
            assert_eq!(found.chosen, label == "take", "{name}: {place}: {:?}", found.doubt);
        }
        for (place, found) in &places {
            assert!(labels.places.contains_key(place), "{name}: {place} is none: {:?}", found.doubt);
        }
        for place in &found.places {
            assert_ne!(place.chosen, place.doubt.is_some(), "{}: what is not chosen says why", row(place));
        }
    }
    assert!(!root.join(".scritorio").exists());
}

/// The book's own files, without what the program keeps.
fn texts(folders: &Folders) -> BTreeMap<String, Vec<u8>> {
    let root = folders.book();
    let all = folders.files().into_iter();
    let own =
        all.filter_map(|(path, bytes)| Some((path.strip_prefix(&root).ok()?.to_str()?.to_owned(), bytes)));
    own.filter(|(path, _)| !path.starts_with(".scritorio")).collect()
}

#[test]
fn a_dry_run_lists_the_places_and_writes_nothing() {
    let folders = Folders::example();
    let before = folders.files();
    let ran = folders.run(&["rename", "Adrian Vale", "Julian Crane"]).ok();
    assert!(ran.out.contains("[x] manuscript/01-the-listening-post.md:3:68  mention  "), "{}", ran.out);
    assert!(ran.out.contains("and Captain [-Vale-]{+Crane+} put his hand straight on the switch."));
    assert!(ran.out.contains("(`Mrs. Vale` is hardly the same person)"));
    assert!(ran.err.contains("83 of 85 places are chosen, in 28 files. Nothing was written"), "{}", ran.err);
    let json = folders.run(&["rename", "Adrian Vale", "Julian Crane", "--json"]).ok().json();
    assert_eq!(json["counts"], serde_json::json!({ "places": 85, "chosen": 83, "files": 28 }));
    assert_eq!(json["entry"]["path"], "codex/characters/adrian-vale/dossier.md");
    assert_eq!(json["applied"], Value::Null);
    for place in json["places"].as_array().unwrap() {
        let bytes = &before[&folders.book().join(place["path"].as_str().unwrap())];
        let range = place["start"].as_u64().unwrap() as usize..place["end"].as_u64().unwrap() as usize;
        assert_eq!(std::str::from_utf8(&bytes[range]).unwrap(), place["text"].as_str().unwrap());
    }
    assert_eq!(folders.files(), before);
}

#[test]
fn a_rename_is_one_step_that_is_undone_and_redone_to_the_byte() {
    let folders = Folders::example();
    let before = texts(&folders);
    let json = folders.run(&["rename", "Adrian Vale", "Julian Crane", "--apply", "--json"]).ok().json();
    let applied = &json["applied"];
    assert_eq!(
        (&applied["status"], &applied["tool"], &applied["entry_type"]),
        (&"applied".into(), &"rename".into(), &"book".into())
    );
    assert_eq!(applied["summary"], "Rename Adrian Vale to Julian Crane: 83 places in 28 files");
    let id = applied["id"].as_str().unwrap();
    let after = texts(&folders);
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    let changed = before.iter().filter(|(path, bytes)| after[*path] != **bytes).count();
    assert_eq!(changed, 28);
    let chapter = folders.read("manuscript/07-the-inquiry.md");
    assert!(chapter.contains("CAPTAIN JULIAN CRANE, lately") && chapter.contains("Was that Mrs. Vale?"));
    // The Codex knows the new name, and the old one stands only where it was left.
    let again = folders.run(&["rename", "Julian Crane", "Adrian Vale", "--json"]).ok().json();
    assert_eq!(again["counts"]["chosen"], 83);
    let listed = folders.run(&["proposals", "list", "--json"]).ok().json();
    assert_eq!(listed[0]["status"], "applied");
    folders.run(&["proposals", "undo", id]).ok();
    assert_eq!(texts(&folders), before);
    folders.run(&["proposals", "redo", id]).ok();
    assert_eq!(texts(&folders), after);
    folders.run(&["proposals", "undo", id]).ok();
    assert_eq!(texts(&folders), before);
    let report = fs::read_dir(folders.book().join(".scritorio/provenance")).unwrap().count();
    assert_eq!(report, 1, "what was done is on record");
}

#[test]
fn renaming_there_and_back_leaves_every_byte_as_it_was() {
    for (old, new) in
        [("Mira Okafor", "Nora Lindqvist"), ("Ruth Adeyinka", "Judith Klein"), ("Lantern", "Beacon")]
    {
        let folders = Folders::example();
        let before = texts(&folders);
        folders.run(&["rename", old, new, "--apply"]).ok();
        assert_ne!(texts(&folders), before);
        folders.run(&["rename", new, old, "--apply"]).ok();
        assert_eq!(texts(&folders), before, "{old}");
    }
}

#[test]
fn a_bom_crlf_comments_and_the_order_of_keys_survive() {
    let folders = Folders::new();
    folders.write("manuscript/02.md", "\u{feff}One\r\nMira\r\nOkafor, and Mira’s lamp.\r\n");
    let before = texts(&folders);
    let id = folders.run(&["rename", "Mira Okafor", "Nora Lind", "--apply", "--json"]).ok().json()["applied"]
        ["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let expected = MIRA.replace("Mira Okafor", "Nora Lind").replace("[Mira]", "[Nora]");
    assert_eq!(folders.read("codex/characters/mira.md"), expected);
    assert_eq!(folders.read("manuscript/02.md"), "\u{feff}One\r\nNora\r\nLind, and Nora’s lamp.\r\n");
    folders.run(&["proposals", "undo", &id]).ok();
    assert_eq!(texts(&folders), before);
}

#[test]
fn what_the_author_excludes_stays_excluded_after_edits() {
    let folders = Folders::example();
    let args = ["rename", "Mira Okafor", "Nora Lindqvist", "--json"];
    let json = folders.run(&args).ok().json();
    let at = |json: &Value, text: &str| {
        let all = json["places"].as_array().unwrap();
        all.iter().find(|p| p["after"].as_str().unwrap().contains(text)).cloned().unwrap()
    };
    let id = at(&json, "used to say. So who else")["id"].as_str().unwrap().to_owned();
    let never =
        folders.run(&["rename", "Mira Okafor", "Nora Lindqvist", "--never", &id, "--json"]).ok().json();
    assert_eq!(never["counts"]["chosen"], 69);
    assert!(folders.read(".scritorio/exemptions.toml").contains("is_not = \"Mira Okafor\""));
    let path = "manuscript/09-lantern.md";
    folders.write(
        path,
        &folders
            .read(path)
            .replace("# Lantern\n", "# Lantern\n\nA new paragraph.\n")
            .replace("*I could do him with a spoon*", "*I could do him with a ladle*"),
    );
    let later = folders.run(&args).ok().json();
    let place = at(&later, "used to say. So who else");
    assert_eq!((&place["exempt"], &place["chosen"]), (&true.into(), &false.into()));
    assert_eq!(place["reason"], "you said that this is not Mira Okafor");
    assert_eq!(
        folders.run(&["rename", "Mira Okafor", "Nora Lindqvist", "--all", "--json"]).ok().json()["counts"]["chosen"],
        85
    );
}

#[test]
fn single_places_are_taken_in_and_left_out() {
    let folders = Folders::example();
    let json = folders.run(&["rename", "Adrian Vale", "Julian Crane", "--json"]).ok().json();
    let id = |text: &str| {
        let all = json["places"].as_array().unwrap();
        all.iter().find(|p| p["text"] == text).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let (initials, listed) = (id("A. V"), id("Vale, A"));
    folders
        .run(&[
            "rename",
            "Adrian Vale",
            "Julian Crane",
            "--apply",
            "--include",
            &initials,
            "--exclude",
            &listed,
        ])
        .ok();
    assert!(folders.read("manuscript/09-lantern.md").contains("asked of you.—J. C.*"));
    assert!(folders.read("manuscript/01-the-listening-post.md").contains("*Vale, A., Superintendent*"));
}

#[test]
fn the_file_of_an_entry_and_the_links_that_name_it_are_renamed_when_asked() {
    let folders = Folders::new();
    folders
        .write("manuscript/02.md", "See [[mira]] and [her](../codex/characters/mira.md), [[Mira Okafor]].\n");
    let before = texts(&folders);
    let dry = folders.run(&["rename", "Mira Okafor", "Nora Lind"]).ok();
    assert!(!dry.err.contains("codex/characters/nora-lind.md"), "a stem of another make stays: {}", dry.err);
    folders.write("codex/characters/juno-pask.md", "---\nname: Juno Pask\n---\n");
    folders.write("manuscript/03.md", "[[juno-pask]] [x](../codex/characters/juno-pask.md) [[Juno Pask]]\n");
    folders.run(&["rename", "Juno Pask", "Vera Ross", "--apply"]).ok();
    assert_eq!(
        folders.read("manuscript/03.md"),
        "[[juno-pask]] [x](../codex/characters/juno-pask.md) [[Vera Ross]]\n"
    );
    folders.run(&["rename", "Vera Ross", "Juno Pask", "--apply"]).ok();
    let juno = texts(&folders);
    let json = folders.run(&["rename", "Juno Pask", "Vera Ross", "--files", "--apply", "--json"]).ok().json();
    assert_eq!(
        folders.read("manuscript/03.md"),
        "[[vera-ross]] [x](../codex/characters/vera-ross.md) [[Vera Ross]]\n"
    );
    assert_eq!(folders.read("codex/characters/vera-ross.md"), "---\nname: Vera Ross\n---\n");
    assert!(!folders.book().join("codex/characters/juno-pask.md").exists());
    folders.run(&["proposals", "undo", json["applied"]["id"].as_str().unwrap()]).ok();
    assert_eq!(texts(&folders), juno);
    assert!(before.iter().all(|(path, bytes)| juno[path] == *bytes));
}

#[test]
fn links_in_files_beside_the_book_follow_and_other_words_there_wait_for_a_yes() {
    let folders = Folders::new();
    folders.write("Home.md", "Start: [[Mira Okafor]], then Mira Okafor's letters.\n");
    let json = folders.run(&["rename", "Mira Okafor", "Nora Lind", "--apply", "--json"]).ok().json();
    assert_eq!(folders.read("Home.md"), "Start: [[Nora Lind]], then Mira Okafor's letters.\n");
    let left =
        json["places"].as_array().unwrap().iter().find(|p| p["path"] == "Home.md" && p["chosen"] == false);
    assert!(left.unwrap()["reason"].as_str().unwrap().contains("neither"), "{json}");
    folders.run(&["proposals", "undo", json["applied"]["id"].as_str().unwrap()]).ok();
    assert_eq!(folders.read("Home.md"), "Start: [[Mira Okafor]], then Mira Okafor's letters.\n");
}

#[test]
fn a_name_that_somebody_bears_is_taken_only_when_insisted_on() {
    let folders = Folders::new();
    folders.write("codex/characters/juno.md", "---\nname: Juno Pask\naliases: [Pask]\n---\n");
    let before = texts(&folders);
    for taken in ["Juno Pask", "Pask"] {
        let dry = folders.run(&["rename", "Mira Okafor", taken]).ok();
        assert!(dry.err.contains("is a name already, of Juno Pask"), "{}", dry.err);
        let refused = folders.run(&["rename", "Mira Okafor", taken, "--apply"]);
        assert_eq!(refused.code, 1, "{}", refused.err);
        assert_eq!(texts(&folders), before);
    }
    folders.run(&["rename", "Mira Okafor", "Juno Pask", "--apply", "--even-if-taken"]).ok();
    assert_ne!(texts(&folders), before);
}

#[test]
fn what_cannot_be_renamed_is_said_with_its_exit_code() {
    let folders = Folders::new();
    let before = folders.files();
    for (old, new, code, words) in [
        ("Zanzibar", "Utopia", 1, "`Zanzibar` stands nowhere in the book."),
        ("Mira", "Mira", 2, "The old and the new name are the same."),
        ("", "x", 2, "There is nothing to rename: the old name is empty."),
        ("Mira", "  ", 2, "The new name can't be used: it is empty."),
        ("Mira", "a|b", 2, "would break links"),
        ("Mira", "a\nb", 2, "on one line"),
    ] {
        let ran = folders.run(&["rename", old, new, "--apply"]);
        assert_eq!(ran.code, code, "{old} {new}: {}", ran.err);
        assert!(ran.err.contains(words), "{}", ran.err);
    }
    let ran = folders.run(&["rename", "Mira", "Nora", "--exclude", "nope"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    let json = folders.run(&["rename", "Zanzibar", "Utopia", "--json"]);
    assert_eq!((json.code, &json.json()["error"]["kind"]), (1, &"work".into()));
    assert_eq!(folders.files(), before);
}

#[test]
fn a_file_in_another_encoding_is_listed_and_left_alone() {
    let folders = Folders::new();
    fs::write(folders.book().join("manuscript/02.md"), b"caf\xe9, said Mira.\n").unwrap();
    let json = folders.run(&["rename", "Mira Okafor", "Nora Lind", "--all", "--apply", "--json"]).ok().json();
    let place = json["places"].as_array().unwrap().iter().find(|p| p["path"] == "manuscript/02.md").unwrap();
    assert_eq!((&place["by_hand"], &place["chosen"]), (&true.into(), &false.into()));
    assert_eq!(fs::read(folders.book().join("manuscript/02.md")).unwrap(), b"caf\xe9, said Mira.\n");
    assert!(folders.read("manuscript/01-the-lamp.md").contains("Nobody answered Nora."));
}
