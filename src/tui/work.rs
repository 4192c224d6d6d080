//! What the interface asks of the outside, done in the background. Every answer comes back as a message.

mod ask;
mod sessions;

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::agent::driver;
use crate::agent::event::TurnEventKind;
use crate::canon::mentions::Names;
use crate::domain::conversation::{Failure, FailureKind};
use crate::domain::ids::{BookPath, ProposalId, SessionId, TurnId};
use crate::proposal::Proposal;
use crate::workbench::{Ask, Desk, DocumentError, Recovered, Workbench};

pub(super) use self::ask::begun;

use super::app::App;
use super::clipboard::Clipboard;
use super::effect::Effect;
use super::msg::{Msg, Notice, SaveProblem, TypedKey, Verdict};
use super::recovery::Recovery;
use super::review::{Compared, stamp};
use super::update::held_in_words;

/// Hits that a search of the book shows.
const HITS: usize = 50;

/// Places that the find bar counts; of more it says so.
const PLACES: usize = 9_999;

/// The open book and what runs in the background for it.
pub(super) struct Work {
    workbench: Workbench,
    clipboard: Clipboard,
    /// Stops the turn that runs.
    turn: Arc<Mutex<Option<CancellationToken>>>,
    recovery: Recovery,
}

/// What is asked for when the first frame stands.
pub(super) fn at_start(app: &App) -> Vec<Effect> {
    let names_wait = app.is_reading || app.names.entries.is_empty() && !app.book.entries.is_empty();
    let mut effects: Vec<Effect> = names_wait.then_some(Effect::FindNames).into_iter().collect();
    effects.extend([
        Effect::ReadProposals,
        Effect::ReadConversation(None),
        Effect::ReadRecovered,
        Effect::ListConversations,
        Effect::SumUp,
    ]);
    // Of what is still read, the author waits for the names; the rest comes after them.
    if !names_wait {
        effects.extend([Effect::ReadRelationships, Effect::Index]);
    }
    if app.documents.is_empty()
        && let Some(first) = app.book.chapters.first()
    {
        effects.push(Effect::Open(first.path.clone(), None));
    }
    effects
}

impl Work {
    pub(super) fn new(workbench: Workbench, clipboard: Clipboard, out: UnboundedSender<Msg>) -> Self {
        let recovery = Recovery::new(workbench.clone(), out);
        Self { workbench, clipboard, turn: Arc::default(), recovery }
    }

    /// Remembers where the author is, for the next time.
    pub(super) fn leave_desk(&self, app: &App) {
        leave_desk(&self.workbench, app);
    }

    /// Keeps what was typed since the last call where a crash can't reach it.
    pub(super) fn recover(&mut self, app: &mut App) {
        self.recovery.note(app);
    }

    /// Starts work in the background.
    pub(super) fn start(&mut self, effect: Effect, out: &UnboundedSender<Msg>) {
        let (bench, out) = (self.workbench.clone(), out.clone());
        match effect {
            Effect::Ask(ask) => self.ask(*ask, out),
            Effect::Cancel => {
                if let Some(token) = lock(&self.turn).take() {
                    token.cancel();
                }
            }
            Effect::Copy(text) => self.clipboard.copy(text, move |copied| send(&out, Msg::Copied(copied))),
            Effect::AskClipboard => self.clipboard.paste(move |text| send(&out, Msg::Clipboard(text))),
            other => in_background(move || quietly(&bench, other, &out)),
        }
    }

