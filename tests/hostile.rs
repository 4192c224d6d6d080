//! Hostile input from every side: tool arguments, links out of the book, escape sequences, broken settings, old encodings.
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

use std::collections::BTreeMap;
use std::path::PathBuf;

use book::{Folders, KEY, ran};
use serde_json::{Value, json};
use server::{Reply, Server};

/// What a terminal obeys: colors, a title, a bell, the one-byte form of an escape, a reversal of the text.
const ESCAPES: &str = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\u{202e}";
const SECRET: &str = "outside-canary";

fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n') || c == '\u{202e}'
}

/// The author's own files, without what the program keeps beside them.
fn texts(folders: &Folders) -> BTreeMap<PathBuf, Vec<u8>> {
    let book = folders.book();
    let own = |path: &PathBuf| path.starts_with(&book) && !path.starts_with(book.join(".scritorio"));
    folders.files().into_iter().filter(|(path, _)| own(path)).collect()
}

/// A book with links that lead out of it.
#[cfg(unix)]
fn with_links() -> Folders {
    use std::os::unix::fs::symlink;
    let folders = Folders::new();
    folders.write("../outside/99-secret.md", &format!("# Secret\n\n{SECRET}\n"));
    symlink("../../outside/99-secret.md", folders.book().join("manuscript/99-secret.md")).unwrap();
    symlink("../../outside", folders.book().join("codex/outside")).unwrap();
    symlink("../../../outside/99-secret.md", folders.book().join("codex/characters/secret.md")).unwrap();
    folders
}

/// Arguments that no honest model sends.
fn hostile_arguments() -> Vec<(String, String)> {
    let refs = [
        "../../etc/passwd",
        "/etc/passwd",
        "manuscript/99-secret.md",
        "codex/outside/99-secret.md",
        "Secret",
        "99",
        "..\\..\\etc\\passwd",
        "\u{ff0e}\u{ff0e}/etc/passwd",
        "%2e%2e/etc/passwd",
        "file:///etc/passwd",
        "~/.ssh/id_rsa",
        "a\0b",
        "\u{202e}1",
        "-1",
        "99999999999999999999",
        "selection",
        "",
    ];
    let paths = refs.map(|r| {
        ("get_manuscript_context", json!({ "ref": r, "refs": null, "startParagraph": null }).to_string())
    });
    let names = refs.map(|n| ("get_character_context", json!({ "name": n }).to_string()));
    let long = "A".repeat(1_000_000);
    let broken = [
        "",
        "null",
        "[]",
        "\"x\"",
        "5",
        "{",
        "not json",
        "\0",
        "{\"name\":",
        "{\"name\":5}",
        "{\"name\":[\"a\"]}",
        "{\"name\":\"\\ud800\"}",
        "{\"name\":1e999}",
        "{\"entryType\":\"\u{421}haracter\"}",
    ];
    let deep = "[".repeat(100_000);
    let tools = [
        "get_character_context",
        "get_manuscript_context",
        "list_codex_entries",
        "search_codex",
        "propose_codex_update",
        "propose_codex_create",
    ];
    let mut all: Vec<(String, String)> =
        paths.into_iter().chain(names).map(|(t, a)| (t.to_owned(), a)).collect();
    for tool in tools {
        all.extend(broken.iter().map(|b| (tool.to_owned(), (*b).to_owned())));
        all.push((tool.to_owned(), deep.clone()));
    }
    all.push(("search_codex".into(), json!({ "query": long, "entryType": null }).to_string()));
    for name in ["", "no_such_tool", "g\u{435}t_character_context", "../x", "a b\u{1b}[31m"] {
        all.push((name.to_owned(), "{}".to_owned()));
    }
    let update = |name: &str, section: &str, words: &str| {
        json!({
            "entryType": "character", "name": name, "changeSummary": "x", "targetSection": section, "proposedMarkdown": words, "mode": null,
        })
    };
    for arguments in [
        update("../../etc/passwd", "Voice", "x"),
        update("secret", "Voice", "x"),
        update("Mira", "", "x"),
        update("Mira", "Voice", "a\0b"),
        update("Mira", "whole entry", "---\nrole: [\n---\n"),
    ] {
        all.push(("propose_codex_update".into(), arguments.to_string()));
    }
    all
}

