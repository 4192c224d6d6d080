//! Names of Codex entries where they stand in prose.
//!
//! Names are compiled once for a Codex; a search is one pass over a text. Only whole words count, and a name that could be
//! two entries' is never guessed from a part of a name.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::passage::{Searchable, is_of_word};

/// One name of one entry, as an index of its entry in [`Names::entries`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Bytes of the text; a possessive `'s` is not part of it.
    pub range: Range<usize>,
    /// Index into [`Names::entries`].
    pub entry: usize,
}

/// An entry that can be mentioned.
#[derive(Debug, Clone)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// Its type.
    pub entry_type: EntryType,
    /// Its file.
    pub path: crate::domain::ids::BookPath,
    /// See [`Entry::address`]: a file may hold many entries.
    pub address: String,
}

/// All names and aliases of a Codex, compiled for searching (Aho-Corasick, leftmost longest). Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The entries, in the book's order.
    pub entries: Arc<[Named]>,
    /// `None` where there is no name to find.
    automaton: Option<AhoCorasick>,
    /// Entry of each pattern.
    owners: Arc<[usize]>,
}

/// Words that stand before a name and are none: `Captain` alone is not Captain Vale.
const BEFORE_NAMES: [&str; 22] = [
    "the",
    "a",
    "an",
    "mr",
    "mrs",
    "ms",
    "miss",
    "dr",
    "doctor",
    "captain",
    "sir",
    "lady",
    "lord",
    "saint",
    "st",
    "professor",
    "prof",
    "old",
    "young",
    "little",
    "king",
    "queen",
];

/// First names that begin too many sentences as ordinary words.
const ORDINARY: [&str; 8] = ["Will", "May", "Can", "Just", "Still", "Even", "Ever", "Long"];

impl Names {
    /// Compiles the names of `book`. Single common words in lower case and names shorter than two characters are left out; style entries too.
    ///
    /// A character is also found by the first or the last word of its name, when no other entry bears that word. A whole name or alias that
    /// several entries bear belongs to the one with the shortest name, then to the first by path.
    pub fn of(book: &Book) -> Self {
        let entries: Vec<Named> = book
            .entries
            .iter()
            .filter(|entry| entry.entry_type != EntryType::Style)
            .map(|e| Named {
                name: e.name.clone(),
                entry_type: e.entry_type,
                path: e.path.clone(),
                address: e.address(),
            })
            .collect();
        let named: Vec<&Entry> = book.entries.iter().filter(|e| e.entry_type != EntryType::Style).collect();
        let forms = forms(&named);
        let mut patterns: Vec<(String, usize)> = Vec::with_capacity(2 * forms.len());
        for (form, owner) in &forms {
            let capitals = form.to_uppercase();
            if capitals != *form && !forms.contains_key(&capitals) {
                patterns.push((capitals, *owner));
            }
            patterns.push((form.clone(), *owner));
        }
        // The table has no order of its own; the same book must give the same patterns.
        patterns.sort_unstable();
        patterns.dedup_by(|next, kept| next.0 == kept.0);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind((patterns.len() > 200).then_some(AhoCorasickKind::ContiguousNFA))
            .build(patterns.iter().map(|(form, _)| form))
            .ok()
            .filter(|_| !patterns.is_empty());
        Self {
            entries: entries.into(),
            automaton,
            owners: patterns.into_iter().map(|(_, owner)| owner).collect(),
        }
    }

    /// Finds the names in `text`, at word boundaries, in order, without overlaps. Letter case counts, except that an ALL-CAPS name is found too;
    /// typography, line breaks inside a name and emphasis do not.
    pub fn find(&self, text: &str) -> Vec<Mention> {
        self.find_in(&Searchable::new(text))
    }

    /// The same in a text that is prepared already.
    pub fn find_in(&self, text: &Searchable) -> Vec<Mention> {
        let Some(automaton) = &self.automaton else { return vec![] };
        let plain = text.plain();
        let (mut found, mut at) = (vec![], 0);
        while let Some(longest) = automaton.find(Input::new(plain).span(at..plain.len())) {
            let start = longest.start();
            match whole_word(automaton, plain, start, longest.end()) {
                Some((end, pattern)) => {
                    found.push(Mention { range: text.original(start..end), entry: self.owners[pattern] });
                    at = end;
                }
                None => at = start + plain[start..].chars().next().map_or(1, char::len_utf8),
            }
        }
        found
    }
}

