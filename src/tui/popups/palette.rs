//! The command palette: commands, chapters, Codex entries, board members, earlier conversations, themes.

use crate::command::{COMMANDS, Command, Context};
use crate::domain::codex::EntryType;

use super::Popup;
use super::card;
use super::chooser::{Chooser, Item};
use crate::tui::app::App;
use crate::tui::msg::Msg;
use crate::tui::turn_lines::count;
use crate::tui::update::theme_names;

/// Conversations that the palette offers; all of them are in their own list.
const PAST: usize = 50;

/// Commands of other places that make sense anywhere.
const ALSO: [&str; 4] = ["accept-all-seen", "edit-last", "retry", "fork-here"];

/// Opens the palette.
pub(in crate::tui) fn open(app: &App) -> Popup {
    let mut items = vec![];
    let here =
        |c: Context| matches!(c, Context::Global | Context::Manuscript | Context::Chat | Context::Codex);
    let from_anywhere = |c: &Command| here(c.context) || ALSO.contains(&c.name);
    for command in COMMANDS.iter().filter(|c| from_anywhere(c) && !c.moves() && c.name != "palette") {
        let keys = app.keymap.keys_of(command.name);
        items.push(Item::new(command.about, &keys, Msg::Run(command.name)).kind("command"));
    }
    let private = |path| app.book.private.contains(path);
    for chapter in &app.book.chapters {
        let label = format!("{} · {}", chapter.number, chapter.title);
        items.push(
            Item::new(&label, "", Msg::Show(chapter.path.clone(), None))
                .kind("chapter")
                .kept_from_ai(private(&chapter.path)),
        );
    }
    for entry in &app.book.entries {
        let also = entry.aliases.join(", ");
        items.push(
            Item::new(&entry.name, &also, Msg::Show(entry.path.clone(), card::place(entry)))
                .kind(kind(entry.entry_type))
                .kept_from_ai(private(&entry.path)),
        );
        if let Some(soul) = &entry.soul {
            let label = format!("{} · soul", entry.name);
            items
                .push(Item::new(&label, "", Msg::Show(soul.path.clone(), None)).kind(kind(entry.entry_type)));
        }
    }
    for note in &app.book.notes {
        items.push(Item::new(&note.title, "", Msg::Show(note.path.clone(), None)).kind("note"));
    }
    for member in crate::persona::board::members() {
        items.push(Item::new(member.name, member.purpose, Msg::ChoosePersona(member.id)).kind("persona"));
    }
    for past in app.past.iter().take(PAST) {
        let about =
            format!("{} · {}", count(past.questions, "question"), past.last_at.get(..10).unwrap_or_default());
        let msg = Msg::GoOnWith(past.session.clone(), None);
        items.push(Item::new(&past.title, &about, msg).kind("conversation"));
    }
    for name in theme_names(app) {
        let label = format!("Theme {name}");
        items.push(Item::new(&label, "", Msg::ChooseTheme(name)).kind("theme"));
    }
    Popup::Chooser(Chooser::new("Commands, chapters, Codex, personas, conversations, themes", items))
}

fn kind(entry_type: EntryType) -> &'static str {
    entry_type.as_str()
}
