//! `scritorio proposals`: what personas suggested, and judging it.
//!
//! Never asks: where both sides changed the same words, an option says which are kept.

mod show;

use clap::{ArgGroup, Args, Subcommand};
use serde_json::{Value, json};

use crate::domain::ids::{BookPath, ProposalId};
use crate::proposal::diff;
use crate::proposal::merge::Pick;
use crate::workbench::{Outcome, Overrides, QueuedProposal, Review, Workbench};

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
    /// Show one: warnings, differences, and both sides where you changed the same words since
    Show(One),
    /// Print its differences alone
    Diff(One),
    /// Write it to the files; what you changed elsewhere since is kept
    #[command(group(ArgGroup::new("how").args(["mine", "theirs", "hunks"])))]
    Apply {
        #[command(flatten)]
        one: One,
        /// Where you changed the same words since, keep yours
        #[arg(long)]
        mine: bool,
        /// Where you changed the same words since, take the proposed ones
        #[arg(long)]
        theirs: bool,
        /// Write only these changes, by the numbers that `show` gives
        #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
        hunks: Vec<u32>,
    },
    /// Refuse it
    Reject {
        #[command(flatten)]
        one: One,
        /// Why; the model is told with the next turn
        #[arg(long, value_name = "REASON")]
        why: Option<String>,
    },
    /// Take it back, in any order; what changed elsewhere since is kept
    Undo(One),
    /// Write it again after it was taken back
    Redo(One),
}

#[derive(Debug, Args)]
struct One {
    /// The proposal: its id, the beginning of it, or `last`
    id: String,
}

impl Proposals {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let workbench = context.open(Overrides::default())?;
        let bench = &workbench;
        if matches!(self.verb, Verb::Apply { .. } | Verb::Undo(_) | Verb::Redo(_)) {
            output::warn_of_other_window(bench);
        }
        match self.verb {
            Verb::List => list(context, &bench.proposals()),
            Verb::Show(one) => on(bench, &one, "shown", |id| show::show(context, &review(bench, id)?)),
            Verb::Diff(one) => on(bench, &one, "shown", |id| show::diff(context, &review(bench, id)?)),
            Verb::Apply { one, mine, theirs, hunks } => on(bench, &one, "applied", |id| {
                let before = review(bench, id)?;
                let queued = match (mine, theirs) {
                    (true, _) => bench.apply_settled(id, Pick::Mine)?,
                    (_, true) => bench.apply_settled(id, Pick::Theirs)?,
                    _ => bench.apply(id, &chosen(&before, &hunks)?)?,
                };
                judged(context, &queued)?;
                tell_merged(&before);
                Ok(())
            }),
            Verb::Reject { one, why } => {
                on(bench, &one, "rejected", |id| judged(context, &bench.reject(id, why.as_deref())?))
            }
            Verb::Undo(one) => on(bench, &one, "undone", |id| judged(context, &bench.undo(id)?)),
            Verb::Redo(one) => on(bench, &one, "redone", |id| judged(context, &bench.redo(id)?)),
        }
    }
}

/// Finds the proposal and does something with it; an error's hint then names it.
fn on(
    bench: &Workbench,
    one: &One,
    verb: &'static str,
    act: impl FnOnce(&ProposalId) -> Result<(), CliError>,
) -> Result<(), CliError> {
    // What a crash left half done is put right first, so that `last` means what the list says.
    bench.proposals();
    let id = bench.proposal_named(&one.id, verb)?;
    act(&id).map_err(|error| error.about(&id))
}

fn review(bench: &Workbench, id: &ProposalId) -> Result<Review, CliError> {
    Ok(bench.review(id)?)
}

/// Turns the numbers of hunks, counted over all files, into a flag for every hunk of every file. No numbers: all.
fn chosen(review: &Review, numbers: &[u32]) -> Result<Vec<Vec<bool>>, CliError> {
    if numbers.is_empty() {
        return Ok(vec![]);
    }
    let files = &review.queued.proposal.files;
    let hunks =
        |base: &Option<String>, text: &str| diff::hunks(base.as_deref().unwrap_or_default(), text).len();
    let counts: Vec<usize> = files.iter().map(|file| hunks(&file.base, file.text())).collect();
    let total: usize = counts.iter().sum();
    if let Some(beyond) = numbers.iter().find(|n| **n as usize > total) {
        return Err(CliError::new(
            Kind::Usage,
            format!("There is no change {beyond}: the proposal has {total}."),
        )
        .hint("`scritorio proposals show ID` numbers them."));
    }
    let mut number = 0;
    let mut flag = || {
        number += 1;
        numbers.contains(&number)
    };
    Ok(counts.into_iter().map(|count| (0..count).map(|_| flag()).collect()).collect())
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

fn judged(context: &Context, queued: &QueuedProposal) -> Result<(), CliError> {
    if context.global.json {
        return output::document(&to_json(queued));
    }
    let paths: Vec<_> = queued.proposal.files.iter().map(|f| f.path.as_str()).collect();
    output::text(&format!("{} {}: {}", queued.status.as_str(), queued.proposal.id, paths.join(", ")))
}

/// Says which files held later words of the author, that are still there.
fn tell_merged(before: &Review) {
    for file in &before.files {
        let is_merged =
            matches!(&file.outcome, Outcome::Written(text) if Some(text) != file.proposed.as_ref());
        if is_merged {
            output::progress(&format!(
                "{} has changed since this was proposed: your words are kept.",
                file.path
            ));
        }
    }
}
