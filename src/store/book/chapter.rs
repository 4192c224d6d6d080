//! A file of the manuscript as a chapter: its number and its title.

use std::borrow::Cow;
use std::sync::Arc;

use super::load::Loaded;
use super::{fields, markup};
use crate::domain::manuscript::{Chapter, NumberFrom};
use crate::domain::numeral;
use crate::domain::passage::{count_words, readable_stem};

/// Reads a chapter; `position` is its place in reading order, from 1.
pub fn chapter(file: &Loaded, position: u32) -> Chapter {
    let body = &file.text[file.split.body_start..];
    let heading = Heading::of(body);
    let given = fields::get(&file.front.fields, &["chapter", "number", "chapter number"]);
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
    use super::*;
    use super::super::kind::Vocabulary;
    use crate::domain::ids::BookPath;

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
            let read = chapter(&Loaded::of(BookPath::new(name).unwrap(), text.into(), &Vocabulary::default()), 9);
            assert_eq!(
                (read.number, read.number_from, read.title.as_str()),
                (number, from, title),
                "{name} {text:?}"
            );
        }
    }
}
