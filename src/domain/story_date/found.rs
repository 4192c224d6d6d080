//! Chapters and dates that a line of text names.

use super::{StoryDate, When, read};
use crate::domain::numeral;

/// Words that may make up one date.
const MOST_WORDS: usize = 4;

/// Returns every chapter (`chapter 9`, `ch. 3, 4 and 9`) and every date that `line` names. Finds rather too much than too little: a number of four
/// digits counts as a year.
pub fn found_in(line: &str) -> Vec<When> {
    let mut found = chapters_in(line);
    found.extend(dates_in(line));
    found
}

fn chapters_in(line: &str) -> Vec<When> {
    let mut found = vec![];
    let starts = line.char_indices().filter(|(at, c)| {
        c.is_alphabetic() && !line[..*at].chars().next_back().is_some_and(char::is_alphanumeric)
    });
    for (at, _) in starts {
        let from = &line[at..];
        let word_end = from.find(|c: char| !c.is_alphabetic()).unwrap_or(from.len());
        let (word, behind) = from.split_at(word_end);
        let singular = match word.to_lowercase().as_str() {
            "chapters" | "chs" | "chaps" => &word[..word.len() - 1],
            _ => word,
        };
        // No number is written longer than this.
        let near = &behind[..behind.floor_char_boundary(48)];
        let labelled = format!("{singular}{near}");
        let Some(first) = numeral::of_chapter(&labelled).filter(|numbered| numbered.labelled) else {
            continue;
        };
        found.push(When::Chapter(first.number, first.number));
        found.extend(further(near, first.number).map(|number| When::Chapter(number, number)));
    }
    found
}

/// The numbers behind the first one in the same list: `chapters 3, 4 and 9`, `ch. 3-9`.
fn further(behind: &str, first: u32) -> impl Iterator<Item = u32> {
    // A colon, a full stop or a bracket ends the list.
    let listed =
        behind.trim_start_matches(|c: char| !c.is_alphanumeric()).split([':', '.', ';', ')', ']']).next();
    let joins =
        |word: &&str| matches!(word.to_lowercase().as_str(), "and" | "to" | "or" | "through" | "until");
    let words =
        listed.unwrap_or_default().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let numbers = words.filter(move |word| !joins(word)).map_while(numeral::parse);
    numbers.filter(move |number| *number != first && *number < 1000)
}

fn dates_in(line: &str) -> Vec<When> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let trimmed = |word: &str| {
        word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '.'))
            .trim_end_matches('.')
            .to_owned()
    };
    let (mut found, mut at) = (vec![], 0);
    while at < words.len() {
        let longest = MOST_WORDS.min(words.len() - at);
        let date = (1..=longest).rev().find_map(|count| {
            let joined = words[at..at + count].iter().map(|w| trimmed(w)).collect::<Vec<_>>().join(" ");
            let has_digit = joined.contains(|c: char| c.is_ascii_digit());
            let span = if has_digit { read::single(&joined) } else { None };
            // A stretch such as `2316-2318` is one word, and is read as a whole.
            let whole = || if count == 1 { StoryDate::parse(&joined).span() } else { None };
            span.or_else(whole).map(|span| (count, span))
        });
        if let Some((_, span)) = date {
            found.push(When::Calendar(span));
        }
        at += date.map_or(1, |(count, _)| count);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(line: &str) -> Vec<String> {
        let words = |when: When| match when {
            When::Chapter(n, _) => format!("ch {n}"),
            When::Calendar(span) => span.first.to_string(),
            When::Free => "free".into(),
        };
        found_in(line).into_iter().map(words).collect()
    }

    #[test]
    fn chapters_and_dates_are_found_within_a_line() {
        assert_eq!(named("she dies (see chapter 9)."), ["ch 9"]);
        assert_eq!(named("Ch. Nine: fire; CHAPTER XI"), ["ch 9", "ch 11"]);
        assert!(named("In chapters 3, 4 and 9 she lies").ends_with(&["ch 9".to_owned()]));
        assert!(named("ch. 3\u{2013}9").contains(&"ch 9".to_owned()));
        assert_eq!(named("ch. 3: twelve men"), ["ch 3"]);
        assert_eq!(named("on 3 June 2318 the fire"), ["2318-06-03"]);
        assert_eq!(named("since 2318-06-03."), ["2318-06-03"]);
        assert_eq!(named("from 2316-2318"), ["2316-01-01"]);
        assert_eq!(named("Nothing. A chapter of accidents; a chance; 12 men"), Vec::<String>::new());
    }
}
