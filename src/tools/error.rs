//! Mistakes that the model can recover from, in words that say how.

use serde_json::{Value, json};

/// Why a call gave no result. It is told to the model and shown in the author's row; the turn goes on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// There is no such tool, or it is switched off.
    #[error("there is no tool named `{name}`")]
    Unknown {
        /// What was called, made safe to show.
        name: String,
        /// What is offered.
        offered: Vec<String>,
    },
    /// The arguments are not what the tool takes.
    #[error("bad arguments: {message}{}", choices(allowed))]
    Arguments {
        /// The field, where one can be named.
        field: Option<String>,
        /// What is wrong.
        message: String,
        /// The values that are allowed, where they can be listed.
        allowed: Vec<String>,
    },
    /// The request makes sense but can't be met, e.g. a name that is taken.
    #[error("{message}")]
    Refused {
        /// Why, and what to do instead.
        message: String,
        /// More for the model, e.g. the path of the entry that exists.
        details: Value,
    },
}

impl ToolError {
    /// Returns the result that the model gets: `{"error": {"kind", "message", ...}}`.
    pub fn to_result(&self) -> Value {
        let mut error = json!({ "kind": self.kind(), "message": self.to_string() });
        match self {
            Self::Unknown { offered, .. } => error["offered"] = json!(offered),
            Self::Arguments { field, allowed, .. } => {
                if let Some(field) = field {
                    error["field"] = json!(field);
                }
                if !allowed.is_empty() {
                    error["allowed"] = json!(allowed);
                }
            }
            Self::Refused { details: Value::Null, .. } => {}
            Self::Refused { details, .. } => error["details"] = details.clone(),
        }
        json!({ "error": error })
    }

    /// Returns the word for its kind, as the result has it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_tool",
            Self::Arguments { .. } => "bad_arguments",
            Self::Refused { .. } => "refused",
        }
    }

    /// A mistake in one field, with the values that it may have.
    pub(super) fn in_field(field: &str, message: impl Into<String>, allowed: &[&str]) -> Self {
        Self::Arguments {
            field: Some(field.to_owned()),
            message: message.into(),
            allowed: allowed.iter().map(|a| (*a).to_owned()).collect(),
        }
    }

    /// A request that can't be met.
    pub(super) fn refused(message: impl Into<String>, details: Value) -> Self {
        Self::Refused { message: message.into(), details }
    }
}

/// Most characters of allowed values in words; the result has them all.
const MAX_CHOICES: usize = 200;

fn choices(allowed: &[String]) -> String {
    let listed = allowed.join(", ");
    if listed.is_empty() || listed.chars().count() > MAX_CHOICES {
        return String::new();
    }
    format!(" (allowed: {listed})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_told_the_field_and_what_it_may_be() {
        let error =
            ToolError::in_field("entryType", "`entryType` can't be `person`", &["character", "location"]);
        assert_eq!(
            error.to_result(),
            json!({"error": {
                "kind": "bad_arguments",
                "message": "bad arguments: `entryType` can't be `person` (allowed: character, location)",
                "field": "entryType",
                "allowed": ["character", "location"],
            }})
        );
        let refused = ToolError::refused("taken", json!({"path": "a.md"}));
        assert_eq!(refused.to_result()["error"]["details"]["path"], "a.md");
        assert_eq!(ToolError::refused("no", Value::Null).to_result()["error"].get("details"), None);
    }
}
