//! A server on the loopback interface whose answers are floods of small deltas, and a book whose author asks it.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use scritorio::workbench::{Overrides, Surroundings, Workbench};
use serde_json::{Value, json};

/// What every answer is made of.
#[derive(Debug, Clone, Copy)]
pub struct Flood {
    pub deltas: usize,
    /// Words in each.
    pub words: usize,
    /// How many are sent in each millisecond; `None`: as fast as they are taken.
    pub in_a_millisecond: Option<usize>,
    /// After how many words a paragraph ends.
    pub paragraph: usize,
}

impl Flood {
    /// The `n`th delta, of words that no other has, so that none can be missing, doubled or in another place.
    pub fn delta(self, n: usize) -> String {
        let mut delta = String::new();
        for word in n * self.words..(n + 1) * self.words {
            let end = if (word + 1).is_multiple_of(self.paragraph) { ".\n\n" } else { " " };
            let _ = write!(delta, "w{word:x}{end}");
        }
        delta
    }

    /// All of them together.
    pub fn text(self) -> String {
        (0..self.deltas).map(|n| self.delta(n)).collect()
    }

    /// Starts a server that answers every request so, and returns its address. Its thread ends with the process.
    pub fn serve(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                self.answer(stream.unwrap());
            }
        });
        base
    }

    fn answer(self, stream: TcpStream) {
        read(&stream);
        stream.set_nodelay(true).unwrap();
        let mut out = BufWriter::new(stream);
        out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
            .unwrap();
        let text = |text: &str| json!({ "type": "output_text", "text": text, "annotations": [] });
        let message = |parts: Vec<Value>| json!({ "id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": parts });
        let response = json!({ "id": "resp_1", "object": "response", "status": "completed", "output": [],
            "usage": { "input_tokens": 100, "output_tokens": self.deltas, "total_tokens": 100 + self.deltas } });
        send(
            &mut out,
            &json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress" } }),
        );
        send(
            &mut out,
            &json!({ "type": "response.output_item.added", "output_index": 0, "item": message(vec![]) }),
        );
        let begun = Instant::now();
        for n in 0..self.deltas {
            let delta = self.delta(n);
            send(
                &mut out,
                &json!({ "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": delta }),
            );
            if let Some(each) = self.in_a_millisecond
                && (n + 1).is_multiple_of(each)
            {
                out.flush().unwrap();
                let due = begun + Duration::from_millis(((n + 1) / each) as u64);
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
            }
        }
        send(
            &mut out,
            &json!({ "type": "response.output_item.done", "output_index": 0, "item": message(vec![text(&self.text())]) }),
        );
        send(&mut out, &json!({ "type": "response.completed", "response": response }));
        out.flush().unwrap();
    }
}

fn send(out: &mut impl Write, event: &Value) {
    write!(out, "data: {event}\n\n").unwrap();
}

/// Reads a request to its end.
fn read(stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(said) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = said.trim().parse().unwrap();
        }
    }
    reader.read_exact(&mut vec![0; length]).unwrap();
}

/// A book with one chapter of so many words, whose author asks the server at `base`.
pub fn book(folder: &Path, base: &str, words: usize) -> Workbench {
    let root = folder.join("book");
    for part in ["manuscript", "codex/characters"] {
        std::fs::create_dir_all(root.join(part)).unwrap();
    }
    let mut text = String::from("# One\n\n");
    for n in 0..words {
        let end = if n % 100 == 99 { ".\n\n" } else { " " };
        let _ = write!(
            text,
            "{}{end}",
            ["the", "relay", "was", "silent", "Mira", "counted", "lamps"][n * 7 % 13 % 7]
        );
    }
    std::fs::write(root.join("manuscript/01.md"), text).unwrap();
    std::fs::write(root.join("codex/characters/mira.md"), "---\nname: Mira\n---\n\nShe counts.\n").unwrap();
    std::fs::create_dir_all(folder.join("config")).unwrap();
    let settings = format!(
        "[provider]\nname = 'flood'\n[providers.flood]\nbase_url = '{base}'\nwire = 'responses'\nmodel = 'm'\n"
    );
    std::fs::write(folder.join("config/config.toml"), settings).unwrap();
    Workbench::open_in(&root, Overrides::default(), Surroundings::in_folders(folder)).unwrap()
}
