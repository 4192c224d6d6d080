//! `list_codex_entries`: every entry of one type, in short.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shorten;
use super::story_time::brief_as_of;
use crate::domain::codex::{Entry, EntryType};
use crate::tools::{Desk, Evidence, Force, ReadTool, Reading, ToolError};

/// Longest summary in a list, in characters.
const SUMMARY: usize = 160;

/// See [`ReadTool::about`].
pub(in crate::tools) struct ListEntries;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct Args {
    /// Which type of entry to list.
    entry_type: EntryType,
}

impl ReadTool for ListEntries {
    type Args = Args;

    fn name(&self) -> &'static str {
        "list_codex_entries"
    }

    fn about(&self) -> &'static str {
        "Lists every Codex entry of one type with its count and short summaries. Use it for inventories and counts, and to learn which names exist."
    }

    fn force(&self) -> Vec<Force> {
        let kinds = r"(?:characters|locations|places|organi[sz]ations|factions|guilds|items|objects|concepts|events|people|cast|style\s+(?:guides|entries|rules))";
        vec![
            Force::always(&format!(
                r"\b(?:list|enumerate)\s+(?:all\s+)?(?:of\s+)?(?:the\s+|my\s+|our\s+)?{kinds}\b"
            )),
            Force::always(&format!(
                r"\b(?:name|show(?:\s+me)?|give\s+me)\s+(?:a\s+list\s+of(?:\s+all)?|all|every)\s+(?:of\s+)?(?:the\s+|my\s+|our\s+)?{kinds}\b"
            )),
            Force::always(&format!(
                r"\bhow\s+many\s+{kinds}\s+(?:are\s+there|do\s+(?:i|we)\s+have|have\s+(?:i|we)|are\s+in\s+(?:the|my)\s+(?:codex|book|novel|story))\b"
            )),
        ]
    }

    fn read(&self, desk: &Desk<'_>, args: Args) -> Result<Reading, ToolError> {
        let entries: Vec<&Entry> = desk.book.entries_of(args.entry_type).collect();
        let (mut listed, mut room) = (vec![], desk.limits.prose);
        for entry in &entries {
            let line = brief_as_of(desk, entry, SUMMARY);
            let size = line.to_string().chars().count();
            if size > room {
                break;
            }
            room -= size;
            listed.push(line);
        }
        let left = entries.len() - listed.len();
        let evidence = Evidence {
            resolved: entries.iter().take(listed.len()).map(|e| e.path.clone()).collect(),
            title: entries.first().map(|e| e.name.clone()),
            kind: Some(args.entry_type.to_string()),
            results: listed.len(),
            words: None,
            missing: entries.is_empty(),
            truncated: left > 0,
        };
        let mut result = json!({
            "project": desk.book.name,
            "type": args.entry_type,
            "count": entries.len(),
            "entries": listed,
        });
        if left > 0 {
            result["truncated"] = json!(true);
            result["note"] =
                json!(format!("{left} more entries did not fit. Use search_codex to find one of them."));
        }
        Ok(Reading { result, evidence, material: vec![] })
    }
}

/// One entry in a line of a list; what is empty is left out.
pub(super) fn brief(entry: &Entry, summary_chars: usize) -> Value {
    let mut line = json!({"type": entry.entry_type, "name": entry.name});
    if let Some(title) = &entry.title {
        line["title"] = json!(title);
    }
    if !entry.aliases.is_empty() {
        line["aliases"] = json!(entry.aliases);
    }
    line["path"] = json!(entry.path);
    if entry.heading.is_some() {
        line["address"] = json!(entry.address());
    }
    let summary = shorten(&entry.summary, summary_chars);
    if !summary.is_empty() {
        line["summary"] = json!(summary);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::desk::Limits;
    use crate::tools::testing::{Shelf, call};

    fn shelf(count: usize) -> Shelf {
        (0..count).fold(Shelf::new(), |shelf, i| {
            shelf.entry(
                &format!("codex/items/i{i:03}.md"),
                &format!("---\ntype: item\nname: Item {i:03}\n---\nA thing.\n"),
            )
        })
    }

    #[test]
    fn all_entries_of_the_type_are_counted_and_listed() {
        let shelf = shelf(3).entry("codex/events/e.md", "---\ntype: event\nname: The Fall\n---\n");
        let outcome = call(&shelf.desk(), "list_codex_entries", &json!({"entryType": "item"})).unwrap();
        assert_eq!(outcome.result["count"], 3);
        assert_eq!(
            outcome.result["entries"][0],
            json!({"type": "item", "name": "Item 000", "path": "codex/items/i000.md", "summary": "A thing."})
        );
        assert_eq!(outcome.evidence.results, 3);
        let none = call(&shelf.desk(), "list_codex_entries", &json!({"entryType": "concept"})).unwrap();
        assert_eq!((&none.result["count"], none.evidence.missing), (&json!(0), true));
    }

    #[test]
    fn a_list_that_does_not_fit_says_how_many_are_left() {
        let shelf = shelf(50);
        let desk = Desk { limits: Limits { prose: 900, ..Limits::default() }, ..shelf.desk() };
        let outcome = call(&desk, "list_codex_entries", &json!({"entryType": "item"})).unwrap();
        let listed = outcome.result["entries"].as_array().unwrap().len();
        assert!(listed > 3 && listed < 50);
        assert_eq!(outcome.result["count"], 50);
        assert!(outcome.result["note"].as_str().unwrap().starts_with(&format!("{} more", 50 - listed)));
        assert!(outcome.evidence.truncated);
    }
}
