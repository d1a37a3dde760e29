//! What is learned from what was done and seen: events and their outcomes ([`memory`]), and what pages look like
//! ([`visual`]).

pub mod memory;
pub mod visual;
