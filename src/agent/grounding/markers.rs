//! Markers in an answer: `[[locate:exact words]]` and `[[codex:NAME]]`, whole, half-arrived or never closed.

/// A piece of an answer, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text to show.
    Text(&'a str),
    /// The words of a locate marker.
    Locate(&'a str),
    /// The name in a reference to the Codex.
    Codex(&'a str),
}

/// What follows an opening bracket.
enum Opening {
    /// A marker; its body starts at this byte.
    Marker(Kind, usize),
    /// The text ends before it can be told.
    Maybe,
    /// A marker whose name breaks off at the end of a line: an answer was cut there.
    Half,
    /// Just a bracket.
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Locate,
    Codex,
}

/// Takes an answer apart. While it streams in, a marker that has only begun at the end is left out, and so are the first
/// characters of what may become one. In a finished answer a marker that is never closed is left out up to the end of its line.
pub fn pieces(answer: &str, streaming: bool) -> Vec<Piece<'_>> {
    let mut pieces = vec![];
    let (mut text_from, mut at) = (0, 0);
    while let Some(bracket) = answer[at..].find('[') {
        let open = at + bracket;
        let Some((marker, end)) = marker_at(answer, open, streaming) else {
            at = open + 1;
            continue;
        };
        let text = &answer[text_from..open];
        let is_part_of_the_sentence = matches!(marker, Some(Piece::Codex(_)));
        pieces.push(Piece::Text(if is_part_of_the_sentence { text } else { without_gap(text) }));
        pieces.extend(marker);
        (text_from, at) = (end, end);
    }
    pieces.push(Piece::Text(&answer[text_from..]));
    pieces.retain(|piece| *piece != Piece::Text(""));
    pieces
}

/// Returns the marker whose bracket is at byte `open`, if it is one, and where it ends; no piece for one that is not whole.
fn marker_at(answer: &str, open: usize, streaming: bool) -> Option<(Option<Piece<'_>>, usize)> {
    let rest = &answer[open..];
    let end_of_line = |from: usize| from + answer[from..].find('\n').unwrap_or(answer.len() - from);
    match opening(rest) {
        Opening::No => None,
        // Two brackets at the end of a finished answer are two brackets.
        Opening::Maybe if !streaming && rest.trim_end().len() <= 2 => None,
        Opening::Maybe => Some((None, answer.len())),
        Opening::Half => Some((None, end_of_line(open))),
        Opening::Marker(kind, body) => {
            let body = open + body;
            if let Some(len) = close(&answer[body..]) {
                let words = answer[body..body + len].trim();
                let piece = match kind {
                    Kind::Locate => Piece::Locate(words),
                    Kind::Codex => Piece::Codex(words),
                };
                return Some((Some(piece), body + len + 2));
            }
            let paragraph = body + paragraph_len(&answer[body..]);
            let may_go_on = streaming && paragraph == answer.len();
            Some((None, if may_go_on { paragraph } else { end_of_line(body).min(paragraph) }))
        }
    }
}

/// White space between a quotation and its marker goes with the marker.
fn without_gap(text: &str) -> &str {
    text.trim_end_matches([' ', '\t'])
}

fn opening(rest: &str) -> Opening {
    let line = rest.lines().next().unwrap_or_default();
    let is_last = line.len() == rest.len();
    let Some(inner) = line.strip_prefix("[[") else {
        return if line == "[" && is_last { Opening::Maybe } else { Opening::No };
    };
    let inner = inner.trim_start_matches(' ');
    let broken_off = match () {
        () if is_last => Opening::Maybe,
        () if inner.is_empty() => Opening::No,
        () => Opening::Half,
    };
    for (kind, name) in [(Kind::Locate, "locate"), (Kind::Codex, "codex")] {
        match inner.get(..name.len()) {
            Some(word) if word.eq_ignore_ascii_case(name) => {
                let after = inner[name.len()..].trim_start_matches(' ');
                return match after.strip_prefix(':') {
                    Some(body) => Opening::Marker(kind, line.len() - body.len()),
                    None if after.is_empty() => broken_off,
                    None => Opening::No,
                };
            }
            _ if name.get(..inner.len()).is_some_and(|start| inner.eq_ignore_ascii_case(start)) => {
                return broken_off;
            }
            _ => {}
        }
    }
    Opening::No
}

/// Returns the length of a marker's body, if it is closed within its paragraph and before the next marker.
fn close(body: &str) -> Option<usize> {
    let mut end = body[..paragraph_len(body)].find("]]")?;
    // `[[locate:he wrote [sic]]]` ends with the last pair.
    while body[end + 2..].starts_with(']') {
        end += 1;
    }
    Some(end)
}

/// Returns how far a marker's body can reach: to a blank line or the next marker, else to the end.
fn paragraph_len(body: &str) -> usize {
    let blank = body.match_indices('\n').map(|(at, _)| at).find(|at| {
        let next = body[at + 1..].lines().next();
        next.is_some_and(|line| line.trim().is_empty()) && body[at + 1..].contains('\n')
    });
    let marker = body
        .match_indices("[[")
        .map(|(at, _)| at)
        .find(|at| matches!(opening(&body[*at..]), Opening::Marker(..)));
    blank.unwrap_or(body.len()).min(marker.unwrap_or(body.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Piece::{Codex, Locate, Text};

    #[test]
    fn markers_are_told_from_text() {
        let table: [(&str, &[Piece]); 12] = [
            ("", &[]),
            ("plain [text] [[wiki]]", &[Text("plain [text] [[wiki]]")]),
            ("\"a\" [[locate:a]].", &[Text("\"a\""), Locate("a"), Text(".")]),
            ("[[locate:a]][[locate:b]]", &[Locate("a"), Locate("b")]),
            ("x [[ Locate : a b ]] y", &[Text("x"), Locate("a b"), Text(" y")]),
            ("ask [[codex:Mira]] now", &[Text("ask "), Codex("Mira"), Text(" now")]),
            ("[[locate:he wrote [sic]]] so", &[Locate("he wrote [sic]"), Text(" so")]),
            ("[[locate:two\nlines]]", &[Locate("two\nlines")]),
            ("a [[locate:never closed\nb", &[Text("a"), Text("\nb")]),
            ("a [[locate:open\n\nb]] c", &[Text("a"), Text("\n\nb]] c")]),
            ("[[locate:open [[locate:b]]", &[Locate("b")]),
            ("array[[0]] [", &[Text("array[[0]] [")]),
        ];
        for (answer, expected) in table {
            assert_eq!(pieces(answer, false), expected, "{answer:?}");
        }
    }

    #[test]
    fn a_marker_that_has_only_begun_is_left_out_while_the_answer_streams() {
        let whole = "He \"waits\" [[locate:waits]]";
        for cut in 12..whole.len() - 1 {
            assert_eq!(pieces(&whole[..cut], true), [Text("He \"waits\"")], "{:?}", &whole[..cut]);
        }
        assert_eq!(pieces("x [[c", true), [Text("x")]);
        assert_eq!(pieces("x [[cat", true), [Text("x [[cat")]);
        assert_eq!(pieces("x [[lo\ny [[", true), [Text("x"), Text("\ny")]);
        assert_eq!(pieces("x [[\ny", true), [Text("x [[\ny")]);
    }
}
