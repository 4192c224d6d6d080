//! What a delta of a streaming answer costs, and what rendering the whole answer costs.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use scritorio::tui::theme::Theme;
use scritorio::tui::widgets::markdown::{Streaming, render};

const SECTION: &str = "\
## What the chapter does

Ilse *waits* for the line to open, and **nothing** comes: \"the long silence\" is the first thing that she hears. \
日本語のテキスト and 👩‍🚀 keep the grid.

- The log names the officer of the watch, but the inventory of the second deck does not, although both were written that night.
  1. First the letters, then the line.
  2. Then `turnover`.
- [ ] Ask who signed it.

> A quotation of two sentences. The second one is a little longer than the first, so that it wraps.

| Name | Watch | Note |
|---|--:|---|
| Ilse Søndergaard | 2 | keeps the log of the post, and reads it aloud |
| Bo | 11 | sleeps |

```text
03:14  carrier lost
```

";

/// Bytes of the answer.
const ANSWER: usize = 10_000;

/// Bytes of a delta, about one token.
const DELTA: usize = 4;

fn answer() -> String {
    SECTION.repeat(ANSWER.div_ceil(SECTION.len()))
}

fn deltas(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (vec![], text);
    while !rest.is_empty() {
        let (delta, after) = rest.split_at(rest.ceil_char_boundary(DELTA.min(rest.len())));
        parts.push(delta);
        rest = after;
    }
    parts
}

fn markdown(c: &mut Criterion) {
    let (theme, text) = (Theme::default(), answer());
    let parts = deltas(&text);
    c.bench_function(&format!("markdown: {} deltas of a whole answer, rows after each", parts.len()), |b| {
        b.iter(|| {
            let mut stream = Streaming::default();
            for delta in &parts {
                stream.push(delta);
                black_box(stream.lines(72, &theme));
            }
        });
    });
    let mut almost = Streaming::default();
    almost.push(&text);
    almost.lines(72, &theme);
    c.bench_function("markdown: one delta at the end of a 10 kB answer", |b| {
        b.iter_batched_ref(
            || almost.clone(),
            |stream| {
                stream.push("word");
                black_box(stream.lines(72, &theme).len())
            },
            BatchSize::LargeInput,
        );
    });
    c.bench_function("markdown: a 10 kB answer rendered whole", |b| {
        b.iter(|| render(black_box(&text), 72, &theme, &[]));
    });
}

criterion_group!(benches, markdown);
criterion_main!(benches);
