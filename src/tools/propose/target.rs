//! Works out what one file would be, from the place that a model names and the text that it sends for it.
//!
//! A place is, in this order: the Role field, the soul, a section of the dossier or the soul, a frontmatter field, a `Key: value` line, the
//! whole text of an entry without headings, a new section at its end. In a file of many entries it lies in the entry's own part.

use serde_json::{Map, Value, json};

use super::field::{FieldProblem, change_field};
use super::own::OwnKeys;
use super::soul::{self, NewSoul};
use crate::domain::codex::{Entry, EntryType};
use crate::domain::frontmatter;
use crate::domain::ids::BookPath;
use crate::domain::passage;
use crate::proposal::change::{self, FieldLine, Part, Section};
use crate::proposal::role;
use crate::tools::read::shorten;
use crate::tools::{Desk, ToolError};

/// Longest heading of a new section, in characters.
const MAX_HEADING: usize = 100;

/// Ways to say "all of the text" instead of a section.
const WHOLE: [&str; 8] =
    ["body", "text", "content", "file", "entry", "document", "whole entry", "entire entry"];

/// A change that a model asks for.
pub(super) struct Revision<'a> {
    pub tool: &'static str,
    pub entry_type: EntryType,
    pub name: &'a str,
    pub summary: &'a str,
    pub target: &'a str,
    pub markdown: &'a str,
    pub append: bool,
}

/// One file of an entry, the dossier or the soul, with the part of it that is the entry's own.
#[derive(Clone)]
pub(super) struct File<'a> {
    pub path: &'a BookPath,
    pub text: &'a str,
    pub part: Part,
    /// The entry's own heading, where the file holds others too.
    pub heading: Option<&'a str>,
}

impl File<'_> {
    fn sections(&self, target: &str) -> Vec<Section> {
        self.part.find(self.text, target)
    }
}

/// A change that was worked out.
pub(super) struct Change<'a> {
    pub file: File<'a>,
    /// What kind of change: `replace`, `append`, `new section`, `role` or `field`.
    pub what: &'static str,
    /// The place as the file names it.
    pub target: String,
    /// The words there now, as they stand in the file where `is_stretch` says so.
    pub current: String,
    pub is_stretch: bool,
    /// The words that are proposed.
    pub wanted: String,
    /// The whole file with them.
    pub proposed: String,
    pub warnings: Vec<String>,
}

/// What came of working out a change.
pub(super) enum Worked<'a> {
    Change(Box<Change<'a>>),
    /// The section was not seen whole.
    Unseen {
        file: File<'a>,
        section: Section,
    },
    /// A character gets its first soul.
    Soul(NewSoul),
}

/// Works the change out. See the module.
pub(super) fn work_out<'a>(
    desk: &Desk<'_>,
    revision: &Revision<'_>,
    entry: &'a Entry,
) -> Result<Worked<'a>, ToolError> {
    let main = File {
        path: &entry.path,
        text: &entry.text,
        part: Part::of(entry),
        heading: entry.heading.as_deref(),
    };
    let soul = entry.soul.as_ref().map(|s| File {
        path: &s.path,
        text: &s.text,
        part: Part::file(&s.text),
        heading: None,
    });
    let changed = |change: Change<'a>| Ok(Worked::Change(Box::new(change)));
    let of_soul = soul::is_soul(revision.target);
    let own = OwnKeys(&desk.book.settings.codex_keys);
    let is_role = || {
        role::is_role_change(revision.target, revision.summary, revision.markdown)
            || own.of("role").contains(&passage::fold(revision.target))
    };
    if entry.entry_type == EntryType::Character && !of_soul && is_role() {
        return changed(change_role(revision, main, own)?);
    }
    if of_soul {
        return match soul {
            Some(file) => whole_soul(desk, revision, file),
            None => soul::first_soul(desk.book, entry, revision.markdown).map(Worked::Soul),
        };
    }
    let (places, target) = places(&main, soul, revision.target);
    let sections = |target: &str| -> Vec<(&File<'a>, Section)> {
        let of_file = |file| File::sections(file, target).into_iter().map(move |section| (file, section));
        places.iter().flat_map(of_file).collect()
    };
    let mut found = sections(target);
    if found.is_empty() {
        found = own.of(target).iter().flat_map(|own| sections(own)).collect();
    }
    match &found[..] {
        [] => {}
        [(file, section)] => return change_section(desk, revision, (*file).clone(), section),
        _ => return Err(ambiguous(revision.target, &found, places.len() > 1)),
    }
    if let Some(change) = field(revision, &main, target, own)? {
        return changed(change);
    }
    let file = places.into_iter().next().unwrap_or(main);
    let is_whole = WHOLE.contains(&passage::fold(target).as_str());
    let is_entry = passage::fold(target) == passage::fold(file.heading.unwrap_or(&entry.name));
    if is_whole || is_entry || passage::fold(target) == "frontmatter" {
        return whole_body(desk, revision, file, target, is_entry);
    }
    changed(new_section(revision, file, target)?)
}

