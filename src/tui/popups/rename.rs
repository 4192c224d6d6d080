//! The places of a name that is changed: each with its words, what they become, and why one is left out. Nothing is written before `a`.

use std::collections::HashSet;
use std::ops::Range;
use std::time::{Duration, Instant};

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;

use super::{Popup, Reply};
use crate::command::Context;
use crate::domain::ids::ProposalId;
use crate::proposal::Status;
use crate::tui::document::Place as Shown;
use crate::tui::keymap::Keymap;
use crate::tui::msg::{Msg, Notice, Verdict};
use crate::tui::theme::{Role, Theme};
use crate::tui::turn_lines::count;
use crate::tui::widgets::{popup, text};
use crate::workbench::QueuedProposal;
use crate::workbench::rename::{Found, Kind, Place, Renamed};

/// How long after opening no key decides anything.
const GUARD: Duration = Duration::from_millis(300);
/// Columns that the popup has at most.
const WIDEST: u16 = 132;
/// Rows below the list: the place's kind and reason, its words in full.
const DETAILS: u16 = 4;

/// Whether a command must not happen by accident.
pub(super) fn counts_alone(command: &str) -> bool {
    matches!(command, "apply-rename" | "exempt-place" | "undo-rename")
}

/// The popup.
pub(in crate::tui) struct RenamePopup {
    found: Found,
    chosen: HashSet<String>,
    rows: Rows,
    /// The place with the cursor.
    at: usize,
    opened: Instant,
    /// What was done, and whether it still is.
    done: Option<(ProposalId, Status)>,
    /// What to tell below the list.
    said: Option<(String, Role)>,
    /// A rename is under way.
    /// The author was told that the new name is taken.
    warned: bool,
    busy: bool,
    size: (u16, u16),
}

impl std::fmt::Debug for RenamePopup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RenamePopup").field("old", &self.found.old).finish_non_exhaustive()
    }
}

/// A row of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    /// The heading of a group.
    File(usize),
    /// A place.
    Place(usize),
}

/// Places of one file that stand together.
#[derive(Debug)]
struct Group {
    places: Range<usize>,
    chosen: usize,
}

/// The list as it is shown, kept so that a key costs what it changes.
#[derive(Debug, Default)]
struct Rows {
    lines: Vec<Row>,
    groups: Vec<Group>,
    /// Row of each place, and its group.
    of_place: Vec<(usize, usize)>,
}

impl Rows {
    fn of(found: &Found, chosen: &HashSet<String>) -> Self {
        let mut all = Self::default();
        let places = &found.places;
        for (at, place) in places.iter().enumerate() {
            if at == 0 || places[at - 1].path != place.path || place.kind == Kind::File {
                all.lines.push(Row::File(all.groups.len()));
                all.groups.push(Group { places: at..at, chosen: 0 });
            }
            let group = all.groups.len() - 1;
            all.of_place.push((all.lines.len(), group));
            all.lines.push(Row::Place(at));
            all.groups[group].places.end = at + 1;
            all.groups[group].chosen += usize::from(chosen.contains(&place.id));
        }
        all
    }
}

impl RenamePopup {
    /// Shows the places, those that are surely meant chosen.
    pub(in crate::tui) fn new(found: Found, now: Instant) -> Self {
        let chosen = found.chosen();
        let rows = Rows::of(&found, &chosen);
        Self {
            found,
            chosen,
            rows,
            at: 0,
            opened: now,
            done: None,
            said: None,
            warned: false,
            busy: false,
            size: (0, 0),
        }
    }

    /// Whether it is about these words, and nothing was done yet.
    pub(in crate::tui) fn is_of(&self, found: &Found) -> bool {
        self.done.is_none() && self.found.old == found.old && self.found.new == found.new
    }

    /// The words that it is about.
    pub(in crate::tui) fn names(&self) -> (String, String) {
        (self.found.old.clone(), self.found.new.clone())
    }

    /// Takes the places as they are now; what the author chose stays chosen.
    pub(in crate::tui) fn take(&mut self, found: Found) {
        let known: HashSet<String> = self.found.places.iter().map(|p| p.id.clone()).collect();
        let chosen = |p: &&Place| {
            let as_before = if known.contains(&p.id) { self.chosen.contains(&p.id) } else { p.chosen };
            as_before && !p.exempt && !p.by_hand
        };
        self.chosen = found.places.iter().filter(chosen).map(|p| p.id.clone()).collect();
        let here = self.found.places.get(self.at).map(|p| p.id.clone());
        let place = found.places.iter().position(|p| Some(&p.id) == here.as_ref());
        self.at = place.unwrap_or(self.at).min(found.places.len().saturating_sub(1));
        self.rows = Rows::of(&found, &self.chosen);
        self.found = found;
        self.busy = false;
    }

