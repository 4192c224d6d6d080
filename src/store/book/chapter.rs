//! A file of the manuscript as a chapter: its number and its title.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::load::Loaded;
use super::{fields, markup};
use crate::domain::manuscript::{Chapter, NumberFrom, StoryTime};
use crate::domain::numeral;
use crate::domain::passage::{count_words, fold, readable_stem};
use crate::domain::story_date::{StoryDate, When};

/// Keys of a chapter's number, strongest first.
const NUMBERS: [&str; 3] = ["chapter", "number", "chapter number"];

/// Whether a file says itself which chapter it is.
pub fn has_number(front: &Map<String, Value>) -> bool {
    fields::get(front, &NUMBERS).is_some()
}

/// Reads a chapter; `position` is its place in reading order, from 1; 0 before the first one.
pub fn chapter(file: &Loaded, position: u32) -> Chapter {
    let body = &file.text[file.split.body_start..];
    let heading = Heading::of(body);
    let given = fields::get(&file.front.fields, &NUMBERS);
    let (number, number_from) = given
        .and_then(|value| numeral::parse(&fields::text(value)?))
        .map(|number| (number, NumberFrom::Frontmatter))
        .or_else(|| Some((heading.as_ref()?.number?, NumberFrom::Heading)))
        .or_else(|| Some((in_file_name(file.path.stem())?, NumberFrom::FileName)))
        .unwrap_or((position, NumberFrom::Position));
    let title = fields::get(&file.front.fields, &["title", "name"])
        .and_then(fields::text)
        .or_else(|| heading.map(|heading| heading.title))
        .unwrap_or_else(|| title_of_stem(file.path.stem()));
    Chapter {
        path: file.path.clone(),
        number,
        number_from,
        title,
        text: Arc::clone(&file.text),
        body_start: file.split.body_start,
        words: count_words(body),
        time: story_time(&file.front.fields),
    }
}

/// What a chapter's frontmatter says of story time. `story_date` counts before `date`, which may be the day of writing.
fn story_time(front: &Map<String, Value>) -> StoryTime {
    const DATES: [&str; 5] = ["story date", "date", "when", "story time", "start"];
    const OUT_OF_ORDER: [&str; 8] = [
        "flashback",
        "flash back",
        "flashforward",
        "flash forward",
        "flashbacks",
        "nonlinear",
        "non linear",
        "out of order",
    ];
    const CAST: [&str; 7] =
        ["pov", "point of view", "characters", "present", "cast", "on stage", "participants"];
    let is_no = |said: &str| matches!(fold(said).as_str(), "false" | "no" | "none" | "0");
    let is_yes =
        |key: &&str| fields::get(front, &[key]).and_then(fields::text).is_some_and(|said| !is_no(&said));
    let start = fields::get(front, &DATES).map(|value| (value, fields::get(front, &["end", "until"])));
    let date = start.and_then(|(value, end)| {
        let start = StoryDate::of(value)?;
        let whole =
            end.and_then(fields::text).map(|end| StoryDate::parse(&format!("{} to {end}", start.text)));
        // An end that can't be read takes nothing from the beginning.
        Some(whole.filter(|whole| whole.when != When::Free).unwrap_or(start))
    });
    let names = |key| fields::get(front, &[key]).map(fields::texts).unwrap_or_default();
    StoryTime {
        date,
        out_of_order: OUT_OF_ORDER.iter().any(is_yes),
        cast: CAST.into_iter().flat_map(names).filter(|name| !is_no(name)).collect(),
    }
}

/// What the first heading says.
struct Heading {
    number: Option<u32>,
    title: String,
}

impl Heading {
    /// Reads `# Chapter 3: Title`, or `# Chapter 3` with `## Title` right below it.
    fn of(body: &str) -> Option<Self> {
        // The heading stands near the start; a whole novel need not be cut into lines for it.
        let near = &body[..body.floor_char_boundary(20_000)];
        let lines: Vec<Cow<'_, str>> = markup::lines(near);
        let headings = markup::headings(&lines);
        let first = headings.first()?;
        let Some(numbered) = numeral::of_chapter(&first.text) else {
            return Some(Self { number: None, title: first.text.clone() });
        };
        let below = headings.get(1).filter(|next| {
            next.level > first.level && lines[first.line + 1..next.line].iter().all(|line| line.is_empty())
        });
        let title = match below {
            _ if !numbered.rest.is_empty() => numbered.rest.to_owned(),
            Some(below) => below.text.clone(),
            None if numbered.labelled => first.text.clone(),
            None => format!("Chapter {}", first.text.trim_end_matches(['.', ':'])),
        };
        Some(Self { number: Some(numbered.number), title })
    }
}

