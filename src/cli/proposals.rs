//! `scritorio proposals`: what personas suggested, and judging it.

use std::fmt::Write;

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::domain::ids::{BookPath, ProposalId};
use crate::proposal::{FileChange, diff};
use crate::workbench::{Overrides, QueuedProposal, Workbench};

use super::error::{CliError, Kind};
use super::turn::proposal_json;
use super::{Context, output};

/// List, show and judge the changes that board members proposed
#[derive(Debug, Args)]
pub(super) struct Proposals {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List all proposals, oldest first
    List,
    /// Show one with its warnings and differences
    Show(One),
    /// Print its differences alone
    Diff(One),
    /// Write it to the files
    Apply(One),
    /// Refuse it
    Reject {
        #[command(flatten)]
        one: One,
        /// Why; the model is told with the next turn
        #[arg(long, value_name = "REASON")]
        why: Option<String>,
    },
    /// Take it back, to the exact bytes
    Undo(One),
    /// Write it again after it was taken back
    Redo(One),
}

#[derive(Debug, Args)]
struct One {
    /// The proposal
    id: String,
}

impl One {
    fn id(&self) -> ProposalId {
        ProposalId::new(&*self.id)
    }
}

impl Proposals {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let workbench = context.open(Overrides::default())?;
        match self.verb {
            Verb::List => list(context, &workbench.proposals()),
            Verb::Show(one) => show(context, &workbench, &find(&workbench, &one)?),
            Verb::Diff(one) => {
                let diffs = differences(&workbench, &find(&workbench, &one)?);
                if context.global.json {
                    return output::document(&json!(diffs));
                }
                output::file(&diffs.iter().map(|d| d.diff.as_str()).collect::<String>())
            }
            Verb::Apply(one) => judged(context, &workbench.apply(&one.id(), &[])?),
            Verb::Reject { one, why } => judged(context, &workbench.reject(&one.id(), why.as_deref())?),
            Verb::Undo(one) => judged(context, &workbench.undo(&one.id())?),
            Verb::Redo(one) => judged(context, &workbench.redo(&one.id())?),
        }
    }
}

fn find(workbench: &Workbench, one: &One) -> Result<QueuedProposal, CliError> {
    workbench.proposal(&one.id()).ok_or_else(|| {
        CliError::new(Kind::Work, format!("There is no proposal {}.", one.id))
            .hint("`scritorio proposals list` lists them.")
    })
}

fn to_json(queued: &QueuedProposal) -> Value {
    let mut value = proposal_json(&queued.proposal, queued.status);
    value["why"] = json!(queued.why);
    value
}

fn list(context: &Context, all: &[QueuedProposal]) -> Result<(), CliError> {
    if context.global.json {
        return output::document(&all.iter().map(to_json).collect::<Vec<_>>());
    }
    let row = |q: &QueuedProposal| {
        let path = q.proposal.path().map_or("", BookPath::as_str);
        vec![
            q.proposal.id.to_string(),
            q.status.as_str().to_owned(),
            path.to_owned(),
            q.proposal.summary.clone(),
        ]
    };
    output::table(&all.iter().map(row).collect::<Vec<_>>())
}

/// One file of a proposal beside what is on disk.
#[derive(serde::Serialize)]
struct Difference {
    path: BookPath,
    base_hash: Option<String>,
    current: Option<String>,
    proposed: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
    diff: String,
}

fn differences(workbench: &Workbench, queued: &QueuedProposal) -> Vec<Difference> {
    let difference = |file: &FileChange| {
        let current = workbench.text_now(&file.path);
        // What the proposal changes is against its own base: the present text may hold it already, or more.
        let diff = diff::unified(file.path.as_str(), file.base.as_deref().unwrap_or_default(), file.text());
        Difference {
            path: file.path.clone(),
            base_hash: file.base_hash.clone(),
            current,
            proposed: file.text().to_owned(),
            removed: file.proposed.is_none(),
            diff,
        }
    };
    queued.proposal.files.iter().map(difference).collect()
}

fn show(context: &Context, workbench: &Workbench, queued: &QueuedProposal) -> Result<(), CliError> {
    let differences = differences(workbench, queued);
    if context.global.json {
        let mut value = to_json(queued);
        value["files"] = json!(differences);
        return output::document(&value);
    }
    let proposal = &queued.proposal;
    let mut text = String::new();
    for warning in &proposal.warnings {
        let _ = writeln!(text, "Warning: {warning}");
    }
    let _ = writeln!(text, "{} ({})", proposal.summary, queued.status.as_str());
    let _ = writeln!(text, "{} {}, by {}\n", proposal.subject, proposal.entry, proposal.tool);
    text.extend(differences.iter().map(|d| d.diff.as_str()));
    output::text(&text)
}

fn judged(context: &Context, queued: &QueuedProposal) -> Result<(), CliError> {
    if context.global.json {
        return output::document(&to_json(queued));
    }
    let paths: Vec<_> = queued.proposal.files.iter().map(|f| f.path.as_str()).collect();
    output::text(&format!("{} {}: {}", queued.status.as_str(), queued.proposal.id, paths.join(", ")))
}
