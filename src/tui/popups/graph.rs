//! The relationships of an entry: it stands on top, its neighbours hang below it in circles, and any of them can take its place.

use std::sync::Arc;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

use super::{Popup, Reply};
use crate::canon::relations::{Graph, Neighbour, Said};
use crate::command::Context;
use crate::tui::document::Place;
use crate::tui::keymap::Keymap;
use crate::tui::msg::{Msg, Notice};
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::{popup, text};

/// Columns that the popup has at most.
const WIDEST: u16 = 88;
/// Rows below the tree for what both sides say.
const DETAILS: u16 = 4;
/// Rows of the box on top.
const BOX: u16 = 3;

/// The popup.
pub(in crate::tui) struct GraphPopup {
    graph: Arc<Graph>,
    middle: usize,
    /// The selected neighbour, in the order of [`Graph::neighbours`].
    at: usize,
    /// Those that stood in the middle before, each with its selected neighbour.
    trail: Vec<(usize, usize)>,
    size: (u16, u16),
}

impl std::fmt::Debug for GraphPopup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GraphPopup").field("middle", &self.middle).finish_non_exhaustive()
    }
}

/// A row of the tree.
struct Row<'a> {
    /// Lines of the tree.
    trunk: &'static str,
    label: String,
    /// What the neighbour is; `None` for the heading of a circle.
    neighbour: Option<&'a Neighbour<'a>>,
}

impl GraphPopup {
    /// Puts the entry at `address` in the middle; `None` where it has no relationship.
    pub(in crate::tui) fn of(graph: &Arc<Graph>, address: &str) -> Option<Self> {
        let middle = graph.place(address)?;
        Some(Self { graph: Arc::clone(graph), middle, at: 0, trail: vec![], size: (0, 0) })
    }

    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> Reply {
        let page = isize::try_from(self.size.1).unwrap_or(10) / 2;
        match keymap.lookup(Context::Relationships, &key).map(|c| c.name) {
            Some("list-up") => self.step(-1),
            Some("list-down") => self.step(1),
            Some("list-page-up") => self.step(-page),
            Some("list-page-down") => self.step(page),
            Some("list-first") => self.at = 0,
            Some("list-last") => self.step(isize::MAX),
            Some("list-choose") => self.go(),
            Some("previous-centre") => {
                if let Some((middle, at)) = self.trail.pop() {
                    (self.middle, self.at) = (middle, at);
                }
            }
            Some("open-neighbour") => return self.open(),
            Some("cancel") => return Reply::Close(vec![]),
            _ => {}
        }
        Reply::Keep
    }

    pub(super) fn step(&mut self, rows: isize) {
        let last = self.graph.neighbours(self.middle).len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(rows).min(last);
    }

    fn selected(&self) -> Option<usize> {
        self.graph.neighbours(self.middle).get(self.at).map(|n| n.node)
    }

    /// Makes the selected neighbour the middle; the one before is selected there.
    fn go(&mut self) {
        let Some(next) = self.selected() else { return };
        let before = self.middle;
        self.trail.push((before, self.at));
        self.middle = next;
        self.at = self.graph.neighbours(next).iter().position(|n| n.node == before).unwrap_or(0);
    }

    fn open(&self) -> Reply {
        let Some(node) = self.selected().and_then(|at| self.graph.nodes.get(at)) else { return Reply::Keep };
        let Some(path) = &node.path else {
            let words = format!("The Codex has no entry for {}.", node.name);
            return Reply::Do(vec![Msg::Notice(Notice::hint(words))]);
        };
        let place = Place { range: node.start..node.start, words: String::new() };
        Reply::Close(vec![Msg::Show(path.clone(), Some(place)), Msg::Run("focus-manuscript")])
    }

    pub(super) fn lay_out(&mut self, screen: Rect) {
        let all = self.graph.neighbours(self.middle);
        let tree = u16::try_from(self.rows(&all).len()).unwrap_or(u16::MAX);
        let wanted = tree.saturating_add(BOX + DETAILS + 1);
        self.size = (screen.width.saturating_sub(8).min(WIDEST), wanted.min(screen.height.saturating_sub(4)));
    }

