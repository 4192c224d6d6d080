//! `search_notes` and `read_note`: what the author keeps beside the book.
//!
//! A path is compared with the notes that were read, and never opened: nothing outside of the notes folder can be named.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::found::{Found, Limit, not_empty};
use crate::canon::search;
use crate::domain::book::Note;
use crate::domain::nearness::similarity;
use crate::domain::passage::{self, fold, line_column};
use crate::tools::{Desk, Evidence, Force, Material, ReadTool, Reading, ToolError};

/// See [`ReadTool::about`].
pub(in crate::tools) struct SearchNotes;

/// Notes that come back.
const LIMIT: Limit = Limit { usual: 5, most: 20 };

/// Longest excerpt, in characters.
const EXCERPT: usize = 320;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct SearchArgs {
    /// Words of a title, a tag or the text.
    query: String,
    /// Most notes, 1 to 20. Null for 5.
    limit: Option<u32>,
}

impl ReadTool for SearchNotes {
    type Args = SearchArgs;

    fn name(&self) -> &'static str {
        "search_notes"
    }

    fn about(&self) -> &'static str {
        "Searches the author's notes by title, tag and text; ranked, with path, line and a short excerpt. Use it for plans, research and decisions that are not canon yet; read the best with read_note."
    }

    fn force(&self) -> Vec<Force> {
        vec![Force::always(r"\bsearch\s+(?:through\s+)?(?:the\s+|my\s+|our\s+)?notes\b")]
    }

    fn read(&self, desk: &Desk<'_>, args: SearchArgs) -> Result<Reading, ToolError> {
        let query = not_empty(&args.query)?;
        let limit = LIMIT.of(args.limit)?;
        let notes = search::notes(desk.index, desk.book, query, limit);
        let mut found = Found::new(desk);
        for hit in &notes {
            let note = hit.note;
            let shown = search::told(desk.index, &note.text, &hit.paragraph, query, EXCERPT);
            let line = json!({
                "path": note.path,
                "title": note.title,
                "tags": note.tags,
                "line": line_column(&note.text, shown.start).0,
                "matchedIn": hit.field,
            });
            found.add(line, hit.score, &note.path, &note.text, shown);
        }
        found.evidence.title = notes.first().map(|hit| hit.note.title.clone());
        found.evidence.kind = notes.first().map(|_| "note".to_owned());
        let head = json!({"project": desk.book.name, "query": query, "notesInBook": desk.book.notes.len()});
        Ok(found.reading(head, "notes", limit))
    }
}

/// See [`ReadTool::about`].
pub(in crate::tools) struct ReadNote;

/// Most lines of one call.
const MAX_LINES: usize = 400;

/// Most notes that are named when there is none at a path.
const MAX_NEAR: usize = 3;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct ReadArgs {
    /// Path of the note as `search_notes` gives it.
    path: String,
    /// Line to start from, from 1: the `nextLine` of an earlier result that was cut. Null for the beginning.
    start_line: Option<u32>,
}

impl ReadTool for ReadNote {
    type Args = ReadArgs;

    fn name(&self) -> &'static str {
        "read_note"
    }

    fn about(&self) -> &'static str {
        "Reads one note from the book's notes folder. Use it after search_notes; a long note comes back cut on a line, with nextLine to go on from as startLine."
    }

    fn read(&self, desk: &Desk<'_>, args: ReadArgs) -> Result<Reading, ToolError> {
        let asked = args.path.trim();
        if asked.is_empty() {
            return Err(ToolError::in_field("path", "`path` is empty", &["the path of a note"]));
        }
        let Some(note) = note_at(desk, asked) else {
            let evidence = Evidence { kind: Some("note".into()), missing: true, ..Evidence::default() };
            let result = json!({
                "found": false,
                "project": desk.book.name,
                "path": passage::cut(asked, 200),
                "near": near(desk, asked),
                "note": "The notes folder of this book has no such note. Use search_notes, or one of the near paths.",
            });
            return Ok(Reading { result, evidence, material: vec![] });
        };
        give(desk, note, args.start_line.map_or(1, |line| line.max(1) as usize))
    }
}

