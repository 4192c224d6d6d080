//! What would be sent, made by the same function that sends it.
//!
//! Nothing is sent from here, and no key is needed. What is compared with is the request that opened the last turn of the conversation, as it really
//! went out; it is kept in memory alone.

mod view;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::agent::first_request;
use crate::domain::conversation::{Failure, FailureKind, ReadTo};
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::passage::count_words;
use crate::providers::plain::{Part, parts};
use crate::providers::wire::Protocol;
use crate::providers::{BoxFuture, Carried, Item, Noted, Sending, Witness, tokens};
use crate::tools::Registry;

use super::money::Estimate;
use super::provider::{OFFLINE, OPENAI};
use super::{Ask, Workbench};

/// Everything that a question would send.
#[derive(Debug, Clone)]
pub struct Peek {
    /// Where it goes, in words.
    pub destination: String,
    /// Whether it leaves this program at all: the offline reader's does not.
    pub is_sent: bool,
    /// The model that would answer.
    pub model: String,
    /// The tier that would be asked for.
    pub tier: Option<String>,
    /// Up to where the board member reads, if it reads blind.
    pub read_to: Option<ReadTo>,
    /// The system prompt.
    pub instructions: String,
    /// The context message, if any.
    pub context: Option<String>,
    /// What is said, read from the body: conversation, context and question, as sent.
    pub input: String,
    /// Names of the tools on offer.
    pub tools: Vec<String>,
    /// The whole body, byte for byte as it is sent (pretty-printed only for display).
    pub body: Value,
    /// Bytes of the body as sent.
    pub bytes: usize,
    /// Tokens and cost, estimated.
    pub estimate: Estimate,
    /// Tokens of the estimate that the server remembers from earlier, so that they are not in the body.
    pub remembered: u64,
    /// What is captured for the turn but not sent unless a tool asks.
    pub private: Option<String>,
    /// What goes out besides the request when a tool searches by meaning; `None` where that is off.
    pub besides: Option<String>,
    /// What the author should know of how it goes: who chose where, and which earlier turns are left out.
    pub notices: Vec<String>,
    /// The body to compare with: the one that opened the last turn of this conversation, if it was sent in this run of the program.
    pub previous: Option<Value>,
    /// Whether `previous` was not kept, but made again from the conversation and the book as they are now.
    pub is_rebuilt: bool,
}

impl Workbench {
    /// Builds the request for `ask` without sending it, like [`Workbench::peek`], and to compare with it that of the last question of its conversation, made again
    /// with what is open now: what was really sent then is on no disk.
    pub fn peek_since(&self, ask: &Ask, format: Option<&str>) -> Result<Peek, Failure> {
        let peek = self.peek(ask, format)?;
        let last = ask.session.as_ref().and_then(|session| self.turns(session).pop());
        let Some(last) = last else { return Ok(peek) };
        let before = Ask {
            question: last.question,
            persona: Some(last.persona),
            replaces: Some(last.id),
            selection: None,
            ..ask.clone()
        };
        Ok(Peek { previous: Some(self.peek(&before, format)?.body), is_rebuilt: true, ..peek })
    }

    /// Builds the request for `ask` without sending it. Needs no key. `format` asks for another wire than the provider's own, by its name.
    pub fn peek(&self, ask: &Ask, format: Option<&str>) -> Result<Peek, Failure> {
        let choices = self.choices();
        let destination = self.destination(&choices.provider.value)?;
        let wire = format
            .map(|name| {
                Protocol::named(name).ok_or_else(|| Failure {
                    kind: FailureKind::Work,
                    message: format!("There is no format `{name}`."),
                    hint: format!("The formats are: text, {}.", Protocol::ALL.map(Protocol::name).join(", ")),
                })
            })
            .transpose()?;
        // The offline reader has no wire of its own.
        let is_reader = choices.provider.value == OFFLINE;
        let name = if wire.is_some() && is_reader { OPENAI.to_owned() } else { choices.provider.value };
        let setup = self.setup(ask, &name, &self.destination(&name)?)?;
        let request = first_request(&setup);
        let body = match wire {
            Some(wire) => wire.wire().body(&request, &self.remote(&name, &setup.model)?.abilities()),
            None => setup.provider.body(&request),
        };
        let previous = ask.session.as_ref().and_then(|session| self.inner.opened.last(session));
        let estimate = self.estimate(&setup, &request, &body);
        let remembered = tokens::remembered(&request, &body);
        let fresh = request.items.get(request.fresh..).unwrap_or_default();
        let context = fresh.iter().find_map(|item| match item {
            Item::Context(text) => Some(text.clone()),
            _ => None,
        });
        Ok(Peek {
            is_sent: !is_reader,
            model: setup.model.clone(),
            tier: request.options.service_tier.clone(),
            estimate,
            remembered,
            previous,
            is_rebuilt: false,
            destination,
            // The offline reader takes the question alone.
            input: input(&body).unwrap_or_else(|| format!("User: {}", setup.question)),
            instructions: request.instructions,
            context,
            tools: offered(&setup.registry, &body),
            bytes: body.to_string().len(),
            besides: self.meaning_in_words(&setup.book),
            body,
            read_to: setup.read_to.clone(),
            notices: setup.notices.clone(),
            private: ask.selection.as_ref().map(|selection| {
                let words = count_words(&selection.text);
                format!("The selection: {words} words from {}.", selection.path)
            }),
        })
    }
}

