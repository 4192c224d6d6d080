//! What left this machine: `.scritorio/ledger/<machine>.jsonl`, only ever appended to, and left alone by git; what left without an open book stands in `ledger/` in
//! the data folder.
//!
//! Each attempt to ask a server is two lines. The first is on the disk before the first byte leaves, and says where it goes, how much it is and which
//! stretches of which files it holds. The second says how it ended and what it cost; where the program was killed, one that runs later writes it. Holds metadata and hashes, never a word
//! of the book, of a question or of an answer, and no key.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::conversation::Usage;
use crate::domain::ids::{BookPath, SessionId, TurnId};

use super::{atomic, home, jsonl, machine};

const FOLDER: &str = "ledger";

/// An attempt to ask a server, as it was noted before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// What for.
    pub purpose: Purpose,
    /// The conversation; `None` outside of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The turn; `None` outside of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// A URL without credentials.
    pub destination: String,
    /// Provider's name.
    pub provider: String,
    /// Model's name.
    pub model: String,
    /// Tier that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Bytes of the body.
    pub bytes: usize,
    /// SHA-256 of the body, lowercase hex.
    pub sha256: String,
    /// Tokens of what is sent, estimated; `None`: nothing is sent, or it was noted before these were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The program that sends it, by its name in `running/` in the data folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Names of the tools on offer.
    #[serde(default)]
    pub tools: Vec<String>,
    /// What the author said in it.
    #[serde(default)]
    pub author: Said,
    /// The stretches of the book's files in it.
    #[serde(default)]
    pub spans: Vec<Span>,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// An answer.
    Turn,
    /// Vectors of texts.
    Embeddings,
    /// Whether a provider works, asked with a few words that are no one's prose.
    Check,
    /// The list of a server's models: a request without a body.
    Models,
}

/// The author's own messages in a request, by their length alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// How many.
    pub messages: usize,
    /// Characters of all.
    pub chars: usize,
}

/// A stretch of a file of the book that is in a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub path: BookPath,
    /// First byte in the file.
    pub start: usize,
    /// Byte behind its last.
    pub end: usize,
    /// SHA-256 of the file's bytes there, lowercase hex.
    pub sha256: String,
    /// Words.
    pub words: usize,
    /// How it got into the body.
    pub through: Through,
    /// Whether it is in the body byte for byte; else its words are, with other marks or spaces between them.
    pub exact: bool,
}

/// How a stretch got into a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Through {
    /// A tool returned it, in this turn or an earlier one.
    Tool(String),
    /// The context message, where a model has no tools.
    Context,
    /// The system prompt, which holds what the book says to its board.
    Prompt,
    /// The model had said it, and it was sent back.
    Model,
    /// A text that is to become a vector.
    Text,
    /// The program told what became of a proposal, by what the model had said that it was for and the author's reason.
    News,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// `answered`, `failed`, `given_up`, or [`Ended::KILLED`].
    pub end: String,
    /// HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Bytes of the answer that arrived.
    pub received: u64,
    /// Tier that the server said it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Tokens as far as the server told, else by an estimate; the cost by the server's word or by prices, and marked where it is an estimate or not known.
    #[serde(default)]
    pub usage: Usage,
}

impl Ended {
    /// How an attempt ended whose program was killed.
    pub const KILLED: &str = "killed";
}

/// An attempt of this machine without an end.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    /// Its id, by which its end can be noted.
    pub id: String,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// What was noted before.
    pub sent: Sent,
}

/// An attempt with its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Machine that it left.
    pub machine: String,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// What was noted before.
    pub sent: Sent,
    /// What was noted after; `None`: no end was recorded, since it is under way or the program was killed.
    pub ended: Option<Ended>,
}

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
    Sent(Box<Sent>),
    Ended(Ended),
}

/// The ledger of one book, as this machine writes it. Opening one writes nothing.
#[derive(Debug, Clone)]
pub struct Egress {
    /// The book's folder; `None` without a book.
    root: Option<PathBuf>,
    data: PathBuf,
}

/// Requests, each with its end where it has one, and how many lines could not be read.
type OpenAndUnread = (Vec<(Open, Option<Ended>)>, usize);

impl Egress {
    /// Takes the book in `root`; `data` is the program's data folder, which holds this machine's name.
    pub fn new(root: &Path, data: &Path) -> Self {
        Self { root: Some(root.to_path_buf()), data: data.to_path_buf() }
    }

    /// The ledger of what leaves while no book is open.
    pub fn without_book(data: &Path) -> Self {
        Self { root: None, data: data.to_path_buf() }
    }