    /// Takes a place, or leaves it.
    fn set(&mut self, at: usize, on: bool) {
        let (Some(place), Some((_, group))) = (self.found.places.get(at), self.rows.of_place.get(at)) else {
            return;
        };
        let changed = if on { self.chosen.insert(place.id.clone()) } else { self.chosen.remove(&place.id) };
        let count = &mut self.rows.groups[*group].chosen;
        *count = match (changed, on) {
            (true, true) => *count + 1,
            (true, false) => count.saturating_sub(1),
            (false, _) => *count,
        };
    }

    fn is_chosen(&self, at: usize) -> bool {
        self.found.places.get(at).is_some_and(|place| self.chosen.contains(&place.id))
    }

    /// Takes what was done.
    pub(in crate::tui) fn renamed(&mut self, renamed: &Renamed) {
        self.busy = false;
        self.done = Some((renamed.proposal.proposal.id.clone(), renamed.proposal.status));
        let mut words = format!("✓ {}.", renamed.proposal.proposal.summary);
        if !renamed.by_hand.is_empty() {
            words.push_str(&format!(
                " {} left as they are: they would break the frontmatter.",
                count(renamed.by_hand.len(), "place")
            ));
        }
        self.said = Some((words, Role::Success));
    }

    /// Takes the state of the rename after it was undone or redone.
    pub(in crate::tui) fn judged(&mut self, queued: &QueuedProposal) {
        let Some((id, status)) = &mut self.done else { return };
        if *id != queued.proposal.id {
            return;
        }
        *status = queued.status;
        self.said = Some(match queued.status {
            Status::Applied => (format!("✓ {}.", queued.proposal.summary), Role::Success),
            _ => ("✓ Undone: every file is as it was, to the byte.".to_owned(), Role::Success),
        });
    }

