//! The visual memory: the components that apps and sites consist of, the states (pages and dialogs) they form, and how
//! states lead to one another.
//!
//! A [`lesson::Lesson`] is what one observation of a screen teaches, whatever its source: the accessibility tree,
//! detections sent by a client, or a detector program. [`learn`] stores it: it inserts new components, counts missed
//! ones, and recognises the state ([`identity`]) or creates one. [`forget`] and [`merge`] clean up afterwards, and
//! their changes can be undone ([`history`]). [`graph`] builds the state graph from the transitions that the memory
//! counted. Everything is kept per scope: an app, or a site in a browser.

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
mod likeness;
pub mod merge;
pub mod path;
pub mod purge;
pub mod render;
pub mod scope;
pub mod states;
#[cfg(test)]
mod tests;
pub mod transfer;

pub use index::Index;
pub use scope::Scope;
