//! Merges two texts that both come from a third: by line, and where lines meet, by word.
//!
//! Nothing is dropped silently. What only one side changed is taken from it, what both changed alike is taken once, and where the two
//! can't both be kept the merge says so and gives both sides. Two changes that touch, or have only a space between them, count as one place:
//! that asks the author once too often rather than once too seldom.
//!
//! Pure, and without a clock, so that what was shown is what is written. Its time has a bound all the same: a place that both changed and that is too long to be
//! compared by word (`MOST_BY_WORD`) is compared line by line where its lines are plainly the same ones, and else is one place in which both
//! differ: never a wrong text. What comes out is made of the bytes of the three
//! texts: line ends, byte order mark and a missing last line end are as the sides have them.

mod align;

use std::collections::HashMap;
use std::ops::Range;

use align::Stretch;

/// Longest place that is compared by word as a whole, in bytes. Longer ones are some hundred paragraphs that both sides changed without one between them
/// that stayed: the time for them would grow with the square of their length.
const MOST_BY_WORD: usize = 128 * 1024;

/// What became of the two sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// Both are in it.
    Clean(String),
    /// They can't both be kept everywhere.
    Conflict {
        /// The whole text in reading order: what is settled, and what is not.
        regions: Vec<Region>,
    },
}

impl Merged {
    /// Returns the text, where there is no conflict.
    pub fn clean(self) -> Option<String> {
        match self {
            Self::Clean(text) => Some(text),
            Self::Conflict { .. } => None,
        }
    }
}

/// A stretch of the three texts. Regions follow one another without a gap in each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Its bytes in the text that both sides come from.
    pub base: Range<usize>,
    /// Its bytes in the author's text.
    pub mine: Range<usize>,
    /// Its bytes in the proposed text.
    pub theirs: Range<usize>,
    /// What to make of it.
    pub text: Text,
}

/// What a region says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// This, with the changes of both sides.
    Settled(String),
    /// One of two.
    Open(Sides),
}

/// Two texts for one place, and what stood there before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    /// The line of the author's text where it begins, from 1.
    pub line: usize,
    /// What both come from; empty where both inserted.
    pub base: String,
    /// The author's words; empty where they took the place out.
    pub mine: String,
    /// The proposed words; empty where they take the place out.
    pub theirs: String,
}

/// What the author takes for an open region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The author's words.
    Mine,
    /// The proposed words.
    Theirs,
    /// Both, the author's first.
    Both,
}

impl Sides {
    /// Returns the words that a choice stands for.
    pub fn pick(&self, pick: Pick) -> String {
        match pick {
            Pick::Mine => self.mine.clone(),
            Pick::Theirs => self.theirs.clone(),
            Pick::Both => {
                let closes = |c: char| {
                    c.is_whitespace()
                        || matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '…' | ')' | '”' | '’')
                };
                let join = self.mine.is_empty()
                    || self.theirs.is_empty()
                    || self.mine.ends_with(char::is_whitespace)
                    || self.theirs.starts_with(closes);
                // Two words that never stood side by side must not become one.
                [self.mine.as_str(), if join { "" } else { " " }, &self.theirs].concat()
            }
        }
    }
}

impl Region {
    /// Returns the two sides, where it is open.
    pub fn open(&self) -> Option<&Sides> {
        match &self.text {
            Text::Open(sides) => Some(sides),
            Text::Settled(_) => None,
        }
    }

    fn settled(&self) -> Option<&str> {
        match &self.text {
            Text::Settled(text) => Some(text),
            Text::Open(_) => None,
        }
    }
}

/// Returns the whole text with a choice for every open region, in order. `None`: one has no choice.
pub fn settle(regions: &[Region], picks: &[Pick]) -> Option<String> {
    let mut picks = picks.iter();
    let mut out = String::new();
    for region in regions {
        match &region.text {
            Text::Settled(text) => out.push_str(text),
            Text::Open(sides) => out.push_str(&sides.pick(*picks.next()?)),
        }
    }
    Some(out)
}

/// Returns the whole text with the same choice for every open region.
pub fn settle_all(regions: &[Region], pick: Pick) -> String {
    let text = |region: &Region| match &region.text {
        Text::Settled(text) => text.clone(),
        Text::Open(sides) => sides.pick(pick),
    };
    regions.iter().map(text).collect()
}

/// Merges `mine`, the author's present text, and `theirs`, the proposed one, that both come from `base`.
pub fn merge(base: &str, mine: &str, theirs: &str) -> Merged {
    if mine == base || mine == theirs {
        return Merged::Clean(theirs.to_owned());
    }
    if theirs == base {
        return Merged::Clean(mine.to_owned());
    }
    let whole = Place { base, mine, theirs, at: [0; 3] };
    let mut regions = Regions::default();
    for stretch in align::lines(base, mine, theirs) {
        let lines = whole.part(&stretch);
        match lines.obvious(&stretch) {
            Some(text) => regions.settled(&lines, text),
            None if lines.longest() <= MOST_BY_WORD => by_word(&lines, &mut regions),
            None => by_line(&lines, &mut regions),
        }
    }
    regions.finish(mine)
}

