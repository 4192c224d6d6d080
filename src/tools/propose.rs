//! Tools that draft a change. Nothing here writes: what comes out is a [`crate::proposal::Proposal`], and the author decides.

mod create;
mod field;
mod near;
mod note;
mod own;
mod persona;
mod relationship;
mod revise;
mod scene;
mod soul;
mod target;
mod update;

pub(super) use create::CreateEntry;
pub(super) use note::CreateNote;
pub(super) use persona::UpdatePersona;
pub(super) use relationship::RecordRelationship;
pub(super) use scene::CreateScene;
pub(super) use update::{UpdateCharacter, UpdateEntry};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::ids::BookPath;
use crate::domain::{frontmatter, passage, safe_text};
use crate::proposal::{FileChange, Proposal};
use crate::tools::{Draft, Evidence, ToolError};

/// What every result of a drafted change says.
const NOTE: &str = "Nothing has been written. The author sees this as a proposal and decides.";

/// Longest summary of a change, in characters.
const MAX_SUMMARY: usize = 240;

/// A free field of a new entry.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub(super) struct NamedValue {
    /// Name of the field, as a frontmatter key.
    pub name: String,
    /// Its value: one text, or a list of texts.
    pub value: FieldValue,
}

/// What stands in a free field.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum FieldValue {
    One(String),
    Many(Vec<String>),
}

impl FieldValue {
    /// The value without what says nothing; `None` where nothing is left.
    fn into_value(self) -> Option<Value> {
        match self {
            Self::One(text) => Some(text.trim().to_owned()).filter(|t| !t.is_empty()).map(Value::String),
            Self::Many(items) => {
                let items: Vec<String> =
                    items.iter().map(|i| i.trim().to_owned()).filter(|i| !i.is_empty()).collect();
                (!items.is_empty()).then(|| json!(items))
            }
        }
    }
}

/// Checks a title or name: one line that says something.
fn checked_name<'a>(field: &str, name: &'a str, longest: usize) -> Result<&'a str, ToolError> {
    let name = name.trim();
    let allowed = format!("a name on one line, up to {longest} characters");
    let bad = |what: &str| Err(ToolError::in_field(field, format!("`{field}` {what}"), &[&allowed]));
    if !name.chars().any(char::is_alphanumeric) {
        return bad("holds no letter or digit");
    }
    if name.chars().count() > longest {
        return bad("is too long");
    }
    if safe_text::line(name) != name {
        return bad("holds a line break or an invisible character");
    }
    Ok(name)
}

/// A file that is not there yet.
fn new_file(path: BookPath, proposed: String) -> FileChange {
    FileChange { path, base: None, base_hash: None, proposed: Some(proposed) }
}

/// The line end of most of the texts; without any, a line feed.
fn line_end_of_most<'a>(texts: impl Iterator<Item = &'a str>) -> &'static str {
    let (crlf, all) =
        texts.fold((0, 0), |(crlf, all), text| (crlf + usize::from(text.contains("\r\n")), all + 1));
    if crlf * 2 > all { "\r\n" } else { "\n" }
}

/// What a text says below a frontmatter that a model put before it, and whether there was one.
fn without_frontmatter(text: &str) -> (&str, bool) {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let start = frontmatter::split(text).body_start;
    (&text[start..], start > 0)
}

/// The draft of a proposal of new files, with what is told of it; `cut`: not all of the text is told.
fn drafted(mut result: Value, proposal: Proposal, cut: bool) -> Draft {
    if cut {
        result["truncated"] = json!(true);
    }
    result["note"] = json!(NOTE);
    let evidence = Evidence {
        resolved: proposal.files.iter().map(|f| f.path.clone()).collect(),
        title: Some(proposal.entry.clone()),
        kind: Some(proposal.subject.to_string()),
        results: 1,
        truncated: cut,
        ..Evidence::default()
    };
    Draft { result, evidence, material: vec![], proposal: Some(proposal) }
}

/// A change to a file that is there.
fn changed_file(path: &BookPath, base: &str, proposed: String) -> FileChange {
    FileChange {
        path: path.clone(),
        base: Some(base.to_owned()),
        base_hash: Some(passage::sha256_hex(base)),
        proposed: Some(proposed),
    }
}
