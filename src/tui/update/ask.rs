//! Asking: from the input of the chat, about a selection, once more.

use crate::domain::conversation::SelectionMeta;
use crate::domain::ids::BookPath;
use crate::domain::passage::{count_words, sha256_hex};
use crate::workbench::{Ask, Selection};

use super::super::app::App;
use super::super::conversation::TurnView;
use super::super::document::OpenDocument;
use super::super::effect::Effect;
use super::super::layout::Pane;
use super::super::msg::Notice;
use super::private::is_private;

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
    vec![begin(app, &question, selection)]
}

/// Sends a question again, with what is selected now.
pub(super) fn again(app: &mut App, question: &str) -> Vec<Effect> {
    if app.chat.is_busy() {
        app.tell(Notice::hint("A turn is running: Esc stops it."));
        return vec![];
    }
    let selection = app.chat.chip.take();
    vec![begin(app, question, selection)]
}

fn begin(app: &mut App, question: &str, selection: Option<Selection>) -> Effect {
    let ask = request(app, question.trim().to_owned(), selection);
    let meta = ask.selection.as_ref().map(meta);
    app.chat.turns.push(TurnView::asked(app.chat.persona.clone(), ask.question.clone(), meta));
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
    Ask {
        question,
        persona: Some(app.chat.persona.clone()),
        session: app.chat.session.clone(),
        current,
        chapter: app.last_chapter.clone(),
        selection: chip
            .or_else(|| document.filter(|d| !is_private(app, d)).and_then(OpenDocument::captured_by_author)),
        private: unsaved_marks(app),
        smoke: false,
    }
}

/// The documents that are marked on the screen and not on the disk yet.
fn unsaved_marks(app: &App) -> Vec<BookPath> {
    let marked = app.documents.iter().filter(|d| d.buffer.is_modified() && is_private(app, d));
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
