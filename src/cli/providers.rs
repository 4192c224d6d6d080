//! `scritorio providers`: who can answer, and whether one does.

use std::fmt::Write;

use clap::Args;
use serde_json::json;

use crate::domain::price::cost_in_words;
use crate::workbench::Overrides;
use crate::workbench::servers::{self, Check, ProviderRow};

use super::error::CliError;
use super::{Context, output};

/// List who can answer, what each still needs, and what runs on this machine
#[derive(Debug, Args)]
pub(super) struct ProvidersVerb {
    /// Ask this one for at most 16 tokens: key, model, tools, streaming
    #[arg(long, value_name = "NAME")]
    check: Option<String>,
    /// The model to check with
    #[arg(long, value_name = "NAME", requires = "check")]
    model: Option<String>,
}

impl ProvidersVerb {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let overrides = Overrides { model: self.model.clone(), ..Overrides::default() };
        let workbench = context.open_anywhere(overrides)?;
        let Some(name) = &self.check else {
            let (rows, here) = (workbench.providers(), servers::found_here());
            if context.global.json {
                return output::document(&rows);
            }
            output::text(&listed(&rows))?;
            output::progress(&on_this_machine(&here));
            return Ok(());
        };
        let check = workbench.check_provider(name)?;
        if context.global.json {
            output::document(&json!(check))?;
        } else {
            output::text(&told(&check))?;
        }
        match &check.problem {
            Some(problem) => Err(CliError { told: true, ..CliError::from(problem) }),
            None => Ok(()),
        }
    }
}

/// Every provider in two lines: what it is, and what is to be done.
fn listed(rows: &[ProviderRow]) -> String {
    let mut out = String::new();
    for row in rows {
        let mark = if row.chosen { "*" } else { " " };
        let state = if row.configured { "ready" } else { "not ready" };
        let _ = write!(out, "{mark} {} ({}): {state}", row.name, row.title);
        let _ = match &row.model {
            Some(model) if *model != row.name => writeln!(out, ", {model}"),
            _ => writeln!(out),
        };
        let mut parts = vec![];
        parts.extend(row.wire.map(|wire| format!("speaks {wire}")));
        parts.extend(row.address.clone());
        parts.extend(row.listens.map(|listens| if listens { "listens" } else { "does not run" }.to_owned()));
        parts.extend(row.key.as_ref().map(|key| match key.source {
            "environment" => format!("key in {}", key.variable),
            "keychain" => "key in the keychain".to_owned(),
            _ => "no key".to_owned(),
        }));
        if !parts.is_empty() {
            let _ = writeln!(out, "    {}", parts.join(", "));
        }
        if let Some(next) = &row.next {
            let _ = writeln!(out, "    Next: {next}");
        }
    }
    out
}

pub(super) fn on_this_machine(here: &[&str]) -> String {
    match here {
        [] => "No local server listens on its usual port (Ollama 11434, LM Studio 1234, llama.cpp 8080, vLLM 8000).".to_owned(),
        found => format!("On this machine: {}.", found.join(", ")),
    }
}

fn told(check: &Check) -> String {
    let mut out = format!("{} at {}, {}\n", check.provider, check.address, check.model);
    if let Some(problem) = &check.problem {
        let _ = writeln!(out, "Failed: {}", problem.message);
        let _ = writeln!(out, "Next: {}", check.next);
        return out;
    }
    let tools = match check.tools {
        _ if check.inline => "none, the open text goes inline",
        Some(true) => "called",
        Some(false) => "not called",
        None => "not seen in 16 tokens",
    };
    let _ = writeln!(out, "Key and model: fine");
    let _ = writeln!(out, "Tools: {tools}");
    let first = check.first_ms.map(|ms| format!(", the first after {ms} ms")).unwrap_or_default();
    let pieces = if check.pieces == 1 { "1 piece".to_owned() } else { format!("{} pieces", check.pieces) };
    let _ = writeln!(out, "Answer: {pieces}{first}, whole after {} ms", check.ms);
    if let (Some(input), Some(output)) = (check.usage.input_tokens, check.usage.output_tokens) {
        let cost = cost_in_words(&check.usage).map(|cost| format!(", {cost}")).unwrap_or_default();
        let _ = writeln!(out, "Used: {input} tokens in, {output} out{cost}");
    }
    let _ = writeln!(out, "Next: {}", check.next);
    out
}
