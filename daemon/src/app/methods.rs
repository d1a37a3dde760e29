//! The methods and the use cases that implement them, independent of the transport.

use std::future::Future;
use std::sync::Arc;

use afd_proto::{ErrorCode, Method, MethodInfo};
use futures_util::FutureExt;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{Core, Error, Result, params, replay};

/// Function that decodes a method's parameters and returns the work to execute.
pub type Handler = Box<dyn Fn(Arc<Core>, Option<&str>) -> Result<replay::Work> + Send + Sync>;

/// Rows of the method table with their handlers.
#[derive(Default)]
pub struct Methods(Vec<(&'static MethodInfo, Handler)>);

impl Methods {
    /// Adds a method and the use case that implements it.
    pub(super) fn add<M, F, Fut>(&mut self, use_case: F)
    where
        M: Method,
        F: Fn(Arc<Core>, M::Params) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<M::Result>> + Send + 'static,
    {
        let handler = move |core: Arc<Core>, text: Option<&str>| -> Result<replay::Work> {
            let work = use_case(core, params::decode::<M::Params>(text)?);
            Ok(async move { as_json(&work.await?) }.boxed())
        };
        self.0.push((&M::INFO, Box::new(handler)));
    }
}

impl IntoIterator for Methods {
    type Item = (&'static MethodInfo, Handler);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Serialises the result of a call as JSON.
fn as_json(result: &impl Serialize) -> Result<Box<RawValue>> {
    to_raw_value(result).map_err(|e| Error::new(ErrorCode::Internal, format!("cannot serialise the result: {e}")))
}
