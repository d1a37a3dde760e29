//! Pure code about pages: no I/O, no clock, no database.
//!
//! A driver turns what its device says into a [`Snapshot`]; everything else here is computed from it: what can be acted
//! on ([`refs`]), what it says ([`label`]), which page it is ([`fingerprint`]), what its state is recognised by ([`structure`],
//! [`site`], [`moves`]), what is to be learned of it ([`element`]), whether it can be trusted ([`reliability`]), what a selector means
//! ([`select`]) and where to touch ([`touch`]).

pub mod element;
pub mod fingerprint;
pub mod label;
pub mod mask;
pub mod moves;
pub mod pattern;
pub mod refs;
pub mod reliability;
pub mod select;
pub mod site;
pub mod snapshot;
pub mod structure;
pub mod target;
pub mod touch;

#[cfg(test)]
mod tests;

pub use label::Label;
pub use refs::Ref;
pub use snapshot::{Flag, Node, Rect, Snapshot, Window, WindowKind};
