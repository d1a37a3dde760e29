//! The visual memory: the components of apps and sites, the states (pages and dialogs) that they form, and the
//! transitions between states.
//!
//! A [`lesson::Lesson`] holds the data of one observation of a screen, whatever its source: the accessibility tree,
//! detections sent by a client, or a detector program. [`learn`] stores it: it inserts new components, counts missed
//! ones, and recognises the state ([`identity`]) or creates one. [`forget`] and [`merge`] clean up afterwards, and
//! their changes can be undone ([`history`]). [`graph`] builds the state graph from the counted transitions. Everything
//! is stored per scope: an app, or a site in a browser.

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
