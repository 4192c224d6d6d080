//! Conversations: opening one, and what the author wants done with them.

use crate::agent::grounding::{Grounded, hide_markers};
use crate::domain::conversation::{Turn, TurnStatus};
use crate::domain::ids::SessionId;
use crate::workbench::{Ask, Finished, Resumed};

use super::super::app::App;
use super::super::chat::Chat;
use super::super::conversation::{State, TurnView};
use super::super::effect::Effect;
use super::super::layout::Pane;
use super::super::msg::{Msg, Notice, Opened, SessionVerb};
use super::super::popups::Popup;
use super::super::popups::conversations::ConversationsPopup;
use super::{commands, update as happen};

/// Turns whose quotes are checked in one go.
const AT_ONCE: usize = 8;

const BUSY: &str = "A turn is running: Esc stops it.";

pub(super) fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Past(past) => {
            if let Some(popup) = popup(app) {
                popup.set(past.clone());
            }
            app.past = past;
            falls_behind(app).map(Effect::CatchUp).into_iter().collect()
        }
        Msg::CaughtUp(session, resumed) => caught_up(app, &session, *resumed),
        Msg::GoOnWith(session, turn) => {
            if app.chat.is_busy() {
                app.tell(Notice::hint(BUSY));
                return vec![];
            }
            app.chat.wanted = Some((session.clone(), turn));
            commands::focus(app, Pane::Chat);
            vec![Effect::ReadConversation(Some(session))]
        }
        Msg::Conversation(conversation) => opened(app, *conversation),
        Msg::CantGoOn(session, why, asked) => stranded(app, &session, &why, asked.map(|ask| *ask)),
        Msg::QuotesChecked(session, checked) if app.chat.session.as_ref() == Some(&session) => {
            for (id, grounded) in checked {
                if let Some(turn) = app.chat.turn_mut(&id) {
                    turn.check(grounded);
                }
            }
            check_more(app)
        }
        Msg::Session(verb) => ask_for(app, verb),
        Msg::SessionDone(verb, done) => told(app, &verb, done),
        Msg::SearchConversations(query) => vec![Effect::SearchConversations(query)],
        Msg::Passages(query, passages) => {
            if let Some(popup) = popup(app) {
                popup.found(&query, passages);
            }
            vec![]
        }
        _ => vec![],
    }
}

fn popup(app: &mut App) -> Option<&mut ConversationsPopup> {
    app.popups.iter_mut().find_map(|popup| match popup {
        Popup::Conversations(popup) => Some(&mut **popup),
        _ => None,
    })
}

/// Shows all conversations, or a field to search them.
pub(super) fn show(app: &mut App, search: bool) -> Vec<Effect> {
    let (all, here) = (app.past.clone(), app.chat.session.clone());
    let popup =
        if search { ConversationsPopup::searching(all, here) } else { ConversationsPopup::new(all, here) };
    app.popups.push(Popup::Conversations(Box::new(popup)));
    vec![Effect::ListConversations]
}

/// Makes a conversation that goes on from the message that is walked to, else from the last one.
pub(super) fn fork_here(app: &mut App) -> Vec<Effect> {
    let turn = match app.chat.walked_to() {
        Some((turn, _)) => app.chat.turns.get(turn),
        None => app.chat.turns.last(),
    };
    let id = turn.filter(|turn| !turn.state.is_live()).and_then(|turn| turn.id.clone());
    match (app.chat.session.clone(), id) {
        (Some(session), Some(id)) if app.chat.stored => ask_for(app, SessionVerb::Fork(session, Some(id))),
        _ => {
            app.tell(Notice::hint("There is no answered message here to go on from."));
            vec![]
        }
    }
}

/// Hands over what is to be done, unless a turn that runs would be torn from its conversation.
fn ask_for(app: &mut App, verb: SessionVerb) -> Vec<Effect> {
    let leaves = match &verb {
        SessionVerb::Fork(..) | SessionVerb::Restore(_) => true,
        SessionVerb::Delete(session, _) => app.chat.session.as_ref() == Some(session),
        SessionVerb::Rename(..) | SessionVerb::Export(..) => false,
    };
    if leaves && app.chat.is_busy() {
        app.tell(Notice::hint(BUSY));
        return vec![];
    }
    vec![Effect::Session(verb)]
}

