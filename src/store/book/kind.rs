//! Which type of entry an author's word means: `npc`, `Places`, `type/faction`, `03 🏰 Locations`, and what the book's settings add.
//!
//! Reads words only. A word that is not known is no type; nothing is guessed from a part of a word.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::fields;
use super::markup::links_as_text;
use crate::domain::book::BookSettings;
use crate::domain::codex::{EntryType, TypeFrom};
use crate::domain::passage::fold;

/// The words of one type, folded.
struct Words {
    entry_type: EntryType,
    /// Words for one thing, or for what can't be counted.
    one: &'static [&'static str],
    /// Words for many: a file of such a name may list entries.
    many: &'static [&'static str],
}

const WORDS: [Words; 7] = [
    Words {
        entry_type: EntryType::Character,
        one: &["character", "person", "npc", "protagonist", "antagonist", "villain"],
        many: &[
            "characters",
            "cast",
            "people",
            "persons",
            "npcs",
            "protagonists",
            "antagonists",
            "villains",
            "dramatis personae",
        ],
    },
    Words {
        entry_type: EntryType::Location,
        one: &[
            "location",
            "place",
            "setting",
            "city",
            "town",
            "planet",
            "region",
            "country",
            "building",
            "geography",
        ],
        many: &[
            "locations",
            "places",
            "settings",
            "cities",
            "towns",
            "planets",
            "regions",
            "countries",
            "buildings",
        ],
    },
    Words {
        entry_type: EntryType::Organization,
        one: &[
            "organization",
            "organisation",
            "faction",
            "guild",
            "group",
            "company",
            "institution",
            "society",
        ],
        many: &[
            "organizations",
            "organisations",
            "factions",
            "guilds",
            "groups",
            "companies",
            "institutions",
            "societies",
        ],
    },
    Words {
        entry_type: EntryType::Item,
        one: &["item", "object", "artifact", "artefact", "thing", "prop", "weapon", "vehicle", "ship"],
        many: &[
            "items",
            "objects",
            "artifacts",
            "artefacts",
            "things",
            "props",
            "weapons",
            "vehicles",
            "ships",
        ],
    },
    Words {
        entry_type: EntryType::Concept,
        one: &[
            "concept",
            "lore",
            "magic",
            "magic system",
            "technology",
            "tech",
            "rule",
            "rules",
            "religion",
            "culture",
            "race",
            "language",
            "custom",
        ],
        many: &[
            "concepts",
            "magic systems",
            "technologies",
            "religions",
            "cultures",
            "species",
            "races",
            "languages",
            "customs",
        ],
    },
    Words {
        entry_type: EntryType::Event,
        one: &["event", "timeline", "history", "battle", "war"],
        many: &["events", "battles", "wars"],
    },
    Words {
        entry_type: EntryType::Style,
        one: &[
            "style",
            "styles",
            "style guide",
            "style sheet",
            "styleguide",
            "stylesheet",
            "house style",
            "voice",
        ],
        many: &[],
    },
];

/// Words that may stand around a type word in the name of a folder, a file or a heading and change nothing.
const AROUND: [&str; 19] = [
    "main",
    "major",
    "minor",
    "primary",
    "secondary",
    "side",
    "supporting",
    "important",
    "other",
    "the",
    "and",
    "of",
    "my",
    "our",
    "all",
    "list",
    "profiles",
    "sheets",
    "bios",
];

/// Words of [`AROUND`] that say that there are many.
const LISTS: [&str; 4] = ["list", "profiles", "sheets", "bios"];

/// Most words that a name of many things has.
const MAX_WORDS: usize = 4;

/// Frontmatter keys that may give the type, strongest first.
const KEYS: [&str; 6] = ["type", "kind", "entity type", "category", "categories", "classification"];

/// A type, and what said so.
pub type Typed = (EntryType, TypeFrom);

/// A word's meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning {
    /// The type.
    pub entry_type: EntryType,
    /// The word may stand over many entries: `characters`, and every word of the settings.
    pub many: bool,
}

