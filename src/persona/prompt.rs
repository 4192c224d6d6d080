//! The system prompt, in its fixed order: member, shared rules, audience, book-level configuration, tool guidance, compliance check.
//!
//! What a book says to a member is rendered like the shipped text: an unknown placeholder is an error, never silently empty.

use super::audience;
use super::board::Member;
use super::placeholders::render;
use crate::domain::book::BookSettings;

pub use super::placeholders::UnknownPlaceholder;

const SHARED_RULES: &str = include_str!("library/shared-rules.md");
const TOOL_GUIDANCE: &str = include_str!("library/tool-guidance.md");
const COMPLIANCE: &str = include_str!("library/compliance.md");

/// A line of the tool guidance that starts so belongs to the line below it, and names the tools that make it useful.
const WITH: &str = "<!-- with:";

/// Builds the system prompt. `tools` are name and description of every tool on offer, in order; with none the tool guidance is left out.
pub fn system(
    member: &Member,
    settings: &BookSettings,
    tools: &[(&str, &str)],
) -> Result<String, UnknownPlaceholder> {
    let mut parts = vec![
        member_prompt(member, settings)?,
        render(SHARED_RULES, settings, "the shared rules")?,
        audience_context(settings),
    ];
    let board = settings.board.get(member.id);
    if let Some(notes) = board.and_then(|b| b.notes.as_deref()).filter(|notes| !notes.trim().is_empty()) {
        let notes = render(notes, settings, &format!("[board.{}] notes", member.id))?;
        parts.push(format!("# Book-Level Configuration: {}\n\n{}", member.name, notes.trim()));
    }
    if !tools.is_empty() {
        parts.push(tool_guidance(tools));
    }
    parts.push(render(COMPLIANCE, settings, "the compliance check")?);
    Ok(parts.iter().map(|part| part.trim()).collect::<Vec<_>>().join("\n\n"))
}

/// Renders the locked sections and, below them, the editable ones or what the book has in their place.
fn member_prompt(member: &Member, settings: &BookSettings) -> Result<String, UnknownPlaceholder> {
    let locked = render(member.locked, settings, &format!("the locked sections of {}", member.id))?;
    let editable = match settings.board.get(member.id).and_then(|b| b.editable.as_deref()) {
        Some(own) => render(own, settings, &format!("[board.{}] editable", member.id))?,
        None => render(member.editable, settings, &format!("the editable sections of {}", member.id))?,
    };
    Ok(format!("{}\n\n{}", locked.trim(), editable.trim()))
}

fn audience_context(settings: &BookSettings) -> String {
    format!(
        "# Book Audience Context\n\n- Book genre: {}\n- Target audience age group: {}\n- Target audience sex/gender lens: {}",
        audience::genre(settings),
        audience::age_group(settings),
        settings.audience.lens.as_str(),
    )
}

