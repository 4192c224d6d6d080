//! One turn on the command line: what it is asked about, running it, and its JSON.

use std::collections::HashMap;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::agent::driver;
use crate::agent::event::{Ended, TurnEventKind};
use crate::agent::grounding;
use crate::domain::conversation::{Failure, FailureKind, ToolRecord, ToolStatus, TurnStatus};
use crate::domain::ids::{BookPath, CallId, SessionId};
use crate::proposal::{Proposal, Status};
use crate::workbench::{Ask, Finished, Overrides, Workbench};

use super::error::{CliError, Kind};
use super::output;

pub(super) use crate::workbench::sessions::proposal_json;

/// Who is asked, and with which model.
#[derive(Debug, Clone, Args)]
pub(super) struct Who {
    /// Board member: developmental-editor, character-psychologist, continuity-editor, worldbuilding-auditor, first-time-reader, writing-coach
    #[arg(long, value_name = "ID")]
    pub persona: Option<String>,
    /// Who answers: offline, openai, anthropic, openrouter, kilo, groq, mistral, deepseek, azure, ollama, lmstudio, llamacpp, vllm, or one of your own
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,
    /// The provider's model
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Most rounds of tool calls
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=12))]
    pub rounds: Option<u32>,
    /// How much the model thinks
    #[arg(long, value_parser = ["none", "minimal", "low", "medium", "high", "xhigh", "max"])]
    pub effort: Option<String>,
    /// Service tier
    #[arg(long, value_parser = ["auto", "default", "flex", "priority"])]
    pub tier: Option<String>,
}

impl Who {
    pub(super) fn overrides(&self) -> Overrides {
        Overrides {
            provider: self.provider.clone(),
            model: self.model.clone(),
            rounds: self.rounds,
            effort: self.effort.clone(),
            tier: self.tier.clone(),
        }
    }
}

/// What lies open while a question is asked.
#[derive(Debug, Clone, Args)]
pub(super) struct Open {
    /// The open chapter: number, title, path or file stem
    #[arg(long, value_name = "REF")]
    chapter: Option<String>,
    /// Words that are selected, exactly as they stand in the book
    #[arg(long, value_name = "WORDS", conflicts_with = "select")]
    select_text: Option<String>,
    /// A selection by byte offsets into a file of the book
    #[arg(long, value_name = "FILE:START-END")]
    select: Option<String>,
}

impl Open {
    /// Builds a question about what is open.
    pub(super) fn ask(&self, workbench: &Workbench, question: String) -> Result<Ask, CliError> {
        let mut ask = Ask { question, ..Ask::default() };
        if let Some(reference) = &self.chapter {
            ask.current = Some((workbench.chapter(reference)?.0.path, None));
        }
        if let Some(words) = &self.select_text {
            let current = ask.current.as_ref().map(|(path, _)| path);
            ask.selection = Some(workbench.select_text(words, current)?);
        }
        if let Some(range) = &self.select {
            let (path, start, end) = parse_range(range, workbench.root())?;
            ask.selection = Some(workbench.select(&path, start, end)?);
        }
        if ask.current.is_none() {
            ask.current = ask.selection.as_ref().map(|selection| (selection.path.clone(), None));
        }
        Ok(ask)
    }
}

/// Reads `FILE:START-END`; the file is relative to the book, or an absolute path into it.
fn parse_range(raw: &str, root: &Path) -> Result<(BookPath, usize, usize), CliError> {
    let bad = || {
        CliError::new(Kind::Usage, format!("`{raw}` is no selection."))
            .hint("It is written as FILE:START-END, for example manuscript/01.md:120-260.")
    };
    let (file, range) = raw.rsplit_once(':').ok_or_else(bad)?;
    let (start, end) = range.split_once('-').ok_or_else(bad)?;
    let (start, end) = (start.parse().map_err(|_| bad())?, end.parse().map_err(|_| bad())?);
    let inside = Path::new(file).strip_prefix(root).ok().and_then(Path::to_str).unwrap_or(file);
    let path = BookPath::new(inside).map_err(|e| CliError::new(Kind::Usage, format!("{e}.")))?;
    Ok((path, start, end))
}

