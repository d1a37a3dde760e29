//! Registers the rows of the method table with their handlers.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use afd_proto::{ErrorData, Method};
use jsonrpsee::types::ErrorObjectOwned;
use jsonrpsee::{Extensions, RpcModule};
use serde::Serialize;

use super::params;
use crate::control::replay;
use crate::control::{self, Core, Error};

/// The jsonrpsee module that handlers are registered with.
pub(super) type Module = RpcModule<Core>;

/// Converts an error to a JSON-RPC error; this happens nowhere else.
pub(super) fn to_rpc(error: Error) -> ErrorObjectOwned {
    let data = ErrorData {
        code: error.code,
        retryable: error.code.retryable(),
        hint: error.hint,
        details: error.details,
        trace_id: control::current_trace(),
    };
    ErrorObjectOwned::owned(error.code.number(), error.message, Some(data))
}

/// Registers an asynchronous method.
pub(super) fn method<M, F, Fut>(module: &mut Module, handler: F)
where
    M: Method,
    F: Fn(Arc<Core>, M::Params) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<M::Result, Error>> + Send + 'static,
{
    let registered = module.register_async_method(M::INFO.name, move |params, core, _| {
        let handler = handler.clone();
        async move {
            let _running = core.runtime.enter();
            let started = Instant::now();
            let (text, key) = params::request_key(params.as_str(), &M::INFO).map_err(to_rpc)?;
            let keyed = key.is_some() || M::INFO.is_recorded_as_event() && params::has_request_key(text.as_deref());
            core.check_memory_for(&M::INFO, keyed).map_err(to_rpc)?;
            let params = params::decode::<M::Params>(text.as_deref()).map_err(to_rpc)?;
            let work = handler(core.clone(), params);
            let done = replay::run(&core, &M::INFO, key, text.as_deref().unwrap_or_default(), work).await;
            core.runtime.calls.count(M::INFO.name, started.elapsed(), done.is_err());
            if M::INFO.takes.session {
                core.recall.warm();
            }
            done.map_err(to_rpc)
        }
    });
    // Does not happen: names come from the method table, where they are unique (a test checks it).
    if let Err(error) = registered {
        tracing::error!(%error, method = M::INFO.name, "cannot register");
    }
}

/// Registers a synchronous method whose handler gets the connection's extensions.
pub(super) fn register_sync<M: Method, R: Serialize + Clone + 'static>(
    module: &mut Module,
    handler: impl Fn(Option<&str>, &Extensions) -> Result<R, ErrorObjectOwned> + Send + Sync + 'static,
) {
    let registered = module.register_method(M::INFO.name, move |params, _, extensions| handler(params.as_str(), extensions));
    if let Err(error) = registered {
        tracing::error!(%error, method = M::INFO.name, "cannot register");
    }
}