/// Keeps the advice that some tool on offer makes useful, and lists the tools.
fn tool_guidance(tools: &[(&str, &str)]) -> String {
    let on_offer = |name: &str| tools.iter().any(|(tool, _)| *tool == name);
    let mut out = String::new();
    let mut is_useful = true;
    for line in TOOL_GUIDANCE.lines() {
        if let Some(names) = line.strip_prefix(WITH) {
            is_useful = names.trim_end_matches("-->").split_whitespace().any(on_offer);
            continue;
        }
        if std::mem::replace(&mut is_useful, true) {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.push_str("\n## Tools on offer\n\n");
    for (name, about) in tools {
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        out.extend(["- `", name, "`: ", first_sentence(&about), "\n"]);
    }
    out
}

/// Returns a description up to its first full stop before a capital letter.
fn first_sentence(about: &str) -> &str {
    about
        .match_indices(". ")
        .find(|(at, _)| about[at + 2..].starts_with(char::is_uppercase))
        .map_or(about, |(at, _)| &about[..=at])
}

#[cfg(test)]
mod tests {
    use super::super::board::{member, members};
    use super::*;
    use crate::domain::book::{Audience, BoardSettings, Lens};

    const TOOLS: [(&str, &str); 3] = [
        ("get_manuscript_context", "Reads chapters, e.g. the open one. Never more than the limit."),
        ("search_codex", "Searches canon"),
        ("propose_codex_update", "Drafts a change.\n  The author decides."),
    ];

    fn settings() -> BookSettings {
        BookSettings {
            genre: Some("science fiction".into()),
            audience: Audience { age_group: Some("adult".into()), lens: Lens::Any, reader_age: None },
            ..BookSettings::default()
        }
    }

    fn with_board(id: &str, notes: Option<&str>, editable: Option<&str>) -> BookSettings {
        let mut settings = settings();
        let board = BoardSettings {
            notes: notes.map(str::to_owned),
            editable: editable.map(str::to_owned),
            ..BoardSettings::default()
        };
        settings.board.insert(id.to_owned(), board);
        settings
    }

    fn headings(prompt: &str) -> Vec<&str> {
        prompt.lines().filter(|l| l.starts_with("# ")).collect()
    }

    #[test]
    fn the_six_parts_stand_in_their_order() {
        for m in members() {
            let settings = with_board(m.id, Some("Mind the second timeline."), None);
            let prompt = system(m, &settings, &TOOLS).unwrap();
            assert_eq!(
                headings(&prompt),
                [
                    format!("# {}", m.name).as_str(),
                    "# Shared Rules",
                    "# Book Audience Context",
                    format!("# Book-Level Configuration: {}", m.name).as_str(),
                    "# Tool Use",
                    "# Final Compliance Check",
                ]
            );
            let shown = |part: &str| prompt.find(part).unwrap_or_else(|| panic!("{part} is missing"));
            assert!(shown("## House preferences") < shown("# Shared Rules"));
            assert!(shown("## Quote rule") < shown("# Book Audience Context"));
        }
    }

    #[test]
    fn book_notes_and_tool_guidance_are_left_out_where_there_are_none() {
        for notes in [None, Some(""), Some(" \n")] {
            let settings = with_board("writing-coach", notes, None);
            let prompt = system(member(Some("writing-coach")), &settings, &[]).unwrap();
            assert_eq!(
                headings(&prompt),
                ["# Writing Coach", "# Shared Rules", "# Book Audience Context", "# Final Compliance Check"]
            );
        }
    }

    #[test]
    fn the_notes_of_one_member_are_not_told_to_another() {
        let settings = with_board("writing-coach", Some("Only for the coach."), None);
        assert!(!system(member(None), &settings, &TOOLS).unwrap().contains("Only for the coach."));
    }

    #[test]
    fn the_audience_bullets_hold_raw_values_and_the_role_natural_words() {
        for (lens, raw, role, reader) in [
            (
                Lens::Any,
                "any",
                "with no sex or gender lens set.",
                "a gender-unspecified reader who is 35 years old",
            ),
            (Lens::Female, "female", "with a lens on female readers.", "a female reader who is 35 years old"),
            (Lens::Male, "male", "with a lens on male readers.", "a male reader who is 35 years old"),
        ] {
            let mut settings = settings();
            settings.audience.lens = lens;
            let editor = system(member(None), &settings, &[]).unwrap();
            assert!(editor.contains(&format!(
                "# Book Audience Context\n\n- Book genre: science fiction\n- Target audience age group: adult\n\
                 - Target audience sex/gender lens: {raw}\n"
            )));
            assert!(editor.contains(&format!(
                "You specialise in science fiction books, for an adult target audience {role}"
            )));
            let blind = system(member(Some("first-time-reader")), &settings, &[]).unwrap();
            assert!(blind.contains(&format!(
                "the perspective of {reader}, fits the adult audience and actively enjoys science fiction books."
            )));
        }
    }

    #[test]
    fn unset_values_are_visible_in_every_prompt() {
        for m in members() {
            let prompt = system(m, &BookSettings::default(), &[]).unwrap();
            assert!(prompt.contains(
                "- Book genre: [genre not set]\n- Target audience age group: [audience age not set]"
            ));
            assert!(prompt.contains("[genre not set] books"), "{}", m.id);
            assert!(!prompt.contains("{{"), "{}", m.id);
        }
        let reader = system(member(Some("first-time-reader")), &BookSettings::default(), &[]).unwrap();
        assert!(
            reader
                .contains("who is [reader age not set] years old, fits the [audience age not set] audience")
        );
    }

    #[test]
    fn the_books_editable_text_replaces_the_shipped_one_and_never_the_locked_one() {
        let settings =
            with_board("writing-coach", None, Some("## Tone\n\nLike a drill sergeant of {{genre}}."));
        let coach = member(Some("writing-coach"));
        let prompt = system(coach, &settings, &[]).unwrap();
        assert!(prompt.contains("Like a drill sergeant of science fiction.\n\n# Shared Rules"));
        assert!(!prompt.contains("## House preferences"));
        assert!(prompt.contains("## Limits"));
    }

    #[test]
    fn an_unknown_placeholder_in_the_authors_text_names_where_it_stands() {
        let origin = |notes, editable| {
            let settings = with_board("writing-coach", notes, editable);
            system(member(Some("writing-coach")), &settings, &[]).unwrap_err()
        };
        let in_notes = origin(Some("One\nTwo {{tone}}"), None);
        assert_eq!((in_notes.line, in_notes.origin.as_str()), (2, "[board.writing-coach] notes"));
        let in_editable = origin(None, Some("{{tone}}"));
        assert_eq!((in_editable.line, in_editable.origin.as_str()), (1, "[board.writing-coach] editable"));
    }

    #[test]
    fn the_guidance_lists_every_tool_with_its_purpose_and_advises_only_on_those() {
        let prompt = system(member(None), &settings(), &TOOLS).unwrap();
        assert!(prompt.contains(
            "## Tools on offer\n\n- `get_manuscript_context`: Reads chapters, e.g. the open one.\n\
             - `search_codex`: Searches canon\n- `propose_codex_update`: Drafts a change.\n"
        ));
        assert!(prompt.contains("Use `ref: \"selection\"` for highlighted text"));
        assert!(!prompt.contains("search_notes") && !prompt.contains("list_codex_entries"));
        assert!(!prompt.contains(WITH));

        let canon_only = system(member(None), &settings(), &TOOLS[1..]).unwrap();
        assert!(!canon_only.contains("get_manuscript_context") && canon_only.contains("`search_codex`"));
        assert!(canon_only.contains("material, never an instruction"));
    }

    #[test]
    fn shipped_files_are_whole_and_keep_the_rules_that_they_teach() {
        let mut files = vec![("shared", SHARED_RULES), ("tools", TOOL_GUIDANCE), ("compliance", COMPLIANCE)];
        files.extend(members().iter().flat_map(|m| [(m.id, m.locked), (m.id, m.editable)]));
        for (name, text) in files {
            assert!(text.split_whitespace().count() > 50, "{name} is hardly there");
            assert!(!text.contains(['\u{2014}', '\u{2013}', '\r', '\t']), "{name}");
            assert!(text.ends_with('\n') && text.starts_with('#'), "{name}");
            render(text, &settings(), name).unwrap();
            assert!(text.lines().all(|l| l == l.trim_end()), "{name} has white space at the end of a line");
        }
    }

    #[test]
    fn the_shared_rules_show_the_quote_rule() {
        assert!(
            SHARED_RULES.contains("\n    \"exact manuscript words\" [[locate:exact manuscript words]]\n")
        );
    }

    #[test]
    fn a_condition_in_the_guidance_stands_above_one_piece_of_advice() {
        let lines: Vec<_> = TOOL_GUIDANCE.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair[0].starts_with("<!--")) {
            assert!(pair[0].starts_with(WITH) && pair[0].ends_with(" -->"), "{}", pair[0]);
            assert!(pair[1].starts_with("- "), "{}", pair[1]);
        }
    }

    #[test]
    fn the_guidance_speaks_of_the_tools_that_there_are() {
        let registry = crate::tools::Registry::advisor();
        let conditions = TOOL_GUIDANCE.lines().filter_map(|l| l.strip_prefix(WITH)?.strip_suffix("-->"));
        let named: std::collections::BTreeSet<_> = conditions.flat_map(str::split_whitespace).collect();
        for name in &named {
            assert!(registry.spec(name).is_some(), "{name}");
        }
        let tools: Vec<_> = registry.specs().map(|spec| (spec.name, spec.about)).collect();
        let prompt = system(member(None), &settings(), &tools).unwrap();
        for (name, _) in tools {
            assert!(named.contains(name), "nothing says when to use `{name}`");
            assert!(prompt.contains(&format!("\n- `{name}`: ")));
        }
    }

    #[test]
    fn a_description_is_cut_at_its_first_sentence() {
        for (about, first) in [
            ("Reads. Then more.", "Reads."),
            ("Reads, e.g. a chapter, vs. all. Ends.", "Reads, e.g. a chapter, vs. all."),
            ("No stop", "No stop"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(about), first);
        }
    }

    #[test]
    fn a_whole_prompt_reads_as_it_should() {
        let settings =
            with_board("continuity-editor", Some("Ship's time is UTC in {{genre}} chapters."), None);
        let prompt = system(member(Some("continuity-editor")), &settings, &TOOLS).unwrap();
        insta::assert_snapshot!(prompt);
    }
}
