//! Serves a connection that carries many messages.
//!
//! Each call runs in its own task and returns its response through a bounded queue, so that a client that reads nothing
//! blocks only itself. A call is polled once before its task is spawned. Calls therefore enter the queues in which they
//! wait (a device's, for example) in the order in which they arrived, and a call that completes immediately needs no
//! task.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use afd_proto::ErrorCode;
use futures_util::FutureExt;
use jsonrpsee::core::server::BoundedSubscriptions;
use jsonrpsee::types::{ErrorObjectOwned, Id};
use jsonrpsee::{ConnectionId, MethodSink, Methods};
use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use super::calls::Calls;
use super::dispatch::{self, Caller};
use super::places::Slot;
use super::register::to_rpc;
use super::response::{Held, Response};
use super::transport::{Incoming, Transport};
use crate::app::Error;
use afd_base::config::Limits;

/// Maximum number of queued notifications.
const NOTIFICATION_QUEUE: usize = 256;
/// Interval at which a connection that is not being read from is checked for a disconnected client.
pub(super) const GONE_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Shared state and limits with which a connection is served.
#[derive(Clone)]
pub(super) struct Context {
    pub methods: Methods,
    pub limits: Limits,
    pub stopping: watch::Receiver<bool>,
    pub id: ConnectionId,
    pub slot: Arc<Slot>,
}

impl Context {
    pub(super) fn stall(&self) -> Duration {
        Duration::from_millis(self.limits.half_frame_ms)
    }

    /// Returns a caller that cannot receive notifications.
    pub(super) fn caller(&self) -> Caller {
        Caller {
            methods: self.methods.clone(),
            connection: self.id,
            batch: self.limits.batch,
            in_batch: false,
            reserved: self.slot.is_reserved(),
            calls: None,
            sink: None,
        }
    }
}

/// Waits until the daemon is asked to stop.
pub(super) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // An error means that the sender, and with it the daemon, is gone.
    let _ = stopping.wait_for(|stop| *stop).await;
}

/// An event that the loop serving a connection handles.
enum Event {
    Incoming(Incoming),
    /// A call has finished. Its response is `None` if it was a notification.
    Response(Finished),
    Notification(Box<RawValue>),
    Flushed,
    /// A write failed, or the connection's slot was given to another connection.
    Broken,
    /// Reading is paused, and it is time to check whether the client is still connected.
    CheckPeer,
    Stop,
}

/// A finished call: its response and, for a batch, the permit that lets the next batch on the connection begin.
struct Finished {
    response: Option<Response>,
    turn: Option<OwnedSemaphorePermit>,
}

type Responses = mpsc::Sender<Finished>;

/// Executes a message. Returns the response if it is ready at once; otherwise spawns a task that sends the response to
/// `responses`. A batch begins only after the response of the previous batch has been written. Otherwise unread batch
/// responses would fill the memory.
fn start(caller: Caller, bytes: Vec<u8>, batches: &Arc<Semaphore>, responses: &Responses) -> Option<Finished> {
    let batches = dispatch::is_batch(&bytes).then(|| batches.clone());
    let mut work = Box::pin(async move {
        // Acquiring cannot fail: the semaphore is never closed.
        let turn = match batches {
            Some(batches) => batches.acquire_owned().await.ok(),
            None => None,
        };
        Finished { response: dispatch::handle_message(caller, bytes).await, turn }
    });
    if let Some(done) = work.as_mut().now_or_never() {
        return Some(done);
    }
    let responses = responses.clone();
    tokio::spawn(async move {
        let finished = work.await;
        // An error means that the connection is closed.
        let _ = responses.send(finished).await;
    });
    None
}

/// Cancels the calls that have not committed to a change yet, however the connection ends.
struct CancelOnDrop(Arc<Calls>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel_all();
    }
}

/// State of a connection that is being served.
struct Connection<T> {
    transport: T,
    context: Context,
    caller: Caller,
    responses: Responses,
    /// Semaphore that admits one batch at a time.
    batches: Arc<Semaphore>,
    /// Response memory shares and batch permits, held for the responses that are being written.
    writing: Vec<(Held, Option<OwnedSemaphorePermit>)>,
    /// Number of calls that have started but have no response yet.
    active: usize,
    /// Whether further messages are read from the client.
    reading: bool,
    /// Whether a message was rejected, which ends the connection.
    rejected: bool,
    /// Whether the previous event was a notification.
    just_notified: bool,
}

/// Serves a connection until it ends. Requests are read only while fewer than the limit are in flight and all responses
/// are flushed. A client that sends faster than it is served therefore has to wait, and uses no memory meanwhile.
pub(super) async fn run(transport: impl Transport, context: Context) {
    let (sender, mut notifications) = mpsc::channel::<Box<RawValue>>(NOTIFICATION_QUEUE);
    let subscription_limit = Arc::new(BoundedSubscriptions::new(context.limits.subscriptions));
    let calls = Calls::new(sender.clone());
    let _cancel_on_drop = CancelOnDrop(calls.clone());
    let caller =
        Caller { calls: Some(calls), sink: Some((MethodSink::new(sender), subscription_limit)), ..context.caller() };
    let (responses, mut finished) = mpsc::channel(context.limits.in_flight.max(1));
    let mut stopping = context.stopping.clone();
    let reading = !*stopping.borrow();
    let batches = Arc::new(Semaphore::new(1));
    let mut connection = Connection {
        transport,
        context,
        caller,
        responses,
        batches,
        writing: Vec::new(),
        active: 0,
        reading,
        rejected: false,
        just_notified: false,
    };
    while connection.reading || connection.active > 0 || !connection.transport.is_flushed() {
        let event = connection.next_event(&mut finished, &mut notifications, &mut stopping).await;
        if !connection.handle(event) {
            return;
        }
    }
    connection.finish(&mut notifications).await;
}

