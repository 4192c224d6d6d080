//! Dates that stand in the text of an entry: under keys such as `**Born**: 1862`, and at the head of the lines of a chronicle.
//!
//! Reads only. A date that can't be ordered is no head of a line: most numbers in prose are none.

use crate::canon::label;
use crate::canon::story_time::field;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::passage::{fold, line_column};
use crate::domain::story_date::{StoryDate, When};

/// Names of texts that tell what happened when, and are no event themselves; folded.
const CHRONICLES: [&str; 10] = [
    "timeline",
    "timelines",
    "chronology",
    "chronicle",
    "history",
    "calendar",
    "dates",
    "events",
    "zeitleiste",
    "chronik",
];

/// Lines with a date that make a chronicle.
const ENOUGH: usize = 2;

/// Longest title that is made of a line, in characters.
const TITLE: usize = 80;

/// Something that a line of an entry dates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dated {
    pub date: StoryDate,
    /// Words behind the date.
    pub what: String,
    /// Line of the file, from 1.
    pub line: usize,
}

/// Whether an entry is named like a list of dates: `Timeline`, `The History of Port Amity`.
pub(super) fn is_chronicle(entry: &Entry) -> bool {
    let is_word = |name: &str| {
        let name = fold(name);
        let bare = name.strip_prefix("the ").unwrap_or(&name);
        let first = bare.split(" of ").next().unwrap_or(bare);
        [first, first.rsplit(' ').next().unwrap_or(first)].iter().any(|word| CHRONICLES.contains(word))
    };
    entry.entry_type == EntryType::Event && (is_word(&entry.name) || is_word(entry.path.stem()))
}

/// Returns what the lines of an entry date, in the order of the text; nothing where it is no list of dates. What stands in a list below a heading that is a date has that
/// one.
pub(super) fn dated_lines(entry: &Entry) -> Vec<Dated> {
    let mut found: Vec<Dated> = vec![];
    let mut above: Option<StoryDate> = None;
    for (line, text) in lines(entry) {
        let bare = text.trim_start();
        let is_heading = bare.starts_with('#');
        let is_item = bare.starts_with(['-', '*', '+', '|']);
        if !(is_heading || is_item || bare.starts_with(|c: char| c.is_ascii_digit() || c == '[')) {
            continue;
        }
        let dated = label::dated(text);
        if is_heading {
            above = dated.as_ref().filter(|(_, what)| what.is_empty()).map(|(date, _)| date.clone());
        }
        let (date, what) = match dated {
            Some((date, what)) => (date, what),
            // `- ` below `## 2318`; a line that is set in is part of the one above it.
            None if is_item && !text.starts_with([' ', '\t', '|']) => match &above {
                Some(date) => (date.clone(), label::words(text)),
                None => continue,
            },
            None => continue,
        };
        let what = title(what);
        if !what.is_empty() {
            found.push(Dated { date, what, line });
        }
    }
    if found.len() < ENOUGH { vec![] } else { found }
}

/// Returns the date under the first of some keys in the text of an entry: `**Born**: 1862`, `- Born: 1862`, `Born:: 1862`, `[born:: 1862]`. Words without a number are no
/// date there.
pub(super) fn keyed(entry: &Entry, keys: &[&str]) -> Option<StoryDate> {
    let dates = |key: &&str| {
        let mut values = lines(entry).filter_map(|(_, text)| value_of(text, key, false));
        values.find_map(|value| StoryDate::of_place(&value.into()).filter(says_when))
    };
    keys.iter().find_map(dates)
}

fn says_when(date: &StoryDate) -> bool {
    date.when != When::Free || date.text.contains(|c: char| c.is_ascii_digit())
}

/// Returns the line of the file on which one of some keys stands in the text, also as a plain `Born: 1862`. Where the entry has a value for them, it is a line that gives this one.
pub(super) fn line_of(entry: &Entry, keys: &[&str]) -> Option<usize> {
    let known = field(&entry.fields, keys).and_then(StoryDate::of);
    let is_it = |value: &str| known.as_ref().is_none_or(|known| known.text == value);
    let of = |key: &&str| lines(entry).find(|(_, text)| value_of(text, key, true).is_some_and(is_it));
    keys.iter().find_map(of).map(|(line, _)| line)
}

/// The value that a line gives a key. Unless it may be `plain`, the line is an item of a list, has marks around the key, or two colons.
fn value_of<'a>(text: &'a str, key: &str, plain: bool) -> Option<&'a str> {
    let inner = text.contains("::").then(|| text.find(['[', '('])).flatten();
    let starts = [Some(0), inner.map(|at| at + 1)];
    starts.into_iter().flatten().find_map(|from| {
        let (name, value) = text.get(from..)?.split_once(':')?;
        let is_dressed = plain || name.trim_start().starts_with(['-', '*', '+', '_', '>']);
        let name = name.trim_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '+' | '_' | '>'));
        let is_key = name.len() <= 2 * key.len() && fold(name) == key;
        if !is_key || !(is_dressed || value.starts_with(':')) {
            return None;
        }
        let value = value.trim_start_matches([':', '*', '_', ' ', '\t']);
        let value = if from > 0 { value.split([']', ')']).next().unwrap_or(value) } else { value };
        let value = value.trim_end().trim_end_matches(['*', '_']);
        (!value.is_empty()).then_some(value)
    })
}

