//! Conversations: `.scritorio/sessions/<id>.jsonl`, only ever appended to.
//!
//! A turn is written twice: when it starts, so that the question survives a crash, and when it has ended, with everything that
//! the next turn needs. A turn without an end was cut off; it is kept as running, without items.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::conversation::Turn;
use crate::domain::ids::{BookPath, ProposalId, SessionId, TurnId};

use super::{home, jsonl};

const FOLDER: &str = "sessions";

/// A turn with what the next one needs to go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The record.
    pub turn: Turn,
    /// What was said, for the next request: context, question, calls, outputs, raw items, answer. Its shape is the caller's.
    #[serde(default)]
    pub items: Vec<Value>,
    /// Text of the book that tools returned.
    #[serde(default)]
    pub material: Vec<Stretch>,
    /// Whether the server has kept the items, so that the next turn may continue from the response.
    #[serde(default)]
    pub kept_by_server: bool,
    /// Where the turn went, so that another server is never asked to go on with it.
    #[serde(default)]
    pub destination: String,
    /// What the model was told before the question. Read from the start of the turn.
    #[serde(skip)]
    pub preface: Preface,
}

/// What the model is told before the question of a turn: what has become of its proposals since.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Preface {
    /// The proposals that it is about.
    #[serde(default)]
    pub told: Vec<ProposalId>,
    /// What became of each of them, in the same order. In files of earlier versions it is missing, and all were rejected.
    #[serde(default)]
    pub fates: Vec<String>,
    /// What was said, in the shape of [`Kept::items`].
    #[serde(default)]
    pub items: Vec<Value>,
}

/// A stretch of a file, exactly as it stood there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// The file.
    pub path: BookPath,
    /// The words.
    pub text: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    v: u32,
    id: TurnId,
    at: String,
    #[serde(flatten)]
    event: Event,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Event {
    Started {
        turn: Box<Turn>,
        #[serde(default)]
        preface: Preface,
    },
    Ended {
        kept: Box<Kept>,
    },
}

/// Notes that a turn has begun.
pub fn start(root: &Path, session: &SessionId, turn: &Turn, preface: Preface) -> io::Result<()> {
    append(root, session, &turn.id, Event::Started { turn: Box::new(turn.clone()), preface })
}

/// Keeps a turn that is over.
pub fn end(root: &Path, session: &SessionId, kept: Kept) -> io::Result<()> {
    let id = kept.turn.id.clone();
    append(root, session, &id, Event::Ended { kept: Box::new(kept) })
}

/// Reads the turns of a conversation, oldest first; one that does not exist has none. A turn that ran beside another one has words before it
/// that its server was not sent, so that the next one must not continue from it: it counts as not kept by the server.
pub fn load(root: &Path, session: &SessionId) -> io::Result<Vec<Kept>> {
    let mut turns: Vec<Kept> = vec![];
    let mut before: Option<TurnId> = None;
    for line in jsonl::read::<Line>(&path(root, session)?)?.records {
        let alone = before.replace(line.id.clone()).is_some_and(|id| id == line.id);
        let kept = match line.event {
            Event::Started { turn, preface } => Kept::started(*turn, preface),
            Event::Ended { kept } => Kept { kept_by_server: kept.kept_by_server && alone, ..*kept },
        };
        match turns.iter_mut().find(|t| t.turn.id == kept.turn.id) {
            Some(known) => *known = Kept { preface: std::mem::take(&mut known.preface), ..kept },
            None => turns.push(kept),
        }
    }
    Ok(turns)
}

impl Kept {
    fn started(turn: Turn, preface: Preface) -> Self {
        Self {
            turn,
            items: vec![],
            material: vec![],
            kept_by_server: false,
            destination: String::new(),
            preface,
        }
    }
}

/// Whether a conversation has been stored.
pub fn exists(root: &Path, session: &SessionId) -> bool {
    path(root, session).is_ok_and(|p| p.is_file())
}

/// Lists the conversations, the one that was used last first.
pub fn list(root: &Path) -> io::Result<Vec<SessionId>> {
    let entries = match std::fs::read_dir(home::path(root, FOLDER)?) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        other => other?,
    };
    let mut found: Vec<(SystemTime, SessionId)> = vec![];
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|n| n.strip_suffix(".jsonl")) else { continue };
        if home::file_name(id, "").is_ok() {
            found.push((entry.metadata()?.modified()?, SessionId::new(id)));
        }
    }
    found.sort_by(|a, b| b.cmp(a));
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

fn append(root: &Path, session: &SessionId, turn: &TurnId, event: Event) -> io::Result<()> {
    home::make(root, &format!("{FOLDER}/{}", home::file_name(session.as_str(), ".jsonl")?))?;
    let line = Line { v: jsonl::VERSION, id: turn.clone(), at: super::now(), event };
    jsonl::append(&path(root, session)?, &[line])
}

