//! Reads the relationships out of one entry: its frontmatter, its labelled lines, its sections.

use std::ops::Range;

use serde_json::{Map, Value};

use super::words::{self, ABOUT, WHAT, WHOM, plain};
use super::{Statement, Target};
use crate::canon::links::{Directory, with_wikilinks};
use crate::domain::book::Book;
use crate::domain::codex::Entry;
use crate::domain::frontmatter;
use crate::domain::links::{Link, links};
use crate::domain::passage::line_column;

/// Most words of a kind: what is longer is a description.
const KIND_WORDS: usize = 3;

pub(super) fn of_entry(book: &Book, names: &Directory<'_>, at: usize) -> Vec<Statement> {
    let Some(entry) = book.entries.get(at) else { return vec![] };
    let mut reader = Reader { names, entry, at, found: vec![] };
    // The keys above a file of many entries are the file's own.
    if entry.heading.is_none() {
        reader.frontmatter();
    }
    reader.body();
    reader.found
}

struct Reader<'a> {
    names: &'a Directory<'a>,
    entry: &'a Entry,
    at: usize,
    found: Vec<Statement>,
}

/// What a phrase says of those whom it names.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Words {
    kind: Option<String>,
    description: Option<String>,
}

impl Reader<'_> {
    fn target(&self, name: &str) -> Target {
        self.names.named(name).map_or_else(|| Target::Unknown(shown(name)), Target::Entry)
    }

    fn linked(&self, link: &Link<'_>) -> Option<Target> {
        let (page, part) = (link.target, link.part);
        let name = if page.is_empty() { part.unwrap_or_default() } else { page };
        if name.is_empty() {
            return None;
        }
        let known = self.names.resolve(page, part).map(Target::Entry);
        Some(known.unwrap_or_else(|| {
            let last = name.rsplit('/').next().unwrap_or(name);
            Target::Unknown(link.label.unwrap_or(last).to_owned())
        }))
    }

    fn push(&mut self, target: Target, words: Words, line: usize) {
        let is_empty = matches!(&target, Target::Unknown(name) if words::says_nothing(name));
        if target == Target::Entry(self.at) || is_empty {
            return;
        }
        let statement = Statement {
            source: self.at,
            target,
            kind: words.kind,
            description: words.description,
            path: self.entry.path.clone(),
            line,
        };
        if !self.found.contains(&statement) {
            self.found.push(statement);
        }
    }

    /// Keys and values, with the links as the author wrote them: [`Entry::fields`] shows their words only.
    fn frontmatter(&mut self) {
        let text = &self.entry.text;
        let split = frontmatter::split(text);
        let block = split.block.clone();
        let fields = frontmatter::parse_split(text, &split).fields;
        for (key, value) in &fields {
            let keys = &self.names.book().settings.codex_keys;
            let meant = keys.iter().find(|(own, _)| plain(own) == plain(key)).map(|(_, meant)| meant);
            let word = plain(meant.unwrap_or(key));
            let place = Place { text, block: block.clone(), key };
            if words::is_list(&word) {
                self.list(value, None, &place);
            } else if let Some(kind) = words::kind_of(&word) {
                self.named_in(value, kind, true, &place);
            } else if !words::is_no_relation(&word) {
                self.named_in(value, &word, false, &place);
            }
        }
    }

    /// A value of a key that is itself a kind. Plain names count only where the key surely states a relationship.
    fn named_in(&mut self, value: &Value, kind: &str, sure: bool, place: &Place<'_>) {
        match value {
            Value::String(text) => self.phrase_of_kind(text, kind, sure, place),
            Value::Array(items) => items.iter().for_each(|item| self.named_in(item, kind, sure, place)),
            Value::Object(map) if sure => self.map(map, Some(kind), place),
            _ => {}
        }
    }

    fn phrase_of_kind(&mut self, text: &str, kind: &str, sure: bool, place: &Place<'_>) {
        let links = links(text);
        let said = |words: Words| {
            let more = words.kind.into_iter().chain(words.description).collect::<Vec<_>>().join(". ");
            Words { kind: Some(kind.to_owned()), description: (!more.is_empty()).then_some(more) }
        };
        if !links.is_empty() {
            for link in &links {
                let Some(target) = self.linked(link) else { continue };
                // Links of any other key may be anything: chapters, pictures.
                if sure || matches!(target, Target::Entry(_)) {
                    let after = if links.len() == 1 {
                        split_words(&text[link.range.end..])
                    } else {
                        Words::default()
                    };
                    self.push(target, said(after), place.line_of(&text[link.range.clone()]));
                }
            }
        } else if sure {
            for name in text.split([',', ';']).map(str::trim).filter(|name| !name.is_empty()) {
                let (name, rest) = name.split_once('(').map_or((name, ""), |(n, r)| (n.trim(), r));
                if let Some(known) = self.names.named(name) {
                    self.push(Target::Entry(known), said(split_words(rest)), place.line_of(name));
                }
            }
        }
    }

    /// The value of `relationships:` in any of its usual forms.
    fn list(&mut self, value: &Value, kind: Option<&str>, place: &Place<'_>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.list(item, kind, place)),
            Value::Object(map) => self.map(map, kind, place),
            Value::String(text) => {
                let line = place.line_of(text);
                self.phrase(text, kind, line, true);
            }
            _ => {}
        }
    }

    fn map(&mut self, map: &Map<String, Value>, kind: Option<&str>, place: &Place<'_>) {
        let text_of = |keys: &[&str]| {
            keys.iter().find_map(|wanted| {
                let (_, value) = map.iter().find(|(key, _)| plain(key) == *wanted)?;
                Some(value).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
            })
        };
        if let Some(whom) =
            text_of(&WHOM).filter(|_| map.len() > 1 || map.keys().any(|k| WHOM.contains(&&*plain(k))))
        {
            let words =
                Words { kind: text_of(&WHAT).or(kind).map(shown), description: text_of(&ABOUT).map(shown) };
            let line = place.line_of(whom);
            for target in self.targets(whom) {
                self.push(target, words.clone(), line);
            }
            return;
        }
        for (key, value) in map {
            let line = place.line_of(key);
            match (self.names.named(&shown(key)), value) {
                (Some(known), Value::String(words)) => {
                    let words = Words { kind: Some(shown(words)), description: None };
                    self.push(Target::Entry(known), words, line);
                }
                (Some(known), Value::Object(more)) => {
                    let of = |keys: &[&str]| {
                        more.iter()
                            .find(|(k, _)| keys.contains(&&*plain(k)))
                            .and_then(|(_, v)| v.as_str())
                            .map(shown)
                    };
                    let words =
                        Words { kind: of(&WHAT).or(kind.map(str::to_owned)), description: of(&ABOUT) };
                    self.push(Target::Entry(known), words, line);
                }
                (Some(known), _) => {
                    let words = Words { kind: kind.map(str::to_owned), description: None };
                    self.push(Target::Entry(known), words, line);
                }
                (None, Value::String(words)) => {
                    let names = self.targets(words);
                    let known = names.iter().any(|t| matches!(t, Target::Entry(_)));
                    let word = plain(key);
                    let by_kind = words::kind_of(&word).map(str::to_owned).or(known.then(|| key.clone()));
                    if let Some(kind) = by_kind {
                        for target in names {
                            self.push(target, Words { kind: Some(kind.clone()), description: None }, line);
                        }
                    } else {
                        let words = Words { kind: Some(shown(words)), description: None };
                        self.push(Target::Unknown(shown(key)), words, line);
                    }
                }
                (None, value @ Value::Array(_)) => {
                    let word = plain(key);
                    self.list(value, Some(words::kind_of(&word).unwrap_or(key)), place);
                }
                _ => {}
            }
        }
    }

    /// Those whom a value names: its links, else the names between its commas.
    fn targets(&self, text: &str) -> Vec<Target> {
        let links = links(text);
        if !links.is_empty() {
            return links.iter().filter_map(|link| self.linked(link)).collect();
        }
        if let Some(known) = self.names.named(text) {
            return vec![Target::Entry(known)];
        }
        let names = text.split([',', ';']).map(str::trim).filter(|name| !name.is_empty());
        names.map(|name| self.target(name)).collect()
    }

    /// A phrase such as `[[Mira]] (sister)`, `Mira Okafor: sister` or `Mira Okafor, his sister`. `listed`: it stands where every phrase
    /// is a relationship, so that a name that the Codex does not know is one too.
    fn phrase(&mut self, text: &str, kind: Option<&str>, line: usize, listed: bool) -> bool {
        let with_kind = |words: Words| Words { kind: words.kind.or(kind.map(str::to_owned)), ..words };
        let links = links(text);
        if let Some(first) = links.first() {
            return self.linked_phrase(text, &links, first, (kind, line));
        }
        let Some((at, len)) = separator(text) else {
            let known = self.names.named(text);
            if listed || known.is_some() {
                self.push(self.target(text), with_kind(Words::default()), line);
            }
            return listed || known.is_some();
        };
        let (name, rest) = (shown(&text[..at]), &text[at + len..]);
        let words = with_kind(split_words(rest));
        if let Some(known) = self.names.named(&name) {
            self.push(Target::Entry(known), words, line);
            return true;
        }
        let is_name = looks_like_a_name(&name) && !text[at..].starts_with(',');
        if is_name && listed {
            self.push(Target::Unknown(name), words, line);
        }
        is_name && listed
    }

    fn linked_phrase(
        &mut self,
        text: &str,
        links: &[Link<'_>],
        first: &Link<'_>,
        said: (Option<&str>, usize),
    ) -> bool {
        let (kind, line) = said;
        let before = shown(&text[..first.range.start]);
        // Links that stand together before any other word are told of together.
        let mut last = first;
        let mut whom = vec![first];
        for link in &links[1..] {
            let between = shown(&text[last.range.end..link.range.start]);
            if !matches!(between.as_str(), "" | "," | "and" | "&" | ", and") {
                break;
            }
            whom.push(link);
            last = link;
        }
        let after = &text[last.range.end..];
        let mut words = split_words(after);
        if !before.is_empty() {
            let before = before.trim_end_matches([':', ',', '-', '\u{2013}', '\u{2014}']).trim();
            let said = split_words(before);
            if words == Words::default() {
                words = said;
            } else {
                words = Words { kind: said.kind.or(words.kind), description: Some(shown(text)) };
            }
        }
        words.kind = words.kind.or(kind.map(str::to_owned));
        for link in whom {
            if let Some(target) = self.linked(link) {
                self.push(target, words.clone(), line);
            }
        }
        true
    }

    fn body(&mut self) {
        let text = &self.entry.text;
        let mut section: Option<Section> = None;
        let mut fence = false;
        let mut at = self.entry.body.start;
        for raw in self.entry.body().split_inclusive('\n') {
            let start = at;
            at += raw.len();
            let line = &*with_wikilinks(raw.trim());
            if line.starts_with("```") || line.starts_with("~~~") {
                fence = !fence;
                continue;
            }
            if fence || line.is_empty() || line.starts_with("%%") || line.starts_with("<!--") {
                continue;
            }
            let number = || line_column(text, start).0;
            if let Some((level, heading)) = heading(line) {
                section = self.section(section, level, heading);
                continue;
            }
            match &mut section {
                Some(open) => {
                    let mut open = open.clone();
                    self.line_of_section(line, &mut open, number());
                    section = Some(open);
                }
                None => self.labelled(line, number()),
            }
        }
    }

    /// What a heading opens, or goes on with.
    fn section(&self, open: Option<Section>, level: usize, heading: &str) -> Option<Section> {
        let word = plain(&shown(heading));
        let kind = words::kind_of(&word);
        let inner = open.filter(|s| level > s.level);
        if let Some(outer) = inner {
            let about = links(heading).first().map_or_else(
                || self.names.named(&shown(heading)).map(Target::Entry),
                |link| self.linked(link),
            );
            let kind = kind.map(str::to_owned).or(outer.kind);
            return Some(Section { level: outer.level, kind, about });
        }
        // A heading such as `## Location` tells of a place in prose.
        let groups = kind.filter(|_| is_group(&word));
        (words::is_list(&word) || word.contains("relationship") || groups.is_some()).then(|| Section {
            level,
            kind: groups.map(str::to_owned),
            about: None,
        })
    }

    fn line_of_section(&mut self, line: &str, section: &mut Section, number: usize) {
        if line.starts_with('|') {
            self.row(line, section, number);
            return;
        }
        let item = list_item(line);
        if let Some(target) = section.about.take() {
            let words = split_words(&shown(item.unwrap_or(line)));
            let words = Words { kind: words.kind.or(section.kind.clone()), ..words };
            self.push(target, words, number);
            return;
        }
        let kind = section.kind.clone();
        if let Some(item) = item {
            let group = item.split_once(':').map(|(label, rest)| (plain(&shown(label)), rest));
            if let Some((label, rest)) = &group
                && let Some(of) = words::kind_of(label)
            {
                for target in self.targets(rest) {
                    self.push(target, Words { kind: Some(of.to_owned()), description: None }, number);
                }
                return;
            }
            self.phrase(item, kind.as_deref(), number, true);
            return;
        }
        let links = links(line);
        match links.first() {
            Some(first) if first.range.start == 0 => {
                self.phrase(line, kind.as_deref(), number, true);
            }
            Some(_) => {
                // Prose: the links say whom, the sentence says how.
                let words = Words { kind, description: Some(shown(line)) };
                for link in &links {
                    if let Some(target) = self.linked(link) {
                        self.push(target, words.clone(), number);
                    }
                }
            }
            None => {
                self.phrase(line, kind.as_deref(), number, false);
            }
        }
    }

    /// A row of a table: whom, what, words about it.
    fn row(&mut self, line: &str, section: &Section, number: usize) {
        let protected = line.replace("\\|", "\u{1}");
        let cells: Vec<String> =
            protected.trim_matches('|').split('|').map(|c| c.trim().replace('\u{1}', "\\|")).collect();
        let Some(first) = cells.first() else { return };
        let whom = links(first)
            .first()
            .map_or_else(|| self.names.named(&shown(first)).map(Target::Entry), |link| self.linked(link));
        let Some(whom) = whom else { return };
        let cell = |at: usize| cells.get(at).map(|c| shown(c)).filter(|c| !c.is_empty());
        self.push(whom, Words { kind: cell(1).or(section.kind.clone()), description: cell(2) }, number);
    }

    /// A line such as `Spouse: Hedda` or `Ship:: [[Halcyon]]` anywhere in the text.
    fn labelled(&mut self, line: &str, number: usize) {
        let line = list_item(line).unwrap_or(line);
        let Some((label, value)) = line.split_once(':') else { return };
        let dataview = value.starts_with(':');
        let word = plain(&shown(label));
        let value = value.trim_start_matches([':', '*', '_', ' ']);
        let kind = words::kind_of(&word);
        if kind.is_none()
            && (!dataview || words::is_no_relation(&word) || word.split(' ').count() > KIND_WORDS)
        {
            return;
        }
        let sure = kind.is_some();
        let kind = kind.unwrap_or(&word).to_owned();
        let place = Place { text: "", block: 0..0, key: "" };
        let before = self.found.len();
        self.phrase_of_kind(value, &kind, sure, &place);
        self.found[before..].iter_mut().for_each(|statement| statement.line = number);
    }
}

