//! The system's keychain: Keychain, Credential Manager or Secret Service.
//!
//! Its calls know no time limit, and a locked Secret Service never answers; so each runs on a thread of its own that is left
//! behind when five seconds are over. Nothing here waits longer, and no error repeats a key.

#[cfg(target_os = "linux")]
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use keyring_core::{Entry, Error};

use super::ApiKey;

const SERVICE: &str = "scritorio";
const PATIENCE: Duration = Duration::from_secs(5);

/// Why the keychain gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeychainError {
    /// There is none, as on a machine without a desktop. Holds what the system said, for debugging alone.
    #[error("{NONE}")]
    None(String),
    /// It did not answer in time; most often it waits for its owner to unlock it.
    #[error("the keychain did not answer within 5 seconds; it may be locked")]
    Silent,
    /// It said no.
    #[error("the keychain refused: {0}")]
    Refused(String),
}

/// What an author can do with the news that there is no keychain.
#[cfg(target_os = "linux")]
const NONE: &str = "there is no keychain on this machine: no Secret Service (GNOME Keyring, KWallet, KeePassXC) runs in this session, as is usual without a desktop";
#[cfg(not(target_os = "linux"))]
const NONE: &str = "there is no keychain on this machine that this program may use";

/// Puts what the system said into words.
fn explained(error: &Error) -> KeychainError {
    let said = one_line(error);
    let lower = said.to_lowercase();
    match error {
        Error::NoDefaultStore => KeychainError::None(said),
        Error::NoStorageAccess(_) => {
            KeychainError::Refused("it is locked, or its owner did not let this program in".into())
        }
        // The bus of a session is not there, or nobody on it keeps secrets.
        _ if ["zbus", "dbus", "d-bus", "secret service"].iter().any(|name| lower.contains(name)) => {
            KeychainError::None(said)
        }
        _ => KeychainError::Refused(said),
    }
}

/// Says whether there is certainly no keychain, from what stands in the environment and on disk: at once, and without asking anybody.
/// That one may be there does not say that it answers.
pub fn absent() -> Option<KeychainError> {
    #[cfg(target_os = "linux")]
    return no_bus(|name| std::env::var(name).ok(), Path::exists);
    #[cfg(not(target_os = "linux"))]
    None
}

/// The Secret Service is reached over the bus of the session. Where its address is looked for:
/// <https://dbus.freedesktop.org/doc/dbus-specification.html#message-bus-types-login>.
#[cfg(target_os = "linux")]
fn no_bus(
    environment: impl Fn(&str) -> Option<String>,
    exists: impl Fn(&Path) -> bool,
) -> Option<KeychainError> {
    use std::os::unix::fs::MetadataExt;

    let set = |name: &str| environment(name).filter(|value| !value.is_empty());
    let socket: PathBuf = if let Some(address) = set("DBUS_SESSION_BUS_ADDRESS") {
        // Any other kind of address can't be judged by looking at the disk.
        address.strip_prefix("unix:path=")?.split([',', ';']).next()?.into()
    } else {
        let own = || Some(format!("/run/user/{}", std::fs::metadata("/proc/self").ok()?.uid()));
        PathBuf::from(set("XDG_RUNTIME_DIR").or_else(own)?).join("bus")
    };
    (!exists(&socket)).then(|| KeychainError::None("the session has no bus".into()))
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
        Entry::new(SERVICE, &provider).and_then(ask).map_err(|e| explained(&e))
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
    fn what_the_system_says_is_put_into_words() {
        let zbus = "zbus error: org.freedesktop.DBus.Error.ServiceUnknown: The name was not provided";
        let error = explained(&Error::PlatformFailure(zbus.into()));
        assert!(matches!(&error, KeychainError::None(said) if said.contains("ServiceUnknown")), "{error:?}");
        let words = error.to_string();
        assert!(words.contains("no keychain") && !words.contains("zbus"), "{words}");
        let denied = explained(&Error::NoStorageAccess("errSecAuthFailed -25293".into())).to_string();
        assert!(denied.contains("locked") && !denied.contains("25293"), "{denied}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn where_the_session_has_no_bus_there_is_no_keychain() {
        let absent = |address: Option<&str>, folder: Option<&str>, there: &[&str]| {
            let environment = |name: &str| {
                let value = if name == "XDG_RUNTIME_DIR" { folder } else { address };
                value.map(str::to_owned)
            };
            no_bus(environment, |path| there.iter().any(|one| Path::new(one) == path)).is_some()
        };
        assert!(absent(None, Some("/run/user/1"), &[]));
        assert!(!absent(None, Some("/run/user/1"), &["/run/user/1/bus"]));
        assert!(absent(Some("unix:path=/gone,guid=1"), Some("/run/user/1"), &["/run/user/1/bus"]));
        assert!(!absent(Some("unix:path=/tmp/bus,guid=1"), None, &["/tmp/bus"]));
        assert!(!absent(Some("unix:abstract=/tmp/dbus-x"), None, &[]), "nobody knows without asking");
        assert!(absent(Some(""), None, &[]));
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
