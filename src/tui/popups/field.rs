//! One line to type, with words that say what it is for.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::Reply;
use crate::tui::msg::Msg;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::input::Input;
use crate::tui::widgets::{popup, text};

type Submit = Box<dyn FnOnce(&str) -> Vec<Msg> + Send>;

/// The field.
pub(in crate::tui) struct Field {
    title: String,
    words: String,
    input: Input,
    verb: &'static str,
    submit: Option<Submit>,
}

impl std::fmt::Debug for Field {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What is typed may be a secret.
        f.debug_struct("Field").field("title", &self.title).finish_non_exhaustive()
    }
}

impl Field {
    /// A field that shows what is typed.
    pub(in crate::tui) fn plain(
        title: &str,
        words: &str,
        submit: impl FnOnce(&str) -> Vec<Msg> + Send + 'static,
    ) -> Self {
        Self {
            title: title.to_owned(),
            words: words.to_owned(),
            input: Input::default(),
            verb: "confirm",
            submit: Some(Box::new(submit)),
        }
    }

    /// A field that shows what is typed, with text in it to begin with.
    pub(in crate::tui) fn filled(
        title: &str,
        words: &str,
        text: &str,
        submit: impl FnOnce(&str) -> Vec<Msg> + Send + 'static,
    ) -> Self {
        Self { input: Input::new(text), ..Self::plain(title, words, submit) }
    }

    /// Says what `Enter` does.
    pub(in crate::tui) fn verb(self, verb: &'static str) -> Self {
        Self { verb, ..self }
    }

    /// A field that shows a dot for every character.
    pub(in crate::tui) fn masked(
        title: &str,
        words: &str,
        submit: impl FnOnce(&str) -> Vec<Msg> + Send + 'static,
    ) -> Self {
        Self { input: Input::masked(), ..Self::plain(title, words, submit) }
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Reply {
        match key.code {
            KeyCode::Esc => Reply::Close(vec![]),
            KeyCode::Enter => {
                let submit = self.submit.take();
                Reply::Close(submit.map_or_else(Vec::new, |f| f(self.input.text())))
            }
            _ => {
                self.input.key(&key);
                Reply::Keep
            }
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.input.insert(text.trim_end_matches(['\r', '\n']));
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme) -> Option<Position> {
        let width = 64.min(frame.area().width.saturating_sub(4));
        let rows = text::wrap(&self.words, usize::from(width));
        let hints = [("Enter".to_owned(), self.verb), ("Esc".to_owned(), "leave")];
        let height = rows.len() as u16 + 2;
        let popup = popup::Popup { title: &self.title, hints: &hints, width, height };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        let lines: Vec<Line<'_>> =
            rows.iter().map(|r| Line::styled(r.as_str(), theme.style(Role::Dim))).collect();
        let below = inner.y + lines.len() as u16 + 1;
        frame.render_widget(Paragraph::new(lines), inner);
        let row = Rect { y: below.min(inner.bottom().saturating_sub(1)), height: 1, ..inner };
        self.input.draw(row, frame.buffer_mut(), theme)
    }
}
