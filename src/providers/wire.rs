//! A wire: how one protocol says a request, and how it is heard.
//!
//! Pure: no socket, no clock. [`super::remote::Remote`] carries the bytes.

use std::fmt::Debug;

use serde_json::Value;

use super::client::Refusal;
use super::{Event, Request};

/// One protocol.
pub trait Wire: Debug + Send + Sync {
    /// Returns what follows the base address of a server, e.g. `/responses`.
    fn path(&self) -> &'static str;

    /// Returns the body for `request`. `keeps`: the server keeps conversations, so that one may continue from an earlier response.
    fn body(&self, request: &Request, keeps: bool) -> Value;

    /// Returns the body that says everything anew, after the server refused to continue from an earlier response.
    fn afresh(&self, request: &Request, keeps: bool) -> Value {
        self.body(&Request { previous_response_id: None, fresh: 0, ..request.clone() }, keeps)
    }

    /// Returns the reader of one answer.
    fn reader(&self) -> Box<dyn Reader>;
}

/// One answer while it arrives.
pub trait Reader: Send {
    /// Takes one piece; gives what it means. What is unknown or garbled is passed over.
    fn take(&mut self, data: &str) -> Heard;

    /// Takes an answer that came in one piece although a stream was asked for. [`Progress::Going`]: it is no answer.
    fn whole(&mut self, answer: &Value) -> Heard;

    /// The bytes have ended without a last word. Only a protocol that may end so gives [`Progress::Ended`].
    fn end(&mut self) -> Heard {
        (vec![], Progress::Going)
    }
}

/// What a piece of an answer means.
pub type Heard = (Vec<Event>, Progress);

/// How far an answer is.
#[derive(Debug, Clone, PartialEq)]
pub enum Progress {
    /// More is to come.
    Going,
    /// It is complete; [`Event::Finished`] was given.
    Ended,
    /// The server gave up.
    Failed(Refusal),
}
