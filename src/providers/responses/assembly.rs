//! Builds an answer from the events of a Responses stream.
//!
//! State comes from whole items (`response.output_item.done`, or the finished response), each counted once whatever its id; deltas only feed the display.
//! A call is given out at the end, which alone says whether it was cut. What is unknown, missing or garbled is passed over, so that servers that know half of
//! the protocol work too. Items that go back to the server stay as they came: only what is shown and run is cleaned. A stream without
//! a terminal event never counts as an answer: that is for the caller to see, who gets no [`Progress::Ended`].

use std::collections::HashSet;

use serde_json::{Value, json};

use super::seen::Seen;
use crate::domain::conversation::Usage;
use crate::domain::ids::CallId;
use crate::providers::client::Refusal;
use crate::providers::offered::Offered;
use crate::providers::speech::is_object;
use crate::providers::voice::Voice;
use crate::providers::wire::{Heard, Progress, Reader, cost_of};
use crate::providers::{Event, Request};

/// An answer that is being built.
#[derive(Debug)]
pub struct Assembly {
    events: Vec<Event>,
    created: bool,
    offered: Offered,
    voice: Voice,
    /// The message whose words are arriving.
    message: Message,
    /// The ids of messages that the server told before their words.
    announced: HashSet<String>,
    /// Messages that ended because another began.
    unfinished: Vec<Message>,
    /// The rest of such messages, which waits for the end of the one that is arriving.
    late: Vec<String>,
    open: Vec<OpenCall>,
    /// Whole calls, and the items that came after the first of them, in order.
    held: Vec<Held>,
    seen: Seen,
    /// The most tokens that were asked for.
    limit: Option<u32>,
    /// What a response that failed has used.
    told: Usage,
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

/// What waits for the end of the answer.
#[derive(Debug)]
enum Held {
    Item(Value),
    /// A call that has come as a whole item: who it is, its tool, its arguments, and the item.
    Call(CallId, String, String, Value),
}

/// A message, as far as deltas brought it.
#[derive(Debug, Default)]
struct Message {
    id: Option<String>,
    output_index: Option<u64>,
    /// Its words as they came, thoughts and all.
    heard: String,
}

impl Message {
    /// Whether a delta is about another message. Where places are told, they count: some servers give every delta an id of its own.
    fn is_other(&self, id: Option<&str>, output_index: Option<u64>) -> bool {
        match (self.output_index, output_index) {
            (Some(own), Some(other)) => own != other,
            _ => self.id.is_some() && id.is_some() && self.id.as_deref() != id,
        }
    }
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
        let progress = self.ended(response);
        (std::mem::take(&mut self.events), progress)
    }

    fn used(&self) -> Usage {
        self.told
    }
}

