#![cfg(unix)]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::*;
use crate::agent::driver;
use crate::agent::event::TurnEventKind;
use crate::providers::client::replayer::{Replayer, Script};
use crate::store::crash;
use crate::workbench::provenance::Chain;
use crate::workbench::{Overrides, Surroundings};

const CHILD: &str = "workbench::ask::tests::in_a_process_of_its_own";
const AT: &str = "SCRITORIO_TEST_KILL_TURN_AT";
const FOLDER: &str = "SCRITORIO_TEST_KILL_TURN_IN";
const SIGKILL: i32 = 9;
const QUESTION: &str = "Who keeps the lamp?";

/// A response of these items, as a stream.
fn stream(items: &[Value]) -> Script {
    let done = items.iter().map(|item| json!({ "type": "response.output_item.done", "item": item }));
    let end = json!({ "type": "response.completed", "response": { "id": "resp_1", "status": "completed" } });
    let events = done.chain([end]);
    Script::stream(
        events
            .flat_map(|event| ["data: ".to_owned(), event.to_string(), "\n\n".to_owned()])
            .collect::<String>(),
    )
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({ "type": "function_call", "call_id": format!("c_{name}"), "name": name, "arguments": arguments.to_string() })
}

fn say(words: &str) -> Value {
    json!({ "type": "message", "content": [{ "type": "output_text", "text": words }] })
}

fn bench(folder: &Path) -> Workbench {
    let surroundings = Surroundings::in_folders(folder);
    Workbench::open_in(&folder.join("book"), Overrides::default(), surroundings).unwrap()
}

fn book(folder: &Path) {
    let root = folder.join("book");
    fs::create_dir_all(root.join("manuscript")).unwrap();
    fs::create_dir_all(root.join("codex/characters")).unwrap();
    fs::write(root.join("manuscript/01.md"), "# One\n\nMira keeps the lamp of the station.\n").unwrap();
    fs::write(root.join("codex/characters/mira.md"), "---\nname: Mira\n---\n\nShe counts.\n").unwrap();
}

/// Two turns with a server, with a tool, a proposal that is accepted, and an answer.
async fn two_turns(bench: &Workbench) {
    let create = json!({ "entryType": "character", "name": "Osric", "changeSummary": "He is missing", "fields": null, "customFields": null, "markdownBody": "A man.", "soulMarkdown": null });
    let read = json!({ "ref": "1", "refs": null, "startParagraph": null });
    let _replayer = {
        let scripts = [
            stream(&[call("get_manuscript_context", &read)]),
            stream(&[call("propose_codex_create", &create)]),
            stream(&[say("Mira does.")]),
            stream(&[say("As I said.")]),
        ];
        let replayer = Replayer::start(scripts).await;
        let config = &bench.inner.surroundings.folders.config;
        fs::create_dir_all(config).unwrap();
        let text = format!("[provider]\nname = 'openai'\nbase_url = '{}'\n", replayer.base);
        fs::write(config.join("config.toml"), text).unwrap();
        replayer
    };
    let bench = self::bench(bench.root().parent().unwrap());
    let first = Ask { question: QUESTION.into(), ..Ask::default() };
    let finished = turn(&bench, &first).await;
    bench.apply(&finished.turn.proposals[0], &[]).unwrap();
    turn(&bench, &Ask { session: Some(finished.session), ..first }).await;
}

