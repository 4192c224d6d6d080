//! Who notes what leaves the machine, before and after.
//!
//! A request is noted before its first byte leaves; what can't be noted is not sent. What became of it is noted when its [`Noted`] is dropped, however
//! that happens: answered, failed, cancelled. Only a program that is killed leaves no end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Arrived, BoxFuture, Event, Request};
use crate::domain::conversation::{Failure, Usage};

/// Who notes what leaves the machine.
pub trait Witness: Send + Sync {
    /// Notes one attempt before its first byte is sent. What can't be noted is not sent: an error ends the exchange.
    fn sending<'a>(&'a self, sending: Sending<'a>) -> BoxFuture<'a, Result<Noted, Failure>>;

    /// The turn is over: nothing that is still at work for it, such as a tool that was stopped, sends anything more.
    fn close(&self) {}
}

/// Notes nothing: where nothing leaves the machine, and for tests.
impl Witness for () {
    fn sending<'a>(&'a self, _sending: Sending<'a>) -> BoxFuture<'a, Result<Noted, Failure>> {
        Box::pin(std::future::ready(Ok(Noted::nowhere())))
    }
}

/// What is about to leave the machine.
#[derive(Debug, Clone, Copy)]
pub struct Sending<'a> {
    /// Where it goes: a URL without credentials.
    pub destination: &'a str,
    /// Name of the provider, as in settings.
    pub provider: &'a str,
    /// The body, byte for byte.
    pub body: &'a str,
    /// What the body was made of.
    pub of: Carried<'a>,
}

/// What a body was made of.
#[derive(Debug, Clone, Copy)]
pub enum Carried<'a> {
    /// A conversation.
    Conversation(&'a Request),
    /// Nothing: the server is asked for the list of its models.
    Nothing,
    /// Texts that are to become vectors.
    Texts {
        /// The model that makes them.
        model: &'a str,
        /// The texts.
        texts: &'a [String],
    },
}

/// What became of an attempt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// HTTP status, where an answer began.
    pub status: Option<u16>,
    /// Bytes of the answer's body that arrived; not counted for a refusal.
    pub received: u64,
    /// Tier that the server said it used.
    pub tier: Option<String>,
    /// Tokens and cost, as far as the server told; searches of the web also as far as they were heard of.
    pub usage: Usage,
    /// Whether its body began to leave, over a connection that stood.
    pub left: bool,
    /// Tokens of what arrived, estimated.
    pub arrived: u64,
    /// Whether anything of an answer came, or may have been made in vain.
    pub may_cost: bool,
}

impl Outcome {
    /// Whether its server may take anything for it: it left, and was not refused at the door.
    pub fn may_be_billed(&self) -> bool {
        self.left && (self.end != End::Failed || self.may_cost)
    }