static USUAL: LazyLock<HashMap<&'static str, Meaning>> = LazyLock::new(|| {
    let of = |words: &'static [&'static str], entry_type, many| {
        words.iter().map(move |word| (*word, Meaning { entry_type, many }))
    };
    WORDS.iter().flat_map(|w| of(w.one, w.entry_type, false).chain(of(w.many, w.entry_type, true))).collect()
});

/// The words of a book: the usual ones, and before them those of its settings.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// `[codex.types]`, folded.
    types: HashMap<String, EntryType>,
    /// `[codex.keys]`, folded.
    keys: HashMap<String, String>,
}

impl Vocabulary {
    /// Takes the words of the settings.
    pub fn of(settings: &BookSettings) -> Self {
        Self {
            types: settings.codex_types.iter().map(|(word, meaning)| (fold(word), *meaning)).collect(),
            keys: settings.codex_keys.iter().map(|(name, meaning)| (fold(name), meaning.clone())).collect(),
        }
    }

    fn exact(&self, folded: &str) -> Option<Meaning> {
        let own = self.types.get(folded).map(|entry_type| Meaning { entry_type: *entry_type, many: true });
        own.or_else(|| USUAL.get(folded).copied())
    }

    /// Reads the value of a key as a type: the whole of it, else one of its words, the last first (`main character`).
    pub fn phrase(&self, phrase: &str) -> Option<EntryType> {
        let whole = fold(&links_as_text(phrase));
        let words = || whole.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let found = self.exact(&whole).or_else(|| words().rev().find_map(|word| self.exact(word)));
        found.map(|meaning| meaning.entry_type)
    }

    /// Reads the name of a folder, a file or a heading as a type: a type word, or several of one type (`Cities & Towns`), also with a number or
    /// symbol in front and words like `main` around it. Any other word, and it is none.
    pub fn label(&self, name: &str) -> Option<Meaning> {
        let bare = fold(name.trim_matches(|c: char| !c.is_alphabetic()));
        if bare.is_empty() {
            return None;
        }
        if let Some(meaning) = self.exact(&bare) {
            return Some(meaning);
        }
        let words: Vec<&str> =
            bare.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        if words.len() > MAX_WORDS {
            return None;
        }
        let mut found: Option<Meaning> = None;
        for word in words.iter().filter(|word| !AROUND.contains(*word)) {
            let next = self.exact(word)?;
            match &mut found {
                None => found = Some(next),
                Some(so_far) if so_far.entry_type == next.entry_type => so_far.many |= next.many,
                Some(_) => return None,
            }
        }
        let is_list = words.iter().any(|word| LISTS.contains(word));
        found.map(|meaning| Meaning { many: meaning.many || is_list, ..meaning })
    }

    /// Reads a folder's name as a type.
    pub fn folder(&self, name: &str) -> Option<EntryType> {
        self.label(name).map(|meaning| meaning.entry_type)
    }

    /// Reads a tag as a type: the tag, or a part of a nested one (`type/npc`).
    pub fn tag(&self, tag: &str) -> Option<Typed> {
        let bare = tag.trim_start_matches('#');
        let entry_type = bare.split('/').find_map(|part| self.folder(part))?;
        Some((entry_type, TypeFrom::Tag(format!("#{bare}"))))
    }

    /// The type that keys give, by themselves or by a tag.
    pub fn fields(&self, fields: &Map<String, Value>) -> Option<Typed> {
        self.key_type(fields).or_else(|| tags(fields).iter().find_map(|tag| self.tag(tag)))
    }

    /// The type that a key gives.
    pub fn key_type(&self, fields: &Map<String, Value>) -> Option<Typed> {
        KEYS.iter().filter_map(|key| fields::find(fields, &[key])).find_map(|(name, value)| {
            let entry_type = fields::texts(value).iter().find_map(|text| self.phrase(text))?;
            Some((entry_type, TypeFrom::Key(name.to_owned())))
        })
    }

