//! The request that opened the last turn of a conversation, as it was sent: `.scritorio/cache/requests/<id>.json`. So that the next one can be compared with it.
//!
//! Not in git, and no record: a conversation has one, the folder only so many, and any of them can be deleted at any time.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::ids::{SessionId, TurnId};
use crate::store::{atomic, home, jsonl};

const FOLDER: &str = "cache/requests";

/// Most conversations whose request is kept.
const MOST: usize = 20;

/// Longest body that is kept, in bytes.
const LONGEST: usize = 2 << 20;

#[derive(Debug, Serialize, Deserialize)]
struct Opening {
    v: u32,
    turn: TurnId,
    body: String,
}

/// Keeps the body that opened a turn, in place of the one before. A body that is too long is not kept, and the one before goes.
pub fn keep_opening(root: &Path, session: &SessionId, turn: &TurnId, body: &str) -> io::Result<()> {
    if body.len() > LONGEST {
        return forget_opening(root, session);
    }
    let opening = Opening { v: jsonl::VERSION, turn: turn.clone(), body: body.to_owned() };
    let path = home::make(root, &place(session)?)?;
    atomic::write(root, &path, &serde_json::to_vec(&opening)?)?;
    thin_out(&home::path(root, FOLDER)?)
}

/// Returns the body that opened the last turn of a conversation, with that turn, if it is kept.
pub fn opening(root: &Path, session: &SessionId) -> Option<(TurnId, String)> {
    let bytes = std::fs::read(home::path(root, &place(session).ok()?).ok()?).ok()?;
    let opening: Opening = serde_json::from_slice(&bytes).ok()?;
    (opening.v == jsonl::VERSION).then_some((opening.turn, opening.body))
}

/// Leaves nothing of it.
pub(super) fn forget_opening(root: &Path, session: &SessionId) -> io::Result<()> {
    let path = home::path(root, &place(session)?)?;
    if path.is_file() { atomic::remove(&path) } else { Ok(()) }
}

fn place(session: &SessionId) -> io::Result<String> {
    Ok(format!("{FOLDER}/{}", home::file_name(session.as_str(), ".json")?))
}

/// Deletes the oldest beyond the number that is kept.
fn thin_out(folder: &Path) -> io::Result<()> {
    let mut all: Vec<(std::time::SystemTime, PathBuf)> = vec![];
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        // Another process may have deleted it meanwhile.
        let Ok(modified) = entry.metadata().and_then(|about| about.modified()) else { continue };
        if path.extension().is_some_and(|ending| ending == "json") {
            all.push((modified, path));
        }
    }
    all.sort();
    let surplus = all.len().saturating_sub(MOST);
    all.iter().take(surplus).try_for_each(|(_, path)| std::fs::remove_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_of_the_last_turn_is_kept_as_it_was_sent() {
        let root = tempfile::tempdir().unwrap();
        let (session, turn) = (SessionId::new("s-1"), |n: usize| TurnId::new(format!("t-{n}")));
        assert_eq!(opening(root.path(), &session), None);
        assert!(!root.path().join(home::NAME).exists(), "looking leaves no trace");
        keep_opening(root.path(), &session, &turn(1), "{\"a\": 1}").unwrap();
        keep_opening(root.path(), &session, &turn(2), "{\"z\":\"\u{e9}\\n\"}").unwrap();
        assert_eq!(opening(root.path(), &session), Some((turn(2), "{\"z\":\"\u{e9}\\n\"}".to_owned())));
        // A conversation of which something else was sent since has none rather than an older one.
        keep_opening(root.path(), &session, &turn(3), &"x".repeat(LONGEST + 1)).unwrap();
        assert_eq!(opening(root.path(), &session), None);
        assert!(keep_opening(root.path(), &SessionId::new("../x"), &turn(1), "").is_err());
    }

    #[test]
    fn the_folder_does_not_grow_with_the_years() {
        let root = tempfile::tempdir().unwrap();
        let session = |n: usize| SessionId::new(format!("s-{n}"));
        for n in 0..MOST + 5 {
            keep_opening(root.path(), &session(n), &TurnId::new("t-1"), "{}").unwrap();
        }
        let kept = std::fs::read_dir(root.path().join(".scritorio/cache/requests")).unwrap().count();
        assert_eq!(kept, MOST);
        assert!(opening(root.path(), &session(MOST + 4)).is_some());
    }
}
