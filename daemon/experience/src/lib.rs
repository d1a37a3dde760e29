//! The daemon's experience: events and their outcomes ([`memory`]), and the appearance of pages ([`visual`]).

pub mod memory;
pub mod visual;
