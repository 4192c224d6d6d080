//! Tools that look things up.

mod context;
mod found;
mod knowledge;
mod list;
mod manuscript;
mod notes;
mod portion;
mod search;
mod search_manuscript;
mod story_time;

pub(super) use context::GetContext;
pub(super) use knowledge::SearchKnowledge;
pub(super) use list::ListEntries;
pub(super) use manuscript::Manuscript;
pub(super) use notes::{ReadNote, SearchNotes};
pub(super) use search::SearchCodex;
pub(super) use search_manuscript::SearchManuscript;

use serde_json::{Map, Value, json};

use super::Desk;
use crate::domain::codex::EntryType;

/// A name as a question writes it: words that begin with a capital letter (or one outside of ASCII), with small words between them. Written
/// without Unicode classes: they take most of the time in which a registry is made.
const NAME: &str = r"(?-i:(?:[Tt]he\s+)?[^\x00-@\[-\x7f][^\s?!.,;:()]*(?:(?:\s+(?:of|the|de|da|la|le|van|von|al|bin))*\s+[^\x00-@\[-\x7f][^\s?!.,;:()]*)*)";

/// Most near names that are offered for one that was not found.
const MAX_NEAR: usize = 3;

/// Cuts text for a summary: white space becomes single spaces, and a cut is marked.
pub(super) fn shorten(text: &str, max_chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= max_chars {
        return line;
    }
    let kept: String = line.chars().take(max_chars.saturating_sub(1)).collect();
    format!("{}\u{2026}", kept.trim_end())
}

/// Shortens every text and list inside a value. Returns whether anything was cut.
fn shorten_value(value: &Value, max_chars: usize, max_items: usize) -> (Value, bool) {
    match value {
        Value::String(text) => {
            let short =
                if text.chars().count() > max_chars { shorten(text, max_chars) } else { text.clone() };
            let cut = short != *text;
            (Value::String(short), cut)
        }
        Value::Array(items) => {
            let mut cut = items.len() > max_items;
            let kept = items.iter().take(max_items).map(|item| {
                let (item, item_cut) = shorten_value(item, max_chars, max_items);
                cut |= item_cut;
                item
            });
            let mut kept: Vec<Value> = kept.collect();
            if items.len() > max_items {
                kept.push(json!(format!("\u{2026} and {} more", items.len() - max_items)));
            }
            (Value::Array(kept), cut)
        }
        Value::Object(object) => {
            let mut cut = false;
            let short: Map<String, Value> = object
                .iter()
                .map(|(key, value)| {
                    let (value, value_cut) = shorten_value(value, max_chars, max_items);
                    cut |= value_cut;
                    (key.clone(), value)
                })
                .collect();
            (Value::Object(short), cut)
        }
        other => (other.clone(), false),
    }
}

/// What the model is told when there is no entry of that name: names that are near, and entries of other types that bear it.
pub(super) fn not_found(desk: &Desk<'_>, entry_type: EntryType, name: &str) -> Map<String, Value> {
    let near = desk.index.known().near_names(desk.book, Some(entry_type), name, MAX_NEAR);
    let other_types: Vec<Value> = desk
        .index
        .known()
        .same_name(desk.book, name)
        .into_iter()
        .filter(|e| e.entry_type != entry_type)
        .map(|e| json!({"type": e.entry_type, "name": e.name}))
        .collect();
    let mut result = Map::new();
    result.insert("found".into(), json!(false));
    result.insert("project".into(), json!(desk.book.name));
    result.insert("type".into(), json!(entry_type));
    result.insert("name".into(), json!(name));
    result.insert("near".into(), json!(near));
    if !other_types.is_empty() {
        result.insert("otherTypes".into(), json!(other_types));
    }
    result
}
