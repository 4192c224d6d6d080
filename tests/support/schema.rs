//! Request bodies against a JSON Schema of what the program may send: nothing that a service does not document.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

use serde_json::Value;

/// Checks a body of the Responses API; names the first rule that it breaks.
pub fn responses(body: &Value) -> Result<(), String> {
    check(include_str!("../schemas/responses.json"), body)
}

/// Checks a body of Chat Completions.
pub fn chat(body: &Value) -> Result<(), String> {
    check(include_str!("../schemas/chat.json"), body)
}

fn check(schema: &str, body: &Value) -> Result<(), String> {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    match validator.iter_errors(body).next() {
        None => Ok(()),
        Some(error) => Err(format!("{}: {error}", error.instance_path())),
    }
}
