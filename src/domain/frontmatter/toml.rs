//! TOML blocks.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::lines::{self, Segment};
use super::{Frontmatter, Problem};

/// Reads the TOML in `block` of `text`.
pub(super) fn parse(text: &str, block: Range<usize>) -> Frontmatter {
    let source = &text[block.clone()];
    let broken = match DeTable::parse(source) {
        Ok(table) => return Frontmatter { fields: fields(source, table.into_inner()), problems: vec![] },
        Err(broken) => broken,
    };
    let segments = lines::segments(source, '=');
    let mut problems = lines::duplicates(text, block.start, &segments);
    if problems.is_empty() {
        let at = block.start + broken.span().map_or(0, |span| span.start);
        problems.push(Problem::at(text, at, format!("{}; each key was read by itself", broken.message())));
    }
    Frontmatter { fields: lines::recover(&segments, segment), problems }
}

fn segment(segment: &Segment<'_>) -> Option<Value> {
    let table = DeTable::parse(segment.text).ok()?.into_inner();
    fields(segment.text, table).shift_remove(segment.key)
}

/// Turns a table into JSON, its keys in file order.
fn fields(source: &str, table: DeTable<'_>) -> Map<String, Value> {
    let mut keys: Vec<_> = table.into_iter().collect();
    keys.sort_by_key(|(key, _)| key.span().start);
    keys.into_iter().map(|(key, item)| (key.into_inner().into_owned(), value(source, item))).collect()
}

fn value(source: &str, item: Spanned<DeValue<'_>>) -> Value {
    let written = source.get(item.span()).unwrap_or_default().trim();
    match item.into_inner() {
        DeValue::String(text) => Value::from(text.into_owned()),
        DeValue::Boolean(truth) => Value::from(truth),
        DeValue::Array(items) => items.into_iter().map(|item| value(source, item)).collect(),
        DeValue::Table(table) => Value::Object(fields(source, table)),
        // Numbers that JSON would write in the same way, else the author's spelling; dates are text.
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) => {
            let number: Option<Value> = serde_json::from_str(written).ok();
            let shown = number.as_ref().map(Value::to_string);
            number.filter(|_| shown.as_deref() == Some(written)).unwrap_or_else(|| Value::from(written))
        }
    }
}
