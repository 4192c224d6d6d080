//! What the reader makes of entries as authors have them, in files of real vaults.

#![expect(clippy::unwrap_used, reason = "a test that can't write its own files has failed")]

use std::fs;

use scritorio::domain::codex::{Entry, EntryType};
use scritorio::store::book::read;

/// Reads one file in a book of its own.
fn entry(path: &str, text: &str) -> Option<Entry> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::create_dir_all(dir.path().join("manuscript")).unwrap();
    fs::write(file, text).unwrap();
    read(dir.path()).unwrap().entries.pop()
}

#[test]
fn a_type_is_found_in_frontmatter_tags_and_folders() {
    use EntryType::{Character, Concept, Event, Item, Location, Organization, Style};
    let table = [
        ("codex/x.md", "---\ntype: character\n---\n", Some(Character)),
        ("codex/x.md", "---\nType: NPC\n---\n", Some(Character)),
        ("codex/x.md", "---\nkind: Place\n---\n", Some(Location)),
        ("codex/x.md", "---\ncategory: [\"[[Factions]]\"]\n---\n", Some(Organization)),
        ("codex/x.md", "---\nentity_type: artefact\n---\n", Some(Item)),
        ("codex/x.md", "---\nclassification: magic system\n---\n", Some(Concept)),
        ("codex/x.md", "+++\ntype = \"event\"\n+++\n", Some(Event)),
        ("codex/x.md", "{\"type\": \"style-guide\"}\n", Some(Style)),
        ("codex/x.md", "---\ntags: [crew, Character]\n---\n", Some(Character)),
        ("codex/x.md", "---\ntags: type/npc, alive\n---\n", Some(Character)),
        ("codex/x.md", "# X\n\nA place. #location #ice\n", Some(Location)),
        ("codex/x.md", "type:: guild\n", Some(Organization)),
        ("codex/x.md", "---\ntype: character\n", Some(Character)),
        ("codex/x.md", "# X\n\nNo type anywhere.\n", None),
        ("codex/Cast/x.md", "", Some(Character)),
        ("codex/PEOPLE/minor/x.md", "", Some(Character)),
        ("codex/03 - NPCs/x.md", "", Some(Character)),
        ("codex/🏰 settings/x.md", "", Some(Location)),
        ("codex/guilds/x.md", "", Some(Organization)),
        ("codex/objects/x.md", "", Some(Item)),
        ("codex/Technology/x.md", "", Some(Concept)),
        ("codex/timeline/x.md", "", Some(Event)),
        ("codex/style-guide/x.md", "", Some(Style)),
        ("codex/characters/x.md", "---\ntype: location\n---\n", Some(Location)),
        ("codex/characters/x.md", "---\ntype: smuggler\n---\n", Some(Character)),
        ("codex/characters/x.md", "---\ntype: [unclosed\n---\n", Some(Character)),
        ("codex/characters/x/index.md", "", Some(Character)),
    ];
    for (path, text, expected) in table {
        assert_eq!(entry(path, text).map(|e| e.entry_type), expected, "{path} {text:?}");
    }
}

#[test]
fn a_name_comes_from_frontmatter_heading_or_file() {
    let table = [
        ("adrian-vale.md", "---\nname: Adrian Vale\ntitle: Captain\n---\n# Other\n", "Adrian Vale"),
        ("x.md", "---\ntitle: \"[[Adrian Vale]]\"\n---\n# Other\n", "Adrian Vale"),
        ("x.md", "---\nname: 47\n---\n", "47"),
        ("x.md", "---\nname:\n---\n# *Adrian* [[Vale]]\n", "Adrian Vale"),
        ("x.md", "\nIntro.\n\n# Adrian Vale #\n", "Adrian Vale"),
        ("x.md", "Adrian Vale\n===========\n", "Adrian Vale"),
        ("x.md", "## Adrian Vale\n\nText.", "Adrian Vale"),
        ("Adrian Vale.md", "## Appearance\n\nTall.", "Adrian Vale"),
        ("Adrian Vale.md", "Text.\n\n## Wound\n", "Adrian Vale"),
        ("adrian-vale.md", "```\n# no\n```\n", "Adrian Vale"),
        ("adrian_vale.md", "%%\n# no\n%%\n", "Adrian Vale"),
        ("07 Adrian Vale.md", "", "Adrian Vale"),
        ("adrian-vale/dossier.md", "", "Adrian Vale"),
        ("adrian-vale/dossier.md", "# Dossier\n", "Adrian Vale"),
        ("adrian-vale/README.md", "", "Adrian Vale"),
        ("Adrian Vale/index.md", "# Captain Adrian Vale\n", "Captain Adrian Vale"),
        ("x.md", "\u{feff}---\r\nname: Søren\r\n---\r\n", "Søren"),
        ("x.md", "---\nname: \"Adrian\n---\n# Other\n", "Adrian"),
        ("x.md", "---\n\tname: Adrian\n---\n", "Adrian"),
        ("x.md", "---\nname: Adrian\nname: Bert\n---\n", "Adrian"),
        ("x.md", "---\n---\n# Adrian\n", "Adrian"),
    ];
    for (file, text, name) in table {
        let read = entry(&format!("codex/characters/{file}"), text).unwrap();
        assert_eq!(read.name, name, "{file} {text:?}");
    }
    let vale = entry("codex/characters/x.md", "---\nname: Adrian Vale\ntitle: Captain\n---\n").unwrap();
    assert_eq!(vale.title.as_deref(), Some("Captain"));
    assert!(vale.names().contains(&"Captain Vale".to_owned()));
}

