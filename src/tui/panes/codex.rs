//! The Codex pane: filter, tree, preview.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::domain::codex::EntryType;
use crate::domain::ids::BookPath;

use super::super::app::App;
use super::super::codex::{Group, Row};
use super::super::layout::Pane;
use super::super::popups::card;
use super::super::theme::Role;
use super::super::widgets::{markdown, text};
use super::{heading, hints};

/// Stands behind what AI never reads.
pub(in super::super) const NEVER_READ: &str = " ⊘";

/// Where the parts of the pane are.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Parts {
    filter: Option<Rect>,
    pub(in super::super) tree: Rect,
    rule: Option<Rect>,
    preview: Option<Rect>,
    hint: Rect,
}

impl Parts {
    pub(in super::super) fn of(app: &App, area: Rect) -> Self {
        let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
        let filtering = app.codex.filtering || !app.codex.filter.text().is_empty();
        let filter = filtering.then(|| Rect { y: area.y + 1, height: 1, ..area });
        let top = area.y + 1 + u16::from(filtering);
        let hint = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
        let room = hint.y.saturating_sub(top);
        let preview_rows = if room >= 16 { room * 2 / 5 } else { 0 };
        let tree =
            Rect { y: top, height: room.saturating_sub(preview_rows + u16::from(preview_rows > 0)), ..area };
        let rule = (preview_rows > 0).then(|| Rect { y: tree.bottom(), height: 1, ..area });
        let preview = rule.map(|r| Rect { y: r.y + 1, height: preview_rows, ..area });
        Self { filter, tree, rule, preview, hint }
    }
}

/// Brings the selected row into view before it is drawn.
pub(in super::super) fn lay_out(app: &mut App, area: Rect) {
    let tree = Parts::of(app, area).tree;
    app.codex.reveal(usize::from(tree.height));
}

/// Draws the pane. Returns where the cursor is, when a filter is typed.
pub(in super::super) fn draw(app: &App, frame: &mut Frame<'_>, area: Rect) -> Option<Position> {
    let theme = &app.theme;
    let focused = app.focus == Pane::Codex;
    let parts = Parts::of(app, area);
    let count = app.book.entries.len().to_string();
    heading(frame, area, theme, focused, "Codex", &[if app.is_reading { "reading" } else { &count }]);
    let mut cursor = None;
    if let Some(row) = parts.filter {
        frame.render_widget(Span::styled("/", theme.style(Role::Accent)), Rect { width: 1, ..row });
        let field = Rect { x: row.x + 1, width: row.width.saturating_sub(1), ..row };
        let at = app.codex.filter.draw(field, frame.buffer_mut(), theme);
        cursor = at.filter(|_| focused && app.codex.filtering);
    }
    tree(app, frame, parts.tree, focused);
    if let (Some(rule), Some(preview)) = (parts.rule, parts.preview) {
        let role = if focused { Role::BorderFocused } else { Role::Border };
        frame.render_widget(Line::styled("─".repeat(usize::from(rule.width)), theme.style(role)), rule);
        draw_preview(app, frame, preview);
    }
    let key = |name: &str, words: &str| {
        app.keymap.key_of(name).map_or_else(String::new, |key| format!("{key} {words}"))
    };
    let all = if app.codex.filtering {
        vec![key("list-choose", "opens"), key("cancel", "leaves")]
    } else {
        vec![
            key("list-choose", "opens"),
            key("filter", "filter"),
            key("new-entry", "new"),
            key("relationships", "graph"),
            key("rename", "rename"),
            key("timeline", "timeline"),
        ]
    };
    hints(frame, parts.hint, theme, &all);
    cursor
}