fn told(app: &mut App, verb: &SessionVerb, done: Result<(String, Option<SessionId>), String>) -> Vec<Effect> {
    match done {
        Ok((words, next)) => {
            if matches!(verb, SessionVerb::Delete(..)) && app.chat.session.as_ref() == Some(verb.session()) {
                leave(app);
            }
            let effects = match next {
                Some(session) => {
                    app.popups.retain(|popup| !matches!(popup, Popup::Conversations(_)));
                    happen(app, Msg::GoOnWith(session, None))
                }
                None => vec![],
            };
            app.tell(Notice::done(words));
            effects
        }
        Err(why) => {
            app.tell(Notice::problem(why));
            vec![]
        }
    }
}

/// Starts a new conversation. What was typed stays.
pub(super) fn leave(app: &mut App) {
    let typed = app.chat.typed();
    app.chat = Chat::new(app.chat.persona.clone());
    app.chat.set_typed(&typed);
}

/// Starts a new conversation in place of one that can't be gone on with. What was typed, asked and selected stays, and nothing is sent.
fn stranded(app: &mut App, session: &SessionId, why: &str, asked: Option<Ask>) -> Vec<Effect> {
    let chosen = app.chat.wanted.take_if(|(wanted, _)| wanted == session).is_some();
    let Some(ask) = asked else {
        if !chosen && (app.chat.is_busy() || !app.chat.turns.is_empty()) {
            return vec![];
        }
        let words = if chosen {
            format!("{why}\n\nYou are where you were.")
        } else {
            format!("{why}\n\nIt was your last conversation. This is a new one.")
        };
        app.popups.push(Popup::text("This conversation can't be opened", &words));
        return vec![];
    };
    let was_sent = std::mem::take(&mut app.chat.sending);
    if was_sent {
        let later = app.chat.take_typed();
        let typed = [ask.question.as_str(), later.trim()].join("\n\n");
        app.chat.set_typed(typed.trim());
    }
    let persona = ask.persona.unwrap_or_else(|| app.chat.persona.clone());
    leave(app);
    app.chat.persona = persona;
    app.chat.chip = ask.selection;
    let key = app.keymap.key_of("send").unwrap_or_default();
    let words = format!(
        "{why}\n\nNothing was sent. A new conversation has begun; your question stands in its input, and {key} sends it there."
    );
    app.popups.push(Popup::text("This conversation can't go on", &words));
    vec![Effect::ListConversations]
}

/// Shows a conversation that was read.
fn opened(app: &mut App, conversation: Opened) -> Vec<Effect> {
    let Opened { session, turns, unchecked, usage, unread } = conversation;
    // The one that is read at the start never takes the place of what was asked meanwhile.
    let wanted = app.chat.wanted.take_if(|(wanted, _)| *wanted == session);
    if app.chat.is_busy() || !(wanted.is_some() || app.chat.turns.is_empty()) {
        return vec![];
    }
    let chat = &mut app.chat;
    if std::mem::take(&mut chat.editing) {
        chat.take_typed();
    }
    chat.stored = true;
    chat.session = Some(session);
    chat.turns = turns.into_iter().map(TurnView::kept).collect();
    chat.used = usage;
    chat.turns.iter_mut().take(unchecked).for_each(|turn| turn.unchecked = true);
    chat.aside.clear();
    chat.top = None;
    chat.at = None;
    chat.quote = None;
    chat.show = wanted.and_then(|(_, turn)| turn);
    if let Some(words) = unread {
        app.tell(Notice::hint(words));
    }
    check_more(app)
}

/// Returns the conversation on screen where the list tells something else of it than what is shown: another window or program has said
/// something in it.
fn falls_behind(app: &App) -> Option<SessionId> {
    let chat = &app.chat;
    // What is edited or is about to begin takes its place at the end first.
    let session = chat.session.as_ref().filter(|_| chat.stored && !chat.sending && !chat.editing)?;
    let listed = app.past.iter().find(|summary| summary.session == *session)?;
    let known = || chat.turns.iter().chain(&chat.aside).filter(|turn| turn.id.is_some());
    let answered = known().filter(|turn| !turn.state.is_live() && !turn.raw.trim().is_empty()).count();
    let is_shown = (listed.questions, listed.messages, listed.usage)
        == (known().count(), known().count() + answered, chat.used);
    (!is_shown).then(|| session.clone())
}

