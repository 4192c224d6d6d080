//! The difference of two texts made ready for reading: what changes, where that stands, and in words what can't be seen.
//!
//! Made once for a pair of texts and for any width; nothing here depends on the screen. Every text in it is safe for a terminal.

use std::ops::Range;

use super::prose::{self, by_sentence, reads_as_one, side_of};
use crate::domain::{frontmatter, safe_text};
use crate::proposal::diff::{Hunk, Piece, Side, hunks};

/// Most bytes of a line that are one part: longer ones are cut between words.
const LONGEST: usize = 4000;

const BOM: char = '\u{feff}';

/// All changes from one text to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    old: String,
    /// Bytes of each line of the old text, without its end.
    lines: Vec<Range<usize>>,
    /// One for each hunk, in their order.
    pub sections: Vec<Section>,
}

/// One hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Where it stands: `frontmatter, role` or `Appearance`; empty where no heading is above it.
    pub place: String,
    /// Lines of the old text, from 0.
    pub old_lines: Range<usize>,
    /// Lines of the new text, from 0.
    pub new_lines: Range<usize>,
    /// What there is to read, from above.
    pub parts: Vec<Part>,
}

/// Something to read, at most one paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A line that stays.
    Same(String),
    /// A paragraph with its changes inside.
    Inside(Vec<Piece>),
    /// A line that goes.
    Old(String),
    /// A line that comes.
    New(String),
    /// What can't be seen, in words: blank lines, line ends.
    Note(Side, String),
}

impl Reading {
    /// Compares two texts.
    pub fn of(old: &str, new: &str) -> Self {
        let hunks = hunks(old, new);
        let places = Places::of(old, new);
        let (old_lines, new_lines) = (split(old), split(new));
        let sections = hunks
            .into_iter()
            .map(|hunk| {
                let last = hunk.old_lines.end == old_lines.len() && hunk.new_lines.end == new_lines.len();
                Section {
                    place: places.of_hunk(&hunk),
                    parts: parts(&hunk, last),
                    old_lines: hunk.old_lines,
                    new_lines: hunk.new_lines,
                }
            })
            .collect();
        let lines = old_lines.into_iter().map(|range| trimmed(old, range)).collect();
        Self { old: old.to_owned(), lines, sections }
    }

    /// Returns a line of the old text, safe for a terminal.
    pub fn line(&self, line: usize) -> String {
        let range = self.lines.get(line).cloned().unwrap_or_default();
        safe_text::block(&self.old[range]).into_owned()
    }

    /// Returns the number of lines of the old text.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Whether a line of the old text has nothing to show.
    pub fn is_blank(&self, line: usize) -> bool {
        self.lines.get(line).is_none_or(|range| self.old[range.clone()].trim().is_empty())
    }
}

/// Bytes of every line, its end included.
fn split(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let line = |line: &str| {
        at += line.len();
        at - line.len()..at
    };
    text.split_inclusive('\n').map(line).collect()
}

fn trimmed(text: &str, line: Range<usize>) -> Range<usize> {
    let words = text[line.clone()].trim_end_matches(['\r', '\n']);
    line.start..line.start + words.len()
}

/// Says where in a text something stands.
struct Places<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
    /// Lines of the frontmatter, fences included.
    old_front: usize,
    new_front: usize,
}

impl<'a> Places<'a> {
    fn of(old: &'a str, new: &'a str) -> Self {
        let front = |text: &str| {
            let split = frontmatter::split(text);
            let has = split.syntax != frontmatter::Syntax::None;
            if has { text[..split.body_start].split_inclusive('\n').count() } else { 0 }
        };
        Self {
            old: old.lines().collect(),
            new: new.lines().collect(),
            old_front: front(old),
            new_front: front(new),
        }
    }

    fn of_hunk(&self, hunk: &Hunk) -> String {
        let comes = !hunk.new_lines.is_empty();
        let (lines, front, range) = if comes {
            (&self.new, self.new_front, &hunk.new_lines)
        } else {
            (&self.old, self.old_front, &hunk.old_lines)
        };
        if range.start < front {
            let keys = keys(lines, range.start..range.end.min(front));
            let words = if keys.is_empty() {
                "frontmatter".into()
            } else {
                format!("frontmatter, {}", keys.join(", "))
            };
            return safe_text::line(&words).into_owned();
        }
        // A heading that the change itself begins with, else the one above it.
        let within = range.clone().find(|at| lines.get(*at).is_some_and(|line| !line.trim().is_empty()));
        let heading = within.and_then(|at| heading(lines.get(at)?));
        let above = || (front..range.start).rev().find_map(|at| heading_at(lines, at));
        safe_text::line(heading.or_else(above).unwrap_or_default()).into_owned()
    }
}

