//! Everything on screen. Holds no channel, no handle, no terminal and no clock: time comes in with messages.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use crate::canon::mentions::Names;
use crate::canon::relations::Graph;
use crate::domain::book::Book;
use crate::domain::ids::{BookPath, ProposalId};
use crate::editor::find::Counted;
use crate::workbench::money::Standing;
use crate::workbench::{QueuedProposal, Recovered, Summary};

use super::chat::Chat;
use super::codex::CodexPane;
use super::document::OpenDocument;
use super::keymap::Keymap;
use super::layout::{Areas, Pane};
use super::msg::Notice;
use super::popups::Popup;
use super::popups::diff::Marks;
use super::popups::rename::RenamePopup;
use super::theme::{Depth, Theme};
use super::widgets::input::Input;

/// The whole state of the interface.
pub(super) struct App {
    pub(super) book: Arc<Book>,
    /// Whether the book is an outline, of which the rest is being read.
    pub(super) is_reading: bool,
    pub(super) names: Names,
    pub(super) keymap: Keymap,
    pub(super) theme: Theme,
    /// Colours of the terminal, for choosing another theme.
    pub(super) depth: Depth,
    pub(super) look: Look,
    pub(super) screen: Rect,
    pub(super) focus: Pane,
    /// The pane beside the manuscript where only two fit.
    pub(super) side: Pane,
    /// Documents that were opened, the unsaved ones among them; `active` is on screen.
    pub(super) documents: Vec<OpenDocument>,
    pub(super) active: usize,
    /// The chapter that was on screen last: canon is told as of it, and a blind member reads up to it, while another document is open.
    pub(super) last_chapter: Option<BookPath>,
    /// The find bar under the manuscript.
    pub(super) find: Option<Find>,
    pub(super) chat: Chat,
    pub(super) codex: CodexPane,
    pub(super) proposals: HashMap<ProposalId, QueuedProposal>,
    /// Proposals in the order in which they were made.
    pub(super) queue: Vec<ProposalId>,
    /// All conversations, the one that was used last first.
    pub(super) past: Vec<Summary>,
    /// The author's own themes: name and text.
    pub(super) own_themes: Vec<(String, String)>,
    /// Who and what belongs together, as read last.
    pub(super) graph: Arc<Graph>,
    /// The list of a name's places that the author left to look at one of them.
    pub(super) parked: Option<Box<RenamePopup>>,
    pub(super) popups: Vec<Popup>,
    /// Popups that open by themselves, once the author has stopped typing; the last one first.
    pub(super) waiting: Vec<Popup>,
    pub(super) notice: Option<(Notice, Instant)>,
    pub(super) now: Instant,
    /// When the author last typed into a text: a popup never opens by itself within a second of it.
    pub(super) typed_at: Option<Instant>,
    /// When the last key came that a paste could have sent.
    pub(super) plain_at: Option<Instant>,
    /// A key that decides something, until it is certain that it came alone.
    pub(super) held: Option<(KeyEvent, Instant)>,
    /// The proposals in the order in which the author goes through them.
    pub(super) sitting: Vec<ProposalId>,
    /// What the author did to proposals in this run.
    pub(super) marks: HashMap<ProposalId, Marks>,
    /// How differences are arranged.
    pub(super) diff_look: super::widgets::diff::Look,
    /// Edits of proposals that are being kept before the program ends.
    pub(super) keeping: usize,
    /// Proposals whose verdict is being carried out: the same key again is no second one.
    pub(super) judging: HashSet<ProposalId>,
    /// When `Esc` was last pressed.
    pub(super) escaped_at: Option<Instant>,
    /// Name of the provider and of its model, as the next question to most board members would use them.
    pub(super) provider: (String, String),
    /// Models of the board members who have one of their own, by id.
    pub(super) models: BTreeMap<String, String>,
    /// What this month has cost, and what it may.
    pub(super) standing: Option<Standing>,
    /// Why this instance can't write, if so.
    pub(super) read_only: Option<String>,
    pub(super) spin: usize,
    /// Text that was cut or copied, for terminals without a clipboard that can be read.
    pub(super) clipboard: String,
    /// Unsaved text of an earlier run that waits for its document to be opened.
    pub(super) restoring: Vec<Recovered>,
    /// Unsaved text of an earlier run that was taken or thrown away, and can be deleted.
    pub(super) forgotten: Vec<Recovered>,
    /// Words written today before the program was started this time, and since in documents that were closed.
    pub(super) words_closed: i64,
    /// The day on which the program was started.
    pub(super) day: String,
    /// Documents to be saved before the program ends.
    pub(super) quitting: bool,
}

