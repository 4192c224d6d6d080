//! Text to read: the prompt, help, a card.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

use super::Reply;
use crate::command::Context;
use crate::tui::keymap::Keymap;
use crate::tui::msg::Msg;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::{markdown, popup, text};

/// The popup.
#[derive(Debug)]
pub(in crate::tui) struct TextPopup {
    title: String,
    source: Source,
    lines: Vec<Line<'static>>,
    /// Where the second column of indented lines begins.
    second: Option<u16>,
    /// Width and theme that `lines` were made for.
    made_for: (u16, String),
    size: (u16, u16),
    top: usize,
    /// What Enter does, with words for the hint.
    enter: Option<(&'static str, Msg)>,
    /// What one more key does, with words for the hint.
    also: Option<(char, &'static str, Msg)>,
    /// Text that `y` copies.
    copy: Option<String>,
}

#[derive(Debug)]
enum Source {
    Plain(String),
    Markdown(String),
}

impl TextPopup {
    /// Text as it is.
    pub(in crate::tui) fn plain(title: &str, words: &str) -> Self {
        Self::of(title, Source::Plain(words.to_owned()))
    }

    /// Rendered Markdown.
    pub(in crate::tui) fn markdown(title: &str, words: &str) -> Self {
        Self::of(title, Source::Markdown(words.to_owned()))
    }

    fn of(title: &str, source: Source) -> Self {
        Self {
            title: title.to_owned(),
            source,
            lines: vec![],
            second: None,
            made_for: (0, String::new()),
            size: (0, 0),
            top: 0,
            enter: None,
            also: None,
            copy: None,
        }
    }

    /// Lets what stands in the second column of an indented line stay in it.
    pub(in crate::tui) fn columns(mut self, second: usize) -> Self {
        self.second = u16::try_from(second).ok();
        self
    }

    /// The rows of plain text.
    fn wrapped(&self, words: &str, width: usize) -> Vec<String> {
        let Some(second) = self.second.map(usize::from).filter(|second| *second < width) else {
            return text::wrap(words, width);
        };
        let rows = words.lines().flat_map(|line| {
            let split = line.char_indices().nth(second).filter(|_| line.starts_with("  "));
            let Some((first, rest)) = split.map(|(at, _)| line.split_at(at)) else {
                return if line.is_empty() { vec![String::new()] } else { text::wrap(line, width) };
            };
            let mut rows = text::wrap(rest, width - second);
            for (at, row) in rows.iter_mut().enumerate() {
                *row = if at == 0 { format!("{first}{row}") } else { " ".repeat(second) + row };
            }
            rows
        });
        rows.collect()
    }

    /// Lets Enter do something.
    pub(in crate::tui) fn on_enter(mut self, words: &'static str, msg: Msg) -> Self {
        self.enter = Some((words, msg));
        self
    }

    /// Lets one more key do something.
    pub(in crate::tui) fn on_key(mut self, key: char, words: &'static str, msg: Msg) -> Self {
        self.also = Some((key, words, msg));
        self
    }

    /// Lets `y` copy this instead of what is shown.
    pub(in crate::tui) fn copies(mut self, text: String) -> Self {
        self.copy = Some(text);
        self
    }

    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> Reply {
        if let Some(command) = keymap.lookup(Context::List, &key) {
            match command.name {
                "list-up" => self.scroll(-1),
                "list-down" => self.scroll(1),
                "list-page-up" => self.page(-1),
                "list-page-down" => self.page(1),
                "list-first" => self.top = 0,
                "list-last" => self.scroll(isize::MAX),
                "list-choose" => {
                    return Reply::Close(self.enter.take().map(|(_, msg)| msg).into_iter().collect());
                }
                "cancel" => return Reply::Close(vec![]),
                _ => {}
            }
            return Reply::Keep;
        }
        if let Some((_, _, msg)) = self.also.take_if(|(own, ..)| key.code == KeyCode::Char(*own)) {
            return Reply::Close(vec![msg]);
        }
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') => Reply::Close(vec![]),
            KeyCode::Char(' ') => {
                self.page(1);
                Reply::Keep
            }
            KeyCode::Char('y') => {
                let all = match &self.source {
                    Source::Plain(words) | Source::Markdown(words) => words.clone(),
                };
                Reply::Do(vec![Msg::CopyText(self.copy.clone().unwrap_or(all))])
            }
            KeyCode::Home => {
                self.top = 0;
                Reply::Keep
            }
            KeyCode::End => {
                self.scroll(isize::MAX);
                Reply::Keep
            }
            _ => Reply::Keep,
        }
    }

    fn page(&mut self, direction: isize) {
        self.scroll(direction * (isize::try_from(self.size.1).unwrap_or(10) - 2).max(1));
    }

    pub(super) fn scroll(&mut self, rows: isize) {
        let last = self.lines.len().saturating_sub(usize::from(self.size.1));
        self.top = self.top.saturating_add_signed(rows).min(last);
    }

    pub(super) fn lay_out(&mut self, screen: Rect, theme: &Theme) {
        let width = screen.width.saturating_sub(8).min(96);
        if self.made_for != (width, theme.name().to_owned()) {
            let inner = width;
            self.lines = match &self.source {
                Source::Plain(words) => self
                    .wrapped(words, usize::from(inner))
                    .into_iter()
                    .map(|row| Line::styled(row, theme.style(Role::Popup)))
                    .collect(),
                Source::Markdown(words) => markdown::render(words, inner, theme, &[]).lines,
            };
            self.made_for = (width, theme.name().to_owned());
        }
        let room = screen.height.saturating_sub(6);
        self.size = (width, room.min(self.lines.len() as u16).max(1));
        self.scroll(0);
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme) -> Option<Position> {
        let (width, height) = self.size;
        let more = self.lines.len() > usize::from(height);
        let mut hints = vec![("Esc".to_owned(), "close"), ("y".to_owned(), "copy")];
        if let Some((key, words, _)) = &self.also {
            hints.insert(0, (key.to_string(), *words));
        }
        if let Some((words, _)) = &self.enter {
            hints.insert(0, ("Enter".to_owned(), *words));
        }
        if more {
            let last = self.top + usize::from(height);
            hints.push((format!("{}-{last} of {}", self.top + 1, self.lines.len()), ""));
        }
        let popup = popup::Popup { title: &self.title, hints: &hints, width, height };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        let shown: Vec<Line<'_>> =
            self.lines.iter().skip(self.top).take(usize::from(inner.height)).cloned().collect();
        super::Popup::lines(frame, inner, theme, shown);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_stays_in_its_column() {
        let words = "KEYS\n\n  Ctrl-A   takes all that there is\n  Ctrl-B   one\n  Ctrl-Shift-C\n           two\nNo column in this line.";
        let popup = TextPopup::plain("", words).columns(11);
        let expected = [
            "KEYS",
            "",
            "  Ctrl-A   takes all",
            "           that there",
            "           is",
            "  Ctrl-B   one",
            "  Ctrl-Shift-C",
            "           two",
            "No column in this",
            "line.",
        ];
        assert_eq!(popup.wrapped(words, 22), expected);
        assert_eq!(TextPopup::plain("", words).columns(40).wrapped(words, 22), text::wrap(words, 22));
    }
}
