//! Which stretches of three texts belong together: base and two sides, by line or by word.
//!
//! Works on whole tokens, so that no character and no CRLF is ever cut. Says what changed, never what to make of it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use similar::{Algorithm, DiffTag};
use unicode_segmentation::UnicodeSegmentation;

/// Fewer words than this between two changes of one side do not part them, when the changes are larger: what two rewritten
/// phrases have in common by chance ("of the") is no ground for a change of the other side.
const CHANCE_WORDS: usize = 3;

/// More lines than this that stand in a text before, and lines are not compared one by one.
const MOST_REPEATED: usize = 30_000;

/// The same stretch of three texts, in bytes. Stretches follow one another without a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub base: Range<usize>,
    pub mine: Range<usize>,
    pub theirs: Range<usize>,
    pub mine_changed: bool,
    pub theirs_changed: bool,
}

/// A text in tokens, with the byte at which each begins, and the end of the text last.
pub(super) struct Tokens<'a> {
    list: Vec<&'a str>,
    starts: Vec<usize>,
}

/// Tokens that one side has in place of tokens of the base.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    base: Range<usize>,
    side: Range<usize>,
}

/// Aligns by line. Lines end at a line feed and keep it. Changes of lines that touch are one stretch, and so are those with nothing but
/// blank lines and rules between them: these stand everywhere, so that they say nothing about which paragraph belongs to which.
pub(super) fn lines(base: &str, mine: &str, theirs: &str) -> Vec<Stretch> {
    let [base, mine, theirs] = [base, mine, theirs].map(|text| Tokens::new(text.split_inclusive('\n')));
    let [my_edits, their_edits] = [&mine, &theirs].map(|side| line_edits(&base.list, &side.list));
    stretches([&base, &mine, &theirs], &my_edits, &their_edits, |gap| !gap.iter().any(|line| has_word(line)))
}

/// Pairs the lines one by one, where each text has the same number of them and each line of a side shares half of its words or more with the base's:
/// then they are the same lines, each changed in its own place. Takes time by the length alone.
pub(super) fn alike_lines(base: &str, mine: &str, theirs: &str) -> Option<Vec<Stretch>> {
    let [base, mine, theirs] = [base, mine, theirs].map(|text| Tokens::new(text.split_inclusive('\n')));
    let same_number = base.list.len() == mine.list.len() && base.list.len() == theirs.list.len();
    let alike = |side: &Tokens| base.list.iter().zip(&side.list).all(|(base, side)| are_alike(base, side));
    if !same_number || !alike(&mine) || !alike(&theirs) {
        return None;
    }
    let line = |at: usize| {
        let place = at..at + 1;
        Stretch {
            base: base.bytes(&place),
            mine: mine.bytes(&place),
            theirs: theirs.bytes(&place),
            mine_changed: mine.list[at] != base.list[at],
            theirs_changed: theirs.list[at] != base.list[at],
        }
    };
    Some((0..base.list.len()).map(line).collect())
}

/// Whether two lines share half of their words or more, in whatever order.
fn are_alike(one: &str, other: &str) -> bool {
    let (mut counts, mut longer, mut common) = (HashMap::<&str, usize>::new(), 0, 0);
    for word in one.unicode_words() {
        *counts.entry(word).or_default() += 1;
        longer += 1;
    }
    let mut words = 0;
    for word in other.unicode_words() {
        words += 1;
        if let Some(left) = counts.get_mut(word).filter(|left| **left > 0) {
            *left -= 1;
            common += 1;
        }
    }
    2 * common >= longer.max(words)
}

/// Aligns by word (Unicode's word boundaries, <https://www.unicode.org/reports/tr29/>): words, spaces, line ends and punctuation are tokens.
/// Changes that touch or have only spaces between them are one stretch.
pub(super) fn words(base: &str, mine: &str, theirs: &str) -> Vec<Stretch> {
    let [base, mine, theirs] = [base, mine, theirs].map(|text| Tokens::new(text.split_word_bounds()));
    let my_edits = joined(&base, &mine, word_edits(&base, &mine));
    let their_edits = joined(&base, &theirs, word_edits(&base, &theirs));
    let is_thin = |gap: &[&str]| gap.iter().all(|token| is_space(token));
    stretches([&base, &mine, &theirs], &my_edits, &their_edits, is_thin)
}

impl<'a> Tokens<'a> {
    fn new(tokens: impl Iterator<Item = &'a str>) -> Self {
        let list: Vec<&str> = tokens.collect();
        let mut starts = Vec::with_capacity(list.len() + 1);
        let mut at = 0;
        starts.push(at);
        for token in &list {
            at += token.len();
            starts.push(at);
        }
        Self { list, starts }
    }

