//! Conversations at a glance: what a list shows of them, and what was said in them.
//!
//! A line is read without what tools returned and what servers sent, which is most of it. A list keeps what it found in
//! `.scritorio/cache/sessions.json`, and reads a file again only when its length or its time has changed. The cache holds nothing that
//! is not in the conversations, and can be deleted at any time.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::domain::conversation::{Lack, Usage, Worth};
use crate::domain::ids::{SessionId, TurnId};
use crate::store::home;
use crate::store::jsonl::{self, Parsed};

use super::{FOLDER, Link, Origin, one_line, paid, path, staying};

const CACHE: &str = "cache/sessions.json";

/// Version of the cache. Another one is not read.
const CACHE_VERSION: u32 = 4;

/// Longest name that is made of a first question, in characters.
const SHORT: usize = 64;

/// What a list shows of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Which.
    pub session: SessionId,
    /// The name that the author gave it, else its first question, shortened.
    pub title: String,
    /// Whether the author named it.
    pub named: bool,
    /// Where it was forked off.
    pub forked_from: Option<Origin>,
    /// When its first question was asked, RFC 3339 in UTC.
    pub started_at: String,
    /// When something was last said in it, RFC 3339 in UTC.
    pub last_at: String,
    /// Number of questions.
    pub questions: usize,
    /// Number of questions and answers.
    pub messages: usize,
    /// Ids of the board members that were asked, in order.
    pub personas: Vec<String>,
    /// Who answered, in order.
    pub providers: Vec<String>,
    /// Models that answered, in order.
    pub models: Vec<String>,
    /// Tokens and cost of everything that was asked in it, also of turns that others took the place of. What a fork has copied was paid for in the
    /// other conversation.
    pub usage: Usage,
    /// Lines that could not be read.
    pub skipped: usize,
    /// How many of those a later version wrote.
    pub later: usize,
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Which turn.
    pub turn: TurnId,
    /// When it was asked, RFC 3339 in UTC.
    pub asked_at: String,
    /// Id of the board member that was asked.
    pub persona: String,
    /// What the author asked.
    pub question: String,
    /// What was answered, with locate markers as sent.
    pub answer: String,
}

/// Lists the conversations, the one in which something was said last first.
pub fn list(root: &Path) -> io::Result<Vec<Summary>> {
    let named = named(&home::path(root, FOLDER)?)?;
    if named.is_empty() {
        return Ok(vec![]);
    }
    let cache = Cache::read(root);
    let found = on_all_cores(named, |named, bytes| {
        let file = File::of(named)?;
        match cache.sessions.get(file.session.as_str()).filter(|known| known.fits(&file)) {
            Some(known) => Some((file, Summary::clone(&known.summary), true)),
            None => file.read(bytes, summary_of).map(|(file, summary)| (file, summary, false)),
        }
    });
    if found.iter().any(|(_, _, is_known)| !is_known) || found.len() != cache.sessions.len() {
        Cache::write(root, &found);
    }
    Ok(in_order(found.into_iter().map(|(_, summary, _)| summary).collect()))
}

/// Lists the conversations in a folder, without the cache.
pub(super) fn list_of(folder: &Path) -> io::Result<Vec<Summary>> {
    let found = on_all_cores(named(folder)?, |named, bytes| File::of(named)?.read(bytes, summary_of));
    Ok(in_order(found.into_iter().map(|(_, summary)| summary).collect()))
}

fn in_order(mut list: Vec<Summary>) -> Vec<Summary> {
    list.sort_by(|a, b| (&b.last_at, &b.session).cmp(&(&a.last_at, &a.session)));
    list
}

/// Reads what a list shows of one conversation.
pub fn summary(root: &Path, session: &SessionId) -> io::Result<Summary> {
    let path = path(root, session)?;
    let about = path.metadata()?;
    let file = File { session: session.clone(), path, length: about.len(), modified: about.modified().ok() };
    let bytes = fs::read(&file.path)?;
    Ok(summary_of(&file, &Glimpse::of(&bytes)))
}

