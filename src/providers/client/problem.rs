//! What can go wrong between this program and a server, and what the author is told about it.
//!
//! A server's own words are never trusted: they are cut, made safe for a terminal, and freed of the key before anyone sees them.

use std::error::Error as _;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use super::key::redact;
use super::pause::{self, in_plain_words};
use super::{Key, Server};
use crate::domain::conversation::{Failure, FailureKind};
use crate::domain::safe_text;

/// What a proxy does that asks for a password.
pub(super) const PROXY_WANTS_A_PASSWORD: &str = "wants a name and a password (407)";

/// Most characters of a server's words in a message.
const MAX_QUOTED: usize = 300;

/// Why there is no whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Nothing listens there.
    NobodyThere,
    /// The host's name is not known.
    UnknownHost,
    /// This machine has no way there.
    Unreachable,
    /// No connection within the time.
    NoConnection(Duration),
    /// The proxy that stands before the server lets nothing through: its host and port, and why.
    Proxy {
        /// Which.
        proxy: String,
        /// What it does, after its name.
        why: String,
    },
    /// The server can't prove that it is the one, and why.
    Certificate(String),
    /// The server does not speak TLS.
    NoTls,
    /// Connected, then nothing for this long.
    Silent(Phase, Duration),
    /// Not at its end within this time.
    TooLong(Duration),
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
    /// How long to wait, as the head of the answer says.
    pub retry_after: Option<Duration>,
    /// `x-should-retry`: whether the server wants to be asked again.
    pub should_retry: Option<bool>,
}

