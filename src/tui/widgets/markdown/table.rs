//! Tables: columns fitted to the width, cells wrapped; without room for columns, one record below the other.

use pulldown_cmark::Alignment;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::super::super::theme::Role;
use super::super::text;
use super::layout::{Layout, Prefix, wrapped};
use super::parse::{Inline, Run, Table};

const SEPARATOR: &str = " │ ";

/// Fewest columns of the screen that a column of a table is readable in.
const MIN_COLUMN: usize = 3;

impl Layout<'_> {
    pub fn table(&mut self, table: &Table, prefix: &mut Prefix) {
        let Some((head, body)) = table.rows.split_first() else { return };
        let head: Vec<Inline> = head.iter().map(strong).collect();
        match fitted(table, self.room(prefix)) {
            Some(widths) => {
                self.row(&head, &widths, table, prefix);
                let rule = widths.iter().map(|w| "─".repeat(*w)).collect::<Vec<_>>().join("─┼─");
                let mut spans = prefix.next();
                spans.push(Span::styled(rule, self.theme.style(Role::Dim)));
                self.lines.push(Line::from(spans));
                for row in body {
                    self.row(row, &widths, table, prefix);
                }
            }
            None => self.records(&head, body, prefix),
        }
    }

    fn row(&mut self, cells: &[Inline], widths: &[usize], table: &Table, prefix: &mut Prefix) {
        let mut columns = vec![];
        for (cell, width) in cells.iter().zip(widths) {
            let (lines, marks) = wrapped(cell, *width);
            self.marks.extend(marks.into_iter().map(|(index, row)| (index, self.lines.len() + row)));
            columns.push(lines.into_iter());
        }
        let height = columns.iter().map(ExactSizeIterator::len).max().unwrap_or(0).max(1);
        for _ in 0..height {
            let mut spans = prefix.next();
            for (i, width) in widths.iter().enumerate() {
                if i > 0 {
                    spans.push(Span::styled(SEPARATOR, self.theme.style(Role::Dim)));
                }
                let line = columns.get_mut(i).and_then(Iterator::next).unwrap_or_default();
                let used: usize = line.spans.iter().map(|s| text::width(&s.content)).sum();
                let free = width.saturating_sub(used);
                let before = match table.alignments.get(i) {
                    Some(Alignment::Right) => free,
                    Some(Alignment::Center) => free / 2,
                    _ => 0,
                };
                spans.push(Span::raw(" ".repeat(before)));
                spans.extend(line.spans);
                spans.push(Span::raw(" ".repeat(free - before)));
            }
            self.lines.push(Line::from(spans));
        }
    }

    /// Shows each row as lines of `head: cell`; empty cells are left out.
    fn records(&mut self, head: &[Inline], body: &[Vec<Inline>], prefix: &mut Prefix) {
        for (i, row) in body.iter().enumerate() {
            if i > 0 {
                let gap = prefix.next();
                self.lines.push(Line::from(gap));
            }
            for (name, cell) in head.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
                let mut words = name.clone();
                words.push(Run { text: ": ".into(), style: self.theme.style(Role::Dim), mark: None });
                words.extend(cell.iter().cloned());
                // Marks of the head stand in it once, however often it is repeated.
                if i > 0 {
                    words.iter_mut().take(name.len()).for_each(|r| r.mark = None);
                }
                self.inline(&words, prefix);
            }
        }
        if body.is_empty() {
            for name in head {
                self.inline(name, prefix);
            }
        }
    }
}

fn strong(cell: &Inline) -> Inline {
    let bold = |r: &Run| Run { style: r.style.add_modifier(Modifier::BOLD), ..r.clone() };
    cell.iter().map(bold).collect()
}

/// Returns the widths of the columns of a table in `room`: their own where they fit, else the widest are narrowed to one common
/// width, but not below their longest word while that is possible. `None` where not even narrow columns fit.
fn fitted(table: &Table, room: usize) -> Option<Vec<usize>> {
    let count = table.alignments.len();
    let room = room.checked_sub(text::width(SEPARATOR) * count.saturating_sub(1))?;
    let measured = |of: fn(&str) -> usize| -> Vec<usize> {
        let cells = |i: usize| table.rows.iter().filter_map(move |row| row.get(i));
        let width = |cell: &Inline| of(&cell.iter().map(|r| r.text.as_str()).collect::<String>());
        (0..count).map(|i| cells(i).map(width).max().unwrap_or(0).max(1)).collect()
    };
    let wanted = measured(text::width);
    if wanted.iter().sum::<usize>() <= room {
        return Some(wanted);
    }
    let words = measured(|cell| cell.split_whitespace().map(text::width).max().unwrap_or(0));
    narrowed(&wanted, &words, room).or_else(|| narrowed(&wanted, &vec![MIN_COLUMN; count], room))
}

/// Narrows columns to the greatest common width that fits, none below its `least`.
fn narrowed(wanted: &[usize], least: &[usize], room: usize) -> Option<Vec<usize>> {
    let at = |limit: usize| wanted.iter().zip(least).map(move |(w, l)| (*w).min(limit.max(*l)));
    let limit = (1..=room).rev().find(|limit| at(*limit).sum::<usize>() <= room)?;
    let mut spare = room - at(limit).sum::<usize>();
    let widths = at(limit).zip(wanted).map(|(width, wanted)| {
        let extra = usize::from(width < *wanted).min(spare);
        spare -= extra;
        width + extra
    });
    Some(widths.collect())
}
