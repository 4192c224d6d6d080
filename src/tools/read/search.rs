//! `search_codex`: entries by any words, when type or name is not known.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::NAME;
use super::found::{not_empty, rounded};
use super::story_time::brief_as_of;
use crate::canon::search;
use crate::domain::codex::EntryType;
use crate::tools::{Desk, Evidence, Force, ReadTool, Reading, ToolError};

/// Longest summary of a match, in characters.
const SUMMARY: usize = 240;

/// Most near names when nothing matches.
const NEAR: usize = 3;

/// See [`ReadTool::about`].
pub(in crate::tools) struct SearchCodex;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct Args {
    /// Words to look for: a name, a part of one, or what the entry is about.
    query: String,
    /// Only entries of this type; null for all types.
    entry_type: Option<EntryType>,
}

impl ReadTool for SearchCodex {
    type Args = Args;

    fn name(&self) -> &'static str {
        "search_codex"
    }

    fn about(&self) -> &'static str {
        "Searches the Codex over names, titles, aliases, types, paths, summaries and text; up to eight scored matches. Use it when the type of an entry is not known, and before proposing a new one."
    }

    fn force(&self) -> Vec<Force> {
        vec![
            Force::always(&format!(r"^\s*where(?:['\u{{2019}}]s|\s+is|\s+are|\s+was)\s+{NAME}\s*\??\s*$")),
            Force::always(r"\bsearch\s+(?:the\s+|my\s+)?codex\b"),
            Force::always(r"\bwhat\s+does\s+(?:the\s+|my\s+)?codex\s+(?:say|know|have)\b"),
        ]
    }

    fn read(&self, desk: &Desk<'_>, args: Args) -> Result<Reading, ToolError> {
        let query = not_empty(&args.query)?;
        let matches = search::codex(desk.index, desk.book, args.entry_type, query, search::MAX_MATCHES);
        let told: Vec<_> = matches
            .iter()
            .map(|m| {
                let mut line = brief_as_of(desk, m.entry, SUMMARY);
                line["matchedIn"] = json!(m.field);
                line["score"] = json!(rounded(m.score));
                line
            })
            .collect();
        let evidence = Evidence {
            resolved: matches.iter().map(|m| m.entry.path.clone()).collect(),
            title: matches.first().map(|m| m.entry.name.clone()),
            kind: matches.first().map(|m| m.entry.entry_type.to_string()),
            results: matches.len(),
            words: None,
            missing: matches.is_empty(),
            truncated: false,
        };
        let mut result = json!({
            "project": desk.book.name,
            "query": query,
            "type": args.entry_type,
            "count": told.len(),
            "matches": told,
        });
        if matches.is_empty() {
            result["near"] = json!(desk.index.known().near_names(desk.book, args.entry_type, query, NEAR));
        } else if matches.len() == search::MAX_MATCHES {
            result["note"] = json!(format!(
                "The best {} matches. Narrow the query or give entryType for others.",
                search::MAX_MATCHES
            ));
        }
        Ok(Reading { result, evidence, material: vec![] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{Shelf, call};

    fn shelf() -> Shelf {
        (0..12)
            .fold(Shelf::new(), |shelf, i| {
                shelf.entry(
                    &format!("codex/items/lamp-{i:02}.md"),
                    &format!("---\ntype: item\nname: Lamp {i:02}\n---\nGives light.\n"),
                )
            })
            .entry("codex/events/fire.md", "---\ntype: event\nname: The Fire\n---\nThe lamp fell.\n")
    }

    #[test]
    fn at_most_eight_scored_matches_come_back() {
        let shelf = shelf();
        let outcome = call(&shelf.desk(), "search_codex", &json!({"query": "lamp"})).unwrap();
        let matches = outcome.result["matches"].as_array().unwrap();
        assert_eq!((matches.len(), &outcome.result["count"]), (8, &json!(8)));
        let scores: Vec<f64> = matches.iter().map(|m| m["score"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b) && scores[7] > 0.0, "{scores:?}");
        let again = call(&shelf.desk(), "search_codex", &json!({"query": "lamp"})).unwrap();
        assert_eq!(outcome.result.to_string(), again.result.to_string());
    }

    #[test]
    fn a_type_narrows_the_search_and_nothing_found_names_what_is_near() {
        let shelf = shelf();
        let outcome =
            call(&shelf.desk(), "search_codex", &json!({"query": "lamp", "entryType": "event"})).unwrap();
        assert_eq!(outcome.result["matches"][0]["name"], "The Fire");
        let none = call(&shelf.desk(), "search_codex", &json!({"query": "zzzz"})).unwrap();
        assert_eq!((&none.result["count"], none.evidence.missing), (&json!(0), true));
        assert!(none.result["near"].is_array());
        let error = call(&shelf.desk(), "search_codex", &json!({"query": " "})).unwrap_err();
        assert_eq!(error.to_result()["error"]["field"], "query");
    }
}
