//! `get_manuscript_context`: the author's prose, by what the author calls it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::portion::portion;
use crate::canon::manuscript::{ChapterRef, resolve};
use crate::domain::ids::BookPath;
use crate::domain::passage;
use crate::tools::{Desk, Evidence, Force, Material, ReadTool, Reading, ToolError};

/// Most references of one call.
const MAX_REFS: usize = 24;

/// Numbers as a question writes them.
const NUMBER: &str = r"(?:\d{1,4}|[ivxlc]{1,7}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?|thirty|forty)";

/// See [`ReadTool::about`].
pub(in crate::tools) struct Manuscript;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct Args {
    /// What to read: `selection` (the highlighted words), `current` (the open document), a chapter number, a chapter title, a relative path or a file stem. Null when `refs` is given.
    r#ref: Option<String>,
    /// Several things to read, in this order, each as in `ref`. They share one limit.
    refs: Option<Vec<String>>,
    /// Number of the paragraph to start from, from 1: the `nextParagraph` of an earlier result that was truncated. Null for the beginning.
    start_paragraph: Option<u32>,
}

/// A text that a reference stands for.
struct Unit<'a> {
    path: &'a BookPath,
    title: &'a str,
    kind: &'static str,
    number: Option<u32>,
    text: &'a str,
    /// Words of the whole document that a selection is from.
    source_words: Option<usize>,
}

/// Why a reference stands for nothing.
struct Missing {
    message: String,
    nearest: Vec<String>,
}

impl ReadTool for Manuscript {
    type Args = Args;

    fn name(&self) -> &'static str {
        "get_manuscript_context"
    }

    fn about(&self) -> &'static str {
        "Reads manuscript text of the open book. Use it before answering anything that needs chapter, document or selected text: ref \"selection\" for highlighted text, ref \"current\" for the open document, else a chapter number, title or relative path; refs for comparisons over several chapters. A long text comes back truncated on a paragraph boundary with nextParagraph to go on from."
    }

    fn force(&self) -> Vec<Force> {
        let lead = r"[^.;:!?\n]*";
        vec![
            Force::with_document(&format!(
                r"{lead}\b(?:this|the\s+(?:selected|highlighted|open|current)|my\s+(?:selected|current))\s+(?:passage|selection|paragraph|chapter|scene|excerpt|text|page|lines?|sentence)\b"
            )),
            Force::with_document(&format!(r"{lead}\b(?:my|the)\s+selection\b")),
            Force::always(&format!(
                r"{lead}\b(?:in|of|about|from|read|reread|review|summari[sz]e|compare|critique|discuss|happens\s+in|how\s+(?:is|does|do))\s+(?:chapters?|ch\.)\s*{NUMBER}\b"
            )),
        ]
    }

    fn read(&self, desk: &Desk<'_>, args: Args) -> Result<Reading, ToolError> {
        let refs = references(args.r#ref, args.refs)?;
        let start = args.start_paragraph.filter(|n| *n > 0).map(|n| n as usize);
        if let [only] = &refs[..]
            && let Err(missing) = find(desk, only)
            && (is_selection(only) || is_current(only))
        {
            return Err(ToolError::refused(
                missing.message,
                json!({"ref": only, "chapters": desk.book.chapters.len()}),
            ));
        }
        let (mut room, mut units) = (desk.limits.prose, vec![]);
        let mut reading = Reading::default();
        for (i, reference) in refs.iter().enumerate() {
            let from = if i == 0 { start.unwrap_or(1) } else { 1 };
            let unit = match find(desk, reference) {
                Ok(unit) => unit,
                Err(missing) => {
                    reading.evidence.missing = true;
                    units.push(json!({
                        "ref": reference, "missing": true, "message": missing.message, "nearest": missing.nearest,
                    }));
                    continue;
                }
            };
            units.push(give(desk, reference, &unit, from, &mut room, &mut reading)?);
        }
        reading.result = json!({ "project": desk.book.name, "units": units });
        Ok(reading)
    }
}

