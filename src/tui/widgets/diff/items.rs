//! What stands below what: headers, paragraphs, and what is left out between them. Knows no width.

use super::{Part, Section, Shown};

/// Unchanged lines that are shown rather than counted.
const FEW_SAME: usize = 3;

/// How differences are arranged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Look {
    /// With everything that stays, not only with what is around the changes.
    pub whole: bool,
    /// The old text on the left and the new one on the right.
    pub beside: bool,
}

/// Something that is shown on rows of its own. Places are indexes: of the file, of its hunk, of the hunk's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// An empty row.
    Blank,
    /// The header of a file.
    File(usize),
    /// Something to know about a file.
    Note(usize, usize),
    /// The header of a place in dispute.
    Dispute(usize, usize),
    /// The author's side of it, or the proposed one.
    DisputeSide(usize, usize, bool),
    /// What it becomes, once that is chosen.
    DisputeEnd(usize, usize),
    /// The header of a hunk.
    Hunk(usize, usize),
    /// A line of the old text that stays.
    Same(usize, usize),
    /// The same, with no more than its last row (`true`) or its first.
    Near(usize, usize, bool),
    /// So many unchanged lines are left out.
    More(usize),
    /// A part of a hunk.
    Part(usize, usize, usize),
    /// Two parts side by side.
    Beside(usize, usize, Option<usize>, Option<usize>),
}

impl Item {
    /// Returns the hunk that it belongs to, if it has to be read to have read the hunk.
    pub(super) fn hunk(self) -> Option<(usize, usize)> {
        match self {
            Self::Hunk(file, hunk) | Self::Part(file, hunk, _) | Self::Beside(file, hunk, ..) => {
                Some((file, hunk))
            }
            _ => None,
        }
    }

    /// Whether it is one row that says something about what follows.
    pub fn is_header(self) -> bool {
        matches!(self, Self::File(_) | Self::Dispute(..) | Self::Hunk(..))
    }
}

/// Arranges files below one another.
pub(super) fn arrange(files: &[Shown], look: Look) -> Vec<Item> {
    let mut items = vec![];
    for (file, shown) in files.iter().enumerate() {
        if file > 0 {
            items.push(Item::Blank);
        }
        items.push(Item::File(file));
        items.extend((0..shown.notes.len()).map(|note| Item::Note(file, note)));
        for dispute in 0..shown.disputes.len() {
            items.extend([
                Item::Dispute(file, dispute),
                Item::DisputeSide(file, dispute, true),
                Item::DisputeSide(file, dispute, false),
                Item::DisputeEnd(file, dispute),
            ]);
        }
        sections(file, shown, look, &mut items);
    }
    items
}

fn sections(file: usize, shown: &Shown, look: Look, items: &mut Vec<Item>) {
    let reading = &shown.reading;
    let mut read = 0;
    for (hunk, section) in reading.sections.iter().enumerate() {
        let start = section.old_lines.start;
        let near = |line: &usize| !reading.is_blank(*line);
        if look.whole {
            items.extend((read..start).map(|line| Item::Same(file, line)));
            items.push(Item::Hunk(file, hunk));
        } else {
            let after = (read..start).find(near).filter(|_| hunk > 0);
            let before = (read..start).rev().find(near).filter(|line| after != Some(*line));
            items.extend(after.map(|line| Item::Near(file, line, false)));
            items.extend((hunk > 0).then_some(Item::Blank));
            items.push(Item::Hunk(file, hunk));
            items.extend(before.map(|line| Item::Near(file, line, true)));
        }
        parts(file, hunk, section, look, items);
        read = section.old_lines.end;
    }
    let rest = read..reading.lines();
    if look.whole {
        items.extend(rest.map(|line| Item::Same(file, line)));
    } else if !reading.sections.is_empty() {
        let mut rest = rest;
        let after = rest.find(|line| !reading.is_blank(*line));
        items.extend(after.map(|line| Item::Near(file, line, false)));
    }
}

fn parts(file: usize, hunk: usize, section: &Section, look: Look, items: &mut Vec<Item>) {
    let kind = |part: &Part| matches!(part, Part::Same(_));
    let mut at = 0;
    for run in section.parts.chunk_by(|a, b| kind(a) == kind(b)) {
        let range = at..at + run.len();
        at = range.end;
        if kind(&run[0]) {
            if look.whole || run.len() <= FEW_SAME {
                items.extend(range.map(|part| single(file, hunk, part, look)));
            } else {
                items.push(single(file, hunk, range.start, look));
                items.push(Item::More(run.len() - 2));
                items.push(single(file, hunk, range.end - 1, look));
            }
        } else if look.beside {
            beside(file, hunk, section, range, items);
        } else {
            items.extend(range.map(|part| Item::Part(file, hunk, part)));
        }
    }
}

fn single(file: usize, hunk: usize, part: usize, look: Look) -> Item {
    if look.beside { Item::Beside(file, hunk, Some(part), Some(part)) } else { Item::Part(file, hunk, part) }
}

/// Puts lines that go beside those that come in their place.
fn beside(file: usize, hunk: usize, section: &Section, range: std::ops::Range<usize>, items: &mut Vec<Item>) {
    let (mut old, mut new) = (vec![], vec![]);
    let mut flush = |old: &mut Vec<usize>, new: &mut Vec<usize>| {
        let count = old.len().max(new.len());
        let pair = |i: usize| Item::Beside(file, hunk, old.get(i).copied(), new.get(i).copied());
        items.extend((0..count).map(pair));
        old.clear();
        new.clear();
    };
    for part in range {
        match &section.parts[part] {
            Part::Old(_) | Part::Note(crate::proposal::diff::Side::Old, _) => {
                if !new.is_empty() {
                    flush(&mut old, &mut new);
                }
                old.push(part);
            }
            Part::New(_) | Part::Note(crate::proposal::diff::Side::New, _) => new.push(part),
            _ => {
                flush(&mut old, &mut new);
                old.push(part);
                new.push(part);
                flush(&mut old, &mut new);
            }
        }
    }
    flush(&mut old, &mut new);
}
