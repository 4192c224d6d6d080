//! Which type of entry an author's word means: `npc`, `Places`, `type/faction`, `03 🏰 Locations`.

use serde_json::{Map, Value};

use super::fields;
use crate::domain::codex::EntryType;
use crate::domain::passage::fold;

/// The words of each type, folded.
const WORDS: [(EntryType, &[&str]); 7] = [
    (
        EntryType::Character,
        &[
            "character",
            "characters",
            "cast",
            "person",
            "people",
            "persons",
            "npc",
            "npcs",
            "protagonist",
            "antagonist",
            "dramatis personae",
        ],
    ),
    (
        EntryType::Location,
        &[
            "location",
            "locations",
            "place",
            "places",
            "setting",
            "settings",
            "city",
            "town",
            "planet",
            "region",
            "country",
            "building",
            "geography",
        ],
    ),
    (
        EntryType::Organization,
        &[
            "organization",
            "organizations",
            "organisation",
            "organisations",
            "faction",
            "factions",
            "guild",
            "guilds",
            "group",
            "groups",
            "company",
            "institution",
            "institutions",
        ],
    ),
    (
        EntryType::Item,
        &[
            "item",
            "items",
            "object",
            "objects",
            "artifact",
            "artifacts",
            "artefact",
            "artefacts",
            "thing",
            "things",
            "prop",
            "props",
            "weapon",
            "vehicle",
            "ship",
            "ships",
        ],
    ),
    (
        EntryType::Concept,
        &[
            "concept",
            "concepts",
            "lore",
            "magic",
            "magic system",
            "technology",
            "technologies",
            "tech",
            "rule",
            "rules",
            "religion",
            "culture",
            "cultures",
            "species",
            "race",
            "races",
            "language",
            "languages",
            "custom",
            "customs",
        ],
    ),
    (EntryType::Event, &["event", "events", "timeline", "history", "battle", "war"]),
    (EntryType::Style, &["style", "styles", "style guide", "styleguide", "voice"]),
];

/// Frontmatter keys that may give the type, strongest first.
const KEYS: [&str; 5] = ["type", "kind", "entity type", "category", "classification"];

/// Reads a single word or phrase as a type: the whole of it, else one of its words, the last first (`main character`).
pub fn from_phrase(phrase: &str) -> Option<EntryType> {
    let whole = fold(&super::markup::links_as_text(phrase));
    let exact =
        |text: &str| WORDS.iter().find(|(_, words)| words.contains(&text)).map(|(entry_type, _)| *entry_type);
    let words = || whole.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    exact(&whole).or_else(|| words().rev().find_map(exact))
}

/// Reads a folder's name as a type; a number or symbol in front does not count.
pub fn from_folder(name: &str) -> Option<EntryType> {
    let bare = name.trim_matches(|c: char| !c.is_alphabetic());
    let folded = fold(bare);
    WORDS.iter().find(|(_, words)| words.contains(&folded.as_str())).map(|(entry_type, _)| *entry_type)
}

/// Reads a tag as a type: the tag, or a part of a nested one (`type/npc`).
pub fn from_tag(tag: &str) -> Option<EntryType> {
    tag.trim_start_matches('#').split('/').find_map(from_folder)
}

/// The type that frontmatter gives, by a key or by a tag.
pub fn from_fields(fields: &Map<String, Value>) -> Option<EntryType> {
    let named = KEYS.iter().filter_map(|key| fields::get(fields, &[key]));
    named
        .flat_map(fields::texts)
        .find_map(|text| from_phrase(&text))
        .or_else(|| tags(fields).iter().find_map(|tag| from_tag(tag)))
}

/// The tags that frontmatter gives, as a list or as one text, without `#`.
pub fn tags(fields: &Map<String, Value>) -> Vec<String> {
    let Some(value) = fields::get(fields, &["tags", "tag"]) else { return vec![] };
    let split = value.is_string();
    fields::texts(value)
        .iter()
        .flat_map(|text| if split { text.split([',', ' ']).collect() } else { vec![text.as_str()] })
        .map(|tag| tag.trim().trim_start_matches('#').to_owned())
        .filter(|tag| !tag.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(from_phrase(word), entry_type, "{word:?}");
        }
    }

    #[test]
    fn folders_name_types_whatever_stands_in_front() {
        let table = [
            ("characters", Some(EntryType::Character)),
            ("01 - CAST", Some(EntryType::Character)),
            ("🏰 Places", Some(EntryType::Location)),
            ("03_factions", Some(EntryType::Organization)),
            ("Style-Guide", Some(EntryType::Style)),
            ("magic items of the north", None),
            ("adrian-vale", None),
            ("2024", None),
        ];
        for (name, entry_type) in table {
            assert_eq!(from_folder(name), entry_type, "{name:?}");
        }
        assert_eq!(from_tag("#type/npc"), Some(EntryType::Character));
        assert_eq!(from_tag("todo"), None);
    }

    #[test]
    fn no_word_names_two_types() {
        let mut all: Vec<&str> = WORDS.iter().flat_map(|(_, words)| words.iter().copied()).collect();
        let before = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), before);
        assert!(all.iter().all(|word| fold(word) == *word));
    }
}
