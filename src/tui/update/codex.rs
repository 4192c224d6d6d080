//! Keys of the Codex pane: the tree, its filter, a new entry.

use crossterm::event::{KeyCode, KeyEvent};

use super::super::app::App;
use super::super::effect::Effect;
use super::super::msg::Msg;
use super::super::popups;
use super::super::widgets::input::Edit;
use super::update;

/// Runs a command of this pane.
pub(super) fn run(app: &mut App, name: &str) -> Vec<Effect> {
    const PAGE: isize = 10;
    match name {
        "filter" => app.codex.filtering = true,
        "new-entry" => app.popups.push(popups::new_entry::open(app)),
        "list-up" => app.codex.step(-1),
        "list-down" => app.codex.step(1),
        "list-page-up" => app.codex.step(-PAGE),
        "list-page-down" => app.codex.step(PAGE),
        "list-first" => app.codex.step(isize::MIN),
        "list-last" => app.codex.step(isize::MAX),
        "list-choose" => {
            app.codex.filtering = false;
            return if let Some(path) = app.codex.selected_path(&app.book) {
                let place = app.codex.selected_entry(&app.book).and_then(popups::card::place);
                let mut effects = update(app, Msg::Show(path, place));
                effects.extend(super::commands::focus(app, super::Pane::Manuscript));
                effects
            } else {
                app.codex.fold(&app.book, None);
                vec![]
            };
        }
        _ => {}
    }
    vec![]
}

/// A key that no command took.
pub(super) fn on_key(app: &mut App, key: KeyEvent) -> Vec<Effect> {
    match key.code {
        KeyCode::Left => {
            app.codex.fold(&app.book, Some(false));
        }
        KeyCode::Right if !app.codex.fold(&app.book, Some(true)) => {
            app.codex.preview_top += 1;
        }
        KeyCode::Char(' ') => {
            app.codex.fold(&app.book, None);
        }
        KeyCode::Char('J') => app.codex.preview_top += 1,
        KeyCode::Char('K') => app.codex.preview_top = app.codex.preview_top.saturating_sub(1),
        _ => {}
    }
    vec![]
}

/// A key while the filter is typed. Returns whether the filter took it.
pub(super) fn on_filter_key(app: &mut App, key: KeyEvent) -> bool {
    match app.codex.filter.key(&key) {
        Edit::Ignored => return false,
        Edit::Moved => return true,
        Edit::Changed => {}
    }
    app.typed_at = Some(app.now);
    app.codex.rebuild(&app.book);
    true
}
