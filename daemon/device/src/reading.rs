//! Results of reads from a device.

use std::sync::Arc;

use tokio::time::Instant;

use afd_screen::page::Screen;

/// The result of a read, with its position in the sequence of events on the device.
#[derive(Debug, Clone)]
pub struct Reading<T> {
    /// The value that was read.
    pub value: T,
    /// Sequence number, from the same counter as events and intents.
    pub seq: i64,
    /// Number of inputs that were sent to the device before the read.
    pub inputs: u64,
    /// Time at which the read finished.
    pub at: Instant,
}

/// A reading of the element tree.
pub type TreeReading = Reading<Arc<Screen>>;
