//! A conversation that goes another way from one of its messages on.
//!
//! The lines up to there are copied as they are, so that what this version does not know of them is in the copy too. The conversation that
//! is forked is only read.

use std::collections::HashSet;
use std::io;
use std::path::Path;

use serde::Deserialize;

use crate::domain::ids::{SessionId, TurnId};
use crate::store::{atomic, home, jsonl};

use super::{Event, FOLDER, Line, Origin, must_exist, path, read};

/// Forks a conversation after a turn, the last one where none is named, under a name. Returns the new conversation.
pub fn fork(root: &Path, from: &SessionId, after: Option<&TurnId>, title: &str) -> io::Result<SessionId> {
    must_exist(root, from)?;
    let whole = read(root, from)?;
    let last = match after {
        Some(id) => whole.turns.iter().position(|kept| kept.turn.id == *id),
        None => whole.turns.len().checked_sub(1),
    };
    let Some(last) = last else {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no such message in {from}")));
    };
    let wanted: HashSet<&str> = whole.turns[..=last].iter().map(|kept| kept.turn.id.as_str()).collect();
    let turn = whole.turns[last].turn.id.clone();

    let session = SessionId::mint();
    let mut bytes = vec![];
    let origin = Origin { session: from.clone(), turn };
    for event in [Event::Forked { origin }, Event::Named { title: super::one_line(title, super::MAX_TITLE) }]
    {
        serde_json::to_writer(&mut bytes, &Line::now(session.as_str(), event))?;
        bytes.push(b'\n');
    }
    let source = std::fs::read(path(root, from)?)?;
    for line in lines_up_to(&source, &wanted) {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    let to = home::make(root, &format!("{FOLDER}/{}", home::file_name(session.as_str(), ".jsonl")?))?;
    atomic::write(root, &to, &bytes)?;
    Ok(session)
}

/// What of a line says whether it is copied.
#[derive(Deserialize)]
struct About {
    v: u64,
    #[serde(default)]
    id: String,
    #[serde(default)]
    event: String,
}

/// The lines of these turns, and those of later versions that stand among them.
fn lines_up_to<'a>(source: &'a [u8], wanted: &HashSet<&str>) -> Vec<&'a [u8]> {
    let mut copied = vec![];
    let mut end = 0;
    for line in jsonl::split(source) {
        let Ok(about) = serde_json::from_slice::<About>(line) else { continue };
        let is_known = about.v == u64::from(jsonl::VERSION);
        let is_turn = is_known && matches!(about.event.as_str(), "started" | "ended");
        if is_turn && wanted.contains(about.id.as_str()) {
            copied.push(line);
            end = copied.len();
        } else if !is_known {
            copied.push(line);
        }
    }
    copied.truncate(end);
    copied
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::{HERE, ids, talk};
    use super::super::{load, rename};
    use super::*;
    use crate::domain::conversation::TurnStatus;

    #[test]
    fn a_fork_holds_the_turns_up_to_a_message_and_leaves_the_other_alone() {
        let root = tempfile::tempdir().unwrap();
        let here = SessionId::new(HERE);
        for id in ["t-1", "t-2", "t-3"] {
            talk(root.path(), id, TurnStatus::Done, None);
        }
        talk(root.path(), "t-4", TurnStatus::Done, Some("t-3"));
        rename(root.path(), &here, "Old").unwrap();
        let before = fs::read(path(root.path(), &here).unwrap()).unwrap();
        let two = fork(root.path(), &here, Some(&TurnId::new("t-2")), "New").unwrap();
        let forked = read(root.path(), &two).unwrap();
        assert_eq!(forked.turns, load(root.path(), &here).unwrap()[..2]);
        assert_eq!(forked.title.as_deref(), Some("New"));
        assert_eq!(forked.origin, Some(Origin { session: here.clone(), turn: TurnId::new("t-2") }));
        let all = fork(root.path(), &here, None, "All").unwrap();
        let all = read(root.path(), &all).unwrap();
        assert_eq!((ids(&all.turns), all.replaced.len()), (vec!["t-1", "t-2", "t-4"], 0));
        assert_eq!(fs::read(path(root.path(), &here).unwrap()).unwrap(), before);
    }

    #[test]
    fn the_fork_of_a_fork_names_the_one_that_it_came_from() {
        let root = tempfile::tempdir().unwrap();
        talk(root.path(), "t-1", TurnStatus::Done, None);
        let first = fork(root.path(), &SessionId::new(HERE), None, "One").unwrap();
        let second = fork(root.path(), &first, None, "Two").unwrap();
        let second = read(root.path(), &second).unwrap();
        assert_eq!(second.origin.map(|o| o.session), Some(first));
        assert_eq!(second.title.as_deref(), Some("Two"));
    }

    #[test]
    fn a_line_of_a_later_version_among_the_messages_is_in_the_fork() {
        let root = tempfile::tempdir().unwrap();
        let here = SessionId::new(HERE);
        let file = path(root.path(), &here).unwrap();
        let add = |line: &str| fs::write(&file, fs::read_to_string(&file).unwrap() + line).unwrap();
        talk(root.path(), "t-1", TurnStatus::Done, None);
        add("{\"v\":2,\"id\":\"t-1\",\"event\":\"sung\"}\n");
        talk(root.path(), "t-2", TurnStatus::Done, None);
        add("{\"v\":2,\"id\":\"t-2\",\"event\":\"sung\"}\n{\"v\":1,\"torn");
        let forked = fork(root.path(), &here, None, "x").unwrap();
        let forked = read(root.path(), &forked).unwrap();
        assert_eq!((ids(&forked.turns), forked.later, forked.skipped), (vec!["t-1", "t-2"], 1, 1));
    }

    #[test]
    fn a_message_that_is_not_there_forks_nothing() {
        let root = tempfile::tempdir().unwrap();
        let here = SessionId::new(HERE);
        assert!(fork(root.path(), &here, None, "x").is_err());
        talk(root.path(), "t-1", TurnStatus::Done, None);
        talk(root.path(), "t-2", TurnStatus::Done, Some("t-1"));
        assert!(fork(root.path(), &here, Some(&TurnId::new("t-1")), "x").is_err(), "it was replaced");
        assert_eq!(super::super::list(root.path()).unwrap().len(), 1);
    }
}
