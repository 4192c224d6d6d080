//! `scritorio prompt`: what would be sent.

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::workbench::Ask;

use super::error::CliError;
use super::turn::{Open, Who};
use super::{Context, output};

/// Show what a question would send, byte for byte, without sending it
#[derive(Debug, Args)]
pub(super) struct Prompt {
    /// The question
    #[arg(long, value_name = "QUESTION", default_value = "")]
    ask: String,
    #[command(flatten)]
    who: Who,
    #[command(flatten)]
    open: Open,
    /// For reading, or the body of a request
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
        let ask = Ask { persona: self.who.persona.clone(), ..self.open.ask(&workbench, self.ask.clone())? };
        let format = match self.format {
            Format::Text => None,
            Format::Responses => Some("responses"),
            Format::Chat => Some("chat"),
            Format::Ollama => Some("ollama"),
            Format::Anthropic => Some("anthropic"),
        };
        let peek = workbench.peek(&ask, format)?;
        match self.format {
            Format::Responses | Format::Chat | Format::Ollama | Format::Anthropic => {
                output::document(&peek.body)
            }
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
