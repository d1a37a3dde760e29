//! Pure functions over the contents of a screen. They access neither a clock nor files nor devices.

pub mod page;
pub mod picture;
