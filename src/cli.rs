//! The command line: one verb, one file.
//!
//! Standard output carries the result only; progress and errors go to standard error. No verb ever asks a question: what would need an
//! answer is an error that says which option gives it.

mod ai;
mod ask;
mod codex;
mod crash;
mod demo;
mod doctor;
mod error;
mod init;
mod interface;
mod keys;
mod manuscript;
mod masked;
mod models;
mod output;
mod prompt;
mod proposals;
mod provenance;
mod providers;
mod rename;
mod sessions;
mod timeline;
mod tools;
mod turn;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::workbench::{Overrides, Workbench};
use error::{CliError, Kind};

/// A writing companion for novelists: a manuscript, a Codex, and a board of advisors that reads both.
#[derive(Debug, Parser)]
#[command(name = "scritorio", version, subcommand_precedence_over_arg = true, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    global: Global,
    /// A book's folder, or a file in one, to open in the interface
    #[arg(value_name = "DIR|FILE")]
    path: Option<PathBuf>,
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// Options of every verb.
#[derive(Debug, Clone, Args)]
struct Global {
    /// The book [default: the one that holds the current folder]
    #[arg(long, global = true, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Give the result, and any error, as JSON on standard output
    #[arg(long, global = true)]
    json: bool,
    /// Say more about errors
    #[arg(long, global = true)]
    debug: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Demo(demo::Demo),
    Init(init::Init),
    Ask(ask::AskVerb),
    Prompt(prompt::Prompt),
    Tools(tools::Tools),
    Codex(codex::Codex),
    Manuscript(manuscript::Manuscript),
    Proposals(proposals::Proposals),
    Provenance(provenance::ProvenanceVerb),
    Rename(rename::RenameVerb),
    Sessions(sessions::Sessions),
    Ai(ai::Ai),
    Keys(keys::KeysVerb),
    Providers(providers::ProvidersVerb),
    Models(models::ModelsVerb),
    Timeline(timeline::TimelineVerb),
    Doctor(doctor::Doctor),
}

/// What a verb works with.
struct Context {
    global: Global,
}

impl Context {
    /// Opens the book that `--project` names, or that holds the current folder.
    fn open(&self, overrides: Overrides) -> Result<Workbench, CliError> {
        Ok(Workbench::open(&self.root()?, overrides)?)
    }

    /// Opens the book if there is one, else none: for verbs that concern the author's settings.
    fn open_anywhere(&self, overrides: Overrides) -> Result<Workbench, CliError> {
        if self.global.project.is_some() || self.root().is_ok() {
            return self.open(overrides);
        }
        Ok(Workbench::without_book(overrides)?)
    }

    fn root(&self) -> Result<PathBuf, CliError> {
        if let Some(project) = &self.global.project {
            return Ok(project.clone());
        }
        let here = std::env::current_dir()
            .map_err(|e| CliError::new(Kind::Work, format!("The current folder can't be read: {e}.")))?;
        Workbench::find(&here).ok_or_else(no_book)
    }
}

fn no_book() -> CliError {
    CliError::new(Kind::Usage, "There is no book here.").hint(
        "Name one with --project DIR, make one with `scritorio init DIR`, or try the example with `scritorio demo`.",
    )
}

/// Runs the program and returns its exit code.
pub fn main() -> ExitCode {
    crash::tell_only_where();
    let wants_json = std::env::args_os().skip(1).take_while(|a| a != "--").any(|a| a == "--json");
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if !error.use_stderr() => {
            // Help or version, asked for.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        Err(error) if !wants_json => {
            output::usage(&error);
            return ExitCode::from(Kind::Usage.exit_code());
        }
        Err(error) => return output::fail(&usage(&error), true, false),
    };
    let Arguments { global, path, verb } = arguments;
    let context = Context { global };
    match run(&context, path, verb) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::fail(&error, context.global.json, context.global.debug),
    }
}

fn run(context: &Context, path: Option<PathBuf>, verb: Option<Verb>) -> Result<(), CliError> {
    let Some(verb) = verb else { return interface::execute(context, path) };
    if let Some(path) = path {
        let message = format!("`{}` stands before the verb.", path.display());
        return Err(CliError::new(Kind::Usage, message).hint("A verb's book is named with --project DIR."));
    }
    match verb {
        Verb::Demo(verb) => verb.execute(context),
        Verb::Init(verb) => verb.execute(context),
        Verb::Ask(verb) => verb.execute(context),
        Verb::Prompt(verb) => verb.execute(context),
        Verb::Tools(verb) => verb.execute(context),
        Verb::Codex(verb) => verb.execute(context),
        Verb::Manuscript(verb) => verb.execute(context),
        Verb::Proposals(verb) => verb.execute(context),
        Verb::Provenance(verb) => verb.execute(context),
        Verb::Rename(verb) => verb.execute(context),
        Verb::Sessions(verb) => verb.execute(context),
        Verb::Ai(verb) => verb.execute(context),
        Verb::Keys(verb) => verb.execute(context),
        Verb::Providers(verb) => verb.execute(context),
        Verb::Models(verb) => verb.execute(context),
        Verb::Timeline(verb) => verb.execute(context),
        Verb::Doctor(verb) => verb.execute(context),
    }
}

/// The words of the parser's error, for JSON.
fn usage(error: &clap::Error) -> CliError {
    let text = error.to_string();
    let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    CliError::new(Kind::Usage, message).hint("`scritorio --help` lists the verbs and their options.")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_verb_says_what_it_does() {
        let mut verbs: Vec<clap::Command> = Arguments::command().get_subcommands().cloned().collect();
        let mut seen = 0;
        while let Some(verb) = verbs.pop() {
            assert!(verb.get_about().is_some(), "{}", verb.get_name());
            verbs.extend(verb.get_subcommands().filter(|v| v.get_name() != "help").cloned());
            seen += 1;
        }
        assert!(seen > 20, "{seen}");
    }
}
