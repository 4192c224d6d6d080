//! Where chains ended: `anchors/chain-<hash>-<chain>.json` in the data folder, one file a chain. A chain is called by the machine, or by the machine and its key.
//!
//! A chain is known by its first line, so that a book that is moved or copied keeps its anchors. Each folder that holds the book has an end of its own: copies that
//! both go on are both whole. Where a folder has none, its chain must be one that this machine has left somewhere, with nothing missing of what it wrote anywhere, and beside it must be
//! the other chains that were there; an older copy can't be told from one whose last lines were cut off, and is never taken for whole.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{FOLDER, NOTHING, lines, split_torn};
use crate::domain::passage::sha256_hex;
use crate::store::{atomic, home, jsonl};

/// Digits of the hash of its first line that a chain is known by.
const FIRST: usize = 32;

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

    /// Whether a chain ends here, with the line that was being written or without; `torn`: with half of it.
    fn ends(&self, hashes: &[String], torn: bool) -> bool {
        let more = hashes.get(usize::try_from(self.count).unwrap_or(usize::MAX)..).unwrap_or_default();
        let is_next = more.len() == 1 && more.first() == self.next.as_ref();
        self.holds(hashes)
            && if torn { more.is_empty() && self.next.is_some() } else { more.is_empty() || is_next }
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
    /// Whether a chain ends as this machine left it, if nothing is missing. `torn`: with half a line behind these.
    pub fn is_left_at(&self, hashes: &[String], torn: bool) -> bool {
        let own = self.own();
        let elsewhere = || {
            let at = self.ends.iter().find(|end| end.ends(hashes, torn));
            at.is_some_and(|at| self.ends.iter().all(|end| end == at || end.holds(hashes)))
        };
        own.is_some_and(|own| own.ends(hashes, torn)) || elsewhere()
    }

    /// Whether this machine knows of no such chain.
    pub fn is_nothing(&self) -> bool {
        self.ends.is_empty()
    }

    /// The end in this folder.
    pub fn own(&self) -> Option<&End> {
        self.ends.iter().find(|end| end.book == self.here)
    }

    /// The end that counts: that in this folder, else the furthest.
    pub fn end(&self) -> Option<&End> {
        self.own().or_else(|| self.ends.iter().max_by_key(|end| end.count))
    }
}

/// The anchor of one chain.
#[derive(Debug)]
struct Anchor {
    chain: String,
    /// The first digits of the hash of its first line.
    first: String,
    ends: Vec<End>,
    path: PathBuf,
}

impl Anchor {
    fn end_in(&self, book: &str) -> Option<&End> {
        self.ends.iter().find(|end| end.book == book)
    }

    /// Whether a folder holds this chain.
    fn is_in(&self, book: &str) -> bool {
        let book = Path::new(book);
        book.is_absolute() && first_of(book, &self.chain).is_some_and(|first| first == self.first)
    }
}

/// All anchors, as the book in one folder goes by them.
#[derive(Debug)]
pub(super) struct Anchors {
    data: PathBuf,
    root: PathBuf,
    /// The book's folder.
    here: String,
    all: Vec<Anchor>,
    /// Those of an earlier version, by the names of their files.
    old: Vec<(String, End, PathBuf)>,
    /// The chains in this folder by name, with what their first lines are known by.
    present: HashMap<String, String>,
}

impl Anchors {
    /// Reads them. Writes nothing. One that can't be read as an anchor is none.
    pub fn read(data: &Path, root: &Path) -> io::Result<Self> {
        let here = root.canonicalize()?.to_string_lossy().into_owned();
        let (mut all, mut old, mut present) = (vec![], vec![], HashMap::new());
        for path in files(&data.join("anchors"))? {
            let Some(name) = stem(&path, ".json") else { continue };
            match name.strip_prefix("chain-").and_then(|name| name.split_once('-')) {
                Some((first, chain)) => {
                    let Some(File { ends, .. }) = read(&path)? else { continue };
                    let (chain, first) = (chain.to_owned(), first.to_owned());
                    all.push(Anchor { chain, first, ends, path });
                }
                None => old.extend(read(&path)?.map(|end| (name.to_owned(), end, path.clone()))),
            }
        }
        for path in files(&home::path(root, FOLDER)?)? {
            if let Some(chain) = stem(&path, ".jsonl")
                && let Some(first) = first_of(root, chain)
            {
                present.insert(chain.to_owned(), first);
            }
        }
        Ok(Self { data: data.to_path_buf(), root: root.to_path_buf(), here, all, old, present })
    }

