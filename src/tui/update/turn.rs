//! A running turn and its end.

use std::time::Duration;

use crate::agent::event::{TurnEvent, TurnEventKind};
use crate::proposal::Status;
use crate::workbench::{Finished, QueuedProposal};

use super::super::app::App;
use super::super::conversation::State;
use super::super::effect::Effect;
use super::super::msg::{Msg, Notice};
use super::ask;

/// An answer that was there sooner than this was not read while it came.
const READING: Duration = Duration::from_secs(2);

pub(super) fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Began(turn, session) => {
            app.chat.sending = false;
            let goes_on = app.chat.stored && app.chat.session.as_ref() == Some(&session);
            app.chat.session = Some(session);
            app.chat.running = Some(turn.clone());
            let (provider, model) = app.answers();
            let (provider, model) = (provider.to_owned(), model.to_owned());
            if let Some(view) = app.chat.turns.last_mut() {
                view.id = Some(turn);
                if view.provider.is_empty() {
                    (view.provider, view.model) = (provider, model);
                }
            }
            // What another window has said in it has just been sent, too.
            if goes_on { vec![Effect::ListConversations] } else { vec![] }
        }
        Msg::CancelledEarly => {
            app.chat.sending = false;
            if let Some(view) = app.chat.turns.last_mut() {
                view.state = State::Cancelled;
                view.touch();
            }
            ask::put_back(app);
            vec![]
        }
        Msg::Refused(failure) => {
            app.chat.sending = false;
            app.chat.running = None;
            if let Some(view) = app.chat.turns.last_mut() {
                view.state = State::Failed(failure);
                view.touch();
            }
            ask::put_back(app);
            vec![]
        }
        Msg::Turn(event) => on_event(app, *event),
        Msg::Finished(finished) => finished_turn(app, *finished),
        _ => vec![],
    }
}

fn on_event(app: &mut App, event: TurnEvent) -> Vec<Effect> {
    // A late event of a turn that was cancelled finds no running turn and is dropped.
    if app.chat.running.as_ref() != Some(&event.turn) {
        return vec![];
    }
    let mut effects = vec![];
    match &event.kind {
        TurnEventKind::Proposed(proposal) => {
            let queued =
                QueuedProposal { proposal: (**proposal).clone(), status: Status::Pending, why: None };
            app.queue.push(proposal.id.clone());
            app.proposals.insert(proposal.id.clone(), queued);
        }
        TurnEventKind::Retry(retry) => app.tell(Notice::hint(retry.why.clone())),
        TurnEventKind::Ended(_) => effects.push(Effect::ReadProposals),
        _ => {}
    }
    let now = app.now;
    if let Some(view) = app.chat.turn_mut(&event.turn) {
        let wait = if let TurnEventKind::Retry(retry) = &event.kind { Some(retry.wait) } else { None };
        view.event(event.kind);
        view.asks_again = wait.map(|wait| now + wait);
    }
    effects
}

fn finished_turn(app: &mut App, finished: Finished) -> Vec<Effect> {
    let id = finished.turn.id.clone();
    if app.chat.running.as_ref() == Some(&id) {
        app.chat.running = None;
        app.chat.used = app.chat.used + finished.turn.usage;
    }
    let quick = app.chat.asked_at.is_some_and(|at| app.now.duration_since(at) < READING);
    app.chat.from_start = quick && app.chat.top.is_none();
    let made = finished.turn.proposals.clone();
    if let Some(why) = &finished.not_kept {
        app.tell(Notice::problem(why.clone()));
    }
    app.chat.stored |= finished.is_stored;
    if !app.chat.stored {
        // A conversation that is nowhere on disk can't be continued; the next question starts one.
        app.chat.session = None;
    }
    if let Some(view) = app.chat.turn_mut(&id) {
        view.finish(finished);
    }
    ask::put_back(app);
    super::judge::proposed(app, &made);
    vec![Effect::ReadProposals, Effect::ListConversations, Effect::SumUp]
}
