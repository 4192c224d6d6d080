//! A Markdown file, or a part of one, as a Codex entry: its type, name, aliases and summary.
//!
//! Pure: what is read depends on the text, its path and the book's words alone. A file that is not read as meant is an entry all the same.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::kind::{self, Renamed, Typed, Vocabulary};
use super::load::Loaded;
use super::markup::{self, Page};
use super::{fields, names};
use crate::domain::codex::{Entry, EntryType};
use crate::domain::ids::BookPath;
use crate::domain::passage::{fold, readable_stem};

/// Which part of a folder's entry a file is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// `dossier.md`: the folder is one entry.
    Dossier,
    /// `index.md` or `README.md`: named after the folder, too.
    Index,
    /// `Mira Okafor/Mira Okafor.md`: named like its folder.
    FolderNote,
    /// `soul.md` beside one of those.
    Soul,
    /// Any other file: an entry of its own, or a list of entries.
    Own,
}

impl Shape {
    /// Reads the shape from a file's name.
    pub fn of(path: &BookPath) -> Self {
        match path.stem().to_lowercase().as_str() {
            "dossier" => Self::Dossier,
            "index" | "_index" | "readme" => Self::Index,
            "soul" => Self::Soul,
            stem if folder_name(path).is_some_and(|folder| folder.to_lowercase() == stem) => Self::FolderNote,
            _ => Self::Own,
        }
    }
}

/// Returns the name of the folder that holds a file.
pub fn folder_name(path: &BookPath) -> Option<&str> {
    path.parent().map(|parent| parent.rsplit('/').next().unwrap_or(parent))
}

/// What a file or a part of one says in keys and values.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    /// Frontmatter, then Dataview fields, then the `Key: value` lines at the top; what stands first counts.
    pub all: Map<String, Value>,
    /// Keys that the settings map to others.
    pub renamed: Renamed,
    /// How many of `all` are frontmatter.
    front: usize,
}

/// Most words of a section that is a role and no text about it.
const ROLE_WORDS: usize = 8;

