//! `scritorio prompt`: what would be sent.

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::workbench::{Ask, Peek};

use super::error::CliError;
use super::turn::{Open, Who};
use super::{Context, output};

/// Show what a question would send, without sending it
#[derive(Debug, Args)]
pub(super) struct Prompt {
    /// The question
    #[arg(long, value_name = "QUESTION", default_value = "")]
    ask: String,
    #[command(flatten)]
    who: Who,
    #[command(flatten)]
    open: Open,
    /// Go on with this conversation: its id, the beginning of it, or `last`
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Show what differs from the request that opened the conversation's last turn [default session: last]
    #[arg(long, conflicts_with = "format")]
    diff: bool,
    /// For reading, or the body of a request: on a terminal laid out, into a file or a pipe byte for byte as it is sent
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Responses,
    Chat,
    Ollama,
    Anthropic,
}

impl Prompt {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let workbench = context.open(self.who.overrides())?;
        let named = self.session.as_deref().or(self.diff.then_some("last"));
        let ask = Ask {
            persona: self.who.persona.clone(),
            session: named.map(|name| workbench.conversation_named(name)).transpose()?,
            ..self.open.ask(&workbench, self.ask.clone())?
        };
        if self.diff {
            return diff(context, &workbench.peek_since(&ask, None)?);
        }
        let format = match self.format {
            Format::Text => None,
            Format::Responses => Some("responses"),
            Format::Chat => Some("chat"),
            Format::Ollama => Some("ollama"),
            Format::Anthropic => Some("anthropic"),
        };
        let peek = workbench.peek(&ask, format)?;
        match self.format {
            Format::Responses | Format::Chat | Format::Ollama | Format::Anthropic => output::body(&peek.body),
            Format::Text if context.global.json => output::document(&json!({
                "destination": peek.destination,
                "sent": peek.is_sent,
                "model": peek.model,
                "tokens": peek.estimate.input_tokens,
                "cost": peek.estimate.cost,
                "instructions": peek.instructions,
                "context": peek.context,
                "input": peek.input,
                "tools": peek.tools,
                "private": peek.private,
                "notices": peek.notices,
                "bytes": peek.bytes,
                "body": peek.body,
            })),
            Format::Text => output::text(&peek.text()),
        }
    }
}

fn diff(context: &Context, peek: &Peek) -> Result<(), CliError> {
    let changes = peek.changes().unwrap_or_default();
    if context.global.json {
        return output::document(&json!({
            "changes": changes,
            "previous": peek.previous,
            "rebuilt": peek.is_rebuilt,
            "body": peek.body,
        }));
    }
    output::text(&changes)
}
