//! State of the chat pane: the conversation, where the author is in it, the input, the captured selection.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use crate::domain::ids::{ProposalId, SessionId, TurnId};
use crate::workbench::{QueuedProposal, Selection};

use super::conversation::{Frame, TurnView};
use super::theme::Theme;
use super::turn_lines::{Stop, What};

/// The chat pane.
pub(super) struct Chat {
    /// Id of the board member that the next question goes to.
    pub(super) persona: String,
    pub(super) session: Option<SessionId>,
    /// Whether the conversation is on disk.
    pub(super) stored: bool,
    /// The earlier conversation that the author chose to go on with.
    pub(super) wanted: Option<SessionId>,
    pub(super) turns: Vec<TurnView>,
    /// Whether a turn says which tier it used.
    pub(super) tiers: bool,
    /// The turn that runs; its events are told apart by it.
    pub(super) running: Option<TurnId>,
    /// A question was sent and its turn has not begun.
    pub(super) sending: bool,
    pub(super) input: ratatui_textarea::TextArea<'static>,
    /// The selection that goes with the next question.
    pub(super) chip: Option<Selection>,
    /// What the chip says, as laid out last.
    pub(super) chip_words: Option<String>,
    /// The text of the chip that was laid out last.
    pub(super) chip_text: Option<Arc<str>>,
    /// First line on screen; `None` follows the end.
    pub(super) top: Option<usize>,
    /// The stop that is walked to: turn and place in its stops.
    pub(super) at: Option<(usize, usize)>,
    /// Lines of every turn, as laid out last.
    pub(super) heights: Vec<usize>,
    /// Rows of the conversation area, as drawn last.
    pub(super) height: usize,
    /// When the last question was sent.
    pub(super) asked_at: Option<Instant>,
    /// The last answer came at once: it is to be read from its start, not from its end.
    pub(super) from_start: bool,
    /// The quote of the last answer that `next-quote` showed last.
    pub(super) quote: Option<(usize, usize, usize)>,
}

impl Chat {
    /// An empty conversation with a board member.
    pub(super) fn new(persona: String) -> Self {
        Self {
            persona,
            session: None,
            stored: false,
            wanted: None,
            turns: vec![],
            tiers: true,
            running: None,
            sending: false,
            input: input(),
            chip: None,
            chip_words: None,
            chip_text: None,
            top: None,
            at: None,
            heights: vec![],
            height: 0,
            asked_at: None,
            from_start: false,
            quote: None,
        }
    }

    /// Whether a turn runs.
    pub(super) fn is_busy(&self) -> bool {
        self.sending || self.running.is_some()
    }

    /// Returns what the author has typed.
    pub(super) fn typed(&self) -> String {
        self.input.lines().join("\n")
    }

    /// Takes what the author has typed, and empties the input.
    pub(super) fn take_typed(&mut self) -> String {
        let text = self.typed();
        self.input = input();
        text
    }

    /// Puts text into the input, in place of what is there.
    pub(super) fn set_typed(&mut self, text: &str) {
        self.input = input();
        self.input.insert_str(text);
    }

    /// Lays every turn out for a width; finished ones are laid out only once.
    pub(super) fn lay_out(
        &mut self,
        (width, height): (u16, u16),
        theme: &Theme,
        (details, spin): (bool, usize),
        proposals: &HashMap<ProposalId, QueuedProposal>,
        review_key: &str,
    ) {
        let tiers = self.tiers;
        let frame =
            Frame { width, theme, details, tiers, spin, proposals, review_key: review_key.to_owned() };
        self.heights.clear();
        for turn in &mut self.turns {
            self.heights.push(turn.lay_out(&frame).lines.len());
        }
        self.height = usize::from(height);
        if let Some(top) = self.top
            && top >= self.last_top()
        {
            self.top = None;
        }
        if std::mem::take(&mut self.from_start) && self.top.is_none() {
            let last = self.heights.last().copied().unwrap_or(0);
            self.top = (last > self.height).then(|| self.total() - last);
        }
    }

