//! All conversations: going on with one, naming, forking, exporting, deleting; and searching what was said in them.
//!
//! What is typed narrows the names, or is looked for in the background. Nothing is done with a conversation here: every key asks for it
//! with a message, and deleting asks again.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};

use super::field::Field;
use super::{Popup, Reply, confirm};
use crate::command::Context;
use crate::domain::ids::SessionId;
use crate::domain::price::cost_in_words;
use crate::domain::safe_text;
use crate::tui::keymap::Keymap;
use crate::tui::msg::{Msg, SessionVerb};
use crate::tui::theme::{Role, Theme};
use crate::tui::turn_lines::{count, thousands};
use crate::tui::when::{day, when};
use crate::tui::widgets::input::{Edit, Input};
use crate::tui::widgets::list::{List, Row};
use crate::tui::widgets::{popup, text};
use crate::workbench::sessions::Part;
use crate::workbench::{Passage, Summary, member};

/// Rows below the list that say more of what is selected.
const DETAILS: u16 = 3;

/// Passages that a search shows.
pub(in crate::tui) const PASSAGES: usize = 200;

/// The list, and what is typed.
pub(in crate::tui) struct ConversationsPopup {
    typed: Input,
    all: Vec<Summary>,
    /// Rows stand for places in `all`, or in what was found.
    list: List<usize>,
    /// What was said is searched, instead of the names.
    search: Option<Found>,
    /// The conversation in the chat pane.
    here: Option<SessionId>,
    size: (u16, u16),
}

/// The passages that were found last.
#[derive(Default)]
struct Found {
    /// For these words.
    answered: String,
    passages: Vec<Passage>,
    /// Whether there are more than are shown.
    has_more: bool,
}

impl std::fmt::Debug for ConversationsPopup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConversationsPopup").field("typed", &self.typed.text()).finish_non_exhaustive()
    }
}

impl ConversationsPopup {
    /// The list of `all`; `here` is the one in the chat pane.
    pub(in crate::tui) fn new(all: Vec<Summary>, here: Option<SessionId>) -> Self {
        let (typed, list) = (Input::default(), List::new(vec![]));
        let mut popup = Self { typed, all, list, search: None, here, size: (0, 0) };
        popup.show_names();
        popup
    }

    /// The same, ready to search what was said.
    pub(in crate::tui) fn searching(all: Vec<Summary>, here: Option<SessionId>) -> Self {
        let mut popup = Self::new(all, here);
        popup.turn_over();
        popup
    }

    /// Takes the conversations as they are now. The selection stays on its conversation as far as it is still there.
    pub(in crate::tui) fn set(&mut self, all: Vec<Summary>) {
        let selected = self.selected().map(|summary| summary.session.clone());
        let position = self.list.position();
        self.all = all;
        if self.search.is_none() {
            self.show_names();
            let rows = 0..self.list.len();
            self.list.select(position);
            for place in rows {
                self.list.select(place);
                if self.selected().map(|summary| &summary.session) == selected.as_ref() {
                    return;
                }
            }
            self.list.select(position);
        }
    }

    /// Takes what was found, unless something else has been typed since. One more than [`PASSAGES`] tells that there are more.
    pub(in crate::tui) fn found(&mut self, query: &str, mut passages: Vec<Passage>) {
        let Some(found) = self.search.as_mut().filter(|_| query == self.typed.text()) else { return };
        let has_more = passages.len() > PASSAGES;
        passages.truncate(PASSAGES);
        let row = |(value, passage): (usize, &Passage)| {
            let said = match passage.from {
                Part::Question => "asked",
                Part::Answer => "answered",
            };
            let detail = format!("{said} · {}", day(&passage.asked_at));
            Row { value, label: passage.title.clone(), detail }
        };
        self.list = List::new(passages.iter().enumerate().map(row).collect());
        *found = Found { answered: query.to_owned(), passages, has_more };
    }

    fn show_names(&mut self) {
        let row = |(value, summary): (usize, &Summary)| {
            let here = if self.here.as_ref() == Some(&summary.session) { "open · " } else { "" };
            let about = count(summary.questions, "question");
            let detail = format!("{here}{about} · {}", day(&summary.last_at));
            Row { value, label: summary.title.clone(), detail }
        };
        self.list = List::new(self.all.iter().enumerate().map(row).collect());
        self.list.set_query(self.typed.text());
    }

    /// From the names to what was said, or back.
    fn turn_over(&mut self) {
        if self.search.take().is_none() {
            self.search = Some(Found::default());
            self.list = List::new(vec![]);
        } else {
            self.show_names();
        }
    }

    fn selected(&self) -> Option<&Summary> {
        let value = self.list.selected()?.value;
        match &self.search {
            None => self.all.get(value),
            Some(found) => {
                let session = &found.passages.get(value)?.session;
                self.all.iter().find(|summary| summary.session == *session)
            }
        }
    }

