//! A list that narrows as one types: fuzzy matching, the best first, the matched letters marked.
//!
//! The selected row has a pointer besides its colour. Rows are found by the mouse as they are drawn, since
//! scrolling follows from the selection alone.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32String};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::super::theme::{Role, Theme};
use super::text;
use crate::domain::safe_text;

/// A row, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<T> {
    /// What choosing it gives.
    pub value: T,
    /// Its name.
    pub label: String,
    /// More about it, shown beside the name and found as well; may be empty.
    pub detail: String,
}

/// A filtered list with one selected row.
pub struct List<T> {
    rows: Vec<Row<T>>,
    /// Label and detail of each row, one character for each grapheme.
    texts: Vec<Utf32String>,
    /// Whether rows are found by other words than their details.
    by_words: bool,
    query: String,
    shown: Vec<Shown>,
    /// Index into `shown`.
    selected: usize,
    matcher: Matcher,
}

/// A row that the query matches.
struct Shown {
    row: usize,
    /// Graphemes of label, space and detail that matched, in order.
    matched: Vec<u32>,
}

impl<T> List<T> {
    /// Makes a list of all rows, in their order.
    pub fn new(rows: Vec<Row<T>>) -> Self {
        let mut config = Config::DEFAULT;
        config.prefer_prefix = true;
        let mut list = Self {
            rows: vec![],
            texts: vec![],
            by_words: false,
            query: String::new(),
            shown: vec![],
            selected: 0,
            matcher: Matcher::new(config),
        };
        list.set_rows(rows);
        list
    }

    /// Lets rows be found by their names and by these words, one for each row, instead of by what is shown beside the names.
    #[must_use]
    pub fn found_by(mut self, words: &[String]) -> Self {
        self.by_words = true;
        let texts = self.rows.iter().zip(words).map(|(row, words)| format!("{} {words}", row.label));
        self.texts = texts.map(|text| searchable(&text)).collect();
        self
    }

    /// Replaces the rows and keeps the query; the selection stays at its place.
    pub fn set_rows(&mut self, rows: Vec<Row<T>>) {
        self.texts = rows.iter().map(|r| searchable(&format!("{} {}", r.label, r.detail))).collect();
        self.rows = rows;
        let selected = self.selected;
        self.filter();
        self.select(selected);
    }

    /// Narrows the list to what matches every word of `query`, the best first, and selects the best.
    pub fn set_query(&mut self, query: &str) {
        if self.query != query {
            query.clone_into(&mut self.query);
            self.filter();
        }
    }

    fn filter(&mut self) {
        let pattern = Pattern::new(&self.query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy);
        let mut scored = vec![];
        for (row, text) in self.texts.iter().enumerate() {
            let mut matched = vec![];
            if let Some(score) = pattern.indices(text.slice(..), &mut self.matcher, &mut matched) {
                matched.sort_unstable();
                matched.dedup();
                if self.by_words {
                    // What is not shown can't be marked.
                    let label = self.rows.get(row).map_or(0, |row| row.label.graphemes(true).count());
                    matched.retain(|at| (*at as usize) < label);
                }
                scored.push((score, Shown { row, matched }));
            }
        }
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        self.shown = scored.into_iter().map(|(_, shown)| shown).collect();
        self.selected = 0;
    }

    /// Returns the query.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Returns how many rows match.
    pub fn len(&self) -> usize {
        self.shown.len()
    }

    /// Whether no row matches.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Returns how many rows there are, matching or not.
    pub fn total(&self) -> usize {
        self.rows.len()
    }

    /// Returns the selected row; `None` when nothing matches.
    pub fn selected(&self) -> Option<&Row<T>> {
        self.rows.get(self.shown.get(self.selected)?.row)
    }

    /// Returns the place of the selected row among those that match.
    pub fn position(&self) -> usize {
        self.selected
    }

    /// Selects by place, the last where there are fewer.
    pub fn select(&mut self, position: usize) {
        self.selected = position.min(self.shown.len().saturating_sub(1));
    }

    /// Moves the selection by rows, up where negative, and stops at the ends.
    pub fn move_by(&mut self, rows: isize) {
        self.select(self.selected.saturating_add_signed(rows));
    }

    /// Walks as the command of that name says; `false` for any other command. A page has `page` rows.
    pub fn walks(&mut self, command: &str, page: u16) -> bool {
        let page = isize::try_from(page).unwrap_or(10);
        match command {
            "list-up" => self.move_by(-1),
            "list-down" => self.move_by(1),
            "list-page-up" => self.move_by(-page),
            "list-page-down" => self.move_by(page),
            "list-first" => self.select(0),
            "list-last" => self.select(usize::MAX),
            _ => return false,
        }
        true
    }