/// The one line of a section `Role`.
fn role_section<'a>(lines: &'a [Cow<'_, str>]) -> Option<&'a str> {
    if !lines.iter().any(|line| line.trim_end_matches(['#', ' ', ':']).ends_with("ole")) {
        return None;
    }
    let headings = markup::headings(lines);
    let at = headings.iter().position(|h| matches!(fold(&h.text).as_str(), "role" | "narrative role"))?;
    let end = headings.get(at + 1).map_or(lines.len(), |next| next.line);
    let mut said = lines[headings[at].line + headings[at].height..end]
        .iter()
        .map(|line| line.trim())
        .filter(|l| !l.is_empty());
    let role = said.next()?;
    let is_line =
        role.split_whitespace().count() <= ROLE_WORDS && !role.starts_with(['-', '*', '>', '|', '=']);
    (is_line && said.next().is_none()).then_some(role)
}

/// Keys of a summary, strongest first.
const SUMMARY: [&str; 3] = ["summary", "description", "synopsis"];

impl Fields {
    /// Reads a file, or a part of one without frontmatter.
    pub fn of(
        front: &Map<String, Value>,
        renamed: &Renamed,
        lines: &[Cow<'_, str>],
        words: &Vocabulary,
    ) -> Self {
        let mut fields = Self { all: front.clone(), renamed: renamed.clone(), front: front.len() };
        for line in lines.iter().filter(|line| line.contains("::")) {
            for (key, value) in markup::dataview_fields(line) {
                fields.add(key, value, words);
            }
        }
        for (key, value) in markup::top_fields(lines, words) {
            fields.add(key, value, words);
        }
        if let Some(role) = role_section(lines) {
            fields.add("role", role, words);
        }
        fields
    }

    fn add(&mut self, key: &str, value: &str, words: &Vocabulary) {
        let name = words.key(key);
        let is_known = || {
            let folded = fold(name);
            self.all.keys().any(|known| known == name || fold(known) == folded)
        };
        if value.is_empty() || is_known() {
            return;
        }
        if name != key {
            self.renamed.0.push((name.to_owned(), key.to_owned()));
        }
        self.all.insert(name.to_owned(), Value::from(value));
    }

    fn given(&self, keys: &[&str]) -> Option<String> {
        fields::get(&self.all, keys).and_then(fields::text)
    }

    /// Whether a key says what the summary is.
    pub fn gives_summary(&self) -> bool {
        self.given(&SUMMARY).is_some()
    }

    /// A title that stands in the frontmatter may be the name; one in the text is only ever a title.
    fn front_title(&self) -> Option<String> {
        let (key, value) = fields::find(&self.all, &["title"])?;
        let at = self.all.keys().position(|known| known == key)?;
        if at < self.front { fields::text(value) } else { None }
    }

    /// The type that keys, frontmatter tags and lines of tags give.
    pub fn own_type(&self, lines: &[Cow<'_, str>], words: &Vocabulary) -> Option<Typed> {
        let given = words.fields(&self.all).map(|typed| self.renamed.as_written(typed));
        given.or_else(|| {
            let tagged = lines
                .iter()
                .filter(|line| line.contains('#') && (markup::atx(line).is_some() || markup::is_tags(line)));
            tagged.flat_map(|line| markup::hashtags(line)).find_map(|tag| words.tag(tag))
        })
    }
}

/// The type that a tag in the running text gives: one that ends a line or, `anywhere`, any.
pub fn inline_tag(lines: &[Cow<'_, str>], anywhere: bool, words: &Vocabulary) -> Option<Typed> {
    let tagged = lines.iter().filter(|line| line.contains('#'));
    if anywhere {
        return tagged.flat_map(|line| markup::hashtags(line)).find_map(|tag| words.tag(tag));
    }
    tagged.flat_map(|line| markup::closing_tags(line)).find_map(|tag| words.tag(tag))
}

/// What makes an entry, apart from where it stands.
#[derive(Debug, Clone)]
pub struct Facts {
    /// See [`Entry`].
    pub name: String,
    /// See [`Entry`].
    pub title: Option<String>,
    /// See [`Entry`].
    pub aliases: Vec<String>,
    /// See [`Entry`].
    pub summary: String,
    /// See [`Entry`].
    pub fields: Map<String, Value>,
}

impl Facts {
    /// Reads an entry that is a whole file; the path names it where nothing else does.
    pub fn of_file(
        fields: Fields,
        page: &Page<'_>,
        path: &BookPath,
        entry_type: EntryType,
        words: &Vocabulary,
    ) -> Self {
        let heading = heading_name(page).map(|text| names::of_heading(&text, entry_type, false));
        let stem = names::of_stem(naming_stem(path, words), entry_type);
        Self::read(fields, page, heading, stem, words)
    }

    /// Reads an entry that stands under `heading` in a file with others.
    pub fn of_part(
        fields: Fields,
        page: &Page<'_>,
        heading: &str,
        entry_type: EntryType,
        words: &Vocabulary,
    ) -> Self {
        let named = names::of_heading(heading, entry_type, true);
        Self::read(fields, page, Some(named), heading, words)
    }

    fn read(
        fields: Fields,
        page: &Page<'_>,
        heading: Option<names::Named>,
        stem: &str,
        words: &Vocabulary,
    ) -> Self {
        let named = fields.given(&["name"]);
        let front_title = fields.front_title();
        let title = if named.is_some() || front_title.is_none() { fields.given(&["title"]) } else { None };
        let (in_heading, also) = heading.map_or((None, vec![]), |h| (Some(h.name), h.aliases));
        let name = named.or(front_title).or(in_heading).unwrap_or_else(|| readable_stem(stem));
        let aliases = aliases(&fields.all, &page.lines, also, &name, words);
        let summary = fields.given(&SUMMARY).map_or_else(
            || summary(page, words),
            |text| text.split_whitespace().collect::<Vec<_>>().join(" "),
        );
        let mut all = fields.all;
        all.values_mut().for_each(fields::show_links);
        Self { name, title, aliases, summary, fields: all }
    }

    /// Puts an entry together that is a whole file.
    pub fn whole(self, file: &Loaded, (entry_type, type_from): Typed) -> Entry {
        Entry {
            path: file.path.clone(),
            entry_type,
            name: self.name,
            title: self.title,
            aliases: self.aliases,
            summary: self.summary,
            fields: self.fields,
            text: Arc::clone(&file.text),
            body: file.split.body_start..file.text.len(),
            heading: None,
            type_from,
            soul: None,
            warnings: file.warnings(),
        }
    }

    /// Takes name, summary and the like over into an entry that stands already.
    pub fn into_entry(self, entry: &mut Entry) {
        entry.name = self.name;
        entry.title = self.title;
        entry.aliases = self.aliases;
        entry.summary = self.summary;
        entry.fields = self.fields;
    }
}

/// The stem that names an entry: of a folder's main file it is the folder's name.
fn naming_stem<'p>(path: &'p BookPath, words: &Vocabulary) -> &'p str {
    match Shape::of(path) {
        Shape::Own => words.stem(path.stem()).map_or_else(|| path.stem(), |(_, name)| name),
        _ => folder_name(path).unwrap_or_else(|| path.stem()),
    }
}

/// Titles of usual sections, folded: no entry is called so.
const SECTIONS: [&str; 22] = [
    "summary",
    "overview",
    "description",
    "appearance",
    "background",
    "backstory",
    "personality",
    "details",
    "notes",
    "aliases",
    "history",
    "role",
    "traits",
    "goals",
    "relationships",
    "dossier",
    "profile",
    "character sheet",
    "basic information",
    "basics",
    "soul",
    "properties",
];

/// More titles of sections; among the headings of a list they name no entry either.
const MORE_SECTIONS: [&str; 32] = [
    "introduction",
    "contents",
    "table of contents",
    "index",
    "links",
    "see also",
    "sources",
    "references",
    "to do",
    "todo",
    "ideas",
    "themes",
    "motivation",
    "fears",
    "arc",
    "character arc",
    "voice",
    "quotes",
    "family",
    "early life",
    "biography",
    "bio",
    "abilities",
    "skills",
    "strengths",
    "weaknesses",
    "secrets",
    "questions",
    "open questions",
    "misc",
    "trivia",
    "physical description",
];

/// Whether a heading is the title of a usual section.
pub fn is_section(heading: &str) -> bool {
    let folded = fold(heading.trim_end_matches([':', '.']));
    SECTIONS.contains(&folded.as_str()) || MORE_SECTIONS.contains(&folded.as_str())
}

/// The first heading as a name: one of the first level, or one that opens the body; never the title of a usual section.
fn heading_name(page: &Page<'_>) -> Option<String> {
    let opens =
        |heading: &markup::Heading| page.lines[..heading.line].iter().all(|line| line.trim().is_empty());
    page.headings
        .iter()
        .find(|heading| heading.level == 1)
        .or_else(|| page.headings.first().filter(|first| opens(first)))
        .map(|heading| heading.text.clone())
        .filter(|text| !SECTIONS.contains(&fold(text).as_str()))
}

/// Other names from keys, from `Aliases:` lines and rows of tables, and from the heading, each once, without the name itself.
fn aliases(
    all: &Map<String, Value>,
    lines: &[Cow<'_, str>],
    in_heading: Vec<String>,
    name: &str,
    words: &Vocabulary,
) -> Vec<String> {
    const KEYS: [&str; 6] = ["aliases", "alias", "aka", "a.k.a.", "a.k.a", "also known as"];
    let mut found = vec![];
    for key in KEYS {
        match fields::get(all, &[key]) {
            Some(Value::String(text)) => found.extend(markup::split_names(text)),
            Some(value) => found.extend(fields::texts(value)),
            None => {}
        }
    }
    for line in lines.iter().filter(|line| line.contains(':')) {
        if let Some(field) = markup::labelled(line)
            && !field.dataview
            && KEYS.contains(&fold(words.key(field.label)).as_str())
        {
            found.extend(markup::split_names(field.value));
        }
    }
    if lines.iter().any(|line| line.contains('|')) {
        let rows = markup::table_fields(lines, words);
        let rows = rows.iter().filter(|(label, _)| KEYS.contains(&fold(words.key(label)).as_str()));
        rows.for_each(|(_, value)| found.extend(markup::split_names(value)));
    }
    // novelWriter's `@tag: Jane | Jane Doe`.
    let tags = lines.iter().filter_map(|line| line.trim().strip_prefix("@tag:"));
    tags.for_each(|tag| found.extend(tag.split('|').flat_map(markup::split_names)));
    found.extend(in_heading);
    let mut seen = std::collections::HashSet::from([name.to_owned()]);
    found.retain(|alias| alias.chars().any(char::is_alphanumeric) && seen.insert(alias.clone()));
    found
}

/// The summary of a text that no key gives one: the section `Summary`, else the first prose.
pub fn summary(page: &Page<'_>, words: &Vocabulary) -> String {
    summary_section(page, words).unwrap_or_else(|| markup::first_prose(&page.lines, words))
}

/// The first paragraph below `## Summary`.
fn summary_section(page: &Page<'_>, words: &Vocabulary) -> Option<String> {
    let is_summary = |heading: &markup::Heading| {
        heading.text.len() < 40 && fold(words.key(heading.text.trim_end_matches(':'))) == "summary"
    };
    let at = page.headings.iter().position(is_summary)?;
    let end = page.headings.get(at + 1).map_or(page.lines.len(), |next| next.line);
    let start = page.headings[at].line + page.headings[at].height;
    let summary = markup::first_prose(page.lines.get(start..end)?, words);
    (!summary.is_empty()).then_some(summary)
}

/// Whether a file is a drawing or a board of a plugin, and no text.
pub fn is_of_a_plugin(front: &Map<String, Value>) -> bool {
    front.keys().any(|key| matches!(fold(key).as_str(), "excalidraw plugin" | "kanban plugin"))
}

/// Whether a file of this stem is surely a guide to style, wherever it stands.
pub fn is_guide(stem: &str) -> bool {
    matches!(fold(stem).as_str(), "style guide" | "style sheet" | "styleguide" | "stylesheet" | "house style")
}

/// The type that the name of a file gives, for files that no folder and no key of their own gives one.
pub fn stem_type(path: &BookPath, words: &Vocabulary) -> Option<kind::Meaning> {
    let stem = names::without_id(path.stem());
    words
        .label(stem)
        .or_else(|| words.stem(stem).map(|(entry_type, _)| kind::Meaning { entry_type, many: false }))
}
