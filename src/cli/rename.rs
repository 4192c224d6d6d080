//! `scritorio rename`: a name, or any words, in the whole book.

use std::collections::HashSet;

use clap::Args;

use crate::workbench::Overrides;
use crate::workbench::rename::{Renamed, rename_json};

use super::error::{CliError, Kind};
use super::turn::proposal_json;
use super::{Context, output};

/// Rename somebody or something in manuscript, Codex and notes
///
/// Without --apply nothing is written: every place is printed, and what it would become. Places that could mean somebody else are listed
/// with the reason and left out, unless --include or --all takes them in.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct RenameVerb {
    /// The name of an entry, a part of a name, or any words
    old: String,
    /// What stands there instead
    new: String,
    /// Write it, as one step that `scritorio proposals undo ID` takes back
    #[arg(long)]
    apply: bool,
    /// Take in every place, also those that could mean something else
    #[arg(long)]
    all: bool,
    /// Write it although somebody bears the new name already
    #[arg(long)]
    even_if_taken: bool,
    /// Rename the entry's own file, too, and the links that name it
    #[arg(long)]
    files: bool,
    /// Take this place in
    #[arg(long, value_name = "ID")]
    include: Vec<String>,
    /// Leave this place out
    #[arg(long, value_name = "ID")]
    exclude: Vec<String>,
    /// Leave this place out now and for ever: it is kept in .scritorio/exemptions.toml
    #[arg(long, value_name = "ID")]
    never: Vec<String>,
}

type Found = crate::workbench::rename::Found;

impl RenameVerb {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let workbench = context.open(Overrides::default())?;
        let mut found = workbench.rename(&self.old, &self.new)?;
        self.check_ids(&found)?;
        if !self.never.is_empty() {
            for id in &self.never {
                workbench.exempt(&found, id)?;
            }
            found = workbench.rename(&self.old, &self.new)?;
        }
        let chosen = self.chosen(&found);
        if let Some(taken) = found.taken.as_ref().filter(|_| self.apply && !self.even_if_taken) {
            return Err(CliError::new(Kind::Work, format!("Nothing was written. {taken}"))
                .hint("Choose another name, or say --even-if-taken."));
        }
        if self.apply {
            output::warn_of_other_window(&workbench);
        }
        let renamed =
            if self.apply { Some(workbench.apply_rename(&self.old, &self.new, &chosen)?) } else { None };
        if context.global.json {
            let mut document = rename_json(&found, &chosen);
            document["applied"] =
                renamed.as_ref().map(|r| proposal_json(&r.proposal.proposal, r.proposal.status)).into();
            return output::document(&document);
        }
        match renamed {
            Some(renamed) => tell(&renamed),
            None => list(&found, &chosen),
        }
    }

    fn check_ids(&self, found: &Found) -> Result<(), CliError> {
        let known: HashSet<&str> = found.places.iter().map(|p| p.id.as_str()).collect();
        let asked = self.include.iter().chain(&self.exclude).chain(&self.never);
        match asked.into_iter().find(|id| !known.contains(id.as_str())) {
            None => Ok(()),
            Some(id) => Err(CliError::new(Kind::Usage, format!("There is no place {id}."))
                .hint("`scritorio rename OLD NEW` without --apply lists the places with their ids.")),
        }
    }

    fn chosen(&self, found: &Found) -> HashSet<String> {
        let takes = |p: &crate::workbench::rename::Place| {
            let in_file = p.kind == crate::workbench::rename::Kind::File || p.follows_file;
            let wanted =
                p.chosen || self.all && !in_file || self.files && in_file || self.include.contains(&p.id);
            wanted && !p.by_hand && !p.exempt && !self.exclude.contains(&p.id)
        };
        found.places.iter().filter(|p| takes(p)).map(|p| p.id.clone()).collect()
    }
}

fn list(found: &Found, chosen: &HashSet<String>) -> Result<(), CliError> {
    let mut text = String::new();
    for place in &found.places {
        let mark = if chosen.contains(&place.id) { "x" } else { " " };
        let reason = place.doubt.as_deref().filter(|_| !chosen.contains(&place.id));
        let reason = reason.map(|why| format!("  ({why})")).unwrap_or_default();
        text.push_str(&format!(
            "[{mark}] {}:{}:{}  {}  {}{reason}\n      {}[-{}-]{{+{}+}}{}\n",
            place.path,
            place.line,
            place.column,
            place.kind.as_str(),
            place.id,
            place.before,
            place.text.split_whitespace().collect::<Vec<_>>().join(" "),
            place.becomes.split_whitespace().collect::<Vec<_>>().join(" "),
            place.after
        ));
    }
    output::text(text.trim_end())?;
    let files: HashSet<_> = found.places.iter().filter(|p| chosen.contains(&p.id)).map(|p| &p.path).collect();
    output::progress(&format!(
        "{} of {} places are chosen, in {} files. Nothing was written: --apply does so.",
        chosen.len(),
        found.places.len(),
        files.len()
    ));
    found.taken.iter().chain(&found.hints).for_each(|hint| output::progress(hint));
    Ok(())
}

fn tell(renamed: &Renamed) -> Result<(), CliError> {
    let proposal = &renamed.proposal.proposal;
    output::text(&format!("{}.", proposal.summary))?;
    output::progress(&format!("`scritorio proposals undo {}` takes it back.", proposal.id));
    if !renamed.by_hand.is_empty() {
        output::progress(&format!(
            "Left as they are, since they would break the frontmatter of their file: {}.",
            renamed.by_hand.join(", ")
        ));
    }
    Ok(())
}
