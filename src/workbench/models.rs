//! The models of a provider: asked of its server, with context and price as far as anybody says them.

use serde::Serialize;

use crate::domain::conversation::{Failure, FailureKind};
use crate::domain::price::{Price, Prices, Source};
use crate::providers::client::ApiKey;
use crate::providers::models::{self, Model};
use crate::providers::prices;
use crate::store::listed_models::{self, ListedModel};

use super::Workbench;
use super::money::host_of;
use super::provider::OFFLINE;

/// What a provider can be asked with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelList {
    /// The provider.
    pub provider: String,
    /// Where its server was asked.
    pub address: String,
    /// Its models, those that answer questions first, each group in the server's order.
    pub models: Vec<ModelRow>,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelRow {
    /// Its name in requests and settings.
    pub id: String,
    /// Its name for people.
    pub title: Option<String>,
    /// Tokens that it holds.
    pub context: Option<u64>,
    /// Whether it calls tools, where the server says so.
    pub tools: Option<bool>,
    /// US dollars for a million tokens, and who says so.
    pub prices: Option<Prices>,
    /// Whether it most likely answers questions, rather than making vectors, pictures or sound.
    pub converses: bool,
    /// Whether the next question would go to it.
    pub chosen: bool,
}

impl Workbench {
    /// Asks the server of a provider for its models. What it tells of contexts and prices is kept for later.
    pub fn models(&self, provider: &str) -> Result<ModelList, Failure> {
        if provider == OFFLINE {
            return Err(Failure {
                kind: FailureKind::Work,
                message: "The offline reader is no model, and has none to list.".into(),
                hint: "Name a provider with --provider: `scritorio providers` lists them.".into(),
            });
        }
        let preset = self.preset(provider)?;
        if preset.needs_key {
            self.keys().require(provider)?;
        }
        let address = preset.models()?.address().to_owned();
        let (keys, name) = (self.keys().clone(), provider.to_owned());
        let asked_for = preset.needs_key || keys.is_likely(provider);
        let key = ApiKey::from_fn(move || {
            let found = asked_for.then(|| keys.find(&name).ok().flatten()).flatten();
            found.map(|(key, _)| key.expose().to_owned())
        });
        let client = self.client()?;
        let listed = super::servers::wait(models::list(&client, &preset, key, &self.witness_of_check()))??;
        let worth = |model: &Model| model.context.is_some() || model.price.is_some();
        let known: Vec<ListedModel> = listed
            .iter()
            .filter(|model| worth(model))
            .map(|model| ListedModel { id: model.id.clone(), context: model.context, price: model.price })
            .collect();
        if !known.is_empty() {
            // Without it the list is asked for again another time.
            let _ = listed_models::keep(&self.inner.surroundings.folders.data, provider, &address, known);
        }
        let chosen = self.model_of(provider, None).value;
        let row = |model: Model| ModelRow {
            context: self.context_of(provider, &model.id),
            prices: self.prices(provider, &model.id),
            converses: model.converses(),
            chosen: model.id == chosen,
            id: model.id,
            title: model.title,
            tools: model.tools,
        };
        let mut rows: Vec<ModelRow> = listed.into_iter().map(row).collect();
        rows.sort_by_key(|row| !row.converses);
        Ok(ModelList { provider: provider.to_owned(), address, models: rows })
    }

    /// Returns how many tokens a model holds; `None`: nobody says so.
    pub fn context_of(&self, provider: &str, model: &str) -> Option<u64> {
        if let Some(own) = self.settings().prices.get(model).and_then(|own| own.context) {
            return Some(own);
        }
        let told = self.told(provider, model).and_then(|(told, _)| told.context);
        let listed = || prices::listed(host_of(&self.destination(provider).ok()?)?, model)?.context;
        told.or_else(listed)
    }

    /// Returns what the server of a provider said that a model costs.
    pub(super) fn told_prices(&self, provider: &str, model: &str) -> Option<Prices> {
        let (told, as_of) = self.told(provider, model)?;
        let standard: Price = told.price?;
        Some(Prices { standard, flex: None, priority: None, up_to: None, source: Source::Server { as_of } })
    }

    fn told(&self, provider: &str, model: &str) -> Option<(ListedModel, String)> {
        let address = self.preset(provider).ok()?.models().ok()?.address().to_owned();
        let list = listed_models::read(&self.inner.surroundings.folders.data, provider, &address)?;
        let told = list.models.into_iter().find(|known| known.id == model)?;
        Some((told, list.as_of))
    }

    /// Lets a model of a provider answer from now on.
    pub fn use_model(&self, provider: &str, model: &str) -> Result<(), super::settings::SettingError> {
        self.set_setting(&["providers", provider, "model"], Some(model.into()))
    }
}
