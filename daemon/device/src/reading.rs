//! Results of reading a device.

use std::sync::Arc;

use tokio::time::Instant;

use afd_screen::page::Screen;

/// Result of a read, with its position in the order of what happened on the device.
#[derive(Debug, Clone)]
pub struct Reading<T> {
    /// What was read.
    pub value: T,
    /// Sequence number, from the same counter as events and intents.
    pub seq: i64,
    /// Number of inputs that the device had been sent before.
    pub inputs: u64,
    /// When the read finished.
    pub at: Instant,
}

/// A reading of the element tree.
pub type TreeReading = Reading<Arc<Screen>>;
