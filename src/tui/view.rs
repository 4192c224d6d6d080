//! Pixels: one frame from the state. `lay_out` prepares what depends on the size, `draw` only reads.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::app::App;
use super::layout::{Pane, SMALLEST};
use super::panes;
use super::theme::Role;

/// Fits everything to the screen. Costs what is visible, never the size of the book.
pub(super) fn lay_out(app: &mut App) {
    let areas = app.areas();
    if areas.too_small {
        return;
    }
    if let Some(document) = app.document_mut() {
        document.look_at_selection();
    }
    if let Some(area) = areas.manuscript {
        panes::manuscript::lay_out(app, area);
    }
    if let Some(area) = areas.chat {
        panes::chat::lay_out(app, area);
    }
    if let Some(area) = areas.codex {
        panes::codex::lay_out(app, area);
    }
    let (screen, theme) = (app.screen, &app.theme);
    for popup in &mut app.popups {
        popup.lay_out(screen, theme);
    }
}

/// Draws one frame. The terminal's own cursor is put where the author types, so that input methods compose there.
pub(super) fn draw(app: &App, frame: &mut Frame<'_>) {
    let screen = frame.area();
    frame.buffer_mut().set_style(screen, app.theme.style(Role::Text));
    if screen != app.screen {
        // The screen has changed since everything was fitted to it: the next frame follows at once.
        return;
    }
    let areas = app.areas();
    if areas.too_small {
        too_small(app, frame, screen);
        return;
    }
    let mut cursor = None;
    let mut keep = |pane: Pane, at: Option<Position>| {
        if app.focus == pane {
            cursor = at;
        }
    };
    if let Some(area) = areas.manuscript {
        let at = panes::manuscript::draw(app, frame, area);
        keep(Pane::Manuscript, at);
    }
    if let Some(area) = areas.chat {
        let at = panes::chat::draw(app, frame, area);
        keep(Pane::Chat, at);
    }
    if let Some(area) = areas.codex {
        let at = panes::codex::draw(app, frame, area);
        keep(Pane::Codex, at);
    }
    for rule in areas.rules.into_iter().flatten() {
        for y in rule.top()..rule.bottom() {
            frame.buffer_mut().set_stringn(rule.x, y, "│", 1, app.theme.style(Role::Border));
        }
    }
    if let Some(row) = areas.tabs {
        tabs(app, frame, row);
    }
    panes::status::draw(app, frame, areas.status);
    for popup in &app.popups {
        cursor = popup.draw(frame, &app.theme, &app.keymap);
    }
    if let Some(at) = cursor {
        frame.set_cursor_position(at);
    }
}

fn tabs(app: &App, frame: &mut Frame<'_>, row: Rect) {
    let mut spans = vec![];
    for (pane, command) in Pane::ALL.into_iter().zip(["focus-manuscript", "focus-chat", "focus-codex"]) {
        let key = app.keymap.key_of(command).unwrap_or_default();
        let role = if pane == app.focus { Role::Badge } else { Role::Dim };
        spans.push(Span::styled(format!(" {key} {} ", pane.title()), app.theme.style(role)));
    }
    frame.render_widget(Line::from(spans), row);
}

fn too_small(app: &App, frame: &mut Frame<'_>, screen: Rect) {
    let words = format!("Please make this window at least {} columns by {} rows.", SMALLEST.0, SMALLEST.1);
    let rows = super::widgets::text::wrap(&words, usize::from(screen.width));
    for (row, y) in rows.into_iter().zip(screen.top()..screen.bottom()) {
        frame.render_widget(Line::styled(row, app.theme.style(Role::Text)), Rect { y, height: 1, ..screen });
    }
}
