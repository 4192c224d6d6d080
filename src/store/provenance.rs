//! What AI did to a book: `.scritorio/provenance/<machine>.jsonl`, append-only and hash-chained.
//!
//! Every line holds the SHA-256 of the line before it, and of itself. How many lines there are and the hash of the last one is also kept outside
//! the book, in the data folder (the `anchor`), so that a tail that was cut off shows, and so does a line that somebody else added. The anchor names the next line before that is
//! written: a line that it does not name was not written by this program here. For other machines each line is sealed with this machine's key. A chain that is not as it was left, or
//! has lines and no anchor, is not written to until it is put back: `<machine>-<key>.jsonl` begins beside it. Holds metadata and hashes, never prose, prompts or keys of providers.

mod anchor;
mod seal;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::conversation::Usage;
use crate::domain::ids::{ProposalId, SessionId, TurnId};
use crate::domain::passage::sha256_hex;

use self::anchor::{Anchors, End, Known};
use self::seal::Seal;
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

/// What stands before that between a line and its seal.
const SEALED: &str = ",\"seal\":\"";

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    v: u32,
    n: u64,
    at: String,
    #[serde(flatten)]
    record: Record,
    prev: String,
    /// The public half of the key that seals this line and all that follow; the first line that is sealed names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
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
        /// Whether a copy of the book may be why: this machine has never written to the book in this folder, and has in another.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        maybe_copy: bool,
    },
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Anchored { .. } => f.write_str("intact and anchored"),
            Self::NotAnchored { .. } => f.write_str("intact, not anchored on this machine"),
            Self::Broken { line, maybe_copy: false } => write!(f, "broken at line {line}"),
            Self::Broken { line, maybe_copy: true } => write!(
                f,
                "broken at line {line}, or an older copy of a book that went on in another folder of this machine"
            ),
        }
    }
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

    /// Appends a record, durably. The anchor names the line before that is written, and counts it afterwards. Makes `.scritorio`.
    pub fn append(&self, record: Record) -> io::Result<()> {
        let seal = Seal::of(&self.data)?;
        let machine = machine::name(&self.data, true)?;
        let _alone = anchor::locked(&self.data, true)?;
        let mut anchors = self.anchors()?;
        if anchors.follow()? {
            anchors = self.anchors()?;
        }
        let Chain { name, mut file, bytes, hashes, mut known, key } =
            self.chain_of(&anchors, &machine, &seal.key())?;
        let names_key = key.is_none().then(|| seal.key());
        let (whole, torn) = split_torn(&bytes);
        let n = hashes.len() as u64 + 1;
        let before = hashes.last().map_or(NOTHING, String::as_str).to_owned();
        let (at, prev) = (super::now(), before.clone());
        let mut line = written(&Line { v: jsonl::VERSION, n, at, record, prev, key: names_key }, &seal)?;
        let head = sha256_hex(&line);
        line.push(b'\n');
        let first = hashes.first().unwrap_or(&head).clone();
        let end = |count, head, next| End { book: String::new(), count, head, next };
        anchors.set(&name, &first, &mut known, end(n - 1, before, Some(head.clone())))?;
        if torn > 0 {
            // Half a line that a crash left. It was never whole, so nothing that was recorded goes.
            file.set_len((bytes.len() - torn) as u64)?;
            file.seek(SeekFrom::End(0))?;
        } else if whole.last().is_some_and(|b| *b != b'\n') {
            line.insert(0, b'\n');
        }
        #[cfg(test)]
        super::crash::half(|half| file.write_all(half), &line)?;
        file.write_all(&line)?;
        file.sync_data()?;
        #[cfg(test)]
        super::crash::point();
        if n == 1 {
            atomic::sync_folder(&home::path(&self.root, FOLDER)?)?;
            anchors.forget_unwritten(&name)?;
        }
        anchors.set(&name, &first, &mut known, end(n, head, None))
    }

    /// Finds the chain that this machine goes on with, and locks it. One that is not as this machine left it stays as it is, so that what was done to it shows and nothing that is
    /// recorded now can go with it; one that names another key than its own ended with that key. Another chain begins beside them.
    fn chain_of(&self, anchors: &Anchors, machine: &str, own: &str) -> io::Result<Chain> {
        let of_key = format!("{machine}-{}", own.get(..8).unwrap_or(own));
        let names = [machine.to_owned(), of_key.clone()].into_iter();
        for name in names.chain((2..1_000).map(|n| format!("{of_key}-{n}"))) {
            let chain = self.as_it_was_left(anchors, name)?;
            if let Some(chain) = chain.filter(|chain| chain.key.as_ref().is_none_or(|key| key == own)) {
                return Ok(chain);
            }
        }
        Err(io::Error::other("too many chains of this machine are not as they were left"))
    }

    /// Opens a chain to go on with it, locked. `None`: it is not as this machine left it, or this machine does not know how it was.
    fn as_it_was_left(&self, anchors: &Anchors, name: String) -> io::Result<Option<Chain>> {
        let path = home::make(&self.root, &format!("{FOLDER}/{name}.jsonl"))?;
        let fits = |bytes: &[u8], hashes: &[String], known: &Known| {
            let is_new = bytes.is_empty() && known.is_nothing();
            is_new || matches!(judge(bytes, hashes, known), Verdict::Anchored { .. })
        };
        // One that was removed is not made again.
        if !path.exists() && !fits(&[], &[], &anchors.known(&name, &[])) {
            return Ok(None);
        }
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
        jsonl::lock(&file)?;
        let mut bytes = vec![];
        file.read_to_end(&mut bytes)?;
        let hashes = hashes_of(&bytes);
        let known = anchors.known(&name, &hashes);
        let (fits, key) = (fits(&bytes, &hashes, &known), key_of(&bytes));
        Ok(fits.then_some(Chain { name, file, bytes, hashes, known, key }))
    }

    /// Checks every machine's chain; by machine, in order.
    pub fn verify(&self) -> io::Result<Vec<(String, Verdict)>> {
        let _alone = anchor::locked(&self.data, false)?;
        let anchors = self.anchors()?;
        let chains = self.chains(&anchors)?.into_iter();
        chains.map(|chain| Ok((chain.clone(), self.verdict(&anchors, &chain)?))).collect()
    }

    /// Returns the names of the chains that there are, or should be, in order.
    fn chains(&self, anchors: &Anchors) -> io::Result<BTreeSet<String>> {
        // One that was deleted is missing from the folder; its anchor is not.
        let mut chains = anchors.expected();
        for path in anchor::files(&home::path(&self.root, FOLDER)?)? {
            let chain = anchor::stem(&path, ".jsonl").filter(|name| home::file_name(name, "").is_ok());
            chains.extend(chain.map(str::to_owned));
        }
        Ok(chains)
    }

    /// Returns all records of all machines with their times, oldest first. Lines that can't be read are left out.
    pub fn records(&self) -> io::Result<Vec<(String, Record)>> {
        let mut records = vec![];
        for chain in self.chains(&self.anchors()?)? {
            let path = home::path(&self.root, &format!("{FOLDER}/{chain}.jsonl"))?;
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

    fn verdict(&self, anchors: &Anchors, chain: &str) -> io::Result<Verdict> {
        let path = home::path(&self.root, &format!("{FOLDER}/{chain}.jsonl"))?;
        let bytes = match std::fs::read(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => vec![],
            other => other?,
        };
        let hashes = hashes_of(&bytes);
        Ok(judge(&bytes, &hashes, &anchors.known(chain, &hashes)))
    }

    fn anchors(&self) -> io::Result<Anchors> {
        Anchors::read(&self.data, &self.root)
    }
}

/// A chain that this machine may go on with, locked as long as its file is open.
struct Chain {
    /// What its file is called, without the ending.
    name: String,
    file: File,
    bytes: Vec<u8>,
    /// Of its whole lines.
    hashes: Vec<String>,
    known: Known,
    /// The key that it names.
    key: Option<String>,
}

/// Writes a line with its seal and its own hash in it: the last two fields, each of all that stands before.
fn written(line: &Line, seal: &Seal) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(line)?;
    let sealed = seal.sign(&bytes);
    ends_with(&mut bytes, SEALED, &sealed);
    let hash = sha256_hex(&bytes);
    ends_with(&mut bytes, OWN, &hash);
    Ok(bytes)
}

