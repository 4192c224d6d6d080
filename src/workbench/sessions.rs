//! Conversations: listing, finding, naming, forking, deleting and handing them out.
//!
//! What the author wrote is never changed here: a new name and a fork are additions, and what is deleted can be brought back unless the
//! author said "for ever".

mod find;
pub(super) mod going_on;
mod transcript;

use std::io;
use std::path::Path;

use crate::domain::conversation::Turn;
use crate::domain::ids::{SessionId, TurnId};
use crate::store::sessions;

use super::Workbench;
use super::out_file::{self, OutError};

pub use crate::store::sessions::{Origin, Summary};
pub use find::{Part, Passage};
pub use going_on::Resumed;
pub use transcript::{Format, Transcript, proposal_json};

/// Most conversations that an ambiguous name lists.
const NAMED: usize = 5;

/// Why something was not done with a conversation.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is none of that name.
    #[error("this book has no conversation `{0}`")]
    Unknown(String),
    /// There is none at all.
    #[error("this book has no conversation yet")]
    None,
    /// None was deleted.
    #[error("this book has no deleted conversation")]
    NoneDeleted,
    /// The beginning of an id that several have.
    #[error("`{given}` is the beginning of several conversations: {}", .found.join(", "))]
    Ambiguous {
        /// What was given.
        given: String,
        /// The first few ids that begin so.
        found: Vec<String>,
    },
    /// It has no such question.
    #[error("the conversation {session} has no question {number}; it has {}", count_of(*.questions))]
    NoQuestion {
        /// Which conversation.
        session: SessionId,
        /// The number that was given.
        number: usize,
        /// How many questions it has.
        questions: usize,
    },
    /// A later version of this program wrote all of it.
    #[error("the conversation {0} was written by a later version of Scritorio")]
    Later(SessionId),
    /// There is nothing in its file but damage.
    #[error("nothing of the conversation {0} can be read: its file is damaged")]
    Damaged(SessionId),
    /// A name has to have a letter in it.
    #[error("the name is empty")]
    NoTitle,
    /// The file to write was not written.
    #[error(transparent)]
    Out(#[from] OutError),
    /// The disk refused.
    #[error("{what}: {why}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        why: io::Error,
    },
}

impl SessionError {
    fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |why| Self::Io { what: what.into(), why }
    }
}

impl Workbench {
    /// Lists the conversations, the one in which something was said last first.
    pub fn conversations(&self) -> Vec<Summary> {
        sessions::list(self.root()).unwrap_or_default()
    }

    /// Lists the deleted conversations that can be brought back, the one that was deleted last first.
    pub fn deleted_conversations(&self) -> Vec<Summary> {
        sessions::deleted(self.root()).unwrap_or_default()
    }

    /// Finds a conversation by its id, the beginning of it, or `last`.
    pub fn conversation_named(&self, name: &str) -> Result<SessionId, SessionError> {
        let exact = SessionId::new(name);
        if sessions::exists(self.root(), &exact) {
            return Ok(exact);
        }
        let all = self.conversations();
        if name == "last" {
            return all.into_iter().next().map(|summary| summary.session).ok_or(SessionError::None);
        }
        one_of(name, all.into_iter().map(|summary| summary.session))
    }

    /// Finds a deleted conversation by its id, the beginning of it, or `last`: the one that was deleted last.
    pub fn deleted_conversation_named(&self, name: &str) -> Result<SessionId, SessionError> {
        let all: Vec<SessionId> = self.deleted_conversations().into_iter().map(|s| s.session).collect();
        if name == "last" {
            return all.into_iter().next().ok_or(SessionError::NoneDeleted);
        }
        match all.iter().find(|id| id.as_str() == name) {
            Some(exact) => Ok(exact.clone()),
            None => one_of(name, all.into_iter()),
        }
    }

    /// Returns what a list shows of a conversation.
    pub fn conversation(&self, session: &SessionId) -> Result<Summary, SessionError> {
        sessions::summary(self.root(), session).map_err(|why| match why.kind() {
            io::ErrorKind::NotFound => SessionError::Unknown(session.to_string()),
            _ => SessionError::io(format!("the conversation {session} can't be read"))(why),
        })
    }

    /// Gives a conversation a name.
    pub fn rename_conversation(&self, session: &SessionId, title: &str) -> Result<Summary, SessionError> {
        if title.trim().is_empty() {
            return Err(SessionError::NoTitle);
        }
        sessions::rename(self.root(), session, title)
            .map_err(SessionError::io(format!("the conversation {session} can't be named")))?;
        self.conversation(session)
    }

