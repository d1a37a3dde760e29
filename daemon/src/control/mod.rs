//! Use cases: what each RPC method does from start to end. The only layer that combines devices, pages and memory.

pub mod act;
pub mod admin;
mod after_act;
pub mod artifacts;
pub mod backups;
mod call;
mod capture;
pub mod config;
pub mod conversation;
mod core;
pub mod devices;
pub mod doctor;
mod error;
pub mod events;
mod execute;
mod experience;
mod fill;
mod forwards;
mod hints;
pub mod import;
pub mod jobs;
mod locks;
pub mod memory;
pub mod notes;
pub mod observe;
mod outline;
mod paging;
pub mod patterns;
mod plan;
pub mod recover;
pub mod replay;
mod resolve_target;
mod rows;
mod runtime;
mod scope;
mod screen_capture;
pub mod screenshot;
mod scroll;
pub mod session;
pub mod shell;
mod streams;
mod substitute;
#[cfg(test)]
mod tests;
mod then;
pub mod usb;
pub mod verify;
pub mod visual;
pub mod wait;

use streams::WatchStreams;

pub use call::Call;
use call::{Addressed, check_session};
pub use core::Core;
pub use error::{Error, Result};
pub use scope::{AtDisconnect, CallScope, ProgressSink, Step, current_trace, run_call};
