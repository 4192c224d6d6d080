//! Asking a board member.

use std::collections::BTreeSet;
use std::sync::{Arc, MutexGuard, PoisonError};

use crate::agent::event::Ended;
use crate::agent::grounding::{self, Grounded};
use crate::agent::{FirstRound, TurnSetup, context, too_long};
use crate::domain::book::Book;
use crate::domain::conversation::{Failure, FailureKind, SelectionMeta, Turn, TurnStatus, Usage};
use crate::domain::ids::{BookPath, SessionId, TurnId};
use crate::domain::passage::{count_words, sha256_hex};
use crate::persona::{board, prompt};
use crate::proposal::Proposal;
use crate::providers::Options;
use crate::store::proposals::{self, Event};
use crate::store::provenance::{Ledger, Record, TurnRecord};
use crate::store::sessions::{self, Kept, Preface};
use crate::tools::{Registry, Selection};

use super::Workbench;
use super::blind::{View, turns_known};
use super::egress::{self, Known};
use super::history::{Before, before, from_stored, stretches, to_stored, told_of_fates};
use super::provider::OFFLINE;
use super::sessions::going_on;
use super::settings::DEFAULT_ROUNDS;
use super::{notices, private};

/// A question, as a front end puts it.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// What the author asks.
    pub question: String,
    /// Id of the board member; `None`: the one who answered last in this conversation, else the default.
    pub persona: Option<String>,
    /// Conversation to go on with; `None` starts one.
    pub session: Option<SessionId>,
    /// The turn that this question takes the place of: the last one of the conversation, edited or asked again.
    pub replaces: Option<TurnId>,
    /// The open document, with its unsaved text if it differs from the disk.
    pub current: Option<(BookPath, Option<String>)>,
    /// Hash of the file that the unsaved text was made of. Where the file is another one by now and AI never reads it, that text does not know of the mark.
    pub based_on: Option<String>,
    /// The chapter that was open last, where the open document is none: canon is told as of it, and a blind member reads up to it.
    pub chapter: Option<BookPath>,
    /// The captured selection.
    pub selection: Option<Selection>,
    /// Who answers this question, in place of the provider of the settings.
    pub provider: Option<String>,
    /// Other open documents that the author has marked `ai: never` and not saved yet.
    pub private: Vec<BookPath>,
    /// Restricts the tools to the canon-only subset and requires a call (`ai tool-smoke`).
    pub smoke: bool,
}

/// A turn as it was kept.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The conversation.
    pub session: SessionId,
    /// The record, with quotes checked and the persona filled in.
    pub turn: Turn,
    /// The answer ready to be shown.
    pub grounded: Grounded,
    /// Whether the turn stands in its conversation on disk.
    pub is_stored: bool,
    /// What of the turn could not be kept on disk and why, if so.
    pub not_kept: Option<String>,
}

/// A conversation up to a question.
#[derive(Default)]
struct SoFar {
    turns: Vec<Kept>,
    /// What has become of its proposals.
    preface: Preface,
    /// What of it could not be read, in words.
    unread: Option<String>,
}

impl Workbench {
    /// Captures everything that a turn needs. The error is for the author: a missing key, an unknown placeholder, an unknown provider.
    pub fn prepare(&self, ask: &Ask) -> Result<TurnSetup, Failure> {
        let choices = self.choices();
        let name = ask.provider.clone().unwrap_or(choices.provider.value);
        let destination = self.destination(&name)?;
        if self.needs_key(&name)? {
            self.inner.keys.require(&name)?;
        }
        let setup = self.setup(ask, &name, &destination)?;
        if setup.model.is_empty() {
            return Err(Failure {
                kind: FailureKind::Provider,
                message: format!("No model of `{name}` is named."),
                hint: format!(
                    "Name one: --model NAME for one question, `model` under [providers.{name}] in config.toml for all."
                ),
            });
        }
        Ok(setup)
    }

