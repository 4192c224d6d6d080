//! Turns "this section should say that" into a proposal, or into a reason why not that the model can act on.
//!
//! Never replaces a section that the model has not seen whole, never touches more than the Role field for a change of role, never
//! guesses between two entries.

use serde_json::{Map, Value, json};

use super::field::{FieldProblem, change_field};
use super::{MAX_SUMMARY, NOTE, changed_file};
use crate::canon::lookup::{self, Strength};
use crate::domain::codex::{Entry, EntryType};
use crate::domain::frontmatter;
use crate::domain::ids::{BookPath, ProposalId};
use crate::domain::passage;
use crate::proposal::change::{self, Section};
use crate::proposal::{Proposal, role};
use crate::tools::read::{not_found, shorten};
use crate::tools::{Desk, Draft, Evidence, Material, ToolError};

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
struct File<'a> {
    path: &'a BookPath,
    text: &'a str,
}

/// A change that was worked out.
struct Change<'a> {
    file: File<'a>,
    /// What kind of change: `replace`, `append`, `new section`, `role` or `field`.
    what: &'static str,
    /// The place as the file names it.
    target: String,
    /// The words there now, as they stand in the file where `is_stretch` says so.
    current: String,
    is_stretch: bool,
    /// The words that are proposed.
    wanted: String,
    /// The whole file with them.
    proposed: String,
    warnings: Vec<String>,
}

/// What came of working out a change.
enum Worked<'a> {
    Change(Box<Change<'a>>),
    /// The section was not seen whole.
    Unseen {
        file: File<'a>,
        section: Section,
    },
}

/// Drafts the change. See the module.
pub(super) fn revise(desk: &Desk<'_>, revision: &Revision<'_>) -> Result<Draft, ToolError> {
    for (field, text) in
        [("name", revision.name), ("changeSummary", revision.summary), ("targetSection", revision.target)]
    {
        if text.is_empty() {
            return Err(ToolError::in_field(field, format!("`{field}` is empty"), &[]));
        }
    }
    let found = lookup::find(desk.book, Some(revision.entry_type), revision.name);
    let Some((entry, strength)) = found.best else { return Ok(no_entry(desk, revision)) };
    let mut warnings = vec![];
    if !found.also_matched.is_empty() {
        let others: Vec<&str> = found.also_matched.iter().map(|e| e.path.as_str()).collect();
        if strength == Strength::Partial {
            let message = format!("`{}` may be several entries; give the whole name", revision.name);
            let candidates: Vec<&str> = std::iter::once(entry.path.as_str()).chain(others).collect();
            return Err(ToolError::refused(message, json!({"candidates": candidates})));
        }
        warnings.push(format!("Other entries have this name too: {}.", others.join(", ")));
    } else if strength == Strength::Partial {
        warnings.push(format!("`{}` was taken to be {}.", revision.name, entry.name));
    }
    match work_out(desk, revision, entry)? {
        Worked::Unseen { file, section } => Ok(show_unseen(desk, entry, file, &section)),
        Worked::Change(change) => {
            warnings.extend(change.warnings.iter().cloned());
            Ok(draft(desk, revision, entry, &change, warnings))
        }
    }
}

fn no_entry(desk: &Desk<'_>, revision: &Revision<'_>) -> Draft {
    let mut result = not_found(desk, revision.entry_type, revision.name);
    let note = "There is no such entry, so nothing is proposed. Use one of the near names, search_codex, or propose_codex_create for a new entry.";
    result.insert("applied".into(), json!(false));
    result.insert("note".into(), json!(note));
    let evidence =
        Evidence { kind: Some(revision.entry_type.to_string()), missing: true, ..Evidence::default() };
    Draft { result: Value::Object(result), evidence, ..Draft::default() }
}

fn work_out<'a>(desk: &Desk<'_>, revision: &Revision<'_>, entry: &'a Entry) -> Result<Worked<'a>, ToolError> {
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

fn evidence(entry: &Entry, file: File<'_>) -> Evidence {
    Evidence {
        resolved: vec![file.path.clone()],
        title: Some(entry.name.clone()),
        kind: Some(entry.entry_type.to_string()),
        results: 1,
        ..Evidence::default()
    }
}

