//! Unsaved text that survives a crash: an append-only log of edits over the file as it was read, in `.scritorio/recovery/`.
//!
//! Every batch is on the disk when [`Log::append`] returns; whoever appends at least once a second never loses an older edit. The
//! file is copied once, when a log starts, so that the text can be rebuilt even if another program changes it later. A log in use is
//! locked, and is not offered for recovery.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::ids::BookPath;
use crate::domain::passage::sha256_hex;

use super::{atomic, home, jsonl};

/// How often a log is looked at that somebody seems to write, and how long between two looks.
const LOOKS: u32 = 5;
const INSTANT: std::time::Duration = std::time::Duration::from_millis(4);
const FOLDER: &str = "recovery";

/// A change of the text. Offsets and lengths are bytes of its UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// Where.
    pub at: usize,
    /// How many bytes go.
    pub removed: usize,
    /// What comes in their place.
    pub inserted: String,
}

/// The log of one document that is being edited. Dropping it keeps the log on disk; [`Log::discard`] deletes it.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    // Its lock says that the log is in use.
    _in_use: File,
}

/// Unsaved text that a program left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The document.
    pub path: BookPath,
    /// Hash of the file that the edits were made to; `None`: it did not exist.
    pub base_hash: Option<String>,
    /// The text with all edits that could be read.
    pub text: String,
    /// Whether every edit could be put in place.
    pub complete: bool,
    /// Whether the file on disk is another one by now.
    pub disk_changed: bool,
    /// When the log was started, RFC 3339 in UTC.
    pub at: String,
    log: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Start {
        v: u32,
        path: BookPath,
        base_hash: Option<String>,
        /// Hash of the text that the edits were made to, where it is not the file's own bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text_hash: Option<String>,
        at: String,
    },
    Edits {
        v: u32,
        edits: Vec<Edit>,
    },
}

impl Log {
    /// Starts a log for the document at `path`, whose file has the hash `base_hash` (`None`: there is no file yet). `text` is what the edits
    /// are made to, where that is not the file's own bytes: an editor that works on line feeds gives its text of a file with CRLF. Makes `.scritorio`.
    pub fn start(
        root: &Path,
        path: &BookPath,
        base_hash: Option<&str>,
        text: Option<&str>,
    ) -> io::Result<Self> {
        let name = format!("{FOLDER}/{}.jsonl", ulid::Ulid::generate());
        let log = home::make(root, &name)?;
        let text_hash = text.map(sha256_hex);
        if let Some(text) = text {
            atomic::write(root, &base_path(&log), text.as_bytes())?;
        } else if let Some(hash) = base_hash {
            let bytes = std::fs::read(atomic::resolve(root, &path.under(root))?)?;
            // A file that changed in this very moment is no base; the edits alone are kept then.
            if sha256_hex(&bytes) == hash {
                atomic::write(root, &base_path(&log), &bytes)?;
            }
        }
        let in_use = OpenOptions::new().read(true).append(true).create_new(true).open(lock_path(&log))?;
        jsonl::lock(&in_use)?;
        let (path, base_hash) = (path.clone(), base_hash.map(Into::into));
        jsonl::append(
            &log,
            &[Line::Start { v: jsonl::VERSION, path, base_hash, text_hash, at: super::now() }],
        )?;
        Ok(Self { path: log, _in_use: in_use })
    }

    /// Appends edits, in the order in which they were made. They are on the disk when this returns.
    pub fn append(&mut self, edits: &[Edit]) -> io::Result<()> {
        if edits.is_empty() {
            return Ok(());
        }
        jsonl::append(&self.path, &[Line::Edits { v: jsonl::VERSION, edits: edits.to_vec() }])
    }

    /// Deletes the log: the text was saved, or thrown away by the author.
    pub fn discard(self) -> io::Result<()> {
        remove(&self.path)
    }
}

/// Returns the unsaved texts that programs left behind, oldest first. Logs in use are left out, and those whose text is what the disk holds.
pub fn pending(root: &Path) -> io::Result<Vec<Recovered>> {
    let entries = match std::fs::read_dir(home::path(root, FOLDER)?) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        other => other?,
    };
    let mut logs = vec![];
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "jsonl") && !in_use(&path) {
            logs.push(path);
        }
    }
    logs.sort();
    Ok(logs.into_iter().filter_map(|log| replay(root, log)).collect())
}

/// Deletes what was left behind, after the author took it or threw it away.
pub fn discard(recovered: &Recovered) -> io::Result<()> {
    remove(&recovered.log)
}

