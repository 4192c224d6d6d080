//! An index that followed a book must give what one that was made of it gives, to the last digit.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::canon::search::{codex, knowledge, manuscript, notes};
use crate::canon::shelf::{With, chapter, entry};
use crate::domain::book::Note;
use crate::domain::codex::Soul;
use crate::domain::ids::BookPath;

const QUERIES: [&str; 12] = [
    "lamp",
    "the lamp",
    "mira okafor",
    "okafr",
    "captain vale",
    "bell tower",
    "lam",
    "who keeps the lamps?",
    "harbour log",
    "Élan",
    "zanzibar",
    "a bell rang twice",
];

/// Everything that a search tells about a book.
fn told(index: &Index, book: &Book) -> String {
    let mut all = String::new();
    for query in QUERIES {
        for m in codex(index, book, None, query, 8) {
            all += &format!("{query}: {} {} {:?}\n", m.entry.address(), m.field, m.score);
        }
        for p in manuscript(index, book, None, query, 8) {
            all += &format!(
                "{query}: {} {} {:?} {:?} {}\n",
                p.chapter.path, p.paragraph, p.range, p.score, p.excerpt
            );
        }
        for n in notes(index, book, query, 8) {
            all += &format!("{query}: {} {} {:?} {:?}\n", n.note.path, n.field, n.paragraph, n.score);
        }
        for piece in knowledge(index, book, query, 5) {
            all += &format!("{query}: {:?}\n", piece.score());
        }
        let found = index.known().find(book, None, query);
        let best = found.best.map(|(entry, strength)| (entry.address(), strength));
        all += &format!("{query}: {best:?} {} {:?}\n", found.also_matched.len(), found.near);
    }
    all
}

fn note(path: &str, title: &str, tags: &[&str], text: &str) -> Note {
    Note {
        path: BookPath::new(path).unwrap(),
        title: title.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        text: Arc::from(text),
    }
}

fn library() -> Book {
    Book {
        entries: vec![
            entry("characters/mira.md", "Mira Okafor")
                .aliases(&["S.O. Okafor"])
                .summary("Keeps the harbour log.")
                .text("# Mira\n\nShe lights the lamps."),
            entry("characters/vale.md", "Adrian Vale")
                .title("Captain")
                .text("The bell tower is his.\n\n## Voice\n\nLow."),
            entry("locations/tower.md", "Bell Tower").text("A lamp hangs there."),
        ],
        chapters: vec![
            chapter(
                "m/1.md",
                1,
                "One",
                "# One\n\nThe lamp was out.\n\nMira Okafor lit the lamp.\n\nA bell rang twice.",
            ),
            chapter(
                "m/2.md",
                2,
                "Two",
                "# Two\n\nThe bell tower stood.\n\nÉlan, said the Captain.\n\nNothing.",
            ),
        ],
        notes: vec![note("n/a.md", "Lamps", &["harbour"], "# Lamps\n\nThe lamp must go out in chapter 3.")],
        ..Book::default()
    }
}

#[test]
fn nothing_changed_keeps_everything() {
    let book = library();
    let index = Index::of(&book);
    let again = index.following(&book.clone());
    assert_eq!(told(&index, &book), told(&again, &book));
    assert!(Arc::ptr_eq(&index.known, &again.known));
    assert!(index.chapters.sources.iter().zip(&again.chapters.sources).all(|(a, b)| Arc::ptr_eq(a, b)));
    let copied = Book {
        chapters: book
            .chapters
            .iter()
            .map(|c| chapter(c.path.as_str(), c.number, &c.title, &c.text))
            .collect(),
        ..book.clone()
    };
    let read_again = index.following(&copied);
    assert!(
        Arc::ptr_eq(&index.chapters.sources[0], &read_again.chapters.sources[0]),
        "the same words elsewhere"
    );
}

#[test]
fn an_edit_reads_only_the_paragraphs_that_it_changed() {
    let book = library();
    let index = Index::of(&book);
    let mut edited = book.clone();
    let text = book.chapters[0].text.replace("lit the lamp", "lit a candle");
    edited.chapters[0] = chapter("m/1.md", 1, "One", &text);
    let next = index.following(&edited);
    let (before, after) = (index.chapters().texts_of(0), next.chapters().texts_of(0));
    assert_eq!(before.iter().zip(after).map(|(a, b)| a == b).collect::<Vec<_>>(), [true, true, false, true]);
    assert_eq!(told(&next, &edited), told(&Index::of(&edited), &edited));
}

#[test]
fn what_a_reduced_book_lacks_shows_nowhere() {
    let book = library();
    let index = Index::of(&book);
    let mut reduced = book.clone();
    reduced.chapters.pop();
    reduced.notes.clear();
    reduced.entries.remove(2);
    reduced.entries[1] = entry("characters/vale.md", "Adrian Vale").text("## Voice\n\nLow.");
    reduced.entries[0].fields.insert("status".into(), serde_json::json!(["alive", {"since": 3}]));
    let blind = index.following(&reduced);
    assert_eq!(told(&blind, &reduced), told(&Index::of(&reduced), &reduced));
    assert!(codex(&blind, &reduced, None, "tower captain", 8).is_empty());
    assert!(manuscript(&blind, &reduced, None, "tower", 8).is_empty());
    assert!(knowledge(&blind, &reduced, "chapter", 8).is_empty());
    assert_eq!(codex(&blind, &reduced, None, "alive", 8)[0].field, "fields");
    assert_eq!(told(&blind.following(&book), &book), told(&index, &book), "and back");
}

