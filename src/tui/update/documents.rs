//! Opening, saving and reading documents again.

use crate::domain::ids::BookPath;
use crate::domain::passage::sha256_hex;
use crate::workbench::Document;

use super::super::app::App;
use super::super::document::{OpenDocument, Place, title_of};
use super::super::effect::Effect;
use super::super::layout::Pane;
use super::super::msg::{Msg, Notice, SaveProblem};
use super::super::popups::confirm;

/// Documents without unsaved words that stay open, so that memory does not grow with every look.
const KEPT: usize = 8;

pub(super) fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    let effects = settle(app, msg);
    app.note_chapter();
    effects
}

fn settle(app: &mut App, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Show(path, place) => {
            if let Some(index) = app.place_of(&path) {
                app.active = index;
                app.find = None;
                show(app, place.as_ref());
                return vec![];
            }
            return vec![Effect::Open(path, place)];
        }
        Msg::Opened(path, place, Ok(document)) => return opened(app, path, place.as_ref(), document),
        Msg::Opened(path, _, Err(why)) => {
            app.tell(Notice::problem(format!("Can't open {path}: {why}")));
        }
        Msg::Reread(path, even_if_unsaved, Ok(document)) => {
            reread(app, &path, even_if_unsaved, document);
        }
        Msg::Reread(path, _, Err(why)) => {
            app.tell(Notice::problem(format!("Can't read {path} again: {why}")));
        }
        Msg::Saved(path, result) => return saved(app, &path, result),
        Msg::SaveAnyway(path) => {
            return app.place_of(&path).and_then(|index| save(app, index, true)).into_iter().collect();
        }
        Msg::Reload(path) => return vec![Effect::Reread(path, true)],
        Msg::NotLogged(path, why) => {
            if let Some(index) = app.place_of(&path) {
                app.documents[index].relog = true;
            }
            let words = format!("Unsaved words can't be kept safe from a crash ({why}). Save with Ctrl-S.");
            app.tell(Notice::problem(words));
        }
        Msg::HeldBy(pid) => held(app, pid),
        Msg::Recovered(found) if app.read_only.is_none() => {
            // The oldest is asked about first.
            let asks = found.into_iter().rev().map(|(recovered, text)| confirm::recovered(recovered, &text));
            app.waiting.extend(asks);
        }
        Msg::Restore(recovered) => {
            let path = recovered.path.clone();
            app.restoring.push(*recovered);
            match app.place_of(&path) {
                Some(index) => {
                    app.active = index;
                    restore(app, index);
                }
                None => return vec![Effect::Open(path, None)],
            }
        }
        Msg::Forget(recovered) => app.forgotten.push(*recovered),
        _ => {}
    }
    vec![]
}

/// Says why a window can only read the book.
pub(in super::super) fn held_in_words(pid: u32) -> String {
    format!("Read only here: the book is open in another window (process {pid}).")
}

/// Another window took the book first. What was typed here stays on screen, and is never written over what is written there.
fn held(app: &mut App, pid: u32) {
    let why = held_in_words(pid);
    app.quitting = false;
    app.read_only = Some(why.clone());
    let unsaved = app.documents.iter().any(|d| d.buffer.is_modified());
    app.tell(Notice::problem(if unsaved { format!("Not saved, copy your words. {why}") } else { why }));
}

fn opened(app: &mut App, path: BookPath, place: Option<&Place>, document: Document) -> Vec<Effect> {
    if let Some(index) = app.place_of(&path) {
        // It was asked for twice. What is open, and may hold unsaved words, stays.
        app.active = index;
    } else {
        drop_clean_documents(app);
        let mut opened = OpenDocument::new(&app.book, path, document);
        opened.view.set_typewriter(app.look.typewriter);
        let why = opened.read_only.clone();
        app.documents.push(opened);
        app.active = app.documents.len() - 1;
        if let Some(why) = why {
            app.tell(Notice::hint(format!("Opened for reading only: {why}")));
        }
    }
    app.find = None;
    show(app, place);
    restore(app, app.active);
    vec![]
}

/// Takes over what the disk holds now. Keeps the author's place, and never touches unsaved words unless she gave them up.
fn reread(app: &mut App, path: &BookPath, even_if_unsaved: bool, document: Document) {
    let Some(index) = app.place_of(path) else { return };
    let old = &app.documents[index];
    let same = old.hash.as_ref() == Some(&document.hash);
    if (old.buffer.is_modified() && !even_if_unsaved) || (same && !old.buffer.is_modified()) || old.saving {
        return;
    }
    let mut again = OpenDocument::new(&app.book, path.clone(), document);
    again.words_at_start = old.words_at_start;
    // Its unsaved words are gone for good: the log of them goes too.
    again.logged = old.logged;
    let (cursor, top) = (old.buffer.cursor(), old.view.top_line());
    again.view.set_typewriter(app.look.typewriter);
    let start = again.buffer.line_start(top);
    again.view.center(&again.buffer, start);
    again.buffer.set_cursor(cursor, false);
    app.documents[index] = again;
}