fn tree(app: &App, frame: &mut Frame<'_>, area: Rect, focused: bool) {
    let theme = &app.theme;
    if app.codex.rows.is_empty() {
        let words = if app.codex.filter.text().is_empty() {
            "No entries yet: n makes one."
        } else {
            "Nothing matches."
        };
        frame.render_widget(
            Line::styled(words, theme.style(Role::Dim)),
            Rect { height: area.height.min(1), ..area },
        );
        return;
    }
    let width = usize::from(area.width);
    for (i, row) in app.codex.rows.iter().enumerate().skip(app.codex.top).take(usize::from(area.height)) {
        let place = Rect { y: area.y + (i - app.codex.top) as u16, height: 1, ..area };
        let line = match row {
            Row::Group { group, count, open } => {
                let mark = if *open { "▾" } else { "▸" };
                let count = count.to_string();
                let name = text::fit(group.title(), width.saturating_sub(count.len() + 4));
                let gap = width.saturating_sub(text::width(&name) + count.len() + 3);
                Line::from(vec![
                    Span::styled(format!("{mark} {name}"), theme.style(Role::Heading)),
                    Span::raw(" ".repeat(gap)),
                    Span::styled(count, theme.style(Role::Dim)),
                ])
            }
            Row::Leaf { group, index, name, matched } => {
                let style = match group {
                    Group::Entries(entry_type) => plain(theme.style(Role::of_name(*entry_type))),
                    _ => theme.style(Role::Text),
                };
                let warned = matches!(group, Group::Entries(_))
                    && app.book.entries.get(*index).is_some_and(|e| !e.warnings.is_empty());
                let private =
                    path_of(app, *group, *index).is_some_and(|path| app.book.private.contains(path));
                let marks = [(private, NEVER_READ), (warned, " ⚠")];
                let marks: String = marks.iter().filter(|(on, _)| *on).map(|(_, mark)| *mark).collect();
                leaf(name, matched, width, style, theme.style(Role::Match), &marks)
            }
        };
        frame.render_widget(line, place);
        if i == app.codex.selected {
            let role = if focused { Role::Selection } else { Role::CursorLine };
            frame.buffer_mut().set_style(place, theme.style(role));
        }
    }
}

/// Names in the tree are told apart by their group: the underline that they have in prose would only be noise.
fn plain(style: Style) -> Style {
    style.remove_modifier(ratatui::style::Modifier::UNDERLINED)
}

/// The file that a leaf stands for.
fn path_of(app: &App, group: Group, index: usize) -> Option<&BookPath> {
    match group {
        Group::Entries(_) => app.book.entries.get(index).map(|entry| &entry.path),
        Group::Chapters => app.book.chapters.get(index).map(|chapter| &chapter.path),
        Group::Notes => app.book.notes.get(index).map(|note| &note.path),
    }
}

fn leaf(name: &str, matched: &[usize], width: usize, style: Style, hit: Style, mark: &str) -> Line<'static> {
    let shown = text::fit(name, width.saturating_sub(2 + text::width(mark)));
    let mut spans = vec![Span::raw("  ")];
    for (i, c) in shown.chars().enumerate() {
        let style = if matched.contains(&i) { style.patch(hit) } else { style };
        match spans.last_mut() {
            Some(last) if last.style == style && i > 0 => last.content.to_mut().push(c),
            _ => spans.push(Span::styled(c.to_string(), style)),
        }
    }
    spans.push(Span::raw(mark.to_owned()));
    Line::from(spans)
}

fn draw_preview(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let Some(row) = app.codex.rows.get(app.codex.selected) else { return };
    let words =
        match row {
            Row::Leaf { group: Group::Entries(_), index, .. } => {
                app.book.entries.get(*index).map(|entry| card::preview(entry, &app.graph))
            }
            Row::Leaf { group: Group::Chapters, index, .. } => app.book.chapters.get(*index).map(|c| {
                format!("{} words, number from its {}\n\n{}", c.words, c.number_from.as_str(), c.path)
            }),
            Row::Leaf { group: Group::Notes, index, .. } => {
                app.book.notes.get(*index).map(|n| crate::domain::passage::cut(&n.text, 1500).to_owned())
            }
            Row::Group { group: Group::Entries(entry_type), .. } => Some(about(*entry_type).to_owned()),
            Row::Group { .. } => None,
        };
    let Some(words) = words else { return };
    let lines = markdown::render(&words, area.width, &app.theme, &[]).lines;
    let top = app.codex.preview_top.min(lines.len().saturating_sub(1));
    for (line, y) in lines.into_iter().skip(top).zip(area.y..area.bottom()) {
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}

fn about(entry_type: EntryType) -> &'static str {
    match entry_type {
        EntryType::Character => "People, and what acts like them.",
        EntryType::Location => "Places.",
        EntryType::Organization => "Groups of people with a purpose.",
        EntryType::Item => "Things.",
        EntryType::Concept => "Rules of the world, technology, customs.",
        EntryType::Event => "What happened, and when.",
        EntryType::Style => "How the book is written.",
    }
}
