//! What can go wrong between this program and a server, and what the author is told about it.
//!
//! A server's own words are never trusted: they are cut, made safe for a terminal, and freed of the key before anyone sees them.

use std::error::Error as _;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use super::key::redact;
use super::{Key, Server};
use crate::domain::conversation::{Failure, FailureKind};
use crate::domain::safe_text;

/// Most characters of a server's words in a message.
const MAX_QUOTED: usize = 300;

/// Why there is no whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Nothing listens there.
    NobodyThere,
    /// The host's name is not known.
    UnknownHost,
    /// No connection within the time.
    NoConnection(Duration),
    /// Connected, then nothing for this long.
    Silent(Phase, Duration),
    /// The connection can't be made for another reason.
    Transport(String),
    /// The answer ended before its end.
    CutOff,
    /// The server points elsewhere, to this host.
    Redirected(Option<String>),
    /// A web page, or something else that is no answer.
    NotAnAnswer(String),
    /// More than may be held.
    TooMuch,
    /// The key holds characters that can't be sent.
    BadKey,
    /// The key would go over the outside net unencrypted.
    OpenConnection,
    /// The server said no.
    Refused(Refusal),
}

/// What a silent server was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The beginning of the answer.
    FirstByte,
    /// More of it.
    NextByte,
}

/// A server's no, in whatever shape it came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status, where it came as one and not within a stream.
    pub status: Option<u16>,
    /// `code` or, where that is missing or a number, `type`.
    pub code: Option<String>,
    /// The field of the request that it is about.
    pub param: Option<String>,
    /// The server's words, raw; empty where there were none.
    pub message: String,
    /// Seconds to wait, as the server says.
    pub retry_after: Option<u64>,
}

impl Refusal {
    /// Reads the body of an answer with an error status, whatever it is.
    pub fn from_body(status: u16, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let text = text.trim();
        let refusal = match serde_json::from_str::<Value>(text) {
            Ok(value) => Self::from_value(&value)
                .unwrap_or_else(|| Self { message: text.to_owned(), ..Self::default() }),
            Err(_) if text.starts_with('<') => Self { message: page_title(text), ..Self::default() },
            Err(_) => Self { message: text.to_owned(), ..Self::default() },
        };
        Self { status: Some(status), ..refusal }
    }

    /// Reads an error object: `{"error": {..}}`, `{"error": ".."}`, flat `{"code", "message"}`, `{"detail": ..}`, or a list that begins with one.
    pub fn from_value(value: &Value) -> Option<Self> {
        let value = match value {
            Value::Array(all) => all.first()?,
            other => other,
        };
        let error = value.get("error").filter(|e| !e.is_null()).unwrap_or(value);
        if let Value::String(message) = error {
            return Some(Self { message: message.clone(), ..Self::default() });
        }
        let text = |field: &str| {
            error.get(field).and_then(Value::as_str).filter(|t| !t.is_empty()).map(str::to_owned)
        };
        let message = text("message").or_else(|| text("detail")).or_else(|| text("title")).or_else(|| {
            // FastAPI lists what is wrong with each field.
            error.get("detail")?.get(0)?.get("msg")?.as_str().map(str::to_owned)
        });
        let code = text("code").or_else(|| text("type").filter(|t| t != "error"));
        if message.is_none() && code.is_none() {
            return None;
        }
        Some(Self { code, param: text("param"), message: message.unwrap_or_default(), ..Self::default() })
    }

    /// Whether any of `words` (in lower case) is the code or stands in the message.
    pub fn says(&self, words: &[&str]) -> bool {
        let (code, message) =
            (self.code.as_deref().unwrap_or_default().to_lowercase(), self.message.to_lowercase());
        words.iter().any(|w| code == *w || message.contains(w))
    }

    /// Whether the account can't pay: no waiting helps.
    pub fn is_quota(&self) -> bool {
        self.status == Some(402)
            || self.says(&[
                "insufficient_quota",
                "credit_balance_exhausted",
                "exceeded your current quota",
                "billing_hard_limit",
            ])
            || self.code.as_deref().is_some_and(|c| c.ends_with("spend_limit_exceeded"))
    }