/// The files in which a target is looked for, and the target without the file's name: `soul.md / Fears`, `dossier.md / Voice`.
fn places<'a, 't>(main: &File<'a>, soul: Option<File<'a>>, target: &'t str) -> (Vec<File<'a>>, &'t str) {
    if let Some((name, rest)) = target.split_once('/').filter(|(_, rest)| !rest.trim().is_empty()) {
        if soul::is_soul(name)
            && let Some(soul) = soul
        {
            return (vec![soul], rest.trim());
        }
        if name.trim().eq_ignore_ascii_case(main.path.file_name()) {
            return (vec![main.clone()], rest.trim());
        }
    }
    (std::iter::once(main.clone()).chain(soul).collect(), target)
}

/// The answer when several sections bear the name: how each of them can be named.
fn ambiguous(target: &str, found: &[(&File<'_>, Section)], many_files: bool) -> ToolError {
    let name = |(file, section): &(&File<'_>, Section)| {
        let qualified = change::qualified(&change::sections(file.text), section);
        if many_files { format!("{} / {qualified}", file.path.file_name()) } else { qualified }
    };
    let names: Vec<String> = found.iter().map(name).collect();
    let mut told = names.clone();
    told.sort_unstable();
    told.dedup();
    let lines: Vec<String> =
        found.iter().map(|(file, s)| passage::line_column(file.text, s.start).0.to_string()).collect();
    let (count, lines) = (found.len(), lines.join(", "));
    let message = if told.len() == names.len() {
        format!("`{target}` names {count} sections (lines {lines}); send one of their full names")
    } else {
        format!(
            "`{target}` names {count} sections (lines {lines}), and not all of them can be told apart by the headings above; ask the author to rename one, or use another section"
        )
    };
    ToolError::in_field("targetSection", message, &told.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A frontmatter key or a `Key: value` line as the target.
fn field<'a>(
    revision: &Revision<'_>,
    main: &File<'a>,
    target: &str,
    own: OwnKeys<'_>,
) -> Result<Option<Change<'a>>, ToolError> {
    let named = ["frontmatter.", "frontmatter/", "frontmatter /"].iter().find_map(|prefix| {
        target.get(..prefix.len()).filter(|p| p.eq_ignore_ascii_case(prefix)).map(|p| &target[p.len()..])
    });
    let key = named.map_or_else(|| target.rsplit(['.', '/']).next().unwrap_or(target), str::trim).trim();
    let shares = main.heading.is_some();
    if shares && named.is_some() {
        let message = format!(
            "the frontmatter of {} is not this entry's alone; name a section or a line of the entry",
            main.path
        );
        return Err(ToolError::in_field("targetSection", message, &[]));
    }
    if !shares {
        let fields = frontmatter::parse(main.text).fields;
        if let Some(key) = own.find(&fields, key) {
            return set_field(revision, main.clone(), key, &fields[key]).map(Some);
        }
    }
    let lines: Vec<FieldLine> = change::field_lines(main.text, &main.part.range);
    let authors = own.of(key);
    let is_named = |line: &&FieldLine| line.is_named(key) || authors.iter().any(|own| line.is_named(own));
    let lines: Vec<&FieldLine> = lines.iter().filter(is_named).collect();
    match &lines[..] {
        [] if named.is_some() && !key.is_empty() => {
            set_field(revision, main.clone(), key, &Value::Null).map(Some)
        }
        [] => Ok(None),
        [line] => set_line(revision, main.clone(), line).map(Some),
        many => {
            let lines: Vec<String> =
                many.iter().map(|l| passage::line_column(main.text, l.value.start).0.to_string()).collect();
            let message = format!(
                "`{key}` stands in several lines of {} ({}); ask the author which one is right",
                main.path,
                lines.join(", ")
            );
            Err(ToolError::refused(message, json!({"path": main.path, "lines": lines})))
        }
    }
}

fn set_line<'a>(revision: &Revision<'_>, file: File<'a>, line: &FieldLine) -> Result<Change<'a>, ToolError> {
    let current = file.text[line.value.clone()].to_owned();
    let one = one_line_value(revision.markdown, &line.key);
    let wanted = match one {
        Some(value) if revision.append && !current.is_empty() => format!("{current}, {value}"),
        Some(value) => value,
        None => String::new(),
    };
    let proposed = change::set_line(file.text, line, &wanted).ok_or_else(|| {
        let message =
            format!("`{}` is one line of {}; it can only be replaced by one line", line.key, file.path);
        ToolError::in_field("proposedMarkdown", message, &["one line of text"])
    })?;
    let target = line.key.clone();
    Ok(Change { file, what: "field", target, current, is_stretch: false, wanted, proposed, warnings: vec![] })
}

/// The value that a proposed text has for a field of one line: without the field's own name and quotes.
fn one_line_value(markdown: &str, key: &str) -> Option<String> {
    let mut lines = markdown.lines().map(str::trim).filter(|l| !l.is_empty());
    let line = lines.next().filter(|_| lines.next().is_none())?;
    let own = change::field_lines(line, &(0..line.len())).into_iter().find(|f| f.is_named(key));
    let value = own.map_or(line, |f| &line[f.value]);
    Some(value.trim_start_matches("- ").trim().to_owned())
}

/// The file with another role, and the role that it states now, where the author has a name of their own for it; `None` where the usual one counts.
fn role_by_own_name(file: &File<'_>, own: OwnKeys<'_>, wanted: &str) -> Option<(Option<String>, String)> {
    let names = own.of("role");
    let is_own = |name: &str| names.contains(&passage::fold(name));
    if names.is_empty() {
        return None;
    }
    let fields = if file.heading.is_none() { frontmatter::parse(file.text).fields } else { Map::new() };
    if let Some(key) = own.find(&fields, "role") {
        let current = fields[key].as_str().map_or_else(|| fields[key].to_string(), str::to_owned);
        return is_own(key).then(|| (change::set_key(file.text, key, &json!(wanted)), current));
    }
    let lines = change::field_lines(file.text, &file.part.range);
    if let Some(line) = lines.iter().find(|line| is_own(&line.key) || line.is_named("role")) {
        let current = file.text[line.value.clone()].to_owned();
        return is_own(&line.key).then(|| (change::set_line(file.text, line, wanted), current));
    }
    let sections = file.part.sections(file.text);
    let section = sections.iter().find(|section| is_own(&section.heading))?.without_subsections();
    let current = file.text[section.content.clone()].trim().to_owned();
    let one_line = !current.is_empty() && !current.contains('\n');
    Some((one_line.then(|| change::replace_section(file.text, &section, wanted)), current))
}

fn change_role<'a>(
    revision: &Revision<'_>,
    file: File<'a>,
    own: OwnKeys<'_>,
) -> Result<Change<'a>, ToolError> {
    // `Ruolo: antagonist` gives a role as `Role: antagonist` does.
    let by_own_name = own.of("role").into_iter().find_map(|name| {
        let value = one_line_value(revision.markdown, &name)?;
        (value != revision.markdown.trim()).then_some(value)
    });
    let wanted = by_own_name.as_deref().unwrap_or(revision.markdown);
    let wanted = role::proposed_role(wanted).ok_or_else(|| {
        let message = "this reads as a change of the narrative role, but holds no single role value; send only the value, e.g. `antagonist`, with targetSection `Role`. For another section, leave the role out of changeSummary";
        ToolError::in_field("proposedMarkdown", message, &["one short role value"])
    })?;
    let (proposed, current) = if let Some((proposed, current)) = role_by_own_name(&file, own, &wanted) {
        (proposed, Some(current))
    } else if file.heading.is_some() {
        (role::set_role_in(file.text, &file.part, &wanted), role::current_role_in(file.text, &file.part))
    } else {
        (role::set_role(file.text, &wanted), role::current_role(file.text))
    };
    let proposed = proposed.ok_or_else(|| {
        let why = change::obstacle(file.text, "role");
        let message = format!("the role in {} can't be changed: {why}", file.path);
        ToolError::refused(message, json!({"path": file.path}))
    })?;
    let mut warnings = vec![];
    if passage::fold(revision.markdown) != passage::fold(&wanted)
        && revision.markdown.trim().lines().count() > 1
    {
        warnings.push("Only the role is changed; the rest of the proposed text is left out.".to_owned());
    }
    let current = current.unwrap_or_default();
    if current.is_empty() {
        warnings.push("The entry has no role yet; the field is added.".to_owned());
    }
    Ok(Change {
        file,
        what: "role",
        target: "role".into(),
        current,
        is_stretch: false,
        wanted,
        proposed,
        warnings,
    })
}

