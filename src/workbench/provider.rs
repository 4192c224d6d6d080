//! Providers by name: the offline reader, the servers that are known, and those of the author's own.

use std::sync::{Arc, PoisonError};

use crate::config::user::{ProviderSettings, UserSettings};
use crate::domain::book::Book;
use crate::domain::conversation::{Failure, FailureKind};
use crate::domain::nearness::nearest;
use crate::providers::Provider;
use crate::providers::abilities::Forcing;
use crate::providers::client::ApiKey;
use crate::providers::offline::{self, OfflineReader};
use crate::providers::presets::{self, CUSTOM, Preset};
use crate::providers::remote::Remote;
use crate::providers::wire::Protocol;
use crate::store::learned::{self, Asked};
use crate::tools::Registry;

use super::keys::Keys;
use super::open::Server;
use super::{Surroundings, Workbench};

/// OpenAI, which a key in its variable or in the keychain chooses by itself.
pub const OPENAI: &str = "openai";
/// The reader inside the program.
pub const OFFLINE: &str = offline::NAME;

/// A provider as it is offered for choosing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    /// Its name in settings.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// Whether it answers only with a key.
    pub needs_key: bool,
    /// The environment variable that its key may be in.
    pub variable: String,
    /// Whether a key was found, as far as that is known without asking the keychain.
    pub has_key: bool,
    /// Whether it runs on this machine, as far as its address says.
    pub is_local: bool,
    /// Why there is no keychain that could take its key, as far as that is certain without asking it.
    pub no_keychain: Option<String>,
}

/// Returns the names of all providers without opening a book. Settings that can't be read add none.
pub fn names(surroundings: &Surroundings) -> Vec<String> {
    let settings = UserSettings::load(&surroundings.folders.settings_file());
    names_with(&settings.map(|(settings, _)| settings).unwrap_or_default())
}

/// Returns the names of the providers that may have a key: OpenAI, and those for which one was found or named.
pub fn with_keys(surroundings: &Surroundings, keys: &Keys) -> Vec<String> {
    let mut names = names(surroundings);
    names.retain(|name| name == OPENAI || (name != OFFLINE && keys.is_likely(name)));
    names
}

fn names_with(settings: &UserSettings) -> Vec<String> {
    let mut names = vec![OPENAI.to_owned(), OFFLINE.to_owned()];
    names.extend(presets::names().filter(|name| ![OPENAI, CUSTOM].contains(name)).map(str::to_owned));
    for own in settings.providers.keys() {
        if !names.contains(own) {
            names.push(own.clone());
        }
    }
    names
}

impl Workbench {
    /// Returns the names of all providers: OpenAI, the offline reader, the other known servers, and those that the author's settings add.
    pub fn provider_names(&self) -> Vec<String> {
        names_with(&self.settings())
    }

    /// Returns the providers that have something to do with this author: those above all that are chosen, configured or have a key.
    pub fn providers_in_use(&self) -> Vec<String> {
        let (chosen, settings) = (self.choices().provider.value, self.settings());
        let in_use = |name: &String| {
            [OPENAI, OFFLINE].contains(&name.as_str())
                || *name == chosen
                || settings.providers.contains_key(name)
                || self.keys().is_likely(name)
        };
        self.provider_names().into_iter().filter(in_use).collect()
    }

    /// Returns what can be chosen, the offline reader last.
    pub fn providers_on_offer(&self) -> Vec<Offered> {
        let names = self.provider_names().into_iter().filter(|name| name != OFFLINE);
        let no_keychain = self.keys().no_keychain().map(|why| why.to_string());
        let offered = names.filter_map(|name| {
            let preset = self.preset(&name).ok()?;
            let is_local = preset.base_url.as_deref().is_some_and(|url| {
                ["://127.0.0.1", "://localhost", "://[::1]"].iter().any(|near| url.contains(near))
            });
            Some(Offered {
                title: preset.title,
                needs_key: preset.needs_key,
                variable: self.keys().variable(&name),
                has_key: self.keys().is_likely(&name),
                is_local,
                no_keychain: no_keychain.clone(),
                name,
            })
        });
        let offline = Offered {
            name: OFFLINE.to_owned(),
            title: "Offline reader".to_owned(),
            needs_key: false,
            variable: String::new(),
            has_key: false,
            is_local: false,
            no_keychain: None,
        };
        offered.chain([offline]).collect()
    }

