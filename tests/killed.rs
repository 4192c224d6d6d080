//! The program is killed in the middle of a turn, at whatever it was doing: while an answer arrives, between two rounds, while a tool runs,
//! while something is written. Afterwards every conversation opens, the next turn works, the records are whole, and half a line is no data.
//!
//! `workbench::ask` has the same for every single point of writing, in its own tests; here the real program dies by a signal from outside.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't go on has failed"
)]

#[path = "support/book.rs"]
mod book;
#[path = "support/server.rs"]
mod server;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use book::{Folders, KEY};
use serde_json::{Value, json};
use server::bodies::sha256;
use server::{Reply, Server};

const SIGKILL: i32 = 9;
const FIRST: &str = "Who is Mira?";
const KILLED: &str = "And who else is there?";
const NEXT: &str = "Are you still there?";
const ANSWER: &str = "Nobody else is there yet, and so I have proposed somebody. Mira counts the lamps, and he lights them one after the other.";

/// What the server says in the turn that is killed.
const ROUNDS: usize = 3;

fn round(n: usize) -> Reply {
    match n {
        0 => {
            Reply::Call("get_manuscript_context", json!({ "ref": "1", "refs": null, "startParagraph": null }))
        }
        1 => {
            let create = json!({ "entryType": "character", "name": "Osric", "changeSummary": "He is missing", "fields": null,
                "customFields": null, "markdownBody": "He lights the lamps.", "soulMarkdown": null });
            let look = json!({ "name": "Mira" });
            Reply::Calls(vec![
                ("propose_codex_create".into(), create.to_string()),
                ("get_character_context".into(), look.to_string()),
            ])
        }
        _ => Reply::Say(ANSWER),
    }
}

/// When the program dies.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// The server has sent so many bytes of an answer and falls silent. All of them: then tools run, or the turn is kept.
    Sent { round: usize, bytes: usize },
    /// The program has said so many lines.
    Said(usize),
}

/// A server for the turn: it plays all rounds, or falls silent in one of them.
fn server(silent: Option<(usize, usize)>) -> Server {
    Server::start(move |n, _| match silent {
        Some((at, bytes)) if n == at => Reply::First(bytes, Box::new(round(n))),
        _ => round(n),
    })
}

