//! The mouse: click to place the cursor or to choose, drag to select, wheel to scroll.

use crossterm::event::{KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::super::app::App;
use super::super::effect::Effect;
use super::super::layout::Pane;
use super::super::panes;
use super::codex;

/// Rows that one notch of the wheel scrolls.
const NOTCH: isize = 3;

pub(super) fn on_mouse(app: &mut App, event: MouseEvent) -> Vec<Effect> {
    let at = Position::new(event.column, event.row);
    if let Some(popup) = app.popups.last_mut() {
        match event.kind {
            MouseEventKind::ScrollDown => popup.scroll(NOTCH),
            MouseEventKind::ScrollUp => popup.scroll(-NOTCH),
            _ => {}
        }
        return vec![];
    }
    let areas = app.areas();
    let Some(pane) = Pane::ALL.into_iter().find(|p| areas.of_pane(*p).is_some_and(|r| r.contains(at))) else {
        return vec![];
    };
    let Some(area) = areas.of_pane(pane) else { return vec![] };
    match event.kind {
        MouseEventKind::ScrollDown => scroll(app, pane, NOTCH),
        MouseEventKind::ScrollUp => scroll(app, pane, -NOTCH),
        MouseEventKind::Down(MouseButton::Left) => {
            app.focus = pane;
            if pane != Pane::Manuscript {
                app.side = pane;
            }
            return click(app, pane, area, at, event.modifiers.contains(KeyModifiers::SHIFT));
        }
        MouseEventKind::Drag(MouseButton::Left) if pane == Pane::Manuscript => {
            place_cursor(app, area, at, true);
        }
        _ => {}
    }
    vec![]
}

fn scroll(app: &mut App, pane: Pane, rows: isize) {
    match pane {
        Pane::Manuscript => {
            if let Some(document) = app.document_mut() {
                document.view.scroll(&document.buffer, rows);
            }
        }
        Pane::Chat => app.chat.scroll(rows),
        Pane::Codex => app.codex.step(rows),
    }
}

fn click(app: &mut App, pane: Pane, area: Rect, at: Position, extend: bool) -> Vec<Effect> {
    match pane {
        Pane::Manuscript => place_cursor(app, area, at, extend),
        Pane::Chat => {
            let body = panes::chat::Parts::of(app, area).conversation;
            if body.contains(at) {
                let line = app.chat.first_line() + usize::from(at.y - body.y);
                app.chat.walk_to_line(line);
            }
        }
        Pane::Codex => {
            let tree = panes::codex::Parts::of(app, area).tree;
            if tree.contains(at) {
                let row = app.codex.top + usize::from(at.y - tree.y);
                let again = row == app.codex.selected;
                if row < app.codex.rows.len() {
                    app.codex.step(row as isize - app.codex.selected as isize);
                    if again || app.codex.selected_path(&app.book).is_none() {
                        return codex::run(app, "list-choose");
                    }
                }
            }
        }
    }
    vec![]
}

fn place_cursor(app: &mut App, area: Rect, at: Position, extend: bool) {
    let text = panes::manuscript::Parts::of(app, area).text;
    let x = at.x.saturating_sub(text.x).min(text.width.saturating_sub(1));
    let y = at.y.saturating_sub(text.y).min(text.height.saturating_sub(1));
    if let Some(document) = app.document_mut() {
        let byte = document.view.hit(&document.buffer, x, y);
        document.buffer.set_cursor(byte, extend);
    }
}
