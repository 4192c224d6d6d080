//! Hears the events of a Messages stream.
//!
//! A block counts once it has stopped, and a call once the answer has: only the reason to stop says whether its input was cut, and then it is never given
//! out. Thoughts are kept for sending back only whole, with their signature; where calls follow, every block is, in its place. A stream without `message_stop` is no answer, unless its stop reason had come.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::domain::conversation::Usage;
use crate::domain::ids::CallId;
use crate::providers::client::Refusal;
use crate::providers::offered::Offered;
use crate::providers::speech::is_object;
use crate::providers::voice::Voice;
use crate::providers::wire::{Heard, Progress, Protocol, Reader};
use crate::providers::{Event, Request, raw};

/// An answer in blocks.
#[derive(Debug)]
pub struct Blocks {
    events: Vec<Event>,
    offered: Offered,
    voice: Voice,
    open: BTreeMap<u64, Block>,
    /// The blocks that have stopped, in order.
    stopped: Vec<Stopped>,
    usage: Usage,
    tier: Option<String>,
    /// The reason to stop.
    reason: Option<String>,
}

/// A block that is arriving, as far as it has.
#[derive(Debug)]
enum Block {
    Text(Value),
    Thinking(Value),
    Call(Call),
    Search(Input, Value),
    /// It comes whole. `Null`: more of it came, which nobody here understands.
    Other(Value),
}

/// A block that has stopped.
#[derive(Debug)]
enum Stopped {
    Thinking(Value),
    Call(Call),
    /// Words, and what the server itself did.
    Other(Value),
}

#[derive(Debug)]
struct Call {
    id: CallId,
    name: String,
    input: Input,
    raw: Value,
}

/// The input of a call. Some servers give it whole with the beginning of its block, and then once more in pieces.
#[derive(Debug, Default)]
struct Input {
    given: String,
    pieces: String,
}

impl Input {
    fn of(block: &Value) -> Self {
        let whole = block.get("input").filter(|i| i.as_object().is_some_and(|o| !o.is_empty()));
        Self { given: whole.map(ToString::to_string).unwrap_or_default(), pieces: String::new() }
    }

    fn text(&self) -> &str {
        let text = if self.pieces.trim().is_empty() { &self.given } else { &self.pieces };
        if text.trim().is_empty() { "{}" } else { text }
    }

    /// Whether anything of it has come.
    fn has_begun(&self) -> bool {
        !self.given.is_empty() || !self.pieces.trim().is_empty()
    }
}

impl Blocks {
    /// Begins with the answer to `request`.
    pub fn new(request: &Request) -> Self {
        Self {
            events: vec![],
            offered: Offered::in_request(request),
            voice: Voice::new(request),
            open: BTreeMap::new(),
            stopped: vec![],
            usage: Usage::default(),
            tier: None,
            reason: None,
        }
    }

