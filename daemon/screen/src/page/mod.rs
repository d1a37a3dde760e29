//! Pure functions over screen contents: no I/O, no clock, no database.
//!
//! A driver converts the output of its device into a [`Snapshot`]. Every other value is computed from it: the
//! interactive elements ([`refs`]), their labels ([`label`]), the identity of the page ([`fingerprint`]), the structure
//! by which its state is recognised ([`structure`], [`site`]), the components to learn ([`element`]), the reliability
//! of the tree ([`reliability`]), the nodes that a selector matches ([`select`]), the touch points ([`touch`]) and the tools that a page publishes ([`published`]).
//! [`moves`] defines the type for counted outcomes of actions between page structures.

pub mod element;
mod element_ref;
pub mod element_state;
pub mod error_text;
pub mod evidence;
pub mod fingerprint;
pub mod folding;
pub mod label;
pub mod layers;
pub mod mask;
pub mod moves;
pub mod naming;
pub mod node;
pub mod outline;
pub mod pattern;
pub mod published;
mod quoting;
pub mod readable;
pub mod refs;
pub mod reliability;
pub mod renamed;
pub mod risk;
mod screen;
pub mod section;
pub mod select;
pub mod site;
pub mod snapshot;
pub mod structure;
pub mod target;
pub mod touch;
pub mod whole;

#[cfg(test)]
pub(crate) mod tests;

pub use element_ref::Ref;
pub use label::Label;
pub use screen::Screen;
pub use snapshot::{Flag, Node, Rect, Snapshot, Trait, Traits, Window, WindowKind};
