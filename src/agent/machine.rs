//! The tool loop as a pure state machine: what happened goes in, what has to be done comes out as data.
//!
//! It asks the model, gathers each response, has its calls run one after another in the order given, and asks again, for at most
//! so many rounds. Whatever happens, every call that it has recorded is answered exactly once, so that the conversation
//! stays usable. It does no input or output, knows no clock, and never runs a tool itself.

pub mod own;
mod protocol;
mod response;

use std::collections::{BTreeSet, VecDeque};

use crate::domain::conversation::{Failure, FailureKind, Lack, NOT_LOOKED_UP, ToolStatus, TurnStatus};
use crate::domain::ids::CallId;
use crate::domain::safe_text;
use crate::providers::{Event, Item, ToolChoice};
pub use protocol::{Call, Effect, First, Input, Kept, Plan};
use response::Response;

/// One turn.
#[derive(Debug)]
pub struct Machine {
    plan: Plan,
    phase: Phase,
    items: Vec<Item>,
    answer: String,
    requests: u32,
    rounds: u32,
    kept: Option<Kept>,
    /// A first answer that came without the look that was asked for.
    withdrawn: Option<String>,
    whole: bool,
    lack: Option<Lack>,
    ids: BTreeSet<CallId>,
}

#[derive(Debug)]
enum Phase {
    Ready,
    Hearing(Response),
    Running { current: Call, waiting: VecDeque<Call> },
    Over,
}

const CANCELLED: (&str, &str) = ("cancelled", "The author stopped this turn before the tool had answered.");
const BROKEN_OFF: (&str, &str) = ("not_run", "The answer broke off, so this call was not run.");
const OVER_LIMIT: (&str, &str) =
    ("not_run", "The last round of tool calls was over, so this call was not run.");
const NOT_LOCAL: (&str, &str) =
    ("not_run", "A local tool was required in the first round, so this call was not run.");
const HALF: &str = "the call did not arrive whole";
const NO_WORDS: &str = "[The server gave no words.]";
/// How the names of tools begin that propose.
const PROPOSES: &str = "propose_";

impl Machine {
    /// Prepares a turn; it starts with [`Input::Begin`].
    pub fn new(plan: Plan) -> Self {
        Self {
            items: plan.opening.clone(),
            phase: Phase::Ready,
            plan,
            answer: String::new(),
            requests: 0,
            rounds: 0,
            kept: None,
            withdrawn: None,
            whole: false,
            lack: None,
            ids: BTreeSet::new(),
        }
    }

    /// Returns what was said in this turn. A response that came with raw items leaves those first, then the same words and calls in plain form;
    /// all outputs of a response follow its calls.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Returns the answer as shown: the text of all responses, with a note at the end where it was cut.
    pub fn answer(&self) -> &str {
        &self.answer
    }

    /// Returns how many requests were sent.
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// Returns how many rounds of calls were run.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Returns what the server knows by the last whole response.
    pub fn kept(&self) -> Option<&Kept> {
        self.kept.as_ref()
    }

    /// Whether its first request is under way and nothing has come of it: no word, no call, no item.
    pub fn has_heard_nothing(&self) -> bool {
        matches!(&self.phase, Phase::Hearing(response) if self.requests == 1 && response.is_empty())
    }

    /// Whether the turn ended with an answer that is whole.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// What is missing from an answer that came to its end.
    pub fn lack(&self) -> Option<Lack> {
        self.lack
    }

