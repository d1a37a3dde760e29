//! A practice phone: a simulator of the Autofish service that existing clients cannot distinguish from the real one.
//!
//! * The phone: [`app`] reads the apps (JSON files under `apps/`), [`layout`] turns a page into a [`scene`], and
//!   [`phone`] is the state machine, which reacts to touches and typed text.
//! * The service: [`ids`], [`wire`], [`refs`] and [`marks`] encode a scene like the real service, [`http`] serves it,
//!   and `adbd` is the device side of ADB, with a `shell` and the commands of Android.
//! * [`site`] is a practice site for browsers, and [`recording`] plays what was recorded on a real phone.
//! * For tests: [`control`] is a second port that changes the phone's state, and [`fault`] injects failures.

mod adbd;
pub mod app;
pub mod clock;
pub mod control;
pub mod dump;
pub mod fault;
pub mod http;
pub mod ids;
pub mod layout;
pub mod marks;
mod nodes;
pub mod phone;
pub mod picture;
pub mod recording;
pub mod refs;
mod routes;
pub mod scene;
pub mod server;
mod shell;
pub mod site;
pub mod wire;

pub use phone::{Phone, Setup};
pub use server::{Running, start};
