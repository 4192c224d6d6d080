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
use crate::domain::safe_text;
use crate::persona::{board, prompt};
use crate::providers::{Item, Options, Provider, Witness};
use crate::tools::desk::Limits;
use crate::tools::{Desk, Registry, Seen, Selection};

pub use purse::Purse;
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
    /// What the author is told before anything is sent: what is left out, and how it goes.
    pub notices: Vec<String>,
    /// How many of the oldest turns `history` lacks because the conversation had become too long for the model.
    pub left_out: usize,
    /// The author keeps chapters from AI whose numbers are missing among those of `book`.
    pub numbers_missing: bool,
}

impl TurnSetup {
    /// Makes it a turn for a model whose server has refused tools, now or lately, and tells how to have it asked anew.
    pub(crate) fn give_up_tools(&mut self) {
        let provider = safe_text::line(self.provider.name()).into_owned();
        self.offer_no_tools();
        if let Some(notice) = self.notices.last_mut() {
            notice.push_str(&format!(" `scritorio providers --check {provider}` asks anew."));
        }
    }

    /// Makes it a turn for a model without tools: none are offered, the prompt does not speak of them, and the context message holds the text itself.
    pub(crate) fn offer_no_tools(&mut self) {
        self.registry = Arc::new(Registry::default());
        let member = board::member(Some(self.persona));
        // It could be built with tools, so that it can without.
        if let Ok(instructions) = prompt::system(member, &self.book.settings, &[]) {
            self.instructions = instructions;
        }
        self.notices.push(self.inline_notice());
    }

    /// What is told about a turn whose model has no tools.
    pub(crate) fn inline_notice(&self) -> String {
        let model = safe_text::line(&self.model);
        let Some(inline) = context::inlined(&self.book, self.current.as_ref(), self.selection.as_ref())
        else {
            let why = if self.open_is_private { " The open document is kept from AI." } else { "" };
            return format!(
                "{model} takes no tools and can look nothing up: it gets the question alone.{why}"
            );
        };
        let what = if self.selection.is_some() { "the selection from " } else { "" };
        let path = inline.path;
        match inline.cut {
            0 => format!("{model} takes no tools: {what}{path} goes inline."),
            cut => format!(
                "{model} takes no tools: {what}{path} goes inline, without the last {cut} of its {} words, which are over the limit.",
                inline.words
            ),
        }
    }

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

/// Says that so many of the oldest turns are left out; `None` for none.
pub(crate) fn too_long(left_out: usize, model: &str) -> Option<String> {
    let model = safe_text::line(model);
    match left_out {
        0 => None,
        1 => Some(format!(
            "The oldest turn of this conversation is left out: with it, it was too long for {model}."
        )),
        n => Some(format!(
            "The oldest {n} turns of this conversation are left out: with them, it was too long for {model}."
        )),
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
