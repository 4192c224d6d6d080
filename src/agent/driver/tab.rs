//! What the request under way has used so far, for when its server never tells.
//!
//! A request counts from the moment at which it begins to leave, over a connection that stands, until its server has told what it used or refused it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::conversation::Failure;
use crate::providers::tokens;
use crate::providers::{Arrived, BoxFuture, Carried, Event, Noted, Sending, Witness};

/// Passes on what leaves to the witness of the turn, and keeps how many tokens it was.
pub struct Sent {
    witness: Arc<dyn Witness>,
    /// Each attempt that was noted and is not settled, oldest first, with its tokens and whether it has left: the next one may leave before what is heard of the
    /// last is read.
    attempts: Mutex<VecDeque<(u64, Arc<AtomicBool>)>>,
}

impl Sent {
    /// Nothing has left yet.
    pub fn new(witness: Arc<dyn Witness>) -> Self {
        Self { witness, attempts: Mutex::default() }
    }

    /// Settles the oldest attempt. Returns its tokens, if it has left.
    fn take(&self) -> Option<u64> {
        let (tokens, left) = self.attempts.lock().unwrap_or_else(PoisonError::into_inner).pop_front()?;
        left.load(Ordering::Acquire).then_some(tokens)
    }

    fn push(&self, tokens: u64, left: Arc<AtomicBool>) {
        self.attempts.lock().unwrap_or_else(PoisonError::into_inner).push_back((tokens, left));
    }
}

impl Witness for Sent {
    fn sending<'a>(&'a self, sending: Sending<'a>) -> BoxFuture<'a, Result<Noted, Failure>> {
        Box::pin(async move {
            let noted = self.witness.sending(sending).await?;
            if let Carried::Conversation(request) = sending.of {
                self.push(tokens::of_request(request), noted.leaving());
            }
            Ok(noted)
        })
    }

    fn close(&self) {
        self.witness.close();
    }
}

/// What one attempt came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attempt {
    /// Tokens that were sent, estimated.
    pub sent: u64,
    /// Tokens that arrived, estimated.
    pub arrived: u64,
    /// Searches of the web that the provider did.
    pub web_searches: u64,
    /// Whether anything of an answer came, or may have been made in vain.
    pub may_cost: bool,
}

/// The tab of one request.
#[derive(Default)]
pub struct Tab {
    sent: Option<Arc<Sent>>,
    arrived: Arrived,
}

impl Tab {
    /// Opens a tab. Returns who has to see what leaves.
    pub fn open(&mut self, witness: Arc<dyn Witness>) -> Arc<Sent> {
        let sent = Arc::new(Sent::new(witness));
        *self = Self { sent: Some(Arc::clone(&sent)), ..Self::default() };
        sent
    }

    /// Counts what an event brings.
    pub fn take(&mut self, event: &Event) {
        self.arrived.take(event);
    }

    /// Returns what the attempt under way came to, and begins anew; `None`: none has left that is not settled.
    pub fn settle(&mut self) -> Option<Attempt> {
        let sent = self.sent.as_ref().and_then(|sent| sent.take());
        let arrived = std::mem::take(&mut self.arrived);
        Some(Attempt {
            sent: sent?,
            arrived: arrived.tokens(),
            web_searches: arrived.web_searches(),
            may_cost: arrived.may_cost(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::testing::{call, created, finished, retry, started, text};
    use crate::domain::ids::CallId;

    fn left() -> Arc<AtomicBool> {
        Arc::new(AtomicBool::new(true))
    }

    fn after(events: &[Event]) -> Attempt {
        let mut tab = Tab::default();
        let sent = tab.open(Arc::new(()));
        sent.push(7, left());
        for event in events {
            tab.take(event);
        }
        tab.settle().unwrap()
    }

    #[test]
    fn what_arrives_is_counted_whether_it_is_shown_or_not_and_arguments_once() {
        let words = "She keeps the harbour books.";
        let count = tokens::estimate(words);
        assert_eq!(after(&[text(words)]).arrived, count);
        assert_eq!(after(&[Event::Thought(words.into())]).arrived, count);
        let name = after(&[started("a", "look")]).arrived;
        let piece = |delta: &str| Event::CallArguments { call_id: CallId::new("a"), delta: delta.into() };
        let pieces =
            after(&[started("a", "look"), piece("{\"a\""), piece(":1}"), call("a", "look", "{\"a\":1}")]);
        let whole = after(&[started("a", "look"), call("a", "look", "{\"a\":1}")]);
        assert_eq!(pieces, whole);
        assert!(whole.arrived > name && name > 0);
        assert_eq!(after(&[Event::WebSearch { query: String::new() }]).web_searches, 1);
    }

    #[test]
    fn only_what_shows_work_may_cost() {
        assert!(!after(&[created("r"), Event::Retry(retry("busy", 0)), finished()]).may_cost);
        assert!(after(&[Event::Reasoning]).may_cost && after(&[Event::Lost]).may_cost);
    }

    #[test]
    fn an_attempt_is_settled_once_and_one_that_never_left_is_none() {
        let mut tab = Tab::default();
        assert_eq!(tab.settle(), None);
        let sent = tab.open(Arc::new(()));
        assert_eq!(tab.settle(), None);
        sent.push(6, Arc::default());
        assert_eq!(tab.settle(), None, "nobody was there");
        sent.push(7, left());
        tab.take(&text("A"));
        assert_eq!(tab.settle().unwrap().arrived, 1);
        assert_eq!(tab.settle(), None);
        sent.push(8, left());
        sent.push(9, left());
        let again = tab.settle().unwrap();
        assert_eq!((again.sent, again.arrived, again.may_cost), (8, 0, false));
        assert_eq!(tab.settle().unwrap().sent, 9, "it had left before the end of the other was heard of");
    }
}