fn set_field<'a>(
    revision: &Revision<'_>,
    file: File<'a>,
    key: &str,
    old: &Value,
) -> Result<Change<'a>, ToolError> {
    let proposed = change_field(file.text, key, old, revision.markdown, revision.append).map_err(
        |problem| match problem {
            FieldProblem::NotAValue => ToolError::in_field(
                "proposedMarkdown",
                format!(
                    "`{key}` is a frontmatter field with one short text; it can only be replaced by one line"
                ),
                &["one line of text"],
            ),
            FieldProblem::Unsafe => ToolError::refused(
                format!(
                    "the field `{key}` of {} can't be changed: {}",
                    file.path,
                    change::obstacle(file.text, key)
                ),
                json!({"path": file.path, "field": key}),
            ),
        },
    )?;
    let show = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    let wanted = frontmatter::parse(&proposed).fields.get(key).map(show).unwrap_or_default();
    Ok(Change {
        file,
        what: "field",
        target: key.to_owned(),
        current: show(old),
        is_stretch: false,
        wanted,
        proposed,
        warnings: vec![],
    })
}

fn change_section<'a>(
    desk: &Desk<'_>,
    revision: &Revision<'_>,
    file: File<'a>,
    section: &Section,
) -> Result<Worked<'a>, ToolError> {
    let wanted = without_heading(revision.markdown, &section.heading);
    let new_sections = change::sections(wanted);
    let mut warnings = vec![];
    let mut place = section.clone();
    if section.has_subsections()
        && !revision.append
        && is_whole_entry(&file, section)
        && !new_sections.is_empty()
    {
        let message = format!(
            "`{}` is the whole entry; send one section at a time, by its own heading",
            section.heading
        );
        let inner = file.part.sections(file.text);
        let names: Vec<&str> = inner.iter().skip(1).map(|s| s.heading.as_str()).collect();
        return Err(ToolError::in_field("targetSection", message, &names));
    }
    if section.has_subsections() && new_sections.is_empty() {
        place = section.without_subsections();
        if !revision.append {
            warnings.push("The sections below this one are kept as they are.".to_owned());
        }
    }
    refuse_ending_the_entry(&file, &new_sections)?;
    if new_sections.iter().any(|s| s.level <= section.level) {
        warnings.push("The proposed text begins a new section of the same or a higher level.".to_owned());
    }
    let content = &file.text[place.content.clone()];
    if !revision.append && !desk.seen.holds(file.path, content) {
        return Ok(Worked::Unseen { file, section: place });
    }
    let proposed = if revision.append {
        change::append(file.text, Some(section), &section.heading, wanted)
    } else {
        change::replace_section(file.text, &place, wanted)
    };
    refuse_swallowing(file.text, place.content.end, &proposed)?;
    let what = if revision.append { "append" } else { "replace" };
    let (target, current) = (section.heading.clone(), content.trim().to_owned());
    let wanted = wanted.trim().to_owned();
    Ok(Worked::Change(Box::new(Change {
        file,
        what,
        target,
        current,
        is_stretch: true,
        wanted,
        proposed,
        warnings,
    })))
}

