//! A server for tests: plays a script of bytes on a loopback socket, one script for each connection, and records what it was asked.
//!
//! It never waits by the clock: it answers at once, or stays silent until the other side hangs up. Dropping it checks every body that
//! it got of OpenAI's APIs.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

#[path = "../../../tests/support/bodies.rs"]
mod bodies;

/// What a connection is answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    pieces: Vec<Vec<u8>>,
    stalls: bool,
}

impl Script {
    /// Status, media type and body, sent as one piece.
    pub fn answer(status: u16, media_type: &str, body: impl AsRef<[u8]>) -> Self {
        Self::head(status, &format!("content-type: {media_type}\r\n")).then(body)
    }

    /// A stream of events.
    pub fn stream(body: impl AsRef<[u8]>) -> Self {
        Self::answer(200, "text/event-stream", body)
    }

    /// Status and further header lines, each with its line end.
    pub fn head(status: u16, headers: &str) -> Self {
        Self::default().then(format!("HTTP/1.1 {status} X\r\nconnection: close\r\n{headers}\r\n"))
    }

    /// One more piece of bytes, flushed before the next.
    pub fn then(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.pieces.push(bytes.as_ref().to_vec());
        self
    }

    /// Sends everything byte by byte.
    pub fn in_single_bytes(self) -> Self {
        Self { pieces: self.pieces.concat().chunks(1).map(<[u8]>::to_vec).collect(), ..self }
    }

    /// Falls silent instead of closing, until the other side does.
    pub fn then_silence(self) -> Self {
        Self { stalls: true, ..self }
    }

    /// Whether it sends anything.
    pub fn speaks(&self) -> bool {
        !self.pieces.is_empty()
    }
}

/// What the server was asked.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Request line and headers.
    pub head: String,
    /// The body, JSON.
    pub body: Value,
}

/// A running server.
#[derive(Debug)]
pub struct Replayer {
    /// Address up to `/v1`.
    pub base: String,
    recorded: Arc<Mutex<Vec<Recorded>>>,
    broken: Arc<Mutex<Vec<String>>>,
    asked: mpsc::UnboundedReceiver<()>,
    hung_up: mpsc::UnboundedReceiver<()>,
}

impl Replayer {
    /// Starts on a free port. Must be called inside a tokio runtime, which ends it.
    pub async fn start(scripts: impl IntoIterator<Item = Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let recorded = Arc::new(Mutex::new(vec![]));
        let broken: Arc<Mutex<Vec<String>>> = Arc::default();
        let (closing, hung_up) = mpsc::unbounded_channel();
        let (asking, asked) = mpsc::unbounded_channel();
        let scripts: Vec<_> = scripts.into_iter().collect();
        let (record, rules) = (Arc::clone(&recorded), Arc::clone(&broken));
        tokio::spawn(async move {
            for script in scripts {
                let (socket, _) = listener.accept().await.unwrap();
                socket.set_nodelay(true).unwrap();
                play(socket, script, (&record, &rules), [&asking, &closing]).await;
            }
        });
        Self { base, recorded, broken, asked, hung_up }
    }

    /// Returns what was asked so far.
    pub fn recorded(&self) -> Vec<Recorded> {
        self.recorded.lock().unwrap().clone()
    }

    /// Waits until a request has arrived whole.
    pub async fn asked(&mut self) {
        self.asked.recv().await.unwrap();
    }

    /// Waits until the client closes a connection that had fallen silent.
    pub async fn hung_up(&mut self) {
        self.hung_up.recv().await.unwrap();
    }
}

impl Drop for Replayer {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let broken = self.broken.lock().unwrap();
            assert!(broken.is_empty(), "a request that its API would refuse: {}", broken.join("\n"));
        }
    }
}

async fn play(
    mut socket: TcpStream,
    script: Script,
    (record, rules): (&Mutex<Vec<Recorded>>, &Mutex<Vec<String>>),
    [asking, closing]: [&mpsc::UnboundedSender<()>; 2],
) {
    let Some((request, raw)) = read(&mut socket).await else { return };
    rules.lock().unwrap().extend(bodies::arrived(&request.head, &raw).err());
    record.lock().unwrap().push(request);
    // The test may have all it wants by now and be gone.
    let _ = asking.send(());
    for piece in script.pieces {
        if socket.write_all(&piece).await.is_err() {
            return;
        }
        socket.flush().await.unwrap();
    }
    if script.stalls {
        while socket.read(&mut [0; 64]).await.is_ok_and(|n| n > 0) {}
        let _ = closing.send(());
    }
}

/// Reads a request, and gives the text of its body too.
async fn read(socket: &mut TcpStream) -> Option<(Recorded, String)> {
    let mut bytes = vec![];
    loop {
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let (head, body) = (String::from_utf8_lossy(&bytes[..end]).into_owned(), &bytes[end + 4..]);
        let length =
            head.lines().find_map(|l| l.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
        if body.len() >= length.unwrap_or(0) {
            let raw = String::from_utf8_lossy(body).into_owned();
            return Some((Recorded { head, body: serde_json::from_slice(body).unwrap_or_default() }, raw));
        }
    }
}