    /// Shows why something was not done.
    pub(in crate::tui) fn say(&mut self, words: &str) {
        self.busy = false;
        self.said = Some((format!("✗ {words}"), Role::Error));
    }

    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap, now: Instant) -> Reply {
        let Some(command) = keymap.lookup(Context::Rename, &key) else { return Reply::Keep };
        if self.busy && command.name != "cancel" {
            return Reply::Keep;
        }
        if counts_alone(command.name) && now.duration_since(self.opened) < GUARD {
            return Reply::Keep;
        }
        let page = isize::try_from(self.size.1).unwrap_or(10) / 2;
        match command.name {
            "list-up" => self.step(-1),
            "list-down" => self.step(1),
            "list-page-up" => self.step(-page),
            "list-page-down" => self.step(page),
            "list-first" => self.at = 0,
            "list-last" => self.step(isize::MAX),
            "list-choose" => return self.show(),
            "next-doubt" => self.next_doubt(),
            "toggle-place" => self.toggle(),
            "toggle-places-of-file" => self.toggle_file(),
            "exempt-place" => return self.exempt(),
            "apply-rename" => return self.apply(),
            "undo-rename" => return self.undo(),
            "cancel" => return Reply::Close(vec![]),
            _ => {}
        }
        Reply::Keep
    }

    pub(super) fn step(&mut self, rows: isize) {
        let last = self.found.places.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(rows).min(last);
        if self.done.is_none() {
            self.said = None;
        }
    }

    /// Goes to the next place that is not chosen, from the last one to the first.
    fn next_doubt(&mut self) {
        let open = |p: &Place| !self.chosen.contains(&p.id) && !p.exempt;
        let count = self.found.places.len();
        let next = (1..=count).map(|n| (self.at + n) % count).find(|at| open(&self.found.places[*at]));
        match next {
            Some(at) => self.at = at,
            None => self.said = Some(("Every place is chosen.".to_owned(), Role::Dim)),
        }
    }

    fn show(&self) -> Reply {
        let Some(place) = self.found.places.get(self.at) else { return Reply::Keep };
        // After renaming the old words stand there no more.
        let words = if self.is_done() { place.becomes.clone() } else { place.text.clone() };
        let shown = Shown { range: place.range.clone(), words };
        Reply::Do(vec![Msg::ShowRename(place.path.clone(), shown)])
    }

    fn is_done(&self) -> bool {
        matches!(self.done, Some((_, Status::Applied)))
    }

    fn toggle(&mut self) {
        if self.done.is_some() {
            return;
        }
        let Some(place) = self.found.places.get(self.at) else { return };
        if place.by_hand {
            return self.say("This place can only be changed by hand.");
        }
        let (is_file, on) = (place.kind == Kind::File, !self.is_chosen(self.at));
        self.set(self.at, on);
        if is_file {
            // Links by the file's name are right only with the file.
            let follows = |p: &Place| p.follows_file && !p.exempt;
            let all: Vec<usize> =
                (0..self.found.places.len()).filter(|at| follows(&self.found.places[*at])).collect();
            for at in all {
                self.set(at, on);
            }
        }
        self.said = None;
    }

    fn toggle_file(&mut self) {
        let Some((_, group)) = self.rows.of_place.get(self.at).filter(|_| self.done.is_none()) else {
            return;
        };
        let free = |p: &Place| !p.by_hand && !p.exempt && p.kind != Kind::File && !p.follows_file;
        let places = self.rows.groups[*group].places.clone();
        let all: Vec<usize> = places.filter(|at| free(&self.found.places[*at])).collect();
        let on = !all.iter().all(|at| self.is_chosen(*at));
        for at in all {
            self.set(at, on);
        }
    }

    fn exempt(&mut self) -> Reply {
        if self.done.is_some() {
            return Reply::Keep;
        }
        let Some(place) = self.found.places.get(self.at) else { return Reply::Keep };
        if place.exempt || place.kind == Kind::File {
            return Reply::Keep;
        }
        let id = place.id.clone();
        self.set(self.at, false);
        self.said = Some((
            "Kept in .scritorio/exemptions.toml; delete it there to be asked again.".to_owned(),
            Role::Dim,
        ));
        Reply::Do(vec![Msg::Exempt(Box::new(self.found.clone()), id)])
    }

    fn apply(&mut self) -> Reply {
        match self.done {
            Some((_, Status::Applied)) => {
                self.say("It is renamed already; u undoes it.");
                Reply::Keep
            }
            Some((ref id, _)) => Reply::Do(vec![Msg::Judge(Verdict::Redo(id.clone()))]),
            None if self.chosen.is_empty() => {
                self.say("No place is chosen.");
                Reply::Keep
            }
            None if let Some(taken) = self.found.taken.clone().filter(|_| !self.warned) => {
                self.warned = true;
                self.say(&format!("{taken} The same key once more renames all the same."));
                Reply::Keep
            }
            None => Reply::Do(vec![Msg::ApplyRename(Box::new(self.found.clone()), self.chosen.clone())]),
        }
    }

    /// Waits for the answer; no key changes anything meanwhile.
    pub(in crate::tui) fn wait(&mut self) {
        self.busy = true;
        self.said = Some(("Renaming…".to_owned(), Role::Dim));
    }

    fn undo(&self) -> Reply {
        match &self.done {
            Some((id, Status::Applied)) => Reply::Do(vec![Msg::Judge(Verdict::Undo(id.clone()))]),
            _ => Reply::Do(vec![Msg::Notice(Notice::hint("Nothing was renamed yet."))]),
        }
    }

    pub(super) fn lay_out(&mut self, screen: Rect) {
        self.size = (screen.width.saturating_sub(6).min(WIDEST), screen.height.saturating_sub(4));
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme, keymap: &Keymap) -> Option<Position> {
        let (width, height) = self.size;
        let title = format!("Rename {} to {}", self.found.old, self.found.new);
        let hints = self.hints(keymap);
        let popup = popup::Popup { title: &title, hints: &hints, width, height };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        let part = |y: u16, height: u16| Rect { y: inner.y + y, height, ..inner }.intersection(inner);
        let columns = usize::from(inner.width);
        Popup::lines(frame, part(0, 1), theme, vec![self.state(theme, columns)]);
        let room = inner.height.saturating_sub(DETAILS + 3);
        let rows = &self.rows.lines;
        let here = self.rows.of_place.get(self.at).map_or(0, |(row, _)| *row);
        let tall = usize::from(room);
        let top = here.saturating_sub(tall / 2).min(rows.len().saturating_sub(tall));
        let lines = rows.iter().skip(top).take(tall).map(|row| self.line(theme, *row, columns));
        Popup::lines(frame, part(2, room), theme, lines.collect());
        Popup::lines(frame, part(room + 3, DETAILS), theme, self.details(theme, columns));
        None
    }

    fn hints(&self, keymap: &Keymap) -> Vec<(String, &'static str)> {
        let key = |name: &str, words: &'static str| (keymap.key_of(name).unwrap_or_default(), words);
        let mut hints = match self.done {
            Some((_, Status::Applied)) => vec![key("undo-rename", "undo")],
            Some(_) => vec![key("apply-rename", "rename again")],
            None => vec![
                key("apply-rename", "rename"),
                key("toggle-place", "take or leave"),
                key("next-doubt", "next doubt"),
                key("exempt-place", "never"),
            ],
        };
        hints.push(key("list-choose", "show"));
        if self.done.is_none() {
            hints.push(key("toggle-places-of-file", "whole file"));
        }
        hints.push(("Esc".to_owned(), "close"));
        hints
    }

    fn state(&self, theme: &Theme, columns: usize) -> Line<'static> {
        let chosen = format!(
            "{} of {} chosen, in {}",
            self.chosen.len(),
            count(self.found.places.len(), "place"),
            count(self.rows.groups.iter().filter(|group| group.chosen > 0).count(), "file")
        );
        let words = if self.is_done() { "Done" } else { chosen.as_str() };
        let entry = self.found.entry.as_ref().map(|(name, entry_type, _)| format!(" · {name}, {entry_type}"));
        let entry = entry.unwrap_or_else(|| " · no entry of the Codex".to_owned());
        text::line_of([(words, theme.style(Role::Strong)), (entry.as_str(), theme.style(Role::Dim))], columns)
    }

    fn line(&self, theme: &Theme, row: Row, columns: usize) -> Line<'static> {
        let place_at = match row {
            Row::File(at) => {
                let group = &self.rows.groups[at];
                let of = format!("  {} of {}", group.chosen, group.places.len());
                let name = text::fit_end(
                    self.found.places[group.places.start].path.as_str(),
                    columns.saturating_sub(text::width(&of)),
                );
                let pieces =
                    [(name.as_str(), theme.style(Role::Heading)), (of.as_str(), theme.style(Role::Dim))];
                return text::line_of(pieces, columns);
            }
            Row::Place(at) => at,
        };
        let Some(place) = self.found.places.get(place_at) else { return Line::default() };
        let is_here = place_at == self.at;
        let pointer = if is_here { "▸ " } else { "  " };
        let mark = match (self.chosen.contains(&place.id), place.exempt, place.by_hand) {
            (true, ..) => "[x] ",
            (_, true, _) => "[never] ",
            (_, _, true) => "[by hand] ",
            _ => "[ ] ",
        };
        let position = if place.kind == Kind::File {
            String::new()
        } else {
            format!("{}:{} ", place.line, place.column)
        };
        let used = 2 + text::width(mark) + text::width(&position);
        let room = columns.saturating_sub(used);
        let words = self.words(place, theme, room);
        let mut pieces = vec![
            (pointer, theme.style(Role::Accent)),
            (mark, theme.style(if self.chosen.contains(&place.id) { Role::Success } else { Role::Warning })),
            (position.as_str(), theme.style(Role::Dim)),
        ];
        pieces.extend(words.iter().map(|(words, style)| (words.as_str(), *style)));
        let line = text::line_of(pieces, columns);
        if is_here { line.patch_style(theme.style(Role::CursorLine)) } else { line }
    }

    /// The words of a place in a row: some before, old struck and new underlined, some behind.
    fn words(&self, place: &Place, theme: &Theme, room: usize) -> Vec<(String, Style)> {
        let one_line = |words: &str| words.split_whitespace().collect::<Vec<_>>().join(" ");
        let (old, new) = (one_line(&place.text), one_line(&place.becomes));
        let old_look = theme.style(Role::Removed).add_modifier(Modifier::CROSSED_OUT);
        let new_look = theme.style(Role::Added).add_modifier(Modifier::UNDERLINED);
        let rest = room.saturating_sub(text::width(&old) + text::width(&new) + 3);
        let before = text::fit_end(&place.before, (rest / 2).min(40));
        let plain = theme.style(Role::Text);
        // Words that end in a space keep it before the old name.
        let gap = if place.before.ends_with(' ') && !before.ends_with(' ') { " " } else { "" };
        let mut all = vec![(format!("{before}{gap}"), plain), (old, old_look)];
        if self.chosen.contains(&place.id) || place.kind == Kind::File {
            all.push((" \u{2192} ".to_owned(), theme.style(Role::Dim)));
            all.push((new, new_look));
        }
        all.push((place.after.clone(), plain));
        all
    }

    fn details(&self, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let mut lines = vec![];
        if let Some((words, role)) = &self.said {
            let rows = text::wrap(words, columns).into_iter().take(2);
            lines.extend(rows.map(|row| Line::styled(row, theme.style(*role))));
        }
        if let Some(place) = self.found.places.get(self.at) {
            let chosen = self.chosen.contains(&place.id);
            let why = match &place.doubt {
                Some(why) if !chosen || place.by_hand => format!("{}: {why}", place.kind.as_str()),
                _ => place.kind.as_str().to_owned(),
            };
            lines.push(Line::styled(
                text::fit(&why, columns),
                theme.style(if chosen { Role::Dim } else { Role::Warning }),
            ));
            let words = format!("{}{}{}", place.before, place.text, place.after);
            let rows = text::wrap(&words, columns).into_iter().take(2);
            lines.extend(rows.map(|row| Line::styled(row, theme.style(Role::Text))));
        }
        if self.at == 0 && self.said.is_none() {
            lines.extend(
                self.found
                    .hints
                    .first()
                    .map(|hint| Line::styled(text::fit(hint, columns), theme.style(Role::Dim))),
            );
        }
        lines.truncate(usize::from(DETAILS));
        lines
    }
}