/// A part of the text that states relationships.
#[derive(Debug, Clone)]
struct Section {
    level: usize,
    kind: Option<String>,
    /// Whom the next line is about: its own heading named them.
    about: Option<Target>,
}

/// Headings that group people, unlike one that may tell of a thing.
fn is_group(word: &str) -> bool {
    matches!(
        word,
        "allies"
            | "friends"
            | "enemies"
            | "foes"
            | "rivals"
            | "family"
            | "relatives"
            | "kin"
            | "parents"
            | "children"
            | "siblings"
            | "lovers"
            | "colleagues"
            | "companions"
            | "members"
    )
}

/// Where a key of the frontmatter stands, to find the lines of its values.
struct Place<'a> {
    text: &'a str,
    block: Range<usize>,
    key: &'a str,
}

impl Place<'_> {
    /// The line of `words` within the key's value; the line of the key where they do not stand as they were read.
    fn line_of(&self, words: &str) -> usize {
        let Some(block) = self.text.get(self.block.clone()) else { return 1 };
        let mut at = self.block.start;
        let mut inside = false;
        let mut key_at = None;
        for line in block.split_inclusive('\n') {
            let own = line.trim_start().trim_start_matches(['"', '\'']).starts_with(self.key);
            if own && !inside && !line.starts_with([' ', '\t']) {
                inside = true;
                key_at = Some(at);
            } else if inside && !line.trim().is_empty() && !line.starts_with([' ', '\t', '-', '#', ']', '}'])
            {
                break;
            }
            if inside && line.contains(words) {
                return line_column(self.text, at).0;
            }
            at += line.len();
        }
        line_column(self.text, key_at.unwrap_or(self.block.start)).0
    }
}

