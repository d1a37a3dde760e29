//! Events, and the intents that precede them.
//!
//! The daemon commits an intent before it sends the action, and later replaces the intent by the event. An action is
//! therefore on record even if the daemon crashes before the outcome is known.

use afd_proto::ErrorCode;
use afd_proto::memory::{Category, EventStatus};
use afd_proto::vocabulary::Action;
use rusqlite::{Connection, Row};
use serde_json::Value;

use super::{Origin, Place, pages};
use afd_store::{Result, Sql as _, args, now_ms};

/// A caller's request key, which prevents a repeated call from being executed again, and a hash of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The request key.
    pub key: String,
    /// Keyed hash of the call. The hash is keyed because the call may contain typed text.
    pub hash: String,
}

/// An event to be recorded.
#[derive(Debug, Clone)]
pub struct Event {
    /// Uid of the event and of its intent.
    pub uid: String,
    /// Sequence number, shared with intents and observations.
    pub seq: i64,
    /// Request key and hash of the call, if the caller gave a key.
    pub request: Option<Request>,
    /// Category of the event: act, verify or recover.
    pub category: Category,
    /// Verb of the action or check.
    pub op: String,
    /// Final status of the action or check.
    pub status: EventStatus,
    /// Whether anything was sent to the device.
    pub sent: bool,
    /// The action, if it is known.
    pub action: Option<Action>,
    /// Error code of the failure.
    pub failure: Option<ErrorCode>,
    /// Error that a repeated call returns.
    pub error: Option<Value>,
    /// Result that a repeated call returns.
    pub result: Option<Value>,
    /// Details of the action or check, such as the point of a tap.
    pub evidence: Option<Value>,
    /// Duration of the action or check, in milliseconds.
    pub duration_ms: i64,
    /// Place that the device showed before the event.
    pub before: Place,
    /// Uid of the act that a check judges, or of the failure that a recovery follows.
    pub parent: Option<String>,
    /// For a check: whether the page allows a conclusion about the act. An unreliable or unsettled page does not.
    pub judges: bool,
    /// Time at which the event ended, in Unix milliseconds.
    pub at: i64,
}

/// Inserts the intent of an action before the daemon sends the action. For a recovery, returns the uid and the cause of
/// the failure that the recovery follows.
pub fn intend(connection: &Connection, origin: &Origin, event: &Event) -> Result<Option<(String, String)>> {
    let answered = match event.category {
        Category::Recover => open_failure(connection, origin)?,
        _ => None,
    };
    let (page, inherited) = page_of(connection, origin, event)?;
    connection.run(
        "INSERT INTO intents (uid, origin, seq, session_id, device_id, trace_id, request_key, request_hash, category, op, action,
                before_uid, page_id, inherited, content_hash, parent_uid, started_at, updated_at)
             VALUES (:uid, :origin, :seq, :session_id, :device_id, :trace_id, :request_key, :request_hash, :category, :op, :action,
                :before_uid, :page_id, :inherited, :content_hash, :parent_uid, :at, :at)",
        args! {
            uid: event.uid, origin: origin.store, seq: event.seq, session_id: origin.session,
            device_id: origin.device, trace_id: origin.trace, request_key: event.request.as_ref().map(|r| &r.key),
            request_hash: event.request.as_ref().map(|r| &r.hash), category: event.category.word(), op: event.op,
            action: json(&event.action), before_uid: event.before.observation, page_id: page, inherited,
            content_hash: event.before.content, parent_uid: answered.as_ref().map(|(uid, _)| uid), at: event.at
        },
    )?;
    Ok(answered)
}

fn json<T: serde::Serialize>(value: &Option<T>) -> Option<String> {
    value.as_ref().and_then(|v| serde_json::to_string(v).ok())
}

/// Returns the row id of the page on which an event happened, and the value of the column `inherited`. The value is 0
/// if the session has observed the page. If the session has not observed the device since the last action on it, the
/// page is the one to which that action led (value 1). While that page is unknown, the page on which the action
/// happened is used instead (value 2). A check that could not read the screen has no page.
fn page_of(connection: &Connection, origin: &Origin, event: &Event) -> Result<(Option<i64>, i64)> {
    if let Some(page) = pages::id_of(connection, &origin.store, &event.before)? {
        return Ok((Some(page), 0));
    }
    if event.category == Category::Verify {
        return Ok((None, 0));
    }
    let last = connection.first(
        "SELECT after_page_id, page_id FROM events
             WHERE device_id = :device AND origin = :store AND seq < :seq AND category <> 'verify' AND sent = 1 ORDER BY seq DESC LIMIT 1",
        args! {device: origin.device, store: origin.store, seq: event.seq},
        |row| {
            Ok((row.get::<_, Option<i64>>("after_page_id")?, row.get::<_, Option<i64>>("page_id")?))
        },
    )?;
    Ok(match last {
        Some((Some(after), _)) => (Some(after), 1),
        Some((None, Some(before))) => (Some(before), 2),
        _ => (None, 0),
    })
}

