//! Embedding models, which turn texts into vectors of unit length. Texts with similar meanings have vectors that are
//! near each other.
//!
//! The built-in model needs no file and almost no time. A sentence model runs in this process from a directory, and an
//! endpoint is called over HTTP. Both are slow, so a call waits for them only if it requested a search.

mod builtin;
mod concepts;
mod endpoint;
mod sentence;
mod trial;

use std::future::Future;
use std::pin::Pin;

use super::ModelError;
pub use builtin::{BUILTIN, Builtin};
pub use endpoint::EmbeddingEndpoint;
pub use sentence::{SentenceModel, run_trial, tried};
pub use trial::{ARGUMENT as TRIAL_ARGUMENT, Trial, use_program};

/// Pending vectors, one for each text.
pub type Embedding<'a> = Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>, ModelError>> + Send + 'a>>;

/// Pending vector of a query, and how well the model knows the query's language, 0 to 1.
pub type EmbeddedQuery<'a> = Pin<Box<dyn Future<Output = Result<(Vec<f32>, f64), ModelError>> + Send + 'a>>;

/// A model that computes vectors of texts.
pub trait Embedder: Send + Sync {
    /// Returns an identity of everything that determines the vectors: kind, name, and a hash of the files if there are
    /// any.
    fn identity(&self) -> &str;

    /// Returns whether the texts leave this machine.
    fn is_remote(&self) -> bool {
        false
    }

    /// Computes a vector of unit length for each text.
    fn embed(&self, texts: Vec<String>) -> Embedding<'_>;

    /// Computes the vector of a query. Also returns how well the model knows the query's language, 0 to 1. The value is
    /// 0.3 if the model knows only the script of the language.
    fn embed_query(&self, text: String) -> EmbeddedQuery<'_> {
        Box::pin(async move {
            let mut vectors = self.embed(vec![text]).await?;
            vectors
                .pop()
                .map(|vector| (vector, 1.0))
                .ok_or_else(|| ModelError::Permanent("the model returned no vector".to_owned()))
        })
    }
}

/// Scales a vector to unit length. A vector of zeros stays unchanged.
pub fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
}