    fn event(&mut self, event: &Value) -> Progress {
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        match str_of(event, "type").unwrap_or_default() {
            "message_start" => self.start(event.get("message").unwrap_or(&Value::Null)),
            "content_block_start" => {
                if let Some(block) = event.get("content_block") {
                    self.block_start(index, block);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.get("delta") {
                    self.block_delta(index, delta);
                }
            }
            "content_block_stop" => {
                if let Some(block) = self.open.remove(&index) {
                    self.block_stop(block);
                }
            }
            "message_delta" => {
                if let Some(reason) = event.get("delta").and_then(|d| str_of(d, "stop_reason")) {
                    self.reason = Some(reason.to_owned());
                }
                self.usage(event.get("usage").unwrap_or(&Value::Null));
            }
            "message_stop" => return self.finish(),
            "error" => return Progress::Failed(refusal(event)),
            _ if event.get("error").is_some_and(|e| e.is_object() || e.is_string()) => {
                return Progress::Failed(refusal(event));
            }
            _ => {}
        }
        Progress::Going
    }

    fn start(&mut self, message: &Value) {
        if let Some(id) = str_of(message, "id") {
            self.events.push(Event::Created { response_id: id.to_owned() });
        }
        self.usage(message.get("usage").unwrap_or(&Value::Null));
    }

    fn usage(&mut self, usage: &Value) {
        let count = |field: &str| usage.get(field).and_then(Value::as_u64);
        if let Some(fresh) = count("input_tokens") {
            // What was read from the cache, and what was put there, is counted apart.
            let (read, written) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
            (self.usage.cached_tokens, self.usage.cache_write_tokens) = (read, written);
            self.usage.input_tokens = Some(fresh + read.unwrap_or(0) + written.unwrap_or(0));
        }
        self.usage.output_tokens = count("output_tokens").or(self.usage.output_tokens);
        let searches = usage.get("server_tool_use").and_then(|did| did.get("web_search_requests"));
        self.usage.web_searches = searches.and_then(Value::as_u64).unwrap_or(0).max(self.usage.web_searches);
        if let Some(tier) = str_of(usage, "service_tier") {
            self.tier = Some(tier.to_owned());
        }
    }

    fn block_start(&mut self, index: u64, block: &Value) {
        let block = match str_of(block, "type") {
            Some("text") => {
                self.say(str_of(block, "text").unwrap_or_default());
                Block::Text(block.clone())
            }
            Some("thinking" | "redacted_thinking") => {
                self.voice.think(&mut self.events);
                Block::Thinking(block.clone())
            }
            Some("tool_use") => {
                let id = str_of(block, "id").filter(|id| !id.is_empty());
                let id = id.map_or_else(|| format!("call_{}", ulid::Ulid::generate()), str::to_owned);
                let name = self.offered.clean(str_of(block, "name").unwrap_or_default());
                let call_id = CallId::new(id);
                self.events.push(Event::CallStarted { call_id: call_id.clone(), name: name.clone() });
                Block::Call(Call { id: call_id, name, input: Input::of(block), raw: block.clone() })
            }
            Some("server_tool_use") => Block::Search(Input::of(block), block.clone()),
            _ => Block::Other(block.clone()),
        };
        self.open.insert(index, block);
    }

    fn block_delta(&mut self, index: u64, delta: &Value) {
        let piece = || str_of(delta, "partial_json").filter(|p| !p.is_empty());
        match (self.open.get_mut(&index), str_of(delta, "type")) {
            (Some(Block::Thinking(thought)), Some("thinking_delta")) => {
                append(thought, delta, "thinking");
                self.voice.thought(str_of(delta, "thinking").unwrap_or_default(), &mut self.events);
            }
            (Some(Block::Thinking(thought)), Some("signature_delta")) => append(thought, delta, "signature"),
            (Some(Block::Call(Call { id, input, .. })), Some("input_json_delta")) => {
                if let Some(piece) = piece() {
                    input.pieces.push_str(piece);
                    let delta = piece.to_owned();
                    self.events.push(Event::CallArguments { call_id: id.clone(), delta });
                }
            }
            (Some(Block::Search(input, _)), Some("input_json_delta")) => {
                input.pieces.push_str(piece().unwrap_or_default());
            }
            (Some(Block::Text(text)), Some("citations_delta")) => {
                let citation = delta.get("citation").cloned().unwrap_or_default();
                match text.get_mut("citations") {
                    Some(Value::Array(citations)) => citations.push(citation),
                    _ => text["citations"] = Value::Array(vec![citation]),
                }
            }
            (block, Some("text_delta")) => {
                if let Some(Block::Text(text)) = block {
                    append(text, delta, "text");
                }
                self.say(str_of(delta, "text").unwrap_or_default());
            }
            (Some(Block::Other(block)), _) => *block = Value::Null,
            _ => {}
        }
    }

    fn block_stop(&mut self, block: Block) {
        let stopped = match block {
            Block::Thinking(thought) => {
                self.voice.end_thought();
                Stopped::Thinking(thought)
            }
            Block::Call(call) => Stopped::Call(call),
            Block::Search(input, mut raw) => {
                raw["input"] = serde_json::from_str(input.text()).unwrap_or_default();
                let query = str_of(&raw["input"], "query").unwrap_or_default().to_owned();
                self.events.push(Event::WebSearch { query });
                Stopped::Other(raw)
            }
            Block::Text(text) => {
                self.voice.end_part(&mut self.events);
                Stopped::Other(text)
            }
            Block::Other(block) => Stopped::Other(block),
        };
        self.stopped.push(stopped);
    }

    fn say(&mut self, words: &str) {
        self.voice.words(words, &mut self.events);
    }

    /// Gives out the calls, and what goes back with their results: all blocks in their order. Of an answer without calls, or one that was cut, that is the
    /// thoughts alone. `cut`: the answer was cut off, so that what is no whole object was cut, too; else it is the model's own mistake, and the tool says so.
    fn give_calls(&mut self, cut: bool) {
        let (stopped, written) = (std::mem::take(&mut self.stopped), self.voice.written());
        let called = stopped.iter().any(|block| matches!(block, Stopped::Call(_)));
        let item = |block: &Value| Event::Item(raw::wrap(Protocol::Anthropic, block));
        for block in stopped {
            match block {
                Stopped::Thinking(thought) => self.events.push(item(&thought)),
                Stopped::Call(Call { input, .. })
                    if cut && !(input.has_begun() && is_object(input.text())) => {}
                Stopped::Call(Call { id: call_id, name, input, mut raw }) => {
                    let arguments = input.text().to_owned();
                    if !cut {
                        raw["input"] = serde_json::from_str(&arguments).unwrap_or_default();
                        self.events.push(item(&raw));
                    }
                    self.events.push(Event::Call { call_id, name, arguments });
                }
                Stopped::Other(block) => {
                    if called && !cut && !block.is_null() {
                        self.events.push(item(&block));
                    }
                }
            }
        }
        if !called {
            self.events.extend(written);
        }
    }

    fn finish(&mut self) -> Progress {
        self.voice.end_part(&mut self.events);
        if let Some(tier) = self.tier.take() {
            self.events.push(Event::Tier(tier));
        }
        let truncated = match self.reason.as_deref() {
            Some("max_tokens") => Some("max_tokens".to_owned()),
            Some("model_context_window_exceeded") => Some("the context is full".to_owned()),
            Some("refusal") => Some("the model declined to go on".to_owned()),
            Some("pause_turn") => Some("the server paused".to_owned()),
            _ => None,
        };
        self.give_calls(truncated.is_some());
        self.events.push(Event::Finished { usage: self.usage, truncated });
        Progress::Ended
    }

    fn told(&mut self, progress: Progress) -> Heard {
        (std::mem::take(&mut self.events), progress)
    }
}

impl Reader for Blocks {
    fn take(&mut self, data: &str) -> Heard {
        let progress = serde_json::from_str(data).map_or(Progress::Going, |event: Value| self.event(&event));
        self.told(progress)
    }

