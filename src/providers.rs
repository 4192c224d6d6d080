//! Where answers come from: the offline reader inside the program, and servers.
//!
//! A provider turns a [`Request`] into a stream of [`Event`]s. It knows nothing of rounds, books or screens, and it
//! never runs a tool.

pub mod abilities;
pub mod anthropic;
mod arrived;
pub mod call_ids;
pub mod chat;
pub mod client;
pub mod embeddings;
pub mod frames;
pub mod hearing;
pub mod models;
mod offered;
pub mod offline;
pub mod ollama;
pub mod plain;
pub mod presets;
pub mod prices;
mod raw;
pub mod remote;
pub mod responses;
mod speech;
pub mod sse;
pub mod tokens;
mod voice;
pub mod wire;
mod witness;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::domain::conversation::{Failure, Usage};
use crate::domain::ids::CallId;

pub use arrived::Arrived;
pub use witness::{Carried, End, Noted, Outcome, Receipts, Sending, Witness};

/// One request to a model: the same data for peek, for `scritorio prompt` and for sending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Model's name.
    pub model: String,
    /// The system prompt.
    pub instructions: String,
    /// Everything said so far in this conversation, oldest first, this turn's question and outputs included.
    pub items: Vec<Item>,
    /// Index into `items` of this turn's question. What follows it was said in this turn: a response, and what tools returned.
    pub question: usize,
    /// Index into `items` of the first one that the server has not seen, when `previous_response_id` is set.
    pub fresh: usize,
    /// The response that a stateful server continues from.
    pub previous_response_id: Option<String>,
    /// Tools on offer, as name, description and strict schema, flat as the Responses API has them: a wire says it its own way.
    pub tools: Vec<Value>,
    /// Which tool must be called.
    pub tool_choice: ToolChoice,
    /// Model options.
    pub options: Options,
}

impl Request {
    /// Whether tools have run in this turn: then what is asked continues from their results.
    pub fn tools_ran(&self) -> bool {
        self.items.len() > self.question + 1
    }

    /// Returns how many turns stand before this one.
    pub fn earlier_turns(&self) -> usize {
        turn_starts(self.items.get(..=self.question).unwrap_or(&self.items)).len().saturating_sub(1)
    }

    /// Leaves out the `n` oldest turns, never this one or its context, and continues from no response: what it holds is all there is.
    pub fn leave_out(&mut self, n: usize) {
        let n = n.min(self.earlier_turns());
        let before = self.items.len();
        leave_out(&mut self.items, n);
        self.question -= before - self.items.len();
        (self.fresh, self.previous_response_id) = (0, None);
    }
}

/// Leaves out the `n` oldest turns of what was said. Context stays: it is about now.
pub fn leave_out(items: &mut Vec<Item>, n: usize) {
    let end = turn_starts(items).get(n).copied().unwrap_or(items.len());
    let mut at = 0;
    items.retain(|item| {
        at += 1;
        at > end || matches!(item, Item::Context(_))
    });
}

/// Returns where turns begin: with the author's words, and the context that stands around them.
fn turn_starts(items: &[Item]) -> Vec<usize> {
    let asks = |item: &Item| matches!(item, Item::Author(_) | Item::Context(_));
    (0..items.len()).filter(|&at| asks(&items[at]) && (at == 0 || !asks(&items[at - 1]))).collect()
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// The context message: metadata about what is open.
    Context(String),
    /// The author.
    Author(String),
    /// The persona.
    Persona(String),
    /// A tool call by the model.
    Call {
        /// Which call.
        call_id: CallId,
        /// Which tool.
        name: String,
        /// Its arguments, as the model wrote them.
        arguments: String,
    },
    /// What the program answered to a call.
    Output {
        /// Which call.
        call_id: CallId,
        /// Which tool.
        name: String,
        /// The result, JSON.
        output: String,
    },
    /// An output item exactly as the server sent it (reasoning, a message with its phase, a call): what a stateless request must repeat.
    /// One of the Responses API stands as it is; one of another wire is wrapped with its name.
    Raw(Value),
}

/// Which tool the model must call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// Its own choice.
    #[default]
    Auto,
    /// Any one.
    Required,
    /// This one.
    Named(String),
}

/// Model options. `None` is left out of the request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// Most tokens of an answer, reasoning included; at least 16.
    pub max_output_tokens: Option<u32>,
    /// `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`.
    pub reasoning_effort: Option<String>,
    /// `low`, `medium`, `high`.
    pub verbosity: Option<String>,
    /// `auto`, `default`, `flex`, `priority`.
    pub service_tier: Option<String>,
    /// `text`, or a JSON schema object for `text.format`.
    pub response_format: Option<Value>,
    /// Whether the server keeps state (`store`).
    pub store: bool,
    /// Whether the model may have the provider search the web.
    pub web_search: bool,
}