/// Begins the turn in the conversation.
fn begin(folders: &Folders, base: &str, session: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scritorio"));
    command.env_clear().envs(folders.environment()).current_dir(folders.book());
    command.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", base);
    command.args(["ask", KILLED, "--session", session, "--stream"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Runs the turn and kills it. `false`: it had ended before.
fn killed(folders: &Folders, session: &str, moment: Moment) -> (bool, Server) {
    let silent = if let Moment::Sent { round, bytes } = moment { Some((round, bytes)) } else { None };
    let server = server(silent);
    let mut child = begin(folders, &server.base, session);
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    match moment {
        Moment::Sent { .. } => server.fell_silent(),
        Moment::Said(lines) => drop(said.nth(lines - 1)),
    }
    child.kill().unwrap();
    let killed = child.wait().unwrap().signal() == Some(SIGKILL);
    (killed, server)
}

/// A book with one conversation of one whole turn.
fn book() -> (Folders, String) {
    let folders = Folders::new();
    let server = Server::start(|n, _| {
        if n == 0 {
            Reply::Call("get_character_context", json!({ "name": "Mira" }))
        } else {
            Reply::Say("The signals officer.")
        }
    });
    let turn = folders.run_at(&server.base, &["ask", FIRST, "--provider", "openai", "--json"]).ok().json();
    let session = turn["session"].as_str().unwrap().to_owned();
    (folders, session)
}

/// The lines of every file of records whose path has `part` in it, and how many of them are torn.
fn records(folders: &Folders, part: &str) -> (Vec<Value>, usize) {
    let (mut lines, mut torn) = (vec![], 0);
    for (path, bytes) in folders.files() {
        let is_jsonl = path.extension().is_some_and(|extension| extension == "jsonl");
        let path = path.to_string_lossy().into_owned();
        if !is_jsonl || !path.contains(".scritorio") || !path.contains(part) {
            continue;
        }
        for line in String::from_utf8_lossy(&bytes).lines() {
            match serde_json::from_str(line) {
                Ok(line) => lines.push(line),
                Err(_) => torn += 1,
            }
        }
    }
    (lines, torn)
}

/// The ledger has every request that arrived, and of one at most that did not, or has no end.
#[track_caller]
fn ledger_holds(folders: &Folders, server: &Server, moment: Moment) {
    let (lines, torn) = records(folders, "/ledger/");
    assert!(torn <= 1, "{moment:?}");
    let noted: BTreeSet<&str> = lines.iter().filter_map(|line| line["sha256"].as_str()).collect();
    for request in server.received() {
        let hash = sha256(&request.raw);
        assert!(noted.contains(hash.as_str()), "{moment:?}: a request left that is not in the ledger");
    }
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).count();
    let (sent, ended) = (of("sent"), lines.len() - of("sent"));
    assert!(sent - ended <= 1, "{moment:?}: {sent} requests, {ended} ends");
    // The first turn sent two.
    assert!(sent - 2 <= server.received().len() + 1, "{moment:?}");
}

/// Looks at everything that was kept, goes on, and looks again.
#[track_caller]
fn goes_on(folders: &Folders, session: &str, server: &Server, moment: Moment) {
    ledger_holds(folders, server, moment);
    let (kept, torn) = records(folders, &format!("/sessions/{session}"));
    assert!(torn <= 1, "{moment:?}");
    let whole = kept.iter().filter(|line| line["kept"]["turn"]["question"] == FIRST).count();
    assert!(whole >= 1, "{moment:?}: the earlier turn is there");
    let shown = folders.run(&["sessions", "show", session, "--json"]).ok();
    assert!(shown.out.contains("The signals officer."), "{moment:?}: {}", shown.out);
    let listed = folders.run(&["sessions", "list", "--json"]).ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{moment:?}: {listed}");
    let report = folders.run(&["doctor", "--json"]).ok().json();
    let chains = report["provenance"].as_object().unwrap();
    assert!(chains.values().all(|chain| chain["verdict"] != "broken"), "{moment:?}: {chains:?}");
    folders.run(&["provenance", "verify"]).ok();
    folders.run(&["proposals", "list", "--json"]).ok();
    let again = Server::start(|_, _| Reply::Say("I am here."));
    let next = folders.run_at(&again.base, &["ask", NEXT, "--session", session, "--json"]).ok().json();
    assert_eq!(next["answer"], "I am here.", "{moment:?}");
    let body = again.received()[0].raw.clone();
    assert!(body.contains(NEXT), "{moment:?}");
    let whole = body.contains("he lights them one after the other");
    assert!(
        whole || !body.contains("Nobody else"),
        "{moment:?}: half an answer was sent on as if it were one"
    );
    let chains = folders.run(&["provenance", "verify", "--json"]).ok().json();
    let intact = chains.as_array().unwrap().iter().all(|chain| chain["words"] == "intact and anchored");
    assert!(intact, "{moment:?}: {chains}");
    folders.run(&["provenance", "report"]).ok();
}

/// Moments spread over the whole turn: over the bytes of its answers, their ends among them, and over what the program says.
fn moments(count: usize) -> Vec<Moment> {
    let lengths: Vec<usize> = (0..ROUNDS).map(|n| server::length(n, &round(n))).collect();
    let (folders, session) = book();
    let server = server(None);
    let said = BufReader::new(begin(&folders, &server.base, &session).stdout.take().unwrap()).lines().count();
    assert!(said > 10, "only {said} lines");
    let (half, steps) = (count / 2, (count / 2).div_ceil(ROUNDS).max(2) - 1);
    let by_bytes = (0..half).map(|n| {
        let round = n % ROUNDS;
        Moment::Sent { round, bytes: lengths[round] * (n / ROUNDS).min(steps) / steps }
    });
    let by_lines = (0..count - half).map(|n| Moment::Said(1 + n * (said - 1) / (count - half)));
    by_bytes.chain(by_lines).collect()
}

/// A sample, or all of them in the full run.
fn kills() -> usize {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse::<usize>().ok());
    if cases.is_some_and(|n| n >= 1000) { 200 } else { 16 }
}

#[test]
fn killed_in_the_middle_of_a_turn_it_goes_on_where_it_was() {
    let mut dead = 0;
    for moment in moments(kills()) {
        let (folders, session) = book();
        let (killed, server) = killed(&folders, &session, moment);
        dead += usize::from(killed);
        goes_on(&folders, &session, &server, moment);
    }
    // Whoever has said its last lines may be gone before the signal comes.
    assert!(dead * 10 >= kills() * 8, "{dead} of {} were killed", kills());
}

#[test]
fn every_killed_turn_is_in_the_report_and_once_in_the_provenance() {
    let (folders, session) = book();
    let turns = || folders.run(&["provenance", "report", "--json"]).ok().json()["turns"].clone();
    let in_chain = || {
        let (lines, _) = records(&folders, "/provenance/");
        lines.into_iter().filter(|line| line["status"] == "killed").collect::<Vec<_>>()
    };
    for n in 1..=3 {
        let moment = Moment::Sent { round: n % 2, bytes: 1 };
        assert!(killed(&folders, &session, moment).0, "{moment:?}");
        assert_eq!(
            turns(),
            json!({ "asked": 1 + n, "answered": 1, "cancelled": 0, "failed": 0, "killed": n })
        );
    }
    let again = Server::start(|_, _| Reply::Say("I am here."));
    for answered in 2..=3 {
        folders.run_at(&again.base, &["ask", NEXT, "--session", &session, "--json"]).ok();
        let told =
            json!({ "asked": 3 + answered, "answered": answered, "cancelled": 0, "failed": 0, "killed": 3 });
        assert_eq!(turns(), told);
        assert_eq!(in_chain().len(), 3, "each of them once");
    }
    for line in in_chain() {
        assert_eq!((&line["session"], &line["provider"]), (&json!(session), &json!("openai")));
        assert_eq!(line["persona"], "developmental-editor");
        assert!(line["usage"]["input_tokens"].as_u64().unwrap() > 0, "{line}");
    }
    let text = folders.run(&["provenance", "report"]).ok().out;
    assert!(text.contains("0 failed, 3 cut off when the program was killed."), "{text}");
    let chains = folders.run(&["provenance", "verify", "--json"]).ok().json();
    assert_eq!(chains[0]["words"], "intact and anchored");
}

#[test]
fn what_a_killed_turn_cost_is_in_its_conversation_once_and_in_what_the_doctor_says_before() {
    let (folders, session) = book();
    // A server on this machine is free unless the author says otherwise.
    folders.write("../config/config.toml", "[prices.'gpt-5-mini']\ninput = 1\noutput = 2\n");
    let spending = || folders.run(&["doctor", "--json"]).ok().json()["spending"]["month"].clone();
    let before = spending();
    let moment = Moment::Sent { round: 0, bytes: 1 };
    assert!(killed(&folders, &session, moment).0);
    let ledger = records(&folders, "/ledger/").0.len();
    let unsettled = spending();
    assert_eq!(unsettled["unpriced"], before["unpriced"].as_u64().unwrap() + 1);
    assert!(unsettled["dollars"].as_f64() > before["dollars"].as_f64(), "{unsettled}");
    assert_eq!(records(&folders, "/ledger/").0.len(), ledger, "the doctor writes nothing");
    let again = Server::start(|_, _| Reply::Say("I am here."));
    let mut usages = vec![];
    for _ in 0..2 {
        let asked = folders.run_at(&again.base, &["ask", NEXT, "--session", "last", "--json"]).ok().json();
        assert_eq!(asked["session"], session.as_str());
        let listed = folders.run(&["sessions", "list", "--json"]).ok().json();
        usages.push(listed[0]["usage"].clone());
    }
    assert!(usages.iter().all(|usage| usage["unpriced"] == 1), "{usages:?}");
    let shown = folders.run(&["sessions", "show", &session]).ok().out;
    let cut_off = shown.split("Cut off before it had ended.").nth(1).unwrap();
    assert!(cut_off.trim_start().lines().next().unwrap().contains("at least"), "{shown}");
    let (kept, _) = records(&folders, &format!("/sessions/{session}"));
    let ends = kept.iter().filter(|line| line["kept"]["turn"]["status"]["state"] == "running").count();
    assert_eq!(ends, 1);
    assert_eq!(spending()["unpriced"], unsettled["unpriced"]);
}

#[test]
fn a_list_of_conversations_counts_a_killed_turn_and_leaves_them_in_their_order() {
    let (folders, first) = book();
    // A server on this machine would be free.
    folders.write("../config/config.toml", "[prices.'gpt-5-mini']\ninput = 1\noutput = 2\n");
    assert!(killed(&folders, &first, Moment::Sent { round: 0, bytes: 1 }).0);
    let listed = folders.run(&["sessions", "list", "--json"]).ok().json();
    assert_eq!(listed[0]["usage"]["unpriced"], 1, "{listed}");
    let last_at = listed[0]["last_at"].clone();
    let (kept, _) = records(&folders, &format!("/sessions/{first}"));
    let started = kept.iter().rfind(|line| line["event"] == "started").unwrap();
    assert_eq!(last_at, started["at"], "nothing was said when it was settled");
}

#[test]
fn a_killed_turn_counts_before_the_author_is_warned_and_before_a_check_is_sent() {
    let settings = |folders: &Folders, budget: &str| folders.write("../config/config.toml", budget);
    let prices = "[prices.'gpt-5-mini']\ninput = 1000\noutput = 2\n";
    let (folders, session) = book();
    settings(&folders, prices);
    assert!(killed(&folders, &session, Moment::Sent { round: 0, bytes: 1 }).0);
    let spent = folders.run(&["doctor", "--json"]).ok().json()["spending"]["month"]["dollars"].clone();
    let spent = spent.as_f64().unwrap();
    settings(&folders, &format!("{prices}[budget]\nrefuse = {spent}\n"));
    let server = Server::start(|_, _| Reply::Say("I am here."));
    let check = folders.run_at(&server.base, &["providers", "--check", "openai"]);
    assert!(check.code != 0 && server.received().is_empty(), "{}", check.err);

    let (folders, session) = book();
    settings(&folders, prices);
    assert!(killed(&folders, &session, Moment::Sent { round: 0, bytes: 1 }).0);
    settings(&folders, &format!("{prices}[budget]\nwarn = 0.001\n"));
    let told = folders.run_at(&server.base, &["ask", NEXT, "--session", &session]).ok().err;
    assert!(told.contains("Budget: up to") && told.contains("; at least about"), "{told}");
}
