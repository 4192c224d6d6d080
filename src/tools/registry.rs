//! Every tool by name: registration, dispatch, forced choice.
//!
//! Nothing else in the program names a tool: a new one is one line in [`Registry::advisor`] and one file.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::propose::{
    CreateEntry, CreateNote, CreateScene, RecordRelationship, UpdateCharacter, UpdateEntry, UpdatePersona,
};
use super::read::{
    GetContext, ListEntries, Manuscript, ReadNote, SearchCodex, SearchKnowledge, SearchManuscript,
    SearchNotes,
};
use super::{Desk, Effect, Force, Outcome, ProposeTool, ReadTool, ToolError, ToolSpec, arguments, schema};
use crate::domain::codex::EntryType;
use crate::domain::safe_text;

type Run = Box<dyn Fn(&Desk<'_>, &str) -> Result<Outcome, ToolError> + Send + Sync>;

/// The tools that a conversation offers, in a fixed order.
#[derive(Default)]
pub struct Registry {
    tools: Vec<(ToolSpec, Run)>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.specs().map(|s| s.name)).finish()
    }
}

impl Registry {
    /// The advisor tools.
    pub fn advisor() -> Self {
        let contexts = EntryType::ALL.into_iter().map(GetContext);
        let registry = Self::default().reads_prose(Manuscript);
        contexts
            .fold(registry, Self::reads_canon)
            .reads_canon(ListEntries)
            .reads_canon(SearchCodex)
            .reads_prose(SearchManuscript)
            .reads_prose(SearchKnowledge)
            .reads_prose(SearchNotes)
            .reads_prose(ReadNote)
            .proposes(UpdateEntry)
            .proposes(CreateEntry)
            .proposes(UpdateCharacter)
            .also_proposes(RecordRelationship)
            .also_proposes(CreateScene)
            .also_proposes(CreateNote)
            .also_proposes(UpdatePersona)
    }

    /// The twelve canon-only tools of `ai tool-smoke`.
    pub fn canon_only() -> Self {
        let mut registry = Self::advisor();
        registry.tools.retain(|(spec, _)| spec.canon);
        registry
    }

    /// Leaves out the tools named (those that the book switched off).
    #[must_use]
    pub fn without(mut self, names: &[String]) -> Self {
        self.tools.retain(|(spec, _)| !names.iter().any(|n| n == spec.name));
        self
    }

    /// Leaves out the tools that propose.
    #[must_use]
    pub fn only_reading(mut self) -> Self {
        self.tools.retain(|(spec, _)| spec.effect != Effect::Proposes);
        self
    }