/// Reads what was said in every conversation, in no order. One that can't be read says nothing.
pub fn all_said(root: &Path) -> io::Result<Vec<(Summary, Vec<Said>)>> {
    let said = |file: &File, glimpse: &Glimpse<'_>| (summary_of(file, glimpse), glimpse.said());
    let named = named(&home::path(root, FOLDER)?)?;
    let all = on_all_cores(named, |named, bytes| File::of(named)?.read(bytes, said));
    Ok(all.into_iter().map(|(_, both)| both).collect())
}

/// A file that is named like a conversation.
struct Named {
    session: SessionId,
    path: PathBuf,
}

/// Finds what is named like a conversation in a folder; one that does not exist has none.
fn named(folder: &Path) -> io::Result<Vec<Named>> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        other => other?,
    };
    let mut found = vec![];
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(id) = name.to_str().and_then(|n| n.strip_suffix(".jsonl")) else { continue };
        if home::file_name(id, "").is_ok() {
            found.push(Named { session: SessionId::new(id), path: entry.path() });
        }
    }
    Ok(found)
}

/// A conversation's file.
struct File {
    session: SessionId,
    path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
}

impl File {
    /// `None`: it is none, or has vanished meanwhile and is no conversation any more.
    fn of(Named { session, path }: Named) -> Option<Self> {
        let about = path.symlink_metadata().ok().filter(fs::Metadata::is_file)?;
        Some(Self { session, path, length: about.len(), modified: about.modified().ok() })
    }

    /// Reads it, and takes something of it. `bytes` is room that is used again for the next one.
    fn read<T>(self, bytes: &mut Vec<u8>, take: impl Fn(&Self, &Glimpse<'_>) -> T) -> Option<(Self, T)> {
        bytes.clear();
        fs::File::open(&self.path).and_then(|mut file| file.read_to_end(bytes)).ok()?;
        let taken = take(&self, &Glimpse::of(bytes));
        Some((self, taken))
    }
}

/// Takes something of each, in no order, on as many threads as there are cores. Each thread has room for the bytes of one file.
fn on_all_cores<T: Send>(
    named: Vec<Named>,
    take: impl Fn(Named, &mut Vec<u8>) -> Option<T> + Sync,
) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(8).min(named.len());
    let waiting = Mutex::new(named.into_iter());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        let (mut bytes, mut taken) = (vec![], vec![]);
        while let Some(named) = next() {
            taken.extend(take(named, &mut bytes));
        }
        taken
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut taken = work();
        taken.extend(others.into_iter().flat_map(|thread| thread.join().unwrap_or_default()));
        taken
    })
}

fn summary_of(file: &File, glimpse: &Glimpse<'_>) -> Summary {
    let turns =
        || glimpse.turns.iter().zip(&glimpse.stays).filter(|(_, stays)| **stays).map(|(turn, _)| turn);
    let first = turns().next();
    let default = || match first {
        Some(turn) => one_line(&turn.question, SHORT),
        None => "Nothing that can be read".to_owned(),
    };
    let title = glimpse.title.as_deref().filter(|title| !title.is_empty());
    let started_at = first.map(|turn| turn.asked_at.to_string());
    let modified = || file.modified.and_then(|at| jiff::Timestamp::try_from(at).ok());
    let usage = paid(glimpse.turns.iter().map(|turn| (&*turn.id, turn.usage)), glimpse.origin.as_ref());
    Summary {
        session: file.session.clone(),
        named: title.is_some(),
        title: title.map_or_else(default, str::to_owned),
        forked_from: glimpse.origin.clone(),
        started_at: started_at.unwrap_or_default(),
        last_at: match &glimpse.last_at {
            Some(at) => at.to_string(),
            None => modified().map(|at| format!("{at:.3}")).unwrap_or_default(),
        },
        questions: turns().count(),
        messages: turns().map(|turn| 1 + usize::from(!turn.answer.trim().is_empty())).sum(),
        personas: distinct(turns().map(|turn| &turn.persona)),
        providers: distinct(turns().map(|turn| &turn.provider)),
        models: distinct(turns().map(|turn| &turn.model)),
        usage,
        skipped: glimpse.skipped,
        later: glimpse.later,
    }
}