/// The result when a section would be replaced unseen: it is shown whole, so that the next try may replace it.
fn show_unseen(desk: &Desk<'_>, entry: &Entry, file: File<'_>, section: &Section) -> Draft {
    let whole = file.text[section.content.clone()].trim();
    let shown = passage::cut(whole, desk.limits.prose);
    let fits = shown.len() == whole.len();
    let note = if fits {
        "Nothing is proposed yet: this section was not returned whole in this conversation. Here it is; propose again with its whole new text."
    } else {
        "Nothing is proposed: this section is too long to be returned whole, so it can't be replaced. Use mode append, or name a smaller section."
    };
    let mut evidence = evidence(entry, file);
    evidence.words = Some(passage::count_words(shown));
    evidence.truncated = !fits;
    let result = json!({
        "applied": false,
        "proposalId": null,
        "path": file.path,
        "type": entry.entry_type,
        "name": entry.name,
        "targetSection": section.heading,
        "currentMarkdown": shown,
        "truncated": !fits,
        "note": note,
    });
    let material = vec![Material { path: file.path.clone(), text: shown.to_owned() }];
    Draft { result, evidence, material, proposal: None }
}

fn draft(
    desk: &Desk<'_>,
    revision: &Revision<'_>,
    entry: &Entry,
    change: &Change<'_>,
    warnings: Vec<String>,
) -> Draft {
    let file = change.file;
    let mut result = Map::new();
    let nothing = change.proposed == file.text;
    let proposal = (!nothing).then(|| Proposal {
        id: ProposalId::mint(),
        tool: revision.tool.to_owned(),
        entry_type: entry.entry_type,
        entry: entry.name.clone(),
        summary: shorten(revision.summary, MAX_SUMMARY),
        warnings: warnings.clone(),
        files: vec![changed_file(file.path, file.text, change.proposed.clone())],
        edited: false,
    });
    let limit = desk.limits.excerpt;
    let current = passage::cut(&change.current, limit);
    let wanted = passage::cut(&change.wanted, limit);
    let cut = current.len() < change.current.len() || wanted.len() < change.wanted.len();
    result.insert("applied".into(), json!(false));
    result.insert("proposalId".into(), json!(proposal.as_ref().map(|p| &p.id)));
    result.insert("path".into(), json!(file.path));
    result.insert("type".into(), json!(entry.entry_type));
    result.insert("name".into(), json!(entry.name));
    result.insert("targetSection".into(), json!(change.target));
    result.insert("change".into(), json!(change.what));
    result.insert("warnings".into(), json!(warnings));
    result.insert("currentMarkdown".into(), json!(current));
    result.insert("proposedMarkdown".into(), json!(wanted));
    if cut {
        result.insert("truncated".into(), json!(true));
    }
    let note = if nothing {
        "Nothing would change, so nothing is proposed: the entry says this already."
    } else {
        NOTE
    };
    result.insert("note".into(), json!(note));
    let mut evidence = evidence(entry, file);
    evidence.truncated = cut;
    let stretch = change.is_stretch && !current.is_empty();
    let material = stretch.then(|| Material { path: file.path.clone(), text: current.to_owned() });
    Draft { result: Value::Object(result), evidence, material: material.into_iter().collect(), proposal }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::passage::sha256_hex;
    use crate::tools::Outcome;
    use crate::tools::desk::Seen;
    use crate::tools::testing::{Shelf, call};

    const VALE: &str = "---\n# who\ntype: character\nname: Adrian Vale\naliases: [the Captain]\nrole: protagonist   # keep\nstatus: alive\n---\n\n# Adrian Vale\n\n## Summary\n\nHe commands the Halcyon.\n\n## Voice\n\nLow.\n\n### At sea\n\nLower.\n";

    fn shelf() -> Shelf {
        Shelf::new()
            .entry("codex/characters/adrian-vale/dossier.md", VALE)
            .soul("codex/characters/adrian-vale/soul.md", "# Soul\n\n## Fears\n\nThe question.\n")
            .entry("codex/items/halcyon.md", "---\ntype: item\nname: Halcyon\n---\nA relay tender.\n")
    }

    fn update(shelf: &Shelf, seen: &Seen, args: &Value) -> Result<Outcome, ToolError> {
        let mut all =
            json!({"entryType": "character", "name": "Adrian Vale", "changeSummary": "Better words"});
        all.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
        call(&Desk { seen, ..shelf.desk() }, "propose_codex_update", all)
    }

    fn having_read(shelf: &Shelf) -> Seen {
        let mut seen = Seen::default();
        seen.add(
            &call(&shelf.desk(), "get_character_context", json!({"name": "Adrian Vale"})).unwrap().material,
        );
        seen
    }

    fn proposed(outcome: &Outcome) -> &str {
        &outcome.proposal.as_ref().unwrap_or_else(|| panic!("{}", outcome.result)).files[0].proposed
    }

    #[test]
    fn a_section_that_was_read_is_replaced_and_nothing_else() {
        let shelf = shelf();
        let args = json!({"targetSection": "Summary", "proposedMarkdown": "## Summary\n\nHe waits.\n"});
        let outcome = update(&shelf, &having_read(&shelf), &args).unwrap();
        assert_eq!(proposed(&outcome), VALE.replace("He commands the Halcyon.", "He waits."));
        let file = &outcome.proposal.as_ref().unwrap().files[0];
        assert_eq!((file.base.as_deref(), file.base_hash.clone()), (Some(VALE), Some(sha256_hex(VALE))));
        assert_eq!(outcome.result["applied"], false);
        assert_eq!(outcome.result["proposalId"], json!(outcome.proposal.as_ref().unwrap().id));
        assert_eq!(outcome.result["currentMarkdown"], "He commands the Halcyon.");
        assert_eq!(outcome.result["proposedMarkdown"], "He waits.");
        assert_eq!(outcome.result["warnings"], json!([]));
    }

    #[test]
    fn a_section_that_was_not_read_is_shown_first_and_replaced_on_the_second_try() {
        let shelf = shelf();
        let args = json!({"targetSection": "Summary", "proposedMarkdown": "He waits."});
        let first = update(&shelf, &Seen::default(), &args).unwrap();
        assert!(first.proposal.is_none());
        assert_eq!(first.result["currentMarkdown"], "He commands the Halcyon.");
        let mut seen = Seen::default();
        seen.add(&first.material);
        assert!(update(&shelf, &seen, &args).unwrap().proposal.is_some());
    }

    #[test]
    fn appending_needs_no_reading_and_subsections_stay() {
        let shelf = shelf();
        let args = json!({"targetSection": "Voice", "proposedMarkdown": "Never swears.", "mode": "append"});
        let outcome = update(&shelf, &Seen::default(), &args).unwrap();
        assert_eq!(proposed(&outcome), VALE.replace("Low.\n", "Low.\n\nNever swears.\n"));
        let args = json!({"targetSection": "Voice", "proposedMarkdown": "High."});
        let outcome = update(&shelf, &having_read(&shelf), &args).unwrap();
        assert_eq!(proposed(&outcome), VALE.replace("Low.", "High."));
        assert!(outcome.result["warnings"][0].as_str().unwrap().contains("below"));
    }

    #[test]
    fn a_section_that_is_not_there_is_added_at_the_end_with_a_warning() {
        let shelf = shelf();
        let args = json!({"targetSection": "## Habits", "proposedMarkdown": "Tea."});
        let outcome = update(&shelf, &Seen::default(), &args).unwrap();
        assert_eq!(proposed(&outcome), format!("{VALE}\n## Habits\n\nTea.\n"));
        assert!(outcome.proposal.unwrap().warnings[0].contains("added at the end"));
    }

    #[test]
    fn a_change_of_role_changes_one_value_whatever_was_sent() {
        let shelf = shelf();
        let expected = VALE.replace("role: protagonist   # keep", "role: antagonist   # keep");
        for (target, summary, markdown) in [
            ("Role", "He turns", "antagonist"),
            ("role", "He turns", "---\ntype: item\nrole: antagonist\n---\n# Nobody\n\nAll new.\n"),
            ("Summary", "Change his role to antagonist", "Role: antagonist\n\nHe was evil all along."),
        ] {
            let args =
                json!({"targetSection": target, "changeSummary": summary, "proposedMarkdown": markdown});
            let outcome = update(&shelf, &Seen::default(), &args).unwrap();
            assert_eq!(proposed(&outcome), expected, "{target}");
            assert_eq!(
                (&outcome.result["change"], &outcome.result["currentMarkdown"]),
                (&json!("role"), &json!("protagonist"))
            );
        }
        let args = json!({"targetSection": "Role", "proposedMarkdown": "A long story of what he does, and why, and to whom.\n\nMore."});
        let error = update(&shelf, &Seen::default(), &args).unwrap_err();
        assert_eq!(error.to_result()["error"]["field"], "proposedMarkdown");
    }

    #[test]
    fn a_frontmatter_field_can_be_the_target() {
        let shelf = shelf();
        let args =
            json!({"targetSection": "aliases", "proposedMarkdown": "the Superintendent", "mode": "append"});
        let outcome = update(&shelf, &Seen::default(), &args).unwrap();
        assert_eq!(proposed(&outcome), VALE.replace("[the Captain]", "[the Captain, the Superintendent]"));
        let args = json!({"targetSection": "frontmatter.status", "proposedMarkdown": "dead"});
        assert_eq!(
            proposed(&update(&shelf, &Seen::default(), &args).unwrap()),
            VALE.replace("alive", "dead")
        );
    }

    #[test]
    fn a_section_of_the_soul_is_changed_in_its_own_file() {
        let shelf = shelf();
        for target in ["Fears", "soul.md / Fears"] {
            let args = json!({"targetSection": target, "proposedMarkdown": "Silence."});
            let outcome = update(&shelf, &having_read(&shelf), &args).unwrap();
            assert_eq!(outcome.result["path"], "codex/characters/adrian-vale/soul.md");
            assert_eq!(proposed(&outcome), "# Soul\n\n## Fears\n\nSilence.\n");
        }
    }

    #[test]
    fn what_would_change_nothing_is_not_proposed() {
        let shelf = shelf();
        for (target, markdown) in
            [("Summary", "He commands the Halcyon."), ("Role", "protagonist"), ("status", "alive")]
        {
            let args = json!({"targetSection": target, "proposedMarkdown": markdown});
            let outcome = update(&shelf, &having_read(&shelf), &args).unwrap();
            assert!(outcome.proposal.is_none(), "{target}");
            assert!(outcome.result["note"].as_str().unwrap().starts_with("Nothing would change"));
        }
    }

    #[test]
    fn an_entry_that_is_not_there_gives_near_names_and_no_proposal() {
        let shelf = shelf();
        let args = json!({"name": "Adrien Vael", "targetSection": "Summary", "proposedMarkdown": "x"});
        let outcome = update(&shelf, &Seen::default(), &args).unwrap();
        assert!(outcome.proposal.is_none() && outcome.evidence.missing);
        assert!(
            outcome.result["near"].as_array().unwrap().contains(&json!("Adrian Vale")),
            "{}",
            outcome.result
        );
        let args = json!({"name": "Halcyon", "targetSection": "Summary", "proposedMarkdown": "x"});
        let outcome = update(&shelf, &Seen::default(), &args).unwrap();
        assert_eq!(outcome.result["otherTypes"][0]["type"], "item");
    }

    #[test]
    fn text_that_would_swallow_the_next_sections_is_refused() {
        let shelf = shelf();
        for text in ["```\nnever closed", "~~~\nnever closed", "<!-- never closed"] {
            for mode in ["replace", "append"] {
                let args = json!({"targetSection": "Summary", "proposedMarkdown": text, "mode": mode});
                let told = update(&shelf, &having_read(&shelf), &args).unwrap_err().to_result();
                assert_eq!(told["error"]["field"], "proposedMarkdown", "{text}");
            }
        }
    }

    #[test]
    fn a_file_without_headings_is_one_section_and_one_with_headings_asks_for_its_name() {
        let shelf = Shelf::new().entry("codex/items/lamp.md", "---\ntype: item\nname: Lamp\n---\nA lamp.\n");
        let mut seen = Seen::default();
        seen.add(&call(&shelf.desk(), "get_item_context", json!({"name": "Lamp"})).unwrap().material);
        let args = json!({"entryType": "item", "name": "Lamp", "targetSection": "body", "proposedMarkdown": "A brass lamp."});
        assert_eq!(
            proposed(&update(&shelf, &seen, &args).unwrap()),
            "---\ntype: item\nname: Lamp\n---\nA brass lamp.\n"
        );
        let args = json!({"targetSection": "body", "proposedMarkdown": "x"});
        let error = update(&self::shelf(), &Seen::default(), &args).unwrap_err().to_result();
        assert_eq!(error["error"]["field"], "targetSection");
        assert!(error["error"]["allowed"].as_array().unwrap().contains(&json!("Voice")));
    }

    #[test]
    fn the_older_form_makes_the_same_proposal() {
        let shelf = shelf();
        let args = json!({"name": "the Captain", "changeSummary": "x", "targetSection": "Role", "proposedMarkdown": "antagonist"});
        let outcome = call(&shelf.desk(), "propose_character_update", args).unwrap();
        let proposal = outcome.proposal.unwrap();
        assert_eq!(proposal.tool, "propose_character_update");
        assert_eq!(proposal.files[0].proposed, VALE.replace("protagonist", "antagonist"));
    }
}
