//! The conversation as it stands on screen: turns, their rows, cards and quotes, each laid out once for a width.

use std::collections::HashMap;
use std::time::Instant;

use ratatui::text::Line;

use crate::agent::event::TurnEventKind;
use crate::agent::grounding::{Grounded, hide_markers};
use crate::domain::conversation::{
    Failure, Lack, SelectionMeta, ToolRecord, ToolStatus, TurnStatus, Usage, Worth,
};
use crate::domain::ids::{ProposalId, TurnId};
use crate::proposal::Status;
use crate::workbench::{Finished, QueuedProposal};

use super::theme::Theme;
use super::turn_lines::{self, Laid};
use super::widgets::markdown::Streaming;

/// One turn on screen.
pub(super) struct TurnView {
    /// Identity; `None` until the turn has begun.
    pub(super) id: Option<TurnId>,
    /// The turn that it takes the place of.
    pub(super) replaces: Option<TurnId>,
    pub(super) persona: String,
    pub(super) question: String,
    pub(super) selection: Option<SelectionMeta>,
    /// What the author should know of how it went.
    pub(super) notices: Vec<String>,
    pub(super) tools: Vec<ToolRecord>,
    /// The answer as it streams in, with markers.
    pub(super) raw: String,
    /// What is missing from it, once the turn is done.
    lacks: Option<Lack>,
    /// The answer with checked quotes, once the turn is over.
    pub(super) grounded: Option<Grounded>,
    /// Its quotes are still to be checked against the book.
    pub(super) unchecked: bool,
    pub(super) proposals: Vec<ProposalId>,
    pub(super) state: State,
    pub(super) round: (u32, u32),
    pub(super) provider: String,
    pub(super) model: String,
    pub(super) tier: Option<String>,
    pub(super) tier_asked: Option<String>,
    pub(super) usage: Usage,
    /// Why it is asked again, while nothing has come of that yet.
    pub(super) retry: Option<String>,
    /// When it is asked again.
    pub(super) asks_again: Option<Instant>,
    /// Rows whose details are open.
    pub(super) open_rows: Vec<usize>,
    streaming: Streaming,
    cache: Option<(Key, Laid)>,
    /// Whether something that the turn shows has changed since it was laid out.
    touched: bool,
}

/// How far a turn is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// Sent; nothing has come back yet.
    Waiting,
    /// The model thinks.
    Thinking,
    /// The answer arrives.
    Answering,
    /// A tool runs.
    Reading,
    /// Over, and not yet kept.
    Ending,
    Done,
    Cancelled,
    /// The program was killed in the middle of it.
    Killed,
    Failed(Failure),
}

impl State {
    /// Whether the turn still moves.
    pub(super) fn is_live(&self) -> bool {
        !matches!(self, Self::Done | Self::Cancelled | Self::Killed | Self::Failed(_))
    }
}

/// What a laid-out turn depends on, beside its own words. It is laid out again only when one of these changes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    width: u16,
    theme: String,
    details: bool,
    tiers: bool,
    /// Turn of the spinner, where there is one.
    spin: Option<usize>,
    proposals: Vec<Status>,
    open_rows: Vec<usize>,
}

impl Key {
    fn of(turn: &TurnView, frame: &Frame<'_>) -> Self {
        Self {
            width: frame.width,
            theme: frame.theme.name().to_owned(),
            details: frame.details,
            tiers: frame.tiers,
            spin: turn.state.is_live().then_some(frame.spin),
            proposals: turn.proposals.iter().map(|id| frame.status_of(id)).collect(),
            open_rows: turn.open_rows.clone(),
        }
    }

    /// Whether it is still true. Asked for every turn of every frame, so nothing is made for the answer.
    fn fits(&self, turn: &TurnView, frame: &Frame<'_>) -> bool {
        self.has_looks_of(frame)
            && (self.details, self.tiers) == (frame.details, frame.tiers)
            && self.spin == turn.state.is_live().then_some(frame.spin)
            && self.open_rows == turn.open_rows
            && self.proposals.iter().copied().eq(turn.proposals.iter().map(|id| frame.status_of(id)))
    }

