//! Client for the REST API of a Qdrant server. Several stores may share a server.
//!
//! Each model has its own collection, so that only comparable vectors are compared. Each store uploads its own points,
//! whose ids depend on the store, and never changes points that belong to other stores.

use std::time::{Duration, Instant};

use afd_proto::Secret;
use parking_lot::Mutex;
use reqwest::{Client, Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::points::{Filters, Neighbour, Payload, Point, of_store};
use afd_base::config::RecallSettings;
use afd_base::model::api_key;
use afd_base::net::{self, BodyError};
use afd_base::text;

/// Maximum size of a response, in bytes.
const MAX_ANSWER: usize = 32 << 20;
/// Timeout for uploads, deletions and checks, for which callers do not wait.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time after a failed connection during which searches do not use the server.
const LEFT_ALONE: Duration = Duration::from_secs(5);
/// Maximum number of points that are read for an entry. Several stores may have uploaded it.
const MAX_FOUND: usize = 10;
/// Maximum length of an error message from the server, in characters.
const MAX_REASON: usize = 200;
/// Payload indexes: the fields that searches filter by.
const INDEXES: [(&str, &str); 11] = [
    ("uid", "keyword"),
    ("origin", "keyword"),
    ("type", "keyword"),
    ("app", "keyword"),
    ("site", "keyword"),
    ("session", "keyword"),
    ("tags", "keyword"),
    ("archived", "bool"),
    ("at", "integer"),
    ("expires_at", "integer"),
    ("version", "integer"),
];

/// Error returned by a request to a Qdrant server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QdrantError {
    /// The server cannot be reached or is busy.
    #[error("{0}")]
    Away(String),
    /// The collection does not exist.
    #[error("it has no such collection")]
    NoCollection,
    /// The server cannot be used: the key is wrong, the collection has a different vector size, or the server is not a
    /// Qdrant server.
    #[error("{0}")]
    Unusable(String),
    /// The server rejected the content of the request.
    #[error("{0}")]
    Refused(String),
}

type Result<T> = std::result::Result<T, QdrantError>;

/// A client for a Qdrant server.
pub struct Qdrant {
    client: Client,
    url: String,
    collection: String,
    key: Option<Secret>,
    timeout: Duration,
    /// Time and error of the last request, if it could not reach the server.
    failed: Mutex<Option<(Instant, QdrantError)>>,
}

#[derive(Deserialize)]
struct Answer {
    result: Value,
}

impl Qdrant {
    /// Creates a client for the configured Qdrant server. Returns `None` if no server is configured.
    ///
    /// # Errors
    /// If the key cannot be read or the HTTP client cannot be created.
    pub fn new(settings: &RecallSettings) -> std::result::Result<Option<Self>, String> {
        let Some(url) = settings.qdrant() else { return Ok(None) };
        Ok(Some(Self {
            client: net::client_of(url).build().map_err(|e| e.without_url().to_string())?,
            url: url.to_owned(),
            collection: settings.qdrant_collection.clone(),
            key: api_key(settings.qdrant_key_env.as_deref(), settings.qdrant_key_file.as_deref())
                .map_err(|e| e.to_string())?,
            timeout: Duration::from_millis(settings.qdrant_timeout_ms),
            failed: Mutex::new(None),
        }))
    }

    /// Returns the server's URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the name of a model's collection, given the model's identity.
    pub fn collection(&self, identity: &str) -> String {
        let hash = Sha256::digest(identity);
        let short: String = hash[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}-{short}", self.collection)
    }

