//! Where a session did what it had to do in a span of time.

use afd_proto::memory::{Category, OutcomeKind};
use afd_proto::vocabulary::{Action, Role, Verb};
use rusqlite::Connection;

use super::event_rows::{self, EventRow};
use super::pages;
use afd_store::{Result, args};

/// Maximum number of events that are read, the newest first.
const EVENTS: i64 = 500;

/// Returns the structure key of the page on which a session did what it had to do between two times, in Unix milliseconds:
/// where it first put in a text or set a switch, else where it last changed something without leaving the page, else the
/// last page on which it acted or checked something. Returns `None` if nothing is known of it.
pub fn page_of(connection: &Connection, store: &str, session: i64, span: (i64, i64)) -> Result<Option<String>> {
    let mut statement = connection.prepare_cached(&event_rows::select(
        "WHERE e.session_id = :session AND e.origin = :store AND e.at BETWEEN :since AND :until AND e.status = 'ok'
             AND e.deleted_at IS NULL ORDER BY e.seq DESC LIMIT :most",
    ))?;
    let values = args! {session, store, since: span.0, until: span.1, most: EVENTS};
    let mut events: Vec<EventRow> =
        statement.query_map(values, event_rows::event_row)?.collect::<rusqlite::Result<_>>()?;
    events.reverse();
    let own = |event: &EventRow| event.page.as_ref().map(|page| page.structure.clone()).filter(|key| !key.is_empty());
    let puts_in = |event: &&EventRow| event.action.as_ref().is_some_and(|(action, _)| sets_value(action));
    let stays = |event: &&EventRow| {
        let taps = event.action.as_ref().is_some_and(|(action, _)| action.verb == Verb::Tap);
        taps && event.outcome == Some(OutcomeKind::Same)
    };
    if let Some(key) = events.iter().find(puts_in).or_else(|| events.iter().rfind(stays)).and_then(own) {
        return Ok(Some(key));
    }
    let Some(last) = events.last() else { return Ok(None) };
    match last.after.filter(|_| last.category != Category::Verify) {
        Some(after) => Ok(pages::get(connection, after)?.map(|page| page.structure)),
        None => Ok(own(last)),
    }
}

/// Returns whether an action puts in a text or touches a switch.
fn sets_value(action: &Action) -> bool {
    let is_switch = || action.target.as_ref().is_some_and(|target| target.role == Role::Switch);
    match action.verb {
        Verb::Fill | Verb::Text | Verb::Upload => true,
        Verb::Tap => is_switch(),
        _ => false,
    }
}
