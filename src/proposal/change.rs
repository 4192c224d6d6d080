//! Surgical edits of one Markdown file: a section's text, a frontmatter key. Every other byte stays.
//!
//! Sections are what a Markdown parser calls headings: a `#` in the frontmatter, in a code block, in a quotation or list, or in a comment is none.

mod key;
mod line;
mod list;
mod part;
pub mod settings;
pub mod yaml;

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::diff::line_end_of;
use crate::domain::{frontmatter, passage};

pub use key::{find_key, obstacle, set_key};
pub use line::{FieldLine, field_lines, set_line};
pub use list::add_to_list;
pub use part::Part;

/// A section of a Markdown file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The heading's words.
    pub heading: String,
    /// Heading level, 1 to 6.
    pub level: u8,
    /// First byte of the heading's line.
    pub start: usize,
    /// Bytes of its text: after the heading's line, up to the next heading of the same or a higher level.
    pub content: Range<usize>,
    /// Bytes of its own text: after the heading's line, up to the next heading of any level.
    pub own: Range<usize>,
}

impl Section {
    /// Whether it has sections below it.
    pub fn has_subsections(&self) -> bool {
        self.own.end < self.content.end
    }

    /// Returns the section without the sections below it.
    #[must_use]
    pub fn without_subsections(&self) -> Self {
        Self { content: self.own.clone(), ..self.clone() }
    }
}

struct Heading {
    words: String,
    level: u8,
    start: usize,
    text_start: usize,
}

/// Lists the sections of `text` in file order (frontmatter, code blocks and comments do not count as headings).
pub fn sections(text: &str) -> Vec<Section> {
    let headings = headings(text);
    let end_before = |i: usize, level: u8| {
        headings[i + 1..].iter().find(|h| h.level <= level).map_or(text.len(), |h| h.start)
    };
    headings
        .iter()
        .enumerate()
        .map(|(i, h)| Section {
            heading: h.words.clone(),
            level: h.level,
            start: h.start,
            content: h.text_start..end_before(i, h.level),
            own: h.text_start..end_before(i, 6),
        })
        .collect()
}

/// Returns every section that `target` names, in file order: a heading at any level (case-insensitive, with or without `#`), or `Parent / Child`.
/// `/ Child` names one that has no parent.
pub fn find_sections<'a>(sections: &'a [Section], target: &str) -> Vec<&'a Section> {
    find_sections_where(sections, target, |_| true)
}

fn find_sections_where<'a>(
    sections: &'a [Section],
    target: &str,
    allowed: impl Fn(&Section) -> bool,
) -> Vec<&'a Section> {
    let target = target.trim().trim_start_matches('#').trim().trim_end_matches(':');
    if target.is_empty() {
        return vec![];
    }
    let named = |words: &str| -> Vec<&Section> {
        let wanted = passage::fold(words.trim().trim_start_matches('#'));
        let is_named = |s: &&Section| passage::fold(s.heading.trim_end_matches(':')) == wanted;
        sections.iter().filter(is_named).filter(|s| allowed(s)).collect()
    };
    let whole = named(target);
    if !whole.is_empty() {
        return whole;
    }
    for separator in [" / ", "/", " > ", ">"] {
        let mut parts: Vec<&str> = target.split(separator).collect();
        let Some(last) = parts.pop().filter(|_| !parts.is_empty()) else { continue };
        let below = |s: &&Section| parts_are_above(sections, s, &parts);
        let found: Vec<_> = named(last).into_iter().filter(below).collect();
        // A parent right above is meant before one further up.
        let close: Vec<_> = found.iter().copied().filter(|s| are_right_above(sections, s, &parts)).collect();
        if !found.is_empty() {
            return if close.is_empty() { found } else { close };
        }
    }
    match target.len().checked_sub(" section".len()).and_then(|at| target.split_at_checked(at)) {
        Some((words, tail)) if tail.eq_ignore_ascii_case(" section") => named(words),
        _ => vec![],
    }
}

/// Finds the section that `target` names; of several the first. See [`find_sections`].
pub fn find_section<'a>(sections: &'a [Section], target: &str) -> Option<&'a Section> {
    find_sections(sections, target).into_iter().next()
}

/// Returns the headings above a section, outermost first.
pub fn parents<'a>(sections: &'a [Section], section: &Section) -> Vec<&'a Section> {
    let holds = |s: &&Section| s.start < section.start && s.content.contains(&section.start);
    sections.iter().filter(holds).collect()
}

