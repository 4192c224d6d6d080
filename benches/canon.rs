//! What reading a whole book costs: 5,000 entries of about 1 KB in a thousand files less or more, and a million words of manuscript, with the files in the system's cache.
//!
//! Also one file with many entries, one long entry, and a text that is not saved yet.

use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use scritorio::domain::ids::BookPath;
use scritorio::store::book::{read, with_text};

const ENTRIES: usize = 5_000;
const CHAPTERS: usize = 100;
const WORDS_OF_A_CHAPTER: usize = 10_000;

const SENTENCE: &str = "She learnt the channels from her mother, and trusts no chart that was drawn on land; the harbour knows why. ";

/// One entry as authors have them: keys, links, a section, a field in the text.
fn entry(n: usize, kind: &str) -> String {
    format!(
        "---\ntype: {kind}\nname: Person Number {n}\naliases: [Number {n}, the {n}th]\ntags: [crew/{}, draft]\nborn: 2281-03-{:02}\nhome: \"[[place-{}]]\"\n---\n\n# Person Number {n}\n\n{}\n\n## Summary\n\n{}\n\n## Relationships\n\n- Sister: [[person-{}|another]]\n- Rank:: {}\n\n%% {} %%\n\n{}\n",
        n % 7,
        n % 28 + 1,
        n % 300,
        SENTENCE.repeat(2),
        SENTENCE,
        (n + 1) % ENTRIES,
        n % 9,
        SENTENCE,
        SENTENCE.repeat(2),
    )
}

fn write_book(root: &Path) {
    for n in 0..ENTRIES {
        let (folder, kind) =
            [("characters", "character"), ("locations", "location"), ("items", "item")][n % 3];
        let path = root.join(format!("codex/{folder}/{}/person-{n}.md", n % 40));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, entry(n, kind)).expect("an entry");
    }
    let paragraph = format!("{}\n\n", SENTENCE.repeat(5));
    let words = paragraph.split_whitespace().count();
    fs::create_dir_all(root.join("manuscript")).expect("a folder");
    for n in 0..CHAPTERS {
        let text = format!("# Chapter {n}\n\n{}", paragraph.repeat(WORDS_OF_A_CHAPTER / words));
        fs::write(root.join(format!("manuscript/{n:03}.md")), text).expect("a chapter");
    }
}

fn books(c: &mut Criterion) {
    let dir = tempfile::tempdir().expect("a folder");
    write_book(dir.path());
    let mut group = c.benchmark_group("canon");
    group.sample_size(20).measurement_time(Duration::from_secs(8));
    group.bench_function("5,000 entries and 1M words", |b| {
        b.iter(|| {
            let book = read(dir.path()).expect("a book");
            assert_eq!(book.entries.len(), ENTRIES);
            black_box(book)
        });
    });
    let book = read(dir.path()).expect("a book");
    let path = BookPath::new("codex/characters/0/person-0.md").expect("a path");
    let text = format!("{}\nMore.\n", entry(0, "character"));
    group.bench_function("a text that is not saved", |b| {
        b.iter(|| black_box(with_text(&book, &path, text.as_str())));
    });
    group.finish();
}

fn long_files(c: &mut Criterion) {
    let mut group = c.benchmark_group("canon");
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(dir.path().join("codex")).expect("a folder");
    let mut list = "# Characters\n\n".to_owned();
    for n in 0..2_000 {
        writeln!(
            list,
            "## Person Number {n}\n\nRole: {n}\n\n{}\n\n### Voice\n\n{SENTENCE}\n",
            SENTENCE.repeat(2)
        )
        .expect("text");
    }
    fs::write(dir.path().join("codex/characters.md"), &list).expect("a list");
    group.bench_function(format!("2,000 entries in a file of {} KB", list.len() / 1024), |b| {
        b.iter(|| {
            let book = read(dir.path()).expect("a book");
            assert_eq!(book.entries.len(), 2_000);
            black_box(book)
        });
    });
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(dir.path().join("codex/characters")).expect("a folder");
    let long = entry(1, "character") + &format!("{} %% a note %%\n\n", SENTENCE.repeat(4)).repeat(2_400);
    fs::write(dir.path().join("codex/characters/long.md"), &long).expect("an entry");
    group.bench_function(format!("one entry of {} KB", long.len() / 1024), |b| {
        b.iter(|| black_box(read(dir.path()).expect("a book")));
    });
    group.finish();
}

criterion_group!(benches, books, long_files);
criterion_main!(benches);
