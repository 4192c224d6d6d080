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
use super::{FirstRound, TurnSetup, context, request, too_long};
use crate::domain::conversation::{Failure, ToolStatus, Turn, TurnStatus, Usage};
use crate::domain::passage::sha256_hex;
use crate::domain::safe_text;
use crate::proposal::Proposal;
use crate::providers::{Event, Receipts, ToolChoice, leave_out};
use crate::tools::{Material, Outcome, Seen, ToolError};
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
    /// What requests have used that is not in `usage` yet.
    receipts: Receipts,
    tier: Option<String>,
    response_id: Option<String>,
    asked_at: String,
    /// Why the next request must not be sent.
    refused: Option<Failure>,
    /// How many of the oldest turns the last request had to leave out.
    left_out: usize,
    /// The first round is asked for once more, and was told.
    begins_anew: bool,
    /// What the author was told of how the turn goes.
    notices: Vec<String>,
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
            receipts: Receipts::default(),
            tier: None,
            response_id: None,
            asked_at: format!("{:.3}", jiff::Timestamp::now()),
            refused: None,
            left_out: 0,
            begins_anew: false,
            notices: vec![],
        }
    }

    async fn run(mut self) {
        self.tell_notices();
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
            Effect::Replace(answer) => self.tell(TurnEventKind::Answer(answer)),
            Effect::Think => self.tell(TurnEventKind::Reasoning),
            Effect::Withdraw => {
                let words = withdrawn(&self.setup.model);
                self.notice(words);
            }
            Effect::Restore => {
                let (old, model) = (withdrawn(&self.setup.model), safe_text::line(&self.setup.model));
                let new = format!(
                    "{model} answered without looking anything up, and no second answer came: that first answer stands."
                );
                self.correct(Some(&old), new);
            }
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
        if !std::mem::take(&mut self.begins_anew) {
            self.tell(TurnEventKind::Round { round: self.machine.requests().min(of), of });
        }
        self.drop_oldest();
        let kept = self.machine.kept();
        let request = request::request(&self.setup, self.machine.items(), kept, choice);
        let body = || self.setup.provider.body(&request);
        if let Err(failure) = self.setup.purse.allow(&request, &body) {
            self.refused = Some(failure);
        } else if !self.cancel.is_cancelled() {
            let witness = Arc::new(self.receipts.of(self.setup.witness.clone()));
            self.stream = Some(Stream::open(self.setup.provider.clone(), request, witness));
        }
    }

    /// Leaves out what the last request was too long with: the next one would be too long with it again.
    fn drop_oldest(&mut self) {
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            let setup = Arc::make_mut(&mut self.setup);
            leave_out(&mut setup.history, left_out);
            setup.continue_from = None;
            let told = too_long(setup.left_out, &setup.model);
            setup.notices.retain(|notice| Some(notice) != told.as_ref());
            setup.left_out += left_out;
            if let Some(words) = too_long(setup.left_out, &setup.model) {
                self.correct(told.as_deref(), words);
            }
        }
    }

    /// The server has just refused tools: the same question is put together again without them, and begins anew. Only while nothing of an answer has come and
    /// no tool has run, and not where the question is whether tools work.
    fn begin_without_tools(&mut self) -> bool {
        let is_new = self.machine.has_heard_nothing() && self.rows.is_empty();
        let refused = !self.plan.offered.is_empty() && !self.setup.provider.tools();
        if !is_new || !refused || self.setup.first_round == FirstRound::Required {
            return false;
        }
        self.drop_oldest();
        Arc::make_mut(&mut self.setup).give_up_tools();
        self.plan = request::plan(&self.setup);
        self.machine = Machine::new(self.plan.clone());
        (self.response_id, self.begins_anew) = (None, true);
        self.tell_notices();
        true
    }

    /// Tells what the setup has to tell and was not told yet.
    fn tell_notices(&mut self) {
        let setup = Arc::clone(&self.setup);
        for notice in
            setup.notices.iter().filter(|notice| !self.notices.contains(notice)).cloned().collect::<Vec<_>>()
        {
            self.notice(notice);
        }
    }

    fn notice(&mut self, words: String) {
        self.tell(TurnEventKind::Notice(words.clone()));
        self.notices.push(words);
    }

    /// Tells something in place of what was told before.
    fn correct(&mut self, old: Option<&str>, new: String) {
        self.tell(TurnEventKind::Notice(new.clone()));
        match self.notices.iter_mut().find(|notice| Some(notice.as_str()) == old) {
            Some(notice) => *notice = new,
            None => self.notices.push(new),
        }
    }

    fn run_tool(&mut self, call: Call) {
        let row = self.rows.run(&call);
        self.tell(TurnEventKind::Tool(row));
        let (setup, seen) = (self.setup.clone(), self.seen.clone());
        let (name, arguments) = (call.name.clone(), call.arguments.clone());
        let result = tokio::task::spawn_blocking(move || {
            let desk = setup.desk(&seen);
            setup.registry.run(&desk, &name, &arguments)
        });
        self.work = Some(Work { call, started: Instant::now(), result });
    }

    /// Waits for the next thing to happen. A cancel comes before everything else.
    async fn wait(&mut self) -> Vec<Input> {
        if let Some(failure) = self.refused.take() {
            return vec![Input::Broken(failure)];
        }
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
                if matches!(input, Input::Broken(_)) && self.begin_without_tools() {
                    return vec![Input::Begin];
                }
                vec![input]
            }
            Some(Err(result)) => self.work.take().map(|work| self.settle(work, result)).into_iter().collect(),
        }
    }

    /// Takes what a provider still says in its time of grace: words and tokens, but nothing that would start something new.
    async fn wind_down(&mut self) -> Vec<Input> {
        self.work = None;
        // A tool that asks a server can't be stopped, only kept from asking again.
        self.setup.witness.close();
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
        self.add_up();
        inputs.push(Input::Cancelled);
        inputs
    }

    /// Tells what requests have used that ended by now.
    fn add_up(&mut self) {
        if let Some(used) = self.receipts.take() {
            self.usage = self.usage + used;
            self.tell(TurnEventKind::Usage(self.usage));
        }
    }

    /// Passes on what concerns the front end alone.
    fn note(&mut self, input: &Input) {
        if matches!(input, Input::Broken(_)) {
            self.add_up();
        }
        let Input::Heard(event) = input else { return };
        match event {
            Event::Created { response_id } => self.response_id = Some(response_id.clone()),
            Event::Reasoning => self.tell(TurnEventKind::Reasoning),
            Event::Retry(retry) => {
                self.response_id = None;
                self.left_out = retry.left_out;
                self.tell(TurnEventKind::Retry(retry.clone()));
            }
            Event::WebSearch { query } => {
                let row = self.rows.web(query);
                self.tell(TurnEventKind::Tool(row));
            }
            Event::Tier(tier) => {
                self.tier = Some(tier.clone());
                self.tell(TurnEventKind::Tier(tier.clone()));
            }
            Event::Finished { .. } => self.add_up(),
            Event::Text(_)
            | Event::Thought(_)
            | Event::TakenBack
            | Event::CallStarted { .. }
            | Event::CallArguments { .. }
            | Event::Call { .. }
            | Event::Item(_)
            | Event::Unkept => {}
        }
    }

    /// A tool has answered, has refused, or has crashed.
    fn settle(
        &mut self,
        work: Work,
        result: Result<Result<Outcome, ToolError>, tokio::task::JoinError>,
    ) -> Input {
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
        self.drop_oldest();
        self.setup.witness.close();
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
            read_to: self.setup.read_to.clone(),
            replaces: None,
            notices: self.notices,
            tools: self.rows.into_records(),
            answer: self.machine.answer().to_owned(),
            lacks: self.machine.lack(),
            quotes: vec![],
            proposals: self.proposals.iter().map(|p| p.id.clone()).collect(),
            status,
            rounds: self.machine.rounds(),
            tier: self.tier,
            tier_asked: setup.options.service_tier.clone(),
            usage: self.usage,
            response_id: kept.map(|kept| kept.response_id.clone()),
        };
        Ended {
            turn,
            items: self.machine.items().to_vec(),
            material: self.material,
            left_out: setup.left_out,
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

/// What is told once a first answer is left out.
fn withdrawn(model: &str) -> String {
    let model = safe_text::line(model);
    format!(
        "{model} answered without looking anything up, so the program looks for itself and asks again. That first answer is not kept."
    )
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

#[cfg(test)]
mod tests;
