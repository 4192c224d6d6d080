//! Keys of providers: finding one, setting one, and saying where it is, without ever showing it.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::config::user::UserSettings;
use crate::domain::conversation::{Failure, FailureKind};
use crate::providers::presets;
use crate::secrets::{self, ApiKey, BadKey, KeychainError, Origin};
use crate::store::atomic;

use super::{Surroundings, Workbench};

/// Where a provider's key is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyStatus {
    /// The provider.
    pub provider: String,
    /// `environment`, `keychain`, `none`, or `unknown` when the keychain did not answer.
    pub source: &'static str,
    /// The environment variable that may hold it.
    pub variable: String,
    /// What the keychain said, where it could not be asked.
    pub problem: Option<String>,
}

/// Why a key was not set or deleted.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// It can be no key.
    #[error(transparent)]
    Bad(#[from] BadKey),
    /// The keychain is switched off with `SCRITORIO_KEYCHAIN=off`.
    #[error("the keychain is switched off (SCRITORIO_KEYCHAIN)")]
    Off,
    /// The keychain did not take it.
    #[error(transparent)]
    Keychain(#[from] KeychainError),
    /// The note that the keychain has it can't be written.
    #[error("can't write {path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl KeyError {
    /// What to do instead, where a key could not be put into the keychain; `variable` may hold it.
    pub fn hint(&self, variable: &str) -> String {
        match self {
            Self::Bad(_) => "Nothing was stored.".to_owned(),
            _ => Self::use_variable(variable),
        }
    }

    /// What to do where no keychain takes a key; `variable` may hold it.
    pub fn use_variable(variable: &str) -> String {
        format!("Put the key into the environment variable {variable} instead; it is never kept in a file.")
    }
}

/// The keys of all providers. Cheap to clone: clones share what was found.
#[derive(Debug, Clone)]
pub struct Keys {
    data: PathBuf,
    environment: bool,
    keychain: bool,
    /// The author's own names for variables, by provider.
    variables: Arc<BTreeMap<String, String>>,
    found: Arc<Mutex<BTreeMap<String, ApiKey>>>,
}

/// Which providers have a key in the keychain, as far as this program put it there: so that the keychain need not be asked to know.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Marker {
    v: u32,
    keychain: Vec<String>,
}

impl Keys {
    /// Takes environment and folders. Asks nobody yet.
    pub fn new(surroundings: &Surroundings) -> Self {
        let data = surroundings.folders.data.clone();
        let on = surroundings.environment.get("SCRITORIO_KEYCHAIN") != Some("off");
        Self {
            data,
            environment: surroundings.keys,
            keychain: surroundings.keys && on,
            variables: Arc::new(own_variables(surroundings)),
            found: Arc::default(),
        }
    }

    /// Returns the environment variable that may hold a provider's key.
    pub fn variable(&self, provider: &str) -> String {
        let own = self.variables.get(provider).cloned();
        own.unwrap_or_else(|| presets::named_or_custom(provider).key_variable)
    }

    /// Whether a provider most likely has a key: in the environment, or put into the keychain by this program. Never asks the keychain.
    pub fn is_likely(&self, provider: &str) -> bool {
        matches!(self.in_environment(provider), Some(Ok(_)))
            || (self.keychain && self.marker().keychain.iter().any(|p| p == provider))
    }

    /// Why no key can be put into the keychain, as far as that is certain without asking it.
    pub fn no_keychain(&self) -> Option<KeyError> {
        if self.keychain { secrets::absent().map(KeyError::Keychain) } else { Some(KeyError::Off) }
    }

    /// What to do next to give a provider a key: the command is named only where there may be a keychain.
    pub fn how_to_set(&self, provider: &str) -> String {
        let variable = self.variable(provider);
        match self.no_keychain() {
            Some(_) => format!("Put its key into the environment variable {variable}."),
            None => format!("`scritorio keys set {provider}`, or the variable {variable}."),
        }
    }

    /// Finds the key of a provider: environment, then keychain.
    pub fn find(&self, provider: &str) -> Result<Option<(ApiKey, Origin)>, KeyError> {
        if let Some(key) = self.in_environment(provider) {
            return Ok(Some((key?, Origin::Environment)));
        }
        if !self.keychain {
            return Ok(None);
        }
        let known = self.found().get(provider).cloned();
        let key = match known {
            Some(key) => Some(key),
            None => secrets::in_keychain(provider)?,
        };
        Ok(key.map(|key| {
            self.found().insert(provider.to_owned(), key.clone());
            (key, Origin::Keychain)
        }))
    }

    /// Finds the key of a provider that can't do without, or says how to set one.
    pub(super) fn require(&self, provider: &str) -> Result<ApiKey, Failure> {
        let variable = self.variable(provider);
        let set = match self.no_keychain() {
            Some(_) => format!("Put one into the environment variable {variable}."),
            None => format!(
                "Set one with `scritorio keys set {provider}`, or put it into the environment variable {variable}."
            ),
        };
        let missing = |message: String| Failure {
            kind: FailureKind::Provider,
            message,
            hint: format!("{set} Without a key, `--provider offline` answers from the book alone."),
        };
        match self.find(provider) {
            Ok(Some((key, _))) => Ok(key),
            Ok(None) | Err(KeyError::Keychain(KeychainError::None(_))) => {
                Err(missing(format!("There is no key for the provider `{provider}`.")))
            }
            Err(KeyError::Bad(e)) => Err(missing(format!("The key in {variable} can't be used: {e}."))),
            Err(e) => Err(missing(format!("The key for the provider `{provider}` can't be read: {e}."))),
        }
    }

