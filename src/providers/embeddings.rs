//! Vectors of texts from a server (`POST /embeddings`), for finding them by what they mean.
//!
//! Used only where the author named a model for it. What is sent is the texts and the model's name, nothing else, and nothing is sent twice.
//!
//! Facts: <https://platform.openai.com/docs/api-reference/embeddings/create>.

use serde::Deserialize;
use serde_json::json;

use super::client::{Answer, ApiKey, Client, Key, Problem, Server, Wait};
use super::responses::OPENAI;
use super::{Carried, End, Noted, Sending, Witness};
use crate::domain::conversation::Failure;

/// Texts in one request: the service takes 2,048, and 300,000 tokens in all.
pub const BATCH: usize = 64;

/// Most bytes of one answer: 64 vectors of 4,096 numbers, written out.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// A server that makes vectors of texts.
#[derive(Debug)]
pub struct Embeddings {
    client: Client,
    server: Server,
    key: ApiKey,
    model: String,
}

#[derive(Deserialize)]
struct Answered {
    data: Vec<One>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    prompt_tokens: Option<u64>,
}

/// Vectors of texts.
#[derive(Debug, Clone, Default, PartialEq)]
struct Embedded {
    /// One for each text, in their order.
    vectors: Vec<Vec<f32>>,
    /// Tokens of the texts, if the server says so.
    tokens: Option<u64>,
}

#[derive(Deserialize)]
struct One {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Embeddings {
    /// OpenAI, or what stands at `base` instead.
    pub fn openai(client: Client, base: Option<&str>, key: ApiKey, model: &str) -> Result<Self, Failure> {
        let base = base.map_or(OPENAI, str::trim);
        let server = Server::new("openai", base, "/embeddings", Some("OPENAI_API_KEY"))?;
        Ok(Self { client, server, key, model: model.to_owned() })
    }

    /// Returns the address that texts are sent to, and the model, for what is shown to the author.
    pub fn destination(&self) -> String {
        format!("{} ({})", self.server.address(), self.model)
    }

    /// Returns a vector for each of at most [`BATCH`] texts, in their order. `witness` notes what leaves before it leaves.
    pub async fn embed(&self, texts: &[String], witness: &dyn Witness) -> Result<Vec<Vec<f32>>, Failure> {
        let key = self.key.get().await;
        let body = json!({"model": self.model, "input": texts, "encoding_format": "float"}).to_string();
        let sending = Sending {
            destination: self.server.address(),
            provider: self.server.name(),
            body: &body,
            of: Carried::Texts { model: &self.model, texts },
        };
        let mut noted = witness.sending(sending).await?;
        let heard = self.ask(body, texts.len(), key.as_ref(), &mut noted).await;
        let may_have_cost =
            |problem: &Problem| problem.may_have_cost() || matches!(problem, Problem::NotAnAnswer(_));
        if heard.as_ref().is_err_and(may_have_cost) {
            noted.lost();
        }
        match &heard {
            Ok(embedded) => {
                noted.used(embedded.tokens);
                noted.ended(End::Answered, None);
            }
            Err(Problem::Refused(refusal)) => noted.ended(End::Failed, refusal.status),
            Err(_) => noted.ended(End::Failed, None),
        }
        let vectors = heard.map(|embedded| embedded.vectors);
        vectors.map_err(|problem| problem.failure(&self.server, &self.model, key.as_ref()))
    }

    async fn ask(
        &self,
        body: String,
        count: usize,
        key: Option<&Key>,
        noted: &mut Noted,
    ) -> Result<Embedded, Problem> {
        let limits = self.client.timeouts();
        let mut answer: Answer = self
            .client
            .post(&self.server, key, body, noted.leaving(), Wait::First(limits.first_byte))
            .await?;
        noted.answering(answer.status(), answer.received());
        let bytes = answer.read(MAX_ANSWER, limits.total).await;
        in_order(&bytes, count).ok_or_else(|| Problem::NotAnAnswer("no list of vectors".into()))
    }
}

/// Reads `count` vectors, by their index where they have one. `None` where one is missing or is no vector.
fn in_order(bytes: &[u8], count: usize) -> Option<Embedded> {
    let answered: Answered = serde_json::from_slice(bytes).ok()?;
    let mut vectors = vec![vec![]; count];
    for (place, one) in answered.data.into_iter().enumerate() {
        *vectors.get_mut(one.index.unwrap_or(place))? = one.embedding;
    }
    let tokens = answered.usage.and_then(|usage| usage.prompt_tokens);
    vectors.iter().all(|vector| !vector.is_empty()).then_some(Embedded { vectors, tokens })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_their_texts_or_not_at_all() {
        let answer = br#"{"data":[{"index":1,"embedding":[2]},{"index":0,"embedding":[1,0.5]}],"model":"m","usage":{"prompt_tokens":7}}"#;
        let vectors = vec![vec![1.0, 0.5], vec![2.0]];
        assert_eq!(in_order(answer, 2), Some(Embedded { vectors, tokens: Some(7) }));
        assert_eq!(
            in_order(br#"{"data":[{"embedding":[1]},{"embedding":[2]}]}"#, 2),
            Some(Embedded { vectors: vec![vec![1.0], vec![2.0]], tokens: None })
        );
        for bad in [&b"{}"[..], b"<html>", br#"{"data":[]}"#, br#"{"data":[{"index":7,"embedding":[1]}]}"#] {
            assert_eq!(in_order(bad, 1), None);
        }
    }
}