/// When it is safe to send the same request again, as long as nothing of an answer was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Always: the server did no work on it, because it never got it, or refused it at the door.
    Safe,
    /// Only for the first request of a turn: the server may have worked on it.
    First,
    /// Never: it would only fail again.
    Never,
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

    /// Whether the conversation is longer than the model can take. The words are those of OpenAI, Groq, vLLM and OpenRouter; Mistral;
    /// llama.cpp; LM Studio; Anthropic; Google.
    pub fn is_too_long(&self) -> bool {
        let texts = [
            "context_length_exceeded",
            "maximum context length",
            "exceeds the context window",
            "reduce the length of the messages",
            "exceed_context_size_error",
            "exceeds the available context size",
            "greater than the context length",
            "context the overflows",
            "prompt is too long",
            "exceeds the maximum number of tokens allowed",
        ];
        match self.status {
            Some(413) => true,
            None | Some(400..=499 | 500) => !self.is_quota() && self.says(&texts),
            Some(_) => false,
        }
    }

    /// Whether the server can't read the reasoning that it once encrypted: for another key or organisation, or in an item that it did not keep.
    pub fn is_about_reasoning(&self) -> bool {
        matches!(self.status, None | Some(400 | 404))
            && self.says(&["invalid_encrypted_content", "items are not persisted when"])
    }

    /// How long the server wants to be left alone, by its head or else by its words.
    pub fn wait(&self) -> Option<Duration> {
        self.retry_after.or_else(|| pause::in_words(&self.message))
    }

    /// Whether asking again may help. A status at the door means that nothing was done; 408, 409 and the other errors of a server may
    /// come after work, and so may what stands in a stream.
    fn again(&self) -> Again {
        if self.is_quota() || self.should_retry == Some(false) {
            return Again::Never;
        }
        let busy = ["rate_limit_exceeded", "server_is_overloaded", "slow_down", "overloaded_error", "server_error"];
        match self.status {
            Some(429 | 498 | 503 | 529) => Again::Safe,
            Some(408 | 409 | 500..) => Again::First,
            None if self.code.as_deref().is_some_and(|code| busy.contains(&code)) => Again::First,
            _ if self.should_retry == Some(true) => Again::First,
            _ => Again::Never,
        }
    }

    /// Whether the flex tier has no room now. OpenAI documents `429 Resource Unavailable`, not the code; Groq has a status of its own.
    pub fn is_capacity(&self) -> bool {
        match self.status {
            Some(498) => true,
            None | Some(429) => {
                self.says(&["resource_unavailable", "resource unavailable", "capacity_exceeded"])
            }
            Some(_) => false,
        }
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

/// Finds the error of TLS that errors of input and output are wrapped around, some of them twice.
fn tls_within(error: &std::io::Error) -> Option<&rustls::Error> {
    let inner = error.get_ref()?;
    inner.downcast_ref().or_else(|| tls_within(inner.downcast_ref()?))
}

/// Why a certificate is not trusted.
fn distrust(error: &rustls::CertificateError) -> String {
    use rustls::CertificateError as E;
    let why = match error {
        E::Expired | E::ExpiredContext { .. } => "its certificate has expired",
        E::NotValidYet | E::NotValidYetContext { .. } => "its certificate is not valid yet",
        E::NotValidForName | E::NotValidForNameContext { .. } => "its certificate is for another host",
        E::UnknownIssuer => "its certificate is signed by nobody whom this machine trusts",
        E::Revoked => "its certificate was revoked",
        other => return format!("its certificate is not accepted, {other}"),
    };
    why.to_owned()
}

impl Problem {
    /// Tells a connection's failures apart. `proxy` is what stands between, if anything: then nothing else was ever reached.
    pub(super) fn of_transport(error: &reqwest::Error, connect: Duration, proxy: Option<String>) -> Self {
        let mut cause = error.to_string();
        let (mut io, mut tls, mut password) = (None, None, false);
        let mut source = error.source();
        while let Some(inner) = source {
            cause = inner.to_string();
            password |= cause.contains("proxy authorization required");
            if let Some(found) = inner.downcast_ref::<std::io::Error>() {
                io = io.or(Some(found.kind()));
                tls = tls.or_else(|| tls_within(found));
            }
            source = inner.source();
        }
        match tls {
            Some(rustls::Error::InvalidCertificate(why)) => return Self::Certificate(distrust(why)),
            Some(rustls::Error::InvalidMessage(_)) => return Self::NoTls,
            _ => {}
        }
        if !error.is_connect() {
            return Self::CutOff;
        }
        use std::io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable};
        let problem = match io {
            _ if error.is_dns() => Self::UnknownHost,
            _ if error.is_timeout() => Self::NoConnection(connect),
            Some(ConnectionRefused) => Self::NobodyThere,
            Some(NetworkUnreachable | HostUnreachable | NetworkDown) => Self::Unreachable,
            _ => Self::Transport(cause),
        };
        let Some(proxy) = proxy else { return problem };
        let why = match problem {
            _ if password => PROXY_WANTS_A_PASSWORD.to_owned(),
            Self::UnknownHost => "is not known".to_owned(),
            Self::NobodyThere => "refused the connection".to_owned(),
            Self::NoConnection(limit) => format!("did not answer within {}", in_plain_words(limit)),
            Self::Transport(cause) => format!("lets nothing through: {cause}"),
            _ => "can't be reached".to_owned(),
        };
        Self::Proxy { proxy, why }
    }

    /// Whether the server was never reached, so that it would not be by another model or key either.
    pub fn is_unreachable(&self) -> bool {
        matches!(
            self,
            Self::NobodyThere
                | Self::UnknownHost
                | Self::Unreachable
                | Self::NoConnection(_)
                | Self::Proxy { .. }
                | Self::Transport(_)
        )
    }

    /// When it is safe and of any use to ask again. What shows at once that this machine is offline is told at once.
    pub fn again(&self, server: &Server) -> Again {
        match self {
            Self::NobodyThere if server.is_near() => Again::Never,
            Self::NobodyThere | Self::NoConnection(_) | Self::Transport(_) => Again::Safe,
            Self::CutOff => Again::First,
            Self::Refused(refusal) => refusal.again(),
            _ => Again::Never,
        }
    }

    /// Puts the problem into words: what happened, at which server, and what to do next.
    pub fn failure(&self, server: &Server, model: &str, key: Option<&Key>) -> Failure {
        let (message, hint) = match self {
            Self::Refused(refusal) => refusal.words(server, model, key),
            Self::NobodyThere
            | Self::UnknownHost
            | Self::Unreachable
            | Self::NoConnection(_)
            | Self::Proxy { .. }
            | Self::Certificate(_)
            | Self::NoTls
            | Self::Transport(_)
            | Self::BadKey
            | Self::OpenConnection => self.before_an_answer(server, key),
            _ => self.in_an_answer(server, key),
        };
        let kind =
            if self.is_unreachable() { FailureKind::Unreachable } else { FailureKind::Provider };
        Failure { kind, message, hint }
    }

    /// What went wrong before the server had the request.
    fn before_an_answer(&self, server: &Server, key: Option<&Key>) -> (String, String) {
        let host = server.host();
        match self {
            Self::NobodyThere => (
                format!("Nothing answers at {host}: the connection was refused."),
                "Start the server, or check the provider's address.".to_owned(),
            ),
            Self::UnknownHost => (
                format!("The host {host} is not known."),
                "Check the network connection and the provider's address.".to_owned(),
            ),
            Self::Unreachable => (
                format!("There is no way to {host}: the network can't be reached."),
                "Check the network connection.".to_owned(),
            ),
            Self::NoConnection(limit) => (
                format!("{host} could not be reached within {}.", in_plain_words(*limit)),
                "Check the network connection and the provider's address.".to_owned(),
            ),
            Self::Proxy { proxy, why } => (
                format!("No connection to {host}: the proxy {} {}.", quoted(proxy, key), quoted(why, key)),
                "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY in the environment, or the system's proxy settings.".to_owned(),
            ),
            Self::Certificate(why) => (
                format!("{host} can't prove that it is {host}: {}. Nothing was sent.", quoted(why, key)),
                "Check the provider's address and this machine's clock. A server of your own needs a certificate that this machine trusts.".to_owned(),
            ),
            Self::NoTls => (
                format!("{host} does not speak https at this address. Nothing was sent."),
                "Check the provider's address: a server of your own is often at http://.".to_owned(),
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
            other => {
                let cause = if let Self::Transport(cause) = other { cause.as_str() } else { "it failed" };
                (
                    format!("No connection to {host}: {}.", quoted(cause, key)),
                    "Check the network connection and the provider's address.".to_owned(),
                )
            }
        }
    }

    /// What went wrong while the server answered.
    fn in_an_answer(&self, server: &Server, key: Option<&Key>) -> (String, String) {
        let host = server.host();
        match self {
            Self::Silent(Phase::FirstByte, limit) => (
                format!("{host} sent nothing for {}.", in_plain_words(*limit)),
                "Send again, or choose another tier or model. `first_byte` under [network] in config.toml is the limit.".to_owned(),
            ),
            Self::Silent(Phase::NextByte, limit) => (
                format!(
                    "{host} stopped in the middle of its answer and sent nothing for {}.",
                    in_plain_words(*limit)
                ),
                "What had arrived is kept. Send again. `idle` under [network] in config.toml is the limit.".to_owned(),
            ),
            Self::TooLong(limit) => (
                format!("{host} had not finished after {}, so it was stopped.", in_plain_words(*limit)),
                "What had arrived is kept. Ask for less at once. `total` under [network] in config.toml is the limit.".to_owned(),
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
            _ => (
                format!("{host} ended the connection before the answer was complete."),
                "What had arrived is kept. Send again.".to_owned(),
            ),
        }
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
        if self.is_too_long() {
            return own(
                "can't take so long a question with all that belongs to it",
                "Ask about less text at a time, begin a new conversation, or choose a model with a larger context.",
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
            let hint = match self.wait() {
                Some(wait) if wait > pause::LONGEST => format!(
                    "The server asks to wait {}, which is longer than a turn waits: send again then.",
                    in_plain_words(wait)
                ),
                Some(wait) if !wait.is_zero() => format!("Send again in {}.", in_plain_words(wait)),
                _ => "Wait a little and send again.".to_owned(),
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
                "Check the provider's address: it ends in `/v1` for most servers.",
            ),
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