/// Takes what stands behind a name apart: a short first clause is the kind, the rest describes.
fn split_words(rest: &str) -> Words {
    let mut rest =
        rest.trim().trim_start_matches([':', ',', ';', '-', '\u{2013}', '\u{2014}', '*', '_', ' ']);
    let mut kind = None;
    if let Some(inner) = rest.strip_prefix('(')
        && let Some((inside, after)) = inner.split_once(')')
    {
        kind = Some(shown(inside));
        rest = after.trim_start_matches([':', ',', ';', '-', '\u{2013}', '\u{2014}', '.', ' ']);
    }
    // Of `Name (friend)` only the end of the parenthesis is left here.
    let closes = rest.matches(')').count() > rest.matches('(').count();
    let all = shown(rest.strip_suffix(')').filter(|_| closes).unwrap_or(rest));
    if kind.is_none() {
        let end = ["; ", ", ", ". "].iter().filter_map(|mark| all.find(mark)).min().unwrap_or(all.len());
        let clause = all[..end].trim_end_matches(['.', ';', ',']);
        if !clause.is_empty() && clause.split(' ').count() <= KIND_WORDS && !words::is_sentence(clause) {
            let after = all[end..].trim_start_matches([';', ',', '.', ' ']);
            return Words { kind: Some(words::without_article(clause)), description: nonempty(after) };
        }
    }
    Words { kind: kind.filter(|k| !k.is_empty()), description: nonempty(&all) }
}

