//! Going on with a conversation: what is there of it, and why it can't be gone on with.
//!
//! Nothing is left out in silence: what this version can't read is told of, and a conversation of which it can read nothing is refused.

use std::io;

use crate::domain::conversation::{Failure, FailureKind, Turn, Usage};
use crate::domain::ids::{SessionId, TurnId};
use crate::store::sessions::{self, Session};

use super::super::Workbench;
use super::SessionError;

/// A conversation as a front end shows it, to go on with it.
#[derive(Debug, Clone)]
pub struct Resumed {
    /// Its turns, oldest first. One that is `Running` and is not running now was cut off.
    pub turns: Vec<Turn>,
    /// Turns that others have taken the place of.
    pub replaced: Vec<TurnId>,
    /// What was used in it, as a list of conversations says it.
    pub usage: Usage,
    /// What of it could not be read, in words.
    pub unread: Option<String>,
}

impl Workbench {
    /// Reads a conversation to go on with it.
    pub fn resume(&self, session: &SessionId) -> Result<Resumed, SessionError> {
        let found = self.readable(session)?;
        Ok(Resumed {
            unread: unread(&found),
            replaced: found.replaced.into_iter().map(|kept| kept.turn.id).collect(),
            usage: found.usage,
            turns: found.turns.into_iter().map(|kept| kept.turn).collect(),
        })
    }

    /// Reads a conversation of which at least something can be read, or nothing is there to be read.
    pub(in super::super) fn readable(&self, session: &SessionId) -> Result<Session, SessionError> {
        if !sessions::exists(self.root(), session) {
            return Err(SessionError::Unknown(session.to_string()));
        }
        let found = sessions::read(self.root(), session).map_err(|why| match why.kind() {
            io::ErrorKind::NotFound => SessionError::Unknown(session.to_string()),
            _ => SessionError::io(format!("the conversation {session} can't be read"))(why),
        })?;
        match (found.turns.is_empty(), found.later, found.skipped) {
            (true, 1.., _) => Err(SessionError::Later(session.clone())),
            (true, 0, 1..) => Err(SessionError::Damaged(session.clone())),
            _ => Ok(found),
        }
    }
}

/// Why a conversation can't be gone on with, as a turn is refused.
pub(in super::super) fn refused(error: &SessionError, session: &SessionId) -> Failure {
    let (message, hint) = match error {
        SessionError::Unknown(_) => (
            format!("This book has no conversation {session}."),
            "Leave the session out to start one; `scritorio sessions restore ID` brings a deleted one back.",
        ),
        SessionError::Later(_) => (
            format!("The conversation {session} was written by a later version of Scritorio."),
            "Update Scritorio to go on with it, or leave the session out to start another one. Its file stays as it is.",
        ),
        SessionError::Damaged(_) => (
            format!("Nothing of the conversation {session} can be read: its file is damaged."),
            "Put the file back from a backup, or leave the session out to start another one. Its file stays as it is.",
        ),
        SessionError::Io { why, .. } => (
            format!("The conversation {session} can't be read: {why}."),
            "See that the files in .scritorio/sessions may be read, then ask again.",
        ),
        other => (format!("The conversation {session} can't be gone on with: {other}."), "Ask again."),
    };
    Failure { kind: FailureKind::Work, message, hint: hint.to_owned() }
}

/// Says which lines of a conversation could not be read; `None` where all could.
pub(in super::super) fn unread(session: &Session) -> Option<String> {
    let broken = session.skipped.saturating_sub(session.later);
    let say = |n: usize, what: &str| match n {
        0 => None,
        1 => Some(format!("1 line of this conversation is {what}: kept, not shown, not sent.")),
        n => Some(format!("{n} lines of this conversation are {what}: kept, not shown, not sent.")),
    };
    let parts = [say(session.later, "of a later version of Scritorio"), say(broken, "cut off or damaged")];
    let words: Vec<String> = parts.into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(" "))
}