    fn ask(&self, ask: Ask, out: UnboundedSender<Msg>) {
        let token = CancellationToken::new();
        *lock(&self.turn) = Some(token.clone());
        let bench = self.workbench.clone();
        tokio::spawn(async move {
            let (prepared, ask) = {
                let (bench, tell) = (bench.clone(), out.clone());
                let work = move || (begun(&bench, &ask, &tell), ask);
                // A keychain may take seconds to answer; a cancel does not wait for it.
                let prepared = tokio::select! {
                    () = token.cancelled() => return send(&out, Msg::CancelledEarly),
                    done = tokio::task::spawn_blocking(work) => done,
                };
                match prepared {
                    Ok(done) => done,
                    Err(_) => return send(&out, Msg::Refused(broken())),
                }
            };
            let (setup, session) = match prepared {
                Ok(both) => both,
                Err(refused) => return send(&out, *refused),
            };
            send(&out, Msg::Began(setup.id.clone(), session.clone()));
            let mut running = driver::start(setup);
            let stop = running.cancel.clone();
            let watch = tokio::spawn(async move {
                token.cancelled().await;
                stop.cancel();
            });
            let mut ended = None;
            while let Some(event) = running.events.recv().await {
                match &event.kind {
                    TurnEventKind::Ended(end) => ended = Some(end.clone()),
                    TurnEventKind::Proposed(proposal) => queue(&bench, &session, &event.turn, proposal, &out),
                    _ => {}
                }
                let last = ended.is_some();
                send(&out, Msg::Turn(Box::new(event)));
                if last {
                    break;
                }
            }
            watch.abort();
            let Some(ended) = ended else { return send(&out, Msg::Refused(broken())) };
            let kept = tokio::task::spawn_blocking(move || bench.finish(&session, &ask, *ended)).await;
            match kept {
                Ok(finished) => send(&out, Msg::Finished(Box::new(finished))),
                Err(_) => send(&out, Msg::Refused(broken())),
            }
        });
    }
}

/// Keeps a proposal as soon as it is made: from then on it survives a crash.
fn queue(
    bench: &Workbench,
    session: &SessionId,
    turn: &TurnId,
    proposal: &Proposal,
    out: &UnboundedSender<Msg>,
) {
    if let Err(why) = bench.queue(session, turn, proposal) {
        send(out, Msg::Notice(Notice::problem(format!("A proposal could not be kept: {why}."))));
    }
}

/// Remembers where the author is in a book.
pub(super) fn leave_desk(bench: &Workbench, app: &App) {
    if app.read_only.is_some() {
        return;
    }
    let (document, cursor) = match app.document() {
        Some(d) => (Some(d.path.clone()), d.buffer.to_file_offset(d.buffer.cursor())),
        None => (None, 0),
    };
    let (chapter, persona) = (app.last_chapter.clone(), Some(app.chat.persona.clone()));
    let (day, words) = (Some(app.day.clone()), app.words_of_day());
    bench.leave_desk(&Desk { v: 1, document, chapter, cursor, persona, day, words });
}

/// Reads relationships, or finds and changes the places of a name.
fn relate(bench: &Workbench, effect: Effect) -> Msg {
    match effect {
        Effect::FindPlaces(old, new) => {
            Msg::RenameFound(bench.rename(&old, &new).map(Box::new).map_err(|why| sentence(&why)))
        }
        Effect::Exempt(found, id) => {
            let again = bench.exempt(&found, &id).and_then(|()| bench.rename(&found.old, &found.new));
            Msg::RenameFound(again.map(Box::new).map_err(|why| sentence(&why)))
        }
        Effect::Rename(found, chosen) => {
            let renamed = bench.apply_rename(&found.old, &found.new, &chosen);
            Msg::Renamed(renamed.map(Box::new).map_err(|why| sentence(&why)))
        }
        _ => Msg::Relationships(Arc::new(bench.graph())),
    }
}

/// An error as a sentence.
fn sentence(error: &impl std::fmt::Display) -> String {
    let words = error.to_string();
    let mut chars = words.chars();
    let begin: String = chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect();
    format!("{begin}.")
}

