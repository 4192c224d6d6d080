//! `propose_codex_create`: a new entry, never beside one that has the name already.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::near::near;
use super::own::OwnKeys;
use super::{
    MAX_SUMMARY, NamedValue, checked_name, drafted, line_end_of_most, new_file, without_frontmatter,
};
use crate::canon::lookup;
use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::ids::{BookPath, ProposalId};
use crate::domain::passage;
use crate::proposal::change::{self, yaml};
use crate::proposal::{FileChange, Proposal, path};
use crate::tools::read::shorten;
use crate::tools::{Desk, Draft, ProposeTool, ToolError};

/// Longest name of an entry, in characters.
const MAX_NAME: usize = 120;

/// Longest name of a field, in characters.
const MAX_KEY: usize = 60;

/// Most near names that a warning tells.
const NEAR: usize = 3;

/// See [`ProposeTool::about`].
pub(in crate::tools) struct CreateEntry;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct Args {
    /// Type of the new entry.
    entry_type: EntryType,
    /// Its name, as the prose uses it.
    name: String,
    /// Why the book needs it, in one sentence for the author.
    change_summary: String,
    /// Frontmatter fields that such entries usually have: `title`, `aliases`, `role`, `summary`, `status` and the like.
    fields: Option<Vec<NamedValue>>,
    /// Further frontmatter fields that only this book has.
    custom_fields: Option<Vec<NamedValue>>,
    /// Text of the entry as Markdown, without frontmatter.
    markdown_body: Option<String>,
    /// For a character: the inner life (wants, fears, contradictions) as Markdown for a `soul.md` of its own; else null.
    soul_markdown: Option<String>,
}

impl ProposeTool for CreateEntry {
    type Args = Args;

    fn name(&self) -> &'static str {
        "propose_codex_create"
    }

    fn about(&self) -> &'static str {
        "Proposes a new Codex entry; the author reviews it and nothing is written before that. Search first: a name or alias that exists already is refused. Put in only what the book or the author says."
    }

    fn propose(&self, desk: &Desk<'_>, args: Args) -> Result<Draft, ToolError> {
        let name = checked_name("name", &args.name, MAX_NAME)?;
        let summary = args.change_summary.trim();
        if summary.is_empty() {
            return Err(ToolError::in_field("changeSummary", "`changeSummary` is empty", &[]));
        }
        let mut warnings = vec![];
        let own = OwnKeys(&desk.book.settings.codex_keys);
        let given = (args.fields, args.custom_fields);
        let fields = fields(given, own, args.entry_type, name, &mut warnings)?;
        let wants_soul = args.soul_markdown.as_deref().is_some_and(|s| !s.trim().is_empty());
        refuse_duplicates(desk.book, name, &fields, wants_soul)?;
        for (near, Entry { entry_type, path, .. }) in near(desk.book, args.entry_type, name, NEAR) {
            warnings.push(format!("There is a near name already: {near} ({entry_type}, {path})."));
        }
        let eol = line_end(desk.book, args.entry_type);
        let written = |key: &str| own.written(key, &desk.book.entries);
        let fields: Map<String, Value> =
            fields.iter().map(|(key, value)| (written(key), value.clone())).collect();
        let dossier = document(name, &fields, args.markdown_body.as_deref(), eol, &mut warnings);
        let mut soul = args.soul_markdown.map(|s| change::normalise(&s, eol)).filter(|s| !s.is_empty());
        if soul.is_some() && args.entry_type != EntryType::Character {
            warnings.push("Only characters have a soul; soulMarkdown is left out.".to_owned());
            soul = None;
        }
        let files = files(desk.book, args.entry_type, name, dossier, soul.map(|s| s + eol));
        let proposal = Proposal {
            id: ProposalId::mint(),
            tool: self.name().to_owned(),
            subject: args.entry_type.into(),
            entry: name.to_owned(),
            summary: shorten(summary, MAX_SUMMARY),
            warnings,
            files,
            edited: false,
        };
        Ok(draft(desk, proposal))
    }
}

