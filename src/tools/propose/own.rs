//! The author's own names of keys, which the settings map to the usual ones: `[codex.keys] ruolo = "role"`.
//!
//! A change of a usual key is one of the author's, where the file has that: no second key says the same.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::domain::codex::Entry;
use crate::domain::passage::fold;
use crate::proposal::change;

/// The names of `[codex.keys]` with what they mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnKeys<'a>(pub &'a BTreeMap<String, String>);

impl OwnKeys<'_> {
    /// The author's names for a usual key, folded.
    pub fn of(self, usual: &str) -> Vec<String> {
        let usual = fold(usual.trim().trim_end_matches(':'));
        self.0.iter().filter(|(_, meaning)| fold(meaning) == usual).map(|(own, _)| fold(own)).collect()
    }

    /// Returns the usual key that one of the author's means; any other key as it is.
    pub fn usual(self, key: &str) -> String {
        let folded = fold(key.trim());
        let meaning = self.0.iter().find(|(own, _)| fold(own) == folded).map(|(_, meaning)| meaning);
        meaning.map_or_else(|| key.to_owned(), Clone::clone)
    }

    /// Returns a usual key as the author writes it in new frontmatter: of several names the one that most of her `entries` have.
    pub fn written<'e>(self, key: &str, entries: impl IntoIterator<Item = &'e Entry>) -> String {
        let usual = fold(key.trim());
        let own: Vec<&String> =
            self.0.iter().filter(|(_, meaning)| fold(meaning) == usual).map(|(own, _)| own).collect();
        match own[..] {
            [] => key.to_owned(),
            [only] => only.clone(),
            [first, ..] => {
                let mut times = vec![0usize; own.len()];
                for entry in entries {
                    let head = entry.text.get(..entry.body.start).unwrap_or_default();
                    let keys = head.lines().filter_map(|line| line.split_once(':')).map(|(key, _)| fold(key));
                    for at in keys.filter_map(|key| own.iter().position(|own| fold(own) == key)) {
                        times[at] += 1;
                    }
                }
                // Of equals the first in the order of the settings' names.
                let most = times.iter().copied().max().unwrap_or(0);
                let best = own.iter().zip(times).find(|(_, times)| *times == most).map(|(own, _)| *own);
                best.unwrap_or(first).clone()
            }
        }
    }

    /// The key of some frontmatter that is meant by `key`: that very key, or the author's name for it, whichever the file has first, as the reader takes them.
    pub fn find<'f>(self, fields: &'f Map<String, Value>, key: &str) -> Option<&'f str> {
        let own = self.of(key);
        let wanted = key.trim().to_lowercase();
        let is_it = |known: &&str| known.to_lowercase() == wanted || own.contains(&fold(known));
        if own.is_empty() {
            return change::find_key(fields, key);
        }
        fields.keys().map(String::as_str).find(is_it)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::testing::{Shelf, call};

    #[test]
    fn a_change_of_a_usual_key_is_one_of_the_authors() {
        const FRONT: &str =
            "---\nname: Nina\nruolo: 'spalla' # fino al 3\nsoprannomi: [Ninetta]\n---\n\n# Nina\n";
        const LINES: &str = "# Nina\n\n**Ruolo:** spalla\nSoprannomi: Ninetta\n\n## Riassunto\n\nNuota.\n";
        const SECTION: &str = "# Nina\n\nNuota.\n\n## Ruolo\n\nspalla\n";
        let table = [
            (FRONT, "Role", "antagonista", "'spalla'", "'antagonista'"),
            (FRONT, "ruolo", "Ruolo: antagonista", "'spalla'", "'antagonista'"),
            (FRONT, "frontmatter.role", "antagonista", "'spalla'", "'antagonista'"),
            (FRONT, "aliases", "- Nina dei pesci", "[Ninetta]", "[Nina dei pesci]"),
            (LINES, "role", "antagonista", "spalla", "antagonista"),
            (LINES, "Aliases", "Nina dei pesci", "Ninetta", "Nina dei pesci"),
            (LINES, "Summary", "Affoga.", "Nuota.", "Affoga."),
            (SECTION, "role", "antagonista", "spalla", "antagonista"),
        ];
        for (text, target, words, old, new) in table {
            let mut shelf = Shelf::new().entry("codex/personaggi/nina.md", text);
            for (own, usual) in [("ruolo", "role"), ("Soprannomi", "aliases"), ("riassunto", "summary")] {
                shelf.book.settings.codex_keys.insert(own.into(), usual.into());
            }
            let mut seen = crate::tools::Seen::default();
            let read = call(&shelf.desk(), "get_character_context", &json!({"name": "Nina"})).unwrap();
            seen.add(&read.material);
            let desk = crate::tools::Desk { seen: &seen, ..shelf.desk() };
            let args = json!({
                "entryType": "character", "name": "Nina", "changeSummary": "He turns", "targetSection": target, "proposedMarkdown": words,
            });
            let outcome = call(&desk, "propose_codex_update", &args).unwrap();
            let proposal = outcome.proposal.unwrap_or_else(|| panic!("{target}: {}", outcome.result));
            assert_eq!(proposal.files[0].text(), text.replace(old, new), "{target} {words}");
        }
    }

    #[test]
    fn a_relationship_goes_on_in_the_list_that_the_author_named() {
        let text = "---\nname: Nina\nrelazioni:\n  - Ugo, amico\n---\n";
        let mut shelf =
            Shelf::new().entry("codex/p/nina.md", text).entry("codex/p/ada.md", "---\nname: Ada\n---\n");
        shelf.book.settings.codex_keys.insert("relazioni".into(), "relationships".into());
        let args =
            json!({"source": "Nina", "target": "Ada", "relationshipType": "sister", "description": ""});
        let outcome = call(&shelf.desk(), "propose_relationship", &args).unwrap();
        let proposal = outcome.proposal.unwrap();
        let nina = proposal.files.iter().find(|file| file.path.as_str() == "codex/p/nina.md").unwrap();
        assert!(
            nina.text().starts_with("---\nname: Nina\nrelazioni:\n  - Ugo, amico\n  - "),
            "{}",
            nina.text()
        );
    }

    #[test]
    fn a_new_entry_is_written_with_the_authors_names_of_keys() {
        let mut shelf = Shelf::new()
            .entry("codex/p/ugo.md", "---\nnome: Ugo\nalias noti: [U]\n---\n")
            .entry("codex/p/ada.md", "---\nnome: Ada\n---\n");
        for (own, usual) in
            [("nome", "name"), ("Ruolo", "role"), ("Soprannomi", "aliases"), ("alias noti", "aliases")]
        {
            shelf.book.settings.codex_keys.insert(own.into(), usual.into());
        }
        let args = json!({
            "entryType": "character", "name": "Nina", "changeSummary": "She is named in chapter 3",
            "fields": [{"name": "role", "value": "spalla"}, {"name": "aliases", "value": ["Ninetta"]}],
            "customFields": [{"name": "ruolo", "value": "altro"}, {"name": "barca", "value": "Stella"}],
        });
        let outcome = call(&shelf.desk(), "propose_codex_create", &args).unwrap();
        let proposal = outcome.proposal.unwrap();
        let text = proposal.files[0].text();
        let wanted =
            "---\ntype: character\nnome: Nina\nRuolo: spalla\nalias noti:\n  - Ninetta\nbarca: Stella\n---\n";
        assert!(text.starts_with(wanted), "{text}");
        assert!(
            proposal.warnings.iter().any(|warning| warning.contains("given twice")),
            "{:?}",
            proposal.warnings
        );
        let taken = json!({
            "entryType": "character", "name": "Nina", "changeSummary": "x", "fields": {"soprannomi": "Ada"},
        });
        assert!(call(&shelf.desk(), "propose_codex_create", &taken).is_err(), "that is another's name");
    }

    #[test]
    fn a_key_is_found_by_its_usual_name_and_by_the_authors() {
        let keys = BTreeMap::from([("Ruolo".to_owned(), "role".to_owned())]);
        let own = OwnKeys(&keys);
        let fields = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
        let table = [
            (r#"{"ruolo": "x"}"#, "Role", Some("ruolo")),
            (r#"{"RUOLO": "x", "role": "y"}"#, "role", Some("RUOLO")),
            (r#"{"Role": "x", "ruolo": "y"}"#, "role", Some("Role")),
            (r#"{"Role": "x", "ruolo": "y"}"#, "ruolo", Some("ruolo")),
            (r#"{"age": "x"}"#, "AGE", Some("age")),
            (r#"{"age": "x"}"#, "role", None),
        ];
        for (text, key, found) in table {
            assert_eq!(own.find(&fields(text), key), found, "{text} {key}");
        }
        assert_eq!(own.of("role:"), ["ruolo"]);
        assert!(own.of("ruolo").is_empty());
    }
}