    /// Whether a row of text would look the same.
    fn has_looks_of(&self, frame: &Frame<'_>) -> bool {
        self.width == frame.width && self.theme == frame.theme.name()
    }
}

impl TurnView {
    /// A question that was just sent.
    pub(super) fn asked(persona: String, question: String, selection: Option<SelectionMeta>) -> Self {
        Self {
            id: None,
            replaces: None,
            persona,
            question,
            selection,
            notices: vec![],
            tools: vec![],
            raw: String::new(),
            lacks: None,
            grounded: None,
            unchecked: false,
            proposals: vec![],
            state: State::Waiting,
            round: (1, 0),
            provider: String::new(),
            model: String::new(),
            tier: None,
            tier_asked: None,
            usage: Usage::default(),
            retry: None,
            asks_again: None,
            open_rows: vec![],
            streaming: Streaming::default(),
            cache: None,
            touched: false,
        }
    }

    /// A turn that is over.
    pub(super) fn kept(finished: Finished) -> Self {
        let turn = &finished.turn;
        let mut view = Self::asked(turn.persona.clone(), turn.question.clone(), turn.selection.clone());
        view.finish(finished);
        view
    }

    /// Takes its quotes, checked against the book.
    pub(super) fn check(&mut self, grounded: Grounded) {
        self.grounded = Some(grounded);
        self.touched = true;
    }

    /// Takes over what was kept of a turn that is over.
    pub(super) fn finish(&mut self, finished: Finished) {
        let turn = finished.turn;
        self.id = Some(turn.id);
        self.replaces = turn.replaces;
        self.notices = turn.notices;
        self.tools = turn.tools;
        self.raw = turn.answer;
        self.lacks = turn.lacks;
        self.grounded = Some(finished.grounded);
        self.proposals = turn.proposals;
        self.provider = turn.provider;
        self.model = turn.model;
        self.tier = turn.tier;
        self.tier_asked = turn.tier_asked;
        self.usage = turn.usage;
        (self.retry, self.asks_again) = (None, None);
        self.state = match turn.status {
            TurnStatus::Done => State::Done,
            TurnStatus::Cancelled => State::Cancelled,
            TurnStatus::Running => State::Killed,
            TurnStatus::Failed(failure) => State::Failed(failure),
        };
        self.streaming = Streaming::default();
        self.cache = None;
    }

    /// What came of it.
    pub(super) fn worth(&self) -> Worth {
        match self.state {
            State::Done => Worth::of_done(self.lacks),
            State::Cancelled => Worth::of_stopped(&self.raw),
            _ => Worth::Nothing,
        }
    }

    /// Whether anything of the answer is there: words, a lookup, a proposal.
    pub(super) fn has_arrived(&self) -> bool {
        !self.raw.trim().is_empty() || !self.tools.is_empty() || !self.proposals.is_empty()
    }

    /// Takes one event of the running turn.
    pub(super) fn event(&mut self, kind: TurnEventKind) {
        self.touched = true;
        self.retry = None;
        match kind {
            TurnEventKind::Round { round, of } => {
                self.round = (round, of);
                self.state = State::Waiting;
            }
            TurnEventKind::Text(delta) => {
                self.raw.push_str(&delta);
                self.state = State::Answering;
            }
            TurnEventKind::Answer(answer) => {
                self.raw = answer;
                self.state = State::Thinking;
            }
            TurnEventKind::Reasoning => self.state = State::Thinking,
            TurnEventKind::Tool(record) => {
                if matches!(record.status, ToolStatus::Queued | ToolStatus::Running) {
                    self.state = State::Reading;
                }
                match self.tools.iter_mut().find(|t| t.call_id == record.call_id) {
                    Some(row) => *row = record,
                    None => self.tools.push(record),
                }
            }
            TurnEventKind::Proposed(proposal) => self.proposals.push(proposal.id.clone()),
            TurnEventKind::Tier(tier) => self.tier = Some(tier),
            TurnEventKind::Notice(words) => self.notices.push(words),
            TurnEventKind::Usage(usage) => self.usage = usage,
            TurnEventKind::Retry(retry) => {
                self.retry = Some(retry.why);
                self.state = State::Waiting;
            }
            TurnEventKind::Ended(ended) => {
                self.state = State::Ending;
                self.raw = ended.turn.answer;
            }
        }
    }

