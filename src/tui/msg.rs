//! Everything that can happen to the interface.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use crossterm::event::{KeyEvent, MouseEvent};

use crate::agent::event::TurnEvent;
use crate::agent::grounding::Grounded;
use crate::canon::mentions::Names;
use crate::canon::relations::Graph;
use crate::domain::book::Book;
use crate::domain::codex::EntryType;
use crate::domain::conversation::{Failure, Usage};
use crate::domain::ids::{BookPath, ProposalId, SessionId, TurnId};
use crate::editor::find::Counted;
use crate::workbench::{
    Ask, Document, Evidence, Finished, Hit, Passage, Peek, QueuedProposal, Recovered, Resumed, Summary,
};

use crate::workbench::models::ModelList;
use crate::workbench::money::Standing;
use crate::workbench::provider::Offered;
use crate::workbench::rename::{Found, Renamed};

use super::app::Searched;
use super::clipboard::Copied;
use super::document::Place;
use super::review::Compared;

/// Something that happened.
#[derive(Debug)]
pub(super) enum Msg {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted in one piece.
    Paste(String),
    /// The mouse did something.
    Mouse(MouseEvent),
    /// The screen has another size.
    Resize(u16, u16),
    /// The terminal window got the focus back: files may have changed meanwhile.
    FocusGained,
    /// Time passed; only sent while something moves on screen or a notice waits to go.
    Tick(Instant),
    /// A command by name, from a key, the palette or a popup.
    Run(&'static str),
    /// Show a document, with a place in it (bytes of the file) selected.
    Show(BookPath, Option<Place>),
    /// A document was read.
    Opened(BookPath, Option<Place>, Result<Document, String>),
    /// An open document was read again; unsaved words are given up only if the author said so.
    Reread(BookPath, bool, Result<Document, String>),
    /// A document was saved, or was not.
    Saved(BookPath, Result<String, SaveProblem>),
    /// The recovery log of a document has failed, and why.
    NotLogged(BookPath, String),
    /// Another program, by its process id, has the book open for writing: it took it after this window had begun.
    HeldBy(u32),
    /// A turn has begun.
    Began(TurnId, SessionId),
    /// A turn could not begin.
    Refused(Failure),
    /// A turn was cancelled before it could begin.
    CancelledEarly,
    /// A turn goes on.
    Turn(Box<TurnEvent>),
    /// A turn is over and was kept.
    Finished(Box<Finished>),
    /// The conversations were listed.
    Past(Vec<Summary>),
    /// Go on with an earlier conversation, and show a message of it.
    GoOnWith(SessionId, Option<TurnId>),
    /// Do something with a conversation.
    Session(SessionVerb),
    /// It was done: what to tell, and the conversation to go on with; or why not.
    SessionDone(SessionVerb, Result<(String, Option<SessionId>), String>),
    /// Look for words in all conversations.
    SearchConversations(String),
    /// What was found for these words.
    Passages(String, Vec<Passage>),
    /// An earlier conversation was read.
    Conversation(Box<Opened>),
    /// The conversation on screen was read again.
    CaughtUp(SessionId, Box<Resumed>),
    /// A conversation can't be gone on with, and why: it is gone, or nobody here can read it. What was about to be asked in it, if anything.
    CantGoOn(SessionId, String, Option<Box<Ask>>),
    /// The quotes of some of its turns were checked against the book as it is now.
    QuotesChecked(SessionId, Vec<(TurnId, Grounded)>),
    /// The prompt was built.
    Peeked(Result<Box<Peek>, Failure>),
    /// The queue of proposals was read.
    Proposals(Vec<QueuedProposal>),
    /// A proposal was compared with the files as they are.
    Compared(ProposalId, Result<Box<Compared>, String>),
    /// What led to a proposal was gathered.
    Evidence(Option<Box<Evidence>>),
    /// Several proposals were accepted one after another, until one could not be.
    AcceptedAll(Vec<QueuedProposal>, Option<(ProposalId, String)>),
    /// Close the proposal that is open.
    CloseProposal,
    /// A key that decides something was alone: it counts.
    KeySettled,
    /// A proposal was judged.
    Judged(ProposalId, &'static str, Result<Box<QueuedProposal>, String>),
    /// Look for words in the whole book.
    Search(String),
    /// What was found for these words.
    Hits(String, Vec<Hit>),
    /// The places of words in a text were counted.
    Counted(Searched, Counted),
    /// The folder was read again.
    BookRead(Arc<Book>, Names),
    /// The relationships of the Codex were read.
    Relationships(Arc<Graph>),
    /// Find the places of a name, and what they would become: old and new words.
    Rename(String, String),
    /// They were found, or why not.
    RenameFound(Result<Box<Found>, String>),
    /// Ask for the new words for these.
    AskNewName(String),
    /// Show a place of a name, and keep the list for later.
    ShowRename(BookPath, Place),
    /// Leave a place for ever, by its id.
    Exempt(Box<Found>, String),
    /// Rename the chosen places, by their ids.
    ApplyRename(Box<Found>, HashSet<String>),
    /// It was done, or why not.
    Renamed(Result<Box<Renamed>, String>),
    /// Choose a board member.
    ChoosePersona(&'static str),
    /// Change the theme.
    ChooseTheme(String),
    /// Open the next popup over this one.
    Popup(Box<super::popups::Popup>),
    /// Judge a proposal.
    Judge(Verdict),
    /// Open the popup of a proposal.
    Review(ProposalId),
    /// Open the popup of another proposal in the queue, in place of the one on top.
    ReviewBeside(ProposalId, Beside),
    /// Put text on the clipboard.
    CopyText(String),
    /// Put the cursor on a line of the open document, from 1.
    GoToLine(usize),
    /// Make a chapter of this title.
    NewChapter(String),
    /// Make a Codex entry from the template.
    NewEntry(EntryType, String),
    /// What became of a copy.
    Copied(Copied),
    /// What the system clipboard held.
    Clipboard(Option<String>),
    /// Quit, unsaved or not.
    QuitNow,
    /// Save everything, then quit.
    SaveAndQuit,
    /// Save over what is on disk.
    SaveAnyway(BookPath),
    /// Throw the buffer away and read the disk.
    Reload(BookPath),
    /// Tell the author something.
    Notice(Notice),
    /// Unsaved text that an earlier run left behind, each with the file's present text.
    Recovered(Vec<(Recovered, String)>),
    /// Put unsaved text of an earlier run into the editor.
    Restore(Box<Recovered>),
    /// Throw unsaved text of an earlier run away.
    Forget(Box<Recovered>),
    /// A provider was connected: its name and model, and what to tell.
    Connected((String, String), String),
    /// What can answer, and which of the local servers listen.
    Providers(Vec<Offered>, Vec<String>),
    /// The models of the provider that answers, or why they can't be listed.
    Models(Result<Box<ModelList>, Failure>),
    /// The models of the board members who have one of their own.
    OwnModels(BTreeMap<String, String>),
    /// This model of a provider is to answer.
    ChooseModel(String, String),
    /// A provider was chosen: its model comes next.
    ProviderChosen((String, String), String),
    /// What this month has cost, and what it may.
    Standing(Box<Standing>),
    /// This one is to answer.
    ChooseProvider(Offered),
    /// A key for a provider was typed.
    KeyTyped(String, TypedKey),
}

/// An earlier conversation as it is shown.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) session: SessionId,
    pub(super) turns: Vec<Finished>,
    /// The quotes of so many turns from its start are not checked yet.
    pub(super) unchecked: usize,
    /// What was used in it.
    pub(super) usage: Usage,
    /// What of it could not be read, in words.
    pub(super) unread: Option<String>,
}

/// A key as the author typed it. Never shown.
#[derive(Clone)]
pub(super) struct TypedKey(pub(super) String);

impl std::fmt::Debug for TypedKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Which proposal of the queue, seen from one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// The one after it, decided or not.
    Next,
    /// The one before it, decided or not.
    Previous,
    /// The next one that is not decided; after the last the first.
    Waiting,
}

/// What the author decided about a proposal. What is accepted comes with the stamp of the texts that the author has seen
/// ([`stamp`](super::review::stamp)): others are not written.
#[derive(Debug, Clone)]
pub(super) enum Verdict {
    /// Accept, with the chosen hunks of each file.
    Accept(ProposalId, Vec<Vec<bool>>, String),
    /// Reject, with a word why.
    Reject(ProposalId, Option<String>),
    /// Undo an applied one.
    Undo(ProposalId),
    /// Apply an undone one again.
    Redo(ProposalId),
    /// Replace the proposed text of a file.
    Edit(ProposalId, usize, String),
    /// Settle a file that both have changed: which, the text that was chosen over, the whole text as it should be.
    Resolve(ProposalId, usize, String, String),
    /// Settle files that both have changed, then accept.
    Settle(ProposalId, Vec<(usize, String, String)>, Vec<Vec<bool>>, String),
    /// Accept several, each with its chosen hunks.
    AcceptAll(Vec<(ProposalId, Vec<Vec<bool>>, String)>),
}

impl Verdict {
    /// Returns the proposal that it is about, of several the first.
    pub(super) fn id(&self) -> Option<&ProposalId> {
        match self {
            Self::Accept(id, ..)
            | Self::Reject(id, _)
            | Self::Undo(id)
            | Self::Redo(id)
            | Self::Edit(id, ..)
            | Self::Resolve(id, ..)
            | Self::Settle(id, ..) => Some(id),
            Self::AcceptAll(all) => all.first().map(|(id, ..)| id),
        }
    }
}

/// What the author wants done with a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SessionVerb {
    /// Give it a name.
    Rename(SessionId, String),
    /// Make another one that goes on after a message, the last where none is named.
    Fork(SessionId, Option<TurnId>),
    /// Delete it; `true`: for ever.
    Delete(SessionId, bool),
    /// Bring it back.
    Restore(SessionId),
    /// Write it to this file.
    Export(SessionId, String),
}

