//! The answer: put together from what the tools returned in this turn, and from nothing else.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Library;
use super::craft_reading::{self, thousands};
use super::facts::{self, plain};
use super::missing;
use super::plan::{ADDRESS, error_in, found, is_context, list_in, text_in, units_in};
use super::question::{Change, Question, Topic};
use super::quoting::{marked, naming};
use super::turn::{Done, Turn};

/// What it is, in front of every answer.
const WHAT_IT_IS: &str =
    "*Offline reader, no model: this is put together by rule from what the tools returned.*";

/// What it says when it is asked to do more than it can.
const NO_WORK: &str = "This asks for more than the offline reader can do: it looks up, measures, and proposes a role, an alias or a stub. A board member with a model can do it. Here is what the tools know of it.";

/// What it says when it is asked to rename somebody.
const RENAMING: &str = "A name is changed in the whole book with \"Rename\" in the palette, or with `scritorio rename`, after you have seen every place. No board member does it.";

/// Facts of one entry.
const MAX_FACTS: usize = 6;

/// Quotations about one entry.
const MAX_QUOTES: usize = 2;

/// Rows beside an entry that is told in full.
const MAX_BESIDE: usize = 3;

/// Rows of a list.
const MAX_ROWS: usize = 60;

/// Writes the answer.
pub fn compose(turn: &Turn<'_>, question: &Question<'_>, library: &Library<'_>) -> String {
    let mut parts = vec![WHAT_IT_IS.to_owned()];
    if question.is_about(Topic::Rename) {
        parts.push(RENAMING.to_owned());
    } else if question.is_about(Topic::Work) {
        parts.push(NO_WORK.to_owned());
    }
    let said = parts.len();
    if question.is_about(Topic::Missing) {
        parts.push(lacking(turn, library));
    } else {
        let proposes = question.change.is_some();
        // What a search found beside the entry that was opened comes last.
        let (searches, others): (Vec<_>, Vec<_>) = turn.done.iter().partition(|d| d.name == "search_codex");
        for done in others.into_iter().chain(searches) {
            let part = section(done, turn, question, library, proposes);
            parts.extend(part.filter(|part| !part.is_empty()));
        }
    }
    parts.extend(
        turn.done.iter().filter(|d| question.is_about(Topic::Missing) && is_proposal(d.name)).map(proposal),
    );
    if parts.len() == said {
        parts.push(nothing(turn, question));
    }
    parts.join("\n\n")
}

fn section(
    done: &Done<'_>,
    turn: &Turn<'_>,
    question: &Question<'_>,
    library: &Library<'_>,
    proposes: bool,
) -> Option<String> {
    if let Some(message) = error_in(&done.output) {
        return Some(format!("`{}` gave no result: {}.", done.name, plain(message).trim_end_matches('.')));
    }
    match done.name {
        name if is_proposal(name) => Some(proposal(done)),
        name if is_context(name) && !found(&done.output) => Some(not_found(&done.output, turn)),
        name if is_context(name) => (!proposes).then(|| entry(&done.output, question, library)),
        "get_manuscript_context" => (!proposes).then(|| manuscript(&done.output, turn, question, library)),
        "list_codex_entries" => Some(list(&done.output)),
        "search_codex" => search(done, turn, question),
        name => Some(format!(
            "`{name}` returned: {}",
            plain(&done.output.to_string()).chars().take(400).collect::<String>()
        )),
    }
}

fn is_proposal(tool: &str) -> bool {
    tool.starts_with("propose_")
}

