//! Every request body that a test's server gets on its way to one of OpenAI's APIs: checked against the schema of what the program may send,
//! always, and written down for a further check by OpenAI's own types (`tests/validate_bodies.py`) where `SCRITORIO_TEST_BODIES` names a folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

#[path = "schema.rs"]
pub mod schema;

/// Names the folder that bodies are written to, one file for each that differs.
const FOLDER: &str = "SCRITORIO_TEST_BODIES";

/// Takes a request as it arrived. The error names the first rule that its body breaks.
pub fn arrived(head: &str, raw: &str) -> Result<(), String> {
    let path = head.split(' ').nth(1).unwrap_or_default();
    if path.ends_with("/responses") {
        take("responses", raw)
    } else if path.ends_with("/chat/completions") {
        take("chat", raw)
    } else if path.ends_with("/messages") || path.ends_with("/api/chat") {
        let body: Value = serde_json::from_str(raw).map_err(|e| format!("{e}: {raw}"))?;
        paired(&body).map_err(|broken| format!("{path}: {broken}\n{body:#}"))
    } else {
        Ok(())
    }
}

/// Every call of the whole conversation has an id of its own, and one output.
fn paired(body: &Value) -> Result<(), String> {
    let (called, answered) = ids(body);
    let calls: BTreeSet<_> = called.iter().collect();
    let outputs: BTreeSet<_> = answered.iter().collect();
    let once = calls.len() == called.len() && outputs.len() == answered.len();
    if once && calls == outputs { Ok(()) } else { Err(format!("calls {called:?}, outputs {answered:?}")) }
}

/// Returns the ids of all calls in the messages of a body, and those of all outputs.
pub fn ids(body: &Value) -> (Vec<String>, Vec<String>) {
    let (mut called, mut answered) = (vec![], vec![]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for message in body["messages"].as_array().into_iter().flatten() {
        called.extend(message["tool_calls"].as_array().into_iter().flatten().map(|call| text(&call["id"])));
        answered.extend((message["role"] == "tool").then(|| text(&message["tool_call_id"])));
        for block in message["content"].as_array().into_iter().flatten() {
            called.extend((block["type"] == "tool_use").then(|| text(&block["id"])));
            answered.extend((block["type"] == "tool_result").then(|| text(&block["tool_use_id"])));
        }
    }
    (called, answered)
}

/// Takes the body of a request to an API by its name: `responses`, `chat`.
pub fn take(api: &str, raw: &str) -> Result<(), String> {
    write_down(api, raw);
    let body: Value = serde_json::from_str(raw).map_err(|e| format!("{e}: {raw}"))?;
    let checked = if api == "chat" { schema::chat(&body) } else { schema::responses(&body) };
    let whole = if api == "chat" { answered_in_messages(&body) } else { answered_in_items(&body) };
    checked
        .and(whole)
        .and(if api == "chat" { paired(&body) } else { Ok(()) })
        .and(readable_arguments(&body))
        .map_err(|broken| format!("{api}: {broken}\n{body:#}"))
}

/// The arguments of every call are the text of a JSON object: whatever a model wrote, servers read what is repeated to them.
fn readable_arguments(body: &Value) -> Result<(), String> {
    let all = |list: &'static str| body[list].as_array().into_iter().flatten();
    let items = all("input").filter(|item| item["type"] == "function_call");
    let calls = all("messages").flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
    let object = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
    let of = items.map(|item| &item["arguments"]).chain(calls.map(|call| &call["function"]["arguments"]));
    for arguments in of {
        if !arguments.as_str().is_some_and(object) {
            return Err(format!("arguments are no JSON object: {arguments}"));
        }
    }
    Ok(())
}

/// Every call has one output and every output its call, unless the server has the call already.
fn answered_in_items(body: &Value) -> Result<(), String> {
    let items = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of = |kind: &'static str| -> Vec<_> {
        items.iter().filter(|item| item["type"] == kind).map(|item| item["call_id"].as_str()).collect()
    };
    let (called, answered) = (of("function_call"), of("function_call_output"));
    let calls: BTreeSet<_> = called.iter().collect();
    let outputs: BTreeSet<_> = answered.iter().collect();
    let continues = body["previous_response_id"].is_string();
    let once = calls.len() == called.len() && outputs.len() == answered.len();
    let paired = calls.is_subset(&outputs) && (continues || outputs.is_subset(&calls));
    if once && paired && !answered.contains(&None) {
        Ok(())
    } else {
        Err(format!("calls {calls:?}, outputs {outputs:?}"))
    }
}

/// The calls of a message are answered by the messages right after it, each once.
fn answered_in_messages(body: &Value) -> Result<(), String> {
    let mut open = BTreeSet::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        if message["role"] == "tool" {
            if !open.remove(&message["tool_call_id"].as_str()) {
                return Err(format!("no open call is answered by {message}"));
            }
            continue;
        }
        if !open.is_empty() {
            return Err(format!("calls {open:?} have no answer before {message}"));
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        for call in calls {
            if !open.insert(call["id"].as_str()) {
                return Err(format!("two calls with one id: {message}"));
            }
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("calls {open:?} have no answer")) }
}

fn write_down(api: &str, raw: &str) {
    let Some(folder) = std::env::var_os(FOLDER).filter(|folder| !folder.is_empty()) else { return };
    fs::create_dir_all(&folder).unwrap();
    fs::write(Path::new(&folder).join(format!("{api}.{}.json", &sha256(raw)[..24])), raw).unwrap();
}

/// Returns the SHA-256 of a text, in hexadecimal.
pub fn sha256(text: &str) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap();
    Sha256::digest(text.as_bytes()).iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
