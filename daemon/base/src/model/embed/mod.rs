//! Embedding models, which convert text to vectors of unit length. Texts with similar meanings have vectors that are
//! near each other.
//!
//! The built-in model needs no file and almost no time. A sentence model is loaded from a directory and runs in this
//! process. An endpoint is called over HTTP. The latter two are slow, so a call waits for them only if it requested a
//! search.

mod builtin;
mod concepts;
mod endpoint;
mod sentence;
mod stop;
mod trial;

use std::future::Future;
use std::pin::Pin;

use super::ModelError;
pub use builtin::{BUILTIN, Builtin};
pub use endpoint::EmbeddingEndpoint;
pub use sentence::{SentenceModel, run_trial, tried};
pub use trial::{ARGUMENT as TRIAL_ARGUMENT, Trial, use_program};

/// The pending vectors for a list of texts, one vector for each text.
pub type Embedding<'a> = Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>, ModelError>> + Send + 'a>>;

/// The pending vector for a query, and how well the model knows the query's language, 0 to 1.
pub type EmbeddedQuery<'a> = Pin<Box<dyn Future<Output = Result<(Vec<f32>, f64), ModelError>> + Send + 'a>>;

/// A model that computes vectors for texts.
pub trait Embedder: Send + Sync {
    /// Returns an identity that changes whenever the vectors may change. It is derived from the model's kind, its name
    /// and the hash of its files, if there are any.
    fn identity(&self) -> &str;

    /// Returns whether the texts are sent to another machine.
    fn is_remote(&self) -> bool {
        false
    }

    /// Computes a vector of unit length for each text.
    fn embed(&self, texts: Vec<String>) -> Embedding<'_>;

    /// Computes the vector for a query. Also returns how well the model knows the query's language, 0 to 1. This value
    /// is 0.3 if the model knows only the script in which the language is written.
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
