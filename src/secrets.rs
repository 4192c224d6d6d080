//! API keys: where they come from, and a type that never shows them.
//!
//! A key comes from the environment or from the system's keychain, never from a file of ours, and is shown nowhere: not in a log, an error,
//! a conversation, the provenance or the peek view. The keychain is asked only when a key is needed.

mod keychain;

use std::fmt;

pub use keychain::{KeychainError, absent, delete, set};

/// An API key. `Debug` and `Display` print `[redacted]`.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// A text that can't be a key. Says nothing about the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// There is nothing.
    #[error("the key is empty")]
    Empty,
    /// A key goes into an HTTP header, so it is one word of visible ASCII.
    #[error(
        "a key is one word without spaces, control characters or letters beyond ASCII; was something else pasted?"
    )]
    Characters,
}

impl ApiKey {
    /// Takes a key as it was typed or pasted; white space around it is dropped.
    pub fn new(raw: &str) -> Result<Self, BadKey> {
        let key = raw.trim();
        if key.is_empty() {
            return Err(BadKey::Empty);
        }
        if !key.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(BadKey::Characters);
        }
        Ok(Self(key.to_owned()))
    }

    /// Returns the key itself, for the one header that it goes into.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// Where a key was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// In the provider's environment variable.
    Environment,
    /// In the system's keychain.
    Keychain,
}

/// Returns the environment variable that holds a provider's key: `OPENAI_API_KEY` for `openai`.
pub fn variable(provider: &str) -> String {
    let name: String = provider
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    format!("{name}_API_KEY")
}

/// Returns the key in an environment variable. An empty variable is none.
pub fn in_environment(variable: &str) -> Option<Result<ApiKey, BadKey>> {
    let raw = std::env::var(variable).ok()?;
    (!raw.trim().is_empty()).then(|| ApiKey::new(&raw))
}

/// Returns a provider's key from the keychain. May take as long as its owner needs to unlock it, at most five seconds.
pub fn in_keychain(provider: &str) -> Result<Option<ApiKey>, KeychainError> {
    let Some(raw) = keychain::get(provider)? else { return Ok(None) };
    ApiKey::new(&raw).map(Some).map_err(|e| KeychainError::Refused(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = ApiKey::new(" sk-abcdef123456\n").unwrap();
        assert_eq!(format!("{key} {key:?} {:?}", Some(&key)), "[redacted] [redacted] Some([redacted])");
        assert_eq!(key.expose(), "sk-abcdef123456");
    }

    #[test]
    fn what_can_be_no_key_is_refused_without_repeating_it() {
        for raw in ["", "  ", "sk abc", "sk-\u{fc}x", "sk-x\r\nHost: elsewhere", "sk\0x"] {
            let error = ApiKey::new(raw).unwrap_err().to_string();
            assert!(!error.contains("sk"), "{error}");
        }
    }

    #[test]
    fn every_provider_has_its_variable() {
        assert_eq!(variable("openai"), "OPENAI_API_KEY");
        assert_eq!(variable("my-server.2"), "MY_SERVER_2_API_KEY");
    }
}
