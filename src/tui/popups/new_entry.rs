//! New files: a Codex entry from a template, by its type and then its name; a chapter by its title.

use super::Popup;
use super::chooser::{Chooser, Item};
use super::field::Field;
use crate::domain::codex::EntryType;
use crate::tui::app::App;
use crate::tui::msg::Msg;

/// Asks for the type, then for the name.
pub(in crate::tui) fn open(app: &App) -> Popup {
    let items = EntryType::ALL.into_iter().map(|entry_type| {
        let count = app.book.entries_of(entry_type).count();
        let ask = Field::plain(
            &format!("New {entry_type}"),
            "Its name, as the prose uses it. The file is made when you press Enter.",
            move |name| {
                let name = name.trim();
                if name.is_empty() { vec![] } else { vec![Msg::NewEntry(entry_type, name.to_owned())] }
            },
        )
        .verb("make the file");
        Item::new(entry_type.as_str(), &format!("{count} so far"), Msg::Popup(Box::new(Popup::Field(ask))))
    });
    Popup::Chooser(Chooser::new("New Codex entry: of which type?", items.collect()))
}

/// Asks for the title of a new chapter.
pub(in crate::tui) fn chapter() -> Popup {
    let words = "Its title. The file comes after the last chapter, and is made when you press Enter.";
    let field = Field::plain("New chapter", words, |title| {
        let title = title.trim();
        if title.is_empty() { vec![] } else { vec![Msg::NewChapter(title.to_owned())] }
    });
    Popup::Field(field.verb("make the file"))
}
