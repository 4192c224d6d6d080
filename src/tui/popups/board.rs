//! Choosing the board member.

use super::Popup;
use super::chooser::{Chooser, Item};
use crate::tui::app::App;
use crate::tui::msg::Msg;

/// Opens the board, with the present member selected.
pub(in crate::tui) fn open(app: &App) -> Popup {
    let disabled = |id: &str| app.book.settings.board.get(id).is_some_and(|b| b.enabled == Some(false));
    let members: Vec<_> = crate::persona::board::members().iter().filter(|m| !disabled(m.id)).collect();
    let here = members.iter().position(|m| m.id == app.chat.persona).unwrap_or(0);
    let items = members.iter().map(|m| Item::new(m.name, m.purpose, Msg::ChoosePersona(m.id)).kind(m.badge));
    Popup::Chooser(Chooser::new("The board: whom do you want to ask?", items.collect()).select(here))
}
