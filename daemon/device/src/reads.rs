//! Reads from a device. Each read waits in the device's queue, and identical reads that wait together share one
//! response.
//!
//! A page has settled when two readings some time apart have the same content and no input was sent between them. This
//! module does not decide whether a page has settled. It supplies the necessary facts with each [`Reading`]: the time
//! at which the read finished, the number of inputs sent to the device under any of its names, and a sequence number
//! from the same counter as events and intents. The daemon compares the content hashes and requires 150 ms between the
//! two readings (`SETTLE_INTERVAL` in `app::observe::capture`).
//!
//! Invariant: reads and inputs run one at a time in the queue of the physical device, so the number of inputs does not
//! change during a read. If two readings have the same number of inputs, no input was sent between them.
//!
//! A tree that equals the previous one reuses its [`Screen`], so the hashes and refs of an unchanged page are computed
//! once.

use std::sync::Arc;

use afd_proto::Secret;
use afd_proto::device::TabInfo;
use afd_proto::picture::Overlay;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::actor::{HandlerFuture, ReadHandler, ReadRequest, Waiters, Waiting};
use super::handle::Device;
use super::reading::{Reading, TreeReading};
use super::{DriverError, ForegroundApp, ScreenshotOptions};
use afd_screen::page::{Rect, Screen, Snapshot};

/// A read that is queued for a device.
pub struct PendingRead<T> {
    answer: oneshot::Receiver<Result<T, DriverError>>,
    _waiting: Waiting,
}

impl<T> PendingRead<T> {
    /// Waits for the result of the read.
    ///
    /// # Errors
    /// The [`DriverError`] with which the read failed.
    pub async fn answer(self) -> Result<T, DriverError> {
        let failed = |_| DriverError::Failed("the device's task panicked and is being restarted".to_owned());
        self.answer.await.map_err(failed)?
    }
}

impl Device {
    /// Queues a read. The read takes its position in the queue immediately, not when its result is first awaited.
    fn queue_read<T: Clone>(
        self: &Arc<Self>,
        token: Option<Secret>,
        request: impl FnOnce(Waiters<T>) -> ReadRequest,
    ) -> Result<PendingRead<T>, DriverError> {
        let (reply, answer) = oneshot::channel();
        let waiting = self.actor().read(self.clone(), token, request(Waiters::one(reply)))?;
        Ok(PendingRead { answer, _waiting: waiting })
    }

    /// Checks that the device responds, and returns the type of service that it reports.
    pub async fn health(self: &Arc<Self>) -> Result<String, DriverError> {
        self.queue_read(None, ReadRequest::Health)?.answer().await
    }

    /// Checks that the device accepts the token.
    pub async fn check_token(self: &Arc<Self>, token: Option<Secret>) -> Result<(), DriverError> {
        self.queue_read(token, ReadRequest::Token)?.answer().await
    }

    /// Queues a read of the foreground app.
    ///
    /// # Errors
    /// [`DriverError::QueueFull`] if too many calls are waiting.
    pub fn top(self: &Arc<Self>, token: Option<Secret>) -> Result<PendingRead<Reading<ForegroundApp>>, DriverError> {
        self.queue_read(token, ReadRequest::ForegroundApp)
    }

    /// Queues a read of the element tree.
    ///
    /// # Errors
    /// [`DriverError::QueueFull`] if too many calls are waiting.
    pub fn tree(self: &Arc<Self>, token: Option<Secret>) -> Result<PendingRead<TreeReading>, DriverError> {
        self.queue_read(token, ReadRequest::Tree)
    }

    /// Queues a screenshot; the result is a JPEG or a PNG.
    ///
    /// # Errors
    /// [`DriverError::QueueFull`] if too many calls are waiting.
    pub fn screenshot(
        self: &Arc<Self>,
        token: Option<Secret>,
        shot: ScreenshotOptions,
    ) -> Result<PendingRead<Arc<Vec<u8>>>, DriverError> {
        self.queue_read(token, |waiters| ReadRequest::Screenshot(shot, waiters))
    }

