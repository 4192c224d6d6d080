//! What would be sent, made by the same function that sends it.
//!
//! Nothing is sent from here, and no key is needed. What is compared with is the request that opened the last turn of the conversation, as it really
//! went out; where that is not kept, it is made again, and said to be so.

mod view;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::agent::first_request;
use crate::domain::conversation::{Failure, FailureKind, ReadTo};
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::passage::{count_words, sha256_hex};
use crate::providers::plain::{Part, parts};
use crate::providers::wire::Protocol;
use crate::providers::{BoxFuture, Carried, Item, Noted, Sending, Witness, tokens};
use crate::store::provenance::Record;
use crate::store::sessions;
use crate::tools::Registry;

use super::money::{Estimate, tier_in};
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
    /// The body to compare with: the one that opened the last turn of this conversation. Only [`Workbench::peek_since`] looks for it.
    pub previous: Option<Value>,
    /// Whether `previous` was not kept, but made again from the conversation, the settings and the book as they are now.
    pub is_rebuilt: bool,
    /// Whether the last turn had other instructions, where `previous` was made again: the record has their hash.
    pub had_other_instructions: bool,
}

impl Workbench {
    /// Builds the request for `ask` without sending it, like [`Workbench::peek`], and finds the one to compare it with: that which opened the last turn of
    /// the conversation, as it was sent. Where it is not kept, or nothing was sent then, it is made again with what is open now.
    pub fn peek_since(&self, ask: &Ask, format: Option<&str>) -> Result<Peek, Failure> {
        let peek = self.peek(ask, format)?;
        let last = ask.session.as_ref().and_then(|session| self.turns(session).pop());
        let (Some(session), Some(last)) = (&ask.session, last) else { return Ok(peek) };
        let kept = self.inner.opened.last(session).or_else(|| sessions::opening(self.root(), session));
        let sent = kept.filter(|(turn, _)| *turn == last.id);
        if let Some(body) = sent.and_then(|(_, body)| serde_json::from_str(&body).ok()) {
            return Ok(Peek { previous: Some(body), ..peek });
        }
        let turn = last.id.clone();
        let before = Ask {
            question: last.question,
            persona: Some(last.persona),
            replaces: Some(last.id),
            selection: None,
            ..ask.clone()
        };
        let rebuilt = self.peek(&before, format)?;
        let was = self.prompt_hash_of(&turn);
        Ok(Peek {
            previous: Some(rebuilt.body),
            is_rebuilt: true,
            had_other_instructions: was.is_some_and(|was| was != sha256_hex(&rebuilt.instructions)),
            ..peek
        })
    }

    /// The hash of the instructions that a turn had, as it was recorded.
    fn prompt_hash_of(&self, turn: &TurnId) -> Option<String> {
        let records = self.ledger().records().unwrap_or_default();
        records.into_iter().rev().find_map(|(_, record)| match record {
            Record::Turn(record) if record.turn == *turn => Some(record.prompt_hash),
            _ => None,
        })
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
            tier: tier_in(&body).map(str::to_owned),
            estimate,
            remembered,
            previous: None,
            is_rebuilt: false,
            had_other_instructions: false,
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

/// The bodies that opened the last turn of each conversation that something was asked in.
#[derive(Debug, Clone, Default)]
pub(super) struct Opened(Arc<Mutex<Bodies>>);

#[derive(Debug, Default)]
struct Bodies {
    /// Turns that have begun and have sent nothing yet.
    begun: HashMap<TurnId, SessionId>,
    last: HashMap<SessionId, (TurnId, String)>,
}

impl Opened {
    /// Notes which conversation a turn belongs to.
    pub(super) fn begin(&self, turn: &TurnId, session: &SessionId) {
        self.bodies().begun.insert(turn.clone(), session.clone());
    }

    /// Returns a witness that keeps the first body of a turn before `witness` notes it, in the book in `root` too.
    pub(super) fn watch(&self, root: &Path, turn: &TurnId, witness: Arc<dyn Witness>) -> Arc<dyn Witness> {
        Arc::new(Watch { root: root.to_owned(), turn: turn.clone(), opened: self.clone(), witness })
    }

    fn last(&self, session: &SessionId) -> Option<(TurnId, String)> {
        self.bodies().last.get(session).cloned()
    }

    fn bodies(&self) -> std::sync::MutexGuard<'_, Bodies> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Watch {
    root: PathBuf,
    turn: TurnId,
    opened: Opened,
    witness: Arc<dyn Witness>,
}

impl Witness for Watch {
    fn sending<'a>(&'a self, sending: Sending<'a>) -> BoxFuture<'a, Result<Noted, Failure>> {
        let is_turn = matches!(sending.of, Carried::Conversation(_));
        let session = is_turn.then(|| self.opened.bodies().begun.remove(&self.turn)).flatten();
        let Some(session) = session else { return self.witness.sending(sending) };
        let (turn, body) = (self.turn.clone(), sending.body.to_owned());
        self.opened.bodies().last.insert(session.clone(), (turn.clone(), body.clone()));
        let root = self.root.clone();
        Box::pin(async move {
            let keeps = move || sessions::keep_opening(&root, &session, &turn, &body);
            // Where it can't be kept it is made again when it is asked for.
            let (_, noted) = tokio::join!(tokio::task::spawn_blocking(keeps), self.witness.sending(sending));
            noted
        })
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
