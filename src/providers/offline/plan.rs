//! Which tool is called next: at most three rounds, one call a round.
//!
//! The plan is made anew in every round from the question and from what has been returned, so that it needs no memory.

use serde_json::{Value, json};

use super::Library;
use super::missing;
use super::question::{Change, Question, Topic, type_in};
use super::turn::Turn;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::passage::fold;
use crate::providers::ToolChoice;

/// Calls after which it answers, whatever it has.
const MAX_ROUNDS: usize = 3;

/// Entries of one question that are looked up.
const MAX_SUBJECTS: usize = 2;

/// Most characters of a question that are searched for.
const MAX_QUERY: usize = 200;

/// A call to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

impl Call {
    fn new(name: &str, arguments: Value) -> Self {
        Self { name: name.to_owned(), arguments }
    }
}

/// Returns the next call, or `None` when it is time to answer. `forced` is the tool that the question's words force in the first round.
pub fn next(
    turn: &Turn<'_>,
    question: &Question<'_>,
    library: &Library<'_>,
    forced: Option<&str>,
) -> Option<Call> {
    let is_new = |call: &Call| !turn.of_tool(&call.name).any(|d| d.arguments == call.arguments);
    let mut wanted = wishes(turn, question, library);
    wanted.retain(|call| turn.offers(&call.name) && is_new(call));
    let must = match turn.choice {
        ToolChoice::Named(name) => Some(name.as_str()),
        ToolChoice::Auto if turn.done.is_empty() => forced,
        ToolChoice::Auto | ToolChoice::Required => None,
    };
    if let Some(name) = must.filter(|name| turn.offers(name)) {
        let planned = wanted.iter().find(|call| call.name == name).cloned();
        if let Some(call) = planned.or_else(|| plainly(name, turn, question)) {
            return Some(call);
        }
    }
    if *turn.choice == ToolChoice::Required {
        return wanted
            .into_iter()
            .next()
            .or_else(|| turn.offered.iter().find_map(|name| plainly(name, turn, question)));
    }
    wanted.into_iter().next().filter(|_| turn.done.len() < MAX_ROUNDS)
}

/// Everything that the question needs, most wanted first. What was done already is among it.
fn wishes(turn: &Turn<'_>, question: &Question<'_>, library: &Library<'_>) -> Vec<Call> {
    if let Some(change) = &question.change {
        return changes(change, turn, question, library);
    }
    if question.is_about(Topic::Missing) {
        return missing::wishes(turn, question, library);
    }
    if let Some(entry_type) = question.list {
        return vec![list(entry_type)];
    }
    let text = manuscript_refs(turn, question).map(|refs| manuscript(&refs));
    let reads = text.is_some();
    let mut calls: Vec<Call> = text.into_iter().collect();
    calls.extend(
        question.subjects.iter().take(MAX_SUBJECTS).map(|entry| context(entry.entry_type, &entry.name)),
    );
    calls.extend(searches(turn, question, library, reads));
    if reads {
        calls.extend(stage_entry(turn, question, library));
    } else {
        calls.extend(quoting_chapter(turn, question, library).map(|path| manuscript(&[path])));
    }
    calls
}

/// Looks for what the question names in other words than an entry's.
fn searches(turn: &Turn<'_>, question: &Question<'_>, library: &Library<'_>, reads: bool) -> Vec<Call> {
    let mut calls = vec![];
    let wants_time = question.is_about(Topic::When);
    if wants_time && !question.subjects.iter().any(|e| e.entry_type == EntryType::Event) {
        calls.push(search(&question.content_words().join(" "), None));
    }
    if question.subjects.is_empty() {
        let style = library.book.entries_of(EntryType::Style).next();
        match &question.unknown {
            Some(name) if question.text.to_lowercase().contains("who") => {
                calls.push(context(EntryType::Character, name));
            }
            Some(name) => calls.push(search(name, None)),
            None if type_in(question.text) == Some(EntryType::Style) && !reads => {
                calls.extend(style.map(|entry| context(EntryType::Style, &entry.name)));
            }
            None if !reads && !question.is_about(Topic::When) && !question.content_words().is_empty() => {
                calls.push(search(&question.content_words().join(" "), None));
            }
            None => {}
        }
    }
    // What a search found best is opened, and so is an entry of another type than was thought.
    let opened = |found: &Value| {
        let entry_type =
            EntryType::ALL.into_iter().find(|t| Some(t.as_str()) == text_in(found, &["type"]))?;
        Some(context(entry_type, text_in(found, &["name"])?))
    };
    if question.subjects.is_empty() || wants_time {
        let known = |found: &&Value| {
            !question.subjects.iter().any(|e| Some(e.address().as_str()) == text_in(found, ADDRESS))
        };
        calls.extend(turn.of_tool("search_codex").filter_map(|d| opened(list_in(&d.output).find(known)?)));
    }
    calls.extend(turn.done.iter().filter_map(|d| opened(d.output.get("otherTypes")?.get(0)?)));
    calls
}

