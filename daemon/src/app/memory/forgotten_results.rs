//! Clears recorded call results that contain deleted or merged data.

use afd_experience::memory::requests;
use afd_store::{Connection, Result as Stored};

/// Clears the recorded call results that contain a pattern.
///
/// # Errors
/// If the database cannot be written.
pub(in crate::app) fn of_pattern(c: &Connection, uid: &str) -> Stored<()> {
    let methods = ["pattern.save", "pattern.used", "pattern.promote", "pattern.merge", "recall.used"];
    methods.iter().try_for_each(|method| requests::forget_results_about(c, method, uid))?;
    // The results of `recall.upkeep` quote patterns without their uids. The empty string matches all of them.
    requests::forget_results_about(c, "recall.upkeep", "")
}
