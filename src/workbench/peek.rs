//! What would be sent, made by the same function that sends it.

use std::fmt::Write;

use serde_json::Value;

use crate::agent::first_request;
use crate::domain::conversation::{Failure, FailureKind, ReadTo};
use crate::domain::passage::count_words;
use crate::domain::safe_text;
use crate::providers::Item;
use crate::providers::wire::Protocol;

use crate::tools::Registry;

use super::provider::{OFFLINE, OPENAI};
use super::{Ask, Workbench};

/// Bytes of English prose and JSON that make about one token.
const BYTES_PER_TOKEN: usize = 4;

/// Everything that a question would send.
#[derive(Debug, Clone)]
pub struct Peek {
    /// Where it goes, in words.
    pub destination: String,
    /// Up to where the board member reads, if it reads blind.
    pub read_to: Option<ReadTo>,
    /// The system prompt.
    pub instructions: String,
    /// The context message, if any.
    pub context: Option<String>,
    /// What is said: conversation and question, as sent.
    pub input: String,
    /// Names of the tools on offer.
    pub tools: Vec<String>,
    /// The whole body, byte for byte as it is sent (pretty-printed only for display).
    pub body: Value,
    /// Bytes of the body as sent.
    pub bytes: usize,
    /// What is captured for the turn but not sent unless a tool asks.
    pub private: Option<String>,
    /// What goes out besides the request when a tool searches by meaning; `None` where that is off.
    pub besides: Option<String>,
}

impl Peek {
    /// Renders the peek view as plain text, the same in the popup and in `scritorio prompt --format text`.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut section = |title: &str, text: &str| {
            let _ = writeln!(out, "== {title} ({})\n\n{}\n", sizes(text), safe_text::block(text.trim_end()));
        };
        section("Instructions", &self.instructions);
        section("Context", self.context.as_deref().unwrap_or("None: no document is open."));
        section("Input", &self.input);
        let tools = self.body.get("tools").map(ToString::to_string).unwrap_or_default();
        let offered = self.offered();
        let rest = self.rest();
        let private = self.private.as_deref().unwrap_or("Nothing beyond the book itself.");
        let besides = self
            .besides
            .as_deref()
            .map(|words| format!("\n== Sent besides\n\n{words}\n"))
            .unwrap_or_default();
        format!(
            "Goes to: {destination}\n{blind}Whole request: {bytes} bytes, about {tokens} tokens (a rough estimate: {BYTES_PER_TOKEN} bytes each)\n\n\
             {out}== Tools ({count}, their schemas are {schemas} bytes)\n\n{offered}\n\n== Everything else in the request\n\n{rest}\n\n== Private to this turn, sent only if a tool asks\n\n{private}\n{besides}",
            blind = self
                .read_to
                .as_ref()
                .map(|to| format!("The board member reads blind, {}.\n", safe_text::line(&to.to_string())))
                .unwrap_or_default(),
            destination = safe_text::line(&self.destination),
            bytes = self.bytes,
            tokens = self.bytes.div_ceil(BYTES_PER_TOKEN),
            count = self.tools.len(),
            schemas = tools.len(),
        )
    }
}

impl Peek {
    /// The tools, each with its schema exactly as it is sent.
    fn offered(&self) -> String {
        if self.tools.is_empty() {
            return "None.".to_owned();
        }
        let schemas = self.body.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
        let described = self.tools.iter().enumerate().map(|(i, name)| match schemas.get(i) {
            Some(schema) => format!("{name}\n    {}", safe_text::line(&schema.to_string())),
            None => name.clone(),
        });
        described.collect::<Vec<_>>().join("\n")
    }

    /// The fields of the body that no other part of the view shows: model, options, what is kept.
    fn rest(&self) -> String {
        let fields = self.body.as_object().into_iter().flatten();
        let shown = fields.filter(|(name, _)| {
            !matches!(name.as_str(), "instructions" | "input" | "system" | "messages" | "tools")
        });
        shown
            .map(|(name, value)| format!("{name}: {}", safe_text::line(&value.to_string())))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

fn sizes(text: &str) -> String {
    format!("{} bytes, {} words", text.len(), count_words(text))
}

impl Workbench {
    /// Builds the request for `ask` without sending it. Needs no key. `format` asks for another wire than the provider's own, by its name.
    pub fn peek(&self, ask: &Ask, format: Option<&str>) -> Result<Peek, Failure> {
        let choices = self.choices();
        let destination = self.destination(&choices.provider.value)?;
        let wire = format
            .map(|name| {
                Protocol::named(name).ok_or_else(|| Failure {
                    kind: FailureKind::Work,
                    message: format!("There is no format `{name}`."),
                    hint: format!("The formats are: text, {}.", Protocol::ALL.map(Protocol::name).join(", ")),
                })
            })
            .transpose()?;
        // The offline reader has no wire of its own.
        let is_reader = choices.provider.value == OFFLINE;
        let name = if wire.is_some() && is_reader { OPENAI.to_owned() } else { choices.provider.value };
        let setup = self.setup(ask, &name, &self.destination(&name)?)?;
        let request = first_request(&setup);
        let body = match wire {
            Some(wire) => wire.wire().body(&request, &self.remote(&name)?.abilities()),
            None => setup.provider.body(&request),
        };
        let fresh = request.items.get(request.fresh..).unwrap_or_default();
        let context = fresh.iter().find_map(|item| match item {
            Item::Context(text) => Some(text.clone()),
            _ => None,
        });
        Ok(Peek {
            destination,
            input: input(fresh),
            instructions: request.instructions,
            context,
            tools: offered(&setup.registry, &body),
            bytes: body.to_string().len(),
            besides: self.meaning_in_words(&setup.book),
            body,
            read_to: setup.read_to.clone(),
            private: ask.selection.as_ref().map(|selection| {
                let words = count_words(&selection.text);
                format!("The selection: {words} words from {}.", selection.path)
            }),
        })
    }
}

/// Names of the tools in the body, in its order; the last may be the provider's own.
fn offered(registry: &Registry, body: &Value) -> Vec<String> {
    let mut names: Vec<String> = registry.specs().map(|spec| spec.name.to_owned()).collect();
    let tools = body.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_search = |tool: &Value| tool["type"].as_str().is_some_and(|t| t.starts_with("web_search"));
    if tools.iter().any(is_search) {
        names.push("web_search (the provider's own; web, not canon)".to_owned());
    }
    names
}

/// What is said, for reading: the same words in the same order as in the body.
fn input(items: &[Item]) -> String {
    let parts = items.iter().filter_map(|item| match item {
        Item::Context(_) | Item::Raw(_) => None,
        Item::Author(text) => Some(format!("User: {text}")),
        Item::Persona(text) => Some(format!("Assistant: {text}")),
        Item::Call { name, arguments, .. } => Some(format!("Call: {name} {arguments}")),
        Item::Output { name, output, .. } => Some(format!("Output of {name}: {output}")),
    });
    parts.collect::<Vec<_>>().join("\n\n")
}