/// Whether a section is the title under which everything else of the file stands.
fn is_whole_entry(file: &File<'_>, section: &Section) -> bool {
    let first = file.part.sections(file.text).first().is_some_and(|s| s.start == section.start);
    first && section.content.end == file.part.range.end
}

/// In a file of many entries, a heading above the entry's own sections would end the entry.
fn refuse_ending_the_entry(file: &File<'_>, new_sections: &[Section]) -> Result<(), ToolError> {
    let level = file.part.level;
    if file.heading.is_none() || new_sections.iter().all(|s| s.level >= level) {
        return Ok(());
    }
    let marks = "#".repeat(usize::from(level));
    let message =
        format!("{} holds other entries too, and a heading above `{marks}` would end this one", file.path);
    Err(ToolError::in_field("proposedMarkdown", message, &[&format!("headings from `{marks}` on")]))
}

fn refuse_swallowing(text: &str, end: usize, proposed: &str) -> Result<(), ToolError> {
    if keeps_what_follows(text, end, proposed) {
        return Ok(());
    }
    let message = "it leaves a code block or comment open, which would swallow the sections that follow";
    Err(ToolError::in_field(
        "proposedMarkdown",
        message,
        &["Markdown whose code blocks and comments are closed"],
    ))
}

/// The headings behind the changed place are headings still.
fn keeps_what_follows(text: &str, end: usize, proposed: &str) -> bool {
    let tail = text.len() - end;
    let Some(new_end) = proposed.len().checked_sub(tail) else { return false };
    let behind = |text: &str, from: usize| -> Vec<(String, u8)> {
        change::sections(text).into_iter().filter(|s| s.start >= from).map(|s| (s.heading, s.level)).collect()
    };
    behind(text, end) == behind(proposed, new_end)
}

