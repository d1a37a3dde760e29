//! x
pub mod identity;
