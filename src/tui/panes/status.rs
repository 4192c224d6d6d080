//! The bottom row: what just happened, else the book and its words; keys at the right.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::domain::ids::ProposalId;
use crate::proposal::Status;

use super::super::app::App;
use super::super::msg::Tone;
use super::super::theme::Role;
use super::super::turn_lines::{count, thousands};
use super::super::update::private::is_private;
use super::super::widgets::text;
use super::manuscript::place_in_book;

/// Draws the row.
pub(in super::super) fn draw(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let theme = &app.theme;
    frame.buffer_mut().set_style(area, theme.style(Role::Status));
    let width = usize::from(area.width);
    let right = keys(app, width);
    let room = width.saturating_sub(text::width(&right) + 2);
    let (left, role) = match &app.notice {
        Some((notice, _)) => {
            let (symbol, role) = match notice.tone {
                Tone::Done => ("✓", Role::Success),
                Tone::Hint | Tone::Wait => ("›", Role::Status),
                Tone::Problem => ("✗", Role::Error),
            };
            (format!(" {symbol} {}", notice.text), role)
        }
        None => (standing(app, room), Role::Status),
    };
    // A notice may take the place of the keys: it goes away by itself.
    let room = if app.notice.is_some() { width } else { room };
    let left = text::fit(&left, room);
    let gap = width.saturating_sub(text::width(&left) + text::width(&right) + 1);
    let mut spans = vec![Span::styled(left.clone(), theme.style(Role::Status).patch(theme.style(role)))];
    if text::width(&left) + text::width(&right) < width {
        spans.push(Span::styled(" ".repeat(gap), theme.style(Role::Status)));
        spans.push(Span::styled(right, theme.style(Role::Status)));
    }
    frame.render_widget(Line::from(spans), area);
}

/// What stands there when nothing has happened: title, place, words, goals, proposals. As many of them, in this order, as fit whole.
fn standing(app: &App, room: usize) -> String {
    let mut parts = vec![];
    if app.document().is_some_and(|document| is_private(app, document)) {
        parts.push("AI never reads this".to_owned());
    }
    parts.extend(app.document().and_then(|d| place_in_book(&app.book, d)));
    let pending = |id: &&ProposalId| {
        app.proposals.get(id).is_some_and(|q| matches!(q.status, Status::Pending | Status::Stale))
    };
    let pending = app.queue.iter().filter(pending).count();
    if pending > 0 {
        parts.push(format!("{} to review", count(pending, "proposal")));
    }
    let unsaved = app.documents.iter().filter(|d| d.buffer.is_modified()).count();
    if unsaved > 0 {
        parts.push(format!("{unsaved} unsaved"));
    }
    if app.read_only.is_some() {
        parts.push("read only".to_owned());
    }
    let written = app.words_of_day();
    match app.book.settings.goal_per_day {
        Some(goal) => parts.push(format!("{written:+} words today, goal {}", thousands(goal))),
        None if written != 0 => parts.push(format!("{written:+} words today")),
        None => {}
    }
    let mut words = format!(" {}", app.book.title());
    for part in parts {
        let more = format!("{words} · {part}");
        if text::width(&more) > room {
            break;
        }
        words = more;
    }
    words
}

/// The keys that lead everywhere else, as many as fit.
fn keys(app: &App, width: usize) -> String {
    let key = |name: &str| app.keymap.key_of(name).unwrap_or_default();
    let all = [
        format!("{} palette", key("palette")),
        format!("{} help", key("help")),
        format!("{}/{}/{} panes", key("focus-manuscript"), key("focus-chat"), key("focus-codex")),
        format!("{} save", key("save")),
        format!("{} quit", key("quit")),
    ];
    let mut shown = String::new();
    for words in all {
        if text::width(&shown) + text::width(&words) + 3 > width / 2 {
            break;
        }
        if !shown.is_empty() {
            shown.push_str(" · ");
        }
        shown.push_str(&words);
    }
    shown
}
