//! Where chains of this machine ended: `anchors/chain-<hash>-<chain>.json` in the data folder, one file a chain. A chain is called by the machine, or by the machine and its key.
//!
//! A chain is known by its first line, so that a book that is moved or copied keeps its anchor. Each folder that holds the book has an end of its own: copies that
//! both go on are both whole. Where a folder has none, its chain must be one that this machine has left somewhere, with nothing missing of what it wrote anywhere; an
//! older copy can't be told from one whose last lines were cut off, and is never taken for whole.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{FOLDER, NOTHING, lines};
use crate::domain::passage::sha256_hex;
use crate::store::{atomic, home, jsonl};

/// Where a chain ended in one folder when this machine last wrote to it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct End {
    /// The book's folder. Earlier versions kept its hash alone, as the file's name.
    #[serde(default)]
    pub book: String,
    /// Number of lines.
    pub count: u64,
    /// Hash of the last one.
    pub head: String,
    /// The line that is being written; one that is there and was not anchored yet was cut short by a crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl End {
    pub fn holds(&self, hashes: &[String]) -> bool {
        if self.count == 0 {
            return self.head == NOTHING;
        }
        let at = usize::try_from(self.count).ok().and_then(|count| count.checked_sub(1));
        at.and_then(|at| hashes.get(at)).is_some_and(|hash| *hash == self.head)
    }

    /// Whether a chain ends here, with the line that was being written or without.
    pub fn ends(&self, hashes: &[String]) -> bool {
        let more = hashes.get(usize::try_from(self.count).unwrap_or(usize::MAX)..).unwrap_or_default();
        self.holds(hashes) && (more.is_empty() || more.len() == 1 && more.first() == self.next.as_ref())
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct File {
    v: u32,
    ends: Vec<End>,
}

/// What this machine knows of the chain in one folder.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The folder.
    pub here: String,
    /// Where the chain ended, in this folder and in others. Where it is one that this machine does not know, what it left in this folder.
    pub ends: Vec<End>,
    /// The file of an earlier version that says so.
    pub old: Option<PathBuf>,
}

impl Known {
    /// The end that a chain is at, if nothing is missing.
    pub fn end_of(&self, hashes: &[String]) -> Option<&End> {
        let own = self.own();
        let elsewhere = || {
            let at = self.ends.iter().find(|end| end.ends(hashes))?;
            self.ends.iter().all(|end| end == at || end.holds(hashes)).then_some(at)
        };
        own.filter(|own| own.ends(hashes)).or_else(elsewhere)
    }

    /// Whether a chain ends as this machine left it, or is new.
    pub fn is_left_at(&self, hashes: &[String]) -> bool {
        let is_new = hashes.is_empty() && self.ends.is_empty();
        is_new || self.end_of(hashes).is_some()
    }

    /// The end in this folder.
    pub fn own(&self) -> Option<&End> {
        self.ends.iter().find(|end| end.book == self.here)
    }
}

/// The anchors of one chain.
pub(super) struct Anchors<'a> {
    pub data: &'a Path,
    pub machine: &'a str,
    /// The book's folder.
    pub root: &'a Path,
}

impl Anchors<'_> {
    /// Looks up what is known of the chain with these hashes. Writes nothing.
    pub fn known(&self, hashes: &[String]) -> io::Result<Known> {
        let here = self.root.canonicalize()?.to_string_lossy().into_owned();
        if let Some(first) = hashes.first()
            && let Some(file) = read::<File>(&self.path(first))?
        {
            return Ok(Known { here, ends: file.ends, old: None });
        }
        let old = self.folder().join(format!("{}-{}.json", &sha256_hex(&here)[..16], self.machine));
        if let Some(end) = read::<End>(&old)? {
            let ends = vec![End { book: here.clone(), ..end }];
            return Ok(Known { here, ends, old: Some(old) });
        }
        // Unreadable ones are of other chains.
        let all = self.files()?;
        let ends_here = |path: &PathBuf| {
            let file = read::<File>(path).ok().flatten()?;
            file.ends.into_iter().filter(|end| end.book == here).max_by_key(|end| end.count)
        };
        if let Some(end) = all.iter().filter_map(ends_here).max_by_key(|end| end.count) {
            return Ok(Known { here, ends: vec![end], old: None });
        }
        let moved = |path: PathBuf| {
            let end = read::<End>(&path).ok().flatten()?;
            (end.count > 0 && end.ends(hashes)).then_some((end, path))
        };
        let moved = all.into_iter().find_map(moved);
        let (ends, old) = moved.map(|(end, path)| (vec![end], path)).unzip();
        Ok(Known { here, ends: ends.unwrap_or_default(), old })
    }

    /// Notes where the chain with this first line ends in this folder.
    pub fn set(&self, first: &str, known: &mut Known, end: End) -> io::Result<()> {
        let end = End { book: known.here.clone(), ..end };
        if known.own().is_none() {
            // The book was moved here: what it was before is not to be taken for a copy that stayed.
            known.ends.retain(|end| self.is_at(Path::new(&end.book), first));
        }
        known.ends.retain(|end| end.book != known.here);
        known.ends.push(end);
        let file = File { v: jsonl::VERSION, ends: known.ends.clone() };
        atomic::write(self.data, &self.path(first), &serde_json::to_vec(&file)?)?;
        if let Some(old) = known.old.take() {
            atomic::remove(&old)?;
        }
        Ok(())
    }

    /// Whether a folder holds the chain with this first line.
    fn is_at(&self, book: &Path, first: &str) -> bool {
        if !book.is_absolute() {
            return false;
        }
        let path = home::path(book, &format!("{FOLDER}/{}.jsonl", self.machine));
        let bytes = path.and_then(std::fs::read).unwrap_or_default();
        lines(&bytes).next().is_some_and(|line| sha256_hex(line) == first)
    }

    fn folder(&self) -> PathBuf {
        self.data.join("anchors")
    }

    fn path(&self, first: &str) -> PathBuf {
        let name = first.get(..32).unwrap_or(first);
        self.folder().join(format!("chain-{name}-{}.json", self.machine))
    }

    /// The names of this machine's other chains, of any book: of each key that it had, one may go on where another ended.
    pub fn chains(&self) -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(self.folder()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            other => other?,
        };
        let mut chains = BTreeSet::new();
        for entry in entries {
            let name = entry?.file_name();
            let of_chain = || name.to_str()?.strip_suffix(".json")?.strip_prefix("chain-")?.split_once('-');
            let Some((_, chain)) = of_chain() else { continue };
            if chain.strip_prefix(self.machine).is_some_and(|key| key.starts_with('-')) {
                chains.insert(chain.to_owned());
            }
        }
        Ok(chains.into_iter().collect())
    }

    /// The files of this chain.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let entries = match std::fs::read_dir(self.folder()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            other => other?,
        };
        let ending = format!("-{}.json", self.machine);
        let mut files = vec![];
        for entry in entries {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(|name| name.ends_with(&ending)) {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(files)
    }
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> io::Result<Option<T>> {
    match std::fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        other => Ok(Some(serde_json::from_slice(&other?)?)),
    }
}
