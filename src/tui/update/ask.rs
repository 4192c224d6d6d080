//! Asking: from the input of the chat, about a selection, once more.

use crate::domain::conversation::SelectionMeta;
use crate::domain::ids::{BookPath, TurnId};
use crate::domain::passage::{count_words, sha256_hex};
use crate::workbench::provider::OFFLINE;
use crate::workbench::{Ask, Selection};

use super::super::app::App;
use super::super::conversation::TurnView;
use super::super::document::OpenDocument;
use super::super::effect::Effect;
use super::super::layout::Pane;
use super::super::msg::Notice;
use super::private::{is_private, is_private_anywhere};

/// Sends what was typed.
pub(super) fn send(app: &mut App) -> Vec<Effect> {
    if app.chat.typed().trim().is_empty() {
        return vec![];
    }
    if app.chat.is_busy() {
        app.tell(Notice::hint("A turn is running: Esc stops it. What you typed stays."));
        return vec![];
    }
    let question = app.chat.take_typed();
    let selection = app.chat.chip.take();
    let replaces = if std::mem::take(&mut app.chat.editing) { put_aside(app) } else { None };
    vec![begin(app, &question, selection, replaces)]
}

/// Sends the last question again, with what is selected now, to the board member of now.
pub(super) fn again(app: &mut App) -> Vec<Effect> {
    if app.chat.is_busy() {
        app.tell(Notice::hint("A turn is running: Esc stops it."));
        return vec![];
    }
    let Some(question) = app.chat.turns.last().map(|turn| turn.question.clone()) else { return vec![] };
    let selection = app.chat.chip.take();
    let replaces = put_aside(app);
    vec![begin(app, &question, selection, replaces)]
}

/// Puts the last question into the input, so that sending takes its place. What was typed stays.
pub(super) fn edit_last(app: &mut App) {
    let Some(turn) = app.chat.turns.last() else { return };
    if app.chat.is_busy() {
        app.tell(Notice::hint("A turn is running: Esc stops it."));
    } else if !app.chat.input.is_empty() {
        app.tell(Notice::hint("Send or clear what you have typed first."));
    } else {
        let question = turn.question.clone();
        app.chat.set_typed(&question);
        app.chat.editing = true;
        app.chat.at = None;
    }
}

/// Takes the last turn off the screen, with those that it would have replaced, until the new one has an answer. Returns the one on disk
/// that is replaced; a turn that was refused was never there.
fn put_aside(app: &mut App) -> Option<TurnId> {
    let chat = &mut app.chat;
    chat.aside.clear();
    let last = chat.turns.pop()?;
    let replaced = last.id.clone().or_else(|| last.replaces.clone());
    let mut next = last.replaces.clone();
    chat.aside.push(last);
    while let Some(turn) = next.as_ref().and_then(|id| chat.turns.pop_if(|turn| turn.id.as_ref() == Some(id)))
    {
        next.clone_from(&turn.replaces);
        chat.aside.push(turn);
    }
    replaced
}

/// The turn that took the place of others is over: those that are worth more come back before it, so that one that failed or was stopped
/// costs no answer.
pub(super) fn put_back(app: &mut App) {
    let mut aside = std::mem::take(&mut app.chat.aside);
    let Some(new) = app.chat.turns.last() else { return };
    let worth = new.worth();
    aside.retain(|turn| turn.worth() > worth);
    if aside.is_empty() {
        return;
    }
    let place = app.chat.turns.len() - 1;
    app.chat.turns.splice(place..place, aside.into_iter().rev());
    app.chat.at = None;
}

/// Asks the offline reader, this once: what was typed, else the last question.
pub(super) fn offline(app: &mut App) -> Vec<Effect> {
    if app.chat.is_busy() {
        app.tell(Notice::hint("A turn is running: Esc stops it. What you typed stays."));
        return vec![];
    }
    let question = if app.chat.typed().trim().is_empty() {
        app.chat.turns.last().map(|turn| turn.question.clone())
    } else {
        Some(app.chat.take_typed())
    };
    let Some(question) = question else {
        app.tell(Notice::hint("Nothing was asked yet: type a question first."));
        return vec![];
    };
    let chip = app.chat.chip.take();
    let ask = Ask { provider: Some(OFFLINE.to_owned()), ..request(app, question.trim().to_owned(), chip) };
    app.focus = Pane::Chat;
    app.side = Pane::Chat;
    vec![sent(app, ask)]
}

