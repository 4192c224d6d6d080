//! Names that the manuscript uses and the Codex lacks, and stubs for them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::Value;

use super::Library;
use super::plan::{Call, create, manuscript, text_in, units_in};
use super::question::{Question, Topic, is_small};
use super::quoting;
use super::turn::Turn;
use crate::craft::Prose;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::passage::fold;

/// How often a name must stand in what was read.
const MIN_MENTIONS: usize = 3;

/// Chapters of one call; more than fit its limit of characters in any case.
const MAX_REFS: usize = 12;

/// A name without an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The name.
    pub name: String,
    /// How often it stands in what was read.
    pub mentions: usize,
}

/// Reads the manuscript on, as far as the rounds allow; the last one proposes, where that was asked for.
pub fn wishes(turn: &Turn<'_>, question: &Question<'_>, library: &Library<'_>) -> Vec<Call> {
    let mut calls = vec![];
    let was_read = |path: &str| {
        let mut units = turn.of_tool("get_manuscript_context").flat_map(|d| units_in(&d.output));
        units.any(|unit| text_in(unit, &["path"]) == Some(path) && is_whole(unit))
    };
    let paths = library.book.chapters.iter().map(|c| c.path.as_str());
    let unread: Vec<String> =
        paths.filter(|path| !was_read(path)).take(MAX_REFS).map(str::to_owned).collect();
    let rounds = if question.is_about(Topic::Propose) { 2 } else { 3 };
    if !unread.is_empty() && turn.done.len() < rounds {
        calls.push(manuscript(&unread));
    }
    if question.is_about(Topic::Propose)
        && !turn.done.is_empty()
        && let Some(best) = candidates(&texts(turn), library).first()
    {
        calls.push(stub(&best.name, EntryType::Character, turn));
    }
    calls
}

/// The manuscript that was returned in this turn, each chapter once, in the order of the calls.
pub fn texts<'t>(turn: &'t Turn<'_>) -> Vec<&'t str> {
    let mut read: Vec<(Option<&str>, &str)> = vec![];
    for unit in turn.of_tool("get_manuscript_context").flat_map(|d| units_in(&d.output)) {
        let Some(text) = text_in(unit, &["text"]) else { continue };
        let path = text_in(unit, &["path"]);
        match read.iter_mut().find(|(known, _)| path.is_some() && *known == path) {
            // A chapter that was cut at first and came whole later.
            Some((_, shorter)) if shorter.len() < text.len() => *shorter = text,
            Some(_) => {}
            None => read.push((path, text)),
        }
    }
    read.into_iter().map(|(_, text)| text).collect()
}

/// Whether a unit of manuscript was returned to its end.
pub fn is_whole(unit: &Value) -> bool {
    text_in(unit, &["text"]).is_some() && unit.get("truncated").and_then(Value::as_bool) != Some(true)
}

/// Names in `texts` that no entry bears, most used first: capitalised words within sentences.
pub fn candidates(texts: &[&str], library: &Library<'_>) -> Vec<Candidate> {
    let mut runs: Vec<Run<'_>> = vec![];
    for text in texts {
        let known = library.names.find(text);
        let prose = Prose::of(text);
        let is_known = |at: usize| known.iter().any(|m| m.range.contains(&at));
        for sentence in prose.sentences() {
            let words = &prose.words()[sentence.words.clone()];
            let mut run: Option<Range<usize>> = None;
            let mut close = |run: Option<Range<usize>>| runs.extend(run.map(|run| Run::of(text, words, run)));
            for word in words.iter().skip(1) {
                let is_name = is_name(text, word.clone()) && !is_known(word.start);
                let continues = run.as_ref().is_some_and(|r| &text[r.end..word.start] == " ");
                run = match run {
                    Some(open) if is_name && continues => Some(open.start..word.end),
                    open => {
                        close(open);
                        is_name.then(|| word.clone())
                    }
                };
            }
            close(run);
        }
    }
    let counts = count(&runs);
    let own = own_words(library);
    let is_new = |name: &str| !name.split(' ').all(|word| own.contains(&fold(word)));
    // What is also written small is a word, not a name.
    let is_word = |name: &str| {
        let small = name.to_lowercase();
        texts.iter().any(|text| quoting::positions(text, &small).next().is_some())
    };
    let mut found: Vec<Candidate> = counts
        .into_iter()
        .filter(|(name, mentions)| *mentions >= MIN_MENTIONS && is_new(name) && !is_word(name))
        .map(|(name, mentions)| Candidate { name: name.to_owned(), mentions })
        .collect();
    found.sort_by_key(|c| std::cmp::Reverse(c.mentions));
    found
}

