//! The passages of a Markdown text that its author tied to a chapter or a date, and those that name what comes later.

use super::horizon::Horizon;
use super::without_comments;
use crate::canon::label::place;

/// What stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Only what is tied to what was read.
    Pinned,
    /// All but what is tied to, or names, what was not.
    AllButLater,
}

/// Returns what of `markdown` stays. A section belongs to the place in its heading, a list's item to the place at its beginning with all that is
/// indented below it; a passage goes as a whole. What `is_secret` says of goes as well.
pub(super) fn reduce(
    markdown: &str,
    horizon: &Horizon<'_>,
    keep: Keep,
    is_secret: &dyn Fn(&str) -> bool,
) -> String {
    let text = without_comments(markdown);
    let mut sections: Vec<(usize, Tie)> = vec![];
    let mut kept = String::new();
    for piece in pieces(&text) {
        let tie = tie(&piece.text, horizon, piece.level.is_some());
        if let Some(level) = piece.level {
            sections.retain(|(above, _)| *above < level);
            sections.push((level, tie));
        }
        let is_later =
            tie == Tie::Later || is_secret(&piece.text) || sections.iter().any(|(_, tie)| *tie == Tie::Later);
        let is_told = tie == Tie::Told || sections.iter().any(|(_, tie)| *tie == Tie::Told);
        if is_later || keep == Keep::Pinned && !is_told {
            continue;
        }
        kept.push_str(&piece.text);
        // How many lines apart the passages of an excerpt are would tell that something is missing.
        let gap = if keep == Keep::Pinned { "\n\n" } else { "\n\n".get(..piece.gap).unwrap_or("\n\n") };
        kept.push_str(gap);
    }
    kept.truncate(kept.trim_end().len());
    kept
}

/// How a passage stands to the horizon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tie {
    /// Tied to something that was read.
    Told,
    /// Tied to nothing.
    None,
    /// Tied to something that was not read, or names it.
    Later,
}

fn tie(text: &str, horizon: &Horizon<'_>, is_heading: bool) -> Tie {
    let unread = |line: &str| place(line, is_heading).is_some_and(|place| horizon.is_unread(&place));
    if horizon.names_later(text) || text.lines().any(unread) {
        return Tie::Later;
    }
    let first = text.lines().next().unwrap_or_default();
    if place(first, is_heading).is_some_and(|place| horizon.is_told(&place)) { Tie::Told } else { Tie::None }
}

/// A heading, a paragraph, an item of a list with all below it, a row of a table, or a block of code.
struct Piece {
    text: String,
    /// Of a heading.
    level: Option<usize>,
    /// Line breaks behind it.
    gap: usize,
}

fn pieces(text: &str) -> Vec<Piece> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let (mut pieces, mut at) = (vec![], 0);
    while at < lines.len() {
        let line = lines[at];
        let from = at;
        at += 1;
        if line.trim().is_empty() {
            continue;
        }
        let mut level = atx(line);
        if let Some(fence) = ["```", "~~~"].into_iter().find(|fence| line.trim_start().starts_with(fence)) {
            while at < lines.len() && !lines[at].trim_start().starts_with(fence) {
                at += 1;
            }
            at = (at + 1).min(lines.len());
        } else if level.is_some() {
            // One line.
        } else if let Some(depth) = item(line) {
            // What is indented below the item is part of it, also behind an empty line; so is a line that only wraps.
            while at < lines.len() {
                let next = lines[at..].iter().find(|line| !line.trim().is_empty());
                let belongs = next.is_some_and(|next| indent(next) > depth);
                let wraps = !lines[at].is_empty() && !begins(lines[at]);
                if !belongs && !wraps {
                    break;
                }
                at += 1;
            }
        } else if !line.trim_start().starts_with('|') {
            while at < lines.len() && !lines[at].is_empty() && !begins(lines[at]) {
                if let Some(underlined) = underline(lines[at]) {
                    level = Some(underlined);
                    at += 1;
                    break;
                }
                at += 1;
            }
        }
        let gap = 1 + lines[at..].iter().take_while(|line| line.trim().is_empty()).count();
        pieces.push(Piece { text: lines[from..at].join("\n"), level, gap });
    }
    pieces
}

/// Level of `## Heading`.
fn atx(line: &str) -> Option<usize> {
    let level = line.bytes().take_while(|b| *b == b'#').count();
    ((1..=6).contains(&level) && line[level..].starts_with([' ', '\t'])).then_some(level)
}

/// Level of the heading that a line of `===` or `---` makes of the paragraph above it.
fn underline(line: &str) -> Option<usize> {
    let of = |mark: u8| line.len() >= 2 && line.bytes().all(|b| b == mark);
    if of(b'=') { Some(1) } else { of(b'-').then_some(2) }
}

fn indent(line: &str) -> usize {
    line.bytes().take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// How far an item of a list is indented.
fn item(line: &str) -> Option<usize> {
    let bare = line.trim_start();
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let behind = match bare.as_bytes().first() {
        Some(b'-' | b'*' | b'+') => &bare[1..],
        Some(b'0'..=b'9') if bare[digits..].starts_with(['.', ')']) => &bare[digits + 1..],
        _ => return None,
    };
    (behind.starts_with([' ', '\t']) || behind.is_empty()).then(|| indent(line))
}

/// Whether a line begins something of its own.
fn begins(line: &str) -> bool {
    let bare = line.trim_start();
    atx(line).is_some()
        || item(line).is_some()
        || bare.starts_with(['|', '>'])
        || bare.starts_with("```")
        || bare.starts_with("~~~")
}