/// The longest name that starts at `start`, ends at `end` at the latest and is no part of a longer word: its end and pattern.
fn whole_word(automaton: &AhoCorasick, plain: &str, start: usize, mut end: usize) -> Option<(usize, usize)> {
    let inside = |at: usize| {
        let next = plain[at..].chars().next();
        next.is_some_and(is_of_word) && plain[..at].chars().next_back().is_some_and(is_of_word)
    };
    if inside(start) {
        return None;
    }
    loop {
        let shorter = automaton.find(Input::new(plain).span(start..end)).filter(|m| m.start() == start)?;
        if !inside(shorter.end()) && !goes_on(&plain[shorter.end()..]) {
            return Some((shorter.end(), shorter.pattern().as_usize()));
        }
        end = shorter.end() - 1;
    }
}

/// Whether the word before `after` goes on behind an apostrophe with more than a `'s`, `'d` or `'ll`.
fn goes_on(after: &str) -> bool {
    after.strip_prefix('\'').is_some_and(|rest| rest.chars().take_while(|c| c.is_alphanumeric()).count() > 2)
}

/// Every form in which a name may stand in prose, in the plain form of [`Searchable`], with its entry.
fn forms(entries: &[&Entry]) -> HashMap<String, usize> {
    let mut by_name: Vec<usize> = (0..entries.len()).collect();
    by_name.sort_by_key(|at| (entries[*at].name.chars().count(), &entries[*at].path));
    let mut forms: HashMap<String, usize> = HashMap::new();
    // How many entries bear a word anywhere in their names.
    let mut bearers: HashMap<String, (usize, usize)> = HashMap::new();
    for at in by_name {
        for name in entries[at].names() {
            let name = plain(&name);
            for word in name.split(' ') {
                let bearer = bearers.entry(word.to_owned()).or_insert((at, 1));
                if bearer.0 != at {
                    *bearer = (at, bearer.1 + 1);
                }
            }
            if let Some(rest) = name.strip_prefix("The ") {
                forms.entry(format!("the {rest}")).or_insert(at);
            }
            if can_be_found(&name) {
                forms.entry(name).or_insert(at);
            }
        }
    }
    for (at, entry) in entries.iter().enumerate().filter(|(_, e)| e.entry_type == EntryType::Character) {
        let name = plain(&entry.name);
        let words: Vec<&str> = name.split(' ').collect();
        for word in [words.first(), words.last()].into_iter().flatten().filter(|_| words.len() > 1) {
            let is_name = word.starts_with(char::is_uppercase)
                && word.chars().filter(|c| c.is_alphanumeric()).nth(1).is_some()
                && !BEFORE_NAMES.contains(&word.to_lowercase().trim_end_matches('.'))
                && !ORDINARY.contains(word);
            if is_name && bearers.get(*word).is_some_and(|(_, count)| *count == 1) {
                forms.entry((*word).to_owned()).or_insert(at);
            }
        }
    }
    forms
}

fn plain(name: &str) -> String {
    Searchable::new(name.trim()).plain().to_owned()
}

/// Whether a name says enough to be found: two characters, and no single word in lower case.
fn can_be_found(name: &str) -> bool {
    let long_enough = name.chars().nth(1).is_some() && name.chars().any(char::is_alphanumeric);
    let ends_in_words = name.starts_with(char::is_alphanumeric) || name.starts_with('\'');
    long_enough
        && ends_in_words
        && (name.contains(' ') || name.contains(char::is_uppercase) || is_without_case(name))
}

