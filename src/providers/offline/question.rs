//! What a question asks for, by plain rules over its words.

use std::sync::LazyLock;

use regex::Regex;

use crate::canon::lookup::{self, Strength};
use crate::canon::manuscript;
use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::passage::fold;

/// A question, taken apart.
#[derive(Debug)]
pub struct Question<'a> {
    /// Its words.
    pub text: &'a str,
    /// Entries that it names, in order.
    pub subjects: Vec<&'a Entry>,
    /// A name in it that no entry bears.
    pub unknown: Option<String>,
    /// Chapters that it names, as references for the manuscript tool.
    pub chapters: Vec<String>,
    /// It asks for all entries of a type.
    pub list: Option<EntryType>,
    /// It asks for a change.
    pub change: Option<Change>,
    /// What else it is about.
    pub topics: Vec<Topic>,
}

/// What a question may be about besides names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// The selection or the open document.
    Passage,
    /// A time.
    When,
    /// What the Codex lacks.
    Missing,
    /// A proposal.
    Propose,
    /// The prose itself.
    Craft,
    /// Work that only a model can do: to write, to change what is no role or alias.
    Work,
    /// A new name for somebody.
    Rename,
}

/// A change that is asked for in plain words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A role.
    Role {
        /// Whose.
        who: String,
        /// The new one.
        role: String,
    },
    /// One more name.
    Alias {
        /// Whose.
        who: String,
        /// The name.
        alias: String,
    },
    /// A new entry.
    Create {
        /// Its name.
        name: String,
        /// Its type.
        entry_type: EntryType,
    },
}

macro_rules! patterns {
    ($($name:ident = $pattern:literal;)+) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| compile($pattern));)+
        #[cfg(test)]
        const PATTERNS: &[&LazyLock<Regex>] = &[$(&$name),+];
    };
}

patterns! {
    ROLE = r"(?i)\b(?:change|set|make|update|switch)\s+(?P<who>.+?)(?:['’]s?)?\s+(?:narrative\s+|story\s+)?role\s+(?:from\s+.+?\s+)?(?:to|into|as)\s+(?P<what>.+)";
    ROLE_MADE = r"(?i)\b(?:make)\s+(?P<who>.+?)(?:['’]s?)?\s+(?:narrative\s+|story\s+)?role\s+(?P<what>.+)";
    MADE = r"(?i)\bmake\s+(?P<who>.+?)\s+(?:into\s+)?(?:an?|the)\s+(?P<what>(?:\w+\s+)?(?:protagonist|antagonist|deuteragonist|mentor|villain|hero|heroine|rival|ally|sidekick|foil|love interest|confidant|confidante))\b";
    ROLE_OF = r"(?i)\b(?:change|set|update|switch)\s+the\s+(?:narrative\s+|story\s+)?role\s+(?:of|for)\s+(?P<who>.+?)\s+(?:from\s+.+?\s+)?(?:to|into|as)\s+(?P<what>.+)";
    ALIAS = r"(?i)\badd\s+(?:the\s+|an\s+)?(?:alias|nickname)\s+(?P<what>.+?)\s+(?:to|for)\s+(?P<who>.+)";
    ALIAS_AS = r"(?i)\badd\s+(?P<what>.+?)\s+as\s+(?:an?\s+|another\s+)?(?:alias|nickname|name)\s+(?:to|for|of)\s+(?P<who>.+)";
    CREATE = r"(?i)\b(?:create|add|make|propose|draft|start|write)\s+(?:\w+\s+){0,4}?(?:entry|stub|page|dossier|character|location|place|organi[sz]ation|item|concept|event)\s+(?:for|called|named|about|on)\s+(?P<what>.+)";
    MISSING = r"(?i)\b(?:missing|lacks?|lacking|no entry|without an entry|not (?:yet )?in)\b.*\b(?:codex|canon|entry|entries)\b|\b(?:codex|canon)\b.*\b(?:missing|lacks?|lacking)\b";
    PROPOSE = r"(?i)\b(?:propose|create|add|draft)\b";
    WORK = r"(?i)^\W*(?:please\s+|(?:could|can|would|will)\s+you\s+(?:please\s+)?)*(?:change|set|update|add|write|rewrite|delete|remove|fix|cut|draft|continue|translate|edit|replace|shorten|expand|merge|move|improve|polish)\b";
    RENAME = r"(?i)^\W*(?:please\s+|(?:could|can|would|will)\s+you\s+(?:please\s+)?)*rename\b";
    LIST = r"(?i)^\W*(?:please\s+)?(?:list|count|show|name|give me)\b|\bhow many\b|\binventory\b|\ball (?:the |of the |my )?\w+|\b(?:what|who|which) are (?:the|my|all)\b";
    WHEN = r"(?i)^\W*(?:and\s+|so\s+)?when\b|\bwhen (?:did|was|were|does|do|is|will|has)\b|\b(?:timeline|chronology|what year|which year|what date|in what order)\b";
    PASSAGE = r"(?i)\b(?:this|these|my|the (?:open|current|selected|highlighted))\s+(?:\w+\s+){0,2}?(?:passage|selection|paragraphs?|scene|chapter|page|text|section|excerpt|lines?|sentences?|prose|document|words|opening|draft)\b|\bthe selection\b|\b(?:i|i've|i have) (?:selected|highlighted)\b";
    CRAFT = r"(?i)\b(?:rhythm|pacing|pace|dialogue|adverbs?|passive|readab\w+|echo(?:es)?|repetit\w+|repeat\w*|sentences?|filter words?|prose|flow|craft|drag\w*|exercises?)\b";
    SAY_ALL = r#"(?i)[\s"'“”‘’]+$|[.?!,;:]+$|\s+in the codex$|,?\s+please$|\s+in (?:his|her|their|its) (?:entry|dossier)$"#;
}

