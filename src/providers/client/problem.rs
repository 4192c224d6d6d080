//! What can go wrong between this program and a server, and what the author is told about it.
//!
//! A server's own words are never trusted: they are cut, made safe for a terminal, and freed of the key before anyone sees them.

use std::error::Error as _;
use std::io::ErrorKind;
use std::time::Duration;

use super::key::redact;
use super::pause::in_plain_words;
use super::{Key, Refusal, Server};
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
    /// Its turn, on a tier that keeps requests waiting.
    Queue,
    /// More of it.
    NextByte,
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
    /// Whether the server may have worked on the request, although it neither answered nor refused it.
    pub fn may_have_cost(&self) -> bool {
        matches!(self, Self::Silent(..) | Self::TooLong(_) | Self::CutOff | Self::TooMuch)
    }

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
        let problem = match io {
            _ if error.is_dns() => Self::UnknownHost,
            _ if error.is_timeout() => Self::NoConnection(connect),
            Some(ErrorKind::ConnectionRefused) => Self::NobodyThere,
            Some(ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable | ErrorKind::NetworkDown) => {
                Self::Unreachable
            }
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
        let kind = if self.is_unreachable() { FailureKind::Unreachable } else { FailureKind::Provider };
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
            Self::Silent(Phase::Queue, limit) => (
                format!("{host} kept the question waiting for {} and sent nothing of an answer.", in_plain_words(*limit)),
                "Send again, or choose another tier. `flex_first_byte` under [network] in config.toml is the limit.".to_owned(),
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

/// A server's words as part of a message: on one line, safe to show, without the key, and cut.
pub(super) fn quoted(raw: &str, key: Option<&Key>) -> String {
    let text = redact(raw, key);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = text.chars().take(MAX_QUOTED).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    safe_text::line(&shown).into_owned()
}
