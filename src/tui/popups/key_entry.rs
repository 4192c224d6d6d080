//! Connecting a provider: its key is typed masked and goes to the keychain, never into a file.

use super::Popup;
use super::field::Field;
use crate::tui::msg::{Msg, TypedKey};
use crate::workbench::provider::Offered;

/// Asks for the key of a provider.
pub(in crate::tui) fn open(provider: &Offered) -> Popup {
    let Offered { name, title, variable, .. } = provider;
    let words = format!(
        "Type or paste the API key for {title}. It goes to the system keychain, never into a file, and takes effect with the next question. The environment variable {variable} wins over it."
    );
    let name = name.clone();
    Popup::Field(Field::masked(&format!("Connect {title}"), &words, move |key| {
        if key.trim().is_empty() {
            vec![]
        } else {
            vec![Msg::KeyTyped(name, TypedKey(key.trim().to_owned()))]
        }
    }))
}
