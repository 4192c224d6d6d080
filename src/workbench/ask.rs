//! Asking a board member.

use crate::agent::TurnSetup;
use crate::agent::event::Ended;
use crate::agent::grounding::Grounded;
use crate::domain::conversation::Turn;
use crate::domain::ids::{BookPath, SessionId, TurnId};
use crate::tools::Selection;

use super::Workbench;

/// A question, as a front end puts it.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// What the author asks.
    pub question: String,
    /// Id of the board member.
    pub persona: Option<String>,
    /// Conversation to go on with; `None` starts one.
    pub session: Option<SessionId>,
    /// The open document, with its unsaved text if it differs from the disk.
    pub current: Option<(BookPath, Option<String>)>,
    /// The captured selection.
    pub selection: Option<Selection>,
    /// Restricts the tools to the canon-only subset and requires a call (`ai tool-smoke`).
    pub smoke: bool,
}

/// A turn as it was kept.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The conversation.
    pub session: SessionId,
    /// The record, with quotes checked and the persona filled in.
    pub turn: Turn,
    /// The answer ready to be shown.
    pub grounded: Grounded,
}

impl Workbench {
    /// Captures everything that a turn needs. The error is for the author: a missing key, an unknown placeholder, an unknown provider.
    pub fn prepare(&self, ask: &Ask) -> Result<TurnSetup, crate::domain::conversation::Failure> {
        todo!()
    }

    /// Notes that a turn has begun, so that the question survives a crash. Returns the conversation.
    pub fn begin(&self, ask: &Ask, setup: &TurnSetup) -> SessionId {
        todo!()
    }

    /// Keeps a turn that is over: conversation, proposals, provenance. Returns it as shown.
    pub fn finish(&self, session: &SessionId, ask: &Ask, ended: Ended) -> Finished {
        todo!()
    }

    /// Returns the turns of a conversation, oldest first.
    pub fn turns(&self, session: &SessionId) -> Vec<Turn> {
        todo!()
    }

    /// Returns the newest conversation of this book.
    pub fn last_session(&self) -> Option<SessionId> {
        todo!()
    }

    /// Forgets a turn that was never begun. (For symmetry in tests.)
    pub fn known_turn(&self, _turn: &TurnId) -> bool {
        todo!()
    }
}
