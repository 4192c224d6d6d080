//! What AI did to a book: `.scritorio/provenance/<machine>.jsonl`, append-only and hash-chained.
//!
//! Every line holds the SHA-256 of the line before it. How many lines there are and the hash of the last one is also kept outside
//! the book, in the data folder (the anchor), so that a tail that was cut off shows. Holds metadata and hashes, never prose, prompts or keys.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::conversation::Usage;
use crate::domain::ids::{ProposalId, SessionId, TurnId};
use crate::domain::passage::sha256_hex;

use super::proposals::Changed;
use super::{atomic, home, jsonl, machine};

const FOLDER: &str = "provenance";
/// What the first line gives as the hash of the line before it.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// One entry of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Record {
    /// A turn that was answered, or not.
    Turn(Box<TurnRecord>),
    /// What the author did with a proposal.
    Fate(FateRecord),
}

/// What one turn used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// The conversation.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// `done`, `cancelled` or `failed`.
    pub status: String,
    /// Provider's name.
    pub provider: String,
    /// Model's name.
    pub model: String,
    /// Tier that the server said it used.
    pub tier: Option<String>,
    /// Id of the board member.
    pub persona: String,
    /// SHA-256 of the system prompt.
    pub prompt_hash: String,
    /// The server's id of the last response.
    pub response_id: Option<String>,
    /// Tokens and cost.
    pub usage: Usage,
    /// The tools that ran: name, status, files, number of results.
    pub tools: Vec<Value>,
    /// SHA-256 of the answer.
    pub output_hash: String,
    /// Characters of the answer.
    pub output_chars: usize,
    /// What was proposed.
    pub proposals: Vec<ProposalId>,
}

/// What the author did with one proposal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FateRecord {
    /// Which.
    pub proposal: ProposalId,
    /// The conversation that it came from.
    pub session: SessionId,
    /// `applied`, `rejected`, `edited`, `undone` or `redone`.
    pub fate: String,
    /// Whether the author had edited the text.
    pub edited: bool,
    /// The files with their hashes.
    pub files: Vec<Changed>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    v: u32,
    n: u64,
    at: String,
    #[serde(flatten)]
    record: Record,
    prev: String,
}

/// How a ledger stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// The chain is whole, and ends where this machine says it ended.
    Anchored {
        /// Number of lines.
        lines: u64,
    },
    /// The chain is whole; this machine does not know where it ended.
    NotAnchored {
        /// Number of lines.
        lines: u64,
    },
    /// The chain breaks.
    Broken {
        /// First line that is wrong or missing, from 1.
        line: u64,
    },
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Anchored { .. } => f.write_str("intact and anchored"),
            Self::NotAnchored { .. } => f.write_str("intact, not anchored on this machine"),
            Self::Broken { line } => write!(f, "broken at line {line}"),
        }
    }
}

/// Where a chain ended when this machine last wrote to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Anchor {
    v: u32,
    count: u64,
    head: String,
}

/// The ledger of one book, as this machine writes it. Opening one writes nothing.
#[derive(Debug, Clone)]
pub struct Ledger {
    root: PathBuf,
    data: PathBuf,
}

impl Ledger {
    /// Takes the book in `root`; `data` is the program's data folder, which holds the anchors and this machine's name.
    pub fn new(root: &Path, data: &Path) -> Self {
        Self { root: root.to_path_buf(), data: data.to_path_buf() }
    }

