//! Infrastructure that the other crates of the daemon share: text, files, settings, tasks, and clients for models. It
//! has no domain logic.

pub mod belief;
pub mod config;
pub mod erased;
pub mod file;
pub mod hex;
pub mod live;
pub mod model;
pub mod net;
pub mod platform;
pub mod sync;
pub mod task;
pub mod text;
