//! The task that does what the machine asks for.
//!
//! It sends requests, runs tools on threads where they may block, tells the front end, and stops within 100 ms of a
//! cancel: the provider has 50 ms of grace, then it is dropped, and a tool that still runs is no longer waited for. It never
//! decides what comes next: the machine does.

mod stream;

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::event::{Ended, TurnEvent, TurnEventKind};
use super::machine::{Call, Effect, Input, Machine, Plan};
use super::rows::Rows;
use super::{TurnSetup, context, request};
use crate::domain::conversation::{Failure, ToolStatus, Turn, TurnStatus, Usage};
use crate::domain::passage::sha256_hex;
use crate::proposal::Proposal;
use crate::providers::{Event, ToolChoice};
use crate::tools::desk::Limits;
use crate::tools::{Desk, Material, Outcome, Seen, ToolError};
use stream::Stream;

/// A running turn.
pub struct Running {
    /// Its events, in order; `Ended` is the last.
    pub events: UnboundedReceiver<TurnEvent>,
    /// Stops it: within 100 ms it answers open calls with "cancelled" and ends.
    pub cancel: CancellationToken,
}

/// Starts a turn in the background. Must be called inside a tokio runtime. Dropping the receiver of its events stops it too.
pub fn start(setup: TurnSetup) -> Running {
    let (sender, events) = unbounded_channel();
    let cancel = CancellationToken::new();
    tokio::spawn(Driver::new(setup, sender, cancel.clone()).run());
    Running { events, cancel }
}

/// A tool at work.
struct Work {
    call: Call,
    started: Instant,
    result: JoinHandle<Result<Outcome, ToolError>>,
}

struct Driver {
    setup: Arc<TurnSetup>,
    plan: Plan,
    machine: Machine,
    events: UnboundedSender<TurnEvent>,
    cancel: CancellationToken,
    stream: Option<Stream>,
    work: Option<Work>,
    rows: Rows,
    seen: Arc<Seen>,
    material: Vec<Material>,
    proposals: Vec<Proposal>,
    usage: Usage,
    tier: Option<String>,
    response_id: Option<String>,
    asked_at: String,
}

impl Driver {
    fn new(setup: TurnSetup, events: UnboundedSender<TurnEvent>, cancel: CancellationToken) -> Self {
        let plan = request::plan(&setup);
        Self {
            machine: Machine::new(plan.clone()),
            plan,
            seen: Arc::new(setup.seen.clone()),
            setup: Arc::new(setup),
            events,
            cancel,
            stream: None,
            work: None,
            rows: Rows::default(),
            material: vec![],
            proposals: vec![],
            usage: Usage::default(),
            tier: None,
            response_id: None,
            asked_at: format!("{:.3}", jiff::Timestamp::now()),
        }
    }

    async fn run(mut self) {
        let mut inputs = vec![Input::Begin];
        loop {
            for input in std::mem::take(&mut inputs) {
                for effect in self.machine.step(input) {
                    if let Effect::End(status) = effect {
                        return self.end(status);
                    }
                    self.carry_out(effect);
                }
            }
            inputs = self.wait().await;
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Ask(choice) => self.ask(choice),
            Effect::Say(words) => self.tell(TurnEventKind::Text(words)),
            Effect::Queue(call) => {
                let row = self.rows.queue(&call);
                self.tell(TurnEventKind::Tool(row));
            }
            Effect::Run(call) => self.run_tool(call),
            Effect::Drop { call_id, status, why } => {
                let row = self.rows.end(&call_id, status, why, 0);
                self.tell(TurnEventKind::Tool(row));
            }
            Effect::End(_) => {}
        }
    }

    fn ask(&mut self, choice: ToolChoice) {
        let of = self.plan.max_rounds;
        // The request after the last round belongs to that round.
        self.tell(TurnEventKind::Round { round: self.machine.requests().min(of), of });
        let kept = self.machine.kept();
        let request = request::request(&self.setup, self.machine.items(), kept, choice);
        if !self.cancel.is_cancelled() {
            self.stream = Some(Stream::open(self.setup.provider.clone(), request));
        }
    }

    fn run_tool(&mut self, call: Call) {
        let row = self.rows.run(&call);
        self.tell(TurnEventKind::Tool(row));
        let (setup, seen) = (self.setup.clone(), self.seen.clone());
        let (name, arguments) = (call.name.clone(), call.arguments.clone());
        let result = tokio::task::spawn_blocking(move || {
            let desk = Desk {
                book: &setup.book,
                current: setup.current.as_ref(),
                selection: setup.selection.as_ref(),
                seen: &seen,
                limits: Limits::default(),
            };
            setup.registry.run(&desk, &name, &arguments)
        });
        self.work = Some(Work { call, started: Instant::now(), result });
    }

    /// Waits for the next thing to happen. A cancel comes before everything else.
    async fn wait(&mut self) -> Vec<Input> {
        let happened = tokio::select! {
            biased;
            () = self.cancel.cancelled() => None,
            () = self.events.closed() => None,
            input = next_of(self.stream.as_mut()) => Some(Ok(input)),
            result = result_of(self.work.as_mut()) => Some(Err(result)),
        };
        match happened {
            None => self.wind_down().await,
            Some(Ok(input)) => {
                self.note(&input);
                if matches!(input, Input::Heard(Event::Finished { .. }) | Input::Broken(_)) {
                    self.stream = None;
                }
                vec![input]
            }
            Some(Err(result)) => self.work.take().map(|work| self.settle(work, result)).into_iter().collect(),
        }
    }