    /// Returns what the server said that it used, with an estimate of the tokens that it did not tell. `sent` is the estimate of what was sent.
    pub fn used(&self, sent: u64) -> Usage {
        let Usage { input_tokens, output_tokens, .. } = self.usage;
        Usage {
            input_tokens: input_tokens.or(Some(sent)),
            output_tokens: output_tokens.or(Some(self.arrived)),
            estimated: input_tokens.is_none() || output_tokens.is_none(),
            ..self.usage
        }
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum End {
    /// With a whole answer.
    Answered,
    /// The network or the server failed.
    Failed,
    /// It was given up before its end: cancelled, or its turn is gone.
    #[default]
    GivenUp,
}

/// Notes an end. Returns what was used with what it costs, if its server may take anything for it.
type Tell = Box<dyn FnOnce(Outcome) -> Option<Usage> + Send>;

/// An attempt that was noted. Dropping it notes its end.
pub struct Noted {
    outcome: Outcome,
    received: Arc<AtomicU64>,
    left: Arc<AtomicBool>,
    arrived: Arrived,
    tell: Option<Tell>,
    receipts: Option<Receipts>,
}

impl Noted {
    /// For an attempt whose end `tell` notes.
    pub fn with(tell: impl FnOnce(Outcome) -> Option<Usage> + Send + 'static) -> Self {
        Self {
            outcome: Outcome::default(),
            received: Arc::default(),
            left: Arc::default(),
            arrived: Arrived::default(),
            tell: Some(Box::new(tell)),
            receipts: None,
        }
    }

    /// For an attempt that nobody notes, and that has no price.
    pub fn nowhere() -> Self {
        Self::with(|outcome| outcome.may_be_billed().then_some(outcome.usage))
    }

    /// Returns what is set once a connection stands and the body begins to leave. Where it never is, nobody got the request.
    pub fn leaving(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.left)
    }

    /// An answer with this status has begun; `received` counts the bytes of its body.
    pub fn answering(&mut self, status: u16, received: Arc<AtomicU64>) {
        self.outcome.status = Some(status);
        self.received = received;
    }

    /// Takes from an event what belongs to the outcome.
    pub fn heard(&mut self, event: &Event) {
        self.arrived.take(event);
        match event {
            Event::Tier(tier) => self.outcome.tier = Some(tier.clone()),
            Event::Finished { usage, .. } => self.outcome.usage = *usage,
            _ => {}
        }
    }

    /// Its server tells before the end what it uses. A count of nothing is none yet.
    pub fn told(&mut self, used: Usage) {
        let some = |count: Option<u64>| count.filter(|&tokens| tokens > 0);
        let (input_tokens, output_tokens) = (some(used.input_tokens), some(used.output_tokens));
        if input_tokens.is_some() || output_tokens.is_some() {
            self.outcome.usage = Usage { input_tokens, output_tokens, ..used };
            self.outcome.may_cost |= output_tokens.is_some();
        }
    }

    /// It came to nothing, but its server may have worked on it, and may take money for it.
    pub fn lost(&mut self) {
        self.outcome.may_cost = true;
    }

    /// So many tokens were sent, by the server's word, and what came back is no words.
    pub fn used(&mut self, input_tokens: Option<u64>) {
        self.outcome.usage.input_tokens = input_tokens;
        self.outcome.usage.output_tokens = Some(0);
    }

    /// It has ended in this way; `status` where it is known by now.
    pub fn ended(mut self, end: End, status: Option<u16>) {
        self.outcome.end = end;
        self.outcome.status = self.outcome.status.or(status);
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let Some(tell) = self.tell.take() {
            let received = self.received.load(Ordering::Relaxed);
            let mut outcome = std::mem::take(&mut self.outcome);
            outcome.usage.web_searches = outcome.usage.web_searches.max(self.arrived.web_searches());
            let (arrived, may_cost) = (self.arrived.tokens(), outcome.may_cost || self.arrived.may_cost());
            let left = self.left.load(Ordering::Acquire);
            let used = tell(Outcome { received, left, arrived, may_cost, ..outcome });
            if let (Some(used), Some(receipts)) = (used, &self.receipts) {
                receipts.add(used);
            }
        }
    }
}

/// What attempts have used so far, with what that costs, for whoever had them made.
#[derive(Debug, Clone, Default)]
pub struct Receipts(Arc<Mutex<Option<Usage>>>);

impl Receipts {
    fn add(&self, used: Usage) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = Some(sum.map_or(used, |sum| sum + used));
    }

    /// Takes the sum of what has ended since it was taken last; `None`: nothing that a server may take anything for.
    pub fn take(&self) -> Option<Usage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns a witness that notes what `witness` does, and keeps what each attempt has used.
    pub fn of<W>(&self, witness: W) -> Receipted<W> {
        Receipted { witness, receipts: self.clone() }
    }
}

/// See [`Receipts::of`].
pub struct Receipted<W> {
    witness: W,
    receipts: Receipts,
}

impl<W: std::ops::Deref<Target: Witness> + Send + Sync> Witness for Receipted<W> {
    fn sending<'a>(&'a self, sending: Sending<'a>) -> BoxFuture<'a, Result<Noted, Failure>> {
        Box::pin(async move {
            let mut noted = self.witness.sending(sending).await?;
            noted.receipts = Some(self.receipts.clone());
            Ok(noted)
        })
    }

