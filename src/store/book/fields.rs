//! Values of frontmatter as texts.

use serde_json::{Map, Value};

use super::markup::links_as_text;
use crate::domain::passage::fold;

/// Finds the first of `keys` (folded) that is there and not empty, whatever its letter case, hyphens or underscores.
pub fn get<'a>(fields: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    find(fields, keys).map(|(_, value)| value)
}

/// The same, with the key as the author wrote it.
pub fn find<'a>(fields: &'a Map<String, Value>, keys: &[&str]) -> Option<(&'a str, &'a Value)> {
    keys.iter().find_map(|key| {
        let is_key = |name: &str| name == *key || name.len() <= 2 * key.len() && is_folded(name, key);
        let mut all = fields.iter().filter(|(name, value)| is_key(name) && says_something(value));
        all.next().map(|(name, value)| (name.as_str(), value))
    })
}

/// Whether `name` folds to `key`; a first letter that differs is enough to say no.
fn is_folded(name: &str, key: &str) -> bool {
    let (Some(a), Some(b)) = (name.bytes().next(), key.bytes().next()) else { return false };
    if a.is_ascii_alphanumeric() && !a.eq_ignore_ascii_case(&b) {
        return false;
    }
    fold(name) == key
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::String(text) if !text.contains("[[") => !text.trim().is_empty(),
        _ => !texts(value).is_empty(),
    }
}

/// Returns a value as text, links as their text, lists joined by commas; `None` if it says nothing.
pub fn text(value: &Value) -> Option<String> {
    let all = texts(value);
    (!all.is_empty()).then(|| all.join(", "))
}

/// Returns the texts in a value: one for a scalar, the items of a list. Blank ones and nested keys are left out.
pub fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => {
            let shown = links_as_text(text);
            let shown = shown.trim();
            if shown.is_empty() { vec![] } else { vec![shown.to_owned()] }
        }
        Value::Number(_) | Value::Bool(_) => vec![value.to_string()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Null | Value::Object(_) => vec![],
    }
}

/// Replaces the links in every text of a value by what they show.
pub fn show_links(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("[[") => *text = links_as_text(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(show_links),
        Value::Object(map) => map.values_mut().for_each(show_links),
        _ => {}
    }
}

/// Whether two names are the same but for letter case, accents and marks.
pub fn same(a: &str, b: &str) -> bool {
    fold(a) == fold(b)
}
