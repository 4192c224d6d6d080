//! Builds an answer from the events of a Responses stream.
//!
//! State comes from whole items (`response.output_item.done`, or the finished response); deltas only feed the display. What is
//! unknown, missing or garbled is passed over, so that servers that know half of the protocol work too. A stream without
//! a terminal event never counts as an answer: that is for the caller to see, who gets no [`Progress::Ended`].

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::domain::conversation::Usage;
use crate::domain::ids::CallId;
use crate::providers::Event;
use crate::providers::client::Refusal;
use crate::providers::wire::{Heard, Progress, Reader, cost_of};

/// An answer that is being built.
#[derive(Debug, Default)]
pub struct Assembly {
    events: Vec<Event>,
    created: bool,
    calls: Vec<OpenCall>,
    /// Ids of items that are complete.
    done: HashSet<String>,
    /// Complete items, with or without an id.
    items: usize,
    message: Message,
    thinking: bool,
    /// Calls whose arguments are no JSON: the end says whether they were cut off.
    garbled: Vec<[Event; 2]>,
    /// The most tokens that were asked for.
    limit: Option<u32>,
}

/// A call whose arguments are arriving.
#[derive(Debug)]
struct OpenCall {
    item_id: Option<String>,
    output_index: Option<u64>,
    call_id: CallId,
    name: String,
    arguments: String,
}

/// The message whose words are arriving.
#[derive(Debug, Default)]
struct Message {
    id: Option<String>,
    shown: String,
    /// An earlier message was shown: the next begins a paragraph of its own.
    follows: bool,
}

impl Reader for Assembly {
    fn take(&mut self, data: &str) -> Heard {
        // Comments within data, empty data and `[DONE]` are no JSON either.
        let progress = serde_json::from_str(data).map_or(Progress::Going, |event: Value| self.event(&event));
        (std::mem::take(&mut self.events), progress)
    }

    fn whole(&mut self, response: &Value) -> Heard {
        if response.get("output").is_none() {
            return (vec![], Progress::Going);
        }
        self.created(response);
        let progress = match str_of(response, "status") {
            Some("failed" | "cancelled") => failed(response),
            Some("incomplete") => self.finish(response, true),
            _ => self.finish(response, false),
        };
        (std::mem::take(&mut self.events), progress)
    }
}

impl Assembly {
    /// Begins an answer that may have so many tokens.
    pub fn within(limit: Option<u32>) -> Self {
        Self { limit, ..Self::default() }
    }