    fn whole(&mut self, message: &Value) -> Heard {
        let Some(content) = message.get("content").and_then(Value::as_array) else {
            return (vec![], Progress::Going);
        };
        self.start(message);
        for (index, block) in (0..).zip(content) {
            self.block_start(index, block);
            if let Some(block) = self.open.remove(&index) {
                self.block_stop(block);
            }
        }
        self.reason = str_of(message, "stop_reason").map(str::to_owned);
        let progress = self.finish();
        self.told(progress)
    }

    fn used(&self) -> Usage {
        // What the answer has by now is told at its end; before, it is a token or two.
        let output_tokens = self.usage.output_tokens.filter(|_| self.reason.is_some());
        Usage { output_tokens, ..self.usage }
    }

    fn end(&mut self) -> Heard {
        let progress = if self.reason.is_some() { self.finish() } else { Progress::Going };
        self.told(progress)
    }
}

/// Appends a piece to a field of a thought.
fn append(thought: &mut Value, delta: &Value, field: &str) {
    let mut text = str_of(thought, field).unwrap_or_default().to_owned();
    text.push_str(str_of(delta, field).unwrap_or_default());
    thought[field] = text.into();
}

/// Reads an error event. An overloaded server is told apart by its type.
fn refusal(event: &Value) -> Refusal {
    let mut refusal = Refusal::from_value(event).unwrap_or_default();
    refusal.status = match refusal.code.as_deref() {
        Some("overloaded_error") => Some(529),
        Some("api_error") => Some(500),
        Some("rate_limit_error") => Some(429),
        Some("authentication_error") => Some(401),
        Some("permission_error") => Some(403),
        Some("invalid_request_error") => Some(400),
        _ => refusal.status,
    };
    refusal
}

fn str_of<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request() -> Request {
        let tools = ["look", "list"].map(|name| json!({ "type": "function", "name": name })).to_vec();
        Request { tools, ..Request::default() }
    }

    fn heard(events: &[Value]) -> (Vec<Event>, Progress) {
        let mut reader = Blocks::new(&request());
        let (mut all, mut last) = (vec![], Progress::Going);
        for event in events {
            let (events, progress) = reader.take(&event.to_string());
            all.extend(events);
            last = progress;
        }
        (all, last)
    }

    fn start(index: u64, block: Value) -> Value {
        let mut event = json!({ "type": "content_block_start", "index": index });
        event["content_block"] = block;
        event
    }

    fn delta(index: u64, delta: Value) -> Value {
        let mut event = json!({ "type": "content_block_delta", "index": index });
        event["delta"] = delta;
        event
    }

    fn stop(index: u64) -> Value {
        json!({ "type": "content_block_stop", "index": index })
    }

