//! What changes when something happens. Nothing here waits, reads a file or draws.

pub(super) use commands::theme_names;
pub(super) use documents::held_in_words;

mod ask;
mod chat;
mod codex;
mod commands;
mod documents;
mod find;
mod judge;
mod manuscript;
mod mouse;
pub(super) mod private;
mod provider;
mod relate;
mod sessions;
mod turn;

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::app::App;
use super::clipboard::Copied;
use super::effect::Effect;
use super::layout::Pane;
use super::msg::{Msg, Notice, Tone};
use super::popups::{self, Popup, Reply};
use crate::command::Context;

/// How long a notice stays.
const NOTICE: Duration = Duration::from_secs(5);
/// How long a notice stays when keys are pressed.
const READ: Duration = Duration::from_secs(1);
/// Two `Esc` within this time cancel the running turn from anywhere.
const TWICE: Duration = Duration::from_millis(500);

/// A character that comes within this time of another was pasted or composed, not pressed.
pub(super) const ALONE: Duration = Duration::from_millis(40);

/// Commands that work while a popup is open.
const OVER_POPUPS: [&str; 5] = ["quit", "save", "help", "suspend", "toggle-mouse"];

/// The only place where [`App`] changes.
pub(super) fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    let mut effects = change(app, msg);
    effects.extend(find::count(app));
    effects
}

fn change(app: &mut App, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Key(key) => on_key(app, key),
        Msg::Paste(text) => on_paste(app, &text),
        Msg::Mouse(event) => mouse::on_mouse(app, event),
        Msg::Resize(width, height) => {
            app.screen = ratatui::layout::Rect::new(0, 0, width, height);
            vec![]
        }
        Msg::FocusGained => vec![Effect::Refresh, Effect::ReadProposals, Effect::ListConversations],
        Msg::Tick(now) => {
            app.now = now;
            app.spin = app.spin.wrapping_add(1);
            let effects = settle_key(app);
            judge::open_waiting(app);
            if app.notice.as_ref().is_some_and(|(_, since)| now.duration_since(*since) > NOTICE) {
                app.notice = None;
            }
            effects
        }
        Msg::Run(name) => commands::run(app, name),
        Msg::Show(..)
        | Msg::Opened(..)
        | Msg::Saved(..)
        | Msg::Reread(..)
        | Msg::NotLogged(..)
        | Msg::HeldBy(_)
        | Msg::SaveAnyway(_)
        | Msg::Reload(_)
        | Msg::Recovered(_)
        | Msg::Restore(_)
        | Msg::Forget(_) => documents::update(app, msg),
        Msg::BookRead(book, names) => {
            app.book = book;
            app.is_reading = false;
            app.names = names;
            app.codex.rebuild(&app.book);
            let mut effects = documents::book_was_read(app);
            effects.extend([Effect::ReadRelationships, Effect::ReadModels]);
            effects
        }
        Msg::Began(..) | Msg::Refused(_) | Msg::CancelledEarly | Msg::Turn(_) | Msg::Finished(_) => {
            turn::update(app, msg)
        }
        Msg::Past(_)
        | Msg::Conversation(_)
        | Msg::CaughtUp(..)
        | Msg::CantGoOn(..)
        | Msg::QuotesChecked(..)
        | Msg::GoOnWith(..)
        | Msg::Session(_)
        | Msg::SessionDone(..)
        | Msg::SearchConversations(_)
        | Msg::Passages(..) => sessions::update(app, msg),
        Msg::Judge(_)
        | Msg::Review(_)
        | Msg::ReviewBeside(..)
        | Msg::Compared(..)
        | Msg::Evidence(_)
        | Msg::CloseProposal
        | Msg::Proposals(_)
        | Msg::AcceptedAll(..)
        | Msg::Judged(..) => judge::update(app, msg),
        Msg::KeySettled => settle_key(app),
        Msg::Relationships(_)
        | Msg::Rename(..)
        | Msg::RenameFound(_)
        | Msg::AskNewName(_)
        | Msg::ShowRename(..)
        | Msg::Exempt(..)
        | Msg::ApplyRename(..)
        | Msg::Renamed(_) => relate::update(app, msg),
        Msg::Connected(..)
        | Msg::Providers(..)
        | Msg::ProviderChosen(..)
        | Msg::ChooseProvider(_)
        | Msg::KeyTyped(..)
        | Msg::Models(_)
        | Msg::OwnModels(_)
        | Msg::ChooseModel(..)
        | Msg::Standing(_) => provider::update(app, msg),
        other => settle(app, other),
    }
}