/// Whether a file's name says that it is a chapter: `Chapter One`, `03-turnover`.
pub fn is_numbered(stem: &str) -> bool {
    in_file_name(stem).is_some()
}

/// The number in a file's name: in front, after `chapter`, or the only one there is; years are none.
fn in_file_name(stem: &str) -> Option<u32> {
    let spaced = stem.replace(['-', '_'], " ");
    if let Some(numbered) = numeral::of_chapter(&spaced) {
        return Some(numbered.number);
    }
    let mut numbers = stem.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let first = numbers.next()?;
    let in_front = stem.starts_with(first) && !stem[first.len()..].starts_with(char::is_alphabetic);
    let fits = if in_front { first.len() <= 4 } else { first.len() <= 3 && numbers.next().is_none() };
    fits.then(|| first.parse().ok()).flatten()
}

fn title_of_stem(stem: &str) -> String {
    let readable = readable_stem(stem);
    match numeral::of_chapter(&readable) {
        Some(numbered) if !numbered.rest.is_empty() => numbered.rest.to_owned(),
        Some(numbered) if numbered.labelled => format!("Chapter {}", numbered.number),
        _ => readable,
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::Vocabulary;
    use super::*;
    use crate::domain::ids::BookPath;

    #[test]
    fn a_chapter_says_when_it_happens_and_who_is_there() {
        let time = |front: &str| {
            let text = format!("---\n{front}---\nText.\n");
            chapter(&Loaded::of(BookPath::new("m/1.md").unwrap(), text.into(), &Vocabulary::default()), 1)
                .time
        };
        let date = |front: &str| time(front).date.map(|date| date.text);
        assert_eq!(date("date: 2318-06-03\n").as_deref(), Some("2318-06-03"));
        assert_eq!(date("Story Date: 3 June 2318\ndate: 2024-01-01\n").as_deref(), Some("3 June 2318"));
        assert_eq!(date("start: 2318-06-03\nend: 2318-06-05\n").as_deref(), Some("2318-06-03 to 2318-06-05"));
        assert_eq!(date("date: 2318-06-03\nend: much later\n").as_deref(), Some("2318-06-03"));
        assert_eq!(date("date: 15th hammer\n").as_deref(), Some("15th hammer"));
        assert_eq!(date("pov: Mira\n"), None);
        assert!(time("flashback: true\n").out_of_order && time("Flash-Back: yes\n").out_of_order);
        assert!(!time("flashback: false\n").out_of_order && !time("date: 2318\n").out_of_order);
        let cast = time("pov: none\ncharacters: [\"[[Mira Okafor|Mira]]\", Vale]\n").cast;
        assert_eq!(cast, ["Mira", "Vale"]);
    }

    #[test]
    fn a_chapter_has_the_number_and_title_that_its_author_gave_it() {
        use NumberFrom::{FileName, Frontmatter, Heading, Position};
        let table = [
            ("03-turnover.md", "# Turnover\n", 3, FileName, "Turnover"),
            ("x.md", "---\nchapter: 7\ntitle: Outside\n---\n# Chapter 3: No\n", 7, Frontmatter, "Outside"),
            ("x.md", "---\nnumber: seven\n---\n", 7, Frontmatter, "X"),
            ("01-x.md", "# Chapter 3: The Inquiry\n", 3, Heading, "The Inquiry"),
            ("01-x.md", "\n\n# CHAPTER III\n\n## The *Inquiry*\n\nText", 3, Heading, "The Inquiry"),
            ("01-x.md", "# Chapter Three\n\nText\n\n## Later\n", 3, Heading, "Chapter Three"),
            ("01-x.md", "# 4\n", 4, Heading, "Chapter 4"),
            ("12-seven.md", "# Seven\n", 12, FileName, "Seven"),
            ("chapter-05-home.md", "Text", 5, FileName, "Home"),
            ("Ch06.txt", "", 6, FileName, "Chapter 6"),
            ("part 2 scene 9.md", "", 9, Position, "Part 2 Scene 9"),
            ("letters-1944.md", "", 9, Position, "Letters 1944"),
            ("3rd-draft.md", "", 3, FileName, "3rd Draft"),
            ("prologue.md", "", 9, Position, "Prologue"),
            ("00-prologue.md", "Prologue\n========\n", 0, FileName, "Prologue"),
        ];
        for (name, text, number, from, title) in table {
            let read =
                chapter(&Loaded::of(BookPath::new(name).unwrap(), text.into(), &Vocabulary::default()), 9);
            assert_eq!(
                (read.number, read.number_from, read.title.as_str()),
                (number, from, title),
                "{name} {text:?}"
            );
        }
    }
}
