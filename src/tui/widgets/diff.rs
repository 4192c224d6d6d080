//! The differences of a proposal as rows: by word inside a paragraph, in one column or side by side, and what is in dispute.
//!
//! What is removed is struck and has `-` beside it, what is added is underlined and has `+`, whatever the colours; without any colours
//! words stand in `[- -]` and `{+ +}` as well. Rows are made when they come into sight and kept: nothing here costs by the length of
//! the texts but [`Reading::of`], which is made once. Nothing here decides or changes anything.

mod items;
mod pages;
mod prose;
mod reading;

use std::ops::Range;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::super::theme::{Role, Theme};
use super::text;
use crate::domain::safe_text;
use crate::proposal::diff::{Piece, Side};

pub use items::{Item, Look};
pub use pages::{Pages, Taken};
pub use reading::{Part, Reading, Section};

/// Columns of one side under which side by side would be unreadable.
pub const SIDE_AT_LEAST: usize = 32;

const SEPARATOR: &str = " │ ";

/// Columns before the text: the sign and a space.
const GUTTER: usize = 2;

/// One file to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its changes.
    pub reading: Reading,
    /// What there is to know about it, above its changes.
    pub notes: Vec<String>,
    /// Places in dispute.
    pub disputes: Vec<Dispute>,
}

/// A place that both sides have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispute {
    /// The line in the author's text, from 1.
    pub line: usize,
    /// Words of the same line before it and after it.
    pub around: (String, String),
    /// The author's words; empty: taken out.
    pub mine: String,
    /// The proposed words; empty: taken out.
    pub theirs: String,
}

/// Returns the first `rows` rows of the changes from one text to another, without anything to choose.
pub fn brief(reading: &Reading, width: u16, rows: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut shown = vec![];
    for section in &reading.sections {
        if !shown.is_empty() {
            shown.push(Line::default());
        }
        let place = if section.place.is_empty() { String::new() } else { format!(" · {}", section.place) };
        let words = format!("line {}{place}", section.old_lines.start + 1);
        shown.push(text::line_of([(words.as_str(), theme.style(Role::Dim))], usize::from(width)));
        shown.extend(section.parts.iter().flat_map(|part| one_column(part, true, width.into(), theme)));
        if shown.len() > rows {
            break;
        }
    }
    let more = shown.len() > rows;
    shown.truncate(rows);
    if more {
        shown.push(Line::styled("… and more", theme.style(Role::Dim)));
    }
    shown
}

/// Rows of one part in one column; `short`: only the words around its changes.
fn one_column(part: &Part, short: bool, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    match part {
        Part::Same(words) => same(words, width, theme),
        Part::Inside(pieces) => flow(&inside(pieces, short, theme), width, theme),
        Part::Old(words) if words.trim().is_empty() => note(Side::Old, "", width, theme),
        Part::New(words) if words.trim().is_empty() => note(Side::New, "", width, theme),
        Part::Old(words) => flow(&[Run::new(words, Some(Side::Old))], width, theme),
        Part::New(words) => whole_line(words, width, theme),
        Part::Note(side, words) => note(*side, words, width, theme),
    }
}

/// A line that is new as a whole: a sign and a colour are enough, and a page of underlined words is hard to read.
fn whole_line(words: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows = flow(&[Run::new(words, Some(Side::New))], width, theme);
    for span in rows.iter_mut().flat_map(|row| &mut row.spans) {
        span.style = plain(span.style);
    }
    rows
}

/// What both columns show of a part. Of two parts the first is on the left, the second on the right.
fn two_columns(
    (old, new): (Option<&Part>, Option<&Part>),
    short: bool,
    width: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let column = (width.saturating_sub(text::width(SEPARATOR))) / 2;
    let one_side = |part: Option<&Part>, side: Side| match part {
        Some(Part::Inside(pieces)) => {
            let runs = inside(pieces, short, theme).into_iter();
            let here = |run: &Run| run.side.is_none_or(|s| s == Side::Both || s == side) && !run.between;
            flow(&runs.filter(here).collect::<Vec<_>>(), column, theme)
        }
        Some(Part::Note(of, words)) if *of == Side::Both || *of == side => note(*of, words, column, theme),
        Some(Part::Note(..)) | None => vec![],
        Some(part) => one_column(part, short, column, theme),
    };
    let (left, right) = (one_side(old, Side::Old), one_side(new, Side::New));
    let count = left.len().max(right.len());
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    (0..count)
        .map(|_| {
            let mut spans = left.next().unwrap_or_default().spans;
            let used: usize = spans.iter().map(|s| text::width(&s.content)).sum();
            spans.push(Span::raw(" ".repeat(column - used.min(column))));
            spans.push(Span::styled(SEPARATOR, theme.style(Role::Dim)));
            spans.extend(right.next().unwrap_or_default().spans);
            Line::from(spans)
        })
        .collect()
}

/// Rows of what a dispute becomes.
fn outcome_of_dispute(dispute: &Dispute, becomes: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (before, after) = &dispute.around;
    let runs = [Run::new(before, None), Run::new(becomes, Some(Side::Both)), Run::new(after, None)];
    let mut rows = vec![Line::from(Span::styled("    it becomes", theme.style(Role::Strong)))];
    rows.extend(flow(&runs, width.saturating_sub(4), theme).into_iter().map(shifted));
    rows
}