impl Assembly {
    /// Begins with the answer to `request`, which may have so many tokens.
    pub fn new(request: &Request, limit: Option<u32>) -> Self {
        Self {
            events: vec![],
            created: false,
            offered: Offered::in_request(request),
            voice: Voice::new(request),
            message: Message::default(),
            announced: HashSet::new(),
            unfinished: vec![],
            late: vec![],
            open: vec![],
            held: vec![],
            seen: Seen::default(),
            limit,
            told: Usage::default(),
        }
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
                    self.item_done(item, index_of(event));
                }
            }
            "response.completed" | "response.done" => return self.ended(response),
            "response.incomplete" => return self.finish(response, true),
            "response.failed" | "response.cancelled" => return self.failed(response),
            "error" => return Progress::Failed(Refusal::from_value(event).unwrap_or_default()),
            _ if kind.starts_with("response.reasoning") => {
                self.voice.thought(str_of(event, "delta").unwrap_or_default(), &mut self.events);
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

    fn item_added(&mut self, event: &Value) {
        let (item, output_index) = (event.get("item").unwrap_or(&Value::Null), index_of(event));
        match str_of(item, "type") {
            Some("reasoning") => self.voice.think(&mut self.events),
            Some("function_call") => {
                let call = self.open(item, output_index);
                self.open.push(call);
            }
            Some("message") => {
                let id = text_of(item, "id");
                self.announced.extend(id.map(str::to_owned));
                let is_late = id.is_some() && self.message.id.as_deref() == id;
                if !is_late {
                    self.next_message(id, output_index);
                }
            }
            _ => {}
        }
    }

    /// Begins a call, and says so once its name is known.
    fn open(&mut self, item: &Value, output_index: Option<u64>) -> OpenCall {
        let item_id = text_of(item, "id").map(str::to_owned);
        let call_id = text_of(item, "call_id").map(str::to_owned).or_else(|| item_id.clone());
        let call = OpenCall {
            call_id: CallId::new(call_id.unwrap_or_else(|| format!("call_{}", ulid::Ulid::generate()))),
            item_id,
            output_index,
            name: self.offered.clean(str_of(item, "name").unwrap_or_default()),
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
        let Some(at) = self.position(text_of(event, "item_id"), index_of(event)) else { return };
        let call = &mut self.open[at];
        call.arguments.push_str(delta);
        if !call.name.is_empty() {
            self.events.push(Event::CallArguments { call_id: call.call_id.clone(), delta: delta.to_owned() });
        }
    }

    fn arguments_done(&mut self, event: &Value) {
        let at = self.position(text_of(event, "item_id"), index_of(event));
        if let (Some(at), Some(whole)) = (at, arguments_of(event)) {
            self.open[at].arguments = whole;
        }
    }

    /// The open call that an event is about: by its item, else by its place, else the last one.
    fn position(&self, item_id: Option<&str>, output_index: Option<u64>) -> Option<usize> {
        let by_id = || self.open.iter().position(|c| item_id.is_some() && c.item_id.as_deref() == item_id);
        let by_index =
            || self.open.iter().position(|c| c.output_index.is_some() && c.output_index == output_index);
        by_id().or_else(by_index).or_else(|| self.open.len().checked_sub(1))
    }

    fn words(&mut self, event: &Value) {
        let Some(delta) = text_of(event, "delta") else { return };
        let output_index = index_of(event);
        let id = text_of(event, "item_id").filter(|id| self.names_a_message(id));
        if self.message.is_other(id, output_index) {
            self.next_message(id, output_index);
        }
        self.message.id = self.message.id.take().or_else(|| id.map(str::to_owned));
        self.message.output_index = self.message.output_index.or(output_index);
        self.message.heard.push_str(delta);
        self.voice.words(delta, &mut self.events);
    }

    /// Whether the id of a delta can be one of a message. Where messages are announced, an id that was not is one of the delta alone.
    fn names_a_message(&self, id: &str) -> bool {
        self.announced.is_empty()
            || self.announced.contains(id)
            || self.unfinished.iter().any(|message| message.id.as_deref() == Some(id))
    }

    /// A message begins. One that was arriving has ended without being whole.
    fn next_message(&mut self, id: Option<&str>, output_index: Option<u64>) {
        let next = Message { id: id.map(str::to_owned), output_index, heard: String::new() };
        let before = std::mem::replace(&mut self.message, next);
        if !before.heard.is_empty() {
            self.unfinished.push(before);
        }
        self.end_message();
    }

    /// Ends the message that is arriving, and says what came late of others, each as a paragraph.
    fn end_message(&mut self) {
        self.voice.end_message(&mut self.events);
        for rest in std::mem::take(&mut self.late) {
            self.voice.words(&rest, &mut self.events);
            self.voice.end_message(&mut self.events);
        }
    }

    /// A message is whole: that is authoritative, but what was shown can't be taken back.
    fn message_done(&mut self, item: &Value) {
        let (id, whole) = (text_of(item, "id"), words_of(item));
        let heard = self.message.heard.as_str();
        let is_this = !heard.is_empty() && whole.starts_with(heard);
        let by_id = || self.unfinished.iter().position(|m| m.id.is_some() && m.id.as_deref() == id);
        let by_words = || self.unfinished.iter().position(|m| whole.starts_with(&m.heard));
        if let Some(at) = by_id().or_else(|| if is_this { None } else { by_words() }) {
            let mut pieces: String = self.unfinished[at..].iter().map(|m| m.heard.as_str()).collect();
            pieces.push_str(heard);
            if let Some(rest) = whole.strip_prefix(&pieces) {
                // Nothing else was said meanwhile, or every delta had an id of its own.
                self.unfinished.truncate(at);
                self.message.heard.clear();
                self.voice.words(rest, &mut self.events);
                self.end_message();
                return;
            }
            let begun = self.unfinished.remove(at);
            if let Some(rest) = whole.strip_prefix(&begun.heard).filter(|rest| !rest.is_empty()) {
                self.late.push(rest.to_owned());
            }
            if self.message.heard.is_empty() {
                self.end_message();
            }
            return;
        }
        if let Some(rest) = whole.strip_prefix(heard) {
            self.voice.words(rest, &mut self.events);
        }
        self.end_message();
        self.message = Message::default();
    }

    fn item_done(&mut self, item: &Value, output_index: Option<u64>) {
        if !self.seen.add(item, output_index) {
            return;
        }
        match str_of(item, "type") {
            Some("function_call") => self.call_done(item, output_index),
            Some("message") => {
                self.message_done(item);
                self.keep(item.clone());
            }
            Some("reasoning") => {
                self.voice.end_thought();
                let mut item = item.clone();
                if let Some(fields) = item.as_object_mut() {
                    // The API sends it and refuses it.
                    fields.shift_remove("status");
                }
                self.keep(item);
            }
            Some("web_search_call") => {
                let action = item.get("action").unwrap_or(&Value::Null);
                let query = str_of(action, "query").or_else(|| str_of(action, "url")).unwrap_or_default();
                self.events.push(Event::WebSearch { query: query.to_owned() });
                self.keep(item.clone());
            }
            _ => self.keep(item.clone()),
        }
    }

    fn call_done(&mut self, item: &Value, output_index: Option<u64>) {
        let mut call = match self.begun(item, output_index) {
            Some(at) => self.open.remove(at),
            None => self.open(item, output_index),
        };
        if call.name.is_empty() {
            call.name = self.offered.clean(str_of(item, "name").unwrap_or_default());
            self.started(&call);
        }
        let arguments = arguments_of(item).filter(|a| !a.trim().is_empty()).unwrap_or(call.arguments);
        let mut raw = item.clone();
        if let Some(fields) = raw.as_object_mut() {
            fields.insert("call_id".into(), call.call_id.as_str().into());
            fields.insert("arguments".into(), or_nothing(&arguments).into());
        }
        self.held.push(Held::Call(call.call_id, call.name, arguments, raw));
    }

    /// Gives out an item in its place among all.
    fn keep(&mut self, item: Value) {
        if self.held.is_empty() {
            self.events.push(Event::Item(item));
        } else {
            self.held.push(Held::Item(item));
        }
    }

    /// The open call that a whole item is: by its ids, else by its place, else by its tool, where nothing speaks against it.
    fn begun(&self, item: &Value, output_index: Option<u64>) -> Option<usize> {
        let (id, call_id) = (text_of(item, "id"), text_of(item, "call_id"));
        let name = self.offered.clean(str_of(item, "name").unwrap_or_default());
        let arguments = arguments_of(item).unwrap_or_default();
        let fits = |c: &OpenCall| name.is_empty() || c.name.is_empty() || c.name == name;
        let elsewhere = |c: &OpenCall| {
            c.output_index.is_some() && output_index.is_some() && c.output_index != output_index
        };
        let find = |is_it: &dyn Fn(&OpenCall) -> bool| self.open.iter().position(is_it);
        find(&|c| id.is_some() && c.item_id.as_deref() == id)
            .or_else(|| find(&|c| call_id == Some(c.call_id.as_str())))
            .or_else(|| find(&|c| fits(c) && output_index.is_some() && c.output_index == output_index))
            .or_else(|| {
                find(&|c| {
                    let agrees = c.arguments.is_empty() || arguments.is_empty() || c.arguments == arguments;
                    fits(c) && agrees && !elsewhere(c)
                })
            })
    }

    /// The end, as the response itself tells it: some servers end every response with the event of a whole one
    /// (<https://github.com/vllm-project/agentic-api/issues/273>).
    fn ended(&mut self, response: &Value) -> Progress {
        match str_of(response, "status") {
            Some("failed" | "cancelled") => self.failed(response),
            Some("incomplete") => self.finish(response, true),
            _ => self.finish(response, false),
        }
    }

    fn failed(&mut self, response: &Value) -> Progress {
        self.told = usage(response);
        let refusal = response.get("error").filter(|e| !e.is_null()).and_then(Refusal::from_value);
        Progress::Failed(refusal.unwrap_or_default())
    }

    /// The terminal event: what did not come as a whole item before is taken from the response itself.
    fn finish(&mut self, response: &Value, incomplete: bool) -> Progress {
        let usage = usage(response);
        // llama.cpp calls an answer completed that has reached its limit. One beyond it is of a server that knows no limit.
        let is_full = self.limit.is_some_and(|most| usage.output_tokens == Some(u64::from(most)));
        let incomplete = incomplete || is_full;
        let output = response.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for at in self.seen.missing(output) {
            self.item_done(&output[at], Some(at as u64));
        }
        self.end_message();
        self.give_calls(incomplete);
        if let Some(tier) = str_of(response, "service_tier") {
            self.events.push(Event::Tier(tier.to_owned()));
        }
        let unsaid = if is_full { "max_output_tokens" } else { "unknown reason" };
        let why = || response.get("incomplete_details").and_then(|d| str_of(d, "reason")).unwrap_or(unsaid);
        let truncated = incomplete.then(|| why().to_owned());
        self.events.push(Event::Finished { usage, truncated });
        Progress::Ended
    }

    /// Gives out the calls. `cut`: the answer was cut off, so that what is no whole object was cut, too; else it is the model's own mistake, and the tool
    /// says so.
    fn give_calls(&mut self, cut: bool) {
        let written = self.voice.written();
        let called = !self.open.is_empty() || !self.held.is_empty();
        if !called && !written.is_empty() {
            self.events.extend(written);
            self.events.push(Event::Unkept);
        }
        for call in std::mem::take(&mut self.open).into_iter().filter(|_| !cut) {
            let item = json!({ "type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments });
            self.open.push(call);
            self.call_done(&item, None);
        }
        for held in std::mem::take(&mut self.held) {
            match held {
                Held::Item(item) => self.events.push(Event::Item(item)),
                Held::Call(_, _, arguments, item)
                    if cut && (str_of(&item, "status") == Some("incomplete") || !is_object(&arguments)) => {}
                Held::Call(call_id, name, arguments, item) => {
                    let arguments = or_nothing(&arguments).to_owned();
                    self.events.extend([Event::Call { call_id, name, arguments }, Event::Item(item)]);
                }
            }
        }
    }
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
pub(super) fn arguments_of(value: &Value) -> Option<String> {
    match value.get("arguments")? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

/// Arguments that are none are an empty object.
fn or_nothing(arguments: &str) -> &str {
    if arguments.trim().is_empty() { "{}" } else { arguments }
}

/// The words of a whole message, refusals included.
pub(super) fn words_of(item: &Value) -> String {
    let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
    parts.filter_map(|part| str_of(part, "text").or_else(|| str_of(part, "refusal"))).collect()
}

fn str_of<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}

/// A field's text; an empty one is none.
pub(super) fn text_of<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    str_of(value, field).filter(|text| !text.is_empty())
}

fn index_of(event: &Value) -> Option<u64> {
    event.get("output_index")?.as_u64()
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

    fn heard(events: &[Value]) -> Vec<Event> {
        let tools = ["look", "list"].map(|name| json!({ "type": "function", "name": name })).to_vec();
        let mut assembly = Assembly::new(&Request { tools, ..Request::default() }, None);
        events.iter().flat_map(|event| assembly.take(&event.to_string()).0).collect()
    }

    fn done(item: &Value) -> Value {
        json!({ "type": "response.output_item.done", "item": item })
    }

    fn end(output: &[&Value]) -> Value {
        json!({ "type": "response.completed", "response": { "id": "r", "output": output } })
    }

    fn items(events: &[Event]) -> Vec<&Value> {
        events.iter().filter_map(|e| if let Event::Item(item) = e { Some(item) } else { None }).collect()
    }

    #[test]
    fn what_goes_back_to_the_server_stays_as_it_came_and_once() {
        let call = json!({ "type": "function_call", "id": "fc", "call_id": "c", "name": "functions.look", "arguments": "{}" });
        let message = json!({ "type": "message", "id": "m", "phase": "commentary", "content": [{ "type": "output_text", "text": "<think>hm</think>So." }] });
        let thought = json!({ "type": "reasoning", "id": "rs", "encrypted_content": "x", "summary": [] });
        let (mut other_thought, mut other_message, mut other_call) =
            (thought.clone(), message.clone(), call.clone());
        (other_thought["id"], other_message["id"]) = ("rs_9".into(), "m9".into());
        (other_call["id"], other_call["call_id"]) = ("fc_9".into(), "c9".into());
        let events = heard(&[
            done(&thought),
            done(&message),
            done(&call),
            end(&[&other_thought, &other_message, &other_call]),
        ]);
        assert_eq!(items(&events), [&thought, &message, &call]);
        let calls: Vec<_> = events.iter().filter(|e| matches!(e, Event::Call { .. })).collect();
        let call = Event::Call { call_id: CallId::new("c"), name: "look".into(), arguments: "{}".into() };
        assert_eq!(calls, [&call]);
        assert!(events.contains(&Event::Text("So.".into())), "{events:?}");
        assert!(!events.contains(&Event::Unkept), "the server made the call itself");
    }

    #[test]
    fn an_answer_with_a_written_call_is_none_to_continue_from() {
        let words = "<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>";
        let message =
            json!({ "type": "message", "id": "m", "content": [{ "type": "output_text", "text": words }] });
        let call =
            json!({ "type": "function_call", "id": "fc", "call_id": "c", "name": "list", "arguments": "{}" });
        let written = heard(&[done(&message), end(&[])]);
        assert!(written.contains(&Event::Unkept), "{written:?}");
        assert!(written.iter().any(|e| matches!(e, Event::Call { name, .. } if name == "look")));
        let both = heard(&[done(&message), done(&call), end(&[])]);
        let names: Vec<_> = both
            .iter()
            .filter_map(|e| if let Event::Call { name, .. } = e { Some(name.as_str()) } else { None })
            .collect();
        assert_eq!((names, both.contains(&Event::Unkept)), (vec!["list"], false));
    }

    #[test]
    fn a_call_that_was_begun_under_another_id_begins_once() {
        let begun = |id: &str| json!({ "type": "response.output_item.added", "item": { "type": "function_call", "id": id, "call_id": id, "name": "look", "arguments": "" } });
        let whole = |id: &str, n: u8| json!({ "type": "function_call", "id": id, "call_id": id, "name": "look", "arguments": format!("{{\"n\":{n}}}") });
        let (a, b) = (whole("x", 1), whole("y", 2));
        let events = heard(&[begun("a"), begun("b"), done(&a), done(&b), end(&[&a, &b])]);
        let begun = events.iter().filter(|e| matches!(e, Event::CallStarted { .. })).count();
        let ids: Vec<_> = events
            .iter()
            .filter_map(|e| if let Event::Call { call_id, .. } = e { Some(call_id.as_str()) } else { None })
            .collect();
        assert_eq!((begun, ids), (2, vec!["a", "b"]));
    }

    #[test]
    fn the_rest_of_a_message_that_another_interrupted_is_said_once() {
        let message = |id: &str, words: &str| json!({ "type": "message", "id": id, "content": [{ "type": "output_text", "text": words }] });
        let begun = |id: &str| json!({ "type": "response.output_item.added", "item": { "type": "message", "id": id } });
        let delta = |id: &str, words: &str| json!({ "type": "response.output_text.delta", "item_id": id, "delta": words });
        let (one, two) = (message("m1", "One. And a half."), message("m2", "Two. More."));
        let over = end(&[&one, &two]);
        for (events, expected) in [
            (
                vec![
                    delta("m1", "One."),
                    begun("m2"),
                    done(&one),
                    delta("m2", "Two."),
                    done(&two),
                    over.clone(),
                ],
                "One.\n\nAnd a half.\n\nTwo. More.",
            ),
            (
                vec![
                    delta("m1", "One."),
                    delta("m2", "Two."),
                    done(&one),
                    delta("m2", " More."),
                    done(&two),
                    over.clone(),
                ],
                "One.\n\nTwo. More.\n\nAnd a half.",
            ),
            (vec![delta("m1", "One."), delta("m2", "Two."), over], "One.\n\nTwo. More.\n\nAnd a half."),
            (
                vec![
                    begun("m1"),
                    delta("a", "One."),
                    delta("b", " And"),
                    done(&one),
                    begun("m2"),
                    delta("c", "Two."),
                    end(&[&one]),
                ],
                "One. And a half.\n\nTwo.",
            ),
            (
                vec![delta("a", "One."), delta("b", " And"), delta("c", " a"), done(&one), end(&[&one])],
                "One.\n\nAnd\n\na half.",
            ),
        ] {
            let words: String = heard(&events)
                .into_iter()
                .filter_map(|e| if let Event::Text(words) = e { Some(words) } else { None })
                .collect();
            assert_eq!(words, expected, "{events:?}");
        }
    }

    #[test]
    fn an_event_of_a_whole_answer_says_less_than_the_status_in_it() {
        let call = json!({ "type": "response.output_item.added", "item": { "type": "function_call", "id": "f", "call_id": "c", "name": "look", "arguments": "" } });
        for kind in ["response.completed", "response.done"] {
            let ended = |status: &str, more: Value| {
                let mut response = json!({ "id": "r", "status": status, "output": [], "usage": { "input_tokens": 7, "output_tokens": 2 } });
                response.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                json!({ "type": kind, "response": response })
            };
            let cut = ended("incomplete", json!({ "incomplete_details": { "reason": "max_output_tokens" } }));
            let events = heard(&[call.clone(), cut]);
            assert!(!events.iter().any(|e| matches!(e, Event::Call { .. })), "{kind}: {events:?}");
            let Some(Event::Finished { truncated, .. }) = events.last() else { panic!("{kind}: {events:?}") };
            assert_eq!(truncated.as_deref(), Some("max_output_tokens"), "{kind}");
            for (status, error) in
                [("failed", json!({ "error": { "message": "It broke." } })), ("cancelled", json!({}))]
            {
                let mut assembly = Assembly::new(&Request::default(), None);
                let (events, progress) = assembly.take(&ended(status, error).to_string());
                let Progress::Failed(refusal) = progress else { panic!("{kind} {status}: {events:?}") };
                assert_eq!(refusal.message, if status == "failed" { "It broke." } else { "" }, "{kind}");
                assert_eq!((assembly.used().input_tokens, assembly.used().output_tokens), (Some(7), Some(2)));
            }
        }
    }

    #[test]
    fn a_code_that_is_a_status_counts_as_one() {
        for event in [
            json!({ "error": { "message": "Loading model", "code": 503 } }),
            json!({ "type": "error", "error": { "message": "Loading model", "code": 503 } }),
            json!({ "type": "error", "message": "Loading model", "code": 503 }),
            json!({ "type": "response.failed", "response": { "error": { "message": "Loading model", "code": 503 } } }),
        ] {
            let mut assembly = Assembly::new(&Request::default(), None);
            let (_, progress) = assembly.take(&event.to_string());
            assert!(matches!(progress, Progress::Failed(r) if r.status == Some(503)), "{event}");
        }
    }
}
