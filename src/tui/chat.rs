//! State of the chat pane: the conversation, where the author is in it, the input, the captured selection.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

use crate::domain::conversation::Usage;
use crate::domain::ids::{ProposalId, SessionId, TurnId};
use crate::workbench::{QueuedProposal, Selection};

use super::conversation::{Frame, Keys, TurnView};
use super::theme::Theme;
use super::turn_lines::{Stop, What};

/// Bytes of turns out of sight that are laid out in one frame.
const SHARE: usize = 16 * 1024;

/// The chat pane.
#[expect(clippy::struct_excessive_bools, reason = "each says something else of the conversation")]
pub(super) struct Chat {
    /// Id of the board member that the next question goes to.
    pub(super) persona: String,
    pub(super) session: Option<SessionId>,
    /// Whether the conversation is on disk.
    pub(super) stored: bool,
    /// The earlier conversation that the author chose to go on with, and the message in it that she wants to see.
    pub(super) wanted: Option<(SessionId, Option<TurnId>)>,
    /// The last question is being edited: sending takes its place.
    pub(super) editing: bool,
    /// What the running turn takes the place of, until it has an answer.
    pub(super) aside: Vec<TurnView>,
    pub(super) turns: Vec<TurnView>,
    /// What was used in this conversation, also by turns that are not on the screen any more.
    pub(super) used: Usage,
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
    /// Lines of every turn, as laid out last, or as guessed.
    pub(super) heights: Vec<usize>,
    /// Turns whose lines are guessed.
    guessed: BTreeSet<usize>,
    /// The turn to scroll to.
    pub(super) show: Option<TurnId>,
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
            editing: false,
            aside: vec![],
            turns: vec![],
            used: Usage::default(),
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
            guessed: BTreeSet::new(),
            show: None,
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

    /// Lays out what is on screen and around it; finished turns only once. Of the rest a little is laid out in every frame, and what is not
    /// yet counts with a guess: a frame costs the same in a conversation of any length. What the author looks at stays where it is.
    pub(super) fn lay_out(
        &mut self,
        (width, height): (u16, u16),
        theme: &Theme,
        (details, spin): (bool, usize),
        proposals: &HashMap<ProposalId, QueuedProposal>,
        keys: &Keys,
    ) {
        let tiers = self.tiers;
        let frame = Frame { width, theme, details, tiers, spin, proposals, keys };
        let shown =
            self.show.take().and_then(|id| self.turns.iter().position(|t| t.id.as_ref() == Some(&id)));
        if let Some(turn) = shown {
            self.at = Some((turn, 0));
        }
        let anchor = shown.map(|turn| (turn, 0)).or_else(|| self.top.map(|top| self.place_of(top)));
        self.height = usize::from(height);
        self.measure(&frame);
        self.lay_out_around(anchor, &frame);
        self.lay_out_some(&frame);
        if let Some((turn, line)) = anchor {
            let known = self.heights.get(turn).copied().unwrap_or(0);
            self.top = Some(self.start_of(turn) + line.min(known.saturating_sub(1)));
        }
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

    /// Counts the lines of every turn, and notes which of them are a guess.
    fn measure(&mut self, frame: &Frame<'_>) {
        self.heights.clear();
        self.guessed.clear();
        for (index, turn) in self.turns.iter_mut().enumerate() {
            let height =
                if turn.state.is_live() { Some(turn.lay_out(frame).lines.len()) } else { turn.height(frame) };
            if height.is_none() {
                self.guessed.insert(index);
            }
            self.heights.push(height.unwrap_or_else(|| turn.guess(frame.width)));
        }
    }

    /// Lays out what is on screen, and two screens before and after it, so that a page is turned by what is known.
    fn lay_out_around(&mut self, anchor: Option<(usize, usize)>, frame: &Frame<'_>) {
        let margin = self.height * 2;
        let (first, mut down) = match anchor {
            Some((turn, line)) => (turn, line + self.height + margin),
            None => (self.turns.len(), 0),
        };
        for turn in first..self.turns.len() {
            if down == 0 {
                break;
            }
            down = down.saturating_sub(self.lay_out_turn(turn, frame));
        }
        // What was asked for beyond the end stands before it.
        let mut up = margin + if anchor.is_some() { down.min(self.height) } else { self.height };
        for turn in (0..first).rev() {
            if up == 0 {
                break;
            }
            up = up.saturating_sub(self.lay_out_turn(turn, frame));
        }
    }

    /// Lays out a part of what is left, the latest first.
    fn lay_out_some(&mut self, frame: &Frame<'_>) {
        let mut room = SHARE;
        while room > 0
            && let Some(turn) = self.guessed.last().copied()
        {
            room = room.saturating_sub(self.turns.get(turn).map_or(0, TurnView::weight).max(1));
            self.lay_out_turn(turn, frame);
        }
    }

    fn lay_out_turn(&mut self, index: usize, frame: &Frame<'_>) -> usize {
        if self.guessed.remove(&index)
            && let (Some(turn), Some(height)) = (self.turns.get_mut(index), self.heights.get_mut(index))
        {
            *height = turn.lay_out(frame).lines.len();
        }
        self.heights.get(index).copied().unwrap_or(0)
    }

    /// Whether a part of the conversation is not laid out yet.
    pub(super) fn is_settling(&self) -> bool {
        !self.guessed.is_empty()
    }

    /// Returns the turn that holds a line of the conversation, and the line in it.
    pub(super) fn place_of(&self, line: usize) -> (usize, usize) {
        let mut first = 0;
        for (turn, height) in self.heights.iter().enumerate() {
            if line < first + height {
                return (turn, line - first);
            }
            first += height;
        }
        (self.heights.len().saturating_sub(1), 0)
    }

    /// Returns the line on which a turn begins.
    fn start_of(&self, turn: usize) -> usize {
        self.heights.iter().take(turn).sum()
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

    /// Puts a turn in before another one. What the author looks at and has walked to stays.
    pub(super) fn put_in(&mut self, place: usize, turn: TurnView) {
        let place = place.min(self.turns.len());
        self.turns.insert(place, turn);
        if place <= self.heights.len() {
            self.heights.insert(place, 0);
        }
        self.shift(|turn| Some(if turn < place { turn } else { turn + 1 }));
    }

    /// Takes a turn out. What the author looks at and has walked to stays, unless it is this.
    pub(super) fn take_out(&mut self, place: usize) {
        let begin = self.start_of(place);
        if place < self.turns.len() {
            self.turns.remove(place);
        }
        if place < self.heights.len() {
            let height = self.heights.remove(place);
            self.top =
                self.top.map(|top| if top < begin { top } else { top.saturating_sub(height).max(begin) });
        }
        self.shift(|turn| match turn.cmp(&place) {
            Ordering::Less => Some(turn),
            Ordering::Equal => None,
            Ordering::Greater => Some(turn - 1),
        });
    }

    /// Gives turns that are pointed to their new places.
    fn shift(&mut self, new: impl Fn(usize) -> Option<usize>) {
        self.at = self.at.and_then(|(turn, stop)| Some((new(turn)?, stop)));
        self.quote = self.quote.and_then(|(turn, quote, place)| Some((new(turn)?, quote, place)));
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
