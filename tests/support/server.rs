//! A server on the loopback interface that plays streams as the APIs document them, in the protocol that it is asked in, and records what it was sent.

#![allow(dead_code, reason = "each test binary plays its own part of this")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

#[path = "bodies.rs"]
pub mod bodies;

/// What the server does with a request.
pub enum Reply {
    /// Answers with words.
    Say(&'static str),
    /// Calls a tool.
    Call(&'static str, Value),
    /// Calls tools in one response, each with its arguments as they are on the wire.
    Calls(Vec<(String, String)>),
    /// Refuses with a status and an error body.
    Refuse(u16, Value),
    /// Takes the request and never answers.
    Silence,
    /// Begins to answer with these words, and never goes on.
    Stall(&'static str),
    /// Begins to answer with these words, and hangs up.
    Break(&'static str),
    /// Sends these bytes and hangs up: an answer as no server should give it.
    Bytes(Vec<u8>),
    /// Begins to answer, and goes on with a comment every few milliseconds for as long as anybody listens.
    Drip,
    /// Answers with words, and never hangs up.
    SayAndStay(&'static str),
    /// Begins to play another answer, falls silent after so many bytes, and says so: see [`Server::fell_silent`].
    First(usize, Box<Reply>),
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Received {
    pub head: String,
    /// Null where there is none.
    pub body: Value,
    /// The body, byte for byte.
    pub raw: String,
}

/// A running server. Its thread ends with the test's process. Dropping it checks every body that it got of OpenAI's APIs.
pub struct Server {
    pub base: String,
    received: Arc<Mutex<Vec<Received>>>,
    /// Bodies that break a rule of their API.
    broken: Arc<Mutex<Vec<String>>>,
    ended: Arc<AtomicBool>,
    arrived: Receiver<()>,
    silent: Receiver<()>,
}

impl Server {
    /// Starts a server; `reply` is asked with the number of the request, from 0, and its body.
    pub fn start(reply: impl Fn(usize, &Value) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let broken: Arc<Mutex<Vec<String>>> = Arc::default();
        let (send, arrived) = channel();
        let (fall_silent, silent_at) = channel();
        let (log, rules) = (Arc::clone(&received), Arc::clone(&broken));
        let ended: Arc<AtomicBool> = Arc::default();
        let over = Arc::clone(&ended);
        std::thread::spawn(move || {
            let mut silent = vec![];
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let Some(request) = read(&stream) else { continue };
                let n = log.lock().unwrap().len();
                let wire = Wire::of(&request.head);
                rules.lock().unwrap().extend(bodies::arrived(&request.head, &request.raw).err());
                rules.lock().unwrap().extend(key_in_body(&request));
                let answer = reply(n, &request.body);
                log.lock().unwrap().push(request);
                let _ = send.send(());
                match answer {
                    Reply::Silence => silent.push(stream),
                    Reply::Stall(words) => {
                        let _ = stream.write_all(&begin(n, words));
                        silent.push(stream);
                    }
                    Reply::SayAndStay(words) => {
                        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
                        let body = wire.stream(n, Some(words), &[]).1;
                        let _ = stream.write_all(format!("{head}{body}").as_bytes());
                        silent.push(stream);
                    }
                    Reply::First(bytes, whole) => {
                        let whole = play(n, &whole, wire);
                        let _ = stream.write_all(&whole[..bytes.min(whole.len())]);
                        silent.push(stream);
                        let _ = fall_silent.send(());
                    }
                    Reply::Break(words) => drop(stream.write_all(&begin(n, words))),
                    Reply::Bytes(bytes) => drop(stream.write_all(&bytes)),
                    Reply::Drip => {
                        let _ = stream.write_all(&begin(n, "So "));
                        std::thread::spawn(move || drip(stream));
                    }
                    other => drop(stream.write_all(&play(n, &other, wire))),
                }
            }
        });
        Self { base, received, broken, ended, arrived, silent: silent_at }
    }

    /// Returns the requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits for the next request.
    pub fn wait(&self) {
        self.arrived.recv_timeout(Duration::from_secs(20)).expect("no request arrived");
    }

    /// Waits until an answer that is played in part has been played so far.
    pub fn fell_silent(&self) {
        self.silent.recv_timeout(Duration::from_secs(20)).expect("no answer was begun");
    }
}

/// Tells of a key that stands elsewhere than in its header.
fn key_in_body(request: &Received) -> Option<String> {
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let is_key = ["authorization", "x-api-key", "api-key"].contains(&name.to_ascii_lowercase().as_str());
        is_key.then(|| value.trim().trim_start_matches("Bearer ").to_owned())
    };
    let key = request.head.lines().find_map(header)?;
    let stands = !key.is_empty() && request.raw.contains(&key);
    stands.then(|| format!("the key is in the body: {}", request.raw))
}

/// Returns the length in bytes of the `n`th answer of the Responses API, if it is this.
pub fn length(n: usize, reply: &Reply) -> usize {
    play(n, reply, Wire::Responses).len()
}

impl Drop for Server {
    fn drop(&mut self) {
        // A last connection wakes the thread, so that of thousands none stays.
        self.ended.store(true, Ordering::Relaxed);
        let address = self.base.trim_start_matches("http://").trim_end_matches("/v1");
        drop(TcpStream::connect(address));
        if !std::thread::panicking() {
            let broken = self.broken.lock().unwrap();
            assert!(broken.is_empty(), "a request that its API would refuse: {}", broken.join("\n"));
        }
    }
}

fn read(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let length = head
        .lines()
        .find_map(|l| l.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let raw = String::from_utf8(body).unwrap();
    let body = if raw.is_empty() { Value::Null } else { serde_json::from_str(&raw).unwrap() };
    Some(Received { head, body, raw })
}

/// The protocol that a request is made in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    Responses,
    Chat,
    Ollama,
    Anthropic,
}

impl Wire {
    fn of(head: &str) -> Self {
        let path = head.split(' ').nth(1).unwrap_or_default();
        match path {
            _ if path.ends_with("/chat/completions") => Self::Chat,
            _ if path.ends_with("/api/chat") => Self::Ollama,
            _ if path.ends_with("/messages") => Self::Anthropic,
            _ => Self::Responses,
        }
    }

    /// Words, or calls with name and arguments, as a whole stream with its media type.
    fn stream(self, n: usize, words: Option<&str>, calls: &[(String, String)]) -> (&'static str, String) {
        match self {
            Self::Responses => {
                let said = words.map(|words| say(n, words));
                let one_or_all =
                    |at: usize| if calls.len() == 1 { n.to_string() } else { format!("{n}_{at}") };
                let called = calls
                    .iter()
                    .enumerate()
                    .map(|(at, (name, arguments))| call(at, &one_or_all(at), name, arguments));
                ("text/event-stream", stream(n, &said.into_iter().chain(called).collect::<Vec<_>>()))
            }
            Self::Chat => ("text/event-stream", chat(n, words, calls)),
            Self::Ollama => ("application/x-ndjson", ollama(words, calls)),
            Self::Anthropic => ("text/event-stream", anthropic(n, words, calls)),
        }
    }
}

fn chat(n: usize, words: Option<&str>, calls: &[(String, String)]) -> String {
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        let chunk = json!({ "id": format!("chatcmpl-{n}"), "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let mut all = chunk(json!({ "role": "assistant", "content": null }), Value::Null);
    for piece in words.unwrap_or_default().split_inclusive(' ') {
        all += &chunk(json!({ "content": piece }), Value::Null);
    }
    for (at, (name, arguments)) in calls.iter().enumerate() {
        let (first, second) = arguments.split_at(arguments.floor_char_boundary(arguments.len() / 2));
        let function = json!({ "name": name, "arguments": first });
        all += &chunk(
            json!({ "tool_calls": [{ "index": at, "id": format!("call_{n}_{at}"), "type": "function", "function": function }] }),
            Value::Null,
        );
        all += &chunk(
            json!({ "tool_calls": [{ "index": at, "function": { "arguments": second } }] }),
            Value::Null,
        );
    }
    all += &chunk(json!({}), if calls.is_empty() { "stop" } else { "tool_calls" }.into());
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 } });
    all + &format!("data: {usage}\n\ndata: [DONE]\n\n")
}

fn ollama(words: Option<&str>, calls: &[(String, String)]) -> String {
    let line = |message: Value| format!("{}\n", json!({ "model": "m", "message": message, "done": false }));
    let mut all = String::new();
    for piece in words.unwrap_or_default().split_inclusive(' ') {
        all += &line(json!({ "role": "assistant", "content": piece }));
    }
    for (name, arguments) in calls {
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        let call = json!({ "function": { "index": 0, "name": name, "arguments": arguments } });
        all += &line(json!({ "role": "assistant", "content": "", "tool_calls": [call] }));
    }
    let last = json!({ "model": "m", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop",
        "prompt_eval_count": 100, "eval_count": 10 });
    all + &format!("{last}\n")
}

fn anthropic(n: usize, words: Option<&str>, calls: &[(String, String)]) -> String {
    let mut all = vec![
        json!({ "type": "message_start", "message": { "id": format!("msg_{n}"), "type": "message", "role": "assistant", "content": [], "usage": { "input_tokens": 100, "output_tokens": 1 } } }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "thinking", "thinking": "", "signature": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "thinking_delta", "thinking": "hm" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "signature_delta", "signature": format!("sig {n}") } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "text", "text": "" } }),
    ];
    for piece in words.unwrap_or_default().split_inclusive(' ') {
        all.push(json!({ "type": "content_block_delta", "index": 1, "delta": { "type": "text_delta", "text": piece } }));
    }
    all.push(json!({ "type": "content_block_stop", "index": 1 }));
    for (at, (name, arguments)) in calls.iter().enumerate() {
        let index = at + 2;
        all.push(json!({ "type": "content_block_start", "index": index, "content_block": { "type": "tool_use", "id": format!("toolu_{n}_{at}"), "name": name, "input": {} } }));
        all.push(json!({ "type": "content_block_delta", "index": index, "delta": { "type": "input_json_delta", "partial_json": arguments } }));
        all.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
    all.push(json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 10 } }));
    all.push(json!({ "type": "message_stop" }));
    let line = |event: Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    all.into_iter().map(line).collect()
}

