//! Mistakes that the model can recover from, in words that say how.

use serde_json::Value;

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
    #[error("bad arguments: {message}")]
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
        todo!()
    }
}
