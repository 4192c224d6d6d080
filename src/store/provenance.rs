//! What AI did to a book: `.scritorio/provenance/<machine>.jsonl`, append-only and hash-chained.
//!
//! Every line holds the SHA-256 of the line before it, and of itself. How many lines there are and the hash of the last one is also kept outside
//! the book, in the data folder (the anchor), so that a tail that was cut off shows, and so does a line that somebody else added. The anchor names the next line before that is
//! written: a line that it does not name was not written by this program here. Holds metadata and hashes, never prose, prompts or keys.

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
    /// `done`, `cancelled`, `failed` or [`TurnRecord::KILLED`].
    pub status: String,
    /// Provider's name.
    pub provider: String,
    /// Model's name.
    pub model: String,
    /// Tier that the server said it used.
    pub tier: Option<String>,
    /// Id of the board member.
    pub persona: String,
    /// SHA-256 of the system prompt; empty where the program was killed.
    pub prompt_hash: String,
    /// The server's id of the last response.
    pub response_id: Option<String>,
    /// Tokens and cost.
    pub usage: Usage,
    /// The tools that ran: name, status, files, number of results.
    pub tools: Vec<Value>,
    /// SHA-256 of the answer; empty where the program was killed.
    pub output_hash: String,
    /// Characters of the answer.
    pub output_chars: usize,
    /// What was proposed.
    pub proposals: Vec<ProposalId>,
}

impl TurnRecord {
    /// How a turn ended whose program was killed. What it had sent is known, and what came back is not.
    pub const KILLED: &str = "killed";
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

/// What stands between a line and its own hash.
const OWN: &str = ",\"hash\":\"";

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
    /// The line that is being written; one that is there and was not anchored yet was cut short by a crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<String>,
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
        let before = hashes.last().map_or(NOTHING, String::as_str).to_owned();
        let mut line =
            written(&Line { v: jsonl::VERSION, n, at: super::now(), record, prev: before.clone() })?;
        let head = sha256_hex(&line);
        line.push(b'\n');
        // A chain that is not as it was left was changed. The old anchor stays, so that it shows for good.
        let anchor = self.anchor(&machine)?;
        let is_ours = anchor.is_none_or(|anchor| anchor.ends(&hashes));
        let anchor = |count, head, next| Anchor { v: jsonl::VERSION, count, head, next };
        if is_ours {
            self.set_anchor(&machine, &anchor(n - 1, before, Some(head.clone())))?;
        }
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
        if is_ours {
            self.set_anchor(&machine, &anchor(n, head, None))?;
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
        Ok(judge(&bytes, self.anchor(machine)?.as_ref()))
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
        if self.count == 0 {
            return self.head == NOTHING;
        }
        let at = usize::try_from(self.count).ok().and_then(|count| count.checked_sub(1));
        at.and_then(|at| hashes.get(at)).is_some_and(|hash| *hash == self.head)
    }

    /// Whether a chain ends where this machine left it, with the line that it was writing or without.
    fn ends(&self, hashes: &[String]) -> bool {
        let more = hashes.get(usize::try_from(self.count).unwrap_or(usize::MAX)..).unwrap_or_default();
        self.holds(hashes) && (more.is_empty() || more.len() == 1 && more.first() == self.next.as_ref())
    }
}

/// Writes a line with its own hash in it: the last field, of all that stands before.
fn written(line: &Line) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(line)?;
    let hash = sha256_hex(&bytes);
    bytes.pop();
    bytes.extend_from_slice(format!("{OWN}{hash}\"}}").as_bytes());
    Ok(bytes)
}

/// Whether a line is as it was written, by its own hash.
fn is_whole(line: &[u8]) -> bool {
    let Some(at) = line.len().checked_sub(OWN.len() + 64 + 2) else { return false };
    let (content, end) = line.split_at(at);
    let hash = end.strip_prefix(OWN.as_bytes()).and_then(|end| end.strip_suffix(b"\"}"));
    hash.is_some_and(|hash| sha256_hex([content, b"}"].concat()).as_bytes() == hash)
}