/// Returns the name that tells a section from others of the same heading: `Parent / Child`, or `/ Child` where it has no parent.
pub fn qualified(sections: &[Section], section: &Section) -> String {
    let mut names: Vec<&str> = parents(sections, section).iter().map(|s| s.heading.as_str()).collect();
    if names.is_empty() {
        return format!("/ {}", section.heading);
    }
    names.push(&section.heading);
    names.join(" / ")
}

/// Replaces the content of a section, keeping blank lines around it and the file's line endings.
pub fn replace_section(text: &str, section: &Section, markdown: &str) -> String {
    let range = section.content.clone();
    let eol = line_end_before(text, range.start);
    let markdown = normalise(markdown, eol);
    let core = core_of(text, &range);
    let (head, tail) = (&text[..core.start], &text[core.end..]);
    if !core.is_empty() {
        let tail = if markdown.is_empty() { &text[range.end..] } else { tail };
        let gap = if markdown.is_empty() { "" } else { gap_before(tail, eol) };
        return [head, &markdown, gap, tail].concat();
    }
    if markdown.is_empty() {
        return text.to_owned();
    }
    let (head, blank, rest) = (&text[..range.start], &text[range.clone()], &text[range.end..]);
    let heading_end = if head.is_empty() || head.ends_with('\n') { "" } else { eol };
    // The first blank line stays before the new words, the others after them.
    let (before, after) = match blank.find('\n') {
        Some(at) => blank.split_at(at + 1),
        None => (blank, ""),
    };
    let gap = if before.ends_with('\n') { "" } else { eol };
    let end = if rest.is_empty() && !heading_end.is_empty() { "" } else { eol };
    let last = if after.is_empty() && !rest.is_empty() { eol } else { after };
    [head, heading_end, before, gap, &markdown, end, last, rest].concat()
}

/// Adds to the end of a section (or, with `None`, as a new `## heading` section at the end of the file).
///
/// Text joins the section's own text, before its first subsection; what begins with a heading of its own goes to the very end of the section.
pub fn append(text: &str, section: Option<&Section>, heading: &str, markdown: &str) -> String {
    let Some(section) = section else {
        return append_section(text, heading, 2, markdown);
    };
    let begins_with_heading =
        markdown.trim_start().starts_with('#') && !headings(markdown.trim_start()).is_empty();
    let range = if begins_with_heading { section.content.clone() } else { section.own.clone() };
    let core = core_of(text, &range);
    let place = Section { content: range, ..section.clone() };
    if core.is_empty() {
        return replace_section(text, &place, markdown);
    }
    let eol = line_end_before(text, place.content.start);
    let markdown = normalise(markdown, eol);
    if markdown.is_empty() {
        return text.to_owned();
    }
    let old = &text[core.clone()];
    let one_list = old.lines().next_back().is_some_and(is_list_item)
        && markdown.lines().next().is_some_and(is_list_item);
    let gap = if one_list { "" } else { eol };
    let rest = &text[core.end..];
    [&text[..core.end], eol, gap, &markdown, gap_before(rest, eol), rest].concat()
}

/// A heading's words on one line, without marks.
fn heading_words(heading: &str) -> String {
    let heading = heading.trim().trim_start_matches('#').trim();
    heading.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn append_section(text: &str, heading: &str, level: u8, markdown: &str) -> String {
    let eol = line_end_of(text);
    let words = heading_words(heading);
    let kept = text.trim_end_matches(['\n', '\r', ' ', '\t']);
    let tail = &text[kept.len()..];
    let blank = kept.is_empty() || tail.matches('\n').count() >= 2;
    let ended = kept.is_empty() || tail.ends_with('\n');
    let mut out = text.to_owned();
    if !ended {
        out.push_str(eol);
    }
    if !blank {
        out.push_str(eol);
    }
    let markdown = normalise(markdown, eol);
    let hashes = "#".repeat(usize::from(level));
    out.push_str(&[&hashes, " ", &words, eol, eol, &markdown].concat());
    if ended {
        out.push_str(eol);
    }
    out
}

/// Brings Markdown that a model wrote into the file's line endings, without blank lines around it.
pub fn normalise(markdown: &str, eol: &str) -> String {
    let unix = markdown.replace("\r\n", "\n").replace('\r', "\n");
    let trimmed = unix.trim_end();
    let mut rest = trimmed;
    while let Some((line, after)) = rest.split_once('\n') {
        if !line.trim().is_empty() {
            break;
        }
        rest = after;
    }
    if eol == "\n" { rest.to_owned() } else { rest.replace('\n', eol) }
}

/// A blank line, where new words would else run into a heading that is underlined (`Words` above `---`).
fn gap_before<'a>(rest: &str, eol: &'a str) -> &'a str {
    let next = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix(['\n', '\r'])).unwrap_or_default();
    let line = next.lines().next().unwrap_or_default().trim();
    if line.is_empty() || line.starts_with('#') { "" } else { eol }
}

