//! The differences of a proposal as rows: by word inside a paragraph, in one column or side by side.
//!
//! What is removed is struck and has `-` beside it, what is added is underlined and has `+`, whatever the colours. Chosen or not is
//! shown as `[x]` or `[ ]`. Nothing here decides or changes anything.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::theme::{Role, Theme};
use super::text;
use crate::domain::safe_text;
use crate::proposal::diff::{Hunk, Piece, Side};

/// Columns from which both texts have room side by side.
pub const SIDE_BY_SIDE_FROM: u16 = 140;

/// Columns under which side by side would be unreadable, and is shown in one column.
const SIDE_BY_SIDE_AT_LEAST: usize = 40;

/// Share of the words that both texts have in common, from which they are shown as one text with its changes inside.
const COMMON_ENOUGH: f64 = 0.4;

/// What to show.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The changes.
    pub hunks: &'a [Hunk],
    /// Which of them will be applied; a missing flag counts as set.
    pub chosen: &'a [bool],
    /// Index of the one that keys act on.
    pub current: usize,
    /// The whole old text, to show what stays as it is as well.
    pub whole: Option<&'a str>,
}

/// Rows ready to be drawn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The rows.
    pub lines: Vec<Line<'static>>,
    /// The row of each hunk's header.
    pub hunks: Vec<usize>,
}

/// Shows the changes in one column.
pub fn unified(view: &View<'_>, width: u16, theme: &Theme) -> Drawn {
    draw(view, width, theme, |pieces, width| {
        if reads_as_one(pieces) {
            return flow(&as_one(pieces), width, theme);
        }
        let mut rows = flow(&side(pieces, Side::Old), width, theme);
        rows.extend(flow(&side(pieces, Side::New), width, theme));
        rows
    })
}

/// Shows the old text on the left and the new one on the right; in one column where there is no room for it.
pub fn side_by_side(view: &View<'_>, width: u16, theme: &Theme) -> Drawn {
    if usize::from(width) < SIDE_BY_SIDE_AT_LEAST {
        return unified(view, width, theme);
    }
    draw(view, width, theme, |pieces, width| {
        let column = (width - SEPARATOR.chars().count()) / 2;
        let mut rows = vec![];
        for part in aligned(pieces) {
            let mut left = flow(&side(&part, Side::Old), column, theme).into_iter();
            let mut right = flow(&side(&part, Side::New), column, theme).into_iter();
            for _ in 0..left.len().max(right.len()) {
                let mut spans = left.next().unwrap_or_default().spans;
                let used: usize = spans.iter().map(|s| text::width(&s.content)).sum();
                spans.push(Span::raw(" ".repeat(column - used.min(column))));
                spans.push(Span::styled(SEPARATOR, theme.style(Role::Dim)));
                spans.extend(right.next().unwrap_or_default().spans);
                rows.push(Line::from(spans));
            }
        }
        rows
    })
}

const SEPARATOR: &str = " │ ";

/// Columns before the text: the sign and a space.
const GUTTER: usize = 2;

/// Puts headers, unchanged lines and the rows of each hunk below one another.
fn draw(
    view: &View<'_>,
    width: u16,
    theme: &Theme,
    body: impl Fn(&[Piece], usize) -> Vec<Line<'static>>,
) -> Drawn {
    let mut drawn = Drawn::default();
    let width = usize::from(width);
    if width == 0 {
        return drawn;
    }
    let unchanged: Vec<&str> = view.whole.map(|t| t.lines().collect()).unwrap_or_default();
    let mut read = 0;
    for (i, hunk) in view.hunks.iter().enumerate() {
        let before = unchanged.get(read..hunk.old_lines.start).unwrap_or_default();
        drawn.lines.extend(before.iter().flat_map(|line| same(line, width, theme)));
        read = hunk.old_lines.end;
        if i > 0 && unchanged.is_empty() {
            drawn.lines.push(Line::default());
        }
        drawn.hunks.push(drawn.lines.len());
        drawn.lines.push(header(view, i, width, theme));
        drawn.lines.extend(body(&hunk.pieces, width));
    }
    let after = unchanged.get(read..).unwrap_or_default();
    drawn.lines.extend(after.iter().flat_map(|line| same(line, width, theme)));
    drawn
}