    /// Iterates over the specs, in the order of registration.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(|(spec, _)| spec)
    }

    /// Finds a spec.
    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.specs().find(|spec| spec.name == name)
    }

    /// The tool that the author's message forces in the first round: of several the longest match wins, then the order of registration.
    pub fn forced_by(&self, question: &str, has_document: bool) -> Option<&ToolSpec> {
        let mut longest: Option<(usize, &ToolSpec)> = None;
        for spec in self.specs() {
            let patterns = spec.force.iter().filter(|f| has_document || !f.needs_document);
            let length = patterns.map(|f| f.longest_match(question)).max().unwrap_or(0);
            if length > longest.map_or(0, |(most, _)| most) {
                longest = Some((length, spec));
            }
        }
        longest.map(|(_, spec)| spec)
    }

    /// Runs a call. `arguments` is the model's text: anything can be in it.
    pub fn run(&self, desk: &Desk<'_>, name: &str, arguments: &str) -> Result<Outcome, ToolError> {
        let Some((_, run)) = self.tools.iter().find(|(spec, _)| spec.name == name) else {
            let shown: String = name.chars().take(64).collect();
            return Err(ToolError::Unknown {
                name: safe_text::line(&shown.replace('\n', " ")).into_owned(),
                offered: self.specs().map(|s| s.name.to_owned()).collect(),
            });
        };
        let mut outcome = run(desk, arguments)?;
        // Whatever a handler made of the text as it was read, the file keeps its line ends.
        for file in outcome.proposal.iter_mut().flat_map(|proposal| &mut proposal.files) {
            file.keep_line_ends(desk.book);
        }
        Ok(outcome)
    }

    /// Adds a tool that reads the author's prose.
    #[must_use]
    pub fn reads_prose<T: ReadTool>(self, tool: T) -> Self {
        self.reads(tool, Effect::ReadsProse)
    }

    /// Adds a tool that reads canon.
    #[must_use]
    pub fn reads_canon<T: ReadTool>(self, tool: T) -> Self {
        self.reads(tool, Effect::ReadsCanon)
    }

    /// Adds a tool that drafts a change to canon.
    #[must_use]
    pub fn proposes<T: ProposeTool>(self, tool: T) -> Self {
        let (name, about) = (tool.name(), tool.about());
        self.add(name, about, Effect::Proposes, vec![], move |desk, args: T::Args| {
            let draft = tool.propose(desk, args)?;
            Ok(Outcome {
                result: draft.result,
                evidence: draft.evidence,
                material: draft.material,
                proposal: draft.proposal,
            })
        })
    }

    /// Adds a tool that drafts a change and is not part of the canon-only subset.
    #[must_use]
    pub fn also_proposes<T: ProposeTool>(self, tool: T) -> Self {
        let mut registry = self.proposes(tool);
        if let Some((spec, _)) = registry.tools.last_mut() {
            spec.canon = false;
        }
        registry
    }

    fn reads<T: ReadTool>(self, tool: T, effect: Effect) -> Self {
        let (name, about, force) = (tool.name(), tool.about(), tool.force());
        self.add(name, about, effect, force, move |desk, args: T::Args| {
            let reading = tool.read(desk, args)?;
            Ok(Outcome {
                result: reading.result,
                evidence: reading.evidence,
                material: reading.material,
                proposal: None,
            })
        })
    }

    fn add<A: DeserializeOwned + JsonSchema>(
        mut self,
        name: &'static str,
        about: &'static str,
        effect: Effect,
        force: Vec<Force>,
        handle: impl Fn(&Desk<'_>, A) -> Result<Outcome, ToolError> + Send + Sync + 'static,
    ) -> Self {
        debug_assert!(self.spec(name).is_none(), "tool `{name}` is registered twice");
        let parameters = schema::of::<A>();
        let canon = effect != Effect::ReadsProse;
        let spec = ToolSpec { name, about, effect, canon, parameters: parameters.clone(), force };
        let run: Run = Box::new(move |desk, text| {
            let args = arguments::parse(&parameters, text, desk.limits.arguments)?;
            handle(desk, args)
        });
        self.tools.push((spec, run));
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::tools::testing::{REGISTRY, Shelf, path};

    const ADVISOR: [&str; 21] = [
        "get_manuscript_context",
        "get_character_context",
        "get_location_context",
        "get_organization_context",
        "get_item_context",
        "get_concept_context",
        "get_event_context",
        "get_style_context",
        "list_codex_entries",
        "search_codex",
        "search_manuscript",
        "search_knowledge",
        "search_notes",
        "read_note",
        "propose_codex_update",
        "propose_codex_create",
        "propose_character_update",
        "propose_relationship",
        "propose_scene_create",
        "propose_note_create",
        "propose_persona_update",
    ];

    fn shelf() -> Shelf {
        Shelf::new().chapter("manuscript/01-one.md", "# One\n\nMira listened.\n").entry(
            "codex/characters/mira.md",
            "---\ntype: character\nname: Mira Okafor\nrole: hero\n---\n\n## Voice\n\nQuick.\n",
        )
    }

    #[test]
    fn the_tools_stand_in_their_order_and_twelve_of_them_need_canon_alone() {
        let names = |r: &Registry| r.specs().map(|s| s.name).collect::<Vec<_>>();
        assert_eq!(names(&Registry::advisor()), ADVISOR);
        assert_eq!(names(&Registry::canon_only()), [&ADVISOR[1..10], &ADVISOR[14..17]].concat());
        let without = Registry::advisor().without(&["search_codex".to_owned()]);
        assert_eq!(without.specs().count(), ADVISOR.len() - 1);
        assert!(without.spec("search_codex").is_none());
    }

    #[test]
    fn every_spec_is_well_formed() {
        for spec in Registry::advisor().specs() {
            assert!(spec.name.len() <= 64 && spec.name.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
            assert!(spec.about.ends_with('.') && !spec.about.contains('\u{2014}'), "{}", spec.name);
            assert!(spec.brief().len() > 20 && !spec.brief().ends_with('.'), "{}", spec.brief());
            assert_eq!(spec.effect == Effect::Proposes, spec.name.starts_with("propose_"));
        }
        let registry = Registry::advisor();
        let arguments: Vec<_> = registry.spec("search_codex").unwrap().arguments().collect();
        assert_eq!(arguments, [("query", false), ("entryType", true)]);
    }

    #[test]
    fn a_question_forces_the_tool_that_it_plainly_asks_for() {
        let registry = Registry::advisor();
        for (question, open, tool) in [
            ("List all the characters", false, Some("list_codex_entries")),
            ("Please list the locations.", false, Some("list_codex_entries")),
            ("how many characters are there?", false, Some("list_codex_entries")),
            ("Who is Mira Okafor?", false, Some("get_character_context")),
            ("who's the Captain", false, Some("get_character_context")),
            ("who is adrian vale?", false, Some("get_character_context")),
            ("who is mira okafor\u{2019}s mother", false, Some("get_character_context")),
            ("list all places, please", false, Some("list_codex_entries")),
            ("Give me a list of all items", false, Some("list_codex_entries")),
            ("Tell me about the location Port Amity", false, Some("get_location_context")),
            ("Where is Port Amity?", false, Some("search_codex")),
            ("Search my notes for the ending", false, Some("search_notes")),
            ("search the manuscript for gulls", false, Some("search_manuscript")),
            ("Where did I note down her age?", false, None),
            ("Which of my notes matter for the manuscript?", false, None),
            ("What is wrong with this passage?", true, Some("get_manuscript_context")),
            ("Is this paragraph too long?", true, Some("get_manuscript_context")),
            ("Who is Mira talking to in this scene?", true, Some("get_manuscript_context")),
            ("List the characters in this chapter", true, Some("get_manuscript_context")),
            ("What happens in chapter 3?", false, Some("get_manuscript_context")),
            ("Tell me about Chapter Seven", false, Some("get_manuscript_context")),
            ("How does chapter two end?", false, Some("get_manuscript_context")),
            // Without a document there is no "this passage".
            ("What is wrong with this passage?", false, None),
            // A wrong force is worse than none: a name alone does not say which of the tools knows it.
            ("What should I remember about Captain Vale?", false, None),
            ("Tell me about the Long Room", false, None),
            ("Who is speaking here?", false, None),
            ("who is speaking", false, None),
            ("who is right?", false, None),
            ("who is the narrator?", false, None),
            ("Show me the events that feel rushed", false, None),
            ("Who is my audience?", false, None),
            ("Where is Mira going in the end, and why?", false, None),
            ("Does the pacing work?", true, None),
            ("Which chapter should I cut?", true, None),
            ("Tell me about pacing", false, None),
            ("", true, None),
        ] {
            let forced = registry.forced_by(question, open).map(|s| s.name);
            assert_eq!(forced, tool, "{question:?}");
        }
    }

    #[test]
    fn a_tool_that_is_not_offered_is_told_with_those_that_are() {
        let shelf = shelf();
        let error = Registry::canon_only().run(&shelf.desk(), "get_manuscript_context", "{}").unwrap_err();
        let told = error.to_result();
        assert_eq!(told["error"]["kind"], "unknown_tool");
        assert_eq!(told["error"]["offered"].as_array().unwrap().len(), 12);
        let hostile =
            Registry::advisor().run(&shelf.desk(), &"\x1b[2J\n".repeat(100), "{}").unwrap_err().to_string();
        assert!(hostile.len() < 300 && !hostile.contains(char::is_control), "{hostile:?}");
    }

    #[test]
    fn every_required_argument_is_missed_by_its_name() {
        let shelf = shelf();
        for spec in Registry::advisor().specs() {
            let error = Registry::advisor().run(&shelf.desk(), spec.name, "{}").unwrap_err();
            let ToolError::Arguments { field: Some(field), .. } = &error else {
                panic!("{}: {error:?}", spec.name)
            };
            assert!(spec.arguments().any(|(name, _)| name == field), "{}: {field}", spec.name);
        }
    }

    #[test]
    fn the_same_call_gives_the_same_bytes() {
        let shelf = shelf();
        let run = || {
            let args = r#"{"name": "Mira Okafor"}"#;
            Registry::advisor().run(&shelf.desk(), "get_character_context", args).unwrap().result.to_string()
        };
        assert_eq!(run(), run());
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let words = prop_oneof![
            Just("character"),
            Just("Mira Okafor"),
            Just("Voice"),
            Just("Role"),
            Just("current"),
            Just("append"),
            Just("hero"),
            Just("1"),
            Just(""),
            Just("\u{0}"),
            Just("# X\n```"),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            words.prop_map(Value::from),
            "\\PC{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::vec(
                    (prop_oneof!["[a-z]{0,4}", Just("name".to_owned()), Just("value".to_owned())], inner),
                    0..4
                )
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_arguments_make_a_tool_panic_and_an_error_names_a_field(
            tool in 0_usize..ADVISOR.len(),
            values in prop::collection::vec(prop::option::of(json_value()), 8),
            open in any::<bool>(),
        ) {
            let shelf = shelf();
            let spec = REGISTRY.spec(ADVISOR[tool]).unwrap();
            let args: serde_json::Map<String, Value> = spec
                .arguments()
                .zip(values)
                .filter_map(|((name, _), value)| Some((name.to_owned(), value?)))
                .collect();
            let current = path("manuscript/01-one.md");
            let desk = Desk { current: open.then_some(&current), ..shelf.desk() };
            match REGISTRY.run(&desk, spec.name, &Value::Object(args).to_string()) {
                Ok(outcome) => {
                    prop_assert!(outcome.result.is_object());
                    prop_assert!(outcome.proposal.is_none() || spec.effect == Effect::Proposes);
                    for material in &outcome.material {
                        let (_, text) = shelf.book.document(&material.path).unwrap();
                        prop_assert!(text.contains(&material.text));
                    }
                }
                Err(ToolError::Arguments { field, message, .. }) => {
                    let field = field.unwrap_or_else(|| panic!("{message}"));
                    let top = field.split(['.', '[']).next().unwrap();
                    prop_assert!(spec.arguments().any(|(name, _)| name == top), "{}", field);
                }
                Err(ToolError::Refused { message, .. }) => prop_assert!(!message.is_empty()),
                Err(other) => prop_assert!(false, "{other:?}"),
            }
        }

        #[test]
        fn text_that_is_no_json_object_is_an_error(text in "\\PC{0,40}|[\\[\\]{}\":,0-9a-z\\\\ ]{0,30}") {
            let shelf = shelf();
            let result = REGISTRY.run(&shelf.desk(), "get_character_context", &text);
            prop_assert!(result.is_err() || text.contains("name"));
        }
    }

    #[test]
    fn results_hold_no_absolute_path() {
        let shelf = shelf();
        for (tool, args) in [
            ("get_manuscript_context", json!({"ref": "1"})),
            ("get_character_context", json!({"name": "Mira Okafor"})),
            ("list_codex_entries", json!({"entryType": "character"})),
            ("search_codex", json!({"query": "Mira"})),
            ("search_manuscript", json!({"query": "Mira"})),
            ("search_knowledge", json!({"query": "Mira"})),
            ("search_notes", json!({"query": "Mira"})),
            ("read_note", json!({"path": "plan.md"})),
        ] {
            let result = crate::tools::testing::call(&shelf.desk(), tool, &args).unwrap().result;
            assert!(
                result["project"] == "the-long-silence" && !result.to_string().contains("\"/"),
                "{result}"
            );
        }
    }
}