    /// Whether the flex tier has no room now. OpenAI documents `429 Resource Unavailable`, not the code.
    pub fn is_capacity(&self) -> bool {
        matches!(self.status, None | Some(429))
            && self.says(&["resource_unavailable", "resource unavailable"])
    }

    /// Whether the server won't continue from an earlier response.
    pub fn is_about_previous_response(&self) -> bool {
        matches!(self.status, None | Some(400 | 404))
            && (self.param.as_deref() == Some("previous_response_id")
                || self.says(&["previous_response_not_found", "previous_response_id", "previous response"]))
    }
}

/// The words of a web page's title.
fn page_title(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let title = lower.find("<title>").and_then(|at| {
        let start = at + "<title>".len();
        let end = start + lower[start..].find('<')?;
        html.get(start..end)
    });
    title.map(str::trim).filter(|t| !t.is_empty()).unwrap_or("a web page").to_owned()
}

impl Problem {
    /// Tells a connection's failures apart.
    pub(super) fn of_transport(error: &reqwest::Error, connect: Duration) -> Self {
        if error.is_dns() {
            return Self::UnknownHost;
        }
        if error.is_connect() && error.is_timeout() {
            return Self::NoConnection(connect);
        }
        let (mut cause, mut source) = (error.to_string(), error.source());
        while let Some(inner) = source {
            let io = inner.downcast_ref::<std::io::Error>();
            if io.is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionRefused) {
                return Self::NobodyThere;
            }
            cause = inner.to_string();
            source = inner.source();
        }
        if error.is_connect() { Self::Transport(cause) } else { Self::CutOff }
    }

    /// Puts the problem into words: what happened, at which server, and what to do next.
    pub fn failure(&self, server: &Server, model: &str, key: Option<&Key>) -> Failure {
        let host = server.host();
        let (message, hint) = match self {
            Self::NobodyThere => (
                format!("Nothing answers at {host}: the connection was refused."),
                "Start the server, or check the provider's address.".to_owned(),
            ),
            Self::UnknownHost => (
                format!("The host {host} is not known."),
                "Check the network connection and the provider's address.".to_owned(),
            ),
            Self::NoConnection(limit) => (
                format!("{host} could not be reached within {}.", seconds(*limit)),
                "Check the network connection and the provider's address.".to_owned(),
            ),
            Self::Silent(Phase::FirstByte, limit) => (
                format!("{host} sent nothing for {}.", seconds(*limit)),
                "Send again, or choose another tier or model.".to_owned(),
            ),
            Self::Silent(Phase::NextByte, limit) => (
                format!(
                    "{host} stopped in the middle of its answer and sent nothing for {}.",
                    seconds(*limit)
                ),
                "What had arrived is kept. Send again.".to_owned(),
            ),
            Self::Transport(cause) => (
                format!("No connection to {host}: {}.", quoted(cause, key)),
                "Check the network connection, the proxy, and the provider's address.".to_owned(),
            ),
            Self::CutOff => (
                format!("{host} ended the connection before the answer was complete."),
                "What had arrived is kept. Send again.".to_owned(),
            ),
            Self::Redirected(to) => (
                match to {
                    Some(to) => format!(
                        "{host} points to another address, at {}, which is not followed.",
                        quoted(to, key)
                    ),
                    None => format!("{host} points to another address, which is not followed."),
                },
                "Set the provider's address to the right one.".to_owned(),
            ),
            Self::NotAnAnswer(what) => (
                format!("{host} sent {}, not an answer.", quoted(what, key)),
                "Check the provider's address: it ends in `/v1` for most servers.".to_owned(),
            ),
            Self::TooMuch => (
                format!("{host} sent more than an answer may hold."),
                "Send again with a limit of output tokens.".to_owned(),
            ),
            Self::BadKey => (
                format!("The key for {host} holds characters that can't be sent."),
                format!("Set it again: {}.", server.how_to_set_a_key()),
            ),
            Self::OpenConnection => (
                format!(
                    "The key was not sent to {host}: the address begins with http://, so that others could read it."
                ),
                "Use an address that begins with https://.".to_owned(),
            ),
            Self::Refused(refusal) => refusal.words(server, model, key),
        };
        Failure { kind: FailureKind::Provider, message, hint }
    }
}