    /// Returns the number of lines of the conversation.
    pub(super) fn total(&self) -> usize {
        self.heights.iter().sum()
    }

    /// Returns the first line on screen when the end is shown.
    fn last_top(&self) -> usize {
        self.total().saturating_sub(self.height)
    }

    /// Returns the first line on screen.
    pub(super) fn first_line(&self) -> usize {
        self.top.unwrap_or_else(|| self.last_top()).min(self.last_top())
    }

    /// Returns how many lines are below what is on screen.
    pub(super) fn lines_below(&self) -> usize {
        self.total().saturating_sub(self.first_line() + self.height)
    }

    /// Scrolls by lines; at the end it follows the stream again.
    pub(super) fn scroll(&mut self, lines: isize) {
        let top = self.first_line().saturating_add_signed(lines);
        self.top = (top < self.last_top()).then_some(top);
    }

    /// Walks to the next or the previous stop.
    pub(super) fn walk(&mut self, forward: bool) {
        let all: Vec<(usize, usize)> = self
            .turns
            .iter()
            .enumerate()
            .flat_map(|(t, turn)| (0..turn.laid().map_or(0, |l| l.stops.len())).map(move |s| (t, s)))
            .collect();
        let here = self.at.and_then(|at| all.iter().position(|x| *x == at));
        let next = match (here, forward) {
            (None, _) => all.len().checked_sub(1),
            (Some(i), true) => Some((i + 1).min(all.len() - 1)),
            (Some(i), false) => Some(i.saturating_sub(1)),
        };
        self.at = next.and_then(|i| all.get(i).copied());
        self.reveal();
    }

    /// Walks to the stop at or before a line of the conversation.
    pub(super) fn walk_to_line(&mut self, line: usize) {
        let mut first = 0;
        for (turn, height) in self.heights.iter().enumerate() {
            if line < first + height {
                let stops = self.turns.get(turn).and_then(TurnView::laid).map(|l| l.stops.as_slice());
                let at = stops.unwrap_or_default().iter().rposition(|s| first + s.line <= line);
                self.at = at.map(|stop| (turn, stop));
                return;
            }
            first += height;
        }
    }

    /// Scrolls so that the stop that is walked to is on screen.
    fn reveal(&mut self) {
        let Some((turn, _)) = self.at else { return };
        let Some(stop) = self.stop() else { return };
        let line = self.heights.iter().take(turn).sum::<usize>() + stop.line;
        let first = self.first_line();
        if line < first || line >= first + self.height {
            let top = line.saturating_sub(self.height / 3);
            self.top = (top < self.last_top()).then_some(top);
        }
    }

    /// Returns the stop that is walked to.
    pub(super) fn stop(&self) -> Option<&Stop> {
        let (turn, stop) = self.at?;
        self.turns.get(turn)?.laid()?.stops.get(stop)
    }

    /// Returns the turn and what it is that the author has walked to.
    pub(super) fn walked_to(&self) -> Option<(usize, What)> {
        Some((self.at?.0, self.stop()?.what.clone()))
    }

    /// Returns the turn with this identity.
    pub(super) fn turn_mut(&mut self, id: &TurnId) -> Option<&mut TurnView> {
        self.turns.iter_mut().rev().find(|t| t.id.as_ref() == Some(id))
    }
}

/// An empty input.
fn input() -> ratatui_textarea::TextArea<'static> {
    let mut input = ratatui_textarea::TextArea::default();
    input.set_wrap_mode(ratatui_textarea::WrapMode::WordOrGlyph);
    input.set_cursor_line_style(ratatui::style::Style::default());
    // The terminal's own cursor is used, so that input methods compose in the right place.
    input.set_cursor_style(ratatui::style::Style::default());
    input.set_max_histories(200);
    input
}
