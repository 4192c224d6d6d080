//! `propose_persona_update`: another editable section for the board member who is talking, kept in `scritorio.toml`.
//!
//! The locked sections are no part of what is proposed, and a text that would pose as one of them is refused.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{MAX_SUMMARY, NOTE, changed_file, new_file};
use crate::domain::ids::{BookPath, ProposalId};
use crate::domain::passage;
use crate::persona::board::{self, Member};
use crate::persona::placeholders::{KNOWN, render};
use crate::proposal::change::{self, settings};
use crate::proposal::{FileChange, Other, Proposal, Subject};
use crate::tools::read::shorten;
use crate::tools::{Desk, Draft, Evidence, ProposeTool, ToolError};

/// Longest editable section, in characters.
const MAX_TEXT: usize = 12_000;

/// See [`ProposeTool::about`].
pub(in crate::tools) struct UpdatePersona;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct Args {
    /// The whole new text of your editable sections (tone, emphasis, house preferences) as Markdown.
    editable_markdown: String,
    /// Why, in one sentence for the author.
    reason: String,
}

impl ProposeTool for UpdatePersona {
    type Args = Args;

    fn name(&self) -> &'static str {
        "propose_persona_update"
    }

    fn about(&self) -> &'static str {
        "Proposes another text for your own editable sections (tone, emphasis, house preferences) in this book; the author reviews it, and it holds from the next turn on. Only when the author asks for another manner. Your role, duties and limits can't be changed."
    }

    fn propose(&self, desk: &Desk<'_>, args: Args) -> Result<Draft, ToolError> {
        let member = board::member(desk.persona);
        let reason = args.reason.trim();
        if reason.is_empty() {
            return Err(ToolError::in_field("reason", "`reason` is empty", &[]));
        }
        let text = change::normalise(args.editable_markdown.trim_start_matches('\u{feff}'), "\n");
        check(desk, member, &text)?;
        let current = desk.book.settings.board.get(member.id).and_then(|b| b.editable.as_deref());
        let current = current.unwrap_or(member.editable).trim();
        let changed = text != current;
        let mut warnings = vec![];
        let lost: Vec<String> = KNOWN
            .iter()
            .map(|name| format!("{{{{{name}}}}}"))
            .filter(|name| current.contains(name.as_str()) && !text.contains(name.as_str()))
            .collect();
        if !lost.is_empty() {
            warnings.push(format!("The new text no longer follows these settings: {}.", lost.join(", ")));
        }
        let file = changed.then(|| in_settings(desk, member, &text)).transpose()?;
        let proposal = file.map(|file| Proposal {
            id: ProposalId::mint(),
            tool: self.name().to_owned(),
            subject: Subject::Other(Other::Persona),
            entry: member.name.to_owned(),
            summary: shorten(reason, MAX_SUMMARY),
            warnings,
            files: vec![file],
            edited: false,
        });
        Ok(draft(desk, member, current, &text, proposal))
    }
}

