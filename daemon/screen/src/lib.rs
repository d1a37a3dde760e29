//! What is on a screen, as pure functions: no clock, no files, no devices.

pub mod page;
pub mod picture;