    /// Reads the type that the stem of a file carries beside a name, with that name: `Character - Mira Okafor`, `npc_old_tom`, `Lantern (location)`.
    pub fn stem<'s>(&self, stem: &'s str) -> Option<(EntryType, &'s str)> {
        let named = |word: &str, name: &'s str| {
            let entry_type = self.exact(&fold(word)).filter(|_| fold(word) != "style")?.entry_type;
            name.chars().any(char::is_alphanumeric).then_some((entry_type, name.trim()))
        };
        if let Some((word, name)) = stem.split_once(" - ").or_else(|| stem.split_once(" – ")) {
            return named(word, name);
        }
        if let Some((name, word)) = stem.strip_suffix([')', ']']).and_then(|s| s.rsplit_once(['(', '['])) {
            return named(word, name);
        }
        // A word that is not only ever a type must not make `ship_log` the ship `log`.
        let (word, name) = stem.split_once('_')?;
        let is_clear = ["character", "npc", "location", "place", "faction", "organization", "organisation"]
            .contains(&fold(word).as_str())
            || self.types.contains_key(&fold(word));
        if is_clear { named(word, name) } else { None }
    }

    /// Returns the key that an author's key means.
    pub fn key<'k>(&'k self, key: &'k str) -> &'k str {
        if self.keys.is_empty() {
            return key;
        }
        self.keys.get(&fold(key)).map_or(key, String::as_str)
    }

    /// Gives keys the names that the settings map them to; also returns each new name with the author's. A key that is there already keeps its name.
    pub fn rename(&self, fields: Map<String, Value>) -> (Map<String, Value>, Renamed) {
        let mut names = Renamed::default();
        if self.keys.is_empty() {
            return (fields, names);
        }
        let mut renamed = Map::with_capacity(fields.len());
        for (key, value) in fields {
            let meaning = self.key(&key);
            if meaning != key && !renamed.contains_key(meaning) {
                names.0.push((meaning.to_owned(), key.clone()));
                renamed.insert(meaning.to_owned(), value);
            } else {
                renamed.entry(key).or_insert(value);
            }
        }
        (renamed, names)
    }
}

/// Keys that have another name than the author gave them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Renamed(pub Vec<(String, String)>);

impl Renamed {
    /// Says what gave a type in the author's own words.
    pub fn as_written(&self, (entry_type, from): Typed) -> Typed {
        let from = match from {
            TypeFrom::Key(key) => {
                let own = self.0.iter().find(|(name, _)| *name == key).map(|(_, own)| own.clone());
                TypeFrom::Key(own.unwrap_or(key))
            }
            other => other,
        };
        (entry_type, from)
    }
}

/// The first key that should give a type, with a value that names none.
pub fn unread_type(fields: &Map<String, Value>) -> Option<(&str, String)> {
    let (key, value) = KEYS.iter().find_map(|key| fields::find(fields, &[key]))?;
    Some((key, fields::text(value)?))
}

/// Whether a heading only sorts what stands below it: `Main`, `Minor`, `Others`.
pub fn is_group(heading: &str) -> bool {
    const GROUPS: [&str; 6] = ["others", "allies", "enemies", "heroes", "leads", "extras"];
    let folded = fold(heading);
    let mut words = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_some()
        && words.all(|word| (AROUND.contains(&word) && !LISTS.contains(&word)) || GROUPS.contains(&word))
}

