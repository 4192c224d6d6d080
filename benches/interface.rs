//! Time from a key to its frame: in a small book and in one of a million words, with and without an answer that streams in.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that can't be set up should fail loudly")]

use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use crossterm::event::{KeyCode, KeyModifiers};
use scritorio::tui::stage::Stage;
use scritorio::workbench::{Overrides, Surroundings, Workbench};

const SIZE: (u16, u16) = (120, 40);
const WORDS: [&str; 12] =
    ["the", "relay", "was", "silent", "and", "Mira", "counted", "lamps", "until", "Captain", "Vale", "spoke"];

/// A book with one chapter of so many words, in paragraphs of a hundred.
fn book(folder: &Path, words: usize) -> Workbench {
    book_that_ends(folder, words, "")
}

fn book_that_ends(folder: &Path, words: usize, end: &str) -> Workbench {
    let root = folder.join(format!("book-{words}"));
    std::fs::create_dir_all(root.join("manuscript")).unwrap();
    std::fs::create_dir_all(root.join("codex/characters")).unwrap();
    for name in ["Mira Okafor", "Adrian Vale"] {
        let text = format!("---\ntype: character\nname: {name}\n---\n\nA person.\n");
        std::fs::write(root.join(format!("codex/characters/{}.md", name.replace(' ', "-"))), text).unwrap();
    }
    let mut text = String::new();
    for n in 0..words {
        text.push_str(WORDS[(n * 7 + n / 13) % WORDS.len()]);
        text.push_str(if n % 100 == 99 { ".\n\n" } else { " " });
    }
    text.push_str(end);
    std::fs::write(root.join("manuscript/01.md"), text).unwrap();
    Workbench::open_in(&root, Overrides::default(), Surroundings::in_folders(folder)).unwrap()
}

fn answer() -> String {
    let mut text = String::from("## What I see\n\n");
    for n in 0..12 {
        let _ = writeln!(
            text,
            "{n}. A *point* about the **scene**, with enough words to wrap over two rows of the pane."
        );
    }
    text
}

fn typing(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let mut group = c.benchmark_group("a letter and its frame");
    for words in [10_000, 100_000, 1_000_000] {
        let bench = book(folder.path(), words);
        let mut stage = Stage::new(&bench, SIZE).unwrap();
        stage.press(KeyCode::PageDown, KeyModifiers::NONE);
        group.bench_function(format!("{words} words"), |b| {
            b.iter(|| {
                stage.press(KeyCode::Char('e'), KeyModifiers::NONE);
                stage.frame().unwrap();
            });
        });
    }
    // The mark is looked for again in what is not saved yet.
    let bench = book_that_ends(folder.path(), 40_000, "\n\n(ai:: never)\n");
    let mut stage = Stage::new(&bench, SIZE).unwrap();
    stage.press(KeyCode::PageDown, KeyModifiers::NONE);
    group.bench_function("40000 words that AI never reads, as their last line says", |b| {
        b.iter(|| {
            stage.press(KeyCode::Char('e'), KeyModifiers::NONE);
            stage.frame().unwrap();
        });
    });
    let bench = book(folder.path(), 100_000);
    let mut stage = Stage::new(&bench, SIZE).unwrap();
    stage.converse(200, &answer());
    group.bench_function("beside a conversation of 200 messages", |b| {
        b.iter(|| {
            stage.press(KeyCode::Char('e'), KeyModifiers::NONE);
            stage.frame().unwrap();
        });
    });
    // The same while 2,000 deltas stream in, ten to a frame; a new answer begins when they are through.
    let mut deltas = 0;
    stage.begin();
    group.bench_function("beside 200 messages while 2,000 deltas stream in", |b| {
        b.iter(|| {
            for _ in 0..10 {
                stage.stream(black_box("and so on, "));
                deltas += 1;
                if deltas % 40 == 0 {
                    stage.stream("\n\n");
                }
            }
            if deltas >= 2_000 {
                deltas = 0;
                stage.begin();
            }
            stage.press(KeyCode::Char('e'), KeyModifiers::NONE);
            stage.frame().unwrap();
        });
    });
    group.finish();
}

/// A conversation of 2,000 messages: what a key, a page and a delta cost in it, and how long its first frame takes.
fn talking(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let bench = book(folder.path(), 100_000);
    let mut group = c.benchmark_group("a conversation of 2,000 messages");
    let mut stage = Stage::new(&bench, SIZE).unwrap();
    stage.converse(1_000, &answer());
    group.sample_size(10);
    group.bench_function("opened: the first frame", |b| {
        b.iter(|| {
            let mut stage = Stage::new(&bench, SIZE).unwrap();
            stage.converse(1_000, &answer());
            stage.frame().unwrap();
        });
    });
    group.sample_size(100);
    // All of it laid out.
    for _ in 0..1_000 {
        stage.frame().unwrap();
    }
    group.bench_function("a letter and its frame", |b| {
        b.iter(|| {
            stage.press(KeyCode::Char('e'), KeyModifiers::NONE);
            stage.frame().unwrap();
        });
    });
    stage.press(KeyCode::F(3), KeyModifiers::NONE);
    let mut pages = 0;
    group.bench_function("a page and its frame", |b| {
        b.iter(|| {
            pages += 1;
            let up = pages % 600 < 300;
            stage.press(if up { KeyCode::PageUp } else { KeyCode::PageDown }, KeyModifiers::NONE);
            stage.frame().unwrap();
        });
    });
    stage.press(KeyCode::End, KeyModifiers::NONE);
    let mut deltas = 0;
    stage.begin();
    group.bench_function("ten deltas and their frame", |b| {
        b.iter(|| {
            for _ in 0..10 {
                stage.stream(black_box("and so on, "));
                deltas += 1;
                if deltas % 40 == 0 {
                    stage.stream("\n\n");
                }
            }
            if deltas >= 2_000 {
                deltas = 0;
                stage.begin();
            }
            stage.frame().unwrap();
        });
    });
    group.finish();
}

/// A megabyte in a proposal: comparing is done in the background, a key and its frame are not.
fn reviewing(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let bench = book(folder.path(), 10_000);
    let mut text = String::new();
    for n in 0..180_000 {
        text.push_str(WORDS[(n * 7 + n / 13) % WORDS.len()]);
        text.push_str(if n % 100 == 99 { ".\n\n" } else { " " });
    }
    let changed = text.replacen("Mira counted", "Mira forgot", 1) + "The end.\n";
    let reversed: String = text.lines().map(|line| line.chars().rev().collect::<String>() + "\n").collect();
    let mut group = c.benchmark_group("a proposal of a megabyte");
    group.sample_size(10);
    for (name, base, proposed) in [
        ("two changes", Some(text.as_str()), changed.as_str()),
        ("a new file", None, text.as_str()),
        ("another text", Some(text.as_str()), reversed.as_str()),
    ] {
        let mut stage = Stage::new(&bench, SIZE).unwrap();
        group.bench_function(format!("{name}: compared, opened and drawn"), |b| {
            b.iter(|| {
                stage.review(base, proposed).unwrap();
                stage.frame().unwrap();
            });
        });
        stage.press(KeyCode::Char('w'), KeyModifiers::NONE);
        group.bench_function(format!("{name}: a key and its frame"), |b| {
            b.iter(|| {
                stage.press(KeyCode::PageDown, KeyModifiers::NONE);
                stage.frame().unwrap();
            });
        });
    }
    group.finish();
}

criterion_group!(benches, typing, talking, reviewing);
criterion_main!(benches);
