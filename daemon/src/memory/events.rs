//! Events and the intents before them (DESIGN 6.1, 6.6).

use afd_proto::ErrorCode;
use afd_proto::memory::{Category, EventStatus};
use afd_proto::vocabulary::Action;
use rusqlite::{Connection, OptionalExtension, Row, named_params};
use serde_json::Value;

use super::{Origin, Place};
use crate::store::{Result, now_ms};

/// A caller's key against doing it twice, and a hash of what it was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The key.
    pub key: String,
    /// Equal for equal calls; keyed, for the call may hold typed text.
    pub hash: String,
}

/// An event to be recorded.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its uid, also that of its intent.
    pub uid: String,
    /// Place in the order of the device.
    pub seq: i64,
    /// Key against doing it twice.
    pub request: Option<Request>,
    /// What kind.
    pub category: Category,
    /// The verb.
    pub op: String,
    /// How it ended.
    pub status: EventStatus,
    /// Whether the device was sent anything.
    pub sent: bool,
    /// What was done.
    pub action: Option<Action>,
    /// Why it failed.
    pub failure: Option<ErrorCode>,
    /// The error as it was answered.
    pub error: Option<Value>,
    /// The result as it was answered.
    pub result: Option<Value>,
    /// What was seen.
    pub evidence: Option<Value>,
    /// How long it took, milliseconds.
    pub duration_ms: i64,
    /// Where it began.
    pub before: Place,
    /// What it judged or answered.
    pub parent: Option<String>,
    /// For a verify: whether the page could be judged at all. An unreliable or moving one says nothing about an act.
    pub judges: bool,
    /// When it ended, UTC milliseconds.
    pub at: i64,
}

/// Commits that something is about to be sent. Returns the failure that a recovery answers: its uid and cause.
///
/// # Errors
/// What SQLite says.
pub fn intend(connection: &Connection, origin: &Origin, event: &Event) -> Result<Option<(String, String)>> {
    let answered = match event.category {
        Category::Recover => open_failure(connection, origin)?,
        _ => None,
    };
    connection
        .prepare_cached(
            "INSERT INTO intents (uid, origin, seq, session_id, device_id, trace_id, request_key, request_hash, category, op, action,
                before_uid, app, activity, page_key, fingerprint, parent_uid, started_at, updated_at, structure_key)
             VALUES (:uid, :origin, :seq, :session_id, :device_id, :trace_id, :request_key, :request_hash, :category, :op, :action,
             :before_uid, :app, :activity, :page_key, :fingerprint, :parent_uid, :at, :at, :structure_key)",
        )?
        .execute(named_params! {
            ":uid": event.uid,
            ":origin": origin.store,
            ":seq": event.seq,
            ":session_id": origin.session,
            ":device_id": origin.device,
            ":trace_id": origin.trace,
            ":request_key": event.request.as_ref().map(|r| &r.key),
            ":request_hash": event.request.as_ref().map(|r| &r.hash),
            ":category": event.category.word(),
            ":op": event.op,
            ":action": json(&event.action),
            ":before_uid": event.before.observation,
            ":app": event.before.app,
            ":activity": event.before.activity,
            ":page_key": event.before.page_key,
            ":fingerprint": event.before.fingerprint,
            ":parent_uid": answered.as_ref().map(|(uid, _)| uid),
            ":at": event.at,
            ":structure_key": event.before.structure,
        })?;
    Ok(answered)
}

fn json<T: serde::Serialize>(value: &Option<T>) -> Option<String> {
    value.as_ref().and_then(|v| serde_json::to_string(v).ok())
}

/// Writes an event in the place of its intent.
///
/// # Errors
/// What SQLite says.
pub(super) fn put(connection: &Connection, origin: &Origin, event: &Event, parent: Option<&str>) -> Result<()> {
    connection.prepare_cached("DELETE FROM intents WHERE uid = :uid")?.execute(named_params! {":uid": &event.uid})?;
    insert(connection, origin, event, parent)
}

