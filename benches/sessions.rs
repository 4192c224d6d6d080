//! Time to list a thousand conversations, to search them, and to open a long one.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that can't be set up should fail loudly")]

use std::fmt::Write;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use scritorio::domain::ids::SessionId;
use scritorio::workbench::{Overrides, Surroundings, Workbench};
use serde_json::json;

/// What tools returned in a turn, which is most of a conversation's file.
const MATERIAL: usize = 8_000;

/// A conversation of so many turns, as it is on disk.
fn conversation(name: &str, turns: usize) -> String {
    let mut text = String::new();
    let words = "The relay was silent and Mira counted the lamps until Captain Vale spoke.\n\n";
    for n in 0..turns {
        let id = format!("t-{name}-{n}");
        let at = format!("2026-01-{:02}T{:02}:{:02}:00.000Z", 1 + n / 1_440 % 28, n / 60 % 24, n % 60);
        let mut turn = json!({
            "id": id, "asked_at": at, "persona": "continuity-editor", "provider": "openai", "model": "m",
            "question": format!("What about {name}, part {n}?"), "status": { "state": "running" },
        });
        let _ = writeln!(text, "{}", json!({ "v": 1, "id": id, "at": at, "event": "started", "turn": turn }));
        turn["status"]["state"] = json!("done");
        turn["answer"] = json!(words.repeat(16));
        turn["usage"] = json!({ "input_tokens": 4_000, "output_tokens": 400, "cost": 0.01 });
        let kept = json!({
            "turn": turn,
            "items": [{ "output": { "call_id": "c", "name": "get_manuscript_context", "output": words.repeat(MATERIAL / words.len()) } }],
            "material": [{ "path": "manuscript/01.md", "text": words.repeat(MATERIAL / words.len()) }],
        });
        let _ = writeln!(text, "{}", json!({ "v": 1, "id": id, "at": at, "event": "ended", "kept": kept }));
    }
    text
}

fn book(folder: &Path, name: &str) -> Workbench {
    let root = folder.join(name);
    std::fs::create_dir_all(root.join("manuscript")).unwrap();
    std::fs::create_dir_all(root.join(".scritorio/sessions")).unwrap();
    let words = "The relay was silent and Mira counted the lamps until Captain Vale spoke.\n\n";
    std::fs::write(root.join("manuscript/01.md"), words.repeat(8_000)).unwrap();
    Workbench::open_in(&root, Overrides::default(), Surroundings::in_folders(folder)).unwrap()
}

fn keep(bench: &Workbench, name: &str, turns: usize) {
    let file = bench.root().join(format!(".scritorio/sessions/{name}.jsonl"));
    std::fs::write(file, conversation(name, turns)).unwrap();
}

fn many(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let bench = book(folder.path(), "many");
    for n in 0..1_000 {
        keep(&bench, &format!("s-{n:04}"), 4);
    }
    let cache = bench.root().join(".scritorio/cache/sessions.json");
    let mut group = c.benchmark_group("1,000 conversations of eight messages");
    group.sample_size(20);
    assert_eq!(bench.conversations().len(), 1_000);
    group.bench_function("listed", |b| b.iter(|| bench.conversations()));
    let mut turns = 4;
    group.bench_function("listed after one of them went on", |b| {
        b.iter(|| {
            turns = 9 - turns;
            keep(&bench, "s-0500", turns);
            bench.conversations()
        });
    });
    group.bench_function("listed for the first time", |b| {
        b.iter(|| {
            let _ = std::fs::remove_file(&cache);
            bench.conversations()
        });
    });
    group.bench_function("searched", |b| b.iter(|| bench.search_conversations("s-0999 part", 50).unwrap()));
    group.finish();
}

fn long(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let bench = book(folder.path(), "long");
    keep(&bench, "s-1", 1_000);
    let session = SessionId::new("s-1");
    let mut group = c.benchmark_group("a conversation of 2,000 messages");
    group.sample_size(10);
    group.bench_function("read", |b| b.iter(|| bench.turns(&session)));
    group.bench_function("as Markdown", |b| b.iter(|| bench.transcript(&session).unwrap().markdown()));
    let turns = bench.turns(&session);
    group.bench_function("an answer checked against the book", |b| b.iter(|| bench.ground(&turns[0], None)));
    group.finish();
}

criterion_group!(benches, many, long);
criterion_main!(benches);