    fn bytes(&self, tokens: &Range<usize>) -> Range<usize> {
        self.starts[tokens.start]..self.starts[tokens.end]
    }

    /// The places of the words among the tokens.
    fn words(&self) -> Vec<usize> {
        (0..self.list.len()).filter(|i| has_word(self.list[*i])).collect()
    }

    fn words_in(&self, tokens: Range<usize>) -> usize {
        self.list[tokens].iter().filter(|token| has_word(token)).count()
    }
}

fn has_word(token: &str) -> bool {
    token.contains(char::is_alphanumeric)
}

fn is_space(token: &str) -> bool {
    !token.contains(['\n', '\r']) && token.chars().all(char::is_whitespace)
}

/// What differs between lists of lines. Where tens of thousands of lines stand more than once, there is little to go by and much to search:
/// then all that lies between what is alike at both ends is one change.
fn line_edits(base: &[&str], side: &[&str]) -> Vec<Edit> {
    let mut seen = HashSet::new();
    let repeated = base.iter().filter(|line| has_word(line) && !seen.insert(**line)).count();
    if repeated <= MOST_REPEATED {
        return edits(base, side, Algorithm::Patience);
    }
    let before = base.iter().zip(side).take_while(|(b, s)| b == s).count();
    let (b, s) = (&base[before..], &side[before..]);
    let after = b.iter().rev().zip(s.iter().rev()).take_while(|(b, s)| b == s).count();
    let edit = Edit { base: before..base.len() - after, side: before..side.len() - after };
    if edit.base.is_empty() && edit.side.is_empty() { vec![] } else { vec![edit] }
}

/// What differs, in order; changes without a token between them are one.
fn edits(base: &[&str], side: &[&str], algorithm: Algorithm) -> Vec<Edit> {
    let mut edits = vec![];
    for op in similar::capture_diff_slices(algorithm, base, side) {
        if op.tag() != DiffTag::Equal {
            add(&mut edits, Edit { base: op.old_range(), side: op.new_range() });
        }
    }
    edits
}

fn add(edits: &mut Vec<Edit>, edit: Edit) {
    match edits.last_mut() {
        Some(last) if last.base.end == edit.base.start && last.side.end == edit.side.start => {
            last.base.end = edit.base.end;
            last.side.end = edit.side.end;
        }
        _ => edits.push(edit),
    }
}

/// Compares the words first, and then what stands between those that both have: spaces and full stops are alike everywhere, so that they must not
/// decide which sentence is which.
fn word_edits(base: &Tokens, side: &Tokens) -> Vec<Edit> {
    let (base_at, side_at) = (base.words(), side.words());
    let base_words: Vec<&str> = base_at.iter().map(|i| base.list[*i]).collect();
    let side_words: Vec<&str> = side_at.iter().map(|i| side.list[*i]).collect();
    let mut edits = vec![];
    let mut at = (0, 0);
    for op in similar::capture_diff_slices(Algorithm::Histogram, &base_words, &side_words) {
        if op.tag() != DiffTag::Equal {
            continue;
        }
        for (b, s) in op.old_range().zip(op.new_range()) {
            let (b, s) = (base_at[b], side_at[s]);
            between(base, side, at.0..b, at.1..s, &mut edits);
            at = (b + 1, s + 1);
        }
    }
    between(base, side, at.0..base.list.len(), at.1..side.list.len(), &mut edits);
    edits
}

/// Compares what stands between two words that both have: what is alike at both ends is common, the rest is one change.
fn between(
    base: &Tokens,
    side: &Tokens,
    base_gap: Range<usize>,
    side_gap: Range<usize>,
    edits: &mut Vec<Edit>,
) {
    let (b, s) = (&base.list[base_gap.clone()], &side.list[side_gap.clone()]);
    if b == s {
        return;
    }
    let shorter = if b.len() < s.len() { b } else { s };
    let alike = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(b, s)| b == s).count();
    let most_before = alike(&mut b.iter().zip(s));
    let most_after = alike(&mut b.iter().rev().zip(s.iter().rev()));
    let (before, after) = if most_before + most_after < shorter.len() {
        (most_before, most_after)
    } else {
        // A pure insertion or deletion can be told in several ways. The best is in the middle of a blank line, which touches no paragraph.
        let has_line_end = |tokens: &[&str]| tokens.iter().any(|token| token.ends_with('\n'));
        let middle = (shorter.len() - most_after..=most_before)
            .find(|at| has_line_end(&shorter[..*at]) && has_line_end(&shorter[*at..]));
        let before = middle.unwrap_or(most_before);
        (before, shorter.len() - before)
    };
    add(
        edits,
        Edit {
            base: base_gap.start + before..base_gap.end - after,
            side: side_gap.start + before..side_gap.end - after,
        },
    );
}

