//! Events, with the columns that the experience counters need.

use afd_proto::ErrorCode;
use afd_proto::memory::{Category, EventStatus, OutcomeKind};
use afd_proto::vocabulary::Action;
use rusqlite::{Connection, Row};

use super::pages::{self, Page};
use afd_store::{Result, Sql as _, args, read, word};

/// An event with its page.
pub(super) struct EventRow {
    pub uid: String,
    pub store: String,
    pub seq: i64,
    pub session: i64,
    pub device: i64,
    pub category: Category,
    pub op: String,
    pub status: EventStatus,
    pub cause: Option<ErrorCode>,
    pub parent: Option<String>,
    pub evidence: Option<String>,
    pub action: Option<(Action, String)>,
    pub page: Option<Page>,
    /// Whether the page is only assumed: it is the page of the previous action, whose outcome is unknown.
    pub assumed: bool,
    pub content: Option<String>,
    pub outcome: Option<OutcomeKind>,
    pub after: Option<i64>,
    pub below: Option<i64>,
    pub arrived_ms: i64,
    pub verified: bool,
    pub refuted: bool,
    /// For a recovery: whether it worked, or `None` while that is undecided.
    pub cured: Option<bool>,
    /// Whether the baseline contains the event. If so, the event's outcome is final.
    pub folded: bool,
    pub at: i64,
    pub duration_ms: i64,
}

const COLUMNS: &str = "e.uid, e.origin, e.seq, e.session_id, e.device_id, e.category, e.op, e.status, e.failure_cause, e.parent_uid,
    e.evidence, e.action, e.inherited, e.content_hash, e.outcome, e.after_page_id, e.after_below_id, e.arrived_ms, e.verified, e.refuted,
    e.cured, e.folded, e.at, e.duration_ms";

pub(super) fn select(rest: &str) -> String {
    format!("SELECT {COLUMNS}, {} FROM events e LEFT JOIN pages p ON p.id = e.page_id {rest}", pages::COLUMNS)
}

impl EventRow {
    /// Returns the name of the failure cause under which the event is counted. An event without a cause is counted
    /// under [`ErrorCode::OutcomeUnknown`].
    pub fn cause_name(&self) -> &'static str {
        self.cause.unwrap_or(ErrorCode::OutcomeUnknown).name()
    }
}

pub(super) fn event_row(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    let action: Option<String> = row.get("action")?;
    let cause: Option<String> = row.get("failure_cause")?;
    let outcome: Option<String> = row.get("outcome")?;
    Ok(read!(row => EventRow {
        uid, seq, op, evidence, verified, refuted, cured, folded, at, duration_ms,
        store: row.get("origin")?,
        session: row.get("session_id")?,
        device: row.get("device_id")?,
        category: word(row, "category")?,
        status: word(row, "status")?,
        cause: cause.and_then(|c| ErrorCode::from_name(&c)),
        parent: row.get("parent_uid")?,
        action: action.and_then(|text| serde_json::from_str(&text).ok().map(|a| (a, text))),
        page: pages::read(row)?,
        assumed: row.get::<_, i64>("inherited")? > 1,
        content: row.get("content_hash")?,
        outcome: outcome.as_deref().and_then(<OutcomeKind as afd_proto::Word>::of),
        after: row.get("after_page_id")?,
        below: row.get("after_below_id")?,
        arrived_ms: row.get::<_, Option<i64>>("arrived_ms")?.unwrap_or_default(),
    }))
}

/// Returns an event by its uid.
pub(super) fn find(connection: &Connection, uid: &str) -> Result<Option<EventRow>> {
    connection.first(&select("WHERE e.uid = :uid"), args! {uid}, event_row)
}

/// Returns whether the counters already contain the outcome of an event. During a rebuild, events that the rebuild has
/// yet to reach are not counted.
pub(super) fn is_counted(connection: &Connection, event: &EventRow) -> Result<bool> {
    let waiting: bool = connection.one(
        "SELECT EXISTS (SELECT 1 FROM store WHERE rebuild_cursor IS NOT NULL AND :seq > rebuild_cursor AND :seq <= rebuild_upto)
                AS waiting",
        args! {seq: event.seq},
        |row| row.get("waiting"),
    )?;
    Ok(!waiting)
}
