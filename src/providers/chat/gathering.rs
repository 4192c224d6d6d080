//! One answer as it gathers: words, thoughts, calls, and the end, for every wire whose messages look like those of Chat Completions.

use serde_json::Value;

use super::calls::{Calls, Fragment, Last};
use super::speech::{Said, Speech};
use crate::domain::conversation::Usage;
use crate::domain::ids::CallId;
use crate::providers::{Event, Request};

/// What is said of an answer that is all thoughts.
const ONLY_THOUGHTS: &str = "it thought, and gave no answer";

/// An answer that is being gathered.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the answer")]
pub struct Gathering {
    events: Vec<Event>,
    speech: Speech,
    said: Vec<Said>,
    calls: Calls,
    /// Calls that were written as text. They count where the server reported none.
    written: Vec<(String, String)>,
    created: bool,
    thinking: bool,
    thought: bool,
    spoke: bool,
    tier: Option<String>,
    /// Tokens, as last told.
    pub usage: Usage,
}

impl Gathering {
    /// Begins with the answer to `request`.
    pub fn new(request: &Request) -> Self {
        Self {
            events: vec![],
            speech: Speech::default(),
            said: vec![],
            calls: Calls::new(request),
            written: vec![],
            created: false,
            thinking: false,
            thought: false,
            spoke: false,
            tier: None,
            usage: Usage::default(),
        }
    }

    /// Returns what happened since the last time.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Puts events before those that wait.
    pub fn put_before(&mut self, mut events: Vec<Event>) {
        events.append(&mut self.events);
        self.events = events;
    }

    /// The answer has an id.
    pub fn created(&mut self, id: &str) {
        if !id.is_empty() && !std::mem::replace(&mut self.created, true) {
            self.events.push(Event::Created { response_id: id.to_owned() });
        }
    }

    /// The server tells its tier.
    pub fn tier(&mut self, tier: &str) {
        if self.tier.as_deref() != Some(tier) {
            self.tier = Some(tier.to_owned());
            self.events.push(Event::Tier(tier.to_owned()));
        }
    }

    /// The model thinks, in a field for that.
    pub fn think(&mut self) {
        self.thought = true;
        if !std::mem::replace(&mut self.thinking, true) {
            self.events.push(Event::Reasoning);
        }
    }

    /// The model thinks these words, in a field for that.
    pub fn thought(&mut self, words: &str) {
        self.think();
        self.events.push(Event::Thought(words.to_owned()));
    }

    /// The model says something, thoughts in tags among it.
    pub fn words(&mut self, delta: &str) {
        self.speech.push(delta, &mut self.said);
        let speaks = self.said.iter().any(|said| matches!(said, Said::Words(_)));
        self.tell();
        if self.thinking && !speaks && !delta.is_empty() {
            self.events.push(Event::Thought(delta.to_owned()));
        }
    }

    /// The elements of a `tool_calls`.
    pub fn calls(&mut self, calls: &Value) {
        let calls = calls.as_array().map(Vec::as_slice).unwrap_or_default();
        for (at, call) in calls.iter().enumerate().filter(|(_, call)| call.is_object()) {
            self.calls.take(Fragment::of(call, (calls.len() > 1).then_some(at)), &mut self.events);
        }
    }

    /// An element of a `tool_calls` that is a call of its own, in one piece.
    pub fn whole_call(&mut self, call: &Value) {
        if call.is_object() {
            self.calls.take_whole(Fragment::of(call, None), &mut self.events);
        }
    }

    /// A call that arrives in one piece.
    pub fn fragment(&mut self, fragment: Fragment<'_>) {
        self.calls.take(fragment, &mut self.events);
    }

    /// Ends the answer. `truncated`: why it is not whole. `unsaid`: it ended without a reason.
    pub fn finish(&mut self, truncated: Option<String>, unsaid: bool) {
        self.speech.finish(&mut self.said);
        self.tell();
        let written = std::mem::take(&mut self.written);
        let had_calls = !self.calls.is_empty() || !written.is_empty();
        if self.calls.is_empty() {
            for (name, arguments) in written {
                let call_id = CallId::new(format!("call_{}", ulid::Ulid::generate()));
                self.events.push(Event::CallStarted { call_id: call_id.clone(), name: name.clone() });
                self.events.push(Event::Call { call_id, name, arguments });
            }
        }
        let last = match truncated {
            Some(_) => Last::Cut,
            None if unsaid => Last::Unsaid,
            None => Last::Whole,
        };
        self.calls.finish(last, &mut self.events);
        let only_thoughts = self.thought && !self.spoke && !had_calls;
        let truncated = truncated.or_else(|| only_thoughts.then(|| ONLY_THOUGHTS.to_owned()));
        self.events.push(Event::Finished { usage: self.usage, truncated });
    }

    fn tell(&mut self) {
        for said in std::mem::take(&mut self.said) {
            match said {
                Said::Words(words) => {
                    (self.thinking, self.spoke) = (false, true);
                    self.events.push(Event::Text(words));
                }
                Said::Thought => self.think(),
                Said::TakenBack => {
                    self.spoke = false;
                    self.events.push(Event::TakenBack);
                }
                // What is not on offer was no call.
                Said::Call { name, arguments } if self.calls.offers(&name) => {
                    self.written.push((name, arguments));
                }
                Said::Call { name, arguments } => {
                    self.spoke = true;
                    self.events.push(Event::Text(format!("{name} {arguments}")));
                }
            }
        }
    }
}
