//! Where a session did what it had to do in a span of time.

use afd_proto::memory::{Category, OutcomeKind};
use afd_proto::vocabulary::{Action, Role, Verb};
use rusqlite::Connection;

use super::event_rows::{self, EventRow};
use super::pages;
use afd_store::{Result, args};

/// Maximum number of events that are read, the newest first.
const EVENTS: i64 = 200;
/// Maximum number of pages that are opened after an input that was what the session had to do: a button saves it. After more,
/// it was a login or a search.
const MAX_AFTER_INPUT: usize = 1;

/// Returns the structure key of the page on which a session did what it had to do between two times, in Unix milliseconds:
/// where it last put in a text or set a switch, unless it went on to other pages from there; else where it last changed
/// something without leaving the page; else the last page that it opened before it went back or closed the app. Returns
/// `None` if nothing is known of it. Only the newest events are read.
pub fn page_of(connection: &Connection, store: &str, session: i64, span: (i64, i64)) -> Result<Option<String>> {
    let mut statement = connection.prepare_cached(&event_rows::select(
        "WHERE e.session_id = :session AND e.origin = :store AND e.at BETWEEN :since AND :until AND e.status = 'ok'
             AND e.deleted_at IS NULL ORDER BY e.seq DESC LIMIT :most",
    ))?;
    let values = args! {session, store, since: span.0, until: span.1, most: EVENTS};
    let mut events: Vec<EventRow> =
        statement.query_map(values, event_rows::event_row)?.collect::<rusqlite::Result<_>>()?;
    events.reverse();
    let verb = |event: &EventRow| event.action.as_ref().map(|(action, _)| action.verb);
    while events.last().is_some_and(|last| matches!(verb(last), Some(Verb::Back | Verb::Home | Verb::Launch))) {
        events.pop();
    }
    let own = |event: &EventRow| event.page.as_ref().map(|page| page.structure.clone()).filter(|key| !key.is_empty());
    let is_tap = |event: &EventRow| verb(event) == Some(Verb::Tap);
    let sets = |event: &EventRow| event.action.as_ref().is_some_and(|(action, _)| sets_value(action));
    let goes_on = |after: &[EventRow]| {
        after.iter().filter(|event| is_tap(event) && event.outcome == Some(OutcomeKind::Page)).count() > MAX_AFTER_INPUT
    };
    let put_in = events.iter().rposition(sets).filter(|at| !goes_on(&events[at + 1..]));
    let stayed = || events.iter().rposition(|event| is_tap(event) && event.outcome == Some(OutcomeKind::Same));
    if let Some(key) = put_in.or_else(stayed).and_then(|at| own(&events[at])) {
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
