//! Opening, saving and closing documents.

use crate::domain::ids::BookPath;

use super::super::app::App;
use super::super::document::{OpenDocument, title_of};
use super::super::effect::Effect;
use super::super::layout::Pane;
use super::super::msg::{Msg, Notice, SaveProblem};
use super::super::popups::confirm;

pub(super) fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Show(path, place) => {
            if let Some(index) = app.place_of(&path) {
                app.active = index;
                app.find = None;
                show(app, place.as_ref());
                return vec![];
            }
            vec![Effect::Open(path, place)]
        }
        Msg::Opened(path, place, Ok(document)) => {
            if let Some(index) = app.place_of(&path) {
                // It was read again: the disk's words replace the buffer's.
                let mut again = OpenDocument::new(&app.book, path, document);
                let old = &app.documents[index];
                again.words_at_start = old.words_at_start;
                // Its unsaved text is gone for good: the log of it goes too.
                again.logged = old.logged;
                let cursor = old.buffer.cursor();
                again.buffer.set_cursor(cursor, false);
                again.view.set_typewriter(app.look.typewriter);
                app.documents[index] = again;
                let effects = restore(app, index);
                if app.active == index {
                    show(app, place.as_ref());
                }
                return effects;
            }
            drop_clean_documents(app);
            let mut opened = OpenDocument::new(&app.book, path, document);
            opened.view.set_typewriter(app.look.typewriter);
            let why = opened.read_only.clone();
            app.documents.push(opened);
            app.active = app.documents.len() - 1;
            app.find = None;
            show(app, place.as_ref());
            if let Some(why) = why {
                app.tell(Notice::hint(format!("Opened for reading only: {why}")));
            }
            restore(app, app.active)
        }
        Msg::Recovered(found) => {
            // The oldest is asked about first.
            let asks = found.into_iter().rev().map(|(recovered, text)| confirm::recovered(recovered, &text));
            app.popups.extend(asks);
            vec![]
        }
        Msg::Restore(recovered) => {
            let path = recovered.path.clone();
            app.restoring.push(*recovered);
            match app.place_of(&path) {
                Some(index) => {
                    app.active = index;
                    restore(app, index)
                }
                None => vec![Effect::Open(path, None)],
            }
        }
        Msg::Forget(recovered) => vec![Effect::Forget(recovered)],
        Msg::Opened(path, _, Err(why)) => {
            app.tell(Notice::problem(format!("Can't open {path}: {why}")));
            vec![]
        }
        Msg::Saved(path, revision, result) => saved(app, &path, revision, result),
        Msg::SaveAnyway(path) => match app.place_of(&path) {
            Some(index) => vec![save(app, index, true)],
            None => vec![],
        },
        Msg::Reload(path) => vec![Effect::Open(path, None)],
        _ => vec![],
    }
}

/// Puts what an earlier run could not save into its document, as one step that can be undone.
fn restore(app: &mut App, index: usize) -> Vec<Effect> {
    let Some(document) = app.documents.get_mut(index) else { return vec![] };
    let Some(at) = app.restoring.iter().position(|r| r.path == document.path) else { return vec![] };
    let recovered = app.restoring.remove(at);
    document.buffer.replace(0..document.buffer.len(), &recovered.text);
    document.view.reveal(&document.buffer);
    let notice =
        Notice::done(format!("Restored {}. It is not saved yet; undo takes it back.", recovered.path));
    app.tell(notice);
    app.focus = Pane::Manuscript;
    vec![Effect::Forget(Box::new(recovered))]
}

/// Brings the active document on screen, with a place in it selected.
fn show(app: &mut App, place: Option<&std::ops::Range<usize>>) {
    if let Some(place) = place
        && let Some(document) = app.document_mut()
    {
        document.show_place(place);
    }
    // Where only one pane fits, what was asked for must be seen.
    if app.areas().manuscript.is_none() || place.is_none() {
        app.focus = Pane::Manuscript;
    }
}

/// Closes documents that have nothing unsaved, all but the newest few, so that memory does not grow with every look.
fn drop_clean_documents(app: &mut App) {
    const KEPT: usize = 8;
    while app.documents.len() >= KEPT {
        let active = app.active;
        let old = app.documents.iter().enumerate().find(|(i, d)| *i != active && !d.buffer.is_modified());
        let Some((index, _)) = old else { return };
        app.documents.remove(index);
        if app.active > index {
            app.active -= 1;
        }
    }
}

/// Saves the document on screen.
pub(super) fn save_active(app: &mut App) -> Vec<Effect> {
    if let Some(why) = app.read_only.clone() {
        app.tell(Notice::problem(why));
        return vec![];
    }
    let Some(document) = app.document() else { return vec![] };
    if let Some(why) = &document.read_only {
        let notice = Notice::problem(format!("{} can't be saved: {why}", document.path));
        app.tell(notice);
        return vec![];
    }
    if !document.buffer.is_modified() {
        app.tell(Notice::hint("Nothing has changed since the last save."));
        return vec![];
    }
    vec![save(app, app.active, false)]
}

/// Saves every document with unsaved changes.
pub(super) fn save_all(app: &mut App) -> Vec<Effect> {
    let unsaved: Vec<usize> = (0..app.documents.len())
        .filter(|i| app.documents[*i].buffer.is_modified() && app.documents[*i].read_only.is_none())
        .collect();
    if unsaved.is_empty() {
        return vec![Effect::Quit];
    }
    unsaved.into_iter().map(|i| save(app, i, false)).collect()
}

fn save(app: &App, index: usize, over: bool) -> Effect {
    let document = &app.documents[index];
    Effect::Save {
        path: document.path.clone(),
        text: document.buffer.to_text(),
        expected: document.hash.clone(),
        revision: document.buffer.revision(),
        over,
    }
}

fn saved(app: &mut App, path: &BookPath, revision: u64, result: Result<String, SaveProblem>) -> Vec<Effect> {
    let Some(index) = app.place_of(path) else { return vec![] };
    match result {
        Ok(hash) => {
            let document = &mut app.documents[index];
            document.hash = Some(hash);
            if document.buffer.revision() == revision {
                document.buffer.mark_saved();
            }
            app.tell(Notice::done(format!("Saved {path}")));
            let all_saved = !app.documents.iter().any(|d| d.buffer.is_modified());
            if app.quitting && all_saved {
                return vec![Effect::Quit];
            }
            vec![Effect::Refresh]
        }
        Err(SaveProblem::ChangedOnDisk) => {
            app.quitting = false;
            app.popups.push(confirm::changed_on_disk(path));
            vec![]
        }
        Err(SaveProblem::Other(why)) => {
            app.quitting = false;
            app.tell(Notice::problem(format!("{why} The text is still here; try again.")));
            vec![]
        }
    }
}

/// The folder was read again: titles may have changed, and files under clean buffers too.
pub(super) fn book_was_read(app: &mut App) -> Vec<Effect> {
    let mut effects = vec![];
    let book = app.book.clone();
    for document in &mut app.documents {
        document.title = title_of(&book, &document.path);
        let Some((_, text)) = book.document(&document.path) else { continue };
        let on_disk = crate::domain::passage::sha256_hex(text.as_bytes());
        let moved_on = document.hash.as_deref().is_some_and(|h| h != on_disk);
        if moved_on && !document.buffer.is_modified() {
            effects.push(Effect::Open(document.path.clone(), None));
        }
    }
    effects
}