fn shifted(mut row: Line<'static>) -> Line<'static> {
    row.spans.insert(0, Span::raw("    "));
    row
}

/// Rows of one side of a dispute, under the words that say whose it is.
fn side_of_dispute(
    dispute: &Dispute,
    mine: bool,
    taken: Option<bool>,
    width: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let (label, words) = if mine { ("yours now", &dispute.mine) } else { ("proposed", &dispute.theirs) };
    let mark = match taken {
        Some(true) => "●",
        Some(false) => "○",
        None => " ",
    };
    let role = if taken == Some(true) { Role::Strong } else { Role::Dim };
    let head = Line::from(Span::styled(format!("  {mark} {label}"), theme.style(role)));
    let (before, after) = &dispute.around;
    let mut runs = vec![Run::new(before, None)];
    if words.trim().is_empty() {
        runs.push(Run::new("(taken out)", None));
    } else {
        let side = match taken {
            Some(false) => Side::Old,
            Some(true) => Side::New,
            None => Side::Both,
        };
        runs.push(Run::new(words, Some(side)));
    }
    runs.push(Run::new(after, None));
    let mut rows = vec![head];
    rows.extend(flow(&runs, width.saturating_sub(4), theme).into_iter().map(shifted));
    rows
}

fn same(line: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    flow(&[Run::new(line, None)], width, theme)
}

fn note(side: Side, words: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let sign = match side {
        Side::Both => "±",
        Side::Old => "-",
        Side::New => "+",
    };
    let style = plain(style(Some(side), theme)).patch(theme.style(Role::Emphasis));
    let words = if words.is_empty() { String::new() } else { format!("({words})") };
    let mut rows: Vec<Line<'static>> = text::wrap(&words, width.saturating_sub(GUTTER))
        .into_iter()
        .map(|row| Line::from(Span::styled(format!("  {row}"), style)))
        .collect();
    if let Some(first) = rows.first_mut().and_then(|row| row.spans.first_mut()) {
        first.content = format!("{sign}{}", &first.content[1..]).into();
    }
    rows
}

/// Safe words of one side, or, with no side, what is not looked at: unchanged words, marks.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    text: String,
    side: Option<Side>,
    /// Stands between two sides and belongs to neither.
    between: bool,
}

impl Run {
    fn new(text: &str, side: Option<Side>) -> Self {
        Self { text: safe_text::block(text).into_owned(), side, between: false }
    }
}

/// The words of both sides in reading order.
fn inside(pieces: &[Piece], short: bool, theme: &Theme) -> Vec<Run> {
    let whole = || pieces.iter().map(|p| (Some(p.side), p.text.clone())).collect();
    let pieces: Vec<(Option<Side>, String)> = if short { reading::shortened(pieces) } else { whole() };
    let colourless = theme.style(Role::Removed).fg.is_none();
    let mut runs: Vec<Run> = vec![];
    for (side, text) in pieces {
        let has_words = !text.trim().is_empty();
        let replaces =
            side == Some(Side::New) && has_words && runs.last().is_some_and(|r| r.side == Some(Side::Old));
        let text = match side {
            Some(Side::Old) if colourless && has_words => format!("[-{text}-]"),
            Some(Side::New) if colourless && has_words => format!("{{+{text}+}}"),
            _ => text,
        };
        if replaces && !colourless {
            // Struck and new words must not run into one where a terminal shows neither mark.
            let old = runs.last().map_or("", |r| r.text.as_str());
            let many = old.trim().contains(char::is_whitespace) || text.trim().contains(char::is_whitespace);
            let arrow = if many { " → " } else { "→" };
            runs.push(Run { text: arrow.to_owned(), side: None, between: true });
        }
        runs.push(Run { text, side, between: false });
    }
    runs
}

/// Wraps runs, each row with the sign of what it holds. No words: one empty row.
fn flow(runs: &[Run], width: usize, theme: &Theme) -> Vec<Line<'static>> {
    if runs.is_empty() || width == 0 {
        return vec![];
    }
    let gutter = if width > GUTTER { GUTTER } else { 0 };
    let texts: Vec<&str> = runs.iter().map(|r| r.text.as_str()).collect();
    let row = |pieces: Vec<(usize, Range<usize>)>| {
        let piece = |(i, range): &(usize, Range<usize>)| {
            (runs[*i].text.get(range.clone()).unwrap_or_default(), style(runs[*i].side, theme))
        };
        let has = |side: Side| pieces.iter().any(|(i, _)| runs[*i].side == Some(side));
        let (sign, look) = match (has(Side::Old), has(Side::New)) {
            (true, true) => ("± ", theme.style(Role::Hunk)),
            (true, false) => ("- ", plain(theme.style(Role::Removed))),
            (false, true) => ("+ ", plain(theme.style(Role::Added))),
            (false, false) => ("  ", Style::new()),
        };
        let mut line = text::line_of(pieces.iter().map(piece), width - gutter);
        if gutter > 0 {
            line.spans.insert(0, Span::styled(sign, look));
        }
        line
    };
    text::wrap_runs(&texts, width - gutter).into_iter().map(row).collect()
}

fn plain(style: Style) -> Style {
    style.remove_modifier(Modifier::all())
}

fn style(side: Option<Side>, theme: &Theme) -> Style {
    match side {
        None => theme.style(Role::Dim),
        Some(Side::Both) => theme.style(Role::Text),
        Some(Side::Old) => theme.style(Role::Removed),
        Some(Side::New) => theme.style(Role::Added),
    }
}
