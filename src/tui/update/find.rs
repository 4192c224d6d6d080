//! Finding and replacing in the open document.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::editor::find::{Counted, Needle};

use super::super::app::{App, Find, Searched};
use super::super::document::OpenDocument;
use super::super::effect::Effect;
use super::super::layout::Pane;
use super::super::msg::Notice;
use super::super::popups::Popup;
use super::super::popups::search::SearchPopup;
use super::super::widgets::input::{Edit, Input};
use super::manuscript;

/// Which way the search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
}

/// Opens the find bar; the selection, when it is short, is what is looked for until something else is typed.
pub(super) fn open(app: &mut App) -> Vec<Effect> {
    app.focus = Pane::Manuscript;
    let Some(document) = app.document() else { return vec![] };
    let selection = document.buffer.selection();
    let from = selection.as_ref().map_or(document.buffer.cursor(), |s| s.start);
    let needle = selected_words(document)
        .or_else(|| app.find.as_ref().map(|f| f.needle.text().to_owned()))
        .unwrap_or_default();
    app.find = Some(Find {
        needle: Input::prefilled(&needle),
        replacement: None,
        in_replacement: false,
        from,
        found: true,
        asked: None,
        counted: None,
    });
    vec![]
}

/// Has the places counted, in the background, whenever others may have to be: the words, the document or its text are no longer what they were.
pub(super) fn count(app: &mut App) -> Option<Effect> {
    let bar = app.find.as_mut()?;
    let document = app.documents.get(app.active)?;
    let revision = document.buffer.revision();
    let is_counted = bar.asked.as_ref().is_some_and(|asked| {
        asked.revision == revision && asked.words == bar.needle.text() && asked.path == document.path
    });
    if is_counted {
        return None;
    }
    bar.counted = None;
    let words = bar.needle.text().to_owned();
    let needle = Needle::new(&words);
    let searched = Searched { words, path: document.path.clone(), revision };
    bar.asked = Some(searched.clone());
    needle.map(|needle| Effect::CountPlaces(searched, Box::new(needle.counting(&document.buffer))))
}

/// Takes what was counted, unless something else is looked for by now.
pub(super) fn counted(app: &mut App, searched: &Searched, counted: Counted) {
    if let Some(bar) = app.find.as_mut().filter(|bar| bar.asked.as_ref() == Some(searched)) {
        bar.counted = Some(counted);
    }
}

/// Opens the search of the whole book; the selection, when it is short, is what is looked for.
pub(super) fn in_book(app: &mut App) -> Vec<Effect> {
    let words = app.document().and_then(selected_words).unwrap_or_default();
    let popup = SearchPopup::new(&words);
    let asked = popup.ask();
    app.popups.push(Popup::Search(popup));
    if words.is_empty() { vec![] } else { super::update(app, asked) }
}

/// The selection, if it is short enough to be looked for.
fn selected_words(document: &OpenDocument) -> Option<String> {
    let short = document.buffer.selection().filter(|s| s.len() < 200)?;
    Some(document.buffer.slice(short)).filter(|text| !text.contains('\n'))
}

/// A key while the find bar is open. Returns whether the bar took it.
pub(super) fn on_key(app: &mut App, key: KeyEvent) -> bool {
    let Some(bar) = app.find.as_mut() else { return false };
    let shift = key.modifiers.contains(KeyModifiers::SHIFT);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    match key.code {
        KeyCode::Tab | KeyCode::BackTab => {
            bar.replacement.get_or_insert_with(Input::default);
            bar.in_replacement = !bar.in_replacement;
        }
        KeyCode::Enter if bar.in_replacement && alt => replace_all(app),
        KeyCode::Enter if bar.in_replacement => replace_one(app),
        KeyCode::Enter => {
            go(app, if shift { Direction::Backward } else { Direction::Forward }, false);
        }
        KeyCode::Up => go(app, Direction::Backward, false),
        KeyCode::Down => go(app, Direction::Forward, false),
        _ => {
            let field = match bar.replacement.as_mut() {
                Some(field) if bar.in_replacement => field,
                _ => &mut bar.needle,
            };
            match field.key(&key) {
                Edit::Ignored => return false,
                Edit::Moved => return true,
                Edit::Changed => {}
            }
            if !bar.in_replacement {
                go(app, Direction::Forward, true);
            }
        }
    }
    app.typed_at = Some(app.now);
    true
}

/// Goes to the next place, and on from the other end; `again` starts where the search began.
fn go(app: &mut App, direction: Direction, again: bool) {
    let Some(bar) = app.find.as_ref() else { return };
    let (needle, start) = (Needle::new(bar.needle.text()), bar.from);
    let empty = bar.needle.text().is_empty();
    let Some(document) = app.documents.get_mut(app.active) else { return };
    let buffer = &mut document.buffer;
    let selection = buffer.selection();
    let from = match (again, direction, &selection) {
        (true, _, _) => start,
        (false, Direction::Forward, Some(s)) => s.end,
        (false, Direction::Backward, Some(s)) => s.start,
        (false, _, None) => buffer.cursor(),
    };
    let mut wrapped = false;
    let found = needle.and_then(|needle| {
        let near = match direction {
            Direction::Forward => needle.next(buffer, from),
            Direction::Backward => needle.previous(buffer, from),
        };
        near.or_else(|| {
            wrapped = true;
            match direction {
                Direction::Forward => needle.next(buffer, 0),
                Direction::Backward => needle.previous(buffer, buffer.len() + 1),
            }
        })
    });
    if let Some(range) = &found {
        document.show_found(range.clone());
    }
    if let Some(bar) = app.find.as_mut() {
        bar.found = found.is_some() || empty;
    }
    if wrapped && found.is_some() && !again {
        app.tell(Notice::hint("The search went on from the other end."));
    }
}

fn replace_one(app: &mut App) {
    if let Some(why) = manuscript::cannot_write(app) {
        app.tell(Notice::problem(why));
        return;
    }
    let Some((needle, by)) = fields(app) else { return };
    let Some(document) = app.documents.get_mut(app.active) else { return };
    if let Some(range) = document.buffer.selection()
        && let Some(end) = needle.replace(&mut document.buffer, &range, &by)
    {
        document.buffer.set_cursor(end, false);
        document.view.reveal(&document.buffer);
    }
    go(app, Direction::Forward, false);
}

fn replace_all(app: &mut App) {
    if let Some(why) = manuscript::cannot_write(app) {
        app.tell(Notice::problem(why));
        return;
    }
    let Some((needle, by)) = fields(app) else { return };
    let Some(document) = app.documents.get_mut(app.active) else { return };
    let count = needle.replace_all(&mut document.buffer, &by);
    document.view.reveal(&document.buffer);
    app.tell(Notice::done(format!("Replaced {}.", super::super::turn_lines::count(count, "place"))));
}

fn fields(app: &App) -> Option<(Needle, String)> {
    let bar = app.find.as_ref()?;
    let by = bar.replacement.as_ref()?.text().to_owned();
    Some((Needle::new(bar.needle.text())?, by))
}