fn insert(connection: &Connection, origin: &Origin, e: &Event, parent: Option<&str>) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO events (uid, origin, seq, session_id, device_id, trace_id, request_key, request_hash, category, op, status, sent,
                action, action_key, failure_cause, error, result, evidence, duration_ms, before_uid, app, activity, page_key, fingerprint,
                parent_uid, at, updated_at, structure_key)
             VALUES (:uid, :origin, :seq, :session_id, :device_id, :trace_id, :request_key, :request_hash, :category, :op, :status, :sent,
             :action, :action_key, :failure_cause, :error, :result, :evidence, :duration_ms, :before_uid, :app, :activity, :page_key, :fingerprint, :parent_uid, :at, :at,
                :structure_key)",
        )?
        .execute(named_params! {
            ":uid": e.uid,
            ":origin": origin.store,
            ":seq": e.seq,
            ":session_id": origin.session,
            ":device_id": origin.device,
            ":trace_id": origin.trace,
            ":request_key": e.request.as_ref().map(|r| &r.key),
            ":request_hash": e.request.as_ref().map(|r| &r.hash),
            ":category": e.category.word(),
            ":op": e.op,
            ":status": e.status.word(),
            ":sent": e.sent,
            ":action": json(&e.action),
            ":action_key": e.action.as_ref().map(crate::page::target::action_key),
            ":failure_cause": e.failure.map(ErrorCode::name),
            ":error": json(&e.error),
            ":result": json(&e.result),
            ":evidence": json(&e.evidence),
            ":duration_ms": e.duration_ms,
            ":before_uid": e.before.observation,
            ":app": e.before.app,
            ":activity": e.before.activity,
            ":page_key": e.before.page_key,
            ":fingerprint": e.before.fingerprint,
            ":parent_uid": parent,
            ":at": e.at,
            ":structure_key": e.before.structure,
        })?;
    Ok(())
}

/// The failure that the session has not got out of yet: the newest act or verify, if it failed.
pub(super) fn open_failure(connection: &Connection, origin: &Origin) -> Result<Option<(String, String)>> {
    let newest = connection
        .prepare_cached(
            "SELECT uid, status, coalesce(failure_cause, 'OUTCOME_UNKNOWN') AS cause FROM events
             WHERE session_id = :session_id AND device_id = :device_id AND category <> 'recover' ORDER BY seq DESC LIMIT 1",
        )?
        .query_row(named_params! {":session_id": origin.session, ":device_id": origin.device}, |row| {
            Ok((row.get("uid")?, row.get::<_, String>("status")?, row.get("cause")?))
        })
        .optional()?;
    Ok(newest.filter(|(_, status, _)| status != "ok").map(|(uid, _, cause)| (uid, cause)))
}

/// The recorded outcome of a request key.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Hash of the call that it was used for.
    pub hash: String,
    /// The result, when it went well.
    pub result: Option<Value>,
    /// The error, when it did not.
    pub error: Option<Value>,
}

/// Looks up what came of a request key.
///
/// # Errors
/// What SQLite says.
pub fn outcome(connection: &Connection, session: i64, device: i64, key: &str) -> Result<Option<Outcome>> {
    let value = |row: &Row<'_>, name: &str| -> rusqlite::Result<Option<Value>> {
        Ok(row.get::<_, Option<String>>(name)?.and_then(|text| serde_json::from_str(&text).ok()))
    };
    // An intent that is still open while nobody works on its key was sent, and its event could not be recorded.
    let open = open_error("the action was sent and its event could not be recorded").to_string();
    Ok(connection
        .prepare_cached(
            "SELECT request_hash, result, error FROM events WHERE session_id = :session AND device_id = :device AND request_key = :key
             UNION ALL SELECT request_hash, NULL, :open FROM intents WHERE session_id = :session AND device_id = :device
             AND request_key = :key LIMIT 1",
        )?
        .query_row(named_params! {":session": session, ":device": device, ":key": key, ":open": open}, |row| {
            Ok(Outcome {
                hash: row.get::<_, Option<String>>("request_hash")?.unwrap_or_default(),
                result: value(row, "result")?,
                error: value(row, "error")?,
            })
        })
        .optional()?)
}