#[expect(clippy::expect_used, reason = "the patterns are constants that a test compiles")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

/// What authors call the types, besides their names.
const TYPE_WORDS: [(EntryType, &[&str]); 7] = [
    (EntryType::Character, &["people", "persons", "person", "cast", "protagonists", "antagonists"]),
    (EntryType::Location, &["places", "place", "settings"]),
    (EntryType::Organization, &["organisations", "organisation", "factions", "faction", "guilds", "groups"]),
    (EntryType::Item, &["objects", "object", "artifacts", "artefacts", "props"]),
    (EntryType::Concept, &["rules", "lore", "technologies", "technology", "customs", "magic"]),
    (EntryType::Event, &["timeline", "happenings"]),
    (EntryType::Style, &["styles", "style"]),
];

impl<'a> Question<'a> {
    /// Takes a question apart; `book` serves to recognise names and chapters.
    pub fn read(text: &'a str, book: &'a Book) -> Self {
        let change = change(text);
        let subjects = match &change {
            Some(Change::Role { who, .. } | Change::Alias { who, .. }) => {
                entry(book, who).into_iter().collect()
            }
            Some(Change::Create { .. }) => vec![],
            None => subjects(text, book),
        };
        let list = type_in(text).filter(|_| change.is_none() && LIST.is_match(text));
        Self {
            text,
            unknown: if subjects.is_empty() && change.is_none() { unknown(text) } else { None },
            list: list.filter(|t| subjects.is_empty() || names_type_of_another(&subjects, *t)),
            chapters: chapters(text, &subjects, book),
            subjects,
            topics: topics(text, change.is_some()),
            change,
        }
    }

    /// Whether it is about `topic`.
    pub fn is_about(&self, topic: Topic) -> bool {
        self.topics.contains(&topic)
    }

    /// Returns the words that carry its meaning, in lower case, for searching.
    pub fn content_words(&self) -> Vec<String> {
        content_words(self.text)
    }
}

/// The chapters that a question names. A title that is also a name (a chapter called after a place) means the entry, unless the
/// question speaks of chapters.
fn chapters(text: &str, subjects: &[&Entry], book: &Book) -> Vec<String> {
    let mut named = manuscript::references_in(book, text);
    if !spaced(text).contains("chapter") {
        named.retain(|title| !subjects.iter().any(|e| e.names().iter().any(|n| spaced(n) == spaced(title))));
    }
    named
}

/// Whether a question asks for a time.
pub fn is_about_time(question: &str) -> bool {
    WHEN.is_match(question)
}

fn topics(text: &str, is_change: bool) -> Vec<Topic> {
    let signs = [
        (Topic::Passage, &PASSAGE),
        (Topic::When, &WHEN),
        (Topic::Missing, &MISSING),
        (Topic::Propose, &PROPOSE),
        (Topic::Craft, &CRAFT),
        (Topic::Work, &WORK),
        (Topic::Rename, &RENAME),
    ];
    let proposes = MISSING.is_match(text);
    let fits = |topic: Topic, sign: &Regex| {
        let settled = match topic {
            Topic::Missing => is_change,
            Topic::Work => is_change || proposes,
            _ => false,
        };
        sign.is_match(text) && !settled
    };
    signs.into_iter().filter(|(topic, sign)| fits(*topic, sign)).map(|(topic, _)| topic).collect()
}