    /// Captures everything that a turn with the provider `name` needs. Needs no key.
    pub(super) fn setup(&self, ask: &Ask, name: &str, destination: &str) -> Result<TurnSetup, Failure> {
        let SoFar { turns, preface, unread } = self.so_far(ask)?;
        let last = turns.last().map(|kept| kept.turn.persona.clone());
        let member = board::member(ask.persona.as_deref().or(last.as_deref()));
        let whole = self.book_of(ask);
        let full = self.for_ai(&whole);
        let private::Known { ask, open_is_private } = private::known(ask, &whole)?;
        let by_book = self.chosen_by_book(name, ask.provider.as_deref(), member.id);
        let refused = self.refused_options(&ask, name, member.id)?;
        // Once in a conversation, and again when it is something else.
        let is_new = |words: &String| !turns.iter().any(|kept| kept.turn.notices.contains(words));
        let told = [by_book, refused, unread].map(|words| words.filter(is_new));
        let (turns, kept_back) = private::turns_open(turns, &whole, &full);
        if full.settings.board.get(member.id).is_some_and(|b| b.enabled == Some(false)) {
            return Err(Failure {
                kind: FailureKind::Work,
                message: format!("{} is switched off for this book.", member.name),
                hint: format!("Choose another board member, or set `enabled` in [board.{}].", member.id),
            });
        }
        let View { book, current, chapter, selection, read_to } = Self::view(full, member, &ask)?;
        let model = self.model_of(name, Some(member.id)).value;
        let news = told_of_fates(turns.iter().map(|kept| &kept.preface).chain([&preface]));
        let mut left_out = 0;
        let Before { history, continue_from, seen } = if let Some(read_to) = &read_to {
            let known = turns_known(turns, &book, read_to);
            Before { continue_from: None, ..before(&known, destination) }
        } else {
            let mut before = before(&turns, destination);
            left_out = notices::leave_out_again(&mut before, &turns, destination, &model);
            before.history.extend(from_stored(&preface.items));
            // A server that has kept a turn which must not be sent again must not go on from it either.
            Before { continue_from: before.continue_from.filter(|_| kept_back.of.is_empty()), ..before }
        };
        // Whether tools work is what `ai tool-smoke` asks, whatever was learned.
        let has_tools = ask.smoke || self.has_tools(name, &model)?;
        if ask.smoke && name != OFFLINE {
            self.unlearn(name, Some(&model));
        }
        let registry = Self::tools_for(&ask, &book, read_to.is_some());
        let tools: Vec<_> = registry.specs().map(|spec| (spec.name, spec.about)).collect();
        let instructions = prompt::system(member, &book.settings, &tools).map_err(|e| Failure {
            kind: FailureKind::Work,
            message: format!("The prompt of {} can't be built: {e}.", member.name),
            hint: "Correct the placeholder in scritorio.toml.".into(),
        })?;
        let max_rounds = if ask.smoke {
            self.inner.overrides.rounds.unwrap_or(DEFAULT_ROUNDS)
        } else {
            self.choices().rounds.value
        };
        let registry = Arc::new(registry);
        let options = self.options(member.id);
        let (id, session) = (TurnId::mint(), ask.session.clone().unwrap_or_else(SessionId::mint));
        let known = Known {
            prompt: egress::words_to(member.id, &whole),
            inline: context::inline_text(&book, current.as_ref(), selection.as_ref()),
            news,
        };
        let witness = self.witness(Some((session.clone(), id.clone())), &whole, known);
        let witness = self.inner.opened.watch(self.root(), &id, witness);
        let left = [private::missing(&whole), kept_back.notice(), too_long(left_out, &model)];
        let purse = self.purse(&id, name, &model);
        let mut setup = TurnSetup {
            numbers_missing: notices::numbers_missing(&whole, &book),
            notices: told.into_iter().chain(left).flatten().collect(),
            left_out,
            session,
            purse,
            provider: self.provider(name, &book, &registry, member.id, &model)?,
            model,
            registry,
            index: self.later_index_of(&book),
            meaning: self.by_meaning(&book, &id, &witness),
            id,
            witness,
            book,
            current,
            chapter,
            selection,
            open_is_private,
            read_to,
            seen,
            persona: member.id,
            instructions,
            history,
            continue_from,
            question: ask.question.clone(),
            options: Options { web_search: options.web_search && !ask.smoke, ..options },
            max_rounds,
            first_round: if ask.smoke { FirstRound::Required } else { FirstRound::Patterns },
        };
        if !has_tools && self.preset(name)?.abilities.tools {
            setup.give_up_tools();
        } else if !has_tools {
            // The author's own settings say so.
            setup.offer_no_tools();
        }
        Ok(setup)
    }

