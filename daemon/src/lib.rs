//! The `afd` daemon. Modules by layer, lowest first; a module may only use modules of lower layers:
//!
//! 0. [`store`], [`config`], [`net`], [`task`], [`mod@file`], [`hex`], [`sync`], [`resident`]
//! 1. [`page`], [`text`], [`belief`], [`picture`], [`artifact`], [`backup`], [`live`], [`job`], [`model`]
//! 2. [`device`], [`memory`], [`visual`], [`session`], [`recall`]
//! 3. [`control`]
//! 4. [`rpc`]
//! 5. [`lifecycle`]

pub mod artifact;
pub mod backup;
pub mod belief;
pub mod config;
pub mod control;
pub mod device;
pub mod erased;
pub mod file;
pub mod hex;
pub mod job;
pub mod lifecycle;
pub mod live;
pub mod memory;
pub mod model;
pub mod net;
pub mod page;
pub mod picture;
pub mod recall;
pub mod resident;
pub mod rpc;
pub mod session;
pub mod store;
pub mod sync;
pub mod task;
pub mod text;
pub mod visual;
