//! Keys of the chat pane: the input, walking the conversation, following quotes.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui_textarea::{CursorMove, TextArea};

use crate::domain::conversation::Verdict;

use super::super::app::App;
use super::super::conversation::TurnView;
use super::super::document::Place;
use super::super::effect::Effect;
use super::super::msg::{Msg, Notice};
use super::super::turn_lines::What;
use super::{ask, sessions, update};

/// Runs a command of this pane.
pub(super) fn run(app: &mut App, name: &str) -> Vec<Effect> {
    match name {
        "send" => {
            if walking(app) {
                return open_item(app);
            }
            return ask::send(app);
        }
        "new-line" => app.chat.input.insert_newline(),
        "new-conversation" => {
            if app.chat.is_busy() {
                app.tell(Notice::hint("A turn is running: Esc stops it."));
            } else {
                sessions::leave(app);
            }
        }
        "ask-offline" => return ask::offline(app),
        "retry" => return ask::again(app),
        "edit-last" => ask::edit_last(app),
        "fork-here" => return sessions::fork_here(app),
        "next-row" => app.chat.walk(true),
        "previous-row" => app.chat.walk(false),
        "open-row" => return open_item(app),
        "copy-row" => return copy_item(app),
        "scroll-up" => page(app, -1),
        "scroll-down" => page(app, 1),
        _ => {}
    }
    vec![]
}

fn page(app: &mut App, direction: isize) {
    let rows = app.chat.height.saturating_sub(2).max(1) as isize;
    app.chat.scroll(direction * rows);
}

/// Whether the author walks the conversation: then letters are commands, not text.
pub(super) fn walking(app: &App) -> bool {
    app.chat.at.is_some() && app.chat.input.is_empty()
}

/// A key that no command took.
pub(super) fn on_key(app: &mut App, key: KeyEvent) -> Vec<Effect> {
    if walking(app) && key.modifiers.is_empty() {
        match key.code {
            KeyCode::Up => {
                app.chat.walk(false);
                return vec![];
            }
            KeyCode::Down => {
                app.chat.walk(true);
                return vec![];
            }
            _ => {}
        }
    }
    if app.chat.input.is_empty() && matches!(key.code, KeyCode::Home | KeyCode::End) {
        app.chat.top = (key.code == KeyCode::Home).then_some(0);
        return vec![];
    }
    app.chat.at = None;
    type_key(&mut app.chat.input, key);
    app.typed_at = Some(app.now);
    vec![]
}

/// The keys of the input. The widget's own control keys stay off, since they collide with ours.
fn type_key(input: &mut TextArea<'static>, key: KeyEvent) {
    let word = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    let extend = key.modifiers.contains(KeyModifiers::SHIFT);
    let mut go = |to: CursorMove| {
        if extend && !input.is_selecting() {
            input.start_selection();
        } else if !extend {
            input.cancel_selection();
        }
        input.move_cursor(to);
    };
    match key.code {
        KeyCode::Char(c) if !word => input.insert_char(c),
        KeyCode::Char('f') if key.modifiers.contains(KeyModifiers::ALT) => go(CursorMove::WordForward),
        KeyCode::Char('b') if key.modifiers.contains(KeyModifiers::ALT) => go(CursorMove::WordBack),
        KeyCode::Backspace if word => {
            input.delete_word();
        }
        KeyCode::Backspace => {
            input.delete_char();
        }
        KeyCode::Delete if word => {
            input.delete_next_word();
        }
        KeyCode::Delete => {
            input.delete_next_char();
        }
        KeyCode::Left if word => go(CursorMove::WordBack),
        KeyCode::Right if word => go(CursorMove::WordForward),
        KeyCode::Left => go(CursorMove::Back),
        KeyCode::Right => go(CursorMove::Forward),
        KeyCode::Up => go(CursorMove::Up),
        KeyCode::Down => go(CursorMove::Down),
        KeyCode::Home => go(CursorMove::Head),
        KeyCode::End => go(CursorMove::End),
        _ => {}
    }
}

/// Commands of text that also make sense in the input.
pub(super) fn edit(app: &mut App, name: &str) -> Vec<Effect> {
    let input = &mut app.chat.input;
    match name {
        "undo" => {
            input.undo();
        }
        "redo" => {
            input.redo();
        }
        "select-all" => input.select_all(),
        "copy" => {
            if !input.is_selecting() {
                return copy_item(app);
            }
            input.copy();
            return copied(app);
        }
        "cut" => {
            if !input.is_selecting() {
                return vec![];
            }
            input.cut();
            return copied(app);
        }
        "paste" => return vec![Effect::AskClipboard],
        _ => {}
    }
    vec![]
}