fn path(root: &Path, session: &SessionId) -> io::Result<PathBuf> {
    home::path(root, &format!("{FOLDER}/{}", home::file_name(session.as_str(), ".jsonl")?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::domain::conversation::{TurnStatus, Usage};

    fn turn(id: &str, question: &str, status: TurnStatus) -> Turn {
        Turn {
            id: TurnId::new(id),
            asked_at: "2026-01-01T00:00:00.000Z".into(),
            persona: "continuity-editor".into(),
            provider: "offline".into(),
            model: "offline".into(),
            question: question.into(),
            read_to: None,
            selection: None,
            tools: vec![],
            answer: String::new(),
            quotes: vec![],
            proposals: vec![],
            status,
            rounds: 0,
            tier: None,
            tier_asked: None,
            usage: Usage::default(),
            response_id: None,
        }
    }

    fn preface() -> Preface {
        Preface {
            told: vec![ProposalId::new("p-1")],
            fates: vec!["rejected".into()],
            items: vec![json!({"author": "Not yet."})],
        }
    }

    fn kept(id: &str) -> Kept {
        Kept {
            turn: Turn { answer: "Ilse.".into(), ..turn(id, "Who?", TurnStatus::Done) },
            items: vec![json!({"type": "reasoning", "encrypted_content": "x", "z": 1, "a": [null]})],
            material: vec![Stretch { path: BookPath::new("a.md").unwrap(), text: "Ilse.\r\n".into() }],
            kept_by_server: true,
            destination: "https://example.org/v1/responses".into(),
            preface: preface(),
        }
    }

    #[test]
    fn a_conversation_goes_on_where_it_ended() {
        let root = tempfile::tempdir().unwrap();
        let session = SessionId::new("s-1");
        assert!(load(root.path(), &session).unwrap().is_empty());
        assert!(!root.path().join(home::NAME).exists());
        for id in ["t-1", "t-2"] {
            start(root.path(), &session, &turn(id, "Who?", TurnStatus::Running), preface()).unwrap();
            end(root.path(), &session, kept(id)).unwrap();
        }
        assert_eq!(load(root.path(), &session).unwrap(), [kept("t-1"), kept("t-2")]);
    }

    #[test]
    fn turns_that_ran_side_by_side_are_not_continued_from() {
        let root = tempfile::tempdir().unwrap();
        let session = SessionId::new("s-1");
        let begin =
            |id| start(root.path(), &session, &turn(id, "Who?", TurnStatus::Running), preface()).unwrap();
        let over = |id| end(root.path(), &session, kept(id)).unwrap();
        begin("t-cut-off");
        begin("t-1");
        over("t-1");
        begin("t-2");
        begin("t-3");
        over("t-2");
        over("t-3");
        let turns = load(root.path(), &session).unwrap();
        let known: Vec<_> = turns.iter().map(|kept| (kept.turn.id.as_str(), kept.kept_by_server)).collect();
        assert_eq!(known, [("t-cut-off", false), ("t-1", true), ("t-2", false), ("t-3", false)]);
    }

    #[test]
    fn a_turn_that_was_cut_off_keeps_its_question() {
        let root = tempfile::tempdir().unwrap();
        let session = SessionId::new("s-1");
        start(root.path(), &session, &turn("t-1", "Who?", TurnStatus::Running), preface()).unwrap();
        end(root.path(), &session, kept("t-1")).unwrap();
        start(root.path(), &session, &turn("t-2", "And why?", TurnStatus::Running), preface()).unwrap();
        let file = root.path().join(".scritorio/sessions/s-1.jsonl");
        let mut bytes = fs::read(&file).unwrap();
        bytes.extend(b"{\"v\":1,\"id\":\"t-2\",\"event\":\"ended\",\"ke");
        fs::write(&file, bytes).unwrap();
        let turns = load(root.path(), &session).unwrap();
        assert_eq!(turns[1].turn.question, "And why?");
        assert_eq!(turns[1].turn.status, TurnStatus::Running);
        assert_eq!(turns.len(), 2);
    }

    #[test]
    fn the_conversation_that_was_used_last_comes_first() {
        let root = tempfile::tempdir().unwrap();
        assert!(list(root.path()).unwrap().is_empty());
        for (id, seconds) in [("s-1", 30), ("s-2", 10), ("s-3", 20)] {
            start(root.path(), &SessionId::new(id), &turn("t-1", "?", TurnStatus::Running), preface())
                .unwrap();
            let file = fs::File::options()
                .write(true)
                .open(root.path().join(format!(".scritorio/sessions/{id}.jsonl")))
                .unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
        }
        fs::write(root.path().join(".scritorio/sessions/notes.txt"), "").unwrap();
        let ids: Vec<_> = list(root.path()).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(ids, ["s-1", "s-3", "s-2"]);
    }

    #[test]
    fn an_id_that_is_a_path_is_refused() {
        let root = tempfile::tempdir().unwrap();
        assert!(load(root.path(), &SessionId::new("../../x")).is_err());
        assert!(
            start(root.path(), &SessionId::new("a/b"), &turn("t-1", "?", TurnStatus::Running), preface())
                .is_err()
        );
        assert!(!exists(root.path(), &SessionId::new("..")));
    }
}
