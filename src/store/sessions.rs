//! Conversations: `.scritorio/sessions/<id>.jsonl`, only ever appended to.
//!
//! A turn is written twice: when it starts, so that the question survives a crash, and when it has ended, with everything that
//! the next turn needs. A turn without an end was cut off; it is kept as running, without items. When what it cost is known it gets an end that says so, and is still
//! running. A question that was edited or asked again
//! starts a turn that names the one whose place it takes. The older one stays in the file and leaves the conversation only when the newer
//! one is worth as much: a retry that fails or is stopped costs nothing.
//!
//! A conversation that is deleted while it is answered takes the answer with it: into the bin, or nowhere where it was deleted for ever.
//!
//! Nothing here changes or drops a line. A line that a crash tore, or that a later version wrote, is left where it is, skipped and counted.

mod bin;
mod fork;
mod glance;
#[cfg(test)]
#[cfg(unix)]
mod kill_tests;
mod opening;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::conversation::{Turn, TurnStatus, Usage, Worth};
use crate::domain::ids::{BookPath, ProposalId, SessionId, TurnId};

use super::{home, jsonl};

pub use bin::{delete, delete_for_ever, deleted, restore};
pub use fork::fork;
pub use glance::{Said, Summary, all_said, list, summary};
pub use opening::{keep_opening, opening};

const FOLDER: &str = "sessions";

/// Longest name of a conversation, in characters.
pub const MAX_TITLE: usize = 120;

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
    /// How many of the oldest turns before it were left out, since the conversation was too long for its model.
    #[serde(default, skip_serializing_if = "is_none")]
    pub left_out: usize,
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

/// Where a conversation was forked off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// From which conversation.
    pub session: SessionId,
    /// After which turn.
    pub turn: TurnId,
}

/// A conversation as it was kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    /// The name that the author gave it.
    pub title: Option<String>,
    /// Where it was forked off.
    pub origin: Option<Origin>,
    /// Its turns, oldest first.
    pub turns: Vec<Kept>,
    /// Turns that others have taken the place of, oldest first.
    pub replaced: Vec<Kept>,
    /// What was used in it, as [`Summary::usage`] says it.
    pub usage: Usage,
    /// Lines that could not be read.
    pub skipped: usize,
    /// How many of those a later version wrote.
    pub later: usize,
}

/// A line. The id names the turn, or the conversation where the line is about all of it.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    v: u32,
    id: String,
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
    Named {
        title: String,
    },
    Forked {
        origin: Origin,
    },
}

/// Notes that a turn has begun.
pub fn start(root: &Path, session: &SessionId, turn: &Turn, preface: Preface) -> io::Result<()> {
    let line = Line::now(turn.id.as_str(), Event::Started { turn: Box::new(turn.clone()), preface });
    append_or_make(root, session, line)
}

/// Keeps a turn that is over.
pub fn end(root: &Path, session: &SessionId, kept: Kept) -> io::Result<()> {
    append_or_make(root, session, Line::ended(kept))
}

/// Keeps a turn that is over, of a conversation that was there when it began. An error of the kind `NotFound` says that it was deleted for ever since: then
/// nothing of it is kept.
pub fn end_begun(root: &Path, session: &SessionId, kept: Kept) -> io::Result<()> {
    let kept = append(root, session, &Line::ended(kept));
    if kept.as_ref().is_err_and(|why| why.kind() == io::ErrorKind::NotFound) {
        opening::forget_opening(root, session)?;
    }
    kept
}

/// Gives a conversation another name: one line, cut at [`MAX_TITLE`] characters. An empty one brings the first question back.
pub fn rename(root: &Path, session: &SessionId, title: &str) -> io::Result<()> {
    must_exist(root, session)?;
    append(root, session, &Line::now(session.as_str(), Event::Named { title: one_line(title, MAX_TITLE) }))
}

/// Reads the turns of a conversation, oldest first; one that does not exist has none.
pub fn load(root: &Path, session: &SessionId) -> io::Result<Vec<Kept>> {
    Ok(read(root, session)?.turns)
}

