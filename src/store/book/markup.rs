//! What Markdown, Obsidian and Dataview marks mean to a reader of names and summaries.
//!
//! Reads only; the text of the author's file is never touched.

use std::borrow::Cow;

use super::kind::Vocabulary;
use crate::domain::links::link_at;
use crate::domain::passage::{self, fold};

/// A heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: usize,
    /// Its words, without marks.
    pub text: String,
    /// Index of its line among [`lines`].
    pub line: usize,
    /// Lines that it takes: 2 for an underlined one.
    pub height: usize,
}

/// A body as it is read: its lines and headings.
#[derive(Debug, Default)]
pub struct Page<'a> {
    /// See [`lines`].
    pub lines: Vec<Cow<'a, str>>,
    /// See [`headings`].
    pub headings: Vec<Heading>,
}

impl<'a> Page<'a> {
    /// Reads a body.
    pub fn of(body: &'a str) -> Self {
        let lines = lines(body);
        let headings = headings(&lines);
        Self { lines, headings }
    }
}

/// Returns the lines of a body outside comments, one for each line of the body; a line of a fenced block of code is given as an empty one.
pub fn lines(body: &str) -> Vec<Cow<'_, str>> {
    let without = without_comments(body);
    let has_fences = without.contains("```") || without.contains("~~~");
    let mut fence: Option<&str> = None;
    let mut is_code = |line: &str| {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => return false,
            _ => {}
        }
        true
    };
    let mut shown = |line: &'_ str| !(has_fences && is_code(line));
    match &without {
        Cow::Borrowed(text) => {
            text.lines().map(|line| Cow::Borrowed(if shown(line) { line.trim_end() } else { "" })).collect()
        }
        Cow::Owned(text) => text
            .lines()
            .map(|line| Cow::Owned(if shown(line) { line.trim_end().to_owned() } else { String::new() }))
            .collect(),
    }
}

/// Removes `%% comments %%` and `<!-- comments -->`; the line breaks inside them stay. One that is not closed is text.
pub fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("%%") && !text.contains("<!--") {
        return Cow::Borrowed(text);
    }
    let (mut kept, mut from) = (String::with_capacity(text.len()), 0);
    for comment in passage::comments(text) {
        kept.push_str(&text[from..comment.start]);
        kept.extend(text[comment.clone()].chars().filter(|c| *c == '\n'));
        from = comment.end;
    }
    kept.push_str(&text[from..]);
    Cow::Owned(kept)
}

/// Returns the headings among `lines`, `# ATX` and underlined ones. A line that ends a sentence is no heading for the dashes below it.
pub fn headings(lines: &[Cow<'_, str>]) -> Vec<Heading> {
    let mut found: Vec<Heading> = vec![];
    for (at, line) in lines.iter().enumerate() {
        if let Some((level, text)) = atx(line).or_else(|| passage::html_heading(line)) {
            found.push(Heading { level, text: plain_text(text), line: at, height: 1 });
        } else if at > 0
            && let Some(level) = underline(line)
            && let above = lines[at - 1].trim()
            && !above.is_empty()
            && found.last().is_none_or(|last| last.line + last.height < at)
            && (level == 1 || is_underlined_title(above, lines.get(at.wrapping_sub(2)).map(AsRef::as_ref)))
        {
            found.push(Heading { level, text: plain_text(above), line: at - 1, height: 2 });
        }
    }
    found.retain(|heading| !heading.text.is_empty());
    found
}

/// The level of the heading that a line underlines.
fn underline(line: &str) -> Option<usize> {
    match line.as_bytes().first()? {
        b'=' if line.bytes().all(|b| b == b'=') => Some(1),
        b'-' if line.len() >= 3 && line.bytes().all(|b| b == b'-') => Some(2),
        _ => None,
    }
}

/// Whether a line above dashes is meant as a title, and the dashes not as a break of the scene.
fn is_underlined_title(line: &str, above: Option<&str>) -> bool {
    above.is_none_or(|above| above.trim().is_empty() || atx(above).is_some() || is_tags(above))
        && line.chars().count() <= 60
        && line.starts_with(|c: char| c.is_alphanumeric() || c == '[')
        && !line.ends_with(['.', '!', '?', '…', ',', ';', ':', '"', '”', '*'])
        && labelled(line).is_none()
}

/// Splits `## Text ##`.
pub fn atx(line: &str) -> Option<(usize, &str)> {
    let bare = line.trim_start_matches(' ');
    let line = if line.len() - bare.len() > 3 { line } else { bare };
    let level = line.bytes().take_while(|b| *b == b'#').count();
    let rest = &line[level..];
    let is_heading = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| {
        let text = rest.trim();
        let closed = text.trim_end_matches('#');
        (level, if closed.is_empty() || closed.ends_with(' ') { closed.trim_end() } else { text })
    })
}

