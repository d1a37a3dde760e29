//! Determines the outcome of each act, and updates the counters that depend on it.
//!
//! Idea: the outcome of an act or recovery is the last page that settled within ten seconds ([`OUTCOME_WINDOW_MS`]) of
//! it and before the next act on the device, in a capture by any caller, or the page on which a check passed. The
//! outcome is "unchanged" only after three seconds ([`NOTHING_AFTER_MS`]), because a page may load slowly. A later
//! capture corrects an outcome until a check confirms it: [`take_outcome`] takes back the counts of the old outcome and
//! adds those of the new one. An act has no outcome if the device may not have performed it, or if no capture was made
//! in time. A page that appears later is an outcome of waiting.
//!
//! Events, intents and observations share the sequence numbers `seq`, which determine what happened between an act and
//! a capture. An open intent counts as an action in progress.
//!
//! Invariant: the outcome is stored on the event, and [`super::rebuild`] can recompute all counters from the events and
//! observations. Both time limits are constants. `memory/tests.rs` checks them and the corrections, and compares the
//! counters with a rebuild.

use afd_proto::ErrorCode;
use afd_proto::memory::{Category, EventStatus, OutcomeKind};
use afd_proto::vocabulary::{Action, Verb};
use rusqlite::Connection;

use super::event_rows::{EventRow, event_row, find, is_counted, select};
use super::events::Event;
use super::outcomes::{self, Attempt};
use super::pages;
use super::{Origin, recoveries};
use afd_screen::page::target::{self, action_key};
use afd_store::{Result, Sql as _, args, now_ms, origin_of};

/// Maximum time between an act and a settled page for the page to count as the act's outcome, in milliseconds.
pub const OUTCOME_WINDOW_MS: i64 = 10_000;
/// Minimum time after an act before an unchanged page means that the act did nothing, in milliseconds.
pub const NOTHING_AFTER_MS: i64 = 3_000;

/// Returns the last action that a store sent to a device before `seq`. Returns `None` if there is none, or if an action
/// is still in progress. If `refusals_of` is given, refused actions of the session with this row id count, too.
pub(super) fn last_action(
    connection: &Connection,
    (store, device): (&str, i64),
    seq: i64,
    refusals_of: Option<i64>,
) -> Result<Option<EventRow>> {
    // Sequence numbers of different stores are unrelated.
    let sql = select(
        "WHERE e.device_id = :device AND e.origin = :store AND e.seq < :seq AND e.category <> 'verify' AND (e.sent = 1 OR e.session_id = :session)
         ORDER BY e.seq DESC LIMIT 1",
    );
    let last = connection.first(&sql, args! {device, store, seq, session: refusals_of}, event_row)?;
    let Some(last) = last else { return Ok(None) };
    let under_way: bool = connection.one(
        "SELECT EXISTS (SELECT 1 FROM intents WHERE device_id = :device AND seq > :after AND seq < :before) AS found",
        args! {device, after: last.seq, before: seq},
        |row| row.get("found"),
    )?;
    Ok((!under_way).then_some(last))
}

/// A conclusive capture of a device's screen: settled, reliable, and of a known page.
#[derive(Debug, Clone)]
pub struct Look {
    /// Uid of the store that recorded the capture.
    pub store: String,
    /// Row id of the device.
    pub device: i64,
    /// Sequence number, shared with events, intents and observations.
    pub seq: i64,
    /// Row id of the page.
    pub page: i64,
    /// Row id of the page under a dialog.
    pub below: Option<i64>,
    /// Hash of the content.
    pub content: Option<String>,
    /// Time of the capture, in Unix milliseconds.
    pub at: i64,
}

/// Stores the page of a capture as the outcome of the act before it, or counts it as a page that appeared
/// spontaneously.
pub fn settle(connection: &Connection, look: &Look) -> Result<()> {
    match last_action(connection, (&look.store, look.device), look.seq, None)? {
        Some(last) if look.at - last.at <= OUTCOME_WINDOW_MS => take_outcome(connection, last, look, false),
        last => appeared_spontaneously(connection, look, last.map(|l| l.seq)),
    }
}