/// A turn that is over.
pub(super) struct Ran {
    pub finished: Finished,
    pub proposals: Vec<Proposal>,
    pub failure: Option<CliError>,
}

impl Ran {
    /// Returns the JSON of `ask`.
    pub(super) fn to_json(&self) -> Value {
        let turn = &self.finished.turn;
        let proposals: Vec<_> = self.proposals.iter().map(|p| proposal_json(p, Status::Pending)).collect();
        json!({
            "session": self.finished.session,
            "turn": turn.id,
            "persona": turn.persona,
            "read_to": turn.read_to,
            "provider": turn.provider,
            "model": turn.model,
            "tier": turn.tier,
            "tier_asked": turn.tier_asked,
            "answer": self.finished.grounded.shown,
            "cut_off": turn.cut_off().is_some(),
            "rounds": turn.rounds,
            "notices": turn.notices,
            "tools": turn.tools,
            "proposals": proposals,
            "quotes": turn.quotes,
            "usage": turn.usage,
            "not_kept": self.finished.not_kept,
            "error": self.failure.as_ref().map(CliError::to_json),
        })
    }
}

/// Runs a turn to its end. `Ctrl-C` and SIGTERM stop it; what had arrived is kept.
pub(super) fn run(
    workbench: &Workbench,
    ask: &Ask,
    mut on: impl FnMut(&TurnEventKind) -> Result<(), CliError>,
) -> Result<Ran, CliError> {
    let setup = workbench.prepare(ask)?;
    if let Some(read_to) = &setup.read_to {
        output::progress(&format!("reads blind, {read_to}"));
    }
    if let Some(caution) = workbench.caution(&setup) {
        output::progress(&caution);
    }
    let no_work = |e| CliError::new(Kind::Work, format!("No background work can be started: {e}."));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(no_work)?;
    // They are caught before the turn has begun, so that none leaves a turn without an end.
    let mut signals = {
        let _in_runtime = runtime.enter();
        Signals::listen().map_err(no_work)?
    };
    let session = workbench.begin(ask, &setup);
    let ended = runtime.block_on(async {
        // One listener for the whole turn: a signal that comes while an event is printed is not lost.
        let mut stop = pin!(signals.received());
        let mut running = driver::start(setup);
        let mut stopped = None;
        loop {
            tokio::select! {
                biased;
                () = &mut stop, if !running.cancel.is_cancelled() => running.cancel.cancel(),
                event = running.events.recv() => match event.map(|e| e.kind) {
                    Some(TurnEventKind::Ended(ended)) => return Ok((*ended, stopped)),
                    Some(kind) => if let Err(error) = on(&kind) {
                        stopped.get_or_insert(error);
                        running.cancel.cancel();
                    },
                    None => return Err(CliError::new(Kind::Work, "This turn broke inside the program.")),
                },
            }
        }
    });
    // A keychain or a name server that never answers must not keep the program alive.
    runtime.shutdown_timeout(Duration::from_millis(100));
    let (ended, stopped) = ended?;
    if let Some(error) = stopped {
        let _ = workbench.finish(&session, ask, ended);
        return Err(error);
    }
    Ok(finish(workbench, &session, ask, ended))
}

/// The signals that stop a turn. SIGHUP is none of them: `nohup` has a turn go on without its terminal.
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    fn listen() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for one of them.
    async fn received(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    }
}

/// What is kept of a turn that did not end well.
fn kept(ended: &Ended) -> &'static str {
    if ended.turn.answer.is_empty() {
        "The question is"
    } else {
        "The question and the part of the answer that arrived are"
    }
}

fn finish(workbench: &Workbench, session: &SessionId, ask: &Ask, ended: Ended) -> Ran {
    let failure = match (&ended.turn.status, &ended.failure) {
        (TurnStatus::Cancelled, _) => Some(CliError::new(Kind::Cancelled, "Cancelled.")),
        (TurnStatus::Failed(failure), _) | (_, Some(failure)) => Some(with_offline(failure)),
        (TurnStatus::Done | TurnStatus::Running, None) => None,
    };
    let kept = format!("{} kept in the conversation {session}.", kept(&ended));
    let proposals = ended.proposals.clone();
    let finished = workbench.finish(session, ask, ended);
    // What could not be kept is told of already.
    let says = |error: CliError| if finished.is_stored { also(error, &kept) } else { error };
    Ran { proposals, failure: failure.map(says), finished }
}