/// Returns a line as a reader sees it: links as their text, no emphasis, single spaces.
pub fn plain_text(line: &str) -> String {
    let linked = links_as_text(line);
    let linked = passage::without_html(&linked);
    let bare = linked.replace(['*', '`'], "");
    bare.split_whitespace()
        .map(|word| word.trim_matches('_'))
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Replaces `[[target|text]]`, `![[embed]]` and `[text](url)` by the text that they show.
pub fn links_as_text(text: &str) -> Cow<'_, str> {
    if !text.contains("[[") && !text.contains("](") {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at(open);
        let link = if from.starts_with("[[") {
            link_at(from, 0).map(|link| (link.shown(), link.range.end))
        } else {
            inline_link(from)
        };
        let Some((label, len)) = link else {
            shown.push_str(before);
            shown.push('[');
            rest = &from[1..];
            continue;
        };
        shown.push_str(before.strip_suffix('!').unwrap_or(before));
        shown.push_str(label);
        rest = &from[len..];
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// Reads `[text](url)` at the start of `from`: the text and the whole length.
fn inline_link(from: &str) -> Option<(&str, usize)> {
    let middle = from.find("](")?;
    let text = &from[1..middle];
    let end = middle + 2 + from[middle + 2..].find(')')?;
    (!text.contains(['[', ']', '\n'])).then_some((text, end + 1))
}

/// Splits `Label: value`, also as `**Label:** value`, `- Label: value` or, for Dataview, `Label:: value`.
pub fn labelled(line: &str) -> Option<Labelled<'_>> {
    let line = line.trim_start().trim_start_matches(['-', '*', '+', '_', '>', '%', ' ']);
    let (label, value) = line.split_once(':')?;
    let dataview = value.starts_with(':');
    let value = value.trim_start_matches(':');
    let label = label.trim().trim_matches(['*', '_']);
    let is_label = !label.is_empty()
        && label.split_whitespace().count() <= 4
        && label.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/'));
    let apart = value.is_empty() || value.starts_with([' ', '\t', '*', '_']);
    (is_label && apart).then(|| Labelled {
        label,
        value: value.trim_start_matches(['*', '_']).trim(),
        dataview,
    })
}

/// A line that gives a label a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Labelled<'a> {
    /// What stands before the colon.
    pub label: &'a str,
    /// What stands behind it.
    pub value: &'a str,
    /// Written with two colons.
    pub dataview: bool,
}

/// Returns the Dataview fields in a line: the line itself, and `[key:: value]` or `(key:: value)` within it.
pub fn dataview_fields(line: &str) -> Vec<(&str, &str)> {
    if !line.contains("::") {
        return vec![];
    }
    if let Some(Labelled { label, value, dataview: true }) = labelled(line) {
        return vec![(label, value)];
    }
    inline_fields(line).into_iter().map(|field| (field.key, field.value)).collect()
}

/// `[key:: value]` or `(key:: value)`.
struct InlineField<'a> {
    whole: std::ops::Range<usize>,
    key: &'a str,
    value: &'a str,
}

