//! Every request body that leaves the program, against the rules of the Responses API for strict tools:
//! <https://platform.openai.com/docs/api-reference/responses/create>, <https://platform.openai.com/docs/guides/structured-outputs>.
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

use book::{Folders, KEY};
use serde_json::{Map, Value, json};
use server::bodies::{schema, take};
use server::{Reply, Server};

/// All fields that the program may send.
const FIELDS: [&str; 14] = [
    "model",
    "instructions",
    "input",
    "previous_response_id",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "reasoning",
    "text",
    "service_tier",
    "max_output_tokens",
    "store",
    "stream",
    "include",
];

/// The keywords of a strict schema that the program uses.
const KEYWORDS: [&str; 9] = [
    "type",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "anyOf",
    "minimum",
];

/// Checks a body, and names the first rule that it breaks.
fn check(body: &Value) -> Result<(), String> {
    schema::responses(body)?;
    let fields = body.as_object().ok_or("the body is no object")?;
    rule(fields.keys().all(|k| FIELDS.contains(&k.as_str())), || format!("fields: {:?}", fields.keys()))?;
    for required in ["model", "instructions", "input"] {
        rule(fields.contains_key(required), || format!("`{required}` is missing"))?;
    }
    rule(body["stream"] == true && body["parallel_tool_calls"] == false, || {
        "stream, one call at a time".into()
    })?;
    let tools = body["tools"].as_array().ok_or("no tools")?;
    let mut names = BTreeSet::new();
    for tool in tools {
        let keys: Vec<_> =
            tool.as_object().ok_or("a tool is no object")?.keys().map(String::as_str).collect();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        rule(sorted == ["description", "name", "parameters", "strict", "type"], || {
            format!("tool: {keys:?}")
        })?;
        let name = tool["name"].as_str().unwrap_or_default();
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        rule(plain && (1..=64).contains(&name.len()) && names.insert(name), || {
            format!("tool name {name:?}")
        })?;
        rule(tool["type"] == "function" && tool["strict"] == true, || format!("{name} is not strict"))?;
        rule(tool["parameters"]["type"] == "object", || format!("{name} takes no object"))?;
        strict(&tool["parameters"]).map_err(|e| format!("{name}: {e}"))?;
    }
    match &body["tool_choice"] {
        Value::String(choice) => rule(["auto", "required"].contains(&choice.as_str()), || choice.clone())?,
        choice => {
            let name = choice["name"].as_str().unwrap_or_default();
            let shape = *choice == json!({ "type": "function", "name": name });
            rule(shape && names.contains(name), || format!("tool_choice {choice}"))?;
        }
    }
    let stateless = body["store"] == false;
    let continues = body["previous_response_id"].is_string();
    rule(!(stateless && continues), || "it continues from what was not stored".into())?;
    let includes =
        body["include"].as_array().is_some_and(|i| i.contains(&json!("reasoning.encrypted_content")));
    rule(stateless == includes, || format!("stateless {stateless}, with encrypted reasoning {includes}"))?;
    match &body["input"] {
        Value::String(words) => rule(!words.is_empty(), || "the input is empty".into()),
        Value::Array(items) => check_items(items, continues),
        other => Err(format!("input {other}")),
    }
}

/// A strict schema lists every property as required and allows no other.
fn strict(schema: &Value) -> Result<(), String> {
    let fields = schema.as_object().ok_or("a schema is no object")?;
    rule(fields.keys().all(|k| KEYWORDS.contains(&k.as_str())), || format!("keywords {:?}", fields.keys()))?;
    if let Some(properties) = schema["properties"].as_object() {
        let required: BTreeSet<_> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        rule(required == properties.keys().map(String::as_str).collect(), || {
            format!("required {required:?}")
        })?;
        rule(schema["additionalProperties"] == false, || "it allows other properties".into())?;
        properties.values().try_for_each(strict)?;
    }
    if let Some(items) = fields.get("items") {
        strict(items)?;
    }
    schema["anyOf"].as_array().into_iter().flatten().try_for_each(strict)
}

/// Every call has one output and every output its call, unless the server has the call already.
fn check_items(items: &[Value], continues: bool) -> Result<(), String> {
    let mut calls = BTreeSet::new();
    let mut outputs = BTreeSet::new();
    for item in items {
        let call_id = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str().unwrap_or("message") {
            "function_call" => {
                let text = item["arguments"].is_string() && item["name"].is_string();
                rule(text && calls.insert(call_id), || format!("call {item}"))?;
            }
            "function_call_output" => {
                let known = continues || calls.contains(call_id);
                rule(known && item["output"].is_string() && outputs.insert(call_id), || {
                    format!("output {item}")
                })?;
            }
            "message" => rule(item["role"].is_string() && !item["content"].is_null(), || format!("{item}"))?,
            "reasoning" => rule(item["encrypted_content"].is_string(), || format!("{item}"))?,
            other => return Err(format!("item of type {other}")),
        }
    }
    rule(calls.is_subset(&outputs), || format!("calls {calls:?}, outputs {outputs:?}"))
}

