//! The call that is being worked on: its trace id, whether it may still be cancelled, and where its progress is reported.
//!
//! A call is open until it either commits to a change or is cancelled; one atomic decides which comes first, so that what was
//! cancelled is never sent and what was sent is never taken for cancelled. The scope travels with the tasks of its call.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use afd_proto::ErrorCode;
use tokio::sync::{Mutex as AsyncMutex, Notify, OwnedMutexGuard};
use tokio::task::JoinHandle;

use super::{Error, Result};
use crate::store::new_uid;

const OPEN: u8 = 0;
const COMMITTED: u8 = 1;
const CANCELLED: u8 = 2;

/// How far a call is.
#[derive(Debug, Clone)]
pub struct Step {
    /// Steps that are done.
    pub done: u64,
    /// All steps, when their number is known.
    pub total: Option<u64>,
    /// What is being done.
    pub message: String,
}

/// Where the progress of a call goes.
pub type ProgressSink = Box<dyn Fn(Step) + Send + Sync>;

/// One call.
#[derive(Default)]
pub struct CallScope {
    trace: OnceLock<String>,
    state: AtomicU8,
    cancelled: Notify,
    progress: Option<ProgressSink>,
    /// The order of the calls of its connection.
    order: Arc<AsyncMutex<()>>,
}

tokio::task_local! {
    static CALL: Arc<CallScope>;
}

impl CallScope {
    /// A call whose progress goes to a sink, if there is one; `order` is shared by the calls of its connection.
    pub fn new(progress: Option<ProgressSink>, order: Arc<AsyncMutex<()>>) -> Arc<Self> {
        Arc::new(Self { progress, order, ..Self::default() })
    }

    /// Waits until the writing calls that came before on the same connection have begun, and keeps later ones waiting until the
    /// guard is dropped.
    pub(super) async fn in_order(&self) -> OwnedMutexGuard<()> {
        self.order.clone().lock_owned().await
    }

    fn trace(&self) -> &str {
        self.trace.get_or_init(new_uid)
    }

    /// From here on the call runs to its end, whoever goes away.
    ///
    /// # Errors
    /// `CANCELLED` when it was cancelled before.
    pub fn commit(&self) -> Result<()> {
        match self.state.compare_exchange(OPEN, COMMITTED, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) | Err(COMMITTED) => Ok(()),
            Err(_) => Err(cancelled()),
        }
    }

    /// Cancels the call; false when it committed before.
    pub fn cancel(&self) -> bool {
        let won = self.state.compare_exchange(OPEN, CANCELLED, Ordering::SeqCst, Ordering::SeqCst);
        if won.is_ok() {
            self.cancelled.notify_waiters();
        }
        matches!(won, Ok(_) | Err(CANCELLED))
    }

    /// Ends when the call is cancelled.
    pub async fn cancelled(&self) {
        let mut notified = pin!(self.cancelled.notified());
        // Before the state is looked at, so that nothing is missed.
        notified.as_mut().enable();
        if self.state.load(Ordering::SeqCst) != CANCELLED {
            notified.await;
        }
    }
}

/// The error of a call that was cancelled.
pub fn cancelled() -> Error {
    Error::new(ErrorCode::Cancelled, "the call was cancelled before it changed anything")
}

/// Works on a call until it is done or cancelled.
///
/// # Errors
/// `CANCELLED`; the work was dropped.
pub async fn run_call<F: Future>(scope: Arc<CallScope>, work: F) -> Result<F::Output> {
    let watched = scope.clone();
    if scope.state.load(Ordering::SeqCst) == CANCELLED {
        return Err(cancelled());
    }
    tokio::select! {
        biased;
        output = CALL.scope(scope, work) => Ok(output),
        () = watched.cancelled() => Err(cancelled()),
    }
}

/// The call of this task; a new one outside of calls.
pub(super) fn current() -> Arc<CallScope> {
    CALL.try_with(Arc::clone).unwrap_or_default()
}

/// The trace id of the call that is being worked on.
pub fn current_trace() -> Option<String> {
    CALL.try_with(|call| call.trace().to_owned()).ok()
}

/// Spawns a task that belongs to the call of this one.
pub(super) fn spawn<F>(work: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(CALL.scope(current(), work))
}

/// Reports how far the call is, if its client asked for that.
pub(super) fn report(done: u64, total: Option<u64>, message: impl Into<String>) {
    let call = current();
    if let Some(sink) = &call.progress {
        sink(Step { done, total, message: message.into() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn either_commit_or_cancel_wins() {
        let committed = CallScope::new(None, Arc::default());
        committed.commit().expect("open");
        assert!(!committed.cancel());
        committed.commit().expect("again");
        let stopped = CallScope::new(None, Arc::default());
        assert!(stopped.cancel() && stopped.cancel());
        assert_eq!(stopped.commit().expect_err("too late").code, ErrorCode::Cancelled);
        let dropped = run_call(stopped, std::future::pending::<()>()).await;
        assert_eq!(dropped.expect_err("cancelled").code, ErrorCode::Cancelled);
    }
}
