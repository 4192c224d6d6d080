//! Asking a server for a document: a list of its models.

use std::time::Duration;

use reqwest::header;
use tokio::time::timeout;

use super::{Client, Key, Phase, Problem, Refusal, Server, signed};

/// Most bytes of a document. OpenRouter's list of some hundred models is about half a megabyte.
const MAX_DOCUMENT: usize = 16 * 1024 * 1024;

impl Client {
    /// Gets the document at a server's address, as JSON or not, within `limit` for all of it.
    pub async fn get(
        &self,
        server: &Server,
        query: &[(&str, &str)],
        key: Option<&Key>,
        limit: Duration,
    ) -> Result<Vec<u8>, Problem> {
        match timeout(limit, self.document(server, query, key)).await {
            Ok(document) => document,
            Err(_) => Err(Problem::Silent(Phase::FirstByte, limit)),
        }
    }

    async fn document(
        &self,
        server: &Server,
        query: &[(&str, &str)],
        key: Option<&Key>,
    ) -> Result<Vec<u8>, Problem> {
        let mut url = server.url();
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = self.http.get(url).header(header::ACCEPT, "application/json");
        let request = signed(request, server, key)?;
        let mut response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                return Err(Problem::of_transport(&error, self.timeouts.connect, self.proxy_before(server)));
            }
        };
        let status = response.status().as_u16();
        let mut body = vec![];
        while let Some(bytes) = response.chunk().await.map_err(|_| Problem::CutOff)? {
            body.extend_from_slice(&bytes);
            if body.len() > MAX_DOCUMENT {
                return Err(Problem::TooMuch);
            }
        }
        match status {
            200..300 => Ok(body),
            300..400 => Err(Problem::Redirected(None)),
            _ => Err(Problem::Refused(Refusal::from_body(status, &body))),
        }
    }
}