    async fn call(&self, method: Method, path: &str, body: Option<Value>, timeout: Duration) -> Result<Value> {
        let done = self.send(method, path, body, timeout).await;
        *self.failed.lock() = match &done {
            Err(error @ QdrantError::Away(_)) => Some((Instant::now(), error.clone())),
            _ => None,
        };
        done
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>, timeout: Duration) -> Result<Value> {
        let mut call = self.client.request(method, format!("{}/collections/{path}", self.url)).timeout(timeout);
        if let Some(key) = &self.key {
            let key = reqwest::header::HeaderValue::from_str(key.expose());
            let mut key =
                key.map_err(|_| QdrantError::Unusable("its key has characters that no header can hold".to_owned()))?;
            key.set_sensitive(true);
            call = call.header("api-key", key);
        }
        if let Some(body) = &body {
            call = call.json(body);
        }
        let response = call.send().await.map_err(|e| away(&e))?;
        let status = response.status();
        let body = net::body(response, MAX_ANSWER).await.map_err(|error| match error {
            BodyError::Http(error) => away(&error),
            BodyError::TooLarge(_) => QdrantError::Unusable("its answer is too large".to_owned()),
        })?;
        if status.is_success() {
            let answer: Answer = serde_json::from_slice(&body)
                .map_err(|_| QdrantError::Unusable("its answer is not that of a Qdrant".to_owned()))?;
            return Ok(answer.result);
        }
        let says = serde_json::from_slice::<Value>(&body).ok();
        let reason = says.as_ref().and_then(|says| says["status"]["error"].as_str()).unwrap_or_default();
        let told = format!("HTTP {}: {}", status.as_u16(), text::cut::brief(&text::cut::one_line(reason), MAX_REASON));
        let told = told.trim_end_matches([':', ' ']).to_owned();
        Err(match status {
            StatusCode::NOT_FOUND if reason.contains("ollection") => QdrantError::NoCollection,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => QdrantError::Away(told),
            status if status.is_server_error() => QdrantError::Away(told),
            StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
                QdrantError::Refused(told)
            }
            _ => QdrantError::Unusable(told),
        })
    }

    /// Creates a collection and its payload indexes, if they do not exist.
    ///
    /// # Errors
    /// If the server cannot be reached, or if the collection has vectors of a different size.
    pub async fn prepare(&self, collection: &str, dimensions: i64) -> Result<()> {
        let found = self.call(Method::GET, collection, None, WRITE_TIMEOUT).await;
        match found {
            Ok(info) => {
                let size = &info["config"]["params"]["vectors"]["size"];
                if size.as_i64() != Some(dimensions) {
                    return Err(QdrantError::Unusable(format!(
                        "its collection {collection} has vectors of {size} components, not {dimensions}"
                    )));
                }
            }
            Err(QdrantError::NoCollection) => {
                let body = json!({"vectors": {"size": dimensions, "distance": "Cosine"}});
                match self.call(Method::PUT, collection, Some(body), WRITE_TIMEOUT).await {
                    // Another store may have created the collection in the meantime.
                    Err(QdrantError::Unusable(told)) if told.starts_with("HTTP 409") => {}
                    made => drop(made?),
                }
            }
            Err(error) => return Err(error),
        }
        for (field, schema) in INDEXES {
            let body = json!({"field_name": field, "field_schema": schema});
            self.call(Method::PUT, &format!("{collection}/index?wait=true"), Some(body), WRITE_TIMEOUT).await?;
        }
        Ok(())
    }

    /// Uploads points. Replaces points with the same ids.
    ///
    /// # Errors
    /// If the server cannot be reached, or rejects the points.
    pub async fn upsert(&self, collection: &str, points: &[Point]) -> Result<()> {
        let path = format!("{collection}/points?wait=true");
        self.call(Method::PUT, &path, Some(json!({"points": points})), WRITE_TIMEOUT).await.map(drop)
    }

    /// Deletes points by their ids.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub async fn delete(&self, collection: &str, ids: &[String]) -> Result<()> {
        let path = format!("{collection}/points/delete?wait=true");
        self.call(Method::POST, &path, Some(json!({"points": ids})), WRITE_TIMEOUT).await.map(drop)
    }

    /// Deletes the points that meet all conditions in `must` and none in `must_not`.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub async fn delete_where(&self, collection: &str, must: &[Value], must_not: &[Value]) -> Result<()> {
        let path = format!("{collection}/points/delete?wait=true");
        self.call(Method::POST, &path, Some(json!({"filter": {"must": must, "must_not": must_not}})), WRITE_TIMEOUT)
            .await
            .map(drop)
    }

    /// Returns the number of points that meet all conditions in `must`.
    ///
    /// # Errors
    /// If the server cannot be reached, or its response does not contain a count.
    pub async fn count(&self, collection: &str, must: &[Value]) -> Result<i64> {
        let body = json!({"filter": {"must": must}, "exact": true});
        let counted = self.call(Method::POST, &format!("{collection}/points/count"), Some(body), WRITE_TIMEOUT).await?;
        counted["count"].as_i64().ok_or_else(|| QdrantError::Unusable("its answer has no count".to_owned()))
    }

    /// Returns the last connection error if it occurred within the last few seconds, so that searches do not wait for
    /// an unreachable server again.
    fn check(&self) -> Result<()> {
        let failed = self.failed.lock().clone();
        failed.filter(|(at, _)| at.elapsed() < LEFT_ALONE).map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Returns the points nearest to a vector, up to `limit`.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub async fn nearest(
        &self,
        collection: &str,
        vector: &[f32],
        filters: &Filters,
        limit: usize,
    ) -> Result<Vec<Neighbour>> {
        self.check()?;
        let body = json!({"query": vector, "filter": filters.conditions(), "limit": limit, "with_payload": true});
        let found = self.call(Method::POST, &format!("{collection}/points/query"), Some(body), self.timeout).await?;
        Ok(points(&found).filter_map(|point| serde_json::from_value(point.clone()).ok()).collect())
    }

    /// Returns the payloads that stores other than `except` uploaded for an entry.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub async fn find(&self, collection: &str, uid: &str, except: &str) -> Result<Vec<Payload>> {
        self.check()?;
        let filter = json!({"must": [{"key": "uid", "match": {"value": uid}}], "must_not": [of_store(except)]});
        let body = json!({"filter": filter, "limit": MAX_FOUND, "with_payload": true});
        let found = self.call(Method::POST, &format!("{collection}/points/scroll"), Some(body), self.timeout).await?;
        Ok(points(&found).filter_map(|point| serde_json::from_value(point["payload"].clone()).ok()).collect())
    }
}

/// Returns the points in a response. Points that other programs stored are not entries, so callers skip them.
fn points(answer: &Value) -> impl Iterator<Item = &Value> {
    answer["points"].as_array().into_iter().flatten()
}

fn away(error: &reqwest::Error) -> QdrantError {
    QdrantError::Away(net::why(error).to_owned())
}