    fn passage(&self) -> Option<&Passage> {
        self.search.as_ref()?.passages.get(self.list.selected()?.value)
    }

    pub(super) fn key(&mut self, key: KeyEvent, keymap: &Keymap) -> Reply {
        match keymap.lookup(Context::Sessions, &key).map(|c| c.name) {
            Some("cancel") => return Reply::Close(vec![]),
            Some("list-choose") => return self.go_on(),
            Some("search-instead") => {
                self.turn_over();
                return self.ask();
            }
            Some("rename-conversation") => {
                return self.with(|summary| Msg::Popup(Box::new(ask_name(summary))));
            }
            Some("export-conversation") => {
                return self.with(|summary| Msg::Popup(Box::new(ask_file(summary))));
            }
            Some("delete-conversation") => {
                return self.with(|summary| {
                    Msg::Popup(Box::new(confirm::delete_conversation(&summary.session, &summary.title)))
                });
            }
            Some("fork-conversation") => {
                let after = self.passage().map(|passage| passage.turn.clone());
                return self.with(|summary| Msg::Session(SessionVerb::Fork(summary.session.clone(), after)));
            }
            Some(command) if self.list.walks(command, self.size.1) => {}
            _ => {
                if self.typed.key(&key) == Edit::Changed {
                    return self.ask();
                }
            }
        }
        Reply::Keep
    }

    fn with(&self, msg: impl FnOnce(&Summary) -> Msg) -> Reply {
        self.selected().map_or(Reply::Keep, |summary| Reply::Do(vec![msg(summary)]))
    }

    fn go_on(&self) -> Reply {
        let turn = self.passage().map(|passage| passage.turn.clone());
        let msg = |summary: &Summary| Msg::GoOnWith(summary.session.clone(), turn);
        self.selected().map(msg).map_or(Reply::Keep, |msg| Reply::Close(vec![msg]))
    }

    /// Narrows the names by what is typed now, or looks for it.
    fn ask(&mut self) -> Reply {
        if self.search.is_some() {
            return Reply::Do(vec![Msg::SearchConversations(self.typed.text().to_owned())]);
        }
        self.list.set_query(self.typed.text());
        Reply::Keep
    }

    pub(super) fn paste(&mut self, words: &str) -> Option<Msg> {
        self.typed.insert(words);
        match self.ask() {
            Reply::Do(mut messages) => messages.pop(),
            _ => None,
        }
    }

    pub(super) fn step(&mut self, rows: isize) {
        self.list.move_by(rows);
    }

    pub(super) fn lay_out(&mut self, screen: Rect) {
        let rows = screen.height.saturating_sub(8 + DETAILS).clamp(1, 20);
        self.size = (screen.width.saturating_sub(8).min(100), rows);
    }

    /// How the list stands, in words.
    fn state(&self) -> String {
        let place = |n: usize| format!("{} of {}", self.list.position() + 1, thousands(n));
        match &self.search {
            Some(_) if self.typed.text().trim().is_empty() => String::new(),
            Some(found) if found.answered != self.typed.text() => "looking…".to_owned(),
            Some(_) if self.list.is_empty() => "nothing found".to_owned(),
            None if self.list.is_empty() => String::new(),
            Some(found) if found.has_more => {
                format!("{} of the first {}", self.list.position() + 1, thousands(self.list.len()))
            }
            _ => place(self.list.len()),
        }
    }

    pub(super) fn draw(&self, frame: &mut Frame<'_>, theme: &Theme, keymap: &Keymap) -> Option<Position> {
        let (width, rows) = self.size;
        let key = |name: &str, words: &'static str| (keymap.key_of(name).unwrap_or_default(), words);
        let (title, other, placeholder) = match self.search {
            None => ("Conversations", "search", "type to narrow"),
            Some(_) => ("Search all conversations", "names", "words that were said, or a \"phrase\""),
        };
        let hints = [
            key("list-choose", "go on"),
            key("search-instead", other),
            key("rename-conversation", "name"),
            key("fork-conversation", "fork"),
            key("delete-conversation", "delete"),
            key("export-conversation", "export"),
            ("Esc".to_owned(), "close"),
        ];
        let popup = popup::Popup { title, hints: &hints, width, height: rows + DETAILS + 2 };
        let inner = popup.draw(frame.area(), frame.buffer_mut(), theme);
        let part = |y: u16, height: u16| Rect { y: inner.y + y, height, ..inner }.intersection(inner);
        let field = part(0, 1);
        frame.render_widget(Span::styled("› ", theme.style(Role::Accent)), field);
        let state = self.state();
        let beside = (text::width(&state) as u16 + 1).min(field.width / 2);
        let right = Rect { x: field.right() - beside, width: beside, ..field };
        frame.render_widget(Span::styled(format!(" {state}"), theme.style(Role::Dim)), right);
        let typed = Rect { x: field.x + 2, width: field.width.saturating_sub(2 + beside), ..field };
        let at = if self.typed.is_empty() {
            Input::default().with_placeholder(placeholder).draw(typed, frame.buffer_mut(), theme)
        } else {
            self.typed.draw(typed, frame.buffer_mut(), theme)
        };
        if self.search.is_none() || !self.list.is_empty() {
            self.list.draw(part(1, rows), frame.buffer_mut(), theme);
        }
        let lines = text::wrap(&self.details(), usize::from(inner.width))
            .into_iter()
            .take(usize::from(DETAILS))
            .map(|row| Line::styled(row, theme.style(Role::Dim)));
        Popup::lines(frame, part(rows + 2, DETAILS), theme, lines.collect());
        at
    }