fn references(one: Option<String>, several: Option<Vec<String>>) -> Result<Vec<String>, ToolError> {
    let mut refs: Vec<String> = vec![];
    for reference in one.into_iter().chain(several.into_iter().flatten()) {
        let reference = reference.trim();
        if !reference.is_empty() && !refs.iter().any(|r| r == reference) {
            refs.push(reference.to_owned());
        }
    }
    let allowed = ["current", "selection", "a chapter number", "a chapter title", "a relative path"];
    match refs.len() {
        0 => Err(ToolError::in_field("ref", "`ref` or `refs` is missing", &allowed)),
        1..=MAX_REFS => Ok(refs),
        n => Err(ToolError::in_field(
            "refs",
            format!("`refs` names {n} texts; the most is {MAX_REFS}"),
            &allowed,
        )),
    }
}

fn is_selection(reference: &str) -> bool {
    ["selection", "current selection", "selected text", "the selection"]
        .contains(&passage::fold(reference).as_str())
}

fn is_current(reference: &str) -> bool {
    ["current", "current chapter", "current document", "current scene", "this chapter", "open document"]
        .contains(&passage::fold(reference).as_str())
}

fn find<'a>(desk: &Desk<'a>, reference: &str) -> Result<Unit<'a>, Missing> {
    let other = |what: &str| {
        let current = if desk.current.is_some() { "`current` for the open document, or " } else { "" };
        Missing {
            message: format!("{what} Use {current}a chapter number, a chapter title or a relative path."),
            nearest: vec![],
        }
    };
    if is_selection(reference) {
        let selection = desk.selection.ok_or_else(|| other("No text is selected."))?;
        return Ok(Unit {
            path: &selection.path,
            title: &selection.title,
            kind: "selection",
            number: desk.book.chapter(&selection.path).map(|c| c.number),
            text: &selection.text,
            source_words: Some(selection.source_words),
        });
    }
    if is_current(reference) {
        let path = desk.current.ok_or_else(|| Missing {
            message: "No document is open. Use a chapter number, a chapter title or a relative path.".into(),
            nearest: vec![],
        })?;
        return document(desk, path).ok_or_else(|| Missing {
            message: format!("The open document {path} is not part of the book as it was read."),
            nearest: vec![],
        });
    }
    match resolve(desk.book, reference) {
        ChapterRef::Found(chapter) => Ok(Unit {
            path: &chapter.path,
            title: &chapter.title,
            kind: "chapter",
            number: Some(chapter.number),
            text: chapter.body(),
            source_words: None,
        }),
        ChapterRef::Missing(nearest) => {
            Err(Missing { message: "No chapter has this number, title or path.".into(), nearest })
        }
    }
}

fn document<'a>(desk: &Desk<'a>, path: &'a BookPath) -> Option<Unit<'a>> {
    if let Some(chapter) = desk.book.chapter(path) {
        return Some(Unit {
            path: &chapter.path,
            title: &chapter.title,
            kind: "chapter",
            number: Some(chapter.number),
            text: chapter.body(),
            source_words: None,
        });
    }
    let kind = desk.book.entry(path).map_or("note", |e| e.entry_type.as_str());
    let (title, text) = desk.book.document(path)?;
    Some(Unit { path, title, kind, number: None, text, source_words: None })
}

