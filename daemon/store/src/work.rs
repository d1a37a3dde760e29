//! Types of the writes in the queue of the writer.

use afd_base::erased;
use rusqlite::Connection;
use tokio::sync::OwnedSemaphorePermit;

use super::Result;

/// Reports the result of a write to its caller, once it is known whether the commit succeeded.
pub(super) type Acknowledge = Box<dyn FnOnce(Result<()>) + Send>;

/// Writes to the connection; returns a value or an error of the caller's types.
pub(super) type Work = Box<dyn FnOnce(&Connection) -> Result<erased::Value, erased::Value> + Send>;

/// Result of a write: a value or an error of the caller's types, else the database error that prevented the write.
pub(super) type Done = Result<Result<erased::Value, erased::Value>>;

/// Receives the result of a write, on the writer thread.
pub(super) type Report = Box<dyn FnOnce(Done) + Send>;

/// A write and its slot in the queue.
pub(super) struct Queued {
    pub(super) work: Work,
    pub(super) report: Report,
    pub(super) _permit: OwnedSemaphorePermit,
}
