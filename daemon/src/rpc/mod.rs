//! JSON-RPC server on the Unix socket: one listener, four framings, one dispatcher.
//!
//! [`listener`] accepts connections and detects the framing from the first bytes; [`connection`] runs connections that
//! carry many messages ([`transport`]: lines and `Content-Length`, [`websocket`]), [`http`] those that carry one
//! request at a time; both hand messages to [`dispatch`]. [`places`] enforces the connection limit, [`response`] that
//! of the memory of responses, [`calls`] tracks the calls of a connection. The files named after a namespace register
//! its handlers: decode, call the core, encode.

mod act;
mod artifact;
mod backup;
mod calls;
mod config;
mod connection;
mod conversation;
mod daemon;
mod device;
mod dispatch;
mod events;
mod http;
mod job;
mod listener;
mod memory;
mod model;
mod observe;
mod openrpc;
mod params;
mod pattern;
mod places;
mod recall;
mod recover;
mod register;
mod response;
mod session;
mod stream;
mod transport;
mod verify;
mod visual;
mod websocket;

use std::sync::Arc;

use jsonrpsee::{Methods, RpcModule};

use crate::control::Core;

pub use listener::serve;
pub use openrpc::document;

/// Returns all methods of the method table with their handlers.
pub fn methods(core: &Arc<Core>) -> Methods {
    let mut module = RpcModule::from_arc(core.clone());
    daemon::register(&mut module);
    device::register(&mut module);
    config::register(&mut module);
    observe::register(&mut module);
    act::register(&mut module);
    verify::register(&mut module);
    recover::register(&mut module);
    memory::register(&mut module);
    artifact::register(&mut module);
    visual::register(&mut module);
    session::register(&mut module);
    conversation::register(&mut module);
    pattern::register(&mut module);
    model::register(&mut module);
    recall::register(&mut module);
    job::register(&mut module);
    backup::register(&mut module);
    events::register(&mut module);
    calls::register(&mut module);
    openrpc::register(&mut module);
    module.into()
}