/// Names of the tools in the body, in its order; the last may be the provider's own.
fn offered(registry: &Registry, body: &Value) -> Vec<String> {
    let mut names: Vec<String> = registry.specs().map(|spec| spec.name.to_owned()).collect();
    let tools = body.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_search = |tool: &Value| tool["type"].as_str().is_some_and(|t| t.starts_with("web_search"));
    if tools.iter().any(is_search) {
        names.push("web_search (the provider's own; web, not canon)".to_owned());
    }
    names
}

/// The bodies that opened the last turn of each conversation, in memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Opened(Arc<Mutex<Bodies>>);

#[derive(Debug, Default)]
struct Bodies {
    /// Turns that have begun and have sent nothing yet.
    begun: HashMap<TurnId, SessionId>,
    last: HashMap<SessionId, String>,
}

impl Opened {
    /// Notes which conversation a turn belongs to.
    pub(super) fn begin(&self, turn: &TurnId, session: &SessionId) {
        self.bodies().begun.insert(turn.clone(), session.clone());
    }

    /// Returns a witness that keeps the first body of a turn before `witness` notes it.
    pub(super) fn watch(&self, turn: &TurnId, witness: Arc<dyn Witness>) -> Arc<dyn Witness> {
        Arc::new(Watch { turn: turn.clone(), opened: self.clone(), witness })
    }

    fn last(&self, session: &SessionId) -> Option<Value> {
        serde_json::from_str(self.bodies().last.get(session)?).ok()
    }

    fn bodies(&self) -> std::sync::MutexGuard<'_, Bodies> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Watch {
    turn: TurnId,
    opened: Opened,
    witness: Arc<dyn Witness>,
}

impl Witness for Watch {
    fn sending<'a>(&'a self, sending: Sending<'a>) -> BoxFuture<'a, Result<Noted, Failure>> {
        let mut bodies = self.opened.bodies();
        if matches!(sending.of, Carried::Conversation(_))
            && let Some(session) = bodies.begun.remove(&self.turn)
        {
            bodies.last.insert(session, sending.body.to_owned());
        }
        drop(bodies);
        self.witness.sending(sending)
    }

    fn close(&self) {
        self.witness.close();
    }
}

/// What a body says, for reading: its words, each and in its order. A text that tells itself who speaks gets no label of ours.
fn input(body: &Value) -> Option<String> {
    let label = |who: &str, words: &str| {
        let tells = ["User: ", "Assistant: "].iter().any(|label| words.starts_with(label));
        if tells { words.to_owned() } else { format!("{who}: {words}") }
    };
    let parts = parts(body)?.into_iter().filter_map(|part| match part {
        // It has a place of its own.
        Part::System(_) => None,
        Part::Author(words) => Some(label("User", words)),
        Part::Model(words) => Some(format!("Assistant: {words}")),
        Part::Thought(words) => Some(format!("Thought: {words}")),
        Part::Call { name, arguments } => Some(format!("Call: {name} {arguments}")),
        Part::Output { name, output } => Some(format!("Output of {name}: {output}")),
    });
    Some(parts.collect::<Vec<_>>().join("\n\n"))
}
