//! Values of frontmatter as texts.

use serde_json::{Map, Value};

use super::markup::links_as_text;
use crate::domain::passage::fold;

/// Finds the first of `keys` (folded) that is there and not empty, whatever its letter case, hyphens or underscores.
pub fn get<'a>(fields: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| {
        let is_key = |name: &str| name == *key || name.len() <= 2 * key.len() && fold(name) == *key;
        fields.iter().find(|(name, value)| is_key(name) && !texts(value).is_empty()).map(|(_, value)| value)
    })
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
