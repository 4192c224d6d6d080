//! `scritorio tools`: what a board member may do, and doing it.

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use crate::tools::{Registry, ToolSpec, schema};
use crate::workbench::{Ask, Overrides};

use super::error::{CliError, Kind};
use super::turn::Open;
use super::{Context, output};

/// List the tools that a board member may call, or call one
#[derive(Debug, Args)]
pub(super) struct Tools {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the tools, as a table or as they are sent
    List {
        /// For reading, or the array of a protocol
        #[arg(long, value_enum, default_value = "table")]
        format: Format,
    },
    /// Call a tool and print the result as the model gets it
    Call {
        /// The tool
        name: String,
        /// Its arguments, a JSON object
        #[arg(default_value = "{}")]
        arguments: String,
        /// As this board member would: one that reads blind gets no more than it may know [default: everything]
        #[arg(long, value_name = "ID")]
        persona: Option<String>,
        #[command(flatten)]
        open: Open,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Table,
    Responses,
    Chat,
    Ollama,
    Mcp,
}

impl Tools {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        match self.verb {
            Verb::List { format } => list(context, format),
            Verb::Call { name, arguments, persona, open } => call(context, &name, &arguments, persona, &open),
        }
    }
}

fn list(context: &Context, format: Format) -> Result<(), CliError> {
    // Without a book the list is that of a book which switched nothing off.
    let registry = match context.root() {
        Ok(_) => context.open(Overrides::default())?.registry(),
        Err(_) => Registry::advisor(),
    };
    let encode: fn(&ToolSpec) -> Value = match format {
        Format::Responses => schema::responses,
        Format::Chat => schema::chat_completions,
        Format::Ollama => schema::ollama,
        Format::Mcp => schema::mcp,
        Format::Table if context.global.json => |spec| {
            json!({
                "name": spec.name,
                "effect": spec.effect.as_str(),
                "canon": spec.canon,
                "about": spec.about,
                "parameters": spec.parameters,
            })
        },
        Format::Table => {
            let row = |spec: &ToolSpec| {
                vec![
                    spec.name.to_owned(),
                    spec.effect.as_str().to_owned(),
                    first_sentence(spec.about).to_owned(),
                ]
            };
            return output::table(&registry.specs().map(row).collect::<Vec<_>>());
        }
    };
    output::document(&registry.specs().map(encode).collect::<Vec<_>>())
}

fn first_sentence(about: &str) -> &str {
    about.split_once(". ").map_or(about, |(first, _)| first).trim_end_matches('.')
}

fn call(
    context: &Context,
    name: &str,
    arguments: &str,
    persona: Option<String>,
    open: &Open,
) -> Result<(), CliError> {
    let workbench = context.open(Overrides::default())?;
    let ask = Ask { persona, ..open.ask(&workbench, String::new())? };
    match workbench.call_tool(name, arguments, &ask) {
        Ok(result) => output::document(&result),
        Err(error) => {
            // The model gets the error as a result; so does whoever stands in for it.
            output::document(&error.to_result())?;
            let words = error.to_string();
            let end = if words.ends_with(['.', '?', '!']) { "" } else { "." };
            Err(CliError { told: true, ..CliError::new(Kind::Work, words + end) })
        }
    }
}
