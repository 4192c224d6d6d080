//! What the tests of this module share: a small book and a provider that plays a script.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

use super::{FirstRound, TurnSetup};
use crate::canon::index::{Index, LaterIndex};
use crate::domain::book::{Book, Note};
use crate::domain::codex::{Entry, EntryType, TypeFrom};
use crate::domain::conversation::{Failure, FailureKind, Usage};
use crate::domain::ids::{BookPath, CallId, SessionId, TurnId};
use crate::domain::manuscript::{Chapter, NumberFrom, StoryTime};
use crate::domain::passage::count_words;
use crate::providers::{
    BoxFuture, Carried, End, Event, Exchange, Options, Provider, Request, Retry, Sending,
};
use crate::tools::{Registry, Seen};

pub const HARBOUR: &str = "---\ntitle: The Harbour\n---\n\nMira counted the gulls on the wall. “Seven,” she said — “and one that isn’t \
                           a gull.”\n\nThe light went out.\n";
pub const LANTERN: &str = "# The Lantern\n\nOn the stairs she found the lantern, cold as a key.\n\nThe light went out. Nobody had touched \
                           it, and nobody would say so.\n";
pub const KEEPER: &str =
    "# The Keeper\n\nOsric kept a *second* lantern under the bed; it had never been lit.\n";
pub const MIRA: &str = "---\ntype: character\nname: Mira Okafor\n---\n\nMira Okafor keeps the harbour books. She never lies to children.\n";
pub const PLAN: &str = "# Plan\n\nLet the keeper drown before the second winter begins.\n";

pub fn path(raw: &str) -> BookPath {
    BookPath::new(raw).unwrap()
}

pub fn chapter(number: u32, file: &str, title: &str, text: &str) -> Chapter {
    let body_start = text.strip_prefix("---\n").and_then(|rest| rest.find("---\n")).map_or(0, |at| at + 8);
    Chapter {
        path: path(file),
        number,
        number_from: NumberFrom::FileName,
        title: title.into(),
        text: text.into(),
        body_start,
        words: count_words(&text[body_start..]),
        time: StoryTime::default(),
    }
}

pub fn entry(entry_type: EntryType, file: &str, name: &str, text: &str) -> Entry {
    let body_start = text.strip_prefix("---\n").and_then(|rest| rest.find("---\n")).map_or(0, |at| at + 8);
    Entry {
        path: path(file),
        entry_type,
        name: name.into(),
        title: None,
        aliases: vec![],
        summary: String::new(),
        fields: Map::new(),
        text: text.into(),
        body: body_start..text.len(),
        heading: None,
        type_from: TypeFrom::Key("type".into()),
        soul: None,
        warnings: vec![],
    }
}

/// Three chapters, a character and a note.
pub fn book() -> Book {
    Book {
        name: "lamp".into(),
        chapters: vec![
            chapter(1, "manuscript/01-harbour.md", "The Harbour", HARBOUR),
            chapter(2, "manuscript/02-lantern.md", "The Lantern", LANTERN),
            chapter(3, "manuscript/03-keeper.md", "The Keeper", KEEPER),
        ],
        entries: vec![entry(EntryType::Character, "codex/characters/mira.md", "Mira Okafor", MIRA)],
        notes: vec![Note {
            path: path("notes/plan.md"),
            title: "Plan".into(),
            tags: vec![],
            text: PLAN.into(),
        }],
        ..Book::default()
    }
}

/// One thing that a scripted provider does.
#[derive(Debug, Clone)]
pub enum Step {
    /// Reports.
    Say(Event),
    /// Waits for the cancel, then goes on.
    UntilCancelled,
    /// Never comes back, cancelled or not.
    Hang,
    /// Gives up: the server refused.
    Fail(Failure),
    /// Gives up: the server may have worked on it.
    Lose(Failure),
    /// Crashes.
    Crash,
}

/// A provider that plays one script for every request, in order.
#[derive(Debug, Default)]
pub struct Scripted {
    stateful: bool,
    refuses_tools: bool,
    scripts: Mutex<VecDeque<Vec<Step>>>,
    requests: Mutex<Vec<Request>>,
}

impl Scripted {
    pub fn new(scripts: impl IntoIterator<Item = Vec<Step>>) -> Self {
        Self { scripts: Mutex::new(scripts.into_iter().collect()), ..Self::default() }
    }

    /// As a server that keeps what was said.
    pub fn stateful(self) -> Self {
        Self { stateful: true, ..self }
    }