fn inline_fields(line: &str) -> Vec<InlineField<'_>> {
    let mut found = vec![];
    for (at, _) in line.match_indices("::") {
        let Some(open) = line[..at].rfind(['[', '(']) else { continue };
        let closing = if line[open..].starts_with('[') { ']' } else { ')' };
        let Some(end) = closing_at(&line[at..], closing) else { continue };
        let (key, value) = (line[open + 1..at].trim(), line[at + 2..at + end].trim());
        if !key.is_empty() && !key.contains([']', ')', ':']) {
            found.push(InlineField { whole: open..at + end + 1, key, value });
        }
    }
    found
}

/// Finds the bracket that closes a field, past the links in its value.
fn closing_at(text: &str, closing: char) -> Option<usize> {
    let mut from = 0;
    loop {
        let end = from + text[from..].find(closing)?;
        match text[from..end].find("[[") {
            Some(link) if closing == ']' => from = from + link + text[from + link..].find("]]")? + 2,
            _ => return Some(end),
        }
    }
}

/// Splits names at commas and semicolons outside links; each as its text.
pub fn split_names(text: &str) -> Vec<String> {
    links_as_text(text)
        .split([',', ';'])
        .map(|name| plain_text(name.trim().trim_matches(['"', '\u{201c}', '\u{201d}'])))
        .filter(|name| !name.is_empty())
        .collect()
}

/// Returns the `#tags` of a line or heading, without their marks.
pub fn hashtags(line: &str) -> impl Iterator<Item = &str> {
    atx(line)
        .map_or(line, |(_, text)| text)
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('#'))
        .map(|tag| tag.trim_end_matches(|c: char| !c.is_alphanumeric()))
        .filter(|tag| tag.chars().any(char::is_alphabetic))
}

/// Returns the tags that end a line, behind which nothing stands but more of them; those in the middle of a sentence are none.
pub fn closing_tags(line: &str) -> impl Iterator<Item = &str> {
    let words = if atx(line).is_some() { "" } else { line };
    let closing = words.split_whitespace().rev().take_while(|word| word.len() > 1 && word.starts_with('#'));
    closing.flat_map(hashtags)
}

/// Leaves out the tags that end a paragraph.
fn without_closing_tags(text: &str) -> &str {
    let mut rest = text.trim_end();
    while let Some((before, last)) = rest.rsplit_once(char::is_whitespace)
        && last.strip_prefix('#').is_some_and(|tag| tag.starts_with(char::is_alphabetic))
    {
        rest = before.trim_end();
    }
    rest
}

/// Whether a line holds nothing but tags.
pub fn is_tags(line: &str) -> bool {
    let mut words = line.split_whitespace().peekable();
    words.peek().is_some() && atx(line).is_none() && words.all(|word| word.len() > 1 && word.starts_with('#'))
}

/// Splits lines into blocks, at blank ones and at rules (`---`) that underline no title.
fn blocks<'l, 'a>(lines: &'l [Cow<'a, str>]) -> Vec<&'l [Cow<'a, str>]> {
    let (mut found, mut start) = (vec![], 0);
    for (at, line) in lines.iter().enumerate() {
        let above = |by: usize| at.checked_sub(by).map(|above| lines[above].trim());
        let is_title = || at > start && above(1).is_some_and(|title| is_underlined_title(title, above(2)));
        if line.trim().is_empty() || is_break(line) && !is_title() {
            found.push(&lines[start..at]);
            start = at + 1;
        }
    }
    found.push(&lines[start..]);
    found.retain(|block| !block.is_empty());
    found
}

/// Whether a line is a rule: three or more of one mark, and nothing else.
fn is_break(line: &str) -> bool {
    let marks = || line.chars().filter(|c| *c != ' ');
    ['-', '*', '_'].iter().any(|mark| marks().all(|c| c == *mark)) && marks().count() >= 3
}

