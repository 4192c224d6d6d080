//! `scritorio proposals show` and `diff`: a proposal beside the files as they are.

use std::fmt::Write;

use serde::Serialize;
use serde_json::json;

use crate::domain::ids::{BookPath, ProposalId};
use crate::proposal::diff::{self, Hunk, Side};
use crate::proposal::merge::{Region, Sides};
use crate::proposal::{FileChange, Status};
use crate::workbench::{FileReview, Outcome, Review, Written};

use super::super::error::CliError;
use super::super::{Context, output};
use super::to_json;

/// Longest line of one side that is shown to people, in characters; JSON has all of it.
const MAX_LINE: usize = 160;

/// One file of a proposal beside what is on disk.
#[derive(Serialize)]
struct Difference<'a> {
    path: &'a BookPath,
    base_hash: Option<&'a str>,
    current: Option<&'a str>,
    proposed: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
    diff: String,
    /// What applying would do: `written`, `removed`, `unchanged`, `conflict` or `blocked`; `applied` where it was done.
    outcome: &'static str,
    /// The whole file as applying would leave it, or as it is now where that was done; `null` where that is not settled.
    merged: Option<&'a str>,
    /// Why nothing can be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    conflicts: Vec<Place<'a>>,
    hunks: Vec<Numbered>,
}

/// Where the author and the proposal changed the same words.
#[derive(Serialize)]
struct Place<'a> {
    line: usize,
    base: &'a str,
    mine: &'a str,
    theirs: &'a str,
}

/// One change, with the number that `apply --hunks` takes; `line` is of the file that the proposal saw.
#[derive(Serialize)]
struct Numbered {
    number: usize,
    line: usize,
    old: String,
    new: String,
    /// Whether it was written, where the proposal was applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<bool>,
}

/// Prints the differences alone.
pub(super) fn diff(context: &Context, review: &Review) -> Result<(), CliError> {
    let all = differences(review);
    if context.global.json {
        return output::document(&json!(all));
    }
    output::file(&all.iter().map(|d| d.diff.as_str()).collect::<String>())
}

/// Prints all that there is to know before judging.
pub(super) fn show(context: &Context, review: &Review) -> Result<(), CliError> {
    let all = differences(review);
    let queued = &review.queued;
    if context.global.json {
        let mut value = to_json(queued);
        value["files"] = json!(all);
        return output::document(&value);
    }
    let proposal = &queued.proposal;
    let mut text = String::new();
    for warning in &proposal.warnings {
        let _ = writeln!(text, "Warning: {warning}");
    }
    let _ = writeln!(text, "{} ({})", proposal.summary, queued.status.as_str());
    let _ = writeln!(text, "{} {}, by {}\n", proposal.subject, proposal.entry, proposal.tool);
    text.extend(all.iter().map(|d| d.diff.as_str()));
    let left_out = all.iter().flat_map(|d| &d.hunks).filter(|hunk| hunk.taken == Some(false)).count();
    if left_out > 0 {
        let _ = writeln!(text, "\nNot written: {left_out} of the proposed changes.");
    }
    if matches!(queued.status, Status::Pending | Status::Stale) {
        text += &changes(&all);
        text += &obstacles(&all, &proposal.id);
    }
    output::text(&text)
}

/// The numbers of the changes, where there are several to choose from.
fn changes(all: &[Difference]) -> String {
    let hunks: Vec<_> = all.iter().flat_map(|d| d.hunks.iter().map(move |hunk| (d.path, hunk))).collect();
    if hunks.len() < 2 {
        return String::new();
    }
    let mut out = "\nChanges, for `apply --hunks`:\n".to_owned();
    for (path, hunk) in hunks {
        let words =
            if hunk.new.trim().is_empty() { format!("- {}", hunk.old) } else { format!("+ {}", hunk.new) };
        let _ = writeln!(out, "  {}  {path}, line {}: {}", hunk.number, hunk.line, one_line(&words));
    }
    out
}

