//! Uploads changed entries to the configured Qdrant.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use afd_proto::pattern::PatternScope;
use afd_proto::recall::RecallEntry;
use serde_json::json;

use super::super::super::Core;
use super::super::show;
use super::searched_model;
use afd_base::config::RecallSettings;
use afd_base::text;
use afd_recall::outbox::{self, Change, Outbox};
use afd_recall::points::{Payload, Point, of_store, point_id};
use afd_recall::qdrant::{Qdrant, QdrantError};
use afd_recall::{entries, vectors};
use afd_store::{Connection, Result, Store, StoreError, former_origins};
use afd_workspace as session;

/// Number of changes that are uploaded at a time.
const BATCH: i64 = 64;
/// Row id that no model has, used where there is no model.
const NO_MODEL: i64 = 0;
/// Number of changes whose points are deleted at a time.
const FORGOTTEN: i64 = 500;
/// Maximum delay before the next attempt to upload after repeated failures.
const MAX_DELAY: Duration = Duration::from_secs(60);
/// Interval at which the daemon checks that Qdrant still has the uploaded points.
const CHECKED: Duration = Duration::from_secs(60);

/// Reason why changes could not be uploaded.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("{0}")]
    Qdrant(#[from] QdrantError),
    #[error("{0}")]
    Settings(String),
}

/// Starts the background task that uploads changed entries.
pub fn start(core: &Arc<Core>) {
    let weak = Arc::downgrade(core);
    let (wake, again) = (core.recall.changed.clone(), core.recall.again.clone());
    core.tasks.spawn("qdrant", move || {
        let (weak, wake, again) = (weak.clone(), wake.clone(), again.clone());
        async move {
            let mut sender = Sender::default();
            let mut failures = 0;
            loop {
                let Some(core) = weak.upgrade() else { return };
                let settings = core.config.get().recall.clone();
                let sent = sender.send(&core, &settings).await;
                *core.recall.unsent.lock() = sent.as_ref().err().map(ToString::to_string);
                drop(core);
                match sent {
                    Ok(true) => failures = 0,
                    Ok(false) => {
                        failures = 0;
                        let _ = tokio::time::timeout(CHECKED, wake.notified()).await;
                    }
                    Err(error) => {
                        if failures == 0 {
                            tracing::warn!(%error, "cannot upload changes to Qdrant; the upload is retried");
                        }
                        let delay = Duration::from_millis(settings.qdrant_retry_ms << failures.min(16));
                        failures += 1;
                        let _ = tokio::time::timeout(delay.min(MAX_DELAY), again.notified()).await;
                    }
                }
            }
        }
    });
}

/// State of the upload to a collection.
#[derive(Default)]
struct Sender {
    /// URL of the Qdrant, and name of the collection in it that has been prepared for uploads.
    prepared: Option<(String, String)>,
    checked: Option<Instant>,
    /// Number of consecutive checks that found a difference between the uploaded points and those in Qdrant.
    lacked: u32,
}

/// Source and destination of an upload.
struct Target {
    outbox: Outbox,
    model: vectors::Model,
    origin: String,
}

impl Sender {
    /// Uploads the next batch of changes. Returns whether there may be more.
    async fn send(&mut self, core: &Arc<Core>, settings: &RecallSettings) -> std::result::Result<bool, Failure> {
        let Some(qdrant) = core.recall.outside(settings) else { return Ok(false) };
        let qdrant = qdrant.map_err(Failure::Settings)?;
        let target = match searched_model(&core.recall, settings).await {
            Some(identity) => target(&core.store, &qdrant, identity).await?,
            None => None,
        };
        // Deletions need no model.
        forget_elsewhere(&core.store, &qdrant, target.as_ref()).await?;
        let Some(target) = target else { return Ok(false) };
        if core.recall.doubted.swap(false, Ordering::Relaxed) {
            (self.prepared, self.checked) = (None, None);
        }
        let name = (qdrant.url().to_owned(), target.outbox.collection.clone());
        let was_there = self.prepared.as_ref() == Some(&name);
        let sent = self.send_to(core, &qdrant, &target, name).await;
        match &sent {
            // The collection was deleted.
            Err(Failure::Qdrant(QdrantError::NoCollection)) if was_there => {
                self.prepared = None;
                begin_again(&core.store, &target).await?;
                return Ok(true);
            }
            // The collection may have been replaced. Preparing it again detects this.
            Err(Failure::Qdrant(QdrantError::Refused(_))) => self.prepared = None,
            // Qdrant may come back without its points, so they are checked again.
            Err(_) if self.lacked == 0 => self.checked = None,
            _ => {}
        }
        sent
    }

