//! Subcommands and the calls they make, one file per group.

pub mod act;
pub mod app;
pub mod artifact;
pub mod backup;
mod call;
pub mod config;
pub mod connect;
pub mod conversation;
pub mod daemon;
pub mod device;
pub mod doctor;
pub mod findings;
pub mod import;
pub mod job;
pub mod mcp;
pub mod memory;
pub mod observe;
pub mod pattern;
pub mod recall;
pub mod recover;
pub mod rpc;
pub mod service;
pub mod session;
pub mod uninstall;
mod units;
pub mod verify;
pub mod visual;

pub use call::{Call, Expected, Group, Local, absolute, point, read_list, read_text};
use call::{false_if, map, non_empty, pair, true_if};