    /// Returns a provider. A server is asked for with its key when something is sent, not before.
    pub(super) fn provider(
        &self,
        name: &str,
        book: &Arc<Book>,
        registry: &Arc<Registry>,
        persona: &str,
        model: &str,
    ) -> Result<Arc<dyn Provider>, Failure> {
        if name == OFFLINE {
            return Ok(Arc::new(OfflineReader::new(Arc::clone(book), Arc::clone(registry), persona)));
        }
        Ok(self.remote(name, model)?)
    }

    /// Returns where a provider sends what it is asked.
    pub(super) fn destination(&self, name: &str) -> Result<String, Failure> {
        if name == OFFLINE {
            let (book, nothing) = (Arc::default(), Arc::new(Registry::canon_only()));
            return Ok(OfflineReader::new(book, nothing, "").destination());
        }
        Ok(self.preset(name)?.server()?.address().to_owned())
    }

    /// Whether a model of a provider calls tools, as far as it is known by now.
    pub(super) fn has_tools(&self, name: &str, model: &str) -> Result<bool, Failure> {
        Ok(name == OFFLINE || self.remote(name, model)?.tools())
    }

    /// Whether a provider answers only with a key.
    pub(super) fn needs_key(&self, name: &str) -> Result<bool, Failure> {
        Ok(name != OFFLINE && self.preset(name)?.needs_key)
    }

    /// Returns what is known of a server, with what the author says of it.
    pub(super) fn preset(&self, name: &str) -> Result<Preset, Failure> {
        let settings = self.settings();
        let own = settings.providers.get(name);
        let mut preset = match presets::named(name) {
            Some(preset) => preset,
            None if own.is_some() => presets::named_or_custom(name),
            None => return Err(self.unknown(name)),
        };
        if let Some(own) = own {
            correct(&mut preset, own);
        }
        preset.key_variable = self.keys().variable(name);
        if name == OPENAI
            && let Some(base) = self.choices().base_url.value
        {
            preset.base_url = Some(base);
        }
        Ok(preset)
    }

    /// Returns a server for one of its models, the same one as long as nothing is changed about it. It remembers what it learned, also from one run of the program
    /// to the next.
    pub(super) fn remote(&self, name: &str, model: &str) -> Result<Arc<Remote>, Failure> {
        let preset = self.preset(name)?;
        let mut servers = self.inner.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let same = || servers.iter().filter(|known| known.preset == preset);
        if let Some(known) = same().find(|known| known.model == model) {
            return Ok(Arc::clone(&known.remote));
        }
        let client = match same().next() {
            Some(known) => known.remote.client().clone(),
            None => self.client()?,
        };
        let (keys, provider, needed) = (self.inner.keys.clone(), name.to_owned(), preset.needs_key);
        let key = ApiKey::from_fn(move || {
            // The keychain of a server that needs no key is not asked in vain.
            let is_there = needed || keys.is_likely(&provider);
            let found = is_there.then(|| keys.find(&provider).ok().flatten()).flatten();
            found.map(|(key, _)| key.expose().to_owned())
        });
        let remote = preset.remote(client, key)?;
        let asked = asked(&preset, model)?;
        let data = self.inner.surroundings.folders.data.clone();
        let before = serde_json::to_value(&preset.abilities).unwrap_or_default();
        let known =
            learned::read(&data, &asked, &before).and_then(|found| serde_json::from_value(found).ok());
        let remote = Arc::new(remote.remembering(known, move |can| {
            // What can't be kept is learned again.
            if let Ok(since) = serde_json::to_value(can) {
                let _ = learned::keep(&data, asked.clone(), before.clone(), since);
            }
        }));
        servers.push(Server { preset, model: model.to_owned(), remote: Arc::clone(&remote) });
        Ok(remote)
    }

    /// Forgets what was learned of a provider with one model or, without one, with any, so that it is asked as if for the first time.
    pub(super) fn unlearn(&self, name: &str, model: Option<&str>) {
        let is_meant = |other: &str| model.is_none_or(|model| model == other);
        let mut servers = self.inner.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|known| known.preset.name != name || !is_meant(&known.model));
        // What can't be written is as it was: an old lesson, which ends by itself.
        let _ = learned::forget(&self.inner.surroundings.folders.data, |asked| {
            asked.provider == name && is_meant(&asked.model)
        });
    }

    fn unknown(&self, name: &str) -> Failure {
        let names = self.provider_names();
        let hint = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("Did you mean `{near}`? "),
            None => String::new(),
        };
        Failure {
            kind: FailureKind::Provider,
            message: format!("There is no provider `{name}`."),
            hint: format!(
                "{hint}The providers are: {}. Another one is a section [providers.NAME] in config.toml.",
                names.join(", ")
            ),
        }
    }
}