    fn close(&self) {
        self.witness.close();
    }
}

impl std::fmt::Debug for Noted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Noted").field("outcome", &self.outcome).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(act: impl FnOnce(Noted)) -> Outcome {
        let outcome = Arc::new(Mutex::new(None));
        let told = Arc::clone(&outcome);
        act(Noted::with(move |outcome| {
            *told.lock().unwrap() = Some(outcome);
            None
        }));
        outcome.lock().unwrap().take().unwrap()
    }

    #[test]
    fn an_attempt_that_nobody_ends_was_given_up() {
        let received = Arc::new(AtomicU64::new(7));
        let outcome = told(|mut noted| noted.answering(200, received));
        assert_eq!((outcome.end, outcome.status, outcome.received), (End::GivenUp, Some(200), 7));
        assert!(!outcome.left, "nobody said that it was on its way");
    }

    #[test]
    fn what_arrived_is_told_where_the_server_never_says_what_it_used() {
        let outcome = told(|mut noted| {
            noted.leaving().store(true, Ordering::Release);
            noted.heard(&Event::Text("She waits.".into()));
            noted.heard(&Event::WebSearch { query: String::new() });
        });
        assert_eq!((outcome.usage.web_searches, outcome.usage.output_tokens), (1, None));
        assert!(outcome.left && outcome.may_cost && outcome.arrived > 0);
    }

    #[tokio::test]
    async fn who_has_attempts_made_gets_the_sum_of_what_they_used_once_and_none_of_what_was_refused() {
        let receipts = Receipts::default();
        let witness = receipts.of(&());
        let sending = Sending { destination: "x", provider: "x", body: "{}", of: Carried::Nothing };
        assert_eq!(receipts.take(), None);
        for (left, lost) in [(true, true), (true, false), (false, true)] {
            let mut noted = witness.sending(sending).await.unwrap();
            noted.leaving().store(left, Ordering::Release);
            noted.used(Some(3));
            if lost {
                noted.lost();
            }
            noted.ended(End::Failed, None);
        }
        let given_up = witness.sending(sending).await.unwrap();
        given_up.leaving().store(true, Ordering::Release);
        assert_eq!(receipts.take().unwrap().input_tokens, Some(3), "one of them may cost something");
        drop(given_up);
        assert_eq!(receipts.take(), Some(Usage::default()), "its server has it");
        assert_eq!(receipts.take(), None);
    }

    #[test]
    fn what_a_server_tells_before_it_fails_counts_and_what_it_has_not_told_is_estimated() {
        for (told_of, used) in [((7, 2), (7, 2, false)), ((7, 0), (7, 0, true)), ((0, 0), (100, 0, true))] {
            let outcome = told(|mut noted| {
                let (input_tokens, output_tokens) = (Some(told_of.0), Some(told_of.1));
                noted.told(Usage { input_tokens, output_tokens, ..Usage::default() });
                noted.ended(End::Failed, None);
            });
            assert_eq!(outcome.may_cost, told_of.1 > 0, "it has made something of an answer");
            let sum = outcome.used(100);
            assert_eq!(
                (sum.input_tokens, sum.output_tokens, sum.estimated),
                (Some(used.0), Some(used.1), used.2)
            );
        }
    }

    #[test]
    fn the_end_is_told_once_with_what_was_heard() {
        let usage = Usage { input_tokens: Some(3), ..Usage::default() };
        let outcome = told(|mut noted| {
            noted.heard(&Event::Tier("flex".into()));
            noted.heard(&Event::Finished { usage, truncated: None });
            noted.ended(End::Failed, Some(429));
        });
        assert_eq!((outcome.end, outcome.status, outcome.usage), (End::Failed, Some(429), usage));
        assert_eq!(outcome.tier.as_deref(), Some("flex"));
    }
}
