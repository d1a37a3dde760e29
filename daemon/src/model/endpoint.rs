//! A language model behind HTTP: OpenAI's chat completions, which many servers speak, or Anthropic's messages.

use std::path::PathBuf;
use std::time::Duration;

use afd_proto::Secret;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};

use super::{Answer, LanguageModel, ModelError, Request};
use crate::config::{LanguageModelSettings, Provider};
use crate::net::{self, BodyError};

/// The largest answer that is read, bytes.
const MAX_ANSWER: usize = 1 << 20;
/// The version of Anthropic's interface.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Why an endpoint cannot be used. What is in a key is never said.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The variable that is to hold the key is not set.
    #[error("the variable {0} of the daemon is not set")]
    NoVariable(String),
    /// The file that is to hold the key cannot be read.
    #[error("the key file {} cannot be read: {error}", file.display())]
    KeyFile {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// The system gives no HTTP client.
    #[error("cannot make an HTTP client: {0}")]
    Client(#[from] reqwest::Error),
}

/// An endpoint.
pub struct Endpoint {
    client: Client,
    settings: LanguageModelSettings,
    key: Option<Secret>,
}

/// The key: from the variable that is named, else from the file that is named, which systemd may have brought as a credential.
///
/// # Errors
/// Why there is none although one is named. What is in it is never said.
fn key(settings: &LanguageModelSettings) -> Result<Option<Secret>, EndpointError> {
    if let Some(name) = &settings.key_env
        && let Some(value) = std::env::var_os(name).and_then(|v| v.into_string().ok()).filter(|v| !v.is_empty())
    {
        return Ok(Some(Secret::from(value)));
    }
    let Some(file) = &settings.key_file else {
        return match &settings.key_env {
            Some(name) => Err(EndpointError::NoVariable(name.clone())),
            None => Ok(None),
        };
    };
    let text = std::fs::read_to_string(file).map_err(|error| EndpointError::KeyFile { file: file.clone(), error })?;
    Ok(Some(Secret::from(text.trim().to_owned())))
}

impl Endpoint {
    /// The endpoint of the settings; `None` when they name none.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn new(settings: &LanguageModelSettings) -> Result<Option<Self>, EndpointError> {
        if settings.provider.is_none() {
            return Ok(None);
        }
        let builder = if settings.base_url().starts_with("https:") { net::client() } else { net::plain_client() };
        let client = builder
            .connect_timeout(Duration::from_secs(10))
            .timeout(Duration::from_millis(settings.timeout_ms))
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Some(Self { client, key: key(settings)?, settings: settings.clone() }))
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
        let response = call.send().await.map_err(|e| later(&e))?;
        let status = response.status();
        let answer = net::body(response, MAX_ANSWER).await.map_err(|error| match error {
            BodyError::Http(error) => later(&error),
            BodyError::TooLarge(_) => ModelError::Never("its answer is too large".to_owned()),
        })?;
        if !status.is_success() {
            return Err(refused(status));
        }
        let value: Value = serde_json::from_slice(&answer).map_err(|_| ModelError::Never("its answer is no JSON".to_owned()))?;
        self.text(&value).ok_or_else(|| ModelError::Never("its answer holds no text".to_owned()))
    }

    fn body(&self, request: &Request) -> (&'static str, Value) {
        let (name, user) = (&self.settings.name, json!({"role": "user", "content": request.material}));
        match self.settings.provider {
            Some(Provider::Anthropic) => (
                "/v1/messages",
                json!({"model": name, "max_tokens": request.max_tokens, "system": request.task, "messages": [user], "temperature": 0}),
            ),
            _ => {
                let messages = json!([{"role": "system", "content": request.task}, user]);
                ("/chat/completions", json!({"model": name, "max_tokens": request.max_tokens, "messages": messages, "temperature": 0}))
            }
        }
    }

    fn text(&self, answer: &Value) -> Option<String> {
        let text = match self.settings.provider {
            Some(Provider::Anthropic) => {
                let blocks = answer.get("content")?.as_array()?;
                blocks.iter().filter_map(|b| b.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
            }
            _ => answer.pointer("/choices/0/message/content")?.as_str()?.to_owned(),
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// What may be different next time. The URL may hold a secret, so it is not said.
fn later(error: &reqwest::Error) -> ModelError {
    let what = if error.is_timeout() {
        "it did not answer in time"
    } else if error.is_connect() {
        "it cannot be reached"
    } else {
        "the connection failed"
    };
    ModelError::Later(what.to_owned())
}

fn refused(status: StatusCode) -> ModelError {
    let what = format!("it answered {status}");
    let later = status.is_server_error() || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if later { ModelError::Later(what) } else { ModelError::Never(what) }
}

impl LanguageModel for Endpoint {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn ask<'a>(&'a self, request: &'a Request) -> Answer<'a> {
        Box::pin(self.send(request))
    }
}