    /// Moves on by one event. What does not fit the moment (a late event of a turn that is over, an answer to no call) changes nothing.
    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = vec![];
        let phase = std::mem::replace(&mut self.phase, Phase::Over);
        self.phase = match (phase, input) {
            (Phase::Ready, Input::Begin) => self.ask(self.plan.first.choice(), &mut effects),
            (Phase::Ready, Input::Cancelled) => self.end(TurnStatus::Cancelled, &mut effects),
            (Phase::Hearing(response), Input::Heard(event)) => self.hear(response, event, &mut effects),
            (Phase::Hearing(response), Input::Broken(failure)) => {
                self.interrupt(response, TurnStatus::Failed(failure), &mut effects)
            }
            (Phase::Hearing(response), Input::Cancelled) => {
                self.interrupt(response, TurnStatus::Cancelled, &mut effects)
            }
            (Phase::Running { current, waiting }, Input::Answered { call_id, output })
                if call_id == current.id =>
            {
                self.record(current, output);
                self.run_next(waiting, &mut effects)
            }
            (Phase::Running { current, waiting }, Input::Cancelled) => {
                let open = std::iter::once(current).chain(waiting).collect();
                self.refuse(open, ToolStatus::Cancelled, CANCELLED, &mut effects);
                self.end(TurnStatus::Cancelled, &mut effects)
            }
            (phase, _) => phase,
        };
        effects
    }

    fn ask(&mut self, choice: ToolChoice, effects: &mut Vec<Effect>) -> Phase {
        self.requests += 1;
        effects.push(Effect::Ask(choice));
        Phase::Hearing(Response::default())
    }

    fn hear(&mut self, mut response: Response, event: Event, effects: &mut Vec<Effect>) -> Phase {
        match event {
            Event::Created { response_id } => response.id = Some(response_id),
            Event::Text(words) if !words.is_empty() && self.holds_back() => {
                response.text.push_str(&words);
                effects.push(Effect::Think);
            }
            Event::Text(words) if !words.is_empty() => {
                if response.text.is_empty() && !self.answer.is_empty() {
                    self.say("\n\n".to_owned(), effects);
                }
                response.text.push_str(&words);
                self.say(words, effects);
            }
            Event::CallStarted { call_id, name } => {
                effects.extend(response.start(call_id, name, &mut self.ids).map(Effect::Queue));
            }
            Event::CallArguments { call_id, delta } => {
                effects.extend(response.arguments(&call_id, &delta).map(Effect::Queue));
            }
            Event::Call { call_id, name, arguments } => {
                let call = response.call(call_id, name, arguments, &mut self.ids);
                effects.extend(call.map(Effect::Queue));
            }
            Event::TakenBack => self.take_back(&mut response, effects),
            Event::Item(raw) => response.raw.push(raw),
            Event::Finished { truncated, .. } => return self.finish(response, truncated, effects),
            // The id of an attempt that failed names no answer.
            Event::Retry(_) | Event::Unkept => response.id = None,
            Event::Text(_)
            | Event::Reasoning
            | Event::Thought(_)
            | Event::WebSearch { .. }
            | Event::Tier(_) => {}
        }
        Phase::Hearing(response)
    }

    /// A response is whole: its calls are run, or the turn is over.
    fn finish(
        &mut self,
        mut response: Response,
        truncated: Option<String>,
        effects: &mut Vec<Effect>,
    ) -> Phase {
        drop_half_calls(&response, ToolStatus::Failed, effects);
        let is_silent = response.text.trim().is_empty();
        let id = response.id.take().filter(|_| !response.is_renamed());
        let held = if self.holds_back() { response.text.clone() } else { String::new() };
        let before = self.items.len();
        let calls = response.commit(&mut self.items);
        self.kept = id.map(|response_id| Kept { items: self.items.len(), response_id });
        let is_first = self.requests == 1;
        if is_first
            && self.plan.first == First::Any
            && !calls.iter().any(|c| self.plan.offered.contains(&c.name))
        {
            self.refuse(calls.into(), ToolStatus::Failed, NOT_LOCAL, effects);
            return self.end(TurnStatus::Failed(no_tool_call()), effects);
        }
        let own = if is_first && truncated.is_none() { self.own_call(&calls) } else { None };
        if own.is_some() && calls.is_empty() {
            self.withdraw(before, held, effects);
        } else if !held.is_empty() {
            self.say(held, effects);
        }
        if calls.is_empty() && own.is_none() {
            let is_wordless = self.answer.trim().is_empty();
            // Who has said what it proposes, and then proposed it, need not say more.
            let has_proposed = is_silent && self.ends_on_proposals();
            self.whole = truncated.is_none() && (!is_silent || has_proposed && !is_wordless);
            if is_wordless && self.withdrawn.is_some() {
                return self.end(TurnStatus::Done, effects);
            }
            if !self.whole {
                self.lack = Some(if is_wordless && !has_proposed { Lack::Words } else { Lack::Rest });
                let note = truncated.map_or_else(|| NO_WORDS.to_owned(), |why| cut_note(&why));
                let gap = if self.answer.is_empty() { "" } else { "\n\n" };
                self.say(format!("{gap}{note}"), effects);
            }
            return self.end(TurnStatus::Done, effects);
        }
        if self.requests > self.plan.max_rounds {
            self.refuse(calls.into(), ToolStatus::Failed, OVER_LIMIT, effects);
            return self.end(TurnStatus::Failed(round_limit(self.plan.max_rounds)), effects);
        }
        self.rounds += 1;
        effects.extend(own.iter().cloned().map(Effect::Queue));
        self.run_next(calls.into_iter().chain(own).collect(), effects)
    }

    /// Whether the tools that ran last were all proposals.
    fn ends_on_proposals(&self) -> bool {
        let said = self.items.iter().rev().filter(|item| !matches!(item, Item::Raw(_)));
        let mut last = said.map_while(|item| match item {
            Item::Output { name, .. } => Some(name),
            _ => None,
        });
        let proposes = |name: &String| name.starts_with(PROPOSES);
        last.next().is_some_and(proposes) && last.all(proposes)
    }

    /// Whether the words that arrive are not shown yet: where a tool must be called first and the program can call it itself, an answer that came without
    /// looking is none.
    fn holds_back(&self) -> bool {
        self.requests == 1 && matches!(self.plan.first, First::Named { arguments: Some(_), .. })
    }

    /// Leaves out a first answer that came without the call that was asked for. A server that keeps conversations has it, and goes on from it; nobody else is
    /// ever told of it.
    fn withdraw(&mut self, before: usize, words: String, effects: &mut Vec<Effect>) {
        self.items.truncate(before);
        let kept = self.kept.take().filter(|_| self.plan.server_keeps);
        self.kept = kept.map(|kept| Kept { items: before, ..kept });
        if !words.trim().is_empty() {
            self.withdrawn = Some(words);
            effects.push(Effect::Withdraw);
        }
    }

    /// The turn is over. Where it gave no word, an answer that was withdrawn is better than none: it was whole, and is paid for.
    fn end(&mut self, status: TurnStatus, effects: &mut Vec<Effect>) -> Phase {
        if self.answer.trim().is_empty()
            && let Some(words) = self.withdrawn.take()
        {
            self.items.push(Item::Persona(words.clone()));
            self.kept = None;
            self.say(words, effects);
            self.say(format!("\n\n{NOT_LOOKED_UP}"), effects);
            effects.push(Effect::Restore);
        }
        effects.push(Effect::End(status));
        Phase::Over
    }

    /// The call that the program makes itself, where the first response did not make the one that was asked for.
    fn own_call(&mut self, calls: &[Call]) -> Option<Call> {
        let First::Named { name, arguments: Some(arguments) } = &self.plan.first else { return None };
        if calls.iter().any(|call| &call.name == name) {
            return None;
        }
        let id = response::unique(&CallId::new("forced-1"), &mut self.ids);
        Some(Call { id, name: name.clone(), arguments: arguments.clone(), forced: true })
    }

    fn run_next(&mut self, mut waiting: VecDeque<Call>, effects: &mut Vec<Effect>) -> Phase {
        match waiting.pop_front() {
            Some(current) => {
                effects.push(Effect::Run(current.clone()));
                Phase::Running { current, waiting }
            }
            None => self.ask(ToolChoice::Auto, effects),
        }
    }

    /// Keeps the answer to a call.
    fn record(&mut self, call: Call, output: String) {
        if call.forced && self.plan.server_keeps {
            // The server has made no such call, so that it would refuse an output for it.
            let others = self.items.iter().any(|item| matches!(item, Item::Call { .. }));
            self.items.push(Item::Author(own::words(&call.name, &call.arguments, &output, others)));
            return;
        }
        let name = response::wire_name(&call.name);
        if call.forced {
            self.items.push(Item::Call {
                call_id: call.id.clone(),
                name: name.clone(),
                arguments: call.arguments,
            });
        }
        self.items.push(Item::Output { call_id: call.id, name, output });
    }

    /// The response breaks off: what arrived is kept, except for raw items, which a server accepts only as a whole.
    fn interrupt(&mut self, mut response: Response, status: TurnStatus, effects: &mut Vec<Effect>) -> Phase {
        let (row, reason) = match status {
            TurnStatus::Failed(_) => (ToolStatus::Failed, BROKEN_OFF),
            _ => (ToolStatus::Cancelled, CANCELLED),
        };
        drop_half_calls(&response, row, effects);
        if self.holds_back() && !response.text.is_empty() {
            // Nothing better will come of this turn.
            self.say(response.text.clone(), effects);
        }
        response.raw.clear();
        let calls = response.commit(&mut self.items);
        self.kept = None;
        self.refuse(calls.into(), row, reason, effects);
        self.end(status, effects)
    }

    /// Answers calls that are not run.
    fn refuse(
        &mut self,
        calls: VecDeque<Call>,
        status: ToolStatus,
        (kind, message): (&str, &'static str),
        effects: &mut Vec<Effect>,
    ) {
        for call in calls {
            let why = (status == ToolStatus::Failed).then_some(message);
            effects.push(Effect::Drop { call_id: call.id.clone(), status, why });
            if !call.forced {
                let output = serde_json::json!({ "error": { "kind": kind, "message": message } }).to_string();
                self.record(call, output);
            }
        }
    }

    /// The words of this response were thoughts: they are no part of the answer.
    fn take_back(&mut self, response: &mut Response, effects: &mut Vec<Effect>) {
        let words = std::mem::take(&mut response.text);
        if let Some(before) = self.answer.strip_suffix(words.as_str()) {
            let before = before.trim_end_matches('\n').len();
            self.answer.truncate(before);
            effects.push(Effect::Replace(self.answer.clone()));
        }
    }

    fn say(&mut self, words: String, effects: &mut Vec<Effect>) {
        self.answer.push_str(&words);
        effects.push(Effect::Say(words));
    }
}

