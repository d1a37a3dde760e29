//! Embedding models: texts as vectors of unit length, which are near each other if the texts mean much the same.
//!
//! The built-in one needs no file and no time to speak of. A sentence model runs in this process from a directory, and
//! an endpoint is asked over HTTP; both are slow, so no call waits for them unless it asked for a search.

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

/// Pending vector of a query, and how well its language is known.
pub type EmbeddedQuery<'a> = Pin<Box<dyn Future<Output = Result<(Vec<f32>, f64), ModelError>> + Send + 'a>>;

/// A model that makes vectors of texts.
pub trait Embedder: Send + Sync {
    /// Returns what its vectors depend on: kind, name, and a hash of the files where there are any.
    fn identity(&self) -> &str;

    /// Returns whether the texts leave this machine.
    fn is_remote(&self) -> bool {
        false
    }

    /// Makes a vector of unit length for each text.
    fn embed(&self, texts: Vec<String>) -> Embedding<'_>;

    /// Makes the vector of a query, and tells how well the model knows its language, 0 to 1; 0.3 for one of which it
    /// knows the script only.
    fn embed_query(&self, text: String) -> EmbeddedQuery<'_> {
        Box::pin(async move {
            let mut vectors = self.embed(vec![text]).await?;
            vectors
                .pop()
                .map(|vector| (vector, 1.0))
                .ok_or_else(|| ModelError::Permanent("the model made no vector".to_owned()))
        })
    }
}

/// Scales a vector to unit length; one of zeros stays as it is.
pub fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
}
