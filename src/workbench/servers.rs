//! Providers as an author meets them: which are there, which have a key, what listens on this machine, and whether one works.
//!
//! Looking opens connections to this machine alone, and closes them at once. Only [`Workbench::check_provider`] asks a model, with a few words that are no
//! one's prose. What it sends is in the ledger, and the budget is asked before; looking sends nothing, so that there is nothing to note.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::domain::conversation::{Failure, FailureKind, Usage};
use crate::domain::ids::TurnId;
use crate::providers::presets;
use crate::providers::remote::Remote;
use crate::providers::wire::Protocol;
use crate::providers::{Event, Exchange, Item, Options, Provider, Receipts, Request, ToolChoice, Witness};

use super::Workbench;
use super::keys::KeyStatus;
use super::money::{host_of, is_loopback};
use super::provider::OFFLINE;

/// How long a server on this machine has to take a connection. It takes microseconds, or there is none.
const NEAR: Duration = Duration::from_millis(250);

/// Most tokens of the answer to a check.
const CHECK_OUTPUT: u32 = 16;

/// The tool that a check offers.
const CHECK_TOOL: &str = "ready";

/// A provider, as `scritorio providers` shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a provider")]
pub struct ProviderRow {
    /// Name in settings.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Whether the next question would go there.
    pub chosen: bool,
    /// Whether it can be asked as it stands: it has a model, and a key where it needs one, and it listens where it is on this machine.
    pub configured: bool,
    /// The protocol; `None` for the offline reader.
    pub wire: Option<&'static str>,
    /// Where it is asked; `None` where nothing leaves the program, or the author still has to say it.
    pub address: Option<String>,
    /// The model that it would be asked for.
    pub model: Option<String>,
    /// Whether it answers only with a key.
    pub needs_key: bool,
    /// Where its key is; `None` where it needs none and has none.
    pub key: Option<KeyStatus>,
    /// Whether it runs on this machine.
    pub is_local: bool,
    /// Whether something listens there; `None`: it is not on this machine, so that nobody asked.
    pub listens: Option<bool>,
    /// What to do next to use it, where something is missing.
    pub next: Option<String>,
}

/// What became of one cheap call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// The provider.
    pub provider: String,
    /// Where it was asked.
    pub address: String,
    /// With which model.
    pub model: String,
    /// Whether an answer came.
    pub answered: bool,
    /// Whether its model called the tool that was offered; `None`: nothing came that would tell.
    pub tools: Option<bool>,
    /// Whether no tools are offered to its model, since the server refuses them or the settings say so: the open text goes inline.
    pub inline: bool,
    /// In how many pieces the answer came.
    pub pieces: usize,
    /// Milliseconds until the first piece.
    pub first_ms: Option<u64>,
    /// Milliseconds in all.
    pub ms: u64,
    /// What was used, with what it cost.
    pub usage: Usage,
    /// What went wrong, and what to do.
    pub problem: Option<Failure>,
    /// What to do next, in words.
    pub next: String,
}

/// Runs a future to its end on a thread that may wait.
pub(super) fn wait<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Failure {
        kind: FailureKind::Work,
        message: format!("No background work can be started: {e}."),
        hint: "Close other programs, then try again.".into(),
    })?;
    let result = runtime.block_on(future);
    // A keychain that never answers must not hold anybody up.
    runtime.shutdown_background();
    Ok(result)
}

/// Returns which of the usual local servers listen on their ports of this machine, by name.
pub fn found_here() -> Vec<&'static str> {
    let local = presets::names().filter_map(|name| Some((name, presets::named(name)?.port?)));
    let asked: Vec<_> = local
        .map(|(name, port)| {
            (name, std::thread::spawn(move || listens(IpAddr::V4(Ipv4Addr::LOCALHOST), port)))
        })
        .collect();
    asked.into_iter().filter_map(|(name, asked)| asked.join().ok()?.then_some(name)).collect()
}

fn listens(ip: IpAddr, port: u16) -> bool {
    TcpStream::connect_timeout(&SocketAddr::new(ip, port), NEAR).is_ok()
}

/// Whether something listens at an address on this machine; `None`: it is not on this machine.
pub(super) fn listens_near(address: &str) -> Option<bool> {
    let host = host_of(address).filter(|host| is_loopback(host))?;
    let ip = host.parse().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let authority = address.split_once("://")?.1.split('/').next()?;
    let port = authority.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    Some(listens(ip, port.unwrap_or(if address.starts_with("https:") { 443 } else { 80 })))
}

