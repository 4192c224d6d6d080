//! The facts of an entry: frontmatter, bullets and paragraphs of the excerpt that a tool returned, the ones that a question is about first.

use serde_json::{Map, Value};

use crate::craft::Prose;
use crate::domain::passage::fold;

use super::question::{content_words, is_about_time};

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Frontmatter key, or the heading that it stands under; empty at the top.
    pub label: String,
    /// What it says, on one line.
    pub text: String,
}

/// Sentences of a paragraph that are given.
const MAX_SENTENCES: usize = 3;

/// Score from which a fact is about the question.
const RELEVANT: usize = 3;

/// Facts about the question that make an answer.
const ENOUGH: usize = 3;

/// Facts under one label that are chosen before others.
const MAX_ALIKE: usize = 2;

/// Keys that are told elsewhere, or are no facts.
const NOT_FACTS: [&str; 12] = [
    "type",
    "kind",
    "category",
    "name",
    "title",
    "aliases",
    "alias",
    "aka",
    "summary",
    "description",
    "tags",
    "id",
];

/// What a question may mean beside its own words: any of the first leads to labels that hold any of the second.
const TOPICS: [(&str, &str); 8] = [
    (
        "personality character temper nature like kind",
        "personality traits temper manner nature voice habits flaws strengths inner",
    ),
    (
        "motivation motive want wants goal why need drive desire",
        "wants want needs goal goals motivation desire fear fears wound lie",
    ),
    (
        "relationship relationships friend love enemy family feel owe",
        "relationships relationship family friends bonds ties",
    ),
    ("look looks appearance face eyes wear scar hand", "appearance looks description eyes hair dress"),
    (
        "past backstory history born childhood before old age",
        "backstory history past born birthplace age life",
    ),
    ("secret hide hides lie lies know knows truth", "secret secrets knows hidden truth lie"),
    ("arc change changes end ends", "arc change progression role status"),
    ("speak speaks voice say sound", "voice speech manner"),
];

/// Reads the facts of frontmatter fields, in order; each item of a list is one.
pub fn fields(fields: &Map<String, Value>) -> Vec<Fact> {
    let mut found = vec![];
    for (key, value) in fields.iter().filter(|(key, _)| !NOT_FACTS.contains(&key.to_lowercase().as_str())) {
        let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        found.extend(items.iter().map(|item| Fact { label: label_of(key), text: plain(&words_of(item)) }));
    }
    found.retain(|fact| !fact.text.is_empty());
    found
}

/// A value in words: `{character: Mira, type: friend}` becomes `Mira, friend`.
fn words_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(words_of).collect::<Vec<_>>().join(", "),
        Value::Object(object) => {
            let named = |key: &str| {
                matches!(key, "character" | "name" | "with" | "target" | "type" | "kind" | "relationship")
            };
            let parts = object
                .iter()
                .map(|(key, v)| if named(key) { words_of(v) } else { format!("{key} {}", words_of(v)) });
            parts.collect::<Vec<_>>().join(", ")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn label_of(key: &str) -> String {
    let mut label: String = key.replace('_', " ");
    if let Some(first) = label.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    label
}

/// Reads the facts of a Markdown excerpt, in order.
pub fn facts(excerpt: &str) -> Vec<Fact> {
    let (mut found, mut label, mut paragraph) = (vec![], String::new(), String::new());
    let mut body = excerpt;
    if let Some(rest) = excerpt.trim_start_matches('\u{feff}').strip_prefix("---\n") {
        let end = rest.find("\n---").unwrap_or(rest.len());
        found.extend(rest[..end].lines().filter_map(|line| key_value(line, ": ")));
        body = rest[end..].trim_start_matches("\n---");
    }
    for line in body.lines().chain([""]) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            flush(&mut paragraph, &label, &mut found);
            if let Some(heading) = line.strip_prefix("##") {
                heading.trim_matches(['#', ' ']).clone_into(&mut label);
            }
        } else if let Some(fact) = key_value(line, ":: ") {
            flush(&mut paragraph, &label, &mut found);
            found.push(fact);
        } else if let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
            flush(&mut paragraph, &label, &mut found);
            found.push(Fact { label: label.clone(), text: plain(item) });
        } else {
            paragraph.push(' ');
            paragraph.push_str(line);
        }
    }
    found.retain(|fact| !fact.text.is_empty() && !fold(&fact.label).starts_with("summary"));
    found
}

