//! Connecting a provider: its key is typed masked and goes to the keychain, never into a file.

use super::Popup;
use super::field::Field;
use crate::tui::msg::{Msg, TypedKey};

/// Asks for the key of a provider.
pub(in crate::tui) fn open(provider: &'static str) -> Popup {
    let words = format!(
        "Type or paste the API key for {provider}. It goes to the system keychain, never into a file, and takes effect with the next question. The environment variable OPENAI_API_KEY wins over it."
    );
    Popup::Field(Field::masked(&format!("Connect {provider}"), &words, move |key| {
        if key.trim().is_empty() {
            vec![]
        } else {
            vec![Msg::KeyTyped(provider.to_owned(), TypedKey(key.trim().to_owned()))]
        }
    }))
}
