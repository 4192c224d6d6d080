//! The book's own folder, `.scritorio`.
//!
//! The first write makes it, with a `.gitignore` of what belongs to this machine only. Whatever is written there next brings a `.gitattributes` that keeps the shared
//! records as they are, where there is none; one that is there is the author's. Reading never makes it, and nothing in it
//! is followed out of the book.

use std::io;
use std::path::{Path, PathBuf};

use super::atomic;

/// Name of the folder.
pub const NAME: &str = ".scritorio";

/// What git leaves alone: conversations, drafts of proposals, undo and recovery. Provenance, accepted tools, personas and word lists are shared.
const IGNORED: &str = "\
# Made by Scritorio. What stands here belongs to one machine; the rest is part of the book.
/sessions/
/proposals.jsonl
/journal/
/history/
/recovery/
/tools/proposed/
/desk.json
/ledger/
/cache/
/logs/
/lock
/busy
";

/// Tells git what to do with files of the folder.
const ATTRIBUTES: &str = ".gitattributes";

/// The hash chain of provenance is one of bytes: it breaks where git writes other line ends than it was given.
const AS_THEY_ARE: &str = "\
# Made by Scritorio. The records of provenance are checked byte by byte: git must not change their line ends.
/provenance/** -text
";

/// Returns the path of `name` inside the folder, made or not. An error when a link leads it out of the book.
pub fn path(root: &Path, name: &str) -> io::Result<PathBuf> {
    atomic::resolve(root, &root.join(NAME).join(name))
}

/// Makes the folder if it is not there yet, and returns the path of `name` inside it; the folder that holds `name` exists then.
pub fn make(root: &Path, name: &str) -> io::Result<PathBuf> {
    let path = path(root, name)?;
    if !root.join(NAME).is_dir() {
        atomic::write(root, &root.join(NAME).join(".gitignore"), IGNORED.as_bytes())?;
    }
    let attributes = root.join(NAME).join(ATTRIBUTES);
    if attributes.symlink_metadata().is_err() {
        // What is to be written here must not fail for this: the next write tries again.
        let _ = atomic::write(root, &attributes, AS_THEY_ARE.as_bytes());
    }
    atomic::make_folders(path.parent().unwrap_or(root))?;
    Ok(path)
}

/// Returns `<id><extension>` if `id` is safe as a file's name: letters, digits, `-` and `_` only.
pub fn file_name(id: &str, extension: &str) -> io::Result<String> {
    let safe = !id.is_empty()
        && id.len() <= 64
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if safe {
        Ok(format!("{id}{extension}"))
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "an id is made of letters, digits, `-` and `_`, at most 64",
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn asking_for_a_path_makes_nothing() {
        let root = tempfile::tempdir().unwrap();
        path(root.path(), "sessions/s-1.jsonl").unwrap();
        assert!(!root.path().join(NAME).exists());
    }

    #[test]
    fn the_first_write_brings_a_gitignore_and_a_later_one_leaves_it_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = make(root.path(), "sessions/s-1.jsonl").unwrap();
        assert!(path.parent().unwrap().is_dir());
        let ignore = root.path().join(NAME).join(".gitignore");
        assert!(fs::read_to_string(&ignore).unwrap().contains("/proposals.jsonl\n"));
        assert!(!fs::read_to_string(&ignore).unwrap().contains("provenance"));
        fs::write(&ignore, "mine\n").unwrap();
        make(root.path(), "journal/p-1.json").unwrap();
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "mine\n");
    }

    #[test]
    fn git_is_told_to_leave_records_as_they_are_in_an_older_folder_too_and_an_authors_own_words_stay() {
        let root = tempfile::tempdir().unwrap();
        let attributes = root.path().join(NAME).join(ATTRIBUTES);
        fs::create_dir_all(root.path().join(NAME)).unwrap();
        path(root.path(), "provenance/m.jsonl").unwrap();
        assert!(!attributes.exists(), "reading makes nothing");
        make(root.path(), "sessions/s-1.jsonl").unwrap();
        assert!(fs::read_to_string(&attributes).unwrap().ends_with("\n/provenance/** -text\n"));
        fs::write(&attributes, "").unwrap();
        make(root.path(), "sessions/s-2.jsonl").unwrap();
        assert_eq!(fs::read_to_string(&attributes).unwrap(), "");
    }

    #[test]
    fn an_id_is_never_a_way_out() {
        assert_eq!(file_name("p-01J", ".json").unwrap(), "p-01J.json");
        for id in ["", "../x", "a/b", "a.b", "a b", "ä", &"x".repeat(65)] {
            assert!(file_name(id, ".json").is_err(), "{id:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_a_link_out_of_the_book_is_refused() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("book");
        fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink("..", root.join(NAME)).unwrap();
        assert!(atomic::is_outside(&make(&root, "sessions/x.jsonl").unwrap_err()));
        assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1);
    }
}
