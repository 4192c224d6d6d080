//! The manuscript pane: heading, text, find bar.

use std::sync::Arc;

use ratatui::Frame;
use ratatui::buffer::Buffer as Cells;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::canon::mentions::{Mention, Named, Names};
use crate::domain::book::Book;
use crate::editor::{Buffer, Row, display};

use super::super::app::{App, Find};
use super::super::document::OpenDocument;
use super::super::layout::Pane;
use super::super::theme::Role;
use super::super::turn_lines::{count, thousands};
use super::heading;

/// Where the parts of the pane are.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Parts {
    pub(in super::super) text: Rect,
    find: Option<Rect>,
}

impl Parts {
    pub(in super::super) fn of(app: &App, area: Rect) -> Self {
        let find_rows = app.find.as_ref().map_or(0, |f| 1 + u16::from(f.replacement.is_some()));
        let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1 + find_rows), ..area };
        let find = (find_rows > 0).then(|| Rect { y: body.bottom(), height: find_rows, ..area });
        // One column of air at each side where there is room; the measure is never exceeded.
        let air = if area.width > 44 { 2 } else { 1 };
        let width = body.width.saturating_sub(2 * air).min(app.look.measure).max(1);
        let x = body.x + (body.width.saturating_sub(width)) / 2;
        // A row of air below the heading, and room for the cursor after a full last row.
        let top = u16::from(body.height > 12);
        let text = Rect { x, y: body.y + top, width, height: body.height.saturating_sub(top) };
        Self { text, find }
    }
}

/// Draws the pane. Returns where the cursor is, when the pane has it.
pub(in super::super) fn draw(app: &App, frame: &mut Frame<'_>, area: Rect) -> Option<Position> {
    let focused = app.focus == Pane::Manuscript;
    let parts = Parts::of(app, area);
    let Some(document) = app.document() else {
        heading(frame, area, &app.theme, focused, "Manuscript", &[]);
        let words = "No document is open. Ctrl-G lists the chapters.";
        frame.render_widget(Line::styled(words, app.theme.style(Role::Dim)), parts.text);
        return None;
    };
    let unsaved = if document.buffer.is_modified() { " ●" } else { "" };
    let lock = if document.read_only.is_some() { " (read only)" } else { "" };
    let title = format!("{}{lock}{unsaved}", document.title);
    heading(
        frame,
        area,
        &app.theme,
        focused,
        &title,
        &[&words(app, document), &count(document.buffer.words(), "word")],
    );
    text(app, document, frame.buffer_mut(), parts.text);
    if let Some(row) = parts.find
        && let Some(at) = find_bar(app, frame, row)
    {
        return Some(at);
    }
    let (x, y) = document.cursor?;
    Some(Position::new(parts.text.x + x.min(parts.text.width), parts.text.y + y))
}

fn words(app: &App, document: &OpenDocument) -> String {
    let own = document.buffer.words();
    if let Some(selected) = &document.selected {
        return format!("{} of {} words selected", thousands(selected.words), thousands(own));
    }
    if app.book.chapter(&document.path).is_some() {
        format!("{} of {} words", thousands(own), thousands(app.words_of_book()))
    } else {
        count(own, "word")
    }
}

/// Draws the visible rows, with names, Markdown and the selection.
fn text(app: &App, document: &OpenDocument, cells: &mut Cells, area: Rect) {
    let selection = document.buffer.selection();
    let base = app.theme.style(Role::Text);
    let selected = app.theme.style(Role::Selection);
    for (y, (row, spans)) in document.rows.iter().enumerate().take(usize::from(area.height)) {
        let y = area.y + y as u16;
        let mut spans = spans.iter().peekable();
        let mut x = area.x;
        for (byte, shown, width) in display(&row.text) {
            let at = row.range.start + byte;
            if usize::from(x) + width > usize::from(area.right()) {
                break;
            }
            while spans.peek().is_some_and(|s| s.end <= byte) {
                spans.next();
            }
            let mut style = base;
            if let Some(span) = spans.peek()
                && span.start <= byte
            {
                style = style.patch(app.theme.style(span.role));
            }
            if selection.as_ref().is_some_and(|s| s.contains(&at)) {
                style = style.patch(selected);
            }
            // A grapheme of one cell needs no more looking at; this is nearly all of prose.
            match cells.cell_mut((x, y)) {
                Some(cell) if width == 1 => {
                    cell.set_symbol(&shown).set_style(style);
                }
                _ => {
                    cells.set_stringn(x, y, &shown, width, style);
                }
            }
            x += width as u16;
        }
        mark_line_end(row, selection.as_ref(), selected, cells, Rect { y, height: 1, ..area });
    }
}