    fn event(&mut self, event: &Value) -> Progress {
        let response = event.get("response").unwrap_or(&Value::Null);
        let kind = str_of(event, "type").unwrap_or_default();
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => self.created(response),
            "response.output_item.added" => self.item_added(event),
            "response.output_text.delta" | "response.refusal.delta" => self.words(event),
            "response.function_call_arguments.delta" => self.arguments(event),
            "response.function_call_arguments.done" => self.arguments_done(event),
            "response.output_item.done" => {
                if let Some(item) = event.get("item") {
                    self.item_done(item, event.get("output_index").and_then(Value::as_u64));
                }
            }
            "response.completed" | "response.done" => return self.finish(response, false),
            "response.incomplete" => return self.finish(response, true),
            "response.failed" | "response.cancelled" => return failed(response),
            "error" => return Progress::Failed(Refusal::from_value(event).unwrap_or_default()),
            _ if kind.starts_with("response.reasoning") => {
                self.think();
                if let Some(words) = str_of(event, "delta").filter(|words| !words.is_empty()) {
                    self.events.push(Event::Thought(words.to_owned()));
                }
            }
            _ if event.get("error").is_some_and(|e| e.is_object() || e.is_string()) => {
                return Progress::Failed(Refusal::from_value(event).unwrap_or_default());
            }
            _ => {}
        }
        Progress::Going
    }

    fn created(&mut self, response: &Value) {
        if let Some(id) = str_of(response, "id")
            && !std::mem::replace(&mut self.created, true)
        {
            self.events.push(Event::Created { response_id: id.to_owned() });
        }
    }

    fn think(&mut self) {
        if !std::mem::replace(&mut self.thinking, true) {
            self.events.push(Event::Reasoning);
        }
    }

    fn item_added(&mut self, event: &Value) {
        let item = event.get("item").unwrap_or(&Value::Null);
        match str_of(item, "type") {
            Some("reasoning") => self.think(),
            Some("function_call") => {
                let call = self.open(item, event.get("output_index").and_then(Value::as_u64));
                self.calls.push(call);
            }
            _ => {}
        }
    }

    /// Begins a call, and says so once its name is known.
    fn open(&mut self, item: &Value, output_index: Option<u64>) -> OpenCall {
        let item_id = str_of(item, "id").map(str::to_owned);
        let call_id = str_of(item, "call_id").map(str::to_owned).or_else(|| item_id.clone());
        let call = OpenCall {
            call_id: CallId::new(call_id.unwrap_or_else(|| format!("call_{}", ulid::Ulid::generate()))),
            item_id,
            output_index,
            name: str_of(item, "name").unwrap_or_default().to_owned(),
            arguments: arguments_of(item).unwrap_or_default(),
        };
        if !call.name.is_empty() {
            self.started(&call);
        }
        call
    }

    fn started(&mut self, call: &OpenCall) {
        self.events.push(Event::CallStarted { call_id: call.call_id.clone(), name: call.name.clone() });
    }

    fn arguments(&mut self, event: &Value) {
        let Some(delta) = str_of(event, "delta") else { return };
        let Some(at) =
            self.position(str_of(event, "item_id"), event.get("output_index").and_then(Value::as_u64))
        else {
            return;
        };
        let call = &mut self.calls[at];
        call.arguments.push_str(delta);
        if !call.name.is_empty() {
            self.events.push(Event::CallArguments { call_id: call.call_id.clone(), delta: delta.to_owned() });
        }
    }

    fn arguments_done(&mut self, event: &Value) {
        let at = self.position(str_of(event, "item_id"), event.get("output_index").and_then(Value::as_u64));
        if let (Some(at), Some(whole)) = (at, arguments_of(event)) {
            self.calls[at].arguments = whole;
        }
    }

    /// The open call that an event is about: by its item, else by its place, else the last one.
    fn position(&self, item_id: Option<&str>, output_index: Option<u64>) -> Option<usize> {
        let by_id = || self.calls.iter().position(|c| item_id.is_some() && c.item_id.as_deref() == item_id);
        let by_index =
            || self.calls.iter().position(|c| c.output_index.is_some() && c.output_index == output_index);
        by_id().or_else(by_index).or_else(|| self.calls.len().checked_sub(1))
    }

    fn words(&mut self, event: &Value) {
        let Some(delta) = str_of(event, "delta").filter(|d| !d.is_empty()) else { return };
        let id = str_of(event, "item_id");
        if id.is_some() && self.message.id.is_some() && self.message.id.as_deref() != id {
            self.end_message();
        }
        self.message.id = id.map(str::to_owned).or(self.message.id.take());
        self.show(delta);
    }

    fn show(&mut self, words: &str) {
        if std::mem::take(&mut self.message.follows) {
            self.events.push(Event::Text("\n\n".into()));
        }
        self.message.shown.push_str(words);
        self.events.push(Event::Text(words.to_owned()));
    }

    fn end_message(&mut self) {
        let said = !self.message.shown.is_empty();
        self.message = Message { follows: said || self.message.follows, ..Message::default() };
    }

    fn item_done(&mut self, item: &Value, output_index: Option<u64>) {
        self.items += 1;
        if let Some(id) = str_of(item, "id").or_else(|| str_of(item, "call_id")) {
            self.done.insert(id.to_owned());
        }
        match str_of(item, "type") {
            Some("function_call") => self.call_done(item, output_index),
            Some("message") => {
                let whole = words_of(item);
                // The whole text is authoritative, but what was shown can't be taken back.
                if let Some(rest) = whole.strip_prefix(self.message.shown.as_str()).filter(|r| !r.is_empty())
                {
                    self.show(rest);
                }
                self.end_message();
                self.events.push(Event::Item(item.clone()));
            }
            Some("reasoning") => {
                self.thinking = false;
                let mut item = item.clone();
                if let Some(fields) = item.as_object_mut() {
                    // The API sends it and refuses it.
                    fields.shift_remove("status");
                }
                self.events.push(Event::Item(item));
            }
            Some("web_search_call") => {
                let action = item.get("action").unwrap_or(&Value::Null);
                let query = str_of(action, "query").or_else(|| str_of(action, "url")).unwrap_or_default();
                self.events.push(Event::WebSearch { query: query.to_owned() });
                self.events.push(Event::Item(item.clone()));
            }
            _ => self.events.push(Event::Item(item.clone())),
        }
    }

    fn call_done(&mut self, item: &Value, output_index: Option<u64>) {
        let (id, call_id) = (str_of(item, "id"), str_of(item, "call_id"));
        let known = self.calls.iter().position(|c| {
            (id.is_some() && c.item_id.as_deref() == id)
                || call_id == Some(c.call_id.as_str())
                || (c.output_index.is_some() && c.output_index == output_index)
        });
        let mut call = match known {
            Some(at) => self.calls.remove(at),
            None => self.open(item, output_index),
        };
        if call.name.is_empty() {
            str_of(item, "name").unwrap_or_default().clone_into(&mut call.name);
            self.started(&call);
        }
        let said = arguments_of(item).filter(|a| !a.trim().is_empty()).unwrap_or(call.arguments);
        let arguments = if said.trim().is_empty() { "{}".to_owned() } else { said };
        let readable = serde_json::from_str::<serde::de::IgnoredAny>(&arguments).is_ok();
        let mut raw = item.clone();
        if let Some(fields) = raw.as_object_mut() {
            fields.insert("call_id".into(), call.call_id.as_str().into());
            fields.insert("arguments".into(), arguments.clone().into());
        }
        let events = [Event::Call { call_id: call.call_id, name: call.name, arguments }, Event::Item(raw)];
        if readable { self.events.extend(events) } else { self.garbled.push(events) }
    }

    /// The terminal event: what did not come as a whole item before is taken from the response itself.
    fn finish(&mut self, response: &Value, incomplete: bool) -> Progress {
        let (before, usage) = (self.items, usage(response));
        // llama.cpp calls an answer completed that has reached its limit. One beyond it is of a server that knows no limit.
        let is_full = self.limit.is_some_and(|most| usage.output_tokens == Some(u64::from(most)));
        let incomplete = incomplete || is_full;
        for item in response.get("output").and_then(Value::as_array).into_iter().flatten() {
            let seen = match str_of(item, "id").or_else(|| str_of(item, "call_id")) {
                Some(id) => self.done.contains(id),
                None => before > 0,
            };
            if !seen {
                self.item_done(item, None);
            }
        }
        if incomplete {
            self.garbled.clear();
            self.calls.clear();
        }
        for call in std::mem::take(&mut self.calls) {
            let item = json!({ "type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments });
            self.calls.push(call);
            self.call_done(&item, None);
        }
        self.events.extend(std::mem::take(&mut self.garbled).into_iter().flatten());
        if let Some(tier) = str_of(response, "service_tier") {
            self.events.push(Event::Tier(tier.to_owned()));
        }
        let unsaid = if is_full { "max_output_tokens" } else { "unknown reason" };
        let why = || response.get("incomplete_details").and_then(|d| str_of(d, "reason")).unwrap_or(unsaid);
        let truncated = incomplete.then(|| why().to_owned());
        self.events.push(Event::Finished { usage, truncated });
        Progress::Ended
    }
}

fn failed(response: &Value) -> Progress {
    let refusal = response.get("error").filter(|e| !e.is_null()).and_then(Refusal::from_value);
    Progress::Failed(refusal.unwrap_or_default())
}

fn usage(response: &Value) -> Usage {
    let usage = response.get("usage").unwrap_or(&Value::Null);
    let count = |field: &str| usage.get(field)?.as_u64();
    let detail = |of: &str, field: &str| usage.get(of)?.get(field)?.as_u64();
    Usage {
        input_tokens: count("input_tokens"),
        cached_tokens: detail("input_tokens_details", "cached_tokens"),
        cache_write_tokens: detail("input_tokens_details", "cache_write_tokens"),
        output_tokens: count("output_tokens"),
        reasoning_tokens: detail("output_tokens_details", "reasoning_tokens"),
        cost: cost_of(usage),
        ..Usage::default()
    }
}

/// Arguments as text; some servers send them as an object.
fn arguments_of(value: &Value) -> Option<String> {
    match value.get("arguments")? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

/// The words of a whole message, refusals included.
fn words_of(item: &Value) -> String {
    let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(|part| str_of(part, "text").or_else(|| str_of(part, "refusal"))).collect()
}

fn str_of<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_are_told_with_what_was_cached_and_what_was_thought() {
        let told = json!({ "usage": {
            "input_tokens": 900, "input_tokens_details": { "cached_tokens": 512, "cache_write_tokens": 64 },
            "output_tokens": 70, "output_tokens_details": { "reasoning_tokens": 50 }, "cost": 0.01,
        } });
        let wanted = Usage {
            input_tokens: Some(900),
            cached_tokens: Some(512),
            cache_write_tokens: Some(64),
            output_tokens: Some(70),
            reasoning_tokens: Some(50),
            cost: Some(0.01),
            ..Usage::default()
        };
        assert_eq!(usage(&told), wanted);
        assert_eq!(usage(&json!({ "usage": { "input_tokens_details": null } })), Usage::default());
    }
}
