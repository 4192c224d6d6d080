//! The models of a server, where it lists them: OpenAI and what is like it, OpenRouter with prices, Ollama, Anthropic.
//!
//! Asked only when the author asks. A field that a server does not give stays open; nothing is added from elsewhere here.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use serde_json::Value;

use super::client::{ApiKey, Client, Problem};
use super::presets::Preset;
use super::wire::Protocol;
use super::{Carried, End, Sending, Witness};
use crate::domain::conversation::Failure;
use crate::domain::price::Price;

/// How long a list may take in all.
const PATIENCE: Duration = Duration::from_secs(20);

/// Most pages of a list that comes in pages.
const MAX_PAGES: usize = 20;

/// Tokens that prices are given for here; OpenRouter gives them for one.
const MILLION: f64 = 1_000_000.0;

/// Where servers say how many tokens a model holds: OpenRouter; Groq; vLLM; Mistral; LM Studio; Anthropic; Ollama; llama.cpp, whose own window is worth more than what
/// it was trained with.
const WINDOWS: [&[&str]; 9] = [
    &["context_length"],
    &["context_window"],
    &["max_model_len"],
    &["max_context_length"],
    &["loaded_context_length"],
    &["max_input_tokens"],
    &["details", "context_length"],
    &["meta", "n_ctx"],
    &["meta", "n_ctx_train"],
];

/// A model as its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Its name in requests.
    pub id: String,
    /// Its name for people.
    pub title: Option<String>,
    /// Tokens that it holds.
    pub context: Option<u64>,
    /// Whether it calls tools.
    pub tools: Option<bool>,
    /// What it costs.
    pub price: Option<Price>,
}

impl Model {
    /// Whether it most likely answers questions, by its name: it makes no vectors, pictures or sound.
    pub fn converses(&self) -> bool {
        const OTHERS: [&str; 13] = [
            "embed",
            "tts",
            "whisper",
            "dall-e",
            "image",
            "audio",
            "realtime",
            "transcribe",
            "moderation",
            "sora",
            "rerank",
            "davinci-002",
            "babbage-002",
        ];
        let id = self.id.to_lowercase();
        !OTHERS.iter().any(|other| id.contains(other))
    }
}

/// Asks a server for its models, in its order. Each request is noted by `witness` before it is sent.
pub async fn list(
    client: &Client,
    preset: &Preset,
    key: ApiKey,
    witness: &dyn Witness,
) -> Result<Vec<Model>, Failure> {
    let server = preset.models()?;
    let key = key.get().await;
    let failed = |problem: Problem| problem.failure(&server, "", key.as_ref());
    let (mut models, mut after) = (vec![], None::<String>);
    for _ in 0..MAX_PAGES {
        let mut query = vec![];
        if preset.wire == Protocol::Anthropic {
            query.push(("limit", "1000"));
        }
        query.extend(after.as_deref().map(|id| ("after_id", id)));
        let sending = Sending {
            destination: server.address(),
            provider: server.name(),
            body: "",
            of: Carried::Nothing,
        };
        let mut noted = witness.sending(sending).await?;
        let bytes = match client.get(&server, &query, key.as_ref(), PATIENCE).await {
            Ok(bytes) => bytes,
            Err(problem) => {
                let status = if let Problem::Refused(refusal) = &problem { refusal.status } else { None };
                noted.ended(End::Failed, status);
                return Err(failed(problem));
            }
        };
        noted.answering(200, Arc::new(AtomicU64::new(bytes.len() as u64)));
        noted.ended(End::Answered, None);
        let none = || failed(Problem::NotAnAnswer("no list of models".into()));
        let page: Value = serde_json::from_slice(&bytes).map_err(|_| none())?;
        models.extend(read(&page).ok_or_else(none)?);
        let more = page.get("has_more").and_then(Value::as_bool) == Some(true);
        let last = page.get("last_id").and_then(Value::as_str).map(str::to_owned);
        if !more || last.is_none() || last == after {
            break;
        }
        after = last;
    }
    Ok(models)
}

/// Reads a list of models in any of the shapes that servers use; `None`: it is none.
pub fn read(document: &Value) -> Option<Vec<Model>> {
    // OpenAI and Anthropic: `data`; Ollama: `models`; some gateways: the array alone.
    let list = document.get("data").or_else(|| document.get("models")).unwrap_or(document).as_array()?;
    Some(list.iter().filter_map(model).collect())
}