/// Leaves out the heading that opens a text, if one does.
fn below_title<'l, 'a>(lines: &'l [Cow<'a, str>]) -> &'l [Cow<'a, str>] {
    let Some(first) = lines.iter().position(|line| !line.trim().is_empty()) else { return lines };
    let line = lines[first].as_ref();
    let is_underlined = |below: &Cow<'_, str>| match underline(below) {
        Some(1) => true,
        Some(_) => is_underlined_title(line.trim(), None),
        None => false,
    };
    if atx(line).is_some() || passage::html_heading(line).is_some() {
        &lines[first + 1..]
    } else if lines.get(first + 1).is_some_and(is_underlined) {
        &lines[first + 2..]
    } else {
        lines
    }
}

/// Returns the rows of tables that have a name and a value, also within a callout: `| Aliases | Finn, the Fox |`. The row above the dashes is one of them only where
/// it has a `usual` label and another row has one too, or there is no other: else it says what the columns are.
pub fn table_fields<'a>(lines: &'a [Cow<'_, str>], words: &Vocabulary) -> Vec<(&'a str, &'a str)> {
    let mut found: Vec<(&str, &str)> = vec![];
    let mut rows: Vec<(&str, &str)> = vec![];
    let mut head = None;
    let mut close = |rows: &mut Vec<(&'a str, &'a str)>, head: &mut Option<usize>| {
        let usual = |row: &(&str, &str)| is_usual(row.0, words);
        if let Some(at) = head.take().filter(|at| *at < rows.len()) {
            let others = rows.len() > 1;
            if !usual(&rows[at]) || others && !rows.iter().skip(at + 1).any(usual) {
                rows.remove(at);
            }
        }
        found.append(rows);
    };
    for line in lines {
        let line = line.trim().trim_start_matches(['>', ' ']);
        let cells = line.strip_prefix('|').map(|row| cells(row.trim_end().trim_end_matches('|')));
        match cells.as_deref() {
            Some([label, value]) if is_dashes(label) && is_dashes(value) => {
                head = rows.len().checked_sub(1);
            }
            Some([label, value]) => rows.push((label.trim_matches(['*', '_', ':', ' ']), value)),
            _ => close(&mut rows, &mut head),
        }
    }
    close(&mut rows, &mut head);
    found.retain(|(label, value)| !label.is_empty() && !value.is_empty());
    found
}

/// The cells of a row; a bar that is escaped, or stands in a link, ends none.
fn cells(row: &str) -> Vec<&str> {
    let (mut found, mut start, mut before) = (vec![], 0, ' ');
    for (at, c) in row.char_indices() {
        if c == '|' && before != '\\' {
            found.push(row[start..at].trim());
            start = at + 1;
        }
        before = c;
    }
    found.push(row[start..].trim());
    found
}

fn is_dashes(cell: &str) -> bool {
    cell.contains('-') && cell.chars().all(|c| matches!(c, '-' | ':'))
}

/// Returns the `Key: value` lines at the top of `lines`: those below the title, before the next heading and the first prose, in blocks that hold nothing else. One
/// such line alone counts only as an item of a list, in bold, or with a usual label.
pub fn top_fields<'a>(lines: &'a [Cow<'_, str>], words: &Vocabulary) -> Vec<(&'a str, &'a str)> {
    let mut found = vec![];
    for block in blocks(below_title(lines)) {
        let block: Vec<&str> =
            block.iter().map(|line| line.trim()).filter(|line| !is_furniture(line)).collect();
        if block.is_empty() {
            continue;
        }
        let dressed = |line: &str| line.starts_with(['-', '*', '+']);
        let is_of_fields =
            |line: &&&str| labelled(line).is_some() && (dressed(line) || is_field(line, block.len(), words));
        if atx(block[0]).is_some() || !block.iter().all(|line| is_of_fields(&line)) {
            break;
        }
        let values = block.iter().filter_map(|line| labelled(line)).filter(|field| !field.dataview);
        found.extend(values.map(|field| (field.label, field.value)).filter(|(_, value)| !value.is_empty()));
    }
    found
}