    /// Returns the place of the first drawn row in an area of that height: the selection stays near the middle.
    fn top(&self, height: usize) -> usize {
        self.selected.saturating_sub(height / 2).min(self.shown.len().saturating_sub(height))
    }

    /// Returns the place that is drawn at a screen row of `area`, for the mouse.
    pub fn position_at(&self, area: Rect, screen_row: u16) -> Option<usize> {
        let row = screen_row.checked_sub(area.y).filter(|row| *row < area.height)?;
        let position = self.top(usize::from(area.height)) + usize::from(row);
        (position < self.shown.len()).then_some(position)
    }

    /// Draws the rows around the selection.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) {
        let area = area.intersection(*buffer.area());
        if area.is_empty() {
            return;
        }
        if self.shown.is_empty() {
            let words = if self.rows.is_empty() { "Nothing here yet" } else { "Nothing matches" };
            let line =
                text::line_of([("  ", Style::new()), (words, theme.style(Role::Dim))], area.width.into());
            buffer.set_line(area.x, area.y, &line, area.width);
            return;
        }
        let top = self.top(area.height.into());
        for (y, (position, shown)) in (area.y..area.bottom()).zip(self.shown.iter().enumerate().skip(top)) {
            let selected = position == self.selected;
            if selected {
                buffer.set_style(Rect { y, height: 1, ..area }, theme.style(Role::CursorLine));
            }
            if let Some(row) = self.rows.get(shown.row) {
                draw_row(row, &shown.matched, selected, Rect { y, height: 1, ..area }, (buffer, theme));
            }
        }
    }
}

fn draw_row<T>(row: &Row<T>, matched: &[u32], selected: bool, area: Rect, on: (&mut Buffer, &Theme)) {
    let (buffer, theme) = on;
    let room = usize::from(area.width).saturating_sub(2);
    let (label, detail) = (safe_text::line(&row.label), safe_text::line(&row.detail));
    // The name comes first; what is left of it, but for two columns of air, is for the rest.
    let label_width = text::width(&label).min(room);
    let detail_width = text::width(&detail).min(room.saturating_sub(label_width + 2));
    let label_look = theme.style(if selected { Role::Accent } else { Role::Text });
    let label_look = Style { bg: None, ..label_look };
    let graphemes = row.label.graphemes(true).count();
    let pointer = if selected { "▸ " } else { "  " };

    let mut pieces = vec![(pointer, theme.style(Role::Accent))];
    pieces.extend(marked(&label, matched, 0, (label_look, theme)));
    let line = text::line_of(pieces, label_width + 2);
    buffer.set_line(area.x, area.y, &line, area.width);
    if detail_width > 0 {
        let pieces = marked(&detail, matched, graphemes + 1, (theme.style(Role::Dim), theme));
        let line = text::line_of(pieces, detail_width);
        let x = area.right() - detail_width as u16;
        buffer.set_line(x, area.y, &line, detail_width as u16);
    }
}

/// Cuts `text` into pieces that matched and pieces that did not; `from` is its first grapheme's number in the searched text.
fn marked<'a>(text: &'a str, matched: &[u32], from: usize, look: (Style, &Theme)) -> Vec<(&'a str, Style)> {
    let (plain, theme) = look;
    let piece = |(i, grapheme): (usize, &'a str)| {
        let hit = matched.binary_search(&((from + i) as u32)).is_ok();
        (grapheme, if hit { plain.patch(theme.style(Role::Match)) } else { plain })
    };
    text.graphemes(true).enumerate().map(piece).collect()
}

