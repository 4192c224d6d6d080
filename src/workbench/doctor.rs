//! What the program found: book, settings and who set them, keys, servers.
//!
//! Asks the keychain, and opens (and closes at once) one connection to the server that a question would go to. Never shows a key.

pub mod canon;

use std::collections::BTreeMap;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::domain::book::Warning;
use crate::domain::codex::EntryType;
use crate::store::provenance::Verdict;

use self::canon::Canon;
use super::keys::{KeyStatus, Keys};
use super::provider::{OFFLINE, OPENAI};
use super::{Workbench, servers};

const PATIENCE: Duration = Duration::from_secs(4);

/// The report. The front end adds its terminal.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Name, title, folder, and the source of every chapter's number; null without a book.
    pub book: Value,
    /// Each setting, with its value and who set it.
    pub settings: BTreeMap<&'static str, Value>,
    /// What the book's own settings choose over the author's: provider, model, tier, effort, length of answers, searching the web; `None` where they choose nothing.
    pub chosen_by_book: Option<String>,
    /// What goes out for searches by meaning, in words; `None` where they are off.
    pub by_meaning: Option<String>,
    /// Where the author's settings and data stand.
    pub folders: BTreeMap<&'static str, PathBuf>,
    /// The providers: which is chosen, where it is, whether it answers.
    pub providers: Vec<ProviderReport>,
    /// The usual local servers that listen on their ports of this machine.
    pub local_servers: Vec<&'static str>,
    /// What this month has cost over all books, and the budget.
    pub spending: Value,
    /// Where each key is.
    pub keychain: Vec<KeyStatus>,
    /// What could not be read as meant; `config.toml` is named by that name.
    pub warnings: Vec<Value>,
    /// Entries by type, chapters, words, and files that are no canon.
    pub counts: BTreeMap<&'static str, usize>,
    /// What was read as canon and why; `None` without a book.
    pub canon: Option<Canon>,
    /// The provenance ledgers, by machine.
    pub provenance: BTreeMap<String, Verdict>,
    /// The process that has the book open for writing.
    pub open_in: Option<u32>,
}

/// One provider.
#[derive(Debug, Clone, Serialize)]
pub struct ProviderReport {
    /// Its name.
    pub name: String,
    /// Whether a question would go there.
    pub chosen: bool,
    /// Where it is.
    pub destination: String,
    /// Whether its server takes connections; `None`: not tried.
    pub reachable: Option<bool>,
    /// What to do next to use it, where it is chosen and something is missing.
    pub next: Option<String>,
}

impl Report {
    /// Leaves what there is without a book: the author's settings, providers, keys and spending.
    #[must_use]
    pub fn without_book(self) -> Self {
        Self {
            book: Value::Null,
            counts: BTreeMap::new(),
            canon: None,
            provenance: BTreeMap::new(),
            open_in: None,
            ..self
        }
    }
}

fn statuses(keys: &Keys, names: &[String]) -> Vec<KeyStatus> {
    names.iter().filter(|name| *name != OFFLINE).map(|name| keys.status(name)).collect()
}

impl Workbench {
    /// Looks at everything. Takes up to some seconds.
    pub fn doctor(&self) -> Report {
        let book = self.book();
        let choices = self.choices();
        let numbers: Vec<_> = book
            .chapters
            .iter()
            .map(|c| json!({ "path": c.path, "number": c.number, "from": c.number_from.as_str() }))
            .collect();
        let config_warnings = self.settings_warnings().into_iter().map(
            |w| json!({ "path": "config.toml", "line": w.line, "column": w.column, "message": w.message }),
        );
        let canon = book.entries.iter().flat_map(|e| &e.warnings).filter(|w| !book.warnings.contains(w));
        let book_warnings = book.warnings.iter().chain(canon).map(|w: &Warning| json!(w));
        let mut counts: BTreeMap<_, _> =
            EntryType::ALL.iter().map(|t| (t.as_str(), book.entries_of(*t).count())).collect();
        counts.extend([
            ("chapters", book.chapters.len()),
            ("words", book.words()),
            ("notes", book.notes.len()),
            ("others", book.others.len()),
            ("ai_never", book.private.len()),
        ]);
        let (in_use, standing) = (self.providers_in_use(), self.standing_with_killed());
        let unread = standing.month.unread.as_ref().map(|unread| {
            let message = format!("This file {}. What was spent is at least what is said here.", unread.why);
            json!({ "path": unread.path, "line": 1, "column": 1, "message": message })
        });
        let keys = statuses(self.keys(), &in_use);
        let folders = &self.inner.surroundings.folders;
        Report {
            book: json!({ "name": book.name, "title": book.title(), "folder": self.root(), "chapters": numbers, "others": book.others }),
            settings: BTreeMap::from([
                ("provider", json!(choices.provider)),
                ("model", json!(choices.model)),
                ("rounds", json!(choices.rounds)),
                ("base_url", json!(choices.base_url)),
                ("theme", json!(choices.theme)),
            ]),
            chosen_by_book: self.chosen_by_book_for_all(&choices.provider.value),
            by_meaning: self.meaning_in_words(&book),
            folders: BTreeMap::from([("settings", folders.config.clone()), ("data", folders.data.clone())]),
            providers: in_use
                .iter()
                .map(|name| self.provider_report(name, &choices.provider.value, &keys))
                .collect(),
            local_servers: servers::found_here(),
            spending: json!({ "month": standing.month, "budget": standing.budget }),
            keychain: keys,
            warnings: config_warnings
                .chain(self.searches_without_vectors())
                .chain(unread)
                .chain(book_warnings)
                .collect(),
            counts,
            canon: Some(Canon::of(&book)),
            provenance: self.ledger().verify().unwrap_or_default().into_iter().collect(),
            open_in: self.writer().ok().flatten().map(|holder| holder.pid),
        }
    }

