//! The tool that the author's message forces in the first round, and the arguments with which the program would call it itself.
//!
//! The arguments are taken from the question by plain rules. The program never makes a proposal on its own: only tools that read are
//! ever called so.

use serde_json::{Map, Value};

use crate::canon::manuscript;
use crate::domain::book::Book;
use crate::domain::codex::EntryType;
use crate::domain::passage::fold;
use crate::tools::{Effect, ToolSpec};

use super::TurnSetup;
use super::machine::First;

/// Most characters of the question that are searched for.
const MAX_QUERY: usize = 200;

/// What authors call the types, besides their names.
const SYNONYMS: [(&str, EntryType); 22] = [
    ("people", EntryType::Character),
    ("persons", EntryType::Character),
    ("person", EntryType::Character),
    ("cast", EntryType::Character),
    ("places", EntryType::Location),
    ("place", EntryType::Location),
    ("settings", EntryType::Location),
    ("factions", EntryType::Organization),
    ("faction", EntryType::Organization),
    ("guilds", EntryType::Organization),
    ("groups", EntryType::Organization),
    ("organisations", EntryType::Organization),
    ("organisation", EntryType::Organization),
    ("objects", EntryType::Item),
    ("artifacts", EntryType::Item),
    ("things", EntryType::Item),
    ("rules", EntryType::Concept),
    ("lore", EntryType::Concept),
    ("magic", EntryType::Concept),
    ("technology", EntryType::Concept),
    ("timeline", EntryType::Event),
    ("styles", EntryType::Style),
];

/// Words that begin a question and are capitalised for that alone.
const OPENERS: [&str; 22] = [
    "who", "what", "where", "when", "why", "how", "which", "does", "did", "do", "is", "was", "are", "were",
    "has", "had", "can", "should", "would", "will", "tell", "describe",
];

/// Returns what the first response must call.
pub(super) fn first(setup: &TurnSetup) -> First {
    let has_document = setup.current.is_some() || setup.selection.is_some();
    match setup.registry.forced_by(&setup.question, has_document) {
        Some(spec) => First::Named { name: spec.name.to_owned(), arguments: arguments(spec, setup) },
        None => First::Free,
    }
}

/// Derives arguments from the question; `None` where the program can't or must not make the call.
fn arguments(spec: &ToolSpec, setup: &TurnSetup) -> Option<String> {
    if spec.effect == Effect::Proposes {
        return None;
    }
    let mut values = references(setup);
    let entry_type = type_in_name(spec.name).or_else(|| type_in(&setup.question));
    values.insert("name".into(), subject(&setup.book, entry_type, &setup.question).into());
    values.insert("entryType".into(), entry_type.map(EntryType::as_str).into());
    values.insert("query".into(), setup.question.trim().chars().take(MAX_QUERY).collect::<String>().into());
    let mut arguments = Map::new();
    for (field, may_be_null) in spec.arguments() {
        let value = values.remove(field).unwrap_or_default();
        if value.is_null() && !may_be_null {
            return None;
        }
        arguments.insert(field.to_owned(), value);
    }
    let names_a_text = |field: &str| arguments.get(field).is_some_and(|value| !value.is_null());
    let is_useful = !arguments.contains_key("ref") || names_a_text("ref") || names_a_text("refs");
    is_useful.then(|| Value::Object(arguments).to_string())
}

/// Chapters that the question names, else the selection, else the open document.
fn references(setup: &TurnSetup) -> Map<String, Value> {
    let mut named = manuscript::references_in(&setup.book, &setup.question);
    let (one, several): (Option<String>, Option<Vec<String>>) = match named.len() {
        0 if setup.selection.is_some() => (Some("selection".into()), None),
        0 => (setup.current.as_ref().map(|_| "current".into()), None),
        1 => (named.pop(), None),
        _ => (None, Some(named)),
    };
    Map::from_iter([("ref".to_owned(), one.into()), ("refs".to_owned(), several.into())])
}

/// The type that `get_<type>_context` is for.
fn type_in_name(tool: &str) -> Option<EntryType> {
    let kind = tool.strip_prefix("get_")?.strip_suffix("_context")?;
    EntryType::ALL.into_iter().find(|t| t.as_str() == kind)
}

/// The first type that the question speaks of.
fn type_in(question: &str) -> Option<EntryType> {
    let of_word = |word: &str| {
        EntryType::ALL
            .into_iter()
            .find(|t| t.as_str() == word || t.plural() == word)
            .or_else(|| SYNONYMS.iter().find(|(synonym, _)| *synonym == word).map(|(_, t)| *t))
    };
    words(question).split_whitespace().find_map(of_word)
}

