//! `search_manuscript`: the paragraphs of the manuscript in which something happens or is said.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::found::{Found, Limit, not_empty};
use crate::canon::manuscript::{ChapterRef, resolve};
use crate::canon::search;
use crate::tools::{Desk, Force, ReadTool, Reading, ToolError};

/// See [`ReadTool::about`].
pub(in crate::tools) struct SearchManuscript;

/// Passages that come back.
const LIMIT: Limit = Limit { usual: 8, most: 24 };

/// Longest excerpt, in characters.
const EXCERPT: usize = 320;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct Args {
    /// Words that stand in the passage, or a phrase. Names and telling words find more than a whole question does.
    query: String,
    /// Only these chapters: numbers, titles, relative paths, or `current` for the open one. Null for the whole manuscript.
    refs: Option<Vec<String>>,
    /// Most passages, 1 to 24. Null for 8.
    limit: Option<u32>,
}

impl ReadTool for SearchManuscript {
    type Args = Args;

    fn name(&self) -> &'static str {
        "search_manuscript"
    }

    fn about(&self) -> &'static str {
        "Searches the manuscript for words or a phrase; ranked passages with chapter, paragraph and a short excerpt. Use it to find where something happens or is said when the chapter is not known; to read on, give get_manuscript_context the path and, as startParagraph, the paragraph."
    }

    fn force(&self) -> Vec<Force> {
        vec![Force::always(r"\bsearch\s+(?:through\s+)?(?:the\s+|my\s+|our\s+)?(?:whole\s+)?manuscript\b")]
    }

    fn read(&self, desk: &Desk<'_>, args: Args) -> Result<Reading, ToolError> {
        let query = not_empty(&args.query)?;
        let limit = LIMIT.of(args.limit)?;
        let (only, missing) = chapters(desk, args.refs.unwrap_or_default());
        let passages = match &only {
            Some(chapters) if chapters.is_empty() => vec![],
            only => search::manuscript(desk.index, desk.book, only.as_deref(), query, limit),
        };
        let mut found = Found::new(desk);
        for passage in &passages {
            let chapter = passage.chapter;
            let shown = search::told(desk.index, &chapter.text, &passage.whole, query, EXCERPT);
            let line = json!({
                "chapter": chapter.number,
                "title": chapter.title,
                "path": chapter.path,
                "paragraph": passage.paragraph,
            });
            found.add(line, passage.score, &chapter.path, &chapter.text, shown);
        }
        found.evidence.title = passages.first().map(|p| p.chapter.title.clone());
        found.evidence.kind = passages.first().map(|_| "chapter".to_owned());
        let mut reading =
            found.reading(json!({"project": desk.book.name, "query": query}), "passages", limit);
        if !missing.is_empty() {
            reading.result["missing"] = json!(missing);
            reading.evidence.missing = true;
        }
        Ok(reading)
    }
}

/// The places of the chapters that are meant, and what is told about references that mean none. `None`: all chapters.
fn chapters(desk: &Desk<'_>, refs: Vec<String>) -> (Option<Vec<usize>>, Vec<Value>) {
    let asked: Vec<String> = refs.into_iter().filter(|reference| !reference.trim().is_empty()).collect();
    if asked.is_empty() {
        return (None, vec![]);
    }
    let (mut only, mut missing) = (vec![], vec![]);
    for reference in asked {
        let current = desk.current.filter(|_| reference.trim().eq_ignore_ascii_case("current"));
        let found = match current {
            Some(path) => desk.book.chapter(path).ok_or_else(Vec::new),
            None => match resolve(desk.book, &reference) {
                ChapterRef::Found(chapter) => Ok(chapter),
                ChapterRef::Missing(nearest) => Err(nearest),
            },
        };
        match found {
            Ok(chapter) => only.extend(desk.book.chapters.iter().position(|c| c.path == chapter.path)),
            Err(nearest) => missing.push(json!({"ref": reference, "nearest": nearest})),
        }
    }
    (Some(only), missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{Shelf, call, path};

    fn shelf() -> Shelf {
        Shelf::new()
            .chapter("manuscript/01-post.md", "---\ntitle: The Post\n---\n# The Post\n\nMira counted lamps.\n\nThe lamp\nwent out, and nobody spoke.\n")
            .chapter("manuscript/02-log.md", "---\ntitle: The Log\n---\nA lamp, a lamp, said Osric.\n")
    }

    #[test]
    fn passages_come_ranked_with_the_paragraph_to_read_on_from() {
        let shelf = shelf();
        let outcome =
            call(&shelf.desk(), "search_manuscript", &json!({"query": "the lamp went out"})).unwrap();
        let told = &outcome.result;
        assert_eq!((&told["count"], &told["passages"][0]["paragraph"]), (&json!(1), &json!(3)));
        assert_eq!(told["passages"][0]["excerpt"], "The lamp\nwent out, and nobody spoke.");
        assert_eq!(told["passages"][0]["chapter"], 1);
        assert!(outcome.material[0].text.ends_with("nobody spoke."));
        let from = json!({"ref": "1", "startParagraph": 3});
        let read = call(&shelf.desk(), "get_manuscript_context", &from).unwrap().result;
        assert_eq!(read["units"][0]["text"], "The lamp\nwent out, and nobody spoke.");
        let all = call(&shelf.desk(), "search_manuscript", &json!({"query": "lamps", "limit": 2})).unwrap();
        let scores: Vec<f64> =
            all.result["passages"].as_array().unwrap().iter().map(|p| p["score"].as_f64().unwrap()).collect();
        assert!(scores.len() == 2 && scores[0] >= scores[1] && all.result["note"].is_string(), "{scores:?}");
    }

    #[test]
    fn a_search_can_be_kept_to_chapters_and_says_which_there_are_not() {
        let shelf = shelf();
        let ask = |args: Value| call(&shelf.desk(), "search_manuscript", &args).unwrap().result;
        let two = ask(json!({"query": "lamp", "refs": ["The Log"]}));
        assert_eq!((&two["count"], &two["passages"][0]["chapter"]), (&json!(1), &json!(2)));
        let none = ask(json!({"query": "lamp", "refs": ["chapter 9"]}));
        assert_eq!((&none["count"], &none["missing"][0]["ref"]), (&json!(0), &json!("chapter 9")));
        assert!(!none["missing"][0]["nearest"].as_array().unwrap().is_empty());
        let open = path("manuscript/02-log.md");
        let desk = Desk { current: Some(&open), ..shelf.desk() };
        let current =
            call(&desk, "search_manuscript", &json!({"query": "lamp", "refs": ["current"]})).unwrap();
        assert_eq!(current.result["passages"][0]["chapter"], 2);
    }

    #[test]
    fn bad_limits_and_empty_queries_name_their_field() {
        let shelf = shelf();
        for (args, field) in [
            (json!({"query": " "}), "query"),
            (json!({"query": "lamp", "limit": 0}), "limit"),
            (json!({"query": "lamp", "limit": 25}), "limit"),
        ] {
            let error = call(&shelf.desk(), "search_manuscript", &args).unwrap_err().to_result();
            assert_eq!(error["error"]["field"], field);
        }
    }
}
