//! `scritorio ai`: verification with a real model.

use clap::{Args, Subcommand};

use crate::workbench::Ask;
use crate::workbench::provider::{OFFLINE, OPENAI};

use super::ask::print;
use super::error::{CliError, Kind};
use super::turn::{self, Progress, Who};
use super::{Context, output};

/// Verify tool calling with a real model
#[derive(Debug, Args)]
pub(super) struct Ai {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    ToolSmoke(ToolSmoke),
}

/// Ask with the twelve canon tools alone, and fail (exit code 5) unless the model calls one first
#[derive(Debug, Args)]
struct ToolSmoke {
    /// The question
    #[arg(long, value_name = "QUESTION")]
    ask: String,
    #[command(flatten)]
    who: Who,
}

impl Ai {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let Verb::ToolSmoke(verb) = self.verb;
        if verb.ask.trim().is_empty() {
            return Err(CliError::new(Kind::Usage, "The question is empty."));
        }
        let mut overrides = verb.who.overrides();
        // Unlike a question of the author's, this one is about the provider: it never falls back to the offline reader.
        if overrides.provider.is_none() {
            let (configured, _) = context.open(overrides.clone())?.provider_and_model();
            overrides.provider = Some(if configured == OFFLINE { OPENAI.to_owned() } else { configured });
        }
        let workbench = context.open(overrides)?;
        let (provider, model) = workbench.provider_and_model();
        output::progress(&format!("asking {provider}, {model}"));
        let ask = Ask { question: verb.ask, persona: verb.who.persona, smoke: true, ..Ask::default() };
        let mut rows = Progress::default();
        let ran = turn::run(&workbench, &ask, |event| {
            rows.show(event);
            Ok(())
        })?;
        print(context, ran)
    }
}