/// Whom the question is about: the longest name of an entry in it, else its longest run of capitalised words, else all of it.
fn subject(book: &Book, entry_type: Option<EntryType>, question: &str) -> String {
    let asked = format!(" {} ", words(question));
    let entries = book.entries.iter().filter(|e| entry_type.is_none_or(|t| e.entry_type == t));
    let mut best: Option<(usize, &str)> = None;
    for entry in entries {
        for name in entry.names() {
            let folded = words(&name);
            if !folded.is_empty()
                && asked.contains(&format!(" {folded} "))
                && best.is_none_or(|(length, _)| folded.len() > length)
            {
                best = Some((folded.len(), &entry.name));
            }
        }
    }
    match best {
        Some((_, name)) => name.to_owned(),
        None => capitalised(question).unwrap_or_else(|| {
            question.trim().trim_end_matches(['?', '!', '.']).chars().take(MAX_QUERY).collect()
        }),
    }
}

/// The longest run of capitalised words, the last of several; not the first word of a sentence alone.
fn capitalised(question: &str) -> Option<String> {
    let bare: Vec<&str> =
        question.split_whitespace().map(|w| w.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    let is_capital = |word: &&str| {
        word.starts_with(char::is_uppercase) && !OPENERS.contains(&word.to_lowercase().as_str())
    };
    let (mut best, mut at) = (0..0, 0);
    for run in bare.chunk_by(|a, b| is_capital(a) == is_capital(b)) {
        if is_capital(&run[0]) && run.len() >= best.len() {
            best = at..at + run.len();
        }
        at += run.len();
    }
    let says_something = !best.is_empty() && (best != (0..1) || bare.len() == 1);
    says_something.then(|| bare[best].join(" "))
}

/// Folded words with single spaces between them.
fn words(text: &str) -> String {
    let folded = fold(text);
    folded.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::agent::testing::{Scripted, entry, path, setup};
    use crate::tools::Selection;

    fn selection() -> Selection {
        Selection {
            path: path("manuscript/02-lantern.md"),
            title: "The Lantern".into(),
            source_words: 30,
            start: 20,
            text: "cold as a key".into(),
        }
    }

    /// The forced call as `tool arguments`.
    fn forced(question: &str, change: impl Fn(&mut TurnSetup)) -> String {
        let mut setup = setup(Arc::new(Scripted::default()), question);
        let mut book = (*setup.book).clone();
        book.entries.push(entry(
            EntryType::Location,
            "codex/locations/quay.md",
            "The Old Quay",
            "# The Old Quay\n",
        ));
        setup.book = Arc::new(book);
        change(&mut setup);
        match first(&setup) {
            First::Named { name, arguments } => format!("{name} {}", arguments.unwrap_or_default()),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_program_calls_a_forced_tool_with_what_the_question_says() {
        for (question, expected) in [
            ("Who is Mira Okafor?", r#"get_character_context {"name":"Mira Okafor"}"#),
            ("So, who’s Mira Okafor?", r#"get_character_context {"name":"Mira Okafor"}"#),
            ("Who is Captain Ferro?", r#"get_character_context {"name":"Captain Ferro"}"#),
            ("List all the characters", r#"list_codex_entries {"entryType":"character"}"#),
            ("list all places, please", r#"list_codex_entries {"entryType":"location"}"#),
            ("Hello there", "Free"),
        ] {
            assert_eq!(forced(question, |_| {}), expected, "{question}");
        }
    }

    #[test]
    fn a_passage_is_the_chapter_that_is_named_else_the_selection_else_the_open_document() {
        let question = "What do you make of this passage?";
        let read = |arguments: &str| format!("get_manuscript_context {arguments}");
        assert_eq!(forced(question, |_| {}), read(r#"{"ref":"current","refs":null,"startParagraph":null}"#));
        assert_eq!(
            forced(question, |s| s.selection = Some(selection())),
            read(r#"{"ref":"selection","refs":null,"startParagraph":null}"#)
        );
        let named = forced("What happens in chapter 3?", |s| s.current = None);
        assert!(named.starts_with("get_manuscript_context {\"ref\":\""), "{named}");
        assert!(named.contains('3') && !named.contains("current"), "{named}");
        assert_eq!(forced(question, |s| s.current = None), "Free", "there is nothing to read");
    }

    #[test]
    fn the_subject_of_a_question_is_the_longest_name_in_it() {
        let mut book = crate::agent::testing::book();
        book.entries.push(entry(EntryType::Character, "codex/characters/m.md", "Mira", "# Mira\n"));
        for (question, expected) in [
            ("Tell me about MIRA OKAFOR.", "Mira Okafor"),
            ("Tell me about mira.", "Mira"),
            ("Admirable people?", "Admirable people"),
            ("Does Osric Vane know?", "Osric Vane"),
            ("Osric", "Osric"),
            ("What now", "What now"),
            ("", ""),
        ] {
            assert_eq!(subject(&book, Some(EntryType::Character), question), expected, "{question}");
        }
    }
}