fn distinct<'a>(words: impl Iterator<Item = &'a Cow<'a, str>>) -> Vec<String> {
    let mut seen: Vec<String> = vec![];
    for word in words.filter(|word| !word.is_empty()) {
        if !seen.iter().any(|known| known == word) {
            seen.push(word.to_string());
        }
    }
    seen
}

/// A conversation without what tools and servers said.
#[derive(Default)]
struct Glimpse<'a> {
    title: Option<Cow<'a, str>>,
    origin: Option<Origin>,
    turns: Vec<Turn<'a>>,
    /// Which of them are a part of the conversation.
    stays: Vec<bool>,
    last_at: Option<Cow<'a, str>>,
    skipped: usize,
    later: usize,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    at: Cow<'a, str>,
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow, default)]
    turn: Option<Turn<'a>>,
    #[serde(borrow, default)]
    kept: Option<Kept<'a>>,
    #[serde(borrow, default)]
    title: Option<Cow<'a, str>>,
    #[serde(default)]
    origin: Option<Origin>,
}

#[derive(Deserialize)]
struct Kept<'a> {
    #[serde(borrow)]
    turn: Turn<'a>,
}

#[derive(Deserialize)]
struct Turn<'a> {
    #[serde(borrow)]
    asked_at: Cow<'a, str>,
    #[serde(borrow)]
    persona: Cow<'a, str>,
    #[serde(borrow)]
    provider: Cow<'a, str>,
    #[serde(borrow)]
    model: Cow<'a, str>,
    #[serde(borrow)]
    question: Cow<'a, str>,
    #[serde(borrow, default)]
    answer: Cow<'a, str>,
    #[serde(default)]
    lacks: Option<Lack>,
    #[serde(borrow)]
    status: Status<'a>,
    #[serde(default)]
    usage: Usage,
    #[serde(borrow, default)]
    replaces: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Status<'a> {
    #[serde(borrow)]
    state: Cow<'a, str>,
}

impl Turn<'_> {
    /// The same as [`crate::domain::conversation::Turn::worth`].
    fn worth(&self) -> Worth {
        match &*self.status.state {
            "done" => Worth::of_done(self.lacks),
            "cancelled" => Worth::of_stopped(&self.answer),
            _ => Worth::Nothing,
        }
    }
}

impl<'a> Glimpse<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        let mut glimpse = Self::default();
        let mut places: HashMap<String, usize> = HashMap::new();
        for line in jsonl::split(bytes) {
            match jsonl::parse::<Line<'a>>(line) {
                Parsed::Record(line) => glimpse.take(line, &mut places),
                Parsed::Later => {
                    glimpse.skipped += 1;
                    glimpse.later += 1;
                }
                Parsed::Broken => glimpse.skipped += 1,
            }
        }
        let links = glimpse.turns.iter().map(|turn| Link {
            id: &turn.id,
            replaces: turn.replaces.as_deref(),
            worth: turn.worth(),
        });
        glimpse.stays = staying(links);
        glimpse
    }

    fn take(&mut self, line: Line<'a>, places: &mut HashMap<String, usize>) {
        let turn = match (&*line.event, line.turn, line.kept) {
            ("started", Some(turn), _) => turn,
            ("ended", _, Some(kept)) => kept.turn,
            ("named", ..) => {
                self.title = line.title;
                return;
            }
            ("forked", ..) => {
                self.origin = line.origin;
                return;
            }
            _ => {
                self.skipped += 1;
                return;
            }
        };
        // The end of a turn that was cut off is written when it is settled: nothing was said then.
        let is_settled = &*line.event == "ended" && &*turn.status.state == "running";
        if !is_settled {
            self.last_at = Some(line.at);
        }
        if let Some(known) = places.get(&*turn.id).and_then(|place| self.turns.get_mut(*place)) {
            *known = turn;
        } else {
            places.insert(turn.id.to_string(), self.turns.len());
            self.turns.push(turn);
        }
    }

    fn said(&self) -> Vec<Said> {
        let turns = self.turns.iter().zip(&self.stays).filter(|(_, stays)| **stays).map(|(turn, _)| turn);
        let said = turns.map(|turn| Said {
            turn: TurnId::new(&*turn.id),
            asked_at: turn.asked_at.to_string(),
            persona: turn.persona.to_string(),
            question: turn.question.to_string(),
            answer: turn.answer.to_string(),
        });
        said.collect()
    }
}

