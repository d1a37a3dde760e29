//! The daemon's experience: events and their outcomes ([`memory`]), the appearance of pages
//! ([`visual`]), and where actions lead ([`prediction`]).

pub mod memory;
pub mod prediction;
pub mod visual;