/// Makes a text of one character for each grapheme, so that what the matcher finds can be shown.
fn searchable(text: &str) -> Utf32String {
    let chars: Vec<char> = text.graphemes(true).filter_map(|g| g.nfc().next()).collect();
    if chars.iter().all(char::is_ascii) {
        Utf32String::Ascii(chars.into_iter().collect::<String>().into())
    } else {
        Utf32String::Unicode(chars.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(labels: &[&str]) -> List<usize> {
        let row =
            |(value, label): (usize, &&str)| Row { value, label: (*label).into(), detail: String::new() };
        List::new(labels.iter().enumerate().map(row).collect())
    }

    fn labels<T>(list: &List<T>) -> Vec<&str> {
        list.shown.iter().map(|s| list.rows[s.row].label.as_str()).collect()
    }

    fn screen<T>(list: &List<T>, width: u16, height: u16) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        list.draw(area, &mut buffer, &Theme::default());
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(|y| row(y).trim_end().to_owned()).collect()
    }

    #[test]
    fn typing_narrows_the_list_best_first() {
        let mut list = list(&["Focus the manuscript", "Save", "Find", "Ship's log", "Next theme"]);
        assert_eq!(list.len(), 5);
        list.set_query("fi");
        assert_eq!(labels(&list), ["Find", "Focus the manuscript"]);
        list.set_query("the fo");
        assert_eq!(labels(&list), ["Focus the manuscript"]);
        list.set_query("slog");
        assert_eq!(labels(&list), ["Ship's log"]);
        list.set_query("zzz");
        assert!(list.is_empty() && list.selected().is_none());
        list.set_query("");
        assert_eq!(list.len(), 5);
        assert_eq!(list.total(), 5);
    }

    #[test]
    fn accents_need_not_be_typed_and_case_only_where_it_matters() {
        let mut list = list(&["Søndergaard", "Café Élan", "cafe\u{301} lower"]);
        list.set_query("cafe");
        assert_eq!(list.len(), 2);
        list.set_query("Café");
        assert_eq!(labels(&list), ["Café Élan"]);
        list.set_query("gaard");
        assert_eq!(labels(&list), ["Søndergaard"]);
    }

    #[test]
    fn the_selection_stops_at_the_ends_and_starts_at_the_best() {
        let mut list = list(&["aa", "ab", "ac"]);
        list.move_by(9);
        assert_eq!(list.selected().map(|r| r.value), Some(2));
        list.move_by(isize::MIN);
        assert_eq!(list.position(), 0);
        list.select(1);
        list.set_query("ac");
        assert_eq!(list.selected().map(|r| r.value), Some(2));
    }

    #[test]
    fn the_selected_row_is_pointed_at_and_details_stand_at_the_right() {
        let rows = vec![
            Row { value: 1, label: "Save".into(), detail: "Ctrl-S".into() },
            Row { value: 2, label: "A very long name indeed".into(), detail: "F2".into() },
        ];
        let mut list = List::new(rows);
        list.move_by(1);
        assert_eq!(screen(&list, 20, 3), ["  Save        Ctrl-S", "▸ A very long name…", ""]);
        list.set_query("ctrl");
        assert_eq!(list.selected().map(|r| r.value), Some(1));
    }

    #[test]
    fn a_long_list_scrolls_around_the_selection_and_the_mouse_finds_its_rows() {
        let names: Vec<String> = (0..20).map(|n| format!("row {n}")).collect();
        let mut list = list(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let area = Rect::new(0, 5, 10, 3);
        for (select, first) in [(0, 0), (1, 0), (10, 9), (19, 17)] {
            list.select(select);
            assert_eq!(list.position_at(area, 5), Some(first));
            assert!(screen(&list, 10, 3).iter().any(|r| r == &format!("▸ row {select}")));
        }
        assert_eq!(list.position_at(area, 4), None);
        assert_eq!(list.position_at(area, 8), None);
    }

    #[test]
    fn what_matched_is_marked_letter_by_letter() {
        let theme = Theme::default();
        let mut list = list(&["e\u{301}日ab"]);
        list.set_query("日b");
        let area = Rect::new(0, 0, 10, 1);
        let mut buffer = Buffer::empty(area);
        list.draw(area, &mut buffer, &theme);
        let hit = |x: u16| buffer[(x, 0)].style().fg == theme.style(Role::Match).fg;
        assert_eq!([hit(2), hit(3), hit(5), hit(6)], [false, true, false, true]);
    }

    #[test]
    fn an_empty_list_says_so() {
        assert_eq!(screen(&list(&[]), 20, 1), ["  Nothing here yet"]);
        let mut list = list(&["a"]);
        list.set_query("x");
        assert_eq!(screen(&list, 20, 1), ["  Nothing matches"]);
    }

    proptest::proptest! {
        #[test]
        fn drawing_never_leaves_its_place(
            labels in proptest::collection::vec("(\\PC|\x1b){0,12}", 0..6), query in "\\PC{0,4}", w in 0u16..12, h in 0u16..5,
        ) {
            let mut list = list(&labels.iter().map(String::as_str).collect::<Vec<_>>());
            list.set_query(&query);
            let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 8));
            list.draw(Rect::new(3, 2, w, h), &mut buffer, &Theme::default());
            for y in 0..8 {
                for x in 0..20 {
                    let inside = (3..3 + w).contains(&x) && (2..2 + h).contains(&y);
                    proptest::prop_assert!(inside || buffer[(x, y)].symbol() == " ");
                }
            }
        }
    }
}