/// Stores the page of a capture as the outcome of an act, and corrects the counters. `confirmed` says whether a check
/// has passed on that page.
pub(super) fn take_outcome(connection: &Connection, mut act: EventRow, look: &Look, confirmed: bool) -> Result<()> {
    if act.folded || act.status != EventStatus::Ok || (act.verified && !confirmed) {
        return Ok(());
    }
    let Some(kind) = kind_of(connection, &act, look)? else { return Ok(()) };
    if act.outcome == Some(kind) && act.after == Some(look.page) && act.below == look.below {
        return Ok(());
    }
    // A pop-up over the page that the act led to appeared spontaneously.
    if !confirmed && is_over(connection, look, act.after)? {
        return Ok(());
    }
    // The first capture of a page determines its arrival; later captures of the same page return above.
    let arrived_ms = (look.at - act.at).max(0) + act.duration_ms;
    let counted = is_counted(connection, &act)?;
    if counted {
        count(connection, &act, -1)?;
        recoveries::count(connection, &act, -1)?;
    }
    // If the page has changed since a failed check, the expected page may have been late: the check no longer counts.
    act.refuted &= act.after.is_none() || act.after == Some(look.page);
    (act.outcome, act.after, act.below, act.arrived_ms) = (Some(kind), Some(look.page), look.below, arrived_ms);
    store_outcome(connection, &act)?;
    if counted {
        count(connection, &act, 1)?;
        recoveries::count(connection, &act, 1)?;
    }
    Ok(())
}

/// Returns whether a capture shows a dialog over this page.
fn is_over(connection: &Connection, look: &Look, page: Option<i64>) -> Result<bool> {
    let (Some(below), Some(page)) = (look.below, page) else { return Ok(false) };
    let (below, page) = (pages::get(connection, below)?, pages::get(connection, page)?);
    Ok(below.zip(page).is_some_and(|(below, page)| below.is_same(&page)))
}

fn store_outcome(connection: &Connection, act: &EventRow) -> Result<()> {
    connection.run(
        "UPDATE events SET outcome = :outcome, after_page_id = :after, after_below_id = :below, arrived_ms = :arrived_ms,
                verified = :verified, refuted = :refuted, updated_at = :now WHERE uid = :uid",
        args! {
            uid: act.uid, outcome: act.outcome.map(OutcomeKind::word), after: act.after, below: act.below,
            arrived_ms: act.arrived_ms, verified: act.verified, refuted: act.refuted, now: now_ms()
        },
    )?;
    Ok(())
}

/// Returns the kind of outcome that a captured page shows for an act, or `None` while it is too early to conclude that
/// nothing changed.
fn kind_of(connection: &Connection, act: &EventRow, look: &Look) -> Result<Option<OutcomeKind>> {
    let Some(to) = pages::get(connection, look.page)? else { return Ok(None) };
    let Some(from) = &act.page else { return Ok(Some(OutcomeKind::Page)) };
    // Equal content means the same page, even if it is stored with another structure.
    let unchanged = act.content.is_some() && act.content == look.content && from.activity == to.activity;
    if !unchanged && !from.is_same(&to) {
        return Ok(Some(OutcomeKind::Page));
    }
    Ok(match (&act.content, &look.content) {
        (Some(before), Some(after)) if before != after => Some(OutcomeKind::Same),
        (Some(_), Some(_)) if look.at - act.at < NOTHING_AFTER_MS => None,
        (Some(_), Some(_)) => Some(OutcomeKind::Nothing),
        // The page is the same. Whether its content changed, or is about to change, is unknown.
        _ if look.at - act.at < NOTHING_AFTER_MS => None,
        _ => Some(OutcomeKind::Same),
    })
}

/// Adds an act's contribution to the counters, or takes it back if `times` is negative.
pub(super) fn count(connection: &Connection, act: &EventRow, times: i64) -> Result<()> {
    contribution(connection, act, times, |attempt| outcomes::add(connection, &act.store, attempt))
}