fn rule(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

#[track_caller]
fn all_valid(server: &Server, requests: usize) {
    let received = server.received();
    assert_eq!(received.len(), requests);
    for (n, request) in received.iter().enumerate() {
        assert!(request.head.starts_with("POST /v1/responses "), "{}", request.head);
        if let Err(broken) = check(&request.body) {
            panic!("request {n}: {broken}\n{:#}", request.body);
        }
    }
}

const STATELESS: &str = "[options]\nstore = false\n";

/// Reads the selection and an entry, calls a tool that is not there, and answers.
fn reads_and_answers(n: usize, _: &Value) -> Reply {
    match n {
        0 => Reply::Call(
            "get_manuscript_context",
            json!({ "ref": "selection", "refs": null, "startParagraph": null }),
        ),
        1 => Reply::Calls(vec![
            ("get_character_context".into(), json!({ "name": "Mira" }).to_string()),
            ("no_such_tool".into(), "{}".into()),
        ]),
        _ => Reply::Say("It reads well."),
    }
}

#[test]
fn every_request_of_a_conversation_is_valid_whether_or_not_the_server_keeps_it() {
    for settings in ["", STATELESS] {
        let folders = Folders::new();
        folders.write("../config/config.toml", settings);
        let server = Server::start(reads_and_answers);
        let question = ["ask", "How does this read?", "--select-text", "noticed the lamp", "--json"];
        let turn = folders.run_at(&server.base, &question).ok().json();
        let session = turn["session"].as_str().unwrap();
        folders.run_at(&server.base, &["ask", "And the end?", "--session", session, "--tier", "flex"]).ok();
        all_valid(&server, 4);
        let continued =
            server.received().iter().filter(|r| r.body["previous_response_id"].is_string()).count();
        assert_eq!(continued, if settings.is_empty() { 3 } else { 0 });
    }
}

#[test]
fn a_forced_tool_that_the_server_ignores_leads_to_a_valid_request_with_its_result() {
    for settings in ["", STATELESS] {
        let folders = Folders::new();
        folders.write("../config/config.toml", settings);
        let server = Server::start(|_, _| Reply::Say("There is one."));
        let ran = folders.run_at(&server.base, &["ask", "List all the characters."]).ok();
        assert!(
            ran.err.contains("list_codex_entries") && ran.err.contains("called by the program"),
            "{}",
            ran.err
        );
        all_valid(&server, 2);
        let requests = server.received();
        assert_eq!(requests[0].body["tool_choice"]["name"], "list_codex_entries");
        assert!(requests[1].body["input"].to_string().contains("Mira Okafor"), "{}", requests[1].body);
    }
}

#[test]
fn the_requests_of_the_smoke_test_are_valid() {
    let folders = Folders::new();
    let server = Server::start(|n, _| match n {
        0 => Reply::Call("search_codex", json!({ "query": "Mira", "entryType": null })),
        _ => Reply::Say("A signals officer."),
    });
    folders.run_at(&server.base, &["ai", "tool-smoke", "--ask", "Who is Mira?"]).ok();
    all_valid(&server, 2);
}

#[test]
fn what_the_prompt_verb_shows_is_valid_too() {
    let folders = Folders::new();
    let asked =
        ["prompt", "--ask", "How does this read?", "--chapter", "1", "--select-text", "noticed the lamp"];
    let body = folders.run(&[&asked[..], &["--format", "responses"]].concat()).ok().json();
    check(&body).unwrap();
    let chat = folders.run(&[&asked[..], &["--format", "chat"]].concat()).ok().json();
    for (api, shown) in [("responses", &body), ("chat", &chat)] {
        take(api, &shown.to_string()).unwrap();
    }
    for tool in chat["tools"].as_array().unwrap() {
        assert_eq!((&tool["type"], &tool["function"]["strict"]), (&json!("function"), &json!(true)));
        strict(&tool["function"]["parameters"]).unwrap();
    }
    let text = folders.run(&asked).ok().out;
    for shown in [body.to_string(), chat.to_string(), text] {
        assert!(!shown.contains("noticed the lamp"), "{shown}");
        assert!(shown.contains("Words in the selection: 3"), "{shown}");
        // printf 'noticed the lamp' | sha256sum
        assert!(
            shown.contains("442e7bfdbaf465018cca86d896491f9b0e47077ed94a7875de7f114ed240c99c"),
            "{shown}"
        );
    }
}

#[test]
fn the_rules_can_be_broken() {
    let folders = Folders::new();
    let body = folders.run(&["prompt", "--ask", "Who?", "--format", "responses"]).ok().json();
    let changed = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut body = body.clone();
        change(body.as_object_mut().unwrap());
        check(&body)
    };
    assert_eq!(changed(&|_| {}), Ok(()));
    assert!(changed(&|b| drop(b.insert("messages".into(), json!([])))).is_err());
    assert!(changed(&|b| drop(b.insert("parallel_tool_calls".into(), json!(true)))).is_err());
    assert!(changed(&|b| drop(b.insert("store".into(), json!(false)))).is_err());
    assert!(changed(&|b| b["tools"][0]["strict"] = json!(false)).is_err());
    assert!(changed(&|b| b["tools"][0]["parameters"]["required"] = json!([])).is_err());
    assert!(changed(&|b| b["tool_choice"] = json!({ "type": "function", "name": "nope" })).is_err());
    let open = json!([{ "type": "function_call", "call_id": "c", "name": "x", "arguments": "{}" }]);
    assert!(changed(&|b| b["input"] = open.clone()).is_err());
}

