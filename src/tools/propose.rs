//! Tools that draft a change. Nothing here writes: what comes out is a [`crate::proposal::Proposal`], and the author decides.

mod create;
mod field;
mod revise;
mod target;
mod update;

pub(super) use create::CreateEntry;
pub(super) use update::{UpdateCharacter, UpdateEntry};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::ids::BookPath;
use crate::domain::passage;
use crate::proposal::FileChange;

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

/// A change to a file that is there.
fn changed_file(path: &BookPath, base: &str, proposed: String) -> FileChange {
    FileChange {
        path: path.clone(),
        base: Some(base.to_owned()),
        base_hash: Some(passage::sha256_hex(base)),
        proposed: Some(proposed),
    }
}
