//! The program as scripts see it: exit codes, standard output, JSON, and what stays on the disk.
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

use book::{CHAPTER, Folders, KEY, MIRA, ran};
use scritorio::workbench::{Overrides, Surroundings, Workbench};
use serde_json::{Value, json};
use server::{Reply, Server};

const CANON_TOOLS: [&str; 12] = [
    "get_character_context",
    "get_location_context",
    "get_organization_context",
    "get_item_context",
    "get_concept_context",
    "get_event_context",
    "get_style_context",
    "list_codex_entries",
    "search_codex",
    "propose_codex_update",
    "propose_codex_create",
    "propose_character_update",
];

fn looks_up_mira() -> Reply {
    Reply::Call("get_character_context", json!({ "name": "Mira" }))
}

fn makes_mira_an_ally() -> Reply {
    Reply::Call(
        "propose_codex_update",
        json!({
            "entryType": "character", "name": "Mira", "changeSummary": "Mira is an ally from the start",
            "targetSection": "role", "proposedMarkdown": "ally", "mode": null,
        }),
    )
}

/// Proposes once for every question.
fn proposing_server() -> Server {
    Server::start(|n, _| if n % 2 == 0 { makes_mira_an_ally() } else { Reply::Say("I proposed it.") })
}

/// Asks, and returns the JSON of the turn with the id of the one proposal.
fn proposed(folders: &Folders, server: &Server, more: &[&str]) -> (Value, String) {
    let arguments = [&["ask", "Make Mira an ally.", "--json"], more].concat();
    let turn = folders.run_at(&server.base, &arguments).ok().json();
    let id = turn["proposals"][0]["id"].as_str().unwrap_or_else(|| panic!("{turn:#}")).to_owned();
    (turn, id)
}

// Reading

#[test]
fn verbs_that_read_leave_no_trace() {
    let folders = Folders::new();
    let before = folders.files();
    for arguments in [
        &["manuscript", "list"][..],
        &["manuscript", "show", "1"],
        &["manuscript", "search", "lamp"],
        &["codex", "list"],
        &["codex", "show", "Mira"],
        &["codex", "search", "signals"],
        &["codex", "mentions", "Mira"],
        &["tools", "list"],
        &["tools", "call", "list_codex_entries", r#"{"entryType":"character"}"#],
        &["proposals", "list"],
        &["prompt", "--ask", "Who?"],
        &["sessions", "list"],
        &["sessions", "search", "lamp"],
        &["keys", "status"],
        &["doctor"],
    ] {
        folders.run(arguments).ok();
        folders.run(&[arguments, &["--json"]].concat()).ok().json();
    }
    assert_eq!(folders.files(), before);
}

#[test]
fn a_chapter_is_printed_byte_for_byte() {
    let folders = Folders::new();
    assert_eq!(folders.run(&["manuscript", "show", "the lamp"]).ok().out, CHAPTER);
    let list = folders.run(&["manuscript", "list", "--json"]).ok().json();
    assert_eq!(list[0]["path"], "manuscript/01-the-lamp.md");
    assert_eq!(list[0]["number"], 1);
}

#[test]
fn mentions_say_where_they_stand() {
    let folders = Folders::new();
    let mentions = folders.run(&["codex", "mentions", "mira okafor", "--json"]).ok().json();
    let places: Vec<_> =
        mentions.as_array().unwrap().iter().map(|m| (m["line"].clone(), m["column"].clone())).collect();
    assert_eq!(places, [(json!(3), json!(1)), (json!(5), json!(17))]);
    let start = usize::try_from(mentions[1]["start"].as_u64().unwrap()).unwrap();
    let end = usize::try_from(mentions[1]["end"].as_u64().unwrap()).unwrap();
    assert_eq!(&CHAPTER[start..end], "Mira");
    let passage = folders.run(&["manuscript", "search", "noticed the lamp", "--json"]).ok().json();
    assert_eq!((&passage[0]["line"], &passage[0]["path"]), (&json!(3), &json!("manuscript/01-the-lamp.md")));
}

#[test]
fn a_chapter_that_is_not_there_is_an_error_with_the_nearest() {
    let folders = Folders::new();
    let ran = folders.run(&["manuscript", "show", "chapter 7", "--json"]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.json()["error"]["kind"], "work");
    assert!(ran.json()["error"]["hint"].as_str().unwrap().contains("The Lamp"), "{}", ran.out);
}

#[test]
fn wrong_usage_is_exit_code_2_in_words_and_in_json() {
    let folders = Folders::new();
    for arguments in [
        &["frobnicate", "x"][..],
        &["ask"],
        &["ask", " "],
        &["ask", "Who?", "--rounds", "13"],
        &["ask", "Who?", "--select", "manuscript/01-the-lamp.md:5"],
        &["ask", "Who?", "--select", "../x:0-1"],
        &["ask", "Who?", "--select-text", "no such words"],
        &["codex", "list", "--type", "spaceship"],
        &["keys", "set", "nobody"],
    ] {
        let ran = folders.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}: {}", ran.err);
        let ran = folders.run(&[arguments, &["--json"]].concat());
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert_eq!(ran.json()["error"]["kind"], "usage", "{arguments:?}");
    }
}

#[test]
fn without_a_book_it_says_what_to_do() {
    let folders = Folders::new();
    let elsewhere = tempfile::tempdir().unwrap();
    for arguments in [&[][..], &["ask", "Who?"]] {
        let refused = ran(folders.command(arguments).current_dir(elsewhere.path()));
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains("scritorio init") && refused.err.contains("demo"), "{}", refused.err);
    }
    let report = ran(folders.command(&["doctor", "--json"]).current_dir(elsewhere.path())).ok().json();
    assert_eq!((&report["book"], &report["keychain"][0]["source"]), (&Value::Null, &json!("none")));
    let ran = folders.run(&[]);
    assert!(ran.code == 2 && ran.err.contains("terminal"), "{}", ran.err);
}

