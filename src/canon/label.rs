//! The place in story time that a line of notes begins with: `- ch. 3: ...`, `**2318-06-03** - ...`.

use crate::domain::numeral;
use crate::domain::passage::fold;
use crate::domain::story_date::{StoryDate, When};

/// The place that a line begins with: `- ch. 3: ...`, `**2318-06-03** - ...`, `from: 9`, `## Chapter 3`.
pub(super) fn place(line: &str, is_heading: bool) -> Option<StoryDate> {
    let mut words = without_marks(line);
    for lead in ["as of", "from", "since", "in", "on", "at"] {
        if let Some(rest) = words
            .get(..lead.len())
            .filter(|head| head.eq_ignore_ascii_case(lead))
            .map(|_| &words[lead.len()..])
            && rest.starts_with([' ', ':'])
        {
            let rest = rest.trim_start_matches([' ', ':', '*', '_', '"']);
            let head = head(rest).unwrap_or(rest);
            // `from: 9`: a bare number is a chapter.
            let place = StoryDate::of_place(&head.trim_matches(['"', '\'']).into());
            if let Some(place) = place.filter(|place| place.when != When::Free) {
                return Some(place);
            }
            words = rest;
            break;
        }
    }
    if let Some(numbered) = numeral::of_chapter(words).filter(|numbered| numbered.labelled) {
        return Some(StoryDate {
            text: words.to_owned(),
            when: When::Chapter(numbered.number, numbered.number),
        });
    }
    let head = head(words).or_else(|| is_heading.then_some(words))?;
    let place = StoryDate::parse(head.trim_matches(|c: char| matches!(c, '*' | '_' | '[' | ']' | ' ')));
    (place.when != When::Free || is_heading && !fold(&place.text).is_empty()).then_some(place)
}

/// The date that can be put in order with which a line begins, and what stands behind it: `- June 3, 2318: the fire`, `## 2318`.
pub(super) fn dated(line: &str) -> Option<(StoryDate, &str)> {
    let words = without_marks(line).trim_end();
    let near = &words[..words.floor_char_boundary(LONGEST_DATE)];
    let mut ends: Vec<usize> =
        ENDS.iter().flat_map(|end| near.match_indices(end).map(|(at, _)| at)).chain([words.len()]).collect();
    ends.sort_unstable();
    // The longest: `June 3, 2318` goes on behind its first comma.
    ends.into_iter().rev().find_map(|end| {
        let head = words[..end].trim_end_matches([':', '*', '_', ']', ' ']);
        let date = StoryDate::parse(head.trim_matches(|c: char| matches!(c, '*' | '_' | '[' | ']' | ' ')));
        date.span().map(|_| (date, self::words(&words[end..])))
    })
}

/// A line without the marks in front of its first word.
pub(super) fn words(line: &str) -> &str {
    line.trim_start_matches(|c: char| {
        !c.is_alphanumeric() && !matches!(c, '"' | '\u{201c}' | '\'' | '\u{2018}')
    })
}

/// Characters that a date at the head of a line has at most.
const LONGEST_DATE: usize = 60;

/// Marks that end a label.
const ENDS: [&str; 11] = [": ", ":*", " - ", " \u{2013} ", " \u{2014} ", ")", "]", "|", "**", "__", ", "];

/// What stands before the first mark that ends a label.
fn head(words: &str) -> Option<&str> {
    let ends = ENDS;
    let end = ends.iter().filter_map(|end| words.find(end)).min();
    end.or_else(|| words.ends_with(':').then(|| words.len() - 1)).map(|end| &words[..end])
}

/// Returns what stands behind the label of a line; all of it where there is none.
pub(super) fn behind(line: &str) -> &str {
    let words = without_marks(line);
    let rest = head(words).map_or(words, |head| &words[head.len()..]);
    rest.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '"' | '\u{201c}'))
}

/// A line without the marks of lists, quotations, tables, headings and emphasis in front.
fn without_marks(line: &str) -> &str {
    let mut words = line;
    loop {
        let bare = words.trim_start_matches(|c: char| {
            c.is_whitespace() || matches!(c, '-' | '*' | '+' | '>' | '|' | '_' | '[' | '(' | '#' | '"' | '!')
        });
        let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
        let numbered = (1..=3).contains(&digits) && bare[digits..].starts_with([')', '.']);
        let item = numbered.then(|| &bare[digits + 1..]).filter(|rest| rest.starts_with(' '));
        match item {
            Some(rest) => words = rest,
            None => return bare,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_where_it_belongs_before_it_says_what() {
        for (line, said, rest) in [
            ("- ch. 3: she leaves", Some("ch. 3: she leaves"), "she leaves"),
            ("**2318-06-03** - she leaves", Some("2318-06-03"), "she leaves"),
            ("2318-06-03: she leaves", Some("2318-06-03"), "she leaves"),
            ("| 3 June 2318 | she leaves |", Some("3 June 2318 "), "she leaves |"),
            ("1. As of 2318: she leaves", Some("2318"), "she leaves"),
            ("from: 9", Some("9"), "9"),
            ("- she leaves: 2318-06-03", None, "2318-06-03"),
            ("In the end she leaves", None, "In the end she leaves"),
        ] {
            assert_eq!(place(line, false).map(|p| p.text), said.map(|s| s.trim().to_owned()), "{line}");
            assert_eq!(behind(line), rest, "{line}");
        }
        assert!(place("# The Inquiry", true).is_some() && place("The Inquiry", false).is_none());
    }

    #[test]
    fn the_longest_date_at_the_head_of_a_line_is_its_date() {
        for (line, said) in [
            ("- June 3, 2318: she leaves", Some(("June 3, 2318", "she leaves"))),
            ("**2318-06-03** \u{2014} *she* leaves", Some(("2318-06-03", "she* leaves"))),
            ("## 2318", Some(("2318", ""))),
            ("## 2318 - The fire", Some(("2318", "The fire"))),
            ("| 3 June 2318 | she leaves |", Some(("3 June 2318", "she leaves |"))),
            ("- [[2318-06-03]]: \"Go.\"", Some(("2318-06-03", "\"Go.\""))),
            ("- 2316 to 2318: the war", Some(("2316 to 2318", "the war"))),
            ("- she leaves: 2318-06-03", None),
            ("- ch. 3: she leaves", None),
            ("2318 was a good year", None),
        ] {
            let dated = dated(line);
            assert_eq!(dated.as_ref().map(|(date, rest)| (date.text.as_str(), *rest)), said, "{line}");
        }
    }
}
