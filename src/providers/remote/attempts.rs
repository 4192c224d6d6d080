//! What is asked, and what is asked instead once that went wrong.
//!
//! Pure but for the chance in a wait. Nothing is ever asked again once something of an answer was shown. Before that there are two kinds:
//!
//! - Another request, where the server refused this one for what stands in it: the default tier for flex without room; the whole
//!   conversation where the server does not continue from its last response; no reasoning where it can't read its own; a shorter answer
//!   where that is what is too long; fewer of the oldest turns where the conversation is. Each takes away its own reason, so this ends.
//! - The same request, a few times, after a wait. Once tools have run in this turn, only where the server did no work on it: it was
//!   never reached, or it refused at the door (429, 503). Else an answer that got lost would be worked on, and paid for, twice, and a
//!   server that keeps conversations would have two.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;

use crate::providers::client::pause::{self, LONGEST, in_plain_words};
use crate::providers::client::{Again, Key, Problem, Refusal, Server};
use crate::providers::{Item, Request, Retry};

/// Most times that the same request is sent.
pub const MOST: u32 = 4;

/// An answer of so many tokens, some 700 words, is worth more than the oldest turns of its conversation.
const ENOUGH: u32 = 1024;

/// The shortest answer that is worth asking for.
const LEAST: u32 = 256;

/// Most times that a shorter answer is asked for.
const MOST_SHORTER: u32 = 3;

/// A wait that nobody notices.
const A_MOMENT: Duration = Duration::from_millis(50);

/// The attempts at one answer.
pub struct Attempts<'a> {
    /// What is asked now.
    pub request: Cow<'a, Request>,
    /// Whether it holds the whole conversation although it could continue from a response.
    pub whole: bool,
    /// How many were made, the one that runs included.
    made: u32,
    /// How often this same request was sent.
    same: u32,
    left_out: usize,
    /// How often a shorter answer was asked for.
    shortened: u32,
    first_wait: Duration,
}

/// What is done about a problem.
pub struct Next {
    /// What the author is told.
    pub retry: Retry,
    /// The server has turned out not to keep conversations.
    pub keeps_nothing: bool,
}

impl<'a> Attempts<'a> {
    /// The first attempt; `first_wait` is what is waited before the first retry.
    pub fn new(request: &'a Request, first_wait: Duration) -> Self {
        let request = Cow::Borrowed(request);
        Self { request, whole: false, made: 1, same: 1, left_out: 0, shortened: 0, first_wait }
    }

    /// Returns how often this same request was sent.
    pub fn same(&self) -> u32 {
        self.same
    }

    /// The same is asked at once in another way, for this reason.
    pub fn again(&mut self, why: String) -> Retry {
        (self.made, self.same) = (self.made + 1, 1);
        Retry { why, attempt: self.made, wait: Duration::ZERO, left_out: self.left_out }
    }

    /// Works out what is asked next, if anything may help. `key` is what no word of the server may show.
    pub fn next(
        &mut self,
        problem: &Problem,
        sent: Sent,
        server: &Server,
        key: Option<&Key>,
    ) -> Option<Next> {
        if let Problem::Refused(refusal) = problem
            && let Some((why, keeps_nothing)) = self.otherwise(refusal, server, sent)
        {
            (self.made, self.same) = (self.made + 1, 1);
            let (attempt, left_out) = (self.made, self.left_out);
            return Some(Next {
                retry: Retry { why, attempt, wait: Duration::ZERO, left_out },
                keeps_nothing,
            });
        }
        let may = match problem.again(server) {
            Again::Safe => true,
            Again::First => !self.request.tools_ran(),
            Again::Never => false,
        };
        let asked = if let Problem::Refused(refusal) = problem { refusal.wait() } else { None };
        // A server that asks for no wait at all gets the usual one: it is busy all the same.
        let asked = asked.filter(|wait| !wait.is_zero());
        if !may || self.same >= MOST || asked.is_some_and(|wait| wait > LONGEST) {
            return None;
        }
        let wait = asked.unwrap_or_else(|| pause::backoff(self.first_wait, self.same - 1));
        (self.made, self.same) = (self.made + 1, self.same + 1);
        let what = problem.failure(server, &self.request.model, key).message;
        let by_whom = if asked.is_some() { ", as the server asks" } else { "" };
        let when = if wait < A_MOMENT { "now".to_owned() } else { format!("in {}", in_plain_words(wait)) };
        let why =
            format!("{} Asking again {when}{by_whom}, attempt {} of {MOST}.", sentence(&what), self.same);
        let (attempt, left_out) = (self.made, self.left_out);
        Some(Next { retry: Retry { why, attempt, wait, left_out }, keeps_nothing: false })
    }

