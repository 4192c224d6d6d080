//! State of the Codex pane: the tree of entries with chapters and notes, its filter, the preview.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::ids::BookPath;

use super::widgets::input::Input;

/// The Codex pane.
pub(super) struct CodexPane {
    pub(super) filter: Input,
    /// Whether keys go into the filter.
    pub(super) filtering: bool,
    /// Groups whose rows are hidden.
    folded: Vec<Group>,
    pub(super) rows: Vec<Row>,
    pub(super) selected: usize,
    pub(super) top: usize,
    /// First line of the preview.
    pub(super) preview_top: usize,
}

/// A group of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// Entries of one type.
    Entries(EntryType),
    /// The chapters.
    Chapters,
    /// The notes.
    Notes,
}

impl Group {
    /// Returns its heading.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Chapters => "chapters",
            Self::Entries(entry_type) => entry_type.plural(),
            Self::Notes => "notes",
        }
    }
}

/// A row of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Row {
    /// A heading.
    Group {
        /// Which.
        group: Group,
        /// How many it holds.
        count: usize,
        /// Whether its rows are shown.
        open: bool,
    },
    /// Something that can be opened.
    Leaf {
        /// Which group it is in.
        group: Group,
        /// Its place in the book's list.
        index: usize,
        /// Its name on screen.
        name: String,
        /// Characters of the name that the filter matched.
        matched: Vec<usize>,
    },
}

impl CodexPane {
    /// The tree of a book.
    pub(super) fn new(book: &Book) -> Self {
        let mut pane = Self {
            filter: Input::default(),
            filtering: false,
            folded: vec![Group::Chapters, Group::Notes],
            rows: vec![],
            selected: 0,
            top: 0,
            preview_top: 0,
        };
        pane.rebuild(book);
        pane
    }

    /// Builds the rows again after the book or the filter has changed; keeps the selected one where it can.
    pub(super) fn rebuild(&mut self, book: &Book) {
        let before = self.rows.get(self.selected).cloned();
        let needle = self.filter.text().trim().to_owned();
        let mut rows = vec![];
        let groups = std::iter::once(Group::Chapters)
            .chain(EntryType::ALL.into_iter().map(Group::Entries))
            .chain([Group::Notes]);
        for group in groups {
            let members = members(book, group);
            if members.is_empty() {
                continue;
            }
            if needle.is_empty() {
                let open = !self.folded.contains(&group);
                rows.push(Row::Group { group, count: members.len(), open });
                if open {
                    rows.extend(members.into_iter().map(|(index, name, _)| Row::Leaf {
                        group,
                        index,
                        name,
                        matched: vec![],
                    }));
                }
                continue;
            }
            let leaves = filtered(group, &members, &needle);
            if !leaves.is_empty() {
                rows.push(Row::Group { group, count: leaves.len(), open: true });
                rows.extend(leaves);
            }
        }
        self.rows = rows;
        let same = |a: &Row, b: &Row| match (a, b) {
            (Row::Group { group: a, .. }, Row::Group { group: b, .. }) => a == b,
            (Row::Leaf { group: a, name: x, .. }, Row::Leaf { group: b, name: y, .. }) => a == b && x == y,
            _ => false,
        };
        let kept = before.and_then(|b| self.rows.iter().position(|r| same(r, &b)));
        let first_leaf = self.rows.iter().position(|r| matches!(r, Row::Leaf { .. })).unwrap_or(0);
        self.selected = if needle.is_empty() { kept.unwrap_or(first_leaf) } else { first_leaf };
        self.preview_top = 0;
    }

    /// Moves the selection by rows.
    pub(super) fn step(&mut self, rows: isize) {
        let last = self.rows.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(rows).min(last);
        self.preview_top = 0;
    }

    /// Opens or closes the group that is selected, or that holds what is selected. Returns whether there was one.
    pub(super) fn fold(&mut self, book: &Book, open: Option<bool>) -> bool {
        let Some(row) = self.rows.get(self.selected) else { return false };
        let (Row::Group { group, .. } | Row::Leaf { group, .. }) = row;
        let group = *group;
        let folded = self.folded.contains(&group);
        let open = open.unwrap_or(folded);
        let open_now = !folded;
        if open == open_now {
            return false;
        }
        if open {
            self.folded.retain(|g| *g != group);
        } else {
            self.folded.push(group);
        }
        self.rebuild(book);
        let heading = self.rows.iter().position(|r| matches!(r, Row::Group { group: g, .. } if *g == group));
        self.selected = heading.unwrap_or(self.selected);
        true
    }

