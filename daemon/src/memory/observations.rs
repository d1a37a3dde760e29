//! Observations and the session's cache of the newest one.

use afd_proto::vocabulary::ObservationSource;
use rusqlite::{Connection, OptionalExtension, named_params};

use super::{Origin, Place};
use crate::store::{Result, new_uid, now_ms};

/// An observation as a row.
#[derive(Debug, Clone)]
pub struct Observation {
    /// Its uid.
    pub uid: String,
    /// Place in the order of the device.
    pub seq: i64,
    /// What looked.
    pub source: ObservationSource,
    /// Where it was.
    pub place: Place,
    /// Hash of the content.
    pub content_hash: Option<String>,
    /// Whether it had settled.
    pub settled: bool,
    /// Whether the tree can be trusted.
    pub reliable: bool,
    /// Why not.
    pub reason: Option<String>,
    /// How the service worked.
    pub mode: Option<String>,
    /// Whether a web view was there.
    pub has_web_view: Option<bool>,
    /// `high` or `low`.
    pub node_reliability: Option<&'static str>,
    /// How many nodes there were.
    pub nodes: Option<usize>,
    /// How many refs there were.
    pub refs: Option<usize>,
    /// When, UTC milliseconds.
    pub at: i64,
}

impl Observation {
    /// One of which only its place counts.
    pub(super) fn at_place(uid: String, seq: i64, place: Place, at: i64) -> Self {
        Self {
            uid,
            seq,
            source: ObservationSource::Page,
            place,
            content_hash: None,
            settled: true,
            reliable: true,
            reason: None,
            mode: None,
            has_web_view: None,
            node_reliability: None,
            nodes: None,
            refs: None,
            at,
        }
    }

    /// Whether something may be learned from its tree.
    pub fn teaches(&self) -> bool {
        self.settled && self.reliable && self.place.page_key.is_some()
    }
}

/// Writes an observation, and updates the session's cache by its quality rules.
///
/// # Errors
/// What SQLite says.
pub(super) fn put(connection: &Connection, origin: &Origin, observation: &Observation) -> Result<()> {
    insert(connection, origin, observation)?;
    if observation.reliable {
        update_cache(connection, origin, observation)?;
    }
    Ok(())
}

fn insert(connection: &Connection, origin: &Origin, o: &Observation) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO observations (uid, origin, seq, session_id, device_id, trace_id, source, app, activity, page_key, fingerprint,
                content_hash, settled, reliable, reason, mode, has_web_view, node_reliability, node_count, ref_count, observed_at, updated_at,
                structure_key, below_key)
             VALUES (:uid, :origin, :seq, :session_id, :device_id, :trace_id, :source, :app, :activity, :page_key, :fingerprint,
             :content_hash, :settled, :reliable, :reason, :mode, :has_web_view, :node_reliability, :node_count, :ref_count, :at, :at, :structure_key, :below_key)",
        )?
        .execute(named_params! {
            ":uid": o.uid,
            ":origin": origin.store,
            ":seq": o.seq,
            ":session_id": origin.session,
            ":device_id": origin.device,
            ":trace_id": origin.trace,
            ":source": o.source.word(),
            ":app": o.place.app,
            ":activity": o.place.activity,
            ":page_key": o.place.page_key,
            ":fingerprint": o.place.fingerprint,
            ":content_hash": o.content_hash,
            ":settled": o.settled,
            ":reliable": o.reliable,
            ":reason": o.reason,
            ":mode": o.mode,
            ":has_web_view": o.has_web_view,
            ":node_reliability": o.node_reliability,
            ":node_count": o.nodes.map(|n| i64::try_from(n).unwrap_or(i64::MAX)),
            ":ref_count": o.refs.map(|n| i64::try_from(n).unwrap_or(i64::MAX)),
            ":at": o.at,
            ":structure_key": o.place.structure,
            ":below_key": o.place.below,
        })?;
    Ok(())
}

/// The seed's table: `top` updates app and activity only; `screen` and `page` always overwrite; `refs` overwrites the
/// fingerprint only if the activity changed, it does not come from the screen, or there is none.
fn update_cache(connection: &Connection, origin: &Origin, o: &Observation) -> Result<()> {
    let keep = match o.source {
        ObservationSource::Top => "1",
        ObservationSource::Refs => {
            "session_state.fingerprint IS NOT NULL AND session_state.stale = 0
                   AND session_state.fingerprint_source <> 'refs' AND session_state.activity IS excluded.activity"
        }
        _ => "0",
    };
    // A wait or a verify reads the screen.
    let source = match o.source {
        ObservationSource::Verify | ObservationSource::Wait => ObservationSource::Screen,
        other => other,
    };
    let source = Some(source.word()).filter(|_| o.source != ObservationSource::Top && o.place.fingerprint.is_some());
    let column = |name: &str| format!("{name} = CASE WHEN {keep} THEN session_state.{name} ELSE excluded.{name} END");
    let kept =
        ["page_key", "fingerprint", "fingerprint_source", "mode", "has_web_view", "node_reliability", "stale"].map(column).join(", ");
    connection
        .prepare_cached(&format!(
            "INSERT INTO session_state (session_id, device_id, uid, origin, observation_uid, app, activity, page_key, fingerprint,
                fingerprint_source, mode, has_web_view, node_reliability, stale, observed_at, updated_at)
             VALUES (:session_id, :device_id, :uid, :origin, :observation_uid, :app, :activity, :page_key, :fingerprint,
             :fingerprint_source, :mode, :has_web_view, :node_reliability, 0, :observed_at, :updated_at)
             ON CONFLICT (session_id, device_id) DO UPDATE SET {kept}, observation_uid = excluded.observation_uid, app = excluded.app,
                activity = excluded.activity, observed_at = excluded.observed_at, updated_at = excluded.updated_at"
        ))?
        .execute(named_params! {
            ":session_id": origin.session,
            ":device_id": origin.device,
            ":uid": new_uid(),
            ":origin": origin.store,
            ":observation_uid": o.uid,
            ":app": o.place.app,
            ":activity": o.place.activity,
            ":page_key": o.place.page_key,
            ":fingerprint": o.place.fingerprint,
            ":fingerprint_source": source,
            ":mode": o.mode,
            ":has_web_view": o.has_web_view,
            ":node_reliability": o.node_reliability,
            ":observed_at": o.at,
            ":updated_at": now_ms(),
        })?;
    Ok(())
}

/// Something was done on the device: what sessions saw of it may be out of date.
///
/// # Errors
/// What SQLite says.
pub fn mark_stale(connection: &Connection, device: i64) -> Result<()> {
    connection
        .prepare_cached("UPDATE session_state SET stale = 1, updated_at = :updated_at WHERE device_id = :device_id AND stale = 0")?
        .execute(named_params! {":device_id": device, ":updated_at": now_ms()})?;
    Ok(())
}

/// The key of the structure that an observation saw.
///
/// # Errors
/// What SQLite says.
pub fn structure_of(connection: &Connection, uid: &str) -> Result<Option<String>> {
    let found = connection
        .prepare_cached("SELECT structure_key FROM observations WHERE uid = :uid")?
        .query_row(named_params! {":uid": uid}, |row| row.get("structure_key"));
    Ok(found.optional()?.flatten())
}