/// Who or what an entry is, its facts, and where they stand.
fn entry(output: &Value, question: &Question<'_>, library: &Library<'_>) -> String {
    let name = text_in(output, &["name"]).unwrap_or("The entry");
    let path = text_in(output, ADDRESS).unwrap_or_default();
    let title = text_in(output, &["title"]).map(|t| format!(", {}", plain(t))).unwrap_or_default();
    let kind = text_in(output, &["type"]).map(|t| format!(" ({t})")).unwrap_or_default();
    let mut lines = vec![format!("**{}**{title}{kind}. Source: `{path}`", plain(name))];
    lines.extend(
        text_in(output, &["summary"])
            .map(|summary| format!("\n{}\n", plain(summary.trim_start_matches(['-', '*', ' '])))),
    );
    let aliases: Vec<String> = texts(output.get("aliases")).map(plain).collect();
    if !aliases.is_empty() {
        lines.push(format!("- Also called: {}", aliases.join(", ")));
    }
    let mut all = output.get("fields").and_then(Value::as_object).map(facts::fields).unwrap_or_default();
    all.extend(facts::facts(text_in(output, &["excerpt"]).unwrap_or_default()));
    let soul = output.get("soul");
    all.extend(soul.map(|s| facts::facts(text_in(s, &["excerpt"]).unwrap_or_default())).unwrap_or_default());
    let names = std::iter::once(name.to_owned()).chain(aliases).collect::<Vec<_>>().join(" ");
    let summary = text_in(output, &["summary"]).map(plain);
    // Frontmatter and text often say the same.
    let mut told = BTreeSet::new();
    all.retain(|fact| {
        Some(&fact.text) != summary.as_ref()
            && told.insert((fact.label.to_lowercase(), fact.text.to_lowercase()))
    });
    for fact in facts::choose(&all, question.text, &names, library.persona, MAX_FACTS) {
        let label = if fact.label.is_empty() { String::new() } else { format!("{}: ", plain(&fact.label)) };
        lines.push(format!("- {label}{}", fact.text));
    }
    let also: Vec<&str> = output
        .get("alsoMatched")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|other| other.as_str().or_else(|| text_in(other, &["name"])))
        .collect();
    if !also.is_empty() {
        lines.push(format!("- The name also fits: {}", also.join(", ")));
    }
    lines.join("\n").replace("\n\n\n", "\n\n")
}

/// What the manuscript says: a craft reading where the question is about the text, and quotations about whom it names.
fn manuscript(output: &Value, turn: &Turn<'_>, question: &Question<'_>, library: &Library<'_>) -> String {
    let subjects = subjects(turn, question);
    let about_text = subjects.is_empty()
        || question.is_about(Topic::Passage)
        || question.is_about(Topic::Craft)
        || !question.chapters.is_empty();
    let mut parts = vec![];
    for unit in units_in(output) {
        let named = text_in(unit, &["title", "ref", "path"]).unwrap_or("the manuscript");
        let Some(text) = text_in(unit, &["text"]) else {
            let nearest: Vec<&str> = texts(unit.get("nearest")).collect();
            let near = if nearest.is_empty() {
                String::new()
            } else {
                format!(" The nearest titles are: {}.", nearest.join(", "))
            };
            parts.push(format!("The manuscript has no `{}`.{near}", plain(named)));
            continue;
        };
        let number =
            unit.get("number").and_then(Value::as_u64).map(|n| format!(", chapter {n}")).unwrap_or_default();
        let path = text_in(unit, &["path"]).map(|p| format!(", `{p}`")).unwrap_or_default();
        let what = if text_in(unit, &["kind"]) == Some("selection") { "Selection from " } else { "" };
        let mut lines = vec![format!("**{what}{}**{number}{path}", plain(named))];
        if about_text {
            lines.extend(craft_reading::bullets(text, library).into_iter().map(|line| format!("- {line}")));
        }
        for (name, address) in &subjects {
            let quotes = naming(text, library.names, address, MAX_QUOTES);
            lines.extend(quotes.into_iter().map(|words| format!("- {}: {}", plain(name), marked(words))));
        }
        if about_text && unit.get("truncated").and_then(Value::as_bool) == Some(true) {
            let left = unit
                .get("wordsLeft")
                .and_then(Value::as_u64)
                .map(|w| format!(" {} words are left.", thousands(w as usize)));
            lines.push(format!(
                "- Only the beginning was read: the text is over the limit of one call.{}",
                left.unwrap_or_default()
            ));
        }
        if lines.len() > 1 {
            parts.push(lines.join("\n"));
        }
    }
    parts.join("\n\n")
}

