//! Files that hold many entries, split by their headings.
//!
//! The rules are narrow on purpose: a file that is split by mistake would fill the canon with sections.
//!
//! - A file that says what it is as a whole is one entry: with a `name`, with aliases, or with a key that gives a type. So is the main
//!   file of a folder (`dossier.md`, `index.md`, `README.md`).
//! - **A list**: the file is named with a word for many things (`characters.md`, `NPCs.md`, `Minor characters.md`, a word of the settings). Its entries are the headings
//!   of the highest level; a title above all others is none of them.
//! - **A bible**: headings that are words for many things (`# Characters`, `## 2. Places`), each with headings below it. Those are the entries. In a canon
//!   folder one such heading is enough; elsewhere the file has to be named like a bible, or there have to be two. Beside such a heading a
//!   word for one thing (`# Magic`, `# Style guide`) is an entry itself.
//! - A heading that only sorts (`Main`, `Minor characters`) has its entries below it. A usual title of a section (`Overview`, `Notes`) is no entry, and where those are the
//!   majority, the headings are sections of one text and nothing is split.
//! - Everything below the heading of an entry belongs to it, up to the next heading of its level.

use std::collections::HashSet;

use super::entry::{self, Facts, Fields, Shape};
use super::kind::{self, Renamed, Typed, Vocabulary};
use super::load::Loaded;
use super::markup::{Heading, Page};
use super::{fields, layout, markup, names};
use crate::domain::book::Warning;
use crate::domain::codex::{Entry, EntryType, TypeFrom};
use crate::domain::passage::fold;

/// How sure the place of a file makes its being canon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A canon folder.
    Codex,
    /// Inside a folder of entries of one type.
    Typed(EntryType),
    /// Anywhere else in the book.
    Elsewhere,
    /// Where chapters are.
    AmongChapters,
}

/// A heading with the lines that belong to its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    heading: Heading,
    /// First line behind it that belongs to another.
    end: usize,
    typed: Typed,
}

/// Reads the entries of a file that holds many; none where it is one entry or no canon.
pub fn entries(file: &Loaded, page: &Page<'_>, place: Place, words: &Vocabulary) -> Vec<Entry> {
    let parts = parts(file, page, place, words);
    if parts.is_empty() {
        return vec![];
    }
    let starts = line_starts(file);
    let mut taken = HashSet::new();
    let mut entries: Vec<Entry> = Vec::with_capacity(parts.len());
    for part in &parts {
        let start = starts.get(part.heading.line + part.heading.height).copied();
        let body = start.unwrap_or(file.text.len())..starts.get(part.end).copied().unwrap_or(file.text.len());
        let mut entry = read_part(file, page, part, body, words);
        let heading = &part.heading.text;
        let unique =
            (1..).map(|times| if times == 1 { heading.clone() } else { format!("{heading} ({times})") });
        let unique = unique.into_iter().find(|name| taken.insert(name.clone()));
        if unique.as_ref() != Some(heading) {
            let above = file.text[..file.split.body_start].bytes().filter(|b| *b == b'\n').count();
            let line = part.heading.line + 1 + above;
            let message =
                format!("`{heading}` is a heading in this list once more; each one is an entry of its own");
            entry.warnings.push(Warning { path: file.path.clone(), line, column: 1, message });
        }
        entry.heading = unique;
        entries.push(entry);
    }
    entries
}

fn read_part(
    file: &Loaded,
    page: &Page<'_>,
    part: &Part,
    body: std::ops::Range<usize>,
    words: &Vocabulary,
) -> Entry {
    let first = part.heading.line + part.heading.height;
    let own = page_of(page, first, part.end);
    let fields = Fields::of(&serde_json::Map::new(), &Renamed::default(), &own.lines, words);
    let heading_line = page.lines.get(part.heading.line).map(AsRef::as_ref).unwrap_or_default();
    let tagged = || markup::hashtags(heading_line).find_map(|tag| words.tag(tag));
    let own_type = words.key_type(&fields.all).map(|typed| fields.renamed.as_written(typed));
    let own_type = own_type.or_else(tagged).or_else(|| fields.own_type(&own.lines, words));
    let typed = own_type.unwrap_or_else(|| part.typed.clone());
    let facts = Facts::of_part(fields, &own, &part.heading.text, typed.0, words);
    let mut entry = facts.whole(file, typed);
    entry.body = body;
    entry
}

/// The lines of a part as a page of their own.
fn page_of<'p>(page: &'p Page<'_>, first: usize, end: usize) -> Page<'p> {
    let lines = page.lines.get(first..end).unwrap_or_default();
    let headings = page.headings.iter().filter(|h| (first..end).contains(&h.line));
    Page {
        lines: lines.iter().map(|line| std::borrow::Cow::Borrowed(line.as_ref())).collect(),
        headings: headings.map(|h| Heading { line: h.line - first, ..h.clone() }).collect(),
    }
}

