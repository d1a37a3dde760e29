//! `recall.*` and `model.*`: stores, searches and assembles remembered entries.

mod citations;
mod context;
mod describe;
pub mod embed;
mod evaluate;
mod health;
mod indexed;
mod indexer;
mod injection;
pub mod messages;
mod models;
mod progress;
pub mod qdrant;
mod search;
mod show;
mod similar;
mod state;
mod store;
mod upkeep;

use super::methods::Methods;

pub use citations::used;
pub use context::context;
pub use evaluate::evaluate;
pub(super) use health::examine;
pub use indexed::{start as read_index, unindexed};
pub use indexer::start as start_indexer;
pub(super) use injection::{for_request, for_task, near_rows, rows_about, with_remembered};
pub use models::{add as add_model, remove as remove_model, status};
pub use search::{get, search};
pub use state::{Current, Recall};
pub use store::{delete, store};
pub(super) use upkeep::merge_pattern;
pub use upkeep::{JOB as UPKEEP_JOB, run_job as run_upkeep, upkeep};

/// Registers the methods of both namespaces.
pub(super) fn register(methods: &mut Methods) {
    store::register(methods);
    search::register(methods);
    citations::register(methods);
    context::register(methods);
    models::register(methods);
    upkeep::register(methods);
    evaluate::register(methods);
}
