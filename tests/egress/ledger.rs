//! The ledger against what a server received: read and worked out anew, with nothing of the program's own.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::book::Folders;
use super::server::Received;

/// The shortest run of words that is told.
const RUN: usize = 5;

fn sha256(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap();
    Sha256::digest(bytes).iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The lines of the ledger: attempts with their ends.
pub fn lines(folders: &Folders) -> Vec<(Value, Option<Value>)> {
    let folder = folders.book().join(".scritorio/ledger");
    let Ok(files) = fs::read_dir(folder) else { return vec![] };
    let mut attempts: Vec<(Value, Option<Value>)> = vec![];
    for file in files {
        for line in fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["v"], 1);
            if line["event"] == "sent" {
                attempts.push((line, None));
            } else {
                let id = &line["id"];
                attempts.iter_mut().find(|(sent, _)| &sent["id"] == id).unwrap().1 = Some(line.clone());
            }
        }
    }
    attempts
}

/// Checks that every request that arrived is in the ledger, byte for byte and span for span, and that nothing else is.
#[track_caller]
pub fn equals(folders: &Folders, received: &[Received], questions: &[&str]) {
    let noted = lines(folders);
    let hashes: Vec<&str> = noted.iter().map(|(sent, _)| sent["sha256"].as_str().unwrap()).collect();
    let arrived: Vec<String> = received.iter().map(|r| sha256(r.raw.as_bytes())).collect();
    assert_eq!(hashes, arrived, "the ledger has one line for every request, in order");
    let files = super::planted::texts(folders);
    for (request, (sent, ended)) in received.iter().zip(&noted) {
        assert_eq!(sent["bytes"], request.raw.len());
        assert_eq!(sent["model"], request.body["model"]);
        assert_eq!(sent["tier"], request.body["service_tier"], "{sent}");
        let host = request.head.lines().find_map(|l| l.strip_prefix("host: ")).unwrap();
        assert!(sent["destination"].as_str().unwrap().contains(host));
        let names: Vec<&Value> =
            request.body["tools"].as_array().into_iter().flatten().map(|t| &t["name"]).collect();
        assert_eq!(sent["tools"].as_array().unwrap().iter().collect::<Vec<_>>(), names);
        assert!(ended.is_some(), "an end was noted");
        spans(sent, &request.body, &files, questions);
    }
}

/// Checks the spans of one request against its body, in both directions.
#[track_caller]
fn spans(sent: &Value, body: &Value, files: &BTreeMap<String, String>, questions: &[&str]) {
    let leaves = leaves(body);
    let told: Vec<(&str, &str)> = sent["spans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|span| {
            let place = |key: &str| span[key].as_u64().unwrap() as usize;
            let path = span["path"].as_str().unwrap();
            let stretch =
                files[path].get(place("start")..place("end")).expect("whole characters of the file");
            assert_eq!(span["sha256"], sha256(stretch.as_bytes()), "{span}");
            // What is told is there: to the letter, or word for word.
            if span["exact"] == true {
                assert!(leaves.iter().any(|leaf| leaf.contains(stretch)), "{stretch:?} is not in the body");
            } else {
                let wanted = words(stretch);
                let holds = |leaf: &String| words(leaf).windows(wanted.len()).any(|w| w == wanted);
                assert!(leaves.iter().any(holds), "{stretch:?} is not in the body");
            }
            (path, stretch)
        })
        .collect();
    // What is there is told: every run of words that stands in a file of the book, but for the author's words and the program's.
    let mut runs: HashMap<Vec<String>, HashSet<&str>> = HashMap::new();
    for (path, text) in files.iter().filter(|(path, _)| *path != "scritorio.toml") {
        for run in words(text).windows(RUN) {
            runs.entry(run.to_vec()).or_default().insert(path);
        }
    }
    let covered: HashSet<Vec<String>> = told
        .iter()
        .flat_map(|(_, stretch)| words(stretch).windows(RUN).map(<[String]>::to_vec).collect::<Vec<_>>())
        .collect();
    let mut said = body.clone();
    for own in ["instructions", "tools"] {
        said.as_object_mut().unwrap().remove(own);
    }
    for leaf in self::leaves(&said) {
        let leaf = questions.iter().fold(leaf, |leaf, question| leaf.replace(question, " | "));
        for run in words(&leaf).windows(RUN).filter(|run| runs.contains_key(*run)) {
            assert!(covered.contains(run), "{run:?} is in the body and not in the ledger: {sent}");
        }
    }
}

/// The strings of a body; those that are JSON themselves, as the strings in that.
pub fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Array(_) | Value::Object(_))) => leaves(&inner),
            _ => vec![text.clone()],
        },
        Value::Array(items) => items.iter().flat_map(leaves).collect(),
        Value::Object(fields) => fields.values().flat_map(leaves).collect(),
        _ => vec![],
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