/// Inserts an event in place of its intent.
pub(super) fn put(connection: &Connection, origin: &Origin, event: &Event, parent: Option<&str>) -> Result<()> {
    let intended = connection.first(
        "DELETE FROM intents WHERE uid = :uid RETURNING page_id, inherited",
        args! {uid: &event.uid},
        |row| Ok((row.get("page_id")?, row.get("inherited")?)),
    )?;
    let place = match intended {
        Some(place) => place,
        None => page_of(connection, origin, event)?,
    };
    insert(connection, origin, event, parent, place)
}

fn insert(
    connection: &Connection,
    origin: &Origin,
    e: &Event,
    parent: Option<&str>,
    (page, inherited): (Option<i64>, i64),
) -> Result<()> {
    connection.run(
        "INSERT INTO events (uid, origin, seq, session_id, device_id, trace_id, request_key, request_hash, category, op, status, sent,
                action, failure_cause, error, result, evidence, duration_ms, before_uid, app, page_id, inherited, content_hash, parent_uid,
                at, updated_at)
             VALUES (:uid, :origin, :seq, :session_id, :device_id, :trace_id, :request_key, :request_hash, :category, :op, :status, :sent,
                :action, :failure_cause, :error, :result, :evidence, :duration_ms, :before_uid,
                nullif((SELECT app FROM pages WHERE id = :page_id), ''), :page_id, :inherited, :content_hash, :parent_uid, :at, :at)",
        args! {
            uid: e.uid, origin: origin.store, seq: e.seq, session_id: origin.session, device_id: origin.device,
            trace_id: origin.trace, request_key: e.request.as_ref().map(|r| &r.key),
            request_hash: e.request.as_ref().map(|r| &r.hash), category: e.category.word(), op: e.op,
            status: e.status.word(), sent: e.sent, action: json(&e.action),
            failure_cause: e.failure.map(ErrorCode::name), error: json(&e.error), result: json(&e.result),
            evidence: json(&e.evidence), duration_ms: e.duration_ms, before_uid: e.before.observation, page_id: page,
            inherited, content_hash: e.before.content, parent_uid: parent, at: e.at
        },
    )?;
    Ok(())
}

/// Returns the uid and the cause of the failure from which the session has not recovered yet. This failure is the
/// session's newest act or check, if that act or check did not succeed.
pub(super) fn open_failure(connection: &Connection, origin: &Origin) -> Result<Option<(String, String)>> {
    let newest = connection.first(
        "SELECT uid, status, coalesce(failure_cause, 'OUTCOME_UNKNOWN') AS cause FROM events
             WHERE session_id = :session_id AND device_id = :device_id AND origin = :store AND category <> 'recover' ORDER BY seq DESC LIMIT 1",
        args! {session_id: origin.session, device_id: origin.device, store: origin.store},
        |row| {
            Ok((row.get("uid")?, row.get::<_, String>("status")?, row.get("cause")?))
        },
    )?;
    Ok(newest.filter(|(_, status, _)| status != "ok").map(|(uid, _, cause)| (uid, cause)))
}

/// The recorded outcome of a call that had a request key.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Hash of the call that used the key.
    pub hash: String,
    /// The result, if the call succeeded.
    pub result: Option<Value>,
    /// The error, if the call failed.
    pub error: Option<Value>,
}

/// Returns the recorded outcome of the call with this request key.
pub fn outcome(connection: &Connection, session: i64, device: i64, key: &str) -> Result<Option<Outcome>> {
    let value = |row: &Row<'_>, name: &str| -> rusqlite::Result<Option<Value>> {
        Ok(row.get::<_, Option<String>>(name)?.and_then(|text| serde_json::from_str(&text).ok()))
    };
    // No call with this key is running. An open intent therefore means that the action was sent, but that its event
    // could not be recorded.
    let open = open_error("the action was sent, but its event could not be recorded").to_string();
    connection.first(
        "SELECT request_hash, result, error FROM events WHERE session_id = :session AND device_id = :device AND request_key = :key
             UNION ALL SELECT request_hash, NULL, :open FROM intents WHERE session_id = :session AND device_id = :device
             AND request_key = :key LIMIT 1",
        args! {session, device, key, open},
        |row| {
            Ok(Outcome {
                hash: row.get::<_, Option<String>>("request_hash")?.unwrap_or_default(),
                result: value(row, "result")?,
                error: value(row, "error")?,
            })
        },
    )
}

