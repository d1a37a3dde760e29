//! Observations, and the cache of the newest observation for each session and device (table `session_state`).

use afd_proto::vocabulary::ObservationSource;
use rusqlite::{Connection, OptionalExtension};

use super::{Origin, Place, pages};
use afd_store::{Result, Sql as _, args, new_uid, now_ms};

/// An observation to be recorded.
#[derive(Debug, Clone)]
pub struct Observation {
    /// Uid of the observation.
    pub uid: String,
    /// Sequence number, shared with events and intents.
    pub seq: i64,
    /// Kind of call that made the observation.
    pub source: ObservationSource,
    /// Observed place.
    pub place: Place,
    /// Whether the page had settled.
    pub settled: bool,
    /// Whether the node tree can be trusted.
    pub reliable: bool,
    /// Reason why the tree cannot be trusted.
    pub reason: Option<String>,
    /// Mode of the service on the phone.
    pub mode: Option<String>,
    /// Whether the page contained a web view.
    pub has_web_view: Option<bool>,
    /// Reliability of the nodes: `high` or `low`.
    pub node_reliability: Option<&'static str>,
    /// Number of nodes in the tree.
    pub nodes: Option<usize>,
    /// Number of refs in the observation.
    pub refs: Option<usize>,
    /// Time of the observation, in Unix milliseconds.
    pub at: i64,
}

impl Observation {
    /// Returns whether memory can learn from the observation: it is settled and reliable, and its page key is known.
    pub fn is_conclusive(&self) -> bool {
        self.settled && self.reliable && self.place.page_key.is_some()
    }
}

/// Inserts an observation and, if it is reliable, updates the session's cache.
pub(super) fn put(connection: &Connection, origin: &Origin, observation: &Observation) -> Result<()> {
    insert(connection, origin, observation)?;
    if observation.reliable {
        update_cache(connection, origin, observation)?;
    }
    Ok(())
}

fn insert(connection: &Connection, origin: &Origin, o: &Observation) -> Result<()> {
    connection.run(
        "INSERT INTO observations (uid, origin, seq, session_id, device_id, trace_id, source, page_id, below_id, content_hash, settled,
                reliable, reason, mode, has_web_view, node_reliability, node_count, ref_count, observed_at, updated_at)
             VALUES (:uid, :origin, :seq, :session_id, :device_id, :trace_id, :source, :page_id, :below_id, :content_hash, :settled,
                :reliable, :reason, :mode, :has_web_view, :node_reliability, :node_count, :ref_count, :at, :at)",
        args! {
            uid: o.uid, origin: origin.store, seq: o.seq, session_id: origin.session, device_id: origin.device,
            trace_id: origin.trace, source: o.source.word(),
            page_id: pages::id_of(connection, &origin.store, &o.place)?,
            below_id: pages::id_of_below(connection, &origin.store, &o.place)?, content_hash: o.place.content,
            settled: o.settled, reliable: o.reliable, reason: o.reason, mode: o.mode, has_web_view: o.has_web_view,
            node_reliability: o.node_reliability, node_count: o.nodes.map(|n| i64::try_from(n).unwrap_or(i64::MAX)),
            ref_count: o.refs.map(|n| i64::try_from(n).unwrap_or(i64::MAX)), at: o.at
        },
    )?;
    Ok(())
}

/// Updates the session's cache. An observation from `top` updates only the app and the activity. One from `refs`
/// overwrites the fingerprint only if the activity changed, or if the cached fingerprint is missing, stale or from
/// `refs` itself. One from any other source always overwrites it.
fn update_cache(connection: &Connection, origin: &Origin, o: &Observation) -> Result<()> {
    let keep = match o.source {
        ObservationSource::Top => "1",
        ObservationSource::Refs => {
            "session_state.fingerprint IS NOT NULL AND session_state.stale = 0
                   AND session_state.fingerprint_source <> 'refs' AND session_state.activity IS excluded.activity"
        }
        _ => "0",
    };
    // A wait or a check reads the whole screen.
    let source = match o.source {
        ObservationSource::Verify | ObservationSource::Wait => ObservationSource::Screen,
        other => other,
    };
    let source = Some(source.word()).filter(|_| o.source != ObservationSource::Top && o.place.fingerprint.is_some());
    let column = |name: &str| format!("{name} = CASE WHEN {keep} THEN session_state.{name} ELSE excluded.{name} END");
    let kept = ["page_key", "fingerprint", "fingerprint_source", "mode", "has_web_view", "node_reliability"]
        .map(column)
        .join(", ");
    // Place and fingerprint must come from one capture: a fingerprint that is kept for another activity is stale.
    let stale = format!(
        "stale = CASE WHEN {keep} THEN session_state.stale OR session_state.activity IS NOT excluded.activity ELSE 0 END"
    );
    connection.run(
        &format!(
            "INSERT INTO session_state (session_id, device_id, uid, origin, observation_uid, app, activity, page_key, fingerprint,
                fingerprint_source, mode, has_web_view, node_reliability, stale, observed_at, updated_at)
             VALUES (:session_id, :device_id, :uid, :origin, :observation_uid, :app, :activity, :page_key, :fingerprint,
             :fingerprint_source, :mode, :has_web_view, :node_reliability, 0, :observed_at, :updated_at)
             ON CONFLICT (session_id, device_id) DO UPDATE SET {kept}, {stale}, observation_uid = excluded.observation_uid, app = excluded.app,
                activity = excluded.activity, observed_at = excluded.observed_at, updated_at = excluded.updated_at"
        ),
        args! {
            session_id: origin.session, device_id: origin.device, uid: new_uid(), origin: origin.store,
            observation_uid: o.uid, app: o.place.app, activity: o.place.activity, page_key: o.place.page_key,
            fingerprint: o.place.fingerprint, fingerprint_source: source, mode: o.mode, has_web_view: o.has_web_view,
            node_reliability: o.node_reliability, observed_at: o.at, updated_at: now_ms()
        },
    )?;
    Ok(())
}

/// Marks the cached observations of a device as stale for all sessions, because an action was sent to the device.
pub fn mark_stale(connection: &Connection, device: i64) -> Result<()> {
    connection.run(
        "UPDATE session_state SET stale = 1, updated_at = :updated_at WHERE device_id = :device_id AND stale = 0",
        args! {device_id: device, updated_at: now_ms()},
    )?;
    Ok(())
}

/// Returns the structure key of an observation.
pub fn structure_of(connection: &Connection, uid: &str) -> Result<Option<String>> {
    let found = connection
        .prepare_cached(
            "SELECT nullif(p.structure_key, '') AS structure_key FROM observations o JOIN pages p ON p.id = o.page_id WHERE o.uid = :uid",
        )?
        .query_row(args! {uid}, |row| row.get("structure_key"));
    Ok(found.optional()?.flatten())
}
