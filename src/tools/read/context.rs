//! `get_character_context` and its six sisters: one entry of the Codex, by a name as prose or a model writes it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::story_time::{as_of, in_timeline, override_fields};
use super::{NAME, not_found, shorten, shorten_value};
use crate::canon::lookup::Strength;
use crate::canon::relations::Neighbour;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::passage;
use crate::tools::{Desk, Evidence, Force, Material, ReadTool, Reading, ToolError};

/// Longest text inside a field, in characters.
const FIELD_CHARS: usize = 400;

/// Most items of a list inside a field.
const FIELD_ITEMS: usize = 24;

/// Most entries that are named beside the best one.
const MAX_ALSO: usize = 8;

/// Most embedded files that are shown.
const MAX_EMBEDS: usize = 4;
/// Most relationships that are told, and most characters of each side's words.
const MAX_RELATED: usize = 16;
const RELATION_CHARS: usize = 80;

/// Fields that the result has under its own names.
const GIVEN: [&str; 8] = ["type", "name", "title", "aliases", "alias", "aka", "summary", "description"];

/// Words after "who is" with which a question asks for someone that it does not name.
const NOBODY: &str = r"^who\S*\s+(?:(?:is|was|exactly)\s+)*(?:the\s+|a\s+|an\s+)?(?:\S+ing|my|our|your|his|her|their|its|this|that|these|those|it|he|she|they|we|i|you|there|here|in|on|at|to|for|with|not|more|most|really|actually|right|wrong|dead|alive|missing|guilty|responsible|afraid|narrator|reader|audience|author|protagonist|antagonist|hero|villain|killer|murderer|speaker|best|worst|only|first|last|main|real)\b";

/// Reads one entry of its type. See [`ReadTool::about`].
pub(in crate::tools) struct GetContext(pub EntryType);

#[derive(Deserialize, JsonSchema)]
pub(in crate::tools) struct Args {
    /// Name, title or alias of the entry, as the book uses it.
    name: String,
}

impl ReadTool for GetContext {
    type Args = Args;

    fn name(&self) -> &'static str {
        match self.0 {
            EntryType::Character => "get_character_context",
            EntryType::Location => "get_location_context",
            EntryType::Organization => "get_organization_context",
            EntryType::Item => "get_item_context",
            EntryType::Concept => "get_concept_context",
            EntryType::Event => "get_event_context",
            EntryType::Style => "get_style_context",
        }
    }

    fn about(&self) -> &'static str {
        match self.0 {
            EntryType::Character => {
                "Reads the Codex entry of one character: names, role, facts, relationships and an excerpt of dossier and soul. Use it before answering anything about a person of the book, their motivation, voice, knowledge or relationships."
            }
            EntryType::Location => {
                "Reads the Codex entry of one location. Use it before answering anything about a place: geography, layout, what is where, who lives there."
            }
            EntryType::Organization => {
                "Reads the Codex entry of one organization. Use it before answering anything about a group, institution, company or faction, its people and goals."
            }
            EntryType::Item => {
                "Reads the Codex entry of one item. Use it before answering anything about a thing, a ship, a device or a document that matters to the story."
            }
            EntryType::Concept => {
                "Reads the Codex entry of one concept. Use it before answering anything about a rule of the world, a technology, a custom or a term."
            }
            EntryType::Event => {
                "Reads the Codex entry of one event. Use it before answering anything about what happened, when, and who was there; also for the time line."
            }
            EntryType::Style => {
                "Reads one style entry of the Codex. Use it before judging or suggesting prose: house style, voices, spelling, what the book never does."
            }
        }
    }

    fn force(&self) -> Vec<Force> {
        let word = match self.0 {
            EntryType::Character => "character|person",
            EntryType::Location => "location|place|city|town",
            EntryType::Organization => "organi[sz]ation|faction|guild",
            EntryType::Item => "item|object|artefact|artifact",
            EntryType::Concept => "concept|term",
            EntryType::Event => "event",
            EntryType::Style => {
                return vec![Force::always(
                    r"\b(?:what\s+does|according\s+to|check|read|follow)\s+(?:my|our|the|this\s+book's)\s+(?:house\s+)?style\s+(?:guide|sheet)\b",
                )];
            }
        };
        let mut force = vec![Force::always(&format!(
            r"\b(?:tell\s+me\s+(?:more\s+)?about|what\s+do\s+(?:i|we)\s+know\s+about|what\s+should\s+(?:i|we)\s+remember\s+about|describe)\s+the\s+(?:{word})\s+(?:named\s+|called\s+|of\s+)?{NAME}"
        ))];
        if self.0 == EntryType::Character {
            let who = r"\bwho(?:['\u{2019}]s|\s+is|\s+was|\s+exactly\s+is)";
            force.push(Force::always(&format!(r"{who}\s+{NAME}")));
            // Without capitals the whole question has to be it, and the words must be none that ask for someone unnamed.
            let words = r"(?:[^\s?!.,;:()]+\s*){1,4}";
            force.push(Force::always(&format!(r"^\s*{who}\s+{words}\??\s*$")).unless(NOBODY));
        }
        force
    }

    fn read(&self, desk: &Desk<'_>, args: Args) -> Result<Reading, ToolError> {
        let name = args.name.trim();
        if name.is_empty() {
            return Err(ToolError::in_field("name", "`name` is empty", &["the name of an entry"]));
        }
        let found = desk.index.known().find(desk.book, Some(self.0), name);
        let Some((entry, strength)) = found.best else {
            let evidence = Evidence { kind: Some(self.0.to_string()), missing: true, ..Evidence::default() };
            return Ok(Reading {
                result: Value::Object(not_found(desk, self.0, name)),
                evidence,
                material: vec![],
            });
        };
        Ok(describe(desk, entry, strength, &found.also_matched))
    }
}