/// Puts as much of a unit as there is room for into the reading; returns what the model is told about it.
fn give(
    desk: &Desk<'_>,
    reference: &str,
    unit: &Unit<'_>,
    from: usize,
    room: &mut usize,
    reading: &mut Reading,
) -> Result<Value, ToolError> {
    let limit = desk.limits.prose;
    let Some(part) = portion(unit.text, from, *room, limit) else {
        let count = portion(unit.text, 1, 0, limit).map_or(0, |p| p.paragraphs);
        let message = format!("`startParagraph` is {from}, but {} has {count} paragraphs", unit.path);
        return Err(ToolError::in_field("startParagraph", message, &[&format!("1 to {count}")]));
    };
    *room = room.saturating_sub(part.text.chars().count());
    let mut told = Map::new();
    told.insert("ref".into(), json!(reference));
    told.insert("kind".into(), json!(unit.kind));
    told.insert("path".into(), json!(unit.path));
    told.insert("title".into(), json!(unit.title));
    if let Some(number) = unit.number {
        told.insert("number".into(), json!(number));
    }
    let words = passage::count_words(unit.text);
    told.insert("words".into(), json!(words));
    if let Some(source_words) = unit.source_words {
        told.insert("sourceWords".into(), json!(source_words));
    }
    told.insert("paragraphs".into(), json!(part.paragraphs));
    if part.from > 1 {
        told.insert("fromParagraph".into(), json!(part.from));
    }
    told.insert("text".into(), json!(part.text));
    if let Some(next) = part.next {
        told.insert("truncated".into(), json!(true));
        told.insert("wordsLeft".into(), json!(part.words_left));
        told.insert("nextParagraph".into(), json!(next));
        let note = format!(
            "Cut at the limit of {limit} characters for one call. Call again with this ref alone and startParagraph {next} for the rest."
        );
        told.insert("note".into(), json!(note));
    }
    note_evidence(&mut reading.evidence, unit, part.text, part.next.is_some());
    if !part.text.is_empty() {
        reading.material.push(Material { path: unit.path.clone(), text: part.text.to_owned() });
    }
    Ok(Value::Object(told))
}

