//! Hears the chunks of a Chat Completions stream.
//!
//! Any assembled call makes a turn with tools, whatever the finish reason says; a call that was cut off is never given out. The end is
//! `[DONE]`, or the end of the bytes once there was a finish reason. What is unknown, missing or garbled is passed over.

use serde_json::{Value, json};

use super::calls::Fragment;
use super::details::Details;
use super::gathering::Gathering;
use crate::domain::conversation::Usage;
use crate::providers::abilities::Abilities;
use crate::providers::client::Refusal;
use crate::providers::wire::{Heard, Progress, Protocol, Reader, cost_of};
use crate::providers::{Event, Request, raw};

/// An answer in chunks.
#[derive(Debug)]
pub struct Chunks {
    answer: Gathering,
    /// The finish reason, once there was one.
    finished: Option<String>,
    /// Any chunk of an answer has come.
    heard: bool,
    ended: bool,
    in_pieces: Brought,
    /// What was thought, where the server wants it back.
    thoughts: Option<String>,
    /// The same in parts.
    details: Option<Details>,
}

/// What has come in pieces: a whole message brings the same again.
#[derive(Debug, Default)]
struct Brought {
    words: bool,
    thoughts: bool,
    calls: bool,
}

impl Chunks {
    /// Begins with the answer to `request`.
    pub fn new(request: &Request, can: &Abilities) -> Self {
        Self {
            answer: Gathering::new(request),
            finished: None,
            heard: false,
            ended: false,
            in_pieces: Brought::default(),
            thoughts: can.echo_reasoning.then(String::new),
            details: can.echo_details.then(Details::default),
        }
    }

    fn told(&mut self, progress: Progress) -> Heard {
        (self.answer.events(), progress)
    }

    fn chunk(&mut self, chunk: &Value) -> Progress {
        if let Some(refusal) = refusal(chunk) {
            return Progress::Failed(refusal);
        }
        let text = |field: &str| chunk.get(field).and_then(Value::as_str);
        self.heard |= chunk.get("choices").is_some();
        if let Some(id) = text("id") {
            self.answer.created(id);
        }
        if let Some(tier) = text("service_tier") {
            self.answer.tier(tier);
        }
        let has_usage = self.usage(chunk);
        // Only one was asked for.
        if let Some(choice) = chunk.get("choices").and_then(|choices| choices.get(0)) {
            let reason = choice.get("finish_reason").and_then(Value::as_str).filter(|r| !r.is_empty());
            let has = |part: &str| choice.get(part).filter(|p| p.as_object().is_some_and(|p| !p.is_empty()));
            let delta = has("delta");
            if let Some(delta) = delta {
                self.delta(delta);
            }
            // Some servers send what came so far beside each piece, or once more at the end.
            if let Some(message) = has("message").filter(|_| delta.is_none() || reason.is_some()) {
                self.message(message);
            }
            if let Some(reason) = reason {
                if reason == "error" {
                    return Progress::Failed(Refusal {
                        message: "the answer broke off with an error".into(),
                        ..Refusal::default()
                    });
                }
                self.finished = Some(reason.to_owned());
            }
        }
        // The tokens are the last that is told: nothing more is waited for.
        if has_usage && self.finished.is_some() { self.finish() } else { Progress::Going }
    }

    /// A piece of the answer.
    fn delta(&mut self, delta: &Value) {
        self.in_pieces.thoughts |= self.thoughts(delta);
        self.in_pieces.words |= self.words(delta);
        self.in_pieces.calls |= calls_in(delta).next().is_some();
        self.calls(delta);
    }

    /// The whole answer, of which pieces may have come before.
    fn message(&mut self, message: &Value) {
        if !self.in_pieces.thoughts {
            self.thoughts(message);
        }
        if !self.in_pieces.words {
            self.words(message);
        }
        if self.in_pieces.calls {
            self.answer.complete_calls(calls_in(message));
        } else {
            self.calls(message);
        }
    }

