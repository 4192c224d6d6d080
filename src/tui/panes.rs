//! The panes: where their parts are, and how they are drawn. Drawing reads and never changes.

pub(super) mod chat;
pub(super) mod codex;
pub(super) mod manuscript;
pub(super) mod status;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::theme::{Role, Theme};
use super::widgets::text;

/// Draws hints in one row: as many of them, most important first, as fit whole.
pub(super) fn hints(frame: &mut Frame<'_>, area: Rect, theme: &Theme, all: &[String]) {
    let mut words = String::new();
    for hint in all.iter().filter(|h| !h.is_empty()) {
        let more = if words.is_empty() { hint.clone() } else { format!("{words} · {hint}") };
        if text::width(&more) > usize::from(area.width) {
            break;
        }
        words = more;
    }
    frame.render_widget(Line::styled(words, theme.style(Role::Dim)), area);
}

/// Draws the heading row of a pane: a mark for the focus, a title, and at the right the first of some words that fits beside it.
pub(super) fn heading(
    frame: &mut Frame<'_>,
    area: Rect,
    theme: &Theme,
    focused: bool,
    title: &str,
    right: &[&str],
) {
    let row = Rect { height: 1, ..area };
    let (mark, role) = if focused { ("▍", Role::BorderFocused) } else { (" ", Role::Border) };
    let width = usize::from(area.width);
    let room = width.saturating_sub(text::width(title).min(width / 2) + 3);
    let right = right.iter().find(|words| text::width(words) <= room).copied().unwrap_or_default();
    let right_width = text::width(right);
    let left = text::fit(title, width.saturating_sub(right_width + 3));
    let gap = width.saturating_sub(text::width(&left) + right_width + 2);
    let title_role = if focused { Role::Title } else { Role::Dim };
    let line = Line::from(vec![
        Span::styled(mark, theme.style(role)),
        Span::styled(left, theme.style(title_role)),
        Span::raw(" ".repeat(gap)),
        Span::styled(text::fit(right, right_width), theme.style(Role::Dim)),
    ]);
    frame.render_widget(line, row);
}