    /// Looks up what is known of the chain with these hashes.
    pub fn known(&self, chain: &str, hashes: &[String]) -> Known {
        let known = |ends, old| Known { here: self.here.clone(), ends, old };
        let first = hashes.first().and_then(|hash| hash.get(..FIRST));
        let own = self.all.iter().find(|anchor| anchor.chain == chain && first == Some(&anchor.first));
        if let Some(own) = own.filter(|own| !self.is_of_another_book(own)) {
            return known(own.ends.clone(), None);
        }
        let in_this_folder = format!("{}-{chain}", &sha256_hex(&self.here)[..16]);
        if let Some((_, end, path)) = self.old.iter().find(|(name, ..)| *name == in_this_folder) {
            return known(vec![End { book: self.here.clone(), ..end.clone() }], Some(path.clone()));
        }
        if let Some((anchor, end)) = self.left_here(chain) {
            // One that was never written was in no other folder.
            let ends = if end.count > 0 { anchor.ends.clone() } else { vec![end.clone()] };
            return known(ends, None);
        }
        if let Some(anchor) = self.missing().into_iter().find(|anchor| anchor.chain == chain) {
            return known(anchor.ends.clone(), None);
        }
        let of_chain = |name: &str| name.split_once('-').is_some_and(|(_, of)| of == chain);
        let moved =
            self.old.iter().find(|(name, end, _)| of_chain(name) && end.count > 0 && end.ends(hashes, false));
        let (ends, old) = moved.map(|(_, end, path)| (vec![end.clone()], path.clone())).unzip();
        known(ends.unwrap_or_default(), old)
    }

    /// The names of the chains that should be in this folder.
    pub fn expected(&self) -> BTreeSet<String> {
        let old = self.old.iter().filter_map(|(name, ..)| name.split_once('-'));
        let names = self.all.iter().map(|anchor| anchor.chain.as_str()).chain(old.map(|(_, chain)| chain));
        let names: BTreeSet<_> = names.collect();
        names.into_iter().filter(|name| !self.known(name, &[]).is_nothing()).map(str::to_owned).collect()
    }

    /// Notes where the chain with this first line ends in this folder.
    pub fn set(&self, chain: &str, first: &str, known: &mut Known, end: End) -> io::Result<()> {
        known.ends.retain(|end| end.book != known.here && Path::new(&end.book).is_absolute());
        known.ends.push(End { book: known.here.clone(), ..end });
        let first = first.get(..FIRST).unwrap_or(first);
        self.write(&self.data.join("anchors").join(format!("chain-{first}-{chain}.json")), &known.ends)?;
        known.old.take().map_or(Ok(()), |old| atomic::remove(&old))
    }

    /// Gives the chains of a book that was moved or copied here ends of their own, before the first of them goes on: those that are whole, and where the book was moved also those that are
    /// not, or are missing, so that this shows here for good and not in the folder that they left. Returns whether there were any.
    pub fn follow(&self) -> io::Result<bool> {
        let came = self.all.iter().filter(|anchor| self.has_come(anchor));
        let mut is_changed = false;
        for anchor in came.chain(self.missing()) {
            let mut ends = anchor.ends.clone();
            ends.retain(|end| anchor.is_in(&end.book));
            let is_missing = !self.is_present(anchor);
            if ends.is_empty() || is_missing || self.is_whole(anchor)? {
                let known = Known { here: self.here.clone(), ends: anchor.ends.clone(), old: None };
                ends.extend(known.end().map(|end| End { book: self.here.clone(), ..end.clone() }));
                self.write(&anchor.path, &ends)?;
                is_changed = true;
            }
        }
        Ok(is_changed)
    }

