//! Deleting a conversation, and bringing it back: `.scritorio/sessions/deleted/<id>.jsonl`.
//!
//! What is deleted goes there, byte for byte, with the time of deleting as the time of its file, until it is deleted for ever. Nothing is ever put over another file: where
//! there is one of the same id, which another machine or an earlier version may have left, it gets another id.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::domain::ids::SessionId;
use crate::store::{atomic, home};

use super::{FOLDER, Summary, must_exist, path};

const BIN: &str = "sessions/deleted";

/// Puts a conversation into the bin. Returns the id that it has there.
pub fn delete(root: &Path, session: &SessionId) -> io::Result<SessionId> {
    must_exist(root, session)?;
    let deleted = if place(root, session)?.exists() { SessionId::mint() } else { session.clone() };
    let to = home::make(root, &name(&deleted)?)?;
    atomic::rename(&path(root, session)?, &to)?;
    // The order of deleting is a convenience: a file system that keeps no times still deletes.
    let _ = File::options().append(true).open(&to).and_then(|file| file.set_modified(SystemTime::now()));
    atomic::sync_folder(&home::path(root, FOLDER)?)?;
    Ok(deleted)
}

/// Brings a deleted conversation back. Returns the id that it has from now on.
pub fn restore(root: &Path, session: &SessionId) -> io::Result<SessionId> {
    let from = in_bin(root, session)?;
    let restored = if path(root, session)?.exists() { SessionId::mint() } else { session.clone() };
    atomic::rename(&from, &path(root, &restored)?)?;
    atomic::sync_folder(&home::path(root, BIN)?)?;
    Ok(restored)
}

/// Deletes a conversation so that nothing of it is left, from the bin or from where it stands.
pub fn delete_for_ever(root: &Path, session: &SessionId) -> io::Result<()> {
    let file = path(root, session)?;
    let file = if file.is_file() { file } else { in_bin(root, session)? };
    super::opening::forget_opening(root, session)?;
    atomic::remove(&file)
}

/// Lists the deleted conversations, the one that was deleted last first.
pub fn deleted(root: &Path) -> io::Result<Vec<Summary>> {
    let mut all = super::glance::list_of(&home::path(root, BIN)?)?;
    let deleted_at =
        |summary: &Summary| in_bin(root, &summary.session).ok()?.metadata().ok()?.modified().ok();
    all.sort_by_cached_key(|summary| std::cmp::Reverse(deleted_at(summary)));
    Ok(all)
}

fn in_bin(root: &Path, session: &SessionId) -> io::Result<PathBuf> {
    let file = place(root, session)?;
    if file.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no deleted conversation {session}")))
}

/// Where a deleted conversation stands.
pub(super) fn place(root: &Path, session: &SessionId) -> io::Result<PathBuf> {
    home::path(root, &name(session)?)
}

