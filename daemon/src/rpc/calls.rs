//! The calls of one connection that are under way: `rpc.cancel`, and progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use afd_proto::ErrorCode;
use afd_proto::rpc::{
    CancelParams, CancelResult, PROGRESS, Progress, ReportProgressParams, ReportProgressResult, RpcCancel, RpcReportProgress,
};
use jsonrpsee::types::{ErrorObjectOwned, Id};
use parking_lot::Mutex;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::params;
use super::register::{Module, register_sync, to_rpc};
use crate::control::{CallScope, Error, ProgressSink, Step};

/// What `rpc.*` needs to know of its connection.
pub(super) struct Calls {
    running: Mutex<Running>,
    progress: AtomicBool,
    /// Subscriptions that were made and not ended by the client.
    following: AtomicUsize,
    notifications: mpsc::Sender<Box<RawValue>>,
    /// Taken by calls that must follow each other.
    order: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct Running {
    calls: Vec<(Id<'static>, Arc<CallScope>)>,
    /// Nobody is there any more: what has not begun yet never does.
    gone: bool,
}

/// A call, until it is dropped.
pub(super) struct Entered {
    calls: Option<Arc<Calls>>,
    pub scope: Arc<CallScope>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(calls) = &self.calls {
            calls.running.lock().calls.retain(|(_, scope)| !Arc::ptr_eq(scope, &self.scope));
        }
    }
}

/// A call that no connection knows of: a notification.
pub(super) fn unknown() -> Entered {
    Entered { calls: None, scope: CallScope::new(None, Arc::default()) }
}

impl Calls {
    pub(super) fn new(notifications: mpsc::Sender<Box<RawValue>>) -> Arc<Self> {
        Arc::new(Self {
            running: Mutex::default(),
            progress: AtomicBool::new(false),
            following: AtomicUsize::new(0),
            notifications,
            order: Arc::default(),
        })
    }

    /// Keeps track of a call until the guard is dropped. Notifications have no id and cannot be cancelled one by one.
    pub(super) fn enter(self: &Arc<Self>, id: &Id<'_>) -> Entered {
        let scope = CallScope::new(self.sink(id), self.order.clone());
        let mut running = self.running.lock();
        if running.gone {
            scope.cancel();
        }
        running.calls.push((id.clone().into_owned(), scope.clone()));
        Entered { calls: Some(self.clone()), scope }
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
                // A client that does not keep up misses steps, which the next one makes good.
                let _ = notifications.try_send(notification);
            }
        }))
    }

    fn cancel(&self, id: &Id<'_>) -> bool {
        let running = self.running.lock();
        running.calls.iter().rev().find(|(own, _)| own == id).is_some_and(|(_, scope)| scope.cancel())
    }

    /// Notes that a subscription was made, or ended.
    pub(super) fn follow(&self, on: bool) {
        let change = |count: usize| Some(if on { count + 1 } else { count.saturating_sub(1) });
        let _ = self.following.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
    }

    /// Whether the client follows events.
    pub(super) fn follows(&self) -> bool {
        self.following.load(Ordering::Relaxed) > 0
    }

    /// The client is gone: what has changed nothing yet ends.
    pub(super) fn cancel_all(&self) {
        let mut running = self.running.lock();
        running.gone = true;
        for (_, scope) in &running.calls {
            scope.cancel();
        }
    }
}

pub(super) fn register(module: &mut Module) {
    register_sync::<RpcCancel, _>(module, |params, extensions| {
        let params: CancelParams = params::decode(params).map_err(to_rpc)?;
        let id = match params.id {
            Value::String(text) => Id::Str(text.into()),
            Value::Number(number) if number.is_u64() => Id::Number(number.as_u64().unwrap_or_default()),
            other => return Err(to_rpc(Error::param("id", "the id of a call: a text, or a whole number of at least 0", other))),
        };
        let calls = extensions.get::<Arc<Calls>>();
        Ok(CancelResult { cancelled: calls.is_some_and(|calls| calls.cancel(&id)) })
    });
    register_sync::<RpcReportProgress, _>(module, |params, extensions| {
        let params: ReportProgressParams = params::decode(params).map_err(to_rpc)?;
        let calls = extensions.get::<Arc<Calls>>().ok_or_else(needs_connection)?;
        calls.progress.store(params.enabled, Ordering::Relaxed);
        Ok(ReportProgressResult { enabled: params.enabled })
    });
}

/// The framing has no place for messages that nobody asked for.
pub(super) fn needs_connection() -> ErrorObjectOwned {
    to_rpc(
        Error::new(ErrorCode::Unsupported, "notifications need a connection of their own, and no batch")
            .hint("use lines, Content-Length frames or a WebSocket"),
    )
}