    /// The chain of this name that was left in this folder.
    fn left_here(&self, chain: &str) -> Option<(&Anchor, &End)> {
        let of_name = self.all.iter().filter(|anchor| anchor.chain == chain);
        let ends = of_name.filter_map(|anchor| Some((anchor, anchor.end_in(&self.here)?)));
        ends.max_by_key(|(_, end)| end.count)
    }

    /// Whether a chain was put in the place of the one that was left in this folder, and is still in its own.
    fn is_of_another_book(&self, anchor: &Anchor) -> bool {
        let is_taken = || self.left_here(&anchor.chain).is_some_and(|(_, end)| end.count > 0);
        anchor.end_in(&self.here).is_none()
            && is_taken()
            && anchor.ends.iter().any(|end| anchor.is_in(&end.book))
    }

    /// Whether a chain is in this folder, and has no end here yet.
    fn has_come(&self, anchor: &Anchor) -> bool {
        self.is_present(anchor) && anchor.end_in(&self.here).is_none() && !self.is_of_another_book(anchor)
    }

    fn is_present(&self, anchor: &Anchor) -> bool {
        self.present.get(&anchor.chain) == Some(&anchor.first)
    }

    /// Chains that were beside one that has come here, and have not.
    fn missing(&self) -> Vec<&Anchor> {
        let came = self.all.iter().filter(|anchor| self.has_come(anchor));
        let from: Vec<_> = came.flat_map(|with| with.ends.iter().map(move |end| (with, &end.book))).collect();
        if from.is_empty() {
            return vec![];
        }
        let is_here = |name: &str| self.all.iter().any(|other| other.chain == name && self.is_present(other));
        // In the folder that a book left, another may have begun.
        let was_beside = |anchor: &Anchor| {
            let mut of = from.iter().filter(|(_, book)| anchor.end_in(book).is_some());
            of.any(|(with, book)| with.is_in(book) || !anchor.is_in(book))
        };
        let away = self.all.iter().filter(|anchor| anchor.end_in(&self.here).is_none());
        away.filter(|anchor| !is_here(&anchor.chain) && was_beside(anchor)).collect()
    }

    /// Whether a chain in this folder ends as it was left in another.
    fn is_whole(&self, anchor: &Anchor) -> io::Result<bool> {
        let bytes = fs::read(home::path(&self.root, &format!("{FOLDER}/{}.jsonl", anchor.chain))?)?;
        let (whole, torn) = split_torn(&bytes);
        let hashes: Vec<_> = lines(whole).map(sha256_hex).collect();
        let known = Known { here: self.here.clone(), ends: anchor.ends.clone(), old: None };
        Ok(known.is_left_at(&hashes, torn > 0))
    }

    fn write(&self, path: &Path, ends: &[End]) -> io::Result<()> {
        let file = File { v: jsonl::VERSION, ends: ends.to_vec() };
        atomic::write(&self.data, path, &serde_json::to_vec(&file)?)
    }
}

/// Lets one program at a time read or write the anchors: those of two copies of a book are in one file. Where nothing was ever anchored, a reader makes nothing.
pub(super) fn locked(data: &Path, to_write: bool) -> io::Result<Option<fs::File>> {
    let path = data.join("anchors.lock");
    if !to_write && !path.exists() {
        return Ok(None);
    }
    let file = OpenOptions::new().read(true).append(to_write).create(to_write).open(path)?;
    jsonl::lock(&file)?;
    Ok(Some(file))
}

/// What the first line of a chain in a folder is known by.
fn first_of(book: &Path, chain: &str) -> Option<String> {
    let path = home::path(book, &format!("{FOLDER}/{chain}.jsonl")).ok()?;
    let mut line = vec![];
    BufReader::new(fs::File::open(path).ok()?).read_until(b'\n', &mut line).ok()?;
    let line = line.strip_suffix(b"\n").unwrap_or(&line);
    (!line.is_empty()).then(|| sha256_hex(line)[..FIRST].to_owned())
}

/// The files in a folder, in order; in one that does not exist there are none.
fn files(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

/// The name of a file without its ending, if it has that.
fn stem<'p>(path: &'p Path, ending: &str) -> Option<&'p str> {
    path.file_name()?.to_str()?.strip_suffix(ending)
}

fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    match fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        other => Ok(serde_json::from_slice(&other?).ok()),
    }
}