    /// The tools of a turn. A blind member proposes nothing.
    pub(super) fn tools_for(ask: &Ask, book: &Book, blind: bool) -> Registry {
        let registry = if ask.smoke {
            Registry::canon_only()
        } else {
            Registry::advisor().without(&book.settings.disabled_tools)
        };
        if blind { registry.only_reading() } else { registry }
    }

    /// Notes that a turn has begun, so that the question survives a crash. Returns the conversation.
    pub fn begin(&self, ask: &Ask, setup: &TurnSetup) -> SessionId {
        self.settle_spending();
        let session = setup.session.clone();
        self.inner.opened.begin(&setup.id, &session);
        let mut preface = self.so_far(ask).unwrap_or_default().preface;
        if !setup.history.ends_with(&from_stored(&preface.items)) {
            // Refused after the question was captured: the next turn will tell.
            preface = Preface::default();
        }
        let turn = Turn {
            id: setup.id.clone(),
            asked_at: crate::store::now(),
            persona: self.member_of(ask),
            provider: setup.provider.name().to_owned(),
            model: setup.model.clone(),
            question: ask.question.clone(),
            selection: ask.selection.as_ref().map(meta),
            read_to: setup.read_to.clone(),
            replaces: ask.replaces.clone(),
            notices: vec![],
            tools: vec![],
            answer: String::new(),
            lacks: None,
            quotes: vec![],
            proposals: vec![],
            status: TurnStatus::Running,
            rounds: 0,
            tier: None,
            tier_asked: setup.options.service_tier.clone(),
            usage: Usage::default(),
            response_id: None,
        };
        // What can't be written now most likely can't be written at the end either, and is said there.
        if sessions::start(self.root(), &session, &turn, preface).is_ok() {
            self.begun().insert(turn.id);
        }
        session
    }

    /// Puts a proposal into the book's queue. A front end may do so as soon as it is made, so that it survives a crash;
    /// [`Workbench::finish`] does it for those that are not there yet.
    pub fn queue(&self, session: &SessionId, turn: &TurnId, proposal: &Proposal) -> std::io::Result<()> {
        if proposals::load(self.root())?.items.iter().any(|known| known.proposal.id == proposal.id) {
            return Ok(());
        }
        let event = Event::Proposed {
            session: session.clone(),
            turn: turn.clone(),
            proposal: Box::new(proposal.clone()),
        };
        proposals::append(self.root(), &proposal.id, event)
    }