/// Builds the error for an action whose outcome is unknown.
fn open_error(message: &str) -> Value {
    serde_json::json!({"code": ErrorCode::OutcomeUnknown.name(), "message": message, "hint": "observe again to see what happened"})
}

/// Converts the open intents of all calls, or of the call with the id `trace`, to events with an unknown outcome,
/// because their actions may have been executed. `why` becomes the message of their errors. Returns the uids of the
/// events.
pub fn close_open_intents(connection: &Connection, trace: Option<&str>, why: &str) -> Result<Vec<String>> {
    let error = open_error(why);
    let mut close = connection.prepare(
        "INSERT INTO events (uid, origin, seq, session_id, device_id, trace_id, request_key, request_hash, category, op, status, sent,
            action, failure_cause, error, duration_ms, before_uid, app, page_id, inherited, content_hash, parent_uid, at, updated_at)
         SELECT uid, origin, seq, session_id, device_id, trace_id,
            CASE WHEN EXISTS (SELECT 1 FROM events e WHERE e.session_id = intents.session_id AND e.device_id = intents.device_id
                AND e.request_key = intents.request_key) THEN NULL ELSE request_key END, request_hash, category, op, 'unknown', 1,
            action, :cause, :error, 0, before_uid, nullif((SELECT app FROM pages WHERE id = intents.page_id), ''), page_id, inherited,
            content_hash, parent_uid, started_at, :now
            FROM intents
         WHERE :trace IS NULL OR trace_id = :trace RETURNING uid",
    )?;
    let closed = close
        .query_map(
            args! {cause: ErrorCode::OutcomeUnknown.name(), error: error.to_string(), now: now_ms(), trace},
            |row| row.get("uid"),
        )?
        .collect::<rusqlite::Result<Vec<String>>>()?;
    connection.execute("DELETE FROM intents WHERE :trace IS NULL OR trace_id = :trace", args! {trace})?;
    Ok(closed)
}

/// Takes the request key from an event, so that another attempt at the same call can have it.
pub fn release_key(connection: &Connection, event: &str) -> Result<()> {
    connection.run(
        "UPDATE events SET request_key = NULL, request_hash = NULL, updated_at = :now WHERE uid = :event",
        args! {now: now_ms(), event},
    )?;
    Ok(())
}

/// Adds a member to the evidence of an event. `value` is JSON.
pub fn add_evidence(connection: &Connection, event: &str, name: &str, value: &str) -> Result<()> {
    connection.run(
        "UPDATE events SET evidence = json_set(coalesce(evidence, '{}'), '$.' || :name, json(:value)), updated_at = :now
             WHERE uid = :event",
        args! {name, value, now: now_ms(), event},
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use afd_proto::vocabulary::Verb;

    use super::*;
    use afd_store::{Store, new_uid};

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

    /// If the event of an action cannot be recorded, the intent stays. A second tap with the same key must be refused,
    /// and the next start must be able to close the intent.
    #[tokio::test]
    async fn open_intent_keeps_its_request_key() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Store::open(
            &dir.path().join("m.db"),
            &afd_base::task::Tasks::default(),
            |_, _| {},
            crate::memory::last_seq,
        )
        .expect("opens");
        let origin = Origin { store: "o".into(), session: 1, device: 1, trace: "t".into() };
        let done = store.write(move |c| {
            c.execute_batch(
                "INSERT INTO sessions (uid, origin, name, created_at, updated_at) VALUES ('s', 'o', 's', 1, 1);
                 INSERT INTO devices (uid, origin, name, kind, created_at, updated_at) VALUES ('d', 'o', 'd', 'k', 1, 1);",
            )?;
            intend(c, &origin, &event("lost"))?;
            let found = outcome(c, 1, 1, "lost")?.expect("known");
            assert_eq!(found.error.expect("an error")["code"], "OUTCOME_UNKNOWN");
            // An event with the key of an open intent, which an older daemon may have left.
            put(c, &origin, &event("twice"), None)?;
            intend(c, &origin, &event("twice"))?;
            close_open_intents(c, None, "it ended")
        });
        assert_eq!(done.await.expect("starts").len(), 2);
        let unknown = store.read(|c| {
            Ok(c.query_row("SELECT count(*) AS count FROM events WHERE status = 'unknown'", [], |r| {
                r.get::<_, i64>("count")
            })?)
        });
        assert_eq!(unknown.await.expect("reads"), 2);
    }
}