    /// What is known of the selected row beyond its name.
    fn details(&self) -> String {
        if let Some(passage) = self.passage() {
            let who = match passage.from {
                Part::Question => "You",
                Part::Answer => member(Some(&passage.persona)).name,
            };
            return safe_text::line(&format!("{who}: {}", passage.excerpt)).into_owned();
        }
        let Some(summary) = self.selected() else { return String::new() };
        let names = summary.personas.iter().map(|id| member(Some(id)).name).collect::<Vec<_>>().join(", ");
        let tokens = summary.usage.input_tokens.unwrap_or(0) + summary.usage.output_tokens.unwrap_or(0);
        let tokens = (tokens > 0).then(|| format!("{} tokens", thousands(tokens as usize)));
        let cost = cost_in_words(&summary.usage);
        let origin = summary.forked_from.as_ref().map(|origin| {
            let from = self.all.iter().find(|other| other.session == origin.session);
            from.map_or_else(|| "forked".to_owned(), |from| format!("forked from \"{}\"", from.title))
        });
        let unread = (summary.later > 0)
            .then(|| format!("⚠ {} of a later version, kept and not shown", count(summary.later, "line")));
        let parts = [
            Some(names).filter(|names| !names.is_empty()),
            Some(summary.providers.join(", ")).filter(|names| !names.is_empty()),
            tokens,
            cost,
            Some(format!("begun {}", when(&summary.started_at))),
            origin,
            unread,
        ];
        safe_text::line(&parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")).into_owned()
    }
}

fn ask_name(summary: &Summary) -> Popup {
    let session = summary.session.clone();
    let submit = move |name: &str| {
        let name = name.trim();
        if name.is_empty() {
            vec![]
        } else {
            vec![Msg::Session(SessionVerb::Rename(session, name.to_owned()))]
        }
    };
    Popup::Field(
        Field::filled("Name of the conversation", "It is what lists show.", &summary.title, submit)
            .verb("name it"),
    )
}

fn ask_file(summary: &Summary) -> Popup {
    let session = summary.session.clone();
    let words =
        "Markdown, or JSON with the ending .json. A name without a folder goes beside the book's folder.";
    let submit = move |file: &str| {
        let file = file.trim();
        if file.is_empty() {
            vec![]
        } else {
            vec![Msg::Session(SessionVerb::Export(session, file.to_owned()))]
        }
    };
    Popup::Field(
        Field::filled("Write the conversation to", words, &file_name(&summary.title), submit).verb("write"),
    )
}

/// A file's name made of a title: `who-is-mira.md`.
fn file_name(title: &str) -> String {
    let mut name = String::new();
    for c in title.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let name: String = name.chars().take(60).collect();
    let name = name.trim_end_matches('-');
    if name.is_empty() { "conversation.md".to_owned() } else { format!("{name}.md") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::TurnId;

    fn passages(number: usize) -> Vec<Passage> {
        let one = Passage {
            session: SessionId::new("s-1"),
            title: "The relay".to_owned(),
            turn: TurnId::new("t-1"),
            number: 1,
            from: Part::Question,
            persona: "continuity-editor".to_owned(),
            asked_at: "2026-01-01T00:00:00Z".to_owned(),
            excerpt: "Where is Mira?".to_owned(),
        };
        vec![one; number]
    }

    #[test]
    fn a_search_says_whether_more_was_found_than_it_shows() {
        let mut popup = ConversationsPopup::searching(vec![], None);
        popup.paste("mira");
        popup.found("mira", passages(PASSAGES));
        assert_eq!(popup.state(), "1 of 200");
        popup.found("mira", passages(PASSAGES + 1));
        assert_eq!(popup.state(), "1 of the first 200");
    }

    #[test]
    fn a_files_name_is_made_of_letters_and_digits() {
        assert_eq!(file_name("Who is Søren? (fork 2)"), "who-is-søren-fork-2.md");
        assert_eq!(file_name("../../etc: \"x\""), "etc-x.md");
        assert_eq!(file_name(" ? "), "conversation.md");
        assert!(file_name(&"a ".repeat(200)).len() < 70);
    }
}
