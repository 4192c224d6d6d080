//! Choosing who answers: the servers that are known, and those of the author's own.

use super::Popup;
use super::chooser::{Chooser, Item};
use crate::tui::msg::Msg;
use crate::workbench::provider::{OFFLINE, Offered};

/// Opens the list, with the present provider selected. What listens on this machine comes first.
pub(in crate::tui) fn open(mut offered: Vec<Offered>, listening: &[&str], present: &str) -> Popup {
    let listens = |provider: &Offered| listening.contains(&provider.name.as_str());
    offered.sort_by_key(|provider| !listens(provider));
    let here = offered.iter().position(|provider| provider.name == present).unwrap_or(0);
    let item = |provider: Offered| {
        let state = match (provider.is_local, provider.has_key, provider.needs_key) {
            _ if provider.name == OFFLINE => "inside this program, no network",
            (true, _, _) if listens(&provider) => "runs on this machine",
            (true, _, _) => "on this machine, not found at its usual port",
            (_, true, _) => "has a key",
            (_, _, true) => "needs a key",
            _ => "your own",
        };
        let (title, detail) = (provider.title.clone(), format!("{} · {state}", provider.name));
        Item::new(&title, &detail, Msg::ChooseProvider(provider))
    };
    let items = offered.into_iter().map(item).collect();
    Popup::Chooser(Chooser::new("Who is to answer?", items).select(here))
}

#[cfg(test)]
mod tests {
    use crate::tui::effect::Effect;
    use crate::tui::msg::Msg;
    use crate::tui::tests::Author;
    use crate::workbench::provider::OFFLINE;

    #[test]
    fn the_author_chooses_who_answers_and_is_told_what_is_stronger() {
        let mut author = Author::at(120, 40);
        author.happens_effect(Effect::ListProviders);
        let seen = author.sees();
        assert!(seen.contains("Who is to answer?") && seen.contains("OpenRouter"), "{seen}");
        let offered = author.bench.providers_on_offer();
        let find = |name: &str| offered.iter().find(|p| p.name == name).unwrap().clone();
        author.happens(Msg::ChooseProvider(find("anthropic")));
        let seen = author.sees();
        assert!(seen.contains("Connect Anthropic") && seen.contains("ANTHROPIC_API_KEY"), "{seen}");
        let mut author = Author::at(120, 40);
        author.happens(Msg::ChooseProvider(find("ollama")));
        assert_eq!(author.bench.settings().provider.as_deref(), Some("ollama"));
        let seen = author.sees();
        assert_eq!(offered.last().map(|p| p.name.as_str()), Some(OFFLINE), "the way back is in the list");
        assert!(seen.contains("offline still answers: the command line says so"), "{seen}");
    }
}
