//! `propose_relationship`: a bond between two entries, recorded in both of them in one proposal.
//!
//! Never in one only, never twice, and never between entries that were guessed.

mod kind;
mod link;
mod record;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use self::link::Links;
use self::record::{Bond, Recorded};
use super::own::OwnKeys;
use super::{MAX_SUMMARY, NOTE, changed_file};
use crate::canon::lookup::{self, Strength};
use crate::domain::codex::Entry;
use crate::domain::ids::ProposalId;
use crate::domain::{passage, safe_text};
use crate::proposal::{FileChange, Proposal};
use crate::tools::read::shorten;
use crate::tools::{Desk, Draft, Evidence, ProposeTool, ToolError};

/// Longest kind of relationship and longest description, in characters.
const MAX_KIND: usize = 60;
const MAX_WORDS: usize = 600;

/// Near names that an error tells.
const NEAR: usize = 3;

/// See [`ProposeTool::about`].
pub(in crate::tools) struct RecordRelationship;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct Args {
    /// Name of the entry that the relationship is seen from.
    source: String,
    /// Name of the other entry.
    target: String,
    /// What the target is to the source, in a word or two: `sister`, `mentor`, `rival`; or what the source does: `works for`.
    relationship_type: String,
    /// One sentence about it, from the book; empty if there is nothing to add.
    description: String,
}

impl ProposeTool for RecordRelationship {
    type Args = Args;

    fn name(&self) -> &'static str {
        "propose_relationship"
    }

    fn about(&self) -> &'static str {
        "Proposes a relationship between two Codex entries, recorded in both of them; the author reviews it and nothing is written before that. Both entries have to exist. Put in only what the book or the author says."
    }

    fn propose(&self, desk: &Desk<'_>, args: Args) -> Result<Draft, ToolError> {
        let kind = checked_kind(&args.relationship_type)?;
        let words = checked_words(&args.description)?;
        let mut warnings = vec![];
        let source = entry(desk, "source", &args.source, &mut warnings)?;
        let target = entry(desk, "target", &args.target, &mut warnings)?;
        if std::ptr::eq(source, target) {
            let message = format!("`source` and `target` are the same entry, {}", source.name);
            return Err(ToolError::in_field("target", message, &["the name of another entry"]));
        }
        let other_kind = kind::inverse(&kind, &target.name);
        let own = OwnKeys(&desk.book.settings.codex_keys);
        let there = Bond { holder: source, other: target, kind: &kind, words: &words, own };
        let back = Bond { holder: target, other: source, kind: &other_kind, words: &words, own };
        for bond in [&there, &back] {
            for known in bond.known_kinds(&bond.holder.text) {
                if !known.is_empty() && passage::fold(&known) != passage::fold(bond.kind) {
                    warnings
                        .push(format!("{} has {} as `{known}` already.", bond.holder.name, bond.other.name));
                }
            }
        }
        let (files, lines) = files(desk, &there, &back, &mut warnings)?;
        let proposal = Proposal {
            id: ProposalId::mint(),
            tool: self.name().to_owned(),
            subject: source.entry_type.into(),
            entry: source.name.clone(),
            summary: shorten(&format!("{} and {}: {kind}", source.name, target.name), MAX_SUMMARY),
            warnings,
            files,
            edited: false,
        };
        Ok(draft(proposal, source, target, &lines))
    }
}

fn checked_kind(raw: &str) -> Result<String, ToolError> {
    let kind = raw.split_whitespace().collect::<Vec<_>>().join(" ");
    let kind = kind.trim_end_matches(['.', ':', ',', ';']).to_owned();
    let odd = |c: char| matches!(c, '[' | ']' | '(' | ')' | '#' | '|' | ':' | '*' | '`' | '<' | '>' | '"');
    let fits = kind.contains(char::is_alphabetic)
        && kind.chars().count() <= MAX_KIND
        && !kind.contains(odd)
        && !kind.contains(". ")
        && safe_text::line(&kind) == kind.as_str();
    if fits {
        return Ok(kind);
    }
    let message = "`relationshipType` is no short kind of relationship";
    Err(ToolError::in_field("relationshipType", message, &["a word or two, such as `sister` or `works for`"]))
}

fn checked_words(raw: &str) -> Result<String, ToolError> {
    let words = raw.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() > MAX_WORDS || safe_text::line(&words) != words.as_str() {
        let message = format!("`description` is longer than {MAX_WORDS} characters, or holds invisible ones");
        return Err(ToolError::in_field("description", message, &["one sentence"]));
    }
    Ok(words)
}