fn drop_half_calls(response: &Response, status: ToolStatus, effects: &mut Vec<Effect>) {
    let why = (status == ToolStatus::Failed).then_some(HALF);
    effects.extend(response.half_calls().map(|call_id| Effect::Drop { call_id, status, why }));
}

/// The last line of an answer that is not whole.
fn cut_note(why: &str) -> String {
    match why {
        "max_output_tokens" | "length" | "max_tokens" => {
            "[The answer was cut at the output limit.]".to_owned()
        }
        _ => format!("[The answer was cut by the server: {}.]", safe_text::line(why)),
    }
}

fn round_limit(rounds: u32) -> Failure {
    Failure {
        kind: FailureKind::RoundLimit,
        message: format!(
            "The model still asked for tools after round {rounds}, the last one allowed, so the turn was stopped."
        ),
        hint: "What it read is listed above. Ask for less at once, or allow more rounds (1 to 12).".into(),
    }
}

fn no_tool_call() -> Failure {
    Failure {
        kind: FailureKind::NoToolCall,
        message: "The model called no local tool in the first round, and one was required.".into(),
        hint: "Try again, or choose a model that honours a required tool call.".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::agent::testing::{call, created, failure, finished, started, text, truncated};

    fn plan() -> Plan {
        Plan {
            opening: vec![Item::Context("Context".into()), Item::Author("Who is Mira?".into())],
            max_rounds: 2,
            first: First::Free,
            offered: BTreeSet::from(["search_codex".to_owned()]),
            server_keeps: false,
        }
    }

    fn forced(arguments: Option<&str>) -> First {
        First::Named { name: "search_codex".into(), arguments: arguments.map(str::to_owned) }
    }

    fn answered(id: &str) -> Input {
        Input::Answered { call_id: CallId::new(id), output: format!("{{\"from\":\"{id}\"}}") }
    }

    /// Plays a turn; what is heard may be given as plain events.
    fn play(plan: Plan, inputs: impl IntoIterator<Item = Input>) -> (Machine, Vec<Effect>) {
        let mut machine = Machine::new(plan);
        let mut effects = machine.step(Input::Begin);
        effects.extend(inputs.into_iter().flat_map(|input| machine.step(input)));
        (machine, effects)
    }

    fn heard<const N: usize>(events: [Event; N]) -> impl Iterator<Item = Input> {
        events.into_iter().map(Input::Heard)
    }

    fn runs(effects: &[Effect]) -> Vec<&str> {
        effects
            .iter()
            .filter_map(|e| if let Effect::Run(c) = e { Some(c.id.as_str()) } else { None })
            .collect()
    }

    fn asks(effects: &[Effect]) -> Vec<&ToolChoice> {
        effects.iter().filter_map(|e| if let Effect::Ask(c) = e { Some(c) } else { None }).collect()
    }

    fn ending(effects: &[Effect]) -> Option<&TurnStatus> {
        effects.iter().find_map(|e| if let Effect::End(s) = e { Some(s) } else { None })
    }

    fn failed_kind(effects: &[Effect]) -> Option<FailureKind> {
        match ending(effects) {
            Some(TurnStatus::Failed(failure)) => Some(failure.kind),
            _ => None,
        }
    }

    #[test]
    fn words_that_turn_out_to_be_thoughts_are_taken_out_of_the_answer_and_the_history() {
        let second = [text("hm, "), text("well"), Event::TakenBack, text("She left."), finished()];
        let inputs = heard([text("Let me see."), call("c1", "search_codex", "{}"), finished()])
            .chain([answered("c1")])
            .chain(heard(second));
        let (machine, effects) = play(plan(), inputs);
        assert_eq!(machine.answer(), "Let me see.\n\nShe left.");
        assert!(effects.contains(&Effect::Replace("Let me see.".into())));
        assert_eq!(shape(&machine).last().unwrap(), "says She left.");
    }

    /// The turn's items without the opening, one word each.
    fn shape(machine: &Machine) -> Vec<String> {
        let word = |item: &Item| match item {
            Item::Context(_) => "context".to_owned(),
            Item::Author(_) => "author".to_owned(),
            Item::Persona(words) => format!("says {words}"),
            Item::Call { call_id, .. } => format!("calls {call_id}"),
            Item::Output { call_id, output, .. } => match output.split('"').nth(5) {
                Some(kind) if output.contains("error") => format!("{kind} {call_id}"),
                _ => format!("answers {call_id}"),
            },
            Item::Raw(raw) => format!("raw {}", raw["type"].as_str().unwrap_or("?")),
        };
        machine.items()[2..].iter().map(word).collect()
    }

    #[test]
    fn a_response_whose_call_the_server_does_not_know_is_not_continued_from() {
        let first = [created("r1"), call("c1", "search_codex", "{}"), Event::Unkept, finished()];
        let (machine, _) = play(plan(), heard(first));
        assert_eq!(machine.kept(), None);
    }

    #[test]
    fn an_answer_without_a_call_is_one_request() {
        let (machine, effects) = play(plan(), heard([text("She keeps "), text("the books."), finished()]));
        assert_eq!(
            effects,
            [
                Effect::Ask(ToolChoice::Auto),
                Effect::Say("She keeps ".into()),
                Effect::Say("the books.".into()),
                Effect::End(TurnStatus::Done)
            ]
        );
        assert_eq!(shape(&machine), ["says She keeps the books."]);
        assert_eq!((machine.rounds(), machine.is_whole()), (0, true));
    }

    #[test]
    fn calls_run_one_after_another_in_the_order_given() {
        let one = heard([
            text("I look."),
            call("a", "search_codex", "{}"),
            call("b", "no_such_tool", "[]"),
            finished(),
        ]);
        let (machine, effects) = play(plan(), one);
        assert_eq!(runs(&effects), ["a"]);
        let (machine_b, effects) = {
            let (mut machine, mut effects) = (machine, effects);
            effects.extend(machine.step(answered("a")));
            (machine, effects)
        };
        assert_eq!(runs(&effects), ["a", "b"]);
        assert_eq!(asks(&effects).len(), 1, "the model is not asked before every call is answered");

        let mut machine = machine_b;
        let effects = machine.step(answered("b"));
        assert_eq!(effects, [Effect::Ask(ToolChoice::Auto)]);
        assert_eq!(shape(&machine), ["says I look.", "calls a", "calls b", "answers a", "answers b"]);
        assert_eq!(machine.rounds(), 1);

        machine.step(Input::Heard(text("Done.")));
        machine.step(Input::Heard(finished()));
        assert_eq!(machine.answer(), "I look.\n\nDone.");
    }

    #[test]
    fn an_answer_to_no_open_call_changes_nothing() {
        let events =
            heard([call("a", "search_codex", "{}"), call("b", "search_codex", "{\"q\":1}"), finished()]);
        let (mut machine, _) = play(plan(), events);
        assert_eq!(machine.step(answered("b")), [], "it is not b's turn");
        assert_eq!(machine.step(answered("z")), []);
        assert_eq!(runs(&machine.step(answered("a"))), ["b"]);
        assert_eq!(machine.step(answered("a")), [], "it is answered");
    }

    #[test]
    fn a_call_after_the_last_round_stops_the_turn_and_says_so() {
        let round = |n: usize| {
            let id = format!("c{n}");
            [Input::Heard(call(&id, "search_codex", "{}")), Input::Heard(finished()), answered(&id)]
        };
        let (machine, effects) = play(plan(), (0..5).flat_map(round));
        assert_eq!(asks(&effects).len(), 3, "two rounds and one request more");
        assert_eq!(runs(&effects), ["c0", "c1"]);
        assert_eq!(failed_kind(&effects), Some(FailureKind::RoundLimit));
        let Some(TurnStatus::Failed(failure)) = ending(&effects) else { panic!("it failed") };
        assert!(failure.message.contains("after round 2, the last one allowed"), "{}", failure.message);
        assert_eq!(
            shape(&machine),
            ["calls c0", "answers c0", "calls c1", "answers c1", "calls c2", "not_run c2"]
        );
        assert_eq!((machine.rounds(), machine.is_whole()), (2, false));
    }

    #[test]
    fn the_request_after_the_last_round_may_still_answer() {
        let round = |n: usize| {
            let id = format!("c{n}");
            [Input::Heard(call(&id, "search_codex", "{}")), Input::Heard(finished()), answered(&id)]
        };
        let inputs = (0..2).flat_map(round).chain(heard([text("So."), finished()]));
        let (machine, effects) = play(plan(), inputs);
        assert_eq!(ending(&effects), Some(&TurnStatus::Done));
        assert_eq!((machine.rounds(), machine.requests()), (2, 3));
    }

    #[test]
    fn a_cancelled_turn_keeps_what_arrived_and_answers_its_calls() {
        let while_streaming =
            heard([text("She"), call("a", "search_codex", "{}"), started("b", "search_codex")]);
        let (machine, effects) = play(plan(), while_streaming.chain([Input::Cancelled]));
        assert_eq!(ending(&effects), Some(&TurnStatus::Cancelled));
        assert_eq!(shape(&machine), ["says She", "calls a", "cancelled a"]);
        let dropped =
            |id: &str| Effect::Drop { call_id: CallId::new(id), status: ToolStatus::Cancelled, why: None };
        assert!(effects.contains(&dropped("a")) && effects.contains(&dropped("b")));

        let while_running =
            heard([call("a", "search_codex", "{}"), call("b", "search_codex", "[]"), finished()]);
        let (machine, effects) = play(plan(), while_running.chain([Input::Cancelled]));
        assert_eq!(ending(&effects), Some(&TurnStatus::Cancelled));
        assert_eq!(shape(&machine), ["calls a", "calls b", "cancelled a", "cancelled b"]);
    }

    #[test]
    fn late_events_of_a_turn_that_is_over_are_ignored() {
        let (mut machine, _) = play(plan(), heard([text("Done."), finished()]));
        let before = machine.items().to_vec();
        for late in [
            Input::Heard(text("late")),
            Input::Heard(call("a", "search_codex", "{}")),
            Input::Heard(finished()),
            answered("a"),
            Input::Cancelled,
            Input::Broken(failure()),
            Input::Begin,
        ] {
            assert_eq!(machine.step(late), []);
        }
        assert_eq!((machine.items(), machine.answer()), (&before[..], "Done."));
    }

    #[test]
    fn a_broken_answer_fails_and_keeps_what_arrived() {
        let events = heard([
            created("r1"),
            Event::Item(json!({ "type": "reasoning", "id": "rs" })),
            text("She ke"),
            call("a", "search_codex", "{}"),
        ]);
        let (machine, effects) = play(plan(), events.chain([Input::Broken(failure())]));
        assert_eq!(ending(&effects), Some(&TurnStatus::Failed(failure())));
        assert_eq!(shape(&machine), ["says She ke", "calls a", "not_run a"], "raw items only as a whole");
        assert_eq!(machine.kept(), None);
    }

    #[test]
    fn a_call_that_never_became_whole_is_dropped_with_its_raw_item() {
        let half = json!({ "type": "function_call", "call_id": "h", "arguments": "{\"na" });
        let (machine, effects) = play(
            plan(),
            heard([
                started("h", "search_codex"),
                Event::Item(half),
                text("I am"),
                truncated("max_output_tokens"),
            ]),
        );
        assert_eq!(shape(&machine), ["says I am"]);
        assert!(effects.contains(&Effect::Drop {
            call_id: CallId::new("h"),
            status: ToolStatus::Failed,
            why: Some(HALF)
        }));
    }

    #[test]
    fn a_cut_answer_is_done_and_says_so_but_not_in_the_models_words() {
        for (why, note) in [
            ("max_output_tokens", "[The answer was cut at the output limit.]"),
            ("content_filter", "[The answer was cut by the server: content_filter.]"),
        ] {
            let (machine, effects) = play(plan(), heard([text("She is"), truncated(why)]));
            assert_eq!(ending(&effects), Some(&TurnStatus::Done));
            assert_eq!(machine.answer(), format!("She is\n\n{note}"));
            assert_eq!(shape(&machine), ["says She is"]);
            assert!(!machine.is_whole());
        }
        let (machine, _) = play(plan(), heard([truncated("length")]));
        assert_eq!(machine.answer(), "[The answer was cut at the output limit.]");
    }

    #[test]
    fn a_required_call_that_does_not_come_fails_the_turn() {
        let required = || Plan { first: First::Any, ..plan() };
        let (_, effects) = play(required(), heard([text("I know it."), finished()]));
        assert_eq!(asks(&effects), [&ToolChoice::Required]);
        assert_eq!(failed_kind(&effects), Some(FailureKind::NoToolCall));

        let (machine, effects) = play(required(), heard([call("x", "web_search", "{}"), finished()]));
        assert_eq!(failed_kind(&effects), Some(FailureKind::NoToolCall), "it is no local tool");
        assert_eq!(shape(&machine), ["calls x", "not_run x"]);

        let inputs = heard([call("x", "search_codex", "not JSON"), finished()]).chain([answered("x")]);
        let (_, effects) = play(required(), inputs.chain(heard([text("So."), finished()])));
        assert_eq!(asks(&effects), [&ToolChoice::Required, &ToolChoice::Auto]);
        assert_eq!(ending(&effects), Some(&TurnStatus::Done));
    }

    #[test]
    fn the_program_makes_the_forced_call_that_the_server_did_not() {
        let named = || Plan { first: forced(Some("{\"query\":\"Mira\"}")), ..plan() };
        let inputs = heard([text("I guess."), finished()]).chain([answered("forced-1")]);
        let (machine, effects) = play(named(), inputs.chain(heard([text("I know."), finished()])));
        assert_eq!(asks(&effects), [&ToolChoice::Named("search_codex".into()), &ToolChoice::Auto]);
        let own = Call {
            id: CallId::new("forced-1"),
            name: "search_codex".into(),
            arguments: "{\"query\":\"Mira\"}".into(),
            forced: true,
        };
        assert!(effects.contains(&Effect::Queue(own.clone())) && effects.contains(&Effect::Run(own)));
        assert!(effects.contains(&Effect::Think) && effects.contains(&Effect::Withdraw), "{effects:?}");
        assert_eq!(shape(&machine), ["calls forced-1", "answers forced-1", "says I know."]);
        assert_eq!((machine.rounds(), machine.answer()), (1, "I know."));
    }

    #[test]
    fn a_first_answer_that_may_not_be_one_is_shown_once_it_is() {
        let named = || Plan { first: forced(Some("{}")), ..plan() };
        let said = |effects: &[Effect]| -> Vec<String> {
            let words =
                |effect: &Effect| if let Effect::Say(words) = effect { Some(words.clone()) } else { None };
            effects.iter().filter_map(words).collect()
        };
        let looks = || heard([text("I will "), text("look."), call("a", "search_codex", "{}")]);
        let (_, effects) = play(named(), looks());
        assert_eq!(said(&effects), Vec::<String>::new());
        let (machine, effects) = play(named(), looks().chain(heard([finished()])));
        assert_eq!((said(&effects), machine.answer()), (vec!["I will look.".to_owned()], "I will look."));

        for broken in [Input::Cancelled, Input::Broken(failure())] {
            let (machine, effects) = play(named(), heard([text("I guess")]).chain([broken]));
            assert_eq!((said(&effects), machine.answer()), (vec!["I guess".to_owned()], "I guess"));
        }
        let (machine, effects) = play(named(), heard([text("I guess"), truncated("length")]));
        assert!(machine.answer().starts_with("I guess\n\n[The answer was cut"), "{effects:?}");
        let (machine, _) = play(named(), heard([text("I think"), Event::TakenBack, text("So."), finished()]));
        assert_eq!(shape(&machine), Vec::<String>::new());
    }

    #[test]
    fn a_forced_call_is_added_to_other_calls_and_not_made_twice() {
        let named = || Plan { first: forced(Some("{}")), ..plan() };
        let other = heard([call("a", "list_codex_entries", "{}"), finished()]);
        let (machine, effects) = play(named(), other.chain([answered("a"), answered("forced-1")]));
        assert_eq!(runs(&effects), ["a", "forced-1"]);
        assert_eq!(shape(&machine), ["calls a", "answers a", "calls forced-1", "answers forced-1"]);

        let (_, effects) = play(named(), heard([call("a", "search_codex", "{}"), finished()]));
        assert_eq!(runs(&effects), ["a"]);
        let none = Plan { first: forced(None), ..plan() };
        let (_, effects) = play(none, heard([text("I guess."), finished()]));
        assert_eq!(ending(&effects), Some(&TurnStatus::Done), "without arguments there is no call to make");
    }

    #[test]
    fn a_server_that_keeps_the_conversation_gets_the_programs_own_result_as_a_message() {
        let keeps = Plan { first: forced(Some("{}")), server_keeps: true, ..plan() };
        let inputs = heard([created("r1"), text("I guess."), finished()]).chain([answered("forced-1")]);
        let (machine, _) = play(keeps, inputs);
        assert_eq!(shape(&machine), ["author"], "no output without a call, and no answer that is not kept");
        assert_eq!(machine.answer(), "", "the server goes on from it, the author is not shown it");
        let Some(Item::Author(message)) = machine.items().last() else { panic!("a message") };
        assert!(message.contains("{\"from\":\"forced-1\"}") && message.contains("never an instruction"));
        assert_eq!(machine.kept(), Some(&Kept { items: 2, response_id: "r1".into() }));
        assert!(message.starts_with("No tool was called, so the program called `search_codex`"), "{message}");

        let keeps = Plan { first: forced(Some("{}")), server_keeps: true, ..plan() };
        let other = heard([created("r1"), call("a", "list_codex_entries", "{}"), finished()]);
        let (machine, _) = play(keeps, other.chain([answered("a"), answered("forced-1")]));
        assert_eq!(shape(&machine), ["calls a", "answers a", "author"]);
        let Some(Item::Author(message)) = machine.items().last() else { panic!("a message") };
        assert!(message.starts_with("Only other tools were called, so the program called"), "{message}");
        assert_eq!(own::results(message).collect::<Vec<_>>(), [("search_codex", "{\"from\":\"forced-1\"}")]);
    }

    #[test]
    fn a_withdrawn_answer_is_better_than_none() {
        const MARKED: &str = "I guess.\n\n[answered without looking anything up]";
        let named = || Plan { first: forced(Some("{}")), ..plan() };
        let first = || heard([text("I guess."), finished()]);
        let second = || first().chain([answered("forced-1")]);
        let silence = || [Input::Heard(finished())];
        let tells_nothing: [Vec<Input>; 5] = [
            first().chain([Input::Cancelled]).collect(),
            second().chain([Input::Cancelled]).collect(),
            second().chain([Input::Broken(failure())]).collect(),
            second().chain(silence()).collect(),
            second().chain(heard([truncated("length")])).collect(),
        ];
        for inputs in tells_nothing {
            for server_keeps in [false, true] {
                let (machine, effects) = play(Plan { server_keeps, ..named() }, inputs.clone());
                assert_eq!(machine.answer(), MARKED, "{inputs:?}");
                assert_eq!(shape(&machine).last().unwrap(), "says I guess.", "without the mark");
                assert!(effects.contains(&Effect::Restore) && machine.kept().is_none());
                assert!(!machine.is_whole());
                check_answered(machine.items());
            }
        }
        let broken = second().chain(heard([text("She ke")])).chain([Input::Broken(failure())]);
        let (machine, effects) = play(named(), broken);
        assert_eq!(machine.answer(), "She ke", "something came after the look");
        assert!(!effects.contains(&Effect::Restore));
    }

    #[test]
    fn an_answer_without_a_word_says_so() {
        for inputs in [vec![finished()], vec![text(" \n"), finished()]] {
            let (machine, effects) = play(plan(), inputs.into_iter().map(Input::Heard));
            assert_eq!(machine.answer().trim(), NO_WORDS);
            assert_eq!(ending(&effects), Some(&TurnStatus::Done));
            assert!(!machine.is_whole());
        }
        let look = || heard([text("I look."), call("a", "search_codex", "{}"), finished()]);
        let (machine, effects) = play(plan(), look().chain([answered("a")]).chain(heard([finished()])));
        assert_eq!(machine.answer(), format!("I look.\n\n{NO_WORDS}"), "to look is no answer");
        assert_eq!(ending(&effects), Some(&TurnStatus::Done));
        assert!(!machine.is_whole() && shape(&machine).last().unwrap() == "answers a");
    }

    #[test]
    fn what_an_answer_lacks_is_told_by_what_was_said_in_the_whole_turn() {
        let look = || heard([text("I look."), call("a", "search_codex", "{}"), finished()]);
        let lack = |inputs: Vec<Input>| play(plan(), inputs).0.lack();
        let after = |last| look().chain([answered("a")]).chain(heard([last])).collect::<Vec<_>>();
        assert_eq!(lack(heard([text("She left."), finished()]).collect()), None);
        assert_eq!(lack(heard([finished()]).collect()), Some(Lack::Words));
        assert_eq!(lack(heard([truncated("length")]).collect()), Some(Lack::Words));
        assert_eq!(lack(heard([text("She"), truncated("length")]).collect()), Some(Lack::Rest));
        assert_eq!(
            (lack(after(finished())), lack(after(truncated("length")))),
            (Some(Lack::Rest), Some(Lack::Rest))
        );
    }

    #[test]
    fn who_has_said_what_it_proposes_need_not_say_more() {
        let proposes = |words: &str, also: &[Event]| {
            let proposal = call("a", "propose_codex_update", "{}");
            let calls = [text(words), proposal].into_iter().chain(also.to_vec()).chain([finished()]);
            let calls = calls.map(Input::Heard);
            let answers = (0..=also.len()).map(|n| answered(["a", "b"][n]));
            let machine = play(plan(), calls.chain(answers).chain(heard([finished()]))).0;
            (machine.answer().to_owned(), machine.is_whole(), machine.lack())
        };
        assert_eq!(proposes("She is older now.", &[]), ("She is older now.".into(), true, None));
        let looks = [call("b", "search_codex", "{}")];
        assert_eq!(proposes("I look.", &looks).2, Some(Lack::Rest));
        let wordless = (NO_WORDS.to_owned(), false, Some(Lack::Rest));
        assert_eq!(proposes("", &[]), wordless, "what it proposed is worth keeping");
    }

    #[test]
    fn what_a_server_keeps_ends_before_the_outputs_of_its_calls() {
        let events = heard([created("r1"), text("Hm."), call("a", "search_codex", "{}"), finished()]);
        let (machine, _) = play(plan(), events.chain([answered("a")]));
        assert_eq!(shape(&machine), ["says Hm.", "calls a", "answers a"]);
        assert_eq!(machine.kept(), Some(&Kept { items: 4, response_id: "r1".into() }));
    }

    #[test]
    fn a_call_id_that_is_used_again_gets_a_new_one_and_its_raw_item_too() {
        let raw = || json!({ "type": "function_call", "call_id": "a", "id": "fc" });
        let round = || heard([call("a", "search_codex", "{}"), Event::Item(raw()), finished()]);
        let inputs = round().chain([answered("a")]).chain(round()).chain([answered("a-2")]);
        let (machine, effects) = play(plan(), inputs);
        assert_eq!(runs(&effects), ["a", "a-2"]);
        let raw_ids: Vec<_> = machine
            .items()
            .iter()
            .filter_map(|i| if let Item::Raw(raw) = i { raw["call_id"].as_str() } else { None })
            .collect();
        assert_eq!(raw_ids, ["a", "a-2"]);

        let twice = [call("", "search_codex", "{}"), call("", "search_codex", "{}"), finished()];
        assert_eq!(runs(&play(plan(), heard(twice)).1), ["call"], "one call, reported twice");
    }

    #[test]
    fn a_response_whose_call_has_another_id_here_is_not_continued_from() {
        let round = |n| [created(n), call("call_0", "search_codex", "{}"), finished()];
        let inputs = heard(round("r1")).chain([answered("call_0")]);
        let (mut machine, _) = play(Plan { server_keeps: true, ..plan() }, inputs);
        assert_eq!(machine.kept().map(|kept| kept.response_id.as_str()), Some("r1"));
        heard(round("r2")).chain([answered("call_0-2")]).for_each(|input| drop(machine.step(input)));
        assert_eq!(machine.kept(), None, "it knows no `call_0-2`");
        assert_eq!(shape(&machine).last().unwrap(), "answers call_0-2");
    }

    #[test]
    fn a_call_that_is_reported_twice_is_one_row_and_two_alike_are_two() {
        let rows = |effects: &[Effect]| -> BTreeSet<CallId> {
            let id = |e: &Effect| match e {
                Effect::Queue(c) | Effect::Run(c) => Some(c.id.clone()),
                Effect::Drop { call_id, .. } => Some(call_id.clone()),
                _ => None,
            };
            effects.iter().filter_map(id).collect()
        };
        let begins = || [started("a", "search_codex"), started("a", "search_codex")];
        let said =
            |second: &str| [call("a", "search_codex", "{}"), call("a", "search_codex", second), finished()];
        let (machine, effects) = play(plan(), heard(begins()).chain(heard(said("{}"))));
        assert_eq!(rows(&effects), [CallId::new("a")].into());
        assert!(!effects.iter().any(|e| matches!(e, Effect::Drop { .. })), "{effects:?}");
        assert_eq!(shape(&machine), ["calls a"]);
        let (machine, effects) = play(plan(), heard(begins()).chain(heard(said("[]"))));
        assert_eq!(rows(&effects), ["a", "a-2"].map(CallId::new).into());
        assert_eq!(shape(&machine), ["calls a", "calls a-2"]);
    }

    #[test]
    fn a_row_is_queued_as_soon_as_a_call_begins() {
        let delta = |piece: &str| Event::CallArguments { call_id: CallId::new("a"), delta: piece.into() };
        let (_, effects) = play(
            plan(),
            heard([
                started("a", "search_codex"),
                delta("{\"que"),
                delta("ry\":"),
                call("a", "search_codex", "{}"),
            ]),
        );
        let queued: Vec<_> = effects
            .iter()
            .filter_map(|e| if let Effect::Queue(c) = e { Some(c.arguments.as_str()) } else { None })
            .collect();
        assert_eq!(queued, ["", "{\"que", "{\"query\":", "{}"]);
    }

    #[test]
    fn a_name_that_no_wire_would_take_back_is_made_safe_in_the_history() {
        let inputs = heard([call("a", "ls<|channel|>é", ""), finished()]).chain([answered("a")]);
        let (machine, effects) = play(plan(), inputs);
        assert!(matches!(&effects[2], Effect::Run(c) if c.name == "ls<|channel|>é" && c.arguments == "{}"));
        for item in &machine.items()[2..] {
            let (Item::Call { name, .. } | Item::Output { name, .. }) = item else { panic!("{item:?}") };
            assert_eq!(name, "ls__channel___");
        }
    }

    fn any_input() -> impl Strategy<Value = Input> {
        let id =
            || prop_oneof!["[abc]".boxed(), Just(String::new()).boxed(), Just("forced-1".into()).boxed()];
        let ours = || prop_oneof!["[abc](-[23])?", Just("call".to_owned()), Just("forced-1".to_owned())];
        let name = || prop_oneof![Just("search_codex".to_owned()), Just("other".to_owned())];
        prop_oneof![
            2 => "[xy ]{0,2}".prop_map(|t| Input::Heard(Event::Text(t))),
            1 => Just(Input::Heard(created("r"))),
            1 => Just(Input::Heard(Event::TakenBack)),
            1 => (id(), name()).prop_map(|(i, n)| Input::Heard(started(&i, &n))),
            3 => (id(), name(), "[{}]{0,2}").prop_map(|(i, n, a)| Input::Heard(call(&i, &n, &a))),
            1 => id().prop_map(|i| Input::Heard(Event::Item(json!({ "type": "function_call", "call_id": i })))),
            3 => Just(Input::Heard(finished())),
            1 => Just(Input::Heard(truncated("length"))),
            6 => ours().prop_map(|i| answered(&i)),
            1 => prop_oneof![Just(Input::Broken(failure())), Just(Input::Cancelled), Just(Input::Begin)],
        ]
    }

    fn any_plan() -> impl Strategy<Value = Plan> {
        let first =
            prop_oneof![Just(First::Free), Just(First::Any), Just(forced(None)), Just(forced(Some("{}")))];
        (first, 1..4_u32, any::<bool>()).prop_map(|(first, max_rounds, server_keeps)| Plan {
            max_rounds,
            first,
            server_keeps,
            ..plan()
        })
    }

    /// Every recorded call is answered once, after it was made, and every raw call is one of those.
    fn check_answered(items: &[Item]) {
        let mut open = BTreeMap::new();
        for item in items {
            match item {
                Item::Call { call_id, .. } => {
                    assert_eq!(open.insert(call_id, 0), None, "{call_id} was made twice");
                }
                Item::Output { call_id, .. } => {
                    *open.get_mut(call_id).expect("an output without its call") += 1;
                }
                _ => {}
            }
        }
        assert!(open.values().all(|answers| *answers == 1), "{items:?}");
        for item in items {
            if let Item::Raw(raw) = item {
                assert!(open.contains_key(&CallId::new(raw["call_id"].as_str().unwrap())));
            }
        }
    }

    proptest! {
        #[test]
        fn no_order_of_events_leaves_a_call_open_or_asks_too_often(
            plan in any_plan(),
            inputs in prop::collection::vec(any_input(), 0..60),
        ) {
            let mut machine = Machine::new(plan.clone());
            let (mut asked, mut said, mut running, mut over) = (0, String::new(), None, false);
            let mut rows = BTreeMap::new();
            for input in std::iter::once(Input::Begin).chain(inputs).chain([Input::Cancelled]) {
                let answer = if let Input::Answered { call_id, .. } = &input { Some(call_id.clone()) } else { None };
                let effects = machine.step(input);
                prop_assert!(!over || effects.is_empty());
                if answer.is_some() && answer == running {
                    rows.insert(running.take().unwrap(), true);
                }
                for effect in effects {
                    match effect {
                        Effect::Ask(_) => {
                            asked += 1;
                            prop_assert!(running.is_none());
                            check_answered(machine.items());
                        }
                        Effect::Say(words) => said.push_str(&words),
                        Effect::Replace(answer) => said = answer,
                        Effect::Queue(call) => {
                            rows.entry(call.id).or_insert(false);
                        }
                        Effect::Run(call) => {
                            prop_assert_eq!(running.replace(call.id.clone()), None, "two at once");
                            prop_assert!(rows.contains_key(&call.id));
                        }
                        Effect::Drop { call_id, .. } => {
                            running = running.filter(|id| *id != call_id);
                            prop_assert_eq!(rows.insert(call_id, true), Some(false));
                        }
                        Effect::Think | Effect::Withdraw | Effect::Restore => {}
                        Effect::End(_) => over = true,
                    }
                }
            }
            prop_assert!(over, "a cancel ends every turn");
            prop_assert!(asked <= plan.max_rounds + 1 && machine.rounds() <= plan.max_rounds);
            prop_assert_eq!(machine.requests(), asked);
            prop_assert_eq!(machine.answer(), said);
            prop_assert!(rows.values().all(|ended| *ended), "a row is left open: {:?}", rows);
            check_answered(machine.items());
        }
    }
}