/// The tags that frontmatter gives, as a list or as one text, without `#`.
pub fn tags(fields: &Map<String, Value>) -> Vec<String> {
    let mut values: Vec<&Value> = fields::get(fields, &["tags", "tag"]).into_iter().collect();
    // Where static sites keep them.
    let taxonomies = fields.get("taxonomies").and_then(Value::as_object);
    values.extend(taxonomies.and_then(|taxonomies| fields::get(taxonomies, &["tags"])));
    let mut tags = vec![];
    for value in values {
        let split = value.is_string();
        for text in fields::texts(value) {
            let parts: Vec<&str> = if split { text.split([',', ' ']).collect() } else { vec![&text] };
            tags.extend(parts.iter().map(|tag| tag.trim().trim_start_matches('#').to_owned()));
        }
    }
    tags.retain(|tag| !tag.is_empty());
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> Vocabulary {
        Vocabulary::default()
    }

    #[test]
    fn authors_words_name_types() {
        let table = [
            ("character", Some(EntryType::Character)),
            ("Main Character", Some(EntryType::Character)),
            ("[[NPC]]", Some(EntryType::Character)),
            ("Location (city)", Some(EntryType::Location)),
            ("Organisation", Some(EntryType::Organization)),
            ("artefact", Some(EntryType::Item)),
            ("magic-system", Some(EntryType::Concept)),
            ("EVENT", Some(EntryType::Event)),
            ("style-guide", Some(EntryType::Style)),
            ("chapter", None),
            ("", None),
        ];
        for (word, entry_type) in table {
            assert_eq!(usual().phrase(word), entry_type, "{word:?}");
        }
    }

    #[test]
    fn folders_name_types_whatever_stands_in_front() {
        let table = [
            ("characters", Some(EntryType::Character)),
            ("01 - CAST", Some(EntryType::Character)),
            ("Main Characters", Some(EntryType::Character)),
            ("Cast of Characters", Some(EntryType::Character)),
            ("🏰 Places", Some(EntryType::Location)),
            ("Cities & Towns", Some(EntryType::Location)),
            ("03_factions", Some(EntryType::Organization)),
            ("Style-Guide", Some(EntryType::Style)),
            ("Characters and Places", None),
            ("magic items of the north", None),
            ("main", None),
            ("adrian-vale", None),
            ("2024", None),
        ];
        for (name, entry_type) in table {
            assert_eq!(usual().folder(name), entry_type, "{name:?}");
        }
        let (entry_type, from) = usual().tag("#type/npc").unwrap();
        assert_eq!((entry_type, from), (EntryType::Character, TypeFrom::Tag("#type/npc".into())));
        assert_eq!(usual().tag("todo"), None);
    }

    #[test]
    fn only_a_word_for_many_stands_over_entries() {
        let many = |name| usual().label(name).is_some_and(|meaning| meaning.many);
        assert!(
            ["Characters", "npcs", "1. PLACES", "Supporting cast", "Character list"].iter().all(|n| many(n))
        );
        assert!(
            ["character", "magic", "Timeline", "Style guide", "Characters of interest"]
                .iter()
                .all(|n| !many(n))
        );
        assert!(is_group("Main") && is_group("Minor / Other") && !is_group("Mira") && !is_group(""));
    }

    #[test]
    fn a_stem_may_carry_a_type_beside_a_name() {
        let table = [
            ("Character - Mira Okafor", Some((EntryType::Character, "Mira Okafor"))),
            ("npc_old_tom", Some((EntryType::Character, "old_tom"))),
            ("Lantern (Location)", Some((EntryType::Location, "Lantern"))),
            ("ship_log", None),
            ("Mira - pilot", None),
            ("characters", None),
            ("(npc)", None),
        ];
        for (stem, expected) in table {
            assert_eq!(usual().stem(stem), expected, "{stem:?}");
        }
    }

    #[test]
    fn the_settings_add_words_and_keys() {
        let settings = BookSettings {
            codex_types: [
                ("Personaggi".to_owned(), EntryType::Character),
                ("lore".to_owned(), EntryType::Event),
            ]
            .into(),
            codex_keys: [("Soprannomi".to_owned(), "aliases".to_owned())].into(),
            ..BookSettings::default()
        };
        let own = Vocabulary::of(&settings);
        assert_eq!(own.folder("01 personaggi"), Some(EntryType::Character));
        assert_eq!(
            own.folder("Lore"),
            Some(EntryType::Event),
            "the author's word counts before the usual one"
        );
        assert_eq!(own.folder("places"), Some(EntryType::Location));
        assert_eq!(own.key("soprannomi"), "aliases");
        let fields = serde_json::json!({"soprannomi": ["a"], "x": 1});
        let (renamed, names) = own.rename(fields.as_object().unwrap().clone());
        assert_eq!(Value::Object(renamed), serde_json::json!({"aliases": ["a"], "x": 1}));
        let written = names.as_written((EntryType::Item, TypeFrom::Key("aliases".into())));
        assert_eq!(written.1, TypeFrom::Key("soprannomi".into()));
    }

    #[test]
    fn no_word_names_two_types() {
        let all: Vec<&str> = WORDS.iter().flat_map(|w| w.one.iter().chain(w.many).copied()).collect();
        assert_eq!(all.len(), USUAL.len());
        assert!(all.iter().all(|word| fold(word) == *word));
    }
}