/// Reads a conversation; one that does not exist is empty. A turn that ran beside another one has words before it
/// that its server was not sent, so that the next one must not continue from it: it counts as not kept by the server.
pub fn read(root: &Path, session: &SessionId) -> io::Result<Session> {
    let lines = jsonl::read::<Line>(&path(root, session)?)?;
    let mut found = Session { skipped: lines.skipped, later: lines.later, ..Session::default() };
    let mut turns: Vec<Kept> = vec![];
    let mut places: HashMap<TurnId, usize> = HashMap::new();
    let mut before: Option<TurnId> = None;
    for line in lines.records {
        let (kept, is_end) = match line.event {
            Event::Started { turn, preface } => (Kept::started(*turn, preface), false),
            Event::Ended { kept } => (*kept, true),
            Event::Named { title } => {
                found.title = Some(title).filter(|title| !title.is_empty());
                continue;
            }
            Event::Forked { origin } => {
                found.origin = Some(origin);
                continue;
            }
        };
        let id = kept.turn.id.clone();
        let is_settled = is_end && kept.turn.status == TurnStatus::Running;
        let alone = !is_settled && before.replace(id.clone()).is_some_and(|before| before == id);
        let kept = if is_end { Kept { kept_by_server: kept.kept_by_server && alone, ..kept } } else { kept };
        if let Some(known) = places.get(&id).and_then(|place| turns.get_mut(*place)) {
            *known = Kept { preface: std::mem::take(&mut known.preface), ..kept };
        } else {
            places.insert(id, turns.len());
            turns.push(kept);
        }
    }
    found.usage =
        paid(turns.iter().map(|kept| (kept.turn.id.as_str(), kept.turn.usage)), found.origin.as_ref());
    let stays = staying(turns.iter().map(|kept| Link::of(&kept.turn)));
    for (kept, stays) in turns.into_iter().zip(stays) {
        if stays { found.turns.push(kept) } else { found.replaced.push(kept) }
    }
    Ok(found)
}

/// Sums up what the turns of a file used, in its order, also those that others took the place of. What a fork has copied, up to the turn after
/// which it goes its own way, was paid for in the other conversation.
fn paid<'a>(turns: impl Iterator<Item = (&'a str, Usage)>, origin: Option<&Origin>) -> Usage {
    turns.fold(Usage::default(), |sum, (id, usage)| {
        let is_last_copy = origin.is_some_and(|origin| origin.turn.as_str() == id);
        if is_last_copy { Usage::default() } else { sum + usage }
    })
}

/// What of a turn says whether it is a part of the conversation.
struct Link<'a> {
    id: &'a str,
    replaces: Option<&'a str>,
    worth: Worth,
}

impl<'a> Link<'a> {
    fn of(turn: &'a Turn) -> Self {
        Self {
            id: turn.id.as_str(),
            replaces: turn.replaces.as_ref().map(TurnId::as_str),
            worth: turn.worth(),
        }
    }
}

/// Says which turns are a part of the conversation. A turn takes the place of the one that it replaces, and of those that that one would have
/// replaced, where it is worth as much: a retry that fails or is stopped leaves a whole answer where it is.
fn staying<'a>(links: impl Iterator<Item = Link<'a>>) -> Vec<bool> {
    let links: Vec<Link<'a>> = links.collect();
    let places: HashMap<&str, usize> = links.iter().enumerate().map(|(at, link)| (link.id, at)).collect();
    let mut stays = vec![true; links.len()];
    for (at, link) in links.iter().enumerate() {
        let mut next = link.replaces;
        let mut last = at;
        // Only backwards: a chain that a damaged file closes to a ring has an end.
        while let Some(place) = next.and_then(|id| places.get(id)).copied().filter(|place| *place < last) {
            if link.worth >= links[place].worth {
                stays[place] = false;
            }
            last = place;
            next = links[place].replaces;
        }
    }
    stays
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none(left_out: &usize) -> bool {
    *left_out == 0
}

impl Kept {
    fn started(turn: Turn, preface: Preface) -> Self {
        Self {
            turn,
            items: vec![],
            material: vec![],
            kept_by_server: false,
            destination: String::new(),
            left_out: 0,
            preface,
        }
    }
}

/// Whether a conversation has been stored.
pub fn exists(root: &Path, session: &SessionId) -> bool {
    path(root, session).is_ok_and(|p| p.is_file())
}

fn must_exist(root: &Path, session: &SessionId) -> io::Result<()> {
    if exists(root, session) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no conversation {session}")))
}

/// Puts words on one line, and cuts them between words after so many characters.
pub(super) fn one_line(words: &str, most: usize) -> String {
    let mut line = String::new();
    for word in words.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        let length = line.chars().count();
        if length > 0 && length + 1 + word.chars().count() > most {
            line.push_str("...");
            return line;
        }
        if length > 0 {
            line.push(' ');
        }
        line.extend(word.chars().take(most));
    }
    line
}

