//! Which stretches of three texts belong together: base and two sides, by line or by word.
//!
//! Works on whole tokens, so that no character and no CRLF is ever cut. Says what changed, never what to make of it.

use std::ops::Range;

use similar::{Algorithm, DiffTag};
use unicode_segmentation::UnicodeSegmentation;

/// Fewer words than this between two changes of one side do not part them, when the changes are larger: what two rewritten
/// phrases have in common by chance ("of the") is no ground for a change of the other side.
const CHANCE_WORDS: usize = 3;

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

/// Aligns by line. Lines end at a line feed and keep it. Changes of lines that touch are one stretch.
pub(super) fn lines(base: &str, mine: &str, theirs: &str) -> Vec<Stretch> {
    let [base, mine, theirs] = [base, mine, theirs].map(|text| Tokens::new(text.split_inclusive('\n')));
    let my_edits = edits(&base, &mine, Algorithm::Patience);
    let their_edits = edits(&base, &theirs, Algorithm::Patience);
    stretches([&base, &mine, &theirs], &my_edits, &their_edits, |_| false)
}

/// Aligns by word (Unicode's word boundaries, <https://www.unicode.org/reports/tr29/>): words, spaces, line ends and punctuation are tokens.
/// Changes that touch or have only spaces between them are one stretch.
pub(super) fn words(base: &str, mine: &str, theirs: &str) -> Vec<Stretch> {
    let [base, mine, theirs] = [base, mine, theirs].map(|text| Tokens::new(text.split_word_bounds()));
    let my_edits = joined(&base, &mine, edits(&base, &mine, Algorithm::Myers));
    let their_edits = joined(&base, &theirs, edits(&base, &theirs, Algorithm::Myers));
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

    fn words_in(&self, tokens: Range<usize>) -> usize {
        self.list[tokens].iter().filter(|token| token.contains(char::is_alphanumeric)).count()
    }
}

fn is_space(token: &str) -> bool {
    !token.contains(['\n', '\r']) && token.chars().all(char::is_whitespace)
}

/// What differs, in order; changes without a token between them are one.
fn edits(base: &Tokens, side: &Tokens, algorithm: Algorithm) -> Vec<Edit> {
    let mut edits: Vec<Edit> = vec![];
    for op in similar::capture_diff_slices(algorithm, &base.list, &side.list) {
        if op.tag() == DiffTag::Equal {
            continue;
        }
        let edit = Edit { base: op.old_range(), side: op.new_range() };
        match edits.last_mut() {
            Some(last) if last.base.end == edit.base.start && last.side.end == edit.side.start => {
                last.base.end = edit.base.end;
                last.side.end = edit.side.end;
            }
            _ => edits.push(edit),
        }
    }
    edits
}

/// Joins changes of one side that are parts of one rewriting: see [`CHANCE_WORDS`]. Never over the end of a sentence or a line.
fn joined(base: &Tokens, side: &Tokens, edits: Vec<Edit>) -> Vec<Edit> {
    let size = |edit: &Edit| base.words_in(edit.base.clone()).max(side.words_in(edit.side.clone()));
    let mut out: Vec<(Edit, usize)> = vec![];
    for edit in edits {
        let new = size(&edit);
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
