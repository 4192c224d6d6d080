//! What would be sent, and what has changed in it since the last turn. `y` copies the body as it is sent.

use super::Popup;
use super::text::TextPopup;
use crate::tui::msg::Msg;
use crate::workbench::Peek;

/// Shows what a question would send.
pub(in crate::tui) fn open(peek: &Peek) -> Popup {
    let title = if peek.is_sent { "What would be sent" } else { "What would be sent: nothing" };
    let changes = match peek.changes() {
        Some(changes) => changes,
        None => "Nothing to compare with: nothing was asked in this conversation yet.".to_owned(),
    };
    let compared = TextPopup::plain("Changed since the last turn", &changes);
    let shown = TextPopup::plain(title, &peek.text()).copies(peek.pretty());
    Popup::Text(shown.on_key('d', "changes since the last turn", Msg::Popup(Box::new(Popup::Text(compared)))))
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyCode;

    use crate::tui::tests::Author;

    #[test]
    fn what_changed_is_one_key_away_and_the_body_is_copied_as_it_is_sent() {
        let mut author = Author::at(120, 40);
        author.control('o');
        author.sees_words("Nothing is sent: the offline reader answers inside this program.");
        author.key(KeyCode::Char('y'));
        let copied = author.app.clipboard.clone();
        let body: serde_json::Value = serde_json::from_str(&copied).unwrap();
        assert!(body.get("question").is_some() && copied.starts_with("{\n"), "{copied}");
        author.key(KeyCode::Char('d'));
        author.sees_words("Nothing to compare with");
    }
    #[test]
    fn after_a_restart_there_is_something_to_compare_with() {
        let mut author = Author::at(120, 40);
        author.asks("Who is Adrian?");
        author.control('o');
        author.key(KeyCode::Char('d'));
        author.sees_words("Compared with the request of the last question, made again");
    }
}
