//! What tells a place from all others of the same words: the words around it.

use std::collections::HashMap;
use std::ops::Range;

use super::Place;
use crate::domain::exemption::ANCHOR_WORDS;
use crate::domain::passage::sha256_hex;

/// Bytes on either side in which words are looked for.
const REACH: usize = 240;

/// Characters of context on either side.
const CONTEXT: usize = 60;

/// The words around a place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Anchor {
    pub before: String,
    pub after: String,
}

impl Anchor {
    pub(super) fn of(text: &str, range: &Range<usize>) -> Self {
        let (left, right) = around(text, range);
        let mut before: Vec<&str> = left.split_whitespace().rev().take(ANCHOR_WORDS).collect();
        before.reverse();
        let after: Vec<&str> = right.split_whitespace().take(ANCHOR_WORDS).collect();
        Self { before: before.join(" "), after: after.join(" ") }
    }
}

/// Some text before and behind.
fn around<'a>(text: &'a str, range: &Range<usize>) -> (&'a str, &'a str) {
    let from = text.floor_char_boundary(range.start.saturating_sub(REACH));
    let to = text.floor_char_boundary((range.end + REACH).min(text.len()));
    (&text[from..range.start], &text[range.end..to])
}

/// The words before and behind for a reader: of the same paragraph, on one line.
pub(super) fn context(text: &str, range: &Range<usize>) -> (String, String) {
    let (left, right) = around(text, range);
    let left = left.rsplit("\n\n").next().unwrap_or(left).rsplit("\r\n\r\n").next().unwrap_or(left);
    let right = right.split("\n\n").next().unwrap_or(right).split("\r\n\r\n").next().unwrap_or(right);
    // In a block of keys the line is all that there is to it.
    let (left, right) = if is_line_of_its_own(text, range) {
        (left.rsplit('\n').next().unwrap_or(left), right.split('\n').next().unwrap_or(right))
    } else {
        (left, right)
    };
    (last(&one_line(left, true)), first(&one_line(right, false)))
}

fn is_line_of_its_own(text: &str, range: &Range<usize>) -> bool {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].lines().next().unwrap_or_default().trim_start();
    line.starts_with(['#', '-', '*', '|', '>'])
        || range.start < crate::domain::frontmatter::split(text).body_start
}

/// Joins lines; a space stays where the text goes on.
fn one_line(text: &str, before: bool) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let touches =
        if before { !text.ends_with(char::is_whitespace) } else { !text.starts_with(char::is_whitespace) };
    match (words.is_empty(), touches, before) {
        (true, ..) => String::new(),
        (_, true, _) => words,
        (_, _, true) => words + " ",
        (_, _, false) => format!(" {words}"),
    }
}

fn last(text: &str) -> String {
    let count = text.chars().count();
    if count <= CONTEXT {
        return text.to_owned();
    }
    let cut: String = text.chars().skip(count - CONTEXT).collect();
    let from = cut.find(' ').map_or(0, |at| at + 1);
    format!("\u{2026}{}", &cut[from..])
}

fn first(text: &str) -> String {
    if text.chars().count() <= CONTEXT {
        return text.to_owned();
    }
    let cut: String = text.chars().take(CONTEXT).collect();
    let to = cut.rfind(' ').unwrap_or(cut.len());
    format!("{}\u{2026}", &cut[..to])
}

/// Gives ids: short, the same in every run over the same words.
#[derive(Debug, Default)]
pub(super) struct Ids {
    given: HashMap<String, usize>,
}

impl Ids {
    pub(super) fn given(&mut self, mut place: Place) -> Place {
        let words = [
            place.path.as_str(),
            place.kind.as_str(),
            &place.text,
            &place.anchor.before,
            &place.anchor.after,
        ];
        let mut id = sha256_hex(words.join("\n"))[..6].to_owned();
        let nth = self.given.entry(id.clone()).or_insert(0);
        *nth += 1;
        if *nth > 1 {
            id = format!("{id}-{nth}");
        }
        place.id = id;
        place
    }
}
