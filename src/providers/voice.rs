//! What a model says in one answer, as events: words to show, thoughts folded away, and calls that it wrote down instead of making them.
//!
//! Every wire hears words through this, so that none of them shows what another folds away. What a server wants back is not touched here: only what is shown and
//! what is run is told apart.

use super::offered::Offered;
use super::speech::{Said, Speech};
use super::{Event, Request};
use crate::domain::ids::CallId;

/// What stands between two messages.
const GAP: &str = "\n\n";

/// A model's words while they arrive.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and all combinations occur")]
pub struct Voice {
    offered: Offered,
    speech: Speech,
    said: Vec<Said>,
    /// What was shown of earlier parts.
    before: String,
    /// What was shown of this part, with the gap before it.
    now: String,
    /// The next words begin a paragraph.
    apart: bool,
    /// Thoughts come in a field for that.
    elsewhere: bool,
    /// Calls that were written as text: the tool, and its arguments.
    written: Vec<(String, String)>,
    thinking: bool,
    thought: bool,
}

impl Voice {
    /// Begins with the answer to `request`.
    pub fn new(request: &Request) -> Self {
        Self {
            offered: Offered::in_request(request),
            speech: Speech::default(),
            said: vec![],
            before: String::new(),
            now: String::new(),
            apart: false,
            elsewhere: false,
            written: vec![],
            thinking: false,
            thought: false,
        }
    }

    /// The model thinks, in a field for that: no closing tag means what it says.
    pub fn think(&mut self, out: &mut Vec<Event>) {
        self.elsewhere = true;
        self.speech.thinks_elsewhere();
        self.thinks(out);
    }

    fn thinks(&mut self, out: &mut Vec<Event>) {
        self.thought = true;
        if !std::mem::replace(&mut self.thinking, true) {
            out.push(Event::Reasoning);
        }
    }

    /// The model thinks these words, in a field for that.
    pub fn thought(&mut self, words: &str, out: &mut Vec<Event>) {
        self.think(out);
        if !words.is_empty() {
            out.push(Event::Thought(words.to_owned()));
        }
    }

    /// A thought is over: the next is told anew.
    pub fn end_thought(&mut self) {
        self.thinking = false;
    }

    /// The model says something, thoughts in tags among it.
    pub fn words(&mut self, delta: &str, out: &mut Vec<Event>) {
        self.speech.push(delta, &mut self.said);
        let speaks = self.said.iter().any(|said| matches!(said, Said::Words(_)));
        self.tell(out);
        if self.thinking && !speaks && !delta.is_empty() {
            out.push(Event::Thought(delta.to_owned()));
        }
    }

    /// Ends a part of a message: half a tag is words, a thought that was opened in it goes no further, and the next part can't make thoughts of it. Words go on
    /// where it ends.
    pub fn end_part(&mut self, out: &mut Vec<Event>) {
        self.speech.finish(&mut self.said);
        self.tell(out);
        if !self.now.is_empty() {
            self.before.push_str(&std::mem::take(&mut self.now));
            self.apart = false;
        }
        let goes_on = !self.apart && !self.before.is_empty();
        self.speech = Speech::new(goes_on, self.elsewhere);
    }

    /// Ends a message: the next begins a paragraph of its own, and can't make thoughts of this one.
    pub fn end_message(&mut self, out: &mut Vec<Event>) {
        self.end_part(out);
        self.apart = true;
        self.speech = Speech::new(false, self.elsewhere);
    }

    /// Takes the calls that were written down, each as the events of a call. They count where the server reported none.
    pub fn written(&mut self) -> Vec<Event> {
        let written = std::mem::take(&mut self.written).into_iter().flat_map(|(name, arguments)| {
            let call_id = CallId::new(format!("call_{}", ulid::Ulid::generate()));
            let started = Event::CallStarted { call_id: call_id.clone(), name: name.clone() };
            [started, Event::Call { call_id, name, arguments }]
        });
        written.collect()
    }

    /// Whether all that came was thoughts.
    pub fn only_thought(&self) -> bool {
        self.thought && self.before.is_empty() && self.now.is_empty()
    }

    fn tell(&mut self, out: &mut Vec<Event>) {
        for said in std::mem::take(&mut self.said) {
            match said {
                Said::Words(words) => {
                    self.thinking = false;
                    self.show(words, out);
                }
                Said::Thought => {
                    // What comes after a thought at the beginning of a part does not go on where the one before ended.
                    self.apart |= self.now.is_empty();
                    self.thinks(out);
                }
                Said::TakenBack => {
                    self.now.clear();
                    self.apart = true;
                    out.push(Event::TakenBack);
                    // Only the words of this part were thoughts.
                    if !self.before.is_empty() {
                        out.push(Event::Text(self.before.clone()));
                    }
                }
                Said::Call { name, arguments } => {
                    let tool = self.offered.clean(&name);
                    if self.offered.has(&tool) {
                        self.written.push((tool, arguments));
                    } else {
                        // What is not on offer was no call.
                        self.show(format!("{name} {arguments}"), out);
                    }
                }
            }
        }
    }

    fn show(&mut self, words: String, out: &mut Vec<Event>) {
        if self.apart && self.now.is_empty() && !self.before.is_empty() {
            self.now.push_str(GAP);
            out.push(Event::Text(GAP.into()));
        }
        self.now.push_str(&words);
        out.push(Event::Text(words));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What is shown in the end of these messages, each in single characters, and the calls among them.
    fn shown(messages: &[&str]) -> (String, Vec<String>) {
        let tools = vec![json!({ "name": "look" })];
        let mut voice = Voice::new(&Request { tools, ..Request::default() });
        let (mut events, mut shown, mut calls) = (vec![], String::new(), vec![]);
        for message in messages {
            for c in message.chars() {
                voice.words(&c.to_string(), &mut events);
            }
            voice.end_message(&mut events);
        }
        events.extend(voice.written());
        for event in events {
            match event {
                Event::Text(words) => shown.push_str(&words),
                Event::TakenBack => shown.clear(),
                Event::Call { name, arguments, .. } => calls.push(format!("{name} {arguments}")),
                _ => {}
            }
        }
        (shown, calls)
    }

    #[test]
    fn each_message_is_a_paragraph_and_only_its_own_words_become_thoughts() {
        for (messages, expected) in [
            (vec!["One.", "Two."], "One.\n\nTwo."),
            (vec!["One.", "", "<think>hm</think>", "Two."], "One.\n\nTwo."),
            (vec!["One.", "hm</think>Two.", "Three."], "One.\n\nTwo.\n\nThree."),
            (vec!["hm</think>One.", "Two."], "One.\n\nTwo."),
            (vec!["<think>never ends", "Two."], "Two."),
        ] {
            assert_eq!(shown(&messages).0, expected, "{messages:?}");
        }
    }

    #[test]
    fn a_call_that_was_written_down_is_one_where_its_tool_is_on_offer() {
        let written =
            |name: &str| format!("<tool_call>{{\"name\":\"{name}\",\"arguments\":{{}}}}</tool_call>");
        for name in ["look", "functions.look"] {
            assert_eq!(shown(&["So.", &written(name)]), ("So.".into(), vec!["look {}".to_owned()]));
        }
        assert_eq!(shown(&[&written("drop")]), ("drop {}".into(), vec![]));
    }
}