    /// Returns the entry of the selected row.
    pub(super) fn selected_entry<'b>(&self, book: &'b Book) -> Option<&'b Entry> {
        match self.rows.get(self.selected)? {
            Row::Leaf { group: Group::Entries(_), index, .. } => book.entries.get(*index),
            _ => None,
        }
    }

    /// Returns the file of the selected row.
    pub(super) fn selected_path(&self, book: &Book) -> Option<BookPath> {
        match self.rows.get(self.selected)? {
            Row::Group { .. } => None,
            Row::Leaf { group, index, .. } => match group {
                Group::Chapters => book.chapters.get(*index).map(|c| c.path.clone()),
                Group::Entries(_) => book.entries.get(*index).map(|e| e.path.clone()),
                Group::Notes => book.notes.get(*index).map(|n| n.path.clone()),
            },
        }
    }

    /// Keeps the selected row on a tree of this many rows.
    pub(super) fn reveal(&mut self, height: usize) {
        if self.selected < self.top {
            self.top = self.selected.saturating_sub(usize::from(self.selected == 1));
        } else if height > 0 && self.selected >= self.top + height {
            self.top = self.selected + 1 - height;
        }
        self.top = self.top.min(self.rows.len().saturating_sub(height));
    }
}

/// A member that a filter keeps.
struct Kept {
    index: usize,
    /// Characters that matched.
    positions: Vec<usize>,
}

/// Keeps the texts that match fuzzily, best first.
fn fuzzy(needle: &str, texts: &[&str]) -> Vec<Kept> {
    let pattern = Pattern::new(needle, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let (mut buffer, mut kept) = (vec![], vec![]);
    for (index, text) in texts.iter().enumerate() {
        let mut positions = vec![];
        let text = Utf32Str::new(text, &mut buffer);
        if let Some(score) = pattern.indices(text, &mut matcher, &mut positions) {
            let positions = positions.into_iter().map(|p| p as usize).collect();
            kept.push((score, Kept { index, positions }));
        }
    }
    kept.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    kept.into_iter().map(|(_, kept)| kept).collect()
}

/// Returns place, name on screen, and everything that the filter looks at, for the members of a group.
fn members(book: &Book, group: Group) -> Vec<(usize, String, String)> {
    match group {
        Group::Chapters => book
            .chapters
            .iter()
            .enumerate()
            .map(|(i, c)| (i, format!("{} · {}", c.number, c.title), String::new()))
            .collect(),
        Group::Entries(entry_type) => book
            .entries
            .iter()
            .enumerate()
            .filter(|(_, e)| e.entry_type == entry_type)
            .map(|(i, e)| (i, e.name.clone(), e.aliases.join(" ")))
            .collect(),
        Group::Notes => {
            book.notes.iter().enumerate().map(|(i, n)| (i, n.title.clone(), n.tags.join(" "))).collect()
        }
    }
}

/// Returns the members that a filter keeps, best first: by name, else by an alias or a tag.
fn filtered(group: Group, members: &[(usize, String, String)], needle: &str) -> Vec<Row> {
    let names: Vec<&str> = members.iter().map(|(_, name, _)| name.as_str()).collect();
    let by_name = fuzzy(needle, &names);
    let mut kept: Vec<(usize, Vec<usize>)> = by_name.into_iter().map(|m| (m.index, m.positions)).collect();
    let others: Vec<&str> = members.iter().map(|(_, _, more)| more.as_str()).collect();
    for m in fuzzy(needle, &others) {
        if !kept.iter().any(|(i, _)| *i == m.index) {
            kept.push((m.index, vec![]));
        }
    }
    kept.into_iter()
        .filter_map(|(i, matched)| {
            let (index, name, _) = members.get(i)?;
            Some(Row::Leaf { group, index: *index, name: name.clone(), matched })
        })
        .collect()
}