    /// As a server whose model turns out to have no tools with the first request.
    pub fn toolless(self) -> Self {
        Self { refuses_tools: true, ..self }
    }

    /// What it was asked.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Provider for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn stateful(&self) -> bool {
        self.stateful
    }

    fn tools(&self) -> bool {
        !self.refuses_tools || self.requests.lock().unwrap().is_empty()
    }

    fn body(&self, request: &Request) -> Value {
        json!({ "items": request.items.len() })
    }

    fn destination(&self) -> String {
        "nowhere".into()
    }

    fn stream<'a>(&'a self, exchange: Exchange<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        let Exchange { request, out, cancel, witness } = exchange;
        self.requests.lock().unwrap().push(request.clone());
        let script = self.scripts.lock().unwrap().pop_front().unwrap_or_default();
        Box::pin(async move {
            let of = Carried::Conversation(request);
            let sending = Sending { destination: "nowhere", provider: "scripted", body: "{}", of };
            let leaves = async || {
                let noted = witness.sending(sending).await?;
                noted.leaving().store(true, Ordering::Release);
                Ok(noted)
            };
            let mut noted = leaves().await?;
            for step in script {
                match step {
                    Step::Say(event) => {
                        noted.heard(&event);
                        if matches!(event, Event::Retry(_)) {
                            noted.ended(End::Failed, None);
                            let _ = out.send(event);
                            noted = leaves().await?;
                        } else if matches!(event, Event::Finished { .. }) {
                            noted.ended(End::Answered, None);
                            let _ = out.send(event);
                            return Ok(());
                        } else {
                            let _ = out.send(event);
                        }
                    }
                    Step::UntilCancelled => cancel.cancelled().await,
                    Step::Hang => std::future::pending().await,
                    Step::Fail(failure) => {
                        noted.ended(End::Failed, None);
                        return Err(failure);
                    }
                    Step::Lose(failure) => {
                        noted.lost();
                        noted.ended(End::Failed, None);
                        return Err(failure);
                    }
                    Step::Crash => panic!("a provider crashed, as the script says"),
                }
            }
            Ok(())
        })
    }
}

pub fn text(words: &str) -> Event {
    Event::Text(words.into())
}

pub fn call(id: &str, name: &str, arguments: &str) -> Event {
    Event::Call { call_id: CallId::new(id), name: name.into(), arguments: arguments.into() }
}

pub fn started(id: &str, name: &str) -> Event {
    Event::CallStarted { call_id: CallId::new(id), name: name.into() }
}

pub fn created(id: &str) -> Event {
    Event::Created { response_id: id.into() }
}

pub fn finished() -> Event {
    let usage = Usage { input_tokens: Some(10), output_tokens: Some(2), ..Usage::default() };
    Event::Finished { usage, truncated: None }
}

pub fn truncated(why: &str) -> Event {
    Event::Finished { usage: Usage::default(), truncated: Some(why.into()) }
}

/// A new attempt that leaves out so many turns.
pub fn retry(why: &str, left_out: usize) -> Retry {
    Retry { why: why.into(), attempt: 2, wait: std::time::Duration::ZERO, left_out }
}

pub fn failure() -> Failure {
    Failure {
        kind: FailureKind::Provider,
        message: "The server is busy.".into(),
        hint: "Try again later.".into(),
    }
}

/// A turn over the small book with the real tools.
pub fn setup(provider: Arc<Scripted>, question: &str) -> TurnSetup {
    let book = Arc::new(book());
    let indexed = Arc::clone(&book);
    TurnSetup {
        id: TurnId::mint(),
        session: SessionId::mint(),
        provider,
        witness: Arc::new(()),
        purse: Arc::new(()),
        model: "script-1".into(),
        registry: Arc::new(Registry::advisor()),
        book,
        index: LaterIndex::new(move || Arc::new(Index::of(&indexed))),
        meaning: None,
        current: Some(path("manuscript/02-lantern.md")),
        chapter: None,
        selection: None,
        open_is_private: false,
        read_to: None,
        seen: Seen::default(),
        persona: "developmental-editor",
        instructions: "You are a test.".into(),
        history: vec![],
        continue_from: None,
        question: question.into(),
        options: Options::default(),
        max_rounds: 4,
        first_round: FirstRound::Patterns,
        notices: vec![],
        left_out: 0,
        numbers_missing: false,
    }
}