/// Whether a name is in a script that has no capitals.
fn is_without_case(name: &str) -> bool {
    name.chars().filter(|c| c.is_alphabetic()).all(|c| !c.is_lowercase() && !c.is_uppercase())
        && name.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::shelf::{With, book, entry};

    fn names() -> Names {
        Names::of(&book(vec![
            entry("characters/vale.md", "Adrian Vale").title("Captain").aliases(&["the Captain"]),
            entry("characters/mira.md", "Mira Okafor").aliases(&["S.O. Okafor"]),
            entry("characters/tobias.md", "Tobias Okafor"),
            entry("characters/ilse.md", "Ilse Søndergaard").aliases(&["Dr. Søndergaard"]),
            entry("characters/brien.md", "Will O’Brien"),
            entry("characters/x.md", "X"),
            entry("locations/cistern.md", "The Cistern"),
            entry("locations/hall.md", "Vale Road Hall"),
            entry("items/mallet.md", "mallet").aliases(&["Warden’s mallet"]),
            entry("items/halcyon.md", "Halcyon"),
            entry("items/halcyon-2.md", "Halcyon II").aliases(&["Halcyon", "Second Ship"]),
            entry("concepts/fist.md", "quiet hour"),
            entry("style/house.md", "House Style"),
            entry("characters/tanaka.md", "田中"),
        ]))
    }

    /// The mentions as `words=entry`.
    fn found(text: &str) -> Vec<String> {
        let names = names();
        names
            .find(text)
            .into_iter()
            .map(|m| format!("{}={}", &text[m.range], names.entries[m.entry].name))
            .collect()
    }

    #[test]
    fn names_are_found_in_prose() {
        let table: [(&str, &[&str]); 14] = [
            (
                "Adrian Vale’s mug, and Captain Vale's.",
                &["Adrian Vale=Adrian Vale", "Captain Vale=Adrian Vale"],
            ),
            ("“Vale?” said the Captain", &["the Captain=Adrian Vale"]),
            ("ADRIAN VALE and HALCYON", &["ADRIAN VALE=Adrian Vale", "HALCYON=Halcyon"]),
            ("adrian vale, Mirage, Adriana, unAdrian", &[]),
            ("Mira'll go; Mira-like; (Mira)", &["Mira=Mira Okafor", "Mira=Mira Okafor", "Mira=Mira Okafor"]),
            ("Okafor, Tobias and S.O. Okafor", &["Tobias=Tobias Okafor", "S.O. Okafor=Mira Okafor"]),
            (
                "Ilse\nSøndergaard, Dr.\u{a0}Søndergaard, Ilse So\u{338}",
                &[
                    "Ilse\nSøndergaard=Ilse Søndergaard",
                    "Dr.\u{a0}Søndergaard=Ilse Søndergaard",
                    "Ilse=Ilse Søndergaard",
                ],
            ),
            ("Will O'Brien. Will you, O’Brien?", &["Will O'Brien=Will O’Brien", "O’Brien=Will O’Brien"]),
            ("the Cistern, The Cistern, a Cistern", &["the Cistern=The Cistern", "The Cistern=The Cistern"]),
            (
                "a mallet; the Warden's mallet; *Halcyon* and Halcyon II",
                &["Warden's mallet=mallet", "Halcyon=Halcyon", "Halcyon II=Halcyon II"],
            ),
            ("at the quiet hour in House Style", &["quiet hour=quiet hour"]),
            ("昨日田中さんは来た。", &["田中=田中"]),
            ("at Al'Thor, Mira'Thor", &[]),
            ("Captain Valentine, Vale Road Halls", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(found(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_shorter_name_is_found_where_a_longer_one_breaks_off() {
        let names = Names::of(&book(vec![
            entry("characters/a.md", "Anna"),
            entry("characters/b.md", "Anna Lee"),
            entry("characters/c.md", "Anna Lee Cole"),
        ]));
        let text = "Anna Leeward, Anna Lee Coleman";
        let found: Vec<_> = names.find(text).into_iter().map(|m| (&text[m.range], m.entry)).collect();
        assert_eq!(found, [("Anna", 0), ("Anna Lee", 1)]);
    }

    #[test]
    fn a_codex_without_names_finds_nothing() {
        assert_eq!(Names::of(&Book::default()).find("Anyone"), []);
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_searched(text in "\\PC{0,30}|(Adrian|Vale|Captain|Mira| |’s|'|\n|é|\u{301}|ö|Hall|Road|-|\\*){0,14}") {
            let names = names();
            let mut end = 0;
            for mention in names.find(&text) {
                proptest::prop_assert!(mention.range.start >= end && text.get(mention.range.clone()).is_some());
                end = mention.range.end;
            }
        }
    }
}
