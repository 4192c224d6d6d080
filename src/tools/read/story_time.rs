//! What holds of an entry at the open chapter: its `progressions` up to there.
//!
//! A progression says `from:` a chapter number or a date. Where it can't be told whether that time has come, it does not count.

use serde_json::{Map, Value, json};

use crate::domain::book::Book;
use crate::domain::codex::Entry;
use crate::domain::frontmatter;
use crate::domain::ids::BookPath;
use crate::domain::manuscript::Chapter;
use crate::proposal::change::find_key;

/// Returns the chapter and the facts that hold there, for an entry with progressions while a chapter is open.
pub(super) fn as_of(book: &Book, current: Option<&BookPath>, entry: &Entry) -> Option<Value> {
    let chapter = book.chapter(current?)?;
    let progressions = entry.fields[find_key(&entry.fields, "progressions")?].as_array()?;
    let date = story_date(book, chapter);
    let mut facts = Map::new();
    for step in progressions.iter().filter_map(Value::as_object) {
        let has_come =
            find_key(step, "from").is_some_and(|key| has_come(&step[key], chapter.number, date.as_deref()));
        if has_come {
            facts.extend(
                step.iter()
                    .filter(|(key, _)| !key.eq_ignore_ascii_case("from"))
                    .map(|(k, v)| (k.clone(), v.clone())),
            );
        }
    }
    Some(json!({"chapter": chapter.number, "date": date, "facts": facts}))
}

fn has_come(from: &Value, chapter: u32, date: Option<&str>) -> bool {
    let words = match from {
        Value::Number(number) => return number.as_f64().is_some_and(|n| n <= f64::from(chapter)),
        Value::String(words) => words.trim(),
        _ => return false,
    };
    let number = words.to_lowercase().trim_start_matches("chapter").trim().parse::<u32>();
    match number {
        // Four digits alone are a year.
        Ok(number) if !is_date(words) => number <= chapter,
        // Dates sort as text; of a date that is told less exactly, the beginning counts.
        _ => is_date(words) && date.is_some_and(|date| words <= date.get(..words.len()).unwrap_or(date)),
    }
}

/// The date of a chapter, else of the last one before it that has one.
fn story_date(book: &Book, chapter: &Chapter) -> Option<String> {
    let place = book.chapters.iter().position(|c| c.path == chapter.path)?;
    book.chapters[..=place].iter().rev().find_map(|c| {
        let fields = frontmatter::parse(&c.text).fields;
        let date = fields[find_key(&fields, "date")?].as_str()?.trim();
        is_date(date).then(|| date.to_owned())
    })
}

/// `2318`, `2318-06`, `2318-06-03`: dates that sort as text.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = |part: &&str, length| part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
    parts.len() <= 3 && digits(&parts[0], 4) && parts[1..].iter().all(|p| digits(p, 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{Shelf, path};

    fn shelf() -> Shelf {
        Shelf::new()
            .chapter("m/1.md", "Text.\n")
            .chapter("m/2.md", "---\ndate: 2318-06-03\n---\nText.\n")
            .chapter("m/3.md", "Text.\n")
            .entry("c/a.md", "---\ntype: character\nname: A\nprogressions:\n  - from: 2307-03-14\n    status: young\n  - from: 2\n    status: here\n    knows: all\n  - from: chapter 3\n    status: gone\n  - from: later\n    status: never\n---\n")
    }

    fn facts(chapter: &str) -> Value {
        let shelf = shelf();
        as_of(&shelf.book, Some(&path(chapter)), &shelf.book.entries[0]).unwrap()["facts"].clone()
    }

    #[test]
    fn what_holds_follows_the_open_chapter() {
        assert_eq!(facts("m/1.md"), json!({}));
        assert_eq!(facts("m/2.md"), json!({"status": "here", "knows": "all"}));
        assert_eq!(facts("m/3.md"), json!({"status": "gone", "knows": "all"}));
    }

    #[test]
    fn without_an_open_chapter_nothing_is_said() {
        let shelf = shelf();
        assert_eq!(as_of(&shelf.book, None, &shelf.book.entries[0]), None);
        assert_eq!(as_of(&shelf.book, Some(&path("c/a.md")), &shelf.book.entries[0]), None);
    }

    #[test]
    fn a_date_is_compared_as_far_as_it_is_told() {
        assert!(has_come(&json!("2318"), 1, Some("2318-06-03")));
        assert!(has_come(&json!("2318-06"), 1, Some("2318-06-03")));
        assert!(!has_come(&json!("2318-07"), 1, Some("2318-06-03")));
        assert!(!has_come(&json!("2318-06-04"), 1, Some("2318-06-03")));
        assert!(!has_come(&json!("2318"), 1, None));
        assert!(!has_come(&json!("15th hammer"), 1, Some("2318-06-03")));
        assert!(!has_come(&json!("2318-06-03"), 1, Some("2318")));
    }
}