    /// Changes the request so that the server has no more reason to refuse it. Returns what the author is told, and whether the server
    /// turned out to keep nothing.
    fn otherwise(&mut self, refusal: &Refusal, server: &Server, sent: Sent) -> Option<(String, bool)> {
        let host = server.host();
        if sent.flex && refusal.is_capacity() {
            self.request.to_mut().options.service_tier = Some("auto".to_owned());
            return Some((format!("{host} has no flex capacity now: asking on the default tier."), false));
        }
        if sent.continues && refusal.is_about_previous_response() {
            self.whole = true;
            let why =
                format!("{host} does not continue from the last response: sending the whole conversation.");
            return Some((why, !refusal.is_previous_response_gone()));
        }
        if sent.continues && refusal.is_about_an_output() {
            self.whole = true;
            let why = format!(
                "{host} takes these results for other calls than ours: sending the whole conversation."
            );
            return Some((why, false));
        }
        if refusal.is_about_reasoning() && self.request.items.iter().any(|item| matches!(item, Item::Raw(_)))
        {
            self.forget_raw();
            let why = format!("{host} can't read what it thought earlier: asking without it.");
            return Some((why, false));
        }
        let earlier = self.request.earlier_turns();
        let least = if refusal.is_too_long() && earlier > 0 { ENOUGH } else { LEAST };
        if let Some(room) = self.room(refusal, sent).filter(|room| *room >= least) {
            self.request.to_mut().options.max_output_tokens = Some(room);
            self.shortened += 1;
            let why = format!("{host} has no room for so long an answer: asking for at most {room} tokens.");
            return Some((why, false));
        }
        if refusal.is_too_long() && earlier > 0 {
            // Half of them each time: a conversation of a thousand turns is asked ten times at most, and refusals are free.
            let all = earlier + self.left_out;
            let drop = earlier.div_ceil(2);
            self.request.to_mut().leave_out(drop);
            self.left_out += drop;
            self.whole = true;
            let left_out = self.left_out;
            let these = match (left_out, all) {
                (1, 1) => "the one earlier turn is".to_owned(),
                (n, all) if n == all => format!("all {all} earlier turns are"),
                (1, all) => format!("the oldest of {all} earlier turns is"),
                (n, all) => format!("the oldest {n} of {all} earlier turns are"),
            };
            let why = format!(
                "{host} can't take so long a conversation: {these} left out for this question. Nothing is lost here, and what was looked up for this question stays."
            );
            return Some((why, false));
        }
        None
    }

    /// Returns how many tokens of answer may be asked for instead of what was, if it was that which is too much.
    fn room(&self, refusal: &Refusal, sent: Sent) -> Option<u32> {
        let limit = sent.limit.filter(|_| self.shortened < MOST_SHORTER)?;
        let room = refusal.room(limit).filter(|room| *room < limit)?;
        Some(room.saturating_sub(sent.thoughts))
    }

    /// Leaves out items that only the server can read. The same words and calls stand beside them in plain form.
    fn forget_raw(&mut self) {
        let request = self.request.to_mut();
        let raw_before = |end: usize| {
            let before = request.items.get(..end).unwrap_or_default();
            before.iter().filter(|item| matches!(item, Item::Raw(_))).count()
        };
        (request.question, request.fresh) =
            (request.question - raw_before(request.question), request.fresh - raw_before(request.fresh));
        request.items.retain(|item| !matches!(item, Item::Raw(_)));
    }
}

/// What the body that was refused said.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// The flex tier.
    pub flex: bool,
    /// `previous_response_id`.
    pub continues: bool,
    /// The limit of the answer.
    pub limit: Option<u32>,
    /// How much of that is for thoughts.
    pub thoughts: u32,
}

impl Sent {
    /// Reads it from a body of any wire.
    pub fn of(body: &Value) -> Self {
        let number = |at: &str| body.pointer(at).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
        let limits = ["/max_tokens", "/max_completion_tokens", "/max_output_tokens", "/options/num_predict"];
        Self {
            flex: body.get("service_tier").and_then(Value::as_str) == Some("flex"),
            continues: body.get("previous_response_id").is_some(),
            limit: limits.into_iter().find_map(number),
            thoughts: number("/thinking/budget_tokens").unwrap_or(0),
        }
    }
}

/// Words with a full stop at their end.
pub fn sentence(words: &str) -> Cow<'_, str> {
    if words.ends_with(['.', '!', '?', '…']) { words.into() } else { format!("{words}.").into() }
}