fn heading_at<'a>(lines: &[&'a str], at: usize) -> Option<&'a str> {
    lines.get(at).and_then(|line| heading(line))
}

fn heading(line: &str) -> Option<&str> {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    let is_one = (1..=6).contains(&level) && words.starts_with([' ', '\t']);
    is_one.then(|| words.trim().trim_end_matches('#').trim_end()).filter(|words| !words.is_empty())
}

/// The keys at the left margin that lines of a frontmatter belong to.
fn keys<'a>(lines: &[&'a str], range: Range<usize>) -> Vec<&'a str> {
    let key = |line: &'a str| {
        let (name, _) = line.split_once([':', '='])?;
        let name = name.trim_end();
        let is_key = !name.is_empty() && !name.starts_with([' ', '\t', '-', '#']);
        is_key.then_some(name)
    };
    let owner = |at: usize| (0..=at).rev().find_map(|at| lines.get(at).and_then(|line| key(line)));
    let mut keys: Vec<&str> = range.filter_map(owner).collect();
    keys.dedup();
    keys.truncate(4);
    keys
}

/// Makes a hunk ready for reading; `last`: it reaches to the end of both texts.
fn parts(hunk: &Hunk, last: bool) -> Vec<Part> {
    let (old, new) = (side_of(&hunk.pieces, Side::Old), side_of(&hunk.pieces, Side::New));
    let mut done = vec![];
    let bom = (old.starts_with(BOM), new.starts_with(BOM));
    if bom.0 != bom.1 {
        let side = if bom.0 { Side::Old } else { Side::New };
        done.push(Part::Note(side, "byte order mark at the start of the file".to_owned()));
    }
    if last && !old.is_empty() && !new.is_empty() && old.ends_with('\n') != new.ends_with('\n') {
        let side = if old.ends_with('\n') { Side::Old } else { Side::New };
        done.push(Part::Note(side, "line end at the end of the file".to_owned()));
    }
    let ends = (ends_of(&old), ends_of(&new));
    if ends.0 != ends.1 && ends.0 != Ends::None && ends.1 != Ends::None {
        done.push(Part::Note(
            Side::Both,
            format!("line ends: {} becomes {}", ends.0.words(), ends.1.words()),
        ));
    }
    if done.is_empty() {
        if only_white_space(&old, &new) {
            done.push(Part::Note(Side::Both, "only white space changes".to_owned()));
            of_pieces(&white_space(&old, &new), &mut done);
        } else {
            of_pieces(&hunk.pieces, &mut done);
        }
        return done;
    }
    // What was said in words is not shown again as a change.
    let plain = |text: &str| {
        let text = text.trim_start_matches(BOM).replace("\r\n", "\n");
        if last { text.trim_end_matches('\n').to_owned() } else { text }
    };
    let (old, new) = (plain(&old), plain(&new));
    let mut at = 0;
    let old_lines = split(&old);
    for inner in hunks(&old, &new) {
        done.extend(same(&old, &old_lines, at..inner.old_lines.start));
        at = inner.old_lines.end;
        of_pieces(&inner.pieces, &mut done);
    }
    done.extend(same(&old, &old_lines, at..old_lines.len()));
    done
}

fn same(text: &str, lines: &[Range<usize>], range: Range<usize>) -> Vec<Part> {
    let lines = lines.get(range).unwrap_or_default().iter();
    lines.map(|line| Part::Same(safe_text::block(&text[trimmed(text, line.clone())]).into_owned())).collect()
}

fn only_white_space(old: &str, new: &str) -> bool {
    let words = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    !old.trim().is_empty() && words(old) == words(new)
}

/// Compares two texts that differ in white space alone: every word stays where it is.
fn white_space(old: &str, new: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = vec![];
    let mut push = |side: Side, text: &str| match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.side == side => last.text.push_str(text),
        _ => pieces.push(Piece { side, text: text.to_owned() }),
    };
    let blank = |text: &str| text.len() - text.trim_start().len();
    let word = |text: &str| text.find(char::is_whitespace).unwrap_or(text.len());
    let (mut old, mut new) = (old, new);
    while !(old.is_empty() && new.is_empty()) {
        let ((old_blank, old_rest), (new_blank, new_rest)) =
            (old.split_at(blank(old)), new.split_at(blank(new)));
        let pairs = old_blank.chars().rev().zip(new_blank.chars().rev());
        let shared: usize = pairs.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
        push(Side::Old, &old_blank[..old_blank.len() - shared]);
        push(Side::New, &new_blank[..new_blank.len() - shared]);
        push(Side::Both, &old_blank[old_blank.len() - shared..]);
        let words = word(old_rest).min(word(new_rest));
        push(Side::Both, &old_rest[..words]);
        (old, new) = (&old_rest[words..], &new_rest[words..]);
    }
    pieces
}