fn check(desk: &Desk<'_>, member: &Member, text: &str) -> Result<(), ToolError> {
    let field = "editableMarkdown";
    let bad = |message: String, allowed: &[&str]| Err(ToolError::in_field(field, message, allowed));
    if text.is_empty() {
        return bad(format!("`{field}` is empty"), &["the whole new text"]);
    }
    if text.chars().count() > MAX_TEXT {
        return bad(format!("`{field}` is longer than {MAX_TEXT} characters"), &[]);
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return bad(format!("`{field}` holds a control character"), &[]);
    }
    if let Err(unknown) = render(text, &desk.book.settings, field) {
        let known: Vec<String> = KNOWN.iter().map(|name| format!("{{{{{name}}}}}")).collect();
        let message =
            format!("line {} holds the unknown placeholder `{{{{{}}}}}`", unknown.line, unknown.name);
        return bad(message, &known.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let locked: Vec<String> =
        change::sections(member.locked).iter().map(|s| passage::fold(&s.heading)).collect();
    for section in change::sections(text) {
        let line = passage::line_column(text, section.start).0;
        if section.level == 1 || locked.contains(&passage::fold(&section.heading)) {
            let message = format!(
                "line {line} begins the section `{}`, which is locked; only tone, emphasis and house preferences can change",
                section.heading
            );
            return bad(message, &["## Tone", "## Emphasis", "## House preferences", "other `##` sections"]);
        }
    }
    Ok(())
}

fn in_settings(desk: &Desk<'_>, member: &Member, text: &str) -> Result<FileChange, ToolError> {
    let base = desk.book.settings_text.as_deref();
    let refused = || {
        let message = "the settings in scritorio.toml can't be changed without touching more than this text; ask the author to do it by hand";
        ToolError::refused(
            message,
            json!({"path": "scritorio.toml", "key": format!("board.{}.editable", member.id)}),
        )
    };
    let path = BookPath::new("scritorio.toml").map_err(|_| refused())?;
    let value = format!("{text}\n");
    let changed = settings::set_text(base.unwrap_or_default(), &["board", member.id], "editable", &value)
        .ok_or_else(refused)?;
    Ok(match base {
        Some(base) => changed_file(&path, base, changed),
        None => new_file(path, changed),
    })
}

fn draft(desk: &Desk<'_>, member: &Member, current: &str, text: &str, proposal: Option<Proposal>) -> Draft {
    let limit = desk.limits.excerpt;
    let (now, wanted) = (passage::cut(current, limit), passage::cut(text, limit));
    let truncated = now.len() < current.len() || wanted.len() < text.len();
    let note = if proposal.is_some() {
        NOTE
    } else {
        "Nothing would change, so nothing is proposed: your editable sections say this already."
    };
    let mut result = json!({
        "applied": false,
        "proposalId": proposal.as_ref().map(|p| &p.id),
        "path": "scritorio.toml",
        "type": "persona",
        "name": member.name,
        "change": "editable sections",
        "warnings": proposal.as_ref().map(|p| &p.warnings),
        "currentMarkdown": now,
        "proposedMarkdown": wanted,
    });
    if truncated {
        result["truncated"] = Value::Bool(true);
    }
    result["note"] = json!(note);
    let evidence = Evidence {
        title: Some(member.name.to_owned()),
        kind: Some("persona".to_owned()),
        results: 1,
        truncated,
        ..Evidence::default()
    };
    Draft { result, evidence, material: vec![], proposal }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Outcome;
    use crate::tools::testing::{Shelf, call};

    fn update(shelf: &Shelf, persona: Option<&str>, text: &str) -> Result<Outcome, ToolError> {
        let args = json!({"editableMarkdown": text, "reason": "You asked for fewer words"});
        call(&Desk { persona, ..shelf.desk() }, "propose_persona_update", &args)
    }

    #[test]
    fn the_member_who_talks_gets_another_manner_and_the_rest_of_the_settings_stays() {
        let mut shelf = Shelf::new();
        let toml = "# mine\n[board.writing-coach]\nnotes = \"n\" # keep\n";
        shelf.book.settings_text = Some(toml.into());
        let outcome = update(&shelf, Some("writing-coach"), "## Tone\n\nBrief, for {{genre}}.\r\n").unwrap();
        let proposal = outcome.proposal.unwrap();
        let file = &proposal.files[0];
        assert_eq!((file.path.as_str(), file.base.as_deref()), ("scritorio.toml", Some(toml)));
        assert_eq!(
            file.text(),
            format!("{toml}editable = \"\"\"\n## Tone\n\nBrief, for {{{{genre}}}}.\n\"\"\"\n")
        );
        assert_eq!((proposal.subject.as_str(), proposal.entry.as_str()), ("persona", "Writing Coach"));
        assert_eq!(outcome.result["currentMarkdown"], board::member(Some("writing-coach")).editable.trim());
    }

    #[test]
    fn a_book_without_settings_gets_a_file_and_a_member_that_is_not_named_is_the_default_one() {
        let proposal = update(&Shelf::new(), None, "Brief.").unwrap().proposal.unwrap();
        assert_eq!(proposal.files[0].base, None);
        assert_eq!(
            proposal.files[0].text(),
            "[board.developmental-editor]\neditable = \"\"\"\nBrief.\n\"\"\"\n"
        );
    }

    #[test]
    fn what_is_locked_or_not_known_is_refused_with_its_line() {
        for (text, told) in [
            ("", "empty"),
            ("## Tone\n\nDry.\n\n## Limits\n\nNone.", "line 5"),
            ("## Duties\n", "line 1"),
            ("Shared Rules\n===\n\nx", "line 1"),
            ("# Final Compliance Check\n", "locked"),
            ("a\n\nb {{mood}}", "line 3"),
            ("a\u{1b}[2J", "control"),
            (&"x".repeat(20_000), "longer"),
        ] {
            let told_now = update(&Shelf::new(), None, text).unwrap_err().to_result();
            assert_eq!(told_now["error"]["field"], "editableMarkdown");
            assert!(told_now["error"]["message"].as_str().unwrap().contains(told), "{told_now}");
        }
    }

    #[test]
    fn what_is_said_already_is_not_proposed() {
        let member = board::member(None);
        let outcome = update(&Shelf::new(), None, member.editable).unwrap();
        assert!(outcome.proposal.is_none() && outcome.result["proposalId"].is_null());
    }
}
