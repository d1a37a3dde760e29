//! Reading a screen until it has settled, and recording that it was read.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use afd_proto::events::{Message, Observed};
use afd_proto::vocabulary::ObservationSource;
use rusqlite::Connection;
use tokio::time::Instant;

use super::look::{Hashed, Look};
use super::{Call, Result};
use crate::device::{DriverError, PendingRead, TreeReading};
use crate::memory::Place;
use crate::memory::observations::Observation;
use crate::memory::record;
use crate::memory::views::{Seen, Shown};
use crate::page::fingerprint;
use crate::page::refs::Recorded;

/// How far apart two reads must be to tell whether the page has settled (DESIGN 6.5).
pub(super) const APART: Duration = Duration::from_millis(150);

/// How hard to look.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Effort {
    /// Read a second time to know whether the page has settled.
    pub settle: bool,
    /// Keep reading for so long until it has.
    pub wait: Duration,
}

impl Call {
    /// Looks at the screen, from a first read on. The device is free between the reads.
    pub(super) async fn look(&self, effort: Effort, first: PendingRead<TreeReading>) -> Result<Look> {
        let deadline = Instant::now() + effort.wait;
        let mut read = Hashed::from(first.answer().await?);
        let mut settled = self.stood_still(&read);
        let mut reads = 1;
        while !settled && (effort.settle || !effort.wait.is_zero()) && (reads < 2 || Instant::now() < deadline) {
            tokio::time::sleep_until(read.reading.at + APART).await;
            read = self.device().tree(self.target.token.clone())?.answer().await?.into();
            settled = self.stood_still(&read);
            reads += 1;
        }
        Ok(Look::of(read, settled, reads > 1 && !settled))
    }

    /// Reads the screen once.
    pub(super) async fn glance(&self) -> std::result::Result<Look, DriverError> {
        let read = Hashed::from(self.device().tree(self.target.token.clone())?.answer().await?);
        let settled = self.stood_still(&read);
        Ok(Look::of(read, settled, false))
    }

    fn stood_still(&self, read: &Hashed) -> bool {
        self.core.views.stood_still(self.device_id, &read.hash, read.reading.inputs, read.reading.at, APART)
    }

    /// Records that the session saw this, and lets it teach what it teaches; `shown` is how many refs it was shown, when it was shown any.
    pub(super) async fn record_look(&self, look: &Look, source: ObservationSource, shown: Option<usize>) {
        self.record_only(look, source, shown).await;
        self.learn_behind(look);
    }

    /// Records that the session saw this.
    pub(super) async fn record_only(&self, look: &Look, source: ObservationSource, shown: Option<usize>) {
        self.record_at(look, source, shown, self.place_of(look)).await;
    }

    /// Records that the session saw this, and where that was.
    pub(super) async fn record_at(&self, look: &Look, source: ObservationSource, shown: Option<usize>, place: Place) {
        let seen = Seen { place: place.clone(), inputs: look.reading.inputs, reliable: look.reliable() };
        self.core.views.update(self.session_id, self.device_id, seen, shown.map(|count| Arc::new(self.shown(look, count))));
        let snapshot = look.snapshot();
        self.record(Observation {
            uid: look.uid.clone(),
            seq: look.reading.seq,
            source,
            place,
            content_hash: Some(look.hash.clone()),
            settled: look.settled,
            reliable: look.reliable(),
            reason: look.doubt.map(str::to_owned),
            mode: Some(snapshot.mode.clone()),
            has_web_view: Some(look.has_web_view),
            node_reliability: Some(look.grade),
            nodes: Some(snapshot.nodes.len()),
            refs: Some(look.refs.len()),
            at: look.at,
        })
        .await;
    }

    /// Where a look was. What lies under a dialog is named by the state that it is taken for.
    pub(super) fn place_of(&self, look: &Look) -> Place {
        let below = look.structures.as_ref().filter(|_| look.reliable()).and_then(|s| s.below.as_ref());
        Place { below: below.map(|below| self.structure_key(below)), ..look.place() }
    }

    /// Writes an observation behind, and tells who listens.
    pub(super) async fn record(&self, observation: Observation) {
        let message = Observed {
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
        self.core.store.write_behind("an observation", record, move |()| live.publish(Message::Observation(message))).await;
    }

    fn shown(&self, look: &Look, count: usize) -> Shown {
        let content: Arc<str> = fingerprint::exact_content(look.snapshot()).into();
        let refs: HashMap<String, Recorded> = look
            .refs
            .iter()
            .take(count)
            .enumerate()
            .map(|(i, r)| (format!("@n{}", i + 1), Recorded { what: r.clone(), content: content.clone() }))
            .collect();
        Shown { observation: look.uid.clone(), place: look.place(), snapshot: look.reading.value.clone(), refs }
    }
}
