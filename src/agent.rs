//! One turn of conversation: the pure machine, the task that drives it, the evidence that it leaves.
//!
//! A turn works on what was captured when the author sent. It never writes a file, and it ends with exactly one
//! [`event::TurnEventKind::Ended`], whatever happens.

pub mod context;
pub mod driver;
pub mod event;
mod forced;
pub mod grounding;
pub mod machine;
pub mod purse;
mod request;
mod rows;
#[cfg(test)]
mod testing;

use std::sync::Arc;

use crate::canon::index::LaterIndex;
use crate::canon::meaning::ByMeaning;
use crate::domain::book::Book;
use crate::domain::conversation::ReadTo;
use crate::domain::ids::{BookPath, SessionId, TurnId};
use crate::providers::{Item, Options, Provider, Witness};
use crate::tools::desk::Limits;
use crate::tools::{Desk, Registry, Seen, Selection};

pub use purse::{Purse, Used};
pub use request::first_request;

/// Everything that a turn needs, captured when the author sends. Later edits do not change it.
#[derive(Clone)]
pub struct TurnSetup {
    /// Identity of the turn.
    pub id: TurnId,
    /// The conversation that it belongs to, which may be new.
    pub session: SessionId,
    /// Who answers.
    pub provider: Arc<dyn Provider>,
    /// Who notes what leaves the machine.
    pub witness: Arc<dyn Witness>,
    /// Who knows what a request costs, and what may be spent.
    pub purse: Arc<dyn Purse>,
    /// Model's name.
    pub model: String,
    /// The tools on offer. With none, the context message holds the text itself.
    pub registry: Arc<Registry>,
    /// The book, with the open document's unsaved text in place.
    pub book: Arc<Book>,
    /// The index of that book, made when a tool needs it.
    pub index: LaterIndex,
    /// Who finds texts by what they mean, where the author switched that on.
    pub meaning: Option<Arc<dyn ByMeaning>>,
    /// The open document.
    pub current: Option<BookPath>,
    /// The chapter as of which canon is told where the open document is none.
    pub chapter: Option<BookPath>,
    /// The captured selection.
    pub selection: Option<Selection>,
    /// A document is open that AI never reads: nothing of it is in `book`, and the model learns only that there is one.
    pub open_is_private: bool,
    /// Up to where the board member reads, if it reads blind. The book, the documents and the history are such already.
    pub read_to: Option<ReadTo>,
    /// What tools returned earlier in this conversation.
    pub seen: Seen,
    /// Id of the board member who answers.
    pub persona: &'static str,
    /// The system prompt.
    pub instructions: String,
    /// Everything said before, oldest first.
    pub history: Vec<Item>,
    /// How many of `history` the server has, with the response to continue from.
    pub continue_from: Option<(usize, String)>,
    /// The author's message.
    pub question: String,
    /// Model options.
    pub options: Options,
    /// Most rounds of tool calls, 1 to 12.
    pub max_rounds: u32,
    /// What the first round must do.
    pub first_round: FirstRound,
}

impl TurnSetup {
    /// Returns what lies before a tool in this turn. `seen` is what tools have returned by now.
    pub fn desk<'a>(&'a self, seen: &'a Seen) -> Desk<'a> {
        Desk {
            book: &self.book,
            index: self.index.get(),
            meaning: self.meaning.as_deref(),
            current: self.current.as_ref(),
            chapter: self.chapter.as_ref(),
            selection: self.selection.as_ref(),
            seen,
            persona: Some(self.persona),
            limits: Limits::default(),
        }
    }
}

/// What the first round must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstRound {
    /// Call the tool that the registry's patterns force, if any; the program runs it where the server did not.
    Patterns,
    /// Call any tool (`tool_choice: required`); a turn without a call fails.
    Required,
}