/// Returns the words of a text that carry its meaning, in lower case and without repetition.
pub fn content_words(text: &str) -> Vec<String> {
    let folded = fold(text);
    let mut words: Vec<String> = vec![];
    for word in folded.split(|c: char| !c.is_alphanumeric()) {
        if word.chars().count() > 2 && !is_small(word) && !words.iter().any(|w| w == word) {
            words.push(word.to_owned());
        }
    }
    words
}

/// Returns the first type that a question speaks of.
pub fn type_in(question: &str) -> Option<EntryType> {
    let folded = fold(question);
    let of_word = |word: &str| {
        EntryType::ALL.into_iter().find(|t| t.as_str() == word || t.plural() == word).or_else(|| {
            TYPE_WORDS.iter().find(|(_, words)| words.contains(&word)).map(|(entry_type, _)| *entry_type)
        })
    };
    folded.split(|c: char| !c.is_alphanumeric()).find_map(of_word)
}

/// "List the characters of Lantern": a list of characters, not a look at the place. "Who are the people of Adrian?" stays with him.
fn names_type_of_another(subjects: &[&Entry], wanted: EntryType) -> bool {
    subjects.iter().all(|entry| entry.entry_type != wanted)
}

fn change(text: &str) -> Option<Change> {
    for pattern in [&ROLE_OF, &ROLE, &ROLE_MADE, &MADE] {
        if let Some(found) = pattern.captures(text) {
            return Some(Change::Role { who: tidy(&found["who"]), role: tidy(&found["what"]) });
        }
    }
    for pattern in [&ALIAS, &ALIAS_AS] {
        if let Some(found) = pattern.captures(text) {
            return Some(Change::Alias { who: tidy(&found["who"]), alias: tidy(&found["what"]) });
        }
    }
    let found = CREATE.captures(text).filter(|_| !MISSING.is_match(text))?;
    let asked = &text[..found.name("what")?.start()];
    let entry_type = type_in(asked).unwrap_or(EntryType::Character);
    Some(Change::Create { name: tidy(&found["what"]), entry_type })
}

/// Drops what stands around a name or value in a sentence.
fn tidy(raw: &str) -> String {
    let mut text = raw.trim();
    while let Some(end) = SAY_ALL.find(text).filter(|m| !m.is_empty()) {
        text = &text[..end.start()];
    }
    text.trim_start_matches(['"', '\'', '“', '‘']).trim().to_owned()
}

/// The entry that `who` means: what a lookup finds, without words around the name.
fn entry<'a>(book: &'a Book, who: &str) -> Option<&'a Entry> {
    let bare = who
        .trim_start_matches("the ")
        .trim_start_matches("character ")
        .trim_end_matches("'s")
        .trim_end_matches("’s");
    lookup::find(book, None, bare).best.map(|(entry, _)| entry)
}

