//! An embedding model over HTTP: the OpenAI `/embeddings` API, which many servers implement.

use std::time::Duration;

use afd_proto::Secret;
use reqwest::Client;
use serde::Deserialize;
use serde_json::json;

use super::super::endpoint::{EndpointError, key, status_error, temporary};
use super::{Embedder, Embedding, ModelError, normalize};
use crate::config::RecallSettings;
use crate::net::{self, BodyError};

/// Maximum size of a response body, in bytes.
const MAX_RESPONSE: usize = 32 << 20;
/// Maximum number of components of a vector.
const MAX_DIMENSIONS: usize = 8_192;

/// A configured endpoint for an embedding model.
pub struct EmbeddingEndpoint {
    client: Client,
    url: String,
    model: String,
    key: Option<Secret>,
    identity: String,
}

#[derive(Deserialize)]
struct Response {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

impl EmbeddingEndpoint {
    /// Creates the configured endpoint. Returns `None` if no endpoint is configured.
    ///
    /// # Errors
    /// If the key cannot be read or the HTTP client cannot be created.
    pub fn new(settings: &RecallSettings) -> Result<Option<Self>, EndpointError> {
        let Some(base) = &settings.endpoint_url else { return Ok(None) };
        let base = base.trim_end_matches('/');
        let client = net::client_of(base).timeout(Duration::from_millis(settings.endpoint_timeout_ms)).build()?;
        let key = key(settings.endpoint_key_env.as_deref(), settings.endpoint_key_file.as_deref())?;
        let model = settings.endpoint_model.clone();
        Ok(Some(Self {
            client,
            url: format!("{base}/embeddings"),
            identity: format!("endpoint/{base}/{model}"),
            model,
            key,
        }))
    }

    async fn send(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut call =
            self.client.post(&self.url).json(&json!({"model": self.model, "input": texts, "encoding_format": "float"}));
        if let Some(key) = &self.key {
            call = call.bearer_auth(key.expose());
        }
        let response = call.send().await.map_err(|e| temporary(&e))?;
        let status = response.status();
        let body = net::body(response, MAX_RESPONSE).await.map_err(|error| match error {
            BodyError::Http(error) => temporary(&error),
            BodyError::TooLarge(_) => ModelError::Permanent("the response is too large".to_owned()),
        })?;
        if !status.is_success() {
            return Err(status_error(status));
        }
        let response: Response = serde_json::from_slice(&body).map_err(|_| malformed("is not a list of embeddings"))?;
        let mut vectors = vec![Vec::new(); texts.len()];
        for mut item in response.data {
            normalize(&mut item.embedding);
            let usable =
                (1..=MAX_DIMENSIONS).contains(&item.embedding.len()) && item.embedding.iter().all(|x| x.is_finite());
            // Reject a vector of zeros: it has no direction, so nothing is near it.
            let usable = usable && item.embedding.iter().any(|x| *x != 0.0);
            match vectors.get_mut(item.index).filter(|_| usable) {
                Some(place) => *place = item.embedding,
                None => return Err(malformed("has an embedding with an invalid index, size or value")),
            }
        }
        let size = vectors.first().map_or(0, Vec::len);
        if vectors.iter().any(|v| v.is_empty() || v.len() != size) {
            return Err(malformed("lacks an embedding"));
        }
        Ok(vectors)
    }
}

fn malformed(what: &str) -> ModelError {
    ModelError::Permanent(format!("the response of the embedding endpoint {what}"))
}

impl Embedder for EmbeddingEndpoint {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn embed(&self, texts: Vec<String>) -> Embedding<'_> {
        Box::pin(async move { self.send(&texts).await })
    }
}