async fn turn(bench: &Workbench, ask: &Ask) -> Finished {
    let name = bench.choices().provider.value;
    let destination = bench.destination(&name).unwrap();
    let setup = bench.setup(ask, &name, &destination).unwrap();
    let session = bench.begin(ask, &setup);
    let mut running = driver::start(setup);
    while let Some(event) = running.events.recv().await {
        if let TurnEventKind::Ended(ended) = event.kind {
            assert_eq!(ended.failure, None);
            return bench.finish(&session, ask, *ended);
        }
    }
    unreachable!("a turn ends")
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// Not a test of its own: what [`killed_at`] starts. Does nothing otherwise.
#[test]
fn in_a_process_of_its_own() {
    let (Ok(at), Ok(folder)) = (std::env::var(AT), std::env::var(FOLDER)) else { return };
    let bench = bench(Path::new(&folder));
    crash::arm(at.parse().unwrap());
    block_on(two_turns(&bench));
}

/// Runs the turns in another process that is killed at the `n`th point of writing. `false`: it had ended before.
fn killed_at(n: usize, folder: &Path) -> bool {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", CHILD])
        .env(AT, n.to_string())
        .env(FOLDER, folder)
        .output()
        .unwrap();
    let killed = child.status.signal() == Some(SIGKILL);
    assert!(killed || child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    killed
}

/// Looks at everything that was kept, goes on, and looks again.
fn check(n: usize, folder: &Path) {
    fs::remove_file(folder.join("config/config.toml")).unwrap();
    let overrides = Overrides { provider: Some("offline".into()), ..Overrides::default() };
    let bench =
        Workbench::open_in(&folder.join("book"), overrides, Surroundings::in_folders(folder)).unwrap();
    let sessions: Vec<SessionId> =
        sessions::list(bench.root()).unwrap().into_iter().map(|summary| summary.session).collect();
    for session in &sessions {
        let turns = sessions::load(bench.root(), session).unwrap();
        assert!(turns.iter().all(|kept| kept.turn.question == QUESTION), "point {n}");
    }
    let (attempts, skipped) = bench.egress().read().unwrap();
    assert!(skipped <= 1, "point {n}: half a line at most");
    let open = attempts.iter().filter(|attempt| attempt.ended.is_none()).count();
    assert!(open <= 1 && attempts.len() <= 4, "point {n}: {attempts:?}");
    let broken = |bench: &Workbench| bench.verify_provenance().unwrap().into_iter().find(Chain::is_broken);
    assert_eq!(broken(&bench), None, "point {n}");
    bench.proposals();
    // What a crash left does not stop the next turn, in the same conversation where there is one that can be gone on with.
    let known = sessions.into_iter().find(|s| !sessions::load(bench.root(), s).unwrap().is_empty());
    let ask = Ask { question: QUESTION.into(), session: known, ..Ask::default() };
    let finished = block_on(turn(&bench, &ask));
    assert_eq!(finished.not_kept, None, "point {n}");
    let chains = bench.verify_provenance().unwrap();
    assert!(chains.iter().all(|chain| chain.words == "intact and anchored"), "point {n}: {chains:?}");
    assert!(bench.provenance_report().unwrap().text().contains("Whether the records are whole"));
}

#[test]
fn what_could_not_be_kept_is_told_by_its_name() {
    for (blocked, told) in [
        ("proposals.jsonl", "This turn is kept, and what it proposes could not be kept for review: "),
        ("sessions", "This turn could not be kept in the book's .scritorio folder: "),
    ] {
        let folder = tempfile::tempdir().unwrap();
        book(folder.path());
        let overrides = Overrides { provider: Some("offline".into()), ..Overrides::default() };
        let bench = Workbench::open_in(
            &folder.path().join("book"),
            overrides,
            Surroundings::in_folders(folder.path()),
        )
        .unwrap();
        let blocked = bench.root().join(".scritorio").join(blocked);
        fs::create_dir_all(blocked.parent().unwrap()).unwrap();
        if blocked.extension().is_some() {
            fs::create_dir(&blocked).unwrap();
        } else {
            fs::write(&blocked, "").unwrap();
        }
        let ask = Ask { question: "add the Heron as an alias for Mira".into(), ..Ask::default() };
        let finished = block_on(turn(&bench, &ask));
        assert_eq!(finished.turn.proposals.len(), 1, "{:?}", finished.turn);
        let not_kept = finished.not_kept.unwrap();
        assert!(not_kept.starts_with(told), "{not_kept}");
        assert_eq!(finished.is_stored, told.starts_with("This turn is kept"));
    }
}

/// How many kills: a sample, or all of them in the full run.
fn kills() -> usize {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse::<usize>().ok());
    if cases.is_some_and(|n| n >= 1000) { 200 } else { 20 }
}

#[test]
fn wherever_a_turn_is_killed_conversations_open_and_the_records_are_whole() {
    let whole = tempfile::tempdir().unwrap();
    book(whole.path());
    // One point more than there is: it ends, and says how many there are.
    let points = (1..16).map(|power| 1_usize << power).find(|n| {
        let folder = tempfile::tempdir().unwrap();
        book(folder.path());
        !killed_at(*n, folder.path())
    });
    let most = points.unwrap();
    let (mut low, mut high) = (most / 2, most);
    while low + 1 < high {
        let middle = usize::midpoint(low, high);
        let folder = tempfile::tempdir().unwrap();
        book(folder.path());
        if killed_at(middle, folder.path()) {
            check(middle, folder.path());
            low = middle;
        } else {
            high = middle;
        }
    }
    assert!(low > 30, "a turn writes at more points than {low}");
    let mut killed = 0;
    for round in 0..kills() {
        // Spread over all points; more rounds than points go over them again, with another timing.
        let n = 1 + (round * low / kills().min(low) + round / low.max(1)) % low;
        let folder = tempfile::tempdir().unwrap();
        book(folder.path());
        if killed_at(n, folder.path()) {
            killed += 1;
            check(n, folder.path());
        }
    }
    // Two writers of the ledger may meet in another order, so that the last points are not always reached.
    assert!(killed * 10 >= kills() * 9, "{killed} of {} were killed", kills());
}