/// Entries whose names stand in the question: whole names first, then capitalised words that a lookup knows.
fn subjects<'a>(text: &str, book: &'a Book) -> Vec<&'a Entry> {
    let mut asked = format!(" {} ", spaced(text));
    let mut names: Vec<(String, &Entry)> = book
        .entries
        .iter()
        .flat_map(|e| e.names().into_iter().map(move |n| (format!(" {} ", spaced(&n)), e)))
        .collect();
    names.retain(|(name, _)| name.trim().chars().count() > 1 && !is_small(name.trim()));
    // Longest first, so that a name inside a longer one is not found by itself.
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let mut found: Vec<(usize, &Entry)> = vec![];
    for (name, entry) in names {
        while let Some(at) = asked.find(&name) {
            if !found.iter().any(|(_, e)| std::ptr::eq(*e, entry)) {
                found.push((at, entry));
            }
            asked.replace_range(at + 1..at + name.len() - 1, &"\u{1}".repeat(name.len() - 2));
        }
    }
    let known = lookup::Known::of(book);
    for run in capitalised(text) {
        let Some(at) = asked.find(&format!(" {} ", spaced(&run))) else { continue };
        // The first word of a question may look like a name that is spelled wrongly.
        let best = known.find(book, None, &run).best.filter(|(_, strength)| *strength < Strength::Near);
        let Some((entry, _)) = best else { continue };
        if !found.iter().any(|(_, e)| std::ptr::eq(*e, entry)) {
            found.push((at, entry));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// The longest run of capitalised words, where the question is about somebody.
fn unknown(text: &str) -> Option<String> {
    capitalised(text).into_iter().max_by_key(String::len)
}

/// Runs of capitalised words, without the first word of a sentence and words that are always written so.
fn capitalised(text: &str) -> Vec<String> {
    let (mut runs, mut begins): (Vec<Vec<&str>>, bool) = (vec![vec![]], true);
    for raw in text.split_whitespace() {
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
        let bare = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        let is_name = bare.starts_with(char::is_uppercase)
            && !is_small(&bare.to_lowercase())
            && (!begins || text.split_whitespace().count() == 1);
        if is_name && let Some(run) = runs.last_mut() {
            run.push(bare);
        }
        begins = raw.ends_with(['.', '?', '!']);
        if !is_name || bare != raw {
            runs.push(vec![]);
        }
    }
    runs.into_iter().filter(|run| !run.is_empty()).map(|run| run.join(" ")).collect()
}

/// Folded words with single spaces between them.
fn spaced(text: &str) -> String {
    let folded = fold(text);
    folded.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Whether a word (in lower case) carries no meaning to look for.
pub fn is_small(word: &str) -> bool {
    const SMALL: &str = " a about after again all also am an and any anything are as ask at be because been before being but by can \
        canon chapter ch could codex did describe do does doing done else entry every explain find for from further get give had has have he \
        help her here him his how i if in into is it its just know let like list made make many may me mean means might more most much \
        my name no not now of off on one only or other our out over please project read really remember remind said say says see shall she should show \
        so some something story book novel tell than that the their them then there these they thing things this those to too \
        us very was way we well were what when where which while who whom whose why will with would you your yes hello hi thanks ";
    SMALL.contains(&format!(" {word} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert!(PATTERNS.iter().all(|pattern| !pattern.as_str().is_empty()));
    }

    #[test]
    fn a_change_is_read_from_plain_words() {
        let role = |who: &str, role: &str| Some(Change::Role { who: who.into(), role: role.into() });
        let alias = |who: &str, alias: &str| Some(Change::Alias { who: who.into(), alias: alias.into() });
        let create = |name: &str, entry_type| Some(Change::Create { name: name.into(), entry_type });
        for (text, expected) in [
            ("Change Adrian's role to mentor.", role("Adrian", "mentor")),
            (
                "Please set the narrative role of Mira Okafor to “deuteragonist” in the Codex!",
                role("Mira Okafor", "deuteragonist"),
            ),
            (
                "change Adrian Vale’s role from protagonist to reluctant mentor, please",
                role("Adrian Vale", "reluctant mentor"),
            ),
            ("Add the alias \"the Heron\" to Adrian.", alias("Adrian", "the Heron")),
            ("add the Heron as an alias for Adrian Vale", alias("Adrian Vale", "the Heron")),
            ("Create a codex entry for Pell", create("Pell", EntryType::Character)),
            ("Propose a new location entry called Port Amity.", create("Port Amity", EntryType::Location)),
            ("Make Mira's role antagonist", role("Mira", "antagonist")),
            ("Could you make Tobias Okafor a reluctant ally?", role("Tobias Okafor", "reluctant ally")),
            ("Make Adrian the mentor", role("Adrian", "mentor")),
            ("Make this scene a bit shorter", None),
            ("What is Adrian's role?", None),
            ("Does his role change as it goes?", None),
        ] {
            assert_eq!(change(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_asked_for_is_told_from_its_words() {
        let book = Book::default();
        let read = |text: &'static str| Question::read(text, &book);
        let about = |text: &'static str, topic| read(text).is_about(topic);
        assert_eq!(read("List all the characters.").list, Some(EntryType::Character));
        assert_eq!(read("How many places are there?").list, Some(EntryType::Location));
        assert_eq!(read("Which of the characters lies?").list, None);
        assert!(
            about("When did Lantern fall silent?", Topic::When)
                && !about("What does she feel when he goes?", Topic::When)
        );
        assert!(
            about("Does this passage drag?", Topic::Passage)
                && about("Is the opening of this short scene too slow?", Topic::Passage)
        );
        assert!(!about("Is this true of passages?", Topic::Passage));
        assert!(
            about("Who is missing from the Codex?", Topic::Missing)
                && !about("Who is missing?", Topic::Missing)
        );
        assert_eq!(read("Who is Zebulon Finch?").unknown.as_deref(), Some("Zebulon Finch"));
        assert_eq!(read("Who is it?").unknown, None);
        assert_eq!(read("How does Adrian's fear show?").content_words(), ["adrian", "fear"]);
    }
}