/// Joins changes of one side that are parts of one rewriting: see [`CHANCE_WORDS`]. Never over the end of a sentence or a line.
fn joined(base: &Tokens, side: &Tokens, edits: Vec<Edit>) -> Vec<Edit> {
    let words = |edit: &Edit| base.words_in(edit.base.clone()).max(side.words_in(edit.side.clone()));
    let mut out: Vec<(Edit, usize)> = vec![];
    for edit in edits {
        let new = words(&edit);
        if let Some((last, old)) = out.last_mut() {
            let gap = last.base.end..edit.base.start;
            let common = base.words_in(gap.clone());
            let ends = |token: &&str| token.contains(['\n', '.', '!', '?', '\u{2026}']);
            let chance = common < CHANCE_WORDS && common < new && common < *old;
            if chance && !base.list[gap].iter().any(ends) {
                last.base.end = edit.base.end;
                last.side.end = edit.side.end;
                *old += new;
                continue;
            }
        }
        out.push((edit, new));
    }
    out.into_iter().map(|(edit, _)| edit).collect()
}

/// Walks both lists of changes along the base. Changes that touch, or whose gap is thin, are one stretch.
fn stretches(
    [base, mine, theirs]: [&Tokens; 3],
    my_edits: &[Edit],
    their_edits: &[Edit],
    is_thin: impl Fn(&[&str]) -> bool,
) -> Vec<Stretch> {
    let mut walk = Walk { base, mine, theirs, at: [0; 3], out: vec![] };
    let (mut my_edits, mut their_edits) = (my_edits.iter().peekable(), their_edits.iter().peekable());
    loop {
        let starts = [my_edits.peek(), their_edits.peek()].map(|edit| edit.map(|e| e.base.start));
        let Some(start) = starts.into_iter().flatten().min() else { break };
        walk.unchanged_to(start);
        let mut end = start;
        let (mut my_growth, mut their_growth) = (Growth::default(), Growth::default());
        let meets =
            |edit: &&Edit, end: usize| edit.base.start <= end || is_thin(&base.list[end..edit.base.start]);
        loop {
            let (edit, growth) = if let Some(edit) = my_edits.next_if(|e| meets(e, end)) {
                (edit, &mut my_growth)
            } else if let Some(edit) = their_edits.next_if(|e| meets(e, end)) {
                (edit, &mut their_growth)
            } else {
                break;
            };
            end = end.max(edit.base.end);
            growth.take(edit);
        }
        walk.changed_to(end, &my_growth, &their_growth);
    }
    walk.unchanged_to(base.list.len());
    walk.out
}

/// How one side's changes of a stretch alter its number of tokens.
#[derive(Default)]
struct Growth {
    changed: bool,
    from: usize,
    to: usize,
}

impl Growth {
    fn take(&mut self, edit: &Edit) {
        self.changed = true;
        self.from += edit.base.len();
        self.to += edit.side.len();
    }

    /// The length on this side of a stretch that has `length` tokens in the base.
    fn of(&self, length: usize) -> usize {
        length - self.from + self.to
    }
}

struct Walk<'a> {
    base: &'a Tokens<'a>,
    mine: &'a Tokens<'a>,
    theirs: &'a Tokens<'a>,
    at: [usize; 3],
    out: Vec<Stretch>,
}

impl Walk<'_> {
    fn unchanged_to(&mut self, end: usize) {
        if end > self.at[0] {
            self.changed_to(end, &Growth::default(), &Growth::default());
        }
    }

    fn changed_to(&mut self, end: usize, mine: &Growth, theirs: &Growth) {
        let length = end - self.at[0];
        let to = [end, self.at[1] + mine.of(length), self.at[2] + theirs.of(length)];
        let [base, in_mine, in_theirs] = [0, 1, 2].map(|i| self.at[i]..to[i]);
        self.out.push(Stretch {
            base: self.base.bytes(&base),
            mine: self.mine.bytes(&in_mine),
            theirs: self.theirs.bytes(&in_theirs),
            mine_changed: mine.changed,
            theirs_changed: theirs.changed,
        });
        self.at = to;
    }
}
