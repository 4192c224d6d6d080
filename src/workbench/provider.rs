//! Providers by name.

use std::sync::{Arc, PoisonError};

use crate::domain::book::Book;
use crate::domain::conversation::{Failure, FailureKind};
use crate::providers::Provider;
use crate::providers::client::ApiKey;
use crate::providers::offline::{self, OfflineReader};
use crate::providers::remote::Remote;
use crate::providers::responses::DEFAULT_MODEL;
use crate::tools::Registry;

use super::Workbench;

/// The OpenAI Responses API, and servers that speak it.
pub const OPENAI: &str = "openai";
/// The reader inside the program.
pub const OFFLINE: &str = offline::NAME;
/// All providers.
pub const NAMES: [&str; 2] = [OPENAI, OFFLINE];

/// Returns the model that a provider uses where nobody names one.
pub(super) fn default_model(provider: &str) -> &'static str {
    if provider == OFFLINE { offline::NAME } else { DEFAULT_MODEL }
}

impl Workbench {
    /// Returns a provider. A server is asked for with its key when something is sent, not before.
    pub(super) fn provider(
        &self,
        name: &str,
        book: &Arc<Book>,
        registry: &Arc<Registry>,
        persona: &str,
    ) -> Result<Arc<dyn Provider>, Failure> {
        match name {
            OFFLINE => Ok(Arc::new(OfflineReader::new(Arc::clone(book), Arc::clone(registry), persona))),
            OPENAI => Ok(self.openai()?),
            _ => Err(unknown(name)),
        }
    }

    /// Returns where a provider sends what it is asked.
    pub(super) fn destination(&self, name: &str) -> Result<String, Failure> {
        match name {
            OFFLINE => {
                let (book, nothing) = (Arc::default(), Arc::new(Registry::canon_only()));
                Ok(OfflineReader::new(book, nothing, "").destination())
            }
            OPENAI => Ok(self.openai()?.destination()),
            _ => Err(unknown(name)),
        }
    }

    fn openai(&self) -> Result<Arc<Remote>, Failure> {
        let base = self.choices().base_url.value;
        let mut servers = self.inner.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = servers.get(&base) {
            return Ok(Arc::clone(server));
        }
        let keys = self.inner.keys.clone();
        let key = ApiKey::from_fn(move || keys.find(OPENAI).ok()?.map(|(key, _)| key.expose().to_owned()));
        let client = self.client()?;
        let server = Arc::new(Remote::openai(client, base.as_deref(), key)?);
        servers.insert(base, Arc::clone(&server));
        Ok(server)
    }
}

fn unknown(name: &str) -> Failure {
    Failure {
        kind: FailureKind::Provider,
        message: format!("There is no provider `{name}`."),
        hint: format!("The providers are: {}.", NAMES.join(", ")),
    }
}