/// What concerns one part of the interface only.
fn settle(app: &mut App, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Peeked(Ok(peek)) => {
            app.popups.push(popups::peek::open(&peek));
            vec![]
        }
        Msg::Peeked(Err(failure)) => {
            app.tell(Notice::problem(format!("{} {}", failure.message, failure.hint)));
            vec![]
        }
        Msg::ChoosePersona(id) => {
            id.clone_into(&mut app.chat.persona);
            app.focus = Pane::Chat;
            app.side = Pane::Chat;
            vec![]
        }
        Msg::ChooseTheme(name) => commands::choose_theme(app, &name),
        Msg::Popup(popup) => {
            app.popups.push(*popup);
            vec![]
        }
        Msg::Search(query) => vec![Effect::Search(query)],
        Msg::Hits(query, hits) => {
            if let Some(Popup::Search(popup)) = app.popups.last_mut() {
                popup.found(&query, hits);
            }
            vec![]
        }
        Msg::Counted(searched, counted) => {
            find::counted(app, &searched, counted);
            vec![]
        }
        Msg::CopyText(text) => {
            app.clipboard.clone_from(&text);
            vec![Effect::Copy(text)]
        }
        Msg::GoToLine(line) => {
            if let Some(document) = app.document_mut() {
                let line = line.clamp(1, document.buffer.lines()) - 1;
                let at = document.buffer.line_start(line);
                document.buffer.set_cursor(at, false);
                document.view.center(&document.buffer, at);
            }
            app.focus = Pane::Manuscript;
            vec![]
        }
        Msg::NewEntry(entry_type, name) => unless_read_only(app, Effect::NewEntry(entry_type, name)),
        Msg::NewChapter(title) => unless_read_only(app, Effect::NewChapter(title)),
        Msg::Copied(copied) => {
            app.tell(Notice::hint(copied.message()));
            match copied {
                Copied::Terminal(bytes) => vec![Effect::SendToTerminal(bytes)],
                Copied::System | Copied::TooLong => vec![],
            }
        }
        Msg::Clipboard(text) => {
            let text = text.unwrap_or_else(|| app.clipboard.clone());
            on_paste(app, &text)
        }
        Msg::QuitNow => {
            app.documents.iter_mut().for_each(|d| d.thrown_away = true);
            vec![Effect::Quit]
        }
        Msg::SaveAndQuit => {
            app.quitting = true;
            documents::save_all(app)
        }
        Msg::Notice(notice) => {
            app.tell(notice);
            vec![]
        }
        // `update` has dealt with all others.
        _ => vec![],
    }
}

/// A key that decides something in a popup counts when no other character comes with it: then it is no paste and no input method.
fn on_key(app: &mut App, key: KeyEvent) -> Vec<Effect> {
    if key.kind == KeyEventKind::Release {
        return vec![];
    }
    // What was done a while ago is no news to an author who goes on.
    let is_old = |(notice, since): &mut (Notice, std::time::Instant)| {
        notice.tone != Tone::Problem && app.now.duration_since(*since) > READ
    };
    app.notice.take_if(is_old);
    let decides = app.popups.last().is_some_and(|popup| popup.decides(&key, &app.keymap));
    let plain = is_text(&key) || key.code == KeyCode::Enter;
    let before = if plain { app.plain_at.replace(app.now) } else { app.plain_at };
    let crowded = before.is_some_and(|at| app.now.duration_since(at) < ALONE);
    let mut effects = match app.held.take() {
        Some(_) if plain && crowded => vec![],
        Some((held, _)) => dispatch(app, held),
        None => vec![],
    };
    if !decides {
        effects.extend(dispatch(app, key));
    } else if !(plain && crowded) {
        app.held = Some((key, app.now));
    }
    effects
}

/// Lets a key that was held back count once it is certain that it came alone.
fn settle_key(app: &mut App) -> Vec<Effect> {
    let alone = app.held.take_if(|(_, at)| app.now.duration_since(*at) >= ALONE);
    alone.map_or_else(Vec::new, |(key, _)| dispatch(app, key))
}

/// Does something that writes, where this window may.
fn unless_read_only(app: &mut App, effect: Effect) -> Vec<Effect> {
    match app.read_only.clone() {
        Some(why) => {
            app.tell(Notice::problem(why));
            vec![]
        }
        None => vec![effect],
    }
}

