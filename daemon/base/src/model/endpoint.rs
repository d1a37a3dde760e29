//! A language model over HTTP: the OpenAI chat completions API, which many servers implement, or the Anthropic messages
//! API.

use std::path::{Path, PathBuf};
use std::time::Duration;

use afd_proto::Secret;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use super::{Completion, LanguageModel, ModelError, Request};
use crate::config::{LanguageModelSettings, Provider};
use crate::net::{self, BodyError};

/// Maximum size of a response body, in bytes.
const MAX_RESPONSE: usize = 1 << 20;
/// Version of the Anthropic API.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Why an endpoint cannot be used. The error message does not contain the API key.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The environment variable for the API key is not set. Contains the variable's name.
    #[error("environment variable {0} is not set for the daemon")]
    NoVariable(String),
    /// The key file cannot be read.
    #[error("cannot read key file {}: {error}", file.display())]
    KeyFile {
        /// Path of the key file.
        file: PathBuf,
        /// The I/O error.
        #[source]
        error: std::io::Error,
    },
    /// The HTTP client cannot be created.
    #[error("cannot create an HTTP client: {0}")]
    Client(#[from] reqwest::Error),
}

/// A configured language model endpoint.
pub struct Endpoint {
    client: Client,
    settings: LanguageModelSettings,
    key: Option<Secret>,
}

/// Reads the API key from the configured environment variable or, if none is configured, from the configured file,
/// which may be a systemd credential. Returns `None` if neither is configured.
///
/// # Errors
/// If a source is configured but no key can be read from it. The error never contains the key.
pub fn key(variable: Option<&str>, file: Option<&Path>) -> Result<Option<Secret>, EndpointError> {
    if let Some(name) = variable
        && let Some(value) = std::env::var_os(name).and_then(|v| v.into_string().ok()).filter(|v| !v.is_empty())
    {
        return Ok(Some(Secret::from(value)));
    }
    let Some(file) = file else {
        return variable.map_or(Ok(None), |name| Err(EndpointError::NoVariable(name.to_owned())));
    };
    let text =
        std::fs::read_to_string(file).map_err(|error| EndpointError::KeyFile { file: file.to_owned(), error })?;
    Ok(Some(Secret::from(text.trim().to_owned())))
}

impl Endpoint {
    /// Creates the configured endpoint. Returns `None` if no endpoint is configured.
    ///
    /// # Errors
    /// If the key cannot be read or the HTTP client cannot be created.
    pub fn new(settings: &LanguageModelSettings) -> Result<Option<Self>, EndpointError> {
        if !settings.is_configured() {
            return Ok(None);
        }
        let client = net::client_of(settings.base_url()).timeout(Duration::from_millis(settings.timeout_ms)).build()?;
        Ok(Some(Self {
            client,
            key: key(settings.key_env.as_deref(), settings.key_file.as_deref())?,
            settings: settings.clone(),
        }))
    }

    async fn send(&self, request: &Request) -> Result<String, ModelError> {
        let base = self.settings.base_url();
        let (path, body) = self.body(request);
        let mut call = self.client.post(format!("{}{path}", base.trim_end_matches('/'))).json(&body);
        call = match (&self.key, self.settings.provider) {
            (Some(key), Some(Provider::Anthropic)) => call.header("x-api-key", key.expose()),
            (Some(key), _) => call.bearer_auth(key.expose()),
            (None, _) => call,
        };
        if self.settings.provider == Some(Provider::Anthropic) {
            call = call.header("anthropic-version", ANTHROPIC_VERSION);
        }
        let response = call.send().await.map_err(|e| temporary(&e))?;
        let status = response.status();
        let response = net::body(response, MAX_RESPONSE).await.map_err(|error| match error {
            BodyError::Http(error) => temporary(&error),
            BodyError::TooLarge(_) => ModelError::Permanent("the response is too large".to_owned()),
        })?;
        if !status.is_success() {
            return Err(status_error(status));
        }
        let value: Value = serde_json::from_slice(&response)
            .map_err(|_| ModelError::Permanent("the response is not JSON".to_owned()))?;
        self.text(&value).ok_or_else(|| ModelError::Permanent("the response contains no text".to_owned()))
    }

    /// Returns the URL path and the JSON body for a request.
    fn body(&self, request: &Request) -> (&'static str, Value) {
        let (name, user) = (&self.settings.name, json!({"role": "user", "content": request.input}));
        match self.settings.provider {
            Some(Provider::Anthropic) => (
                "/v1/messages",
                json!({"model": name, "max_tokens": request.max_tokens, "system": request.system, "messages": [user], "temperature": 0}),
            ),
            _ => {
                let messages = json!([{"role": "system", "content": request.system}, user]);
                (
                    "/chat/completions",
                    json!({"model": name, "max_tokens": request.max_tokens, "messages": messages, "temperature": 0}),
                )
            }
        }
    }

    /// Returns the model's text in a response body, or `None` if it contains no text.
    fn text(&self, response: &Value) -> Option<String> {
        let text = match self.settings.provider {
            Some(Provider::Anthropic) => {
                let blocks = response.get("content")?.as_array()?;
                blocks.iter().filter_map(|b| b.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
            }
            _ => response.pointer("/choices/0/message/content")?.as_str()?.to_owned(),
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// Converts an HTTP transport error to a temporary error, because a retry may succeed.
pub(super) fn temporary(error: &reqwest::Error) -> ModelError {
    ModelError::Temporary(net::why(error).to_owned())
}

/// Converts an HTTP error status to an error. Server errors, rate limits and timeouts are temporary.
pub(super) fn status_error(status: StatusCode) -> ModelError {
    let what = format!("HTTP {status}");
    let retryable =
        status.is_server_error() || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if retryable { ModelError::Temporary(what) } else { ModelError::Permanent(what) }
}

impl LanguageModel for Endpoint {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn ask<'a>(&'a self, request: &'a Request) -> Completion<'a> {
        Box::pin(self.send(request))
    }
}