fn nonempty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Where a name without a link ends, and how long what ends it is.
fn separator(text: &str) -> Option<(usize, usize)> {
    let marks = [":", " (", ", ", " \u{2014} ", " \u{2013} ", " - "];
    marks
        .iter()
        .filter_map(|mark| text.find(mark).map(|at| (at, if *mark == " (" { 1 } else { mark.len() })))
        .min()
}

fn looks_like_a_name(words: &str) -> bool {
    let count = words.split(' ').count();
    (1..=4).contains(&count)
        && words.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_lowercase() && c.is_alphabetic())
}

/// A text as a reader sees it: links as their words, no emphasis, single spaces.
fn shown(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut at = 0;
    for link in links(text) {
        plain.push_str(&text[at..link.range.start]);
        let words = link.label.unwrap_or(match link.target {
            "" => link.part.unwrap_or_default(),
            target => target,
        });
        plain.push_str(words.rsplit('/').next().unwrap_or_default());
        at = link.range.end;
    }
    plain.push_str(&text[at..]);
    let bare = plain.replace(['*', '`'], "");
    bare.split_whitespace()
        .map(|word| word.trim_matches('_'))
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|b| *b == b'#').count();
    let rest = &line[level..];
    ((1..=6).contains(&level) && rest.starts_with([' ', '\t']))
        .then(|| (level, rest.trim().trim_end_matches('#').trim()))
}

fn list_item(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with([' ', '\t']));
    let numbered = || {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let rest = line[digits..].strip_prefix(['.', ')'])?;
        (digits > 0 && rest.starts_with([' ', '\t'])).then_some(rest)
    };
    rest.or_else(numbered).map(str::trim)
}
