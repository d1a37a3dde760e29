//! Reading a screen and what follows from it: identity, refs, whether it has settled, whether it can be trusted; and
//! recording that it was read.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use afd_proto::events::{Message, Observed};
use afd_proto::observe::Context;
use afd_proto::vocabulary::{ObservationSource, PageRef};
use rusqlite::Connection;
use tokio::time::Instant;

use super::{Call, Result};
use crate::device::{DriverError, PendingRead, TreeReading};
use crate::memory::Place;
use crate::memory::observations::Observation;
use crate::memory::record;
use crate::memory::views::{Seen, Shown};
use crate::page::fingerprint::{self, Identity};
use crate::page::refs::{self, Recorded, Ref};
use crate::page::structure::{self, Structure, Structures};
use crate::page::{Snapshot, reliability};
use crate::store::{new_uid, now_ms};

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

/// A screen with what follows from it.
#[derive(Clone)]
pub(super) struct Look {
    pub uid: String,
    pub reading: TreeReading,
    pub refs: Vec<Ref>,
    pub identity: Option<Identity>,
    pub structures: Option<Arc<Structures>>,
    pub hash: String,
    pub settled: bool,
    pub doubt: Option<&'static str>,
    pub has_web_view: bool,
    /// How far its nodes can be relied on: `high` or `low`.
    pub grade: &'static str,
    pub at: i64,
    /// Where it was, as far as that can be trusted.
    place: Place,
}

/// A reading with the hash of its content.
pub(super) struct Hashed {
    pub reading: TreeReading,
    pub hash: String,
}

impl From<TreeReading> for Hashed {
    fn from(reading: TreeReading) -> Self {
        Self { hash: fingerprint::content_hash(&reading.value), reading }
    }
}

impl Hashed {
    /// Whether nothing happened between two readings, as far as anybody can see.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.reading.inputs == other.reading.inputs && self.hash == other.hash
    }
}

impl Look {
    pub(super) fn snapshot(&self) -> &Snapshot {
        &self.reading.value
    }

    /// The same screen as another observation: several sessions may see it at once.
    pub(super) fn again(&self) -> Self {
        Self { uid: new_uid(), ..self.clone() }
    }

    pub(super) fn reliable(&self) -> bool {
        self.doubt.is_none()
    }

    /// Makes a look of a reading. What follows from it is found out once.
    pub(super) fn of(hashed: impl Into<Hashed>, settled: bool, moving: bool) -> Self {
        let Hashed { reading, hash } = hashed.into();
        let snapshot = &reading.value;
        let doubt = reliability::doubt(snapshot).or(moving.then_some(reliability::MOVING));
        let identity = fingerprint::identity(snapshot);
        let structures = structure::of(snapshot).map(Arc::new);
        Self {
            uid: new_uid(),
            refs: refs::all(snapshot),
            place: place(snapshot, identity.as_ref().filter(|_| doubt.is_none()), structures.as_deref().filter(|_| doubt.is_none())),
            identity,
            structures,
            hash,
            settled,
            doubt,
            has_web_view: snapshot.has_web_view(),
            grade: reliability::grade(snapshot),
            at: now_ms(),
            reading,
        }
    }

    /// Where it was. Nothing that cannot be trusted names a page.
    pub(super) fn place(&self) -> Place {
        Place { observation: Some(self.uid.clone()), ..self.place.clone() }
    }

    /// The base context of an answer, without hints.
    pub(super) fn context(&self) -> Context {
        let snapshot = self.snapshot();
        let identity = self.identity.clone().unwrap_or_default();
        Context {
            observation_id: self.uid.clone(),
            settled: self.settled,
            reliable: self.reliable(),
            reason: self.doubt.map(str::to_owned),
            top_activity: snapshot.place.clone(),
            app: snapshot.app.clone(),
            mode: snapshot.mode.clone(),
            has_web_view: self.has_web_view,
            node_reliability: self.grade.to_owned(),
            page: PageRef { key: identity.key, fingerprint: identity.fingerprint, state: None },
            hints: Vec::new(),
        }
    }
}

/// Where a screen was: the place of a page that was told from others, and of what lies under it.
fn place(snapshot: &Snapshot, identity: Option<&Identity>, structures: Option<&Structures>) -> Place {
    Place {
        observation: None,
        app: snapshot.app.clone(),
        activity: snapshot.place.clone().or_else(|| (!snapshot.place_knowable).then(|| snapshot.stand_in_place()).flatten()),
        page_key: identity.map(|i| i.key.clone()),
        fingerprint: identity.map(|i| i.fingerprint.clone()),
        structure: structures.map(|s| s.front.key()),
        below: structures.and_then(|s| s.below.as_ref()).map(Structure::key),
    }
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
