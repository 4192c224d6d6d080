//! What leaves the machine: never a word of what AI never reads, never the key, prose only after a tool has asked for it, and all of it in the ledger.
//!
//! The real program asks a real server on the loopback interface, which keeps every byte that it gets. The book has a word of its own in every place
//! that must not leak. What the ledger says is worked out anew from the bytes that arrived.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't go on should fail loudly"
)]

#[path = "support/book.rs"]
mod book;
#[path = "egress/ledger.rs"]
mod ledger;
#[path = "egress/book.rs"]
mod planted;
#[path = "support/server.rs"]
mod server;

use std::collections::VecDeque;
use std::sync::Mutex;

use book::{Folders, KEY, Ran, ran};
use planted::{PROSE, kept, nothing_private_in, planted};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use scritorio::domain::ids::SessionId;
use scritorio::workbench::{Ask, Overrides, Surroundings, Workbench};
use serde_json::{Value, json};
use server::{Received, Reply, Server};

const QUESTION: &str = "What do you make of it?";

/// A server that plays replies in order, then says that it is done.
fn plays(replies: impl IntoIterator<Item = Reply>) -> Server {
    let replies = Mutex::new(replies.into_iter().collect::<VecDeque<_>>());
    Server::start(move |_, _| replies.lock().unwrap().pop_front().unwrap_or(Reply::Say("That is all.")))
}

fn reads(reference: &str) -> Reply {
    Reply::Call("get_manuscript_context", json!({ "ref": reference, "refs": null, "startParagraph": null }))
}

fn ask(folders: &Folders, server: &Server, more: &[&str]) -> Ran {
    let arguments = [&["ask", QUESTION, "--provider", "openai", "--json", "--debug"], more].concat();
    folders.run_at(&server.base, &arguments)
}

/// Checks everything that was sent, said and kept.
#[track_caller]
fn check(folders: &Folders, server: &Server, runs: &[&Ran], questions: &[&str]) -> Vec<Received> {
    let received = server.received();
    for request in &received {
        nothing_private_in("a request", &request.raw);
        nothing_private_in("a request", &request.head.replace(KEY, ""));
    }
    for ran in runs {
        nothing_private_in("what was printed", &format!("{}{}", ran.out, ran.err));
    }
    // What a publisher gets has no private name. What the author sees of her own book may have, and no word of the text.
    let report = folders.run(&["provenance", "report", "--debug"]).ok();
    nothing_private_in("the report", &format!("{}{}", report.out, report.err));
    let found = folders.run(&["doctor", "--json", "--debug"]).ok();
    for told in [report, found] {
        assert!(!told.out.contains(PROSE) && !told.err.contains(PROSE), "prose in {}", told.out);
    }
    for (path, text) in kept(folders) {
        nothing_private_in(&path, &text);
        // A conversation is the author's, and so is what a proposal holds. What is kept of it elsewhere has no word of the book.
        let of_author = ["/sessions/", "/proposals.jsonl", "/cache/"].iter().any(|part| path.contains(part));
        assert!(of_author || !text.contains(PROSE), "prose in {path}");
    }
    ledger::equals(folders, &received, questions);
    received
}

/// The requests that hold the canary of the prose.
fn with_prose(received: &[Received]) -> Vec<usize> {
    (0..received.len()).filter(|n| received[*n].raw.contains(PROSE)).collect()
}

fn session(ran: &Ran) -> String {
    ran.json()["session"].as_str().unwrap().to_owned()
}

#[test]
fn prose_leaves_after_a_tool_asked_for_it_and_not_before() {
    let folders = planted();
    let server = plays([reads("1"), reads("2"), Reply::Say("Mira set it down.")]);
    let ran = ask(&folders, &server, &["--chapter", "1"]).ok();
    let received = check(&folders, &server, &[&ran], &[QUESTION]);
    assert_eq!((received.len(), with_prose(&received)), (3, vec![1]), "the server keeps what it was told");
}

#[test]
fn a_selection_is_sent_when_it_is_asked_for() {
    let folders = planted();
    let server = plays([Reply::Say("Which one?"), reads("selection"), Reply::Say("Now I see.")]);
    let words = "set the Quillwort lamp down";
    let first = ask(&folders, &server, &["--select-text", words]).ok();
    let second = ask(&folders, &server, &["--select-text", words, "--session", &session(&first)]).ok();
    let received = check(&folders, &server, &[&first, &second], &[QUESTION]);
    assert_eq!(with_prose(&received), [2]);
    let spans = &ledger::lines(&folders)[2].0["spans"];
    assert_eq!(spans[0]["path"], "manuscript/01-the-lamp.md");
}

