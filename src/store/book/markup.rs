//! What Markdown, Obsidian and Dataview marks mean to a reader of names and summaries.
//!
//! Reads only; the text of the author's file is never touched.

use std::borrow::Cow;

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
}

/// Returns the lines of a body outside comments; a line of a fenced block of code is given as an empty one.
pub fn lines(body: &str) -> Vec<Cow<'_, str>> {
    let mut fence: Option<&str> = None;
    let without = without_comments(body);
    let visible = |line: &str| {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => return line.trim_end().to_owned(),
            _ => {}
        }
        String::new()
    };
    match without {
        Cow::Borrowed(text) if !text.contains("```") && !text.contains("~~~") => {
            text.lines().map(|line| Cow::Borrowed(line.trim_end())).collect()
        }
        text => text.lines().map(visible).map(Cow::Owned).collect(),
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

/// Returns the headings among `lines`, `# ATX` and underlined ones.
pub fn headings(lines: &[Cow<'_, str>]) -> Vec<Heading> {
    let mut found = vec![];
    for (at, line) in lines.iter().enumerate() {
        if let Some((level, text)) = atx(line) {
            found.push(Heading { level, text: plain_text(text), line: at });
        } else if at > 0 && !line.is_empty() && line.bytes().all(|b| b == b'=') {
            let above = lines[at - 1].trim();
            if !above.is_empty() && atx(above).is_none() {
                found.push(Heading { level: 1, text: plain_text(above), line: at - 1 });
            }
        }
    }
    found.retain(|heading| !heading.text.is_empty());
    found
}

/// Splits `## Text ##`.
pub fn atx(line: &str) -> Option<(usize, &str)> {
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
        let link = if from.starts_with("[[") { wikilink(from) } else { inline_link(from) };
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

/// Reads `[[target#part|text]]` at the start of `from`: what it shows and its length.
fn wikilink(from: &str) -> Option<(&str, usize)> {
    let inner = &from[2..from.find("]]")?];
    if inner.contains(['[', '\n']) {
        return None;
    }
    let len = inner.len() + 4;
    if let Some((_, text)) = inner.split_once('|') {
        return Some((text.trim(), len));
    }
    let target = match inner.split_once('#') {
        Some(("", part)) => part,
        Some((page, _)) => page,
        None => inner,
    };
    Some((target.rsplit('/').next().unwrap_or(target).trim().trim_end_matches(".md"), len))
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
    let line = line.trim_start().trim_start_matches(['-', '*', '+', '_', '>', ' ']);
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
    let mut found = vec![];
    for (at, _) in line.match_indices("::") {
        let Some(open) = line[..at].rfind(['[', '(']) else { continue };
        let closing = if line[open..].starts_with('[') { ']' } else { ')' };
        let Some(end) = closing_at(&line[at..], closing) else { continue };
        let (key, value) = (line[open + 1..at].trim(), line[at + 2..at + end].trim());
        if !key.is_empty() && !key.contains([']', ')', ':']) {
            found.push((key, value));
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

/// Returns the `#tags` of a line, without their marks.
pub fn hashtags(line: &str) -> impl Iterator<Item = &str> {
    let words = if atx(line).is_some() { "" } else { line };
    words
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('#'))
        .map(|tag| tag.trim_end_matches(|c: char| !c.is_alphanumeric()))
        .filter(|tag| tag.chars().any(char::is_alphabetic))
}

/// Returns the first paragraph of prose among `lines`, as a reader sees it; where there is none, the first item of a list.
pub fn first_prose(lines: &[Cow<'_, str>]) -> String {
    let mut item = None;
    for block in lines.split(|line| line.trim().is_empty()) {
        let prose: Vec<&str> = block
            .iter()
            .map(|line| line.trim())
            .skip_while(|line| atx(line).is_some())
            .take_while(|line| atx(line).is_none())
            .filter(|line| !is_furniture(line))
            .collect();
        if item.is_none() {
            item = prose.first().and_then(|line| list_item(line));
        }
        if prose.is_empty()
            || list_item(prose[0]).is_some()
            || prose.iter().all(|line| is_field(line, prose.len()))
        {
            continue;
        }
        let shown = plain_text_with_emphasis(&prose.join(" "));
        if !shown.is_empty() {
            return shown;
        }
    }
    item.map(plain_text_with_emphasis).unwrap_or_default()
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
    let is_tags = line.split_whitespace().all(|word| word.starts_with('#'));
    is_rule || is_tags || line.starts_with(['|', '>', '<']) || line.starts_with("![")
}

/// Whether a line only gives a field its value. One such line alone counts only with a usual label.
fn is_field(line: &str, lines: usize) -> bool {
    const USUAL: [&str; 10] =
        ["aliases", "alias", "aka", "also known as", "role", "type", "tags", "status", "name", "title"];
    labelled(line).is_some_and(|field| {
        field.dataview || lines > 1 || USUAL.contains(&fold(field.label).replace('.', "").as_str())
    })
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
        assert_eq!(lines("one\n```\n# two\n```\nthree"), ["one", "", "", "", "three"]);
    }

    #[test]
    fn headings_of_both_kinds_are_found() {
        let found = headings(&lines("One\n===\n\n## *Two* [[Three|3]] ##\n#no\n####### no\n# C#"));
        let found: Vec<_> = found.iter().map(|h| (h.level, h.text.as_str(), h.line)).collect();
        assert_eq!(found, [(1, "One", 0), (2, "Two 3", 3), (1, "C#", 6)]);
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
            ("", ""),
        ];
        for (body, prose) in table {
            assert_eq!(first_prose(&lines(body)), prose, "{body:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "[a-c\\[\\]()!|#%<>:*_ \n=`é-]{0,40}") {
            let lines = lines(&text);
            headings(&lines);
            first_prose(&lines);
            for line in &lines {
                dataview_fields(line);
                plain_text(line);
                hashtags(line).count();
            }
        }
    }
}
