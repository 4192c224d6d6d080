//! What the parts of a Markdown file are: keys, links, code, headings. Reads only.

use std::ops::Range;

use super::Kind;
use super::forms::{Form, Part};
use super::scan::Hit;
use crate::domain::frontmatter;
use crate::domain::links::links;
use crate::domain::passage::fold;

/// What a place of a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Region {
    /// The value of a key of the frontmatter.
    Field(String),
    /// Where a wikilink leads.
    Target { page: Range<usize>, part: Option<Range<usize>> },
    /// Code, in a line or in lines of its own.
    Code,
    /// An address on the web or in the file system.
    Address,
    /// A heading.
    Heading,
    /// A line that lists other names.
    Aliases,
    /// Anything else.
    Prose,
}

/// The parts of one file.
#[derive(Debug, Default)]
pub(super) struct Regions {
    /// Keys with their values, at the left margin of the frontmatter.
    fields: Vec<(String, Range<usize>, Range<usize>)>,
    code: Vec<Range<usize>>,
    addresses: Vec<Range<usize>>,
    targets: Vec<(Range<usize>, Option<Range<usize>>)>,
    headings: Vec<Range<usize>>,
    aliases: Vec<Range<usize>>,
    /// First byte behind the frontmatter.
    pub body_start: usize,
}

impl Regions {
    pub fn of(text: &str) -> Self {
        let split = frontmatter::split(text);
        let mut regions = Self { body_start: split.body_start, ..Self::default() };
        regions.keys(text, split.block);
        regions.lines(text);
        for link in links(text) {
            regions.targets.push((link.target_range(), link.part_range()));
        }
        regions.addresses = addresses(text);
        regions
    }

    fn keys(&mut self, text: &str, block: Range<usize>) {
        let mut at = block.start;
        for line in text[block.clone()].split_inclusive('\n') {
            let end = at + line.len();
            let is_key = !line.starts_with([' ', '\t', '#', '-', '[', ']', '{', '}']);
            let mark = line.find([':', '=']).filter(|_| is_key);
            if let Some(mark) = mark {
                let key = line[..mark].trim().trim_matches(['"', '\'']).to_owned();
                self.fields.push((key, at..at + mark, at + mark + 1..end));
            } else if let Some(last) = self.fields.last_mut() {
                last.2.end = end;
            }
            at = end;
        }
    }

    fn lines(&mut self, text: &str) {
        let mut fence: Option<(usize, &str)> = None;
        let mut at = self.body_start;
        for line in text[self.body_start..].split_inclusive('\n') {
            let (start, trimmed) = (at, line.trim());
            at += line.len();
            let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
            match (fence, mark) {
                (None, Some(mark)) => {
                    fence = Some((start, mark));
                    continue;
                }
                (Some((from, open)), Some(mark)) if open == mark => {
                    self.code.push(from..at);
                    fence = None;
                    continue;
                }
                (Some(_), _) => continue,
                (None, None) => {}
            }
            let level = trimmed.bytes().take_while(|b| *b == b'#').count();
            if (1..=6).contains(&level) && trimmed[level..].starts_with([' ', '\t']) {
                self.headings.push(start..at);
            }
            let label = trimmed.trim_start_matches(['-', '*', '_', ' ']).split(':').next().map(fold);
            if trimmed.contains(':')
                && matches!(label.as_deref(), Some("aliases" | "alias" | "aka" | "also known as"))
            {
                self.aliases.push(start..at);
            }
            self.spans(line, start);
        }
        // One that is never closed goes to the end.
        if let Some((from, _)) = fence {
            self.code.push(from..text.len());
        }
    }

    /// Code within a line.
    fn spans(&mut self, line: &str, start: usize) {
        let mut from = 0;
        while let Some(open) = line[from..].find('`').map(|at| from + at) {
            let ticks = line[open..].bytes().take_while(|b| *b == b'`').count();
            let inner = open + ticks;
            let Some(close) = line[inner..].find(&line[open..inner]) else { break };
            let end = inner + close + ticks;
            self.code.push(start + open..start + end);
            from = end;
        }
    }

    /// Returns what a range lies in; `None` for the name of a key, which is no text of the author's.
    pub fn of_range(&self, text: &str, range: &Range<usize>) -> Option<Region> {
        let within = |outer: &Range<usize>| outer.start <= range.start && range.end <= outer.end;
        let touches = |outer: &Range<usize>| outer.start < range.end && range.start < outer.end;
        if range.start < self.body_start {
            let fence = self.fields.first().map_or(self.body_start, |(_, key, _)| key.start);
            if range.start < fence || self.fields.iter().any(|(_, key, _)| touches(key)) {
                return None;
            }
        }
        if self.code.iter().any(touches) {
            return Some(Region::Code);
        }
        if let Some((page, part)) =
            self.targets.iter().find(|(page, part)| within(page) || part.as_ref().is_some_and(within))
        {
            return Some(Region::Target { page: page.clone(), part: part.clone() });
        }
        if self.addresses.iter().any(touches) || is_handle(text, range.start) {
            return Some(Region::Address);
        }
        if let Some((key, ..)) = self.fields.iter().find(|(_, _, value)| within(value)) {
            return Some(Region::Field(fold(key)));
        }
        if self.headings.iter().any(within) {
            return Some(Region::Heading);
        }
        Some(if self.aliases.iter().any(within) { Region::Aliases } else { Region::Prose })
    }
}

/// `@name`.
fn is_handle(text: &str, start: usize) -> bool {
    text[..start].ends_with('@')
}

/// Web addresses, and where inline links lead.
fn addresses(text: &str) -> Vec<Range<usize>> {
    let mut found = vec![];
    for (at, _) in text.match_indices("](") {
        let inner = at + 2;
        let line_end = text[inner..].find('\n').map_or(text.len(), |n| inner + n);
        if let Some(close) = text[inner..line_end].find(')') {
            found.push(inner..inner + close);
        }
    }
    for scheme in ["http://", "https://", "file://", "obsidian://", "mailto:", "www."] {
        for (at, _) in text.match_indices(scheme) {
            let len = text[at..]
                .find(|c: char| c.is_whitespace() || matches!(c, '>' | '"' | ')' | ']' | '\u{201d}'))
                .unwrap_or(text.len() - at);
            found.push(at..at + len);
        }
    }
    found
}

/// Says what kind of place it is.
pub(super) fn kind(region: &Region, is_own: bool, form: &Form, hit: &Hit) -> Kind {
    match region {
        Region::Target { .. } => Kind::Link,
        Region::Heading => Kind::Heading,
        Region::Aliases => Kind::Alias,
        Region::Field(key) if matches!(key.as_str(), "aliases" | "alias" | "aka") => Kind::Alias,
        Region::Field(key) if is_own && key == "name" => Kind::Name,
        _ if form.part == Part::Slug => Kind::Tag,
        Region::Field(_) => Kind::Field,
        _ if form.plural => Kind::Plural,
        _ if hit.possessive.is_some() => Kind::Possessive,
        _ => Kind::Mention,
    }
}