/// A place that is too long to be compared by word as a whole: each of its lines by itself, or not at all.
fn by_line(place: &Place, regions: &mut Regions) {
    let Some(lines) = align::alike_lines(place.base, place.mine, place.theirs) else {
        return regions.open(place);
    };
    for stretch in lines {
        let line = place.part(&stretch);
        match line.obvious(&stretch) {
            Some(text) => regions.settled(&line, text),
            None if line.longest() <= MOST_BY_WORD => by_word(&line, regions),
            None => regions.open(&line),
        }
    }
}

fn by_word(lines: &Place, regions: &mut Regions) {
    let mut found = Regions::default();
    words_of(lines, &mut found);
    let settled: Option<String> = found.done.iter().map(Region::settled).collect();
    match settled {
        Some(text) if is_doubled(lines, &text) => regions.open(lines),
        Some(text) => regions.settled(lines, &text),
        None => found.done.into_iter().for_each(|region| regions.add(region)),
    }
}

/// Whether a line that both sides have added would stand there twice: they mean the same, so the author says which.
fn is_doubled(place: &Place, merged: &str) -> bool {
    let [base, mine, theirs, merged] = [place.base, place.mine, place.theirs, merged].map(lines_of);
    let of = |lines: &HashMap<&str, usize>, line: &str| lines.get(line).copied().unwrap_or(0);
    theirs.iter().any(|(line, in_theirs)| {
        let in_mine = of(&mine, line);
        !line.is_empty() && in_mine > 0 && of(&base, line) == 0 && of(&merged, line) > in_mine.max(*in_theirs)
    })
}

/// How often each line stands in a text.
fn lines_of(text: &str) -> HashMap<&str, usize> {
    let mut lines = HashMap::new();
    for line in text.lines() {
        *lines.entry(line.trim()).or_default() += 1;
    }
    lines
}

fn words_of(lines: &Place, regions: &mut Regions) {
    for stretch in align::words(lines.base, lines.mine, lines.theirs) {
        let words = lines.part(&stretch);
        match words.obvious(&stretch) {
            Some(text) => regions.settled(&words, text),
            None => regions.open(&words),
        }
    }
}

/// The same place in the three texts, and where it begins in each.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    base: &'a str,
    mine: &'a str,
    theirs: &'a str,
    at: [usize; 3],
}

impl<'a> Place<'a> {
    fn part(&self, stretch: &Stretch) -> Place<'a> {
        Place {
            base: &self.base[stretch.base.clone()],
            mine: &self.mine[stretch.mine.clone()],
            theirs: &self.theirs[stretch.theirs.clone()],
            at: [
                self.at[0] + stretch.base.start,
                self.at[1] + stretch.mine.start,
                self.at[2] + stretch.theirs.start,
            ],
        }
    }

    /// The text of a place that at most one side changed, or both alike.
    fn obvious(&self, stretch: &Stretch) -> Option<&'a str> {
        match (stretch.mine_changed, stretch.theirs_changed) {
            (false, _) => Some(self.theirs),
            (true, false) => Some(self.mine),
            (true, true) => (self.mine == self.theirs).then_some(self.mine),
        }
    }

    /// Bytes of the longest of the three texts.
    fn longest(&self) -> usize {
        self.base.len().max(self.mine.len()).max(self.theirs.len())
    }

    fn ranges(&self) -> [Range<usize>; 3] {
        let [base, mine, theirs] = self.at;
        [base..base + self.base.len(), mine..mine + self.mine.len(), theirs..theirs + self.theirs.len()]
    }
}

/// Collects regions; neighbours that are settled become one.
#[derive(Default)]
struct Regions {
    done: Vec<Region>,
}

impl Regions {
    fn settled(&mut self, place: &Place, text: &str) {
        let [base, mine, theirs] = place.ranges();
        self.add(Region { base, mine, theirs, text: Text::Settled(text.to_owned()) });
    }

    fn add(&mut self, region: Region) {
        match (&region.text, self.done.last_mut()) {
            (
                Text::Settled(text),
                Some(Region { text: Text::Settled(last), base: b, mine: m, theirs: t }),
            ) => {
                last.push_str(text);
                (b.end, m.end, t.end) = (region.base.end, region.mine.end, region.theirs.end);
            }
            _ => self.done.push(region),
        }
    }

    fn open(&mut self, place: &Place) {
        let [base, mine, theirs] = place.ranges();
        let sides = Sides {
            line: 0,
            base: place.base.to_owned(),
            mine: place.mine.to_owned(),
            theirs: place.theirs.to_owned(),
        };
        self.done.push(Region { base, mine, theirs, text: Text::Open(sides) });
    }

    fn finish(mut self, whole_mine: &str) -> Merged {
        let (mut line, mut counted) = (1, 0);
        let mut is_open = false;
        for region in &mut self.done {
            if let Text::Open(sides) = &mut region.text {
                line += whole_mine[counted..region.mine.start].matches('\n').count();
                counted = region.mine.start;
                sides.line = line;
                is_open = true;
            }
        }
        if is_open {
            Merged::Conflict { regions: self.done }
        } else {
            Merged::Clean(settle_all(&self.done, Pick::Mine))
        }
    }
}

#[cfg(test)]
mod tests;
