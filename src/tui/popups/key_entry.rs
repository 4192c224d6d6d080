//! Connecting a provider: its key is typed masked and goes to the keychain, never into a file. Where there is no keychain, the author is told what to do instead.

use super::Popup;
use super::field::Field;
use crate::tui::msg::{Msg, TypedKey};
use crate::workbench::keys::KeyError;
use crate::workbench::provider::Offered;

/// Asks for the key of a provider. Where nothing could keep it, says so before anything is typed.
pub(in crate::tui) fn open(provider: &Offered) -> Popup {
    let Offered { name, title, variable, no_keychain, .. } = provider;
    if let Some(why) = no_keychain {
        return Popup::text(&format!("Connect {title}"), &instead(why, variable));
    }
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
    let words = match why {
        KeyError::Bad(_) => {
            format!("{}.\n\nCopy it once more, whole, and connect again.", capital(&why.to_string()))
        }
        _ => instead(&why.to_string(), variable),
    };
    Popup::text("The key was not kept", &words)
}

/// Why the keychain takes no key, and what to do instead.
fn instead(why: &str, variable: &str) -> String {
    format!(
        "{}.\n\n{} Set it where your shell sets its variables, then start Scritorio again and choose the provider.",
        capital(why),
        KeyError::use_variable(variable)
    )
}

fn capital(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use crate::tui::effect::Effect;
    use crate::tui::msg::{Msg, TypedKey};
    use crate::tui::tests::Author;

    #[test]
    fn without_a_keychain_the_key_is_not_even_asked_for() {
        for (width, height) in [(80, 24), (120, 40)] {
            let mut author = Author::at(width, height);
            let mut offered = author.bench.providers_on_offer();
            offered.retain(|provider| provider.name == "anthropic");
            let mut provider = offered.remove(0);
            author.happens(Msg::ChooseProvider(provider.clone()));
            let words = author.sees().replace(['\n', '│', '┃'], " ");
            let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains("Connect Anthropic") && words.contains("switched off"), "{words}");
            assert!(words.contains("environment variable ANTHROPIC_API_KEY instead"), "{words}");
            assert!(!words.contains("Type or paste"), "{words}");
            author.key(crossterm::event::KeyCode::Esc);
            provider.no_keychain = None;
            author.happens(Msg::ChooseProvider(provider));
            author.sees_words("Type or paste");
        }
    }

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
