//! How much of an answer has arrived, for when its server never tells what it used.
//!
//! Counts what is heard, and keeps none of it for longer than it takes to count.

use std::collections::HashSet;

use super::Event;
use super::tokens::Counter;
use crate::domain::ids::CallId;

/// What has arrived of one answer.
#[derive(Debug, Default)]
pub struct Arrived {
    words: Counter,
    /// Calls whose arguments arrive in pieces.
    in_pieces: HashSet<CallId>,
    web_searches: u64,
    may_cost: bool,
}

impl Arrived {
    /// Counts what an event brings.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::Text(words) | Event::Thought(words) => self.words.push(words),
            Event::CallStarted { name, .. } => self.words.push(name),
            Event::CallArguments { call_id, delta } => {
                self.words.push(delta);
                self.in_pieces.insert(call_id.clone());
            }
            Event::Call { call_id, arguments, .. } => {
                if !self.in_pieces.contains(call_id) {
                    self.words.push(arguments);
                }
            }
            Event::WebSearch { .. } => self.web_searches += 1,
            Event::Reasoning | Event::Item(_) | Event::TakenBack | Event::Unkept => {}
            // None of these shows that there was work to be paid for.
            Event::Created { .. } | Event::Retry(_) | Event::Tier(_) | Event::Finished { .. } => return,
        }
        self.may_cost = true;
    }

    /// Returns the tokens, estimated: words, calls, and thoughts as far as they are told.
    pub fn tokens(&self) -> u64 {
        self.words.total()
    }

    /// Returns the searches of the web that the provider did.
    pub fn web_searches(&self) -> u64 {
        self.web_searches
    }

    /// Whether anything of an answer came.
    pub fn may_cost(&self) -> bool {
        self.may_cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::tokens;

    #[test]
    fn arguments_that_come_in_pieces_are_counted_once() {
        let call = |arguments: &str| Event::Call {
            call_id: CallId::new("a"),
            name: "look".into(),
            arguments: arguments.into(),
        };
        let (mut pieces, mut whole) = (Arrived::default(), Arrived::default());
        let arguments = "{\"entry\":\"Mira\"}";
        pieces.take(&Event::CallArguments { call_id: CallId::new("a"), delta: arguments.into() });
        pieces.take(&call(arguments));
        whole.take(&call(arguments));
        assert_eq!(
            (pieces.tokens(), whole.tokens()),
            (tokens::estimate(arguments), tokens::estimate(arguments))
        );
        assert!(pieces.may_cost());
    }

    #[test]
    fn an_answer_that_has_only_begun_costs_nothing_yet() {
        let mut arrived = Arrived::default();
        arrived.take(&Event::Created { response_id: "r".into() });
        assert!(!arrived.may_cost());
        arrived.take(&Event::Reasoning);
        assert!(arrived.may_cost() && arrived.tokens() == 0);
    }
}