/// Bytes of the file where the lines of its body start.
fn line_starts(file: &Loaded) -> Vec<usize> {
    let from = file.split.body_start;
    let breaks = file.body().bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| from + at + 1);
    std::iter::once(from).chain(breaks).collect()
}

/// Whether the frontmatter gives a file a name or other names, as only an entry has them.
pub fn has_name(file: &Loaded) -> bool {
    fields::get(&file.front.fields, &["name", "aliases", "alias", "aka"]).is_some()
}

fn parts(file: &Loaded, page: &Page<'_>, place: Place, words: &Vocabulary) -> Vec<Part> {
    let front = &file.front.fields;
    let is_one = matches!(Shape::of(&file.path), Shape::Dossier | Shape::Index | Shape::Soul)
        || has_name(file)
        || words.key_type(front).is_some();
    if is_one || page.headings.is_empty() {
        return vec![];
    }
    let stem = names::without_id(file.path.stem());
    let listed = words.label(stem).filter(|meaning| meaning.many);
    let tagged = kind::tags(front).iter().find_map(|tag| words.tag(tag)).map(|(entry_type, _)| entry_type);
    if let Some(meaning) = listed.filter(|meaning| tagged.is_none_or(|tag| tag == meaning.entry_type)) {
        let typed = (meaning.entry_type, TypeFrom::File(file.path.file_name().to_owned()));
        let split = Split { page, words };
        let parts = split.list(&typed, stem);
        // Among chapters a single name could as well be the title of one.
        return if place == Place::AmongChapters && parts.len() < 2 { vec![] } else { parts };
    }
    if tagged.is_some() || matches!(place, Place::Typed(_)) {
        return vec![];
    }
    let named = layout::is_bible(stem);
    Split { page, words }.bible(place == Place::Codex || named)
}

struct Split<'a> {
    page: &'a Page<'a>,
    words: &'a Vocabulary,
}

impl Split<'_> {
    /// The entries of a file that lists things of one type.
    fn list(&self, typed: &Typed, stem: &str) -> Vec<Part> {
        let all = &self.page.headings[..];
        let Some((first, others)) = all.split_first() else { return vec![] };
        let is_title = if others.is_empty() {
            fold(&first.text) == fold(stem) || self.words.label(&first.text).is_some()
        } else {
            others.iter().all(|other| other.level > first.level)
        };
        self.under(if is_title { others } else { all }, self.page.lines.len(), typed)
    }

    /// The entries of a file that sorts things by type. Unless `is_sure`, one heading for many is not enough.
    fn bible(&self, is_sure: bool) -> Vec<Part> {
        let all = &self.page.headings[..];
        let (mut parts, mut groups, mut group_level) = (vec![], 0, 0);
        let mut single: Vec<(usize, Typed)> = vec![];
        let mut at = 0;
        while let Some(heading) = all.get(at) {
            let below = below(all, at);
            let Some(meaning) = self.words.label(&heading.text) else {
                at += 1;
                continue;
            };
            let typed = (meaning.entry_type, TypeFrom::Heading(heading.text.clone()));
            if !meaning.many {
                single.push((at, typed));
                at += 1;
                continue;
            }
            let found = self.under(&all[at + 1..at + 1 + below], self.end(all, at), &typed);
            if !found.is_empty() && (groups == 0 || heading.level == group_level) {
                groups += 1;
                group_level = heading.level;
                parts.extend(found);
            }
            at += 1 + below;
        }
        if groups == 0 || !(is_sure || groups > 1) {
            return vec![];
        }
        let beside = single.into_iter().filter(|(at, _)| all[*at].level == group_level);
        parts.extend(beside.map(|(at, typed)| Part {
            heading: all[at].clone(),
            end: self.end(all, at),
            typed,
        }));
        parts.sort_by_key(|part| part.heading.line);
        parts
    }

    /// First line behind the section of the heading at `at`.
    fn end(&self, all: &[Heading], at: usize) -> usize {
        all.get(at + 1 + below(all, at)).map_or(self.page.lines.len(), |next| next.line)
    }

    /// The entries among headings that stand over things of one type.
    fn under(&self, all: &[Heading], end: usize, typed: &Typed) -> Vec<Part> {
        let Some(level) = all.iter().map(|heading| heading.level).min() else { return vec![] };
        let (mut parts, mut sections, mut names) = (vec![], 0, 0);
        for (at, heading) in all.iter().enumerate().filter(|(_, heading)| heading.level == level) {
            let below = below(all, at);
            let own_end = all.get(at + 1 + below).map_or(end, |next| next.line);
            let inner = &all[at + 1..at + 1 + below];
            let meaning = self.words.label(&heading.text).filter(|meaning| meaning.many);
            if meaning.is_some() || kind::is_group(&heading.text) {
                let inner_type = match meaning {
                    Some(m) if m.entry_type != typed.0 => {
                        (m.entry_type, TypeFrom::Heading(heading.text.clone()))
                    }
                    _ => typed.clone(),
                };
                let found = self.under(inner, own_end, &inner_type);
                names += found.len();
                parts.extend(found);
            } else if entry::is_section(&heading.text) {
                sections += 1;
            } else if heading.text.chars().any(char::is_alphabetic) {
                names += 1;
                parts.push(Part { heading: heading.clone(), end: own_end, typed: typed.clone() });
            }
        }
        if sections > names { vec![] } else { parts }
    }
}