fn flush(paragraph: &mut String, label: &str, found: &mut Vec<Fact>) {
    let text = std::mem::take(paragraph);
    let prose = Prose::of(&text);
    let end = prose.sentences().iter().take(MAX_SENTENCES).next_back().map_or(0, |s| s.range.end);
    found.push(Fact { label: label.to_owned(), text: plain(&text[..end]) });
}

/// `role: smuggler`, at the beginning of a line and with a value on it.
fn key_value(line: &str, colon: &str) -> Option<Fact> {
    let (key, value) = line.split_once(colon)?;
    let is_key =
        key.starts_with(char::is_alphabetic) && key.chars().all(|c| c.is_alphanumeric() || "_- ".contains(c));
    let value = value.trim().trim_matches(['"', '\'']);
    if !is_key || key.len() > 40 || value.is_empty() || NOT_FACTS.contains(&key.to_lowercase().as_str()) {
        return None;
    }
    Some(Fact { label: label_of(key), text: plain(value) })
}

/// Chooses at most `limit` facts: those that the question is about or, where it is about none of them, that `persona` looks at first. In the entry's order.
pub fn choose<'f>(
    facts: &'f [Fact],
    question: &str,
    names: &str,
    persona: &str,
    limit: usize,
) -> Vec<&'f Fact> {
    let own = content_words(names);
    let asked_when = is_about_time(question);
    let asked: Vec<String> = content_words(question).into_iter().filter(|w| !own.contains(w)).collect();
    let mut ranked: Vec<(usize, usize)> =
        facts.iter().enumerate().map(|(i, fact)| (score(fact, &asked, asked_when, persona), i)).collect();
    ranked.sort_by_key(|(score, i)| (std::cmp::Reverse(*score), *i));
    // What is asked for needs no filling up with what is not.
    if ranked.get(ENOUGH - 1).is_some_and(|(score, _)| *score >= RELEVANT) {
        ranked.retain(|(score, _)| *score >= RELEVANT);
    }
    // A few of each kind first, so that one long section does not take all the room.
    let (mut first, mut more): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
    for (_, i) in ranked {
        let alike = first.iter().filter(|other| facts[**other].label == facts[i].label).count();
        if alike < MAX_ALIKE { first.push(i) } else { more.push(i) }
    }
    first.extend(more);
    first.truncate(limit);
    first.sort_unstable();
    first.into_iter().map(|i| &facts[i]).collect()
}

fn score(fact: &Fact, asked: &[String], asked_when: bool, persona: &str) -> usize {
    let (label, text) = (content_words(&fact.label), content_words(&fact.text));
    let is_topic = |(words, labels): &&(&str, &str)| {
        words.split(' ').any(|w| asked.iter().any(|a| a == w))
            && labels.split(' ').any(|l| label.iter().any(|w| w == l))
    };
    let topics = TOPICS.iter().filter(is_topic).count();
    let in_label = asked.iter().filter(|a| label.contains(a)).count();
    let in_text = asked.iter().filter(|a| text.contains(a)).count();
    let liked = preferred(persona).split(' ').any(|p| label.iter().any(|w| w == p));
    let dated = asked_when && fact.text.contains(|c: char| c.is_ascii_digit());
    8 * (topics + in_label) + 6 * usize::from(dated) + 3 * in_text + usize::from(liked)
}

