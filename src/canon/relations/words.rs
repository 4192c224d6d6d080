//! The words in which authors state relationships: keys, headings, kinds.

use crate::domain::codex::EntryType;
use crate::domain::passage::fold;

/// Brings a key or heading to one form: folded, with spaces for `_` and `-`.
pub(super) fn plain(word: &str) -> String {
    fold(&word.replace(['_', '-'], " ")).trim().to_owned()
}

/// Whether a key or heading introduces relationships of any kind.
pub(super) fn is_list(word: &str) -> bool {
    matches!(
        word,
        "relationships"
            | "relationship"
            | "relations"
            | "relation"
            | "connections"
            | "connection"
            | "ties"
            | "bonds"
            | "relationships and connections"
            | "key relationships"
            | "related characters"
            | "related"
            | "see also characters"
    )
}

/// What a key or heading says of those whom it names, as a word for one of them; `None` for one that states no relationship.
pub(super) fn kind_of(word: &str) -> Option<&str> {
    PLURALS.iter().find(|(many, _)| *many == word).map(|(_, one)| *one).or_else(|| {
        let alone = KINDS.iter().find(|one| **one == word)?;
        Some(*alone)
    })
}

/// Keys for several, with the word for one.
const PLURALS: [(&str, &str); 29] = [
    ("allies", "ally"),
    ("friends", "friend"),
    ("enemies", "enemy"),
    ("foes", "foe"),
    ("rivals", "rival"),
    ("antagonists", "antagonist"),
    ("family", "family"),
    ("relatives", "relative"),
    ("kin", "kin"),
    ("parents", "parent"),
    ("children", "child"),
    ("sons", "son"),
    ("daughters", "daughter"),
    ("siblings", "sibling"),
    ("brothers", "brother"),
    ("sisters", "sister"),
    ("spouses", "spouse"),
    ("partners", "partner"),
    ("lovers", "lover"),
    ("mentors", "mentor"),
    ("students", "student"),
    ("colleagues", "colleague"),
    ("companions", "companion"),
    ("members", "member"),
    ("affiliations", "affiliation"),
    ("factions", "faction"),
    ("organizations", "organization"),
    ("locations", "location"),
    ("characters", "character"),
];

/// Keys for one.
const KINDS: [&str; 58] = [
    "ally",
    "friend",
    "best friend",
    "enemy",
    "rival",
    "nemesis",
    "parent",
    "mother",
    "father",
    "son",
    "daughter",
    "child",
    "sibling",
    "brother",
    "sister",
    "spouse",
    "wife",
    "husband",
    "partner",
    "lover",
    "fiance",
    "fiancee",
    "ex",
    "uncle",
    "aunt",
    "cousin",
    "grandmother",
    "grandfather",
    "mentor",
    "student",
    "apprentice",
    "teacher",
    "employer",
    "employee",
    "boss",
    "servant",
    "master",
    "leader",
    "led by",
    "captain",
    "commander",
    "owner",
    "owned by",
    "creator",
    "founder",
    "member of",
    "affiliation",
    "faction",
    "organization",
    "organisation",
    "works for",
    "reports to",
    "home",
    "location",
    "birthplace",
    "residence",
    "headquarters",
    "ship",
];

/// Keys whose links are no relationships of the entry.
pub(super) fn is_no_relation(word: &str) -> bool {
    matches!(
        word,
        "type"
            | "kind"
            | "category"
            | "entity type"
            | "classification"
            | "name"
            | "title"
            | "aliases"
            | "alias"
            | "aka"
            | "summary"
            | "description"
            | "tags"
            | "tag"
            | "cssclasses"
            | "cssclass"
            | "image"
            | "cover"
            | "banner"
            | "progressions"
            | "timeline"
            | "note"
            | "notes"
            | "source"
            | "sources"
            | "up"
            | "next"
            | "previous"
            | "prev"
            | "chapter"
            | "chapters"
            | "scene"
            | "scenes"
            | "status"
            | "role"
            | "date"
            | "pov"
    )
}

/// Parts of a relationship that is written as a map: whom, what, and words about it.
pub(super) const WHOM: [&str; 17] = [
    "character",
    "name",
    "target",
    "with",
    "who",
    "person",
    "entry",
    "to",
    "link",
    "entity",
    "location",
    "place",
    "organization",
    "item",
    "faction",
    "other",
    "npc",
];
pub(super) const WHAT: [&str; 8] =
    ["type", "relation", "relationship", "relationshiptype", "relationship type", "kind", "role", "as"];
pub(super) const ABOUT: [&str; 9] =
    ["description", "desc", "comment", "note", "notes", "details", "summary", "how", "about"];

/// Circles in which a person's neighbours are shown, innermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Circle {
    /// By blood or marriage.
    Family,
    /// Friends, allies, mentors.
    Allies,
    /// Enemies and rivals.
    Enemies,
    /// Other people.
    People,
    /// Organizations.
    Organizations,
    /// Places.
    Places,
    /// Things.
    Things,
    /// Events.
    Events,
    /// Concepts and style.
    Ideas,
    /// Names that the Codex does not know.
    Unknown,
}

impl Circle {
    /// Returns its heading.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Family => "family",
            Self::Allies => "friends and allies",
            Self::Enemies => "enemies and rivals",
            Self::People => "people",
            Self::Organizations => "organizations",
            Self::Places => "places",
            Self::Things => "things",
            Self::Events => "events",
            Self::Ideas => "concepts",
            Self::Unknown => "not in the Codex",
        }
    }

    /// Finds the circle of a neighbour of that type, by the words of its relationship.
    pub fn of(entry_type: Option<EntryType>, kinds: &[&str]) -> Self {
        match entry_type {
            None => Self::Unknown,
            Some(EntryType::Character) => Self::of_person(kinds),
            Some(EntryType::Organization) => Self::Organizations,
            Some(EntryType::Location) => Self::Places,
            Some(EntryType::Item) => Self::Things,
            Some(EntryType::Event) => Self::Events,
            Some(EntryType::Concept | EntryType::Style) => Self::Ideas,
        }
    }

    fn of_person(kinds: &[&str]) -> Self {
        let has = |words: &[&str]| {
            kinds
                .iter()
                .any(|kind| plain(kind).split(|c: char| !c.is_alphanumeric()).any(|w| words.contains(&w)))
        };
        if has(&FAMILY) {
            Self::Family
        } else if has(&["enemy", "foe", "rival", "nemesis", "antagonist", "adversary", "hates", "betrayer"]) {
            Self::Enemies
        } else if has(&[
            "ally",
            "friend",
            "mentor",
            "teacher",
            "companion",
            "confidant",
            "confidante",
            "protector",
        ]) {
            Self::Allies
        } else {
            Self::People
        }
    }
}

const FAMILY: [&str; 41] = [
    "family",
    "kin",
    "relative",
    "parent",
    "mother",
    "father",
    "mum",
    "mom",
    "dad",
    "son",
    "daughter",
    "child",
    "sibling",
    "brother",
    "sister",
    "twin",
    "spouse",
    "wife",
    "husband",
    "widow",
    "widower",
    "fiance",
    "fiancee",
    "married",
    "uncle",
    "aunt",
    "nephew",
    "niece",
    "cousin",
    "grandmother",
    "grandfather",
    "grandson",
    "granddaughter",
    "stepmother",
    "stepfather",
    "stepson",
    "stepdaughter",
    "stepbrother",
    "stepsister",
    "halfbrother",
    "halfsister",
];