/// How the lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    None,
    Lf,
    CrLf,
    Mixed,
}

impl Ends {
    fn words(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lf => "LF",
            Self::CrLf => "CRLF",
            Self::Mixed => "a mixture of LF and CRLF",
        }
    }
}

fn ends_of(text: &str) -> Ends {
    let all = text.matches('\n').count();
    match text.matches("\r\n").count() {
        _ if all == 0 => Ends::None,
        0 => Ends::Lf,
        n if n == all => Ends::CrLf,
        _ => Ends::Mixed,
    }
}

fn of_pieces(pieces: &[Piece], done: &mut Vec<Part>) {
    for part in aligned(pieces) {
        let sides = |side: Side| part.iter().any(|p| p.side == side);
        match (sides(Side::Old), sides(Side::New), sides(Side::Both)) {
            (false, false, _) => done.extend(lines_of(&side_of(&part, Side::Both), Side::Both)),
            (true, false, false) => done.extend(lines_of(&side_of(&part, Side::Old), Side::Old)),
            (false, true, false) => done.extend(lines_of(&side_of(&part, Side::New), Side::New)),
            _ => {
                let sentences = by_sentence(&part);
                let shared = sentences.iter().any(|p| p.side == Side::Both && !p.text.trim().is_empty());
                if shared || reads_as_one(&sentences) {
                    done.push(Part::Inside(visible(sentences)));
                } else {
                    done.extend(lines_of(&side_of(&part, Side::Old), Side::Old));
                    done.extend(lines_of(&side_of(&part, Side::New), Side::New));
                }
            }
        }
    }
}

/// The lines of a text that is on one side alone. Where all are blank they are counted.
fn lines_of(text: &str, side: Side) -> Vec<Part> {
    if side != Side::Both && text.trim().is_empty() {
        let words = match text.split_inclusive('\n').count() {
            1 => "a blank line".to_owned(),
            n => format!("{n} blank lines"),
        };
        return vec![Part::Note(side, words)];
    }
    let part = |piece: &str| {
        let words = safe_text::block(piece).into_owned();
        match side {
            Side::Both => Part::Same(words),
            Side::Old => Part::Old(words),
            Side::New => Part::New(words),
        }
    };
    let lines = text.split_inclusive('\n').map(|line| line.trim_end_matches(['\r', '\n']));
    lines.flat_map(short_pieces).map(part).collect()
}

/// Cuts a very long line between words, so that each piece can be shown without looking at the others.
fn short_pieces(mut line: &str) -> Vec<&str> {
    let mut pieces = vec![];
    while line.len() > LONGEST {
        let near = line.floor_char_boundary(LONGEST);
        let at = line[..near].rfind(' ').map_or(near, |space| space + 1);
        let (piece, rest) = line.split_at(at);
        pieces.push(piece);
        line = rest;
    }
    pieces.push(line);
    pieces
}

/// Makes the white space visible that alone changes, and everything safe.
fn visible(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = pieces
        .into_iter()
        .map(|Piece { side, text }| {
            let text = text.replace("\r\n", "\n");
            let blank = side != Side::Both && !text.is_empty() && text.chars().all(char::is_whitespace);
            let text = if blank { marks(&text) } else { safe_text::block(&text).into_owned() };
            Piece { side, text }
        })
        .collect();
    if let Some(last) = pieces.last_mut()
        && last.text.ends_with('\n')
    {
        last.text.pop();
    }
    pieces
}

