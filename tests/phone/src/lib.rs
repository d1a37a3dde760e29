//! A practice phone: a simulator of the Autofish service that existing clients cannot tell from the real one.
//!
//! [`scene`] is what is on the screen, [`ids`], [`wire`] and [`refs`] say it the way the service does, [`app`] reads the
//! apps (data files under `apps/`), [`layout`] turns a page into a scene, [`phone`] is the machine that taps and typing
//! drive, [`http`] serves it, `adbd` is its end of the cable, and [`control`] is the second port by which tests arrange the world.

mod adbd;
pub mod app;
pub mod clock;
pub mod control;
pub mod fault;
pub mod http;
pub mod ids;
pub mod layout;
pub mod marks;
mod nodes;
pub mod phone;
pub mod picture;
pub mod refs;
mod routes;
pub mod scene;
pub mod server;
pub mod wire;

pub use phone::{Phone, Setup};
pub use server::{Running, start};