/// The lines of an entry's text with their numbers in the file. Code and comments are not told apart: a date in them is a date.
fn lines(entry: &Entry) -> impl Iterator<Item = (usize, &str)> {
    let first = line_column(&entry.text, entry.body.start).0;
    (first..).zip(entry.body().lines())
}

/// A line as a title: without marks, and not too long.
fn title(words: &str) -> String {
    let mut plain = String::new();
    let mut rest = words;
    while let Some((before, after)) = rest.split_once("[[") {
        plain.push_str(before);
        let Some((link, tail)) = after.split_once("]]") else {
            rest = after;
            continue;
        };
        plain.push_str(link.rsplit_once('|').map_or(link, |(_, shown)| shown));
        rest = tail;
    }
    plain.push_str(rest);
    let plain = plain.replace(['*', '`', '|', '#'], " ");
    let words: Vec<&str> = plain.split_whitespace().collect();
    let plain = words.join(" ");
    match plain.char_indices().nth(TITLE) {
        None => plain,
        Some((at, _)) => {
            let end = plain[..at].rfind(' ').unwrap_or(at);
            format!("{}\u{2026}", plain[..end].trim_end())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::shelf::{With, entry};

    #[test]
    fn a_list_of_dates_is_read_line_by_line() {
        let text = "# Timeline\n\nWhat happened. In 1850, much.\n\n- **1862**: Port Amity is founded\n- June 3, 1870 - the *great* [[Fire|fire]]\n  - which burnt for days\n\n\
                    ## 1881\n\n- The harbour opens\n- 4 May 1881: a ship\n\n## Later\n\n- nobody knows\n\n| 1890 | the Inquiry |\n1900: an end\n1901\n";
        let lines: Vec<_> = dated_lines(&entry("events/timeline.md", "Timeline").text(text))
            .into_iter()
            .map(|dated| (dated.line, dated.date.text, dated.what))
            .collect();
        let expected = [
            (5, "1862", "Port Amity is founded"),
            (6, "June 3, 1870", "the great fire"),
            (11, "1881", "The harbour opens"),
            (12, "4 May 1881", "a ship"),
            (18, "1890", "the Inquiry"),
            (19, "1900", "an end"),
        ];
        assert_eq!(lines, expected.map(|(line, date, what)| (line, date.to_owned(), what.to_owned())));
        let prose = entry("events/war.md", "The War").text("# War\n\n1914: it began.\n\nThen more.\n");
        assert!(dated_lines(&prose).is_empty(), "one date makes no list");
    }

    #[test]
    fn only_a_name_for_lists_of_dates_is_one() {
        for (name, is) in [
            ("Timeline", true),
            ("World Timeline", true),
            ("The History of Port Amity", true),
            ("The Chronicle Murders", false),
            ("The Inquiry", false),
            ("Battle of History", false),
        ] {
            assert_eq!(is_chronicle(&entry("events/x.md", name)), is, "{name}");
        }
        assert!(!is_chronicle(&entry("concepts/history.md", "History")), "of another type it is no event");
    }

    #[test]
    fn a_key_may_stand_anywhere_in_the_text() {
        let text = "# Mira\n\nProse first. Born: in the north.\n\n## Facts\n\n**Born**: 1862\n- Died: 1901\n**Founded:** 3 June 1850\n\
                    He (year:: 1870) left.\nDate:: 1881\nborn to run: 3\n- Home: the sea\n";
        let mira = entry("characters/mira.md", "Mira").text(text);
        let at = |key: &str| keyed(&mira, &[key]).map(|date| (date.text, line_of(&mira, &[key]).unwrap()));
        for (key, date, line) in [
            ("born", "1862", 7),
            ("died", "1901", 8),
            ("founded", "3 June 1850", 9),
            ("year", "1870", 10),
            ("date", "1881", 11),
        ] {
            assert_eq!(at(key), Some((date.to_owned(), line)), "{key}");
        }
        assert_eq!((at("prose first. born"), at("birth"), at("home")), (None, None, None));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "[-#*|>_:\\[\\]() 0-9aé\n]{0,60}") {
            let entry = entry("events/timeline.md", "Timeline").text(&text);
            dated_lines(&entry);
            keyed(&entry, &["a"]);
            line_of(&entry, &["a"]);
        }
    }
}