/// Returns the first paragraph of prose among `lines`, as a reader sees it; where there is none, the first item of a list.
pub fn first_prose(lines: &[Cow<'_, str>], words: &Vocabulary) -> String {
    let mut item = None;
    for block in blocks(lines) {
        let is_title = |at: usize| {
            let above = (at > 0).then(|| block[at - 1].trim());
            let below = block.get(at + 1).and_then(|below| underline(below));
            below.is_some_and(|level| level == 1 || is_underlined_title(block[at].trim(), above))
        };
        let prose: Vec<&str> = (0..block.len())
            .filter(|at| !is_title(*at))
            .map(|at| block[at].trim())
            .skip_while(|line| atx(line).is_some())
            .take_while(|line| atx(line).is_none())
            .filter(|line| !is_furniture(line) && !labelled(line).is_some_and(|field| field.dataview))
            .collect();
        if item.is_none() {
            item = prose.first().and_then(|line| list_item(line));
        }
        if prose.is_empty()
            || list_item(prose[0]).is_some()
            || prose.iter().all(|line| is_field(line, prose.len(), words))
        {
            continue;
        }
        let shown = plain_text_with_emphasis(without_closing_tags(&without_inline_fields(&prose.join(" "))));
        if !shown.is_empty() {
            return shown;
        }
    }
    item.map(plain_text_with_emphasis).unwrap_or_default()
}

/// Replaces `(key:: value)` and `[key:: value]` by the value.
fn without_inline_fields(text: &str) -> Cow<'_, str> {
    if !text.contains("::") {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut from) = (String::new(), 0);
    for field in inline_fields(text) {
        if field.whole.start >= from {
            shown.push_str(&text[from..field.whole.start]);
            shown.push_str(field.value);
            from = field.whole.end;
        }
    }
    shown.push_str(&text[from..]);
    Cow::Owned(shown)
}

/// Links as text, single spaces; emphasis stays, since a ship's name is in italics for a reason.
fn plain_text_with_emphasis(text: &str) -> String {
    links_as_text(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn list_item(line: &str) -> Option<&str> {
    ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark))
}

/// Whether a line is no prose: a rule, a table, a picture, a callout, HTML, an underline or a line of tags.
fn is_furniture(line: &str) -> bool {
    let is_rule = line.chars().all(|c| matches!(c, '-' | '*' | '_' | '=' | ' ' | '#' | '~' | '+'));
    is_rule
        || is_tags(line)
        || line.starts_with(['|', '>', '<'])
        || line.starts_with("![")
        || is_novelwriter_tag(line)
}

/// Whether a line is one of novelWriter's references: `@tag: Jane`, `@focus: Jane`.
fn is_novelwriter_tag(line: &str) -> bool {
    let word = line.strip_prefix('@').and_then(|rest| rest.split_once(':')).map(|(word, _)| word);
    word.is_some_and(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphabetic()))
}

/// Whether a label is a usual one, or one that the settings map to such.
fn is_usual(label: &str, words: &Vocabulary) -> bool {
    const USUAL: [&str; 19] = [
        "aliases",
        "alias",
        "aka",
        "also known as",
        "role",
        "type",
        "tags",
        "status",
        "name",
        "title",
        "age",
        "born",
        "died",
        "date",
        "chapter",
        "summary",
        "description",
        "synopsis",
        "pronouns",
    ];
    USUAL.contains(&fold(words.key(label)).replace('.', "").as_str())
}

