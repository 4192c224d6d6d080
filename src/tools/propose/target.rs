//! Works out what one file would be, from the place that a model names and the text that it sends for it.
//!
//! A place is, in this order: the Role field, a section of the dossier or the soul, a frontmatter field, the whole text of a file without
//! headings, a new section at the end.

use serde_json::{Value, json};

use super::field::{FieldProblem, change_field};
use crate::domain::codex::{Entry, EntryType};
use crate::domain::frontmatter;
use crate::domain::ids::BookPath;
use crate::domain::passage;
use crate::proposal::change::{self, Section};
use crate::proposal::role;
use crate::tools::read::shorten;
use crate::tools::{Desk, ToolError};

/// Longest heading of a new section, in characters.
const MAX_HEADING: usize = 100;

/// Ways to say "all of the text" instead of a section.
const WHOLE: [&str; 8] =
    ["body", "text", "content", "file", "entry", "document", "whole entry", "entire entry"];

/// A change that a model asks for.
pub(super) struct Revision<'a> {
    pub tool: &'static str,
    pub entry_type: EntryType,
    pub name: &'a str,
    pub summary: &'a str,
    pub target: &'a str,
    pub markdown: &'a str,
    pub append: bool,
}

/// One file of an entry: the dossier, or the soul.
#[derive(Clone, Copy)]
pub(super) struct File<'a> {
    pub path: &'a BookPath,
    pub text: &'a str,
}

/// A change that was worked out.
pub(super) struct Change<'a> {
    pub file: File<'a>,
    /// What kind of change: `replace`, `append`, `new section`, `role` or `field`.
    pub what: &'static str,
    /// The place as the file names it.
    pub target: String,
    /// The words there now, as they stand in the file where `is_stretch` says so.
    pub current: String,
    pub is_stretch: bool,
    /// The words that are proposed.
    pub wanted: String,
    /// The whole file with them.
    pub proposed: String,
    pub warnings: Vec<String>,
}

/// What came of working out a change.
pub(super) enum Worked<'a> {
    Change(Box<Change<'a>>),
    /// The section was not seen whole.
    Unseen {
        file: File<'a>,
        section: Section,
    },
}

/// Works the change out. See the module.
pub(super) fn work_out<'a>(
    desk: &Desk<'_>,
    revision: &Revision<'_>,
    entry: &'a Entry,
) -> Result<Worked<'a>, ToolError> {
    let main = File { path: &entry.path, text: &entry.text };
    if entry.entry_type == EntryType::Character
        && role::is_role_change(revision.target, revision.summary, revision.markdown)
    {
        return change_role(revision, main).map(|c| Worked::Change(Box::new(c)));
    }
    let soul = entry.soul.as_ref().map(|s| File { path: &s.path, text: &s.text });
    let named_soul = soul.and_then(|file| Some((file, soul_section(revision.target)?)));
    let places = match named_soul {
        Some((file, target)) => vec![(file, target)],
        None => std::iter::once(main).chain(soul).map(|file| (file, revision.target)).collect(),
    };
    for (file, target) in &places {
        let sections = change::sections(file.text);
        let found = change::find_sections(&sections, target);
        if let Some(section) = found.first() {
            return change_section(desk, revision, *file, section, found.len());
        }
    }
    let fields = frontmatter::parse(main.text).fields;
    let key = revision.target.rsplit(['.', '/']).next().unwrap_or(revision.target);
    if let Some(key) = change::find_key(&fields, key) {
        return set_field(revision, main, key, &fields[key]).map(|c| Worked::Change(Box::new(c)));
    }
    let (file, target) = places.first().copied().unwrap_or((main, revision.target));
    if WHOLE.contains(&passage::fold(target).as_str()) || passage::fold(target) == "frontmatter" {
        return whole_body(desk, revision, file, target);
    }
    Ok(Worked::Change(Box::new(new_section(revision, file, target))))
}

/// `soul.md / Fears`, `Soul / Fears`: the part after the file.
fn soul_section(target: &str) -> Option<&str> {
    let (file, rest) = target.split_once('/')?;
    let is_soul = ["soul", "soul.md"].iter().any(|s| file.trim().eq_ignore_ascii_case(s));
    (is_soul && !rest.trim().is_empty()).then(|| rest.trim())
}

fn change_role<'a>(revision: &Revision<'_>, file: File<'a>) -> Result<Change<'a>, ToolError> {
    let wanted = role::proposed_role(revision.markdown).ok_or_else(|| {
        let message = "this reads as a change of the narrative role, but holds no single role value; send only the value, e.g. `antagonist`, with targetSection `Role`. For another section, leave the role out of changeSummary";
        ToolError::in_field("proposedMarkdown", message, &["one short role value"])
    })?;
    let proposed = role::set_role(file.text, &wanted).ok_or_else(|| {
        let message =
            format!("the role in {} can't be changed without touching more than its value", file.path);
        ToolError::refused(message, json!({"path": file.path}))
    })?;
    let mut warnings = vec![];
    if passage::fold(revision.markdown) != passage::fold(&wanted)
        && revision.markdown.trim().lines().count() > 1
    {
        warnings.push("Only the role is changed; the rest of the proposed text is left out.".to_owned());
    }
    let current = role::current_role(file.text).unwrap_or_default();
    if current.is_empty() {
        warnings.push("The entry has no role yet; the field is added.".to_owned());
    }
    Ok(Change {
        file,
        what: "role",
        target: "role".into(),
        current,
        is_stretch: false,
        wanted,
        proposed,
        warnings,
    })
}