/// The error of something whose outcome nobody knows.
fn open_error(message: &str) -> Value {
    serde_json::json!({"code": ErrorCode::OutcomeUnknown.name(), "message": message, "hint": "observe again to see what happened"})
}

/// Intents that a crash left open, or only those of one call: what they were about may have happened. Each becomes an event, with
/// `why` as its error; returns their uids.
///
/// # Errors
/// What SQLite says.
pub fn close_open_intents(connection: &Connection, trace: Option<&str>, why: &str) -> Result<Vec<String>> {
    let error = open_error(why);
    let mut close = connection.prepare(
        "INSERT INTO events (uid, origin, seq, session_id, device_id, trace_id, request_key, request_hash, category, op, status, sent,
            action, failure_cause, error, duration_ms, before_uid, app, activity, page_key, fingerprint, parent_uid, at, updated_at,
            structure_key)
         SELECT uid, origin, seq, session_id, device_id, trace_id,
            CASE WHEN EXISTS (SELECT 1 FROM events e WHERE e.session_id = intents.session_id AND e.device_id = intents.device_id
                AND e.request_key = intents.request_key) THEN NULL ELSE request_key END, request_hash, category, op, 'unknown', 1,
            action, :cause, :error, 0, before_uid, app, activity, page_key, fingerprint, parent_uid, started_at, :now, structure_key
            FROM intents
         WHERE :trace IS NULL OR trace_id = :trace RETURNING uid",
    )?;
    let closed = close
        .query_map(
            named_params! {":cause": ErrorCode::OutcomeUnknown.name(), ":error": error.to_string(), ":now": now_ms(), ":trace": trace},
            |row| row.get("uid"),
        )?
        .collect::<rusqlite::Result<Vec<String>>>()?;
    connection.execute("DELETE FROM intents WHERE :trace IS NULL OR trace_id = :trace", named_params! {":trace": trace})?;
    Ok(closed)
}

#[cfg(test)]
mod tests {
    use afd_proto::vocabulary::Verb;

    use super::*;
    use crate::store::{Store, new_uid};

    fn event(key: &str) -> Event {
        Event {
            uid: new_uid(),
            seq: 1,
            request: Some(Request { key: key.into(), hash: "h".into() }),
            category: Category::Act,
            op: "tap".into(),
            status: EventStatus::Ok,
            sent: true,
            action: Some(Action::of(Verb::Tap)),
            failure: None,
            error: None,
            result: Some(serde_json::json!({})),
            evidence: None,
            duration_ms: 1,
            before: Place::default(),
            parent: None,
            judges: false,
            at: 1,
        }
    }

    /// An action whose event could not be recorded leaves its intent: its key must not be free for a second tap, and the next
    /// start must not stumble over it.
    #[tokio::test]
    async fn an_intent_without_an_event_keeps_its_request_key() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store::open(&dir.path().join("m.db"), &crate::task::Tasks::default(), crate::memory::last_seq).expect("opens");
        let origin = Origin { store: "o".into(), session: 1, device: 1, trace: "t".into() };
        let done = store.write(move |c| {
            crate::session::row_id(c, "o", "s")?;
            crate::device::row_id(c, "o", "d", "k")?;
            intend(c, &origin, &event("lost"))?;
            let found = outcome(c, 1, 1, "lost")?.expect("known");
            assert_eq!(found.error.expect("an error")["code"], "OUTCOME_UNKNOWN");
            // A second event with the key of an open intent, as an older daemon may have left it.
            put(c, &origin, &event("twice"), None)?;
            intend(c, &origin, &event("twice"))?;
            close_open_intents(c, None, "it ended")
        });
        assert_eq!(done.await.expect("starts").len(), 2);
        let unknown = store
            .read(|c| Ok(c.query_row("SELECT count(*) AS count FROM events WHERE status = 'unknown'", [], |r| r.get::<_, i64>("count"))?));
        assert_eq!(unknown.await.expect("reads"), 2);
    }
}