#[test]
fn wrong_settings_are_named_with_their_place() {
    let folders = Folders::new();
    folders.write("../config/config.toml", "[options]\nstore = 3\n");
    let ran = folders.run(&["manuscript", "list"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("config.toml:2:9: `options.store` must be true or false"), "{}", ran.err);
    folders.write("../config/config.toml", "[optoins]\n");
    let report = folders.run(&["doctor", "--json"]).ok().json();
    assert_eq!(report["warnings"][0]["path"], "config.toml");
    assert_eq!(report["warnings"][0]["line"], 1);
}

#[test]
fn doctor_says_who_set_what() {
    let folders = Folders::new();
    folders.write("../config/config.toml", "[provider]\nmodel = 'from-user'\nrounds = 6\n");
    folders.write("scritorio.toml", "[provider]\nname = 'openai'\nmodel = 'from-book'\n");
    let mut command = folders.command(&["doctor", "--json"]);
    let report = ran(command.env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")).ok().json();
    assert_eq!(report["settings"]["model"], json!({ "value": "from-book", "from": "book" }));
    assert_eq!(report["settings"]["rounds"], json!({ "value": 6, "from": "user" }));
    assert_eq!(report["settings"]["base_url"]["from"], "environment");
    assert_eq!(report["providers"][0]["reachable"], false);
    assert_eq!(report["counts"]["character"], 1);
    assert_eq!(report["counts"]["chapters"], 1);
    assert_eq!(report["keychain"][0]["source"], "none");
    let mut command = folders.command(&["doctor", "--json"]);
    let report = ran(command.env("SCRITORIO_PROVIDER", "offline").env("OPENAI_API_KEY", KEY)).ok();
    assert_eq!(report.json()["settings"]["provider"], json!({ "value": "offline", "from": "environment" }));
    assert_eq!(report.json()["keychain"][0]["source"], "environment");
    assert!(!report.out.contains(KEY));
}

// Books

#[test]
fn a_new_book_can_be_asked_about_at_once() {
    let folders = Folders::new();
    let made = folders.run(&["init", "../next", "--json"]).ok().json();
    assert_eq!(made["made"][0], "scritorio.toml");
    folders.run(&["--project", "../next", "ask", "What is there?"]).ok();
    assert_eq!(folders.run(&["init", "../next"]).code, 1, "a book is never made twice");
}

#[test]
fn the_example_is_copied_once_and_again_only_when_asked() {
    let folders = Folders::new();
    let first = folders.run(&["demo"]).ok().out;
    assert_eq!(folders.run(&["demo"]).ok().out, first);
    let fresh = folders.run(&["demo", "--fresh", "--json"]).ok().json();
    assert!(fresh["folder"].as_str().unwrap().ends_with("the-long-silence-2"));
    let list = folders.run(&["--project", first.trim(), "manuscript", "list", "--json"]).ok().json();
    assert_eq!(list.as_array().unwrap().len(), 10);
}

// Asking

#[test]
fn the_offline_reader_answers_without_a_key_and_the_answer_alone_is_on_standard_output() {
    let folders = Folders::example();
    let ran = folders.run(&["ask", "Who is Mira Okafor?"]).ok();
    assert!(ran.out.contains("Mira Okafor") && !ran.out.contains("round 1"), "{}", ran.out);
    assert!(!ran.out.contains("[[locate:"), "{}", ran.out);
    assert!(ran.err.contains("round 1 of 4") && ran.err.contains("get_character_context"), "{}", ran.err);
}

#[test]
fn the_json_of_a_turn_keeps_its_contract() {
    let folders = Folders::new();
    let server = Server::start(|n, _| match n {
        0 => looks_up_mira(),
        _ => Reply::Say(
            "She saw it: \u{201c}Mira Okafor noticed the lamp.\u{201d} [[locate:Mira Okafor noticed the lamp.]] Done.",
        ),
    });
    let turn = folders
        .run_at(&server.base, &["ask", "What did Mira see?", "--json", "--model", "gpt-x"])
        .ok()
        .json();
    assert_eq!(turn["answer"], "She saw it: \u{201c}Mira Okafor noticed the lamp.\u{201d} Done.");
    assert_eq!((&turn["provider"], &turn["model"]), (&json!("openai"), &json!("gpt-x")));
    assert_eq!((&turn["persona"], &turn["rounds"]), (&json!("developmental-editor"), &json!(1)));
    assert_eq!(
        turn["usage"],
        json!({ "input_tokens": 200, "output_tokens": 20, "cost": 0.0 }),
        "a server on this machine"
    );
    assert_eq!(turn["error"], Value::Null);
    let tool = &turn["tools"][0];
    assert_eq!((&tool["name"], &tool["status"]), (&json!("get_character_context"), &json!("done")));
    assert_eq!(tool["resolved"], json!(["codex/characters/mira.md"]));
    let quote = &turn["quotes"][0];
    assert_eq!((&quote["marked"], &quote["source"]), (&json!(true), &json!("manuscript")));
    let (start, end) = (quote["start"].as_u64().unwrap(), quote["end"].as_u64().unwrap());
    let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
    assert_eq!(CHAPTER[range].trim_end_matches('.'), "Mira Okafor noticed the lamp");
}

#[test]
fn a_stream_is_one_json_object_a_line_and_ends_with_all_of_it() {
    let folders = Folders::new();
    let server = Server::start(|n, _| match n {
        0 => looks_up_mira(),
        _ => Reply::Say("\u{201c}Nobody answered Mira.\u{201d} [[locate:Nobody answered Mira.]] Nobody did."),
    });
    let ran = folders.run_at(&server.base, &["ask", "Who answered?", "--stream"]).ok();
    let lines: Vec<Value> = ran.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let of = |event: &str| lines.iter().filter(|l| l["event"] == event).collect::<Vec<_>>();
    assert_eq!(of("round").len(), 2);
    assert_eq!(of("tool").last().unwrap()["status"], "done");
    let words: String = of("text").iter().map(|l| l["text"].as_str().unwrap()).collect();
    assert_eq!(words, "\u{201c}Nobody answered Mira.\u{201d} Nobody did.");
    assert_eq!(lines.last().unwrap()["event"], "done");
    assert_eq!(lines.last().unwrap()["answer"], words);
}

#[test]
fn a_conversation_goes_on_from_the_servers_own_memory() {
    let folders = Folders::new();
    let server = Server::start(|_, _| Reply::Say("Noted."));
    let first = folders.run_at(&server.base, &["ask", "Remember the lamp.", "--json"]).ok().json();
    let session = first["session"].as_str().unwrap();
    folders.run_at(&server.base, &["ask", "And now?", "--session", session]).ok();
    let requests = server.received();
    assert_eq!(requests[0].body["previous_response_id"], Value::Null);
    assert_eq!(requests[1].body["previous_response_id"], "resp_0");
    let input = requests[1].body["input"].to_string();
    assert!(input.contains("And now?") && !input.contains("Remember the lamp"), "{input}");
    assert_eq!(folders.run_at(&server.base, &["ask", "Who?", "--session", "s-none"]).code, 1);
}

#[test]
fn another_provider_gets_the_words_and_not_the_first_ones_memory() {
    let folders = Folders::new();
    let server = Server::start(|_, _| Reply::Say("Noted."));
    let first = folders.run_at(&server.base, &["ask", "Remember the lamp.", "--json"]).ok().json();
    let session = first["session"].as_str().unwrap();
    let other = Server::start(|_, _| Reply::Say("Yes."));
    folders.run_at(&other.base, &["ask", "And now?", "--session", session]).ok();
    let body = &other.received()[0].body;
    assert_eq!(body["previous_response_id"], Value::Null);
    assert!(body["input"].to_string().contains("Remember the lamp"), "{body}");
}

#[test]
fn a_selection_is_captured_and_not_sent() {
    let folders = Folders::new();
    let start = CHAPTER.find("\u{201c}It is out").unwrap();
    let range = format!("manuscript/01-the-lamp.md:{start}-{}", start + "\u{201c}It is out,\u{201d}".len());
    for selection in [["--select", range.as_str()], ["--select-text", "\u{201c}It is out,\u{201d}"]] {
        let prompt =
            [&["prompt", "--ask", "Is this good?", "--format", "responses"], &selection[..]].concat();
        let body = folders.run(&prompt).ok().json();
        assert!(!body.to_string().contains("It is out"), "{body}");
        assert!(body["input"].as_str().unwrap().contains("Words in the selection: 3"), "{body}");
    }
    let server = Server::start(|n, _| match n {
        0 => Reply::Call(
            "get_manuscript_context",
            json!({ "ref": "selection", "refs": null, "startParagraph": null }),
        ),
        _ => Reply::Say("Yes."),
    });
    folders.run_at(&server.base, &["ask", "Is this good?", "--select", &range]).ok();
    assert!(server.received()[1].body["input"].to_string().contains("It is out"), "a tool returns it");
    let torn = format!("manuscript/01-the-lamp.md:{}-{}", start + 1, start + 9);
    assert_eq!(folders.run(&["ask", "Who?", "--select", &torn]).code, 2, "inside a character");
}

#[test]
fn what_is_shown_is_what_is_sent() {
    let folders = Folders::new();
    let server = Server::start(|_, _| Reply::Say("Yes."));
    let question = ["--chapter", "1", "--persona", "continuity-editor", "--effort", "low", "--tier", "flex"];
    let shown = [&["prompt", "--ask", "Is it right?", "--format", "responses"], &question[..]].concat();
    let shown = folders.run_at(&server.base, &shown).ok().json();
    folders.run_at(&server.base, &[&["ask", "Is it right?"], &question[..]].concat()).ok();
    assert_eq!(shown, server.received()[0].body);
    assert_eq!(shown["service_tier"], "flex");
    let chat = folders.run(&["prompt", "--ask", "Is it right?", "--format", "chat"]).ok().json();
    assert_eq!(chat["messages"][0]["role"], "system");
    assert_eq!(chat["tools"].as_array().unwrap().len(), 21);
    assert_eq!(chat["tools"][0]["function"]["strict"], true);
    let text = folders.run(&["prompt", "--ask", "Is it right?"]).ok().out;
    for words in ["== Instructions (", "== Context (", "== Input (", "== Tools (21", "Nothing is sent"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

// Proposals

#[test]
fn a_proposal_is_applied_undone_and_applied_again_byte_for_byte() {
    let folders = Folders::new();
    let server = proposing_server();
    let (turn, id) = proposed(&folders, &server, &[]);
    assert_eq!(turn["proposals"][0]["status"], "pending");
    assert_eq!(turn["proposals"][0]["path"], "codex/characters/mira.md");
    assert_eq!(folders.read("codex/characters/mira.md"), MIRA, "a proposal never writes");

    let shown = folders.run(&["proposals", "show", &id, "--json"]).ok().json();
    assert_eq!(shown["files"][0]["current"], MIRA);
    let diff = folders.run(&["proposals", "diff", &id]).ok().out;
    assert!(diff.contains("-role: rival") && diff.contains("+role: ally"), "{diff}");

    let applied = folders.run(&["proposals", "apply", &id, "--json"]).ok().json();
    assert_eq!((&applied["id"], &applied["status"]), (&json!(id), &json!("applied")));
    let after = MIRA.replace("role: rival ", "role: ally ");
    assert_eq!(folders.read("codex/characters/mira.md"), after);
    assert_eq!(folders.run(&["proposals", "apply", &id]).code, 1, "it is applied already");

    folders.run(&["proposals", "undo", &id]).ok();
    assert_eq!(folders.read("codex/characters/mira.md"), MIRA);
    folders.run(&["proposals", "redo", &id]).ok();
    assert_eq!(folders.read("codex/characters/mira.md"), after);
    let list = folders.run(&["proposals", "list", "--json"]).ok().json();
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!(list[0]["status"], "applied");
}

#[test]
fn a_later_change_of_the_author_is_never_taken_back() {
    let folders = Folders::new();
    let (_, id) = proposed(&folders, &proposing_server(), &[]);
    folders.run(&["proposals", "apply", &id]).ok();
    let mine = folders.read("codex/characters/mira.md") + "\r\nMine.";
    folders.write("codex/characters/mira.md", &mine);
    folders.run(&["proposals", "undo", "last"]).ok();
    assert_eq!(folders.read("codex/characters/mira.md"), MIRA.to_owned() + "\r\nMine.");
    folders.run(&["proposals", "redo", "last"]).ok();
    let mine = mine.replace("role: ally", "role: captain");
    folders.write("codex/characters/mira.md", &mine);
    let ran = folders.run(&["proposals", "undo", &id, "--json"]);
    assert_eq!(ran.code, 1);
    let error = &ran.json()["error"];
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("the same words of codex/characters/mira.md, line 2, were changed by hand"),
        "{message}"
    );
    assert!(error["hint"].as_str().unwrap().contains("then try again"));
    assert_eq!(folders.read("codex/characters/mira.md"), mine);
}

#[test]
fn a_proposal_for_a_text_that_is_another_by_now_shows_both_sides_and_is_settled_by_an_option() {
    let folders = Folders::new();
    let server = proposing_server();
    let (_, id) = proposed(&folders, &server, &[]);
    let mine = MIRA.replace("role: rival", "role: captain") + "\r\nMine.";
    folders.write("codex/characters/mira.md", &mine);
    let list = folders.run(&["proposals", "list", "--json"]).ok().json();
    assert_eq!(list[0]["status"], "stale");

    let refused = folders.run(&["proposals", "apply", &id]);
    assert_eq!(refused.code, 1);
    for words in ["line 2", "yours is \"captain\", proposed is \"ally\"", "--mine", "--theirs", &id] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
    assert_eq!(folders.read("codex/characters/mira.md"), mine);

    let shown = folders.run(&["proposals", "show", &id]).ok().out;
    for words in ["was:      rival", "yours:    captain", "proposed: ally", "--mine"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let shown = folders.run(&["proposals", "show", &id, "--json"]).ok().json();
    assert_eq!(
        shown["files"][0]["conflicts"],
        json!([{ "line": 2, "base": "rival", "mine": "captain", "theirs": "ally" }])
    );
    assert_eq!(
        (&shown["files"][0]["outcome"], &shown["files"][0]["merged"]),
        (&json!("conflict"), &Value::Null)
    );

    let kept = folders.run(&["proposals", "apply", &id, "--mine"]);
    assert_eq!(kept.code, 1, "nothing of the proposal is left");
    let list = folders.run(&["proposals", "list", "--json"]).ok().json();
    assert_eq!(list[0]["edited"], false, "and it is as it was");
    let applied = folders.run(&["proposals", "apply", &id, "--theirs", "--json"]).ok().json();
    assert_eq!((&applied["status"], &applied["edited"]), (&json!("applied"), &json!(true)));
    assert_eq!(folders.read("codex/characters/mira.md"), mine.replace("captain", "ally"));
    folders.run(&["proposals", "undo", &id]).ok();
    assert_eq!(folders.read("codex/characters/mira.md"), mine);
}

#[test]
fn a_proposal_is_named_by_the_beginning_of_its_id_or_as_the_last_one() {
    let folders = Folders::new();
    let server = proposing_server();
    let (_, first) = proposed(&folders, &server, &[]);
    let (_, second) = proposed(&folders, &server, &[]);
    let shown = |name: &str| folders.run(&["proposals", "show", name, "--json"]).ok().json()["id"].clone();
    assert_eq!(shown("last"), second);
    assert_eq!(shown(&first[2..].to_lowercase()), first);
    assert_eq!(shown(&first[..first.len() - 4]), first);
    let common = folders.run(&["proposals", "show", "p-0"]);
    assert_eq!(common.code, 2);
    assert!(common.err.contains(&first) && common.err.contains(&second), "{}", common.err);
    assert_eq!(folders.run(&["proposals", "undo", "last"]).code, 1, "none was applied");
    folders.run(&["proposals", "apply", &first]).ok();
    folders.run(&["proposals", "undo", "last"]).ok();
    assert_eq!(folders.read("codex/characters/mira.md"), MIRA);
    let list = folders.run(&["proposals", "list", "--json"]).ok().json();
    assert_eq!((&list[0]["status"], &list[1]["status"]), (&json!("undone"), &json!("pending")));
}

#[test]
fn chosen_changes_alone_are_written_by_their_numbers() {
    let folders = Folders::new();
    let change = json!({
        "entryType": "character", "name": "Ilse Brandt", "changeSummary": "The lamp keeper",
        "fields": [{ "name": "role", "value": "ally" }], "customFields": [],
        "markdownBody": "She keeps the lamp.\n", "soulMarkdown": "She fears the dark.\n",
    });
    folders.run(&["tools", "call", "propose_codex_create", &change.to_string()]).ok();
    let shown = folders.run(&["proposals", "show", "last", "--json"]).ok().json();
    let files = shown["files"].as_array().unwrap();
    assert_eq!((&files[0]["hunks"][0]["number"], &files[1]["hunks"][0]["number"]), (&json!(1), &json!(2)));
    let beyond = folders.run(&["proposals", "apply", "last", "--hunks", "1,3"]);
    assert_eq!(beyond.code, 2, "{}", beyond.err);
    assert_eq!(folders.run(&["proposals", "apply", "last", "--hunks", "1", "--mine"]).code, 2);
    folders.run(&["proposals", "apply", "last", "--hunks", "2"]).ok();
    assert!(!folders.book().join(files[0]["path"].as_str().unwrap()).exists());
    let soul = files[1]["path"].as_str().unwrap();
    assert!(folders.read(soul).contains("She fears the dark."));
    folders.run(&["proposals", "undo", "last"]).ok();
    assert!(!folders.book().join(soul).parent().unwrap().exists());
}

#[test]
fn the_reason_of_a_refusal_is_told_once_with_the_next_turn() {
    let folders = Folders::new();
    let server = proposing_server();
    let (turn, id) = proposed(&folders, &server, &[]);
    let session = turn["session"].as_str().unwrap();
    folders.run(&["proposals", "reject", &id, "--why", "She turns in chapter four."]).ok();
    for question in ["Then what?", "And then?"] {
        folders.run_at(&server.base, &["ask", question, "--session", session]).ok();
    }
    let told =
        |n: usize| server.received()[n].body["input"].to_string().contains("She turns in chapter four.");
    assert!(!told(0) && told(2), "told with the next turn");
    assert!(!told(4), "and with that one alone");
    let list = folders.run(&["proposals", "list", "--json"]).ok().json();
    assert_eq!(
        (&list[0]["status"], &list[0]["why"]),
        (&json!("rejected"), &json!("She turns in chapter four."))
    );
}

#[test]
fn a_tool_called_by_hand_gives_the_models_result_and_queues_its_proposal() {
    let folders = Folders::new();
    let Reply::Call(name, arguments) = makes_mira_an_ally() else { unreachable!() };
    folders.run(&["tools", "call", name, &arguments.to_string()]).ok().json();
    let list = folders.run(&["proposals", "list", "--json"]).ok().json();
    assert_eq!(list[0]["tool"], name);
    let bad = folders.run(&["tools", "call", "search_codex", r#"{"words": "lamp"}"#]);
    assert_eq!(bad.code, 1);
    assert!(bad.json()["error"]["message"].as_str().unwrap().contains("query"));
}

// The verification path

#[test]
fn the_smoke_test_requires_a_canon_call_and_prints_the_answer_alone() {
    let folders = Folders::new();
    let server =
        Server::start(|n, _| if n == 0 { looks_up_mira() } else { Reply::Say("A signals officer.") });
    let arguments =
        ["ai", "tool-smoke", "--project", ".", "--persona", "continuity-editor", "--ask", "Who is Mira?"];
    let ran = folders.run_at(&server.base, &arguments).ok();
    assert_eq!(ran.out, "A signals officer.\n");
    assert!(ran.err.contains("get_character_context: codex/characters/mira.md"), "{}", ran.err);

    let requests = server.received();
    assert_eq!(requests.len(), 2);
    let first = &requests[0].body;
    assert_eq!(first["tool_choice"], "required");
    assert_eq!(first["parallel_tool_calls"], false);
    let tools: Vec<_> =
        first["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(tools, CANON_TOOLS);
    assert!(requests[0].head.to_lowercase().contains(&format!("authorization: bearer {KEY}").to_lowercase()));
    let second = &requests[1].body;
    assert_eq!(second["tool_choice"], "auto");
    assert_eq!(second["previous_response_id"], "resp_0");
    assert_eq!(second["instructions"], first["instructions"]);
    assert_eq!(second["input"].as_array().unwrap().len(), 1);
    assert_eq!(second["input"][0]["type"], "function_call_output");
    assert_eq!(second["input"][0]["call_id"], "call_0");
    assert!(second["input"][0]["output"].as_str().unwrap().contains("The signals officer."));
}

#[test]
fn the_smoke_test_fails_with_5_when_no_tool_is_called() {
    let folders = Folders::new();
    let server = Server::start(|_, _| Reply::Say("I just know."));
    let ran = folders.run_at(&server.base, &["ai", "tool-smoke", "--ask", "Who is Mira?"]);
    assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{}", ran.err);
    let ran = folders.run_at(&server.base, &["ai", "tool-smoke", "--ask", "Who is Mira?", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["kind"]), (5, &json!("no_tool_call")));
}

#[test]
fn the_smoke_test_fails_with_4_when_the_calls_never_stop() {
    let folders = Folders::new();
    let server = Server::start(|_, _| looks_up_mira());
    let ran = folders.run_at(&server.base, &["ai", "tool-smoke", "--ask", "Who is Mira?"]);
    assert_eq!((ran.code, ran.out.as_str()), (4, ""), "{}", ran.err);
    assert_eq!(server.received().len(), 5, "four rounds, and the request that should have ended it");
}

#[test]
fn a_search_that_finds_nothing_says_so_and_a_sentence_ends_once() {
    let folders = Folders::new();
    for of in ["codex", "manuscript"] {
        let ran = folders.run(&[of, "search", "xyzzyharmonium"]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.trim()), (0, "", "Nothing was found."));
    }
    let ran = folders.run(&["tools", "call", "search_manuscript", "{\"qurey\": \"lamp\"}"]);
    assert_eq!(ran.code, 1);
    assert!(!ran.err.contains("?.") && !ran.err.contains(".."), "{}", ran.err);
}

#[test]
fn a_missing_key_is_3_and_says_how_to_set_one() {
    let folders = Folders::new();
    for arguments in [&["ai", "tool-smoke", "--ask", "Who?"][..], &["ask", "Who?", "--provider", "openai"]] {
        let ran = folders.run(arguments);
        assert_eq!(ran.code, 3);
        assert!(
            ran.err.contains("environment variable OPENAI_API_KEY") && !ran.err.contains("keys set"),
            "{}",
            ran.err
        );
        assert_eq!(folders.run(&[arguments, &["--json"]].concat()).json()["error"]["kind"], "provider");
    }
    assert!(!folders.book().join(".scritorio").exists(), "nothing has begun");
}

#[test]
fn the_smoke_test_runs_with_the_offline_reader_too() {
    let folders = Folders::example();
    let arguments = ["ai", "tool-smoke", "--provider", "offline", "--ask", "Who is Mira Okafor?"];
    let ran = folders.run(&arguments).ok();
    assert!(ran.out.contains("Mira Okafor"), "{}", ran.out);
    assert!(!ran.err.contains("get_manuscript_context"), "{}", ran.err);
}

#[test]
fn a_refused_key_is_3_and_is_written_nowhere() {
    let folders = Folders::new();
    let server = Server::start(|_, _| {
        let message = format!("Incorrect API key provided: {KEY}.");
        Reply::Refuse(401, json!({ "error": { "message": message, "code": "invalid_api_key" } }))
    });
    let ran = folders.run_at(&server.base, &["ask", "Who?", "--json", "--debug"]);
    assert_eq!((ran.code, &ran.json()["error"]["kind"]), (3, &json!("provider")));
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{}{}", ran.out, ran.err);
    for (path, bytes) in folders.files() {
        assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "{}", path.display());
    }
    let kept = folders.files().into_keys().any(|path| path.to_string_lossy().contains("sessions"));
    assert!(kept, "the question is kept");
}

#[cfg(unix)]
#[test]
fn an_interrupt_or_a_request_to_end_ends_the_turn_with_130_and_keeps_what_arrived() {
    for signal in ["-INT", "-TERM"] {
        let folders = Folders::new();
        let server = Server::start(|_, _| Reply::Stall("Half a thought"));
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
        let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
        while next()["text"] != "thought" {}
        let sent =
            std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let told = next();
        assert_eq!((&told["event"], &told["estimated"]), (&json!("usage"), &json!(true)));
        assert_eq!(told["cost"], 0.0, "free on this machine");
        let last = next();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!((&last["error"]["kind"], &last["cut_off"]), (&json!("cancelled"), &json!(true)));
        assert_eq!(last["answer"], "Half a thought");
        let session =
            folders.read(&format!(".scritorio/sessions/{}.jsonl", last["session"].as_str().unwrap()));
        assert!(session.contains("Are you there?") && session.contains("\"cancelled\""), "{session}");
        let ledger: String = folders
            .files()
            .iter()
            .filter(|(path, _)| path.to_string_lossy().contains("provenance"))
            .map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
            .collect();
        assert!(ledger.contains("\"status\":\"cancelled\""), "{signal}: {ledger}");
    }
}

// Keys and provenance

#[test]
fn a_key_is_read_from_standard_input_and_without_a_keychain_the_variable_is_named() {
    let folders = Folders::new();
    let ran = ran(folders.command(&["keys", "set", "openai"]).write_stdin(format!("{KEY}\n")));
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("OPENAI_API_KEY") && !ran.err.contains(KEY), "{}", ran.err);
    let status = folders.run(&["keys", "status", "--json"]).ok().json();
    assert_eq!((&status[0]["provider"], &status[0]["source"]), (&json!("openai"), &json!("none")));
}

#[cfg(target_os = "linux")]
#[test]
fn a_machine_without_a_keychain_explains_itself() {
    let folders = Folders::new();
    let mut command = folders.command(&["keys", "set", "openai"]);
    command.env_remove("SCRITORIO_KEYCHAIN").env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    let ran = ran(command.write_stdin(KEY));
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("no keychain") && ran.err.contains("OPENAI_API_KEY"), "{}", ran.err);
    assert!(!ran.err.contains(KEY));
}

#[test]
fn the_provenance_tells_turns_and_fates_without_a_word_of_prose() {
    let folders = Folders::new();
    let (turn, id) = proposed(&folders, &proposing_server(), &[]);
    folders.run(&["proposals", "apply", &id]).ok();
    folders.run(&["proposals", "undo", &id]).ok();
    let ledger = folders.files().into_iter().find(|(path, _)| path.to_string_lossy().contains("provenance/"));
    let text = String::from_utf8(ledger.unwrap().1).unwrap();
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["kind"], &lines[0]["session"]), (&json!("turn"), &turn["session"]));
    assert_eq!(lines[0]["response_id"], "resp_1");
    assert_eq!((&lines[1]["fate"], &lines[2]["fate"]), (&json!("applied"), &json!("undone")));
    assert_eq!(lines[1]["files"][0]["after"], lines[2]["files"][0]["before"]);
    for prose in ["signals officer", "Make Mira", "I proposed it", "ally"] {
        assert!(!text.contains(prose), "{prose}: {text}");
    }
    let report = folders.run(&["doctor", "--json"]).ok().json();
    let verdicts: Vec<_> = report["provenance"].as_object().unwrap().values().collect();
    assert_eq!(verdicts, [&json!({ "verdict": "anchored", "lines": 3 })]);
}

#[test]
fn provenance_is_checked_and_told_and_a_changed_line_ends_with_1() {
    let folders = Folders::new();
    assert!(folders.run(&["provenance", "verify"]).ok().out.contains("Nothing is recorded yet"));
    let (_, id) = proposed(&folders, &proposing_server(), &[]);
    folders.run(&["proposals", "apply", &id]).ok();
    let chains = folders.run(&["provenance", "verify", "--json"]).ok().json();
    assert_eq!((&chains[0]["verdict"], &chains[0]["lines"]), (&json!("anchored"), &json!(2)));
    assert_eq!(chains[0]["words"], "intact and anchored");

    let report = folders.run(&["provenance", "report", "--json"]).ok().json();
    assert_eq!((&report["turns"]["asked"], &report["proposals"]["accepted"]), (&json!(1), &json!(1)));
    assert_eq!(report["personas_can_write"], false);
    assert_eq!(report["sent"]["requests"], folders.read(&ledger_of(&folders)).lines().count() / 2);
    assert!(report["written"]["files"][0]["still_there"].as_u64().unwrap() > 0, "{report}");
    let file = folders.root().join("report.txt");
    folders.run(&["provenance", "report", "-o", file.to_str().unwrap()]).ok();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("intact and anchored") && text.contains("does not prove"), "{text}");
    for prose in ["signals officer", "Make Mira", "I proposed it", KEY, "\u{2014}"] {
        assert!(!text.contains(prose) && !report.to_string().contains(prose), "{prose}: {text}");
    }
    let chapter = "manuscript/01-the-lamp.md";
    let refused = folders.run(&["provenance", "report", "-o", chapter]);
    assert_eq!((refused.code, folders.read(chapter)), (1, CHAPTER.to_owned()), "it is the author's");
    assert!(refused.err.contains("is there already") && refused.err.contains("--force"), "{}", refused.err);
    let json_file = folders.root().join("report.json");
    folders.run(&["provenance", "report", "-o", json_file.to_str().unwrap()]).ok();
    let written: Value = serde_json::from_slice(&std::fs::read(&json_file).unwrap()).unwrap();
    assert_eq!(written["turns"], report["turns"]);
    std::fs::write(&file, "old").unwrap();
    folders.run(&["provenance", "report", "-o", file.to_str().unwrap(), "--force"]).ok();
    assert!(std::fs::read_to_string(&file).unwrap().contains("intact and anchored"));
    let bad = folders.run(&["provenance", "report", "-o", "/nowhere/at/all.txt"]);
    assert_eq!(bad.code, 1);
    assert!(bad.err.contains("/nowhere/at/all.txt"), "{}", bad.err);

    let path = folders.files().into_keys().find(|p| p.to_string_lossy().contains("provenance/")).unwrap();
    let whole = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, whole.replacen("\"applied\"", "\"rejected\"", 1)).unwrap();
    let broken = folders.run(&["provenance", "verify", "--json"]);
    assert_eq!((broken.code, &broken.json()[0]["verdict"]), (1, &json!("broken")));
    let broken = folders.run(&["provenance", "verify"]);
    assert!(broken.code == 1 && broken.err.contains("broken at line 2"), "{}", broken.err);
}