// What stays here

#[test]
fn a_word_of_the_manuscript_leaves_only_after_a_tool_asked_for_it_and_is_kept_in_no_record() {
    const CANARY: &str = "zyxquoll";
    let folders = Folders::new();
    folders.write("manuscript/02-the-well.md", &format!("# The Well\n\nThe {CANARY} sat in the well.\n"));
    let server = Server::start(|n, _| match n {
        0 => Reply::Call("get_character_context", json!({ "name": "Mira" })),
        1 => {
            Reply::Call("get_manuscript_context", json!({ "ref": "2", "refs": null, "startParagraph": null }))
        }
        _ => Reply::Say("It is good."),
    });
    let asked = [
        "ask",
        "How does this read?",
        "--chapter",
        "2",
        "--select-text",
        "sat in the well",
        "--json",
        "--debug",
    ];
    let ran = folders.run_at(&server.base, &asked).ok();
    let sent: Vec<bool> = server.received().iter().map(|r| r.body.to_string().contains(CANARY)).collect();
    assert_eq!(sent, [false, false, true]);
    assert!(!ran.out.contains(CANARY) && !ran.err.contains(CANARY), "{}{}", ran.out, ran.err);
    for (path, bytes) in folders.files() {
        let (path, text) = (path.to_string_lossy(), String::from_utf8_lossy(&bytes));
        assert!(!text.contains(KEY), "{path}");
        let is_its_place = path.contains("02-the-well") || path.contains(".scritorio/sessions/");
        assert!(is_its_place || !text.contains(CANARY), "{path}: {text}");
    }
    // A conversation keeps what tools returned, to go on with it, and nowhere else.
    let session = ran.json()["session"].as_str().unwrap().to_owned();
    let lines = folders.read(&format!(".scritorio/sessions/{session}.jsonl"));
    for line in lines.lines() {
        let mut line: Value = serde_json::from_str(line).unwrap();
        for of_tools in ["items", "material"] {
            line["kept"][of_tools] = Value::Null;
        }
        assert!(!line.to_string().contains(CANARY), "{line}");
    }
}

#[test]
fn a_server_that_forgot_the_conversation_is_told_all_of_it() {
    let folders = Folders::new();
    let server = Server::start(|_, body| {
        if body["previous_response_id"].is_string() {
            let message = "Previous response with id 'resp_0' not found.";
            Reply::Refuse(
                400,
                json!({ "error": { "message": message, "code": "previous_response_not_found" } }),
            )
        } else {
            Reply::Say("Noted.")
        }
    });
    let first = folders.run_at(&server.base, &["ask", "Remember the lamp.", "--json"]).ok().json();
    let session = first["session"].as_str().unwrap();
    let ran = folders.run_at(&server.base, &["ask", "And now?", "--session", session]).ok();
    assert_eq!(ran.out, "Noted.\n");
    all_valid(&server, 3);
    let input = server.received()[2].body["input"].to_string();
    assert!(
        input.contains("Remember the lamp.") && input.contains("Noted.") && input.contains("And now?"),
        "{input}"
    );
}
