//! What screens are made of and how they hang together (seed 001): components, states, and what is known of them.
//!
//! A lesson is what one look at a screen taught, from whatever source: the accessibility tree, detections of a client, or a
//! detector program. [`learn`] takes it up: components come and are missed, the state is recognised ([`identity`]) or made.
//! [`forget`] and [`merge`] clean up behind it and can be undone ([`history`]). [`graph`] lays the states over the moves that
//! memory counted. All of it is kept per scope: an app, or a site in a browser.

pub mod cleanup;
pub mod components;
pub mod detections;
pub mod detector;
pub mod edges;
pub mod files;
pub mod forget;
pub mod graph;
pub mod history;
pub mod identity;
pub mod index;
pub mod known;
pub mod learn;
pub mod lesson;
pub mod merge;
pub mod path;
pub mod render;
pub mod scope;
pub mod states;

pub use index::Index;
pub use scope::Scope;
