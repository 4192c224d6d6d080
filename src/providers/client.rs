//! The one HTTP client: its certificates, its limits of time, and the key that it sends.
//!
//! It posts a body and gives back bytes as they arrive. It never follows a redirect (the next host would get the author's prose, and
//! perhaps the key), never sends a key over an open connection to the outside, and never retries: it says what went wrong, and
//! [`super::remote`] decides.

mod get;
mod key;
mod leaving;
pub mod pause;
mod problem;
mod refusal;
#[cfg(test)]
pub(crate) mod replayer;
mod server;
mod size;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use jiff::Timestamp;
use reqwest::header;
use tokio::time::timeout;

use crate::domain::conversation::{Failure, FailureKind};

pub use key::{ApiKey, Key};
pub use pause::Pauses;
pub use problem::{Again, Phase, Problem};
pub use refusal::Refusal;
pub use server::Server;

/// Most bytes of an error's body that are read.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// Longest wait for the body of an error: what it says matters less than that it is one.
const ERROR_BODY: Duration = Duration::from_secs(5);

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection, name and encryption included. Default: 10 seconds.
    pub connect: Duration,
    /// For the first byte of an answer. Default: 2 minutes.
    pub first_byte: Duration,
    /// For the first of an answer on the flex tier, which waits for capacity, perhaps once its stream has begun. Default: 15 minutes.
    pub flex_first_byte: Duration,
    /// Between two pieces of an answer. Default: 2 minutes.
    pub idle: Duration,
    /// For all of an answer, new attempts and the waits before them included. Default: 30 minutes, with flex 45.
    pub total: Duration,
    /// Before the first new attempt, where the server does not say; doubled for each one after it. Default: half a second.
    pub retry: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(2),
            flex_first_byte: Duration::from_mins(15),
            idle: Duration::from_mins(2),
            total: Duration::from_mins(30),
            retry: Duration::from_millis(500),
        }
    }
}

impl Timeouts {
    /// Returns how long an answer on the flex tier is waited for.
    pub fn in_a_queue(self) -> Wait {
        Wait::Queue(self.flex_first_byte.max(self.first_byte))
    }

    /// Returns the limit for all of an answer on the flex tier.
    pub fn total_of_flex(self) -> Duration {
        self.total.saturating_add(self.flex_first_byte)
    }
}

/// The HTTP client of the program. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    timeouts: Timeouts,
    pauses: Pauses,
    proxies: Arc<Matcher>,
}

impl Client {
    /// Makes a client with the platform's certificates or, on a machine without any, Mozilla's.
    pub fn new(timeouts: Timeouts) -> Result<Self, Failure> {
        // reqwest takes the process-wide TLS provider. A second call finds it installed, which is what is wanted.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || {
            reqwest::Client::builder()
                .user_agent(concat!("scritorio/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(timeouts.connect)
                .redirect(reqwest::redirect::Policy::none())
        };
        let http = builder()
            .build()
            .or_else(|_| {
                builder().tls_backend_preconfigured(bundled_roots()?).build().map_err(|e| e.to_string())
            })
            .map_err(|cause| Failure {
                kind: FailureKind::Provider,
                message: format!("No secure connection can be set up: {cause}"),
                hint: "Check the system's certificates and proxy settings, or use the offline reader.".into(),
            })?;
        Ok(Self { http, timeouts, pauses: Pauses::default(), proxies: Arc::new(Matcher::from_system()) })
    }

    /// Waits by another clock between two attempts.
    #[must_use]
    pub fn with_pauses(self, pauses: Pauses) -> Self {
        Self { pauses, ..self }
    }

    /// Waits before a new attempt.
    pub async fn pause(&self, time: Duration) {
        self.pauses.wait(time).await;
    }

    /// Returns the proxy that stands before a server, as host and port.
    fn proxy_before(&self, server: &Server) -> Option<String> {
        let proxy = self.proxies.intercept(&server.address().parse().ok()?)?;
        Some(proxy.uri().authority()?.as_str().rsplit('@').next()?.to_owned())
    }

    /// Returns its limits of time.
    pub fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// Posts `body`, a JSON document, and returns the answer once its head has arrived with a status of success. Sets `left` once a connection stands and the body
    /// begins to leave. `first` is how long its beginning is waited for.
    pub async fn post(
        &self,
        server: &Server,
        key: Option<&Key>,
        body: String,
        left: Arc<AtomicBool>,
        first: Wait,
    ) -> Result<Answer, Problem> {
        let request = self.http.post(server.url()).header(header::CONTENT_TYPE, "application/json");
        let body = reqwest::Body::wrap(leaving::Leaving::new(body, Arc::clone(&left)));
        let request = request.header(header::ACCEPT, "text/event-stream").body(body);
        let request = signed(request, server, key)?;
        let (phase, limit) = first.limit(self.timeouts.idle);
        let response = match timeout(limit, request.send()).await {
            Err(_) if !left.load(Ordering::Acquire) => return Err(Problem::NoConnection(limit)),
            Err(_) => return Err(Problem::Silent(phase, limit)),
            Ok(Err(error)) => {
                return Err(Problem::of_transport(&error, self.timeouts.connect, self.proxy_before(server)));
            }
            Ok(Ok(response)) => response,
        };
        let status = response.status().as_u16();
        let elsewhere = text_header(&response, "location")
            .and_then(|to| Some(response.url().join(&to).ok()?.host_str()?.to_owned()));
        let text = |name: &str| text_header(&response, name);
        let retry_after = pause::in_head(text, Timestamp::now());
        let should_retry = text("x-should-retry").and_then(|v| v.trim().parse().ok());
        let media_type = text("content-type").unwrap_or_default().to_lowercase();
        let mut answer =
            Answer { response, media_type, wait: first, idle: self.timeouts.idle, received: Arc::default() };
        match status {
            200..300 => Ok(answer),
            300..400 => Err(Problem::Redirected(elsewhere)),
            407 if let Some(proxy) = self.proxy_before(server) => {
                Err(Problem::Proxy { proxy, why: problem::PROXY_WANTS_A_PASSWORD.into() })
            }
            _ => {
                let body = answer.read(MAX_ERROR_BODY, self.timeouts.idle.min(ERROR_BODY)).await;
                let refusal = Refusal::from_body(status, &body);
                Err(Problem::Refused(Refusal { retry_after, should_retry, ..refusal }))
            }
        }
    }
}

/// Adds what the server wants to be sent with a request. The key goes where nobody else can read it, or not at all.
fn signed(
    mut request: reqwest::RequestBuilder,
    server: &Server,
    key: Option<&Key>,
) -> Result<reqwest::RequestBuilder, Problem> {
    if let Some(key) = key {
        if !server.may_have_the_key() {
            return Err(Problem::OpenConnection);
        }
        let (name, value) = key.header(server.key_header()).ok_or(Problem::BadKey)?;
        request = request.header(name, value);
    }
    for (name, value) in server.headers() {
        request = request.header(name, value);
    }
    Ok(request)
}

/// An answer that is arriving. Dropping it closes the connection.
#[derive(Debug)]
pub struct Answer {
    response: reqwest::Response,
    media_type: String,
    wait: Wait,
    idle: Duration,
    received: Arc<AtomicU64>,
}

/// What an answer is waited for, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Its first byte.
    First(Duration),
    /// The first of what it says, where the server may begin it at once and then keep it waiting.
    Queue(Duration),
    /// More of it.
    Next,
}

