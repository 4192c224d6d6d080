//! One answer as it gathers: words, thoughts, calls, and the end, for every wire whose messages look like those of Chat Completions.

use serde_json::Value;

use super::calls::{Calls, Fragment, Last};
use crate::domain::conversation::Usage;
use crate::providers::voice::Voice;
use crate::providers::{Event, Request};

/// What is said of an answer that is all thoughts.
const ONLY_THOUGHTS: &str = "it thought, and gave no answer";

/// An answer that is being gathered.
#[derive(Debug)]
pub struct Gathering {
    events: Vec<Event>,
    voice: Voice,
    calls: Calls,
    created: bool,
    tier: Option<String>,
    /// Tokens, as last told.
    pub usage: Usage,
}

impl Gathering {
    /// Begins with the answer to `request`.
    pub fn new(request: &Request) -> Self {
        Self {
            events: vec![],
            voice: Voice::new(request),
            calls: Calls::new(request),
            created: false,
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
        self.voice.think(&mut self.events);
    }

    /// The model thinks these words, in a field for that.
    pub fn thought(&mut self, words: &str) {
        self.voice.thought(words, &mut self.events);
    }

    /// The model says something, thoughts in tags among it.
    pub fn words(&mut self, delta: &str) {
        self.voice.words(delta, &mut self.events);
    }

    /// The elements of a `tool_calls`.
    pub fn calls(&mut self, calls: &Value) {
        let calls = calls.as_array().map(Vec::as_slice).unwrap_or_default();
        for (at, call) in calls.iter().enumerate().filter(|(_, call)| call.is_object()) {
            self.calls.take(Fragment::of(call, (calls.len() > 1).then_some(at)), &mut self.events);
        }
    }

    /// The calls of a whole message, of which pieces have come.
    pub fn complete_calls<'c>(&mut self, calls: impl Iterator<Item = &'c Value>) {
        self.calls.complete(calls.map(|call| Fragment::of(call, None)), &mut self.events);
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
        self.voice.end_part(&mut self.events);
        let written = self.voice.written();
        let had_calls = !self.calls.is_empty() || !written.is_empty();
        if self.calls.is_empty() {
            self.events.extend(written);
        }
        let last = match truncated {
            Some(_) => Last::Cut,
            None if unsaid => Last::Unsaid,
            None => Last::Whole,
        };
        self.calls.finish(last, &mut self.events);
        let only_thoughts = self.voice.only_thought() && !had_calls;
        let truncated = truncated.or_else(|| only_thoughts.then(|| ONLY_THOUGHTS.to_owned()));
        self.events.push(Event::Finished { usage: self.usage, truncated });
    }
}