    /// Tells of a setting that does nothing: only one provider has vectors made here.
    fn searches_without_vectors(&self) -> Option<Value> {
        let provider = self.choices().provider.value;
        self.settings().embeddings.as_ref().filter(|_| provider != OPENAI)?;
        let text =
            std::fs::read_to_string(self.inner.surroundings.folders.settings_file()).unwrap_or_default();
        let (line, column) = place_of(&text, "search", "embeddings").unwrap_or((1, 1));
        Some(json!({
            "path": "config.toml",
            "line": line,
            "column": column,
            "message": format!(
                "`embeddings` does nothing while {provider} answers: only `{OPENAI}` is asked for vectors, also at a base_url of your own. Searches go by words alone."
            ),
        }))
    }

    fn provider_report(&self, name: &str, chosen: &str, keys: &[KeyStatus]) -> ProviderReport {
        let chosen = name == chosen;
        let destination = self.destination(name);
        let reachable = match &destination {
            Ok(address) if chosen && name != OFFLINE => Some(is_reachable(address)),
            _ => None,
        };
        let destination = destination.unwrap_or_else(|failure| failure.message);
        // Unlike a list of providers this asks the keychain, also for a key that somebody else put there.
        let missing = || {
            let has_key = keys
                .iter()
                .any(|key| key.provider == name && matches!(key.source, "environment" | "keychain"));
            self.missing(name, has_key, servers::listens_near(&destination))
        };
        let unreachable = || {
            (reachable == Some(false))
                .then(|| "Look at the network, or at the address in config.toml.".to_owned())
        };
        let next = if chosen { missing().or_else(unreachable) } else { None };
        ProviderReport { name: name.to_owned(), chosen, destination, reachable, next }
    }
}

/// Line and column, from 1, of a key in a section.
fn place_of(text: &str, section: &str, key: &str) -> Option<(usize, usize)> {
    let document = toml_edit::Document::parse(text).ok()?;
    let (key, _) = document.get(section)?.as_table_like()?.get_key_value(key)?;
    let before = text.get(..key.span()?.start)?;
    let begin = before.rfind('\n').map_or(0, |end| end + 1);
    Some((before.matches('\n').count() + 1, before[begin..].chars().count() + 1))
}

/// Whether the host of a URL takes a connection. Names are resolved on a thread of their own, since that knows no time limit.
fn is_reachable(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default().to_owned();
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let default = if scheme == "http" { 80 } else { 443 };
    let address = if has_port { authority } else { format!("{authority}:{default}") };
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let connected = address.to_socket_addrs().is_ok_and(|mut addresses| {
            addresses.any(|a| TcpStream::connect_timeout(&a, PATIENCE / 2).is_ok())
        });
        sender.send(connected)
    });
    receiver.recv_timeout(PATIENCE).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_where_it_stands() {
        let text = "# é\n[search]\n  embeddings = 'small'\n";
        assert_eq!(place_of(text, "search", "embeddings"), Some((3, 3)));
        assert_eq!(place_of("search.embeddings = 'x'", "search", "embeddings"), Some((1, 8)));
        assert_eq!(place_of("[search]\n", "search", "embeddings"), None);
    }

    #[test]
    fn a_server_that_listens_is_reachable_and_one_that_does_not_is_not() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/responses", listener.local_addr().unwrap());
        assert!(is_reachable(&url));
        drop(listener);
        assert!(!is_reachable(&url));
        assert!(!is_reachable("nothing leaves this machine"));
    }
}