    /// Takes what a provider still says in its time of grace: words and tokens, but nothing that would start something new.
    async fn wind_down(&mut self) -> Vec<Input> {
        self.work = None;
        let mut inputs = vec![];
        if let Some(stream) = self.stream.take() {
            for event in stream.close().await {
                let input = Input::Heard(event);
                self.note(&input);
                if matches!(input, Input::Heard(Event::Text(_))) {
                    inputs.push(input);
                }
            }
        }
        inputs.push(Input::Cancelled);
        inputs
    }

    /// Passes on what concerns the front end alone.
    fn note(&mut self, input: &Input) {
        let Input::Heard(event) = input else { return };
        match event {
            Event::Created { response_id } => self.response_id = Some(response_id.clone()),
            Event::Reasoning => self.tell(TurnEventKind::Reasoning),
            Event::Retry(why) => self.tell(TurnEventKind::Retry(why.clone())),
            Event::Tier(tier) => {
                self.tier = Some(tier.clone());
                self.tell(TurnEventKind::Tier(tier.clone()));
            }
            Event::Finished { usage, .. } => {
                self.usage = sum(self.usage, *usage);
                self.tell(TurnEventKind::Usage(self.usage));
            }
            Event::Text(_) | Event::CallStarted { .. } | Event::CallArguments { .. } => {}
            Event::Call { .. } | Event::Item(_) => {}
        }
    }

    /// A tool has answered, has refused, or has crashed.
    fn settle(&mut self, work: Work, result: Result<Result<Outcome, ToolError>, tokio::task::JoinError>) -> Input {
        let id = work.call.id;
        let ms = u64::try_from(work.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (row, output) = match result {
            Ok(Ok(outcome)) => {
                Arc::make_mut(&mut self.seen).add(&outcome.material);
                self.material.extend(outcome.material);
                let row = self.rows.done(&id, outcome.evidence, ms);
                self.tell(TurnEventKind::Tool(row));
                if let Some(proposal) = outcome.proposal {
                    self.proposals.push(proposal.clone());
                    self.tell(TurnEventKind::Proposed(Box::new(proposal)));
                }
                return Input::Answered { call_id: id, output: outcome.result.to_string() };
            }
            Ok(Err(error)) => {
                let row = self.rows.end(&id, ToolStatus::Failed, Some(&error.to_string()), ms);
                (row, error.to_result())
            }
            Err(_) => {
                const CRASHED: &str = "the tool failed inside the program; nothing was changed";
                let row = self.rows.end(&id, ToolStatus::Failed, Some(CRASHED), ms);
                (row, json!({ "error": { "kind": "internal", "message": CRASHED } }))
            }
        };
        self.tell(TurnEventKind::Tool(row));
        Input::Answered { call_id: id, output: output.to_string() }
    }

    fn end(mut self, status: TurnStatus) {
        self.stream = None;
        let events = self.events.clone();
        let turn = self.setup.id.clone();
        let kind = TurnEventKind::Ended(Box::new(self.into_ended(status)));
        let _ = events.send(TurnEvent { turn, kind });
    }

    fn into_ended(self, status: TurnStatus) -> Ended {
        let setup = &self.setup;
        let kept = self.machine.kept().filter(|_| self.plan.server_keeps && self.machine.is_whole());
        let kept_by_server = kept.is_some();
        let failure = match &status {
            TurnStatus::Failed(failure) => Some(failure.clone()),
            _ => None,
        };
        let turn = Turn {
            id: setup.id.clone(),
            asked_at: self.asked_at,
            persona: String::new(),
            provider: setup.provider.name().to_owned(),
            model: setup.model.clone(),
            question: setup.question.clone(),
            selection: setup.selection.as_ref().map(context::selection_meta),
            tools: self.rows.into_records(),
            answer: self.machine.answer().to_owned(),
            quotes: vec![],
            proposals: self.proposals.iter().map(|p| p.id.clone()).collect(),
            status,
            rounds: self.machine.rounds(),
            tier: self.tier,
            usage: self.usage,
            response_id: kept.map(|kept| kept.response_id.clone()),
        };
        Ended {
            turn,
            items: self.machine.items().to_vec(),
            material: self.material,
            proposals: self.proposals,
            failure,
            kept_by_server,
            last_response: self.response_id,
            prompt_hash: sha256_hex(&setup.instructions),
        }
    }

    fn tell(&self, kind: TurnEventKind) {
        // A front end that no longer listens has closed the channel, which ends the turn.
        let _ = self.events.send(TurnEvent { turn: self.setup.id.clone(), kind });
    }
}

async fn next_of(stream: Option<&mut Stream>) -> Input {
    match stream {
        Some(stream) => stream.next().await,
        None => std::future::pending().await,
    }
}

async fn result_of(work: Option<&mut Work>) -> Result<Result<Outcome, ToolError>, tokio::task::JoinError> {
    match work {
        Some(work) => (&mut work.result).await,
        None => std::future::pending().await,
    }
}

/// Adds what is known; what no response told stays unknown.
fn sum(a: Usage, b: Usage) -> Usage {
    fn add<T: std::ops::Add<Output = T>>(a: Option<T>, b: Option<T>) -> Option<T> {
        match (a, b) {
            (Some(a), Some(b)) => Some(a + b),
            (known, None) | (None, known) => known,
        }
    }
    Usage {
        input_tokens: add(a.input_tokens, b.input_tokens),
        output_tokens: add(a.output_tokens, b.output_tokens),
        cost: add(a.cost, b.cost),
    }
}
