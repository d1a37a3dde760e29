//! What every part of the daemon uses, and nothing of what it is about.

pub mod belief;
pub mod config;
pub mod erased;
pub mod file;
pub mod hex;
pub mod live;
pub mod model;
pub mod net;
pub mod resident;
pub mod sync;
pub mod task;
pub mod text;