/// What keeps the proposal from being applied, or has changed since, and what to do.
fn obstacles(all: &[Difference], id: &ProposalId) -> String {
    let mut out = String::new();
    let mut is_open = false;
    for file in all {
        for place in &file.conflicts {
            is_open = true;
            let _ = writeln!(
                out,
                "\n{}, line {}: you and the proposal changed the same words",
                file.path, place.line
            );
            for (name, words) in [("was", place.base), ("yours", place.mine), ("proposed", place.theirs)] {
                let _ = writeln!(out, "  {:<10}{}", format!("{name}:"), one_line(words));
            }
        }
        if let Some(reason) = file.reason {
            let _ = writeln!(out, "\nIt can't be applied: {reason}.");
        } else if file.merged.is_some_and(|merged| merged != file.proposed) {
            let _ = writeln!(
                out,
                "\n{} has changed since this was proposed; applying keeps both changes.",
                file.path
            );
        }
    }
    if is_open {
        let _ = writeln!(
            out,
            "\nKeep your words there with `scritorio proposals apply {id} --mine`, or take the proposed ones with `--theirs`; all other changes of both are kept."
        );
    }
    out
}

fn one_line(words: &str) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None if line.is_empty() => "(nothing)".to_owned(),
        None => line,
    }
}

fn differences(review: &Review) -> Vec<Difference<'_>> {
    let mut number = 0;
    let files = review.queued.proposal.files.iter().zip(&review.files);
    files.map(|(change, file)| difference(change, file, &mut number)).collect()
}

fn difference<'a>(change: &'a FileChange, file: &'a FileReview, number: &mut usize) -> Difference<'a> {
    // What the proposal changes is against its own base: the present text may hold it already, or more.
    let base = change.base.as_deref().unwrap_or_default();
    let taken = |hunk: usize| {
        let written = file.written.as_ref()?;
        Some(written.change.is_some() && written.taken.get(hunk).copied().unwrap_or(true))
    };
    let mut numbered = |(at, hunk): (usize, Hunk)| {
        *number += 1;
        let side = |side| hunk.pieces.iter().filter(|p| p.side != side).map(|p| p.text.as_str()).collect();
        Numbered {
            number: *number,
            line: hunk.old_lines.start + 1,
            old: side(Side::New),
            new: side(Side::Old),
            taken: taken(at),
        }
    };
    let place = |sides: &'a Sides| {
        let Sides { line, base, mine, theirs } = sides;
        Place { line: *line, base, mine, theirs }
    };
    let (outcome, merged, reason, conflicts) = match &file.outcome {
        _ if file.written.is_some() => ("applied", file.now.as_deref(), None, vec![]),
        Outcome::Written(text) => ("written", Some(text.as_str()), None, vec![]),
        Outcome::Removed => ("removed", None, None, vec![]),
        Outcome::Unchanged => ("unchanged", file.now.as_deref(), None, vec![]),
        Outcome::Conflict(regions) => {
            ("conflict", None, None, regions.iter().filter_map(Region::open).map(place).collect())
        }
        Outcome::Blocked(why) => ("blocked", None, Some(why.as_str()), vec![]),
    };
    Difference {
        path: &change.path,
        base_hash: change.base_hash.as_deref(),
        current: file.now.as_deref(),
        proposed: change.text(),
        removed: change.proposed.is_none(),
        diff: match &file.written {
            Some(written) => really_written(change.path.as_str(), written),
            None => diff::unified(change.path.as_str(), base, change.text()),
        },
        outcome,
        merged,
        reason,
        conflicts,
        hunks: diff::hunks(base, change.text()).into_iter().enumerate().map(&mut numbered).collect(),
    }
}

/// What an applied proposal did to a file, which may be less than was proposed, or merged into what stood there.
fn really_written(path: &str, written: &Written) -> String {
    let Some(trace) = &written.change else { return String::new() };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    diff::unified(path, &text(&trace.without), &text(&trace.with))
}