/// The part of `range` from its first line that is not blank to the end of its last word; empty where all is blank.
fn core_of(text: &str, range: &Range<usize>) -> Range<usize> {
    let content = &text[range.clone()];
    let end = range.start + content.trim_end().len();
    if end == range.start {
        return range.start..range.start;
    }
    let first_word = range.start + (content.len() - content.trim_start().len());
    let start = text[range.start..first_word].rfind('\n').map_or(range.start, |at| range.start + at + 1);
    start..end
}

fn line_end_before(text: &str, at: usize) -> &'static str {
    let before = &text[..at];
    if before.ends_with("\r\n") {
        "\r\n"
    } else if before.ends_with('\n') {
        "\n"
    } else {
        line_end_of(text)
    }
}

fn is_list_item(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ "].iter().any(|m| line.starts_with(m))
        || (digits.len() < line.len() && (digits.starts_with(". ") || digits.starts_with(") ")))
}

fn parts_are_above(sections: &[Section], section: &Section, parts: &[&str]) -> bool {
    let mut above =
        sections.iter().filter(|s| s.start < section.start && s.content.end >= section.content.end);
    let none_above = parents(sections, section).is_empty();
    parts.iter().all(|part| {
        let wanted = passage::fold(part.trim().trim_start_matches('#'));
        wanted.is_empty() && none_above || above.any(|s| passage::fold(&s.heading) == wanted)
    })
}

/// Whether `parts` are the headings right above a section; an empty one stands for none at all.
fn are_right_above(sections: &[Section], section: &Section, parts: &[&str]) -> bool {
    let above = parents(sections, section);
    let mut names = above.iter().rev().map(|s| passage::fold(&s.heading));
    parts.iter().rev().all(|part| {
        let wanted = passage::fold(part.trim().trim_start_matches('#'));
        if wanted.is_empty() { names.next().is_none() } else { names.next() == Some(wanted) }
    })
}

/// Bytes of a file in which nothing is meant as its own Markdown: frontmatter, code, HTML, comments, quotations.
fn set_aside(text: &str) -> Vec<Range<usize>> {
    let start = frontmatter::split(text).body_start;
    let body = text.get(start..).unwrap_or_default();
    let (mut found, mut code) = (vec![], vec![]);
    found.push(0..start);
    for (event, range) in Parser::new_ext(body, Options::ENABLE_TABLES).into_offset_iter() {
        let range = start + range.start..start + range.end;
        match event {
            Event::Start(Tag::CodeBlock(_)) => code.push(range),
            Event::Start(Tag::HtmlBlock | Tag::BlockQuote(_)) => found.push(range),
            _ => {}
        }
    }
    found.extend(percent_comments(text, start, &code));
    found.extend(code);
    found
}

fn headings(text: &str) -> Vec<Heading> {
    let body_start = frontmatter::split(text).body_start;
    let body = text.get(body_start..).unwrap_or_default();
    let (mut found, mut code, mut depth, mut is_html_comment) = (vec![], vec![], 0_usize, false);
    let mut open: Option<Heading> = None;
    for (event, range) in Parser::new_ext(body, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => code.push(body_start + range.start..body_start + range.end),
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => depth = depth.saturating_sub(1),
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let last = body_start + range.start + body[range.clone()].trim_end().len();
                let before = &body[..range.start];
                open = Some(Heading {
                    words: String::new(),
                    level: level as u8,
                    start: body_start + before.rfind(['\n', '\r']).map_or(0, |at| at + 1),
                    text_start: next_line(text, last),
                });
            }
            Event::End(TagEnd::Heading(_)) => found.extend(open.take()),
            Event::Start(Tag::HtmlBlock) => {
                is_html_comment = body[range].trim_start().starts_with("<!--");
            }
            Event::Html(line) if depth == 0 && !is_html_comment => {
                found.extend(html_heading(text, body_start + range.start, &line));
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut open {
                    heading.words.push_str(&words);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut open {
                    heading.words.push(' ');
                }
            }
            _ => {}
        }
    }
    let comments = percent_comments(text, body_start, &code);
    found.retain(|h| !comments.iter().any(|c| c.contains(&h.start)));
    found
}