    /// Takes what was thought; `false`: nothing.
    fn thoughts(&mut self, delta: &Value) -> bool {
        let text = |field: &str| delta.get(field).and_then(Value::as_str).filter(|t| !t.is_empty());
        // Some servers send the same thought under two names.
        let thought = ["reasoning_content", "reasoning", "reasoning_text"].into_iter().find_map(text);
        if let Some(thought) = thought {
            self.answer.thought(thought);
        }
        if let (Some(thoughts), Some(thought)) = (&mut self.thoughts, text("reasoning_content")) {
            thoughts.push_str(thought);
        }
        let details = delta.get("reasoning_details").filter(|pieces| pieces.is_array());
        if let (Some(details), Some(pieces)) = (&mut self.details, details) {
            details.take(pieces);
        }
        thought.is_some() || details.is_some()
    }

    /// Takes what was said; `false`: nothing.
    fn words(&mut self, delta: &Value) -> bool {
        let content = delta.get("content").filter(|c| !c.is_null() && c.as_str() != Some(""));
        if let Some(content) = content {
            self.content(content);
        }
        let refusal = delta.get("refusal").and_then(Value::as_str).filter(|words| !words.is_empty());
        if let Some(refusal) = refusal {
            self.answer.words(refusal);
        }
        content.is_some() || refusal.is_some()
    }

    fn calls(&mut self, delta: &Value) {
        if let Some(calls) = delta.get("tool_calls") {
            self.answer.calls(calls);
        }
        // The form before `tool_calls`: one call, without an id.
        if let Some(call) = delta.get("function_call").filter(|c| c.is_object()) {
            self.answer.fragment(Fragment::of(call, None));
        }
    }

    fn content(&mut self, content: &Value) {
        match content {
            Value::String(words) => self.answer.words(words),
            Value::Array(parts) => {
                for part in parts {
                    match words_in(part) {
                        Some(words) => self.answer.words(words),
                        None => self.answer.think(),
                    }
                }
            }
            _ => {}
        }
    }

    fn usage(&mut self, chunk: &Value) -> bool {
        let known = chunk.get("usage").filter(|u| u.is_object());
        let Some(usage) = known.or_else(|| chunk.get("x_groq")?.get("usage")) else { return false };
        let count = |field: &str| usage.get(field).and_then(Value::as_u64);
        let detail = |of: &str, field: &str| usage.get(of)?.get(field)?.as_u64();
        self.answer.usage = Usage {
            input_tokens: count("prompt_tokens"),
            // DeepSeek has a name of its own.
            cached_tokens: detail("prompt_tokens_details", "cached_tokens")
                .or_else(|| count("prompt_cache_hit_tokens")),
            cache_write_tokens: detail("prompt_tokens_details", "cache_write_tokens"),
            output_tokens: count("completion_tokens"),
            reasoning_tokens: detail("completion_tokens_details", "reasoning_tokens"),
            cost: cost_of(usage),
            ..Usage::default()
        };
        true
    }

    fn finish(&mut self) -> Progress {
        if std::mem::replace(&mut self.ended, true) {
            return Progress::Ended;
        }
        let truncated = self.finished.as_deref().and_then(cut);
        let unsaid = self.finished.is_none();
        let thoughts = self.thoughts.take().filter(|thoughts| !thoughts.is_empty());
        let thoughts = thoughts.map(|thoughts| json!({ "reasoning_content": thoughts }));
        let details = self.details.take().and_then(Details::whole);
        let details = details.map(|details| json!({ "reasoning_details": details }));
        let mut before = self.answer.events();
        for item in thoughts.into_iter().chain(details) {
            before.push(Event::Item(raw::wrap(Protocol::Chat, &item)));
        }
        self.answer.finish(truncated, unsaid);
        self.answer.put_before(before);
        Progress::Ended
    }
}

