//! The `afd` daemon: use cases ([`app`]), the methods that clients call ([`rpc`]), and the life of the process
//! ([`lifecycle`]).
//!
//! The lower layers are crates of their own, lowest first. A crate may only use the crates in its row of the table:
//!
//! | crate | contents | uses |
//! |---|---|---|
//! | [`afd_base`] | text, files, settings, tasks, model clients | |
//! | [`afd_store`] | the database, artifacts, backups, jobs | base |
//! | [`afd_screen`] | screen content and pictures | base |
//! | [`afd_device`] | drivers, actors, leases, the registry | base, store, screen |
//! | [`afd_experience`] | knowledge from actions and observations | base, store, screen |
//! | [`afd_recall`] | entries that can be searched | base, store |
//! | [`afd_conversation`] | conversations and model contexts | base, store |
//! | [`afd_workspace`] | sessions, findings and reports | base, store, screen, conversation |

pub mod app;
pub mod lifecycle;
pub mod rpc;
