//! `scritorio provenance`: whether the records of what AI did are whole, and a report of them.
//!
//! `verify --json` gives a list of `{ machine, verdict: anchored|not_anchored|broken, lines | line, words }` and ends with 1 where one is broken.
//! `report --json` gives one object; its fields are those of [`crate::workbench::provenance::Report`].

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::workbench::Overrides;
use crate::workbench::out_file::is_json;

use super::error::{CliError, Kind};
use super::{Context, output};

/// Check the records of what AI did in this book, or sum them up for a publisher
#[derive(Debug, Args)]
pub(super) struct ProvenanceVerb {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Check that no line of the records was changed, left out, moved or added
    Verify,
    /// Tell what AI was used for: who was asked, what was read and sent, what was accepted
    Report {
        /// Write it to this file instead, as JSON where it ends with .json
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Write over a file that is there
        #[arg(long, requires = "output")]
        force: bool,
    },
}

impl ProvenanceVerb {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        match self.verb {
            Verb::Verify => verify(context),
            Verb::Report { output, force } => report(context, output, force),
        }
    }
}

fn verify(context: &Context) -> Result<(), CliError> {
    let bench = context.open(Overrides::default())?;
    let chains = bench.verify_provenance().map_err(|e| unreadable(&e))?;
    let broken = chains.iter().find(|chain| chain.is_broken());
    if context.global.json {
        output::document(&chains)?;
    } else if chains.is_empty() {
        output::text("Nothing is recorded yet: no board member was asked in this book.")?;
    } else {
        let row =
            |chain: &crate::workbench::provenance::Chain| vec![chain.machine.clone(), chain.words.clone()];
        output::table(&chains.iter().map(row).collect::<Vec<_>>())?;
    }
    let Some(broken) = broken else { return Ok(()) };
    let message = format!("The records of {} are {}.", broken.machine, broken.words);
    let hint = if broken.maybe_copy() {
        "Either its last lines were cut off, or this folder is a copy that was made before they were written: where there is another copy, it has them."
    } else {
        "A line there was changed, left out, moved or added, or another book stood in this folder before. A copy of .scritorio/provenance from git or a backup may be whole."
    };
    let error = CliError::new(Kind::Work, message).hint(hint);
    Err(CliError { told: context.global.json, ..error })
}

fn report(context: &Context, output: Option<PathBuf>, force: bool) -> Result<(), CliError> {
    let bench = context.open(Overrides::default())?;
    let report = bench.provenance_report().map_err(|e| unreadable(&e))?;
    let Some(path) = output else {
        return if context.global.json { output::document(&report) } else { output::text(&report.text()) };
    };
    let text = if context.global.json || is_json(&path) {
        serde_json::to_string_pretty(&report)
            .map_err(|e| CliError::new(Kind::Work, format!("The report can't be put into JSON: {e}.")))?
    } else {
        report.text()
    };
    bench.keep_report(&path, &text, force)?;
    output::progress(&format!("The report is in {}.", path.display()));
    Ok(())
}

fn unreadable(error: &std::io::Error) -> CliError {
    CliError::new(Kind::Work, format!("The records in .scritorio can't be read: {error}."))
        .hint("See that the folder and its files can be read.")
}
