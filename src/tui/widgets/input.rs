//! One line of text that is typed: a filter, words to find, a name, a key.
//!
//! The cursor moves by grapheme. What is masked is never drawn, nor shown by `Debug`.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation;

use super::super::theme::{Role, Theme};
use super::text;
use crate::domain::safe_text;

/// One line of text with a cursor.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Input {
    text: String,
    /// Byte offset, between graphemes.
    cursor: usize,
    masked: bool,
    /// The text was put there and counts as selected: what is typed takes its place, a move of the cursor keeps it.
    prefilled: bool,
    /// Shown while nothing is typed.
    placeholder: String,
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// The text is another.
    Changed,
    /// The cursor moved, or could not.
    Moved,
    /// The key means nothing here.
    Ignored,
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: &dyn fmt::Debug = if self.masked { &"(masked)" } else { &self.text };
        f.debug_struct("Input").field("text", text).finish_non_exhaustive()
    }
}

impl Input {
    /// Makes an input with some text and the cursor behind it.
    pub fn new(text: &str) -> Self {
        let mut input = Self::default();
        input.insert(text);
        input
    }

    /// Makes an input with a text that is there only as long as nothing else is typed.
    pub fn prefilled(text: &str) -> Self {
        let input = Self::new(text);
        Self { prefilled: !input.is_empty(), ..input }
    }

    /// Makes an empty input that shows a dot for each character.
    pub fn masked() -> Self {
        Self { masked: true, ..Self::default() }
    }

