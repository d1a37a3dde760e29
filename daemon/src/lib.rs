//! The `afd` daemon: use cases ([`app`]), the methods that clients call ([`rpc`]), and the process lifecycle
//! ([`lifecycle`]).
//!
//! The lower layers are separate crates, listed from the lowest up. A crate may use only the crates in the last column
//! of its row:
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