/// The note that a path means: to the letter, else its end, else without the extension, else by title.
fn note_at<'a>(desk: &Desk<'a>, asked: &str) -> Option<&'a Note> {
    let notes = &desk.book.notes;
    let bare = asked.trim_start_matches("./");
    let ends =
        |path: &str| path.strip_suffix(bare).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    let without_extension = |path: &'a str| path.rsplit_once('.').map_or(path, |(before, _)| before);
    notes
        .iter()
        .find(|note| note.path.as_str() == bare)
        .or_else(|| notes.iter().find(|note| ends(note.path.as_str())))
        .or_else(|| notes.iter().find(|note| ends(without_extension(note.path.as_str()))))
        .or_else(|| notes.iter().find(|note| fold(&note.title) == fold(asked)))
}

/// The paths of the notes that are most like what was asked for.
fn near<'a>(desk: &Desk<'a>, asked: &str) -> Vec<&'a str> {
    // Likeness costs the product of both lengths.
    let asked: String = fold(asked).chars().take(120).collect();
    let like = |note: &Note| {
        let paths = [fold(note.path.as_str()), fold(note.path.stem()), fold(&note.title)];
        paths.iter().map(|known| similarity(&asked, known)).fold(0.0, f64::max)
    };
    let mut ranked: Vec<(f64, &str)> = desk.book.notes.iter().map(|n| (like(n), n.path.as_str())).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked.into_iter().take(MAX_NEAR).map(|(_, path)| path).collect()
}