/// Checks a chain, against its anchor where this machine has one.
fn judge(bytes: &[u8], anchor: Option<&Anchor>) -> Verdict {
    let (whole, torn) = split_torn(bytes);
    let mut hashes: Vec<String> = vec![];
    for line in lines(whole) {
        let n = hashes.len() as u64 + 1;
        let value: Value = serde_json::from_slice(line).unwrap_or_default();
        let prev = hashes.last().map_or(NOTHING, String::as_str);
        let is_next = value["n"].as_u64() == Some(n) && value["prev"].as_str() == Some(prev);
        if !is_next || !is_whole(line) {
            return Verdict::Broken { line: n };
        }
        hashes.push(sha256_hex(line));
    }
    let lines = hashes.len() as u64;
    match anchor {
        None => Verdict::NotAnchored { lines },
        Some(anchor) if anchor.count > lines => Verdict::Broken { line: lines + 1 },
        Some(anchor) if !anchor.holds(&hashes) => Verdict::Broken { line: anchor.count },
        Some(anchor) if !anchor.ends(&hashes) => Verdict::Broken { line: anchor.count + 1 },
        // Half a line is there only where one was being written.
        Some(anchor) if torn > 0 && (anchor.next.is_none() || lines > anchor.count) => {
            Verdict::Broken { line: lines + 1 }
        }
        Some(_) => Verdict::Anchored { lines },
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
    fn a_changed_line_shows() {
        let desk = Desk::new(4);
        let text = fs::read_to_string(desk.file()).unwrap().replace("\"p-1\"", "\"p-7\"");
        fs::write(desk.file(), text).unwrap();
        assert_eq!(desk.verdict(), Verdict::Broken { line: 2 });
        assert_eq!(desk.verdict().to_string(), "broken at line 2");
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
        assert_eq!(desk.verdict(), Verdict::Broken { line: 3 }, "nobody was writing a line");
        let anchors = desk.folder.path().join("data/anchors");
        let path = fs::read_dir(&anchors).unwrap().next().unwrap().unwrap().path();
        let anchor: Anchor = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let during = Anchor { next: Some("of the line that was cut".into()), ..anchor };
        fs::write(&path, serde_json::to_vec(&during).unwrap()).unwrap();
        assert_eq!(desk.verdict(), Verdict::Anchored { lines: 2 });
        desk.ledger().append(fate("p-2")).unwrap();
        assert_eq!(desk.verdict(), Verdict::Anchored { lines: 3 });
    }

    #[test]
    fn a_line_that_was_written_and_not_anchored_is_known_by_its_hash() {
        let desk = Desk::new(2);
        let anchors = desk.folder.path().join("data/anchors");
        let path = fs::read_dir(&anchors).unwrap().next().unwrap().unwrap().path();
        let old: Anchor = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        desk.ledger().append(fate("p-2")).unwrap();
        let new: Anchor = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let during = Anchor { next: Some(new.head.clone()), ..old.clone() };
        fs::write(&path, serde_json::to_vec(&during).unwrap()).unwrap();
        assert_eq!(desk.verdict(), Verdict::Anchored { lines: 3 });
        desk.ledger().append(fate("p-3")).unwrap();
        assert_eq!(desk.verdict(), Verdict::Anchored { lines: 4 });
        // A line that the anchor does not name was added by somebody else, and no later line heals that.
        fs::write(&path, serde_json::to_vec(&new).unwrap()).unwrap();
        assert_eq!(desk.verdict(), Verdict::Broken { line: 4 });
        desk.ledger().append(fate("p-4")).unwrap();
        assert_eq!(desk.verdict(), Verdict::Broken { line: 4 });
    }

    #[test]
    fn a_line_without_a_hash_of_its_own_is_none_that_this_program_wrote() {
        let (bytes, _) = chain_of(&[fate("p-1")]);
        assert_eq!(judge(&bytes, None), Verdict::NotAnchored { lines: 1 });
        let text = String::from_utf8(bytes).unwrap();
        let (without, _) = text.split_once(OWN).unwrap();
        assert_eq!(judge(format!("{without}}}\n").as_bytes(), None), Verdict::Broken { line: 1 });
        assert_eq!(judge(text.replace("\"hash\"", "\"hasi\"").as_bytes(), None), Verdict::Broken { line: 1 });
    }

    /// A ledger as it would be written, with its anchor.
    fn chain_of(records: &[Record]) -> (Vec<u8>, Anchor) {
        let (mut bytes, mut prev) = (vec![], NOTHING.to_owned());
        for (n, record) in (1..).zip(records) {
            let at = format!("2026-01-01T00:00:0{}.000Z", n % 10);
            let line = written(&Line { v: 1, n, at, record: record.clone(), prev }).unwrap();
            prev = sha256_hex(&line);
            bytes.extend_from_slice(&line);
            bytes.push(b'\n');
        }
        (bytes, Anchor { v: 1, count: records.len() as u64, head: prev, next: None })
    }

    /// Writes lines anew with hashes that fit, as somebody would who knows how.
    fn forged(lines: &[Vec<u8>]) -> Vec<u8> {
        let records: Vec<Record> =
            lines.iter().map(|line| serde_json::from_slice::<Line>(line).unwrap().record).collect();
        chain_of(&records).0
    }

    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_done_to_a_line_shows(
            ids in prop::collection::vec("[a-z]{1,8}", 1..12),
            kind in 0..7_u8,
            (one, two) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
            (at, byte) in (any::<prop::sample::Index>(), 1..=255_u8),
            is_forged in any::<bool>(),
        ) {
            let records: Vec<Record> = ids.iter().map(|id| fate(&format!("p-{id}"))).collect();
            let (bytes, anchor) = chain_of(&records);
            let count = records.len() as u64;
            prop_assert_eq!(judge(&bytes, Some(&anchor)), Verdict::Anchored { lines: count });
            prop_assert_eq!(judge(&bytes, None), Verdict::NotAnchored { lines: count });
            let mut all: Vec<Vec<u8>> = lines(&bytes).map(<[u8]>::to_vec).collect();
            let (one, two) = (one.index(all.len()), two.index(all.len()));
            let mut is_cut = false;
            match kind {
                // One byte is another; in a forged chain, one word.
                0 if is_forged => {
                    let text = String::from_utf8(all[one].clone()).unwrap();
                    all[one] = text.replacen("\"applied\"", "\"rejected\"", 1).into_bytes();
                }
                0 => {
                    let at = at.index(all[one].len());
                    all[one][at] ^= byte;
                    // A line end in the middle makes two lines of one, which is another way of changing it.
                }
                1 => {
                    is_cut = one + 1 == all.len();
                    all.remove(one);
                }
                2 => {
                    is_cut = one > 0;
                    all.truncate(one);
                }
                3 if one != two => all.swap(one, two),
                4 => {
                    let line = all[one].clone();
                    all.insert(two, line);
                }
                5 => {
                    let line = all[one].clone();
                    all.push(line);
                }
                6 => all.insert(one, vec![]),
                _ => all.insert(two, b"{\"v\":1,\"n\":1}".to_vec()),
            }
            let readable = all.iter().all(|line| serde_json::from_slice::<Line>(line).is_ok());
            let is_forged = is_forged && readable;
            let mut changed = if is_forged { forged(&all) } else { all.join(&b'\n') };
            if !is_forged && !all.is_empty() {
                changed.push(b'\n');
            }
            prop_assume!(changed.strip_suffix(b"\n") != bytes.strip_suffix(b"\n"));
            let here = judge(&changed, Some(&anchor));
            prop_assert!(matches!(here, Verdict::Broken { .. }), "here: {:?}", here);
            // Elsewhere nothing says where it ended, and whoever writes a whole new chain leaves no trace.
            if !is_cut && !is_forged && !all.is_empty() {
                let elsewhere = judge(&changed, None);
                prop_assert!(matches!(elsewhere, Verdict::Broken { .. }), "elsewhere: {:?}", elsewhere);
            }
        }
    }
}
