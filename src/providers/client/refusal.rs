//! A server's no: read from whatever shape it came in, told apart, and put into words.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use super::pause::{self, in_plain_words};
use super::problem::quoted;
use super::{Again, Key, Server};

/// A server's no, in whatever shape it came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP status or, in an answer that began well, the one that the error gives as its code.
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
    ///
    /// A code that is an HTTP status is taken as one: gateways and llama.cpp put there what they could not say in the head any more.
    pub fn from_value(value: &Value) -> Option<Self> {
        let value = match value {
            Value::Array(all) => all.first()?,
            other => other,
        };
        let error = value.get("error").filter(|e| !e.is_null()).unwrap_or(value);
        let status = error.get("code").or_else(|| value.get("code")).and_then(status_in);
        if let Value::String(message) = error {
            return Some(Self { status, message: message.clone(), ..Self::default() });
        }
        let text = |field: &str| {
            error.get(field).and_then(Value::as_str).filter(|t| !t.is_empty()).map(str::to_owned)
        };
        let message = text("message").or_else(|| text("detail")).or_else(|| text("title")).or_else(|| {
            // FastAPI lists what is wrong with each field.
            error.get("detail")?.get(0)?.get("msg")?.as_str().map(str::to_owned)
        });
        let code = text("code").or_else(|| text("type").filter(|t| t != "error"));
        if message.is_none() && code.is_none() && status.is_none() {
            return None;
        }
        let (param, message) = (text("param"), message.unwrap_or_default());
        Some(Self { status, code, param, message, ..Self::default() })
    }

    /// Whether any of `words` (in lower case) is the code or stands in the message.
    pub fn says(&self, words: &[&str]) -> bool {
        let (code, message) =
            (self.code.as_deref().unwrap_or_default().to_lowercase(), self.message.to_lowercase());
        words.iter().any(|w| code == *w || message.contains(w))
    }

    /// Whether the account can't pay: no waiting helps. The words are those of OpenAI, Anthropic, Moonshot, gateways and xAI.
    pub fn is_quota(&self) -> bool {
        self.status == Some(402)
            || self.says(&[
                "insufficient_quota",
                "credit_balance_exhausted",
                "billing_hard_limit",
                "billing hard limit",
                "billing_not_active",
                "credit balance is too low",
                "insufficient balance",
                "insufficient credits",
                "used all available credits",
            ])
            // Google says the same of a minute that is used up, with when it is over.
            || (self.says(&["exceeded your current quota"]) && pause::in_words(&self.message).is_none())
            || self.code.as_deref().is_some_and(|c| c.ends_with("spend_limit_exceeded"))
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
    pub(super) fn again(&self) -> Again {
        if self.is_quota()
            || self.is_too_long()
            || self.is_about_the_limit()
            || self.should_retry == Some(false)
        {
            return Again::Never;
        }
        let busy =
            ["rate_limit_exceeded", "server_is_overloaded", "slow_down", "overloaded_error", "server_error"];
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

    /// Whether the server can't tell which call an output in the request belongs to: it has another with this id, or none.
    pub fn is_about_an_output(&self) -> bool {
        matches!(self.status, None | Some(400 | 404 | 422))
            && self.says(&["call_id", "call id", "function_call_output", "function call output"])
            && self.says(&["duplicate", "already", "no tool call found", "no tool output found"])
    }

    /// Whether a refusal about the earlier response says that this one is gone, so that the server may well keep others.
    pub fn is_previous_response_gone(&self) -> bool {
        let words = [
            "previous_response_not_found",
            "not found",
            "could not find",
            "not be found",
            "expired",
            "does not exist",
            "no longer",
            "deleted",
        ];
        self.status == Some(404) || self.says(&words)
    }
}

/// The status of HTTP that a code is, as a number or in digits.
fn status_in(code: &Value) -> Option<u16> {
    let status = match code {
        Value::String(digits) => digits.trim().parse().ok()?,
        number => u16::try_from(number.as_u64()?).ok()?,
    };
    (400..600).contains(&status).then_some(status)
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

impl Refusal {
    /// What happened, and what to do.
    pub(super) fn words(&self, server: &Server, model: &str, key: Option<&Key>) -> (String, String) {
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

    /// When to send again, where the server says.
    fn when(&self) -> Option<String> {
        let wait = self.wait().filter(|wait| !wait.is_zero())?;
        let words = in_plain_words(wait);
        Some(if wait > pause::LONGEST {
            format!("The server asks to wait {words}, which is longer than a turn waits: send again then.")
        } else {
            format!("Send again in {words}.")
        })
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
        if let Some(advice) = self.advice_on_size(server) {
            return advice;
        }
        if crate::providers::abilities::says_no_tools(self) {
            return (
                "can't call tools with this model".into(),
                format!(
                    "Choose a model with tools, or ask again without: with `tools = false` under [providers.{}] in config.toml the open text itself, \
                     up to 24,000 characters of it, is sent with the question.",
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
            let hint = self.when().unwrap_or_else(|| "Wait a little and send again.".to_owned());
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
            400..500 => own(
                "refused the request",
                "Check the model and its options; the peek view shows what is sent.",
            ),
            500.. => {
                let hint = self.when().unwrap_or_else(|| "Send again in a moment.".to_owned());
                ("failed".to_owned(), format!("The trouble is at the server. {hint}"))
            }
            _ => own("reported an error", "Send again; if it stays, choose another model."),
        }
    }

    /// The same of what is too large.
    fn advice_on_size(&self, server: &Server) -> Option<(String, String)> {
        if self.is_about_the_limit() {
            return Some((
                "has no room for so long an answer as is asked for".into(),
                format!(
                    "Lower `max_output_tokens` under [options], or `output_limit` under [providers.{}], in config.toml; or ask about less text at a time.",
                    server.name()
                ),
            ));
        }
        if self.is_beyond_the_minute() {
            return Some((
                "takes less in a whole minute than this question has with all that belongs to it".into(),
                "Ask about less text at a time, begin a new conversation, or raise the account's limit of tokens per minute; waiting does not help.".into(),
            ));
        }
        self.is_too_long().then(|| (
            "can't take so long a question with all that belongs to it".into(),
            "Ask about less text at a time, begin a new conversation, or choose a model with a larger context.".into(),
        ))
    }
}