impl<T: Transport> Connection<T> {
    async fn next_event(
        &mut self,
        finished: &mut mpsc::Receiver<Finished>,
        notifications: &mut mpsc::Receiver<Box<RawValue>>,
        stopping: &mut watch::Receiver<bool>,
    ) -> Event {
        let flushed = self.transport.is_flushed();
        let may_read = self.reading && self.active < self.context.limits.in_flight;
        let (reading, paused) = (self.reading, !may_read && self.active > 0);
        let slot = self.context.slot.clone();
        let transport = &mut self.transport;
        let mut io = poll_fn(|cx| {
            match transport.poll_flush(cx) {
                Poll::Ready(Err(_)) => return Poll::Ready(Event::Broken),
                Poll::Ready(Ok(())) if !flushed => return Poll::Ready(Event::Flushed),
                // The client must read its responses before more requests are accepted.
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) => {}
            }
            if may_read { transport.poll_next(cx).map(Event::Incoming) } else { Poll::Pending }
        });
        // After a notification, requests are polled first: a burst of notifications must not starve them.
        let just_notified = std::mem::take(&mut self.just_notified);
        // Fast path: an event that is already ready needs no select over all sources.
        if reading && *stopping.borrow() {
            return Event::Stop;
        }
        if slot.is_evicted() {
            return Event::Broken;
        }
        if flushed && let Ok(finished) = finished.try_recv() {
            return Event::Response(finished);
        }
        if flushed
            && !just_notified
            && let Ok(notification) = notifications.try_recv()
        {
            return Event::Notification(notification);
        }
        if let Some(event) = (&mut io).now_or_never() {
            return event;
        }
        tokio::select! {
            // Responses come first, so that finished calls are reported before new calls start.
            biased;
            () = stopped(stopping), if reading => Event::Stop,
            () = slot.evicted() => Event::Broken,
            Some(finished) = finished.recv(), if flushed => Event::Response(finished),
            Some(notification) = notifications.recv(), if flushed => Event::Notification(notification),
            event = io => event,
            () = async { tokio::time::sleep(GONE_CHECK_INTERVAL).await }, if paused => Event::CheckPeer,
        }
    }

    /// Handles an event. Returns `false` if the connection must end.
    fn handle(&mut self, event: Event) -> bool {
        match event {
            Event::Incoming(Incoming::Message(bytes)) => {
                self.context.slot.record_activity();
                match start(self.caller.clone(), bytes, &self.batches, &self.responses) {
                    Some(finished) => {
                        self.set_active(self.active);
                        self.send_response(finished);
                    }
                    None => self.set_active(self.active + 1),
                }
            }
            Event::Incoming(Incoming::End) => {
                self.reading = false;
                return !self.transport.is_gone();
            }
            Event::Incoming(Incoming::Rejected(why)) => self.reject(to_rpc(Error::new(ErrorCode::LimitExceeded, why))),
            Event::Incoming(Incoming::Stalled) => {
                let why = format!("the message was not complete within {} ms", self.context.limits.half_frame_ms);
                self.reject(to_rpc(Error::new(ErrorCode::Timeout, why)));
            }
            Event::Response(finished) => {
                self.set_active(self.active - 1);
                self.send_response(finished);
            }
            Event::Notification(notification) => {
                self.just_notified = true;
                self.transport.queue(Box::<str>::from(notification).into());
            }
            Event::Flushed => self.writing.clear(),
            Event::Stop => self.reading = false,
            Event::CheckPeer => return !self.transport.is_gone(),
            Event::Broken => return false,
        }
        true
    }

    fn set_active(&mut self, active: usize) {
        self.active = active;
        let has_subscriptions = self.caller.calls.as_ref().is_some_and(|calls| calls.has_subscriptions());
        self.context.slot.set_busy(active > 0 || has_subscriptions);
    }

    fn send_response(&mut self, finished: Finished) {
        // The client gets time to read the response before its slot may be taken away.
        self.context.slot.record_activity();
        if let Some(response) = finished.response {
            let (text, held) = response.into_parts();
            self.transport.queue(text);
            self.writing.push((held, finished.turn));
        }
        // A reserved slot serves a single request.
        self.reading &= !self.context.slot.is_reserved();
    }

    fn reject(&mut self, error: ErrorObjectOwned) {
        (self.reading, self.rejected) = (false, true);
        self.transport.queue(dispatch::into_text(dispatch::error_response(Id::Null, error)));
    }

    /// Sends the notifications that are still queued, then closes the connection.
    async fn finish(mut self, notifications: &mut mpsc::Receiver<Box<RawValue>>) {
        while let Ok(notification) = notifications.try_recv() {
            self.transport.queue(Box::<str>::from(notification).into());
        }
        if poll_fn(|cx| self.transport.poll_flush(cx)).await.is_ok() {
            self.transport.close(self.rejected).await;
        }
    }
}
