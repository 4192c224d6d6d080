//! What was done to a text, and how to take it back.
//!
//! A step is what the author thinks of as one act: a typed word, a run of deletions within a word, a paste, a replacement.
//! A step holds all that was removed, line ends included, so undoing every step gives back the very bytes.

use super::line_ends::OddEnds;

/// Text with the line ends that are not the usual ones.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) odd_ends: OddEnds,
}

impl Piece {
    fn line_feeds(&self) -> usize {
        self.text.bytes().filter(|b| *b == b'\n').count()
    }

    fn append(&mut self, after: Self) {
        let lines = self.line_feeds();
        self.odd_ends.extend(after.odd_ends.into_iter().map(|(line, end)| (line + lines, end)));
        self.text.push_str(&after.text);
    }
}

impl From<&str> for Piece {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), odd_ends: vec![] }
    }
}

/// One place that changed.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) at: usize,
    pub(super) removed: Piece,
    pub(super) inserted: Piece,
}

/// Where the author was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Caret {
    /// The insertion point.
    pub(super) cursor: usize,
    /// The other end of the selection.
    pub(super) anchor: Option<usize>,
    /// Whether motions extend the selection without being told.
    pub(super) marking: bool,
}

/// What kind of act a change is; only the small ones grow together into one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Typed text.
    Typing,
    /// Deletion towards the start.
    DeleteBack,
    /// Deletion towards the end.
    DeleteForward,
    /// A step of its own.
    Whole,
}

/// What is undone at once.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) changes: Vec<Change>,
    pub(super) before: Caret,
    pub(super) after: Caret,
    act: Act,
}

/// A save that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Saving {
    /// None is.
    Not,
    /// The text with this number of done steps is being saved.
    State(usize),
    /// What is being saved can no longer be reached by undoing or redoing.
    Unreachable,
}

/// The steps that can be undone and redone.
#[derive(Debug)]
pub(super) struct History {
    done: Vec<Step>,
    undone: Vec<Step>,
    /// Number of done steps when the text was saved, while that state can still be reached.
    saved: Option<usize>,
    /// The save that is under way.
    saving: Saving,
    /// Whether the last step may still grow.
    open: bool,
}

impl History {
    /// A saved text without a past.
    pub(super) fn new() -> Self {
        Self { done: vec![], undone: vec![], saved: Some(0), saving: Saving::Not, open: false }
    }

    /// Whether the text differs from the saved one.
    pub(super) fn is_modified(&self) -> bool {
        self.saved != Some(self.done.len())
    }

    /// Remembers this state as the saved one.
    pub(super) fn mark_saved(&mut self) {
        self.saved = Some(self.done.len());
        self.seal();
    }

    /// Remembers this state as the one that is being saved.
    pub(super) fn begin_save(&mut self) {
        self.saving = Saving::State(self.done.len());
        self.seal();
    }

    /// The save that was begun has ended, well or not.
    pub(super) fn end_save(&mut self, well: bool) {
        match std::mem::replace(&mut self.saving, Saving::Not) {
            Saving::State(state) if well => self.saved = Some(state),
            Saving::Unreachable if well => self.saved = None,
            _ => {}
        }
    }

    /// Ends the last step: the next change starts a new one.
    pub(super) fn seal(&mut self) {
        self.open = false;
    }

    /// Records what was just done.
    pub(super) fn record(&mut self, changes: Vec<Change>, act: Act, before: Caret, after: Caret) {
        self.undone.clear();
        if self.saved.is_some_and(|saved| saved > self.done.len()) {
            self.saved = None;
        }
        if matches!(self.saving, Saving::State(state) if state > self.done.len()) {
            self.saving = Saving::Unreachable;
        }
        let step = Step { changes, before, after, act };
        match self.done.last_mut() {
            Some(last) if self.open && last.continued_by(&step) => last.grow(step),
            _ => self.done.push(step),
        }
        self.open = act != Act::Whole;
    }

    /// Takes the last step out, to be undone and handed to [`History::undone`].
    pub(super) fn pop_done(&mut self) -> Option<Step> {
        self.seal();
        self.done.pop()
    }

    /// Takes the last undone step out, to be done again and handed to [`History::redone`].
    pub(super) fn pop_undone(&mut self) -> Option<Step> {
        self.seal();
        self.undone.pop()
    }

    /// Keeps a step that was undone.
    pub(super) fn undone(&mut self, step: Step) {
        self.undone.push(step);
    }

    /// Keeps a step that was done again.
    pub(super) fn redone(&mut self, step: Step) {
        self.done.push(step);
    }
}

impl Step {
    /// Whether `next` goes on with what this step does, within the same word and its space.
    fn continued_by(&self, next: &Self) -> bool {
        let ([.., old], [new]) = (&self.changes[..], &next.changes[..]) else { return false };
        if self.act != next.act || self.after != next.before {
            return false;
        }
        let starts_word = |first: &str, then: &str| {
            first.ends_with(char::is_whitespace) && !then.starts_with(char::is_whitespace)
        };
        let breaks_line = |text: &str| text.contains('\n');
        match self.act {
            Act::Typing => {
                let (old_text, text) = (&old.inserted.text, &new.inserted.text);
                new.removed.text.is_empty()
                    && new.at == old.at + old_text.len()
                    && !breaks_line(text)
                    && !breaks_line(old_text)
                    && !starts_word(old_text, text)
            }
            Act::DeleteBack => {
                let (old_text, text) = (&old.removed.text, &new.removed.text);
                new.at + text.len() == old.at
                    && !breaks_line(text)
                    && !breaks_line(old_text)
                    && !starts_word(text, old_text)
            }
            Act::DeleteForward => {
                let (old_text, text) = (&old.removed.text, &new.removed.text);
                new.at == old.at
                    && !breaks_line(text)
                    && !breaks_line(old_text)
                    && !starts_word(old_text, text)
            }
            Act::Whole => false,
        }
    }

    fn grow(&mut self, next: Self) {
        self.after = next.after;
        for new in next.changes {
            match (self.act, self.changes.last_mut()) {
                (Act::Typing, Some(old)) => old.inserted.append(new.inserted),
                (Act::DeleteForward, Some(old)) => old.removed.append(new.removed),
                (Act::DeleteBack, Some(old)) => {
                    let after = std::mem::replace(&mut old.removed, new.removed);
                    old.removed.append(after);
                    old.at = new.at;
                }
                _ => self.changes.push(new),
            }
        }
    }
}