impl Refusal {
    fn words(&self, server: &Server, model: &str, key: Option<&Key>) -> (String, String) {
        let host = server.host();
        let (what, hint) = self.advice(server, model, key.is_some());
        let mut message = format!("{host} {what}");
        if let Some(status) = self.status {
            let _ = write!(message, " ({status})");
        }
        let said = match (self.message.trim(), &self.code) {
            ("", Some(code)) => quoted(code, key),
            (said, _) => quoted(said, key),
        };
        if said.is_empty() {
            message.push('.');
        } else {
            let _ = write!(message, ": {said}");
        }
        (message, hint)
    }

    /// What the refusal comes to, and what to do.
    fn advice(&self, server: &Server, model: &str, with_key: bool) -> (String, String) {
        let own = |what: &str, hint: &str| (what.to_owned(), hint.to_owned());
        let status = self.status.unwrap_or_default();
        if self.is_quota() {
            return own(
                "will not answer: the account has no credit left",
                "Add credit or raise the limit on the provider's billing page; waiting does not help.",
            );
        }
        if self.says(&["context_length_exceeded", "exceeds the context window", "maximum context length"]) {
            return own(
                "can't take so long a conversation",
                "Begin a new session, or choose a model with a larger context.",
            );
        }
        if super::super::abilities::says_no_tools(self) {
            return (
                "can't call tools with this model".into(),
                format!(
                    "Choose a model with tools, or set `tools = false` under [providers.{}] in config.toml: then the open text itself is sent \
                     with the question, cut at 24,000 characters. Until the program ends that is so already: ask again.",
                    server.name()
                ),
            );
        }
        if status == 401 || self.says(&["invalid_api_key"]) {
            let set = format!("Set a key: {}.", server.how_to_set_a_key());
            return if with_key {
                ("did not accept the key".into(), set)
            } else {
                ("wants a key, and none is set".into(), set)
            };
        }
        if self.is_capacity() {
            return own(
                "has no capacity on this tier now",
                "Send again later, or choose another service tier.",
            );
        }
        if status == 429 || self.says(&["rate_limit_exceeded", "rate limit reached"]) {
            let hint = match self.retry_after {
                Some(1) => "Send again in a second.".to_owned(),
                Some(s) => format!("Send again in {s} seconds."),
                None => "Wait a little and send again.".to_owned(),
            };
            return ("takes no more requests for now".into(), hint);
        }
        if self.says(&["model_not_found"]) || (status == 404 && self.message.to_lowercase().contains("model"))
        {
            return (
                format!("has no model `{}` for you", quoted(model, None)),
                "Choose another model: --model NAME for one question, `model` under [provider] in the settings for all.".into(),
            );
        }
        match status {
            403 => own(
                "refused access",
                "Check that the key's project may use this model, and that the service is offered in your region.",
            ),
            404 | 405 => own(
                "has nothing to ask at this address",
                "Check the provider's address and `wire`: the address ends in `/v1` for most servers.",
            ),
            413 => {
                own("finds the request too large", "Begin a new session, or ask about less text at a time.")
            }
            400..500 => own(
                "refused the request",
                "Check the model and its options; the peek view shows what is sent.",
            ),
            500.. => own("failed", "The trouble is at the server: send again in a moment."),
            _ => own("reported an error", "Send again; if it stays, choose another model."),
        }
    }
}

/// A server's words as part of a message: on one line, safe to show, without the key, and cut.
fn quoted(raw: &str, key: Option<&Key>) -> String {
    let text = redact(raw, key);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = text.chars().take(MAX_QUOTED).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    safe_text::line(&shown).into_owned()
}

fn seconds(limit: Duration) -> String {
    match limit.as_secs() {
        0 => format!("{} milliseconds", limit.as_millis()),
        1 => "a second".to_owned(),
        s => format!("{s} seconds"),
    }
}
