//! Use cases: the implementation of each RPC method from start to end. Only this layer combines devices, pages and
//! memory.

pub mod act;
pub mod artifacts;
mod call;
mod checks;
pub mod conversation;
mod core;
pub mod daemon;
pub mod device;
mod error;
pub mod events;
mod handles;
mod locks;
pub mod memory;
mod methods;
pub mod observe;
mod paging;
mod params;
pub mod patterns;
pub mod recall;
pub mod recover;
pub mod replay;
mod rows;
mod scope;
pub mod session;
#[cfg(test)]
mod tests;
pub mod verify;
pub mod visual;

pub use call::Call;
pub use core::Core;
pub use error::{Error, Result};
pub use methods::{Handler, Methods};
pub use params::{decode, has_request_key, request_key};
pub use scope::{AtDisconnect, CallScope, ProgressSink, Step, current_trace, run_call};

/// Returns all methods that a use case implements, with their handlers.
pub fn methods() -> Methods {
    let mut methods = Methods::default();
    act::register(&mut methods);
    artifacts::register(&mut methods);
    conversation::append::register(&mut methods);
    conversation::compact::register(&mut methods);
    conversation::context::register(&mut methods);
    conversation::delete::register(&mut methods);
    conversation::read::register(&mut methods);
    daemon::backups::register(&mut methods);
    daemon::config::register(&mut methods);
    daemon::doctor::register(&mut methods);
    daemon::jobs::register(&mut methods);
    daemon::metrics::register(&mut methods);
    daemon::register(&mut methods);
    device::register(&mut methods);
    device::adb::register(&mut methods);
    device::shell::register(&mut methods);
    device::manage::register(&mut methods);
    device::usb::register(&mut methods);
    memory::import::register(&mut methods);
    memory::notes::register(&mut methods);
    memory::register(&mut methods);
    memory::predict::register(&mut methods);
    memory::retention::register(&mut methods);
    memory::transfer::register(&mut methods);
    observe::register(&mut methods);
    observe::screenshot::register(&mut methods);
    observe::wait::register(&mut methods);
    patterns::register(&mut methods);
    recall::register(&mut methods);
    recover::register(&mut methods);
    session::coverage::register(&mut methods);
    session::edit::register(&mut methods);
    session::export::register(&mut methods);
    session::findings::register(&mut methods);
    session::import::register(&mut methods);
    session::lifecycle::register(&mut methods);
    session::progress::register(&mut methods);
    session::report::register(&mut methods);
    session::resume::register(&mut methods);
    session::tasks::register(&mut methods);
    verify::register(&mut methods);
    visual::files::register(&mut methods);
    visual::graph::register(&mut methods);
    visual::learn::register(&mut methods);
    visual::matching::register(&mut methods);
    visual::upkeep::register(&mut methods);
    methods
}
