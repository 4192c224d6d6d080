//! What holds of an entry at the chapter as of which canon is told: see [`crate::canon::story_time`].

use serde_json::{Map, Value, json};

use super::list::brief;
use super::shorten_value;
use crate::canon::story_time;
use crate::canon::timeline::{self, Kind, Placed, Row};
use crate::domain::codex::Entry;
use crate::tools::Desk;

/// Longest fact in a line of a list, in characters.
const BRIEF_FACT: usize = 120;

/// Most rows of the timeline before an event, and behind it.
const NEIGHBOURS: usize = 2;

/// Most items of a list among the facts of such a line.
const BRIEF_ITEMS: usize = 4;

/// Returns the chapter and the facts that hold there, for an entry with progressions where the story stands at a chapter.
pub(super) fn as_of(desk: &Desk<'_>, entry: &Entry) -> Option<Value> {
    let told = story_time::as_of(&desk.now()?, entry)?;
    Some(json!({"chapter": told.chapter, "date": told.date, "facts": told.facts}))
}

/// Puts the facts that hold there in place of what the frontmatter says for all time.
pub(super) fn override_fields(fields: &mut Map<String, Value>, as_of: &Value) {
    for (key, value) in as_of["facts"].as_object().into_iter().flatten() {
        if let Some((_, known)) = fields.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case(key)) {
            *known = value.clone();
        }
    }
}

/// Returns where an event stands among chapters, other events, births and deaths: its neighbours in story time.
pub(super) fn in_timeline(desk: &Desk<'_>, event: &Entry) -> Value {
    let rows = timeline::rows(desk.book);
    let is_event = |row: &Row| row.kind == Kind::Event && row.path == event.path && row.title == event.name;
    let Some((at, row)) = rows.iter().enumerate().find(|(_, row)| is_event(row)) else { return Value::Null };
    if row.placed == Placed::None {
        return json!({"placed": row.placed, "date": row.date, "note": "It has no date that can be ordered, and belongs to no chapter."});
    }
    let ordered = |row: &&Row| row.kind != Kind::Progression && row.placed != Placed::None;
    let line =
        |row: &Row| json!({"kind": row.kind, "title": row.title, "chapter": row.chapter, "date": row.date});
    let mut before: Vec<Value> = rows[..at].iter().rev().filter(ordered).take(NEIGHBOURS).map(line).collect();
    before.reverse();
    let after: Vec<Value> = rows[at + 1..].iter().filter(ordered).take(NEIGHBOURS).map(line).collect();
    json!({"placed": row.placed, "chapter": row.chapter, "date": row.date, "before": before, "after": after})
}

/// One entry in a line of a list, with the facts of its progressions that hold.
pub(super) fn brief_as_of(desk: &Desk<'_>, entry: &Entry, summary_chars: usize) -> Value {
    let mut line = brief(entry, summary_chars);
    if let Some(told) =
        as_of(desk, entry).filter(|told| told["facts"].as_object().is_some_and(|f| !f.is_empty()))
    {
        line["asOf"] = shorten_value(&told, BRIEF_FACT, BRIEF_ITEMS).0;
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tools::Desk;
    use crate::tools::testing::{Shelf, call, path};

    fn shelf() -> Shelf {
        Shelf::new()
            .chapter("m/1.md", "Text.\n")
            .chapter("m/2.md", "---\ndate: 2318-06-03\n---\nText.\n")
            .entry("c/a.md", "---\ntype: character\nname: A\nstatus: unborn\nprogressions:\n  - from: 2\n    status: here\n    knows: all\n---\nOf A.\n")
            .entry("c/b.md", "---\ntype: character\nname: B\n---\nOf B.\n")
    }

    #[test]
    fn context_list_and_search_tell_what_holds_at_the_chapter() {
        let shelf = shelf();
        let second = path("m/2.md");
        let desk = Desk { chapter: Some(&second), ..shelf.desk() };
        let there = json!({"chapter": 2, "date": "2318-06-03", "facts": {"status": "here", "knows": "all"}});
        let told = call(&desk, "get_character_context", &json!({"name": "A"})).unwrap().result;
        assert_eq!((&told["asOf"], &told["fields"]["status"]), (&there, &json!("here")));
        let told = call(&desk, "list_codex_entries", &json!({"entryType": "character"})).unwrap().result;
        assert_eq!((&told["entries"][0]["asOf"], told["entries"][1].get("asOf")), (&there, None));
        let told = call(&desk, "search_codex", &json!({"query": "A"})).unwrap().result;
        assert_eq!(told["matches"][0]["asOf"], there);
    }

    #[test]
    fn an_event_has_its_neighbours_in_story_time() {
        let event = |name: &str, time: &str| format!("---\ntype: event\nname: {name}\n{time}\n---\n");
        let shelf = shelf()
            .entry("c/war.md", &event("War", "date: 2290"))
            .entry("c/feast.md", &event("Feast", "date: 3 June 2318"))
            .entry("c/fall.md", &event("Fall", "date: 2319"))
            .entry("c/dream.md", &event("Dream", "date: some day"));
        let place = |name: &str| {
            call(&shelf.desk(), "get_event_context", &json!({"name": name})).unwrap().result["timeline"]
                .clone()
        };
        let titles = |side: &Value| {
            side.as_array().unwrap().iter().map(|row| row["title"].clone()).collect::<Vec<_>>()
        };
        let feast = place("Feast");
        assert_eq!(
            (&feast["placed"], titles(&feast["before"]), titles(&feast["after"])),
            (&json!("date"), vec![json!("1"), json!("2")], vec![json!("Fall")])
        );
        assert_eq!(place("War")["before"], json!([]));
        assert_eq!(place("Dream")["placed"], "none");
        let character = call(&shelf.desk(), "get_character_context", &json!({"name": "A"})).unwrap();
        assert_eq!(character.result.get("timeline"), None);
    }

    #[test]
    fn the_open_chapter_counts_and_without_one_the_entry_is_told_as_it_is() {
        let shelf = shelf();
        let (first, entry) = (path("m/1.md"), path("c/a.md"));
        let told =
            |desk: &Desk<'_>| call(desk, "get_character_context", &json!({"name": "A"})).unwrap().result;
        let at_first = told(&Desk { current: Some(&first), ..shelf.desk() });
        assert_eq!(at_first["asOf"]["facts"], json!({}));
        assert_eq!(at_first["fields"]["status"], "unborn");
        for current in [None, Some(&entry)] {
            assert_eq!(told(&Desk { current, ..shelf.desk() }).get("asOf"), None);
        }
    }
}
