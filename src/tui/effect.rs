//! Everything that the interface asks the outside to do. Data only: `runtime` does it, in the background.

use std::collections::HashSet;

use crate::domain::codex::EntryType;
use crate::domain::ids::{BookPath, ProposalId, SessionId, TurnId};
use crate::editor::find::Counting;
use crate::workbench::Ask;
use crate::workbench::rename::Found;

use super::app::Searched;
use super::document::Place;
use super::msg::{SessionVerb, TypedKey, Verdict};

/// Something to do.
#[derive(Debug)]
pub(super) enum Effect {
    /// Read a document, then show it with a place selected.
    Open(BookPath, Option<Place>),
    /// Read an open document again; `true`: even if that gives up unsaved words.
    Reread(BookPath, bool),
    /// Save a document. `expected` is the hash it had when it was read.
    Save {
        /// Which.
        path: BookPath,
        /// The bytes.
        text: String,
        /// The hash that the file must still have.
        expected: Option<String>,
        /// Whether to save over what somebody else wrote.
        over: bool,
    },
    /// Ask the board.
    Ask(Box<Ask>),
    /// Stop the running turn.
    Cancel,
    /// Build the prompt without sending it.
    Peek(Box<Ask>),
    /// Compare a proposal with the files as they are.
    Compare(ProposalId),
    /// Gather what led to a proposal.
    Evidence(ProposalId),
    /// Sum up what AI was used for, and show it.
    Provenance,
    /// Put the story in the order of its time, and show it.
    Timeline,
    /// Judge a proposal.
    Judge(Verdict),
    /// Look for words in the whole book.
    Search(String),
    /// Count the places of words in a text.
    CountPlaces(Searched, Box<Counting>),
    /// Read the folder again.
    Refresh,
    /// Find out how the names of the Codex may stand in the text.
    FindNames,
    /// Read the relationships of the Codex.
    ReadRelationships,
    /// Find the places of a name: old and new words.
    FindPlaces(String, String),
    /// Leave a place of a name for ever.
    Exempt(Box<Found>, String),
    /// Rename the chosen places.
    Rename(Box<Found>, HashSet<String>),
    /// Index the book for searches, or bring its index up to date.
    Index,
    /// Read the queue of proposals.
    ReadProposals,
    /// List the conversations.
    ListConversations,
    /// List the deleted conversations, to bring one back.
    ListDeleted,
    /// Look for words in all conversations.
    SearchConversations(String),
    /// Do something with a conversation.
    Session(SessionVerb),
    /// Read a conversation, the newest when none is named.
    ReadConversation(Option<SessionId>),
    /// Read the conversation on screen again, in which somebody else has said something.
    CatchUp(SessionId),
    /// Check quotes of a conversation: for each turn its answer and the files that were read in it.
    CheckQuotes(SessionId, Vec<(TurnId, String, Vec<BookPath>)>),
    /// Make a chapter of this title, then open it.
    NewChapter(String),
    /// Make a Codex entry from the template, then open it.
    NewEntry(EntryType, String),
    /// Look for unsaved text that an earlier run left behind.
    ReadRecovered,
    /// Put text on the clipboard.
    Copy(String),
    /// Send bytes to the terminal between two frames: a command of our own, such as OSC 52.
    SendToTerminal(Vec<u8>),
    /// Ask the clipboard for text.
    AskClipboard,
    /// Write a user setting.
    Setting(&'static [&'static str], toml_edit::Value),
    /// List what can answer.
    ListProviders,
    /// Ask the provider that answers for its models.
    ListModels,
    /// Let this model of a provider answer from now on.
    UseModel(String, String),
    /// Find out which board members have a model of their own.
    ReadModels,
    /// Sum up what this month has cost.
    SumUp,
    /// Let this provider answer from now on.
    UseProvider(String),
    /// Keep a key for a provider in the keychain, and let it answer from now on.
    StoreKey(String, TypedKey),
    /// Report mouse events, or leave the mouse to the terminal.
    Mouse(bool),
    /// Suspend the program.
    Suspend,
    /// End the program.
    Quit,
}