#[cfg(unix)]
#[test]
fn a_model_that_calls_with_anything_gets_answers_that_it_can_act_on_and_the_turn_goes_on() {
    let folders = with_links();
    let before = texts(&folders);
    let calls = hostile_arguments();
    let sent = calls.clone();
    let server = Server::start(move |n, _| match n {
        0 => Reply::Calls(sent.clone()),
        _ => Reply::Say("After all that."),
    });
    let ran = folders.run_at(&server.base, &["ask", "Read it.", "--json"]).ok();
    let turn = ran.json();
    assert_eq!(turn["answer"], "After all that.");
    let rows = turn["tools"].as_array().unwrap();
    let outputs = server.received()[1].body["input"].as_array().unwrap().clone();
    assert_eq!((rows.len(), outputs.len()), (calls.len(), calls.len()));
    for ((call, row), output) in calls.iter().zip(rows).zip(&outputs) {
        let result: Value = serde_json::from_str(output["output"].as_str().unwrap()).unwrap();
        let shown = format!("{} {} {row} {result}", call.0, call.1.chars().take(80).collect::<String>());
        match row["status"].as_str().unwrap() {
            "failed" => {
                assert!(result["error"]["message"].as_str().is_some_and(|m| !m.is_empty()), "{shown}");
                assert!(row["error"].as_str().is_some_and(|m| !m.is_empty()), "{shown}");
            }
            "done" => assert_eq!(result["error"], Value::Null, "{shown}"),
            other => panic!("{other}: {shown}"),
        }
        assert!(row.to_string().len() < 3000 && !shown.contains("inside the program"), "{shown}");
    }
    assert!(!format!("{outputs:?}{}{}", ran.out, ran.err).contains(SECRET));
    assert!(!ran.out.chars().any(is_obeyed) && !ran.err.chars().any(is_obeyed));
    assert_eq!(texts(&folders), before);
}

#[cfg(unix)]
#[test]
fn a_tool_called_by_hand_with_anything_is_one_json_document_and_exit_code_0_or_1() {
    let folders = with_links();
    let before = texts(&folders);
    let fits_the_command_line = |a: &str| !a.contains('\0') && a.len() < 100_000;
    let mut seen = std::collections::BTreeSet::new();
    for (tool, arguments) in hostile_arguments().into_iter().filter(|(_, a)| fits_the_command_line(a)) {
        // One of a kind is enough here: each is a process of its own.
        if !seen.insert(if tool == "get_manuscript_context" { arguments.clone() } else { tool.clone() }) {
            continue;
        }
        let ran = folders.run(&["tools", "call", &tool, &arguments]);
        let result = ran.json();
        assert_eq!(ran.code, i32::from(!result["error"].is_null()), "{tool} {arguments}: {result}");
        assert!(!ran.out.contains(SECRET), "{tool} {arguments}: {result}");
    }
    assert_eq!(texts(&folders), before);
}