/// What is to be read: chapters that are named, else the selection or the open document where the question is about it or about nothing else.
fn manuscript_refs(turn: &Turn<'_>, question: &Question<'_>) -> Option<Vec<String>> {
    if !question.chapters.is_empty() {
        return Some(question.chapters.clone());
    }
    let about_nothing_else =
        question.subjects.is_empty() && question.unknown.is_none() && !question.is_about(Topic::When);
    let asks = question.is_about(Topic::Passage)
        || question.is_about(Topic::Craft)
        || (about_nothing_else && !question.content_words().is_empty());
    let words = fold(question.text);
    let points = words.split_whitespace().any(|w| matches!(w, "this" | "here" | "these"));
    let about_style = type_in(question.text) == Some(EntryType::Style) && !question.is_about(Topic::Passage);
    match (turn.has_selection, turn.document) {
        (true, _) if asks || points => Some(vec!["selection".into()]),
        (false, Some(_))
            if question.is_about(Topic::Passage) || (asks && about_nothing_else && !about_style) =>
        {
            Some(vec!["current".into()])
        }
        _ => None,
    }
}

/// For those who weigh a scene against canon: the entry of whoever is named most in what was read.
fn stage_entry(turn: &Turn<'_>, question: &Question<'_>, library: &Library<'_>) -> Option<Call> {
    if !matches!(library.persona, "continuity-editor" | "character-psychologist")
        || !question.subjects.is_empty()
    {
        return None;
    }
    let done = turn.of_tool("get_manuscript_context").next()?;
    let texts: Vec<&str> = units_in(&done.output).filter_map(|unit| text_in(unit, &["text"])).collect();
    let mut counts = vec![0_usize; library.names.entries.len()];
    for mention in texts.iter().flat_map(|text| library.names.find(text)) {
        counts[mention.entry] += 1;
    }
    let (most, _) = counts
        .iter()
        .enumerate()
        .filter(|(i, count)| **count > 0 && library.names.entries[*i].entry_type == EntryType::Character)
        .max_by_key(|(i, count)| (**count, std::cmp::Reverse(*i)))?;
    Some(context(EntryType::Character, &library.names.entries[most].name))
}

/// The chapter to quote from about the entries that were found: the open one, else the first that names both, else the first that names one.
fn quoting_chapter(turn: &Turn<'_>, question: &Question<'_>, library: &Library<'_>) -> Option<String> {
    let mut addresses: Vec<String> =
        question.subjects.iter().map(|e| e.address()).take(MAX_SUBJECTS).collect();
    if addresses.is_empty() {
        let opened = turn.done.iter().filter(|d| is_context(d.name));
        addresses = opened.filter_map(|d| text_in(&d.output, ADDRESS)).map(str::to_owned).collect();
    }
    let named_in = |text: &str| {
        let mentions = library.names.find(text);
        let named =
            |wanted: &&String| mentions.iter().any(|m| library.names.entries[m.entry].address == **wanted);
        addresses.iter().filter(named).count()
    };
    let counts: Vec<_> =
        library.book.chapters.iter().map(|c| (c.path.as_str(), named_in(c.body()))).collect();
    let most = counts.iter().map(|(_, count)| *count).max().filter(|count| *count > 0)?;
    let open = counts.iter().find(|(path, count)| Some(*path) == turn.document && *count > 0);
    open.or_else(|| counts.iter().find(|(_, count)| *count == most)).map(|(path, _)| (*path).to_owned())
}

/// The calls for a change: look first, then propose.
fn changes(change: &Change, turn: &Turn<'_>, question: &Question<'_>, library: &Library<'_>) -> Vec<Call> {
    let entry = question.subjects.first().copied();
    let about = |who: &str| match entry {
        Some(entry) => context(entry.entry_type, &entry.name),
        None => context(EntryType::Character, who),
    };
    match change {
        Change::Role { who, role } => {
            let propose = || {
                update(entry, who, &format!("Change the role of {who} to {role}"), "role", role, "replace")
            };
            [Some(about(who)), was_found(turn).then(propose)].into_iter().flatten().collect()
        }
        Change::Alias { who, alias } => {
            let propose =
                || update(entry, who, &format!("Add the alias {alias}"), "aliases", alias, "append");
            [Some(about(who)), was_found(turn).then(propose)].into_iter().flatten().collect()
        }
        Change::Create { name, entry_type } => {
            let mut calls = vec![search(name, None)];
            let is_taken = turn.of_tool("search_codex").any(|d| {
                list_in(&d.output)
                    .any(|found| text_in(found, &["name"]).is_some_and(|n| fold(n) == fold(name)))
            });
            if !is_taken && turn.of_tool("search_codex").next().is_some() {
                calls.extend(missing::first_chapter(name, library).map(|path| manuscript(&[path])));
                calls.push(missing::stub(name, *entry_type, turn));
            }
            calls
        }
    }
}