/// Whether a line only gives a field its value. One such line alone counts only with a usual label, or one of the settings.
fn is_field(line: &str, lines: usize, words: &Vocabulary) -> bool {
    labelled(line).is_some_and(|field| field.dataview || lines > 1 || is_usual(field.label, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_read_as_its_text() {
        let table = [
            ("[[Lantern]]", "Lantern"),
            ("of [[Port Amity|the harbour]] and [[a\\|b]]", "of the harbour and b"),
            ("[[people/Adrian Vale.md#Wound]]", "Adrian Vale"),
            ("[[#Wound]], ![[map.png]]", "Wound, map.png"),
            ("see [the log](log.md) [1] [[open", "see the log [1] [[open"),
            ("no [[a\nb]] links", "no [[a\nb]] links"),
            ("[", "["),
        ];
        for (text, shown) in table {
            assert_eq!(links_as_text(text), shown, "{text:?}");
        }
    }

    #[test]
    fn comments_and_code_are_not_read() {
        assert_eq!(without_comments("a %%b\nc%% d <!-- e --> f %% g"), "a \n d  f %% g");
        assert_eq!(without_comments("<!-- a %% b --> c %% d <!-- e %% f"), " c  f");
        assert_eq!(lines("one\n```\n# two\n```\nthree"), ["one", "", "", "", "three"]);
    }

    #[test]
    fn headings_of_both_kinds_are_found() {
        let found = headings(&lines("One\n===\n\n## *Two* [[Three|3]] ##\n#no\n####### no\n# C#"));
        let found: Vec<_> = found.iter().map(|h| (h.level, h.text.as_str(), h.line)).collect();
        assert_eq!(found, [(1, "One", 0), (2, "Two 3", 3), (1, "C#", 6)]);
        let found = headings(&lines("Appearance\n----------\nTall.\n---\n\nA: b\n---\ntwo\nlines\n---"));
        let found: Vec<_> = found.iter().map(|h| (h.level, h.text.as_str(), h.height)).collect();
        assert_eq!(found, [(2, "Appearance", 2)]);
        let found = headings(&lines("One\n===\n===\n# Two\n===\n"));
        let found: Vec<_> = found.iter().map(|h| (h.text.as_str(), h.line, h.height)).collect();
        assert_eq!(found, [("One", 0, 2), ("Two", 3, 1)], "a line belongs to one heading");
    }

    #[test]
    fn labels_are_read_in_their_usual_dress() {
        let value = |line| labelled(line).map(|l| (l.label, l.value));
        assert_eq!(value("Aliases: A, B"), Some(("Aliases", "A, B")));
        assert_eq!(value("- **Also known as:** A"), Some(("Also known as", "A")));
        assert_eq!(value("**Role**: ally"), Some(("Role", "ally")));
        assert_eq!(value("He said, after a long time: no"), None);
        assert_eq!(value("https://example.org"), None);
        assert_eq!(dataview_fields("Role:: smuggler"), [("Role", "smuggler")]);
        assert_eq!(
            dataview_fields("He is [role:: [[Guild]] man] and (age:: 40)."),
            [("role", "[[Guild]] man"), ("age", "40")]
        );
        assert!(dataview_fields("std::fs and a::").is_empty());
    }

    #[test]
    fn the_first_prose_is_found_behind_the_furniture() {
        let table = [
            (
                "# Mira\n\n![[mira.png]]\n#character #crew\n\nRole: pilot\nAge: 30\n\nShe *flies* the\n[[Halcyon]].\n\nMore.",
                "She *flies* the Halcyon.",
            ),
            ("# Mira\nShe flies.\n## Next\nNo.", "She flies."),
            ("| a | b |\n|---|---|\n\n> quoted\n\n---\n\n- One [[thing]]\n- Two", "One thing"),
            ("Note: she flies.", "Note: she flies."),
            ("Aliases: A", ""),
            (
                "Role:: clerk\nLoyal to (faction:: [[The Hand]]) and [mood:: tired].",
                "Loyal to The Hand and tired.",
            ),
            ("Per\n===\n\nOld Per\n-------\nHe lights.\n\n---", "He lights."),
            ("   # Nils #\nHe rows.", "He rows."),
            ("", ""),
        ];
        for (body, prose) in table {
            assert_eq!(first_prose(&lines(body), &Vocabulary::default()), prose, "{body:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "[a-c\\[\\]()!|#%<>:*_ \n=`é-]{0,40}") {
            let lines = lines(&text);
            headings(&lines);
            first_prose(&lines, &Vocabulary::default());
            top_fields(&lines, &Vocabulary::default());
            for line in &lines {
                dataview_fields(line);
                plain_text(line);
                hashtags(line).count();
            }
        }
    }
}
