//! A wire: how one protocol says a request, and how it is heard.
//!
//! Pure: no socket, no clock. [`super::remote::Remote`] carries the bytes.

use std::fmt::Debug;

use serde::Deserialize;
use serde_json::Value;

use super::abilities::Abilities;
use super::client::Refusal;
use super::frames::Framing;
use super::{Event, Request};
use crate::domain::conversation::Usage;

/// The protocols that are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// OpenAI's Responses API.
    Responses,
    /// Chat Completions.
    Chat,
    /// Ollama's own `/api/chat`.
    Ollama,
    /// Anthropic's Messages API.
    Anthropic,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Responses, Self::Chat, Self::Ollama, Self::Anthropic];

    /// Returns the name, as in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Responses => "responses",
            Self::Chat => "chat",
            Self::Ollama => "ollama",
            Self::Anthropic => "anthropic",
        }
    }

    /// Returns the protocol with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.name() == name)
    }

    /// Returns how it is spoken.
    pub fn wire(self) -> Box<dyn Wire> {
        match self {
            Self::Responses => Box::new(super::responses::Responses),
            Self::Chat => Box::new(super::chat::Chat),
            Self::Ollama => Box::new(super::ollama::Ollama),
            Self::Anthropic => Box::new(super::anthropic::Anthropic),
        }
    }
}

/// One protocol.
pub trait Wire: Debug + Send + Sync {
    /// Returns what follows the base address of a server, e.g. `/responses`.
    fn path(&self) -> &'static str;

    /// Returns the body for `request`, as a server takes it that can do this much.
    fn body(&self, request: &Request, can: &Abilities) -> Value;

    /// Returns the body that says everything anew, after the server refused to continue from an earlier response.
    fn afresh(&self, request: &Request, can: &Abilities) -> Value {
        self.body(&Request { previous_response_id: None, fresh: 0, ..request.clone() }, can)
    }

    /// Returns the reader of the answer to `request`.
    fn reader(&self, request: &Request, can: &Abilities) -> Box<dyn Reader>;
}

/// One answer while it arrives.
pub trait Reader: Send {
    /// Returns how the pieces of an answer are told apart.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// Takes one piece; gives what it means. What is unknown or garbled is passed over.
    fn take(&mut self, data: &str) -> Heard;

    /// Takes an answer that came in one piece although a stream was asked for. [`Progress::Going`]: it is no answer.
    fn whole(&mut self, answer: &Value) -> Heard;

    /// Returns what the server has told by now of what the answer uses. It counts where the answer never comes to its end.
    fn used(&self) -> Usage {
        Usage::default()
    }

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

/// Returns what a server says that an answer cost, in US dollars. What can't be a price (less than nothing) is as good as not said.
pub(super) fn cost_of(usage: &Value) -> Option<f64> {
    usage.get("cost")?.as_f64().filter(|cost| cost.is_finite() && *cost >= 0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_that_says_that_an_answer_cost_less_than_nothing_is_not_believed() {
        let request = Request { model: "m".into(), ..Request::default() };
        for protocol in ["chat", "responses"] {
            for (said, cost) in [(json!(-1.5), None), (json!(0.0), Some(0.0)), (json!(0.02), Some(0.02))] {
                let usage = json!({ "prompt_tokens": 1, "completion_tokens": 1, "cost": said });
                let whole = if protocol == "chat" {
                    json!({ "id": "c", "choices": [{ "message": { "content": "Yes." }, "finish_reason": "stop" }], "usage": usage })
                } else {
                    json!({ "id": "r", "status": "completed", "output": [], "usage": usage })
                };
                let wire = Protocol::named(protocol).unwrap().wire();
                let (events, progress) = wire.reader(&request, &Abilities::default()).whole(&whole);
                assert_eq!(progress, Progress::Ended, "{protocol}");
                let told = events.iter().find_map(|event| match event {
                    Event::Finished { usage, .. } => Some(usage.cost),
                    _ => None,
                });
                assert_eq!(told, Some(cost), "{protocol}");
            }
        }
    }
}
