//! Time to index a large book, to follow a change of it, and to find something in it, as the tools do it.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that can't be set up should fail loudly")]

#[path = "../tests/support/vault.rs"]
mod vault;

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use scritorio::canon::index::Index;
use scritorio::canon::mentions::Names;
use scritorio::domain::book::Book;
use scritorio::tools::desk::Limits;
use scritorio::tools::{Desk, Registry, Seen};

/// Five thousand entries of some 150 words, and a million words in chapters of five thousand.
fn book() -> Book {
    Book {
        name: "large".into(),
        entries: vault::entries(5_000, 100),
        chapters: vault::chapters(200, 5_000),
        ..Book::default()
    }
}

/// The same texts in other memory, as if all files had been read again.
fn read_again(book: &Book) -> Book {
    let mut copy = book.clone();
    copy.chapters.iter_mut().for_each(|chapter| chapter.text = Arc::from(&*chapter.text));
    copy.entries.iter_mut().for_each(|entry| entry.text = Arc::from(&*entry.text));
    copy
}

fn indexing(c: &mut Criterion) {
    let book = book();
    let index = Index::of(&book);
    let mut group = c.benchmark_group("index");
    group.sample_size(10);
    group.bench_function("5,000 entries and a million words", |b| b.iter(|| Index::of(black_box(&book))));

    let again = read_again(&book);
    group.bench_function("nothing changed, all files read again", |b| {
        b.iter(|| index.following(black_box(&again)));
    });

    let mut edited = read_again(&book);
    let chapter = &mut edited.chapters[100];
    chapter.text = Arc::from(chapter.text.replacen("winter", "summer of the eclipse", 1));
    group.bench_function("a word of a chapter changed", |b| b.iter(|| index.following(black_box(&edited))));

    let huge = Book { chapters: vault::chapters(1, 1_000_000), ..Book::default() };
    let of_huge = Index::of(&huge);
    let mut edited = read_again(&huge);
    let chapter = &mut edited.chapters[0];
    chapter.text = Arc::from(chapter.text.replacen("winter", "summer of the eclipse", 1));
    group.bench_function("a word of a chapter of a million words changed", |b| {
        b.iter(|| of_huge.following(black_box(&edited)));
    });

    let mut rewritten = read_again(&book);
    rewritten.chapters[100].text = vault::chapters(201, 5_000).pop().unwrap().text;
    group.bench_function("a chapter of 5,000 words rewritten", |b| {
        b.iter(|| index.following(black_box(&rewritten)));
    });

    let mut renamed = read_again(&book);
    renamed.entries[40].name = "Somebody Else".into();
    group.bench_function("an entry renamed", |b| b.iter(|| index.following(black_box(&renamed))));

    let mut reduced = book.clone();
    reduced.chapters.truncate(100);
    reduced.entries.retain(|entry| !entry.path.as_str().ends_with("7.md"));
    group.bench_function("half of the chapters and a tenth of the entries gone", |b| {
        b.iter(|| index.following(black_box(&reduced)));
    });
    group.bench_function("names for mentions", |b| b.iter(|| Names::of(black_box(&book))));
    group.finish();
}

fn finding(c: &mut Criterion) {
    let book = book();
    let (index, seen, registry) = (Index::of(&book), Seen::default(), Registry::advisor());
    let desk = Desk {
        book: &book,
        index: &index,
        current: None,
        meaning: None,
        chapter: None,
        persona: None,
        selection: None,
        seen: &seen,
        limits: Limits::default(),
    };
    let mut group = c.benchmark_group("find");
    for (tool, arguments) in [
        ("get_character_context", r#"{"name": "Caspian Barsotti"}"#),
        ("get_character_context", r#"{"name": "the speckled gannet's"}"#),
        ("get_character_context", r#"{"name": "Inspector Caspian Barsoti"}"#),
        ("get_character_context", r#"{"name": "Barsotti"}"#),
        ("get_character_context", r#"{"name": "Zebediah Quoncewhistle"}"#),
        ("search_codex", r#"{"query": "Caspian Barsotti", "entryType": null}"#),
        ("search_codex", r#"{"query": "who repairs counterweights in Ottergate", "entryType": null}"#),
        ("search_codex", r#"{"query": "nobody speaks about winter", "entryType": null}"#),
        ("search_manuscript", r#"{"query": "Caspian Barsotti", "refs": null, "limit": null}"#),
        ("search_manuscript", r#"{"query": "counterfeits church bells", "refs": null, "limit": null}"#),
        ("search_manuscript", r#"{"query": "ships return over slate roofs", "refs": null, "limit": null}"#),
        ("search_knowledge", r#"{"query": "who repairs counterweights in Ottergate", "limit": null}"#),
    ] {
        group.bench_function(format!("{tool} {arguments}"), |b| {
            b.iter(|| registry.run(&desk, tool, black_box(arguments)).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, indexing, finding);
criterion_main!(benches);