fn update(
    entry: Option<&Entry>,
    who: &str,
    summary: &str,
    section: &str,
    markdown: &str,
    mode: &str,
) -> Call {
    let (entry_type, name) = entry.map_or((EntryType::Character, who), |e| (e.entry_type, e.name.as_str()));
    Call::new(
        "propose_codex_update",
        json!({
            "entryType": entry_type.as_str(), "name": name, "changeSummary": summary,
            "targetSection": section, "proposedMarkdown": markdown, "mode": mode,
        }),
    )
}

/// Whether a look at an entry found one.
fn was_found(turn: &Turn<'_>) -> bool {
    turn.done.iter().any(|d| is_context(d.name) && found(&d.output))
}

/// A call of the tool `name` from the question alone, for when it must be called.
fn plainly(name: &str, turn: &Turn<'_>, question: &Question<'_>) -> Option<Call> {
    let words = || match question.content_words() {
        words if words.is_empty() => question.text.trim().chars().take(MAX_QUERY).collect(),
        words => words.join(" "),
    };
    let subject = |entry_type: Option<EntryType>| {
        let of_type = question.subjects.iter().find(|e| entry_type.is_none_or(|t| e.entry_type == t));
        of_type
            .or(question.subjects.first())
            .map(|e| e.name.clone())
            .or_else(|| question.unknown.clone())
            .unwrap_or_else(words)
    };
    match name {
        "get_manuscript_context" => {
            let named = question.chapters.clone();
            let open = if turn.has_selection { "selection" } else { "current" };
            Some(manuscript(&if named.is_empty() { vec![open.to_owned()] } else { named }))
        }
        "search_codex" => Some(search(&subject(None), None)),
        "list_codex_entries" => Some(list(type_in(question.text).unwrap_or(EntryType::Character))),
        _ => {
            let kind = name.strip_prefix("get_")?.strip_suffix("_context")?;
            let entry_type = EntryType::ALL.into_iter().find(|t| t.as_str() == kind)?;
            Some(context(entry_type, &subject(Some(entry_type))))
        }
    }
}

fn context(entry_type: EntryType, name: &str) -> Call {
    Call::new(&format!("get_{entry_type}_context"), json!({ "name": name }))
}

fn list(entry_type: EntryType) -> Call {
    Call::new("list_codex_entries", json!({ "entryType": entry_type.as_str() }))
}

fn search(query: &str, entry_type: Option<EntryType>) -> Call {
    Call::new("search_codex", json!({ "query": query, "entryType": entry_type.map(EntryType::as_str) }))
}

/// A look at the manuscript: one reference, or several.
pub fn manuscript(refs: &[String]) -> Call {
    let (one, several) = match refs {
        [one] => (Some(one), None),
        _ => (None, Some(refs)),
    };
    Call::new("get_manuscript_context", json!({ "ref": one, "refs": several, "startParagraph": null }))
}

/// A call that proposes a new entry.
pub fn create(name: &str, entry_type: EntryType, body: &str) -> Call {
    Call::new(
        "propose_codex_create",
        json!({
            "entryType": entry_type.as_str(), "name": name, "changeSummary": format!("A stub for {name}"),
            "fields": [], "customFields": [], "markdownBody": body, "soulMarkdown": null,
        }),
    )
}

/// Whether a tool looks up one entry.
pub fn is_context(tool: &str) -> bool {
    tool.starts_with("get_") && tool.ends_with("_context") && tool != "get_manuscript_context"
}

/// Returns a tool's own words about why it gave no result.
pub fn error_in(output: &Value) -> Option<&str> {
    let error = output.get("error")?;
    error.as_str().or_else(|| error.get("message")?.as_str())
}

/// Whether a result holds an entry.
pub fn found(output: &Value) -> bool {
    output.get("error").is_none() && output.get("found").and_then(Value::as_bool) != Some(false)
}

/// What tells an entry in a result from all others: its address, or its path where the file is one entry.
pub const ADDRESS: &[&str] = &["address", "path"];

/// The first of `fields` that holds text.
pub fn text_in<'v>(value: &'v Value, fields: &[&str]) -> Option<&'v str> {
    fields.iter().find_map(|field| value.get(field)?.as_str()).filter(|text| !text.trim().is_empty())
}

/// The rows of a search or list, whatever their field is called.
pub fn list_in(output: &Value) -> impl Iterator<Item = &Value> {
    let rows =
        ["matches", "entries", "results", "items"].iter().find_map(|field| output.get(field)?.as_array());
    rows.into_iter().flatten()
}

/// The units of manuscript in a result; a result that is one unit itself is that one.
pub fn units_in(output: &Value) -> impl Iterator<Item = &Value> {
    let units = output.get("units").and_then(Value::as_array);
    let lone = (units.is_none() && output.get("text").is_some()).then_some(output);
    units.into_iter().flatten().chain(lone)
}