fn header(view: &View<'_>, i: usize, width: usize, theme: &Theme) -> Line<'static> {
    let chosen = view.chosen.get(i).copied().unwrap_or(true);
    let pointer = if i == view.current { "▶" } else { " " };
    let state = if chosen { "[x]" } else { "[ ]" };
    let line = view.hunks.get(i).map_or(0, |h| h.old_lines.start) + 1;
    let words = format!("{pointer} {state} Change {} of {}, line {line}", i + 1, view.hunks.len());
    let style = theme.style(if i == view.current { Role::Hunk } else { Role::Dim });
    text::line_of([(words.as_str(), style)], width)
}

fn same(line: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let run = Run { text: safe_text::line(line).into_owned(), side: Side::Both };
    let mut rows = flow(&[run], width, theme);
    for span in rows.iter_mut().flat_map(|row| &mut row.spans) {
        span.style = theme.style(Role::Dim);
    }
    rows
}

/// Safe text of one side.
struct Run {
    text: String,
    side: Side,
}

/// Returns the words of one side: what is on both, and what is on this one alone.
fn side(pieces: &[Piece], of: Side) -> Vec<Run> {
    let here = pieces.iter().filter(|p| p.side == Side::Both || p.side == of);
    let mut runs: Vec<Run> =
        here.map(|p| Run { text: safe_text::block(&p.text).into_owned(), side: p.side }).collect();
    without_last_break(&mut runs);
    runs
}

/// Returns the words of both sides in reading order. A line break that only one side has is made visible.
fn as_one(pieces: &[Piece]) -> Vec<Run> {
    let run = |p: &Piece| {
        let text = safe_text::block(&p.text);
        let only_breaks = p.side != Side::Both && text.trim().is_empty();
        Run { text: if only_breaks { text.replace('\n', "¶\n") } else { text.into_owned() }, side: p.side }
    };
    let mut runs: Vec<Run> = pieces.iter().map(run).collect();
    without_last_break(&mut runs);
    runs
}

fn without_last_break(runs: &mut [Run]) {
    if let Some(last) = runs.last_mut()
        && last.text.ends_with('\n')
    {
        last.text.pop();
    }
}

/// Whether the two texts have so much in common that one text with changes inside reads better than one after the other.
fn reads_as_one(pieces: &[Piece]) -> bool {
    let letters = |of: Side| -> usize {
        let here = pieces.iter().filter(|p| p.side == of);
        here.flat_map(|p| p.text.chars()).filter(|c| c.is_alphanumeric()).count()
    };
    let (both, old, new) = (letters(Side::Both), letters(Side::Old), letters(Side::New));
    old == 0 || new == 0 || both as f64 >= COMMON_ENOUGH * (both + old.max(new)) as f64
}

/// Cuts pieces where both sides begin a line that they have in common or end one, so that it can be shown at one height.
fn aligned(pieces: &[Piece]) -> Vec<Vec<Piece>> {
    let (mut parts, mut part) = (vec![], vec![]);
    for piece in pieces {
        if piece.side != Side::Both {
            part.push(piece.clone());
            continue;
        }
        if !part.is_empty() && begins_a_line(&part, Side::Old) && begins_a_line(&part, Side::New) {
            parts.push(std::mem::take(&mut part));
        }
        for line in piece.text.split_inclusive('\n') {
            part.push(Piece { side: Side::Both, text: line.into() });
            if line.ends_with('\n') {
                parts.push(std::mem::take(&mut part));
            }
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// Whether what comes after `pieces` begins a line of that side.
fn begins_a_line(pieces: &[Piece], of: Side) -> bool {
    let last = pieces.iter().rev().find(|p| (p.side == Side::Both || p.side == of) && !p.text.is_empty());
    last.is_none_or(|p| p.text.ends_with('\n'))
}

/// Wraps runs, each row with the sign of what it holds. No words: no rows.
fn flow(runs: &[Run], width: usize, theme: &Theme) -> Vec<Line<'static>> {
    if runs.is_empty() {
        return vec![];
    }
    let gutter = if width > GUTTER { GUTTER } else { 0 };
    let texts: Vec<&str> = runs.iter().map(|r| r.text.as_str()).collect();
    let row = |pieces: Vec<(usize, std::ops::Range<usize>)>| {
        let piece = |(i, range): &(usize, std::ops::Range<usize>)| {
            (runs[*i].text.get(range.clone()).unwrap_or_default(), style(runs[*i].side, theme))
        };
        let has = |side: Side| pieces.iter().any(|(i, _)| runs[*i].side == side);
        let (sign, look) = match (has(Side::Old), has(Side::New)) {
            (true, true) => ("± ", theme.style(Role::Hunk)),
            (true, false) => {
                ("- ", theme.style(Role::Removed).remove_modifier(ratatui::style::Modifier::all()))
            }
            (false, true) => {
                ("+ ", theme.style(Role::Added).remove_modifier(ratatui::style::Modifier::all()))
            }
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

fn style(side: Side, theme: &Theme) -> Style {
    match side {
        Side::Both => theme.style(Role::Text),
        Side::Old => theme.style(Role::Removed),
        Side::New => theme.style(Role::Added),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::style::Modifier;

    use super::super::super::theme::Depth;
    use super::*;

    fn hunk(line: usize, pieces: &[(Side, &str)]) -> Hunk {
        let count = |of: Side| -> usize {
            pieces
                .iter()
                .filter(|(s, _)| *s == Side::Both || *s == of)
                .map(|(_, t)| t.matches('\n').count())
                .sum()
        };
        Hunk {
            old_lines: line..line + count(Side::Old),
            new_lines: line..line + count(Side::New),
            pieces: pieces.iter().map(|(side, text)| Piece { side: *side, text: (*text).into() }).collect(),
        }
    }

    fn view(hunks: &[Hunk]) -> View<'_> {
        View { hunks, chosen: &[], current: 0, whole: None }
    }

    fn rows(drawn: &Drawn) -> Vec<String> {
        drawn.lines.iter().map(|l| l.to_string().trim_end().to_owned()).collect()
    }

    use Side::{Both, New, Old};

    #[test]
    fn a_changed_word_stands_inside_its_sentence() {
        let hunks =
            [hunk(11, &[(Both, "Ilse is the "), (Old, "second"), (New, "first"), (Both, " officer.\n")])];
        let drawn = unified(&view(&hunks), 60, &Theme::default());
        assert_eq!(rows(&drawn), ["▶ [x] Change 1 of 1, line 12", "± Ilse is the secondfirst officer."]);
        assert_eq!(drawn.hunks, [0]);
        for depth in [Depth::None, Depth::Ansi16, Depth::True] {
            let theme = Theme::named("light", depth).unwrap();
            let line = &unified(&view(&hunks), 60, &theme).lines[1];
            let look = |word: &str| line.spans.iter().find(|s| s.content == word).unwrap().style.add_modifier;
            assert!(look("second").contains(Modifier::CROSSED_OUT));
            assert!(look("first").contains(Modifier::UNDERLINED));
        }
    }

    #[test]
    fn a_paragraph_of_prose_is_shown_once_with_its_changes_inside() {
        let old =
            "# Post\n\nIlse waits for the line to open. Nothing comes, and she writes it down.\n\nEnd.\n";
        let new = old.replace("Nothing comes", "No word comes");
        let found = crate::proposal::diff::hunks(old, &new);
        let drawn = unified(&view(&found), 80, &Theme::default());
        assert_eq!(drawn.hunks, [0]);
        let shown = rows(&drawn);
        assert_eq!(shown[0], "▶ [x] Change 1 of 1, line 3");
        assert_eq!(shown.concat().matches("Ilse waits").count(), 1, "{shown:?}");
        assert!(shown[1..].iter().all(|row| row.starts_with("± ") || row.starts_with("  ")), "{shown:?}");
    }

    #[test]
    fn rows_say_whether_they_come_or_go() {
        let hunks = [
            hunk(0, &[(Old, "gone one two three\n")]),
            hunk(4, &[(New, "new one two three\n")]),
            hunk(6, &[(Old, "quite another thought\n"), (New, "nothing in common\n")]),
        ];
        let chosen = [true, false, true];
        let drawn = unified(&View { chosen: &chosen, current: 1, ..view(&hunks) }, 14, &Theme::default());
        let expected = [
            "  [x] Change…",
            "- gone one two",
            "- three",
            "",
            "▶ [ ] Change…",
            "+ new one two",
            "+ three",
            "",
            "  [x] Change…",
            "- quite",
            "- another",
            "- thought",
            "+ nothing in",
            "+ common",
        ];
        assert_eq!(rows(&drawn), expected);
        assert_eq!(drawn.hunks, [0, 4, 8]);
    }

    #[test]
    fn a_paragraph_that_was_joined_shows_where() {
        let hunks = [hunk(0, &[(Both, "One thought."), (Old, "\n\n"), (New, " "), (Both, "And another.\n")])];
        let drawn = unified(&view(&hunks), 40, &Theme::default());
        assert_eq!(rows(&drawn)[1..], ["- One thought.¶", "- ¶", "+  And another."]);
    }

    #[test]
    fn side_by_side_keeps_common_lines_at_one_height() {
        let hunks = [hunk(
            0,
            &[
                (Both, "a common line\n"),
                (Old, "old words that take two rows here\n"),
                (New, "new\n"),
                (Both, "the end\n"),
            ],
        )];
        let drawn = side_by_side(&view(&hunks), 43, &Theme::default());
        let expected = [
            "▶ [x] Change 1 of 1, line 1",
            "  a common line      │   a common line",
            "- old words that     │ + new",
            "- take two rows here │",
            "  the end            │   the end",
        ];
        assert_eq!(rows(&drawn), expected);
        let narrow = side_by_side(&view(&hunks), 30, &Theme::default());
        assert_eq!(narrow, unified(&view(&hunks), 30, &Theme::default()));
    }

    #[test]
    fn the_whole_file_shows_what_stays() {
        let old = "first\nsecond\nthird\nfourth\n";
        let hunks = [hunk(1, &[(Old, "second"), (New, "2nd"), (Both, "\n")])];
        let drawn = unified(&View { whole: Some(old), ..view(&hunks) }, 40, &Theme::default());
        assert_eq!(
            rows(&drawn),
            ["  first", "▶ [x] Change 1 of 1, line 2", "- second", "+ 2nd", "  third", "  fourth"]
        );
        assert_eq!(drawn.hunks, [1]);
    }

    #[test]
    fn nothing_gets_through_that_a_terminal_obeys() {
        let hunks = [hunk(0, &[(New, "a\x1b[2J\tb\u{202e}\r\n")])];
        let drawn = unified(&view(&hunks), 40, &Theme::default());
        assert_eq!(rows(&drawn)[1], "+ a␛[2J    b\u{fffd}");
    }

    fn pieces() -> impl Strategy<Value = Vec<Piece>> {
        let side = prop_oneof![Just(Both), Just(Old), Just(New)];
        let piece = (side, "([a-z]{1,8}|日本|👩‍🚀|\n| |\x1b|\r\n|\\PC){1,6}");
        prop::collection::vec(piece.prop_map(|(side, text)| Piece { side, text }), 0..12)
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_row_too_wide(pieces in pieces(), width in 0u16..90) {
            let words = |of: Side| -> String {
                let here = pieces.iter().filter(|p| p.side == of).map(|p| safe_text::block(&p.text).into_owned());
                here.collect::<String>().chars().filter(|c| !c.is_whitespace()).collect()
            };
            let hunks = [Hunk { old_lines: 0..1, new_lines: 0..1, pieces: pieces.clone() }];
            let theme = Theme::default();
            for drawn in [unified(&view(&hunks), width, &theme), side_by_side(&view(&hunks), width, &theme)] {
                for line in &drawn.lines {
                    let wide: usize = line.spans.iter().map(|s| text::width(&s.content)).sum();
                    prop_assert!(wide <= usize::from(width), "{:?}", line.to_string());
                    prop_assert!(!line.to_string().contains(char::is_control));
                }
                // In narrower columns a wide character has no room, and an ellipsis stands for it.
                if width > 9 {
                    for (of, role) in [(Old, Role::Removed), (New, Role::Added)] {
                        let spans = drawn.lines.iter().skip(1).flat_map(|l| &l.spans);
                        let shown: String = spans.filter(|s| s.style == theme.style(role)).map(|s| s.content.as_ref()).collect();
                        let shown: String = shown.chars().filter(|c| !c.is_whitespace() && *c != '¶').collect();
                        prop_assert_eq!(shown, words(of).replace('¶', ""));
                    }
                }
            }
        }
    }
}