fn marks(blank: &str) -> String {
    let mark = |c: char| match c {
        '\n' => "¶\n".to_owned(),
        '\t' => "⇥".to_owned(),
        '\r' => "␍".to_owned(),
        '\u{a0}' | '\u{202f}' => "⍽".to_owned(),
        _ => "·".to_owned(),
    };
    blank.chars().map(mark).collect()
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

/// Leaves out of a paragraph what is far from its changes. What is left out is counted in its place.
pub(super) fn shortened(pieces: &[Piece]) -> Vec<(Option<Side>, String)> {
    let mut short = vec![];
    for (i, piece) in pieces.iter().enumerate() {
        if piece.side != Side::Both {
            short.push((Some(piece.side), piece.text.clone()));
            continue;
        }
        for shown in prose::around(&piece.text, i == 0, i + 1 == pieces.len()) {
            short.push(match shown {
                prose::Shown::Words(range) => (Some(Side::Both), piece.text[range].to_owned()),
                prose::Shown::Gap(words) => (None, format!("[…\u{a0}{words}\u{a0}words\u{a0}…] ")),
            });
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(old: &str, new: &str) -> Vec<Section> {
        Reading::of(old, new).sections
    }

    fn only(old: &str, new: &str) -> Vec<Part> {
        let mut sections = read(old, new);
        assert_eq!(sections.len(), 1, "{sections:?}");
        sections.remove(0).parts
    }

    use Side::{Both, New, Old};

    fn note(side: Side, words: &str) -> Part {
        Part::Note(side, words.to_owned())
    }

    #[test]
    fn a_change_says_where_it_stands() {
        let old =
            "---\nname: Mira\nrole: rival\naliases:\n  - M\n---\n# Mira\n\nA word.\n\n## Voice\n\nLow.\n";
        let place = |from: &str, to: &str| read(old, &old.replace(from, to))[0].place.clone();
        assert_eq!(place("rival", "ally"), "frontmatter, role");
        assert_eq!(place("  - M\n", "  - M\n  - Mimi\n"), "frontmatter, aliases");
        assert_eq!(place("A word", "Two words"), "Mira");
        assert_eq!(place("Low.", "High."), "Voice");
        assert_eq!(place("Low.\n", "Low.\n\n## Fears\n\nThe dark.\n"), "Fears");
        assert_eq!(read("one\n", "two\n")[0].place, "");
    }

    #[test]
    fn line_ends_that_change_are_said_in_words_and_the_words_are_not_shown_as_new() {
        let old = "One line.\r\nAnother one.\r\n";
        let parts = only(old, &old.replace("\r\n", "\n"));
        assert_eq!(parts[0], note(Both, "line ends: CRLF becomes LF"));
        assert_eq!(parts[1..], [Part::Same("One line.".into()), Part::Same("Another one.".into())]);
        let parts = only(old, "One line.\nAnother two.\n");
        assert_eq!(parts[1], Part::Same("One line.".into()));
        assert!(matches!(&parts[2], Part::Inside(pieces) if pieces.len() == 4), "{parts:?}");
    }

    #[test]
    fn what_cannot_be_seen_is_said() {
        assert_eq!(only("a\nb\n", "a\n\n\nb\n"), [note(New, "2 blank lines")]);
        assert_eq!(only("a\n\nb\n", "a\nb\n"), [note(Old, "a blank line")]);
        let parts = only("the end", "the end\n");
        assert_eq!(parts, [note(New, "line end at the end of the file"), Part::Same("the end".into())]);
        let parts = only("\u{feff}a\n", "a\n");
        assert_eq!(parts, [note(Old, "byte order mark at the start of the file"), Part::Same("a".into())]);
    }

    #[test]
    fn white_space_that_changes_is_visible() {
        let parts = only("one\ttwo \n", "one two\n");
        assert_eq!(parts[0], note(Both, "only white space changes"));
        let Part::Inside(pieces) = &parts[1] else { panic!("{parts:?}") };
        let shown: String = pieces.iter().map(|p| p.text.as_str()).collect();
        assert_eq!(shown, "one⇥·two·");
    }

    #[test]
    fn a_field_is_replaced_line_by_line() {
        assert_eq!(
            only("role: protagonist\n", "role: antagonist\n"),
            [Part::Old("role: protagonist".into()), Part::New("role: antagonist".into())]
        );
    }

    #[test]
    fn a_paragraph_that_was_joined_shows_where() {
        let parts = only("One thought.\n\nAnd another.\n", "One thought. And another.\n");
        let Part::Inside(pieces) = &parts[1] else { panic!("{parts:?}") };
        assert_eq!(pieces[1].text, "¶\n¶\n");
    }

    #[test]
    fn a_line_of_a_megabyte_comes_in_pieces() {
        let new = "word ".repeat(200_000);
        let parts = only("", &new);
        assert!(parts.len() > 200);
        let whole: String =
            parts.iter().map(|p| if let Part::New(words) = p { words.as_str() } else { "" }).collect();
        assert_eq!(whole, new);
    }
}
