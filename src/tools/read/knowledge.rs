//! `search_knowledge`: canon, notes and manuscript in one search, for what may stand anywhere.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::found::{Found, Limit, not_empty};
use crate::canon::meaning;
use crate::canon::search::{self, Piece};
use crate::domain::safe_text;
use crate::tools::{Desk, ReadTool, Reading, ToolError};

/// See [`ReadTool::about`].
pub(in crate::tools) struct SearchKnowledge;

/// Results that come back.
const LIMIT: Limit = Limit { usual: 5, most: 20 };

/// Longest excerpt, in characters.
const EXCERPT: usize = 400;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct Args {
    /// What is looked for: names, telling words, or a short question.
    query: String,
    /// Most results, 1 to 20. Null for 5.
    limit: Option<u32>,
}

impl ReadTool for SearchKnowledge {
    type Args = Args;

    fn name(&self) -> &'static str {
        "search_knowledge"
    }

    fn about(&self) -> &'static str {
        "Searches canon, notes and manuscript together; each result says where it is from, with a short excerpt. Use it when the answer may stand anywhere, or for a description without a name (\"who keeps the radio log\"); then read the best results whole with the other tools."
    }

    fn read(&self, desk: &Desk<'_>, args: Args) -> Result<Reading, ToolError> {
        let query = not_empty(&args.query)?;
        let limit = LIMIT.of(args.limit)?;
        let (pieces, by_meaning) = pieces(desk, query, limit);
        let mut found = Found::new(desk);
        for piece in &pieces {
            let shown = |text: &str, paragraph| search::told(desk.index, text, paragraph, query, EXCERPT);
            let score = piece.score();
            match piece {
                Piece::Canon(found_in, paragraph) => {
                    let entry = found_in.entry;
                    let line = json!({
                        "from": "canon",
                        "type": entry.entry_type,
                        "name": entry.name,
                        "path": entry.path,
                        "matchedIn": found_in.field,
                    });
                    found.add(line, score, &entry.path, &entry.text, shown(&entry.text, paragraph));
                }
                Piece::Manuscript(passage) => {
                    let chapter = passage.chapter;
                    let line = json!({
                        "from": "manuscript",
                        "chapter": chapter.number,
                        "title": chapter.title,
                        "path": chapter.path,
                        "paragraph": passage.paragraph,
                    });
                    found.add(
                        line,
                        score,
                        &chapter.path,
                        &chapter.text,
                        shown(&chapter.text, &passage.whole),
                    );
                }
                Piece::Note(found_in) => {
                    let note = found_in.note;
                    let line = json!({
                        "from": "note",
                        "title": note.title,
                        "path": note.path,
                        "matchedIn": found_in.field,
                    });
                    found.add(line, score, &note.path, &note.text, shown(&note.text, &found_in.paragraph));
                }
            }
        }
        found.evidence.title = pieces.first().map(|piece| match piece {
            Piece::Canon(m, _) => m.entry.name.clone(),
            Piece::Manuscript(p) => p.chapter.title.clone(),
            Piece::Note(n) => n.note.title.clone(),
        });
        found.evidence.kind = pieces.first().map(|piece| match piece {
            Piece::Canon(m, _) => m.entry.entry_type.to_string(),
            Piece::Manuscript(_) => "chapter".to_owned(),
            Piece::Note(_) => "note".to_owned(),
        });
        let mut about = json!({"project": desk.book.name, "query": query});
        if let Some(by_meaning) = by_meaning {
            about["byMeaning"] = by_meaning;
        }
        Ok(found.reading(about, "results", limit))
    }
}

/// What words find, joined with what is near in meaning where the author switched that on; and what is told of the latter.
fn pieces<'a>(desk: &Desk<'a>, query: &str, limit: usize) -> (Vec<Piece<'a>>, Option<Value>) {
    let Some(finder) = desk.meaning else {
        return (search::knowledge(desk.index, desk.book, query, limit), None);
    };
    let words = search::knowledge(desk.index, desk.book, query, LIMIT.most);
    let all = meaning::pieces(desk.book);
    match finder.nearest(&all, query, LIMIT.most) {
        Ok(near) => (meaning::join(words, &near, limit), Some(json!(true))),
        Err(why) => {
            let words = words.into_iter().take(limit).collect();
            (words, Some(json!(format!("not searched by meaning: {}", safe_text::line(&why)))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{Shelf, call};

    fn shelf() -> Shelf {
        Shelf::new()
            .chapter("manuscript/01-post.md", "# The Post\n\nThe radio was silent. Mira wrote it down.\n")
            .entry(
                "codex/characters/mira.md",
                "---\ntype: character\nname: Mira Okafor\n---\n\nSignals officer.\n\nShe keeps the radio log by hand.\n",
            )
            .entry("codex/characters/osric.md", "---\ntype: character\nname: Osric\n---\nKeeps the lamps.\n")
            .note("notes/plan.md", "# Plan\n\nThe log must burn in chapter 9.\n")
    }

    #[test]
    fn a_description_finds_the_entry_by_its_text_and_every_source_says_what_it_is() {
        let shelf = shelf();
        let ask =
            |query: &str| call(&shelf.desk(), "search_knowledge", &json!({"query": query})).unwrap().result;
        let who = ask("who keeps the radio log?");
        assert_eq!(
            (&who["results"][0]["name"], &who["results"][0]["from"]),
            (&json!("Mira Okafor"), &json!("canon"))
        );
        assert_eq!(who["results"][0]["excerpt"], "She keeps the radio log by hand.");
        assert!(who["results"].as_array().unwrap().iter().any(|r| r["from"] == "manuscript"));
        assert_eq!(ask("log burn")["results"][0]["from"], "note");
        assert_eq!(ask("osrik")["results"][0]["name"], "Osric");
        assert_eq!(ask("zanzibar")["count"], 0);
    }

    #[test]
    fn what_it_returns_stands_in_the_files() {
        let shelf = shelf();
        let outcome =
            call(&shelf.desk(), "search_knowledge", &json!({"query": "radio log", "limit": 2})).unwrap();
        assert_eq!(outcome.result["count"], 2);
        for material in &outcome.material {
            let (_, text) = shelf.book.document(&material.path).unwrap();
            assert!(text.contains(&material.text));
        }
    }
}
