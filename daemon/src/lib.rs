//! The `afd` daemon: use cases ([`control`]), the methods that clients call ([`rpc`]), and the life of the process
//! ([`lifecycle`]).
//!
//! What it stands on are crates of its own, lowest first; one may only use those before it in its own line of the
//! table:
//!
//! | crate | contents | uses |
//! |---|---|---|
//! | [`afd_base`] | text, files, settings, tasks, clients of models | |
//! | [`afd_store`] | the database, artifacts, backups, jobs | base |
//! | [`afd_screen`] | what is on a screen, and pictures of it | base |
//! | [`afd_device`] | drivers, actors, leases, the registry | base, store, screen |
//! | [`afd_experience`] | what is learned from acts and looks | base, store, screen |
//! | [`afd_recall`] | entries that are found again | base, store |
//! | [`afd_workspace`] | sessions, findings, reports and conversations | base, store, screen |

pub mod app;
pub mod lifecycle;
pub mod rpc;
