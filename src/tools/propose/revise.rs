//! Turns "this section should say that" into a proposal, or into a reason why not that the model can act on.
//!
//! Never replaces a section that the model has not seen whole, never touches more than the Role field for a change of role, never
//! guesses between two entries.

use serde_json::{Map, Value, json};

use super::soul::NewSoul;
use super::target::{Change, File, Revision, Worked, work_out};
use super::{MAX_SUMMARY, NOTE, changed_file};
use crate::canon::lookup::{self, Strength};
use crate::domain::codex::Entry;
use crate::domain::ids::{BookPath, ProposalId};
use crate::domain::passage;
use crate::proposal::Proposal;
use crate::proposal::change::Section;
use crate::tools::read::{not_found, shorten};
use crate::tools::{Desk, Draft, Evidence, Material, ToolError};

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
    // A change is never made on a guess at a misspelled name.
    let sure = found.best.filter(|(_, strength)| *strength < Strength::Near);
    let Some((entry, strength)) = sure else { return Ok(no_entry(desk, revision)) };
    let mut warnings = vec![];
    if !found.also_matched.is_empty() {
        let others: Vec<&str> = found.also_matched.iter().map(|e| e.path.as_str()).collect();
        if strength >= Strength::Partial {
            let message = format!("`{}` may be several entries; give the whole name", revision.name);
            let candidates: Vec<&str> = std::iter::once(entry.path.as_str()).chain(others).collect();
            return Err(ToolError::refused(message, json!({"candidates": candidates})));
        }
        warnings.push(format!("Other entries have this name too: {}.", others.join(", ")));
    } else if strength >= Strength::Partial {
        warnings.push(format!("`{}` was taken to be {}.", revision.name, entry.name));
    }
    match work_out(desk, revision, entry)? {
        Worked::Unseen { file, section } => Ok(show_unseen(desk, entry, &file, &section)),
        Worked::Soul(soul) => Ok(soul_draft(desk, revision, entry, soul, warnings)),
        Worked::Change(mut change) => {
            change.warnings.splice(0..0, warnings);
            Ok(draft(desk, revision, entry, &change))
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

fn evidence(entry: &Entry, path: &BookPath) -> Evidence {
    Evidence {
        resolved: vec![path.clone()],
        title: Some(entry.name.clone()),
        kind: Some(entry.entry_type.to_string()),
        results: 1,
        ..Evidence::default()
    }
}

/// The result when a section would be replaced unseen: it is shown whole, so that the next try may replace it.
fn show_unseen(desk: &Desk<'_>, entry: &Entry, file: &File<'_>, section: &Section) -> Draft {
    let whole = file.text[section.content.clone()].trim();
    let shown = passage::cut(whole, desk.limits.prose);
    let fits = shown.len() == whole.len();
    let note = if fits {
        "Nothing is proposed yet: this section was not returned whole in this conversation. Here it is; propose again with its whole new text."
    } else {
        "Nothing is proposed: this section is too long to be returned whole, so it can't be replaced. Use mode append, or name a smaller section."
    };
    let mut evidence = evidence(entry, file.path);
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

/// The draft of a first soul: all files in one proposal, so that the author takes the step whole.
fn soul_draft(
    desk: &Desk<'_>,
    revision: &Revision<'_>,
    entry: &Entry,
    soul: NewSoul,
    mut warnings: Vec<String>,
) -> Draft {
    warnings.extend(soul.warnings);
    let proposal = Proposal {
        id: ProposalId::mint(),
        tool: revision.tool.to_owned(),
        subject: entry.entry_type.into(),
        entry: entry.name.clone(),
        summary: shorten(revision.summary, MAX_SUMMARY),
        warnings,
        files: soul.files,
        edited: false,
    };
    let shown = passage::cut(&soul.text, desk.limits.excerpt);
    let cut = shown.len() < soul.text.len();
    let paths: Vec<&BookPath> = proposal.files.iter().map(|f| &f.path).collect();
    let mut result = json!({
        "applied": false,
        "proposalId": proposal.id,
        "path": soul.path,
        "type": entry.entry_type,
        "name": entry.name,
        "targetSection": "soul.md",
        "change": "soul",
        "files": paths,
        "warnings": proposal.warnings,
        "currentMarkdown": null,
        "proposedMarkdown": shown,
    });
    if cut {
        result["truncated"] = json!(true);
    }
    result["note"] = json!(NOTE);
    let evidence = Evidence { truncated: cut, ..evidence(entry, &soul.path) };
    Draft { result, evidence, material: vec![], proposal: Some(proposal) }
}

fn draft(desk: &Desk<'_>, revision: &Revision<'_>, entry: &Entry, change: &Change<'_>) -> Draft {
    let file = &change.file;
    let mut result = Map::new();
    let nothing = change.proposed == file.text;
    let proposal = (!nothing).then(|| Proposal {
        id: ProposalId::mint(),
        tool: revision.tool.to_owned(),
        subject: entry.entry_type.into(),
        entry: entry.name.clone(),
        summary: shorten(revision.summary, MAX_SUMMARY),
        warnings: change.warnings.clone(),
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
    result.insert("warnings".into(), json!(change.warnings));
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
    let mut evidence = evidence(entry, file.path);
    evidence.truncated = cut;
    let stretch = change.is_stretch && !current.is_empty();
    let material = stretch.then(|| Material { path: file.path.clone(), text: current.to_owned() });
    Draft { result: Value::Object(result), evidence, material: material.into_iter().collect(), proposal }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::passage::sha256_hex;
    use crate::proposal::change;
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
        call(&Desk { seen, ..shelf.desk() }, "propose_codex_update", &all)
    }

    fn having_read(shelf: &Shelf) -> Seen {
        let mut seen = Seen::default();
        seen.add(
            &call(&shelf.desk(), "get_character_context", &json!({"name": "Adrian Vale"})).unwrap().material,
        );
        seen
    }

    fn proposed(outcome: &Outcome) -> &str {
        outcome.proposal.as_ref().unwrap_or_else(|| panic!("{}", outcome.result)).files[0].text()
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
        seen.add(&call(&shelf.desk(), "get_item_context", &json!({"name": "Lamp"})).unwrap().material);
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

    /// Two entries in one file, each with a section of the same name.
    fn one_file() -> (Shelf, &'static str) {
        const FILE: &str = "# People\n\n## Mira\n\nRole: pilot\nHome:: [[Lantern]]\n\nListens.\n\n### Voice\n\nDry.\n\n## Tobias\n\nSings.\n\n### Voice\n\nWarm.\n";
        let mut shelf = Shelf::new().entry("codex/characters.md", FILE);
        let whole = shelf.book.entries.remove(0);
        let sections = change::sections(FILE);
        let body = |name: &str| sections.iter().find(|s| s.heading == name).unwrap().content.clone();
        shelf.book.entries = ["Mira", "Tobias"]
            .map(|name| Entry {
                name: name.into(),
                heading: Some(name.into()),
                body: body(name),
                ..whole.clone()
            })
            .into();
        (shelf, FILE)
    }

    #[test]
    fn in_a_file_of_many_entries_only_the_entrys_own_part_changes() {
        let (shelf, file) = one_file();
        let mut seen = Seen::default();
        seen.add(&[Material { path: shelf.book.entries[0].path.clone(), text: file.to_owned() }]);
        let go = |args: &Value| update(&shelf, &seen, args);
        for (name, target, mode, words, expected) in [
            ("Mira", "Voice", "replace", "Thin.", file.replace("Dry.", "Thin.")),
            ("Tobias", "Voice", "append", "Loud.", file.replace("Warm.", "Warm.\n\nLoud.")),
            ("Mira", "Habits", "replace", "Tea.", file.replace("Dry.\n", "Dry.\n\n### Habits\n\nTea.\n")),
            (
                "Mira",
                "Voice / At sea",
                "replace",
                "Lower.",
                file.replace("Dry.\n", "Dry.\n\n#### At sea\n\nLower.\n"),
            ),
            ("Tobias", "Tobias", "replace", "Hums.", file.replace("Sings.", "Hums.")),
            ("Mira", "role", "replace", "antagonist", file.replace("pilot", "antagonist")),
            ("Mira", "home", "replace", "Home:: [[Tallow]]", file.replace("Lantern", "Tallow")),
            ("Tobias", "role", "replace", "ally", format!("{file}\n### Role\n\nally\n")),
        ] {
            let args =
                json!({"name": name, "targetSection": target, "proposedMarkdown": words, "mode": mode});
            assert_eq!(proposed(&go(&args).unwrap()), expected, "{name} {target}");
        }
        for (target, words, field) in [
            ("Voice", "Dry.\n\n## Someone else\n\nNew.", "proposedMarkdown"),
            ("Habits", "# Everything\n", "proposedMarkdown"),
            ("frontmatter.born", "2281", "targetSection"),
            ("whole entry", "x", "targetSection"),
        ] {
            let args = json!({"name": "Mira", "targetSection": target, "proposedMarkdown": words});
            assert_eq!(go(&args).unwrap_err().to_result()["error"]["field"], field, "{target}");
        }
    }

    #[test]
    fn a_heading_that_stands_twice_is_refused_with_the_names_that_tell_it_apart() {
        let text =
            "# Juno\n\n## Past\n\n### Notes\n\none\n\n## Now\n\n### Notes\n\ntwo\n\n## Notes\n\nthree\n";
        let shelf = shelf().entry("codex/characters/juno.md", text);
        let add = |target: &str, words: &str| {
            let args =
                json!({"name": "Juno", "targetSection": target, "proposedMarkdown": words, "mode": "append"});
            update(&shelf, &Seen::default(), &args)
        };
        let told = add("Notes", "x").unwrap_err().to_result();
        let names = ["Juno / Notes", "Juno / Now / Notes", "Juno / Past / Notes"];
        assert_eq!(told["error"]["allowed"], json!(names));
        for (name, old) in names.iter().zip(["three", "two", "one"]) {
            assert_eq!(
                proposed(&add(name, "x").unwrap()),
                text.replace(old, &format!("{old}\n\nx")),
                "{name}"
            );
        }
        let twins = Shelf::new().entry("codex/characters/juno.md", "# Juno\n\n## A\n\none\n\n## A\n\ntwo\n");
        let args = json!({"name": "Juno", "targetSection": "A", "proposedMarkdown": "x", "mode": "append"});
        let told = update(&twins, &Seen::default(), &args).unwrap_err().to_string();
        assert!(told.contains("lines 3, 7") && told.contains("ask the author"), "{told}");
    }

    #[test]
    fn the_title_of_a_file_is_no_way_to_replace_the_whole_file() {
        let shelf = shelf();
        let args = json!({"targetSection": "Adrian Vale", "proposedMarkdown": "## Summary\n\nAll new.\n"});
        let told = update(&shelf, &having_read(&shelf), &args).unwrap_err().to_result();
        assert_eq!(told["error"]["allowed"], json!(["Summary", "Voice", "At sea"]));
        let args = json!({"targetSection": "Adrian Vale", "proposedMarkdown": "A man."});
        let outcome = update(&shelf, &having_read(&shelf), &args).unwrap();
        assert_eq!(
            proposed(&outcome),
            VALE.replace("# Adrian Vale\n\n## S", "# Adrian Vale\n\nA man.\n\n## S")
        );
    }

    #[test]
    fn a_section_in_both_files_needs_the_file_to_be_named() {
        let shelf = Shelf::new()
            .entry("codex/characters/a/dossier.md", "# A\n\n## Fears\n\none\n")
            .soul("codex/characters/a/soul.md", "# Soul\n\n## Fears\n\ntwo\n");
        let add = |target: &str| {
            let args = json!({"name": "Dossier", "targetSection": target, "proposedMarkdown": "x", "mode": "append"});
            update(&shelf, &Seen::default(), &args)
        };
        let told = add("Fears").unwrap_err().to_result();
        assert_eq!(told["error"]["allowed"], json!(["dossier.md / A / Fears", "soul.md / Soul / Fears"]));
        for name in told["error"]["allowed"].as_array().unwrap() {
            let outcome = add(name.as_str().unwrap()).unwrap();
            assert!(
                name.as_str().unwrap().starts_with(outcome.proposal.unwrap().path().unwrap().file_name())
            );
        }
    }

    #[test]
    fn a_flat_character_moves_into_a_folder_when_it_gets_a_soul() {
        let shelf = Shelf::new()
            .entry("codex/characters/juno.md", "# Juno\n")
            .note("notes/a.md", "See [her](../codex/characters/juno.md).");
        let args = json!({"name": "Juno", "targetSection": "soul.md", "proposedMarkdown": "Wants peace."});
        let outcome = update(&shelf, &Seen::default(), &args).unwrap();
        let proposal = outcome.proposal.unwrap();
        let files: Vec<_> = proposal
            .files
            .iter()
            .map(|f| (f.path.as_str(), f.base.is_some(), f.proposed.as_deref()))
            .collect();
        assert_eq!(
            files,
            [
                ("codex/characters/juno/dossier.md", false, Some("# Juno\n")),
                ("codex/characters/juno/soul.md", false, Some("Wants peace.\n")),
                ("codex/characters/juno.md", true, None),
            ]
        );
        assert!(proposal.warnings.iter().any(|w| w.contains("notes/a.md")), "{:?}", proposal.warnings);
        let crowded = Shelf::new()
            .entry("codex/characters/juno.md", "# Juno\n")
            .note("codex/characters/Juno/x.md", "x");
        assert!(update(&crowded, &Seen::default(), &args).unwrap_err().to_string().contains("folder"));
        let (shared, _) = one_file();
        let args = json!({"name": "Mira", "targetSection": "soul", "proposedMarkdown": "x"});
        assert!(update(&shared, &Seen::default(), &args).unwrap_err().to_string().contains("shares"));
    }

    #[test]
    fn a_soul_that_is_there_is_added_to_and_replaced_by_section_only() {
        let shelf = shelf();
        let args = json!({"targetSection": "soul", "proposedMarkdown": "More.", "mode": "append"});
        let outcome = update(&shelf, &Seen::default(), &args).unwrap();
        assert_eq!(proposed(&outcome), "# Soul\n\n## Fears\n\nThe question.\n\nMore.\n");
        let args = json!({"targetSection": "soul", "proposedMarkdown": "New."});
        let told = update(&shelf, &having_read(&shelf), &args).unwrap_err().to_result();
        assert_eq!(told["error"]["allowed"], json!(["soul.md / Soul", "soul.md / Fears"]));
    }

    #[test]
    fn the_older_form_makes_the_same_proposal() {
        let shelf = shelf();
        let args = json!({"name": "the Captain", "changeSummary": "x", "targetSection": "Role", "proposedMarkdown": "antagonist"});
        let outcome = call(&shelf.desk(), "propose_character_update", &args).unwrap();
        let proposal = outcome.proposal.unwrap();
        assert_eq!(proposal.tool, "propose_character_update");
        assert_eq!(proposal.files[0].text(), VALE.replace("protagonist", "antagonist"));
    }
}