fn play(n: usize, reply: &Reply, wire: Wire) -> Vec<u8> {
    let whole = |words: Option<&str>, calls: &[(String, String)]| {
        let (kind, body) = wire.stream(n, words, calls);
        ("200 OK".to_owned(), kind, body)
    };
    let (status, kind, body) = match reply {
        Reply::Say(words) => whole(Some(words), &[]),
        Reply::Call(name, arguments) => whole(None, &[((*name).to_owned(), arguments.to_string())]),
        Reply::Calls(calls) => whole(None, calls),
        Reply::Refuse(status, body) => (format!("{status} Refused"), "application/json", body.to_string()),
        _ => unreachable!("what does not end well is not played whole"),
    };
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

fn drip(mut stream: TcpStream) {
    stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    // Nothing more is asked: reading ends with the time, or when the other side hangs up.
    while !matches!(stream.read(&mut [0]), Ok(0)) {
        if stream.write_all(b": still there\n\n").is_err() {
            return;
        }
    }
}

/// The first events of an answer, in a response that says no length and so never seems to end.
fn begin(n: usize, words: &str) -> Vec<u8> {
    let whole = stream(n, &[say(n, words)]);
    let cut = whole.find("event: response.output_text.done").unwrap();
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{}", &whole[..cut]).into_bytes()
}

/// Wraps output items, each with its events, into the events of a response.
fn stream(n: usize, items: &[(Vec<Value>, Value)]) -> String {
    let response = |status: &str, output: Vec<&Value>| {
        json!({
            "id": format!("resp_{n}"), "object": "response", "created_at": 1_700_000_000, "status": status, "output": output,
            "service_tier": "default",
            "usage": { "input_tokens": 100, "output_tokens": 10, "total_tokens": 110 },
        })
    };
    let mut all = vec![
        json!({ "type": "response.created", "response": response("in_progress", vec![]) }),
        json!({ "type": "response.in_progress", "response": response("in_progress", vec![]) }),
    ];
    for (at, (events, item)) in items.iter().enumerate() {
        all.extend(events.iter().cloned());
        all.push(json!({ "type": "response.output_item.done", "output_index": at, "item": item }));
    }
    let output = items.iter().map(|(_, item)| item).collect();
    all.push(json!({ "type": "response.completed", "response": response("completed", output) }));
    let line = |(number, mut event): (usize, Value)| {
        event["sequence_number"] = number.into();
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
    };
    all.into_iter().enumerate().map(line).collect()
}

fn say(n: usize, words: &str) -> (Vec<Value>, Value) {
    let id = format!("msg_{n}");
    let part = json!({ "type": "output_text", "text": words, "annotations": [], "logprobs": [] });
    let item =
        json!({ "id": id, "type": "message", "status": "completed", "role": "assistant", "content": [part] });
    let mut events = vec![json!({
        "type": "response.output_item.added", "output_index": 0,
        "item": { "id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": [] },
    })];
    events.extend(words.split_inclusive(' ').map(|piece| {
        json!({ "type": "response.output_text.delta", "item_id": id, "output_index": 0, "content_index": 0, "delta": piece })
    }));
    events.push(json!({ "type": "response.output_text.done", "item_id": id, "output_index": 0, "content_index": 0, "text": words }));
    (events, item)
}

fn call(at: usize, id: &str, name: &str, arguments: &str) -> (Vec<Value>, Value) {
    let (item_id, call_id) = (format!("fc_{id}"), format!("call_{id}"));
    let item = |status: &str, arguments: &str| {
        json!({
            "id": item_id, "type": "function_call", "status": status, "call_id": call_id, "name": name, "arguments": arguments,
        })
    };
    let (first, second) = arguments.split_at(arguments.floor_char_boundary(arguments.len() / 2));
    let delta = |piece: &str| json!({ "type": "response.function_call_arguments.delta", "item_id": item_id, "output_index": at, "delta": piece });
    let events = vec![
        json!({ "type": "response.output_item.added", "output_index": at, "item": item("in_progress", "") }),
        delta(first),
        delta(second),
        json!({ "type": "response.function_call_arguments.done", "item_id": item_id, "output_index": at, "arguments": arguments }),
    ];
    (events, item("completed", arguments))
}