#[test]
fn without_tools_the_text_itself_is_in_the_ledger() {
    let folders = planted();
    let toml = folders.read("scritorio.toml");
    let names: Vec<String> =
        scritorio::tools::Registry::advisor().specs().map(|s| format!("{:?}", s.name)).collect();
    folders.write("scritorio.toml", &format!("{toml}\n[tools]\ndisabled = [{}]\n", names.join(", ")));
    let server = plays([]);
    let first = ask(&folders, &server, &["--chapter", "1"]).ok();
    let second = ask(&folders, &server, &["--select-text", "it is out".to_uppercase().as_str()]);
    let private = ask(&folders, &server, &["--chapter", "3"]).ok();
    let received = check(&folders, &server, &[&first, &private], &[QUESTION]);
    assert_eq!(second.code, 2, "words that stand nowhere");
    assert_eq!(with_prose(&received), [0]);
    let sent = &ledger::lines(&folders)[0].0;
    assert_eq!((&sent["spans"][0]["through"], &sent["spans"][0]["exact"]), (&json!("context"), &json!(true)));
    assert!(received[1].raw.contains("the author keeps private"), "{}", received[1].raw);
}

#[test]
fn a_model_that_turns_out_to_have_no_tools_gets_the_text_and_the_ledger_has_both_requests() {
    let folders = planted();
    let error = json!({ "error": { "code": null, "message": "This model does not support tools." } });
    let server = plays([Reply::Refuse(400, error), Reply::Say("It is dark.")]);
    let ran = ask(&folders, &server, &["--chapter", "1"]).ok();
    assert_eq!(ran.json()["answer"], "It is dark.");
    let received = check(&folders, &server, &[&ran], &[QUESTION]);
    assert_eq!((received.len(), with_prose(&received)), (2, vec![1]), "not before its server had refused");
    let lines = ledger::lines(&folders);
    let ends: Vec<_> = lines.iter().map(|(_, ended)| &ended.as_ref().unwrap()["end"]).collect();
    assert_eq!(ends, ["failed", "answered"]);
    assert_eq!((&lines[0].0["spans"], &lines[1].0["tools"]), (&json!([]), &json!([])));
    let span = &lines[1].0["spans"][0];
    assert_eq!((&span["path"], &span["through"]), (&json!("manuscript/01-the-lamp.md"), &json!("context")));
}

#[test]
fn a_server_that_keeps_nothing_gets_it_all_again_and_the_ledger_says_so() {
    let folders = planted();
    let forgot = json!({ "error": { "code": 400, "message": "no 'previous_response_id' here" } });
    let server = plays([
        reads("1"),
        Reply::Say("Mira Okafor set the Quillwort lamp down on the sill."),
        Reply::Refuse(400, forgot),
        Reply::Say("As I said."),
    ]);
    let first = ask(&folders, &server, &["--chapter", "1"]).ok();
    let second = ask(&folders, &server, &["--session", &session(&first)]).ok();
    let received = check(&folders, &server, &[&first, &second], &[QUESTION]);
    assert_eq!(received.len(), 4);
    assert_eq!(with_prose(&received), [1, 3]);
    let lines = ledger::lines(&folders);
    assert_eq!(lines[2].1.as_ref().unwrap()["end"], "failed");
    assert_eq!(lines[2].1.as_ref().unwrap()["status"], 400);
    assert_eq!(lines[3].1.as_ref().unwrap()["usage"]["input_tokens"], 100);
}

#[test]
fn a_blind_reader_gets_no_more_and_is_in_the_ledger() {
    let folders = planted();
    let server = plays([
        reads("1"),
        Reply::Call("search_knowledge", json!({ "query": "xanthname stair", "limit": null })),
        Reply::Say("I wonder."),
    ]);
    let who = ["--persona", "first-time-reader", "--chapter", "1"];
    let ran = ask(&folders, &server, &who).ok();
    // The model's own words come back in a result; they are what it asked for.
    let received = server.received();
    assert_eq!((received.len(), with_prose(&received)), (3, vec![1]));
    assert!(!received.iter().any(|r| r.raw.contains("forty steps")));
    ledger::equals(&folders, &received, &[QUESTION]);
    assert!(
        ledger::lines(&folders)[0].0["spans"].to_string().contains("scritorio.toml"),
        "the words to the board"
    );
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY));
}

