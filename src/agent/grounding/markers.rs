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
        let rest = &answer[open..];
        let end = match opening(rest) {
            Opening::No => {
                at = open + 1;
                continue;
            }
            Opening::Half => {
                pieces.push(Piece::Text(without_gap(&answer[text_from..open])));
                open + rest.find('\n').unwrap_or(rest.len())
            }
            Opening::Maybe => {
                if !streaming && rest.trim_end().len() <= 2 {
                    break;
                }
                pieces.push(Piece::Text(without_gap(&answer[text_from..open])));
                return pieces;
            }
            Opening::Marker(kind, body) => {
                let body = open + body;
                match close(&answer[body..]) {
                    Some(len) => {
                        let (text, words) = (&answer[text_from..open], answer[body..body + len].trim());
                        match kind {
                            Kind::Locate => pieces.extend([Piece::Text(without_gap(text)), Piece::Locate(words)]),
                            Kind::Codex => pieces.extend([Piece::Text(text), Piece::Codex(words)]),
                        }
                        body + len + 2
                    }
                    None => {
                        pieces.push(Piece::Text(without_gap(&answer[text_from..open])));
                        let paragraph = paragraph_len(&answer[body..]);
                        if streaming && body + paragraph == answer.len() {
                            return pieces;
                        }
                        body + answer[body..body + paragraph].find('\n').unwrap_or(paragraph)
                    }
                }
            }
        };
        (text_from, at) = (end, end);
    }
    pieces.push(Piece::Text(&answer[text_from..]));
    pieces
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
            ("", &[Text("")]),
            ("plain [text] [[wiki]]", &[Text("plain [text] [[wiki]]")]),
            ("\"a\" [[locate:a]].", &[Text("\"a\""), Locate("a"), Text(".")]),
            ("[[locate:a]][[locate:b]]", &[Text(""), Locate("a"), Text(""), Locate("b"), Text("")]),
            ("x [[ Locate : a b ]] y", &[Text("x"), Locate("a b"), Text(" y")]),
            ("ask [[codex:Mira]] now", &[Text("ask "), Codex("Mira"), Text(" now")]),
            ("[[locate:he wrote [sic]]] so", &[Text(""), Locate("he wrote [sic]"), Text(" so")]),
            ("[[locate:two\nlines]]", &[Text(""), Locate("two\nlines"), Text("")]),
            ("a [[locate:never closed\nb", &[Text("a"), Text("\nb")]),
            ("a [[locate:open\n\nb]] c", &[Text("a"), Text("\n\nb]] c")]),
            ("[[locate:open [[locate:b]]", &[Text(""), Text(""), Locate("b"), Text("")]),
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
