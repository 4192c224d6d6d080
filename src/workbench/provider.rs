//! Providers by name.

use std::sync::{Arc, PoisonError};

use crate::domain::conversation::{Failure, FailureKind};
use crate::providers::client::{ApiKey, Client, Timeouts};
use crate::providers::offline::{self, Offline};
use crate::providers::responses::{DEFAULT_MODEL, Responses};
use crate::providers::Provider;

use super::Workbench;

/// The OpenAI Responses API, and servers that speak it.
pub const OPENAI: &str = "openai";
/// The reader inside the program.
pub const OFFLINE: &str = "offline";
/// All providers.
pub const NAMES: [&str; 2] = [OPENAI, OFFLINE];

/// Returns the model that a provider uses where nobody names one.
pub(super) fn default_model(provider: &str) -> &'static str {
    if provider == OFFLINE { offline::MODEL } else { DEFAULT_MODEL }
}

impl Workbench {
    /// Returns a provider. It asks for its key when it sends, not before.
    pub(super) fn provider(&self, name: &str) -> Result<Arc<dyn Provider>, Failure> {
        let base = self.choices().base_url.value;
        let mut made = self.inner.providers.lock().unwrap_or_else(PoisonError::into_inner);
        let id = (name.to_owned(), base.clone());
        if let Some(provider) = made.get(&id) {
            return Ok(Arc::clone(provider));
        }
        let provider: Arc<dyn Provider> = match name {
            OFFLINE => Arc::new(Offline),
            OPENAI => {
                let keys = self.inner.keys.clone();
                let key = ApiKey::from_fn(move || keys.find(OPENAI).ok()?.map(|(key, _)| key.expose().to_owned()));
                Arc::new(Responses::openai(Client::new(Timeouts::default())?, base.as_deref(), key)?)
            }
            _ => {
                return Err(Failure {
                    kind: FailureKind::Provider,
                    message: format!("There is no provider `{name}`."),
                    hint: format!("The providers are: {}.", NAMES.join(", ")),
                });
            }
        };
        made.insert(id, Arc::clone(&provider));
        Ok(provider)
    }
}