/// Adds a last field to an object.
fn ends_with(object: &mut Vec<u8>, before: &str, value: &str) {
    object.pop();
    object.extend_from_slice(format!("{before}{value}\"}}").as_bytes());
}

/// Takes the last field off an object, which has so many digits. Returns the object without it, and the digits.
fn last_field<'a>(object: &'a [u8], before: &str, digits: usize) -> Option<(Vec<u8>, &'a [u8])> {
    let (content, end) = object.split_at_checked(object.len().checked_sub(before.len() + digits + 2)?)?;
    let value = end.strip_prefix(before.as_bytes())?.strip_suffix(b"\"}")?;
    Some(([content, b"}"].concat(), value))
}

/// Whether a line is as it was written, by its own hash.
fn is_whole(line: &[u8]) -> bool {
    last_field(line, OWN, 64).is_some_and(|(content, hash)| sha256_hex(content).as_bytes() == hash)
}

/// The key that a chain names, if one does.
fn key_of(bytes: &[u8]) -> Option<String> {
    // Few lines name one, and most lines need not be parsed to know that they don't.
    let may_name = |line: &&[u8]| line.windows(6).any(|six| six == b"\"key\":");
    lines(bytes).filter(may_name).find_map(|line| {
        let value: Value = serde_json::from_slice(line).ok()?;
        value["key"].as_str().map(str::to_owned)
    })
}