    /// Says where it stands, and in whose folder, in words for a message.
    pub fn place(&self) -> (&'static str, &'static str) {
        match self.root {
            Some(_) => (".scritorio/ledger", "the book's folder"),
            None => ("`ledger` in the data folder", "the data folder"),
        }
    }

    /// Notes an attempt, durably: when this returns it is on the disk. Makes `.scritorio`. Returns its id.
    pub fn sending(&self, sent: Sent) -> io::Result<String> {
        let id = format!("e-{}", ulid::Ulid::generate());
        self.append(&id, Event::Sent(Box::new(sent)), true)?;
        Ok(id)
    }

    /// Notes how an attempt ended. Nothing waits for the disk: the next attempt does.
    pub fn ended(&self, id: &str, ended: Ended) -> io::Result<()> {
        self.append(id, Event::Ended(ended), false)
    }

    fn append(&self, id: &str, event: Event, durable: bool) -> io::Result<()> {
        let machine = machine::name(&self.data, true)?;
        let name = format!("{FOLDER}/{machine}.jsonl");
        let path = if let Some(root) = &self.root {
            home::make(root, &name)?
        } else {
            atomic::make_folders(&self.data.join(FOLDER))?;
            self.data.join(name)
        };
        let line = Line { v: jsonl::VERSION, id: id.to_owned(), at: super::now(), event };
        if durable { jsonl::append(&path, &[line]) } else { jsonl::append_soon(&path, &[line]) }
    }

    fn path(&self, name: &str) -> io::Result<PathBuf> {
        match &self.root {
            Some(root) => home::path(root, name),
            None => Ok(self.data.join(name)),
        }
    }

