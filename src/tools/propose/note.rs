//! `propose_note_create`: a new note in the notes folder. Never over a file that is there, never beside a note of the same title.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{checked_name, drafted, line_end_of_most, new_file, without_frontmatter};
use crate::domain::book::Book;
use crate::domain::ids::ProposalId;
use crate::domain::{frontmatter, passage, safe_text};
use crate::proposal::change::{self, yaml};
use crate::proposal::{Other, Proposal, Subject, path};
use crate::tools::{Desk, Draft, ProposeTool, ToolError};

/// Longest title, in characters.
const MAX_TITLE: usize = 120;

/// Longest note, in characters.
const MAX_CONTENT: usize = 100_000;

/// Most tags, and the longest one in characters.
const MAX_TAGS: usize = 20;
const MAX_TAG: usize = 60;

/// See [`ProposeTool::about`].
pub(in crate::tools) struct CreateNote;

#[derive(Deserialize, JsonSchema)]
pub(in crate::tools) struct Args {
    /// Title of the note; no note may have it yet.
    title: String,
    /// Its text as Markdown, without frontmatter.
    content: String,
    /// Tags, without `#`; null for none.
    tags: Option<Vec<String>>,
}

impl ProposeTool for CreateNote {
    type Args = Args;

    fn name(&self) -> &'static str {
        "propose_note_create"
    }

    fn about(&self) -> &'static str {
        "Proposes a new note in the book's notes folder, for plans, ideas and research; the author reviews it and nothing is written before that. A title that a note has already is refused. What is a fact of the book belongs into the Codex instead."
    }

    fn propose(&self, desk: &Desk<'_>, args: Args) -> Result<Draft, ToolError> {
        let title = checked_name("title", &args.title, MAX_TITLE)?;
        let tags = checked_tags(args.tags.unwrap_or_default())?;
        if args.content.chars().count() > MAX_CONTENT {
            let message = format!("`content` is longer than {MAX_CONTENT} characters");
            return Err(ToolError::in_field("content", message, &["a shorter text, or several notes"]));
        }
        let wanted = passage::fold(title);
        if let Some(taken) = desk.book.notes.iter().find(|n| passage::fold(&n.title) == wanted) {
            let message =
                format!("a note `{}` exists already in {}; choose another title", taken.title, taken.path);
            return Err(ToolError::refused(message, json!({"title": taken.title, "path": taken.path})));
        }
        let (content, had_frontmatter) = without_frontmatter(&args.content);
        let mut warnings = vec![];
        if had_frontmatter {
            warnings.push("The frontmatter inside content is left out; use title and tags.".to_owned());
        }
        let text = document(desk.book, title, &tags, content);
        let path = path::note(desk.book, title);
        let proposal = Proposal {
            id: ProposalId::mint(),
            tool: self.name().to_owned(),
            subject: Subject::Other(Other::Note),
            entry: title.to_owned(),
            summary: format!("New note: {title}"),
            warnings,
            files: vec![new_file(path, text)],
            edited: false,
        };
        Ok(new_file_draft(desk, proposal))
    }
}

/// The draft of a proposal whose first file is new.
pub(super) fn new_file_draft(desk: &Desk<'_>, proposal: Proposal) -> Draft {
    let text = proposal.files.first().map(crate::proposal::FileChange::text).unwrap_or_default();
    let shown = passage::cut(text, desk.limits.excerpt);
    let cut = shown.len() < text.len();
    let result = json!({
        "applied": false,
        "proposalId": proposal.id,
        "path": proposal.path(),
        "type": proposal.subject,
        "title": proposal.entry,
        "change": "create",
        "warnings": proposal.warnings,
        "proposedMarkdown": shown,
    });
    drafted(result, proposal, cut)
}

fn checked_tags(tags: Vec<String>) -> Result<Vec<String>, ToolError> {
    let bad = |what: String| Err(ToolError::in_field("tags", what, &["up to 20 short words or phrases"]));
    if tags.len() > MAX_TAGS {
        return bad(format!("there are more than {MAX_TAGS} tags"));
    }
    let mut kept: Vec<String> = vec![];
    for tag in tags {
        // Obsidian and others allow no white space in a tag.
        let tag = tag.trim().trim_start_matches('#').split_whitespace().collect::<Vec<_>>().join("-");
        if tag.is_empty() {
            continue;
        }
        if tag.chars().count() > MAX_TAG || safe_text::line(&tag) != tag.as_str() {
            return bad(format!("`{}` is no tag", safe_text::line(passage::cut(&tag, 40))));
        }
        if !kept.contains(&tag) {
            kept.push(tag);
        }
    }
    Ok(kept)
}