/// Calls `add` with each attempt that an act contributes to the counters.
pub(super) fn contribution(
    connection: &Connection,
    act: &EventRow,
    times: i64,
    mut add: impl FnMut(&Attempt<'_>) -> Result<()>,
) -> Result<()> {
    let (Some(from), Some((action, text))) = (act.page.as_ref().filter(|_| !act.assumed), &act.action) else {
        return Ok(());
    };
    let key = action_key(action);
    let page = |id: Option<i64>| id.map(|id| pages::get(connection, id)).transpose().map(Option::flatten);
    let (to, below) = (page(act.after)?, page(act.below)?);
    let verify_op = if act.verified { confirmed_by(connection, &act.uid)? } else { None };
    let attempt = |kind, cause, verified| Attempt {
        from,
        action: text,
        action_key: &key,
        kind,
        to: to.as_ref(),
        below: below.as_ref(),
        cause,
        times,
        weight: times as f64,
        verified,
        verify_op: verify_op.as_deref(),
        duration_ms: if kind == OutcomeKind::Page { act.arrived_ms * times } else { 0 },
        at: act.at,
    };
    if let Some(kind) = act.outcome {
        add(&attempt(kind, None, if act.verified { times } else { 0 }))?;
    }
    if act.refuted {
        add(&attempt(OutcomeKind::Refuted, Some(ErrorCode::AssertionFailed.name()), 0))?;
    }
    if act.category == Category::Act && act.status == EventStatus::Failed && is_about_target(act) {
        add(&attempt(OutcomeKind::Failed, act.cause.map(ErrorCode::name), 0))?;
    }
    Ok(())
}

/// Returns the operation of the last check of an act that passed.
fn confirmed_by(connection: &Connection, act: &str) -> Result<Option<String>> {
    connection.first(
        "SELECT op FROM events WHERE parent_uid = :act AND category = 'verify' AND status = 'ok' ORDER BY seq DESC LIMIT 1",
        args! {act},
        |row| row.get("op"),
    )
}

/// Returns whether a failure says something about the target, and not only about the connection, the daemon or the
/// caller. A stale alias, an element that something covers, and text that the device cannot type do not count as
/// failures of the target.
fn is_about_target(event: &EventRow) -> bool {
    let blames = !matches!(
        event.cause,
        None | Some(
            ErrorCode::DeviceUnreachable
                | ErrorCode::DeviceAuth
                | ErrorCode::DeviceBusy
                | ErrorCode::OutcomeUnknown
                | ErrorCode::ShuttingDown
                | ErrorCode::RefAliasUnobserved
                | ErrorCode::RefAliasStale
                | ErrorCode::StoreFull
                | ErrorCode::StoreUnavailable
                | ErrorCode::Internal
                | ErrorCode::InvalidParams
                | ErrorCode::Unsupported
                | ErrorCode::TargetCovered
        )
    );
    let untargeted = |a: &Action| {
        matches!(a.verb, Verb::Tap | Verb::LongPress | Verb::DoubleTap | Verb::Hover)
            && a.target.is_none()
            && a.point.is_none()
    };
    blames && event.action.as_ref().is_some_and(|(action, _)| !untargeted(action))
}

/// Returns the uid of the act that a check at `seq` judges: the last action on the device, if it is a successful act of
/// the session. A check that follows a refused act judges no act, not even an earlier one.
pub(super) fn judged_act(connection: &Connection, origin: &Origin, seq: i64) -> Result<Option<String>> {
    let last = last_action(connection, (&origin.store, origin.device), seq, Some(origin.session))?;
    let judged =
        |l: &EventRow| l.session == origin.session && l.category == Category::Act && l.status == EventStatus::Ok;
    Ok(last.filter(judged).map(|l| l.uid))
}

/// Adds a new event to the counters.
pub(super) fn count_event(connection: &Connection, event: &Event) -> Result<()> {
    let Some(row) = find(connection, &event.uid)? else { return Ok(()) };
    match (event.category, event.status) {
        (Category::Act, EventStatus::Failed) => count(connection, &row, 1)?,
        (Category::Recover, _) => recoveries::count(connection, &row, 1)?,
        (Category::Verify, _) => judge(connection, &row, event.failure)?,
        _ => {}
    }
    recoveries::judge(connection, &row)
}

/// Confirms or refutes the act that a check judges. A passing check confirms the page that it saw. A failing check
/// counts against the act once, until a later capture shows that another page was still loading.
pub(super) fn judge(connection: &Connection, check: &EventRow, cause: Option<ErrorCode>) -> Result<()> {
    let parent = check.parent.as_deref().map(|uid| find(connection, uid)).transpose()?.flatten();
    let Some(act) = parent.filter(|act| !act.folded) else { return Ok(()) };
    match check.status {
        EventStatus::Ok => confirm(connection, act, check),
        EventStatus::Failed if cause == Some(ErrorCode::AssertionFailed) && !act.refuted && !act.verified => {
            let counted = is_counted(connection, &act)?;
            let refuted = EventRow { refuted: true, ..act };
            store_outcome(connection, &refuted)?;
            if counted {
                let only = EventRow { outcome: None, ..refuted };
                count(connection, &only, 1)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn confirm(connection: &Connection, act: EventRow, check: &EventRow) -> Result<()> {
    let Some(page) = &check.page else { return Ok(()) };
    if act.verified {
        return Ok(());
    }
    let uid = act.uid.clone();
    let under = last_below(connection, check)?;
    let (store, content) = (check.store.clone(), check.content.clone());
    let look = Look { store, device: act.device, seq: check.seq, page: page.id, below: under, content, at: check.at };
    let same_page = act.after == Some(page.id);
    if !same_page {
        take_outcome(connection, act, &look, true)?;
    }
    // Without a page that settled after the act, there is nothing to confirm.
    let Some(act) = find(connection, &uid)?.filter(|a| a.outcome.is_some()) else { return Ok(()) };
    let counted = is_counted(connection, &act)?;
    if counted {
        count(connection, &act, -1)?;
    }
    let confirmed = EventRow { verified: true, refuted: false, ..act };
    store_outcome(connection, &confirmed)?;
    if counted {
        count(connection, &confirmed, 1)?;
    }
    Ok(())
}

/// Returns the row id of the page under the dialog that a check saw.
fn last_below(connection: &Connection, check: &EventRow) -> Result<Option<i64>> {
    let found = connection.first(
        "SELECT below_id FROM observations WHERE device_id = :device AND origin = :store AND seq = :seq LIMIT 1",
        args! {device: check.device, store: check.store, seq: check.seq},
        |row| row.get("below_id"),
    )?;
    Ok(found.flatten())
}

/// Counts a page that appeared although no action followed the previous settled page of the device.
pub(super) fn appeared_spontaneously(connection: &Connection, look: &Look, last_act: Option<i64>) -> Result<()> {
    let store = origin_of(connection)?.unwrap_or_default();
    spontaneous(connection, look, last_act, |attempt| outcomes::add(connection, &store, attempt))
}

/// Calls `add` with an attempt to wait that led to the captured page, if no action followed the previous settled page
/// of the device and that page was a different one.
pub(super) fn spontaneous(
    connection: &Connection,
    look: &Look,
    last_act: Option<i64>,
    add: impl FnOnce(&Attempt<'_>) -> Result<()>,
) -> Result<()> {
    let sql = format!(
        "SELECT o.seq, o.observed_at, {} FROM observations o JOIN pages p ON p.id = o.page_id
         WHERE o.device_id = :device AND o.origin = :store AND o.seq < :seq AND o.settled = 1 AND o.reliable = 1 AND p.page_key <> ''
         ORDER BY o.seq DESC LIMIT 1",
        pages::COLUMNS
    );
    let before = connection.first(&sql, args! {device: look.device, store: look.store, seq: look.seq}, |row| {
        Ok((row.get::<_, i64>("seq")?, row.get::<_, i64>("observed_at")?, pages::read(row)?))
    })?;
    let Some((seq, at, Some(from))) = before else { return Ok(()) };
    let Some(to) = pages::get(connection, look.page)? else { return Ok(()) };
    // Pages without a structure cannot be distinguished reliably.
    let tellable = !from.structure.is_empty() && !to.structure.is_empty();
    if !tellable || from.is_same(&to) || last_act.is_some_and(|act| act > seq) {
        return Ok(());
    }
    let below = look.below.map(|id| pages::get(connection, id)).transpose()?.flatten();
    let action = Action::of(Verb::Wait);
    let attempt = Attempt {
        from: &from,
        action: &serde_json::to_string(&action).unwrap_or_default(),
        action_key: &target::action_key(&action),
        kind: OutcomeKind::Page,
        to: Some(&to),
        below: below.as_ref(),
        cause: None,
        times: 1,
        weight: 1.0,
        verified: 0,
        verify_op: None,
        duration_ms: (look.at - at).max(0),
        at: look.at,
    };
    add(&attempt)
}
