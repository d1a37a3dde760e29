//! Recorded results of calls that hold what is deleted or merged.

use afd_experience::memory::requests;
use afd_store::{Connection, Result as Stored};

/// Forgets the recorded results of calls that hold the text of a pattern.
///
/// # Errors
/// If the database cannot be written.
pub(in crate::app) fn of_pattern(c: &Connection, uid: &str) -> Stored<()> {
    let methods = ["pattern.save", "pattern.used", "pattern.promote", "pattern.merge", "recall.used"];
    methods.iter().try_for_each(|method| requests::forget_results_about(c, method, uid))?;
    // It tells patterns by their texts.
    requests::forget_results_about(c, "recall.upkeep", "")
}
