//! One answer from its bytes to its events: what comes apart in [`super::frames`] is read by a [`Reader`].
//!
//! Pure: no socket, no clock. Bytes may be cut anywhere. After an end or a failure nothing more is read.

use serde_json::Value;

use super::Event;
use super::client::Refusal;
use super::frames::{Frames, Rest};
use super::sse::TooLong;
use super::wire::{Heard, Progress, Reader};
use crate::domain::conversation::Usage;

/// An answer that is heard.
pub struct Hearing {
    frames: Frames,
    reader: Box<dyn Reader>,
    pieces: Vec<String>,
}

/// How an answer came to its end when its bytes did.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// It is complete.
    Ended,
    /// The server gave up.
    Failed(Refusal),
    /// A web page came instead.
    WebPage,
    /// A JSON document came that is no answer.
    NoAnswer,
    /// Something is missing.
    CutOff,
}

impl End {
    fn of(progress: Progress) -> Option<Self> {
        match progress {
            Progress::Going => None,
            Progress::Ended => Some(Self::Ended),
            Progress::Failed(refusal) => Some(Self::Failed(refusal)),
        }
    }
}

/// Reads a piece. Some servers leave out the blank line between two events, so that their data is in one.
fn take(reader: &mut dyn Reader, piece: &str, out: &mut Vec<Event>) -> Progress {
    let is_one = !piece.contains('\n') || serde_json::from_str::<serde::de::IgnoredAny>(piece).is_ok();
    if is_one {
        return last(reader.take(piece), out);
    }
    let mut ends = piece.lines().map(|line| last(reader.take(line), out));
    ends.find(|progress| *progress != Progress::Going).unwrap_or(Progress::Going)
}

fn last((events, progress): Heard, out: &mut Vec<Event>) -> Progress {
    out.extend(events);
    progress
}

impl Hearing {
    /// Begins with an answer that `reader` reads.
    pub fn new(reader: Box<dyn Reader>) -> Self {
        Self { frames: Frames::new(reader.framing()), reader, pieces: vec![] }
    }

    /// Takes the next bytes, and gives what they mean to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Result<Progress, TooLong> {
        self.frames.push(bytes, &mut self.pieces)?;
        for piece in self.pieces.drain(..) {
            let progress = take(self.reader.as_mut(), &piece, out);
            if progress != Progress::Going {
                return Ok(progress);
            }
        }
        Ok(Progress::Going)
    }

    /// Returns what the server has told by now of what the answer uses.
    pub fn used(&self) -> Usage {
        self.reader.used()
    }

    /// The bytes have ended.
    pub fn finish(self, out: &mut Vec<Event>) -> End {
        let Self { frames, mut reader, .. } = self;
        let end = match frames.finish() {
            Rest::Piece(piece) => piece.and_then(|piece| End::of(take(reader.as_mut(), &piece, out))),
            Rest::Document(text) => match serde_json::from_str::<Value>(&text) {
                Ok(answer) => {
                    if answer.get("error").is_some_and(|e| !e.is_null())
                        && let Some(refusal) = Refusal::from_value(&answer)
                    {
                        return End::Failed(refusal);
                    }
                    return End::of(last(reader.whole(&answer), out)).unwrap_or(End::NoAnswer);
                }
                Err(_) if text.trim_start().starts_with('<') => return End::WebPage,
                // Pieces without their marks, one a line; or a document that was cut.
                Err(_) => End::of(take(reader.as_mut(), &text, out)),
            },
        };
        end.or_else(|| End::of(last(reader.end(), out))).unwrap_or(End::CutOff)
    }
}
