//! A question with a key for every answer. `Esc` always means: do nothing.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::Position;
use ratatui::text::{Line, Span};

use super::{Popup, Reply};
use crate::domain::ids::{BookPath, SessionId};
use crate::tui::msg::{Msg, SessionVerb};
use crate::tui::theme::{Role, Theme};
use crate::tui::when::when;
use crate::tui::widgets::diff::{self, Reading};
use crate::tui::widgets::{popup, text};
use crate::workbench::Recovered;

/// The question.
#[derive(Debug)]
pub(in crate::tui) struct Confirm {
    title: String,
    question: String,
    /// A change that the question is about.
    change: Option<Reading>,
    answers: Vec<(char, &'static str, Option<Msg>)>,
    /// When it opened by itself: keys of the next moment were meant for something else.
    opened: Option<Instant>,
}

/// Keys that decide do nothing this long after it has opened by itself.
const GUARD: Duration = Duration::from_millis(400);

/// Rows of a change that are shown at most.
const CHANGE_ROWS: usize = 16;

/// Asks what to do with unsaved documents, and with edits of proposals that were not kept.
pub(in crate::tui) fn quit(unsaved: &[BookPath], edits: &[String]) -> Popup {
    let edits = edits.iter().map(|entry| format!("your edit of the proposal for {entry}"));
    let names: Vec<String> = unsaved.iter().map(ToString::to_string).chain(edits).collect();
    Popup::Confirm(Confirm {
        title: "Unsaved changes".to_owned(),
        question: format!("Not saved yet: {}.", names.join(", ")),
        change: None,
        answers: vec![
            ('s', "save and quit", Some(Msg::SaveAndQuit)),
            ('d', "quit without saving", Some(Msg::QuitNow)),
        ],
        opened: None,
    })
}

/// Asks whose words to keep.
pub(in crate::tui) fn changed_on_disk(path: &BookPath) -> Popup {
    Popup::Confirm(Confirm {
        title: "Changed on disk".to_owned(),
        question: format!(
            "{path} was changed by another program since you opened it. Nothing was saved. Your text is still here."
        ),
        change: None,
        answers: vec![
            ('m', "keep mine: save over it", Some(Msg::SaveAnyway(path.clone()))),
            ('t', "take theirs: read it again and drop mine", Some(Msg::Reload(path.clone()))),
        ],
        opened: None,
    })
}

/// Offers unsaved text that an earlier run left behind; `present` is what the file holds now.
pub(in crate::tui) fn recovered(recovered: Recovered, present: &str) -> Popup {
    let mut question = format!(
        "{} has text that was not saved when the program last ended. You began to write it {}.",
        recovered.path,
        when(&recovered.at)
    );
    if recovered.disk_changed {
        question.push_str(" The file has changed since; undo brings it back after you restore.");
    }
    if !recovered.complete {
        question.push_str(" Not all of it could be put in its place.");
    }
    let plain = present.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let change = Some(Reading::of(&plain, &recovered.text));
    Popup::Confirm(Confirm {
        title: "Unsaved text".to_owned(),
        question,
        change,
        answers: vec![
            ('r', "restore it into the editor", Some(Msg::Restore(Box::new(recovered.clone())))),
            ('d', "throw it away", Some(Msg::Forget(Box::new(recovered)))),
        ],
        opened: None,
    })
}

/// Asks whether a conversation is to be deleted, and how.
pub(in crate::tui) fn delete_conversation(session: &SessionId, title: &str) -> Popup {
    let answer = |for_ever| Some(Msg::Session(SessionVerb::Delete(session.clone(), for_ever)));
    Popup::Confirm(Confirm {
        title: "Delete a conversation".to_owned(),
        question: format!("\"{title}\""),
        change: None,
        answers: vec![
            ('d', "delete; it can be brought back from the palette", answer(false)),
            ('f', "delete for ever: nothing brings it back", answer(true)),
        ],
        opened: None,
    })
}

impl Confirm {
    /// The change, laid out for a width, as much of it as is shown.
    fn change_lines(&self, width: u16, theme: &Theme) -> Vec<Line<'static>> {
        let Some(change) = &self.change else { return vec![] };
        let mut lines = diff::brief(change, width, CHANGE_ROWS, theme);
        lines.insert(0, Line::default());
        lines
    }

    /// Whether a key is one of the answers.
    pub(super) fn answers(&self, key: &KeyEvent) -> bool {
        matches!(key.code, KeyCode::Char(c) if self.answers.iter().any(|(k, ..)| *k == c.to_ascii_lowercase()))
    }

    /// Whether it is the question before the end of the program.
    pub(super) fn asks_to_quit(&self) -> bool {
        self.answers.iter().any(|(.., msg)| matches!(msg, Some(Msg::QuitNow)))
    }

    /// Says that it opened by itself, and when.
    pub(in crate::tui) fn opened(&mut self, now: Instant) {
        self.opened = Some(now);
    }

    pub(super) fn key(&mut self, key: KeyEvent, now: Instant) -> Reply {
        if self.opened.is_some_and(|at| now.duration_since(at) < GUARD) {
            return Reply::Keep;
        }
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
        let wide = if self.change.is_none() { 64 } else { 96 };
        let width = wide.min(frame.area().width.saturating_sub(8));
        let change = self.change_lines(width, theme);
        let rows = text::wrap(&self.question, usize::from(width));
        let height = rows.len() + change.len() + self.answers.len() + 1;
        let hints = [("Esc".to_owned(), "keeps everything as it is")];
        let popup = popup::Popup { title: &self.title, hints: &hints, width, height: height as u16 };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        let mut lines: Vec<Line<'_>> =
            rows.into_iter().map(|r| Line::styled(r, theme.style(Role::Text))).collect();
        lines.extend(change);
        lines.push(Line::default());
        for (key, words, _) in &self.answers {
            lines.push(Line::from(vec![
                Span::styled(format!(" {key} "), theme.style(Role::Key)),
                Span::styled(format!(" {words}"), theme.style(Role::Text)),
            ]));
        }
        Popup::lines(frame, inner, theme, lines);
        None
    }
}
