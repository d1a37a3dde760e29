//! Models: counting tokens as a language model does, and asking one for a text.

mod endpoint;
mod tokens;

use std::future::Future;
use std::pin::Pin;

pub use endpoint::Endpoint;
pub use tokens::{Counter, ESTIMATE, Tokenizers, give_back_memory};

/// Why a language model gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// It may answer later: it was busy, slow, or out of reach.
    #[error("{0}")]
    Later(String),
    /// It will not: the request, the key or the answer is of no use.
    #[error("{0}")]
    Never(String),
}

/// What a language model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What it is to do.
    pub task: String,
    /// What it is to do it with.
    pub material: String,
    /// The most that it may answer, tokens.
    pub max_tokens: u32,
}

/// The answer of a language model, on its way.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<String, ModelError>> + Send + 'a>>;

/// Something that writes texts.
pub trait LanguageModel: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// Asks it once, for as long as it may take.
    fn ask<'a>(&'a self, request: &'a Request) -> Answer<'a>;
}
