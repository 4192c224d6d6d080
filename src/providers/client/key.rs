//! The key of a server, in types that never show it.

use std::fmt;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};

/// What stands in place of a key.
const REDACTED: &str = "[redacted]";

/// A shorter key is a dummy (`x`, `none`), and words that happen to hold it are no leak.
const SHORTEST: usize = 6;

/// Where a key comes from. It is asked anew for every request, so that a key that the author has just typed counts.
#[derive(Clone)]
pub struct ApiKey(Arc<dyn Fn() -> Option<String> + Send + Sync>);

impl ApiKey {
    /// Takes the key from `source`, which may block: it is called away from the tasks.
    pub fn from_fn(source: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(source))
    }

    /// For servers that want none.
    pub fn none() -> Self {
        Self::from_fn(|| None)
    }

    /// Asks for the key. An empty one is none.
    pub async fn get(&self) -> Option<Key> {
        let source = Arc::clone(&self.0);
        let key = tokio::task::spawn_blocking(move || source()).await.ok().flatten()?;
        let key = key.trim();
        (!key.is_empty()).then(|| Key(key.to_owned()))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// A key. Neither `Debug` nor an error shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Returns the header that carries it: `own`, or `Authorization` with a bearer. `None` where the key holds what no header may hold.
    pub(super) fn header(&self, own: Option<&HeaderName>) -> Option<(HeaderName, HeaderValue)> {
        let (name, text) = match own {
            Some(name) => (name.clone(), self.0.clone()),
            None => (AUTHORIZATION, format!("Bearer {}", self.0)),
        };
        let mut value = HeaderValue::from_str(&text).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// Replaces `key`, and whatever looks like an OpenAI key (in full or with stars in it), in a text that a server sent.
pub fn redact(text: &str, key: Option<&Key>) -> String {
    #[expect(clippy::expect_used, reason = "the pattern is a constant that a test compiles")]
    static LOOKS_LIKE_A_KEY: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\bsk-[\w*.-]{4,}").expect("a valid pattern"));
    let text = match key {
        Some(Key(key)) if key.len() >= SHORTEST => text.replace(key.as_str(), REDACTED),
        _ => text.to_owned(),
    };
    LOOKS_LIKE_A_KEY.replace_all(&text, REDACTED).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn key(raw: &str) -> Option<Key> {
        let raw = raw.to_owned();
        ApiKey::from_fn(move || Some(raw.clone())).get().await
    }

    #[tokio::test]
    async fn a_key_is_never_shown() {
        let key = key(" hunter2-hunter2\n").await.unwrap();
        assert_eq!(format!("{key:?} {:?}", ApiKey::none()), "[redacted] [redacted]");
        let (name, value) = key.header(None).unwrap();
        assert_eq!((name, value.to_str().unwrap()), (AUTHORIZATION, "Bearer hunter2-hunter2"));
        let (name, value) = key.header(Some(&HeaderName::from_static("x-api-key"))).unwrap();
        assert_eq!((name.as_str(), value.to_str().unwrap()), ("x-api-key", "hunter2-hunter2"));
        assert!(!format!("{:?} {value:?}", key.header(None)).contains("hunter2"));
    }

    #[tokio::test]
    async fn what_a_server_echoes_is_redacted() {
        let key = key("hunter2-hunter2").await;
        assert_eq!(
            redact("bad key hunter2-hunter2, or sk-proj-12****9z", key.as_ref()),
            "bad key [redacted], or [redacted]"
        );
        assert_eq!(redact("a task-force of sk-1", None), "a task-force of sk-1");
    }

    #[tokio::test]
    async fn an_empty_key_is_none_and_a_dummy_is_no_word_to_hide() {
        assert_eq!(key(" \n").await, None);
        assert_eq!(redact("no x here", key("x").await.as_ref()), "no x here");
        assert_eq!(key("a\nb").await.unwrap().header(None), None);
    }
}
