//! The scope of a running call: its trace id, whether it can still be cancelled, and the receiver of its progress.
//!
//! A call is open until it either commits to a change or is cancelled. A single atomic decides which comes first, so
//! that a cancelled call never sends anything and a call that has sent something is never reported as cancelled. Tasks
//! spawned by the call inherit its scope.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use afd_proto::ErrorCode;
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, Notify, OwnedMutexGuard};
use tokio::task::JoinHandle;

use super::{Error, Result};
use afd_store::{self as store, Opening, new_uid};

const OPEN: u8 = 0;
const COMMITTED: u8 = 1;
const CANCELLED: u8 = 2;

/// Progress of a call.
#[derive(Debug, Clone)]
pub struct Step {
    /// Number of completed steps.
    pub done: u64,
    /// Total number of steps, if known.
    pub total: Option<u64>,
    /// Description of the current step.
    pub message: String,
}

/// Callbacks that run when a connection ends.
#[derive(Default)]
pub struct AtDisconnect(Mutex<Ending>);

#[derive(Default)]
struct Ending {
    closed: bool,
    actions: Vec<Box<dyn FnOnce() + Send>>,
}

impl AtDisconnect {
    /// Runs the callbacks, because the connection has ended. Callbacks that are added later run at once.
    pub fn run(&self) {
        let actions = {
            let mut ending = self.0.lock();
            ending.closed = true;
            std::mem::take(&mut ending.actions)
        };
        actions.into_iter().for_each(|action| action());
    }

    fn add(&self, action: impl FnOnce() + Send + 'static) {
        let mut ending = self.0.lock();
        if ending.closed {
            drop(ending);
            return action();
        }
        ending.actions.push(Box::new(action));
    }
}

/// Function that receives the progress of a call.
pub type ProgressSink = Box<dyn Fn(Step) + Send + Sync>;

/// State of a running call.
#[derive(Default)]
pub struct CallScope {
    trace: OnceLock<String>,
    state: AtomicU8,
    cancelled: Notify,
    /// Whether the call was cancelled, even if it had already committed.
    asked_to_stop: AtomicBool,
    progress: Option<ProgressSink>,
    /// Serialises the start of writing calls; shared by all calls of the connection.
    order: Arc<AsyncMutex<()>>,
    /// The connection's lane in the store's write queue.
    lane: u64,
    /// Callbacks for the end of the connection; `None` if the end of the connection cannot be detected.
    connection: Option<Arc<AtDisconnect>>,
    /// Record that is written together with the call's first write.
    opening: OnceLock<Arc<Opening>>,
}

tokio::task_local! {
    static CALL: Arc<CallScope>;
}

impl CallScope {
    /// Creates the scope of a call. `order` and `lane` belong to the connection. `connection` is `None` if the end of
    /// the connection cannot be detected.
    pub fn new(
        progress: Option<ProgressSink>,
        order: Arc<AsyncMutex<()>>,
        lane: u64,
        connection: Option<Arc<AtDisconnect>>,
    ) -> Arc<Self> {
        Arc::new(Self { progress, order, lane, connection, ..Self::default() })
    }

    /// Returns whether the end of the call's connection can be detected.
    pub(super) fn has_connection(&self) -> bool {
        self.connection.is_some()
    }

    /// Adds a callback that runs when the call's connection ends, or at once if the connection has already ended.
    pub(super) fn at_disconnect(&self, action: impl FnOnce() + Send + 'static) {
        if let Some(connection) = &self.connection {
            connection.add(action);
        }
    }

    /// Waits until all earlier writing calls on the connection have started, and blocks later writing calls until the
    /// guard is dropped.
    pub(super) async fn in_order(&self) -> OwnedMutexGuard<()> {
        self.order.clone().lock_owned().await
    }

    /// Sets the record that is written together with the call's first write.
    pub(super) fn set_opening(&self, opening: Arc<Opening>) {
        let _ = self.opening.set(opening);
    }

    fn trace(&self) -> &str {
        self.trace.get_or_init(new_uid)
    }

    /// Commits the call: from here on it runs to its end, even if the caller disconnects.
    ///
    /// # Errors
    /// `CANCELLED` if the call was cancelled before it committed.
    pub fn commit(&self) -> Result<()> {
        match self.state.compare_exchange(OPEN, COMMITTED, Ordering::SeqCst, Ordering::SeqCst) {
            Ok(_) | Err(COMMITTED) => Ok(()),
            Err(_) => Err(cancelled()),
        }
    }

    /// Cancels the call. Returns false if the call has already committed.
    pub fn cancel(&self) -> bool {
        self.asked_to_stop.store(true, Ordering::SeqCst);
        let won = self.state.compare_exchange(OPEN, CANCELLED, Ordering::SeqCst, Ordering::SeqCst);
        if won.is_ok() {
            self.cancelled.notify_waiters();
        }
        matches!(won, Ok(_) | Err(CANCELLED))
    }

    /// Returns whether the call was cancelled, even if it had already committed. A call of several steps ends before its
    /// next step then.
    pub(super) fn is_asked_to_stop(&self) -> bool {
        self.asked_to_stop.load(Ordering::SeqCst)
    }

    /// Waits until the call is cancelled.
    pub async fn cancelled(&self) {
        let mut notified = pin!(self.cancelled.notified());
        // Register before checking the state, so that no notification is missed.
        notified.as_mut().enable();
        if self.state.load(Ordering::SeqCst) != CANCELLED {
            notified.await;
        }
    }
}

/// Creates the error for a cancelled call.
pub fn cancelled() -> Error {
    Error::new(ErrorCode::Cancelled, "the call was cancelled before it changed anything")
}

/// Runs the future of a call until it finishes or the call is cancelled.
///
/// # Errors
/// `CANCELLED` if the call is cancelled; the future is then dropped.
pub async fn run_call<F: Future>(scope: Arc<CallScope>, work: F) -> Result<F::Output> {
    let watched = scope.clone();
    if scope.state.load(Ordering::SeqCst) == CANCELLED {
        return Err(cancelled());
    }
    tokio::select! {
        biased;
        output = store::in_lane(scope.lane, CALL.scope(scope, work)) => Ok(output),
        () = watched.cancelled() => Err(cancelled()),
    }
}

/// Returns the scope of the current task, or a new scope outside a call.
pub(super) fn current() -> Arc<CallScope> {
    CALL.try_with(Arc::clone).unwrap_or_default()
}

/// Returns the trace id of the current call, or `None` outside a call.
pub fn current_trace() -> Option<String> {
    CALL.try_with(|call| call.trace().to_owned()).ok()
}

/// Spawns a task that inherits the scope of the current call.
pub(super) fn spawn<F>(work: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let scope = current();
    let opening = scope.opening.get().cloned();
    let work = store::in_lane(scope.lane, CALL.scope(scope, work));
    match opening {
        Some(opening) => tokio::spawn(store::with_opening(opening, work)),
        None => tokio::spawn(work),
    }
}

/// Reports the progress of the current call, if the client requested it.
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
    async fn commit_and_cancel_exclude_each_other() {
        let committed = CallScope::new(None, Arc::default(), 1, None);
        committed.commit().expect("open");
        assert!(!committed.cancel());
        committed.commit().expect("again");
        let stopped = CallScope::new(None, Arc::default(), 1, None);
        assert!(stopped.cancel() && stopped.cancel());
        assert_eq!(stopped.commit().expect_err("too late").code, ErrorCode::Cancelled);
        let dropped = run_call(stopped, std::future::pending::<()>()).await;
        assert_eq!(dropped.expect_err("cancelled").code, ErrorCode::Cancelled);
    }
}