/// A part of the program that should never fail has failed.
fn broken() -> Failure {
    Failure {
        kind: FailureKind::Work,
        message: "This turn broke inside the program.".to_owned(),
        hint: "Your text and the conversation are safe; ask again.".to_owned(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A message to a loop that has ended is of no use to anybody.
fn send(out: &UnboundedSender<Msg>, msg: Msg) {
    let _ = out.send(msg);
}

fn in_background(work: impl FnOnce() + Send + 'static) {
    tokio::task::spawn_blocking(work);
}

/// Shows a file that was just made, in the book as it is now.
fn made(bench: &Workbench, file: Result<BookPath, String>, out: &UnboundedSender<Msg>) {
    match file {
        Ok(path) => {
            if let Ok(book) = bench.refresh() {
                let names = Names::of(&book);
                send(out, Msg::BookRead(book, names));
            }
            send(out, Msg::Show(path, None));
            bench.index_of(&bench.book());
        }
        Err(why) => send(out, Msg::Notice(Notice::problem(why))),
    }
}

/// Sums up what AI was used for, for reading.
fn provenance(bench: &Workbench) -> Msg {
    match bench.provenance_report() {
        Ok(report) => Msg::Popup(Box::new(super::popups::Popup::text("How AI was used", &report.text()))),
        Err(error) => {
            Msg::Notice(Notice::problem(format!("The records in .scritorio can't be read: {error}.")))
        }
    }
}

/// Takes the book before something of the author's is written. Where another window has it, nothing is done, and that is told; returns
/// what is left to do.
fn if_free(bench: &Workbench, effect: Effect, out: &UnboundedSender<Msg>) -> Option<Effect> {
    let writes = matches!(
        effect,
        Effect::Save { .. }
            | Effect::Judge(_)
            | Effect::Rename(..)
            | Effect::Exempt(..)
            | Effect::NewEntry(..)
            | Effect::NewChapter(_)
    );
    let Some(holder) = writes.then(|| bench.hold_to_write()).flatten() else { return Some(effect) };
    let why = held_in_words(holder.pid);
    match effect {
        Effect::Save { path, .. } => send(out, Msg::Saved(path, Err(SaveProblem::ReadOnly))),
        Effect::Judge(verdict) => {
            if let Some(id) = verdict.id().cloned() {
                send(
                    out,
                    match verdict {
                        Verdict::AcceptAll(_) => Msg::AcceptedAll(vec![], Some((id, why))),
                        _ => Msg::Judged(id, "Judged", Err(why)),
                    },
                );
            }
        }
        Effect::Rename(..) => send(out, Msg::Renamed(Err(why))),
        Effect::Exempt(..) => send(out, Msg::RenameFound(Err(why))),
        _ => {}
    }
    send(out, Msg::HeldBy(holder.pid));
    None
}

/// Does one piece of work that touches files or the keychain.
pub(super) fn quietly(bench: &Workbench, effect: Effect, out: &UnboundedSender<Msg>) {
    let Some(effect) = if_free(bench, effect, out) else { return };
    let answer = match effect {
        Effect::Open(path, place) => {
            let read = bench.read_document(&path).map_err(|e| e.to_string());
            Msg::Opened(path, place, read)
        }
        Effect::Reread(path, even_if_unsaved) => {
            let read = bench.read_document(&path).map_err(|e| e.to_string());
            Msg::Reread(path, even_if_unsaved, read)
        }
        Effect::Save { path, text, expected, over } => {
            let expected = if over { bench.read_document(&path).ok().map(|d| d.hash) } else { expected };
            let saved = bench.save_document(&path, &text, expected.as_deref()).map_err(|e| match e {
                DocumentError::Changed { .. } => SaveProblem::ChangedOnDisk,
                other => SaveProblem::Other(format!("{other}.")),
            });
            Msg::Saved(path, saved)
        }
        Effect::Peek(ask) => ask::peeked(bench, &ask, out),
        Effect::Provenance => provenance(bench),
        Effect::Timeline => {
            let popup = super::popups::timeline::prepare(&bench.book(), &bench.timeline());
            Msg::Popup(Box::new(popup))
        }
        Effect::Judge(verdict) => judge(bench, verdict),
        Effect::Compare(id) => {
            let review = bench.review(&id).map_err(|e| e.to_string());
            Msg::Compared(id, review.map(|review| Box::new(Compared::of(&review))))
        }
        Effect::Evidence(id) => Msg::Evidence(bench.evidence(&id).map(Box::new)),
        Effect::Refresh => match bench.refresh() {
            Ok(book) => {
                let names = Names::of(&book);
                send(out, Msg::BookRead(Arc::clone(&book), names));
                bench.index_of(&book);
                return;
            }
            Err(why) => Msg::Notice(Notice::problem(why.to_string())),
        },
        Effect::Search(query) => {
            let hits = bench.search_book(&query, HITS);
            Msg::Hits(query, hits)
        }
        Effect::CountPlaces(searched, counting) => Msg::Counted(searched, counting.count(PLACES)),
        Effect::Index => {
            bench.index_of(&bench.book());
            return;
        }
        Effect::ReadRelationships | Effect::FindPlaces(..) | Effect::Exempt(..) | Effect::Rename(..) => {
            relate(bench, effect)
        }
        Effect::FindNames => {
            let book = bench.book();
            send(out, Msg::BookRead(Arc::clone(&book), Names::of(&book)));
            bench.index_of(&book);
            return;
        }
        Effect::ReadProposals => Msg::Proposals(bench.proposals()),
        Effect::ListConversations
        | Effect::ListDeleted
        | Effect::SearchConversations(_)
        | Effect::Session(_)
        | Effect::ReadConversation(_)
        | Effect::CatchUp(_)
        | Effect::CheckQuotes(..) => match sessions::done(bench, effect, out) {
            Some(answer) => answer,
            None => return,
        },
        Effect::NewEntry(entry_type, name) => {
            return made(bench, bench.new_entry(entry_type, &name).map_err(|e| e.to_string()), out);
        }
        Effect::NewChapter(title) => {
            return made(bench, bench.new_chapter(&title).map_err(|e| e.to_string()), out);
        }
        Effect::Setting(name, value) => match bench.set_setting(name, Some(value)) {
            Ok(()) => return,
            Err(why) => Msg::Notice(Notice::problem(why.to_string())),
        },
        Effect::StoreKey(provider, key) => store_key(bench, &provider, &key),
        Effect::ListProviders => Msg::Providers(bench.providers_on_offer(), bench.listening()),
        Effect::ListModels => Msg::Models(bench.models(&bench.choices().provider.value).map(Box::new)),
        Effect::UseModel(provider, model) => use_model(bench, &provider, &model),
        Effect::ReadModels => Msg::OwnModels(bench.models_of_members()),
        Effect::SumUp => Msg::Standing(Box::new(bench.standing_with_killed())),
        Effect::UseProvider(provider) => use_provider(bench, &provider, ""),
        Effect::ReadRecovered => match recovered(bench) {
            Some(found) => found,
            None => return,
        },
        Effect::Ask(_)
        | Effect::Cancel
        | Effect::Copy(_)
        | Effect::SendToTerminal(_)
        | Effect::AskClipboard
        | Effect::Mouse(_)
        | Effect::Suspend
        | Effect::Quit => return,
    };
    send(out, answer);
}

/// Looks for unsaved text that an earlier run left behind.
fn recovered(bench: &Workbench) -> Option<Msg> {
    let found = bench.recovered().unwrap_or_default();
    let present = |r: &Recovered| bench.read_document(&r.path).map(|d| d.text).unwrap_or_default();
    let both: Vec<_> = found.into_iter().map(|r| (present(&r), r)).map(|(text, r)| (r, text)).collect();
    (!both.is_empty()).then_some(Msg::Recovered(both))
}

/// Puts a key into the keychain. Where that fails, it takes more than a row to say what to do.
fn store_key(bench: &Workbench, provider: &str, key: &TypedKey) -> Msg {
    match bench.keys().set(provider, &key.0) {
        Ok(()) => use_provider(bench, provider, "The key is in the keychain. "),
        Err(why) => {
            let variable = bench.keys().variable(provider);
            Msg::Popup(Box::new(super::popups::key_entry::not_kept(&why, &variable)))
        }
    }
}

/// Keeps the choice of who answers, and tells who does.
fn use_provider(bench: &Workbench, provider: &str, before: &str) -> Msg {
    if bench.choices().provider.value != provider
        && let Err(why) = bench.set_setting(&["provider", "name"], Some(provider.into()))
    {
        return Msg::Notice(Notice::problem(why.to_string()));
    }
    let chosen = bench.choices().provider;
    let (name, model) = bench.provider_and_model();
    let words = if name != provider {
        format!("{before}{name} still answers: the {} says so.", chosen.from.as_str())
    } else if model.is_empty() {
        format!(
            "{before}{name} answers next. Name its model: `model` under [providers.{name}] in config.toml."
        )
    } else {
        format!("{before}{name} answers next, with {model}.")
    };
    if name == provider {
        Msg::ProviderChosen((name, model), words)
    } else {
        Msg::Connected((name, model), words)
    }
}

/// Keeps the choice of a model, and tells which one answers.
fn use_model(bench: &Workbench, provider: &str, model: &str) -> Msg {
    if let Err(why) = bench.use_model(provider, model) {
        return Msg::Notice(Notice::problem(why.to_string()));
    }
    let (chosen, (name, answers)) = (bench.choices().model, bench.provider_and_model());
    let words = if answers == model {
        format!("{name} answers next, with {answers}.")
    } else {
        format!("{answers} still answers: the {} says so.", chosen.from.as_str())
    };
    Msg::Connected((name, answers), words)
}

fn judge(bench: &Workbench, verdict: Verdict) -> Msg {
    let (id, verb, result) = match verdict {
        Verdict::Accept(id, _, read) | Verdict::Settle(id, _, _, read) if !is_as_read(bench, &id, &read) => {
            return Msg::Judged(id, "Applied", Err(format!("Nothing was written: {CHANGED}. Look again.")));
        }
        Verdict::Accept(id, hunks, _) => {
            let result = bench.apply(&id, &hunks);
            (id, "Applied", result)
        }
        Verdict::Settle(id, settled, hunks, _) => {
            let settled: Result<Vec<_>, _> =
                settled.into_iter().map(|(file, seen, text)| bench.resolve(&id, file, &seen, text)).collect();
            let result = settled.and_then(|_| bench.apply(&id, &hunks));
            (id, "Applied", result)
        }
        Verdict::Resolve(id, file, seen, text) => {
            let result = bench.resolve(&id, file, &seen, text);
            (id, "Settled", result)
        }
        Verdict::Reject(id, why) => {
            let result = bench.reject(&id, why.as_deref());
            (id, "Rejected", result)
        }
        Verdict::Undo(id) => {
            let result = bench.undo(&id);
            (id, "Undone", result)
        }
        Verdict::Redo(id) => {
            let result = bench.redo(&id);
            (id, "Applied again", result)
        }
        Verdict::Edit(id, file, text) => {
            let result = bench.edit(&id, file, text);
            (id, "Edited", result)
        }
        Verdict::AcceptAll(all) => return accept_all(bench, all),
    };
    Msg::Judged(id, verb, result.map(Box::new).map_err(|e| e.to_string()))
}

const CHANGED: &str = "it has changed since you read it";

/// Whether a proposal still has the texts that the author has read: somebody may have edited it elsewhere.
fn is_as_read(bench: &Workbench, id: &ProposalId, read: &str) -> bool {
    bench.proposal(id).is_some_and(|queued| stamp(&queued.proposal) == read)
}

/// Accepts one after another, and stops at the first that can't be, or that is not what the author has read.
fn accept_all(bench: &Workbench, all: Vec<(ProposalId, Vec<Vec<bool>>, String)>) -> Msg {
    let mut done = vec![];
    for (id, hunks, read) in all {
        let applied = if is_as_read(bench, &id, &read) {
            bench.apply(&id, &hunks).map_err(|e| e.to_string())
        } else {
            Err(CHANGED.to_owned())
        };
        match applied {
            Ok(queued) => done.push(queued),
            Err(why) => return Msg::AcceptedAll(done, Some((id, why))),
        }
    }
    Msg::AcceptedAll(done, None)
}