/// The proposed text without the section's own heading, which models like to repeat.
fn without_heading<'a>(markdown: &'a str, heading: &str) -> &'a str {
    let sections = change::sections(markdown);
    match sections.first() {
        Some(first)
            if markdown[..first.start].trim().is_empty()
                && passage::fold(&first.heading) == passage::fold(heading) =>
        {
            &markdown[first.content.start..]
        }
        _ => markdown,
    }
}

/// A text without any heading is one section, and so is what stands above an entry's first one; else the model has to name one.
fn whole_body<'a>(
    desk: &Desk<'_>,
    revision: &Revision<'_>,
    file: File<'a>,
    target: &str,
    own_text: bool,
) -> Result<Worked<'a>, ToolError> {
    let sections = file.part.sections(file.text);
    let range = file.part.range.clone();
    if (sections.is_empty() || own_text) && passage::fold(target) != "frontmatter" {
        let own = range.start..sections.first().map_or(range.end, |s| s.start);
        let heading = file.heading.unwrap_or(target).to_owned();
        let level = file.part.level.saturating_sub(1).max(1);
        let section = Section { heading, level, start: range.start, content: own.clone(), own };
        return change_section(desk, revision, file, &section);
    }
    let fields = frontmatter::parse(file.text).fields;
    let keys = fields.keys().map(String::as_str).filter(|_| file.heading.is_none());
    let places: Vec<&str> = sections.iter().map(|s| s.heading.as_str()).chain(keys).collect();
    let message = format!("`targetSection` must name one section or one frontmatter key of {}", file.path);
    Err(ToolError::in_field("targetSection", message, &places))
}

/// The soul as a whole: text can join it; to replace, one section of it has to be named.
fn whole_soul<'a>(desk: &Desk<'_>, revision: &Revision<'_>, file: File<'a>) -> Result<Worked<'a>, ToolError> {
    let sections = file.part.sections(file.text);
    match (sections.last(), revision.append) {
        (None, _) => whole_body(desk, revision, file, "soul.md", true),
        (Some(last), true) => {
            let last = last.clone();
            change_section(desk, revision, file, &last)
        }
        (Some(_), false) => {
            let names: Vec<String> = sections.iter().map(|s| format!("soul.md / {}", s.heading)).collect();
            let message = format!("{} has sections; send the whole new text of one of them", file.path);
            Err(ToolError::in_field(
                "targetSection",
                message,
                &names.iter().map(String::as_str).collect::<Vec<_>>(),
            ))
        }
    }
}

fn new_section<'a>(revision: &Revision<'_>, file: File<'a>, target: &str) -> Result<Change<'a>, ToolError> {
    let (above, last) = match target.rsplit_once(" / ") {
        Some((above, last)) => (Some(above), last),
        None => (None, target),
    };
    let heading = shorten(last.trim().trim_start_matches('#').trim(), MAX_HEADING);
    if !heading.contains(char::is_alphanumeric) {
        return Err(ToolError::in_field("targetSection", "`targetSection` holds no words", &["a heading"]));
    }
    let wanted = without_heading(revision.markdown, &heading);
    refuse_ending_the_entry(&file, &change::sections(wanted))?;
    let parents = above.map(|above| file.part.find(file.text, above)).unwrap_or_default();
    let (proposed, end, place) = match &parents[..] {
        [parent] => {
            let proposed = file.part.add_below(file.text, parent, &heading, wanted);
            (proposed, parent.content.end, format!("below {}", parent.heading))
        }
        _ => {
            (file.part.add_section(file.text, &heading, wanted), file.part.range.end, "at the end".to_owned())
        }
    };
    refuse_swallowing(file.text, end, &proposed)?;
    let count = |text: &str| change::sections(text).len();
    if count(&proposed) != count(file.text) + 1 + change::sections(wanted).len() {
        let message = format!(
            "{} ends inside a code block or comment, so that a new section would be part of it; ask the author to close it",
            file.path
        );
        return Err(ToolError::refused(message, json!({"path": file.path})));
    }
    let warnings = vec![format!("There is no section {heading}; it is added {place}.")];
    Ok(Change {
        file,
        what: "new section",
        target: heading,
        current: String::new(),
        is_stretch: false,
        wanted: wanted.trim().to_owned(),
        proposed,
        warnings,
    })
}