fn give(desk: &Desk<'_>, note: &Note, from: usize) -> Result<Reading, ToolError> {
    let text = note.text.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let count = lines.len().max(1);
    if from > count {
        let message = format!("`startLine` is {from}, but {} has {count} lines", note.path);
        return Err(ToolError::in_field("startLine", message, &[&format!("1 to {count}")]));
    }
    let (mut room, mut taken, mut bytes) = (desk.limits.prose, 0, 0);
    let rest = lines.get(from - 1..).unwrap_or_default();
    for line in rest.iter().take(MAX_LINES) {
        let size = line.chars().count();
        if size > room {
            break;
        }
        room -= size;
        taken += 1;
        bytes += line.len();
    }
    let start: usize = lines[..from - 1].iter().map(|line| line.len()).sum();
    // A line that is longer than a whole call is given as far as it goes.
    let long_line = taken == 0 && !rest.is_empty();
    let given = if long_line {
        taken = 1;
        passage::cut(rest[0], desk.limits.prose)
    } else {
        &text[start..start + bytes]
    };
    let next = from + taken;
    let more = next <= lines.len();
    let mut result = json!({
        "found": true,
        "project": desk.book.name,
        "path": note.path,
        "title": note.title,
        "tags": note.tags,
        "lines": lines.len(),
        "fromLine": from,
        "text": given,
        "truncated": more || long_line,
    });
    if more {
        result["nextLine"] = json!(next);
        result["linesLeft"] = json!(lines.len() + 1 - next);
    }
    if long_line {
        result["note"] =
            json!(format!("Line {from} is longer than one call returns; the rest of it can't be read here."));
    }
    let evidence = Evidence {
        resolved: vec![note.path.clone()],
        title: Some(note.title.clone()),
        kind: Some("note".into()),
        results: 1,
        words: Some(passage::count_words(given)),
        missing: false,
        truncated: more || long_line,
    };
    let material = match given.trim() {
        "" => vec![],
        _ => vec![Material { path: note.path.clone(), text: given.to_owned() }],
    };
    Ok(Reading { result: Value::Object(result.as_object().cloned().unwrap_or_default()), evidence, material })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::desk::Limits;
    use crate::tools::testing::{Shelf, call};

    fn shelf() -> Shelf {
        Shelf::new()
            .note(
                "notes/ending.md",
                "---\ntags: [plot]\n---\n# The ending\n\nThe log burns.\n\nNobody says so.\n",
            )
            .note("notes/research/radio.md", "Short wave fades at noon.\n")
            .chapter("manuscript/01.md", "# One\n\nProse.\n")
    }

    fn read(desk: &Desk<'_>, args: &Value) -> Value {
        call(desk, "read_note", args).unwrap().result
    }

    #[test]
    fn notes_are_found_by_title_tag_and_text() {
        let mut shelf = shelf();
        shelf.book.notes[0].tags.push("plot".into());
        let first = |query: &str| {
            let told = call(&shelf.desk(), "search_notes", &json!({"query": query})).unwrap().result;
            (told["notes"][0]["path"].clone(), told["notes"][0]["matchedIn"].clone())
        };
        assert_eq!(first("plot"), (json!("notes/ending.md"), json!("tag")));
        assert_eq!(first("radio"), (json!("notes/research/radio.md"), json!("title")));
        assert_eq!(first("fading short waves").0, "notes/research/radio.md");
        let told = call(&shelf.desk(), "search_notes", &json!({"query": "the log burns"})).unwrap().result;
        assert_eq!(
            (&told["notes"][0]["line"], &told["notes"][0]["excerpt"]),
            (&json!(6), &json!("The log burns."))
        );
    }

    #[test]
    fn a_note_is_read_by_its_path_and_nothing_else_is() {
        let shelf = shelf();
        let desk = shelf.desk();
        for path in ["notes/research/radio.md", "radio.md", "./notes/research/radio", "Radio"] {
            assert_eq!(read(&desk, &json!({"path": path}))["text"], "Short wave fades at noon.\n", "{path}");
        }
        for path in ["manuscript/01.md", "../secret.md", "/etc/passwd", "notes/../manuscript/01.md", "o.md"] {
            let told = read(&desk, &json!({"path": path}));
            assert_eq!(
                (&told["found"], told["near"].as_array().map(Vec::len)),
                (&json!(false), Some(2)),
                "{path}"
            );
        }
    }

    #[test]
    fn a_long_note_is_read_in_parts_and_every_line_is_reached() {
        let lines: Vec<String> = (1..=1000).map(|n| format!("Line {n}.\n")).collect();
        let text = lines.concat();
        let shelf = Shelf::new().note("notes/long.md", &text);
        for limits in [Limits::default(), Limits { prose: 100, ..Limits::default() }] {
            let desk = Desk { limits, ..shelf.desk() };
            let (mut whole, mut from) = (String::new(), 1);
            loop {
                let told = read(&desk, &json!({"path": "long.md", "startLine": from}));
                whole += told["text"].as_str().unwrap();
                match told["nextLine"].as_u64() {
                    Some(next) => from = next,
                    None => break,
                }
                assert_eq!(told["truncated"], true);
            }
            assert_eq!(whole, text);
        }
        let past =
            call(&shelf.desk(), "read_note", &json!({"path": "long.md", "startLine": 1001})).unwrap_err();
        assert_eq!(past.to_result()["error"]["field"], "startLine");
    }

    #[test]
    fn a_line_over_the_limit_says_that_its_rest_is_not_there() {
        let shelf = Shelf::new().note("notes/a.md", &format!("{}\nend\n", "word ".repeat(100)));
        let desk = Desk { limits: Limits { prose: 30, ..Limits::default() }, ..shelf.desk() };
        let told = read(&desk, &json!({"path": "a.md"}));
        assert_eq!((&told["nextLine"], &told["truncated"]), (&json!(2), &json!(true)));
        assert!(
            told["note"].as_str().unwrap().contains("Line 1") && told["text"].as_str().unwrap().len() <= 30
        );
    }
}
