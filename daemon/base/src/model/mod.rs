//! Language models (token counts, and completions over HTTP) and embedding models.

pub mod embed;
mod endpoint;
mod pairs;
mod tokens;

use std::future::Future;
use std::pin::Pin;

pub use endpoint::{Endpoint, key as api_key};
pub use tokens::{Counter, ESTIMATE, Tokenizers};

/// Why a request to a language model or an embedding model failed.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The model was busy, slow or unreachable; a retry may succeed.
    #[error("{0}")]
    Temporary(String),
    /// The request, the key or the response is invalid; a retry is pointless.
    #[error("{0}")]
    Permanent(String),
}

/// A request to a language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Instructions, sent as the system prompt.
    pub system: String,
    /// Text that the model must process, sent as the user message.
    pub input: String,
    /// Maximum length of the response, in tokens.
    pub max_tokens: u32,
}

/// A language model's pending response to a request.
pub type Completion<'a> = Pin<Box<dyn Future<Output = Result<String, ModelError>> + Send + 'a>>;

/// A language model that completes text.
pub trait LanguageModel: Send + Sync {
    /// Returns the name of the model.
    fn name(&self) -> &str;

    /// Sends a request to the model once, without retries.
    fn ask<'a>(&'a self, request: &'a Request) -> Completion<'a>;
}