/// How many headings stand below the one at `at`.
fn below(all: &[Heading], at: usize) -> usize {
    let deeper = |next: &&Heading| next.level > all[at].level;
    all[at + 1..].iter().take_while(deeper).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::BookPath;

    fn split(path: &str, place: Place, text: &str) -> Vec<Entry> {
        let words = Vocabulary::default();
        let file = Loaded::of(BookPath::new(path).unwrap(), text.into(), &words);
        entries(&file, &Page::of(file.body()), place, &words)
    }

    fn names(path: &str, place: Place, text: &str) -> Vec<String> {
        split(path, place, text).into_iter().map(|e| format!("{} {}", e.entry_type, e.name)).collect()
    }

    #[test]
    fn a_list_is_split_and_what_only_looks_like_one_is_not() {
        let table: [(&str, &str, &[&str]); 12] = [
            (
                "characters.md",
                "# Characters\n## Mira\n### Voice\n## Tobias\n",
                &["character Mira", "character Tobias"],
            ),
            ("characters.md", "# Mira\n# Tobias\n", &["character Mira", "character Tobias"]),
            ("characters.md", "## Overview\n## Mira\n", &["character Mira"]),
            ("places.md", "---\ntitle: Places\n---\nMira\n====\n", &["location Mira"]),
            ("characters.md", "# Characters\n", &[]),
            ("characters.md", "## Appearance\n## Background\n## Mira\n", &[]),
            ("characters.md", "---\nname: The Cast\n---\n## Mira\n", &[]),
            ("characters.md", "---\naliases: [cast]\n---\n## Mira\n", &[]),
            ("characters.md", "---\ntype: character\n---\n## Mira\n", &[]),
            ("character.md", "## Mira\n## Tobias\n", &[]),
            ("magic.md", "## Rules\n## Costs of it\n", &[]),
            ("characters/index.md", "## Mira\n", &[]),
        ];
        for (path, text, expected) in table {
            assert_eq!(names(path, Place::Codex, text), expected, "{path} {text:?}");
        }
    }

    #[test]
    fn a_bible_is_split_where_that_is_sure() {
        let text = "# Characters\n## Mira\n# Places\n## Lantern\n# Magic\nNone.\n# Plans\n## More\n";
        let all = ["character Mira", "location Lantern", "concept Magic"];
        assert_eq!(names("notes on it.md", Place::Codex, text), all);
        assert_eq!(names("bible.md", Place::AmongChapters, text), all);
        let one = "# The Hollow Crown\n## Characters\n### Minor\n#### Mira\n";
        assert_eq!(names("Series Bible.md", Place::Elsewhere, one), ["character Mira"]);
        assert_eq!(names("world.md", Place::Codex, one), ["character Mira"]);
        let none: [&str; 0] = [];
        assert_eq!(
            names("thoughts.md", Place::Elsewhere, one),
            none,
            "one heading elsewhere says too little"
        );
        assert_eq!(names("lantern.md", Place::Typed(EntryType::Location), text), none);
        assert_eq!(names("bible.md", Place::Codex, "# Characters\n# Places\n"), none);
        assert_eq!(names("bible.md", Place::Codex, "# Characters\n## Appearance\n"), none);
    }

    #[test]
    fn an_entry_has_what_stands_below_its_heading_and_nothing_else() {
        let text = "---\ntitle: Cast\n---\n# Cast\n\nAll of them.\n\n## [[Mira|Mira Okafor]] (aka Mouse)\nRole: pilot\n\nShe flies.\n\n### Wound\nDeep.\n\n## Lantern\ntype:: place\n\n## Lantern\n";
        let all = split("cast.md", Place::Codex, text);
        let mira = &all[0];
        assert_eq!((mira.name.as_str(), mira.aliases.as_slice()), ("Mira Okafor", &["Mouse".to_owned()][..]));
        assert_eq!(mira.body(), "Role: pilot\n\nShe flies.\n\n### Wound\nDeep.\n\n");
        assert_eq!((mira.line(), mira.summary.as_str()), (8, "She flies."));
        assert_eq!(mira.fields["Role"], "pilot");
        assert_eq!(mira.address(), "cast.md#Mira Okafor (aka Mouse)");
        assert!(mira.own_text().starts_with("## [[Mira|") && mira.own_text().ends_with("Deep.\n\n"));
        assert_eq!(
            (all[1].entry_type, &all[1].type_from),
            (EntryType::Location, &TypeFrom::Key("type".into()))
        );
        assert_eq!((all[2].heading.as_deref(), all[2].body()), (Some("Lantern (2)"), ""));
        assert_eq!((all[2].warnings[0].line, all[2].warnings[0].column), (19, 1));
    }
}
