//! A question with a key for every answer. `Esc` always means: do nothing.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::Position;
use ratatui::text::{Line, Span};

use super::{Popup, Reply};
use crate::domain::ids::BookPath;
use crate::tui::msg::Msg;
use crate::tui::theme::{Role, Theme};
use crate::tui::widgets::{popup, text};

/// The question.
#[derive(Debug)]
pub(in crate::tui) struct Confirm {
    title: String,
    question: String,
    answers: Vec<(char, &'static str, Option<Msg>)>,
}

/// Asks what to do with unsaved documents.
pub(in crate::tui) fn quit(unsaved: &[BookPath]) -> Popup {
    let names: Vec<&str> = unsaved.iter().map(BookPath::as_str).collect();
    Popup::Confirm(Confirm {
        title: "Unsaved changes".to_owned(),
        question: format!("Not saved yet: {}.", names.join(", ")),
        answers: vec![
            ('s', "save and quit", Some(Msg::SaveAndQuit)),
            ('d', "quit without saving", Some(Msg::QuitNow)),
        ],
    })
}

/// Asks whose words to keep.
pub(in crate::tui) fn changed_on_disk(path: &BookPath) -> Popup {
    Popup::Confirm(Confirm {
        title: "Changed on disk".to_owned(),
        question: format!(
            "{path} was changed by another program since you opened it. Nothing was saved. Your text is still here."
        ),
        answers: vec![
            ('m', "keep mine: save over it", Some(Msg::SaveAnyway(path.clone()))),
            ('t', "take theirs: read it again and drop mine", Some(Msg::Reload(path.clone()))),
        ],
    })
}

impl Confirm {
    pub(super) fn key(&mut self, key: KeyEvent) -> Reply {
        match key.code {
            KeyCode::Esc => Reply::Close(vec![]),
            KeyCode::Char(c) => match self.answers.iter_mut().find(|(k, ..)| *k == c.to_ascii_lowercase()) {
                Some((_, _, msg)) => Reply::Close(msg.take().into_iter().collect()),
                None => Reply::Keep,
            },
            _ => Reply::Keep,
        }
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme) -> Option<Position> {
        let width = 64.min(frame.area().width.saturating_sub(4));
        let rows = text::wrap(&self.question, usize::from(width));
        let height = rows.len() + self.answers.len() + 1;
        let hints = [("Esc".to_owned(), "keeps everything as it is")];
        let popup = popup::Popup { title: &self.title, hints: &hints, width, height: height as u16 };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        let mut lines: Vec<Line<'_>> =
            rows.into_iter().map(|r| Line::styled(r, theme.style(Role::Text))).collect();
        lines.push(Line::default());
        for (key, words, _) in &self.answers {
            lines.push(Line::from(vec![
                Span::styled(format!(" {key} "), theme.style(Role::Badge)),
                Span::styled(format!(" {words}"), theme.style(Role::Text)),
            ]));
        }
        frame.render_widget(ratatui::widgets::Paragraph::new(lines), inner);
        None
    }
}
