//! Hears the lines of an Ollama answer. Calls come whole; the last line says `done`.

use serde_json::Value;

use crate::domain::conversation::Usage;
use crate::providers::Request;
use crate::providers::chat::gathering::Gathering;
use crate::providers::client::Refusal;
use crate::providers::frames::Framing;
use crate::providers::wire::{Heard, Progress, Reader};

/// An answer in lines.
#[derive(Debug)]
pub struct Lines {
    answer: Gathering,
}

impl Lines {
    /// Begins with the answer to `request`.
    pub fn new(request: &Request) -> Self {
        Self { answer: Gathering::new(request) }
    }

    fn line(&mut self, line: &Value) -> Progress {
        if line.get("error").is_some_and(|e| !e.is_null()) {
            return Progress::Failed(Refusal::from_value(line).unwrap_or_default());
        }
        if let Some(message) = line.get("message") {
            let text = |field: &str| message.get(field).and_then(Value::as_str).filter(|t| !t.is_empty());
            if let Some(words) = text("thinking") {
                self.answer.thought(words);
            }
            if let Some(words) = text("content") {
                self.answer.words(words);
            }
            for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                // Every call comes whole, so that each is one of its own whatever id and number it has.
                self.answer.whole_call(call);
            }
        }
        if line.get("done").and_then(Value::as_bool) != Some(true) {
            return Progress::Going;
        }
        let count = |field: &str| line.get(field).and_then(Value::as_u64);
        self.answer.usage = Usage {
            input_tokens: count("prompt_eval_count"),
            output_tokens: count("eval_count"),
            ..Usage::default()
        };
        let length = line.get("done_reason").and_then(Value::as_str) == Some("length");
        self.answer.finish(length.then(|| "length".to_owned()), false);
        Progress::Ended
    }
}

impl Reader for Lines {
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn take(&mut self, data: &str) -> Heard {
        let progress = serde_json::from_str(data).map_or(Progress::Going, |line: Value| self.line(&line));
        (self.answer.events(), progress)
    }

    fn used(&self) -> Usage {
        self.answer.usage
    }

    fn whole(&mut self, answer: &Value) -> Heard {
        let progress = self.line(answer);
        (self.answer.events(), progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::CallId;
    use crate::providers::Event;

    fn heard(lines: &[&str]) -> (Vec<Event>, Progress) {
        let request = Request { model: "m".into(), ..Request::default() };
        let mut reader = Lines::new(&request);
        let (mut all, mut last) = (vec![], Progress::Going);
        for line in lines {
            let (events, progress) = reader.take(line);
            all.extend(events);
            last = progress;
        }
        (all, last)
    }

    #[test]
    fn calls_are_told_apart_though_all_have_the_same_number_and_none_an_id() {
        let (events, progress) = heard(&[
            r#"{"model":"m","message":{"role":"assistant","content":"","thinking":"hm"},"done":false}"#,
            r#"{"message":{"content":"A"},"done":false}"#,
            r#"{"message":{"content":"","tool_calls":[{"function":{"index":0,"name":"look","arguments":{"a":1}}},{"id":"x","function":{"index":0,"name":"look","arguments":{"a":1}}}]},"done":false}"#,
            r#"{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":3}"#,
        ]);
        assert_eq!(progress, Progress::Ended);
        let thought = Event::Thought("hm".into());
        assert_eq!(events[..3], [Event::Reasoning, thought, Event::Text("A".into())]);
        let calls: Vec<&CallId> = events
            .iter()
            .filter_map(|e| if let Event::Call { call_id, .. } = e { Some(call_id) } else { None })
            .collect();
        assert_eq!((calls.len(), calls[1].as_str()), (2, "x"));
        let usage = Usage { input_tokens: Some(9), output_tokens: Some(3), ..Usage::default() };
        assert_eq!(events.last(), Some(&Event::Finished { usage, truncated: None }));
    }

    #[test]
    fn calls_with_one_id_are_two_each_with_its_own_arguments() {
        let (events, _) = heard(&[
            r#"{"message":{"tool_calls":[{"id":"call_0","function":{"name":"look","arguments":{"a":1}}},{"id":"call_0","function":{"name":"list","arguments":{"b":2}}}]}}"#,
            r#"{"message":{"tool_calls":[{"id":"call_0","function":{"name":"list","arguments":{"b":3}}}]}}"#,
            r#"{"done":true}"#,
        ]);
        let calls = events.iter().filter_map(|event| match event {
            Event::Call { call_id, name, arguments } => Some(format!("{call_id} {name} {arguments}")),
            _ => None,
        });
        let expected = [r#"call_0 look {"a":1}"#, r#"call_0-2 list {"b":2}"#, r#"call_0-3 list {"b":3}"#];
        assert_eq!(calls.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_error_in_the_middle_is_a_failure_and_the_end_of_the_bytes_no_answer() {
        let (_, progress) =
            heard(&[r#"{"message":{"content":"A"}}"#, r#"{"error":"llama runner has stopped"}"#]);
        assert!(matches!(progress, Progress::Failed(r) if r.message.contains("stopped")));
        let (_, progress) = heard(&[r#"{"message":{"content":"A"}}"#, "garbled"]);
        assert_eq!(progress, Progress::Going);
        let (events, _) = heard(&[r#"{"message":{"content":"A"},"done":true,"done_reason":"length"}"#]);
        assert!(
            matches!(events.last(), Some(Event::Finished { truncated: Some(why), .. }) if why == "length")
        );
    }
}
