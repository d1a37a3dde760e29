//! The wire contract of `afd`, as a plugin author reads it.
//!
//! `afd` speaks JSON-RPC 2.0 over a Unix socket. Each namespace has a file with its parameter and result types and
//! its rows of the method table ([`methods`]); [`error`] is the one table of error codes; [`frame`] cuts a byte stream
//! into messages; [`paths`] says where the socket and the files are.

#[macro_use]
mod macros;

pub mod act;
pub mod artifact;
pub mod config;
pub mod context;
pub mod conversation;
pub mod coverage;
pub mod daemon;
pub mod device;
pub mod error;
pub mod events;
pub mod files;
pub mod findings;
pub mod frame;
pub mod graph;
pub mod history;
pub mod import;
pub mod job;
pub mod looks;
pub mod memory;
pub mod method;
pub mod notes;
pub mod observe;
pub mod paths;
pub mod pattern;
pub mod picture;
pub mod progress;
pub mod recover;
pub mod rpc;
pub mod secret;
pub mod session;
pub mod tasks;
#[cfg(feature = "clap")]
mod typed;
pub mod verify;
pub mod visual;
pub mod vocabulary;

pub use error::{ErrorCode, ErrorData};
pub use method::{COMMON_ERRORS, DeviceUse, Effect, Method, MethodInfo, Takes, WRITE_ERRORS};
pub use secret::Secret;

/// A word of a closed list, on the wire and in rows.
pub trait Word: Copy + 'static {
    /// All of them.
    const ALL: &'static [Self];

    /// The word.
    fn word(self) -> &'static str;

    /// The value of a word.
    fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word() == word)
    }
}

/// Version of the wire contract. It grows only when something that worked stops working.
pub const PROTOCOL: u32 = 1;

/// What a daemon of this version can do beyond the bare method table; clients go by these, not by version numbers.
pub const CAPABILITIES: &[&str] =
    &["line", "contentLength", "http", "webSocket", "batch", "events", "requestKey", "lease", "hints", "states", "sessions"];

/// Every method of the daemon, in the order of the namespaces of the documentation.
pub fn methods() -> impl Iterator<Item = &'static MethodInfo> {
    [
        daemon::METHODS,
        device::METHODS,
        config::METHODS,
        observe::METHODS,
        picture::METHODS,
        act::METHODS,
        verify::METHODS,
        recover::METHODS,
        memory::METHODS,
        artifact::METHODS,
        visual::METHODS,
        history::METHODS,
        graph::METHODS,
        files::METHODS,
        looks::METHODS,
        session::METHODS,
        coverage::METHODS,
        progress::METHODS,
        tasks::METHODS,
        findings::METHODS,
        conversation::METHODS,
        context::METHODS,
        pattern::METHODS,
        job::METHODS,
        events::METHODS,
        rpc::METHODS,
    ]
    .into_iter()
    .flatten()
}

/// Finds a method by its wire name.
pub fn method(name: &str) -> Option<&'static MethodInfo> {
    methods().find(|m| m.name == name)
}
