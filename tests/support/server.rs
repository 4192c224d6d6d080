//! A server on the loopback interface that plays Responses streams, event for event as the API documents them, and records what it was sent.

#![allow(dead_code, reason = "each test binary plays its own part of this")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

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
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Received {
    pub head: String,
    /// The body, byte for byte.
    pub raw: String,
    pub body: Value,
}

/// A running server. Its thread ends with the test's process.
pub struct Server {
    pub base: String,
    received: Arc<Mutex<Vec<Received>>>,
    arrived: Receiver<()>,
}

impl Server {
    /// Starts a server; `reply` is asked with the number of the request, from 0, and its body.
    pub fn start(reply: impl Fn(usize, &Value) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let (send, arrived) = channel();
        let log = Arc::clone(&received);
        std::thread::spawn(move || {
            let mut silent = vec![];
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(request) = read(&stream) else { continue };
                let n = log.lock().unwrap().len();
                let answer = reply(n, &request.body);
                log.lock().unwrap().push(request);
                let _ = send.send(());
                match answer {
                    Reply::Silence => silent.push(stream),
                    Reply::Stall(words) => {
                        let _ = stream.write_all(&begin(n, words));
                        silent.push(stream);
                    }
                    other => drop(stream.write_all(&play(n, &other))),
                }
            }
        });
        Self { base, received, arrived }
    }

    /// Returns the requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits for the next request.
    pub fn wait(&self) {
        self.arrived.recv_timeout(Duration::from_secs(20)).expect("no request arrived");
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
    Some(Received { head, body: serde_json::from_str(&raw).unwrap(), raw })
}

fn play(n: usize, reply: &Reply) -> Vec<u8> {
    let (status, kind, body) = match reply {
        Reply::Say(words) => ("200 OK".to_owned(), "text/event-stream", stream(n, &[say(n, words)])),
        Reply::Call(name, arguments) => {
            let call = call(0, &format!("{n}"), name, &arguments.to_string());
            ("200 OK".to_owned(), "text/event-stream", stream(n, &[call]))
        }
        Reply::Calls(calls) => {
            let calls = calls
                .iter()
                .enumerate()
                .map(|(at, (name, arguments))| call(at, &format!("{n}_{at}"), name, arguments));
            ("200 OK".to_owned(), "text/event-stream", stream(n, &calls.collect::<Vec<_>>()))
        }
        Reply::Refuse(status, body) => (format!("{status} Refused"), "application/json", body.to_string()),
        Reply::Silence | Reply::Stall(_) => unreachable!("what does not end is not played whole"),
    };
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").into_bytes()
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
