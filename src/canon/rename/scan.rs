//! Finds the forms of a name in one text: whole words only, the longest that fits.

use std::ops::Range;

use super::Document;
use super::forms::{Case, Forms, Part, Pattern};
use crate::domain::frontmatter;
use crate::domain::nearness::distance;
use crate::domain::passage::{Searchable, is_of_word};

/// A form that was found.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    /// Bytes of the text.
    pub range: Range<usize>,
    pub form: usize,
    pub case: Case,
    /// Bytes of each word, and its segment in the form.
    pub words: Vec<(Range<usize>, usize)>,
    /// What is behind it says that something belongs to the name.
    pub possessive: Option<Possessive>,
    /// It differs from the form by one slip of the finger.
    pub slip: bool,
}

/// How a possessive is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Possessive {
    /// `Vale's`.
    WithS,
    /// `Jones'`, with the place behind the apostrophe.
    Bare(usize),
}

/// Finds the forms in a document, in order, without overlaps.
pub(super) fn scan(document: &Document<'_>, forms: &Forms) -> Vec<Hit> {
    let Some(automaton) = &forms.automaton else { return vec![] };
    let text: &str = document.text;
    let searchable = Searchable::new(std::sync::Arc::clone(document.text));
    let plain = searchable.plain();
    let body_start = frontmatter::split(text).body_start;
    let mut hits: Vec<Hit> = vec![];
    for found in automaton.find_overlapping_iter(plain) {
        let pattern = &forms.patterns[found.pattern().as_usize()];
        if !stands_alone(plain, found.start(), found.end()) {
            continue;
        }
        let range = searchable.original(found.start()..found.end());
        let words: Vec<(Range<usize>, usize)> = pattern
            .words
            .iter()
            .map(|(at, segment)| {
                (searchable.original(found.start() + at.start..found.start() + at.end), *segment)
            })
            .collect();
        if !holds_together(text, &range, &words, body_start) || !is_verbatim(text, &range, forms, pattern) {
            continue;
        }
        let possessive = possessive(plain, found.end(), text, range.end);
        hits.push(Hit { range, form: pattern.form, case: pattern.case, words, possessive, slip: false });
    }
    hits.sort_by(|a, b| a.range.start.cmp(&b.range.start).then(b.range.end.cmp(&a.range.end)));
    let mut end = 0;
    hits.retain(|hit| {
        let free = hit.range.start >= end;
        if free {
            end = hit.range.end;
        }
        free
    });
    slips(&mut hits, &searchable, forms);
    hits
}

/// Letters that a word must have to be taken for a slip.
const SLIP_LETTERS: usize = 6;

/// Adds words that are one slip of the finger away from a single-word form, and that the text has not often.
fn slips(hits: &mut Vec<Hit>, searchable: &Searchable, forms: &Forms) {
    let singles: Vec<(usize, String)> = forms
        .all
        .iter()
        .enumerate()
        .filter(|(_, f)| {
            matches!(f.part, Part::Given | Part::Family | Part::Whole) && !f.plural && f.is_single()
        })
        .map(|(at, f)| (at, super::forms::plain(&f.old())))
        .filter(|(_, old)| old.starts_with(char::is_uppercase) && old.chars().count() >= SLIP_LETTERS)
        .collect();
    if singles.is_empty() {
        return;
    }
    let plain = searchable.plain();
    let mut found: Vec<Hit> = vec![];
    let mut next = 0;
    for piece in plain.split_inclusive(|c: char| !is_of_word(c)) {
        let start = next;
        next += piece.len();
        let word = piece.trim_end_matches(|c: char| !is_of_word(c));
        let near = singles.iter().find(|(_, old)| {
            word.len().abs_diff(old.len()) <= 2
                && word.chars().next() == old.chars().next()
                && word != old
                && *word != format!("{old}s")
                && distance(word, old) == 1
        });
        let Some((form, _)) = near else { continue };
        let range = searchable.original(start..start + word.len());
        if hits.iter().any(|hit| hit.range.start < range.end && range.start < hit.range.end) {
            continue;
        }
        let words = vec![(range.clone(), 0)];
        found.push(Hit { range, form: *form, case: Case::Exact, words, possessive: None, slip: true });
    }
    // What stands there again and again is another name.
    if found.len() <= 2 {
        hits.extend(found);
        hits.sort_by_key(|hit| hit.range.start);
    }
}

/// Whether a match is no part of a longer word.
fn stands_alone(plain: &str, start: usize, end: usize) -> bool {
    let of_word = |c: Option<char>| c.is_some_and(is_of_word);
    let first = plain[start..].chars().next();
    let last = plain[..end].chars().next_back();
    let before = plain[..start].chars().next_back();
    let after = plain[end..].chars().next();
    if (of_word(first) && of_word(before)) || (of_word(last) && of_word(after)) {
        return false;
    }
    // `O'Brien` and `Al'Thor` are one word.
    let joined_before =
        before == Some('\'') && of_word(plain[..start].chars().rev().nth(1)) && of_word(first);
    let tail =
        plain[end..].strip_prefix('\'').map_or(0, |rest| rest.chars().take_while(|c| is_of_word(*c)).count());
    !joined_before && tail <= 2
}

/// Whether the words of a match stand in one sentence: no blank line, heading, key or list item between them.
fn holds_together(
    text: &str,
    range: &Range<usize>,
    words: &[(Range<usize>, usize)],
    body_start: usize,
) -> bool {
    if !text[range.clone()].contains('\n') {
        return true;
    }
    words.windows(2).all(|pair| {
        let gap = &text[pair[0].0.end..pair[1].0.start];
        let Some((_, after)) = gap.split_once('\n') else { return true };
        let line_start = text[..pair[0].0.start].rfind('\n').map_or(0, |at| at + 1);
        let before = text[line_start..].trim_start();
        let next_line = text[pair[1].0.start..].lines().next().unwrap_or_default();
        let is_block = before.starts_with(['#', '|'])
            || after.contains(['\n', '#', '-', '+', '|'])
            || after.contains("* ");
        let in_keys = pair[1].0.start < body_start;
        !is_block && (!in_keys || after.starts_with(' ') && !next_line.contains(':'))
    })
}

/// What is no prose, as an id, must stand there letter by letter.
fn is_verbatim(text: &str, range: &Range<usize>, forms: &Forms, pattern: &Pattern) -> bool {
    let form = &forms.all[pattern.form];
    !matches!(form.part, Part::Slug | Part::Spelled) || text[range.clone()] == form.old()
}

fn possessive(plain: &str, end: usize, text: &str, original_end: usize) -> Option<Possessive> {
    let rest = plain[end..].strip_prefix('\'')?;
    let next = rest.chars().next();
    if rest.starts_with(['s', 'S']) && !rest.chars().nth(1).is_some_and(is_of_word) {
        return Some(Possessive::WithS);
    }
    let ends_in_s = plain[..end].ends_with(['s', 'S', 'x', 'z']);
    let apostrophe = text[original_end..].chars().next().filter(|c| matches!(c, '\'' | '\u{2019}'))?;
    let bare = ends_in_s && next.is_none_or(|c| !is_of_word(c));
    bare.then(|| Possessive::Bare(original_end + apostrophe.len_utf8()))
}
