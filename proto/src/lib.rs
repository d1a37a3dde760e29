//! The wire contract of `afd`, for plugin authors.
//!
//! `afd` speaks JSON-RPC 2.0 over a Unix socket. Each namespace has its own file, which contains its parameter types,
//! its result types and its rows of the method table ([`methods`]). [`error`] defines the error codes, [`frame`] splits
//! a byte stream into messages, and [`paths`] locates the socket and the files.

#![recursion_limit = "256"]

#[macro_use]
mod macros;

pub mod act;
mod all;
pub mod artifact;
pub mod backup;
pub mod characters;
pub mod config;
pub mod context;
pub mod conversation;
pub mod coverage;
pub mod daemon;
pub mod device;
pub mod doctor;
pub mod error;
pub mod events;
pub mod files;
pub mod findings;
pub mod frame;
pub mod go;
pub mod graph;
pub mod history;
pub mod import;
pub mod incident;
mod incoming;
pub mod job;
pub mod keys;
pub mod limits;
pub mod look;
pub mod manage;
pub mod memory;
pub mod message;
pub mod method;
pub mod model;
pub mod notes;
pub mod observe;
pub mod paths;
pub mod pattern;
pub mod picture;
pub mod predict;
pub mod progress;
pub mod recall;
pub mod recall_upkeep;
pub mod recover;
pub mod rows;
pub mod rpc;
#[cfg(feature = "schema")]
pub mod schema;
pub mod secret;
pub mod session;
pub mod surprise;
pub mod tasks;
pub mod template_match;
pub mod tool;
pub mod transfer;
#[cfg(feature = "clap")]
mod typed;
pub mod undo;
pub mod upkeep;
pub mod verify;
pub mod visual;
pub mod vocabulary;

pub use all::{method, methods};
pub use error::{ErrorCode, ErrorData};
pub use method::{COMMON_ERRORS, DeviceUse, Effect, Method, MethodInfo, SharedParams, WRITE_ERRORS};
pub use secret::Secret;

/// Type of a field that is null, rather than absent, if it has no value.
pub type Nullable<T> = Option<T>;

/// A string enum: each value has a fixed word, which is used on the wire and in the database.
pub trait Word: Copy + 'static {
    /// All values of the enum.
    const ALL: &'static [Self];

    /// Returns the word for the value.
    fn word(self) -> &'static str;

    /// Returns the value for a word, or `None` if no value has this word.
    fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word() == word)
    }
}

/// Version of the wire contract. Only incompatible changes increment it.
pub const PROTOCOL: u32 = 1;

/// Capabilities of this version in addition to the methods in the method table. Clients should check these instead of
/// version numbers.
pub const CAPABILITIES: &[&str] = &[
    "line",
    "contentLength",
    "http",
    "webSocket",
    "batch",
    "events",
    "requestKey",
    "lease",
    "hints",
    "states",
    "sessions",
];

/// Returns an actual result of the method as an example, with its lists shortened to a few items, or `None` if there is
/// no example.
#[cfg(feature = "schema")]
pub fn example_result(method: &str) -> Option<&'static serde_json::Value> {
    static RESULTS: std::sync::OnceLock<serde_json::Map<String, serde_json::Value>> = std::sync::OnceLock::new();
    RESULTS.get_or_init(|| serde_json::from_str(include_str!("examples.json")).unwrap_or_default()).get(method)
}