fn set_field<'a>(
    revision: &Revision<'_>,
    file: File<'a>,
    key: &str,
    old: &Value,
) -> Result<Change<'a>, ToolError> {
    let proposed = change_field(file.text, key, old, revision.markdown, revision.append).map_err(|problem| match problem {
        FieldProblem::NotAValue => ToolError::in_field(
            "proposedMarkdown",
            format!("`{key}` is a frontmatter field with one short text; it can only be replaced by one line"),
            &["one line of text"],
        ),
        FieldProblem::Unsafe => ToolError::refused(
            format!("the frontmatter field `{key}` in {} can't be changed without touching more than its value", file.path),
            json!({"path": file.path, "field": key}),
        ),
    })?;
    let show = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let wanted = frontmatter::parse(&proposed).fields.get(key).map(show).unwrap_or_default();
    Ok(Change {
        file,
        what: "field",
        target: key.to_owned(),
        current: show(old),
        is_stretch: false,
        wanted,
        proposed,
        warnings: vec![],
    })
}

fn change_section<'a>(
    desk: &Desk<'_>,
    revision: &Revision<'_>,
    file: File<'a>,
    section: &Section,
    namesakes: usize,
) -> Result<Worked<'a>, ToolError> {
    let wanted = without_heading(revision.markdown, &section.heading);
    let new_sections = change::sections(wanted);
    let mut warnings = vec![];
    if namesakes > 1 {
        warnings.push(format!(
            "{namesakes} sections are called {}; the first one is changed. `Parent / {0}` names another.",
            section.heading
        ));
    }
    let mut place = section.clone();
    if section.has_subsections() && new_sections.is_empty() {
        place = section.without_subsections();
        if !revision.append {
            warnings.push("The sections below this one are kept as they are.".to_owned());
        }
    }
    if new_sections.iter().any(|s| s.level <= section.level) {
        warnings.push("The proposed text begins a new section of the same or a higher level.".to_owned());
    }
    let content = &file.text[place.content.clone()];
    if !revision.append && !desk.seen.holds(file.path, content) {
        return Ok(Worked::Unseen { file, section: place });
    }
    let proposed = if revision.append {
        change::append(file.text, Some(section), &section.heading, wanted)
    } else {
        change::replace_section(file.text, &place, wanted)
    };
    if !keeps_what_follows(file.text, place.content.end, &proposed) {
        return Err(ToolError::in_field(
            "proposedMarkdown",
            "it leaves a code block or comment open, which would swallow the sections that follow",
            &["Markdown whose code blocks and comments are closed"],
        ));
    }
    let what = if revision.append { "append" } else { "replace" };
    Ok(Worked::Change(Box::new(Change {
        file,
        what,
        target: section.heading.clone(),
        current: content.trim().to_owned(),
        is_stretch: true,
        wanted: wanted.trim().to_owned(),
        proposed,
        warnings,
    })))
}

/// The headings behind the changed place are headings still.
fn keeps_what_follows(text: &str, end: usize, proposed: &str) -> bool {
    let tail = text.len() - end;
    let Some(new_end) = proposed.len().checked_sub(tail) else { return false };
    let behind = |text: &str, from: usize| -> Vec<(String, u8)> {
        change::sections(text).into_iter().filter(|s| s.start >= from).map(|s| (s.heading, s.level)).collect()
    };
    behind(text, end) == behind(proposed, new_end)
}

/// The proposed text without the section's own heading, which models like to repeat.
fn without_heading<'a>(markdown: &'a str, heading: &str) -> &'a str {
    let sections = change::sections(markdown);
    match sections.first() {
        Some(first)
            if markdown[..first.start].trim().is_empty()
                && passage::fold(&first.heading) == passage::fold(heading) =>
        {
            &markdown[first.content.start..]
        }
        _ => markdown,
    }
}

/// A file without any heading is one section; in a file with headings, the model has to name one.
fn whole_body<'a>(
    desk: &Desk<'_>,
    revision: &Revision<'_>,
    file: File<'a>,
    target: &str,
) -> Result<Worked<'a>, ToolError> {
    let sections = change::sections(file.text);
    let body_start = frontmatter::split(file.text).body_start;
    if sections.is_empty() && passage::fold(target) != "frontmatter" {
        let body = body_start..file.text.len();
        let section = Section {
            heading: target.to_owned(),
            level: 1,
            start: body_start,
            content: body.clone(),
            own: body,
        };
        return change_section(desk, revision, file, &section, 1);
    }
    let fields = frontmatter::parse(file.text).fields;
    let places: Vec<&str> =
        sections.iter().map(|s| s.heading.as_str()).chain(fields.keys().map(String::as_str)).collect();
    let message = format!("`targetSection` must name one section or one frontmatter key of {}", file.path);
    Err(ToolError::in_field("targetSection", message, &places))
}

fn new_section<'a>(revision: &Revision<'_>, file: File<'a>, target: &str) -> Change<'a> {
    let heading = target.rsplit(" / ").next().unwrap_or(target).trim_start_matches('#').trim();
    let heading = shorten(heading, MAX_HEADING);
    let wanted = without_heading(revision.markdown, &heading);
    let proposed = change::append(file.text, None, &heading, wanted);
    let mut warnings = vec![format!("There is no section {heading}; it is added at the end.")];
    if !change::sections(&proposed).iter().any(|s| passage::fold(&s.heading) == passage::fold(&heading)) {
        warnings.push(
            "The file ends inside a code block or comment, so that the new section is part of it.".to_owned(),
        );
    }
    Change {
        file,
        what: "new section",
        target: heading,
        current: String::new(),
        is_stretch: false,
        wanted: wanted.trim().to_owned(),
        proposed,
        warnings,
    }
}
