//! Types of the writes in the writer's queue.

use afd_base::erased;
use rusqlite::Connection;
use tokio::sync::OwnedSemaphorePermit;

use super::Result;

/// Callback that reports the result of a write to its caller. Its argument is the result of the commit.
pub(super) type Acknowledge = Box<dyn FnOnce(Result<()>) + Send>;

/// A write: a function that returns a value or an error, whose types only the caller knows.
pub(super) type Work = Box<dyn FnOnce(&Connection) -> Result<erased::Value, erased::Value> + Send>;

/// Result of a write: the value or error that its work returned, or the database error that prevented the write.
pub(super) type Done = Result<Result<erased::Value, erased::Value>>;

/// Callback that receives the result of a write on the writer thread.
pub(super) type Report = Box<dyn FnOnce(Done) + Send>;

/// A queued write, with the permit for its slot in the queue.
pub(super) struct Queued {
    pub(super) work: Work,
    pub(super) report: Report,
    pub(super) _permit: OwnedSemaphorePermit,
}