#[test]
fn nothing_that_a_terminal_obeys_comes_out_of_a_book_a_model_or_a_server() {
    let folders = Folders::new();
    folders.write("manuscript/02-evil.md", &format!("# Evil {ESCAPES}\n\nAn evilword {ESCAPES}.\n"));
    folders.write(
        "codex/characters/evil.md",
        &format!("---\nname: \"Evil\\e[31m One\"\nsummary: \"x\\e[2J\"\n---\n\nevilword {ESCAPES}\n"),
    );
    for arguments in [
        &["manuscript", "list"][..],
        &["manuscript", "show", "2", "--json"],
        &["manuscript", "search", "evilword"],
        &["manuscript", "show", "Zorro \u{1b}[31m"],
        &["codex", "list"],
        &["codex", "list", "--json"],
        &["codex", "show", ESCAPES],
        &["doctor"],
        &["tools", "call", "get_manuscript_context", r#"{"ref":"2"}"#],
        &["tools", "call", ESCAPES],
        &["prompt", "--chapter", "2", "--ask", ESCAPES],
        &["ask", "What happens in chapter 2?"],
        &["ask", "Who is Evil?", "--stream"],
        &["ask", "Who?", "--rounds", ESCAPES],
        &["codex", "list", "--type", ESCAPES],
        &["--project", ESCAPES, "doctor"],
    ] {
        let ran = ran(folders.command(arguments).env("CLICOLOR_FORCE", "1"));
        assert!(!ran.out.chars().any(is_obeyed), "{arguments:?}: {:?}", ran.out);
        assert!(!ran.err.chars().any(is_obeyed), "{arguments:?}: {:?}", ran.err);
    }
    let says = Server::start(|_, _| Reply::Say("Look: \u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\u{202e}."));
    let refuses =
        Server::start(|_, _| Reply::Refuse(400, json!({ "error": { "message": ESCAPES, "code": ESCAPES } })));
    for server in [says, refuses] {
        for form in [&["ask", "Q"][..], &["ask", "Q", "--json"], &["ask", "Q", "--stream"]] {
            let ran = folders.run_at(&server.base, form);
            assert!(!ran.out.chars().any(is_obeyed), "{form:?}: {:?}", ran.out);
            assert!(!ran.err.chars().any(is_obeyed), "{form:?}: {:?}", ran.err);
        }
    }
    assert_eq!(
        folders.run(&["manuscript", "show", "2"]).ok().out,
        folders.read("manuscript/02-evil.md"),
        "a file is its own bytes"
    );
}

#[test]
fn a_proposal_that_would_rewrite_a_character_under_the_heading_of_a_role_changes_one_line() {
    let folders = Folders::example();
    let path = "codex/characters/adrian-vale/dossier.md";
    let before = folders.read(path);
    let rewritten = before
        .replace("role: protagonist", "role: antagonist")
        .replace("status: alive", "status: dead")
        .replace("courteous", "cruel");
    let server = Server::start(move |n, _| match n {
        0 => Reply::Call(
            "propose_codex_update",
            json!({
                "entryType": "character", "name": "Adrian Vale", "changeSummary": "Adrian becomes the antagonist",
                "targetSection": "Role", "proposedMarkdown": rewritten, "mode": null,
            }),
        ),
        _ => Reply::Say("Proposed."),
    });
    let turn = folders.run_at(&server.base, &["ask", "Make Adrian the antagonist.", "--json"]).ok().json();
    let proposal = &turn["proposals"][0];
    assert!(proposal["warnings"][0].as_str().unwrap().contains("Only the role is changed"), "{proposal}");
    folders.run(&["proposals", "apply", proposal["id"].as_str().unwrap()]).ok();
    assert_eq!(folders.read(path), before.replacen("role: protagonist", "role: antagonist", 1));
}

#[test]
fn an_entry_whose_name_or_alias_is_taken_is_not_made_again() {
    let folders = Folders::new();
    for name in ["Mira Okafor", "mira", "MIRA  OKAFOR", "M\u{ed}ra"] {
        let arguments = json!({
            "entryType": "character", "name": name, "changeSummary": "New", "fields": [], "customFields": [],
            "markdownBody": "Text.", "soulMarkdown": null,
        });
        let ran = folders.run(&["tools", "call", "propose_codex_create", &arguments.to_string()]);
        assert_eq!(ran.code, 1, "{name}");
        assert!(ran.out.contains("codex/characters/mira.md"), "{name}: {}", ran.out);
    }
    assert_eq!(folders.run(&["proposals", "list", "--json"]).ok().json(), json!([]));
}

#[test]
fn a_change_of_the_author_elsewhere_in_the_file_is_merged_with_a_proposal() {
    let folders = Folders::new();
    let arguments = json!({
        "entryType": "character", "name": "Mira", "changeSummary": "Ally", "targetSection": "role", "proposedMarkdown": "ally", "mode": null,
    });
    folders.run(&["tools", "call", "propose_codex_update", &arguments.to_string()]).ok();
    let list = folders.run(&["proposals", "list", "--json"]).ok().json();
    let mine = book::MIRA.replace("Dry.", "Dry, and low.");
    folders.write("codex/characters/mira.md", &mine);
    folders.run(&["proposals", "apply", list[0]["id"].as_str().unwrap()]).ok();
    assert_eq!(folders.read("codex/characters/mira.md"), mine.replace("role: rival ", "role: ally "));
}

#[cfg(unix)]
#[test]
fn an_interrupted_answer_is_kept_and_the_conversation_goes_on() {
    let folders = Folders::new();
    let server =
        Server::start(
            |n, _| if n == 0 { Reply::Stall("Half an answer and ") } else { Reply::Say("Here I am.") },
        );
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_scritorio"))
        .args(["ask", "Are you there?", "--stream"])
        .env_clear()
        .envs(folders.environment())
        .env("OPENAI_API_KEY", KEY)
        .env("OPENAI_BASE_URL", &server.base)
        .current_dir(folders.book())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut next = || -> Option<Value> { Some(serde_json::from_str(&lines.next()?.unwrap()).unwrap()) };
    while next().unwrap()["event"] != "text" {}
    let interrupt =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let mut last = Value::Null;
    while let Some(line) = next() {
        last = line;
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!((&last["event"], &last["error"]["kind"]), (&json!("failed"), &json!("cancelled")));
    assert!(last["answer"].as_str().unwrap().starts_with("Half an answer"), "{last}");
    let session = last["session"].as_str().unwrap();
    let ran = folders.run_at(&server.base, &["ask", "And now?", "--session", session]).ok();
    assert_eq!(ran.out, "Here I am.\n");
    let input = server.received()[1].body["input"].to_string();
    assert!(input.contains("Are you there?") && input.contains("Half an answer"), "{input}");
}

#[test]
fn what_is_wrong_with_a_book_is_said_with_its_place_and_what_to_do() {
    for (settings, place) in [
        ("[book\ntitle=", "scritorio.toml:1:"),
        ("[book]\ntitle = 3\n", "scritorio.toml:2:9: `[book] title`"),
        ("[audience]\nlens = \"alien\"\n", "scritorio.toml:2:8: `[audience] lens`"),
    ] {
        let folders = Folders::new();
        folders.write("scritorio.toml", settings);
        let wrong = folders.run(&["manuscript", "list"]);
        assert_eq!((wrong.code, wrong.out.as_str()), (1, ""));
        assert!(wrong.err.contains(place) && wrong.err.contains("Correct it there"), "{}", wrong.err);
        let wrong = folders.run(&["manuscript", "list", "--json"]).json();
        assert!(wrong["error"]["message"].as_str().unwrap().contains(place), "{wrong}");
    }
    let folders = Folders::new();
    folders.write("scritorio.toml", "[bok]\ntitle = \"x\"\n");
    let report = folders.run(&["doctor", "--json"]).ok().json();
    assert_eq!(
        (&report["warnings"][0]["line"], &report["warnings"][0]["path"]),
        (&json!(1), &json!("scritorio.toml"))
    );
    assert!(report["warnings"][0]["message"].as_str().unwrap().contains("`book`"), "{report}");
    for (arguments, code, hint) in [
        (&["--project", "no-such-folder", "doctor"][..], 1, "--project DIR"),
        (&["--project", "scritorio.toml", "doctor"], 1, "--project DIR"),
        (&["frobnicate"], 2, "scritorio --help"),
        (&["codex", "show", "Zorro"], 1, "codex list"),
        (&["ask", "Who?", "--select", "manuscript/none.md:0-5"], 1, "manuscript list"),
    ] {
        let wrong = folders.run(arguments);
        assert_eq!((wrong.code, wrong.out.as_str()), (code, ""), "{arguments:?}: {}", wrong.err);
        assert!(wrong.err.contains(hint), "{arguments:?}: {}", wrong.err);
    }
}

#[test]
fn a_folder_without_chapters_or_without_anything_still_opens() {
    let folders = Folders::new();
    std::fs::remove_dir_all(folders.book().join("manuscript")).unwrap();
    assert_eq!(folders.run(&["manuscript", "list", "--json"]).ok().json(), json!([]));
    folders.run(&["ask", "What happens in chapter 1?"]).ok();
    let empty = tempfile::tempdir().unwrap();
    for verb in [&["manuscript", "list"][..], &["codex", "list"], &["proposals", "list"]] {
        let mut command = folders.command(&[verb, &["--json", "--project"]].concat());
        assert_eq!(ran(command.arg(empty.path())).ok().json(), json!([]));
    }
    assert_eq!(std::fs::read_dir(empty.path()).unwrap().count(), 0, "reading leaves no trace");
}

#[test]
fn a_turn_that_can_not_be_kept_is_answered_and_says_so() {
    let folders = Folders::new();
    folders.write(".scritorio", "A file where the program's folder would be.");
    let before = texts(&folders);
    let ran = folders.run(&["ask", "Change Mira's role to antagonist"]).ok();
    assert!(
        ran.out.contains("antagonist") && ran.err.contains("could not be kept"),
        "{}{}",
        ran.out,
        ran.err
    );
    let turn = folders.run(&["ask", "Change Mira's role to antagonist", "--json"]).ok().json();
    assert!(turn["not_kept"].as_str().unwrap().contains(".scritorio"), "{turn}");
    assert_eq!(texts(&folders), before);
    assert!(folders.read(".scritorio").starts_with("A file"));
}

#[test]
fn a_file_in_an_old_encoding_is_read_and_never_rewritten() {
    let folders = Folders::new();
    let (chapter, mira) =
        (folders.book().join("manuscript/02-cafe.md"), folders.book().join("codex/characters/mira.md"));
    std::fs::write(&chapter, b"# Caf\xe9\n\nTr\xe8s tard.\n").unwrap();
    std::fs::write(&mira, b"---\nname: Mira\nrole: h\xe9ros\n---\n").unwrap();
    assert_eq!(
        folders.run(&["manuscript", "show", "Caf\u{e9}"]).ok().out,
        "# Caf\u{e9}\n\nTr\u{e8}s tard.\n"
    );
    let before = texts(&folders);
    let turn = folders.run(&["ask", "Change Mira's role to antagonist", "--json"]).ok().json();
    let id = turn["proposals"][0]["id"].as_str().unwrap_or_else(|| panic!("{turn:#}"));
    let shown = folders.run(&["proposals", "show", id]).ok().out;
    assert!(shown.contains("not UTF-8"), "{shown}");
    let refused = folders.run(&["proposals", "apply", id]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("not UTF-8") && refused.err.contains("Convert"), "{}", refused.err);
    assert_eq!(texts(&folders), before);
}

#[test]
fn arguments_that_are_no_json_go_back_in_a_form_that_the_server_takes_with_what_is_wrong_with_them() {
    const GARBLED: &str = r#"{"name": Mira"#;
    // Servers that read the arguments would refuse these.
    for (provider, settings) in [
        ("openai", "[options]\nstore = false\n[providers.openai]\n"),
        ("my-box", "[providers.my-box]\nmodel = 'm'\n"),
    ] {
        let folders = Folders::new();
        let server = Server::start(|n, _| match n {
            0 => Reply::Calls(vec![("get_character_context".into(), GARBLED.into())]),
            _ => Reply::Say("I see."),
        });
        folders.write("../config/config.toml", &format!("{settings}base_url = '{}'\n", server.base));
        let question = ["ask", "Who is she?", "--provider", provider, "--json"];
        let turn = ran(folders.command(&question).env("OPENAI_API_KEY", KEY)).ok().json();
        assert_eq!((&turn["answer"], &turn["tools"][0]["status"]), (&json!("I see."), &json!("failed")));
        let body = &server.received()[1].body;
        let items = [&body["input"], &body["messages"]].into_iter().find_map(Value::as_array).unwrap();
        let function = |item: &Value| match &item["tool_calls"][0]["function"]["arguments"] {
            Value::Null => item["arguments"].as_str().map(str::to_owned),
            arguments => arguments.as_str().map(str::to_owned),
        };
        assert_eq!(items.iter().find_map(function).as_deref(), Some("{}"), "{provider}");
        assert!(items.last().unwrap().to_string().contains("they are not JSON"), "{provider}");
    }
}