#[test]
fn another_language_has_other_stems() {
    let mut book = library();
    let index = Index::of(&book);
    assert_eq!(manuscript(&index, &book, None, "lamps", 8).len(), 2);
    book.settings.language = Some("tlh".into());
    assert_eq!(manuscript(&index.following(&book), &book, None, "lamps", 8).len(), 0);
}

#[derive(Debug, Clone)]
enum Edit {
    RemoveEntry(usize),
    RemoveChapter(usize),
    RemoveNote(usize),
    AddEntry(usize, String),
    AddChapter(usize, String),
    AddNote(String),
    Paragraph(usize, usize, String),
    Body(usize, String),
    Rename(usize, String),
    Soul(usize, String),
    Fact(usize, String),
    Tag(usize, String),
    Swap(usize, usize),
}

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "lamp", "lamps", "bell", "tower", "Mira", "Okafor", "Vale", "Captain", "the", "harbour", "log",
        "keeps", "Élan", "\n\n", "# ", ".", "日本", "rang",
    ]);
    prop::collection::vec(word, 0..10).prop_map(|words| words.join(" "))
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = || 0_usize..6;
    prop_oneof![
        at().prop_map(Edit::RemoveEntry),
        at().prop_map(Edit::RemoveChapter),
        at().prop_map(Edit::RemoveNote),
        (at(), words()).prop_map(|(at, text)| Edit::AddEntry(at, text)),
        (at(), words()).prop_map(|(at, text)| Edit::AddChapter(at, text)),
        words().prop_map(Edit::AddNote),
        (at(), at(), words()).prop_map(|(at, part, text)| Edit::Paragraph(at, part, text)),
        (at(), words()).prop_map(|(at, text)| Edit::Body(at, text)),
        (at(), words()).prop_map(|(at, text)| Edit::Rename(at, text)),
        (at(), words()).prop_map(|(at, text)| Edit::Soul(at, text)),
        (at(), words()).prop_map(|(at, text)| Edit::Fact(at, text)),
        (at(), words()).prop_map(|(at, text)| Edit::Tag(at, text)),
        (at(), at()).prop_map(|(a, b)| Edit::Swap(a, b)),
    ]
}

/// Removes the item at `at`, if there is one.
fn remove<T>(items: &mut Vec<T>, at: usize) {
    if at < items.len() {
        items.remove(at);
    }
}

fn apply(book: &mut Book, edit: &Edit) {
    match edit {
        Edit::RemoveEntry(at) => remove(&mut book.entries, *at),
        Edit::RemoveChapter(at) => remove(&mut book.chapters, *at),
        Edit::RemoveNote(at) => remove(&mut book.notes, *at),
        // The path may be taken: two files that are read as one must not confuse it either.
        Edit::AddEntry(at, text) => book
            .entries
            .insert((*at).min(book.entries.len()), entry(&format!("items/{at}.md"), "New Lamp").text(text)),
        Edit::AddChapter(at, text) => book
            .chapters
            .insert((*at).min(book.chapters.len()), chapter(&format!("m/{}.md", at + 1), 9, "New", text)),
        Edit::AddNote(text) => book.notes.push(note("n/new.md", "New", &["tower"], text)),
        Edit::Paragraph(at, part, text) => {
            if let Some(old) = book.chapters.get(*at).cloned() {
                let mut parts: Vec<&str> = old.text.split("\n\n").collect();
                parts.insert((*part).min(parts.len()), text);
                book.chapters[*at] = chapter(old.path.as_str(), old.number, &old.title, &parts.join("\n\n"));
            }
        }
        Edit::Body(at, text) => {
            if let Some(entry) = book.entries.get_mut(*at) {
                *entry = entry.clone().text(text);
            }
        }
        Edit::Rename(at, name) => book.entries.get_mut(*at).into_iter().for_each(|e| e.name.clone_from(name)),
        Edit::Soul(at, text) => book.entries.get_mut(*at).into_iter().for_each(|e| {
            e.soul =
                Some(Soul { path: BookPath::new("codex/soul.md").unwrap(), text: Arc::from(text.as_str()) });
        }),
        Edit::Fact(at, text) => book.entries.get_mut(*at).into_iter().for_each(|e| {
            e.fields.insert("status".into(), text.as_str().into());
        }),
        Edit::Tag(at, tag) => book.notes.get_mut(*at).into_iter().for_each(|n| n.tags.push(tag.clone())),
        Edit::Swap(a, b) => {
            if book.entries.len() > *a.max(b) {
                book.entries.swap(*a, *b);
            }
        }
    }
}

proptest! {
    #[test]
    fn following_a_book_is_reading_it(edits in prop::collection::vec(prop::collection::vec(edit(), 1..4), 1..6)) {
        let mut book = library();
        let mut index = Index::of(&book);
        for step in edits {
            for edit in &step {
                apply(&mut book, edit);
            }
            index = index.following(&book);
            prop_assert_eq!(told(&index, &book), told(&Index::of(&book), &book));
        }
    }
}
