//! `scritorio keys`: keys of providers, in the system's keychain.
//!
//! A key is never an argument, where the list of processes would show it, and is never printed.

use std::io::{IsTerminal, Read};

use clap::{Args, Subcommand};
use serde_json::json;

use crate::workbench::Surroundings;
use crate::workbench::keys::{KeyError, KeyStatus, Keys};
use crate::workbench::provider::{self, OFFLINE};

use super::error::{CliError, Kind};
use super::{Context, masked, output};

/// Most bytes that are read as a key.
const MAX_KEY: u64 = 64 * 1024;

/// Set, delete and find the keys of providers
#[derive(Debug, Args)]
pub(super) struct KeysVerb {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Put a key into the keychain: typed unseen, or read from standard input
    Set(Provider),
    /// Delete a key from the keychain
    Delete(Provider),
    /// Say where the keys are, without showing them
    Status {
        /// Only of this provider
        provider: Option<String>,
    },
}

#[derive(Debug, Args)]
struct Provider {
    /// The provider, e.g. openai
    provider: String,
}

impl KeysVerb {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let surroundings =
            Surroundings::of_process().map_err(|e| CliError::new(Kind::Work, format!("{e}.")))?;
        let keys = Keys::new(&surroundings);
        match self.verb {
            Verb::Set(Provider { provider }) => {
                known(&provider, &surroundings)?;
                let key = read_key(&provider)?;
                keys.set(&provider, &key).map_err(|e| explain(e, &keys.variable(&provider)))?;
                done(context, &keys.status(&provider), "The key is in the keychain.")
            }
            Verb::Delete(Provider { provider }) => {
                known(&provider, &surroundings)?;
                let deleted = keys.delete(&provider).map_err(|e| explain(e, &keys.variable(&provider)))?;
                let words = if deleted { "The key is deleted." } else { "There was no key in the keychain." };
                done(context, &keys.status(&provider), words)
            }
            Verb::Status { provider } => {
                let wanted = match provider {
                    Some(provider) => {
                        known(&provider, &surroundings)?;
                        vec![provider]
                    }
                    // The keychain is not asked for keys that this program never put there.
                    None => provider::with_keys(&surroundings, &keys),
                };
                status(context, &wanted.iter().map(|name| keys.status(name)).collect::<Vec<_>>())
            }
        }
    }
}

fn known(provider: &str, surroundings: &Surroundings) -> Result<(), CliError> {
    let mut names = provider::names(surroundings);
    names.retain(|name| name != OFFLINE);
    if names.iter().any(|name| name == provider) {
        return Ok(());
    }
    let message = format!("There is no provider `{provider}` that takes a key.");
    Err(CliError::new(Kind::Usage, message).hint(format!("These do: {}.", names.join(", "))))
}

fn read_key(provider: &str) -> Result<String, CliError> {
    let unread = |e: std::io::Error| CliError::new(Kind::Work, format!("The key can't be read: {e}."));
    if std::io::stdin().is_terminal() {
        let typed = masked::read(&format!("Key for {provider} (it is not shown): ")).map_err(unread)?;
        return typed.ok_or_else(|| CliError::new(Kind::Cancelled, "Cancelled."));
    }
    let mut key = String::new();
    std::io::stdin().take(MAX_KEY).read_to_string(&mut key).map_err(unread)?;
    Ok(key)
}

fn explain(error: KeyError, variable: &str) -> CliError {
    let hint = error.hint(variable);
    CliError::from(error).hint(hint)
}

fn done(context: &Context, status: &KeyStatus, words: &str) -> Result<(), CliError> {
    if context.global.json { output::document(&json!(status)) } else { output::text(words) }
}

fn status(context: &Context, all: &[KeyStatus]) -> Result<(), CliError> {
    if context.global.json {
        return output::document(&all);
    }
    let row = |status: &KeyStatus| {
        let place = match status.source {
            "environment" => format!("in {}", status.variable),
            "keychain" => "in the keychain".to_owned(),
            // Then it can't go into the keychain, or the variable wins over it.
            "none" if status.problem.is_some() => format!("none; set {}", status.variable),
            "none" => {
                format!("none; set {} or use `scritorio keys set {}`", status.variable, status.provider)
            }
            _ => "unknown".to_owned(),
        };
        let problem = status.problem.as_deref().map(|p| format!(" ({p})")).unwrap_or_default();
        vec![status.provider.clone(), place + &problem]
    };
    output::table(&all.iter().map(row).collect::<Vec<_>>())
}
