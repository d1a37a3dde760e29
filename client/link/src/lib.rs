//! Code shared by the command line and the MCP bridge: a blocking connection to the daemon, and the rendering of
//! results.
//!
//! * [`options`] defines the options of every command, [`bridge`] those of the bridge.
//! * [`connection`] sends calls, [`dial`] connects to the daemon, [`spawn`] starts it if none is running, and [`trust`]
//!   checks that its socket belongs to the caller.
//! * [`outcome`] is the result of a command; [`human`] and [`agent`] render it as text, and [`safe`] escapes characters
//!   that could control a terminal.

pub mod agent;
pub mod bridge;
pub mod connection;
pub mod dial;
pub mod fnv;
pub mod human;
pub mod options;
pub mod outcome;
pub mod own_settings;
mod platform;
pub mod request_key;
pub mod safe;
pub mod spawn;
pub mod trust;