/// Settings that change only what is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches, each with its own key")]
pub(super) struct Look {
    pub(super) tool_rows: bool,
    pub(super) tier_status: bool,
    pub(super) peek_key: bool,
    pub(super) focus_mode: bool,
    pub(super) typewriter: bool,
    pub(super) mouse: bool,
    /// Widest text of the manuscript, in columns.
    pub(super) measure: u16,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            tool_rows: true,
            tier_status: true,
            peek_key: true,
            focus_mode: false,
            typewriter: false,
            mouse: true,
            measure: 72,
        }
    }
}

/// The find bar.
pub(super) struct Find {
    pub(super) needle: Input,
    pub(super) replacement: Option<Input>,
    /// Whether the second field has the cursor.
    pub(super) in_replacement: bool,
    /// Where the search began, so that changing the needle starts there again.
    pub(super) from: usize,
    pub(super) found: bool,
    /// What is being counted, or was.
    pub(super) asked: Option<Searched>,
    /// How often it stands there.
    pub(super) counted: Option<Counted>,
}

/// Words, and the text that they are looked for in: which document, and its revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Searched {
    pub(super) words: String,
    pub(super) path: BookPath,
    pub(super) revision: u64,
}

impl App {
    /// Returns the areas of the screen.
    pub(super) fn areas(&self) -> Areas {
        Areas::of(self.screen, self.focus, self.side, self.look.focus_mode)
    }

    /// Returns provider and model that the next question goes to: a board member may have a model of its own.
    pub(super) fn answers(&self) -> (&str, &str) {
        let (provider, model) = &self.provider;
        (provider, self.models.get(&self.chat.persona).unwrap_or(model))
    }

    /// Returns the document on screen.
    pub(super) fn document(&self) -> Option<&OpenDocument> {
        self.documents.get(self.active)
    }

    /// Remembers the chapter on screen, if it is one.
    pub(super) fn note_chapter(&mut self) {
        let chapter = self.document().filter(|d| self.book.chapter(&d.path).is_some());
        if let Some(path) = chapter.map(|d| d.path.clone()) {
            self.last_chapter = Some(path);
        }
    }

    /// Returns the document on screen, to change it.
    pub(super) fn document_mut(&mut self) -> Option<&mut OpenDocument> {
        self.documents.get_mut(self.active)
    }

    /// Returns the place of an open document.
    pub(super) fn place_of(&self, path: &BookPath) -> Option<usize> {
        self.documents.iter().position(|d| &d.path == path)
    }

    /// Tells the author something for a few seconds.
    pub(super) fn tell(&mut self, notice: Notice) {
        self.notice = Some((notice, self.now));
    }

    /// Returns the words of the book as they are now, unsaved changes included.
    pub(super) fn words_of_book(&self) -> usize {
        let mut words = self.book.words();
        for document in &self.documents {
            if let Some(chapter) = self.book.chapter(&document.path) {
                words = (words + document.buffer.words()).saturating_sub(chapter.words);
            }
        }
        words
    }

    /// Returns the words written today, also before the program was started this time.
    pub(super) fn words_of_day(&self) -> i64 {
        self.documents
            .iter()
            .filter(|d| self.book.chapter(&d.path).is_some())
            .map(|d| d.buffer.words() as i64 - d.words_at_start as i64)
            .sum::<i64>()
            + self.words_closed
    }

    /// Whether anything on screen moves by itself.
    pub(super) fn moves(&self) -> bool {
        let settles = self.chat.is_settling() && self.areas().chat.is_some();
        self.chat.is_busy() || settles || self.notice.is_some() || !self.waiting.is_empty()
    }

    /// Lays the cards of all proposals out again.
    pub(super) fn touch_cards(&mut self) {
        for turn in &mut self.chat.turns {
            if !turn.proposals.is_empty() {
                turn.touch();
            }
        }
    }
}