    fn rows<'a>(&self, all: &'a [Neighbour<'a>]) -> Vec<Row<'a>> {
        let mut rows = vec![];
        let last = all.last().map(|n| n.circle);
        for (at, neighbour) in all.iter().enumerate() {
            let is_last = Some(neighbour.circle) == last;
            if at == 0 || all[at - 1].circle != neighbour.circle {
                let trunk = if is_last { "  ╰─ " } else { "  ├─ " };
                rows.push(Row { trunk, label: neighbour.circle.as_str().to_owned(), neighbour: None });
            }
            let trunk = if is_last { "     " } else { "  │  " };
            let label = self.graph.nodes[neighbour.node].name.clone();
            rows.push(Row { trunk, label, neighbour: Some(neighbour) });
        }
        rows
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme, keymap: &Keymap) -> Option<Position> {
        let (width, height) = self.size;
        let key = |name: &str| keymap.key_of(name).unwrap_or_default();
        let mut hints = vec![
            (key("list-choose"), "puts it in the middle"),
            (key("open-neighbour"), "opens it"),
            (key("previous-centre"), "back"),
            ("Esc".to_owned(), "close"),
        ];
        if self.trail.is_empty() {
            hints.remove(2);
        }
        let popup = popup::Popup { title: "Relationships", hints: &hints, width, height };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        let all = self.graph.neighbours(self.middle);
        let part = |y: u16, height: u16| Rect { y: inner.y + y, height, ..inner }.intersection(inner);
        Popup::lines(frame, part(0, BOX), theme, self.the_middle(theme, inner.width, !all.is_empty()));
        let room = inner.height.saturating_sub(BOX + DETAILS + 1);
        let tree = self.tree(theme, &all, (usize::from(inner.width), usize::from(room)));
        Popup::lines(frame, part(BOX, room), theme, tree);
        let details = self.details(theme, all.get(self.at), usize::from(inner.width));
        Popup::lines(frame, part(BOX + room + 1, DETAILS), theme, details);
        None
    }

    /// The box on top.
    fn the_middle(&self, theme: &Theme, width: u16, has_neighbours: bool) -> Vec<Line<'static>> {
        let Some(node) = self.graph.nodes.get(self.middle) else { return vec![] };
        let kind = node.entry_type.map_or("not in the Codex", |t| t.as_str());
        let room = usize::from(width).saturating_sub(4);
        let about = format!(" · {kind}");
        let name = text::fit(&node.name, room.saturating_sub(text::width(&about)));
        let about = text::fit(&about, room.saturating_sub(text::width(&name)));
        let wide = text::width(&name) + text::width(&about) + 2;
        let frame = theme.style(Role::BorderFocused);
        let below = if has_neighbours { "╰─┬" } else { "╰──" };
        let name_look = node.entry_type.map_or(theme.style(Role::Strong), |t| theme.style(Role::of_name(t)));
        let pieces = vec![
            ("│ ", frame),
            (name.as_str(), name_look),
            (about.as_str(), theme.style(Role::Dim)),
            (" │", frame),
        ];
        let columns = usize::from(width);
        vec![
            text::line_of([(format!("╭{}╮", "─".repeat(wide)).as_str(), frame)], columns),
            text::line_of(pieces, columns),
            text::line_of(
                [(format!("{below}{}╯", "─".repeat(wide.saturating_sub(2))).as_str(), frame)],
                columns,
            ),
        ]
    }

    fn tree(&self, theme: &Theme, all: &[Neighbour<'_>], size: (usize, usize)) -> Vec<Line<'static>> {
        let (width, height) = size;
        if all.is_empty() {
            return vec![Line::styled("No relationship is written down.", theme.style(Role::Dim))];
        }
        let rows = self.rows(all);
        let names = rows.iter().filter(|r| r.neighbour.is_some()).map(|r| text::width(&r.label));
        let column = names.max().unwrap_or(0).min(width / 2);
        let selected =
            rows.iter().enumerate().filter(|(_, r)| r.neighbour.is_some()).nth(self.at).map_or(0, |(i, _)| i);
        let top = selected.saturating_sub(height / 2).min(rows.len().saturating_sub(height));
        let line = |(at, row): (usize, &Row<'_>)| {
            let trunk = (row.trunk, theme.style(Role::Border));
            let Some(neighbour) = row.neighbour else {
                return text::line_of([trunk, (row.label.as_str(), theme.style(Role::Heading))], width);
            };
            let is_here = at == selected;
            let pointer = if is_here { "▸ " } else { "  " };
            let node = &self.graph.nodes[neighbour.node];
            let look = node.entry_type.map_or(theme.style(Role::Text), |t| theme.style(Role::of_name(t)));
            let name = text::pad(&row.label, column + 2);
            let words = neighbour.words();
            let pieces = [
                trunk,
                (pointer, theme.style(Role::Accent)),
                (name.as_str(), Style { bg: None, ..look }),
                (words.as_str(), theme.style(Role::Dim)),
            ];
            let line = text::line_of(pieces, width);
            if is_here { line.patch_style(theme.style(Role::CursorLine)) } else { line }
        };
        rows.iter().enumerate().skip(top).take(height).map(line).collect()
    }

    /// What both say, word for word.
    fn details(&self, theme: &Theme, neighbour: Option<&Neighbour<'_>>, width: usize) -> Vec<Line<'static>> {
        let Some(neighbour) = neighbour else { return vec![] };
        let name = |at: usize| self.graph.nodes[at].name.as_str();
        let mut lines = vec![];
        for (who, said) in [(self.middle, neighbour.said), (neighbour.node, neighbour.back)] {
            let words = all_words(said);
            if words.is_empty() {
                continue;
            }
            let rows = text::wrap(&format!("{}: {words}", name(who)), width);
            let cut = rows.len() > 2;
            for (at, row) in rows.into_iter().take(2).enumerate() {
                let row = if cut && at == 1 { text::fit(&format!("{row}…"), width) } else { row };
                lines.push(Line::styled(row, theme.style(Role::Text)));
            }
        }
        lines
    }
}

fn all_words(said: &[Said]) -> String {
    let of = |said: &Said| match (&said.kind, &said.description) {
        (Some(kind), Some(more)) => format!("{kind}. {more}"),
        (Some(words), None) | (None, Some(words)) => words.clone(),
        (None, None) => String::new(),
    };
    let mut all: Vec<String> = vec![];
    for words in said.iter().map(of).filter(|words| !words.is_empty()) {
        if !all.contains(&words) {
            all.push(words);
        }
    }
    all.join(" · ")
}