/// The frontmatter in order: type, name, the usual fields, the book's own.
fn fields(
    (usual, custom): (Option<Vec<NamedValue>>, Option<Vec<NamedValue>>),
    own: OwnKeys<'_>,
    entry_type: EntryType,
    name: &str,
    warnings: &mut Vec<String>,
) -> Result<Map<String, Value>, ToolError> {
    let mut fields = Map::new();
    fields.insert("type".into(), json!(entry_type));
    fields.insert("name".into(), json!(name));
    let usual = usual.into_iter().flatten().map(|f| ("fields", f));
    let custom = custom.into_iter().flatten().map(|f| ("customFields", f));
    for (argument, field) in usual.chain(custom) {
        let key = own.usual(field.name.trim());
        let place = format!("{argument}.{}", shorten(&key, 40));
        if key.is_empty() || key.chars().count() > MAX_KEY || key.chars().any(char::is_control) {
            let message = format!("`{place}` is no name of a field");
            return Err(ToolError::in_field(&place, message, &["a short name on one line"]));
        }
        let Some(value) = field.value.into_value() else { continue };
        match change::find_key(&fields, &key) {
            None => _ = fields.insert(key, value),
            Some(known) if fields[known] == value => {}
            Some(known) => warnings.push(format!("`{known}` was given twice; the first value is kept.")),
        }
    }
    Ok(fields)
}

/// The other names that the new entry would have.
fn aliases(fields: &Map<String, Value>) -> Vec<&str> {
    let lists =
        ["aliases", "alias", "aka"].iter().filter_map(|key| fields.get(change::find_key(fields, key)?));
    lists
        .flat_map(|value| match value {
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
            Value::String(text) => text.split(',').map(str::trim).collect(),
            _ => vec![],
        })
        .filter(|alias| !alias.is_empty())
        .collect()
}

fn refuse_duplicates(
    book: &Book,
    name: &str,
    fields: &Map<String, Value>,
    wants_soul: bool,
) -> Result<(), ToolError> {
    for wanted in std::iter::once(name).chain(aliases(fields)) {
        let Some(taken) = lookup::same_name(book, wanted).into_iter().next() else { continue };
        let Entry { name: bearer, path, entry_type, .. } = taken;
        let soulless = wants_soul && *entry_type == EntryType::Character && taken.soul.is_none();
        let advice = if wanted == name && soulless {
            "for its soul use propose_codex_update with targetSection `soul`".to_owned()
        } else if wanted == name {
            "use propose_codex_update for it, or another name".to_owned()
        } else {
            format!("leave the alias `{wanted}` out, or use propose_codex_update for that entry")
        };
        let message = format!("`{wanted}` exists already: {bearer} ({entry_type}) in {path}; {advice}");
        return Err(ToolError::refused(message, json!({"name": bearer, "type": entry_type, "path": path})));
    }
    Ok(())
}

/// The line end of most entries of the type, else of most entries.
fn line_end(book: &Book, entry_type: EntryType) -> &'static str {
    let own = book.entries_of(entry_type).next().is_some();
    let entries = book.entries.iter().filter(|e| !own || e.entry_type == entry_type);
    line_end_of_most(entries.map(|e| &*e.text))
}

fn document(
    name: &str,
    fields: &Map<String, Value>,
    body: Option<&str>,
    eol: &str,
    warnings: &mut Vec<String>,
) -> String {
    let (body, had_frontmatter) = without_frontmatter(body.unwrap_or_default());
    if had_frontmatter {
        warnings.push(
            "The frontmatter inside markdownBody is left out; fields and customFields are used.".to_owned(),
        );
    }
    let body = change::normalise(body, eol);
    let mut out = ["---", eol].concat();
    for (key, value) in fields {
        out.push_str(&yaml::entry(key, value, eol));
        out.push_str(eol);
    }
    out.push_str(&["---", eol, eol].concat());
    let titled =
        change::sections(&body).first().is_some_and(|s| s.level == 1 && body[..s.start].trim().is_empty());
    if !titled {
        out.push_str(&["# ", name, eol].concat());
        if !body.is_empty() {
            out.push_str(eol);
        }
    }
    out.push_str(&body);
    if !out.ends_with('\n') {
        out.push_str(eol);
    }
    out
}

