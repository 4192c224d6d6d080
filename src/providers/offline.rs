//! The offline reader: a provider without any model, inside the program.
//!
//! It drives the same tool loop as a model does. From the question it works out by rule which tools are needed, calls them one a
//! round, and answers from what they returned: facts with their source, quotations with locate markers, measurements of prose.
//! The same request always gets the same answer. It says what it is and never pretends to be a model; nothing
//! leaves the machine; the book that it holds serves only to recognise names and chapters, never as a source of facts.

mod answer;
mod craft_reading;
mod facts;
mod missing;
mod plan;
mod question;
mod quoting;
mod turn;

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::{BoxFuture, Event, Provider, Request};
use crate::canon::mentions::Names;
use crate::domain::book::Book;
use crate::domain::conversation::{Failure, Usage};
use crate::domain::ids::CallId;
use crate::tools::Registry;
use question::Question;
use turn::Turn;

/// The provider's name in settings.
pub const NAME: &str = "offline";

/// What stands where others name a model.
pub const MODEL: &str = "offline-reader";

/// The reader, for one book and one board member.
pub struct OfflineReader {
    book: Arc<Book>,
    names: Names,
    registry: Arc<Registry>,
    persona: String,
}

/// What the reader does next.
#[derive(Debug, Clone, PartialEq)]
enum Move {
    Call(plan::Call),
    Answer(String),
}

impl OfflineReader {
    /// Makes a reader. `persona` is the id of the board member that answers: each looks at other things first.
    pub fn new(book: Arc<Book>, registry: Arc<Registry>, persona: impl Into<String>) -> Self {
        let names = Names::of(&book);
        Self { book, names, registry, persona: persona.into() }
    }

    fn decide(&self, request: &Request) -> Move {
        let turn = Turn::of(request);
        let question = Question::read(turn.question, &self.book);
        let library = Library { book: &self.book, names: &self.names, persona: &self.persona };
        let has_document = turn.document.is_some() || turn.has_selection;
        let forced = self.registry.forced_by(turn.question, has_document).map(|spec| spec.name);
        match plan::next(&turn, &question, &library, forced) {
            Some(call) => Move::Call(call),
            None => Move::Answer(answer::compose(&turn, &question, &library)),
        }
    }
}

/// What the reader knows besides the request: names and chapters to recognise, and for whom it reads.
#[derive(Clone, Copy)]
struct Library<'a> {
    book: &'a Book,
    names: &'a Names,
    persona: &'a str,
}

impl Provider for OfflineReader {
    fn name(&self) -> &'static str {
        NAME
    }

    fn stateful(&self) -> bool {
        false
    }

    fn body(&self, request: &Request) -> Value {
        let turn = Turn::of(request);
        json!({
            "model": MODEL,
            "question": turn.question,
            "context": turn.context,
            "outputs": turn.done.iter().map(|d| json!({ "tool": d.name, "output": d.output })).collect::<Vec<_>>(),
            "tools": turn.offered,
        })
    }

    fn destination(&self) -> String {
        "nowhere: the offline reader works inside this program, and nothing leaves the machine".to_owned()
    }

    fn stream<'a>(
        &'a self,
        request: &'a Request,
        out: UnboundedSender<Event>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let done = Event::Finished { usage: Usage::default(), truncated: None };
            let events: Box<dyn Iterator<Item = Event> + Send> = match self.decide(request) {
                Move::Call(call) => Box::new(call_events(request, call).into_iter()),
                Move::Answer(text) => Box::new(words(&text).into_iter().map(Event::Text)),
            };
            for event in events.chain([done]) {
                if cancel.is_cancelled() || out.send(event).is_err() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            Ok(())
        })
    }
}

fn call_events(request: &Request, call: plan::Call) -> [Event; 3] {
    let earlier = request.items.iter().filter(|item| matches!(item, super::Item::Call { .. })).count();
    let call_id = CallId::new(format!("call_offline_{}", earlier + 1));
    let (name, arguments) = (call.name, call.arguments.to_string());
    [
        Event::CallStarted { call_id: call_id.clone(), name: name.clone() },
        Event::CallArguments { call_id: call_id.clone(), delta: arguments.clone() },
        Event::Call { call_id, name, arguments },
    ]
}

/// Cuts a text into words, each with the white space behind it.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    for piece in text.split_inclusive(char::is_whitespace) {
        match words.last_mut() {
            Some(last) if piece.trim().is_empty() => last.push_str(piece),
            _ => words.push(piece.to_owned()),
        }
    }
    words
}