/// What lists found before.
#[derive(Default, Serialize, Deserialize)]
struct Cache<'a> {
    v: u32,
    sessions: HashMap<Cow<'a, str>, Known<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Known<'a> {
    length: u64,
    /// Nanoseconds since 1970.
    modified: u64,
    summary: Cow<'a, Summary>,
}

impl Known<'_> {
    fn fits(&self, file: &File) -> bool {
        self.length == file.length
            && Some(self.modified) == file.time()
            && self.summary.session == file.session
    }
}

impl File {
    fn time(&self) -> Option<u64> {
        let since = self.modified?.duration_since(UNIX_EPOCH).ok()?;
        u64::try_from(since.as_nanos()).ok()
    }
}

impl Cache<'_> {
    /// What can't be read is nothing.
    fn read(root: &Path) -> Self {
        let bytes = home::path(root, CACHE).and_then(fs::read).unwrap_or_default();
        let cache: Self = serde_json::from_slice(&bytes).unwrap_or_default();
        if cache.v == CACHE_VERSION { cache } else { Self::default() }
    }

    /// What can't be written is not missed: the next list takes longer.
    fn write(root: &Path, found: &[(File, Summary, bool)]) {
        let known = found.iter().filter_map(|(file, summary, _)| {
            let summary = Cow::Borrowed(summary);
            let known = Known { length: file.length, modified: file.time()?, summary };
            Some((Cow::Borrowed(file.session.as_str()), known))
        });
        let cache = Cache { v: CACHE_VERSION, sessions: known.collect() };
        let written = serde_json::to_vec(&cache).map_err(io::Error::from);
        let _ = written.and_then(|bytes| overwrite(&home::make(root, CACHE)?, &bytes));
    }
}