/// Name and address of every entry that the turn is about: those that a tool found, else those that the question names.
fn subjects<'s>(turn: &'s Turn<'_>, question: &'s Question<'_>) -> Vec<(&'s str, String)> {
    let opened = turn.done.iter().filter(|d| is_context(d.name) && found(&d.output));
    let mut subjects: Vec<(&str, String)> = opened
        .filter_map(|d| Some((text_in(&d.output, &["name"])?, text_in(&d.output, ADDRESS)?.to_owned())))
        .collect();
    for entry in &question.subjects {
        let address = entry.address();
        if !subjects.iter().any(|(_, known)| *known == address) {
            subjects.push((&entry.name, address));
        }
    }
    subjects
}

fn list(output: &Value) -> String {
    let kind = text_in(output, &["type"]).unwrap_or("entry");
    let rows: Vec<&Value> = list_in(output).collect();
    let count = output.get("count").and_then(Value::as_u64).map_or(rows.len(), |c| c as usize);
    let head = match count {
        0 => return format!("The Codex has no entry of type {kind}."),
        1 => format!("The Codex has 1 entry of type {kind}:"),
        n => format!("The Codex has {} entries of type {kind}:", thousands(n)),
    };
    let mut lines = vec![head, String::new()];
    lines.extend(rows.iter().take(MAX_ROWS).map(|found| row(found)));
    if count > rows.len().min(MAX_ROWS) {
        lines.push(format!("- and {} more", thousands(count - rows.len().min(MAX_ROWS))));
    }
    lines.join("\n")
}

fn row(found: &Value) -> String {
    let name = plain(text_in(found, &["name"]).unwrap_or("?"));
    let path = text_in(found, &["path"]).map(|p| format!(" (`{p}`)")).unwrap_or_default();
    let summary = text_in(found, &["summary"]).map(|s| format!(": {}", plain(s))).unwrap_or_default();
    format!("- **{name}**{path}{summary}")
}

fn search(done: &Done<'_>, turn: &Turn<'_>, question: &Question<'_>) -> Option<String> {
    let rows: Vec<&Value> = list_in(&done.output).collect();
    let query = text_in(&done.arguments, &["query"]).unwrap_or_default();
    if rows.is_empty() {
        let near: Vec<&str> = texts(done.output.get("near")).collect();
        let near = if near.is_empty() { String::new() } else { format!(" Near names: {}.", near.join(", ")) };
        // An empty search before a new entry is what was hoped for.
        return (!matches!(question.change, Some(Change::Create { .. })))
            .then(|| format!("The Codex has nothing on `{query}`.{near}"));
    }
    if matches!(question.change, Some(Change::Create { .. })) && turn.done.iter().any(|d| is_proposal(d.name))
    {
        return None;
    }
    // An entry that was opened is told in full elsewhere.
    let opened = |address: Option<&str>| {
        turn.done.iter().any(|d| is_context(d.name) && text_in(&d.output, ADDRESS) == address)
    };
    let others: Vec<String> = rows.iter().filter(|r| !opened(text_in(r, ADDRESS))).map(|r| row(r)).collect();
    match others.len() {
        0 => None,
        _ if matches!(question.change, Some(Change::Create { .. })) => {
            Some(format!("The Codex has this already, so nothing is proposed:\n\n{}", others.join("\n")))
        }
        n if n < rows.len() => {
            let some: Vec<String> = others.into_iter().take(MAX_BESIDE).collect();
            Some(format!("Also in the Codex, on `{query}`:\n\n{}", some.join("\n")))
        }
        _ => Some(format!("In the Codex, on `{query}`:\n\n{}", others.join("\n"))),
    }
}

fn not_found(output: &Value, turn: &Turn<'_>) -> String {
    let name = plain(text_in(output, &["name"]).unwrap_or("that name"));
    let kind = text_in(output, &["type"]).unwrap_or("entry");
    let near: Vec<&str> = texts(output.get("near")).collect();
    let near = if near.is_empty() { String::new() } else { format!(" Near names: {}.", near.join(", ")) };
    let so_far = if turn.is_blind() { " up to this chapter" } else { "" };
    format!("The Codex has no {kind} called {name}{so_far}.{near}")
}

