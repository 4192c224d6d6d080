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

use super::{FOLDER, NOTHING, hashes_of, split_torn};
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

fn furthest(ends: &[End]) -> Option<&End> {
    ends.iter().max_by_key(|end| end.count)
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
        self.own().or_else(|| furthest(&self.ends))
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

    /// The folders that the chain with these hashes may have come from: those where it ended so, else any; and of these the ones that it has left, if there are such.
    fn left_by(&self, hashes: &[String], torn: bool) -> Vec<String> {
        let mut from: Vec<&End> = self.ends.iter().filter(|end| end.ends(hashes, torn)).collect();
        if from.is_empty() {
            from = self.ends.iter().collect();
        }
        if from.iter().any(|end| !self.is_in(&end.book)) {
            from.retain(|end| !self.is_in(&end.book));
        }
        from.into_iter().map(|end| end.book.clone()).collect()
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
    /// Those of them that have no end here, by their places among all, each with the folders that it may have come from.
    came: Vec<(usize, Vec<String>)>,
}

impl Anchors {
    /// Reads them. Writes nothing. One that can't be read is none.
    pub fn read(data: &Path, root: &Path) -> io::Result<Self> {
        let here = root.canonicalize()?.to_string_lossy().into_owned();
        let (mut all, mut old, mut present) = (vec![], vec![], HashMap::new());
        for path in files(&data.join("anchors"))? {
            let Some(name) = stem(&path, ".json") else { continue };
            match name.strip_prefix("chain-").and_then(|name| name.split_once('-')) {
                Some((first, chain)) => {
                    let Some(File { ends, .. }) = read(&path) else { continue };
                    let (chain, first) = (chain.to_owned(), first.to_owned());
                    all.push(Anchor { chain, first, ends, path });
                }
                None => old.extend(read(&path).map(|end| (name.to_owned(), end, path.clone()))),
            }
        }
        for path in files(&home::path(root, FOLDER)?)? {
            if let Some(chain) = stem(&path, ".jsonl")
                && let Some(first) = first_of(root, chain)
            {
                present.insert(chain.to_owned(), first);
            }
        }
        let (data, root) = (data.to_path_buf(), root.to_path_buf());
        let mut anchors = Self { data, root, here, all, old, present, came: vec![] };
        for (at, anchor) in anchors.all.iter().enumerate() {
            if anchors.is_present(anchor) && anchor.end_in(&anchors.here).is_none() {
                let (hashes, torn) = anchors.hashes_of(anchor)?;
                anchors.came.push((at, anchor.left_by(&hashes, torn)));
            }
        }
        Ok(anchors)
    }

    /// Looks up what is known of the chain with these hashes.
    pub fn known(&self, chain: &str, hashes: &[String]) -> Known {
        let known = |ends, old| Known { here: self.here.clone(), ends, old };
        let first = hashes.first().and_then(|hash| hash.get(..FIRST));
        let own = self.all.iter().find(|anchor| anchor.chain == chain && first == Some(&anchor.first));
        if let Some(own) = own.filter(|own| !self.is_of_another_book(own)) {
            return known(self.ends_of(own, hashes), None);
        }
        if let Some((end, path)) = self.old_here(chain) {
            return known(vec![End { book: self.here.clone(), ..end.clone() }], Some(path.clone()));
        }
        if let Some((anchor, end)) = self.left_here(chain) {
            // One that was never written was in no other folder.
            let ends = if end.count > 0 { anchor.ends.clone() } else { vec![end.clone()] };
            return known(ends, None);
        }
        if let Some(anchor) = self.was_beside(chain).filter(|anchor| !self.is_present(anchor)) {
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
        let is_expected = |name: &&str| self.known(name, &[]).end().is_some_and(|end| end.count > 0);
        names.into_iter().filter(is_expected).map(str::to_owned).collect()
    }

    /// Notes where the chain with this first line ends in this folder.
    pub fn set(&self, chain: &str, first: &str, known: &mut Known, end: End) -> io::Result<()> {
        known.ends.retain(|end| end.book != known.here && Path::new(&end.book).is_absolute());
        known.ends.push(End { book: known.here.clone(), ..end });
        let first = first.get(..FIRST).unwrap_or(first);
        self.write(&self.data.join("anchors").join(format!("chain-{first}-{chain}.json")), &known.ends)?;
        known.old.take().map_or(Ok(()), |old| atomic::remove(&old))
    }

    /// Forgets the first line of a chain that was never written: another one has been.
    pub fn forget_unwritten(&self, chain: &str) -> io::Result<()> {
        let is_unwritten = |anchor: &&Anchor| {
            let end = anchor.end_in(&self.here).filter(|end| end.count == 0);
            anchor.chain == chain && end.is_some() && anchor.ends.len() == 1
        };
        self.all.iter().filter(is_unwritten).try_for_each(|anchor| atomic::remove(&anchor.path))
    }

    /// Gives the chains of a book that was moved or copied here ends of their own, before the first of them goes on: those that are whole, and where the book was moved also those that are
    /// not, or are missing, so that this shows here for good and not in the folder that they left. Returns whether there were any.
    pub fn follow(&self) -> io::Result<bool> {
        let came: Vec<_> = self.all.iter().filter(|anchor| self.has_come(anchor)).collect();
        let mut is_changed = false;
        // What is missing is known by those that have come: should this stop in between, they still have.
        for anchor in self.missing().into_iter().chain(came.iter().copied()) {
            let mut ends = anchor.ends.clone();
            ends.retain(|end| !has_left(anchor, &end.book, &came));
            let hashes = if self.is_present(anchor) { Some(self.hashes_of(anchor)?) } else { None };
            let own = match &hashes {
                None => furthest(&anchor.ends),
                Some((hashes, torn)) => {
                    let known = Known { ends: self.ends_of(anchor, hashes), ..Known::default() };
                    let at = anchor.ends.iter().find(|end| end.ends(hashes, *torn));
                    let is_whole = known.is_left_at(hashes, *torn);
                    if is_whole {
                        at
                    } else {
                        furthest(&anchor.ends).filter(|_| at.is_none() && ends.is_empty())
                    }
                }
            };
            if let Some(own) = own {
                ends.push(End { book: self.here.clone(), ..own.clone() });
                self.write(&anchor.path, &ends)?;
                is_changed = true;
            }
        }
        Ok(is_changed)
    }

    /// The ends that a chain in this folder is held against. Where it has none of its own here and is as it was left in another folder, copies that went on and are where they were do
    /// not count.
    fn ends_of(&self, anchor: &Anchor, hashes: &[String]) -> Vec<End> {
        let mut ends = anchor.ends.clone();
        if anchor.end_in(&self.here).is_none() && ends.iter().any(|end| end.ends(hashes, false)) {
            ends.retain(|end| end.holds(hashes) || !anchor.is_in(&end.book));
        }
        ends
    }

    /// The hashes of the whole lines of a chain in this folder, and whether there is half of one behind them.
    fn hashes_of(&self, anchor: &Anchor) -> io::Result<(Vec<String>, bool)> {
        let bytes = fs::read(home::path(&self.root, &format!("{FOLDER}/{}.jsonl", anchor.chain))?)?;
        Ok((hashes_of(&bytes), split_torn(&bytes).1 > 0))
    }

    /// What an earlier version noted of the chain of this name in this folder, and where.
    fn old_here(&self, chain: &str) -> Option<(&End, &PathBuf)> {
        let name = format!("{}-{chain}", &sha256_hex(&self.here)[..16]);
        self.old.iter().find(|(known, ..)| *known == name).map(|(_, end, path)| (end, path))
    }

    /// The chain of this name that was left in this folder.
    fn left_here(&self, chain: &str) -> Option<(&Anchor, &End)> {
        let of_name = self.all.iter().filter(|anchor| anchor.chain == chain);
        let ends = of_name.filter_map(|anchor| Some((anchor, anchor.end_in(&self.here)?)));
        ends.max_by_key(|(_, end)| end.count)
    }

    /// Whether a chain was put in the place of another one: of one that was left here by a book that is still here, or of one that was beside the others of the book that came.
    fn is_of_another_book(&self, anchor: &Anchor) -> bool {
        if anchor.end_in(&self.here).is_some() {
            return false;
        }
        let left = self.left_here(&anchor.chain).map(|(_, end)| end);
        let left = left.or_else(|| self.old_here(&anchor.chain).map(|(end, _)| end));
        if left.is_some_and(|end| end.count > 0) {
            let is_still_here = |other: &Anchor| self.is_present(other) && other.end_in(&self.here).is_some();
            return anchor.ends.iter().any(|end| anchor.is_in(&end.book))
                || self.all.iter().any(is_still_here);
        }
        self.was_beside(&anchor.chain).is_some_and(|other| other.first != anchor.first)
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
        let names: BTreeSet<_> = self.all.iter().map(|anchor| anchor.chain.as_str()).collect();
        let beside = names.into_iter().filter_map(|name| self.was_beside(name));
        beside.filter(|anchor| !self.is_present(anchor)).collect()
    }

    /// The chain of this name that was beside others which have come here, and has no end here yet: one that is here, if there is such a one.
    fn was_beside(&self, name: &str) -> Option<&Anchor> {
        let is_new = |anchor: &&Anchor| anchor.end_in(&self.here).is_none();
        let came = || self.came.iter().map(|(at, from)| (&self.all[*at], from));
        // In the folder that a book left, another may have begun.
        let is_beside = |anchor: &&Anchor| {
            let shares = |(other, from): (&Anchor, &Vec<String>)| {
                let was_there = |book: &String| anchor.end_in(book).is_some_and(|end| end.count > 0);
                let is_same = |book: &String| other.is_in(book) || !anchor.is_in(book);
                // Where it may be a copy of a folder that never had this one, nothing is missing.
                let is_any = !from.is_empty() && from.iter().all(|book| was_there(book) && is_same(book));
                other.chain != name && is_any
            };
            came().any(shares)
        };
        let of_name = self.all.iter().filter(|anchor| anchor.chain == name).filter(is_new);
        let count = |anchor: &Anchor| furthest(&anchor.ends).map_or(0, |end| end.count);
        of_name.filter(is_beside).max_by_key(|anchor| (self.is_present(anchor), count(anchor)))
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
    let locked = if to_write { file.lock() } else { file.lock_shared() };
    match locked {
        Err(e) if e.kind() != io::ErrorKind::Unsupported => Err(e),
        _ => Ok(Some(file)),
    }
}

/// Whether a chain is certainly not in that folder any more because its book has left it. `came`: the chains of the same book that are where it is now. A folder that can't be reached
/// may hold it still, and so may one that lacks its chains alone.
fn has_left(anchor: &Anchor, book: &str, came: &[&Anchor]) -> bool {
    let folder = Path::new(book);
    if !folder.is_absolute() {
        return true;
    }
    if anchor.is_in(book) || came.iter().any(|other| other.end_in(book).is_some() && other.is_in(book)) {
        return false;
    }
    if let Err(e) = folder.metadata() {
        return e.kind() == io::ErrorKind::NotFound && folder.parent().is_some_and(Path::exists);
    }
    let chains = home::path(folder, FOLDER).and_then(fs::read_dir);
    chains.map_or(true, |chains| chains.count() > 0)
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
pub(super) fn files(folder: &Path) -> io::Result<BTreeSet<PathBuf>> {
    match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        entries => entries?.map(|entry| Ok(entry?.path())).collect(),
    }
}

/// The name of a file without its ending, if it has that.
pub(super) fn stem<'p>(path: &'p Path, ending: &str) -> Option<&'p str> {
    path.file_name()?.to_str()?.strip_suffix(ending)
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}