/// The first line, from 1, that lacks the seal of its chain. In chains of earlier versions no key is named, and none does.
fn first_unsealed(whole: &[u8]) -> Option<u64> {
    let mut key: Option<String> = None;
    for (n, line) in (1..).zip(lines(whole)) {
        let value: Value = serde_json::from_slice(line).unwrap_or_default();
        let named = value["key"].as_str();
        if named.is_some() && key.is_some() {
            return Some(n);
        }
        key = key.or_else(|| named.map(str::to_owned));
        let is_sealed = |key: &String| {
            let (content, _) = last_field(line, OWN, 64)?;
            let (content, seal) = last_field(&content, SEALED, 128)?;
            Some(seal::is_by(key, &content, str::from_utf8(seal).ok()?))
        };
        if key.as_ref().is_some_and(|key| is_sealed(key) != Some(true)) {
            return Some(n);
        }
    }
    None
}

/// Checks a chain with these hashes of its lines, against what this machine knows of it.
fn judge(bytes: &[u8], hashes: &[String], known: &Known) -> Verdict {
    let (whole, torn) = split_torn(bytes);
    let mut before = NOTHING;
    for ((n, line), hash) in (1..).zip(lines(whole)).zip(hashes) {
        let value: Value = serde_json::from_slice(line).unwrap_or_default();
        let is_next = value["n"].as_u64() == Some(n) && value["prev"].as_str() == Some(before);
        if !is_next || !is_whole(line) {
            return Verdict::Broken { line: n, maybe_copy: false };
        }
        before = hash;
    }
    let lines = hashes.len() as u64;
    if known.is_left_at(hashes, torn > 0) {
        return Verdict::Anchored { lines };
    }
    let Some(end) = known.end() else {
        return match first_unsealed(whole) {
            Some(line) => Verdict::Broken { line, maybe_copy: false },
            None => Verdict::NotAnchored { lines },
        };
    };
    let line = match end.count {
        count if count > lines => lines + 1,
        count if !end.holds(hashes) => count,
        count => count + 1,
    };
    // One that is not here may never have been, where others have it.
    let maybe_copy = known.own().is_none() || lines == 0 && known.ends.len() > 1;
    Verdict::Broken { line, maybe_copy }
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

/// The hashes of the whole lines.
fn hashes_of(bytes: &[u8]) -> Vec<String> {
    lines(split_torn(bytes).0).map(sha256_hex).collect()
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.split(|b| *b == b'\n').filter(move |_| !bytes.is_empty())
}

#[cfg(test)]
mod tests;