fn files(
    book: &Book,
    entry_type: EntryType,
    name: &str,
    dossier: String,
    soul: Option<String>,
) -> Vec<FileChange> {
    let path = path::suggest(book, entry_type, name, soul.is_some());
    let soul_path = path.parent().and_then(|folder| BookPath::new(format!("{folder}/soul.md")).ok());
    let mut files = vec![new_file(path, dossier)];
    if let (Some(soul), Some(soul_path)) = (soul, soul_path) {
        files.push(new_file(soul_path, soul));
    }
    files
}

fn draft(desk: &Desk<'_>, proposal: Proposal) -> Draft {
    let limit = desk.limits.excerpt;
    let mut cut = false;
    let mut shown = |file: &FileChange| {
        let kept = passage::cut(file.text(), limit);
        cut |= kept.len() < file.text().len();
        json!(kept)
    };
    let mut result = json!({
        "applied": false,
        "proposalId": proposal.id,
        "path": proposal.path(),
        "type": proposal.subject,
        "name": proposal.entry,
        "change": "create",
        "warnings": proposal.warnings,
        "currentMarkdown": null,
        "proposedMarkdown": proposal.files.first().map(&mut shown),
    });
    if let Some(soul) = proposal.files.get(1) {
        result["soulPath"] = json!(soul.path);
        result["soulMarkdown"] = shown(soul);
    }
    drafted(result, proposal, cut)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::frontmatter;
    use crate::tools::Outcome;
    use crate::tools::testing::{Shelf, call};

    fn shelf() -> Shelf {
        Shelf::new()
            .entry(
                "codex/characters/adrian-vale/dossier.md",
                "---\ntype: character\nname: Adrian Vale\naliases: [the Captain]\n---\n",
            )
            .entry("codex/items/halcyon.md", "---\ntype: item\nname: Halcyon\n---\n")
    }

    fn create(shelf: &Shelf, args: &Value) -> Result<Outcome, ToolError> {
        let mut all = json!({"entryType": "character", "name": "Hedda Brandt", "changeSummary": "She is named in chapter 3"});
        all.as_object_mut().unwrap().extend(args.as_object().unwrap().clone());
        call(&shelf.desk(), "propose_codex_create", &all)
    }

    #[test]
    fn a_new_entry_is_proposed_beside_the_others_with_its_frontmatter() {
        let shelf = shelf();
        let args = json!({
            "fields": [{"name": "role", "value": "former wife"}, {"name": "aliases", "value": ["Hedda", "no"]}, {"name": "status", "value": ""}],
            "customFields": {"ship": "[[Halcyon]]", "Role": "other"},
            "markdownBody": "## Summary\n\nShe left.\n",
        });
        let outcome = create(&shelf, &args).unwrap();
        let proposal = outcome.proposal.unwrap();
        assert_eq!(proposal.files.len(), 1);
        assert_eq!(proposal.files[0].path.as_str(), "codex/characters/hedda-brandt.md");
        assert_eq!(
            proposal.files[0].text(),
            "---\ntype: character\nname: Hedda Brandt\nrole: former wife\naliases:\n  - Hedda\n  - \"no\"\nship: \"[[Halcyon]]\"\n---\n\n# Hedda Brandt\n\n## Summary\n\nShe left.\n"
        );
        assert_eq!((&proposal.files[0].base, &proposal.files[0].base_hash), (&None, &None));
        assert!(
            proposal.warnings.iter().any(|w| w.contains("`role` was given twice")),
            "{:?}",
            proposal.warnings
        );
        assert_eq!(
            (&outcome.result["applied"], &outcome.result["path"]),
            (&json!(false), &json!("codex/characters/hedda-brandt.md"))
        );
    }

    #[test]
    fn a_character_with_a_soul_gets_a_folder() {
        let shelf = shelf();
        let outcome = create(&shelf, &json!({"soulMarkdown": "# Soul\r\n\r\nShe wants peace."})).unwrap();
        let files = outcome.proposal.unwrap().files;
        assert_eq!(files[0].path.as_str(), "codex/characters/hedda-brandt/dossier.md");
        assert_eq!(outcome.result["soulPath"], "codex/characters/hedda-brandt/soul.md");
        assert_eq!(
            (files[1].path.as_str(), files[1].text()),
            ("codex/characters/hedda-brandt/soul.md", "# Soul\n\nShe wants peace.\n")
        );
        let outcome =
            create(&shelf, &json!({"entryType": "item", "name": "Kettle", "soulMarkdown": "x"})).unwrap();
        assert_eq!(outcome.proposal.unwrap().files.len(), 1);
    }

    #[test]
    fn a_name_or_alias_that_exists_is_refused_with_its_path() {
        let shelf = shelf();
        for args in [
            json!({"name": "adrian vale"}),
            json!({"name": "The Captain"}),
            json!({"entryType": "event", "name": "HALCYON"}),
            json!({"fields": [{"name": "aliases", "value": ["Heddy", "the captain"]}]}),
            json!({"fields": {"Aliases": "Heddy, the captain"}}),
        ] {
            let error = create(&shelf, &args).unwrap_err();
            let told = error.to_result();
            assert_eq!(told["error"]["kind"], "refused", "{args}");
            assert!(told["error"]["details"]["path"].as_str().unwrap().starts_with("codex/"), "{told}");
        }
    }

    #[test]
    fn a_near_name_is_a_warning() {
        let outcome = create(&shelf(), &json!({"name": "Adrian Vail"})).unwrap();
        let warnings = outcome.proposal.unwrap().warnings;
        assert!(warnings.iter().any(|w| w.contains("Adrian Vale")), "{warnings:?}");
    }

    #[test]
    fn a_frontmatter_in_the_body_and_a_heading_are_not_doubled() {
        let outcome =
            create(&shelf(), &json!({"markdownBody": "---\ntype: item\n---\n# Hedda\n\nText"})).unwrap();
        assert!(outcome.proposal.unwrap().files[0].text().ends_with("---\n\n# Hedda\n\nText\n"));
        let outcome = create(&shelf(), &json!({})).unwrap();
        assert!(outcome.proposal.unwrap().files[0].text().ends_with("---\n\n# Hedda Brandt\n"));
    }

    #[test]
    fn a_book_with_crlf_gets_a_crlf_file() {
        let shelf = Shelf::new().entry("c/a.md", "---\r\ntype: character\r\nname: A\r\n---\r\n");
        let outcome = create(&shelf, &json!({"markdownBody": "One\n\ntwo"})).unwrap();
        let proposal = outcome.proposal.unwrap();
        let text = proposal.files[0].text();
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
    }

    #[test]
    fn a_name_that_is_none_is_refused_with_its_field() {
        for name in ["", "  ", "???", "a\nb", "a\u{202e}b", "a\0b", &"x".repeat(10_000)] {
            let told = create(&shelf(), &json!({"name": name})).unwrap_err().to_result();
            assert_eq!(told["error"]["field"], "name", "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn the_frontmatter_reads_back_as_what_was_asked(
            name in "[A-Z][a-zé'’:#-]{0,8}( [A-Z&\\[\\]a-z]{1,8})?",
            key in "[a-z_:# ]{1,8}x",
            value in "\\PC{1,30}",
            items in prop::collection::vec("[a-z:#,\\[\\]{}'\"-]{1,6}", 1..4),
        ) {
            let shelf = Shelf::new();
            let args = json!({"name": name, "fields": [{"name": key, "value": value}, {"name": "list", "value": items}], "markdownBody": "Text"});
            let outcome = create(&shelf, &args).unwrap();
            let file = &outcome.proposal.unwrap().files[0];
            let read = frontmatter::parse(file.text());
            prop_assert!(read.problems.is_empty(), "{}", file.text());
            prop_assert_eq!(read.fields["name"].clone(), json!(name.trim()));
            prop_assert_eq!(read.fields["list"].clone(), json!(items));
            if !value.trim().is_empty() {
                prop_assert_eq!(read.fields[key.trim()].clone(), json!(value.trim()));
            }
        }
    }
}
