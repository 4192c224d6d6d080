//! The pieces of an answer: bytes in, cut anywhere, and one text for each piece out.
//!
//! Server-sent events, or a JSON document a line. An answer that turns out to be one JSON document although events were announced is told
//! apart by its first byte. Never holds more than one piece, a document in one piece included.

use super::sse::{self, MAX_EVENT, TooLong};

/// How the pieces of an answer are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON document a line (<https://github.com/ndjson/ndjson-spec>).
    Lines,
}

/// Turns a stream of byte chunks into pieces.
#[derive(Debug)]
pub struct Frames {
    state: State,
    /// Bytes that came before it was known what the answer is: white space and a byte order mark at most.
    held: Vec<u8>,
}

#[derive(Debug)]
enum State {
    /// Nothing but white space has come.
    Unknown(Framing),
    Events(sse::Decoder, Vec<sse::Message>),
    Lines(Vec<u8>),
    /// Something that begins as a JSON document does where events were awaited.
    Document(Vec<u8>),
}

/// What was left at the end of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Rest {
    /// The piece that nothing ended, if any.
    Piece(Option<String>),
    /// The answer was one document, or lines of them.
    Document(String),
}

const BOM: &[u8] = &[0xEF, 0xBB, 0xBF];

impl Frames {
    /// Begins with an answer.
    pub fn new(framing: Framing) -> Self {
        Self { state: State::Unknown(framing), held: vec![] }
    }

    /// Takes the next bytes and gives the pieces that they complete to `out`.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<String>) -> Result<(), TooLong> {
        if let State::Unknown(framing) = &self.state {
            let framing = *framing;
            self.held.extend_from_slice(chunk);
            let start = self.held.strip_prefix(BOM).unwrap_or(&self.held);
            let undecided = self.held.len() < BOM.len() && BOM.starts_with(&self.held);
            let Some(first) = start.iter().find(|b| !b.is_ascii_whitespace()).filter(|_| !undecided) else {
                // A server that sends nothing but line ends is no reason to hold them.
                if !undecided {
                    self.held.clear();
                }
                return Ok(());
            };
            self.state = match framing {
                Framing::Lines => State::Lines(vec![]),
                Framing::Events if matches!(first, b'{' | b'[' | b'<') => State::Document(vec![]),
                Framing::Events => State::Events(sse::Decoder::default(), vec![]),
            };
            let held = std::mem::take(&mut self.held);
            return self.feed(&held, out);
        }
        self.feed(chunk, out)
    }

    fn feed(&mut self, chunk: &[u8], out: &mut Vec<String>) -> Result<(), TooLong> {
        match &mut self.state {
            State::Unknown(_) => Ok(()),
            State::Events(decoder, messages) => {
                decoder.push(chunk, messages)?;
                out.extend(messages.drain(..).map(|message| message.data));
                Ok(())
            }
            State::Document(held) => {
                held.extend_from_slice(chunk);
                if held.len() > MAX_EVENT { Err(TooLong(MAX_EVENT)) } else { Ok(()) }
            }
            State::Lines(held) => {
                let mut rest = chunk;
                while let Some(end) = rest.iter().position(|b| matches!(b, b'\n' | b'\r')) {
                    held.extend_from_slice(&rest[..end]);
                    rest = &rest[end + 1..];
                    out.extend(line(&std::mem::take(held)));
                }
                held.extend_from_slice(rest);
                if held.len() > MAX_EVENT { Err(TooLong(MAX_EVENT)) } else { Ok(()) }
            }
        }
    }

    /// Ends the stream.
    pub fn finish(self) -> Rest {
        match self.state {
            State::Unknown(_) => Rest::Piece(None),
            State::Events(decoder, _) => Rest::Piece(decoder.finish().map(|message| message.data)),
            State::Lines(held) => Rest::Piece(line(&held)),
            State::Document(held) => {
                Rest::Document(String::from_utf8_lossy(held.strip_prefix(BOM).unwrap_or(&held)).into_owned())
            }
        }
    }
}

/// One line as a piece; a blank one is none. A proxy may have made an event of it.
fn line(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes.strip_prefix(BOM).unwrap_or(bytes));
    let text = text.trim();
    let text = text.strip_prefix("data:").map_or(text, str::trim_start);
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(framing: Framing, bytes: &[u8], size: usize) -> (Vec<String>, Rest) {
        let (mut frames, mut out) = (Frames::new(framing), vec![]);
        for chunk in bytes.chunks(size) {
            frames.push(chunk, &mut out).unwrap();
        }
        (out, frames.finish())
    }

    #[test]
    fn lines_and_events_are_told_apart_however_they_are_cut() {
        for size in [1, 2, 3, 100] {
            let lines = "\u{feff}{\"a\":1}\r\n\n{\"b\":\"é\"}\ndata: {\"c\":3}\n{\"d\"".as_bytes();
            let (out, rest) = pieces(Framing::Lines, lines, size);
            assert_eq!(out, ["{\"a\":1}", "{\"b\":\"é\"}", "{\"c\":3}"], "{size}");
            assert_eq!(rest, Rest::Piece(Some("{\"d\"".into())));
            let events = "\u{feff}\n\n: ping\n\ndata:one\r\rdata: two".as_bytes();
            let (out, rest) = pieces(Framing::Events, events, size);
            assert_eq!((out, rest), (vec!["one".into()], Rest::Piece(Some("two".into()))));
        }
    }

    #[test]
    fn a_document_where_events_were_announced_is_one() {
        for size in [1, 100] {
            let (out, rest) = pieces(Framing::Events, "\u{feff} \n{\"a\":\n1}".as_bytes(), size);
            assert!(out.is_empty());
            assert!(matches!(rest, Rest::Document(text) if text.trim() == "{\"a\":\n1}"));
            let (_, rest) = pieces(Framing::Events, b"\n\n\n", size);
            assert_eq!(rest, Rest::Piece(None));
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut frames = Frames::new(Framing::Lines);
        assert_eq!(frames.push(&vec![b'x'; MAX_EVENT + 1], &mut vec![]), Err(TooLong(MAX_EVENT)));
    }
}