/// The one entry that a name means; a name that may mean several is an error, and so is one that means none.
fn entry<'a>(
    desk: &Desk<'a>,
    field: &str,
    name: &str,
    warnings: &mut Vec<String>,
) -> Result<&'a Entry, ToolError> {
    let name = name.trim();
    if name.is_empty() {
        return Err(ToolError::in_field(field, format!("`{field}` is empty"), &[]));
    }
    let shown = safe_text::line(&shorten(name, 60)).into_owned();
    let found = lookup::find(desk.book, None, name);
    // A name that is a slip away is a guess: two files would change for it.
    let sure = found.best.filter(|(_, strength)| *strength < Strength::Near);
    let Some((best, strength)) = sure else {
        let mut near: Vec<String> = found.best.iter().map(|(entry, _)| entry.name.clone()).collect();
        near.extend(lookup::near_names(desk.book, None, name, NEAR));
        let mut seen = std::collections::BTreeSet::new();
        near.retain(|name| seen.insert(name.clone()));
        near.truncate(NEAR);
        let message = format!(
            "there is no entry `{shown}` for `{field}`, so nothing is proposed; use a near name, search_codex, or propose_codex_create first"
        );
        return Err(ToolError::refused(message, json!({"field": field, "near": near})));
    };
    let mut others = found.also_matched;
    if strength < Strength::Partial {
        // Another entry of the very same name is as good an answer, whatever its length or path.
        others.extend(lookup::same_name(desk.book, name).into_iter().filter(|e| !std::ptr::eq(*e, best)));
    }
    if !others.is_empty() {
        let mut candidates: Vec<String> =
            std::iter::once(best).chain(others).map(|e| format!("{} ({})", e.name, e.address())).collect();
        candidates.dedup();
        let message = format!("`{shown}` may be several entries; give the whole name in `{field}`");
        return Err(ToolError::refused(message, json!({"field": field, "candidates": candidates})));
    }
    if strength >= Strength::Partial {
        warnings.push(format!("`{shown}` was taken to be {}.", best.name));
    }
    Ok(best)
}

/// The changed files with the lines that they get, source first.
fn files(
    desk: &Desk<'_>,
    there: &Bond<'_>,
    back: &Bond<'_>,
    warnings: &mut Vec<String>,
) -> Result<(Vec<FileChange>, Vec<String>), ToolError> {
    let links = Links::of(desk.book);
    let shared = there.holder.path == back.holder.path;
    // In a shared file what stands further down is written first, so that the places above stay where they are.
    let mut order = [(0, there), (1, back)];
    if there.holder.body.start < back.holder.body.start {
        order.reverse();
    }
    let mut texts = [there.holder.text.to_string(), back.holder.text.to_string()];
    let mut added = [None, None];
    let mut known = vec![];
    for (at, bond) in order {
        let file = if shared { 0 } else { at };
        match bond.record(&texts[file], links) {
            Recorded::Already(line) => known.push((at, bond, line)),
            Recorded::Unsafe(why) => {
                let path = &bond.holder.path;
                let message = format!("the relationships in {path} can't be added to: {why}");
                return Err(ToolError::refused(message, json!({"path": path})));
            }
            Recorded::Added { text, lines } => {
                texts[file] = text;
                added[at] = Some(lines);
            }
        }
    }
    let place = |(_, bond, line): &(usize, &Bond<'_>, usize)| format!("{}, line {line}", bond.holder.path);
    if known.len() == 2 {
        known.sort_by_key(|(at, ..)| *at);
        let places: Vec<String> = known.iter().map(place).collect();
        let message = format!("this relationship is recorded already ({})", places.join("; "));
        return Err(ToolError::refused(message, json!({"recorded": places})));
    }
    if let Some(one) = known.first() {
        warnings.push(format!(
            "It stands in one of the two entries already ({}); only the other is changed.",
            place(one)
        ));
    }
    let bonds = [there, back];
    let mut files = vec![];
    for (at, text) in texts.into_iter().enumerate() {
        let holder = bonds[at].holder;
        if *text != *holder.text {
            files.push(changed_file(&holder.path, &holder.text, text));
        }
    }
    Ok((files, added.into_iter().flatten().collect()))
}

fn draft(proposal: Proposal, source: &Entry, target: &Entry, lines: &[String]) -> Draft {
    let paths: Vec<_> = proposal.files.iter().map(|f| f.path.clone()).collect();
    let result = json!({
        "applied": false,
        "proposalId": proposal.id,
        "path": proposal.path(),
        "files": paths,
        "type": proposal.subject,
        "source": source.name,
        "target": target.name,
        "change": "relationship",
        "warnings": proposal.warnings,
        "proposedMarkdown": lines.join("\n"),
        "note": NOTE,
    });
    let evidence = Evidence {
        results: paths.len(),
        resolved: paths,
        title: Some(source.name.clone()),
        kind: Some(proposal.subject.to_string()),
        ..Evidence::default()
    };
    Draft { result, evidence, material: vec![], proposal: Some(proposal) }
}

#[cfg(test)]
mod tests;
