//! The interface without a terminal: the same state, the same update, the same drawing, into memory. For benchmarks, and for
//! tests of everything between a server and the screen.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::app::App;
use super::msg::{Msg, Opened};
use super::review::Compared;
use super::theme::Depth;
use super::update::update;
use super::{Start, build, view};
use crate::agent::event::{TurnEvent, TurnEventKind};
use crate::agent::grounding::Grounded;
use crate::domain::conversation::{Turn, TurnStatus, Usage};
use crate::domain::ids::{BookPath, ProposalId, SessionId, TurnId};
use crate::domain::passage::sha256_hex;
use crate::proposal::{FileChange, Other, Proposal, Status, Subject};
use crate::workbench::{FileReview, Finished, Outcome, QueuedProposal, Review, Workbench};

/// A screen in memory with an author's keys.
pub struct Stage {
    app: App,
    screen: Terminal<TestBackend>,
    turn: TurnId,
}

impl Stage {
    /// Opens the book of a workbench on a screen of this size, with the first chapter in the editor.
    pub fn new(workbench: &Workbench, (width, height): (u16, u16)) -> anyhow::Result<Self> {
        let start = Start { open: None, depth: Depth::True, light: false, remote: true };
        let app = build(workbench, start, (width, height))?;
        let screen = Terminal::new(TestBackend::new(width, height))?;
        Ok(Self { app, screen, turn: TurnId::mint() })
    }

    /// Presses a key. What it asks of the outside is left undone.
    pub fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        let _ = update(&mut self.app, Msg::Key(KeyEvent::new(code, modifiers)));
        // Nothing is logged here: what a log would take is let go.
        for document in &mut self.app.documents {
            let _ = document.buffer.changes();
        }
    }

    /// Fills the conversation with `turns` answered questions.
    pub fn converse(&mut self, turns: usize, answer: &str) {
        let session = SessionId::mint();
        let kept = |_| Finished {
            session: session.clone(),
            turn: turn(TurnId::mint(), TurnStatus::Done, answer),
            grounded: Grounded { shown: answer.to_owned(), ..Grounded::default() },
            is_stored: true,
            not_kept: None,
        };
        let turns = (0..turns).map(kept).collect();
        let (session, usage) = (session.clone(), Usage::default());
        let opened = Opened { session, turns, unchecked: 0, usage, unread: None };
        let _ = update(&mut self.app, Msg::Conversation(Box::new(opened)));
    }

    /// Begins a turn whose answer streams in by [`Stage::stream`].
    pub fn begin(&mut self) {
        self.begin_as(self.turn.clone());
    }

    /// Begins the turn with this identity.
    pub fn begin_as(&mut self, turn: TurnId) {
        for earlier in self.app.chat.turns.iter_mut().filter(|t| t.state.is_live()) {
            earlier.state = super::conversation::State::Done;
        }
        let view = super::conversation::TurnView::asked(String::new(), "Go on.".to_owned(), None);
        self.app.chat.turns.push(view);
        let _ = update(&mut self.app, Msg::Began(turn, SessionId::mint()));
    }

    /// Lets words of the running answer arrive.
    pub fn stream(&mut self, words: &str) {
        let kind = TurnEventKind::Text(words.to_owned());
        self.event(TurnEvent { turn: self.turn.clone(), kind });
    }

    /// Lets something of a turn happen. What it asks of the outside is left undone.
    pub fn event(&mut self, event: TurnEvent) {
        let _ = update(&mut self.app, Msg::Turn(Box::new(event)));
    }

    /// Takes a turn as it was kept.
    pub fn finished(&mut self, finished: Finished) {
        let _ = update(&mut self.app, Msg::Finished(Box::new(finished)));
    }

    /// Returns the words of the last answer, as far as they have arrived.
    pub fn answer(&self) -> &str {
        self.app.chat.turns.last().map_or("", |turn| turn.raw.as_str())
    }

    /// Opens a proposal for one file, as if its texts had been compared in the background just now. Returns how long that took.
    pub fn review(&mut self, base: Option<&str>, proposed: &str) -> anyhow::Result<Duration> {
        let path = BookPath::new("notes/proposed.md")?;
        let change = FileChange {
            path: path.clone(),
            base: base.map(str::to_owned),
            base_hash: base.map(sha256_hex),
            proposed: Some(proposed.to_owned()),
        };
        let id = ProposalId::mint();
        let proposal = Proposal {
            id: id.clone(),
            tool: "propose_note_create".to_owned(),
            subject: Subject::Other(Other::Note),
            entry: "A note".to_owned(),
            summary: "A change".to_owned(),
            warnings: vec![],
            files: vec![change],
            edited: false,
        };
        let queued = QueuedProposal { proposal, status: Status::Pending, why: None };
        let outcome = Outcome::Written(proposed.to_owned());
        let (now, wanted) = (base.map(str::to_owned), Some(proposed.to_owned()));
        let files = vec![FileReview { path, now, proposed: wanted, outcome, written: None }];
        let begun = Instant::now();
        let compared = Compared::of(&Review { queued: queued.clone(), files });
        let took = begun.elapsed();
        self.app.popups.clear();
        let _ = update(&mut self.app, Msg::Proposals(vec![queued]));
        let _ = update(&mut self.app, Msg::Review(id.clone()));
        let _ = update(&mut self.app, Msg::Compared(id, Ok(Box::new(compared))));
        Ok(took)
    }

    /// Lays out and draws one frame.
    pub fn frame(&mut self) -> anyhow::Result<()> {
        view::lay_out(&mut self.app);
        let app = &self.app;
        self.screen.draw(|frame| view::draw(app, frame))?;
        Ok(())
    }
}

fn turn(id: TurnId, status: TurnStatus, answer: &str) -> Turn {
    Turn {
        id,
        asked_at: String::new(),
        persona: String::new(),
        provider: String::new(),
        model: String::new(),
        question: "What do you think of this chapter?".to_owned(),
        read_to: None,
        replaces: None,
        notices: vec![],
        selection: None,
        tools: vec![],
        answer: answer.to_owned(),
        lacks: None,
        quotes: vec![],
        proposals: vec![],
        status,
        rounds: 0,
        tier: None,
        tier_asked: None,
        usage: Usage::default(),
        response_id: None,
    }
}
