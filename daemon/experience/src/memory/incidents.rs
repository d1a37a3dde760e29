//! Crashes and the like that were noticed after an action. They are part of the action's event.

use afd_proto::incident::Incident;
use rusqlite::Connection;

use super::events;
use afd_store::{Result, Sql as _, args, to_json};

/// Adds incidents to an event.
pub fn attach(connection: &Connection, event: &str, incidents: &[Incident]) -> Result<()> {
    events::add_evidence(connection, event, "incidents", &to_json(incidents))
}

/// The incidents of an event, and where it happened.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// The incidents.
    pub incidents: Vec<Incident>,
    /// App in front before the event.
    pub app: Option<String>,
    /// Key of the page before the event.
    pub page: Option<String>,
}

/// Returns the incidents of the newest event of a session at or after the time `since` (Unix milliseconds) that has any.
pub fn newest(connection: &Connection, session: i64, since: i64) -> Result<Option<Known>> {
    connection.first(
        "SELECT json_extract(e.evidence, '$.incidents') AS incidents, e.app, nullif(p.page_key, '') AS page
             FROM events e LEFT JOIN pages p ON p.id = e.page_id
             WHERE e.session_id = :session AND e.at >= :since AND json_valid(e.evidence)
                 AND json_extract(e.evidence, '$.incidents') IS NOT NULL
             ORDER BY e.seq DESC LIMIT 1",
        args! {session, since},
        |row| {
            let incidents: String = row.get("incidents")?;
            let incidents = serde_json::from_str(&incidents).unwrap_or_default();
            Ok(Known { incidents, app: row.get("app")?, page: row.get("page")? })
        },
    )
}

/// The newest action of a session on a device.
#[derive(Debug, Clone)]
pub struct LastAct {
    /// Uid of its event.
    pub event: String,
    /// Time at which it began, in Unix milliseconds.
    pub began: i64,
}

/// Returns the newest action of a session on a device; `None` if there was none.
pub fn last_act(connection: &Connection, session: i64, device: i64) -> Result<Option<LastAct>> {
    connection.first(
        "SELECT uid, at - duration_ms AS began FROM events
             WHERE session_id = :session AND device_id = :device AND category <> 'verify' AND sent = 1 ORDER BY seq DESC LIMIT 1",
        args! {session, device},
        |row| Ok(LastAct { event: row.get("uid")?, began: row.get("began")? }),
    )
}
