//! Keys of the manuscript pane.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::domain::codex::Entry;
use crate::editor::Delete;

use super::super::app::App;
use super::super::document::motion_named;
use super::super::effect::Effect;
use super::super::msg::Notice;
use super::super::popups::card;

/// Runs a command of this pane.
pub(super) fn run(app: &mut App, name: &str) -> Vec<Effect> {
    match name {
        "copy" | "cut" => return copy(app, name == "cut"),
        "paste" => return vec![Effect::AskClipboard],
        _ => {}
    }
    let read_only = cannot_write(app);
    let Some(document) = app.document_mut() else { return vec![] };
    let (buffer, view) = (&mut document.buffer, &mut document.view);
    match name {
        "select-all" => buffer.select_all(),
        "selection-mode" => {
            if buffer.anchor_active() {
                buffer.clear_selection();
            } else {
                buffer.start_selection();
            }
        }
        "undo" | "redo" if read_only.is_none() => {
            let done = if name == "undo" { buffer.undo() } else { buffer.redo() };
            view.reveal(buffer);
            if !done {
                app.tell(Notice::hint(format!("There is nothing to {name}.")));
            }
        }
        _ => {}
    }
    vec![]
}

/// Why the open document can't be changed, if so.
pub(super) fn cannot_write(app: &App) -> Option<String> {
    let of_document = || app.document().and_then(|d| d.read_only.as_ref());
    app.read_only.clone().or_else(|| Some(format!("This text can't be changed: {}", of_document()?)))
}

fn copy(app: &mut App, cut: bool) -> Vec<Effect> {
    let read_only = cannot_write(app).is_some();
    let Some(document) = app.document_mut() else { return vec![] };
    let Some(text) = document.buffer.selected_text() else {
        app.tell(Notice::hint("Nothing is selected."));
        return vec![];
    };
    if cut && !read_only {
        document.buffer.insert("");
        document.view.reveal(&document.buffer);
    }
    app.clipboard.clone_from(&text);
    vec![Effect::Copy(text)]
}

/// A key that no command took: text.
pub(super) fn on_key(app: &mut App, key: KeyEvent) -> Vec<Effect> {
    if !is_edit(key) {
        return vec![];
    }
    if let Some(why) = cannot_write(app) {
        app.tell(Notice::problem(why));
        return vec![];
    }
    app.typed_at = Some(app.now);
    let Some(document) = app.document_mut() else { return vec![] };
    let word = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    let (buffer, view) = (&mut document.buffer, &mut document.view);
    match key.code {
        KeyCode::Char(c) => buffer.insert(c.encode_utf8(&mut [0; 4])),
        KeyCode::Enter => buffer.insert("\n"),
        KeyCode::Tab => buffer.insert("\t"),
        KeyCode::Backspace => view.delete(buffer, if word { Delete::WordBack } else { Delete::GraphemeBack }),
        KeyCode::Delete => {
            view.delete(buffer, if word { Delete::WordForward } else { Delete::GraphemeForward });
        }
        _ => {}
    }
    view.reveal_later();
    vec![]
}

/// Text that came in one piece.
pub(super) fn on_paste(app: &mut App, text: &str) {
    if let Some(find) = app.find.as_mut() {
        if find.in_replacement {
            if let Some(field) = find.replacement.as_mut() {
                field.insert(text);
            }
        } else {
            find.needle.insert(text);
        }
        return;
    }
    if let Some(why) = cannot_write(app) {
        app.tell(Notice::problem(why));
        return;
    }
    if let Some(document) = app.document_mut() {
        document.buffer.paste(text);
        document.view.reveal(&document.buffer);
    }
}

fn is_edit(key: KeyEvent) -> bool {
    match key.code {
        KeyCode::Char(_) => super::is_text(&key),
        KeyCode::Enter | KeyCode::Tab | KeyCode::Backspace | KeyCode::Delete => true,
        _ => false,
    }
}

/// The entry whose name is under the cursor.
pub(super) fn entry_at_cursor(app: &App) -> Option<&Entry> {
    let document = app.document()?;
    let cursor = document.buffer.cursor();
    let line = document.buffer.line_of(cursor);
    let start = document.buffer.line_start(line);
    let text = document.buffer.slice(start..document.buffer.line_end(line));
    let at = cursor - start;
    let mention = app.names.find(&text).into_iter().find(|m| m.range.start <= at && at <= m.range.end)?;
    let named = app.names.entries.get(mention.entry)?;
    app.book.entries.iter().find(|entry| entry.path == named.path && entry.address() == named.address)
}

/// Moves the cursor, for a command whose name begins with `move-`.
pub(super) fn move_by(app: &mut App, name: &str, extend: bool) {
    let Some(motion) = motion_named(name) else { return };
    if let Some(document) = app.document_mut() {
        document.view.apply(&mut document.buffer, motion, extend);
    }
}

/// Opens the card of the Codex name under the cursor.
pub(super) fn name_card(app: &mut App) -> Vec<Effect> {
    match entry_at_cursor(app) {
        Some(entry) => {
            let popup = card::open(&app.book, entry, &app.names, &app.graph);
            app.popups.push(popup);
        }
        None if app.is_reading => app.tell(Notice::hint("The Codex is still being read; a moment.")),
        None => app.tell(Notice::hint("There is no Codex name under the cursor.")),
    }
    vec![]
}