/// Shows that a selection goes on over an empty line.
fn mark_line_end(
    row: &Row,
    selection: Option<&std::ops::Range<usize>>,
    style: Style,
    cells: &mut Cells,
    area: Rect,
) {
    let empty = row.text.is_empty();
    if empty && selection.is_some_and(|s| s.start <= row.range.start && row.range.start < s.end) {
        cells.set_stringn(area.x, area.y, " ", 1, style);
    }
}

fn find_bar(app: &App, frame: &mut Frame<'_>, area: Rect) -> Option<Position> {
    let bar = app.find.as_ref()?;
    let label = Rect { height: 1, ..area };
    let theme = &app.theme;
    let write = |frame: &mut Frame<'_>, row: Rect, words: &str| {
        let width = (words.len() as u16).min(row.width);
        frame.render_widget(Span::styled(words.to_owned(), theme.style(Role::Badge)), Rect { width, ..row });
        Rect { x: row.x + width + 1, width: row.width.saturating_sub(width + 1), ..row }
    };
    // What Enter does stands at the right, where the field leaves room for it.
    let explain = |frame: &mut Frame<'_>, field: Rect, words: &str| {
        let width = words.chars().count() as u16;
        if field.width < width + 16 {
            return field;
        }
        let place = Rect { x: field.right() - width, width, ..field };
        frame.render_widget(Span::styled(words.to_owned(), theme.style(Role::Dim)), place);
        Rect { width: field.width - width - 1, ..field }
    };
    let field = write(frame, label, if bar.found { " Find " } else { " Not found " });
    let field = explain(frame, field, "Enter next · Up previous · Tab replace");
    let field = match places(app, bar) {
        Some(words) => explain(frame, field, &words),
        None => field,
    };
    let mut at = bar.needle.draw(field, frame.buffer_mut(), theme);
    if let Some(replacement) = &bar.replacement {
        let row = Rect { y: label.y + 1, ..label };
        let field = write(frame, row, " Replace ");
        let field = explain(frame, field, "Enter replaces · Alt-Enter all");
        let lower = replacement.draw(field, frame.buffer_mut(), theme);
        if bar.in_replacement {
            at = lower;
        }
    }
    at
}

/// Which of the places is selected, and how many there are: `3/17`; nothing until they are counted.
fn places(app: &App, bar: &Find) -> Option<String> {
    let counted = bar.counted.as_ref().filter(|counted| !counted.is_empty())?;
    let all = format!("{}{}", thousands(counted.len()), if counted.is_more { "+" } else { "" });
    let selected = app.document()?.buffer.selection();
    Some(match selected.and_then(|selected| counted.number_at(selected.start)) {
        Some(number) => format!("{}/{all}", thousands(number)),
        None if counted.len() == 1 => "1 place".to_owned(),
        None => format!("{all} places"),
    })
}

/// A stretch of a row with its look. Offsets are bytes of the row's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Look {
    pub(in super::super) start: usize,
    pub(in super::super) end: usize,
    pub(in super::super) role: Role,
}

/// Works out the looks of a row from its line: Markdown dimmed, names highlighted; names win.
fn looks(line: &NamedLine, row: &Row) -> Vec<Look> {
    let (from, to) = (row.range.start - line.start, row.range.end - line.start);
    let mut all: Vec<Look> = line
        .names
        .iter()
        .filter(|(start, end, _)| *start < to && *end > from)
        .map(|(start, end, role)| Look {
            start: (*start).max(from) - from,
            end: (*end).min(to) - from,
            role: *role,
        })
        .collect();
    let line = line.words.as_str();
    let heading_marks = line.bytes().take_while(|b| *b == b'#').count();
    let is_heading = (1..=6).contains(&heading_marks) && line.as_bytes().get(heading_marks) == Some(&b' ');
    let is_break = matches!(line.trim(), "* * *" | "***" | "---" | "+++" | "⁂" | "#");
    if is_break {
        return vec![Look { start: 0, end: row.text.len(), role: Role::Markup }];
    }
    let mut fill = |start: usize, end: usize, role: Role| {
        // Markdown never covers a name.
        if start < end && !all.iter().any(|l| l.start < end && start < l.end) {
            all.push(Look { start, end, role });
        }
    };
    if is_heading {
        fill(0, (heading_marks + 1).saturating_sub(from).min(to - from), Role::Markup);
        fill((heading_marks + 1).saturating_sub(from).min(to - from), to - from, Role::Heading);
    } else {
        for (at, c) in row.text.char_indices() {
            if matches!(c, '*' | '_' | '`' | '[' | ']' | '>') {
                fill(at, at + c.len_utf8(), Role::Markup);
            }
        }
    }
    all.sort_unstable_by_key(|l| l.start);
    all
}

