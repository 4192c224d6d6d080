//! Finding and replacing in the open document.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::editor::find::{self, Direction};

use super::super::app::{App, Find};
use super::super::effect::Effect;
use super::super::layout::Pane;
use super::super::msg::Notice;
use super::super::widgets::input::Input;
use super::manuscript;

/// Opens the find bar; the selection, when it is short, is what is looked for.
pub(super) fn open(app: &mut App) -> Vec<Effect> {
    app.focus = Pane::Manuscript;
    let Some(document) = app.document() else { return vec![] };
    let selected = document.buffer.selected_text().filter(|t| t.len() < 200 && !t.contains('\n'));
    let from = document.buffer.selection().map_or(document.buffer.cursor(), |s| s.start);
    let needle = selected.or_else(|| app.find.as_ref().map(|f| f.needle.text().to_owned())).unwrap_or_default();
    app.find = Some(Find {
        needle: Input::with(&needle),
        replacement: None,
        in_replacement: false,
        from,
        found: true,
    });
    vec![]
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
        KeyCode::Enter | KeyCode::F(3) => go(app, if shift { Direction::Backward } else { Direction::Forward }, false),
        KeyCode::Up => go(app, Direction::Backward, false),
        KeyCode::Down => go(app, Direction::Forward, false),
        _ => {
            let field = match bar.replacement.as_mut() {
                Some(field) if bar.in_replacement => field,
                _ => &mut bar.needle,
            };
            if !field.key(&key) {
                return false;
            }
            if !bar.in_replacement {
                go(app, Direction::Forward, true);
            }
        }
    }
    app.typed_at = Some(app.now);
    true
}

/// Goes to the next place, wrapping around; `again` starts where the search began.
fn go(app: &mut App, direction: Direction, again: bool) {
    let Some(bar) = app.find.as_ref() else { return };
    let (needle, start) = (bar.needle.text().to_owned(), bar.from);
    let Some(document) = app.documents.get_mut(app.active) else { return };
    let selection = document.buffer.selection();
    let from = match (again, direction, &selection) {
        (true, _, _) => start,
        (false, Direction::Forward, Some(s)) => s.end,
        (false, Direction::Backward, Some(s)) => s.start,
        (false, _, None) => document.buffer.cursor(),
    };
    let found = find::find(&document.buffer, &needle, from, direction);
    if let Some(range) = &found {
        document.buffer.select(range.clone());
        document.view.reveal(&document.buffer);
    }
    let wrapped = found.as_ref().is_some_and(|r| match direction {
        Direction::Forward => r.start < from,
        Direction::Backward => r.end > from,
    });
    if let Some(bar) = app.find.as_mut() {
        bar.found = found.is_some() || needle.is_empty();
    }
    if wrapped && !again {
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
        && find::matches(&document.buffer, &needle, &range)
    {
        document.buffer.replace(range, &by);
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
    let count = find::replace_all(&mut document.buffer, &needle, &by);
    document.view.reveal(&document.buffer);
    app.tell(Notice::done(format!("Replaced {}.", super::super::turn_lines::count(count, "place"))));
}

fn fields(app: &App) -> Option<(String, String)> {
    let bar = app.find.as_ref()?;
    let by = bar.replacement.as_ref()?.text().to_owned();
    let needle = bar.needle.text().to_owned();
    (!needle.is_empty()).then_some((needle, by))
}
