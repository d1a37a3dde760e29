//! Experience of the daemon: events and their outcomes ([`memory`]), and the appearance of pages ([`visual`]).

pub mod memory;
pub mod visual;
