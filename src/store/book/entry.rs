//! A Markdown file as a Codex entry: its type, name, aliases and summary.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::load::Loaded;
use super::{fields, kind, markup};
use crate::domain::codex::{Entry, EntryType, TypeFrom};
use crate::domain::ids::BookPath;
use crate::domain::passage::{fold, readable_stem};

/// Which part of a folder's entry a file is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// `dossier.md`: the folder is one entry.
    Dossier,
    /// `index.md` or `README.md`: named after the folder, too.
    Index,
    /// `soul.md` beside one of those.
    Soul,
    /// Any other file: an entry of its own.
    Own,
}

impl Part {
    /// Reads the part from a file's name.
    pub fn of(path: &BookPath) -> Self {
        match path.stem().to_lowercase().as_str() {
            "dossier" => Self::Dossier,
            "index" | "_index" | "readme" => Self::Index,
            "soul" => Self::Soul,
            _ => Self::Own,
        }
    }
}

/// Returns the name of the folder that holds a file.
pub fn folder_name(path: &BookPath) -> Option<&str> {
    path.parent().map(|parent| parent.rsplit('/').next().unwrap_or(parent))
}

/// The type that a file gives itself: frontmatter, or a Dataview field or tag in its body where `body_counts`.
pub fn own_type(file: &Loaded, body_counts: bool) -> Option<(EntryType, TypeFrom)> {
    let own = kind::from_fields(&file.front.fields).or_else(|| {
        let body = &file.text[file.split.body_start..];
        if !body_counts || !(body.contains('#') || body.contains("::")) {
            return None;
        }
        let lines = markup::lines(body);
        let inline = with_dataview(&Map::new(), &lines);
        kind::from_fields(&inline)
            .or_else(|| lines.iter().flat_map(|line| markup::hashtags(line)).find_map(kind::from_tag))
    });
    own.map(|entry_type| (entry_type, TypeFrom::Key("type".to_owned())))
}

/// The type that the nearest folder above a file names.
pub fn folder_type(path: &BookPath) -> Option<(EntryType, TypeFrom)> {
    path.parent()?
        .rsplit('/')
        .find_map(|name| Some((kind::from_folder(name)?, TypeFrom::Folder(name.to_owned()))))
}

/// Reads an entry of a type that is known by now.
pub fn entry(file: &Loaded, (entry_type, type_from): (EntryType, TypeFrom)) -> Entry {
    let body = &file.text[file.split.body_start..];
    let lines = markup::lines(body);
    let headings = markup::headings(&lines);
    let mut all = with_dataview(&file.front.fields, &lines);
    let given = |keys: &[&str]| fields::get(&all, keys).and_then(fields::text);
    let named = given(&["name"]);
    let title = if named.is_some() { given(&["title"]) } else { None };
    let name = named
        .or_else(|| given(&["title"]))
        .or_else(|| heading_name(&lines, &headings))
        .unwrap_or_else(|| readable_stem(stem(&file.path)));
    let aliases = aliases(&all, &lines, &name);
    let summary = given(&["summary", "description"])
        .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
        .or_else(|| summary_section(&lines, &headings))
        .unwrap_or_else(|| markup::first_prose(&lines));
    all.values_mut().for_each(fields::show_links);
    Entry {
        path: file.path.clone(),
        entry_type,
        name,
        title,
        aliases,
        summary,
        fields: all,
        text: Arc::clone(&file.text),
        body: file.split.body_start..file.text.len(),
        heading: None,
        type_from,
        soul: None,
        warnings: file.warnings(),
    }
}

/// The stem that names an entry: of a folder's main file it is the folder's name.
fn stem(path: &BookPath) -> &str {
    match Part::of(path) {
        Part::Own => path.stem(),
        _ => folder_name(path).unwrap_or_else(|| path.stem()),
    }
}

/// Adds the Dataview fields of a body to the frontmatter's, which count first.
fn with_dataview(front: &Map<String, Value>, lines: &[Cow<'_, str>]) -> Map<String, Value> {
    let mut all = front.clone();
    for (key, value) in lines.iter().flat_map(|line| markup::dataview_fields(line)) {
        let known = all.keys().any(|name| fold(name) == fold(key));
        if !known && !value.is_empty() {
            all.insert(key.to_owned(), Value::from(value));
        }
    }
    all
}

/// The first heading as a name: one of the first level, or one that opens the body; never the title of a usual section.
fn heading_name(lines: &[Cow<'_, str>], headings: &[markup::Heading]) -> Option<String> {
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
    let opens = |heading: &markup::Heading| lines[..heading.line].iter().all(|line| line.trim().is_empty());
    headings
        .iter()
        .find(|heading| heading.level == 1)
        .or_else(|| headings.first().filter(|first| opens(first)))
        .map(|heading| heading.text.clone())
        .filter(|text| !SECTIONS.contains(&fold(text).as_str()))
}

/// Other names from the frontmatter and from `Aliases:` lines, each once, without the name itself.
fn aliases(all: &Map<String, Value>, lines: &[Cow<'_, str>], name: &str) -> Vec<String> {
    const LABELS: [&str; 6] = ["aliases", "alias", "aka", "a.k.a.", "a.k.a", "also known as"];
    let mut found = vec![];
    for key in ["aliases", "alias", "aka"] {
        match fields::get(all, &[key]) {
            Some(Value::String(text)) => found.extend(markup::split_names(text)),
            Some(value) => found.extend(fields::texts(value)),
            None => {}
        }
    }
    for line in lines {
        if let Some(field) = markup::labelled(line)
            && !field.dataview
            && LABELS.contains(&fold(field.label).as_str())
        {
            found.extend(markup::split_names(field.value));
        }
    }
    let mut seen = std::collections::HashSet::from([name.to_owned()]);
    found.retain(|alias| seen.insert(alias.clone()));
    found
}

/// The first paragraph below `## Summary`.
fn summary_section(lines: &[Cow<'_, str>], headings: &[markup::Heading]) -> Option<String> {
    let at = headings.iter().position(|heading| fold(&heading.text) == "summary")?;
    let end = headings.get(at + 1).map_or(lines.len(), |next| next.line);
    let summary = markup::first_prose(&lines[headings[at].line + 1..end]);
    (!summary.is_empty()).then_some(summary)
}