fn with_offline(failure: &Failure) -> CliError {
    let error = CliError::from(failure);
    match failure.kind {
        FailureKind::Unreachable => {
            also(error, "The offline reader needs no network: ask with --provider offline.")
        }
        _ => error,
    }
}

/// Adds a sentence to the hint.
fn also(error: CliError, sentence: &str) -> CliError {
    let hint = format!("{} {sentence}", error.hint);
    error.hint(hint.trim_start())
}

/// Says on standard error what a turn does: rounds, and each tool when it starts and when it has answered.
#[derive(Default)]
pub(super) struct Progress {
    shown: HashMap<CallId, ToolStatus>,
}

impl Progress {
    pub(super) fn show(&mut self, event: &TurnEventKind) {
        match event {
            TurnEventKind::Round { round, of } => output::progress(&format!("round {round} of {of}")),
            TurnEventKind::Tool(record) => self.tool(record),
            TurnEventKind::Proposed(proposal) => {
                let path = proposal.path().map_or("", BookPath::as_str);
                output::progress(&format!("  proposed {} for {path}: {}", proposal.id, proposal.summary));
            }
            TurnEventKind::Tier(tier) => output::progress(&format!("  tier: {tier}")),
            TurnEventKind::Retry(retry) => {
                let stop = if retry.wait.is_zero() { "" } else { " Ctrl-C stops." };
                output::progress(&format!("  again: {}{stop}", retry.why));
            }
            TurnEventKind::Notice(words) => output::progress(&format!("  note: {words}")),
            TurnEventKind::Text(_)
            | TurnEventKind::Answer(_)
            | TurnEventKind::Reasoning
            | TurnEventKind::Usage(_)
            | TurnEventKind::Ended(_) => {}
        }
    }

    fn tool(&mut self, record: &ToolRecord) {
        let before = self.shown.insert(record.call_id.clone(), record.status);
        if before == Some(record.status) || record.status == ToolStatus::Queued {
            return;
        }
        output::progress(&tool_row(record));
    }
}

fn tool_row(record: &ToolRecord) -> String {
    let ToolRecord { name, arguments, .. } = record;
    let forced = if record.forced { " (called by the program)" } else { "" };
    match record.status {
        ToolStatus::Queued | ToolStatus::Running => format!("  {name} {arguments}{forced} ..."),
        ToolStatus::Cancelled => format!("  {name}: cancelled"),
        ToolStatus::Failed => {
            format!("  {name}: {} ({} ms)", record.error.as_deref().unwrap_or("failed"), record.ms)
        }
        ToolStatus::Done if record.kind.as_deref() == Some("web") => {
            format!("  {name}: {arguments} (web, not canon)")
        }
        ToolStatus::Done => {
            let files: Vec<_> = record.resolved.iter().map(BookPath::as_str).collect();
            let files = if files.is_empty() { "nothing".to_owned() } else { files.join(", ") };
            let results = match record.results {
                1 => "1 result".to_owned(),
                n => format!("{n} results"),
            };
            let missing = if record.missing { ", some not found" } else { "" };
            let cut = if record.truncated { ", cut" } else { "" };
            format!("  {name}: {files} ({results}{missing}{cut}, {} ms)", record.ms)
        }
    }
}

/// The words of an answer as they arrive, without locate markers.
#[derive(Default)]
pub(super) struct Words {
    arrived: String,
    given: usize,
}

impl Words {
    /// Takes a piece and returns what can be shown of it by now.
    pub(super) fn take(&mut self, piece: &str) -> Option<String> {
        self.arrived.push_str(piece);
        let shown = grounding::hide_markers(&self.arrived);
        let fresh = shown.get(self.given..).filter(|fresh| !fresh.is_empty())?.to_owned();
        self.given = shown.len();
        Some(fresh)
    }

    /// Begins again with an answer that replaces all words so far, and returns what can be shown of it.
    pub(super) fn begin_again(&mut self, answer: &str) -> String {
        *self = Self::default();
        self.take(answer).unwrap_or_default()
    }
}