fn begin(app: &mut App, question: &str, selection: Option<Selection>, replaces: Option<TurnId>) -> Effect {
    let ask = Ask { replaces, ..request(app, question.trim().to_owned(), selection) };
    sent(app, ask)
}

fn sent(app: &mut App, ask: Ask) -> Effect {
    let meta = ask.selection.as_ref().map(meta);
    let mut view = TurnView::asked(app.chat.persona.clone(), ask.question.clone(), meta);
    view.replaces.clone_from(&ask.replaces);
    if let Some(name) = &ask.provider {
        (view.provider, view.model) = (name.clone(), name.clone());
    }
    app.chat.turns.push(view);
    app.chat.sending = true;
    app.chat.asked_at = Some(app.now);
    app.chat.top = None;
    app.chat.at = None;
    app.chat.quote = None;
    Effect::Ask(Box::new(ask))
}

/// Captures everything that a question needs from the screen. A selection that the author made and that is still there goes along, chip or not.
fn request(app: &App, question: String, chip: Option<Selection>) -> Ask {
    let document = app.document();
    let current = document.map(|d| {
        let unsaved = d.buffer.is_modified().then(|| d.buffer.to_text());
        (d.path.clone(), unsaved)
    });
    let private = unsaved_marks(app, current.as_ref());
    Ask {
        question,
        persona: Some(app.chat.persona.clone()),
        session: app.chat.session.clone(),
        replaces: app.chat.editing.then(|| app.chat.turns.last()?.id.clone()).flatten(),
        current,
        based_on: document.and_then(|d| d.hash.clone()),
        chapter: app.last_chapter.clone(),
        selection: chip
            .or_else(|| document.filter(|d| !is_private(app, d)).and_then(OpenDocument::captured_by_author)),
        private,
        provider: None,
        smoke: false,
    }
}

/// The documents that are marked on the screen and not on the disk yet. The text of the `current` one is taken from the screen already.
fn unsaved_marks(app: &App, current: Option<&(BookPath, Option<String>)>) -> Vec<BookPath> {
    let marked = app.documents.iter().filter(|d| {
        let taken = current.filter(|(path, _)| *path == d.path).and_then(|(_, text)| text.as_deref());
        d.buffer.is_modified() && is_private_anywhere(app, d, taken)
    });
    marked.map(|document| document.path.clone()).collect()
}

fn meta(selection: &Selection) -> SelectionMeta {
    SelectionMeta {
        path: selection.path.clone(),
        title: selection.title.clone(),
        source_words: selection.source_words,
        words: count_words(&selection.text),
        hash: sha256_hex(selection.text.as_bytes()),
    }
}

/// Captures the selection as a chip and goes to the chat.
pub(super) fn about_selection(app: &mut App) -> Vec<Effect> {
    if app.document().is_some_and(|document| is_private(app, document)) {
        app.tell(Notice::hint("AI never reads this document: the selection is not captured."));
        return vec![];
    }
    match app.document().and_then(OpenDocument::captured) {
        Some(selection) => app.chat.chip = Some(selection),
        None => {
            app.tell(Notice::hint("Nothing is selected: the question will be about the open document."));
        }
    }
    app.focus = Pane::Chat;
    app.side = Pane::Chat;
    app.look.focus_mode = false;
    app.chat.at = None;
    vec![]
}

/// Shows what would be sent.
pub(super) fn peek(app: &mut App) -> Vec<Effect> {
    let ask = request(app, app.chat.typed().trim().to_owned(), app.chat.chip.clone());
    vec![Effect::Peek(Box::new(ask))]
}