fn asked(preset: &Preset, model: &str) -> Result<Asked, Failure> {
    let address = preset.server()?.address().to_owned();
    Ok(Asked { provider: preset.name.clone(), address, model: model.to_owned() })
}

/// Takes over what the author says of a server.
fn correct(preset: &mut Preset, own: &ProviderSettings) {
    fn set<T: Clone>(field: &mut T, said: Option<&T>) {
        if let Some(said) = said {
            field.clone_from(said);
        }
    }
    if own.base_url.is_some() {
        preset.base_url.clone_from(&own.base_url);
    }
    preset.resource.clone_from(&own.resource);
    if own.model.is_some() {
        preset.model.clone_from(&own.model);
    }
    set(&mut preset.wire, own.wire.as_deref().and_then(Protocol::named).as_ref());
    set(&mut preset.needs_key, own.needs_key.as_ref());
    let can = &mut preset.abilities;
    if preset.wire != Protocol::Responses {
        can.stateful = false;
    }
    set(&mut can.tools, own.tools.as_ref());
    set(&mut can.stateful, own.stateful.filter(|_| preset.wire == Protocol::Responses).as_ref());
    set(&mut can.reasoning_effort, own.reasoning_effort.as_ref());
    set(&mut can.web_search, own.web_search.as_ref());
    set(&mut can.tool_choice, own.tool_choice.as_deref().and_then(forcing).as_ref());
    can.context = own.context.or(can.context);
    can.output_limit = own.output_limit.or(can.output_limit);
}

fn forcing(word: &str) -> Option<Forcing> {
    match word {
        "never" => Some(Forcing::Never),
        "auto" => Some(Forcing::Auto),
        "required" => Some(Forcing::Required),
        "named" => Some(Forcing::Named),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::user::{FORCINGS, WIRES};
    use crate::workbench::{Overrides, Surroundings};

    fn bench(folder: &std::path::Path, settings: &str) -> Workbench {
        for name in ["book", "config"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        fs::write(folder.join("config/config.toml"), settings).unwrap();
        let surroundings = Surroundings::in_folders(folder);
        Workbench::open_in(&folder.join("book"), Overrides::default(), surroundings).unwrap()
    }

    #[test]
    fn the_words_of_the_settings_are_those_of_the_wires() {
        assert_eq!(WIRES, Protocol::ALL.map(Protocol::name));
        assert!(FORCINGS.iter().all(|word| forcing(word).is_some()));
    }

    #[test]
    fn the_author_corrects_a_preset_and_adds_servers() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(
            folder.path(),
            "[providers.lmstudio]\nbase_url = 'http://10.0.0.5:1234/v1'\ntools = false\nmodel = 'qwen3'\n\
             [providers.azure]\nresource = 'mine'\n\
             [providers.my-box]\nbase_url = 'http://box.local/v1'\nwire = 'responses'\nstateful = true\n\
             [providers.openai]\nwire = 'chat'\n",
        );
        let at = |name: &str| bench.destination(name).unwrap();
        assert_eq!(at("lmstudio"), "http://10.0.0.5:1234/v1/chat/completions");
        assert!(!bench.has_tools("lmstudio", "qwen3").unwrap());
        assert_eq!(at("azure"), "https://mine.openai.azure.com/openai/v1/responses");
        assert_eq!(at("my-box"), "http://box.local/v1/responses");
        assert_eq!(at("ollama"), "http://127.0.0.1:11434/api/chat");
        assert_eq!(at("anthropic"), "https://api.anthropic.com/v1/messages");
        assert_eq!(at("openai"), "https://api.openai.com/v1/chat/completions");
        assert!(!bench.remote("openai", "m").unwrap().stateful(), "Chat Completions keep nothing");
        assert!(bench.remote("my-box", "m").unwrap().stateful());
        assert!(Arc::ptr_eq(&bench.remote("ollama", "a").unwrap(), &bench.remote("ollama", "a").unwrap()));
        let failure = bench.preset("olama").unwrap_err();
        assert!(failure.hint.starts_with("Did you mean `ollama`?"), "{failure:?}");
        assert!(bench.provider_names().contains(&"my-box".to_owned()));
        assert!(bench.destination("custom").is_err(), "nobody said where it is");
    }
}
