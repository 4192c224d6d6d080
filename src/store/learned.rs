//! What servers turned out not to take, so that it is not learned anew at each start: `learned.json` in the data folder.
//!
//! One entry a provider, address and model: what was known of the server before it refused something, and what is known since. An entry counts for a month, and only
//! while the former is still so: a changed setting or a newer program begins afresh. What can't be read is as good as not there, and deleting the file costs one
//! refused request for each lesson. Holds no word of a book and no key.

use std::io;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::atomic;

const VERSION: u32 = 1;

const FILE: &str = "learned.json";

/// How long a lesson counts: servers are updated, and models get better templates.
const COUNTS_FOR: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Most entries; the oldest go first.
const MOST: usize = 200;

/// Who was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Provider's name.
    pub provider: String,
    /// Where requests go.
    pub address: String,
    /// Model's name.
    pub model: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Learned {
    v: u32,
    #[serde(default)]
    servers: Vec<Entry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    asked: Asked,
    /// When, RFC 3339 in UTC.
    at: String,
    /// What was known before. Its shape is the caller's.
    before: Value,
    /// What is known since.
    since: Value,
}

impl Entry {
    fn counts(&self, now: Timestamp) -> bool {
        let at = self.at.parse::<Timestamp>();
        // A clock that was wrong must not make a lesson last.
        at.is_ok_and(|at| at <= now && now.duration_since(at) < COUNTS_FOR)
    }
}

/// Returns what is known of a server since it refused something; `before` is what would be known otherwise.
pub fn read(data: &Path, asked: &Asked, before: &Value) -> Option<Value> {
    let now = Timestamp::now();
    let fits = |entry: &Entry| entry.asked == *asked && entry.before == *before && entry.counts(now);
    load(data).into_iter().find(fits).map(|entry| entry.since)
}

/// Keeps what was learned of a server, in place of what was kept of it.
pub fn keep(data: &Path, asked: Asked, before: Value, since: Value) -> io::Result<()> {
    let entry = Entry { at: super::now(), asked, before, since };
    let mut servers = load(data);
    servers.retain(|known| known.asked != entry.asked);
    servers.push(entry);
    write(data, servers)
}

/// Forgets what was learned of the servers that are meant.
pub fn forget(data: &Path, is_meant: impl Fn(&Asked) -> bool) -> io::Result<()> {
    let mut servers = load(data);
    let before = servers.len();
    servers.retain(|known| !is_meant(&known.asked));
    if servers.len() == before { Ok(()) } else { write(data, servers) }
}

fn load(data: &Path) -> Vec<Entry> {
    let Ok(bytes) = std::fs::read(data.join(FILE)) else { return vec![] };
    let learned: Learned = serde_json::from_slice(&bytes).unwrap_or_default();
    if learned.v == VERSION { learned.servers } else { vec![] }
}

fn write(data: &Path, mut servers: Vec<Entry>) -> io::Result<()> {
    let now = Timestamp::now();
    servers.retain(|entry| entry.counts(now));
    servers.drain(..servers.len().saturating_sub(MOST));
    atomic::make_folders(data)?;
    atomic::write(data, &data.join(FILE), &serde_json::to_vec(&Learned { v: VERSION, servers })?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(model: &str) -> Asked {
        Asked { provider: "ollama".into(), address: "http://h/api/chat".into(), model: model.into() }
    }

    #[test]
    fn a_lesson_is_of_one_server_and_model_and_of_what_was_known_before() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let (before, since) = (json!({ "tools": true }), json!({ "tools": false }));
        assert_eq!(read(&data, &asked("a"), &before), None);
        assert!(!data.exists(), "reading makes nothing");
        keep(&data, asked("a"), before.clone(), json!({})).unwrap();
        keep(&data, asked("a"), before.clone(), since.clone()).unwrap();
        keep(&data, asked("b"), before.clone(), json!({ "b": 1 })).unwrap();
        assert_eq!(read(&data, &asked("a"), &before), Some(since));
        assert_eq!(
            read(&data, &asked("a"), &json!({ "tools": null })),
            None,
            "the settings say otherwise now"
        );
        assert_eq!(read(&data, &Asked { address: "http://other".into(), ..asked("a") }, &before), None);
        forget(&data, |known| *known == asked("a")).unwrap();
        assert_eq!(read(&data, &asked("a"), &before), None);
        assert!(read(&data, &asked("b"), &before).is_some());
    }

    #[test]
    fn a_lesson_counts_for_a_month() {
        let folder = tempfile::tempdir().unwrap();
        let hour = SignedDuration::from_hours(1);
        let entry = |age: SignedDuration| {
            let at = (Timestamp::now() - age).to_string();
            json!({ "provider": "ollama", "address": "http://h/api/chat", "model": "m", "at": at, "before": 1, "since": 2 })
        };
        for (age, counts) in
            [(hour, true), (COUNTS_FOR - hour, true), (COUNTS_FOR + hour, false), (-hour * 48, false)]
        {
            let file = json!({ "v": 1, "servers": [entry(age)] });
            std::fs::write(folder.path().join(FILE), file.to_string()).unwrap();
            assert_eq!(read(folder.path(), &asked("m"), &json!(1)).is_some(), counts, "{age}");
        }
        keep(folder.path(), asked("new"), json!(1), json!(2)).unwrap();
        assert!(
            !std::fs::read_to_string(folder.path().join(FILE)).unwrap().contains("\"m\""),
            "what is over goes"
        );
    }

    #[test]
    fn a_broken_file_is_as_good_as_none_and_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        for broken in ["", "{", "[]", "{\"v\":2,\"servers\":[]}", "{\"v\":1,\"servers\":[{\"at\":5}]}"] {
            std::fs::write(folder.path().join(FILE), broken).unwrap();
            assert_eq!(read(folder.path(), &asked("m"), &json!(1)), None);
            keep(folder.path(), asked("m"), json!(1), json!(2)).unwrap();
            assert_eq!(read(folder.path(), &asked("m"), &json!(1)), Some(json!(2)));
        }
    }
}