impl Workbench {
    /// Returns every provider, those first that can be asked. Asks the keychain only for keys that this program put there.
    pub fn providers(&self) -> Vec<ProviderRow> {
        let chosen = self.choices().provider.value;
        let names = self.provider_names();
        let mut rows: Vec<ProviderRow> = std::thread::scope(|scope| {
            let asked: Vec<_> =
                names.iter().map(|name| scope.spawn(|| self.provider_row(name, &chosen))).collect();
            asked.into_iter().filter_map(|row| row.join().ok()).collect()
        });
        rows.sort_by_key(|row| (!row.chosen, !row.configured));
        rows
    }

    /// Returns the providers on this machine that take connections at the address that is set for them, by name.
    pub fn listening(&self) -> Vec<String> {
        let address = |name: &str| Some(self.preset(name).ok()?.server().ok()?.address().to_owned());
        let names = self.provider_names().into_iter().filter(|name| name != OFFLINE);
        let near = names.filter_map(|name| Some((address(&name)?, name)));
        let near = near.filter(|(address, _)| host_of(address).is_some_and(is_loopback));
        let asked: Vec<_> = near
            .map(|(address, name)| (name, std::thread::spawn(move || listens_near(&address) == Some(true))))
            .collect();
        asked.into_iter().filter_map(|(name, asked)| asked.join().ok()?.then_some(name)).collect()
    }

    fn provider_row(&self, name: &str, chosen: &str) -> ProviderRow {
        let offline = name == OFFLINE;
        let preset = self.preset(name).ok().filter(|_| !offline);
        let address = preset.as_ref().and_then(|preset| Some(preset.server().ok()?.address().to_owned()));
        let needs_key = preset.as_ref().is_some_and(|preset| preset.needs_key);
        let key = (!offline && (needs_key || self.keys().is_likely(name))).then(|| self.key_row(name));
        let has_key = key.as_ref().is_some_and(|key| matches!(key.source, "environment" | "keychain"));
        let model = Some(self.model_of(name, None).value).filter(|model| !model.is_empty());
        let listens = address.as_deref().and_then(listens_near);
        let missing = self.missing(name, has_key, listens);
        ProviderRow {
            title: preset
                .as_ref()
                .map_or_else(|| "The offline reader".to_owned(), |preset| preset.title.clone()),
            chosen: name == chosen,
            configured: missing.is_none(),
            wire: preset.as_ref().map(|preset| preset.wire.name()),
            is_local: listens.is_some(),
            listens,
            address,
            model,
            needs_key,
            key,
            next: missing,
            name: name.to_owned(),
        }
    }

    /// What to do next to use a provider, where something is missing; `listens` says whether it does, where it is on this machine.
    pub(super) fn missing(&self, name: &str, has_key: bool, listens: Option<bool>) -> Option<String> {
        let preset = self.preset(name).ok().filter(|_| name != OFFLINE)?;
        if let Err(failure) = preset.server() {
            return Some(failure.hint);
        }
        if listens == Some(false) {
            return Some(format!("Start {}.", preset.title));
        }
        if preset.needs_key && !has_key {
            return Some(self.keys().how_to_set(name));
        }
        let has_model = !self.model_of(name, None).value.is_empty();
        (!has_model).then(|| format!("Choose a model: `scritorio models --provider {name}`."))
    }

    /// Where a key is, without asking the keychain for one that was never put there.
    fn key_row(&self, name: &str) -> KeyStatus {
        if self.keys().is_likely(name) {
            return self.keys().status(name);
        }
        KeyStatus {
            provider: name.to_owned(),
            source: "none",
            variable: self.keys().variable(name),
            problem: None,
        }
    }

    /// Asks a provider's model for a few tokens, with one tool on offer. The error is for a provider that can't even be asked, or that the budget
    /// does not let be asked; what its server says is in the check.
    pub fn check_provider(&self, name: &str) -> Result<Check, Failure> {
        if name == OFFLINE {
            return Err(Failure {
                kind: FailureKind::Work,
                message: "The offline reader always works: there is nothing to check.".into(),
                hint: "Name a server: `scritorio providers` lists them.".into(),
            });
        }
        if self.needs_key(name)? {
            self.keys().require(name)?;
        }
        let model = self.model_of(name, None).value;
        if model.is_empty() {
            return Err(Failure {
                kind: FailureKind::Provider,
                message: format!("No model of `{name}` is named."),
                hint: format!("Choose one: `scritorio models --provider {name}` lists them."),
            });
        }
        self.settle_spending();
        let purse = self.purse(&TurnId::mint(), name, &model);
        let may_send = |remote: &Remote, request: &Request| purse.allow(request, &|| remote.body(request));
        let known = self.remote(name, &model)?;
        may_send(&known, &check_request(&model, true))?;
        // Whatever it refused once: this asks how it is now.
        self.unlearn(name, None);
        let remote = self.remote(name, &model)?;
        let mut request = check_request(&model, remote.tools());
        let mut began = Instant::now();
        let receipts = Receipts::default();
        let witness = self.witness_of_check();
        let witness = receipts.of(&witness);
        let (mut result, mut events) = wait(heard(remote.as_ref(), &request, &witness, began))?;
        if result.is_err() && !request.tools.is_empty() && !remote.tools() {
            // Only the tool was refused: whether it answers without is still to be seen.
            request = check_request(&model, false);
            may_send(&remote, &request)?;
            began = Instant::now();
            (result, events) = wait(heard(remote.as_ref(), &request, &witness, began))?;
        }
        let mut check = judged(result, &events, remote.tools());
        name.clone_into(&mut check.provider);
        check.address = remote.destination();
        check.ms = millis(began);
        check.next = next(&check, self.preset(name)?.wire);
        check.usage = receipts.take().unwrap_or_default();
        check.model = model;
        Ok(check)
    }
}