/// The one file of the ledger of what left, within the book.
fn ledger_of(folders: &Folders) -> String {
    let path = folders.files().into_keys().find(|path| path.to_string_lossy().contains(".scritorio/ledger/"));
    path.unwrap().strip_prefix(folders.book()).unwrap().to_str().unwrap().to_owned()
}

#[test]
fn what_ai_never_reads_is_marked_in_the_authors_own_lists_and_counted() {
    let folders = Folders::new();
    folders.write("notes/n.md", "---\nai: never\n---\nPrivate.\n");
    folders.write("manuscript/02.md", "---\nai: never\n---\nPrivate.\n");
    let rows = folders.run(&["manuscript", "list", "--json"]).ok().json();
    assert_eq!((rows[0].get("ai"), &rows[1]["ai"]), (None, &json!("never")));
    // Besides the one that every test has.
    assert_eq!(folders.run(&["doctor", "--json"]).ok().json()["counts"]["ai_never"], 3);
}

#[test]
fn a_pipe_that_is_closed_early_is_no_error() {
    let folders = Folders::example();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_scritorio"))
        .args(["manuscript", "show", "1"])
        .env_clear()
        .envs(folders.environment())
        .current_dir(folders.book())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_timeline_is_one_object_with_the_names_that_other_verbs_use() {
    let folders = Folders::example();
    let timeline = folders.run(&["timeline", "--json"]).ok().json();
    let rows = timeline["rows"].as_array().unwrap();
    let turnover = rows.iter().find(|row| row["kind"] == "event" && row["title"] == "Turnover").unwrap();
    assert_eq!((&turnover["date"], &turnover["chapter"]), (&json!("2318-09-04"), &json!(5)));
    assert_eq!(
        (&turnover["path"], &turnover["placed"]),
        (&json!("codex/events/turnover.md"), &json!("date"))
    );
    let place = |title: &str| rows.iter().position(|row| row["title"] == title && row["kind"] == "chapter");
    assert!(place("The Inquiry") < place("Ship's Log, Outbound"), "a flashback stands where it happened");
    let dead = &timeline["conflicts"][0];
    assert_eq!(
        (&dead["rule"], &dead["verdict"], &dead["line"]),
        (&json!("presence"), &json!("found"), &json!(69))
    );
    assert!(timeline["rules"].as_array().unwrap().iter().any(|rule| rule["verdict"] == "not_evaluated"));
}

#[test]
fn a_tool_can_be_called_as_of_a_chapter_and_as_a_member_that_reads_blind() {
    let folders = Folders::example();
    let call = |more: &[&str]| {
        let mut all = vec!["tools", "call", "get_character_context", r#"{"name": "Mira Okafor"}"#];
        all.extend(more);
        folders.run(&all).ok().json()
    };
    assert_eq!(call(&[]).get("asOf"), None);
    let there = call(&["--chapter", "6"]);
    assert_eq!(there["asOf"]["facts"]["knows"], "that Lantern is alive");
    let blind = call(&["--chapter", "3", "--persona", "first-time-reader"]);
    assert_eq!(blind["asOf"]["facts"]["knows"], "that something is hidden in the Captain's tea caddy");
    let told = blind.to_string();
    assert!(!told.contains("alive") && !told.contains("soul") && blind["excerpt"] == "", "{told}");
    let first = call(&["--persona", "first-time-reader"]);
    assert!(first["summary"].as_str().unwrap().starts_with("Named first in chapter 1: "), "{first}");
}

// Conversations

/// Asks the offline reader, and returns the conversation.
fn asked(folders: &Folders, question: &str, more: &[&str]) -> String {
    let arguments = [&["ask", question, "--provider", "offline", "--json"], more].concat();
    folders.run(&arguments).ok().json()["session"].as_str().unwrap().to_owned()
}

#[test]
fn conversations_are_listed_named_and_found() {
    let folders = Folders::new();
    assert_eq!(folders.run(&["sessions", "list", "--json"]).ok().json(), json!([]));
    let first = asked(&folders, "Who is Mira Okafor?", &[]);
    let second = asked(&folders, "Which characters are there?", &[]);
    asked(&folders, "And where is she?", &["--session", &first]);
    let list = folders.run(&["sessions", "list", "--json"]).ok().json();
    assert_eq!([&list[0]["session"], &list[1]["session"]], [&json!(first), &json!(second)]);
    assert_eq!((&list[0]["questions"], &list[0]["messages"]), (&json!(2), &json!(4)));
    assert_eq!(list[0]["providers"], json!(["offline"]));
    let renamed = folders.run(&["sessions", "rename", &second, "The cast", "--json"]).ok().json();
    assert_eq!((&renamed["title"], &renamed["named"]), (&json!("The cast"), &json!(true)));
    assert!(folders.run(&["sessions", "list"]).ok().out.contains("The cast"));
    let found = folders.run(&["sessions", "search", "MÍRA okafor", "--json"]).ok().json();
    assert_eq!((&found[0]["session"], &found[0]["from"]), (&json!(first), &json!("question")));
    assert!(found[0]["excerpt"].as_str().unwrap().contains("Mira Okafor"));
    assert_eq!(folders.run(&["sessions", "search", "zebra", "--json"]).ok().json(), json!([]));
}

#[test]
fn a_search_that_finds_more_than_it_shows_says_so() {
    let folders = Folders::new();
    asked(&folders, "Where is the zebra?", &[]);
    asked(&folders, "And the other zebra?", &["--session", "last"]);
    let search = |more: &[&str]| folders.run(&[&["sessions", "search", "zebra"], more].concat()).ok();
    let all = search(&["--json"]);
    let found = all.json().as_array().unwrap().len();
    assert!(found >= 2 && all.err.is_empty(), "{}", all.err);
    for json in [&[][..], &["--json"]] {
        let some = search(&[&["--limit", "1"], json].concat());
        assert!(some.err.contains("1 shown, and there are more: --limit 10"), "{}", some.err);
    }
    assert_eq!(search(&["--limit", "1", "--json"]).json().as_array().unwrap().len(), 1);
    let exact = search(&["--limit", &found.to_string()]);
    assert!(exact.err.is_empty(), "{}", exact.err);
    assert_eq!(folders.run(&["sessions", "search", "zebra", "--limit", "0"]).code, 2);
}

#[test]
fn the_last_question_is_replaced_and_stays_in_the_file() {
    let folders = Folders::new();
    let session = asked(&folders, "Who is Mira Okafor?", &[]);
    asked(&folders, "Who is nobody?", &["--session", &session]);
    asked(&folders, "Which characters are there?", &["--session", "last", "--replace-last"]);
    let shown = folders.run(&["sessions", "show", "last", "--json"]).ok().json();
    let questions: Vec<_> =
        shown["turns"].as_array().unwrap().iter().map(|t| t["question"].clone()).collect();
    assert_eq!(questions, ["Who is Mira Okafor?", "Which characters are there?"]);
    assert_eq!(shown["replaced"][0]["question"], "Who is nobody?");
    let text = folders.run(&["sessions", "show", &session]).ok().out;
    assert!(text.contains("> Which characters are there?") && !text.contains("nobody"), "{text}");
    assert_eq!(folders.run(&["ask", "x", "--replace-last"]).code, 2);
}

#[test]
fn a_conversation_is_forked_exported_deleted_and_brought_back() {
    let folders = Folders::new();
    let session = asked(&folders, "Who is Mira Okafor?", &[]);
    asked(&folders, "Which characters are there?", &["--session", &session]);
    let fork = folders.run(&["sessions", "fork", &session, "--at", "1", "--json"]).ok().json();
    assert_eq!((&fork["questions"], &fork["forked_from"]["session"]), (&json!(1), &json!(session)));
    let refused = folders.run(&["sessions", "fork", &session, "--at", "3", "--json"]);
    assert_eq!((refused.code, &refused.json()["error"]["kind"]), (1, &json!("work")));
    let said = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(said.contains("has no question 3; it has 2 questions, counted from 1"), "{said}");

    let file = folders.root().join("talk.md").display().to_string();
    folders.run(&["sessions", "export", &session, "-o", &file]).ok();
    assert_eq!(folders.run(&["sessions", "export", &session, "-o", &file]).code, 1, "a file is there");
    let json_file = folders.root().join("talk.json").display().to_string();
    folders.run(&["sessions", "export", &session, "-o", &json_file]).ok();
    let text = std::fs::read_to_string(&json_file).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["session"], json!(session));
    let markdown = folders.run(&["sessions", "export", &session]).ok().out;
    assert_eq!(markdown, std::fs::read_to_string(&file).unwrap());

    folders.run(&["sessions", "delete", &session]).ok();
    assert_eq!(folders.run(&["sessions", "show", &session]).code, 1);
    assert_eq!(folders.run(&["ask", "x", "--provider", "offline", "--session", &session]).code, 1);
    let deleted = folders.run(&["sessions", "list", "--deleted", "--json"]).ok().json();
    assert_eq!((deleted.as_array().unwrap().len(), &deleted[0]["session"]), (1, &json!(session)));
    folders.run(&["sessions", "restore", &session]).ok();
    let beginning = &session[..2];
    let refused = folders.run(&["sessions", "delete", beginning, "--json"]);
    assert_eq!((refused.code, &refused.json()["error"]["kind"]), (2, &json!("usage")), "{}", refused.out);
    folders.run(&["sessions", "delete", &session]).ok();
    folders.run(&["sessions", "delete", &session, "--forever"]).ok();
    assert_eq!(folders.run(&["sessions", "list", "--deleted", "--json"]).ok().json(), json!([]));
}

#[test]
fn a_line_of_a_later_version_is_told_of_and_kept() {
    let folders = Folders::new();
    let session = asked(&folders, "Who is Mira Okafor?", &[]);
    let path = format!(".scritorio/sessions/{session}.jsonl");
    let later = "{\"v\":2,\"id\":\"t-9\",\"event\":\"sung\"}\n";
    folders.write(&path, &(folders.read(&path) + later + "{\"v\":1,\"torn"));
    let list = folders.run(&["sessions", "list"]).ok();
    assert!(
        list.err.contains("1 line of a later version of this program is kept")
            && list.err.contains("1 line cut off"),
        "{}",
        list.err
    );
    asked(&folders, "Which characters are there?", &["--session", &session]);
    assert!(folders.read(&path).contains(later));
    let list = folders.run(&["sessions", "list", "--json"]).ok().json();
    assert_eq!((&list[0]["questions"], &list[0]["later"]), (&json!(2), &json!(1)));
}

#[test]
fn a_conversation_of_a_later_version_alone_is_refused_with_what_to_do() {
    let folders = Folders::new();
    let session = asked(&folders, "Who is Mira Okafor?", &[]);
    let path = format!(".scritorio/sessions/{session}.jsonl");
    let later = folders.read(&path).replace("\"v\":1,", "\"v\":2,");
    folders.write(&path, &later);
    let refused = folders.run(&["ask", "x", "--provider", "offline", "--session", &session, "--json"]);
    assert_eq!(refused.code, 1);
    let error = refused.json()["error"].clone();
    assert!(
        error["message"].as_str().unwrap().contains("written by a later version of Scritorio"),
        "{error}"
    );
    assert!(error["hint"].as_str().unwrap().contains("Update Scritorio"), "{error}");
    assert_eq!(folders.read(&path), later);
}

#[test]
fn what_has_changed_is_seen_from_the_request_that_was_sent_in_another_run_too() {
    let folders = Folders::new();
    let server = Server::start(|_, _| Reply::Say("She is."));
    folders.run_at(&server.base, &["ask", "Is she?"]).ok();
    let diff = || folders.run_at(&server.base, &["prompt", "--ask", "Is she?", "--diff"]).ok().out;
    let same = diff();
    assert!(same.contains("as it was sent") && same.contains("== Instructions: the same"), "{same}");
    let notes = "\n[board.developmental-editor]\nnotes = \"Mind the tides.\"\n";
    folders.write("scritorio.toml", &(folders.read("scritorio.toml") + notes));
    let changed = diff();
    assert!(
        changed.contains("== Instructions: changed") && changed.contains("+Mind the tides."),
        "{changed}"
    );
    let session = folders.run(&["sessions", "list", "--json"]).ok().json()[0]["session"].clone();
    let kept = format!(".scritorio/cache/requests/{}.json", session.as_str().unwrap());
    let kept: Value = serde_json::from_str(&folders.read(&kept)).unwrap();
    assert_eq!(kept["body"], server.received()[0].raw);
    folders.run(&["sessions", "delete", "last", "--forever"]).ok();
    let left = folders.files().into_keys().any(|path| path.to_string_lossy().contains("cache/requests/s-"));
    assert!(!left, "for ever means all of it");
}

#[test]
fn the_last_deleted_conversation_is_brought_back_first() {
    let folders = Folders::new();
    let first = asked(&folders, "Who is Mira Okafor?", &[]);
    let second = asked(&folders, "Which characters are there?", &[]);
    // The one in which something was said last is deleted first.
    folders.run(&["sessions", "delete", &second]).ok();
    folders.run(&["sessions", "delete", &first]).ok();
    let list = folders.run(&["sessions", "list", "--deleted", "--json"]).ok().json();
    assert_eq!((&list[0]["session"], &list[1]["session"]), (&json!(first), &json!(second)));
    for session in [&first, &second] {
        let restored = folders.run(&["sessions", "restore", "last", "--json"]).ok().json();
        assert_eq!(restored["session"], json!(session));
    }
    let nothing = folders.run(&["sessions", "restore", "last", "--json"]);
    assert_eq!((nothing.code, &nothing.json()["error"]["kind"]), (1, &json!("work")));
    assert!(nothing.out.contains("no deleted conversation"), "{}", nothing.out);
}

#[test]
fn markdown_has_two_names_for_an_export() {
    let folders = Folders::new();
    asked(&folders, "Who is Mira Okafor?", &[]);
    let export = |format: &str| folders.run(&["sessions", "export", "last", "--format", format]).ok().out;
    assert_eq!(export("markdown"), export("md"));
}

#[test]
fn a_prompt_is_compared_with_that_of_the_last_question() {
    let folders = Folders::new();
    let refused = folders.run(&["prompt", "--ask", "And why?", "--diff"]);
    assert_eq!(refused.code, 1, "nothing was asked yet: {}", refused.err);
    let session = asked(&folders, "Who is Mira Okafor?", &[]);
    let diff = folders.run(&["prompt", "--provider", "openai", "--ask", "And why?", "--diff"]).ok().out;
    assert!(diff.starts_with(
        "Compared with the request of the last question, made again with the settings and the book of now"
    ));
    assert!(diff.contains("== Instructions: the same") && diff.contains("== Input: changed"), "{diff}");
    assert!(diff.contains("+User: And why?") && diff.contains(" User: Who is Mira Okafor?"), "{diff}");
    let other = ["--persona", "writing-coach", "--session", &session, "--json"];
    let other = [&["prompt", "--provider", "openai", "--ask", "And why?", "--diff"], &other[..]].concat();
    let changes = folders.run(&other).ok().json()["changes"].as_str().unwrap().to_owned();
    assert!(changes.contains("== Instructions: changed"), "{changes}");
    let whole =
        folders.run(&["prompt", "--provider", "openai", "--ask", "And why?", "--session", "last"]).ok().out;
    assert!(whole.contains("Who is Mira Okafor?") && whole.contains("User: And why?"), "{whole}");
}

#[test]
fn whoever_writes_beside_an_open_window_is_warned_and_not_refused() {
    let folders = Folders::new();
    let rename = ["rename", "Mira Okafor", "Mira Obi"];
    let apply = [&rename[..], &["--apply"]].concat();
    let warns = |arguments: &[&str]| folders.run(arguments).ok().err.contains("open in another window");
    assert!(!warns(&apply), "nobody has it open");
    let window =
        Workbench::open_in(&folders.book(), Overrides::default(), Surroundings::in_folders(folders.root()));
    let window = window.unwrap();
    assert_eq!(window.hold(), None);
    assert!(warns(&["proposals", "undo", "last"]));
    assert!(!folders.read("manuscript/01-the-lamp.md").contains("Obi"), "it was done all the same");
    assert!(warns(&["proposals", "redo", "last"]) && warns(&["proposals", "undo", "last"]));
    for reads in [&["proposals", "list"][..], &["proposals", "show", "last"], &rename] {
        assert!(!warns(reads), "{reads:?} writes nothing");
    }
    assert!(warns(&apply));
    drop(window);
    assert!(!warns(&["proposals", "undo", "last"]));
}
