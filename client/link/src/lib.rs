//! What the command line and the bridge for MCP clients share: a blocking connection to the daemon, and how results read.
//!
//! * [`options`] are those of every command, [`bridge`] those of the bridge.
//! * [`connection`] sends calls, [`dial`] connects to the daemon, [`spawn`] starts it if none is running, and [`trust`]
//!   checks that its socket belongs to the caller.
//! * [`outcome`] is the result of a command; [`human`] and [`agent`] write it as text, and [`safe`] escapes what could
//!   control a terminal.

pub mod agent;
pub mod bridge;
pub mod connection;
pub mod dial;
pub mod fnv;
pub mod human;
pub mod options;
pub mod outcome;
pub mod own_settings;
pub mod request_key;
pub mod safe;
pub mod spawn;
pub mod trust;
