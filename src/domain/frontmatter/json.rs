//! A JSON object at the start of a text.

use std::ops::Range;

use serde_json::{Map, Value};

use super::lines::{self, Segment};
use super::{Frontmatter, Problem, Split, Syntax};

/// Finds a JSON object at `start` that a line break follows; for a broken one, `{` and `}` on lines of their own.
pub(super) fn split(text: &str, start: usize) -> Option<Split> {
    let rest = &text[start..];
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
    if let Some(Ok(_)) = values.next() {
        let end = start + values.byte_offset();
        let tail = text[end..].split_inclusive('\n').next().unwrap_or_default();
        return tail.trim().is_empty().then(|| Split {
            syntax: Syntax::Json,
            block: start..end,
            body_start: end + tail.len(),
        });
    }
    let mut at = start;
    for (number, line) in rest.split_inclusive('\n').enumerate() {
        at += line.len();
        match line.trim_end() {
            "{" if number == 0 => {}
            _ if number == 0 => return None,
            "}" => {
                let end = at - (line.len() - 1);
                return Some(Split { syntax: Syntax::Json, block: start..end, body_start: at });
            }
            _ => {}
        }
    }
    None
}

/// Reads the JSON in `block` of `text`.
pub(super) fn parse(text: &str, block: Range<usize>) -> Frontmatter {
    let source = &text[block.clone()];
    let error = match serde_json::from_str::<Map<String, Value>>(source) {
        Ok(fields) => return Frontmatter { fields, problems: vec![] },
        Err(error) => error,
    };
    let line_start = block.start
        + source.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    // serde_json counts columns in bytes, from 1.
    let at = (line_start + error.column().saturating_sub(1)).min(block.end);
    let mut message = error.to_string();
    message.truncate(message.find(" at line").unwrap_or(message.len()));
    let problem = Problem::at(text, at, format!("{message}; each key was read by itself"));
    let inside = source.lines().map(str::trim_start).collect::<Vec<_>>().join("\n");
    let fields = lines::recover(&lines::segments(&inside, ':'), segment);
    Frontmatter { fields, problems: vec![problem] }
}

fn segment(segment: &Segment<'_>) -> Option<Value> {
    let all = segment.text.split_once(':')?.1.trim();
    // The last key's lines hold the closing brace, too.
    [segment.rest, all, all.trim_end_matches('}').trim_end()]
        .into_iter()
        .find_map(|text| serde_json::from_str(text.trim_end_matches(',').trim_end()).ok())
}