fn copied(app: &mut App) -> Vec<Effect> {
    let text = app.chat.input.yank_text();
    app.clipboard.clone_from(&text);
    vec![Effect::Copy(text)]
}

/// Opens what is walked to: a row's details, a card's popup, a quote's place.
fn open_item(app: &mut App) -> Vec<Effect> {
    match app.chat.walked_to() {
        Some((turn, What::Row(row))) => {
            let view = &mut app.chat.turns[turn];
            if let Some(at) = view.open_rows.iter().position(|r| *r == row) {
                view.open_rows.remove(at);
            } else {
                view.open_rows.push(row);
            }
            view.touch();
            vec![]
        }
        Some((_, What::Card(id))) => super::judge::review(app, &id),
        Some((turn, What::Quote(quote))) => follow(app, turn, quote, 0),
        Some((turn, What::Question)) => {
            let question = app.chat.turns[turn].question.clone();
            app.chat.set_typed(&question);
            app.chat.at = None;
            vec![]
        }
        Some((_, What::Answer)) => copy_item(app),
        None => vec![],
    }
}

/// Copies what is walked to, else the last answer.
fn copy_item(app: &mut App) -> Vec<Effect> {
    let shown =
        |turn: &TurnView| turn.grounded.as_ref().map_or_else(|| turn.raw.clone(), |g| g.shown.clone());
    let text = match app.chat.walked_to() {
        Some((turn, What::Question)) => app.chat.turns[turn].question.clone(),
        Some((turn, What::Quote(quote))) => app.chat.turns[turn]
            .grounded
            .as_ref()
            .and_then(|g| g.quotes.get(quote))
            .map_or_else(String::new, |q| q.quote.text.clone()),
        Some((turn, What::Row(row))) => app.chat.turns[turn].tools.get(row).map_or_else(String::new, |t| {
            let read: Vec<&str> = t.resolved.iter().map(crate::domain::ids::BookPath::as_str).collect();
            format!("{} {}\n{}", t.name, t.arguments, read.join("\n"))
        }),
        Some((turn, _)) => shown(&app.chat.turns[turn]),
        None => app.chat.turns.last().map_or_else(String::new, shown),
    };
    if text.is_empty() {
        return vec![];
    }
    app.clipboard.clone_from(&text);
    vec![Effect::Copy(text)]
}

/// Opens the next located quote of the last answer that has one. A quote that stands in several places is followed to each in turn.
pub(super) fn next_quote(app: &mut App) -> Vec<Effect> {
    let mut all = vec![];
    let last = app.chat.turns.iter().enumerate().rev().find(|(_, t)| {
        t.grounded.as_ref().is_some_and(|g| g.quotes.iter().any(|q| q.quote.verdict != Verdict::Missing))
    });
    if let Some((turn, view)) = last
        && let Some(grounded) = &view.grounded
    {
        for (quote, placed) in grounded.quotes.iter().enumerate() {
            all.extend((0..placed.places.len().min(9)).map(|place| (turn, quote, place)));
        }
    }
    let here = app.chat.quote.and_then(|at| all.iter().position(|x| *x == at));
    let next = here.map_or(0, |i| (i + 1) % all.len().max(1));
    if let Some(at) = all.get(next).copied() {
        app.chat.quote = Some(at);
        let (turn, quote, place) = at;
        let effects = follow(app, turn, quote, place);
        app.tell(Notice::hint(format!("quote {} of {}", next + 1, all.len())));
        effects
    } else {
        app.tell(Notice::hint(if app.chat.is_busy() {
            "Quotes can be followed once the answer is whole and checked."
        } else {
            "The last answer has no quote that stands in the book."
        }));
        vec![]
    }
}

fn follow(app: &mut App, turn: usize, quote: usize, place: usize) -> Vec<Effect> {
    let grounded = app.chat.turns.get(turn).and_then(|t| t.grounded.as_ref());
    let quote = grounded.and_then(|g| g.quotes.get(quote));
    let found = quote.and_then(|q| Some((q.quote.text.clone(), q.places.get(place)?.clone())));
    if let Some((words, (path, start, end))) = found {
        update(app, Msg::Show(path, Some(Place { range: start..end, words })))
    } else {
        app.tell(Notice::problem("These words stand nowhere in the book."));
        vec![]
    }
}