/// Applies edits to `text`. Stops at the first that does not fit and returns `false`.
pub fn apply(text: &mut String, edits: &[Edit]) -> bool {
    for edit in edits {
        let Some(end) = edit.at.checked_add(edit.removed) else { return false };
        if end > text.len() || !text.is_char_boundary(edit.at) || !text.is_char_boundary(end) {
            return false;
        }
        text.replace_range(edit.at..end, &edit.inserted);
    }
    true
}

fn replay(root: &Path, log: PathBuf) -> Option<Recovered> {
    let mut lines = jsonl::read::<Line>(&log).ok()?.records.into_iter();
    let Line::Start { path, base_hash, text_hash, at, .. } = lines.next()? else { return None };
    let on_disk = atomic::resolve(root, &path.under(root)).and_then(std::fs::read).ok();
    let disk_changed = on_disk.as_ref().map(sha256_hex) != base_hash;
    let base = match text_hash.as_ref().or(base_hash.as_ref()) {
        None => Some(String::new()),
        Some(hash) => [std::fs::read(base_path(&log)).ok(), on_disk.clone()]
            .into_iter()
            .flatten()
            .find(|bytes| sha256_hex(bytes) == *hash)
            .and_then(|bytes| String::from_utf8(bytes).ok()),
    };
    let edits: Vec<Edit> = lines
        .filter_map(|l| if let Line::Edits { edits, .. } = l { Some(edits) } else { None })
        .flatten()
        .collect();
    let (text, complete) = match base {
        Some(mut text) => {
            let complete = apply(&mut text, &edits);
            (text, complete)
        }
        // Without its base the text can't be rebuilt, but no word that was typed is thrown away.
        None => (edits.into_iter().map(|e| e.inserted).collect(), false),
    };
    let saved = on_disk.is_some_and(|bytes| same_words(&bytes, &text));
    let nothing = text.is_empty() && base_hash.is_none();
    (!saved && !nothing).then_some(Recovered { path, base_hash, text, complete, disk_changed, at, log })
}

/// Whether a file holds a text, line ends and a byte order mark aside.
fn same_words(bytes: &[u8], text: &str) -> bool {
    bytes == text.as_bytes() || std::str::from_utf8(bytes).is_ok_and(|file| plain(file) == plain(text))
}

fn plain(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n")
}

fn in_use(log: &Path) -> bool {
    match OpenOptions::new().read(true).append(true).open(lock_path(log)) {
        // A process that is just being started holds the files of its parent for an instant.
        Ok(file) => (0..LOOKS).all(|look| {
            if look > 0 {
                std::thread::sleep(INSTANT);
            }
            matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock))
        }),
        Err(_) => false,
    }
}

fn base_path(log: &Path) -> PathBuf {
    log.with_extension("base")
}

fn lock_path(log: &Path) -> PathBuf {
    log.with_extension("lock")
}

