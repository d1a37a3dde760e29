//! What a read found, and when.

use std::sync::Arc;

use tokio::time::Instant;

use crate::page::Snapshot;

/// What a read found, and when in the order of the device.
#[derive(Debug, Clone)]
pub struct Reading<T> {
    /// What was found.
    pub value: T,
    /// Its place in the order of what happens.
    pub seq: i64,
    /// How many inputs the device had been sent before.
    pub inputs: u64,
    /// When.
    pub at: Instant,
}

/// A reading of the tree.
pub type TreeReading = Reading<Arc<Snapshot>>;
