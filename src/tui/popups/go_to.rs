//! Going to a chapter, or to a line of the open document.

use super::Popup;
use super::chooser::{Chooser, Item};
use crate::tui::app::App;
use crate::tui::msg::Msg;

/// Opens the list of chapters. What is typed may also be a line number.
pub(in crate::tui) fn open(app: &App) -> Popup {
    let here = app.document().map(|d| d.path.clone());
    let at = app.book.chapters.iter().position(|c| Some(&c.path) == here.as_ref()).unwrap_or(0);
    let items = app.book.chapters.iter().map(|c| {
        let words = crate::tui::turn_lines::count(c.words, "word");
        Item::new(&format!("{} · {}", c.number, c.title), &words, Msg::Show(c.path.clone(), None))
            .kind("chapter")
            .kept_from_ai(app.book.private.contains(&c.path))
    });
    let chooser = Chooser::new("Go to a chapter, or to a line with :number", items.collect());
    Popup::Chooser(chooser.select(at).otherwise(|typed| {
        let line = typed.trim().strip_prefix(':')?.trim().parse::<usize>().ok()?;
        Some(Msg::GoToLine(line))
    }))
}
