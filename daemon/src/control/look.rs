//! A look at a screen, with what follows from it: identity, structure, refs, whether it has settled and can be trusted.

use std::sync::Arc;

use afd_proto::observe::Context;
use afd_proto::vocabulary::PageRef;

use crate::device::TreeReading;
use crate::memory::Place;
use crate::page::fingerprint::{self, Identity};
use crate::page::refs::{self, Ref};
use crate::page::structure::{self, Structure, Structures};
use crate::page::{Snapshot, reliability};
use crate::store::{new_uid, now_ms};

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