impl Reader for Chunks {
    fn take(&mut self, data: &str) -> Heard {
        let data = data.trim();
        if data == "[DONE]" {
            let progress = if self.heard { self.finish() } else { Progress::Going };
            return self.told(progress);
        }
        // A comment within data, or nothing.
        if data.is_empty() || data.starts_with(':') {
            return (vec![], Progress::Going);
        }
        let progress = match serde_json::from_str::<Value>(data) {
            Ok(chunk) => self.chunk(&chunk),
            Err(_) => Progress::Going,
        };
        self.told(progress)
    }

    fn used(&self) -> Usage {
        self.answer.usage
    }

    fn whole(&mut self, answer: &Value) -> Heard {
        let progress = self.chunk(answer);
        let progress = match progress {
            Progress::Going if self.heard => self.finish(),
            other => other,
        };
        self.told(progress)
    }

    fn end(&mut self) -> Heard {
        let progress = if self.finished.is_some() { self.finish() } else { Progress::Going };
        self.told(progress)
    }
}

/// Why an answer is not whole that ended for this reason. One that is not known to end a whole answer cuts it: servers name their limits as they like.
fn cut(reason: &str) -> Option<String> {
    const WHOLE: [&str; 12] = [
        "stop",
        "tool_calls",
        "tool_call",
        "tool_use",
        "function_call",
        "eos",
        "eos_token",
        "end_turn",
        "stop_sequence",
        "complete",
        "completed",
        "done",
    ];
    let reason = reason.to_ascii_lowercase();
    match reason.as_str() {
        whole if WHOLE.contains(&whole) => None,
        "length" | "max_tokens" | "max_output_tokens" | "max_completion_tokens" => Some("length".to_owned()),
        other => Some(other.replace(['_', '-'], " ")),
    }
}

/// The calls in a piece or a whole message, in either form.
fn calls_in(message: &Value) -> impl Iterator<Item = &Value> {
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    calls.chain(message.get("function_call")).filter(|call| call.is_object())
}

/// The words of a part of a message; `None`: it is a thought, or nothing to read.
fn words_in(part: &Value) -> Option<&str> {
    match part.get("type").and_then(Value::as_str) {
        None | Some("text" | "output_text") => part.get("text")?.as_str(),
        Some("refusal") => part.get("refusal")?.as_str(),
        Some(_) => None,
    }
}