fn strength_word(strength: Strength) -> &'static str {
    match strength {
        Strength::Name => "name",
        Strength::Title => "title",
        Strength::Stem => "file",
        Strength::Alias => "alias",
        Strength::Partial => "partial",
        Strength::Near => "near",
    }
}

fn describe(desk: &Desk<'_>, entry: &Entry, strength: Strength, also: &[&Entry]) -> Reading {
    let limit = desk.limits.excerpt;
    let mut reading = Reading::default();
    let mut told = Map::new();
    told.insert("found".into(), json!(true));
    told.insert("project".into(), json!(desk.book.name));
    told.insert("path".into(), json!(entry.path));
    if entry.heading.is_some() {
        told.insert("address".into(), json!(entry.address()));
    }
    told.insert("type".into(), json!(entry.entry_type));
    told.insert("name".into(), json!(entry.name));
    told.insert("title".into(), json!(entry.title));
    told.insert("aliases".into(), json!(entry.aliases));
    told.insert("matchedBy".into(), json!(strength_word(strength)));
    let (summary, summary_cut) = shorten_value(&json!(entry.summary), limit, 0);
    told.insert("summary".into(), summary);
    let (mut fields, omitted, fields_cut) = fields_of(entry, limit);
    let as_of = as_of(desk, entry).map(|facts| shorten_value(&facts, FIELD_CHARS, FIELD_ITEMS).0);
    if let Some(facts) = &as_of {
        override_fields(&mut fields, facts);
    }
    told.insert("fields".into(), Value::Object(fields));
    if !omitted.is_empty() {
        told.insert("fieldsOmitted".into(), json!(omitted));
    }
    if let Some(facts) = as_of {
        told.insert("asOf".into(), facts);
    }
    if entry.entry_type == EntryType::Event {
        told.insert("timeline".into(), in_timeline(desk, entry));
    }
    let related = relationships(desk, entry);
    if !related.is_empty() {
        told.insert("relationships".into(), Value::Array(related));
    }
    let body = entry.body().trim();
    let excerpt = passage::cut(body, limit);
    let mut cut = summary_cut || fields_cut || !omitted.is_empty() || excerpt.len() < body.len();
    told.insert("excerpt".into(), json!(excerpt));
    give(&mut reading, &entry.path, excerpt);
    let embeds = desk.book.embeds(entry);
    let mut shown = vec![];
    for (path, text) in embeds.iter().take(MAX_EMBEDS) {
        let part = passage::cut(text, limit);
        cut |= part.len() < text.len();
        shown.push(json!({"path": path, "excerpt": part}));
        give(&mut reading, path, part);
    }
    if !shown.is_empty() {
        cut |= shown.len() < embeds.len();
        told.insert("embeds".into(), json!(shown));
    }
    if let Some(soul) = &entry.soul {
        let whole = soul.text.trim_start_matches('\u{feff}').trim();
        let part = passage::cut(whole, limit);
        cut |= part.len() < whole.len();
        told.insert("soul".into(), json!({"path": soul.path, "excerpt": part}));
        give(&mut reading, &soul.path, part);
    }
    if !also.is_empty() {
        let named = also.iter().take(MAX_ALSO).map(|e| json!({"name": e.name, "path": e.address()}));
        told.insert("alsoMatched".into(), named.collect());
    }
    if let Some(warning) = entry.warnings.first() {
        let place = format!("{}:{}: {}", warning.line, warning.column, warning.message);
        told.insert("warning".into(), json!(shorten(&place, FIELD_CHARS)));
    }
    told.insert("truncated".into(), json!(cut));
    reading.evidence.title = Some(entry.name.clone());
    reading.evidence.kind = Some(entry.entry_type.to_string());
    reading.evidence.results = 1;
    reading.evidence.truncated = cut;
    reading.result = Value::Object(told);
    reading
}