    async fn send_to(
        &mut self,
        core: &Arc<Core>,
        qdrant: &Qdrant,
        target: &Target,
        name: (String, String),
    ) -> std::result::Result<bool, Failure> {
        let Target { outbox, model, origin } = target;
        let collection = &outbox.collection;
        if self.prepared.as_ref() != Some(&name) {
            qdrant.prepare(collection, model.dimensions).await?;
            withdraw_former(&core.store, qdrant, collection).await?;
            (self.prepared, self.checked) = (Some(name), None);
        }
        let (position, round, row) = (outbox.position, outbox.round, outbox.id);
        let (from, model_id) = (origin.clone(), model.id);
        let batch = core.store.read_all(move |c| batch(c, model_id, position, &from, round)).await?;
        let Some(batch) = batch else { return self.all_sent(core, qdrant, target).await };
        if !outbox.reached && !batch.points.is_empty() {
            core.store.write(move |c| outbox::reach(c, row)).await?;
        }
        // The settings may have changed in the meantime.
        if core.config.get().recall.qdrant() != Some(qdrant.url()) {
            return Ok(true);
        }
        if !batch.gone.is_empty() {
            qdrant.delete(collection, &batch.gone).await?;
        }
        put(qdrant, collection, &batch.points).await?;
        core.store.write(move |c| outbox::advance(c, row, batch.upto)).await?;
        Ok(true)
    }

    /// Completes an upload of all entries, or checks periodically that the uploaded points still exist. Returns whether
    /// there is more to upload.
    async fn all_sent(
        &mut self,
        core: &Arc<Core>,
        qdrant: &Qdrant,
        target: &Target,
    ) -> std::result::Result<bool, Failure> {
        let Target { outbox, origin, .. } = target;
        let (collection, row) = (&outbox.collection, outbox.id);
        if !outbox.whole {
            let of_round = json!({"key": "round", "match": {"value": outbox.round}});
            qdrant.delete_where(collection, &[of_store(origin)], &[of_round]).await?;
            core.store.write(move |c| outbox::complete(c, row)).await?;
            if self.lacked < 2 {
                // Qdrant may have lost points in the meantime, for example while this daemon was not running.
                self.checked = None;
            }
            return Ok(true);
        }
        withdraw_others(&core.store, qdrant, target).await?;
        // The interval grows for a Qdrant that keeps losing points, so that all points are not uploaded again and
        // again.
        if self.checked.is_some_and(|at| at.elapsed() < CHECKED * (1 << self.lacked.min(8))) {
            return Ok(false);
        }
        let Some(has_all) = has_all(&core.store, qdrant, target).await? else { return Ok(false) };
        self.checked = Some(Instant::now());
        if has_all {
            self.lacked = 0;
            return Ok(false);
        }
        tracing::info!(collection, "Qdrant lacks uploaded points, or has others: everything is uploaded again");
        self.lacked += 1;
        begin_again(&core.store, target).await?;
        Ok(true)
    }
}

/// Uploads points. A refused point must not prevent the upload of the others.
async fn put(qdrant: &Qdrant, collection: &str, points: &[Point]) -> std::result::Result<(), QdrantError> {
    let refused = match points {
        [] => return Ok(()),
        points => match qdrant.upsert(collection, points).await {
            Err(QdrantError::Refused(why)) if points.len() > 1 => why,
            done => return done,
        },
    };
    let mut any = false;
    for point in points {
        match qdrant.upsert(collection, std::slice::from_ref(point)).await {
            Ok(()) => any = true,
            Err(QdrantError::Refused(why)) => {
                tracing::warn!(uid = point.payload.uid, why, "the Qdrant refuses an entry")
            }
            Err(error) => return Err(error),
        }
    }
    if any { Ok(()) } else { Err(QdrantError::Refused(refused)) }
}

async fn target(store: &Store, qdrant: &Qdrant, identity: String) -> Result<Option<Target>> {
    let (url, collection) = (qdrant.url().to_owned(), qdrant.collection(&identity));
    let origin = store.origin().to_owned();
    let from = origin.clone();
    let found = store.read_all(move |c| {
        let Some(model) = vectors::find_model(c, &identity)? else { return Ok(None) };
        Ok(Some((outbox::find(c, &url, &collection, &from)?, model, url, collection)))
    });
    let Some((found, model, url, collection)) = found.await? else { return Ok(None) };
    let outbox = match found {
        Some(outbox) if outbox.forgotten == 0 => outbox,
        found => {
            let from = origin.clone();
            let opened = store.write(move |c| {
                found.map_or(Ok(()), |used_before| outbox::begin_again(c, used_before.id))?;
                outbox::open(c, &url, &collection, &from)
            });
            opened.await?
        }
    };
    Ok(Some(Target { outbox, model, origin }))
}

async fn begin_again(store: &Store, target: &Target) -> Result<()> {
    let row = target.outbox.id;
    store.write(move |c| outbox::begin_again(c, row)).await
}

