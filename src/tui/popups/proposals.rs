//! The list of all proposals, newest first: any of them can be looked at again, or undone.

use super::Popup;
use super::chooser::{Chooser, Item};
use crate::tui::app::App;
use crate::tui::msg::Msg;
use crate::tui::turn_lines::state_words;

/// Opens the list.
pub(in crate::tui) fn open(app: &App) -> Popup {
    let items = app.queue.iter().rev().filter_map(|id| {
        let queued = app.proposals.get(id)?;
        let (state, _) = state_words(queued.status, queued.proposal.edited);
        let label = format!("{} · {}", queued.proposal.entry, queued.proposal.summary);
        Some(Item::new(&label, state, Msg::Review(id.clone())).kind(queued.proposal.subject.as_str()))
    });
    let items: Vec<Item> = items.collect();
    if items.is_empty() {
        return Popup::text(
            "Proposals",
            "There are none yet.\n\nAsk a board member for a change to the Codex: it comes back as a proposal, and nothing is written before you accept it.",
        );
    }
    Popup::Chooser(Chooser::new("Proposals, newest first", items))
}