    /// Returns the number of its lines, if it is laid out for this width, theme and state.
    pub(super) fn height(&self, frame: &Frame<'_>) -> Option<usize> {
        let (key, laid) = self.cache.as_ref()?;
        (!self.touched && key.fits(self, frame)).then_some(laid.lines.len())
    }

    /// Returns about how many lines it will have: as many as it had, else by its length.
    pub(super) fn guess(&self, width: u16) -> usize {
        let by_length = || 5 + self.tools.len() * 2 + self.weight() / usize::from(width.max(8)) * 5 / 4;
        self.laid().map_or_else(by_length, |laid| laid.lines.len())
    }

    /// Returns the bytes of question and answer.
    pub(super) fn weight(&self) -> usize {
        self.question.len() + self.raw.len()
    }

    /// Lays the turn out, unless it is already laid out for this width, theme and state.
    pub(super) fn lay_out(&mut self, frame: &Frame<'_>) -> &Laid {
        let fits = !self.touched && self.cache.as_ref().is_some_and(|(key, _)| key.fits(self, frame));
        if !fits {
            let before = self.cache.take();
            let answer = if self.grounded.is_none() { self.streamed(frame, before) } else { vec![] };
            let laid = turn_lines::lay_out(self, frame, answer);
            self.cache = Some((Key::of(self, frame), laid));
            self.touched = false;
        }
        self.cache.as_ref().map_or(&EMPTY, |(_, laid)| laid)
    }

    /// The rows of an answer that still arrives. Those that can't change any more are moved over from the layout `before`: a delta costs
    /// what the last block costs, however long the answer is.
    fn streamed(&mut self, frame: &Frame<'_>, before: Option<(Key, Laid)>) -> Vec<Line<'static>> {
        let settled = self.streaming.settled();
        let goes_on = self.streaming.set(&hide_markers(&self.raw));
        let mut rows = match before {
            Some((key, mut laid)) if goes_on && key.has_looks_of(frame) => {
                let end = (laid.answer + settled).min(laid.lines.len());
                laid.lines.drain(laid.answer..end).collect()
            }
            _ => vec![],
        };
        let all = self.streaming.lines(frame.width.saturating_sub(2), frame.theme);
        rows.extend(all.iter().skip(rows.len()).cloned().map(turn_lines::indented));
        rows
    }

    /// Returns the layout made last.
    pub(super) fn laid(&self) -> Option<&Laid> {
        self.cache.as_ref().map(|(_, laid)| laid)
    }

    /// Forgets the layout, because something that it shows has changed.
    pub(super) fn touch(&mut self) {
        self.touched = true;
    }
}

/// What stands for a turn that was never laid out.
static EMPTY: Laid = Laid::EMPTY;

/// The keys that a turn names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Keys {
    /// Opens the next proposal.
    pub(super) review: String,
    /// Asks the offline reader.
    pub(super) offline: String,
}

/// What laying turns out needs to know.
pub(super) struct Frame<'a> {
    pub(super) width: u16,
    pub(super) theme: &'a Theme,
    /// Whether tool rows are shown one by one.
    pub(super) details: bool,
    /// Whether a turn says which tier it used.
    pub(super) tiers: bool,
    /// Turn of the spinner.
    pub(super) spin: usize,
    pub(super) proposals: &'a HashMap<ProposalId, QueuedProposal>,
    /// Keys, as the keymap has them, for cards and for what can be done about a failure.
    pub(super) keys: &'a Keys,
}

impl Frame<'_> {
    pub(super) fn status_of(&self, id: &ProposalId) -> Status {
        self.proposals.get(id).map_or(Status::Pending, |p| p.status)
    }
}