/// A request that costs next to nothing and tells what a model can do. Holds no word of a book.
fn check_request(model: &str, with_tool: bool) -> Request {
    let bare = Request {
        model: model.to_owned(),
        instructions: "This is a test of a connection. Be as brief as possible.".into(),
        items: vec![Item::Author("Say: ready.".into())],
        options: Options { max_output_tokens: Some(CHECK_OUTPUT), store: false, ..Options::default() },
        ..Request::default()
    };
    if !with_tool {
        return bare;
    }
    Request {
        items: vec![Item::Author(format!("Call the tool `{CHECK_TOOL}`."))],
        tools: vec![json!({
            "type": "function",
            "name": CHECK_TOOL,
            "description": "Says that you are ready.",
            "parameters": { "type": "object", "properties": {}, "required": [], "additionalProperties": false },
            "strict": true,
        })],
        tool_choice: ToolChoice::Required,
        ..bare
    }
}

/// Asks, and returns every event with the milliseconds after which it came.
async fn heard(
    provider: &dyn Provider,
    request: &Request,
    witness: &dyn Witness,
    began: Instant,
) -> (Result<(), Failure>, Vec<(u64, Event)>) {
    let (out, mut events) = tokio::sync::mpsc::unbounded_channel();
    let exchange = Exchange { request, out, cancel: CancellationToken::new(), witness };
    let listen = async {
        let mut heard = vec![];
        while let Some(event) = events.recv().await {
            heard.push((millis(began), event));
        }
        heard
    };
    tokio::join!(provider.stream(exchange), listen)
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// What the events of a check tell.
fn judged(result: Result<(), Failure>, events: &[(u64, Event)], has_tools: bool) -> Check {
    let is_piece = |event: &Event| {
        matches!(
            event,
            Event::Text(_) | Event::CallStarted { .. } | Event::CallArguments { .. } | Event::Call { .. }
        )
    };
    let pieces: Vec<_> = events.iter().filter(|(_, event)| is_piece(event)).collect();
    let called = events.iter().any(|(_, event)| {
        matches!(event, Event::Call { name, .. } | Event::CallStarted { name, .. } if name == CHECK_TOOL)
    });
    let spoke = events.iter().any(|(_, event)| matches!(event, Event::Text(_)));
    let tools = match (called, has_tools) {
        (true, _) => Some(true),
        (false, false) => Some(false),
        // Sixteen tokens may all go into thoughts.
        (false, true) => spoke.then_some(false),
    };
    Check {
        provider: String::new(),
        address: String::new(),
        model: String::new(),
        answered: result.is_ok(),
        tools,
        inline: !has_tools,
        pieces: pieces.len(),
        first_ms: pieces.first().map(|(ms, _)| *ms),
        ms: 0,
        usage: Usage::default(),
        problem: result.err(),
        next: String::new(),
    }
}

/// What to do next, in words.
fn next(check: &Check, wire: Protocol) -> String {
    if let Some(problem) = &check.problem {
        return problem.hint.clone();
    }
    match check.tools {
        Some(true) => format!(
            "It works. Use it with `--provider {0}`, or for good with `name = \"{0}\"` under [provider] in config.toml.",
            check.provider
        ),
        _ if check.inline => {
            let such_as = if wire == Protocol::Ollama { ", such as qwen3 or llama3.1" } else { "" };
            format!(
                "It answers; it takes no tools, so the open text goes inline, and it can look nothing else up. For that, choose a model with tools{such_as}, or start the server with tool support."
            )
        }
        Some(false) if wire == Protocol::Ollama => {
            "It answers, but its model did not call the tool: it may not look things up in the book by itself. Choose a model that calls tools, such as qwen3 or llama3.1.".to_owned()
        }
        Some(false) => "It answers, but its model did not call the tool: it may not look things up in the book by itself. Choose another model, or start the server with tool support.".to_owned(),
        None => format!(
            "It answers. {CHECK_OUTPUT} tokens were too few to see whether it calls tools; a question will show it."
        ),
    }
}