/// Who and what is told to belong to the entry, on either side: its name, what the entry calls it, and what it calls the entry.
fn relationships(desk: &Desk<'_>, entry: &Entry) -> Vec<Value> {
    let graph = desk.index.graph(desk.book);
    let Some(at) = graph.place(&entry.address()) else { return vec![] };
    let row = |neighbour: &Neighbour<'_>| {
        let mut row = Map::new();
        row.insert("name".into(), json!(graph.nodes[neighbour.node].name));
        for (key, said) in [("kind", neighbour.said), ("theySay", neighbour.back)] {
            let words = said.iter().find_map(|said| said.kind.as_deref().or(said.description.as_deref()));
            if let Some(words) = words {
                row.insert(key.into(), json!(shorten(words, RELATION_CHARS)));
            }
        }
        Value::Object(row)
    };
    graph.neighbours(at).iter().take(MAX_RELATED).map(row).collect()
}

fn give(reading: &mut Reading, path: &crate::domain::ids::BookPath, text: &str) {
    reading.evidence.resolved.push(path.clone());
    reading.evidence.words = Some(reading.evidence.words.unwrap_or(0) + passage::count_words(text));
    if !text.is_empty() {
        reading.material.push(Material { path: path.clone(), text: text.to_owned() });
    }
}