    /// Appends a record, durably: first the line, then the anchor. Makes `.scritorio`.
    pub fn append(&self, record: Record) -> io::Result<()> {
        let machine = machine::name(&self.data, true)?;
        let path = home::make(&self.root, &format!("{FOLDER}/{machine}.jsonl"))?;
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
        jsonl::lock(&file)?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes)?;
        let (whole, torn) = split_torn(&bytes);
        let hashes: Vec<_> = lines(whole).map(sha256_hex).collect();
        let n = hashes.len() as u64 + 1;
        let prev = hashes.last().map_or(NOTHING, String::as_str).to_owned();
        let line = Line { v: jsonl::VERSION, n, at: super::now(), record, prev };
        let mut line = serde_json::to_vec(&line)?;
        let head = sha256_hex(&line);
        line.push(b'\n');
        if torn > 0 {
            // Half a line that a crash left. It was never whole, so nothing that was recorded goes.
            file.set_len((bytes.len() - torn) as u64)?;
        } else if whole.last().is_some_and(|b| *b != b'\n') {
            line.insert(0, b'\n');
        }
        #[cfg(test)]
        super::crash::half(|half| file.write_all(half), &line)?;
        file.write_all(&line)?;
        file.sync_data()?;
        #[cfg(test)]
        super::crash::point();
        let anchor = self.anchor(&machine)?;
        // A chain that does not reach its anchor was cut. The old anchor stays, so that it shows for good.
        if anchor.is_none_or(|a| a.holds(&hashes)) {
            self.set_anchor(&machine, &Anchor { v: jsonl::VERSION, count: n, head })?;
        }
        Ok(())
    }

    /// Checks every machine's chain; by machine, in order.
    pub fn verify(&self) -> io::Result<Vec<(String, Verdict)>> {
        let mut machines = vec![];
        match std::fs::read_dir(home::path(&self.root, FOLDER)?) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
            Ok(entries) => {
                for entry in entries {
                    let name = entry?.file_name();
                    let machine = name.to_str().and_then(|n| n.strip_suffix(".jsonl"));
                    machines.extend(machine.filter(|m| home::file_name(m, "").is_ok()).map(str::to_owned));
                }
            }
        }
        // A ledger that was deleted is missing from the folder; its anchor is not.
        let own = machine::name(&self.data, false).ok();
        if let Some(own) = own.filter(|own| !machines.contains(own))
            && self.anchor(&own)?.is_some()
        {
            machines.push(own);
        }
        machines.sort();
        machines.into_iter().map(|machine| Ok((machine.clone(), self.verdict(&machine)?))).collect()
    }

    /// Returns all records of all machines with their times, oldest first. Lines that can't be read are left out.
    pub fn records(&self) -> io::Result<Vec<(String, Record)>> {
        let mut records = vec![];
        for (machine, _) in self.verify()? {
            let path = home::path(&self.root, &format!("{FOLDER}/{machine}.jsonl"))?;
            let lines = jsonl::read::<Line>(&path)?.records;
            records.extend(lines.into_iter().map(|line| (line.at, line.record)));
        }
        records.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(records)
    }

    /// Returns the last thing that was recorded about a proposal.
    pub fn last_fate(&self, id: &ProposalId) -> io::Result<Option<FateRecord>> {
        let fate = |(_, record)| match record {
            Record::Fate(fate) if fate.proposal == *id => Some(fate),
            _ => None,
        };
        Ok(self.records()?.into_iter().rev().find_map(fate))
    }

    fn verdict(&self, machine: &str) -> io::Result<Verdict> {
        let path = home::path(&self.root, &format!("{FOLDER}/{machine}.jsonl"))?;
        let bytes = match std::fs::read(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => vec![],
            other => other?,
        };
        let (whole, _) = split_torn(&bytes);
        let mut hashes: Vec<String> = vec![];
        for line in lines(whole) {
            let n = hashes.len() as u64 + 1;
            let value: Value = serde_json::from_slice(line).unwrap_or_default();
            let prev = hashes.last().map_or(NOTHING, String::as_str);
            if value["n"].as_u64() != Some(n) || value["prev"].as_str() != Some(prev) {
                return Ok(Verdict::Broken { line: n });
            }
            hashes.push(sha256_hex(line));
        }
        let lines = hashes.len() as u64;
        Ok(match self.anchor(machine)? {
            None => Verdict::NotAnchored { lines },
            Some(anchor) if anchor.count > lines => Verdict::Broken { line: lines + 1 },
            Some(anchor) if !anchor.holds(&hashes) => Verdict::Broken { line: anchor.count },
            Some(anchor) if anchor.count < lines => Verdict::NotAnchored { lines },
            Some(_) => Verdict::Anchored { lines },
        })
    }

    fn anchor_path(&self, machine: &str) -> io::Result<PathBuf> {
        let book = sha256_hex(self.root.canonicalize()?.as_os_str().as_encoded_bytes());
        Ok(self.data.join("anchors").join(format!("{}-{machine}.json", &book[..16])))
    }

    fn anchor(&self, machine: &str) -> io::Result<Option<Anchor>> {
        match std::fs::read(self.anchor_path(machine)?) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            other => Ok(Some(serde_json::from_slice(&other?)?)),
        }
    }

    fn set_anchor(&self, machine: &str, anchor: &Anchor) -> io::Result<()> {
        atomic::write(&self.data, &self.anchor_path(machine)?, &serde_json::to_vec(anchor)?)
    }
}

impl Anchor {
    fn holds(&self, hashes: &[String]) -> bool {
        let at = usize::try_from(self.count).ok().and_then(|count| count.checked_sub(1));
        at.and_then(|at| hashes.get(at)).is_some_and(|hash| *hash == self.head)
    }
}

