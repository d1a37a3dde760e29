//! A connection that carries many messages, from its first to its last.
//!
//! Each call is a task of its own; its answer comes back through a bounded queue, so that a client that reads nothing stops
//! nobody but itself. A call is polled once before it gets its task: what it queues for is queued in the order in which the
//! calls came, and a call that is ready at once is answered in place.

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
use tokio::sync::{mpsc, watch};

use super::calls::Calls;
use super::dispatch::{self, Caller};
use super::places::Place;
use super::register::to_rpc;
use super::transport::{Incoming, Transport};
use crate::config::Limits;
use crate::control::Error;

/// How many notifications of subscriptions wait for the connection.
const SINK: usize = 256;
/// How often a connection that is not being read is looked at: whether anybody is left to read the answers.
pub(super) const GONE_CHECK: Duration = Duration::from_millis(200);

/// What every connection needs.
#[derive(Clone)]
pub(super) struct Context {
    pub methods: Methods,
    pub limits: Limits,
    pub stopping: watch::Receiver<bool>,
    pub id: ConnectionId,
    pub place: Arc<Place>,
}

impl Context {
    pub(super) fn stall(&self) -> Duration {
        Duration::from_millis(self.limits.half_frame_ms)
    }

    /// A caller that can be sent nothing but answers.
    pub(super) fn caller(&self) -> Caller {
        Caller {
            methods: self.methods.clone(),
            connection: self.id,
            batch: self.limits.batch,
            in_batch: false,
            reserved: self.place.is_reserved(),
            calls: None,
            sink: None,
        }
    }
}

/// Ends when the daemon is to stop.
pub(super) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // Without a sender there is no daemon any more.
    let _ = stopping.wait_for(|stop| *stop).await;
}

/// What happened next.
enum Step {
    Incoming(Incoming),
    /// A call is done; some have no answer.
    Answer(Option<String>),
    Notification(Box<RawValue>),
    Flushed,
    /// Nobody reads any more.
    Broken,
    /// Nothing is read from the client: time to see whether it is still there.
    Look,
    Stop,
}

type Answers = mpsc::Sender<Option<String>>;

/// Executes a message in a task of its own, unless it is done at once.
fn begin(caller: Caller, bytes: Vec<u8>, answers: &Answers) -> Option<Option<String>> {
    let mut work = Box::pin(dispatch::message(caller, bytes));
    if let Some(done) = work.as_mut().now_or_never() {
        return Some(done);
    }
    let answers = answers.clone();
    tokio::spawn(async move {
        let answer = work.await;
        // Without a receiver there is no connection any more.
        let _ = answers.send(answer).await;
    });
    None
}

/// Ends the calls that have changed nothing yet, whatever way the connection ends.
struct Gone(Arc<Calls>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.cancel_all();
    }
}

/// A connection that is being served.
struct Session<T> {
    transport: T,
    context: Context,
    caller: Caller,
    answers: Answers,
    /// Calls that were begun and not answered yet.
    active: usize,
    /// Whether the client may send more.
    reading: bool,
    refused: bool,
    /// The last message was a notification.
    told: bool,
}

/// Runs a connection. Requests are read only while fewer than the limit are in flight and what was answered is being read, so
/// that a client that asks faster than it is answered waits, and costs nothing.
pub(super) async fn run(transport: impl Transport, context: Context) {
    let (sender, mut notifications) = mpsc::channel::<Box<RawValue>>(SINK);
    let bound = Arc::new(BoundedSubscriptions::new(context.limits.subscriptions));
    let calls = Calls::new(sender.clone());
    let _gone = Gone(calls.clone());
    let caller = Caller { calls: Some(calls), sink: Some((MethodSink::new(sender), bound)), ..context.caller() };
    let (answers, mut answered) = mpsc::channel(context.limits.in_flight.max(1));
    let mut stopping = context.stopping.clone();
    let reading = !*stopping.borrow();
    let mut session = Session { transport, context, caller, answers, active: 0, reading, refused: false, told: false };
    while session.reading || session.active > 0 || !session.transport.is_flushed() {
        let step = session.step(&mut answered, &mut notifications, &mut stopping).await;
        if !session.handle(step) {
            return;
        }
    }
    session.finish(&mut notifications).await;
}

