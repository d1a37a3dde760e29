//! Failures from which a session has not recovered yet.

use afd_proto::memory::Category;
use afd_proto::vocabulary::Action;
use rusqlite::Connection;
use serde_json::Value;

use super::pages::Page;
use super::{Origin, event_rows, events};
use afd_store::{Result, Sql as _, args};

/// A failed action or check.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Uid of its event.
    pub uid: String,
    /// Error code.
    pub cause: String,
    /// Category: act or verify.
    pub category: Category,
    /// Verb of the action or check.
    pub op: String,
    /// The action; `None` for a check.
    pub action: Option<Action>,
    /// Details, such as the target that was wanted.
    pub evidence: Value,
    /// The page on which it failed; `None` if that is not known for sure.
    pub page: Option<Page>,
    /// Package of the app in which the session was before: the one to which its last action led that
    /// succeeded and did not lead to a dialog.
    pub app: Option<String>,
}

/// Returns the newest act or check of a session, if it failed.
pub fn open(connection: &Connection, origin: &Origin) -> Result<Option<Failure>> {
    let Some((uid, cause)) = events::open_failure(connection, origin)? else { return Ok(None) };
    let Some(event) = event_rows::find(connection, &uid)? else { return Ok(None) };
    let evidence = event.evidence.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let app = connection.first(
        "SELECT p.app FROM events e JOIN pages p ON p.id = coalesce(e.after_page_id, e.page_id)
             WHERE e.session_id = :session AND e.device_id = :device AND e.origin = :store AND e.seq < :seq
                AND e.category <> 'verify' AND e.status = 'ok' AND p.dialog = 0 ORDER BY e.seq DESC LIMIT 1",
        args! {session: origin.session, device: origin.device, store: origin.store, seq: event.seq},
        |row| row.get::<_, String>("app"),
    )?;
    Ok(Some(Failure {
        uid,
        app: app.filter(|app| !app.is_empty()),
        cause,
        category: event.category,
        op: event.op,
        action: event.action.map(|(action, _)| action),
        evidence,
        page: event.page.filter(|_| !event.assumed),
    }))
}