impl SessionVerb {
    /// Returns the conversation that it is about.
    pub(super) fn session(&self) -> &SessionId {
        match self {
            Self::Rename(session, _)
            | Self::Fork(session, _)
            | Self::Delete(session, _)
            | Self::Restore(session)
            | Self::Export(session, _) => session,
        }
    }
}

/// Why a document was not saved.
#[derive(Debug, Clone)]
pub(super) enum SaveProblem {
    /// Somebody else changed the file.
    ChangedOnDisk,
    /// Another program has the book open for writing, which the author is told of beside.
    ReadOnly,
    /// Anything else, in words.
    Other(String),
}

/// A line for the status bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Notice {
    /// The words.
    pub(super) text: String,
    /// How it is meant.
    pub(super) tone: Tone,
}

/// How a notice is meant; shown by a symbol as well as a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// Something was done.
    Done,
    /// Something to know.
    Hint,
    /// Something is on its way; the answer takes its place.
    Wait,
    /// Something went wrong.
    Problem,
}

impl Notice {
    pub(super) fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: Tone::Done }
    }

    pub(super) fn hint(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: Tone::Hint }
    }

    pub(super) fn wait(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: Tone::Wait }
    }

    pub(super) fn problem(text: impl Into<String>) -> Self {
        Self { text: text.into(), tone: Tone::Problem }
    }
}
