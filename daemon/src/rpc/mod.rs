//! JSON-RPC server on the Unix socket: one listener, four framings, one dispatcher.
//!
//! [`listener`] accepts connections and detects the framing from the first bytes. [`connection`] runs connections that
//! carry many messages ([`transport`]: lines and `Content-Length`; [`websocket`]). [`http`] runs connections that carry
//! one request at a time. Both pass messages to [`dispatch`]. [`places`] limits the number of connections, and
//! [`response`] limits the memory used by responses. [`calls`] tracks the calls on a connection. [`register`] connects
//! the use cases to their method names.

mod calls;
mod connection;
mod dispatch;
mod events;
mod http;
mod listener;
mod openrpc;
mod places;
mod register;
mod response;
mod stream;
mod transport;
mod websocket;

use std::sync::Arc;

use jsonrpsee::{Methods, RpcModule};

use crate::app::{self, Core};

pub use listener::serve;
pub use openrpc::document;

/// Returns all methods of the method table with their handlers.
pub fn methods(core: &Arc<Core>) -> Methods {
    let mut module = RpcModule::from_arc(core.clone());
    app::methods().into_iter().for_each(|(method, handler)| register::register(&mut module, method, handler));
    events::register(&mut module);
    calls::register(&mut module);
    openrpc::register(&mut module);
    module.into()
}
