//! Registers the rows of the method table with their handlers.

use std::sync::Arc;
use std::time::Instant;

use afd_proto::{ErrorData, Method, MethodInfo};
use jsonrpsee::types::ErrorObjectOwned;
use jsonrpsee::{Extensions, RpcModule};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::app::{self, Core, Error, Handler, replay};

/// The jsonrpsee module that handlers are registered with.
pub(super) type Module = RpcModule<Core>;

/// Converts an error to a JSON-RPC error. This is the only place where errors are converted.
pub(super) fn to_rpc(error: Error) -> ErrorObjectOwned {
    let data = ErrorData {
        code: error.code,
        retryable: error.code.retryable(),
        hint: error.hint,
        details: error.details,
        trace_id: app::current_trace(),
    };
    ErrorObjectOwned::owned(error.code.number(), error.message, Some(data))
}

/// Registers a method that a use case implements.
pub(super) fn register(module: &mut Module, info: &'static MethodInfo, handler: Handler) {
    let handler = Arc::new(handler);
    let registered = module.register_async_method(info.name, move |params, core, _| {
        let handler = handler.clone();
        async move { call(&core, info, params.as_str(), &handler).await.map_err(to_rpc) }
    });
    // This does not happen, because names come from the method table, where they are unique (a test checks it).
    if let Err(error) = registered {
        tracing::error!(%error, method = info.name, "cannot register");
    }
}

async fn call(
    core: &Arc<Core>,
    info: &'static MethodInfo,
    text: Option<&str>,
    handler: &Handler,
) -> Result<Box<RawValue>, Error> {
    let _running = core.runtime.enter();
    let started = Instant::now();
    let (text, key) = app::request_key(text, info)?;
    let keyed = key.is_some() || info.is_recorded_as_event() && app::has_request_key(text.as_deref());
    core.check_memory_for(info, keyed)?;
    let work = handler(core.clone(), text.as_deref())?;
    let done = replay::run(core, info, key, text.as_deref().unwrap_or_default(), work).await;
    core.runtime.calls.count(info.name, started.elapsed(), done.is_err());
    if info.takes.session {
        core.recall.warm();
    }
    done.map(|done| done.result)
}

/// Registers a synchronous method whose handler gets the connection's extensions.
pub(super) fn register_sync<M: Method, R: Serialize + Clone + 'static>(
    module: &mut Module,
    handler: impl Fn(Option<&str>, &Extensions) -> Result<R, ErrorObjectOwned> + Send + Sync + 'static,
) {
    let registered =
        module.register_method(M::INFO.name, move |params, _, extensions| handler(params.as_str(), extensions));
    if let Err(error) = registered {
        tracing::error!(%error, method = M::INFO.name, "cannot register");
    }
}
