//! What one call does from start to end: the only place that ties devices, pages and memory together.

pub mod act;
pub mod admin;
pub mod artifacts;
mod call;
mod carry;
pub mod config;
pub mod conversation;
mod core;
pub mod devices;
mod error;
pub mod events;
mod forwards;
mod guard;
mod hints;
pub mod import;
pub mod jobs;
mod look;
pub mod memory;
pub mod notes;
pub mod observe;
mod paging;
pub mod patterns;
mod reading;
pub mod recover;
pub mod replay;
mod rows;
mod runtime;
mod scope;
pub mod screenshot;
mod scroll;
pub mod session;
pub mod shell;
mod streams;
mod turns;
pub mod usb;
pub mod verify;
pub mod visual;
pub mod waiting;

use streams::WatchStreams;

pub use call::Call;
use call::{Addressed, check_session};
pub use core::Core;
pub use error::{Error, Result};
pub use scope::{CallScope, ProgressSink, Step, current_trace, run_call};
