//! The names that stand in what was read.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::AhoCorasick;

use crate::canon::mentions::Names;
use crate::domain::book::Book;
use crate::domain::codex::EntryType;
use crate::domain::manuscript::Chapter;
use crate::domain::passage::is_of_word;

/// What is known of names.
pub(super) struct Known {
    /// By the index of the entry in the book.
    entries: HashMap<usize, KnownEntry>,
    /// Names and aliases of entries that stand nowhere in what was read.
    unread: Vec<String>,
    /// All that was read.
    text: Vec<Arc<str>>,
}

/// What is known of one entry's names.
#[derive(Debug, Default)]
pub(super) struct KnownEntry {
    /// Each form in which it is named, in the order in which they come.
    pub forms: Vec<Form>,
}

/// A form in which an entry is named.
#[derive(Debug)]
pub(super) struct Form {
    /// As it stands there, with single spaces.
    pub name: String,
    /// Index of the chapter that uses it first.
    pub chapter: usize,
    /// Where it stands there.
    pub range: Range<usize>,
}

impl Known {
    /// Looks every name of the Codex up in the chapters that were read.
    pub(super) fn of(book: &Book, read: &[Chapter]) -> Self {
        // The names know their entries in the book's order, without those of style.
        let story: Vec<usize> =
            (0..book.entries.len()).filter(|i| book.entries[*i].entry_type != EntryType::Style).collect();
        let names = Names::of(book);
        let mut entries: HashMap<usize, KnownEntry> = HashMap::new();
        for (place, chapter) in read.iter().enumerate() {
            for mention in names.find(chapter.body()) {
                let Some(index) = story.get(mention.entry) else { continue };
                let words = chapter.body()[mention.range.clone()].split_whitespace();
                let name = words.collect::<Vec<_>>().join(" ");
                let forms = &mut entries.entry(*index).or_default().forms;
                if !forms.iter().any(|form| form.name == name) {
                    forms.push(Form { name, chapter: place, range: mention.range });
                }
            }
        }
        // How a book is written is no secret of its story.
        let all = story
            .iter()
            .map(|i| &book.entries[*i])
            .flat_map(|e| std::iter::once(&e.name).chain(&e.aliases).cloned());
        let text: Vec<Arc<str>> = read.iter().map(|chapter| Arc::clone(&chapter.text)).collect();
        let unread = not_in(&text, all.collect());
        Self { entries, unread, text }
    }

    /// Returns what is known of the entry with this index in the book.
    pub(super) fn of_entry(&self, index: usize) -> Option<&KnownEntry> {
        self.entries.get(&index)
    }

    /// Returns the names and aliases, and those of `others`, that stand nowhere in what was read.
    pub(super) fn unread(&self, others: impl Iterator<Item = String>) -> Vec<String> {
        let mut all = self.unread.clone();
        all.extend(not_in(&self.text, others.collect()));
        all
    }
}

fn not_in(text: &[Arc<str>], mut names: BTreeSet<String>) -> Vec<String> {
    names.retain(|name| name.chars().nth(1).is_some());
    let names: Vec<String> = names.into_iter().collect();
    let Ok(automaton) = AhoCorasick::new(&names) else { return names };
    let standing: BTreeSet<usize> = text.iter().flat_map(|text| stand_in(&automaton, text)).collect();
    names.into_iter().enumerate().filter(|(i, _)| !standing.contains(i)).map(|(_, name)| name).collect()
}

/// Returns which of the patterns stand in `text` as whole words, letter case counting.
pub(super) fn stand_in<'a>(patterns: &'a AhoCorasick, text: &'a str) -> impl Iterator<Item = usize> + 'a {
    let inside = |at: usize| {
        text[at..].chars().next().is_some_and(is_of_word)
            && text[..at].chars().next_back().is_some_and(is_of_word)
    };
    patterns
        .find_overlapping_iter(text)
        .filter(move |found| !inside(found.start()) && !inside(found.end()))
        .map(|found| found.pattern().as_usize())
}
