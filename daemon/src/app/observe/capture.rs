//! Captures the screen, on request until the page has settled, and records the capture as an observation.
//!
//! A page has settled when two readings at least [`SETTLE_INTERVAL`] apart have the same content hash and no input was
//! sent between them. The earlier reading may come from any call on the same device.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::events::{Message, ObservationNotice};
use afd_proto::vocabulary::ObservationSource;
use tokio::time::Instant;

use super::screen_capture::{self, NewestCapture, ScreenCapture};
use crate::app::{Call, Result};
use afd_device::{DriverError, PendingRead, TreeReading};
use afd_experience::memory::observations::Observation;
use afd_experience::memory::views::{LastSeen, ShownRefs};
use afd_experience::memory::{Place, record};
use afd_screen::page::fingerprint;
use afd_store::Connection;

/// Minimum time between two readings that show whether the page has settled.
pub(in crate::app) const SETTLE_INTERVAL: Duration = Duration::from_millis(150);

/// Default time to wait for the page to settle, so that a short animation does not prevent a page from being learned.
const SETTLE_WAIT: Duration = Duration::from_millis(1_500);

/// Options for a capture: whether, and for how long, to wait for the page to settle.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::app) struct CaptureOptions {
    /// Whether to read again for up to [`SETTLE_WAIT`] if the first reading cannot show whether the page has settled. A
    /// page that did not settle in its last captures is read only once more.
    pub settle: bool,
    /// Maximum time to keep reading until the page has settled.
    pub wait: Duration,
}

impl Call {
    /// Captures the screen, starting with a read that is already queued. The device is not held between reads.
    pub(in crate::app) async fn capture(
        &self,
        options: CaptureOptions,
        first: PendingRead<TreeReading>,
    ) -> Result<ScreenCapture> {
        let started = Instant::now();
        let mut read = first.answer().await?;
        let mut settled = self.is_settled(&read);
        let mut reads = 1;
        let page = fingerprint::identity(&read.value).map(|i| i.key);
        let restless = page.as_deref().is_some_and(|page| self.core.experience.views.is_restless(self.device_id, page));
        let wait = if options.settle && !restless { options.wait.max(SETTLE_WAIT) } else { options.wait };
        // A device that waits until its screen stands still has waited in vain.
        let is_final = self.device().waits_until_still() && read.value.nodes.is_empty() && options.wait.is_zero();
        while !settled
            && !is_final
            && (options.settle || !options.wait.is_zero())
            && (reads < 2 || started.elapsed() < wait)
        {
            tokio::time::sleep_until(read.at + SETTLE_INTERVAL).await;
            read = self.device().tree(self.target.token.clone())?.answer().await?;
            settled = self.is_settled(&read);
            reads += 1;
        }
        if let Some(page) = page.filter(|_| settled || reads > 1) {
            self.core.experience.views.note_settling(self.device_id, &page, settled);
        }
        Ok(ScreenCapture::of(read, settled, reads > 1 && !settled))
    }

    /// Captures the page once it has settled, records the capture as seen by the session, and learns from it. The session
    /// receives no refs.
    ///
    /// # Errors
    /// If the screen cannot be read.
    pub(in crate::app) async fn settled_page(&self) -> Result<ScreenCapture> {
        let first = self.device().tree(self.target.token.clone())?;
        let capture = self.capture(CaptureOptions { settle: true, wait: Duration::ZERO }, first).await?;
        self.record_and_learn(&capture, ObservationSource::Page, None).await;
        Ok(capture)
    }

    /// Captures the screen with a single read.
    pub(in crate::app) async fn capture_once(&self) -> std::result::Result<ScreenCapture, DriverError> {
        let read = self.device().tree(self.target.token.clone())?.answer().await?;
        let settled = self.is_settled(&read);
        Ok(ScreenCapture::of(read, settled, false))
    }

    /// Returns whether the page has settled, compared with the previous reading of the device.
    fn is_settled(&self, read: &TreeReading) -> bool {
        let hash = screen_capture::content_of(read);
        let is_same =
            self.core.experience.views.is_settled(self.device_id, hash, read.inputs, read.at, SETTLE_INTERVAL);
        is_same || self.device().waits_until_still() && !read.value.nodes.is_empty()
    }

    /// Records a capture as seen by the session and learns from it. `shown` is the number of refs returned, if refs
    /// were returned.
    pub(in crate::app) async fn record_and_learn(
        &self,
        capture: &ScreenCapture,
        source: ObservationSource,
        shown: Option<usize>,
    ) {
        let known = capture.settled
            && capture.reliable()
            && self.core.experience.views.note_recorded(
                self.device_id,
                capture.snapshot().content_hash(),
                capture.reading.inputs,
                false,
            );
        self.record_capture(capture, source, shown).await;
        // Two captures during one visit to a page count as one visit.
        if !known {
            self.learn_in_background(capture);
        }
    }

    /// Records a capture as seen by the session, on the page that it shows.
    pub(in crate::app) async fn record_capture(
        &self,
        capture: &ScreenCapture,
        source: ObservationSource,
        shown: Option<usize>,
    ) {
        self.record_capture_at(capture, source, shown, self.place_of(capture)).await;
    }

    /// Records a capture as seen by the session, on the given page.
    pub(in crate::app) async fn record_capture_at(
        &self,
        capture: &ScreenCapture,
        source: ObservationSource,
        shown: Option<usize>,
        place: Place,
    ) {
        let seen = LastSeen { place: place.clone(), inputs: capture.reading.inputs, reliable: capture.reliable() };
        let shown = shown.map(|count| {
            Arc::new(ShownRefs {
                numbers: capture.numbers.iter().copied().take(count).collect(),
                ..capture.shown_refs(false, count)
            })
        });
        self.core.experience.views.update(self.session_id, self.device_id, seen, shown);
        let newest = NewestCapture { session: self.echo.session.clone(), capture: capture.clone() };
        self.core.screens.keep(self.device_id, newest);
        let snapshot = capture.snapshot();
        self.record(Observation {
            uid: capture.uid.clone(),
            seq: capture.reading.seq,
            source,
            place,
            settled: capture.settled,
            reliable: capture.reliable(),
            reason: capture.doubt.map(str::to_owned),
            mode: Some(snapshot.mode.clone()),
            has_web_view: Some(capture.has_web_view),
            node_reliability: Some(capture.grade),
            nodes: Some(snapshot.nodes.len()),
            refs: Some(capture.refs().len()),
            at: capture.at,
        })
        .await;
    }

    /// Returns the page that a capture shows. The page under a dialog is identified by its recognised state.
    pub(in crate::app) fn place_of(&self, capture: &ScreenCapture) -> Place {
        let below = capture.structures().filter(|_| capture.reliable()).and_then(|s| s.below.as_ref());
        Place { below: below.map(|below| self.structure_key(below)), ..capture.place() }
    }

    /// Queues an observation for writing without waiting for the commit, which then publishes it to subscribers.
    pub(in crate::app) async fn record(&self, observation: Observation) {
        let message = ObservationNotice {
            seq: observation.seq,
            at: observation.at,
            session: self.echo.session.clone(),
            device: self.echo.device.clone(),
            source: observation.source,
            observation_id: observation.uid.clone(),
            activity: observation.place.activity.clone(),
            settled: observation.settled,
        };
        let (origin, live) = (self.origin(), self.core.live.clone());
        let record = move |c: &Connection| record::observation(c, &origin, &observation);
        self.core
            .store
            .write_behind("an observation", record, move |()| live.publish(Message::Observation(message)))
            .await;
    }
}
