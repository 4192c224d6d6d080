//! Server-sent events: bytes in as they arrive, events out.
//!
//! Follows the event stream interpretation of the HTML standard
//! (<https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>) with two additions
//! that real servers need: an event that the end of the stream cuts off before its blank line is still given out, and bytes that
//! are no UTF-8 become U+FFFD. Knows nothing of JSON, never reconnects, and never holds more than one event.

/// Most bytes of one event, its unfinished line included.
pub const MAX_EVENT: usize = 16 * 1024 * 1024;

const BOM: &[u8] = &[0xEF, 0xBB, 0xBF];

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The `event:` field; empty when there was none.
    pub event: String,
    /// The `data:` lines, joined by line feeds.
    pub data: String,
}

/// An event is longer than the decoder may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is longer than {0} bytes")]
pub struct TooLong(pub usize);

/// Turns a stream of byte chunks, cut anywhere, into events.
#[derive(Debug)]
pub struct Decoder {
    /// The line that has not ended.
    line: Vec<u8>,
    /// No line has ended yet, so a byte order mark may stand in front.
    first: bool,
    /// The last byte was a carriage return: a line feed right after it belongs to the same line end.
    after_cr: bool,
    event: String,
    data: Option<String>,
    limit: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::with_limit(MAX_EVENT)
    }
}

impl Decoder {
    /// Makes a decoder that refuses events of more than `limit` bytes.
    pub fn with_limit(limit: usize) -> Self {
        Self { line: vec![], first: true, after_cr: false, event: String::new(), data: None, limit }
    }

    /// Takes the next bytes and appends the events that they complete to `out`.
    ///
    /// Time is linear in the bytes, however they are cut. After an error the decoder is of no more use.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<Message>) -> Result<(), TooLong> {
        let mut rest = chunk;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = rest.iter().position(|b| matches!(b, b'\n' | b'\r')) else {
                return self.keep(rest);
            };
            self.keep(&rest[..end])?;
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            out.extend(self.end_line());
        }
        Ok(())
    }

    /// Ends the stream: gives the event that no blank line ended, if any.
    pub fn finish(mut self) -> Option<Message> {
        // An unfinished blank line can't be: a line that holds nothing was ended by its own line feed.
        if !self.line.is_empty() {
            self.end_line();
        }
        self.dispatch()
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        let held = self.line.len() + self.event.len() + self.data.as_ref().map_or(0, String::len);
        if held + bytes.len() > self.limit {
            return Err(TooLong(self.limit));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Option<Message> {
        let bytes = std::mem::take(&mut self.line);
        let bytes = match bytes.strip_prefix(BOM) {
            Some(rest) if self.first => rest,
            _ => bytes.as_slice(),
        };
        self.first = false;
        if bytes.is_empty() {
            return self.dispatch();
        }
        let line = String::from_utf8_lossy(bytes);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Message> {
        let event = std::mem::take(&mut self.event);
        let data = self.data.take()?;
        Some(Message { event, data })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<(String, String)> {
        let (mut decoder, mut out) = (Decoder::default(), vec![]);
        for chunk in chunks {
            decoder.push(chunk, &mut out).unwrap();
        }
        out.extend(decoder.finish());
        out.into_iter().map(|m| (m.event, m.data)).collect()
    }

    fn event(name: &str, data: &str) -> (String, String) {
        (name.to_owned(), data.to_owned())
    }

    #[test]
    fn events_are_told_apart_by_blank_lines_whatever_ends_a_line() {
        let unix = "event: a\ndata: one\ndata: two\n\n: a comment\n\ndata:three\n\n";
        let expected = [event("a", "one\ntwo"), event("", "three")];
        for text in [unix.to_owned(), unix.replace('\n', "\r\n"), unix.replace('\n', "\r")] {
            assert_eq!(decode([text.as_bytes()]), expected, "{text:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_dropped_at_the_start_only() {
        assert_eq!(decode(["\u{feff}data: x\n\n".as_bytes()]), [event("", "x")]);
        assert_eq!(decode(["data: x\n\n\u{feff}data: y\n\n".as_bytes()]), [event("", "x")]);
    }

    #[test]
    fn the_last_event_needs_no_blank_line() {
        assert_eq!(decode([b"data: a\n\ndata: b".as_slice()]), [event("", "a"), event("", "b")]);
        assert_eq!(decode([b"data: a\n\ndata: b\n".as_slice()]), [event("", "a"), event("", "b")]);
        assert_eq!(decode([b"data: a\n\nevent: nothing".as_slice()]), [event("", "a")]);
    }

    #[test]
    fn one_space_after_the_colon_is_no_part_of_the_value() {
        let text = b"data:  two\n\ndata\n\ndata:\n\nid: 7\nretry: 10\nevent: lost\n\ndata: x\n\n".as_slice();
        assert_eq!(decode([text]), [event("", " two"), event("", ""), event("", ""), event("", "x")]);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(decode([b"data: a\xffb\n\n".as_slice()]), [event("", "a\u{fffd}b")]);
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut decoder = Decoder::with_limit(16);
        let mut out = vec![];
        assert_eq!(decoder.push(b"data: 123456789\n", &mut out), Ok(()));
        assert_eq!(decoder.push(b"data: 123456789\n", &mut out), Err(TooLong(16)));
        let mut decoder = Decoder::with_limit(16);
        assert_eq!(decoder.push(&[b'x'; 17], &mut out), Err(TooLong(16)));
        assert!(out.is_empty());
    }

    /// Streams made of what stands in streams, so that line ends, marks and letters of several bytes are cut in two.
    fn streams() -> impl Strategy<Value = Vec<u8>> {
        let pieces: [&[u8]; 12] = [
            b"data: ",
            b"data:{\"type\":\"x\"}",
            b"event: delta",
            b"\n",
            b"\r\n",
            b"\r",
            b"\n\n",
            b": ping",
            "é 🙂 日本".as_bytes(),
            b"\xef\xbb\xbf",
            b"\xff\xc3",
            b":",
        ];
        let piece = prop::sample::select(pieces.to_vec());
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(stream in streams(), cuts in prop::collection::vec(0usize..400, 0..12)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(stream.len())).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let chunks = cuts.windows(2).map(|w| &stream[w[0]..w[1]]);
            let whole = decode([stream.as_slice()]);
            prop_assert_eq!(&decode(chunks), &whole);
            prop_assert_eq!(&decode(stream.chunks(1)), &whole);
        }

        #[test]
        fn what_is_encoded_is_decoded(events in prop::collection::vec(("[a-z.]{0,12}", "[^\r\n]{1,20}(\n[^\r\n]{0,20}){0,3}"), 0..8)) {
            let mut stream = String::new();
            for (name, data) in &events {
                stream.extend(["event: ", name, "\n"]);
                for line in data.split('\n') {
                    stream.extend(["data: ", line, "\n"]);
                }
                stream += "\n";
            }
            prop_assert_eq!(decode(stream.as_bytes().chunks(3)), events);
        }
    }
}