/// Reads an error within a stream, in any of its shapes.
fn refusal(chunk: &Value) -> Option<Refusal> {
    let error = chunk.get("error").filter(|e| !e.is_null() && **e != Value::Bool(false));
    let is_one = error.is_some()
        || chunk.get("object").and_then(Value::as_str) == Some("error")
        || (chunk.get("choices").is_none()
            && (chunk.get("message").is_some_and(Value::is_string) || chunk.get("detail").is_some()));
    if !is_one {
        return None;
    }
    Some(Refusal::from_value(chunk).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> Request {
        Request {
            model: "m".into(),
            tools: vec![json!({ "type": "function", "name": "look" })],
            ..Request::default()
        }
    }

    /// What an answer comes to, in short words; the last is how it ended.
    fn heard(pieces: &[&str]) -> Vec<String> {
        let mut reader = Chunks::new(&request(), &Abilities::default());
        let (mut shown, mut ended) = (vec![], false);
        let mut tell = |heard: Heard| {
            let (events, progress) = heard;
            shown.extend(events.into_iter().map(|event| match event {
                Event::Text(words) => words,
                Event::Call { name, arguments, .. } => format!("call {name} {arguments}"),
                Event::Finished { usage, truncated } => {
                    format!("finished {:?} {}", usage.output_tokens, truncated.unwrap_or_default())
                }
                other => format!("{other:?}").split(['(', ' ']).next().unwrap_or_default().to_owned(),
            }));
            match progress {
                Progress::Going => {}
                Progress::Ended => ended = true,
                Progress::Failed(refusal) => {
                    ended = true;
                    shown.push(format!("failed {:?} {}", refusal.status, refusal.message));
                }
            }
            ended
        };
        let all = pieces.iter().any(|piece| tell(reader.take(piece)));
        if !all && !tell(reader.end()) {
            shown.push("open".into());
        }
        shown
    }

    const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

    fn say(words: &str) -> String {
        json!({ "choices": [{ "delta": { "content": words }, "finish_reason": null }] }).to_string()
    }

    fn call(arguments: &str) -> String {
        let call = json!({ "index": 0, "id": "a", "function": { "name": "look", "arguments": arguments } });
        json!({ "choices": [{ "delta": { "tool_calls": [call] } }] }).to_string()
    }

    #[test]
    fn an_answer_ends_with_its_last_word_or_not_at_all() {
        let usage = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#;
        let a = say("A");
        assert_eq!(
            heard(&[&a, STOP, usage]),
            ["A", "finished Some(2) "],
            "nothing is waited for after the tokens"
        );
        assert_eq!(heard(&[&a, STOP, "[DONE]"]), ["A", "finished None "]);
        assert_eq!(heard(&[&a, STOP]), ["A", "finished None "], "the bytes ended");
        assert_eq!(heard(&[&a, " [DONE] "]), ["A", "finished None "]);
        assert_eq!(heard(&[&a]), ["A", "open"]);
        assert_eq!(heard(&["[DONE]"]), ["open"]);
        assert_eq!(heard(&[": ping", "", "nonsense", "[1]", "null", &a, STOP]), ["A", "finished None "]);
    }

    #[test]
    fn a_call_runs_whatever_the_reason_to_stop_and_never_when_it_was_cut() {
        let whole = call("{\"x\":1}");
        let run = ["CallStarted", "CallArguments", "call look {\"x\":1}", "finished None "];
        assert_eq!(heard(&[&whole, STOP]), run);
        assert_eq!(heard(&[&whole, "[DONE]"]), run);
        assert_eq!(heard(&[&whole]), ["CallStarted", "CallArguments", "open"]);
        let length = r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#;
        let open = call("{\"x\":");
        assert_eq!(heard(&[&open, length]), ["CallStarted", "CallArguments", "finished None length"]);
        assert_eq!(heard(&[&open, "[DONE]"]), ["CallStarted", "CallArguments", "finished None "]);
        // An end is an end without a reason, too, and no arguments are none.
        let none = call("");
        assert_eq!(heard(&[&none, "[DONE]"]), ["CallStarted", "call look {}", "finished None "]);
        assert_eq!(heard(&[&none, length]), ["CallStarted", "finished None length"]);
        assert_eq!(heard(&[&none]), ["CallStarted", "open"]);
        let old = r#"{"choices":[{"delta":{"function_call":{"name":"look","arguments":"{}"}},"finish_reason":"function_call"}]}"#;
        assert_eq!(heard(&[old]), ["CallStarted", "CallArguments", "call look {}", "finished None "]);
    }

    #[test]
    fn errors_within_a_stream_are_heard_in_every_shape() {
        for (said, expected) in [
            (
                r#"{"error":{"code":502,"message":"x"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
                "failed Some(502) x",
            ),
            (r#"{"error":"overloaded"}"#, "failed None overloaded"),
            (
                r#"{"object":"error","message":"no","type":"BadRequestError","code":400}"#,
                "failed Some(400) no",
            ),
            (r#"{"detail":"not here"}"#, "failed None not here"),
            (
                r#"{"choices":[{"delta":{},"finish_reason":"error"}]}"#,
                "failed None the answer broke off with an error",
            ),
        ] {
            assert_eq!(heard(&[said]), [expected], "{said}");
        }
        assert_eq!(
            heard(&[r#"{"error":null,"choices":[{"delta":{"content":"A"},"finish_reason":"stop"}]}"#])[0],
            "A"
        );
    }

    #[test]
    fn thoughts_in_fields_parts_and_tags_are_folded_away() {
        let field =
            |name: &str| json!({ "choices": [{ "delta": { "role": null, name: "hm" } }] }).to_string();
        let parts = r#"{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"A"}]}}]}"#;
        for thought in [field("reasoning"), field("reasoning_content"), say("<think>hm</think>")] {
            assert_eq!(
                heard(&[&thought, &say("A"), STOP]),
                ["Reasoning", "Thought", "A", "finished None "],
                "{thought}"
            );
        }
        assert_eq!(heard(&[parts, STOP]), ["Reasoning", "A", "finished None "]);
        let twice = r#"{"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}"#;
        assert_eq!(heard(&[twice, &say("A"), STOP]), ["Reasoning", "Thought", "A", "finished None "]);
        assert_eq!(
            heard(&[&say("hm</think>"), &say("A"), STOP]),
            ["hm", "Reasoning", "TakenBack", "A", "finished None "]
        );
        let only = heard(&[&say("<think>hm"), STOP]);
        assert!(only[2].contains("gave no answer"), "{only:?}");
    }

    #[test]
    fn a_written_call_counts_only_where_none_was_reported_and_the_tool_is_there() {
        let written = say("<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>");
        assert_eq!(heard(&[&written, STOP]), ["CallStarted", "call look {}", "finished None "]);
        let real = call("{\"x\":1}");
        assert_eq!(
            heard(&[&written, &real, STOP]),
            ["CallStarted", "CallArguments", "call look {\"x\":1}", "finished None "]
        );
        let unknown = say("<tool_call>{\"name\":\"drop\",\"arguments\":{}}</tool_call>");
        assert_eq!(heard(&[&unknown, STOP]), ["drop {}", "finished None "]);
    }

    #[test]
    fn words_that_come_in_pieces_and_as_a_whole_are_said_once() {
        let chunk = |delta: Option<&str>, message: &str, finish: Value| {
            let mut choice = json!({ "message": { "content": message, "reasoning_content": "hm" }, "finish_reason": finish });
            if let Some(delta) = delta {
                choice["delta"] = json!({ "content": delta });
            }
            json!({ "choices": [choice] }).to_string()
        };
        let beside = [chunk(Some("A"), "A", Value::Null), chunk(Some(" b."), "A b.", Value::Null)];
        let end = chunk(Some(""), "A b.", "stop".into());
        let once = ["A", " b.", "Reasoning", "Thought", "finished None "];
        assert_eq!(heard(&[&beside[0], &beside[1], &end]), once);
        for end in [chunk(None, "A b.", "stop".into()), end.replace(r#"{"content":""}"#, "{}")] {
            let heard = heard(&[&say("A"), &say(" b."), &end]);
            assert_eq!(heard, once, "{end}");
        }
        // Also where a piece stands beside it that says nothing.
        for alone in [chunk(None, "A b.", "stop".into()), end] {
            assert_eq!(heard(&[&alone]), ["Reasoning", "Thought", "A b.", "finished None "], "{alone}");
        }
    }

    #[test]
    fn calls_that_come_in_pieces_and_as_a_whole_are_made_once() {
        let call = |id: Option<&str>, index: Option<u64>, arguments: &str| {
            let mut call =
                json!({ "type": "function", "function": { "name": "look", "arguments": arguments } });
            if let Some(id) = id {
                call["id"] = id.into();
            }
            if let Some(index) = index {
                call["index"] = index.into();
            }
            call
        };
        let piece = |calls: &Value| json!({ "choices": [{ "delta": { "tool_calls": calls } }] }).to_string();
        let end = |calls: &Value| {
            let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
            let choice =
                json!({ "delta": { "content": "" }, "message": message, "finish_reason": "tool_calls" });
            json!({ "choices": [choice] }).to_string()
        };
        let made = |pieces: &[&str]| {
            let heard = heard(pieces).into_iter();
            heard.filter(|event| event.starts_with("call ")).collect::<Vec<_>>()
        };
        let (one, two) = ("{\"x\":1}", "{\"x\":2}");
        for (pieces, whole, calls) in [
            (json!([call(None, None, one)]), json!([call(Some("a"), None, one)]), &[one][..]),
            (json!([call(Some("a"), Some(0), one)]), json!([call(Some("b"), Some(0), one)]), &[one]),
            (
                json!([call(None, None, one), call(None, None, two)]),
                json!([call(None, None, one), call(None, None, two)]),
                &[one, two],
            ),
            (
                json!([call(Some("a"), Some(1), one), call(Some("b"), Some(2), two)]),
                json!([call(Some("a"), None, one), call(Some("b"), None, two)]),
                &[one, two],
            ),
            // Calls that did not come in pieces, or not all of them.
            (json!([]), json!([call(Some("a"), None, one)]), &[one]),
            (json!([{}]), json!([call(Some("a"), None, one)]), &[one]),
            (json!([call(Some("a"), Some(0), "")]), json!([call(Some("a"), Some(0), one)]), &[one]),
            (
                json!([call(Some("a"), Some(0), one)]),
                json!([call(Some("a"), Some(0), one), call(Some("b"), Some(1), two)]),
                &[one, two],
            ),
            // Without arguments, or with those that are none.
            (json!([call(Some("a"), Some(0), "")]), json!([call(Some("b"), None, "{}")]), &["{}"]),
            (json!([call(Some("a"), Some(0), "{x")]), json!([call(Some("a"), Some(0), "{x")]), &["{x"]),
        ] {
            let calls: Vec<_> = calls.iter().map(|arguments| format!("call look {arguments}")).collect();
            assert_eq!(made(&[&piece(&pieces), &end(&whole)]), calls, "{pieces} {whole}");
        }
        // A server that has messages where others have pieces.
        let message = |calls: Value, reason: Value| {
            json!({ "choices": [{ "message": { "tool_calls": calls }, "finish_reason": reason }] })
                .to_string()
        };
        let first = message(json!([call(Some("a"), Some(0), one)]), Value::Null);
        let last = message(json!([call(Some("b"), Some(1), two)]), "tool_calls".into());
        assert_eq!(made(&[&first, &last]), [format!("call look {one}"), format!("call look {two}")]);
    }

    #[test]
    fn an_answer_is_whole_only_where_its_end_is_known_to_be_one() {
        let ends =
            |reason: &str| json!({ "choices": [{ "delta": {}, "finish_reason": reason }] }).to_string();
        for (reason, cut) in [
            ("stop", ""),
            ("STOP", ""),
            ("eos", ""),
            ("end_turn", ""),
            ("function_call", ""),
            ("max_tokens", "length"),
            ("model_length", "model length"),
            ("insufficient_system_resource", "insufficient system resource"),
            ("abort", "abort"),
            ("content_filter", "content filter"),
        ] {
            assert_eq!(
                heard(&[&say("A"), &ends(reason)]),
                ["A", &format!("finished None {cut}")],
                "{reason}"
            );
        }
        let begun = call("");
        assert_eq!(heard(&[&begun, &ends("model_length")]), ["CallStarted", "finished None model length"]);
    }

    #[test]
    fn an_answer_in_one_piece_is_heard_too() {
        let whole = json!({ "id": "x", "choices": [{
            "message": { "role": "assistant", "content": "A", "tool_calls": [] }, "finish_reason": "stop",
        }], "usage": { "prompt_tokens": 1, "completion_tokens": 2 } });
        let (events, progress) = Chunks::new(&request(), &Abilities::default()).whole(&whole);
        assert_eq!(progress, Progress::Ended);
        assert_eq!(events.len(), 3, "{events:?}");
        let (_, progress) = Chunks::new(&request(), &Abilities::default()).whole(&json!({ "output": [] }));
        assert_eq!(progress, Progress::Going);
    }
}