/// Shows what others have said in the conversation on screen, at its place. What is shown already stays as it is laid out, and what the author looks at where it
/// is. A question of theirs that is not answered yet is shown when it is.
fn caught_up(app: &mut App, session: &SessionId, resumed: Resumed) -> Vec<Effect> {
    let chat = &mut app.chat;
    let Resumed { turns, replaced, usage, .. } = resumed;
    let is_over = |turn: &Turn| turn.status != TurnStatus::Running;
    let has_ended = |view: &mut TurnView| !view.state.is_live() && view.state != State::Killed;
    // It was read just before or just after an answer was kept: the list that follows the end of a turn tells of it again.
    let is_between = turns.iter().any(|turn| {
        if is_over(turn) {
            chat.running.as_ref() == Some(&turn.id)
        } else {
            chat.turn_mut(&turn.id).is_some_and(has_ended)
        }
    });
    if chat.session.as_ref() != Some(session) || chat.sending || chat.editing || is_between {
        return vec![];
    }
    chat.used = usage;
    while let Some(gone) =
        chat.turns.iter().rposition(|turn| turn.id.as_ref().is_some_and(|id| replaced.contains(id)))
    {
        chat.take_out(gone);
    }
    let mut place = 0;
    for turn in turns {
        let is_it = |view: &TurnView| view.id.as_ref() == Some(&turn.id);
        let shown = chat.turns.iter().skip(place).position(is_it).map(|after| place + after);
        if let Some(shown) = shown {
            // The turn that runs stays the last.
            if chat.running.as_ref() == Some(&turn.id) {
                break;
            }
            place = shown + 1;
            // It was shown as cut off, and another program was still at work on it.
            if let Some(view) =
                chat.turns.get_mut(shown).filter(|view| view.state == State::Killed && is_over(&turn))
            {
                *view = unchecked(session, turn);
            }
        } else if is_over(&turn) && !chat.turns.iter().chain(&chat.aside).any(is_it) {
            chat.put_in(place, unchecked(session, turn));
            place += 1;
        }
    }
    check_more(app)
}

/// A turn that is over, whose quotes are still to be checked.
fn unchecked(session: &SessionId, turn: Turn) -> TurnView {
    let grounded = Grounded { shown: hide_markers(&turn.answer), ..Grounded::default() };
    let finished = Finished { session: session.clone(), turn, grounded, is_stored: true, not_kept: None };
    let mut view = TurnView::kept(finished);
    view.unchecked = true;
    view
}

/// Has the quotes of a few more turns checked, those nearest to what the author looks at first.
fn check_more(app: &mut App) -> Vec<Effect> {
    let Some(session) = app.chat.session.clone() else { return vec![] };
    let chat = &app.chat;
    let looks_at = match &chat.show {
        Some(id) => chat.turns.iter().position(|turn| turn.id.as_ref() == Some(id)).unwrap_or(0),
        None if chat.top.is_none() => chat.turns.len(),
        None => chat.place_of(chat.first_line()).0,
    };
    let open = app.chat.turns.iter().enumerate().filter(|(_, turn)| turn.unchecked);
    let mut open: Vec<usize> = open.map(|(at, _)| at).collect();
    open.sort_by_key(|at| at.abs_diff(looks_at));
    open.truncate(AT_ONCE);
    let mut batch = vec![];
    for at in open {
        let Some(turn) = app.chat.turns.get_mut(at) else { continue };
        turn.unchecked = false;
        let read = turn.tools.iter().flat_map(|tool| tool.resolved.iter().cloned()).collect();
        batch.extend(turn.id.clone().map(|id| (id, turn.raw.clone(), read)));
    }
    if batch.is_empty() { vec![] } else { vec![Effect::CheckQuotes(session, batch)] }
}
