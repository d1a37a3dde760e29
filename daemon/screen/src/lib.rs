//! Pure functions over the contents of a screen. They use no clock, no files and no devices.

pub mod page;
pub mod picture;