/// Returns whether Qdrant has exactly the uploaded points. This is not the case if Qdrant or this store was restored
/// from a backup. `None` if something has changed in the meantime.
async fn has_all(store: &Store, qdrant: &Qdrant, target: &Target) -> std::result::Result<Option<bool>, Failure> {
    let Target { outbox, model, origin } = target;
    let (position, model) = (outbox.position, model.id);
    let read = store.read_all(move |c| {
        Ok((entries::newest_version(c)?, outbox::pending(c, position)?, outbox::expected(c, model, position)?))
    });
    let (newest, pending, (count, newest_sent)) = read.await?;
    if position > newest {
        return Ok(Some(false));
    }
    if pending > 0 {
        return Ok(None);
    }
    let own = of_store(origin);
    let there = qdrant.count(&outbox.collection, std::slice::from_ref(&own)).await?;
    let recent =
        qdrant.count(&outbox.collection, &[own, json!({"key": "version", "range": {"gte": newest_sent}})]).await?;
    Ok(Some(there == count && (count == 0 || recent == 1)))
}

/// Deletes the points uploaded by the stores that this one replaced when it was restored from a backup.
async fn withdraw_former(store: &Store, qdrant: &Qdrant, collection: &str) -> std::result::Result<(), Failure> {
    for former in store.read_all(former_origins).await? {
        qdrant.delete_where(collection, &[of_store(&former)], &[]).await?;
    }
    Ok(())
}

/// Returns the outboxes of earlier models and settings at a Qdrant: all except the outbox of `target`.
async fn others(store: &Store, qdrant: &Qdrant, target: Option<&Target>) -> Result<Vec<Outbox>> {
    let (url, origin) = (qdrant.url().to_owned(), store.origin().to_owned());
    let except = target.map_or(0, |target| target.outbox.id);
    store.read_all(move |c| outbox::others(c, &url, &origin, except)).await
}

/// Deletes changed points from the collections of earlier models. These collections stay until the current one is
/// complete.
async fn forget_elsewhere(store: &Store, qdrant: &Qdrant, target: Option<&Target>) -> std::result::Result<(), Failure> {
    for other in others(store, qdrant, target).await? {
        let mut position = other.followed();
        loop {
            let changes = store.read_all(move |c| outbox::changes(c, NO_MODEL, position, FORGOTTEN)).await?;
            let Some(last) = changes.last().map(|change| change.version) else { break };
            let ids: Vec<String> = changes.iter().map(|change| point_id(&other.origin, &change.uid)).collect();
            match qdrant.delete(&other.collection, &ids).await {
                Ok(()) | Err(QdrantError::NoCollection) => {}
                Err(error) => return Err(error.into()),
            }
            position = last;
            store.write(move |c| outbox::forget(c, other.id, last)).await?;
        }
    }
    Ok(())
}

/// Deletes the points for other models in the same Qdrant.
async fn withdraw_others(store: &Store, qdrant: &Qdrant, target: &Target) -> std::result::Result<(), Failure> {
    for other in others(store, qdrant, Some(target)).await? {
        match qdrant.delete_where(&other.collection, &[of_store(&other.origin)], &[]).await {
            Ok(()) | Err(QdrantError::NoCollection) => {}
            Err(error) => return Err(error.into()),
        }
        store.write(move |c| outbox::delete(c, other.id)).await?;
    }
    Ok(())
}

/// Changes to send to Qdrant at a time: points to upload, ids of points to delete, and the last version included.
struct Batch {
    points: Vec<Point>,
    gone: Vec<String>,
    upto: i64,
}

fn batch(c: &Connection, model: i64, after: i64, origin: &str, round: i64) -> Result<Option<Batch>> {
    let changes = outbox::changes(c, model, after, BATCH)?;
    let Some(upto) = changes.last().map(|change| change.version) else { return Ok(None) };
    let mut batch = Batch { points: Vec::new(), gone: Vec::new(), upto };
    for change in changes {
        match point(c, model, &change, origin, round)? {
            Some(point) => batch.points.push(point),
            None => batch.gone.push(point_id(origin, &change.uid)),
        }
    }
    Ok(Some(batch))
}

fn point(c: &Connection, model: i64, change: &Change, origin: &str, round: i64) -> Result<Option<Point>> {
    if !change.shared {
        return Ok(None);
    }
    let Some(source) = entries::source_of(c, change.entry)? else { return Ok(None) };
    let Some(vector) = vectors::get(c, model, change.entry)? else { return Ok(None) };
    let Some((entry, session)) = show::whole(c, &source)?.filter(|(e, _)| e.scope != PatternScope::Session) else {
        return Ok(None);
    };
    let lower = |name: &Option<String>| name.as_deref().unwrap_or_default().to_lowercase();
    let payload = Payload {
        uid: change.uid.clone(),
        origin: origin.to_owned(),
        version: change.version,
        round,
        kind: entry.kind,
        app: lower(&entry.app),
        site: lower(&entry.site),
        session: session.map(|session| session::uid_of(c, session)).transpose()?.unwrap_or_default(),
        tags: entry.tags.iter().map(|tag| text::fold(tag)).collect(),
        at: entry.at,
        expires_at: entry.expires_at,
        archived: source.archived,
        entry: RecallEntry { id: None, use_count: 0, last_used_at: None, ..entry },
    };
    Ok(Some(Point { id: point_id(origin, &change.uid), vector, payload }))
}
