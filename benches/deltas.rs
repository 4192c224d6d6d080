//! An answer of 10,000 deltas a second for ten seconds, over a real socket into the interface, while the author types: time from a key
//! to its frame with and without it, and memory before and after. Prints its figures; nothing here fails because a machine is slow.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that can't be set up should fail loudly")]

#[path = "../tests/support/flood.rs"]
mod flood;

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyModifiers};
use flood::Flood;
use scritorio::agent::driver;
use scritorio::agent::event::{TurnEvent, TurnEventKind};
use scritorio::tui::stage::Stage;
use scritorio::workbench::Workbench;
use scritorio::workbench::ask::Ask;

const SIZE: (u16, u16) = (120, 40);
const TIME: Duration = Duration::from_secs(10);
/// Between two keys: no multiple of a frame, so that they fall anywhere in one.
const KEY: Duration = Duration::from_millis(27);
/// As in the interface's own loop.
const FRAME: Duration = Duration::from_millis(16);
const BATCH: usize = 4096;
const ROUNDS: usize = 3;

enum In {
    Key(Instant),
    Turn(Box<TurnEvent>),
}

/// What ten seconds came to.
struct Seen {
    latencies: Vec<Duration>,
    deltas: usize,
    ended: bool,
}

/// Takes what comes as the interface's loop does: everything that waits belongs to one frame, a key is drawn at once, a stream at most
/// sixty times a second.
fn run(stage: &mut Stage, inbox: &Receiver<In>, until: Instant) -> Seen {
    let mut seen = Seen { latencies: vec![], deltas: 0, ended: false };
    let (mut drawn, mut due) = (Instant::now(), None::<Instant>);
    loop {
        let wait = due.unwrap_or(until).saturating_duration_since(Instant::now());
        let mut batch: Vec<In> = match inbox.recv_timeout(wait) {
            Ok(first) => vec![first],
            Err(RecvTimeoutError::Timeout) => vec![],
            Err(RecvTimeoutError::Disconnected) => return seen,
        };
        batch.extend(inbox.try_iter().take(BATCH));
        let mut keys = vec![];
        let changed = !batch.is_empty();
        for one in batch {
            match one {
                In::Key(at) => {
                    stage.press(KeyCode::Char('e'), KeyModifiers::NONE);
                    keys.push(at);
                }
                In::Turn(event) => {
                    seen.deltas += usize::from(matches!(event.kind, TurnEventKind::Text(_)));
                    seen.ended |= matches!(event.kind, TurnEventKind::Ended(_));
                    stage.event(*event);
                }
            }
        }
        let now = Instant::now();
        if changed {
            due = Some(if keys.is_empty() { due.unwrap_or(drawn + FRAME) } else { now });
        }
        if due.is_some_and(|at| at <= now) {
            stage.frame().unwrap();
            drawn = Instant::now();
            due = None;
            seen.latencies.extend(keys.into_iter().map(|at| drawn.duration_since(at)));
        }
        if now >= until {
            return seen;
        }
    }
}

/// Types for the whole time.
fn types(out: Sender<In>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let end = Instant::now() + TIME;
        while Instant::now() < end {
            std::thread::sleep(KEY);
            let _ = out.send(In::Key(Instant::now()));
        }
    })
}

/// Asks, and passes on what the turn tells.
fn asks(bench: &Workbench, stage: &mut Stage, runtime: &tokio::runtime::Runtime, out: Sender<In>) {
    let setup = bench.prepare(&Ask { question: "Go on.".into(), ..Ask::default() }).unwrap();
    stage.begin_as(setup.id.clone());
    runtime.spawn(async move {
        let mut running = driver::start(setup);
        while let Some(event) = running.events.recv().await {
            if out.send(In::Turn(Box::new(event))).is_err() {
                break;
            }
        }
    });
}

/// Memory of this process, in bytes; 0 where the system does not tell.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()).map_or(0, |kb| kb * 1024)
}

fn told(what: &str, seen: &mut Seen) {
    seen.latencies.sort();
    let at = |share: usize| {
        let n = seen.latencies.len();
        seen.latencies.get((n * share / 1000).min(n.saturating_sub(1))).copied().unwrap_or_default()
    };
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    println!(
        "{what:<10} {:>4} keys: median {:.2} ms, p99 {:.2} ms, longest {:.2} ms; {} deltas",
        seen.latencies.len(),
        ms(at(500)),
        ms(at(990)),
        ms(at(1000)),
        seen.deltas
    );
}

fn main() {
    // What `cargo bench` and `cargo test --benches` add.
    let is_trial = std::env::args().any(|argument| argument == "--test");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    // The same text in few deltas tells what of the memory is the text's and what the deltas'.
    let kinds = [
        ("paragraphs of 60 words", 60, 1),
        ("one paragraph without an end", usize::MAX, 1),
        ("paragraphs of 60 words, a tenth as many deltas", 60, 10),
    ];
    for (name, paragraph, words) in kinds {
        let deltas = if is_trial { 100 } else { 100_000 } / words;
        let flood = Flood { deltas, words, in_a_millisecond: Some(10 / words), paragraph };
        println!("{name}, a text of {} KB in all", flood.text().len() / 1000);
        for _ in 0..if is_trial { 1 } else { ROUNDS } {
            round(flood, &runtime, is_trial);
        }
    }
}

fn round(flood: Flood, runtime: &tokio::runtime::Runtime, is_trial: bool) {
    let folder = tempfile::tempdir().unwrap();
    let bench = flood::book(folder.path(), &flood.serve(), 100_000);
    let mut stage = Stage::new(&bench, SIZE).unwrap();
    stage.converse(100, "It *reads* well, and the lamp is where it was.");
    stage.press(KeyCode::PageDown, KeyModifiers::NONE);
    stage.frame().unwrap();
    let (out, inbox) = channel();
    if !is_trial {
        let typing = types(out.clone());
        told("without", &mut run(&mut stage, &inbox, Instant::now() + TIME));
        typing.join().unwrap();
    }
    let before = memory();
    asks(&bench, &mut stage, runtime, out.clone());
    let typing = (!is_trial).then(|| types(out.clone()));
    drop(out);
    let mut seen = run(&mut stage, &inbox, Instant::now() + TIME);
    // Whatever is still on its way, so that none is counted as lost.
    while !seen.ended {
        let rest = run(&mut stage, &inbox, Instant::now() + Duration::from_secs(1));
        seen.deltas += rest.deltas;
        seen.ended |= rest.ended;
    }
    let after = memory();
    if let Some(typing) = typing {
        typing.join().unwrap();
    }
    told("with", &mut seen);
    assert!(stage.answer() == flood.text(), "a delta is lost, doubled or in another place");
    let grown = after.saturating_sub(before) / 1024;
    println!(
        "{:<10} {} KB before, {grown} KB more after a text of {} KB",
        "memory",
        before / 1024,
        flood.text().len() / 1024
    );
}
