//! What goes into the machine and what comes out: plain data, nothing that acts.

use std::collections::BTreeSet;

use crate::domain::conversation::{Failure, ToolStatus, TurnStatus};
use crate::domain::ids::CallId;
use crate::providers::{Event, Item, ToolChoice};

/// What a turn is to do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The context message, if any, and the author's question.
    pub opening: Vec<Item>,
    /// Most rounds of tool calls, at least 1.
    pub max_rounds: u32,
    /// What the first response must call.
    pub first: First,
    /// Names of the tools on offer.
    pub offered: BTreeSet<String>,
    /// Whether the server keeps the conversation: then it must not be given a call that it did not make.
    pub server_keeps: bool,
}

/// What the first response must call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum First {
    /// Anything or nothing.
    Free,
    /// Some tool on offer; a turn without such a call fails.
    Any,
    /// This tool. Where the server does not honour it, the program makes the call itself with these arguments, if it has any.
    Named {
        /// Its name.
        name: String,
        /// The program's own arguments, JSON.
        arguments: Option<String>,
    },
}

impl First {
    /// Returns how the first request says it.
    pub fn choice(&self) -> ToolChoice {
        match self {
            Self::Free => ToolChoice::Auto,
            Self::Any => ToolChoice::Required,
            Self::Named { name, .. } => ToolChoice::Named(name.clone()),
        }
    }
}

/// What happened.
#[derive(Debug, Clone)]
pub enum Input {
    /// The turn begins.
    Begin,
    /// The provider reported something.
    Heard(Event),
    /// The provider gave up, or stopped before its answer was whole.
    Broken(Failure),
    /// A tool answered.
    Answered {
        /// Which call.
        call_id: CallId,
        /// The result, JSON.
        output: String,
    },
    /// The author stopped the turn.
    Cancelled,
}

/// What has to be done about it, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send everything said so far.
    Ask(ToolChoice),
    /// Show more of the answer.
    Say(String),
    /// Show this as the answer so far, in place of what was shown.
    Replace(String),
    /// Show that the model is at work on words that are not shown.
    Think,
    /// Tell that the model had answered without the call that it was asked for, and that those words are no part of the answer.
    Withdraw,
    /// Tell that this first answer stands after all: nothing came of asking again.
    Restore,
    /// Show a call that waits; again when more is known of its arguments.
    Queue(Call),
    /// Run a call; its answer comes back as [`Input::Answered`].
    Run(Call),
    /// Show that a call ended without being run.
    Drop {
        /// Which call.
        call_id: CallId,
        /// `Failed` or `Cancelled`.
        status: ToolStatus,
        /// Why, for a failed one.
        why: Option<&'static str>,
    },
    /// The turn is over.
    End(TurnStatus),
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Which; unique within the turn, whatever the server said.
    pub id: CallId,
    /// Which tool.
    pub name: String,
    /// Its arguments.
    pub arguments: String,
    /// The program made it, not the model.
    pub forced: bool,
}

/// What a server knows that keeps conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// How many of [`super::Machine::items`] it has.
    pub items: usize,
    /// The response to continue from.
    pub response_id: String,
}
