//! `search_knowledge`: canon, notes and manuscript in one search, for what may stand anywhere.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::found::{Found, Limit, not_empty};
use crate::canon::meaning;
use crate::canon::search::{self, Piece};
use crate::tools::{Desk, ReadTool, Reading, ToolError};

/// See [`ReadTool::about`].
pub(in crate::tools) struct SearchKnowledge;

/// Results that come back.
const LIMIT: Limit = Limit { usual: 5, most: 20 };

/// Pieces found by meaning that take part in the ranking.
const NEAREST: usize = 24;

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
        let (pieces, by_meaning) = search(desk, query, limit);
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
        let mut head = json!({"project": desk.book.name, "query": query});
        match by_meaning {
            Some(Ok(())) => head["rankedBy"] = json!("words and meaning"),
            Some(Err(why)) => {
                head["rankedBy"] = json!("words alone");
                head["meaningFailed"] = json!(why);
            }
            None => {}
        }
        Ok(found.reading(head, "results", limit))
    }
}

/// Searches by words, and by meaning too where the author has that on; then with whether it could be.
fn search<'a>(desk: &Desk<'a>, query: &str, limit: usize) -> (Vec<Piece<'a>>, Option<Result<(), String>>) {
    let by_words = || search::knowledge(desk.index, desk.book, query, limit);
    let Some(finder) = desk.meaning else { return (by_words(), None) };
    let pieces = meaning::pieces(desk.book);
    match finder.nearest(&pieces, query, NEAREST) {
        Ok(near) => {
            let place = |piece: &meaning::Piece<'a>| pieces.iter().position(|p| std::ptr::eq(p, piece));
            let near: Vec<usize> = near.iter().filter_map(|(piece, _)| place(piece)).collect();
            let found = search::knowledge_by_meaning(desk.index, desk.book, query, limit, &pieces, &near);
            (found, Some(Ok(())))
        }
        Err(why) => (by_words(), Some(Err(why))),
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

    /// Holds the last piece of a book to be nearest to everything.
    #[derive(Debug)]
    struct Last(Result<(), String>);

    impl meaning::ByMeaning for Last {
        fn nearest<'p, 'a>(
            &self,
            pieces: &'p [meaning::Piece<'a>],
            _: &str,
            limit: usize,
        ) -> Result<Vec<(&'p meaning::Piece<'a>, f32)>, String> {
            self.0.clone().map(|()| pieces.iter().rev().take(limit.min(2)).map(|p| (p, 0.5)).collect())
        }
    }

    #[test]
    fn texts_that_mean_the_same_are_found_without_a_word_in_common() {
        let shelf = shelf();
        let ask = |finder: &Last, query: &str| {
            let desk = Desk { meaning: Some(finder), ..shelf.desk() };
            call(&desk, "search_knowledge", &json!({"query": query})).unwrap().result
        };
        let none = ask(&Last(Ok(())), "zanzibar");
        let results = none["results"].as_array().unwrap();
        assert_eq!(results.iter().map(|r| &r["from"]).collect::<Vec<_>>(), ["note", "manuscript"]);
        assert_eq!((&results[1]["paragraph"], &none["rankedBy"]), (&json!(1), &json!("words and meaning")));
        let both = ask(&Last(Ok(())), "log burn");
        assert_eq!(both["results"][0]["from"], "note", "{both}");
        let radio = ask(&Last(Ok(())), "radio log");
        assert_eq!(radio["results"].as_array().unwrap().len(), 3, "each once: {radio}");
        let failed = ask(&Last(Err("The server is not there.".into())), "radio log");
        assert_eq!(failed["meaningFailed"], "The server is not there.");
        assert_eq!(failed["results"][0]["name"], "Mira Okafor");
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
