//! Every tool by name: registration, dispatch, forced choice.
//!
//! Nothing else in the program names a tool: a new one is one line in [`Registry::advisor`] and one file.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::read::{GetContext, ListEntries, Manuscript, SearchCodex};
use super::propose::{CreateEntry, UpdateCharacter, UpdateEntry};
use super::{
    Desk, Effect, Force, Outcome, ProposeTool, ReadTool, ToolError, ToolSpec, arguments, schema,
};
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
    /// The thirteen advisor tools.
    pub fn advisor() -> Self {
        let contexts = EntryType::ALL.into_iter().map(GetContext);
        let registry = Self::default().reads_prose(Manuscript);
        contexts
            .fold(registry, Self::reads_canon)
            .reads_canon(ListEntries)
            .reads_canon(SearchCodex)
            .proposes(UpdateEntry)
            .proposes(CreateEntry)
            .proposes(UpdateCharacter)
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
            let matches = patterns.flat_map(|f| f.pattern.find_iter(question));
            let length = matches.map(|m| m.as_str().trim().chars().count()).max().unwrap_or(0);
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
        run(desk, arguments)
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