    /// Sets what is shown while nothing is typed.
    #[must_use]
    pub fn with_placeholder(mut self, words: &str) -> Self {
        words.clone_into(&mut self.placeholder);
        self
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Replaces the text and puts the cursor behind it.
    pub fn set_text(&mut self, text: &str) {
        self.take();
        self.insert(text);
    }

    /// Empties it and returns what it held.
    pub fn take(&mut self) -> String {
        (self.cursor, self.prefilled) = (0, false);
        std::mem::take(&mut self.text)
    }

    /// Inserts typed or pasted text at the cursor. Line breaks and tabs become spaces (at the ends nothing); other control characters are
    /// left out, since nobody means to type one.
    pub fn insert(&mut self, text: &str) {
        if self.prefilled {
            self.take();
        }
        let one_line = text.trim_matches(['\r', '\n']).replace("\r\n", "\n");
        let kept = one_line.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c });
        let kept: String = kept.filter(|c| !c.is_control()).collect();
        self.text.insert_str(self.cursor, &kept);
        self.cursor += kept.len();
        // A combining mark joins what stands before it.
        self.cursor = self.boundary_at_or_after(self.cursor);
    }

    /// Obeys the keys of a line of text: characters, arrows, Home, End, Backspace, Delete, by word with Ctrl or Alt, and `Ctrl-U`, `Ctrl-W`.
    pub fn key(&mut self, key: &KeyEvent) -> Edit {
        if key.kind == KeyEventKind::Release {
            return Edit::Ignored;
        }
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let word = ctrl || alt;
        match key.code {
            // Ctrl and Alt together are AltGr on some systems: it types characters.
            KeyCode::Char(c) if ctrl == alt => {
                self.insert(c.encode_utf8(&mut [0; 4]));
                Edit::Changed
            }
            KeyCode::Char('h') if ctrl => self.remove(self.left(false), self.cursor),
            KeyCode::Char('w') if ctrl => self.remove(self.left(true), self.cursor),
            KeyCode::Char('u') if ctrl => self.remove(0, self.cursor),
            KeyCode::Char('d') if alt => self.remove(self.cursor, self.right(true)),
            KeyCode::Backspace | KeyCode::Delete if self.prefilled && !word => {
                self.take();
                Edit::Changed
            }
            KeyCode::Backspace => self.remove(self.left(word), self.cursor),
            KeyCode::Delete => self.remove(self.cursor, self.right(word)),
            KeyCode::Left => self.move_to(self.left(word)),
            KeyCode::Right => self.move_to(self.right(word)),
            KeyCode::Char('b') if alt => self.move_to(self.left(true)),
            KeyCode::Char('f') if alt => self.move_to(self.right(true)),
            KeyCode::Home => self.move_to(0),
            KeyCode::End => self.move_to(self.text.len()),
            _ => Edit::Ignored,
        }
    }

    fn move_to(&mut self, offset: usize) -> Edit {
        (self.cursor, self.prefilled) = (offset, false);
        Edit::Moved
    }

    fn remove(&mut self, from: usize, to: usize) -> Edit {
        self.prefilled = false;
        if from >= to {
            return Edit::Moved;
        }
        self.text.replace_range(from..to, "");
        self.cursor = self.boundary_at_or_after(from);
        Edit::Changed
    }

    /// Returns the start of the grapheme or word before the cursor. A masked word's end would tell of the text: there, all is one word.
    fn left(&self, word: bool) -> usize {
        let before = &self.text[..self.cursor];
        if word && self.masked {
            return 0;
        }
        let last = if word {
            before.unicode_word_indices().next_back().map(|(at, _)| at)
        } else {
            before.grapheme_indices(true).next_back().map(|(at, _)| at)
        };
        // A word may begin within a grapheme.
        self.boundary_at_or_before(last.unwrap_or(0))
    }

    /// Returns the end of the grapheme or word behind the cursor.
    fn right(&self, word: bool) -> usize {
        let after = &self.text[self.cursor..];
        if word && self.masked {
            return self.text.len();
        }
        let end = if word {
            after.unicode_word_indices().next().map(|(at, word)| at + word.len())
        } else {
            after.graphemes(true).next().map(str::len)
        };
        self.boundary_at_or_after(self.cursor + end.unwrap_or(after.len()))
    }

    fn boundary_at_or_before(&self, offset: usize) -> usize {
        let starts = self.text.grapheme_indices(true).map(|(at, _)| at);
        starts.take_while(|at| *at <= offset).last().unwrap_or(0)
    }

    fn boundary_at_or_after(&self, offset: usize) -> usize {
        let mut starts = self.text.grapheme_indices(true).map(|(at, _)| at);
        starts.find(|at| *at >= offset).unwrap_or(self.text.len())
    }

    /// Draws the text around the cursor in the first row of `area`; returns where the terminal's cursor belongs.
    pub fn draw(&self, area: Rect, buffer: &mut Buffer, theme: &Theme) -> Option<Position> {
        let area = area.intersection(*buffer.area());
        if area.is_empty() {
            return None;
        }
        let room = usize::from(area.width);
        if self.text.is_empty() {
            let line = text::line_of([(self.placeholder.as_str(), theme.style(Role::Dim))], room);
            buffer.set_line(area.x, area.y, &line, area.width);
            return Some(area.as_position());
        }
        let (before, after) = (self.shown(..self.cursor), self.shown(self.cursor..));
        // One column stays free for the cursor; what is left of it scrolls out first.
        let mut start = 0;
        let mut used = text::width(&before);
        for grapheme in before.graphemes(true) {
            if used < room {
                break;
            }
            used -= text::grapheme_width(grapheme);
            start += grapheme.len();
        }
        let mut visible = String::new();
        let mut columns = 0;
        for grapheme in before[start..].graphemes(true).chain(after.graphemes(true)) {
            columns += text::grapheme_width(grapheme);
            if columns > room {
                break;
            }
            visible.push_str(grapheme);
        }
        let style = if self.prefilled {
            theme.style(Role::Selection)
        } else {
            Style { bg: None, ..theme.style(Role::Text) }
        };
        buffer.set_stringn(area.x, area.y, visible, room, style);
        Some(Position { x: area.x + used.min(room - 1) as u16, y: area.y })
    }

    fn shown(&self, range: impl std::slice::SliceIndex<str, Output = str>) -> String {
        let part = self.text.get(range).unwrap_or_default();
        if self.masked {
            "•".repeat(part.graphemes(true).count())
        } else {
            safe_text::line(part).into_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;

    static THEME: LazyLock<Theme> = LazyLock::new(Theme::default);

    fn press(input: &mut Input, code: KeyCode, modifiers: KeyModifiers) -> Edit {
        input.key(&KeyEvent::new(code, modifiers))
    }

    /// The text with the cursor in it.
    fn state(input: &Input) -> String {
        format!("{}|{}", &input.text[..input.cursor], &input.text[input.cursor..])
    }

    fn screen(input: &Input, width: u16) -> (String, Option<Position>) {
        let area = Rect::new(0, 0, width, 1);
        let mut buffer = Buffer::empty(area);
        let cursor = input.draw(area, &mut buffer, &THEME);
        ((0..width).map(|x| buffer[(x, 0)].symbol()).collect::<String>(), cursor)
    }

    #[test]
    fn the_cursor_moves_and_deletes_by_grapheme() {
        let none = KeyModifiers::NONE;
        let mut input = Input::new("a👨‍👩‍👧e\u{301}");
        assert_eq!(press(&mut input, KeyCode::Backspace, none), Edit::Changed);
        assert_eq!(state(&input), "a👨‍👩‍👧|");
        press(&mut input, KeyCode::Left, none);
        assert_eq!(state(&input), "a|👨‍👩‍👧");
        press(&mut input, KeyCode::Delete, none);
        assert_eq!(state(&input), "a|");
        assert_eq!(press(&mut input, KeyCode::Delete, none), Edit::Moved);
        press(&mut input, KeyCode::Home, none);
        press(&mut input, KeyCode::Char('x'), none);
        assert_eq!(state(&input), "x|a");
    }

    #[test]
    fn words_are_crossed_and_deleted_at_once() {
        let (ctrl, alt) = (KeyModifiers::CONTROL, KeyModifiers::ALT);
        let mut input = Input::new("the long, silence");
        press(&mut input, KeyCode::Left, ctrl);
        assert_eq!(state(&input), "the long, |silence");
        press(&mut input, KeyCode::Char('w'), ctrl);
        assert_eq!(state(&input), "the |silence");
        press(&mut input, KeyCode::Char('f'), alt);
        assert_eq!(state(&input), "the silence|");
        press(&mut input, KeyCode::Backspace, alt);
        assert_eq!(state(&input), "the |");
        press(&mut input, KeyCode::Char('u'), ctrl);
        assert_eq!(state(&input), "|");
        assert_eq!(press(&mut input, KeyCode::Char('s'), ctrl), Edit::Ignored);
        assert_eq!(press(&mut input, KeyCode::Enter, KeyModifiers::NONE), Edit::Ignored);
    }

    #[test]
    fn what_is_typed_takes_the_place_of_a_prefilled_text_and_a_move_keeps_it() {
        let none = KeyModifiers::NONE;
        let after = |keys: &[KeyCode]| {
            let mut input = Input::prefilled("the lamp");
            for key in keys {
                press(&mut input, *key, none);
            }
            state(&input)
        };
        assert_eq!(after(&[KeyCode::Char('a'), KeyCode::Char('b')]), "ab|");
        assert_eq!(after(&[KeyCode::End, KeyCode::Char('s')]), "the lamps|");
        assert_eq!(after(&[KeyCode::Left, KeyCode::Backspace]), "the la|p");
        assert_eq!(after(&[KeyCode::Backspace, KeyCode::Char('x')]), "x|");
        assert_eq!(
            after(&[KeyCode::F(5), KeyCode::Char('x')]),
            "x|",
            "a key that means nothing changes nothing"
        );
        let mut input = Input::prefilled("the lamp");
        press(&mut input, KeyCode::Char('w'), KeyModifiers::CONTROL);
        press(&mut input, KeyCode::Char('d'), none);
        assert_eq!(state(&input), "the d|");
        let mut input = Input::prefilled("the lamp");
        input.insert("pasted");
        assert_eq!(state(&input), "pasted|");
        let style = |input: &Input| {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 9, 1));
            input.draw(buffer.area, &mut buffer, &THEME);
            buffer[(0, 0)].style()
        };
        let mut input = Input::prefilled("the lamp");
        let selected = style(&input);
        press(&mut input, KeyCode::Left, none);
        assert_ne!(style(&input), selected, "the author sees what typing will replace");
    }

    #[test]
    fn a_paste_becomes_one_line() {
        let mut input = Input::new("[]");
        press(&mut input, KeyCode::Left, KeyModifiers::NONE);
        input.insert("one\r\ntwo\tthree\x1b[31m\n");
        assert_eq!(state(&input), "[one two three[31m|]");
        assert_eq!(input.take(), "[one two three[31m]");
        assert_eq!(state(&input), "|");
    }

    #[test]
    fn a_masked_text_is_seen_nowhere() {
        let mut input = Input::masked();
        input.insert("sk-secret words");
        let (shown, _) = screen(&input, 30);
        assert_eq!(shown.trim_end(), "•".repeat(15));
        assert!(!format!("{input:?}").contains("secret"));
        press(&mut input, KeyCode::Left, KeyModifiers::CONTROL);
        assert_eq!(input.cursor, 0);
        assert_eq!(input.text(), "sk-secret words");
    }

    #[test]
    fn a_long_text_scrolls_with_the_cursor() {
        let mut input = Input::new("abcdefghij");
        assert_eq!(screen(&input, 5), ("ghij ".into(), Some(Position::new(4, 0))));
        press(&mut input, KeyCode::Home, KeyModifiers::NONE);
        assert_eq!(screen(&input, 5), ("abcde".into(), Some(Position::new(0, 0))));
        let input = Input::new("日本語");
        assert_eq!(screen(&input, 5).1, Some(Position::new(4, 0)));
        let empty = Input::default().with_placeholder("type to filter");
        assert_eq!(screen(&empty, 8), ("type to…".into(), Some(Position::new(0, 0))));
        assert_eq!(screen(&empty, 0).1, None);
    }

    proptest! {
        #[test]
        fn any_keys_leave_the_cursor_between_graphemes(
            keys in prop::collection::vec((0usize..9, any::<bool>(), "[a-z ]|👩|\u{200d}|\u{301}|🇩|\\PC"), 0..40), width in 0u16..9,
        ) {
            let mut input = Input::default();
            for (action, word, text) in keys {
                let modifiers = if word { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
                let code = [KeyCode::Left, KeyCode::Right, KeyCode::Backspace, KeyCode::Delete, KeyCode::Home, KeyCode::End];
                match code.get(action) {
                    Some(code) => { press(&mut input, *code, modifiers); }
                    None => input.insert(&text),
                }
                let starts: Vec<_> = input.text.grapheme_indices(true).map(|(at, _)| at).collect();
                prop_assert!(input.cursor == input.text.len() || starts.contains(&input.cursor));
                let (_, cursor) = screen(&input, width);
                prop_assert!(cursor.is_none_or(|c| c.x < width));
            }
        }
    }
}