fn name(session: &SessionId) -> io::Result<String> {
    Ok(format!("{BIN}/{}", home::file_name(session.as_str(), ".jsonl")?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::{HERE, ids, kept, preface, talk, turn};
    use super::super::{end_begun, exists, keep_opening, load, opening, start};
    use super::*;
    use crate::domain::conversation::TurnStatus;
    use crate::domain::ids::TurnId;

    #[test]
    fn a_deleted_conversation_comes_back_byte_for_byte() {
        let root = tempfile::tempdir().unwrap();
        let session = SessionId::new(HERE);
        assert_eq!(delete(root.path(), &session).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(!root.path().join(home::NAME).exists());
        talk(root.path(), "t-1", TurnStatus::Done, None);
        let before = fs::read(path(root.path(), &session).unwrap()).unwrap();
        delete(root.path(), &session).unwrap();
        assert!(!exists(root.path(), &session));
        assert!(super::super::list(root.path()).unwrap().is_empty());
        assert_eq!(deleted(root.path()).unwrap()[0].session, session);
        restore(root.path(), &session).unwrap();
        assert_eq!(fs::read(path(root.path(), &session).unwrap()).unwrap(), before);
        assert!(deleted(root.path()).unwrap().is_empty());
    }

    #[test]
    fn nothing_is_put_over_another() {
        let root = tempfile::tempdir().unwrap();
        let session = SessionId::new(HERE);
        talk(root.path(), "t-1", TurnStatus::Done, None);
        let file = path(root.path(), &session).unwrap();
        let first = fs::read(&file).unwrap();
        assert_eq!(delete(root.path(), &session).unwrap(), session);
        // As an earlier version left it, whose answer came after.
        fs::write(&file, String::from_utf8(first.clone()).unwrap().replace("t-1", "t-2")).unwrap();
        let second = delete(root.path(), &session).unwrap();
        assert_ne!(second, session);
        assert_eq!(deleted(root.path()).unwrap().len(), 2);
        assert_eq!(restore(root.path(), &session).unwrap(), session);
        assert_eq!(fs::read(&file).unwrap(), first);
        assert_eq!(restore(root.path(), &second).unwrap(), second);
        assert_eq!(ids(&load(root.path(), &second).unwrap()), ["t-2"]);
        fs::copy(&file, place(root.path(), &session).unwrap()).unwrap();
        let third = restore(root.path(), &session).unwrap();
        assert_ne!(third, session);
        assert_eq!(fs::read(path(root.path(), &third).unwrap()).unwrap(), first);
        assert_eq!(fs::read(&file).unwrap(), first);
    }

    #[test]
    fn an_answer_that_comes_after_its_conversation_was_deleted_goes_into_the_bin_too() {
        let root = tempfile::tempdir().unwrap();
        let session = SessionId::new(HERE);
        talk(root.path(), "t-1", TurnStatus::Done, None);
        start(root.path(), &session, &turn("t-2", "Who?", TurnStatus::Running), preface()).unwrap();
        delete(root.path(), &session).unwrap();
        end_begun(root.path(), &session, kept("t-2")).unwrap();
        assert!(!exists(root.path(), &session));
        restore(root.path(), &session).unwrap();
        let turns = load(root.path(), &session).unwrap();
        assert_eq!((ids(&turns), &turns[1]), (vec!["t-1", "t-2"], &kept("t-2")));
    }

    #[test]
    fn an_answer_that_comes_after_its_conversation_was_deleted_for_ever_brings_nothing_back() {
        let root = tempfile::tempdir().unwrap();
        let session = SessionId::new(HERE);
        for from_bin in [false, true] {
            talk(root.path(), "t-1", TurnStatus::Done, None);
            start(root.path(), &session, &turn("t-2", "Who?", TurnStatus::Running), preface()).unwrap();
            if from_bin {
                delete(root.path(), &session).unwrap();
            }
            delete_for_ever(root.path(), &session).unwrap();
            // Its request leaves just then.
            keep_opening(root.path(), &session, &TurnId::new("t-2"), "{}").unwrap();
            let gone = end_begun(root.path(), &session, kept("t-2")).unwrap_err();
            assert_eq!(gone.kind(), io::ErrorKind::NotFound);
            assert!(!exists(root.path(), &session) && deleted(root.path()).unwrap().is_empty());
            assert_eq!(opening(root.path(), &session), None);
        }
    }

    #[test]
    fn for_ever_leaves_no_byte() {
        let root = tempfile::tempdir().unwrap();
        let session = SessionId::new(HERE);
        for from_bin in [false, true] {
            talk(root.path(), "t-1", TurnStatus::Done, None);
            if from_bin {
                delete(root.path(), &session).unwrap();
            }
            delete_for_ever(root.path(), &session).unwrap();
            assert!(!exists(root.path(), &session) && deleted(root.path()).unwrap().is_empty());
        }
        assert_eq!(delete_for_ever(root.path(), &session).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn an_id_that_is_a_path_deletes_nothing() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("a.jsonl"), "mine").unwrap();
        for id in ["../../a", "..", ""] {
            assert!(delete(root.path(), &SessionId::new(id)).is_err());
            assert!(delete_for_ever(root.path(), &SessionId::new(id)).is_err());
            assert!(restore(root.path(), &SessionId::new(id)).is_err());
        }
        assert!(root.path().join("a.jsonl").exists());
    }
}