/// The frontmatter that the result does not have elsewhere, as far as `limit` characters hold; the names of what was left out; whether anything was shortened.
fn fields_of(entry: &Entry, limit: usize) -> (Map<String, Value>, Vec<&str>, bool) {
    let (mut fields, mut omitted, mut cut, mut used) = (Map::new(), vec![], false, 0);
    for (key, value) in &entry.fields {
        if GIVEN.contains(&key.to_lowercase().as_str()) || value.is_null() {
            continue;
        }
        let (short, was_cut) = shorten_value(value, FIELD_CHARS, FIELD_ITEMS);
        let size = key.chars().count() + short.to_string().chars().count();
        if used + size > limit {
            omitted.push(key.as_str());
            continue;
        }
        used += size;
        cut |= was_cut;
        fields.insert(key.clone(), short);
    }
    (fields, omitted, cut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::desk::Limits;
    use crate::tools::testing::{Shelf, call};

    const VALE: &str = "---\ntype: character\nname: Adrian Vale\ntitle: Captain\naliases: [the Captain, Old Heron]\nrole: protagonist\nborn: 2266-05-09\nship: \"[[Halcyon]]\"\n---\n\n# Adrian Vale\n\n## Summary\n\nHe commands the Halcyon.\n\n## Voice\n\nLow.\n";

    fn shelf() -> Shelf {
        Shelf::new()
            .entry("codex/characters/adrian-vale/dossier.md", VALE)
            .soul("codex/characters/adrian-vale/soul.md", "What he fears: the question.\n")
            .entry("codex/items/halcyon.md", "---\ntype: item\nname: Halcyon\n---\nA relay tender.\n")
    }

    #[test]
    fn an_entry_is_found_by_alias_and_told_with_fields_excerpt_and_soul() {
        let shelf = shelf();
        let outcome = call(&shelf.desk(), "get_character_context", &json!({"name": "old heron"})).unwrap();
        let told = &outcome.result;
        assert_eq!(
            (&told["found"], &told["name"], &told["matchedBy"]),
            (&json!(true), &json!("Adrian Vale"), &json!("alias"))
        );
        assert_eq!(told["path"], "codex/characters/adrian-vale/dossier.md");
        assert_eq!(told["fields"]["role"], "protagonist");
        assert_eq!(told["fields"].get("aliases"), None);
        assert!(told["excerpt"].as_str().unwrap().ends_with("Low."));
        assert_eq!(told["soul"]["excerpt"], "What he fears: the question.");
        assert_eq!(told["truncated"], false);
        assert_eq!(outcome.evidence.resolved.len(), 2);
        for material in &outcome.material {
            let (_, text) = shelf.book.document(&material.path).unwrap();
            assert!(text.contains(&material.text), "the very bytes of {}", material.path);
        }
    }

    #[test]
    fn a_name_of_another_type_or_with_a_slip_says_where_to_look() {
        let shelf = shelf();
        let outcome = call(&shelf.desk(), "get_character_context", &json!({"name": "Halcyon"})).unwrap();
        assert_eq!(outcome.result["found"], false);
        assert_eq!(outcome.result["otherTypes"], json!([{"type": "item", "name": "Halcyon"}]));
        assert!(outcome.evidence.missing);
        let outcome = call(&shelf.desk(), "get_character_context", &json!({"name": "Adrien Vael"})).unwrap();
        assert!(
            outcome.result["near"].as_array().unwrap().contains(&json!("Adrian Vale")),
            "{}",
            outcome.result
        );
    }

    #[test]
    fn of_a_file_with_many_entries_only_the_part_is_told_and_embedded_files_are_shown() {
        let mut shelf = shelf();
        let text = "## Juno\nMends sails.\n\n## Pell\n![[Pell - short]]\n\nRings.\n";
        let pell = crate::domain::codex::Entry {
            path: crate::domain::ids::BookPath::new("codex/characters.md").unwrap(),
            name: "Pell".into(),
            text: text.into(),
            body: text.find("![[").unwrap()..text.len(),
            heading: Some("Pell".into()),
            soul: None,
            ..shelf.book.entries[0].clone()
        };
        shelf.book.entries.push(pell);
        let short = crate::domain::ids::BookPath::new("fragments/Pell - short.md").unwrap();
        shelf.book.embedded.insert(short.clone(), "---\na: 1\n---\nPaid by the peal.\n".into());
        let outcome = call(&shelf.desk(), "get_character_context", &json!({"name": "Pell"})).unwrap();
        assert_eq!(outcome.result["address"], "codex/characters.md#Pell");
        assert_eq!(outcome.result["excerpt"], "![[Pell - short]]\n\nRings.");
        assert_eq!(outcome.result["embeds"], json!([{"path": short, "excerpt": "Paid by the peal."}]));
        assert!(outcome.evidence.resolved.contains(&short));
        assert!(shelf.book.document(&short).unwrap().1.contains("Paid by the peal."));
    }

    #[test]
    fn relationships_are_told_as_either_side_states_them() {
        let shelf = shelf().entry(
            "codex/characters/mira.md",
            "---\nname: Mira\nrelationships: [{character: Adrian Vale, type: captain}]\n---\n",
        );
        let told = |name: &str| {
            let outcome = call(&shelf.desk(), "get_character_context", &json!({ "name": name })).unwrap();
            outcome.result["relationships"].clone()
        };
        assert_eq!(told("Mira"), json!([{"name": "Adrian Vale", "kind": "captain"}]));
        assert_eq!(
            told("Adrian Vale"),
            json!([{"name": "Mira", "theySay": "captain"}, {"name": "Halcyon", "kind": "ship"}])
        );
    }

    #[test]
    fn what_is_cut_is_said() {
        let long = format!("{VALE}\n{}", "More words here.\n\n".repeat(400))
            .replace("born: 2266-05-09", &format!("born: {}", "x ".repeat(3_000)));
        let shelf = Shelf::new().entry("codex/characters/a.md", &long);
        let desk = Desk { limits: Limits { excerpt: 300, ..Limits::default() }, ..shelf.desk() };
        let outcome = call(&desk, "get_character_context", &json!({"name": "Adrian Vale"})).unwrap();
        assert_eq!(outcome.result["truncated"], true);
        assert_eq!(outcome.result["fieldsOmitted"], json!(["born"]));
        assert!(outcome.result["excerpt"].as_str().unwrap().chars().count() <= 300);
        assert!(outcome.evidence.truncated);
    }

    #[test]
    fn every_type_has_a_tool_of_its_own() {
        for entry_type in EntryType::ALL {
            assert_eq!(GetContext(entry_type).name(), format!("get_{entry_type}_context"));
        }
    }
}
