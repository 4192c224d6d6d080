//! Help: the keys as they really are, those of the focused pane first.

use super::Popup;
use super::text::TextPopup;
use crate::command::{COMMANDS, Context};
use crate::tui::app::App;
use crate::tui::layout::Pane;

/// Opens help for the focused pane.
pub(in crate::tui) fn open(app: &App) -> Popup {
    let here = match app.focus {
        _ if matches!(app.popups.last(), Some(Popup::Diff(_))) => vec![Context::Diff],
        _ if matches!(app.popups.last(), Some(Popup::Graph(_))) => {
            vec![Context::Relationships, Context::List]
        }
        _ if matches!(app.popups.last(), Some(Popup::Rename(_))) => vec![Context::Rename, Context::List],
        _ if matches!(app.popups.last(), Some(Popup::Conversations(_))) => {
            vec![Context::Sessions, Context::List]
        }
        Pane::Manuscript => vec![Context::Manuscript],
        Pane::Chat => vec![Context::Chat, Context::Conversation],
        Pane::Codex => vec![Context::Codex, Context::List],
    };
    let rest = Context::ALL.into_iter().filter(|c| !here.contains(c));
    let mut words = String::new();
    for context in here.iter().copied().chain(rest) {
        words.push_str(&format!("{}\n\n", heading(context)));
        let of_context = COMMANDS.iter().filter(|c| c.context == context);
        let (moving, other): (Vec<_>, Vec<_>) = of_context.partition(|c| c.moves());
        for command in other.into_iter().chain(moving) {
            let keys = match context {
                Context::Global => app.keymap.keys_apart(command.name).0,
                _ => app.keymap.keys_of(command.name),
            };
            let keys = if keys.is_empty() { "(palette)".to_owned() } else { keys };
            words.push_str(&row(&keys, command.about));
        }
        if context != Context::Global && !context.takes_text() {
            let everywhere = COMMANDS.iter().filter(|c| c.context == Context::Global);
            for command in everywhere {
                let typed = app.keymap.keys_apart(command.name).1;
                if !typed.is_empty() {
                    words.push_str(&row(&typed, command.about));
                }
            }
        }
        words.push('\n');
    }
    words
        .push_str("Every command is also in the palette. Keys can be changed under [keys] in config.toml.\n");
    let place = match here[0] {
        Context::Diff => "a proposal",
        Context::Relationships => "relationships",
        Context::Rename => "renaming",
        Context::Sessions => "conversations",
        _ => app.focus.title(),
    };
    Popup::Text(TextPopup::plain(&format!("Help · {place}"), &words).columns(KEYS + 3))
}

/// Columns for the keys; longer ones stand on a row of their own.
const KEYS: usize = 26;

fn row(keys: &str, about: &str) -> String {
    if keys.chars().count() <= KEYS {
        format!("  {keys:<KEYS$} {about}\n")
    } else {
        format!("  {keys}\n  {:<KEYS$} {about}\n", "")
    }
}

fn heading(context: Context) -> &'static str {
    match context {
        Context::Global => "EVERYWHERE",
        Context::Manuscript => "MANUSCRIPT",
        Context::Chat => "CHAT",
        Context::Conversation => "CONVERSATION (Tab walks it)",
        Context::Codex => "CODEX",
        Context::Diff => "A PROPOSAL",
        Context::List => "LISTS",
        Context::Relationships => "RELATIONSHIPS",
        Context::Rename => "RENAMING",
        Context::Sessions => "CONVERSATIONS",
    }
}