    /// Keeps a turn that is over: proposals, conversation, provenance. Returns it as shown.
    pub fn finish(&self, session: &SessionId, ask: &Ask, ended: Ended) -> Finished {
        let Ended {
            mut turn,
            items,
            material,
            proposals,
            kept_by_server,
            left_out,
            last_response,
            prompt_hash,
            ..
        } = ended;
        turn.persona = self.member_of(ask);
        turn.question.clone_from(&ask.question);
        turn.selection = ask.selection.as_ref().map(meta);
        turn.replaces.clone_from(&ask.replaces);
        let current = ask.current.as_ref().map(|(path, _)| path);
        let grounded = grounding::ground(&turn.answer, &self.book_of(ask), current, &read_in(&turn));
        turn.quotes = grounded.quotes.iter().map(|placed| placed.quote.clone()).collect();
        let destination = self.destination(&turn.provider).unwrap_or_default();
        let kept = Kept {
            turn: turn.clone(),
            items: to_stored(&items),
            material: stretches(material),
            kept_by_server,
            destination,
            left_out,
            preface: Preface::default(),
        };
        let mut record = record(session, &turn, prompt_hash);
        record.response_id = last_response.or(record.response_id);
        // Each record is kept whether or not another could be.
        let queued = proposals.iter().map(|proposal| self.queue(session, &turn.id, proposal));
        let queued = queued.fold(Ok(()), std::io::Result::and);
        // A conversation that is gone was deleted for ever, unless it was never there.
        let was_there = self.begun().remove(&turn.id) || ask.session.is_some();
        let stored = if was_there {
            sessions::end_begun(self.root(), session, kept)
        } else {
            sessions::end(self.root(), session, kept)
        };
        let recorded = self.ledger().append(Record::Turn(Box::new(record)));
        let spent = self.write_spending();
        let is_stored = stored.is_ok();
        let not_kept = match (stored, queued) {
            (Ok(()), Ok(())) => None,
            (Err(e), Ok(())) => {
                Some(format!("This turn could not be kept in the book's .scritorio folder: {e}."))
            }
            (Ok(()), Err(e)) => {
                Some(format!("This turn is kept, and what it proposes could not be kept for review: {e}."))
            }
            (Err(e), Err(_)) => Some(format!(
                "This turn and its proposals could not be kept in the book's .scritorio folder: {e}."
            )),
        };
        let not_recorded = recorded
            .err()
            .map(|e| format!("This turn is kept, and could not be recorded in the provenance: {e}."));
        let not_kept = not_kept.or(not_recorded);
        let not_noted = spent.err().map(|e| format!("What this turn cost could not be noted: {e}."));
        let not_kept = not_kept.or(not_noted);
        Finished { session: session.clone(), turn, grounded, is_stored, not_kept }
    }

    /// Returns the turns of a conversation, oldest first. One that is `Running` and is not running now was cut off.
    pub fn turns(&self, session: &SessionId) -> Vec<Turn> {
        let kept = sessions::load(self.root(), session).unwrap_or_default();
        kept.into_iter().map(|kept| kept.turn).collect()
    }

    /// Returns the answer of a stored turn ready to be shown, checked against the book as it is now.
    pub fn ground(&self, turn: &Turn, current: Option<&BookPath>) -> Grounded {
        grounding::ground(&turn.answer, &self.book(), current, &read_in(turn))
    }

    /// Returns an answer ready to be shown, checked against the book as it is now; `read` are the files that tools returned in its turn.
    pub fn check(&self, answer: &str, read: &[BookPath]) -> Grounded {
        grounding::ground(answer, &self.book(), None, read)
    }

    /// Returns the conversation of this book that was used last.
    pub fn last_session(&self) -> Option<SessionId> {
        self.conversations().into_iter().next().map(|summary| summary.session)
    }

    pub(super) fn ledger(&self) -> Ledger {
        Ledger::new(self.root(), &self.inner.surroundings.folders.data)
    }

    /// The turns that run and whose question is on the disk.
    fn begun(&self) -> MutexGuard<'_, BTreeSet<TurnId>> {
        self.inner.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn so_far(&self, ask: &Ask) -> Result<SoFar, Failure> {
        let Some(session) = &ask.session else { return Ok(SoFar::default()) };
        let found = self.readable(session).map_err(|error| going_on::refused(&error, session))?;
        let unread = going_on::unread(&found);
        let turns = found.turns;
        let turns = match &ask.replaces {
            Some(id) => without(turns, id).ok_or_else(|| Failure {
                kind: FailureKind::Work,
                message: format!(
                    "The conversation {session} has no message {id} that another could take the place of."
                ),
                hint: "Ask without replacing one.".into(),
            })?,
            None => turns,
        };
        let whole = self.book_of(ask);
        let preface = self.news(session, &turns, &whole, &self.for_ai(&whole));
        Ok(SoFar { turns, preface, unread })
    }