/// The part of a line that is on screen, with the names in it.
#[derive(Debug)]
struct NamedLine {
    words: String,
    /// Its first byte in the text.
    start: usize,
    /// Start and end in `words`, and the look of each name.
    names: Vec<(usize, usize, Role)>,
}

/// The lines on screen with their names, kept from frame to frame: a key costs the line that it changes.
#[derive(Debug, Default)]
pub(in super::super) struct NamedLines {
    lines: Vec<NamedLine>,
    /// The names that were looked for.
    entries: Option<Arc<[Named]>>,
}

/// Bytes before and after the rows on screen where a name may begin or end. Of a line that is longer, no more is looked at.
const REACH: usize = 2000;

impl NamedLines {
    /// Finds the names in the lines of `rows`, where they are not known from the last frame.
    fn look(&mut self, buffer: &Buffer, names: &Names, rows: &[Row]) {
        if self.entries.as_ref().is_none_or(|entries| !Arc::ptr_eq(entries, &names.entries)) {
            self.entries = Some(Arc::clone(&names.entries));
            self.lines.clear();
        }
        let mut before = std::mem::take(&mut self.lines);
        for rows in rows.chunk_by(|a, b| a.line == b.line) {
            let [first, ..] = rows else { continue };
            let end = rows.last().map_or(first.range.end, |row| row.range.end);
            let start = first.range.start.saturating_sub(REACH).max(buffer.line_start(first.line));
            let start = buffer.floor_char(start);
            let words = buffer.slice(start..buffer.line_end(first.line).min(end + REACH));
            let names = match before.iter().position(|known| known.words == words) {
                Some(at) => before.swap_remove(at).names,
                None => found(names, &words),
            };
            self.lines.push(NamedLine { words, start, names });
        }
    }
}

fn found(names: &Names, words: &str) -> Vec<(usize, usize, Role)> {
    let look = |m: Mention| {
        let entry = names.entries.get(m.entry)?;
        Some((m.range.start, m.range.end, Role::of_name(entry.entry_type)))
    };
    names.find(words).into_iter().filter_map(look).collect()
}

/// Prepares the document on screen for drawing: wraps the visible rows, finds the names in them, places the cursor.
pub(in super::super) fn lay_out(app: &mut App, area: Rect) {
    let text = Parts::of(app, area).text;
    let Some(document) = app.documents.get_mut(app.active) else { return };
    // The view keeps its last column for the cursor behind a full row; here that is the margin.
    document.view.resize(&document.buffer, text.width + 1, text.height);
    let rows = document.view.rows(&document.buffer);
    document.named.look(&document.buffer, &app.names, &rows);
    let mut lines = document.named.lines.iter();
    let mut line = lines.next();
    let mut last = rows.first().map(|row| row.line);
    let laid = rows.into_iter().map(|row| {
        if last != Some(row.line) {
            last = Some(row.line);
            line = lines.next();
        }
        let looks = line.map_or_else(Vec::new, |line| looks(line, &row));
        (row, looks)
    });
    document.rows = laid.collect();
    document.cursor = document.view.cursor_cell(&document.buffer);
}

/// Returns the place of a document in the book, for the status bar: `chapter 3 of 10`.
pub(in super::super) fn place_in_book(book: &Book, document: &OpenDocument) -> Option<String> {
    let at = book.chapters.iter().position(|c| c.path == document.path)?;
    Some(format!("chapter {} of {}", at + 1, book.chapters.len()))
}
