//! What a running turn tells the front ends. The words of all [`TurnEventKind::Text`] since the last [`TurnEventKind::Answer`] in a row, behind that one, are the answer.

use crate::domain::conversation::{Failure, ToolRecord, Turn, Usage};
use crate::domain::ids::TurnId;
use crate::proposal::Proposal;
use crate::providers::{Item, Retry};
use crate::tools::Material;

/// An event with the turn that it belongs to, so that a late one of a cancelled turn can't land in the next.
#[derive(Debug, Clone)]
pub struct TurnEvent {
    /// The turn.
    pub turn: TurnId,
    /// What happened.
    pub kind: TurnEventKind,
}

/// What happened in a turn.
#[derive(Debug, Clone)]
pub enum TurnEventKind {
    /// A request goes out; `round` counts from 1. The request after the last round repeats its number.
    Round {
        /// Which.
        round: u32,
        /// Most.
        of: u32,
    },
    /// Words of the answer.
    Text(String),
    /// This is the answer so far, in place of the words that were told: some of them turned out to be thoughts.
    Answer(String),
    /// The model thinks.
    Reasoning,
    /// A tool row is new or has changed; rows are told apart by `call_id`.
    Tool(ToolRecord),
    /// A change was proposed.
    Proposed(Box<Proposal>),
    /// The tier that the server used.
    Tier(String),
    /// Something that the author should know of how this turn goes; it is kept with the turn.
    Notice(String),
    /// It goes wrong, and a new attempt begins after a wait.
    Retry(Retry),
    /// Tokens so far.
    Usage(Usage),
    /// The turn is over, well or not: its status says so. Always the last event, exactly once.
    Ended(Box<Ended>),
}

/// A turn that is over.
#[derive(Debug, Clone)]
pub struct Ended {
    /// The record to keep: `persona` and `quotes` are left to the caller.
    pub turn: Turn,
    /// What was said in this turn, for the history of the next: context, question, calls, outputs, raw items, answer.
    pub items: Vec<Item>,
    /// What tools returned, for [`crate::tools::Seen`].
    pub material: Vec<Material>,
    /// How many of the oldest turns of the conversation the last request had to leave out.
    pub left_out: usize,
    /// The changes that were proposed, as in the events, for the book's queue.
    pub proposals: Vec<Proposal>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// Whether the server has kept the items, so that the next turn may continue from `turn.response_id`.
    pub kept_by_server: bool,
    /// The server's name for the last response, kept or not: for the record of where the words come from.
    pub last_response: Option<String>,
    /// SHA-256 of the system prompt.
    pub prompt_hash: String,
}
