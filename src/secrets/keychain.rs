//! The system's keychain: Keychain, Credential Manager or Secret Service.
//!
//! Its calls know no time limit, and a locked Secret Service never answers; so each runs on a thread of its own that is left
//! behind when five seconds are over. Nothing here waits longer, and no error repeats a key.

use std::sync::mpsc;
use std::time::Duration;

use keyring_core::{Entry, Error};

use super::ApiKey;

const SERVICE: &str = "scritorio";
const PATIENCE: Duration = Duration::from_secs(5);

/// Why the keychain gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeychainError {
    /// There is none, as on a machine without a desktop.
    #[error("there is no keychain on this machine ({0})")]
    None(String),
    /// It did not answer in time; most often it waits for its owner to unlock it.
    #[error("the keychain did not answer within 5 seconds; it may be locked")]
    Silent,
    /// It said no.
    #[error("the keychain refused: {0}")]
    Refused(String),
}

/// Returns what the keychain holds for a provider.
pub(super) fn get(provider: &str) -> Result<Option<String>, KeychainError> {
    with_entry(provider, |entry| match entry.get_password() {
        Err(Error::NoEntry) => Ok(None),
        other => other.map(Some),
    })
}

/// Puts a key into the keychain, in place of an older one.
pub fn set(provider: &str, key: &ApiKey) -> Result<(), KeychainError> {
    let key = key.clone();
    with_entry(provider, move |entry| entry.set_password(key.expose()))
}

/// Deletes a key from the keychain. `false`: there was none.
pub fn delete(provider: &str) -> Result<bool, KeychainError> {
    with_entry(provider, |entry| match entry.delete_credential() {
        Err(Error::NoEntry) => Ok(false),
        other => other.map(|()| true),
    })
}

fn with_entry<T: Send + 'static>(
    provider: &str,
    ask: impl FnOnce(Entry) -> Result<T, Error> + Send + 'static,
) -> Result<T, KeychainError> {
    let provider = provider.to_owned();
    patiently(PATIENCE, move || {
        if keyring_core::get_default_store().is_none()
            && let Err(e) = keyring::Entry::store_status()
        {
            return Err(KeychainError::None(one_line(e)));
        }
        Entry::new(SERVICE, &provider).and_then(ask).map_err(|e| match e {
            Error::NoDefaultStore => KeychainError::None(one_line(&e)),
            e => KeychainError::Refused(one_line(&e)),
        })
    })
}

/// Runs `ask` on a detached thread, so that one that never returns can't hold up even the program's end.
fn patiently<T: Send + 'static>(
    patience: Duration,
    ask: impl FnOnce() -> Result<T, KeychainError> + Send + 'static,
) -> Result<T, KeychainError> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(ask()));
    receiver.recv_timeout(patience).unwrap_or(Err(KeychainError::Silent))
}

fn one_line(error: &Error) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::sync::Once;

    use keyring_core::mock;

    use super::*;

    fn with_mock() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| keyring_core::set_default_store(mock::Store::new().unwrap()));
    }

    #[test]
    fn a_key_goes_in_comes_out_and_is_deleted() {
        with_mock();
        assert_eq!(super::super::in_keychain("round-trip"), Ok(None));
        let key = ApiKey::new("sk-1").unwrap();
        set("round-trip", &key).unwrap();
        assert_eq!(super::super::in_keychain("round-trip"), Ok(Some(key)));
        assert_eq!(delete("round-trip"), Ok(true));
        assert_eq!(delete("round-trip"), Ok(false));
    }

    #[test]
    fn a_locked_keychain_says_so_without_a_key() {
        with_mock();
        set("locked", &ApiKey::new("sk-hidden").unwrap()).unwrap();
        let entry = Entry::new(SERVICE, "locked").unwrap();
        let credential: &mock::Cred = entry.as_any().downcast_ref().unwrap();
        credential.set_error(Error::NoStorageAccess("locked".into()));
        let error = get("locked").unwrap_err().to_string();
        assert!(error.contains("locked") && !error.contains("sk-hidden"), "{error}");
    }

    #[test]
    fn a_keychain_that_never_answers_is_not_waited_for() {
        let (_keep, never) = mpsc::channel::<()>();
        let asked = patiently(Duration::from_millis(20), move || {
            let _ = never.recv();
            Ok(())
        });
        assert_eq!(asked, Err(KeychainError::Silent));
    }
}