impl Wait {
    fn limit(self, idle: Duration) -> (Phase, Duration) {
        match self {
            Self::First(limit) => (Phase::FirstByte, limit),
            Self::Queue(limit) => (Phase::Queue, limit),
            Self::Next => (Phase::NextByte, idle),
        }
    }
}

impl Answer {
    /// Returns the media type with its parameters, in lower case; empty where the server named none.
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns the count of the body's bytes that have arrived; it goes on as they do.
    pub fn received(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.received)
    }

    /// Waits for the next bytes; `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Problem> {
        let (phase, limit) = self.wait.limit(self.idle);
        let chunk = match timeout(limit, self.response.chunk()).await {
            Err(_) => return Err(Problem::Silent(phase, limit)),
            Ok(Err(_)) => return Err(Problem::CutOff),
            Ok(Ok(chunk)) => chunk,
        };
        if let Wait::First(_) = self.wait {
            self.wait = Wait::Next;
        }
        let arrived = chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        self.received.fetch_add(arrived, Ordering::Relaxed);
        Ok(chunk.map(Vec::from))
    }

    /// It says something: it no longer waits for its turn.
    pub fn has_begun(&mut self) {
        self.wait = Wait::Next;
    }

    /// Reads on to the end, at most `limit` bytes and `time`. What stops it early is no matter: what had arrived is returned.
    pub async fn read(&mut self, limit: usize, time: Duration) -> Vec<u8> {
        let mut body = vec![];
        let reading = async {
            while let Ok(Some(chunk)) = self.chunk().await {
                body.extend_from_slice(&chunk);
                if body.len() >= limit {
                    break;
                }
            }
        };
        // A server that never stops would hold the turn, however short the time between two pieces.
        let _ = timeout(time, reading).await;
        body.truncate(limit);
        body
    }
}

fn text_header(response: &reqwest::Response, name: &str) -> Option<String> {
    Some(String::from_utf8_lossy(response.headers().get(name)?.as_bytes()).into_owned())
}

fn bundled_roots() -> Result<rustls::ClientConfig, String> {
    let mut roots = rustls::RootCertStore::empty();
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// A server that begins its answer with `head`, and goes on with one byte after the other for as long as anybody takes them.
    async fn drips(head: &'static str) -> Server {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            assert!(socket.read(&mut [0; 4096]).await.unwrap() > 0);
            socket.write_all(format!("HTTP/1.1 {head}\r\n\r\n").as_bytes()).await.unwrap();
            while socket.write_all(b"x").await.is_ok() {
                tokio::task::yield_now().await;
            }
        });
        Server::new("x", &base, "/responses", None).unwrap()
    }

    #[tokio::test]
    async fn a_body_that_never_ends_is_read_for_its_time_and_what_came_is_kept() {
        let client = Client::new(Timeouts::default()).unwrap();
        let server = drips("200 OK").await;
        let first = Wait::First(Duration::from_mins(1));
        let mut answer = client.post(&server, None, "{}".into(), Arc::default(), first).await.unwrap();
        let body = answer.read(usize::MAX, Duration::from_millis(40)).await;
        assert!(!body.is_empty() && body.iter().all(|byte| *byte == b'x'), "{}", body.len());
        assert_eq!(answer.read(7, Duration::from_mins(1)).await, b"xxxxxxx");
    }

    #[tokio::test]
    async fn the_body_of_an_error_that_never_ends_is_read_for_its_time_only() {
        let limits = Timeouts { idle: Duration::from_millis(40), ..Timeouts::default() };
        let client = Client::new(limits).unwrap();
        let server = drips("500 X").await;
        let first = Wait::First(Duration::from_mins(1));
        let problem = client.post(&server, None, "{}".into(), Arc::default(), first).await.unwrap_err();
        let Problem::Refused(refusal) = problem else { panic!("{problem:?}") };
        assert_eq!(refusal.status, Some(500));
        assert!(refusal.message.starts_with("xx"), "{refusal:?}");
    }
}