impl<T: Transport> Session<T> {
    async fn step(
        &mut self,
        answered: &mut mpsc::Receiver<Option<String>>,
        notifications: &mut mpsc::Receiver<Box<RawValue>>,
        stopping: &mut watch::Receiver<bool>,
    ) -> Step {
        let flushed = self.transport.is_flushed();
        let may_read = self.reading && self.active < self.context.limits.in_flight;
        let (reading, waits) = (self.reading, !may_read && self.active > 0);
        let place = self.context.place.clone();
        let transport = &mut self.transport;
        let mut io = poll_fn(|cx| {
            match transport.poll_flush(cx) {
                Poll::Ready(Err(_)) => return Poll::Ready(Step::Broken),
                Poll::Ready(Ok(())) if !flushed => return Poll::Ready(Step::Flushed),
                // What was answered is read before more is taken.
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) => {}
            }
            if may_read { transport.poll_next(cx).map(Step::Incoming) } else { Poll::Pending }
        });
        // A long run of notifications must not keep the client from being heard.
        let told = std::mem::take(&mut self.told);
        // What is there already needs no waiting for everything else.
        if reading && *stopping.borrow() {
            return Step::Stop;
        }
        if place.is_evicted() {
            return Step::Broken;
        }
        if flushed && let Ok(answer) = answered.try_recv() {
            return Step::Answer(answer);
        }
        if flushed
            && !told
            && let Ok(notification) = notifications.try_recv()
        {
            return Step::Notification(notification);
        }
        if let Some(step) = (&mut io).now_or_never() {
            return step;
        }
        tokio::select! {
            // Answers first: what is done is told before more is begun.
            biased;
            () = stopped(stopping), if reading => Step::Stop,
            () = place.evicted() => Step::Broken,
            Some(answer) = answered.recv(), if flushed => Step::Answer(answer),
            Some(notification) = notifications.recv(), if flushed => Step::Notification(notification),
            step = io => step,
            () = async { tokio::time::sleep(GONE_CHECK).await }, if waits => Step::Look,
        }
    }

    /// Returns false when the connection is over.
    fn handle(&mut self, step: Step) -> bool {
        match step {
            Step::Incoming(Incoming::Message(bytes)) => {
                self.context.place.speaks();
                match begin(self.caller.clone(), bytes, &self.answers) {
                    Some(answer) => {
                        self.set_active(self.active);
                        self.tell(answer);
                    }
                    None => self.set_active(self.active + 1),
                }
            }
            Step::Incoming(Incoming::End) => {
                self.reading = false;
                return !self.transport.is_gone();
            }
            Step::Incoming(Incoming::Refused(why)) => self.refuse(to_rpc(Error::new(ErrorCode::LimitExceeded, why))),
            Step::Incoming(Incoming::Stalled) => {
                let why = format!("a message was begun and not finished within {} ms", self.context.limits.half_frame_ms);
                self.refuse(to_rpc(Error::new(ErrorCode::Timeout, why)));
            }
            Step::Answer(answer) => {
                self.set_active(self.active - 1);
                self.tell(answer);
            }
            Step::Notification(notification) => {
                self.told = true;
                self.transport.queue(Box::<str>::from(notification).into());
            }
            Step::Flushed => {}
            Step::Stop => self.reading = false,
            Step::Look => return !self.transport.is_gone(),
            Step::Broken => return false,
        }
        true
    }

    fn set_active(&mut self, active: usize) {
        self.active = active;
        let follows = self.caller.calls.as_ref().is_some_and(|calls| calls.follows());
        self.context.place.set_busy(active > 0 || follows);
    }

    fn tell(&mut self, answer: Option<String>) {
        // Time to read it, before the place may be given away.
        self.context.place.speaks();
        if let Some(answer) = answer {
            self.transport.queue(answer);
        }
        // A reserved place is for one question.
        self.reading &= !self.context.place.is_reserved();
    }

    fn refuse(&mut self, error: ErrorObjectOwned) {
        (self.reading, self.refused) = (false, true);
        self.transport.queue(dispatch::text_of(dispatch::fault(Id::Null, error)));
    }

    /// What subscriptions said before the end is still told.
    async fn finish(mut self, notifications: &mut mpsc::Receiver<Box<RawValue>>) {
        while let Ok(notification) = notifications.try_recv() {
            self.transport.queue(Box::<str>::from(notification).into());
        }
        if poll_fn(|cx| self.transport.poll_flush(cx)).await.is_ok() {
            self.transport.close(self.refused).await;
        }
    }
}