/// What was proposed, and that the author decides.
fn proposal(done: &Done<'_>) -> String {
    let output = &done.output;
    if let Some(message) = error_in(output) {
        return format!("Nothing is proposed: {}.", plain(message).trim_end_matches('.'));
    }
    let name =
        plain(text_in(output, &["name"]).or(text_in(&done.arguments, &["name"])).unwrap_or("the entry"));
    if output.get("proposalId").is_some_and(Value::is_null) {
        let note = text_in(output, &["note"]).map_or_else(|| "Nothing would change.".into(), plain);
        return format!("Nothing is proposed for {name}. {note}");
    }
    let path = text_in(output, &["path"]).map(|p| format!(" in `{p}`")).unwrap_or_default();
    let section = text_in(output, &["targetSection"]).map(plain);
    let mut lines = vec![match &section {
        Some(section) => format!("Proposed for **{name}**{path}: a change of {section}."),
        None => format!("Proposed: a new entry for **{name}**{path}."),
    }];
    if section.is_some() {
        let was = text_in(output, &["currentMarkdown"]).map_or_else(|| "nothing".to_owned(), value_in_words);
        let becomes = text_in(output, &["proposedMarkdown"]).map(value_in_words).unwrap_or_default();
        lines.push(format!("- Now: {was}\n- Proposed: {becomes}"));
    }
    lines.extend(texts(output.get("warnings")).map(|w| format!("- Warning: {}", plain(w))));
    lines.push("\nNothing is written until you accept it.".into());
    lines.join("\n")
}

/// A field's value or a section's text; a list is shown without its JSON.
fn value_in_words(raw: &str) -> String {
    match serde_json::from_str::<Vec<String>>(raw) {
        Ok(items) => items.join(", "),
        Err(_) => plain(raw),
    }
}

/// Names without an entry, with a place for each.
fn lacking(turn: &Turn<'_>, library: &Library<'_>) -> String {
    let texts = missing::texts(turn);
    if texts.is_empty() {
        return "The manuscript could not be read, so there is nothing to compare the Codex with.".into();
    }
    let units = turn.of_tool("get_manuscript_context").flat_map(|d| units_in(&d.output));
    let whole: BTreeSet<&str> =
        units.filter(|u| missing::is_whole(u)).filter_map(|u| text_in(u, &["path"])).collect();
    let all = library.book.chapters.len();
    let scope = match whole.len() {
        1 if all == 1 => "The only chapter was read.".into(),
        n if n == all => format!("All {all} chapters were read."),
        n => format!("Of {all} chapters, {n} were read whole and the others at most in part."),
    };
    let named = missing::candidates(&texts, library);
    if named.is_empty() {
        return format!("Every name that returns in what was read has an entry. {scope}");
    }
    let mut lines =
        vec![format!("Names that return in the manuscript and have no Codex entry. {scope}"), String::new()];
    for candidate in named.iter().take(10) {
        let quote = texts
            .iter()
            .find_map(|text| super::quoting::holding(text, &candidate.name, 1).first().map(|w| marked(w)));
        let quote = quote.map(|q| format!(": {q}")).unwrap_or_default();
        lines.push(format!("- **{}**, {} times{quote}", candidate.name, candidate.mentions));
    }
    if !turn.done.iter().any(|d| is_proposal(d.name)) {
        lines.push(format!("\nTo have a stub proposed, ask: create a Codex entry for {}.", named[0].name));
    }
    lines.join("\n")
}

/// What to say when no tool was needed or none was on offer.
fn nothing(turn: &Turn<'_>, question: &Question<'_>) -> String {
    let why = if turn.offered.is_empty() {
        "No tools are on offer, so the book can't be looked into."
    } else if question.is_about(Topic::Passage) && turn.document.is_none() {
        "No document is open and nothing is selected."
    } else {
        "There is nothing in the question that can be looked up."
    };
    format!(
        "{why} It can look things up and measure prose. For example:\n\n\
         - Who is ...? (any name or alias of the Codex)\n\
         - List all the characters.\n\
         - When did ... happen?\n\
         - How does this passage read? (the selection or the open chapter)\n\
         - What does chapter 3 say about ...?\n\
         - Who is missing from the Codex?\n\
         - Change the role of ... to ...; add the alias ... to ...; create an entry for ...\n\n\
         For judgement, advice and rewriting, connect a model."
    )
}

/// The texts of a list.
fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
