//! A request as the offline reader sees it: the question, what is open, and what tools have returned in this turn.

use serde_json::Value;

use crate::providers::{Item, Request, ToolChoice};

/// The running turn.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The author's message.
    pub question: &'a str,
    /// The context message, if any.
    pub context: Option<&'a str>,
    /// Path of the open document, or of the one that the selection is from.
    pub document: Option<&'a str>,
    /// Words are selected.
    pub has_selection: bool,
    /// Calls of this turn with their results, in order.
    pub done: Vec<Done<'a>>,
    /// Names of the tools on offer.
    pub offered: Vec<&'a str>,
    /// What must be called.
    pub choice: &'a ToolChoice,
}

/// A call that was answered.
#[derive(Debug)]
pub struct Done<'a> {
    /// The tool.
    pub name: &'a str,
    /// Its arguments.
    pub arguments: Value,
    /// Its result; text that is no JSON is kept as text.
    pub output: Value,
}

impl<'a> Turn<'a> {
    /// Whether who asks reads blind, so that what was not found may come later.
    pub fn is_blind(&self) -> bool {
        self.context.is_some_and(|words| words.contains("reads blind"))
    }

    /// Reads a request.
    pub fn of(request: &'a Request) -> Self {
        let asked = request.items.iter().rposition(|item| matches!(item, Item::Author(_)));
        let question = match asked.map(|at| &request.items[at]) {
            Some(Item::Author(words)) => words.as_str(),
            _ => "",
        };
        let since = &request.items[asked.map_or(0, |at| at + 1)..];
        let context = request.items.iter().rev().find_map(|item| match item {
            Item::Context(words) => Some(words.as_str()),
            _ => None,
        });
        Self {
            question,
            context,
            document: context.and_then(document),
            has_selection: context.is_some_and(|words| words.contains("selection exists")),
            done: since.iter().filter_map(|item| done(item, since)).collect(),
            offered: request.tools.iter().filter_map(tool_name).collect(),
            choice: &request.tool_choice,
        }
    }

    /// Whether a tool is on offer.
    pub fn offers(&self, name: &str) -> bool {
        self.offered.contains(&name)
    }

    /// Returns the answered calls of one tool.
    pub fn of_tool<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s Done<'a>> {
        self.done.iter().filter(move |d| d.name == name)
    }
}

fn done<'a>(item: &'a Item, since: &'a [Item]) -> Option<Done<'a>> {
    let Item::Output { call_id, name, output } = item else { return None };
    let arguments = since.iter().find_map(|item| match item {
        Item::Call { call_id: id, arguments, .. } if id == call_id => serde_json::from_str(arguments).ok(),
        _ => None,
    });
    let output = serde_json::from_str(output).unwrap_or_else(|_| Value::String(output.clone()));
    Some(Done { name, arguments: arguments.unwrap_or_default(), output })
}

fn document(context: &str) -> Option<&str> {
    context
        .lines()
        .find_map(|line| line.trim_start_matches(['-', ' ']).strip_prefix("Document path:"))
        .map(str::trim)
}

/// A tool's name in any provider's shape.
fn tool_name(tool: &Value) -> Option<&str> {
    tool.get("name").or_else(|| tool.get("function")?.get("name"))?.as_str()
}