    /// Returns the bounds of the whole page, in device pixels from the corner of the screen.
    ///
    /// # Errors
    /// [`DriverError::Unsupported`] if the device knows only what is in sight.
    pub async fn page_bounds(&self, token: Option<&Secret>) -> Result<Rect, DriverError> {
        self.check_whole()?;
        let Some(reveals) = self.driver().reveals() else { return Ok(Rect::default()) };
        self.track_health(reveals.page_bounds(token).await)
    }

    /// Reads the state of the overlay that the device draws.
    pub async fn overlay(self: &Arc<Self>, token: Option<Secret>) -> Result<Overlay, DriverError> {
        self.queue_read(token, ReadRequest::Overlay)?.answer().await
    }

    /// Lists the installed apps; see [`Packages::packages`](super::Packages::packages).
    pub async fn packages(
        self: &Arc<Self>,
        token: Option<Secret>,
        filter: Option<String>,
        system: bool,
    ) -> Result<Vec<String>, DriverError> {
        self.queue_read(token, |waiters| ReadRequest::Packages { filter, system, waiters })?.answer().await
    }

    /// Lists the tabs of a browser; see [`Tabs::list`](super::Tabs::list).
    pub async fn tabs(self: &Arc<Self>, token: Option<Secret>) -> Result<Vec<TabInfo>, DriverError> {
        self.queue_read(token, ReadRequest::Tabs)?.answer().await
    }

    /// Executes a read through the driver and sends the result to the waiters.
    async fn read_for(&self, request: ReadRequest, token: Option<&Secret>) {
        let driver = self.driver();
        match request {
            ReadRequest::Tree(waiters) => waiters.send(self.read_tree(token).await),
            ReadRequest::Health(waiters) => waiters.send(self.track_health(driver.health().await)),
            ReadRequest::ForegroundApp(waiters) => {
                waiters.send(self.track_health(driver.top(token).await).map(|top| self.stamp(top)))
            }
            ReadRequest::Screenshot(shot, waiters) => {
                waiters.send(self.track_health(driver.screenshot(token, shot).await).map(Arc::new))
            }
            ReadRequest::Token(waiters) => waiters.send(self.track_health(driver.check_token(token).await)),
            ReadRequest::Overlay(waiters) => {
                let state = match driver.overlays() {
                    Some(overlays) => overlays.overlay(token).await,
                    None => Err(self.no_overlay()),
                };
                waiters.send(self.track_health(state));
            }
            ReadRequest::Tabs(waiters) => {
                let listed = match driver.tabs() {
                    Some(tabs) => tabs.list().await,
                    None => Err(self.no_tabs()),
                };
                waiters.send(self.track_health(listed));
            }
            ReadRequest::Packages { filter, system, waiters } => {
                let listed = match driver.packages() {
                    Some(packages) => packages.packages(token, filter.as_deref(), system).await,
                    None => Err(self.no_packages()),
                };
                waiters.send(self.track_health(listed));
            }
        }
    }

    pub(super) async fn read_tree(&self, token: Option<&Secret>) -> Result<TreeReading, DriverError> {
        let snapshot = self.track_health(self.driver().snapshot(token).await)?;
        Ok(self.stamp(self.shared(snapshot)))
    }

    /// Returns the previous screen if its snapshot equals this one, so that its cached results are reused. Otherwise
    /// returns a new screen.
    fn shared(&self, snapshot: Snapshot) -> Arc<Screen> {
        let mut last = self.actor().tree.lock();
        match &*last {
            Some(last) if ***last == snapshot => last.clone(),
            _ => last.insert(Arc::new(snapshot.into())).clone(),
        }
    }

    /// Wraps a value in a [`Reading`] with the next sequence number, the number of inputs and the current time.
    fn stamp<T>(&self, value: T) -> Reading<T> {
        Reading { value, seq: self.next_seq(), inputs: self.inputs(), at: Instant::now() }
    }
}

impl ReadHandler for Device {
    fn execute_read<'a>(&'a self, request: ReadRequest, token: Option<&'a Secret>) -> HandlerFuture<'a> {
        Box::pin(self.read_for(request, token))
    }
}
