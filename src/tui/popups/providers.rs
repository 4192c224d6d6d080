//! Choosing who answers: the servers that are known, and those of the author's own.

use super::Popup;
use super::chooser::{Chooser, Item};
use crate::tui::msg::Msg;
use crate::workbench::provider::{OFFLINE, Offered};

/// Opens the list, with the present provider selected. What listens on this machine comes first.
pub(in crate::tui) fn open(mut offered: Vec<Offered>, listening: &[String], present: &str) -> Popup {
    let listens = |provider: &Offered| listening.contains(&provider.name);
    offered.sort_by_key(|provider| !listens(provider));
    let here = offered.iter().position(|provider| provider.name == present).unwrap_or(0);
    let item = |provider: Offered| {
        let state = match (provider.is_local, provider.has_key, provider.needs_key) {
            _ if provider.name == OFFLINE => "inside this program, no network",
            (true, _, _) if listens(&provider) => "runs on this machine",
            (true, _, _) => "on this machine, not running at its address",
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
    fn a_server_of_the_authors_own_is_looked_for_where_it_is_set_to_be() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut author = Author::at(120, 40);
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        author.bench.set_setting(&["providers", "my-box", "base_url"], Some(address.into())).unwrap();
        let row = |author: &mut Author| {
            author.sees().lines().find(|line| line.contains("my-box")).unwrap_or_default().to_owned()
        };
        author.happens_effect(Effect::ListProviders);
        assert!(row(&mut author).contains("runs on this machine"), "{}", author.sees());
        drop(listener);
        author.key(crossterm::event::KeyCode::Esc);
        author.happens_effect(Effect::ListProviders);
        assert!(row(&mut author).contains("not running at its address"), "{}", author.sees());
    }

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