    /// Reads what left any machine with this book, oldest first, and how many lines could not be read. An end without a beginning counts among these.
    pub fn read(&self) -> io::Result<(Vec<Attempt>, usize)> {
        let entries = match std::fs::read_dir(self.path(FOLDER)?) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((vec![], 0)),
            other => other?,
        };
        let (mut attempts, mut skipped) = (vec![], 0);
        for entry in entries {
            let name = entry?.file_name();
            let Some(machine) = name.to_str().and_then(|n| n.strip_suffix(".jsonl")) else { continue };
            if home::file_name(machine, "").is_err() {
                continue;
            }
            let (of_machine, not_read) = self.read_of(machine)?;
            skipped += not_read;
            attempts.extend(of_machine.into_iter().map(|(Open { at, sent, .. }, ended)| Attempt {
                machine: machine.to_owned(),
                at,
                sent,
                ended,
            }));
        }
        attempts.sort_by(|a: &Attempt, b: &Attempt| a.at.cmp(&b.at));
        Ok((attempts, skipped))
    }

    /// Returns the attempts of this machine that have no end, oldest first.
    pub fn open(&self) -> io::Result<Vec<Open>> {
        let (attempts, _) = self.read_here()?;
        Ok(attempts.into_iter().filter(|(_, ended)| ended.is_none()).map(|(open, _)| open).collect())
    }

    /// Returns the names of the programs that sent anything from this machine.
    pub fn processes(&self) -> io::Result<HashSet<String>> {
        let (attempts, _) = self.read_here()?;
        Ok(attempts.into_iter().filter_map(|(open, _)| open.sent.process).collect())
    }

    fn read_here(&self) -> io::Result<OpenAndUnread> {
        match machine::name(&self.data, false) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok((vec![], 0)),
            name => self.read_of(&name?),
        }
    }

    /// Reads what left one machine, each with its end, and how many lines could not be read.
    fn read_of(&self, machine: &str) -> io::Result<OpenAndUnread> {
        let lines = jsonl::read::<Line>(&self.path(&format!("{FOLDER}/{machine}.jsonl"))?)?;
        let (mut attempts, mut skipped) = (vec![], lines.skipped);
        let mut known: HashMap<String, usize> = HashMap::new();
        for Line { id, at, event, .. } in lines.records {
            match event {
                Event::Sent(sent) => {
                    known.insert(id.clone(), attempts.len());
                    attempts.push((Open { id, at, sent: *sent }, None));
                }
                Event::Ended(ended) => match known.get(&id) {
                    Some(at) => attempts[*at].1 = Some(ended),
                    None => skipped += 1,
                },
            }
        }
        Ok((attempts, skipped))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn sent(bytes: usize) -> Sent {
        Sent {
            purpose: Purpose::Turn,
            session: Some(SessionId::new("s-1")),
            turn: Some(TurnId::new("t-1")),
            destination: "https://example.org/v1/responses".into(),
            provider: "openai".into(),
            model: "m".into(),
            tier: Some("flex".into()),
            bytes,
            sha256: "00".into(),
            tokens: Some(40),
            process: None,
            tools: vec!["search_codex".into()],
            author: Said { messages: 1, chars: 12 },
            spans: vec![Span {
                path: BookPath::new("manuscript/01.md").unwrap(),
                start: 3,
                end: 9,
                sha256: "ff".into(),
                words: 5,
                through: Through::Tool("get_manuscript_context".into()),
                exact: true,
            }],
        }
    }

    fn ended() -> Ended {
        Ended {
            end: "answered".into(),
            status: Some(200),
            received: 7,
            tier: Some("default".into()),
            usage: Usage { input_tokens: Some(3), ..Usage::default() },
        }
    }

    fn ledger(folder: &Path) -> Egress {
        fs::create_dir_all(folder.join("book")).unwrap();
        Egress::new(&folder.join("book"), &folder.join("data"))
    }

    #[test]
    fn an_attempt_is_read_back_with_its_end_and_one_without_an_end_stays_open() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(folder.path());
        assert_eq!(ledger.read().unwrap(), (vec![], 0));
        assert!(!folder.path().join("book/.scritorio").exists(), "reading makes nothing");
        let first = ledger.sending(sent(1)).unwrap();
        ledger.sending(sent(2)).unwrap();
        ledger.ended(&first, ended()).unwrap();
        let (attempts, skipped) = ledger.read().unwrap();
        assert_eq!((attempts.len(), skipped), (2, 0));
        assert_eq!((&attempts[0].sent, &attempts[0].ended), (&sent(1), &Some(ended())));
        assert_eq!((attempts[1].sent.bytes, &attempts[1].ended), (2, &None));
        let open = ledger.open().unwrap();
        assert_eq!((open.len(), &open[0].sent), (1, &sent(2)));
        ledger.ended(&open[0].id, ended()).unwrap();
        assert_eq!(ledger.open().unwrap(), []);
    }

    #[test]
    fn a_line_of_before_tokens_and_costs_were_noted_is_read_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(folder.path());
        ledger.sending(sent(1)).unwrap();
        let file = fs::read_dir(folder.path().join("book/.scritorio/ledger")).unwrap().next().unwrap();
        let line = r#"{"v":1,"id":"e-1","at":"2026-11-01T00:00:00.000Z","event":"sent","purpose":"turn","destination":"https://example.org","provider":"openai","model":"m","bytes":7,"sha256":"00","tools":[],"author":{"messages":1,"chars":3},"spans":[]}
{"v":1,"id":"e-1","at":"2026-11-01T00:00:01.000Z","event":"ended","end":"answered","status":200,"received":7,"usage":{"input_tokens":3,"output_tokens":1,"cost":null}}
"#;
        fs::write(file.unwrap().path(), line).unwrap();
        let (attempts, skipped) = ledger.read().unwrap();
        assert_eq!((attempts.len(), skipped, attempts[0].sent.tokens), (1, 0, None));
        assert_eq!(attempts[0].ended.as_ref().unwrap().usage.input_tokens, Some(3));
    }

    #[test]
    fn without_a_book_it_stands_in_the_data_folder_and_makes_no_book_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Egress::without_book(folder.path());
        assert_eq!(ledger.read().unwrap(), (vec![], 0));
        ledger.sending(Sent { purpose: Purpose::Check, ..sent(3) }).unwrap();
        assert_eq!(ledger.read().unwrap().0[0].sent.purpose, Purpose::Check);
        assert!(folder.path().join("ledger").is_dir() && !folder.path().join(".scritorio").exists());
    }

    #[test]
    fn git_leaves_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        ledger(folder.path()).sending(sent(1)).unwrap();
        let ignored = fs::read_to_string(folder.path().join("book/.scritorio/.gitignore")).unwrap();
        assert!(ignored.lines().any(|line| line == "/ledger/"));
    }

    #[test]
    fn a_torn_line_and_an_end_of_nothing_are_counted_and_cost_themselves_alone() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(folder.path());
        ledger.sending(sent(1)).unwrap();
        ledger.ended("e-none", ended()).unwrap();
        let file = fs::read_dir(folder.path().join("book/.scritorio/ledger")).unwrap().next().unwrap();
        let path = file.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend_from_slice(b"{\"v\":1,\"id\":\"e-x\",\"eve");
        fs::write(&path, bytes).unwrap();
        ledger.sending(sent(2)).unwrap();
        let (attempts, skipped) = ledger.read().unwrap();
        assert_eq!((attempts.len(), skipped), (2, 2));
    }
}
