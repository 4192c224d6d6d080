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

/// What stands before the first mark that ends a label.
fn head(words: &str) -> Option<&str> {
    let ends = [": ", ":*", " - ", " \u{2013} ", " \u{2014} ", ")", "]", "|", "**", "__", ", "];
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
}