    /// Makes a conversation that goes on from a message of another one, its last where none is named. Without a name it takes the other's.
    pub fn fork_conversation(
        &self,
        session: &SessionId,
        after: Option<&TurnId>,
        title: Option<&str>,
    ) -> Result<Summary, SessionError> {
        self.readable(session)?;
        let title = match title.filter(|title| !title.trim().is_empty()) {
            Some(title) => title.to_owned(),
            None => forked_title(&self.conversation(session)?.title),
        };
        let fork = sessions::fork(self.root(), session, after, &title)
            .map_err(SessionError::io(format!("the conversation {session} can't be forked")))?;
        self.conversation(&fork)
    }

    /// Returns the turn that a number means: questions are counted from 1.
    pub fn turn_numbered(&self, session: &SessionId, number: usize) -> Result<TurnId, SessionError> {
        let turns = self.readable(session)?.turns;
        let turn = number.checked_sub(1).and_then(|at| turns.get(at));
        turn.map(|kept| kept.turn.id.clone()).ok_or_else(|| SessionError::NoQuestion {
            session: session.clone(),
            number,
            questions: turns.len(),
        })
    }

    /// Deletes a conversation: into the bin, from which [`Workbench::restore_conversation`] brings it back, or for ever. Returns the id that it had or has in
    /// the bin. An answer that is still to come goes where the conversation went.
    pub fn delete_conversation(
        &self,
        session: &SessionId,
        for_ever: bool,
    ) -> Result<SessionId, SessionError> {
        let deleted = if for_ever {
            sessions::delete_for_ever(self.root(), session).map(|()| session.clone())
        } else {
            sessions::delete(self.root(), session)
        };
        deleted.map_err(SessionError::io(format!("the conversation {session} can't be deleted")))
    }

    /// Brings a deleted conversation back; where another one has its id by now, with a new one.
    pub fn restore_conversation(&self, session: &SessionId) -> Result<Summary, SessionError> {
        let restored = sessions::restore(self.root(), session)
            .map_err(SessionError::io(format!("the conversation {session} can't be brought back")))?;
        self.conversation(&restored)
    }

    /// Writes a conversation to a file, which must not be there yet unless `over` says so.
    pub fn export_conversation(
        &self,
        session: &SessionId,
        format: Format,
        file: &Path,
        over: bool,
    ) -> Result<(), SessionError> {
        Ok(out_file::write(file, &self.transcript(session)?.written(format), over)?)
    }

    /// Returns a turn of a conversation, also one that another has taken the place of.
    pub(super) fn kept_turn(&self, session: &SessionId, turn: &TurnId) -> Option<Turn> {
        let session = sessions::read(self.root(), session).ok()?;
        let mut all = session.turns.into_iter().chain(session.replaced).map(|kept| kept.turn);
        all.find(|found| found.id == *turn)
    }
}

fn one_of(name: &str, ids: impl Iterator<Item = SessionId>) -> Result<SessionId, SessionError> {
    let begins = |id: &SessionId| !name.is_empty() && id.as_str().starts_with(name);
    let mut found: Vec<SessionId> = ids.filter(begins).collect();
    match found.len() {
        0 => Err(SessionError::Unknown(name.to_owned())),
        1 => Ok(found.remove(0)),
        _ => Err(SessionError::Ambiguous {
            given: name.to_owned(),
            found: found.iter().take(NAMED).map(ToString::to_string).collect(),
        }),
    }
}

fn count_of(questions: usize) -> String {
    match questions {
        1 => "1 question".to_owned(),
        n => format!("{n} questions, counted from 1"),
    }
}

/// `Who is Mira?` becomes `Who is Mira? (fork)`, and that `Who is Mira? (fork 2)`.
fn forked_title(title: &str) -> String {
    let Some((before, end)) = title.rsplit_once(" (fork") else { return format!("{title} (fork)") };
    let number = match end {
        ")" => Some(1),
        other => {
            other.strip_prefix(' ').and_then(|n| n.strip_suffix(')')).and_then(|n| n.parse::<u32>().ok())
        }
    };
    match number {
        Some(n) => format!("{before} (fork {})", n.saturating_add(1)),
        None => format!("{title} (fork)"),
    }
}

#[cfg(test)]
mod tests;