/// What each board member looks at first.
fn preferred(persona: &str) -> &'static str {
    match persona {
        "character-psychologist" => {
            "wants needs fear fears wound lie secret relationships personality inner voice"
        }
        "continuity-editor" => "born age status eyes appearance date hearing timeline birthplace scar",
        "worldbuilding-auditor" => {
            "rules cost limits location operator history technology society birthplace"
        }
        "first-time-reader" => "appearance voice manner",
        "writing-coach" => "voice manner habits style",
        _ => "role wants goal stakes arc conflict secret",
    }
}

/// Makes Markdown plain: links become their words, emphasis goes, and long dashes outside quotations become commas.
pub fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("[[") {
        text.push_str(before);
        let Some((link, tail)) = after.split_once("]]") else {
            rest = after;
            continue;
        };
        let shown = link.rsplit_once('|').map_or(link, |(_, shown)| shown);
        text.push_str(shown.split('#').next().unwrap_or(shown));
        rest = tail;
    }
    text.push_str(rest);
    let (mut out, mut quoted) = (String::new(), false);
    for c in text.chars() {
        quoted = match c {
            '"' => !quoted,
            '“' => true,
            '”' => false,
            _ => quoted,
        };
        match c {
            '*' | '`' => {}
            '—' if !quoted => {
                out.truncate(out.trim_end().len());
                out.push_str(", ");
            }
            _ => out.push(c),
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = "---\ntype: character\nrole: protagonist\nborn: 2266-05-09\nship: \"[[Halcyon]]\"\nknows:\n  - a: b\n---\n\n# Adrian\n\n## Summary\n\nA captain.\n\n## Wants\n\n- To be **asked** nothing — ever.\n\n## Appearance\n\nLong, stooped. Grey eyes.\nStatus:: alive\n";

    fn fact(label: &str, text: &str) -> Fact {
        Fact { label: label.into(), text: text.into() }
    }

    #[test]
    fn facts_come_from_frontmatter_bullets_paragraphs_and_fields() {
        assert_eq!(
            facts(ENTRY),
            [
                fact("Role", "protagonist"),
                fact("Born", "2266-05-09"),
                fact("Ship", "Halcyon"),
                fact("Wants", "To be asked nothing, ever."),
                fact("Appearance", "Long, stooped. Grey eyes."),
                fact("Status", "alive"),
            ]
        );
        assert_eq!(facts(""), []);
        assert_eq!(facts("---\nrole: x"), [fact("Role", "x")]);
    }

    #[test]
    fn fields_are_facts_in_words() {
        let given = serde_json::json!({
            "name": "x", "ship_name": "[[Halcyon]]", "age": 52, "none": null,
            "relationships": [{ "character": "Mira", "type": "friend" }, "Juno"],
            "progressions": [{ "from": 7, "status": "cleared" }],
        });
        assert_eq!(
            fields(given.as_object().unwrap()),
            [
                fact("Ship name", "Halcyon"),
                fact("Age", "52"),
                fact("Relationships", "Mira, friend"),
                fact("Relationships", "Juno"),
                fact("Progressions", "from 7, status cleared"),
            ]
        );
    }

    #[test]
    fn what_is_asked_comes_first_and_then_what_the_member_looks_at() {
        let all = facts(ENTRY);
        let labels = |question: &str, persona: &str| -> Vec<String> {
            choose(&all, question, "Adrian Vale", persona, 1).into_iter().map(|f| f.label.clone()).collect()
        };
        assert_eq!(labels("What is Adrian's motivation?", "continuity-editor"), ["Wants"]);
        assert_eq!(labels("How does he look?", "writing-coach"), ["Appearance"]);
        assert_eq!(labels("Who is Adrian?", "continuity-editor"), ["Born"]);
        assert_eq!(labels("Who is Adrian?", "character-psychologist"), ["Wants"]);
    }

    #[test]
    fn long_dashes_stay_in_quotations_only() {
        assert_eq!(
            plain("He ran — \"no — never\" — and [[Port Amity|the port]] fell"),
            "He ran, \"no — never\", and the port fell"
        );
        assert_eq!(plain("open [[link"), "open link");
    }
}