/// Every word of every name in the Codex, folded: a surname alone, or a title, is nobody new.
fn own_words(library: &Library<'_>) -> BTreeSet<String> {
    let names = library.book.entries.iter().flat_map(Entry::names);
    names.flat_map(|name| name.split_whitespace().map(fold).collect::<Vec<_>>()).collect()
}

/// Capitalised words in a row, within a sentence.
struct Run<'t> {
    name: &'t str,
    /// The same with the word before it, where that is the first of the sentence: its capital alone says nothing.
    with_first: Option<&'t str>,
}

impl<'t> Run<'t> {
    fn of(text: &'t str, words: &[Range<usize>], run: Range<usize>) -> Self {
        let first = words.first().filter(|first| text.get(first.end..run.start) == Some(" "));
        Self {
            with_first: first.map(|first| without_genitive(&text[first.start..run.end])),
            name: without_genitive(&text[run]),
        }
    }
}

/// Counts each name. A sentence that begins with a name of several words counts for the whole name, where that also stands elsewhere.
fn count<'t>(runs: &[Run<'t>]) -> BTreeMap<&'t str, usize> {
    let within: BTreeSet<&str> = runs.iter().map(|run| run.name).collect();
    let mut counts = BTreeMap::new();
    for run in runs {
        let name = run.with_first.filter(|whole| within.contains(whole)).unwrap_or(run.name);
        *counts.entry(name).or_default() += 1;
    }
    counts
}

fn without_genitive(name: &str) -> &str {
    name.strip_suffix("'s").or_else(|| name.strip_suffix("’s")).unwrap_or(name)
}

/// Whether a word is written as a name: a capital and small letters, not at the beginning of a speech, no day, month or *I*.
fn is_name(text: &str, word: Range<usize>) -> bool {
    const NO_NAMES: &str = " I'm I'll I've I'd Mr Mrs Ms Dr Miss Sir Madam God Monday Tuesday Wednesday Thursday Friday Saturday Sunday January \
        February March April May June July August September October November December English French German Christmas Easter Yes No ";
    let before = text[..word.start].chars().next_back();
    let word = &text[word];
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some_and(char::is_lowercase)
        && before == Some(' ')
        && !is_small(&word.to_lowercase())
        && !NO_NAMES.contains(&format!(" {} ", word.replace('’', "'")))
}

/// The first chapter that uses a name.
pub fn first_chapter(name: &str, library: &Library<'_>) -> Option<String> {
    let uses = |text: &str| quoting::positions(text, name).next().is_some();
    library.book.chapters.iter().find(|c| uses(c.body())).map(|c| c.path.as_str().to_owned())
}

/// A proposal of an entry that holds no more than what was read: a quotation, and what is open.
pub fn stub(name: &str, entry_type: EntryType, turn: &Turn<'_>) -> Call {
    let mut body = format!("# {name}\n\n## Summary\n\nNot yet written.\n");
    let quotes: Vec<String> = turn
        .of_tool("get_manuscript_context")
        .flat_map(|d| units_in(&d.output))
        .filter_map(|unit| {
            let quote = quoting::holding(text_in(unit, &["text"])?, name, 1).first().copied()?;
            let title = text_in(unit, &["title", "path"]).unwrap_or("the manuscript");
            Some(format!("- {title}: \"{}\"\n", quote.split_whitespace().collect::<Vec<_>>().join(" ")))
        })
        .collect();
    if !quotes.is_empty() {
        body.push_str("\n## In the manuscript\n\n");
        body.extend(quotes);
    }
    create(name, entry_type, &body)
}

#[cfg(test)]
mod tests {
    use crate::canon::mentions::Names;
    use crate::domain::book::Book;

    use super::*;

    fn found(text: &str) -> Vec<(String, usize)> {
        let book = Book::default();
        let library = Library { book: &book, names: &Names::of(&book), persona: "" };
        candidates(&[text], &library).into_iter().map(|c| (c.name, c.mentions)).collect()
    }

    #[test]
    fn a_name_of_several_words_is_counted_whole_also_where_it_begins_a_sentence() {
        let text =
            "Ada had the key, and Brother Tome did not. Brother Tome sat. Brother Tome's lamp went out.";
        assert_eq!(found(text), [("Brother Tome".to_owned(), 3)]);
    }

    #[test]
    fn the_first_word_of_a_sentence_is_no_part_of_a_name_by_its_capital_alone() {
        let text = "Nobody saw Pell. Nobody heard Pell. Yesterday Pell left, and today Pell is back.";
        assert_eq!(found(text), [("Pell".to_owned(), 4)]);
    }
}
