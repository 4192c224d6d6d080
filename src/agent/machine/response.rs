//! One response while it arrives, and how it is kept.
//!
//! Servers repeat call identifiers, within a response and between rounds. Here every call gets one of its own, and the raw items follow.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Call;
use crate::domain::ids::CallId;
use crate::providers::Item;

/// Most bytes of a call's arguments that are of use before the call is whole.
const PREVIEW: usize = 400;

/// Longest tool name that every wire takes.
const MAX_NAME: usize = 64;

/// What has arrived of one response.
#[derive(Debug, Default)]
pub struct Response {
    /// The server's id.
    pub id: Option<String>,
    /// Words of the answer.
    pub text: String,
    /// Output items exactly as sent.
    pub raw: Vec<Value>,
    calls: Vec<Arrived>,
}

/// A call that has begun, whole or not.
#[derive(Debug)]
struct Arrived {
    /// What the server calls it.
    theirs: CallId,
    call: Call,
    whole: bool,
}

impl Response {
    /// Whether nothing has arrived.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.raw.is_empty() && self.calls.is_empty()
    }

    /// A call begins. Returns `None` for one that looks like another of this response: it may be the same, reported twice, and is shown once it is whole
    /// and turned out to be another.
    pub fn start(&mut self, theirs: CallId, name: String, ids: &mut BTreeSet<CallId>) -> Option<Call> {
        if self.calls.iter().any(|a| a.theirs == theirs && a.call.name == name) {
            return None;
        }
        Some(self.begin(theirs, name, ids))
    }

    fn begin(&mut self, theirs: CallId, name: String, ids: &mut BTreeSet<CallId>) -> Call {
        let call = Call { id: unique(&theirs, ids), name, arguments: String::new(), forced: false };
        self.calls.push(Arrived { theirs, call: call.clone(), whole: false });
        call
    }

    /// Whether a call has another id here than the server gave it, so that an output under that id would be one for no call.
    pub fn is_renamed(&self) -> bool {
        self.calls.iter().any(|a| a.whole && a.theirs != a.call.id)
    }

    /// More of a call's arguments; returns the call while the beginning of its arguments is still growing.
    pub fn arguments(&mut self, theirs: &CallId, delta: &str) -> Option<Call> {
        let arrived = self.calls.iter_mut().rev().find(|a| !a.whole && &a.theirs == theirs)?;
        if arrived.call.arguments.len() >= PREVIEW {
            return None;
        }
        arrived.call.arguments.push_str(&delta[..delta.floor_char_boundary(PREVIEW)]);
        Some(arrived.call.clone())
    }

    /// A call is whole. Returns `None` for one that was reported twice.
    pub fn call(
        &mut self,
        theirs: CallId,
        name: String,
        arguments: String,
        ids: &mut BTreeSet<CallId>,
    ) -> Option<Call> {
        let arguments = if arguments.trim().is_empty() { "{}".to_owned() } else { arguments };
        let is_same = |a: &Arrived| {
            a.whole && a.theirs == theirs && a.call.name == name && a.call.arguments == arguments
        };
        if self.calls.iter().any(is_same) {
            return None;
        }
        let at = self.calls.iter().position(|a| !a.whole && a.theirs == theirs).unwrap_or_else(|| {
            self.begin(theirs, String::new(), ids);
            self.calls.len() - 1
        });
        let arrived = &mut self.calls[at];
        arrived.whole = true;
        arrived.call.name = name;
        arrived.call.arguments = arguments;
        Some(arrived.call.clone())
    }

    /// Returns the calls that have begun and did not arrive whole.
    pub fn half_calls(&self) -> impl Iterator<Item = CallId> + '_ {
        self.calls.iter().filter(|a| !a.whole).map(|a| a.call.id.clone())
    }

    /// Appends the response to what was said, and returns its whole calls in order.
    pub fn commit(mut self, items: &mut Vec<Item>) -> Vec<Call> {
        self.calls.retain(|a| a.whole);
        self.bind_raw_calls();
        items.extend(self.raw.into_iter().map(Item::Raw));
        if !self.text.is_empty() {
            items.push(Item::Persona(self.text));
        }
        let calls: Vec<Call> = self.calls.into_iter().map(|a| a.call).collect();
        items.extend(calls.iter().map(|call| Item::Call {
            call_id: call.id.clone(),
            name: wire_name(&call.name),
            arguments: call.arguments.clone(),
        }));
        calls
    }

    /// Gives raw calls the identifiers of the calls that they are, and leaves out those that never became one: nobody would answer them.
    fn bind_raw_calls(&mut self) {
        let mut unbound: Vec<(&CallId, &CallId)> =
            self.calls.iter().map(|a| (&a.theirs, &a.call.id)).collect();
        self.raw.retain_mut(|raw| {
            if raw.get("type").and_then(Value::as_str) != Some("function_call") {
                return true;
            }
            let theirs = raw.get("call_id").and_then(Value::as_str).unwrap_or_default();
            let Some(at) = unbound.iter().position(|(id, _)| id.as_str() == theirs) else { return false };
            let (_, ours) = unbound.remove(at);
            if theirs != ours.as_str() {
                raw["call_id"] = ours.as_str().into();
            }
            true
        });
    }
}

/// Returns `wanted` or, where the turn has used it already or it is empty, a new identifier like it.
pub fn unique(wanted: &CallId, ids: &mut BTreeSet<CallId>) -> CallId {
    let base = if wanted.as_str().is_empty() { "call" } else { wanted.as_str() };
    let mut id = CallId::new(base);
    let mut copy = 1;
    while !ids.insert(id.clone()) {
        copy += 1;
        id = CallId::new(format!("{base}-{copy}"));
    }
    id
}

/// Returns a tool's name as every server takes it back: a model may have called anything.
pub fn wire_name(name: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let safe: String = name.chars().take(MAX_NAME).map(|c| if is_safe(c) { c } else { '_' }).collect();
    if safe.is_empty() { "unnamed".to_owned() } else { safe }
}