#[test]
fn aliases_are_read_in_every_form() {
    let table: [(&str, &[&str]); 14] = [
        ("---\naliases: [Adrian, the Captain]\n---\n", &["Adrian", "the Captain"]),
        ("---\naliases:\n  - Adrian\n  - \"Vale, Adrian\"\n---\n", &["Adrian", "Vale, Adrian"]),
        ("---\naliases: Adrian, the Captain; Vale\n---\n", &["Adrian", "the Captain", "Vale"]),
        ("---\nalias: Adrian\naka: [Vale]\n---\n", &["Adrian", "Vale"]),
        ("---\nAliases: [Adrian]\n---\n", &["Adrian"]),
        ("---\naliases:\n---\n", &[]),
        ("---\naliases: []\n---\n", &[]),
        ("---\naliases: [\"[[Adrian|The Captain]]\", 47, ~]\n---\n", &["The Captain", "47"]),
        ("---\nname: X\naliases: [X, Adrian, Adrian]\n---\n", &["Adrian"]),
        ("# X\n\nAliases: Adrian, the *Captain*\n", &["Adrian", "the Captain"]),
        ("- **Also known as:** Adrian\n", &["Adrian"]),
        ("aliases:: Adrian, Vale\n", &["Adrian", "Vale"]),
        ("---\naliases: [Adrian, Vale\n---\n", &["Adrian", "Vale"]),
        ("+++\naliases = ['Adrian']\n+++\n", &["Adrian"]),
    ];
    for (text, aliases) in table {
        let read = entry("codex/characters/x.md", text).unwrap();
        assert_eq!(read.aliases, aliases, "{text:?}");
    }
}

#[test]
fn a_summary_is_given_or_found() {
    let table = [
        ("---\nsummary: A [[captain|man]] at sea.\n---\nNo.", "A man at sea."),
        ("---\ndescription: |\n  Two\n  lines.\n---\nNo.", "Two lines."),
        (
            "# X\n\nIntro.\n\n## Summary\n\nThe one\nthat counts.\n\nNot this.\n\n## Next\n",
            "The one that counts.",
        ),
        ("# X\n\n![[x.png]]\n\n#character\n\nRole: captain\nAge: 40\n\nA [[man]].\n", "A man."),
        ("# X\n\n<!-- todo -->\n> [!info] box\n\n%% hidden %%\n\nFirst *prose*.\n", "First *prose*."),
        ("# X\n\n## Summary\n\n## Traits\n\n- tall\n", "tall"),
        ("# X\n", ""),
        ("---\nname: [broken\n---\nStill here.", "Still here."),
    ];
    for (text, summary) in table {
        let read = entry("codex/characters/x.md", text).unwrap();
        assert_eq!(read.summary, summary, "{text:?}");
    }
}

#[test]
fn fields_keep_the_authors_words_and_order() {
    let text = "---\nborn: 15th hammer, 5421\nlocation: \"[[Lantern]]\"\nhome: [[Port Amity]]\ncountry: NO\n---\n\nRole:: smuggler\nShe is [mood:: grim].\n";
    let read = entry("codex/characters/x.md", text).unwrap();
    let shown = serde_json::to_string(&read.fields).unwrap();
    assert_eq!(
        shown,
        r#"{"born":"15th hammer, 5421","location":"Lantern","home":"Port Amity","country":"NO","Role":"smuggler","mood":"grim"}"#
    );
}
