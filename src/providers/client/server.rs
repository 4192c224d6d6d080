//! A server: its name in settings, its address, and whether a key may go there.

use std::net::IpAddr;

use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};

use crate::domain::conversation::{Failure, FailureKind};
use crate::domain::safe_text;

/// The address that one provider posts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    name: String,
    url: Url,
    key_variable: Option<String>,
    key_header: Option<HeaderName>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Server {
    /// Takes `base`, the address up to `/v1` or what stands for it, and appends `path`.
    ///
    /// `name` is the provider's name in settings, `key_variable` the environment variable that its key may be in. User name,
    /// password, query and fragment in the address are dropped: a key has its own place, and the address is shown.
    pub fn new(name: &str, base: &str, path: &str, key_variable: Option<&str>) -> Result<Self, Failure> {
        let bad = |why: &str| Failure {
            kind: FailureKind::Provider,
            message: format!(
                "The address of the provider `{name}` can't be used: {why}: {}",
                safe_text::line(&without_credentials(base))
            ),
            hint: "Give the address up to `/v1`, for example `https://api.openai.com/v1`.".into(),
        };
        let mut url = Url::parse(base.trim()).map_err(|e| bad(&e.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(bad("it must begin with https:// or http:// and name a host"));
        }
        let parts = url.set_username("").and_then(|()| url.set_password(None));
        parts.map_err(|()| bad("its user name can't be dropped"))?;
        url.set_query(None);
        url.set_fragment(None);
        let whole = url.path().trim_end_matches('/');
        let whole = if whole.ends_with(path) { whole.to_owned() } else { format!("{whole}{path}") };
        url.set_path(&whole);
        let key_variable = key_variable.map(str::to_owned);
        Ok(Self { name: name.to_owned(), url, key_variable, key_header: None, headers: vec![] })
    }

    /// Says in which header the key goes, where that is not `Authorization`, and what else every request carries. A name or value that no
    /// header may have is left out.
    #[must_use]
    pub fn with_headers<'h>(
        mut self,
        key_header: Option<&str>,
        headers: impl IntoIterator<Item = (&'h str, &'h str)>,
    ) -> Self {
        self.key_header = key_header.and_then(|name| name.parse().ok());
        self.headers = headers
            .into_iter()
            .filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)))
            .collect();
        self
    }

    /// Returns the header that the key goes in, where that is not `Authorization`.
    pub(super) fn key_header(&self) -> Option<&HeaderName> {
        self.key_header.as_ref()
    }

    /// Returns what every request carries besides the key.
    pub(super) fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> + '_ {
        self.headers.iter().cloned()
    }

    /// Returns the provider's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the whole address; it holds no credentials.
    pub(super) fn url(&self) -> Url {
        self.url.clone()
    }

    /// Returns the whole address as text.
    pub fn address(&self) -> &str {
        self.url.as_str()
    }

    /// Returns the host for messages, with its port where one is given.
    pub fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// Returns how to give this provider a key.
    pub fn how_to_set_a_key(&self) -> String {
        let command = format!("`scritorio keys set {}`", self.name);
        match &self.key_variable {
            Some(variable) => format!("{command}, or the variable {variable}"),
            None => command,
        }
    }

    /// Whether a key that is sent there stays unread by others: by TLS, or on this machine or its local network.
    pub(super) fn may_have_the_key(&self) -> bool {
        self.url.scheme() == "https" || self.is_near()
    }

    /// Whether it stands on this machine or in its local network.
    pub fn is_near(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        match host.parse::<IpAddr>() {
            Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
            Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
            Err(_) => {
                !host.contains('.')
                    || [".localhost", ".local", ".lan", ".home.arpa", ".internal"]
                        .iter()
                        .any(|end| host.ends_with(end))
            }
        }
    }
}

/// Returns what can be shown of an address that may not even parse: nothing before an `@`.
fn without_credentials(raw: &str) -> String {
    raw.rsplit('@').next().unwrap_or_default().chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(base: &str) -> Server {
        Server::new("openai", base, "/responses", Some("OPENAI_API_KEY")).unwrap()
    }

    #[test]
    fn the_path_is_appended_once() {
        for base in ["https://h/v1", " https://h/v1/ ", "https://h/v1/responses", "https://a:b@h/v1?key=c#d"]
        {
            assert_eq!(server(base).address(), "https://h/v1/responses", "{base}");
        }
        assert_eq!(server("http://localhost:8080").address(), "http://localhost:8080/responses");
    }

    #[test]
    fn a_host_is_named_with_its_port_only_where_one_is_given() {
        assert_eq!(server("https://api.openai.com/v1").host(), "api.openai.com");
        assert_eq!(server("http://[::1]:8080/v1").host(), "[::1]:8080");
    }

    #[test]
    fn an_address_that_is_none_is_refused_without_its_password() {
        for base in ["", "api.openai.com", "file:///etc/passwd", "http://", "ftp://me:secret@h/"] {
            let failure = Server::new("openai", base, "/responses", None).unwrap_err();
            assert!(!failure.message.contains("secret"), "{failure:?}");
        }
    }

    #[test]
    fn a_key_goes_over_tls_or_stays_near() {
        for base in [
            "https://h/v1",
            "http://localhost:1",
            "http://127.0.0.1",
            "http://[::1]",
            "http://10.0.0.2",
            "http://box.local",
        ] {
            assert!(server(base).may_have_the_key(), "{base}");
        }
        for base in ["http://api.openai.com/v1", "http://8.8.8.8", "http://localhost.evil.com"] {
            assert!(!server(base).may_have_the_key(), "{base}");
        }
    }
}