fn document(book: &Book, title: &str, tags: &[String], content: &str) -> String {
    let notes = &book.notes;
    let eol = line_end_of_most(notes.iter().map(|n| &*n.text));
    let content = change::normalise(content, eol);
    let count = |is: &dyn Fn(&str) -> bool| notes.iter().filter(|n| is(&n.text)).count() * 2 > notes.len();
    let keyed = count(&|text| frontmatter::parse(text).fields.contains_key("title"));
    let unheaded = !notes.is_empty() && !count(&begins_with_heading);
    let mut out = String::new();
    let mut keys: Vec<(&str, Value)> = vec![];
    // Without a heading only a key can say what the file's name can't.
    if keyed || unheaded {
        keys.push(("title", json!(title)));
    }
    if !tags.is_empty() {
        keys.push(("tags", json!(tags)));
    }
    if !keys.is_empty() {
        out.push_str(&["---", eol].concat());
        for (key, value) in &keys {
            out.push_str(&[&yaml::entry(key, value, eol), eol].concat());
        }
        out.push_str(&["---", eol, eol].concat());
    }
    if !unheaded && !begins_with_heading(&content) {
        out.push_str(&["# ", title, eol, if content.is_empty() { "" } else { eol }].concat());
    }
    out.push_str(&content);
    if !out.ends_with('\n') {
        out.push_str(eol);
    }
    out
}

/// Whether the first thing below the frontmatter is a heading of the first level.
pub(super) fn begins_with_heading(text: &str) -> bool {
    let body_start = frontmatter::split(text).body_start;
    change::sections(text)
        .first()
        .is_some_and(|s| s.level == 1 && text[body_start..s.start].trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Outcome;
    use crate::tools::testing::{Shelf, call};

    fn create(shelf: &Shelf, args: &Value) -> Result<Outcome, ToolError> {
        call(&shelf.desk(), "propose_note_create", args)
    }

    fn text(shelf: &Shelf, args: &Value) -> (String, String) {
        let proposal = create(shelf, args).unwrap().proposal.unwrap();
        (proposal.files[0].path.to_string(), proposal.files[0].text().to_owned())
    }

    #[test]
    fn a_note_is_written_like_the_notes_that_are_there() {
        let plain = Shelf::new().note("notes/ideas.md", "# Ideas\n\n- one\n");
        let args = json!({"title": "Tide tables", "content": "High at noon.\r\n", "tags": ["#sea", "a b", "sea", " "]});
        assert_eq!(
            text(&plain, &args),
            (
                "notes/tide-tables.md".into(),
                "---\ntags:\n  - sea\n  - a-b\n---\n\n# Tide tables\n\nHigh at noon.\n".into()
            )
        );
        let args = json!({"title": "Tide tables", "content": "# Tides\n\nHigh.", "tags": null});
        assert_eq!(text(&plain, &args).1, "# Tides\n\nHigh.\n");
        let keyed = Shelf::new().note("notes/a.md", "---\r\ntitle: A\r\n---\r\n\r\n# A\r\n");
        assert_eq!(
            text(&keyed, &json!({"title": "B", "content": "x", "tags": []})).1,
            "---\r\ntitle: B\r\n---\r\n\r\n# B\r\n\r\nx\r\n"
        );
        let bare = Shelf::new().note("notes/a.md", "only text\n");
        assert_eq!(
            text(&bare, &json!({"title": "B: c", "content": "x"})).1,
            "---\ntitle: \"B: c\"\n---\n\nx\n"
        );
    }

    #[test]
    fn a_title_that_exists_is_refused_with_its_path() {
        let shelf = Shelf::new().note("notes/tide-tables.md", "x");
        let told = create(&shelf, &json!({"title": "TIDE tables", "content": "y"})).unwrap_err().to_result();
        assert_eq!(told["error"]["details"]["path"], "notes/tide-tables.md");
    }

    #[test]
    fn hostile_titles_and_tags_are_errors_that_name_their_field() {
        let shelf = Shelf::new();
        for title in ["", "..", "a\0b", "a\nb", "\u{202e}x", &"x".repeat(10_000)] {
            let told = create(&shelf, &json!({"title": title, "content": "y"})).unwrap_err().to_result();
            assert_eq!(told["error"]["field"], "title", "{title:?}");
        }
        for tags in [json!(["a\0b"]), json!(["x".repeat(99)]), json!(vec!["x"; 30])] {
            let told =
                create(&shelf, &json!({"title": "T", "content": "y", "tags": tags})).unwrap_err().to_result();
            assert!(told["error"]["field"].as_str().unwrap().starts_with("tags"), "{told}");
        }
        let told =
            create(&shelf, &json!({"title": "T", "content": "y".repeat(100_001)})).unwrap_err().to_result();
        assert_eq!(told["error"]["field"], "content");
        assert_eq!(
            text(&shelf, &json!({"title": "../../etc/passwd", "content": "y"})).0,
            "notes/etc-passwd.md"
        );
    }
}
