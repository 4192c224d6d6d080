//! What would be sent, and what has changed in it since the last turn. `y` copies the body as it is sent.

use super::Popup;
use super::text::TextPopup;
use crate::tui::msg::Msg;
use crate::workbench::Peek;

/// Shows what a question would send.
pub(in crate::tui) fn open(peek: &Peek) -> Popup {
    let title = if peek.is_sent { "What would be sent" } else { "What the offline reader would get" };
    let changes = match peek.changes() {
        Some(changes) => changes,
        None => {
            "Nothing to compare with: in this run of the program nothing was sent in this conversation yet."
                .to_owned()
        }
    };
    let compared = TextPopup::plain("Changed since the last turn", &changes);
    let shown = TextPopup::plain(title, &peek.text()).copies(peek.pretty());
    Popup::Text(shown.on_key('d', "changes since the last turn", Msg::Popup(Box::new(Popup::Text(compared)))))
}
