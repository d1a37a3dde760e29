//! `session.*`: test sessions with their goal, tasks, findings, coverage, progress, reports and resumption.

pub mod coverage;
mod digest;
pub mod edit;
mod evidence;
pub mod export;
pub mod findings;
pub mod import;
mod known;
pub mod lifecycle;
pub(super) mod lines;
pub mod progress;
pub mod report;
pub mod resume;
pub mod tasks;

pub(super) use digest::{context as context_of, digest};
pub(super) use edit::SAYING;
pub(super) use known::{active, change, check_directory, for_writing, known, no_session, scope_of, still_active};