/// Where a key goes: a popup, a command of the pane, a command of the program, the text.
fn dispatch(app: &mut App, key: KeyEvent) -> Vec<Effect> {
    // Whatever has the focus, the system clipboard can be pasted into it.
    if app.keymap.lookup(Context::Global, &key).is_some_and(|c| c.name == "paste") {
        return vec![Effect::AskClipboard];
    }
    if key.code == KeyCode::Esc && cancels_from_anywhere(app) {
        return vec![Effect::Cancel];
    }
    if let Some(effects) = over_popup(app, key) {
        return effects;
    }
    if let Some(popup) = app.popups.last_mut() {
        let reply = popup.key(key, &app.keymap, app.now);
        return on_reply(app, reply);
    }
    if key.code == KeyCode::Esc {
        return on_escape(app);
    }
    if app.find.is_some() && app.focus == Pane::Manuscript && find::on_key(app, key) {
        return vec![];
    }
    if app.focus == Pane::Codex && app.codex.filtering && codex::on_filter_key(app, key) {
        return vec![];
    }
    let context = match app.focus {
        Pane::Manuscript => Context::Manuscript,
        Pane::Chat if chat::walking(app) => Context::Conversation,
        Pane::Chat => Context::Chat,
        Pane::Codex => Context::Codex,
    };
    if let Some(command) = app.keymap.lookup(context, &key) {
        if command.moves() {
            let extend = key.modifiers.contains(KeyModifiers::SHIFT);
            manuscript::move_by(app, command.name, extend);
            return vec![];
        }
        return commands::run(app, command.name);
    }
    match app.focus {
        Pane::Manuscript => manuscript::on_key(app, key),
        Pane::Chat => chat::on_key(app, key),
        Pane::Codex => codex::on_key(app, key),
    }
}

/// Runs a command of the program that works whatever lies on top, unless the popup there has the key for itself.
fn over_popup(app: &mut App, key: KeyEvent) -> Option<Vec<Effect>> {
    let popup = app.popups.last()?;
    let name = app.keymap.lookup(Context::Global, &key)?.name;
    let free = OVER_POPUPS.contains(&name) && !popup.claims(name, &key);
    free.then(|| commands::run(app, name))
}

/// Whether a key is a character that belongs into a text.
pub(super) fn is_text(key: &KeyEvent) -> bool {
    matches!(key.code, KeyCode::Char(_))
        && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT)
}

fn on_reply(app: &mut App, reply: Reply) -> Vec<Effect> {
    let messages = match reply {
        Reply::Keep => return vec![],
        Reply::Do(messages) => messages,
        Reply::Close(messages) => {
            judge::close_top(app);
            messages
        }
    };
    messages.into_iter().flat_map(|m| update(app, m)).collect()
}

/// Whether this `Esc` is the second within half a second while a turn runs.
fn cancels_from_anywhere(app: &mut App) -> bool {
    let twice = app.escaped_at.is_some_and(|at| app.now.duration_since(at) < TWICE);
    app.escaped_at = if twice { None } else { Some(app.now) };
    twice && app.chat.is_busy()
}

fn on_escape(app: &mut App) -> Vec<Effect> {
    if app.chat.is_busy() && app.focus == Pane::Chat {
        return vec![Effect::Cancel];
    }
    match app.focus {
        Pane::Manuscript => {
            if app.find.take().is_some() {
                return vec![];
            }
            if let Some(document) = app.document_mut()
                && (document.buffer.selection().is_some() || document.buffer.anchor_active())
            {
                document.buffer.clear_selection();
            } else if app.look.focus_mode {
                app.look.focus_mode = false;
            }
        }
        Pane::Chat => {
            if app.chat.at.take().is_some() || app.chat.chip.take().is_some() {
                return vec![];
            }
            if std::mem::take(&mut app.chat.editing) {
                app.chat.take_typed();
                return vec![];
            }
            app.chat.top = None;
            // Nothing goes along with the next question any more.
            if let Some(document) = app.document_mut().filter(|d| d.captured_by_author().is_some()) {
                document.buffer.clear_selection();
            }
        }
        Pane::Codex => {
            app.codex.filtering = false;
            if !app.codex.filter.text().is_empty() {
                app.codex.filter.take();
                app.codex.rebuild(&app.book);
            }
        }
    }
    vec![]
}

fn on_paste(app: &mut App, text: &str) -> Vec<Effect> {
    app.typed_at = Some(app.now);
    if let Some(popup) = app.popups.last_mut() {
        // A paste or an input method never decides anything: only fields take it.
        let asked = popup.paste(text);
        return asked.map(|msg| update(app, msg)).unwrap_or_default();
    }
    match app.focus {
        Pane::Manuscript => manuscript::on_paste(app, text),
        Pane::Chat => {
            let text = text.replace("\r\n", "\n").replace('\r', "\n");
            app.chat.input.insert_str(text);
        }
        Pane::Codex => {
            app.codex.filtering = true;
            app.codex.filter.insert(text);
            app.codex.rebuild(&app.book);
        }
    }
    vec![]
}
