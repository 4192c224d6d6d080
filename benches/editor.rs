//! What the author feels: a key, a page, a jump, an undo, a new width, in a short and in a very long novel.
//!
//! Each figure is the whole of what happens between a key and the drawing of a frame, without the drawing. They should not
//! differ between the two lengths, but for opening, saving and searching.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use scritorio::editor::find::Needle;
use scritorio::editor::{Buffer, Delete, Motion, View};

const WIDTH: u16 = 100;
const HEIGHT: u16 = 40;

/// Prose of so many words, always the same: paragraphs of 20 to 140 words, with what prose has beside letters.
fn novel(words: usize) -> String {
    const VOCABULARY: [&str; 20] = [
        "the",
        "long",
        "silence",
        "of",
        "Ilse",
        "harbour",
        "night",
        "and",
        "“Wait,”",
        "she",
        "don’t",
        "said",
        "storm",
        "well-known",
        "window",
        "café",
        "rain—again",
        "a",
        "was",
        "lantern,",
    ];
    let mut seed = 7_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut text = String::new();
    let mut written = 0;
    while written < words {
        for _ in 0..20 + random(120) {
            text.push_str(VOCABULARY[random(VOCABULARY.len())]);
            text.push(' ');
            written += 1;
        }
        text.pop();
        text.push_str(".\n\n");
    }
    text
}

fn open_in_the_middle(text: &str) -> (Buffer, View) {
    let mut buffer = Buffer::from_text(text);
    let mut view = View::new();
    view.resize(&buffer, WIDTH, HEIGHT);
    buffer.set_cursor(text.len() / 2, false);
    view.reveal(&buffer);
    (buffer, view)
}

fn frame(buffer: &Buffer, view: &mut View) {
    view.reveal(buffer);
    black_box(view.rows(buffer));
    black_box(view.cursor_cell(buffer));
}

fn keys(c: &mut Criterion) {
    for (name, words) in [("100k words", 100_000), ("1M words", 1_000_000)] {
        let text = novel(words);
        let mut group = c.benchmark_group(name);
        let (mut buffer, mut view) = open_in_the_middle(&text);
        group.bench_function("letter", |b| {
            b.iter(|| {
                buffer.insert("x");
                frame(&buffer, &mut view);
            });
        });
        let (mut buffer, mut view) = open_in_the_middle(&text);
        group.bench_function("new line, then backspace", |b| {
            b.iter(|| {
                buffer.insert("\n");
                frame(&buffer, &mut view);
                view.delete(&mut buffer, Delete::GraphemeBack);
                frame(&buffer, &mut view);
            });
        });
        let (mut buffer, mut view) = open_in_the_middle(&text);
        buffer.insert("word");
        group.bench_function("undo, then redo", |b| {
            b.iter(|| {
                buffer.undo();
                frame(&buffer, &mut view);
                buffer.redo();
                frame(&buffer, &mut view);
            });
        });
        for (key, there, back) in [
            ("row down, then up", Motion::Down, Motion::Up),
            ("page down, then up", Motion::PageDown, Motion::PageUp),
            ("to the end, then the start", Motion::DocumentEnd, Motion::DocumentStart),
        ] {
            let (mut buffer, mut view) = open_in_the_middle(&text);
            group.bench_function(key, |b| {
                b.iter(|| {
                    for motion in [there, back] {
                        view.apply(&mut buffer, motion, false);
                        frame(&buffer, &mut view);
                    }
                });
            });
        }
        let (buffer, mut view) = open_in_the_middle(&text);
        group.bench_function("narrower, then wider", |b| {
            b.iter(|| {
                for width in [WIDTH / 2, WIDTH] {
                    view.resize(&buffer, width, HEIGHT);
                    frame(&buffer, &mut view);
                }
            });
        });
        group.finish();
    }
}

fn whole_texts(c: &mut Criterion) {
    let text = novel(1_000_000);
    let mut group = c.benchmark_group("1M words");
    group.sample_size(10);
    group.bench_function("open", |b| b.iter(|| open_in_the_middle(&text)));
    let buffer = Buffer::from_text(&text);
    group.bench_function("text to save", |b| b.iter(|| buffer.to_text()));
    let absent = Needle::new("xyzzy");
    group.bench_function("search for what is not there", |b| {
        b.iter(|| absent.as_ref().and_then(|needle| needle.next(&buffer, 0)));
    });
    group.finish();

    let mut group = c.benchmark_group("1 MB");
    group.sample_size(10);
    let paragraphs = novel(160_000);
    group.bench_function("paste", |b| {
        b.iter_batched(
            || open_in_the_middle(&text),
            |(mut buffer, view)| {
                buffer.paste(&paragraphs);
                (buffer, view)
            },
            BatchSize::PerIteration,
        );
    });
    let (mut buffer, mut view) = open_in_the_middle(&paragraphs.replace('\n', " "));
    group.bench_function("letter in a single line", |b| {
        b.iter(|| {
            buffer.insert("x");
            frame(&buffer, &mut view);
        });
    });
    group.finish();
}

criterion_group!(benches, keys, whole_texts);
criterion_main!(benches);