#[test]
fn a_refusal_that_repeats_the_key_and_the_request_tells_neither() {
    let folders = planted();
    for status in [401, 429, 500] {
        let said =
            json!({ "error": { "message": format!("Incorrect key {KEY}"), "code": "invalid_api_key" } });
        // However often it is asked again.
        let server = Server::start(move |_, _| Reply::Refuse(status, said.clone()));
        let folders = if status == 401 { &folders } else { &planted() };
        let ran = ask(folders, &server, &["--chapter", "1"]);
        assert_eq!(ran.code, 3);
        let received = check(folders, &server, &[&ran], &[QUESTION]);
        assert!(!received.is_empty() && with_prose(&received).is_empty());
        let ends: Vec<_> = ledger::lines(folders).into_iter().map(|(_, end)| end.unwrap()).collect();
        assert!(ends.iter().all(|end| end["end"] == "failed" && end["status"] == status), "{ends:?}");
    }
}

#[test]
fn a_turn_that_is_stopped_has_its_end_in_the_ledger() {
    let folders = planted();
    let server = Server::start(|n, _| if n == 0 { reads("1") } else { Reply::Stall("Mira set") });
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_scritorio"));
    command.env_clear().envs(folders.environment()).current_dir(folders.book());
    command.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", &server.base);
    command.args(["ask", QUESTION, "--provider", "openai", "--stream", "--chapter", "1"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    // The words have arrived: only then it is stopped.
    lines.find(|line| line.as_ref().unwrap().contains("Mira")).unwrap().unwrap();
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    for line in lines {
        nothing_private_in("what was printed", &line.unwrap());
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let received = check(&folders, &server, &[], &[QUESTION]);
    assert_eq!(with_prose(&received), [1]);
    let end = ledger::lines(&folders)[1].1.clone().unwrap();
    assert_eq!((&end["end"], &end["status"]), (&json!("given_up"), &json!(200)));
    assert!(end["received"].as_u64().unwrap() > 0);
}

#[test]
fn texts_for_searching_by_meaning_are_in_the_ledger_and_private_ones_are_not_sent() {
    let folders = planted();
    std::fs::create_dir_all(folders.root().join("config")).unwrap();
    std::fs::write(
        folders.root().join("config/config.toml"),
        "[search]\nembeddings = 'small'\n[prices.small]\ninput = 100\noutput = 0\n",
    )
    .unwrap();
    let server = Server::start(|n, body| match body["input"].as_array() {
        Some(texts) if body["encoding_format"].is_string() => {
            let data: Vec<_> = texts.iter().map(|_| json!({ "embedding": [1.0, 0.5] })).collect();
            Reply::Refuse(200, json!({ "data": data, "usage": { "prompt_tokens": 50, "total_tokens": 50 } }))
        }
        _ if n == 0 => Reply::Call("search_knowledge", json!({ "query": "who counts", "limit": null })),
        _ => Reply::Say("Tobias does."),
    });
    let ran = ask(&folders, &server, &[]).ok();
    let received = check(&folders, &server, &[&ran], &[QUESTION]);
    let purposes: Vec<Value> =
        ledger::lines(&folders).iter().map(|(sent, _)| sent["purpose"].clone()).collect();
    assert_eq!(purposes, ["turn", "embeddings", "embeddings", "turn"]);
    assert!(received[1].raw.contains(PROSE), "the texts were sent, as the author switched it on");
    let sent = &ledger::lines(&folders)[1].0;
    assert!(sent["turn"].is_string() && sent["spans"].as_array().unwrap().len() > 4, "{sent}");
    let end = ledger::lines(&folders)[1].1.clone().unwrap();
    assert_eq!(end["usage"]["input_tokens"], 50);
    let month = folders.run(&["doctor", "--json"]).ok().json()["spending"]["month"].clone();
    assert_eq!((&month["dollars"], &month["responses"]), (&json!(0.01), &json!(2)), "vectors are paid for");
}

#[test]
fn what_was_read_before_the_mark_was_set_is_not_sent_again() {
    let folders = planted();
    let path = "notes/radio.md";
    let server = plays([
        Reply::Call("read_note", json!({ "path": path, "startLine": null })),
        Reply::Say("Short wave fades at noon on the station."),
        Reply::Say("Nothing of a note."),
        reads("2"),
    ]);
    let first = ask(&folders, &server, &[]).ok();
    assert!(server.received()[1].raw.contains("fades at noon"));
    let before = folders.read(path);
    folders.write(path, &format!("---\nai: never\n---\n{before}"));
    let second = ask(&folders, &server, &["--session", &session(&first)]).ok();
    let third = ask(&folders, &server, &["--session", &session(&first)]).ok();
    for request in &server.received()[2..] {
        for words in ["fades at noon", "notes/radio"] {
            assert!(!request.raw.contains(words), "{words}: {}", request.body["input"]);
        }
        let first_of_turn = request.body["input"].is_string();
        assert!(!first_of_turn || request.body.get("previous_response_id").is_none(), "{}", request.raw);
    }
    nothing_private_in("what was printed", &format!("{}{}", second.out, third.out));
    let told = "1 earlier turn is left out: it holds something of notes/radio.md, which AI never reads.";
    for ran in [&second, &third] {
        assert_eq!((&ran.json()["notices"], ran.err.contains(told)), (&json!([told]), true), "{}", ran.err);
    }
    let session = SessionId::new(session(&first));
    let bench = Workbench::open_in(
        &folders.book(),
        Overrides { provider: Some("openai".into()), ..Overrides::default() },
        Surroundings::in_folders(folders.root()),
    );
    let peek = bench.unwrap().peek(&Ask { session: Some(session), ..Ask::default() }, None).unwrap();
    assert!(peek.text().contains(told) && !peek.body.to_string().contains("radio.md"), "{}", peek.text());
}

/// Proposes a change of Mira's entry, for what is said of it.
fn proposes(summary: &str) -> Reply {
    let update = json!({ "entryType": "character", "name": "Mira", "targetSection": "role",
        "proposedMarkdown": "ally", "changeSummary": summary, "mode": null });
    Reply::Call("propose_codex_update", update)
}

#[test]
fn what_became_of_a_proposal_is_told_without_what_ai_never_reads() {
    let folders = planted();
    let path = "codex/characters/zed.md";
    let entry =
        "name: Zedekiah Xanthname\n---\n\nHe is the xanthtext father of Mira and nobody knows that at all.\n";
    folders.write(path, &format!("---\n{entry}"));
    let server = plays([
        Reply::Call("get_character_context", json!({ "name": "Zedekiah Xanthname" })),
        proposes("says that Zedekiah Xanthname is the xanthtext father of Mira and nobody knows that at all"),
        Reply::Say("I have proposed it."),
    ]);
    let first = ask(&folders, &server, &[]).ok();
    assert!(server.received()[1].raw.contains("xanthtext father"), "it was open then");
    folders.write(path, &format!("---\nai: never\n{entry}"));
    folders.run(&["proposals", "reject", "last", "--why", "no"]).ok();
    let second = ask(&folders, &server, &["--session", &session(&first)]).ok();
    let received = server.received();
    assert!(second.err.contains("1 earlier turn is left out"), "{}", second.err);
    assert_eq!(received.len(), 4);
    nothing_private_in("the request", &received[3].raw);
    let told = "I rejected your proposal for codex/characters/mira.md. My reason: no";
    assert!(received[3].raw.contains(told), "{}", received[3].raw);
    for format in ["chat", "anthropic", "ollama", "responses"] {
        let who = ["prompt", "--ask", "And?", "--session", "last", "--format", format];
        nothing_private_in(format, &folders.run(&who).ok().out);
    }
}

#[test]
fn what_the_program_tells_of_a_proposal_is_in_the_ledger_as_far_as_it_is_of_the_book() {
    let folders = planted();
    let summary = "because he counts every step of every stair he climbs";
    let note = "notes/radio.md";
    let server = plays([
        Reply::Call("read_note", json!({ "path": note, "startLine": null })),
        proposes(summary),
        Reply::Say("I have proposed it."),
    ]);
    let first = ask(&folders, &server, &[]).ok();
    folders.run(&["proposals", "reject", "last", "--why", "not yet"]).ok();
    // The turn in which it was proposed is not sent again: what the program tells of it is.
    folders.write(note, &format!("---\nai: never\n---\n{}", folders.read(note)));
    ask(&folders, &server, &["--session", &session(&first)]).ok();
    let request = server.received()[3].raw.clone();
    assert!(request.contains(summary) && !request.contains("fades at noon"), "{request}");
    let sent = &ledger::lines(&folders)[3].0;
    let spans = sent["spans"].as_array().unwrap();
    let span = spans.iter().find(|span| span["path"] == "codex/characters/tobias.md").unwrap();
    assert_eq!(span["through"], "news", "{sent}");
    assert_eq!(
        sent["author"],
        json!({ "messages": 1, "chars": QUESTION.len() }),
        "the rest is the program's"
    );
}

#[test]
fn a_gap_in_the_numbers_of_chapters_is_explained_and_what_fills_it_is_not_told() {
    let folders = Folders::new();
    folders.write(
        "manuscript/02-the-secret.md",
        "---\nai: never\n---\n# Chapter 2: The Xanthchap\n\nXanthtext.\n",
    );
    let server = plays([]);
    ask(&folders, &server, &[]).ok();
    folders.write("manuscript/03-the-end.md", "# Chapter 3: The End\n\nIt was over.\n");
    ask(&folders, &server, &[]).ok();
    ask(&folders, &server, &["--chapter", "3"]).ok();
    let gap = "Some chapter numbers are missing from what you can read.";
    let told: Vec<bool> = server.received().iter().map(|request| request.raw.contains(gap)).collect();
    assert_eq!(told, [false, true, true], "the last chapter leaves no gap");
    for request in server.received() {
        nothing_private_in("a request", &request.raw);
        assert!(!request.raw.contains("the-secret"), "{}", request.raw);
    }
}

/// A server that lists its models, and answers.
fn lists() -> Server {
    Server::start(|_, body| {
        if body.is_null() {
            let list = json!({ "data": [{ "id": "gemma" }] }).to_string();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            return Reply::Bytes(
                format!("{head}\r\ncontent-length: {}\r\n\r\n{list}", list.len()).into_bytes(),
            );
        }
        Reply::Call("ready", json!({}))
    })
}

#[test]
fn a_check_and_a_list_of_models_are_in_the_ledger_without_a_word_of_the_book() {
    let folders = planted();
    let server = lists();
    let runs =
        [&["providers", "--check", "openai", "--json"][..], &["models", "--provider", "openai", "--json"]];
    for arguments in runs {
        folders.run_at(&server.base, arguments).ok();
    }
    let lines = ledger::lines(&folders);
    let noted: Vec<_> =
        lines.iter().map(|(sent, _)| (&sent["purpose"], &sent["bytes"], &sent["spans"])).collect();
    let received = server.received();
    let bytes = [json!(received[0].raw.len()), json!(0)];
    assert_eq!(noted, [(&json!("check"), &bytes[0], &json!([])), (&json!("models"), &bytes[1], &json!([]))]);
    assert_eq!(received.len(), 2);
    for (request, (sent, ended)) in received.iter().zip(&lines) {
        let host = request.head.lines().find_map(|l| l.strip_prefix("host: ")).unwrap();
        assert!(sent["destination"].as_str().unwrap().contains(host));
        assert_eq!(sent["author"], json!({ "messages": 0, "chars": 0 }));
        let ended = ended.as_ref().unwrap();
        assert_eq!((&ended["end"], &ended["status"]), (&json!("answered"), &json!(200)));
        assert!(ended["received"].as_u64().unwrap() > 0);
    }
    let report = folders.run(&["provenance", "report"]).ok().out;
    assert!(
        report.contains("a test of the connection") && report.contains("the list of its models"),
        "{report}"
    );

    // What can't be noted is not sent.
    let closed = planted();
    closed.write(".scritorio/ledger", "a file where the folder would be");
    let asked = server.received().len();
    for arguments in runs {
        assert!(closed.run_at(&server.base, arguments).out.contains("Nothing was sent"));
    }
    assert_eq!(server.received().len(), asked);
}

#[test]
fn what_leaves_without_a_book_is_noted_in_the_data_folder() {
    let folders = Folders::new();
    let server = lists();
    let elsewhere = folders.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    for arguments in [&["providers", "--check", "openai"][..], &["models", "--provider", "openai"]] {
        let mut command = folders.command(arguments);
        command.current_dir(&elsewhere).env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", &server.base);
        ran(&mut command).ok();
    }
    assert!(ledger::lines(&folders).is_empty());
    let folder = folders.root().join("data/ledger");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    let text = std::fs::read_to_string(file.path()).unwrap();
    assert_eq!((text.matches("\"event\":\"sent\"").count(), server.received().len()), (2, 2), "{text}");
    assert!(!text.contains(KEY));
}

#[test]
fn a_book_that_chooses_who_is_asked_says_so_once_in_a_conversation_and_in_doctor() {
    let folders = Folders::new();
    let server = plays([]);
    let toml = "[book]\ntitle = \"The Lamp\"\n[provider]\nname = \"openai\"\nmodel = \"big-one\"\n[board.developmental-editor]\nweb_search = true\n";
    folders.write("scritorio.toml", toml);
    let told = "This book's scritorio.toml sends questions to openai (127.0.0.1), asks for the model big-one and lets the model search the web; your own settings do not.";
    let run =
        |more: &[&str]| folders.run_at(&server.base, &[&["ask", QUESTION, "--json"], more].concat()).ok();
    let first = run(&[]);
    assert_eq!((&first.json()["notices"], first.err.contains(told)), (&json!([told]), true), "{}", first.err);
    assert_eq!(run(&["--session", &session(&first)]).json()["notices"], json!([]), "once in a conversation");
    assert!(
        run(&["--provider", "openai"]).json()["notices"][0]
            .as_str()
            .unwrap()
            .starts_with("This book's scritorio.toml asks for")
    );
    let doctor = folders.run_at(&server.base, &["doctor"]).ok().out;
    assert!(doctor.contains("This book's scritorio.toml sends questions to openai"), "{doctor}");
    assert!(folders.run_at(&server.base, &["doctor", "--json"]).ok().json()["chosen_by_book"].is_string());
    let peek = folders.run_at(&server.base, &["prompt", "--ask", QUESTION]).ok().out;
    assert!(peek.contains(told), "{peek}");
    for request in server.received() {
        assert!(!request.raw.contains("your own settings"), "the model is told none of it");
    }

    // Where the author says the same, there is nothing to say.
    let own = "[provider]\nname = \"openai\"\nmodel = \"big-one\"\n[options]\nweb_search = true\n";
    folders.write("../config/config.toml", own);
    assert_eq!(run(&[]).json()["notices"], json!([]));
    assert!(!folders.run_at(&server.base, &["doctor"]).ok().out.contains("scritorio.toml sends"));
}

#[test]
fn what_a_shared_book_makes_dearer_is_told() {
    let folders = Folders::new();
    let server = plays([]);
    let dear = "tier = \"priority\"\neffort = \"high\"\nverbosity = \"high\"\nmax_output_tokens = 90000\n";
    let toml = format!(
        "[book]\ntitle = \"The Lamp\"\n[board.developmental-editor]\n{dear}[board.continuity-editor]\n{dear}"
    );
    folders.write("scritorio.toml", &toml);
    let asks = "asks for the tier priority, the effort high, the verbosity high and answers of up to 90000 tokens; your own settings do not.";
    let run = |more: &[&str]| {
        folders.run_at(&server.base, &[&["ask", QUESTION, "--json"], more].concat()).ok().json()["notices"]
            .clone()
    };
    let told = |words: &str| json!([format!("This book's scritorio.toml {words}")]);
    assert_eq!(run(&[]), told(asks));
    assert_eq!(
        run(&["--tier", "default"]),
        told(
            "asks for the effort high, the verbosity high and answers of up to 90000 tokens; your own settings do not."
        ),
        "what the question says itself the author has chosen"
    );
    assert_eq!(run(&["--persona", "writing-coach"]), json!([]));
    let doctor = || folders.run_at(&server.base, &["doctor"]).ok().out;
    assert!(doctor().contains(&format!("This book's scritorio.toml {asks}")), "{}", doctor());
    // Doctor tells of every member, not only of the one who answers first.
    folders.write("scritorio.toml", "[board.continuity-editor]\ntier = \"priority\"\n");
    let words = "Note: For the Continuity Editor this book's scritorio.toml asks for the tier priority; your own settings do not.";
    assert!(doctor().contains(words), "{}", doctor());
    let own = "[options]\nservice_tier = \"priority\"\n";
    folders.write("../config/config.toml", own);
    assert!(!doctor().contains("Note:"), "{}", doctor());
}

#[test]
fn a_books_choice_is_told_whenever_it_is_new_in_a_conversation() {
    let folders = Folders::new();
    let server = plays([]);
    folders.write("scritorio.toml", "[book]\ntitle = \"The Lamp\"\n[provider]\nname = \"openai\"\n");
    let run =
        |more: &[&str]| folders.run_at(&server.base, &[&["ask", QUESTION, "--json"], more].concat()).ok();
    let first = run(&["--provider", "offline"]);
    let on = ["--session", &session(&first)];
    let notices = || run(&on).json()["notices"].clone();
    assert_eq!(first.json()["notices"], json!([]), "nothing left");
    let sends = "This book's scritorio.toml sends questions to openai (127.0.0.1)";
    assert_eq!(notices(), json!([format!("{sends}; your own settings do not.")]));
    assert_eq!(notices(), json!([]), "once");
    folders.write("scritorio.toml", "[provider]\nname = \"openai\"\nmodel = \"big-one\"\n");
    assert_eq!(
        notices(),
        json!([format!("{sends} and asks for the model big-one; your own settings do not.")])
    );
    assert_eq!(notices(), json!([]), "once");
}

#[test]
fn a_private_document_that_is_open_or_selected_is_told_of_as_such_and_no_more() {
    let folders = planted();
    let server = plays([
        reads("current"),
        Reply::Call(
            "get_manuscript_context",
            json!({ "ref": null, "refs": ["3", "The Door", "last"], "startParagraph": null }),
        ),
        Reply::Say("I can't see it."),
    ]);
    let ran = ask(&folders, &server, &["--chapter", "3"]).ok();
    let received = check(&folders, &server, &[&ran], &[QUESTION]);
    assert!(received[0].raw.contains("A document is open that the author keeps private"));
    let selected = ask(&folders, &server, &["--select-text", "found the end of everything"]);
    assert_eq!(selected.code, 1);
    assert!(selected.out.contains("not captured"), "{}", selected.out);
    assert_eq!(server.received().len(), received.len(), "nothing was sent");
}

#[test]
fn what_can_not_be_noted_is_not_sent() {
    let folders = planted();
    folders.write(".scritorio/ledger", "a file where the folder would be");
    let server = plays([]);
    let ran = ask(&folders, &server, &[]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("Nothing was sent"), "{}", ran.out);
    assert!(server.received().is_empty());
}

#[test]
fn the_offline_reader_sends_nothing_and_has_no_line() {
    let folders = planted();
    let ran = folders.run(&["ask", "Who is Adrian Heron?", "--provider", "offline", "--json"]).ok();
    nothing_private_in("what was printed", &ran.out);
    assert!(ledger::lines(&folders).is_empty());
}

#[test]
fn while_what_ai_never_reads_is_not_said_clearly_nothing_is_sent() {
    for (never, what) in [
        ("nevr = [\"notes\"]", "`nevr` is not a known key"),
        ("never = [\"notes/raido.md\"]", "did you mean `notes/radio.md`?"),
        ("never = [\"../notes\"]", "leads out of the book"),
        ("never = 3", "must be a list"),
    ] {
        let folders = Folders::new();
        folders.write("notes/radio.md", "# Radio\n\nShort wave fades at noon on the station.\n");
        folders.write("scritorio.toml", &format!("[book]\ntitle = \"The Lamp\"\n\n[ai]\n{never}\n"));
        let server =
            plays([Reply::Call("read_note", json!({ "path": "notes/radio.md", "startLine": null }))]);
        let asked = ask(&folders, &server, &[]);
        let peeked = folders.run(&["prompt", "--ask", "And?", "--format", "chat"]);
        let called =
            folders.run(&["tools", "call", "read_note", r#"{"path":"notes/radio.md","startLine":null}"#]);
        for ran in [&asked, &peeked, &called] {
            assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
            let said = format!("{}{}", ran.out, ran.err);
            assert!(said.contains("scritorio.toml:5:") && said.contains(what), "{said}");
            assert!(!said.contains("fades at noon"), "{said}");
        }
        assert!(server.received().is_empty(), "{never}");
        folders.run(&["manuscript", "list"]).ok();
    }
}

#[test]
fn folders_and_patterns_of_the_settings_are_kept_from_ai_and_what_is_not_there_is_told() {
    let folders = planted();
    folders.write("scritorio.toml", "[ai]\nnever = [\"/notes\", \"codex/characters/t*.md\", \"drafts*\"]\n");
    let server = plays([
        Reply::Call("read_note", json!({ "path": "notes/radio.md", "startLine": null })),
        Reply::Call("get_character_context", json!({ "name": "Tobias Wren" })),
        Reply::Say("I know nothing of it."),
    ]);
    let ran = ask(&folders, &server, &[]).ok();
    let missing = "scritorio.toml: there is no folder or file `drafts*` that AI could leave alone.";
    assert_eq!(ran.json()["notices"], json!([missing]));
    assert_eq!(server.received().len(), 3);
    for request in server.received() {
        for words in ["fades at noon", "keeper of lists", "Toby"] {
            assert!(!request.raw.contains(words), "{words}: {}", request.raw);
        }
    }
}

#[test]
fn no_tool_tells_of_what_ai_never_reads() {
    let folders = planted();
    let runs = [
        ("list_codex_entries", json!({ "entryType": null })),
        ("search_codex", json!({ "query": "captain father door harbour", "entryType": null, "limit": null })),
        ("get_character_context", json!({ "name": "Adrian Heron" })),
        ("get_character_context", json!({ "name": "Tobias" })),
        ("get_character_context", json!({ "name": "Osric" })),
        ("get_location_context", json!({ "name": "Harbour" })),
        ("get_item_context", json!({ "name": "Key" })),
        (
            "get_manuscript_context",
            json!({ "ref": null, "refs": ["1", "2", "3", "Door"], "startParagraph": null }),
        ),
        ("search_manuscript", json!({ "query": "behind the door everything", "limit": null })),
        ("search_knowledge", json!({ "query": "plan ending captain fears", "limit": null })),
        ("search_notes", json!({ "query": "ending plan", "limit": null })),
        ("read_note", json!({ "path": "notes/ending.md", "startLine": null })),
    ];
    for (tool, arguments) in runs {
        let ran = folders.run(&["tools", "call", tool, &arguments.to_string(), "--json"]);
        nothing_private_in(tool, &format!("{}{}", ran.out, ran.err));
    }
    let ran = folders.run(&["prompt", "--ask", "And?", "--chapter", "3", "--format", "text"]).ok();
    nothing_private_in("the peek view", &ran.out);
    // The author's own lists show it all.
    let own = folders.run(&["codex", "list", "--json"]).ok();
    assert!(own.out.contains("Xanthname"));
}

/// A call of any kind, with words that stand in the book, in a private file, or nowhere.
fn call() -> impl Strategy<Value = (String, String)> {
    let words = select(vec![
        "Mira",
        "Tobias Wren",
        "Toby",
        "Adrian",
        "Heron",
        "Osric",
        "harbour",
        "key",
        "captain",
        "door",
        "stair",
        "lamp",
        "plan",
        "ending",
        "1",
        "2",
        "3",
        "current",
        "selection",
        "notes/radio.md",
        "notes/ending.md",
        "the",
        "fears the water",
        "",
    ]);
    let tool = select(vec![
        "get_manuscript_context",
        "get_character_context",
        "get_location_context",
        "get_item_context",
        "list_codex_entries",
        "search_codex",
        "search_manuscript",
        "search_knowledge",
        "search_notes",
        "read_note",
        "propose_codex_create",
        "propose_codex_update",
        "propose_relationship",
        "propose_note_create",
    ]);
    (tool, words.clone(), words).prop_map(|(tool, one, two)| {
        let arguments = match tool {
            "get_manuscript_context" => json!({ "ref": one, "refs": [two], "startParagraph": null }),
            "list_codex_entries" => json!({ "entryType": null }),
            "search_codex" => json!({ "query": format!("{one} {two}"), "entryType": null, "limit": null }),
            "read_note" => json!({ "path": one, "startLine": null }),
            name if name.starts_with("search_") => json!({ "query": format!("{one} {two}"), "limit": null }),
            "propose_codex_create" => json!({ "entryType": "character", "name": format!("{one} {two}"), "changeSummary": "new", "fields": null, "customFields": null, "markdownBody": "A keeper.", "soulMarkdown": null }),
            "propose_codex_update" => json!({ "entryType": "character", "name": one, "targetSection": "Voice", "proposedMarkdown": "Low.", "changeSummary": "voice", "entryPath": null }),
            "propose_relationship" => json!({ "from": one, "to": two, "kind": "friend" }),
            "propose_note_create" => json!({ "title": one, "markdown": "A note.", "reason": "asked" }),
            _ => json!({ "name": one }),
        };
        (tool.to_owned(), arguments.to_string())
    })
}

/// Fewer than elsewhere: each case runs the program three times.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse::<u32>().ok()).map_or(12, |n| n.div_ceil(20))
}

#[test]
fn whatever_a_model_calls_nothing_private_leaves_and_the_ledger_is_what_was_sent() {
    let rounds = prop::collection::vec(prop::collection::vec(call(), 1..4), 1..4);
    let again = prop::collection::vec(call(), 0..3);
    let persona = select(vec!["developmental-editor", "first-time-reader"]);
    let open = select(vec!["1", "2", "3"]);
    // `proptest!` would take the number of cases from the environment as it is.
    let config = Config { cases: cases(), failure_persistence: None, ..Config::default() };
    let checked =
        TestRunner::new(config).run(&(rounds, again, persona, open), |(rounds, again, persona, open)| {
            let folders = planted();
            let mut replies: Vec<Reply> = rounds.into_iter().map(Reply::Calls).collect();
            replies.push(Reply::Say("Mira Okafor set the Quillwort lamp down on the sill, you say."));
            if !again.is_empty() {
                replies.push(Reply::Calls(again));
            }
            let server = plays(replies);
            let who = ["--persona", persona, "--chapter", open];
            let first = ask(&folders, &server, &who).ok();
            let second = ask(&folders, &server, &[&who[..], &["--session", &session(&first)]].concat()).ok();
            check(&folders, &server, &[&first, &second], &[QUESTION]);
            let verify = ran(&mut folders.command(&["doctor", "--json"])).ok();
            prop_assert!(verify.out.contains("anchored"), "{}", verify.out);
            Ok(())
        });
    checked.unwrap();
}
