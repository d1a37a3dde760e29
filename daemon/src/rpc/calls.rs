//! Calls in flight on one connection: cancellation (`rpc.cancel`) and progress notifications.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use afd_proto::ErrorCode;
use afd_proto::rpc::{
    CancelParams, CancelResult, PROGRESS, Progress, ReportProgressParams, ReportProgressResult, RpcCancel,
    RpcReportProgress,
};
use jsonrpsee::types::{ErrorObjectOwned, Id};
use parking_lot::Mutex;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::register::{Module, register_sync, to_rpc};
use crate::app::{AtDisconnect, CallScope, Error, ProgressSink, Step};
use afd_store::new_lane;

/// Connection state that the `rpc.*` methods use.
pub(super) struct Calls {
    running: Mutex<Running>,
    progress: AtomicBool,
    /// Number of subscriptions that the client created and has not ended.
    subscriptions: AtomicUsize,
    notifications: mpsc::Sender<Box<RawValue>>,
    /// Lock that makes writing calls on the connection start one after another.
    order: Arc<tokio::sync::Mutex<()>>,
    /// The connection's lane in the store's write queue.
    lane: u64,
    at_disconnect: Option<Arc<AtDisconnect>>,
}

#[derive(Default)]
struct Running {
    calls: Vec<(Id<'static>, Arc<CallScope>)>,
    /// Whether the client has disconnected. If so, calls that start from now on are cancelled at once.
    closed: bool,
}

/// Guard of a tracked call. The call is no longer tracked once the guard is dropped.
pub(super) struct TrackedCall {
    calls: Option<Arc<Calls>>,
    pub scope: Arc<CallScope>,
}

impl Drop for TrackedCall {
    fn drop(&mut self) {
        if let Some(calls) = &self.calls {
            calls.running.lock().calls.retain(|(_, scope)| !Arc::ptr_eq(scope, &self.scope));
        }
    }
}

/// Returns a guard for a notification, which is not tracked.
pub(super) fn untracked() -> TrackedCall {
    TrackedCall { calls: None, scope: CallScope::new(None, Arc::default(), new_lane(), None) }
}

impl Calls {
    /// Creates the state for a connection that outlasts a single call.
    pub(super) fn new(notifications: mpsc::Sender<Box<RawValue>>) -> Arc<Self> {
        Self::with(notifications, Some(Arc::default()))
    }

    /// Creates the state of a plain HTTP request, which carries no notifications and belongs to no lasting connection.
    pub(super) fn of_request() -> Arc<Self> {
        Self::with(mpsc::channel(1).0, None)
    }

    fn with(notifications: mpsc::Sender<Box<RawValue>>, at_disconnect: Option<Arc<AtDisconnect>>) -> Arc<Self> {
        Arc::new(Self {
            running: Mutex::default(),
            progress: AtomicBool::new(false),
            subscriptions: AtomicUsize::new(0),
            notifications,
            order: Arc::default(),
            lane: new_lane(),
            at_disconnect,
        })
    }

    /// Tracks a call until the guard is dropped. Notifications have no id and cannot be cancelled individually.
    pub(super) fn enter(self: &Arc<Self>, id: &Id<'_>) -> TrackedCall {
        let scope = CallScope::new(self.sink(id), self.order.clone(), self.lane, self.at_disconnect.clone());
        let mut running = self.running.lock();
        if running.closed {
            scope.cancel();
        }
        running.calls.push((id.clone().into_owned(), scope.clone()));
        TrackedCall { calls: Some(self.clone()), scope }
    }

    fn sink(self: &Arc<Self>, id: &Id<'_>) -> Option<ProgressSink> {
        if !self.progress.load(Ordering::Relaxed) || *id == Id::Null {
            return None;
        }
        let (notifications, id) = (self.notifications.clone(), serde_json::to_value(id).unwrap_or_default());
        Some(Box::new(move |step: Step| {
            let progress = Progress { id: id.clone(), done: step.done, total: step.total, message: step.message };
            let notification = json!({"jsonrpc": "2.0", "method": PROGRESS, "params": progress});
            if let Ok(notification) = to_raw_value(&notification) {
                // A client that does not keep up misses progress steps; the next step supersedes them.
                let _ = notifications.try_send(notification);
            }
        }))
    }

    fn cancel(&self, id: &Id<'_>) -> bool {
        let running = self.running.lock();
        running.calls.iter().rev().find(|(own, _)| own == id).is_some_and(|(_, scope)| scope.cancel())
    }

    /// Updates the number of subscriptions after one was created (`true`) or ended (`false`).
    pub(super) fn count_subscription(&self, created: bool) {
        let change = |count: usize| Some(if created { count + 1 } else { count.saturating_sub(1) });
        let _ = self.subscriptions.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// Returns whether the client has active subscriptions.
    pub(super) fn has_subscriptions(&self) -> bool {
        self.subscriptions.load(Ordering::Relaxed) > 0
    }

    /// Returns whether the client has disconnected.
    pub(super) fn is_closed(&self) -> bool {
        self.running.lock().closed
    }

    /// Cancels all calls that have not yet committed to a change, and all future calls, because the client has
    /// disconnected.
    pub(super) fn cancel_all(&self) {
        let mut running = self.running.lock();
        running.closed = true;
        for (_, scope) in &running.calls {
            scope.cancel();
        }
        drop(running);
        self.at_disconnect.iter().for_each(|connection| connection.run());
    }
}

pub(super) fn register(module: &mut Module) {
    register_sync::<RpcCancel, _>(module, |params, extensions| {
        let params: CancelParams = crate::app::decode(params).map_err(to_rpc)?;
        let id = match params.id {
            Value::String(text) => Id::Str(text.into()),
            Value::Number(number) if number.is_u64() => Id::Number(number.as_u64().unwrap_or_default()),
            other => {
                return Err(to_rpc(Error::param("id", "the id of a call (a string or a non-negative integer)", other)));
            }
        };
        let calls = extensions.get::<Arc<Calls>>();
        Ok(CancelResult { cancelled: calls.is_some_and(|calls| calls.cancel(&id)) })
    });
    register_sync::<RpcReportProgress, _>(module, |params, extensions| {
        let params: ReportProgressParams = crate::app::decode(params).map_err(to_rpc)?;
        let calls = extensions.get::<Arc<Calls>>().ok_or_else(needs_connection)?;
        calls.progress.store(params.enabled, Ordering::Relaxed);
        Ok(ReportProgressResult { enabled: params.enabled })
    });
}

/// Returns the error for a call that needs notifications where the connection or message cannot carry them.
pub(super) fn needs_connection() -> ErrorObjectOwned {
    to_rpc(
        Error::new(ErrorCode::Unsupported, "notifications are not available over plain HTTP or in a batch")
            .hint("use newline-delimited JSON, Content-Length frames or a WebSocket"),
    )
}
