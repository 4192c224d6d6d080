//! Deleting a conversation, and bringing it back: `.scritorio/sessions/deleted/<id>.jsonl`.
//!
//! What is deleted goes there, byte for byte, with the time of deleting as the time of its file, until it is deleted for ever. Nothing is ever put over another file.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::domain::ids::SessionId;
use crate::store::{atomic, home};

use super::{FOLDER, Summary, must_exist, path};

const BIN: &str = "sessions/deleted";

/// Puts a conversation into the bin.
pub fn delete(root: &Path, session: &SessionId) -> io::Result<()> {
    must_exist(root, session)?;
    let place = format!("{BIN}/{}", home::file_name(session.as_str(), ".jsonl")?);
    let to = home::make(root, &place)?;
    if to.exists() {
        return Err(taken(session, "among the deleted ones"));
    }
    atomic::rename(&path(root, session)?, &to)?;
    // The order of deleting is a convenience: a file system that keeps no times still deletes.
    let _ = File::options().append(true).open(&to).and_then(|file| file.set_modified(SystemTime::now()));
    atomic::sync_folder(&home::path(root, FOLDER)?)
}

/// Brings a deleted conversation back.
pub fn restore(root: &Path, session: &SessionId) -> io::Result<()> {
    let from = in_bin(root, session)?;
    let to = path(root, session)?;
    if to.exists() {
        return Err(taken(session, "already"));
    }
    atomic::rename(&from, &to)?;
    atomic::sync_folder(&home::path(root, BIN)?)
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
    let place = format!("{BIN}/{}", home::file_name(session.as_str(), ".jsonl")?);
    let file = home::path(root, &place)?;
    if file.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no deleted conversation {session}")))
}

fn taken(session: &SessionId, place: &str) -> io::Error {
    let words = format!("a conversation {session} is there {place}");
    io::Error::new(io::ErrorKind::AlreadyExists, words)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::{HERE, talk};
    use super::super::{exists, load};
    use super::*;
    use crate::domain::conversation::TurnStatus;

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
        delete(root.path(), &session).unwrap();
        // Another window went on with it.
        talk(root.path(), "t-2", TurnStatus::Done, None);
        assert_eq!(delete(root.path(), &session).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(restore(root.path(), &session).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(load(root.path(), &session).unwrap().len(), 1);
        assert_eq!(deleted(root.path()).unwrap().len(), 1);
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