fn remove(log: &Path) -> io::Result<()> {
    for path in [&base_path(log), &lock_path(log)] {
        match std::fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    std::fs::remove_file(log)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const START: &str = "Ilse S\u{f8}ndergaard waited.\n";

    fn chapter() -> BookPath {
        BookPath::new("manuscript/01.md").unwrap()
    }

    fn book() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("manuscript")).unwrap();
        fs::write(root.path().join("manuscript/01.md"), START).unwrap();
        root
    }

    fn edit(at: usize, removed: usize, inserted: &str) -> Edit {
        Edit { at, removed, inserted: inserted.into() }
    }

    fn started(root: &Path) -> Log {
        Log::start(root, &chapter(), Some(&sha256_hex(START)), None).unwrap()
    }

    #[test]
    fn what_was_typed_before_a_crash_is_offered() {
        let root = book();
        let mut log = started(root.path());
        log.append(&[edit(0, 4, "Mira"), edit(4, 0, "!")]).unwrap();
        log.append(&[edit(5, 1, "_")]).unwrap();
        assert!(pending(root.path()).unwrap().is_empty(), "a log in use is nobody's loss");
        drop(log);
        let found = pending(root.path()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].text, "Mira!_S\u{f8}ndergaard waited.\n");
        assert_eq!((&found[0].path, found[0].complete, found[0].disk_changed), (&chapter(), true, false));
        discard(&found[0]).unwrap();
        assert!(pending(root.path()).unwrap().is_empty());
        assert_eq!(fs::read_dir(root.path().join(".scritorio/recovery")).unwrap().count(), 0);
    }

    #[test]
    fn edits_of_a_text_without_its_carriage_returns_are_offered_without_them() {
        let root = book();
        let file = "One.\r\nTwo.\r\n";
        fs::write(root.path().join("manuscript/01.md"), file).unwrap();
        let mut log =
            Log::start(root.path(), &chapter(), Some(&sha256_hex(file)), Some("One.\nTwo.\n")).unwrap();
        log.append(&[edit(5, 3, "Three")]).unwrap();
        drop(log);
        let found = pending(root.path()).unwrap();
        assert_eq!((found[0].text.as_str(), found[0].complete), ("One.\nThree.\n", true));
        fs::write(root.path().join("manuscript/01.md"), "One.\r\nThree.\r\n").unwrap();
        assert!(pending(root.path()).unwrap().is_empty(), "it was saved after all");
    }

    #[test]
    fn a_text_that_was_saved_after_all_is_not_offered() {
        let root = book();
        let mut log = started(root.path());
        log.append(&[edit(0, 4, "Mira")]).unwrap();
        drop(log);
        fs::write(root.path().join("manuscript/01.md"), START.replacen("Ilse", "Mira", 1)).unwrap();
        assert!(pending(root.path()).unwrap().is_empty());
    }

    #[test]
    fn a_file_that_changed_on_disk_costs_no_word() {
        let root = book();
        let mut log = started(root.path());
        log.append(&[edit(0, 4, "Mira")]).unwrap();
        drop(log);
        fs::write(root.path().join("manuscript/01.md"), "Theirs.").unwrap();
        let found = pending(root.path()).unwrap();
        assert_eq!(found[0].text, START.replacen("Ilse", "Mira", 1));
        assert!(found[0].disk_changed && found[0].complete);
    }

    #[test]
    fn a_torn_batch_costs_itself_alone_and_one_that_does_not_fit_ends_the_replay() {
        let root = book();
        let mut log = started(root.path());
        log.append(&[edit(0, 4, "Mira")]).unwrap();
        let path = log.path.clone();
        drop(log);
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend(b"{\"v\":1,\"edits\":[{\"at\":0,\"rem");
        fs::write(&path, &bytes).unwrap();
        assert!(pending(root.path()).unwrap()[0].complete);
        bytes.extend(
            b"\n{\"v\":1,\"edits\":[{\"at\":7,\"removed\":0,\"inserted\":\"inside a character\"}]}\n",
        );
        fs::write(&path, &bytes).unwrap();
        let found = pending(root.path()).unwrap();
        assert_eq!(found[0].text, START.replacen("Ilse", "Mira", 1));
        assert!(!found[0].complete);
    }

    #[test]
    fn a_new_document_is_recovered_from_nothing() {
        let root = tempfile::tempdir().unwrap();
        let mut log = Log::start(root.path(), &chapter(), None, None).unwrap();
        log.append(&[edit(0, 0, "Once")]).unwrap();
        drop(log);
        assert_eq!(pending(root.path()).unwrap()[0].text, "Once");
    }

    #[test]
    fn a_discarded_log_leaves_nothing() {
        let root = book();
        let mut log = started(root.path());
        log.append(&[edit(0, 0, "x")]).unwrap();
        log.discard().unwrap();
        assert!(pending(root.path()).unwrap().is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_run_of_edits_replays_to_the_same_text(
            start in "\\PC{0,30}",
            raw in proptest::collection::vec((0usize..40, 0usize..9, "\\PC{0,5}|\n|\r\n"), 0..12),
        ) {
            let root = tempfile::tempdir().unwrap();
            fs::create_dir(root.path().join("manuscript")).unwrap();
            fs::write(chapter().under(root.path()), &start).unwrap();
            let mut log = Log::start(root.path(), &chapter(), Some(&sha256_hex(&start)), None).unwrap();
            let mut text = start.clone();
            for (at, removed, inserted) in raw {
                let at = text.floor_char_boundary(at.min(text.len()));
                let end = text.floor_char_boundary((at + removed).min(text.len())).max(at);
                let edit = Edit { at, removed: end - at, inserted };
                text.replace_range(at..end, &edit.inserted);
                log.append(&[edit]).unwrap();
            }
            drop(log);
            let found = pending(root.path()).unwrap();
            proptest::prop_assert_eq!(found.first().map_or(&start, |f| &f.text), &text);
        }

        #[test]
        fn edits_from_anywhere_never_panic(text in "\\PC{0,9}", at in proptest::num::usize::ANY, removed in proptest::num::usize::ANY) {
            let mut text = text;
            apply(&mut text, &[edit(at, removed, "x"), edit(at % 12, removed % 12, "\u{e9}")]);
        }
    }
}