/// What a provider reports while it answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The response has an id.
    Created {
        /// The server's id.
        response_id: String,
    },
    /// Words of the answer.
    Text(String),
    /// The model thinks; its words are not shown.
    Reasoning,
    /// What it thinks, as far as it is told. It is never shown, but paid for.
    Thought(String),
    /// All words of this answer so far were thoughts: only their end had a mark.
    TakenBack,
    /// The provider searched the web for the model. What it found is neither canon nor anything that a tool of ours returned.
    WebSearch {
        /// What for; empty where that is not told.
        query: String,
    },
    /// The model began a tool call.
    CallStarted {
        /// Which call.
        call_id: CallId,
        /// Which tool.
        name: String,
    },
    /// More of a call's arguments.
    CallArguments {
        /// Which call.
        call_id: CallId,
        /// The piece.
        delta: String,
    },
    /// A tool call is complete.
    Call {
        /// Which call.
        call_id: CallId,
        /// Which tool.
        name: String,
        /// Its arguments.
        arguments: String,
    },
    /// An output item, complete, as the server sent it.
    Item(Value),
    /// The server does not know a call of this answer as one, so that nothing can continue from the answer's id.
    Unkept,
    /// It goes wrong, and a new attempt begins after a wait.
    Retry(Retry),
    /// The tier that the server really used.
    Tier(String),
    /// The end of the response: exactly one for a good answer. `truncated` says why the answer is not whole, if so.
    Finished {
        /// Tokens of this response.
        usage: Usage,
        /// For example `max_output_tokens`.
        truncated: Option<String>,
    },
}

/// A new attempt. Nothing of the one before was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// What went wrong, and what is done about it: a sentence or two for the author.
    pub why: String,
    /// Which attempt begins: 2 is the first one after the first.
    pub attempt: u32,
    /// How long is waited before; zero where it begins at once.
    pub wait: Duration,
    /// How many of the oldest turns of the conversation it leaves out, in all.
    pub left_out: usize,
}

/// A boxed future, so that providers can be trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where answers come from.
pub trait Provider: Send + Sync {
    /// Returns its name, as in settings: `openai`, `offline`.
    fn name(&self) -> &str;

    /// Whether it continues from `previous_response_id`.
    fn stateful(&self) -> bool;

    /// Whether its model calls tools. It may turn out that it does not.
    fn tools(&self) -> bool {
        true
    }

    /// Returns the whole body that [`Provider::stream`] would send for `request`.
    fn body(&self, request: &Request) -> Value;

    /// Returns where the body goes, for the peek view: a URL without credentials, or words that say that nothing leaves the machine.
    fn destination(&self) -> String;

    /// Asks, and reports every event in order. Ends when the answer has ended, has failed, or the exchange is cancelled.
    fn stream<'a>(&'a self, exchange: Exchange<'a>) -> BoxFuture<'a, Result<(), Failure>>;
}

/// One request on its way, and everything that it needs.
pub struct Exchange<'a> {
    /// What is asked.
    pub request: &'a Request,
    /// Where events go.
    pub out: UnboundedSender<Event>,
    /// Ends it.
    pub cancel: CancellationToken,
    /// Who notes what leaves the machine.
    pub witness: &'a dyn Witness,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn author(words: &str) -> Item {
        Item::Author(words.into())
    }

    /// Two turns, then news and the question; what is open now stands in the middle, where the server's knowledge ends.
    fn request() -> Request {
        let call_id = || CallId::new("c");
        let items = vec![
            author("One"),
            Item::Call { call_id: call_id(), name: "t".into(), arguments: "{}".into() },
            Item::Output { call_id: call_id(), name: "t".into(), output: "[]".into() },
            Item::Persona("First".into()),
            Item::Context("Open".into()),
            author("Two"),
            Item::Persona("Second".into()),
            author("I rejected it."),
            author("Three"),
        ];
        Request {
            model: String::new(),
            instructions: String::new(),
            question: items.len() - 1,
            fresh: 4,
            previous_response_id: Some("r".into()),
            items,
            tools: vec![],
            tool_choice: ToolChoice::Auto,
            options: Options::default(),
        }
    }

    #[test]
    fn the_oldest_turns_go_whole_and_this_one_with_its_news_and_context_never() {
        for (n, left) in [(0, 9), (1, 5), (2, 3), (9, 3)] {
            let mut request = request();
            assert_eq!((request.earlier_turns(), request.tools_ran()), (2, false));
            request.leave_out(n);
            assert_eq!(request.items.len(), left, "{n}");
            assert_eq!(request.items[request.question], author("Three"));
            assert!(request.items.contains(&Item::Context("Open".into())));
            assert!(request.items.contains(&author("I rejected it.")));
            let calls = request.items.iter().filter(|i| matches!(i, Item::Call { .. })).count();
            let outputs = request.items.iter().filter(|i| matches!(i, Item::Output { .. })).count();
            assert_eq!((calls, request.previous_response_id.as_deref()), (outputs, None));
            assert_eq!(request.earlier_turns(), 2 - n.min(2));
        }
    }

    #[test]
    fn a_conversation_can_be_left_out_whole() {
        let mut said = request().items;
        said.truncate(4);
        leave_out(&mut said, 1);
        assert!(said.is_empty());
        leave_out(&mut said, 1);
    }
}
