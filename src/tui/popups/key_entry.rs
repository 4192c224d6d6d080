//! Connecting a provider: its key is typed masked and goes to the keychain, never into a file. Where there is no keychain, the author is told what to do instead.

use super::Popup;
use super::field::Field;
use crate::tui::msg::{Msg, TypedKey};
use crate::workbench::keys::KeyError;
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

/// Tells why a key was not kept, and where it can go instead.
pub(in crate::tui) fn not_kept(why: &KeyError, variable: &str) -> Popup {
    let next = match why {
        KeyError::Bad(_) => "Copy it once more, whole, and connect again.".to_owned(),
        _ => format!(
            "{} Set it where your shell sets its variables, then start Scritorio again and choose the provider.",
            why.hint(variable)
        ),
    };
    let mut said = why.to_string();
    if let Some(first) = said.get(..1) {
        said.replace_range(..1, &first.to_uppercase());
    }
    Popup::text("The key was not kept", &format!("{said}.\n\n{next}"))
}

#[cfg(test)]
mod tests {
    use crate::tui::effect::Effect;
    use crate::tui::msg::TypedKey;
    use crate::tui::tests::Author;

    #[test]
    fn without_a_keychain_the_author_is_told_where_a_key_can_go_on_a_small_screen_too() {
        for (width, height) in [(80, 24), (120, 40)] {
            let mut author = Author::at(width, height);
            author.happens_effect(Effect::StoreKey("openai".into(), TypedKey("sk-CANARY".into())));
            let words = author.sees().replace(['\n', '│', '┃'], " ");
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("The keychain is switched off"), "{words}");
            assert!(words.contains("environment variable OPENAI_API_KEY instead"), "{words}");
            assert!(words.contains("start Scritorio again"), "{words}");
            assert!(!words.contains("CANARY"), "{words}");
        }
    }
}