    fn begin() -> Value {
        json!({ "type": "message_start", "message": { "id": "msg_1", "usage": {
            "input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 1, "service_tier": "standard" } } })
    }

    fn end(reason: &str) -> [Value; 2] {
        [
            json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 9 } }),
            json!({ "type": "message_stop" }),
        ]
    }

    fn item(block: &Value) -> Event {
        Event::Item(raw::wrap(Protocol::Anthropic, block))
    }

    #[test]
    fn what_comes_before_calls_is_kept_in_its_order_searches_and_citations_too() {
        let thought =
            |n: u8| json!({ "type": "thinking", "thinking": "hm", "signature": format!("sig {n}") });
        let search = json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} });
        let found = json!({ "type": "web_search_tool_result", "tool_use_id": "s", "content": [{ "encrypted_content": "e" }] });
        let cited = json!({ "type": "web_search_result_location", "encrypted_index": "i" });
        let call = json!({ "type": "tool_use", "id": "t", "name": "look", "input": { "a": 1 } });
        let mut events = vec![
            begin(),
            start(0, thought(0)),
            stop(0),
            start(1, search),
            delta(1, json!({ "type": "input_json_delta", "partial_json": "{\"query\":\"gulls\"}" })),
            stop(1),
            start(2, found.clone()),
            stop(2),
            start(3, thought(1)),
            stop(3),
            start(4, json!({ "type": "text", "text": "", "citations": null })),
            delta(4, json!({ "type": "text_delta", "text": "Gulls." })),
            delta(4, json!({ "type": "citations_delta", "citation": cited })),
            stop(4),
            start(5, call.clone()),
            stop(5),
        ];
        let kept = |events: &[Value]| -> Vec<Event> {
            heard(events).0.into_iter().filter(|e| matches!(e, Event::Item(_))).collect()
        };
        let answer: Vec<Value> = events[..14].iter().cloned().chain(end("end_turn")).collect();
        assert_eq!(kept(&answer), [item(&thought(0)), item(&thought(1))], "nothing goes back but to calls");
        events.extend(end("tool_use"));
        let search = json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": { "query": "gulls" } });
        let words = json!({ "type": "text", "text": "Gulls.", "citations": [cited] });
        assert_eq!(kept(&events), [thought(0), search, found, thought(1), words, call].each_ref().map(item));
    }

    #[test]
    fn an_input_that_is_given_whole_and_in_pieces_too_counts_once() {
        let call = json!({ "type": "tool_use", "id": "t", "name": "look", "input": { "query": "Mira" } });
        let piece = |text: &str| delta(0, json!({ "type": "input_json_delta", "partial_json": text }));
        for pieces in [
            vec![piece("{\"query\":\"Mira\"}")],
            vec![piece("{\"query\":"), piece("\"Mira\"}")],
            vec![piece(" ")],
            vec![],
        ] {
            let events: Vec<Value> = [begin(), start(0, call.clone())]
                .into_iter()
                .chain(pieces)
                .chain([stop(0)])
                .chain(end("tool_use"))
                .collect();
            let (heard, _) = heard(&events);
            let arguments = heard.iter().find_map(|e| match e {
                Event::Call { arguments, .. } => Some(arguments.as_str()),
                _ => None,
            });
            assert_eq!(arguments, Some("{\"query\":\"Mira\"}"), "{events:?}");
        }
    }

    #[test]
    fn thoughts_words_and_calls_are_heard_block_by_block() {
        let mut events = vec![
            begin(),
            json!({ "type": "ping" }),
            start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
            delta(0, json!({ "type": "thinking_delta", "thinking": "h" })),
            delta(0, json!({ "type": "thinking_delta", "thinking": "m" })),
            delta(0, json!({ "type": "signature_delta", "signature": "sig" })),
            stop(0),
            start(1, json!({ "type": "text", "text": "" })),
            delta(1, json!({ "type": "text_delta", "text": "Let me see." })),
            stop(1),
            start(2, json!({ "type": "tool_use", "id": "toolu_1", "name": "look", "input": {} })),
            delta(2, json!({ "type": "input_json_delta", "partial_json": "{\"a\"" })),
            delta(2, json!({ "type": "input_json_delta", "partial_json": ":1}" })),
            stop(2),
        ];
        events.extend(end("tool_use"));
        let (heard, progress) = heard(&events);
        assert_eq!(progress, Progress::Ended);
        let call_id = CallId::new("toolu_1");
        let thought = json!({ "type": "thinking", "thinking": "hm", "signature": "sig" });
        assert_eq!(
            heard,
            [
                Event::Created { response_id: "msg_1".into() },
                Event::Reasoning,
                Event::Thought("h".into()),
                Event::Thought("m".into()),
                Event::Text("Let me see.".into()),
                Event::CallStarted { call_id: call_id.clone(), name: "look".into() },
                Event::CallArguments { call_id: call_id.clone(), delta: "{\"a\"".into() },
                Event::CallArguments { call_id: call_id.clone(), delta: ":1}".into() },
                Event::Tier("standard".into()),
                item(&thought),
                item(&json!({ "type": "text", "text": "Let me see." })),
                item(&json!({ "type": "tool_use", "id": "toolu_1", "name": "look", "input": { "a": 1 } })),
                Event::Call { call_id, name: "look".into(), arguments: "{\"a\":1}".into() },
                Event::Finished {
                    usage: Usage {
                        input_tokens: Some(10),
                        cached_tokens: Some(3),
                        output_tokens: Some(9),
                        ..Usage::default()
                    },
                    truncated: None
                },
            ]
        );
    }

    #[test]
    fn a_call_that_was_cut_is_not_given_out_and_an_overload_is_a_failure() {
        let open = [
            begin(),
            start(0, json!({ "type": "tool_use", "id": "t", "name": "look", "input": {} })),
            delta(0, json!({ "type": "input_json_delta", "partial_json": "{\"a\":" })),
        ];
        let empty =
            [begin(), start(0, json!({ "type": "tool_use", "id": "t", "name": "list", "input": {} }))];
        for (block, stopped) in
            [(&open[..], false), (&open[..], true), (&empty[..], false), (&empty[..], true)]
        {
            let mut cut = block.to_vec();
            cut.extend(stopped.then(|| stop(0)));
            cut.extend(end("max_tokens"));
            let (events, progress) = heard(&cut);
            assert_eq!(progress, Progress::Ended);
            assert!(!events.iter().any(|e| matches!(e, Event::Call { .. })), "{events:?}");
            assert!(
                matches!(events.last(), Some(Event::Finished { truncated: Some(why), .. }) if why == "max_tokens")
            );
        }
        let mut failed = open.to_vec();
        failed.push(
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
        );
        assert!(matches!(heard(&failed).1, Progress::Failed(r) if r.status == Some(529)));
        assert_eq!(heard(&open).1, Progress::Going);
    }

    #[test]
    fn an_answer_in_one_piece_and_a_search_of_the_web() {
        let whole = json!({ "id": "msg_1", "type": "message", "stop_reason": "end_turn", "usage": { "input_tokens": 1, "output_tokens": 2 },
            "content": [{ "type": "text", "text": "A" }, { "type": "tool_use", "id": "t", "name": "look", "input": { "a": 1 } }] });
        let (events, progress) = Blocks::new(&request()).whole(&whole);
        assert_eq!(progress, Progress::Ended);
        assert!(
            events.iter().any(|e| matches!(e, Event::Call { arguments, .. } if arguments == "{\"a\":1}"))
        );
        let (events, _) = heard(&[
            start(0, json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} })),
            delta(0, json!({ "type": "input_json_delta", "partial_json": "{\"query\":\"gulls\"}" })),
            stop(0),
            start(1, json!({ "type": "web_search_tool_result", "content": [] })),
            stop(1),
        ]);
        assert_eq!(events, [Event::WebSearch { query: "gulls".into() }]);
        let search = json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": { "query": "gulls" } });
        let (events, _) =
            Blocks::new(&request()).whole(&json!({ "content": [search], "stop_reason": "end_turn" }));
        assert!(events.contains(&Event::WebSearch { query: "gulls".into() }), "{events:?}");
    }

    #[test]
    fn what_a_model_wrote_down_is_told_apart_and_a_citation_breaks_no_line() {
        let mut events = vec![begin()];
        let written = "<tool_call>{\"name\":\"functions.look\",\"arguments\":{\"a\":1}}</tool_call>";
        let parts = ["<think>hm</think>She", " left", ".", written];
        for (index, words) in (0..).zip(parts) {
            let piece = json!({ "type": "text_delta", "text": words });
            events.extend([
                start(index, json!({ "type": "text", "text": "" })),
                delta(index, piece),
                stop(index),
            ]);
        }
        events.extend(end("end_turn"));
        let (heard, _) = heard(&events);
        let words: String = heard
            .iter()
            .filter_map(|e| if let Event::Text(words) = e { Some(words.as_str()) } else { None })
            .collect();
        assert_eq!(words, "She left.");
        assert!(heard.contains(&Event::Reasoning));
        let calls: Vec<_> = heard
            .iter()
            .filter_map(|e| {
                if let Event::Call { name, arguments, .. } = e {
                    Some((name.as_str(), arguments.as_str()))
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(calls, [("look", "{\"a\":1}")]);
    }
}