fn note_evidence(evidence: &mut Evidence, unit: &Unit<'_>, text: &str, truncated: bool) {
    if !evidence.resolved.contains(unit.path) {
        evidence.resolved.push(unit.path.clone());
    }
    evidence.title.get_or_insert_with(|| unit.title.to_owned());
    evidence.kind.get_or_insert_with(|| unit.kind.to_owned());
    evidence.results += 1;
    evidence.words = Some(evidence.words.unwrap_or(0) + passage::count_words(text));
    evidence.truncated |= truncated;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::desk::{Limits, Seen, Selection};
    use crate::tools::testing::{Shelf, call, path};

    fn shelf() -> Shelf {
        Shelf::new()
            .chapter(
                "manuscript/01-the-listening-post.md",
                "---\ntitle: The Listening Post\n---\n\nOne *two*.\r\n\r\nThree.\n",
            )
            .chapter("manuscript/02-outside.md", "# Outside\n\nCold out there.\n")
            .note("notes/plot.md", "---\ntags: [a]\n---\nThe plot.\n")
            .entry("codex/characters/mira.md", "---\ntype: character\nname: Mira\n---\nMira listens.\n")
    }

    #[test]
    fn a_chapter_comes_back_with_its_words_exactly_as_written() {
        let shelf = shelf();
        let outcome = call(&shelf.desk(), "get_manuscript_context", &json!({"ref": 1})).unwrap();
        let unit = &outcome.result["units"][0];
        assert_eq!(unit["path"], "manuscript/01-the-listening-post.md");
        assert_eq!(
            (&unit["title"], &unit["number"], &unit["words"]),
            (&json!("The Listening Post"), &json!(1), &json!(3))
        );
        assert_eq!(unit["text"], "One *two*.\r\n\r\nThree.");
        assert_eq!(unit.get("truncated"), None);
        assert_eq!(outcome.material[0].text, "One *two*.\r\n\r\nThree.");
        assert_eq!(outcome.evidence.kind.as_deref(), Some("chapter"));
        assert_eq!((outcome.evidence.results, outcome.evidence.words), (1, Some(3)));
    }

    #[test]
    fn several_texts_come_in_the_order_asked_and_a_missing_one_says_what_is_near() {
        let shelf = shelf();
        let args = json!({"refs": ["Outside", "Nowhere", "1", "Outside"]});
        let outcome = call(&shelf.desk(), "get_manuscript_context", &args).unwrap();
        let units = outcome.result["units"].as_array().unwrap();
        let refs: Vec<_> = units.iter().map(|u| u["ref"].as_str().unwrap()).collect();
        assert_eq!(refs, ["Outside", "Nowhere", "1"]);
        assert_eq!(units[1]["missing"], true);
        assert!(!units[1]["nearest"].as_array().unwrap().is_empty());
        assert!(outcome.evidence.missing);
        assert_eq!(outcome.evidence.results, 2);
    }

    #[test]
    fn the_open_document_is_read_whatever_it_is() {
        let shelf = shelf();
        for (open, kind, words) in [
            ("manuscript/02-outside.md", "chapter", "Cold out there."),
            ("notes/plot.md", "note", "The plot."),
            ("codex/characters/mira.md", "character", "Mira listens."),
        ] {
            let open = path(open);
            let desk = Desk { current: Some(&open), ..shelf.desk() };
            let outcome = call(&desk, "get_manuscript_context", &json!({"ref": "current"})).unwrap();
            let unit = &outcome.result["units"][0];
            assert_eq!(unit["kind"], kind);
            assert!(unit["text"].as_str().unwrap().contains(words));
            assert_eq!(unit["path"], open.as_str());
        }
    }

    #[test]
    fn the_selection_is_given_and_without_one_the_way_out_is_named() {
        let shelf = shelf();
        let selection = Selection {
            path: path("manuscript/02-outside.md"),
            title: "Outside".into(),
            source_words: 4,
            start: 11,
            text: "Cold out".into(),
        };
        let desk = Desk { selection: Some(&selection), ..shelf.desk() };
        let outcome = call(&desk, "get_manuscript_context", &json!({"ref": "selection"})).unwrap();
        let unit = &outcome.result["units"][0];
        assert_eq!(
            (&unit["text"], &unit["words"], &unit["sourceWords"]),
            (&json!("Cold out"), &json!(2), &json!(4))
        );
        let error = call(&shelf.desk(), "get_manuscript_context", &json!({"ref": "selection"})).unwrap_err();
        assert!(error.to_string().contains("No text is selected. Use a chapter number"), "{error}");
        let open = path("manuscript/02-outside.md");
        let desk = Desk { current: Some(&open), ..shelf.desk() };
        let error = call(&desk, "get_manuscript_context", &json!({"ref": "selection"})).unwrap_err();
        assert!(error.to_string().contains("Use `current`"), "{error}");
    }

    #[test]
    fn a_long_text_is_cut_between_paragraphs_and_can_be_gone_on_with() {
        let shelf = Shelf::new()
            .chapter("manuscript/1.md", "Aaaa aaaa.\n\nBbbb bbbb.\n\nCccc cccc.\n")
            .chapter("manuscript/2.md", "Dddd dddd.\n");
        let desk = Desk { limits: Limits { prose: 24, ..Limits::default() }, ..shelf.desk() };
        let outcome = call(&desk, "get_manuscript_context", &json!({"refs": ["1", "2"]})).unwrap();
        let units = &outcome.result["units"];
        assert_eq!(units[0]["text"], "Aaaa aaaa.\n\nBbbb bbbb.");
        assert_eq!(
            (&units[0]["truncated"], &units[0]["nextParagraph"], &units[0]["wordsLeft"]),
            (&json!(true), &json!(3), &json!(2))
        );
        assert_eq!((&units[1]["text"], &units[1]["nextParagraph"]), (&json!(""), &json!(1)));
        assert!(outcome.evidence.truncated);
        let rest = call(&desk, "get_manuscript_context", &json!({"ref": "1", "startParagraph": 3})).unwrap();
        assert_eq!(rest.result["units"][0]["text"], "Cccc cccc.");
        let error =
            call(&desk, "get_manuscript_context", &json!({"ref": "1", "startParagraph": 9})).unwrap_err();
        assert_eq!(error.to_result()["error"]["allowed"], json!(["1 to 3"]));
    }

    #[test]
    fn without_a_reference_the_model_is_told_what_it_may_be() {
        let shelf = shelf();
        let error = call(&shelf.desk(), "get_manuscript_context", &json!({})).unwrap_err();
        assert_eq!(error.to_result()["error"]["field"], "ref");
        assert!(
            call(&shelf.desk(), "get_manuscript_context", &json!({"ref": "../../etc/passwd"}))
                .unwrap()
                .evidence
                .missing
        );
    }

    #[test]
    fn what_was_returned_whole_counts_as_seen() {
        let shelf = shelf();
        let outcome = call(&shelf.desk(), "get_manuscript_context", &json!({"ref": "1"})).unwrap();
        let mut seen = Seen::default();
        seen.add(&outcome.material);
        assert!(seen.holds(&path("manuscript/01-the-listening-post.md"), "\n\nThree.\n"));
    }
}
