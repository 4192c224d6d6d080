//! Reading a broken block key by key: the last resort, so that one mistake does not cost the other keys.

use serde_json::{Map, Value};

use super::Problem;

/// A key at the left margin with the lines that belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment<'a> {
    /// Where it starts in the block.
    pub start: usize,
    /// The key, without quotes.
    pub key: &'a str,
    /// What stands behind the separator on the key's line.
    pub rest: &'a str,
    /// All of its lines.
    pub text: &'a str,
}

/// Cuts a block at the keys that stand at its left margin. Lines before the first key belong to none.
pub(super) fn segments(block: &str, separator: char) -> Vec<Segment<'_>> {
    let mut found: Vec<Segment<'_>> = vec![];
    let mut at = 0;
    for line in block.split_inclusive('\n') {
        if let Some((key, rest)) = key_line(line, separator) {
            found.push(Segment { start: at, key, rest, text: line });
        } else if line.starts_with('[') && separator == '=' {
            // The keys of a TOML table are not keys of the block.
            break;
        } else if let Some(last) = found.last_mut() {
            last.text = &block[last.start..at + line.len()];
        }
        at += line.len();
    }
    found
}

/// Splits `key: rest`; `None` for a line that is indented, a comment or a list item, or has no key.
fn key_line(line: &str, separator: char) -> Option<(&str, &str)> {
    if line.starts_with([' ', '\t', '#', '-']) {
        return None;
    }
    let (key, rest) = line.split_once(separator)?;
    let key = key.trim().trim_matches(['"', '\'']);
    let apart = separator != ':' || rest.is_empty() || rest.starts_with(char::is_whitespace);
    (apart && !key.is_empty() && key.chars().count() <= 60).then_some((key, rest.trim()))
}

/// Notes every key of the block that stands twice.
pub(super) fn duplicates(text: &str, block_start: usize, segments: &[Segment<'_>]) -> Vec<Problem> {
    let mut seen = std::collections::BTreeSet::new();
    let twice = segments.iter().filter(|segment| !seen.insert(segment.key));
    twice
        .map(|s| {
            let message = format!("`{}` stands here a second time; the first one counts", s.key);
            Problem::at(text, block_start + s.start, message)
        })
        .collect()
}

/// Reads each segment with `read`, or else as plain text or a list of plain texts. The first of a key counts.
pub(super) fn recover(
    segments: &[Segment<'_>],
    read: impl Fn(&Segment<'_>) -> Option<Value>,
) -> Map<String, Value> {
    let mut fields = Map::new();
    for segment in segments {
        if !fields.contains_key(segment.key) {
            fields.insert(segment.key.to_owned(), read(segment).unwrap_or_else(|| plain(segment)));
        }
    }
    fields
}

fn plain(segment: &Segment<'_>) -> Value {
    let unquoted = |text: &str| {
        Value::from(text.trim().trim_end_matches(',').trim_matches(['"', '\'', '[', ']', ' ']).to_owned())
    };
    let items: Vec<&str> =
        segment.text.lines().skip(1).filter_map(|line| line.trim_start().strip_prefix("- ")).collect();
    if segment.rest.is_empty() && !items.is_empty() {
        return items.into_iter().map(unquoted).collect();
    }
    // A wikilink keeps its brackets.
    if segment.rest.starts_with("[[") { Value::from(segment.rest) } else { unquoted(segment.rest) }
}