/// Appends a line to a conversation wherever it stands, which is the bin where it was deleted meanwhile.
fn append(root: &Path, session: &SessionId, line: &Line) -> io::Result<()> {
    let (here, in_bin) = (path(root, session)?, bin::place(root, session)?);
    // It may be brought back between the first look and the second.
    for file in [&here, &in_bin, &here] {
        match jsonl::append_if_there(file, std::slice::from_ref(line)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("the conversation {session} was deleted for ever")))
}

/// The same, of a conversation that may not be there yet.
fn append_or_make(root: &Path, session: &SessionId, line: Line) -> io::Result<()> {
    match append(root, session, &line) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            home::make(root, &format!("{FOLDER}/{}", home::file_name(session.as_str(), ".jsonl")?))?;
            jsonl::append(&path(root, session)?, &[line])
        }
        done => done,
    }
}

impl Line {
    fn now(id: &str, event: Event) -> Self {
        Self { v: jsonl::VERSION, id: id.to_owned(), at: super::now(), event }
    }

    fn ended(kept: Kept) -> Self {
        Self::now(kept.turn.id.clone().as_str(), Event::Ended { kept: Box::new(kept) })
    }
}

fn path(root: &Path, session: &SessionId) -> io::Result<PathBuf> {
    home::path(root, &format!("{FOLDER}/{}", home::file_name(session.as_str(), ".jsonl")?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::domain::conversation::{Failure, FailureKind, Lack, TurnStatus};

    pub(super) fn turn(id: &str, question: &str, status: TurnStatus) -> Turn {
        Turn {
            id: TurnId::new(id),
            asked_at: "2026-01-01T00:00:00.000Z".into(),
            persona: "continuity-editor".into(),
            provider: "offline".into(),
            model: "offline".into(),
            question: question.into(),
            read_to: None,
            replaces: None,
            notices: vec![],
            selection: None,
            tools: vec![],
            answer: String::new(),
            lacks: None,
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

    pub(super) fn preface() -> Preface {
        Preface {
            told: vec![ProposalId::new("p-1")],
            fates: vec!["rejected".into()],
            items: vec![json!({"author": "Not yet."})],
        }
    }

    pub(super) fn kept(id: &str) -> Kept {
        Kept {
            turn: Turn { answer: "Ilse.".into(), ..turn(id, "Who?", TurnStatus::Done) },
            items: vec![json!({"type": "reasoning", "encrypted_content": "x", "z": 1, "a": [null]})],
            material: vec![Stretch { path: BookPath::new("a.md").unwrap(), text: "Ilse.\r\n".into() }],
            kept_by_server: true,
            destination: "https://example.org/v1/responses".into(),
            left_out: 0,
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
    fn an_id_that_is_a_path_is_refused() {
        let root = tempfile::tempdir().unwrap();
        assert!(load(root.path(), &SessionId::new("../../x")).is_err());
        assert!(
            start(root.path(), &SessionId::new("a/b"), &turn("t-1", "?", TurnStatus::Running), preface())
                .is_err()
        );
        assert!(!exists(root.path(), &SessionId::new("..")));
    }

    pub(super) const HERE: &str = "s-1";

    /// A question and what came of it; `replaces` names the turn whose place it takes.
    pub(super) fn talk(root: &Path, id: &str, status: TurnStatus, replaces: Option<&str>) {
        talk_that_lacks(None, root, id, status, replaces);
    }

    fn talk_that_lacks(
        lacks: Option<Lack>,
        root: &Path,
        id: &str,
        status: TurnStatus,
        replaces: Option<&str>,
    ) {
        let session = SessionId::new(HERE);
        let mut kept = kept(id);
        kept.turn.question = format!("Question {id}");
        kept.turn.replaces = replaces.map(TurnId::new);
        kept.turn.lacks = lacks;
        let begun = Turn { status: TurnStatus::Running, answer: String::new(), ..kept.turn.clone() };
        start(root, &session, &begun, Preface::default()).unwrap();
        if matches!(status, TurnStatus::Failed(_)) {
            kept.turn.answer = String::new();
        }
        kept.turn.status = status;
        if kept.turn.status != TurnStatus::Running {
            end(root, &session, kept).unwrap();
        }
    }

    fn failed() -> TurnStatus {
        let (message, hint) = ("No network.".into(), "Connect it.".into());
        TurnStatus::Failed(Failure { kind: FailureKind::Provider, message, hint })
    }

    pub(super) fn ids(turns: &[Kept]) -> Vec<&str> {
        turns.iter().map(|kept| kept.turn.id.as_str()).collect()
    }

    #[test]
    fn an_edited_question_takes_the_place_of_the_last_and_nothing_is_lost() {
        let root = tempfile::tempdir().unwrap();
        talk(root.path(), "t-1", TurnStatus::Done, None);
        talk(root.path(), "t-2", TurnStatus::Done, None);
        talk(root.path(), "t-3", TurnStatus::Done, Some("t-2"));
        let session = read(root.path(), &SessionId::new(HERE)).unwrap();
        assert_eq!(ids(&session.turns), ["t-1", "t-3"]);
        assert_eq!(ids(&session.replaced), ["t-2"]);
        assert_eq!(session.replaced[0].turn.question, "Question t-2");
        assert!(session.turns[1].kept_by_server);
    }

    /// The turns that are a part of the conversation.
    fn standing(root: &Path) -> String {
        let turns = load(root, &SessionId::new(HERE)).unwrap();
        let listed = summary(root, &SessionId::new(HERE)).unwrap().questions;
        assert_eq!(listed, turns.len(), "the list counts the same");
        ids(&turns).join(" ")
    }

    #[test]
    fn a_retry_that_fails_leaves_the_answer_there_was() {
        let root = tempfile::tempdir().unwrap();
        let now = || standing(root.path());
        talk(root.path(), "t-1", TurnStatus::Done, None);
        talk(root.path(), "t-2", failed(), Some("t-1"));
        assert_eq!(now(), "t-1 t-2");
        talk(root.path(), "t-3", failed(), Some("t-2"));
        assert_eq!(now(), "t-1 t-3", "one failure is enough");
        talk(root.path(), "t-4", TurnStatus::Running, Some("t-3"));
        assert_eq!(now(), "t-1 t-4");
        talk(root.path(), "t-5", TurnStatus::Done, Some("t-4"));
        assert_eq!(now(), "t-5");
    }

    #[test]
    fn a_retry_that_is_stopped_leaves_a_whole_answer_and_takes_the_place_of_a_part() {
        let root = tempfile::tempdir().unwrap();
        let now = || standing(root.path());
        talk(root.path(), "t-1", TurnStatus::Done, None);
        talk(root.path(), "t-2", TurnStatus::Cancelled, Some("t-1"));
        assert_eq!(now(), "t-1 t-2");
        talk(root.path(), "t-3", TurnStatus::Cancelled, Some("t-2"));
        assert_eq!(now(), "t-1 t-3", "one part is enough");
        talk(root.path(), "t-4", failed(), Some("t-3"));
        assert_eq!(now(), "t-1 t-3 t-4");
        talk(root.path(), "t-5", TurnStatus::Done, Some("t-4"));
        assert_eq!(now(), "t-5");
    }

    #[test]
    fn a_retry_that_is_cut_or_without_words_leaves_a_whole_answer() {
        let root = tempfile::tempdir().unwrap();
        let now = || standing(root.path());
        let again = |id: &str, lacks: Lack, replaces: &str| {
            talk_that_lacks(Some(lacks), root.path(), id, TurnStatus::Done, Some(replaces));
        };
        talk(root.path(), "t-1", TurnStatus::Done, None);
        let lines = fs::read_to_string(path(root.path(), &SessionId::new(HERE)).unwrap()).unwrap();
        assert!(!lines.contains("lacks"), "a whole answer is kept as it always was");
        again("t-2", Lack::Words, "t-1");
        assert_eq!(now(), "t-1 t-2");
        again("t-3", Lack::Rest, "t-2");
        assert_eq!(now(), "t-1 t-3", "a part is more than nothing");
        again("t-4", Lack::Words, "t-3");
        assert_eq!(now(), "t-1 t-3 t-4");
        talk(root.path(), "t-5", TurnStatus::Done, Some("t-4"));
        assert_eq!(now(), "t-5");
    }

    #[test]
    fn a_damaged_file_whose_turns_replace_each_other_is_read_to_its_end() {
        let root = tempfile::tempdir().unwrap();
        talk(root.path(), "t-1", TurnStatus::Done, Some("t-2"));
        talk(root.path(), "t-2", TurnStatus::Done, Some("t-1"));
        talk(root.path(), "t-3", TurnStatus::Done, Some("t-3"));
        let turns = load(root.path(), &SessionId::new(HERE)).unwrap();
        assert_eq!(ids(&turns), ["t-2", "t-3"]);
    }

    #[test]
    fn a_name_is_one_line_and_the_last_one_counts() {
        let root = tempfile::tempdir().unwrap();
        let session = SessionId::new(HERE);
        let refused = rename(root.path(), &session, "x").unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::NotFound);
        assert!(!root.path().join(home::NAME).exists());
        talk(root.path(), "t-1", TurnStatus::Done, None);
        let title = || read(root.path(), &session).unwrap().title;
        assert_eq!(title(), None);
        rename(root.path(), &session, "  The\nlamp\u{1b} and Mira ").unwrap();
        assert_eq!(title().as_deref(), Some("The lamp and Mira"));
        rename(root.path(), &session, &"long words ".repeat(40)).unwrap();
        assert!(title().unwrap().chars().count() <= MAX_TITLE + 3);
        rename(root.path(), &session, "").unwrap();
        assert_eq!(title(), None);
    }

    #[test]
    fn a_name_that_was_given_while_a_turn_ran_does_not_part_it_from_its_server() {
        let root = tempfile::tempdir().unwrap();
        let session = SessionId::new(HERE);
        start(root.path(), &session, &turn("t-1", "?", TurnStatus::Running), preface()).unwrap();
        rename(root.path(), &session, "Named").unwrap();
        end(root.path(), &session, kept("t-1")).unwrap();
        assert!(load(root.path(), &session).unwrap()[0].kept_by_server);
    }

    #[test]
    fn a_file_cut_at_any_byte_opens_and_goes_on() {
        let root = tempfile::tempdir().unwrap();
        let session = SessionId::new(HERE);
        talk(root.path(), "t-1", TurnStatus::Done, None);
        let whole_lines = fs::read(path(root.path(), &session).unwrap()).unwrap().len();
        rename(root.path(), &session, "Ilse Søndergaard").unwrap();
        talk(root.path(), "t-2", TurnStatus::Done, Some("t-1"));
        let file = path(root.path(), &session).unwrap();
        let whole = fs::read(&file).unwrap();
        for cut in whole_lines..whole.len() {
            fs::write(&file, &whole[..cut]).unwrap();
            let before = read(root.path(), &session).unwrap();
            let all: Vec<_> = before.turns.iter().chain(&before.replaced).collect();
            assert!(
                all.iter().any(|k| k.turn.id.as_str() == "t-1" && k.turn.answer == "Ilse."),
                "cut at {cut}"
            );
            assert!(before.skipped <= 1 && before.later == 0, "cut at {cut}");
            talk(root.path(), "t-9", TurnStatus::Done, None);
            let after = read(root.path(), &session).unwrap();
            assert_eq!(after.turns.last().map(|k| k.turn.id.as_str()), Some("t-9"), "cut at {cut}");
            assert_eq!(after.turns.len(), before.turns.len() + 1, "cut at {cut}");
            assert!(after.skipped <= 1, "cut at {cut}");
            assert!(fs::read(&file).unwrap().starts_with(&whole[..cut]), "nothing is taken away");
        }
    }

    #[test]
    fn lines_of_a_later_version_are_counted_and_stay() {
        let root = tempfile::tempdir().unwrap();
        let session = SessionId::new(HERE);
        talk(root.path(), "t-1", TurnStatus::Done, None);
        let file = path(root.path(), &session).unwrap();
        let later = "{\"v\":2,\"id\":\"t-2\",\"event\":\"sung\"}\n";
        fs::write(&file, fs::read_to_string(&file).unwrap() + later).unwrap();
        talk(root.path(), "t-3", TurnStatus::Done, None);
        let found = read(root.path(), &session).unwrap();
        assert_eq!((ids(&found.turns), found.skipped, found.later), (vec!["t-1", "t-3"], 1, 1));
        assert!(fs::read_to_string(&file).unwrap().contains(later));
    }
}