/// Splits off the bytes of a last line that has no end and is no JSON. Returns the rest and how many they are.
fn split_torn(bytes: &[u8]) -> (&[u8], usize) {
    let start = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let tail = &bytes[start..];
    if tail.is_empty() || serde_json::from_slice::<Value>(tail).is_ok() {
        (bytes, 0)
    } else {
        (&bytes[..start], tail.len())
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.split(|b| *b == b'\n').filter(move |_| !bytes.is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Desk {
        folder: tempfile::TempDir,
    }

    impl Desk {
        fn new(lines: usize) -> Self {
            let desk = Self { folder: tempfile::tempdir().unwrap() };
            fs::create_dir(desk.root()).unwrap();
            for n in 0..lines {
                desk.ledger().append(fate(&format!("p-{n}"))).unwrap();
            }
            desk
        }

        fn root(&self) -> PathBuf {
            self.folder.path().join("book")
        }

        fn ledger(&self) -> Ledger {
            Ledger::new(&self.root(), &self.folder.path().join("data"))
        }

        fn file(&self) -> PathBuf {
            fs::read_dir(self.root().join(".scritorio/provenance")).unwrap().next().unwrap().unwrap().path()
        }

        fn verdict(&self) -> Verdict {
            self.ledger().verify().unwrap()[0].1
        }
    }

    fn fate(id: &str) -> Record {
        Record::Fate(FateRecord {
            proposal: ProposalId::new(id),
            session: SessionId::new("s-1"),
            fate: "applied".into(),
            edited: false,
            files: vec![],
        })
    }

    #[test]
    fn an_untouched_ledger_is_intact_and_anchored() {
        let desk = Desk::new(3);
        assert_eq!(desk.verdict(), Verdict::Anchored { lines: 3 });
        assert_eq!(desk.verdict().to_string(), "intact and anchored");
        let records = desk.ledger().records().unwrap();
        assert_eq!(records.len(), 3);
        assert_eq!(records[2].1, fate("p-2"));
    }

    #[test]
    fn a_book_without_a_ledger_has_no_verdict_and_gets_no_folder() {
        let desk = Desk::new(0);
        assert!(desk.ledger().verify().unwrap().is_empty());
        assert!(!desk.root().join(".scritorio").exists());
        assert!(!desk.folder.path().join("data").exists());
    }

    #[test]
    fn elsewhere_it_is_intact_but_not_anchored() {
        let desk = Desk::new(2);
        let verdicts = Ledger::new(&desk.root(), &desk.folder.path().join("other machine")).verify().unwrap();
        assert_eq!(verdicts[0].1, Verdict::NotAnchored { lines: 2 });
        assert_eq!(verdicts[0].1.to_string(), "intact, not anchored on this machine");
    }

    #[test]
    fn a_changed_line_shows_in_the_next() {
        let desk = Desk::new(4);
        let text = fs::read_to_string(desk.file()).unwrap().replace("\"p-1\"", "\"p-7\"");
        fs::write(desk.file(), text).unwrap();
        assert_eq!(desk.verdict(), Verdict::Broken { line: 3 });
        assert_eq!(desk.verdict().to_string(), "broken at line 3");
    }

    #[test]
    fn a_changed_last_line_and_a_removed_line_show() {
        let desk = Desk::new(3);
        let text = fs::read_to_string(desk.file()).unwrap();
        fs::write(desk.file(), text.replace("\"p-2\"", "\"p-7\"")).unwrap();
        assert_eq!(desk.verdict(), Verdict::Broken { line: 3 });
        let without: Vec<_> =
            text.split_inclusive('\n').enumerate().filter(|(n, _)| *n != 1).map(|(_, l)| l).collect();
        let without = without.concat();
        fs::write(desk.file(), without).unwrap();
        assert_eq!(desk.verdict(), Verdict::Broken { line: 2 });
    }

    #[test]
    fn a_cut_tail_shows_and_no_later_line_heals_it() {
        let desk = Desk::new(3);
        let text = fs::read_to_string(desk.file()).unwrap();
        let two: String = text.split_inclusive('\n').take(2).collect();
        fs::write(desk.file(), two).unwrap();
        assert_eq!(desk.verdict(), Verdict::Broken { line: 3 });
        desk.ledger().append(fate("p-9")).unwrap();
        desk.ledger().append(fate("p-10")).unwrap();
        assert_eq!(desk.verdict(), Verdict::Broken { line: 3 });
    }

    #[test]
    fn a_deleted_ledger_shows() {
        let desk = Desk::new(2);
        fs::remove_file(desk.file()).unwrap();
        assert_eq!(desk.verdict(), Verdict::Broken { line: 1 });
    }

    #[test]
    fn half_a_line_that_a_crash_left_breaks_nothing() {
        let desk = Desk::new(2);
        let mut bytes = fs::read(desk.file()).unwrap();
        bytes.extend(b"{\"v\":1,\"n\":3,\"at\":\"20");
        fs::write(desk.file(), bytes).unwrap();
        assert_eq!(desk.verdict(), Verdict::Anchored { lines: 2 });
        desk.ledger().append(fate("p-2")).unwrap();
        assert_eq!(desk.verdict(), Verdict::Anchored { lines: 3 });
    }

    #[test]
    fn a_line_that_the_anchor_missed_is_anchored_by_the_next() {
        let desk = Desk::new(2);
        let anchors = desk.folder.path().join("data/anchors");
        let anchor = fs::read_dir(&anchors).unwrap().next().unwrap().unwrap().path();
        let old = fs::read(&anchor).unwrap();
        desk.ledger().append(fate("p-2")).unwrap();
        fs::write(&anchor, old).unwrap();
        assert_eq!(desk.verdict(), Verdict::NotAnchored { lines: 3 });
        desk.ledger().append(fate("p-3")).unwrap();
        assert_eq!(desk.verdict(), Verdict::Anchored { lines: 4 });
    }
}