/// The heading of a line in HTML.
fn html_heading(text: &str, at: usize, line: &str) -> Option<Heading> {
    let (level, words) = passage::html_heading(line)?;
    let words = passage::without_html(words).trim().to_owned();
    let last = at + line.trim_end().len();
    Some(Heading { words, level: u8::try_from(level).ok()?, start: at, text_start: next_line(text, last) })
}

/// First byte of the line after the one that `at` is in. A lone carriage return ends a line in Markdown.
fn next_line(text: &str, at: usize) -> usize {
    match text[at..].find(['\n', '\r']) {
        Some(end) if text[at + end..].starts_with("\r\n") => at + end + 2,
        Some(end) => at + end + 1,
        None => text.len(),
    }
}

/// Obsidian's block comments: from a line that begins with `%%` to the next line that holds `%%`.
fn percent_comments(text: &str, body_start: usize, code: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut found, mut open, mut at) = (vec![], None, body_start);
    for line in text[body_start..].split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        if code.iter().any(|c| c.contains(&start)) {
            continue;
        }
        match open {
            Some(from) if line.contains("%%") => {
                found.push(from..end);
                open = None;
            }
            None if line.trim_start().starts_with("%%") && line.matches("%%").count() == 1 => {
                open = Some(start);
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ENTRY: &str = "---\ntype: character # keep\n# a: comment\n---\n\n# Adrian Vale\n\nIntro.\n\n## Appearance\n\nTall.\n\n### Hands\n\nBig.\n\n## Voice\nLow.\n\n```\n## not a heading\n```\n\n## Appearance\n\nAgain.\n";

    fn named<'a>(sections: &'a [Section], target: &str) -> &'a Section {
        find_section(sections, target).unwrap()
    }

    #[test]
    fn headings_in_code_quotes_lists_comments_and_frontmatter_do_not_count() {
        let text = "---\n# no: 1\n---\n# A\n> # no\n\n- # no\n\n    # no\n\n<!--\n# no\n-->\n\n%%\n# no\n%%\n\n~~~\n# no\n~~~\n\nB\n---\ntext\n";
        let found: Vec<_> = sections(text).into_iter().map(|s| (s.heading, s.level)).collect();
        assert_eq!(found, [("A".to_owned(), 1), ("B".to_owned(), 2)]);
    }

    #[test]
    fn headings_in_html_are_headings() {
        let text = "<h1>Ada</h1>\r\n\r\nx\r\n\r\n<h2><b>Voice</b></h2>\r\nLow.\r\n\r\n<!--\r\n<h2>no</h2>\r\n-->\r\n\r\n> <h2>no</h2>\r\n\r\n## Past\r\n";
        let found: Vec<_> = sections(text).into_iter().map(|s| (s.heading, s.level)).collect();
        assert_eq!(found, [("Ada".to_owned(), 1), ("Voice".to_owned(), 2), ("Past".to_owned(), 2)]);
        let all = sections(text);
        assert_eq!(
            replace_section("<h2>V</h2>\nLow.\n", &sections("<h2>V</h2>\nLow.\n")[0], "High."),
            "<h2>V</h2>\nHigh.\n"
        );
        assert!(text[named(&all, "voice").content.clone()].starts_with("Low.\r\n"));
    }

    #[test]
    fn a_section_reaches_to_the_next_heading_of_its_level_or_higher() {
        let all = sections(ENTRY);
        assert_eq!(&ENTRY[named(&all, "appearance").content.clone()], "\nTall.\n\n### Hands\n\nBig.\n\n");
        assert_eq!(&ENTRY[named(&all, "## Appearance").own.clone()], "\nTall.\n\n");
        assert_eq!(&ENTRY[named(&all, "Hands").content.clone()], "\nBig.\n\n");
    }

    #[test]
    fn a_duplicate_heading_is_told_apart_by_its_parent() {
        let text = "# A\n## Notes\none\n# B\n## Notes\ntwo\n";
        let all = sections(text);
        assert_eq!(find_sections(&all, "notes").len(), 2);
        assert_eq!(&text[named(&all, "B / Notes").content.clone()], "two\n");
        assert_eq!(find_section(&all, "C / Notes"), None);
        assert_eq!(find_section(&all, ""), None);
    }

    #[test]
    fn replacing_a_section_changes_only_its_lines() {
        let all = sections(ENTRY);
        let changed = replace_section(ENTRY, named(&all, "Voice"), "\n\nHigh.\r\nThin.\n\n");
        let expected = ENTRY.replace("Low.\n\n```\n## not a heading\n```", "High.\nThin.");
        assert_eq!(changed, expected);
    }

    #[test]
    fn a_crlf_file_stays_a_crlf_file() {
        let text = "\u{feff}# A\r\n\r\nold\r\n\r\n## B\r\n\r\ntext\r\n";
        let all = sections(text);
        assert_eq!(
            replace_section(text, &named(&all, "A").without_subsections(), "new\nlines"),
            "\u{feff}# A\r\n\r\nnew\r\nlines\r\n\r\n## B\r\n\r\ntext\r\n"
        );
        assert_eq!(
            append(text, None, "C", "more"),
            "\u{feff}# A\r\n\r\nold\r\n\r\n## B\r\n\r\ntext\r\n\r\n## C\r\n\r\nmore\r\n"
        );
    }

    #[test]
    fn an_empty_section_is_filled_with_blank_lines_around() {
        for (text, expected) in [
            ("## A\n\n## B\n", "## A\n\nnew\n\n## B\n"),
            ("## A\n## B\n", "## A\n\nnew\n\n## B\n"),
            ("## A\n", "## A\n\nnew\n"),
            ("## A", "## A\n\nnew"),
        ] {
            let all = sections(text);
            assert_eq!(replace_section(text, named(&all, "A"), "new"), expected, "{text:?}");
            assert_eq!(append(text, Some(named(&all, "A")), "A", "new"), expected, "{text:?}");
        }
    }

    #[test]
    fn new_words_never_run_into_an_underlined_heading() {
        let text = "# A\n<!-- x -->\nB\n---\nb\n";
        let all = sections(text);
        let expected = "# A\nnew\n\nB\n---\nb\n";
        assert_eq!(replace_section(text, &named(&all, "A").without_subsections(), "new"), expected);
        let appended = append(text, Some(named(&all, "A")), "A", "new");
        assert_eq!(appended, "# A\n<!-- x -->\n\nnew\n\nB\n---\nb\n");
    }

    #[test]
    fn an_emptied_section_keeps_its_heading() {
        let text = "## A\n\nold\n\n## B\n\nb\n";
        let all = sections(text);
        assert_eq!(replace_section(text, named(&all, "A"), " \n"), "## A\n\n## B\n\nb\n");
    }

    #[test]
    fn appended_text_joins_the_sections_own_text_and_a_subsection_goes_last() {
        let text = "# A\n\n- one\n- two\n\n## B\n\nb\n";
        let all = sections(text);
        let a = named(&all, "A");
        assert_eq!(append(text, Some(a), "A", "- three"), "# A\n\n- one\n- two\n- three\n\n## B\n\nb\n");
        assert_eq!(append(text, Some(a), "A", "More."), "# A\n\n- one\n- two\n\nMore.\n\n## B\n\nb\n");
        assert_eq!(
            append(text, Some(a), "A", "## C\n\nc"),
            "# A\n\n- one\n- two\n\n## B\n\nb\n\n## C\n\nc\n"
        );
    }

    #[test]
    fn a_new_section_goes_to_the_end_of_the_file() {
        assert_eq!(append("text", None, "## New", "words"), "text\n\n## New\n\nwords");
        assert_eq!(append("text\n", None, "New", "words"), "text\n\n## New\n\nwords\n");
        assert_eq!(append("text\n\n", None, "New", "words"), "text\n\n## New\n\nwords\n");
        assert_eq!(append("", None, "New", "words"), "## New\n\nwords\n");
    }

    /// Every Markdown file of the example book.
    fn example_files() -> Vec<(String, String)> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/the-long-silence");
        let (mut folders, mut files) = (vec![root], vec![]);
        while let Some(folder) = folders.pop() {
            for item in std::fs::read_dir(folder).unwrap() {
                let path = item.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "md") {
                    files.push((path.display().to_string(), std::fs::read_to_string(&path).unwrap()));
                }
            }
        }
        assert!(files.len() > 20);
        files
    }

    #[test]
    fn in_every_file_of_the_example_book_each_section_and_field_changes_alone() {
        for (path, text) in example_files() {
            for section in sections(&text) {
                let changed = replace_section(&text, &section, "New words.");
                let (head, tail) = (&text[..section.content.start], &text[section.content.end..]);
                assert!(changed.starts_with(head) && changed.ends_with(tail), "{path}: {}", section.heading);
            }
            for (key, value) in frontmatter::parse(&text).fields {
                if !value.is_string() {
                    continue;
                }
                let changed =
                    set_key(&text, &key, &"new: value".into()).unwrap_or_else(|| panic!("{path}: {key}"));
                let differ: Vec<_> = text.lines().zip(changed.lines()).filter(|(a, b)| a != b).collect();
                assert_eq!(
                    (text.lines().count(), differ.len()),
                    (changed.lines().count(), 1),
                    "{path}: {key}"
                );
            }
        }
    }

    /// Files with headings of two levels and duplicates, lists, code, blank lines, LF or CRLF, a BOM, a frontmatter, an unfinished last line.
    fn file() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            4 => "[a-c]é? [d-f]",
            2 => Just(String::new()),
            2 => "##? [AB]",
            1 => Just("- item".to_owned()),
            1 => Just("```".to_owned()),
            1 => Just("%%".to_owned()),
            1 => Just("---".to_owned()),
            1 => Just("> # quoted".to_owned()),
        ];
        let head =
            prop_oneof![Just("# A\n"), Just("\u{feff}# A\n"), Just("---\nrole: x # keep\n---\nB\n=\n")];
        (head, prop::collection::vec(line, 1..16), any::<bool>(), any::<bool>()).prop_map(
            |(head, lines, crlf, last)| {
                let text = format!("{head}{}{}", lines.join("\n"), if last { "\n" } else { "" });
                if crlf { text.replace('\n', "\r\n") } else { text }
            },
        )
    }

    proptest! {
        #[test]
        fn bytes_outside_a_replaced_section_are_the_same(text in file(), words in "[a-z]{1,5}( [a-z]{1,5}){0,3}", pick in 0_usize..8) {
            let all = sections(&text);
            let section = &all[pick % all.len()];
            let changed = replace_section(&text, section, &words);
            prop_assert!(changed.starts_with(&text[..section.content.start]));
            prop_assert!(changed.ends_with(&text[section.content.end..]));
            let crlf = text.contains("\r\n");
            prop_assert!(!crlf || !changed.replace("\r\n", "").contains('\n'));
            prop_assert!(crlf || !changed.contains('\r'));
            let middle = &changed[section.content.start..changed.len() - (text.len() - section.content.end)];
            prop_assert_eq!(middle.trim(), words);
        }

        #[test]
        fn appending_only_adds(text in file(), words in "[a-z]{1,5}", pick in 0_usize..8) {
            let all = sections(&text);
            let section = (!all.is_empty()).then(|| &all[pick % all.len()]);
            let changed = append(&text, section, "New", &words);
            let kept = similar_prefix(&text, &changed);
            prop_assert!(changed.ends_with(&text[kept..]), "{:?} -> {:?}", text, changed);
            prop_assert!(changed.contains(&words));
        }

        #[test]
        fn sections_lie_in_order_on_character_boundaries(text in "\\PC{0,40}|[#\\-=`%> \r\na-c\u{feff}é]{0,60}") {
            let all = sections(&text);
            for s in &all {
                prop_assert!(text.get(s.content.clone()).is_some() && text.get(s.start..s.content.start).is_some());
                prop_assert!(s.own.end <= s.content.end && s.start <= s.own.start);
                replace_section(&text, s, "x");
                append(&text, Some(s), "x", "y");
            }
            prop_assert!(all.windows(2).all(|w| w[0].start < w[1].start && w[0].own.end <= w[1].start));
        }
    }

    fn similar_prefix(a: &str, b: &str) -> usize {
        a.char_indices()
            .zip(b.chars())
            .find(|((_, x), y)| x != y)
            .map_or(a.len().min(b.len()), |((i, _), _)| i)
    }
}