    fn book_of(&self, ask: &Ask) -> Arc<Book> {
        let (book, elsewhere) = match &ask.current {
            Some((path, Some(text))) => {
                let disk = self.book();
                let is_marked = private::is_private(&disk, path)
                    && ask.based_on.as_ref().is_some_and(|hash| hash_of(&disk, path).as_ref() != Some(hash));
                (self.book_with(path, text), is_marked.then_some(path))
            }
            _ => (self.book(), None),
        };
        let more = ask.private.iter().chain(elsewhere).filter(|path| !private::is_private(&book, path));
        let more: Vec<BookPath> = more.cloned().collect();
        if more.is_empty() {
            return book;
        }
        let mut marked = Book::clone(&book);
        marked.private.extend(more);
        Arc::new(marked)
    }

    fn member_of(&self, ask: &Ask) -> String {
        let last = || {
            let turns = sessions::load(self.root(), ask.session.as_ref()?).ok()?;
            turns.last().map(|kept| kept.turn.persona.clone())
        };
        let id = ask.persona.clone().or_else(last);
        board::member(id.as_deref()).id.to_owned()
    }
}

/// The turns before one that is to be replaced; those that it would have replaced go with it.
fn without(mut turns: Vec<Kept>, id: &TurnId) -> Option<Vec<Kept>> {
    let mut next = Some(id.clone());
    let mut cut = None;
    while let Some(place) = next.as_ref().and_then(|id| turns.iter().position(|kept| kept.turn.id == *id)) {
        next.clone_from(&turns[place].turn.replaces);
        turns.truncate(place);
        cut = Some(place);
    }
    cut.map(|_| turns)
}

/// The hash of a file as it was read; `None` where its text is not in the book.
fn hash_of(book: &Book, path: &BookPath) -> Option<String> {
    let (_, text) = book.document(path)?;
    Some(sha256_hex(book.as_on_disk(path, text).as_bytes()))
}

/// The files that tools returned in a turn.
fn read_in(turn: &Turn) -> Vec<BookPath> {
    turn.tools.iter().flat_map(|t| t.resolved.iter().cloned()).collect()
}

fn meta(selection: &Selection) -> SelectionMeta {
    SelectionMeta {
        path: selection.path.clone(),
        title: selection.title.clone(),
        source_words: selection.source_words,
        words: count_words(&selection.text),
        hash: sha256_hex(&*selection.text),
    }
}

fn record(session: &SessionId, turn: &Turn, prompt_hash: String) -> TurnRecord {
    let status = match &turn.status {
        TurnStatus::Running => "running",
        TurnStatus::Done => "done",
        TurnStatus::Cancelled => "cancelled",
        TurnStatus::Failed(_) => "failed",
    };
    let tools = turn.tools.iter().map(|t| {
        serde_json::json!({ "name": t.name, "status": t.status, "resolved": t.resolved, "results": t.results })
    });
    TurnRecord {
        session: session.clone(),
        turn: turn.id.clone(),
        status: status.into(),
        provider: turn.provider.clone(),
        model: turn.model.clone(),
        tier: turn.tier.clone(),
        persona: turn.persona.clone(),
        prompt_hash,
        response_id: turn.response_id.clone(),
        usage: turn.usage,
        tools: tools.collect(),
        output_hash: sha256_hex(&turn.answer),
        output_chars: turn.answer.chars().count(),
        proposals: turn.proposals.clone(),
    }
}

#[cfg(test)]
mod tests;