/// Writes a file that need not outlive a power cut: half of it can't be read, and is nothing. While another program writes it, it is left to that one.
fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    if matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) {
        return Ok(());
    }
    file.set_len(0)?;
    file.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{HERE, talk};
    use super::super::{fork, load, read, rename};
    use super::*;
    use crate::domain::conversation::TurnStatus;

    fn cache(root: &Path) -> PathBuf {
        home::path(root, CACHE).unwrap()
    }

    #[test]
    fn a_list_says_what_the_whole_file_says() {
        let root = tempfile::tempdir().unwrap();
        let here = SessionId::new(HERE);
        assert!(list(root.path()).unwrap().is_empty());
        assert!(!root.path().join(home::NAME).exists(), "listing nothing leaves no trace");
        talk(root.path(), "t-1", TurnStatus::Done, None);
        talk(root.path(), "t-2", TurnStatus::Done, Some("t-1"));
        talk(root.path(), "t-3", TurnStatus::Running, None);
        talk(root.path(), "t-4", TurnStatus::Cancelled, None);
        let whole = read(root.path(), &here).unwrap();
        let one = &list(root.path()).unwrap()[0];
        assert_eq!((one.questions, one.messages), (whole.turns.len(), 5));
        assert_eq!((one.title.as_str(), one.named), ("Question t-2", false));
        assert_eq!(one.personas, ["continuity-editor"]);
        assert_eq!(*one, summary(root.path(), &here).unwrap());
        rename(root.path(), &here, "Who is Ilse?").unwrap();
        let one = &list(root.path()).unwrap()[0];
        assert_eq!((one.title.as_str(), one.named), ("Who is Ilse?", true));
        assert_eq!(one.usage, read(root.path(), &here).unwrap().usage);
        let forked = fork(root.path(), &here, None, "Copy").unwrap();
        let all = list(root.path()).unwrap();
        let forked = all.iter().find(|s| s.session == forked).unwrap();
        assert_eq!(forked.forked_from.as_ref().map(|o| &o.session), Some(&here));
        assert_eq!(forked.questions, load(root.path(), &here).unwrap().len());
    }

    #[test]
    fn the_conversation_in_which_something_was_said_last_comes_first() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(".scritorio/sessions");
        fs::create_dir_all(&folder).unwrap();
        for (id, hour) in [("s-1", 12), ("s-2", 10), ("s-3", 11)] {
            let turn = super::super::tests::turn("t-1", "?", TurnStatus::Running);
            let line = serde_json::json!({
                "v": 1, "id": "t-1", "at": format!("2026-01-01T{hour}:00:00.000Z"), "event": "started", "turn": turn,
            });
            fs::write(folder.join(format!("{id}.jsonl")), format!("{line}\n")).unwrap();
        }
        fs::write(folder.join("notes.txt"), "").unwrap();
        fs::create_dir(folder.join("folder.jsonl")).unwrap();
        let ids =
            || list(root.path()).unwrap().into_iter().map(|s| s.session.to_string()).collect::<Vec<_>>();
        assert_eq!(ids(), ["s-1", "s-3", "s-2"]);
        rename(root.path(), &SessionId::new("s-2"), "Renamed").unwrap();
        assert_eq!(ids(), ["s-1", "s-3", "s-2"], "a new name is nothing said");
    }

    #[test]
    fn the_cache_is_only_believed_where_the_file_is_as_it_was() {
        let root = tempfile::tempdir().unwrap();
        talk(root.path(), "t-1", TurnStatus::Done, None);
        let first = list(root.path()).unwrap();
        let text = fs::read_to_string(cache(root.path())).unwrap();
        fs::write(cache(root.path()), text.replace("Question t-1", "From the cache")).unwrap();
        assert_eq!(list(root.path()).unwrap()[0].title, "From the cache", "the file is not read again");
        talk(root.path(), "t-2", TurnStatus::Done, None);
        let second = list(root.path()).unwrap();
        assert_eq!((second[0].title.as_str(), second[0].questions), ("Question t-1", 2));
        for broken in ["", "{", "[]", "{\"v\":9,\"sessions\":{}}"] {
            fs::write(cache(root.path()), broken).unwrap();
            assert_eq!(list(root.path()).unwrap(), second);
        }
        super::super::delete(root.path(), &SessionId::new(HERE)).unwrap();
        assert!(list(root.path()).unwrap().is_empty());
        assert_eq!(first.len(), 1);
    }

    #[test]
    fn a_file_that_holds_nothing_known_is_listed_all_the_same() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(".scritorio/sessions");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("s-1.jsonl"), "{\"v\":2,\"id\":\"t-1\",\"event\":\"sung\"}\n{\"torn").unwrap();
        let one = &list(root.path()).unwrap()[0];
        assert_eq!((one.title.as_str(), one.skipped, one.later), ("Nothing that can be read", 2, 1));
        assert!(one.last_at.ends_with('Z'), "{}", one.last_at);
    }

    #[test]
    fn what_was_said_is_what_stands_in_the_conversation() {
        let root = tempfile::tempdir().unwrap();
        talk(root.path(), "t-1", TurnStatus::Done, None);
        talk(root.path(), "t-2", TurnStatus::Done, Some("t-1"));
        let all = all_said(root.path()).unwrap();
        let words: Vec<_> = all[0].1.iter().map(|s| (s.question.as_str(), s.answer.as_str())).collect();
        assert_eq!(words, [("Question t-2", "Ilse.")]);
    }
}