fn model(entry: &Value) -> Option<Model> {
    let text = |field: &str| entry.get(field).and_then(Value::as_str);
    let id = text("id").or_else(|| text("model")).or_else(|| text("name")).filter(|id| !id.is_empty())?;
    let title = text("display_name").or_else(|| text("name")).filter(|title| *title != id);
    let number = |path: &[&str]| path.iter().try_fold(entry, |value, key| value.get(key))?.as_u64();
    let listed = |field: &str| entry.get(field).and_then(Value::as_array);
    let takes_tools = |names: &Vec<Value>| names.iter().any(|name| name.as_str() == Some("tools"));
    let capability = || entry.get("capabilities")?.get("function_calling")?.as_bool();
    Some(Model {
        id: id.to_owned(),
        title: title.map(str::to_owned),
        context: WINDOWS.into_iter().find_map(number).filter(|tokens| *tokens > 0),
        tools: listed("supported_parameters")
            .map(takes_tools)
            .or_else(|| listed("capabilities").map(takes_tools))
            .or_else(capability),
        price: entry.get("pricing").and_then(price),
    })
}

/// OpenRouter's prices: US dollars for one token, as text. One below zero means that it depends.
fn price(pricing: &Value) -> Option<Price> {
    let amount = |field: &str| {
        let value = pricing.get(field)?;
        let dollars = value.as_str().map_or_else(|| value.as_f64(), |text| text.trim().parse().ok())?;
        Some(dollars * MILLION)
    };
    let price = Price {
        input: amount("prompt")?,
        cached_input: amount("input_cache_read").filter(|p| *p > 0.0),
        cache_write: amount("input_cache_write").filter(|p| *p > 0.0),
        output: amount("completion")?,
    };
    price.is_sound().then_some(price)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids(models: &[Model]) -> Vec<&str> {
        models.iter().map(|model| model.id.as_str()).collect()
    }

    #[test]
    fn every_shape_of_a_list_is_read() {
        let openai = json!({ "object": "list", "data": [
            { "id": "gpt-5-mini", "object": "model", "created": 1, "owned_by": "system" },
            { "id": "text-embedding-3-small", "object": "model" },
        ] });
        let models = read(&openai).unwrap();
        assert_eq!(ids(&models), ["gpt-5-mini", "text-embedding-3-small"]);
        assert!(models[0].converses() && !models[1].converses());
        assert_eq!((models[0].context, models[0].tools, models[0].price), (None, None, None));

        let ollama = json!({ "models": [{ "name": "qwen3:8b", "model": "qwen3:8b", "size": 5, "details": { "family": "qwen3" } }] });
        assert_eq!(ids(&read(&ollama).unwrap()), ["qwen3:8b"]);

        let anthropic = json!({ "data": [{ "type": "model", "id": "claude-sonnet-4-5", "display_name": "Claude Sonnet 4.5" }], "has_more": false });
        assert_eq!(read(&anthropic).unwrap()[0].title.as_deref(), Some("Claude Sonnet 4.5"));

        let of = |entry: Value| read(&json!([entry])).unwrap().remove(0);
        assert_eq!(of(json!({ "id": "groq", "context_window": 131_072 })).context, Some(131_072));
        assert_eq!(of(json!({ "id": "vllm", "max_model_len": 8192 })).context, Some(8192));
        let llama = json!({ "id": "llama", "meta": { "n_ctx_train": 2048, "n_ctx": 512 } });
        assert_eq!(of(llama).context, Some(512));
        let mistral =
            json!({ "id": "m", "max_context_length": 32_768, "capabilities": { "function_calling": true } });
        assert_eq!((of(mistral.clone()).context, of(mistral).tools), (Some(32_768), Some(true)));
    }

    #[test]
    fn openrouter_tells_prices_context_and_tools() {
        let entry = json!({ "data": [
            { "id": "openai/gpt-5-mini", "name": "OpenAI: GPT-5 Mini", "context_length": 400_000,
              "pricing": { "prompt": "0.00000025", "completion": "0.000002", "input_cache_read": "0.000000025", "request": "0" },
              "supported_parameters": ["tools", "max_tokens"] },
            { "id": "openrouter/auto", "context_length": 2_000_000, "pricing": { "prompt": "-1", "completion": "-1" }, "supported_parameters": [] },
        ] });
        let models = read(&entry).unwrap();
        let price = models[0].price.unwrap();
        assert!((price.input - 0.25).abs() < 1e-9 && (price.output - 2.0).abs() < 1e-9);
        assert!((price.cached_input.unwrap() - 0.025).abs() < 1e-9);
        assert_eq!((models[0].context, models[0].tools), (Some(400_000), Some(true)));
        assert_eq!((models[1].price, models[1].tools), (None, Some(false)));
    }

    #[test]
    fn what_is_no_list_is_none_and_half_an_entry_is_left_out() {
        for no_list in [json!({}), json!("x"), json!({ "data": {} }), json!(null)] {
            assert_eq!(read(&no_list), None);
        }
        let odd = json!([{ "id": "" }, { "name": 5 }, "x", { "id": "ok", "pricing": "free", "context_length": "many" }]);
        let models = read(&odd).unwrap();
        assert_eq!(ids(&models), ["ok"]);
        assert_eq!((models[0].price, models[0].context), (None, None));
    }
}