/// Puts what an earlier run could not save into its document, as one step that can be undone.
fn restore(app: &mut App, index: usize) {
    let Some(document) = app.documents.get_mut(index) else { return };
    let Some(at) = app.restoring.iter().position(|r| r.path == document.path) else { return };
    let recovered = app.restoring.remove(at);
    document.buffer.replace(0..document.buffer.len(), &recovered.text);
    document.view.reveal(&document.buffer);
    let notice =
        Notice::done(format!("Restored {}. It is not saved yet; undo takes it back.", recovered.path));
    app.tell(notice);
    app.focus = Pane::Manuscript;
    app.forgotten.push(recovered);
}

/// Brings the active document on screen, with a place in it selected.
fn show(app: &mut App, place: Option<&Place>) {
    if let Some(place) = place
        && let Some(document) = app.document_mut()
        && !document.show_place(place)
    {
        app.tell(Notice::problem("These words have changed since, and stand here no more."));
    }
    // Where only one pane fits, what was asked for must be seen.
    if app.areas().manuscript.is_none() || place.is_none() {
        app.focus = Pane::Manuscript;
    }
}

/// Closes documents that have nothing unsaved, all but the newest few.
fn drop_clean_documents(app: &mut App) {
    while app.documents.len() >= KEPT {
        let active = app.active;
        let idle = |d: &OpenDocument| !d.buffer.is_modified() && !d.saving && !d.logged;
        let old = app.documents.iter().enumerate().find(|(i, d)| *i != active && idle(d));
        let Some((index, _)) = old else { return };
        let closed = app.documents.remove(index);
        if app.book.chapter(&closed.path).is_some() {
            app.words_closed += closed.buffer.words() as i64 - closed.words_at_start as i64;
        }
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
    save(app, app.active, false).into_iter().collect()
}

/// Whether nothing that the author wrote would be lost.
pub(super) fn all_is_kept(app: &App) -> bool {
    app.keeping == 0 && !app.documents.iter().any(|d| d.buffer.is_modified())
}

/// Keeps every edit of a proposal and saves every document with unsaved changes, then quits.
pub(super) fn save_all(app: &mut App) -> Vec<Effect> {
    let unsaved: Vec<usize> = (0..app.documents.len())
        .filter(|i| app.documents[*i].buffer.is_modified() && app.documents[*i].read_only.is_none())
        .collect();
    if let Some(why) = app.read_only.clone().filter(|_| !unsaved.is_empty()) {
        app.quitting = false;
        app.tell(Notice::problem(why));
        return vec![];
    }
    let edits = super::judge::unkept(app).into_iter().flat_map(|(_, verdicts)| verdicts);
    let mut effects: Vec<Effect> = edits.map(Effect::Judge).collect();
    app.keeping = effects.len();
    if unsaved.is_empty() && effects.is_empty() {
        return vec![Effect::Quit];
    }
    effects.extend(unsaved.into_iter().filter_map(|i| save(app, i, false)));
    effects
}

/// Begins a save. One runs at a time for a file: a second one begins when the first has ended.
fn save(app: &mut App, index: usize, over: bool) -> Option<Effect> {
    let document = app.documents.get_mut(index)?;
    if document.saving {
        document.save_again = true;
        return None;
    }
    document.saving = true;
    document.buffer.begin_save();
    Some(Effect::Save {
        path: document.path.clone(),
        text: document.buffer.to_text(),
        expected: document.hash.clone(),
        over,
    })
}

fn saved(app: &mut App, path: &BookPath, result: Result<String, SaveProblem>) -> Vec<Effect> {
    let Some(index) = app.place_of(path) else { return vec![] };
    let document = &mut app.documents[index];
    document.saving = false;
    document.buffer.end_save(result.is_ok());
    let again = std::mem::take(&mut document.save_again) || app.quitting;
    match result {
        Ok(hash) => {
            document.hash = Some(hash);
            if again && document.buffer.is_modified() {
                return save(app, index, false).into_iter().collect();
            }
            app.tell(Notice::done(format!("Saved {path}")));
            if app.quitting && all_is_kept(app) {
                return vec![Effect::Quit];
            }
            vec![Effect::Refresh]
        }
        Err(SaveProblem::ChangedOnDisk) => {
            app.quitting = false;
            app.tell(Notice::problem(format!("Not saved: {path} was changed by another program.")));
            app.waiting.push(confirm::changed_on_disk(path));
            vec![]
        }
        Err(SaveProblem::ReadOnly) => {
            app.quitting = false;
            vec![]
        }
        Err(SaveProblem::Other(why)) => {
            app.quitting = false;
            app.tell(Notice::problem(format!("{why} The text is still here; try again.")));
            vec![]
        }
    }
}

/// The folder was read again: titles may have changed, and files under buffers without unsaved words too.
pub(super) fn book_was_read(app: &mut App) -> Vec<Effect> {
    let mut effects = vec![];
    let book = app.book.clone();
    for document in &mut app.documents {
        document.title = title_of(&book, &document.path);
        // A file in another encoding has other bytes than its text: it is read again only when it is opened again.
        if document.read_only.is_some() || document.buffer.is_modified() || document.saving {
            continue;
        }
        let Some((_, text)) = book.document(&document.path) else { continue };
        let on_disk = sha256_hex(book.as_on_disk(&document.path, text).as_bytes());
        if document.hash.as_deref().is_some_and(|h| h != on_disk) {
            effects.push(Effect::Reread(document.path.clone(), false));
        }
    }
    effects
}