    /// Puts a key into the keychain.
    pub fn set(&self, provider: &str, raw: &str) -> Result<(), KeyError> {
        let key = ApiKey::new(raw)?;
        if !self.keychain {
            return Err(KeyError::Off);
        }
        secrets::set(provider, &key)?;
        self.found().insert(provider.to_owned(), key);
        self.mark(provider, true)
    }

    /// Deletes a key from the keychain. `false`: there was none.
    pub fn delete(&self, provider: &str) -> Result<bool, KeyError> {
        if !self.keychain {
            return Err(KeyError::Off);
        }
        let deleted = secrets::delete(provider)?;
        self.found().remove(provider);
        self.mark(provider, false)?;
        Ok(deleted)
    }

    /// Says where the key of a provider is. Asks the keychain.
    pub fn status(&self, provider: &str) -> KeyStatus {
        let (source, problem) = match self.find(provider) {
            Ok(Some((_, Origin::Environment))) => ("environment", None),
            Ok(Some((_, Origin::Keychain))) => ("keychain", None),
            Ok(None) => ("none", (!self.keychain).then(|| KeyError::Off.to_string())),
            Err(e @ (KeyError::Bad(_) | KeyError::Keychain(KeychainError::None(_)))) => {
                ("none", Some(e.to_string()))
            }
            Err(e) => ("unknown", Some(e.to_string())),
        };
        KeyStatus { provider: provider.to_owned(), source, variable: self.variable(provider), problem }
    }

    fn in_environment(&self, provider: &str) -> Option<Result<ApiKey, BadKey>> {
        if self.environment { secrets::in_environment(&self.variable(provider)) } else { None }
    }

    fn found(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, ApiKey>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn marker_path(&self) -> PathBuf {
        self.data.join("keychain.json")
    }

    fn marker(&self) -> Marker {
        let bytes = std::fs::read(self.marker_path()).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn mark(&self, provider: &str, set: bool) -> Result<(), KeyError> {
        let mut marker = self.marker();
        let known = marker.keychain.iter().any(|p| p == provider);
        if known == set {
            return Ok(());
        }
        marker.v = 1;
        marker.keychain.retain(|p| p != provider);
        if set {
            marker.keychain.push(provider.to_owned());
        }
        let path = self.marker_path();
        std::fs::create_dir_all(&self.data)
            .and_then(|()| atomic::write(&self.data, &path, &serde_json::to_vec(&marker)?))
            .map_err(|source| KeyError::Io { path, source })
    }
}

/// The variables that the author's settings name. Settings that can't be read are told of elsewhere.
fn own_variables(surroundings: &Surroundings) -> BTreeMap<String, String> {
    let settings = UserSettings::load(&surroundings.folders.settings_file());
    let providers = settings.map(|(settings, _)| settings.providers).unwrap_or_default();
    providers.into_iter().filter_map(|(name, said)| Some((name, said.key_variable?))).collect()
}

impl Workbench {
    /// Returns the keys of all providers: find, set, delete, status.
    pub fn keys(&self) -> &Keys {
        &self.inner.keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_environment_and_keychain_a_missing_key_says_how_to_set_one() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::new(&Surroundings::in_folders(folder.path()));
        assert!(!keys.is_likely("openai"));
        let failure = keys.require("openai").unwrap_err();
        assert_eq!(failure.kind, FailureKind::Provider);
        assert!(failure.hint.contains("OPENAI_API_KEY"), "{failure:?}");
        assert!(!failure.hint.contains("keys set"), "that can't work here: {failure:?}");
        assert!(!keys.how_to_set("openai").contains("keys set"));
        assert!(matches!(keys.set("openai", "sk-x"), Err(KeyError::Off)));
        assert_eq!(keys.status("openai").source, "none");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn that_a_key_was_set_is_known_without_asking_the_keychain() {
        let folder = tempfile::tempdir().unwrap();
        let mut surroundings = Surroundings::in_folders(folder.path());
        surroundings.keys = true;
        let keys = Keys::new(&surroundings);
        keys.mark("some-provider", true).unwrap();
        assert!(keys.is_likely("some-provider"));
        let marker = std::fs::read_to_string(folder.path().join("data/keychain.json")).unwrap();
        assert_eq!(marker, r#"{"v":1,"keychain":["some-provider"]}"#);
        keys.mark("some-provider", false).unwrap();
        assert!(!keys.is_likely("some-provider"));
    }

    #[test]
    fn keys_are_never_printed_with_what_holds_them() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::new(&Surroundings::in_folders(folder.path()));
        keys.found().insert("openai".into(), ApiKey::new("sk-hidden").unwrap());
        assert!(!format!("{keys:?}").contains("sk-hidden"));
    }
}
