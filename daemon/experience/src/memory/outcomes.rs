//! Outcome counts: one row in `transitions` for each action on a page, and one row in `outcomes` for each outcome of
//! that action.
//!
//! Idea: an outcome is another page, a change of the same page, no change, a failure with its cause, or a check that
//! refuted the apparent effect of the action. Rows are filed under page structures and contain no states. Structures
//! are mapped to states when the rows are read, so nothing is recounted when states change.
//!
//! Invariant: all rows are derived from events, observations, baselines and imported rows (see [`super::projection`]
//! and [`super::rebuild`]). An attempt with negative `times` takes back an earlier one, and rows without counts are
//! deleted.
//!
//! Each outcome also has a weight: its count, in which older attempts count less. The weight halves every 30 days
//! ([`HALF_LIFE_MS`]). It is stored as of `weighted_at`, and decayed when it is read or changed.

use afd_proto::vocabulary::Action;
use rusqlite::{Connection, Row};

use super::derived_uid;
use super::pages::{self, Page};
use afd_proto::memory::OutcomeKind as Kind;
use afd_screen::page::moves::Move;
use afd_store::{Result, Sql as _, args, json, now_ms, skip_unreadable, word};

/// Time in which the weight of an attempt halves, in milliseconds.
const HALF_LIFE_MS: f64 = 30.0 * 24.0 * 3600.0 * 1000.0;

/// Attempts at an action that had the same outcome. They are added to or subtracted from the counts of the transition
/// and the outcome.
pub(super) struct Attempt<'a> {
    /// Page on which the action was performed.
    pub from: &'a Page,
    /// The action as JSON.
    pub action: &'a str,
    /// Key of the action.
    pub action_key: &'a str,
    /// Kind of outcome.
    pub kind: Kind,
    /// Page that the action led to.
    pub to: Option<&'a Page>,
    /// Page under the dialog, if the action led to a dialog.
    pub below: Option<&'a Page>,
    /// Failure cause, if the outcome is a failure.
    pub cause: Option<&'a str>,
    /// Number of attempts. A negative number takes attempts back.
    pub times: i64,
    /// Weight of these attempts at the time `at`.
    pub weight: f64,
    /// Number of these attempts that a check confirmed.
    pub verified: i64,
    /// Operation of the check that confirmed these attempts.
    pub verify_op: Option<&'a str>,
    /// Total time of all attempts until the page had settled, in milliseconds.
    pub duration_ms: i64,
    /// Time of the last attempt, in Unix milliseconds.
    pub at: i64,
}

/// Returns a weight after it has decayed for `since` milliseconds.
pub(crate) fn decayed(weight: f64, since: i64) -> f64 {
    weight * (-(since.max(0) as f64) / HALF_LIFE_MS).exp2()
}

/// Adds attempts to the counts. Does nothing if the page on which they were made is unknown.
pub(super) fn add(connection: &Connection, store: &str, attempt: &Attempt<'_>) -> Result<()> {
    let Some(from_key) = attempt.from.filed_under() else { return Ok(()) };
    let id = add_to_transition(connection, store, &from_key, attempt)?;
    add_to_outcome(connection, store, id, &from_key, attempt)?;
    if attempt.times < 0 {
        remove_empty(connection, id)?;
    }
    Ok(())
}

fn add_to_transition(connection: &Connection, store: &str, from_key: &str, a: &Attempt<'_>) -> Result<i64> {
    let count = |kinds: &[Kind]| if kinds.contains(&a.kind) { a.times } else { 0 };
    let succeeded = count(&[Kind::Page, Kind::Same]);
    let sql = "INSERT INTO transitions (uid, origin, from_key, page_id, app, activity, action_key, action, success_count, nothing_count,
                verified_count, failure_count, failure_cause, verify_op, last_success_at, last_at, updated_at)
             VALUES (:uid, :origin, :from_key, :page_id, :app, :activity, :action_key, :action, :success, :nothing, :verified, :failure,
                :cause, :verify_op, :last_success_at, :at, :now)
             ON CONFLICT (from_key, action_key) DO UPDATE SET
                action = CASE WHEN excluded.success_count > 0 AND excluded.last_at >= last_at THEN excluded.action ELSE action END,
                success_count = max(success_count + excluded.success_count, 0),
                nothing_count = max(nothing_count + excluded.nothing_count, 0),
                verified_count = max(verified_count + excluded.verified_count, 0),
                failure_count = max(failure_count + excluded.failure_count, 0),
                failure_cause = CASE WHEN excluded.last_at >= last_at THEN coalesce(excluded.failure_cause, failure_cause)
                    ELSE coalesce(failure_cause, excluded.failure_cause) END,
                verify_op = CASE WHEN excluded.last_at >= last_at THEN coalesce(excluded.verify_op, verify_op)
                    ELSE coalesce(verify_op, excluded.verify_op) END,
                last_success_at = CASE WHEN success_count + excluded.success_count <= 0 THEN NULL
                    ELSE nullif(max(coalesce(last_success_at, 0), coalesce(excluded.last_success_at, 0)), 0) END,
                last_at = max(last_at, excluded.last_at),
                updated_at = excluded.updated_at
             RETURNING id";
    connection.one(
        sql,
        args! {
            uid: derived_uid(&["transition", from_key, a.action_key]), origin: store, from_key, page_id: a.from.id,
            app: a.from.app, activity: a.from.activity, action_key: a.action_key, action: a.action,
            success: succeeded, nothing: count(&[Kind::Nothing]), verified: a.verified,
            failure: count(&[Kind::Failed, Kind::Refuted]), cause: a.cause.filter(|_| a.times > 0),
            verify_op: a.verify_op.filter(|_| a.verified > 0),
            last_success_at: Some(a.at).filter(|at| succeeded > 0 && *at > 0), at: a.at, now: now_ms()
        },
        |row| row.get("id"),
    )
}

fn add_to_outcome(
    connection: &Connection,
    store: &str,
    transition: i64,
    from_key: &str,
    a: &Attempt<'_>,
) -> Result<()> {
    let to = a.to.filter(|_| a.kind == Kind::Page);
    let to_key = to.and_then(Page::filed_under).or(a.cause.map(str::to_owned)).unwrap_or_default();
    let below_key = a.below.filter(|_| a.kind == Kind::Page).and_then(Page::filed_under).unwrap_or_default();
    let known = connection.first(
        "SELECT weight, weighted_at FROM outcomes
             WHERE transition_id = :transition AND kind = :kind AND to_key = :to_key AND below_key = :below_key",
        args! {transition, kind: a.kind.word(), to_key, below_key},
        |row| Ok((row.get::<_, f64>("weight")?, row.get::<_, i64>("weighted_at")?)),
    )?;
    let (weight, weighted_at) = known.unwrap_or((0.0, a.at));
    let now = weighted_at.max(a.at);
    // Attempts that are added late, for example when memories are merged, have already lost weight.
    let weight = decayed(weight, now - weighted_at) + decayed(a.weight, now - a.at);
    connection.run(
        "INSERT INTO outcomes (uid, origin, transition_id, kind, to_key, below_key, page_id, count, verified_count, weight,
                weighted_at, duration_ms, last_at, updated_at)
             VALUES (:uid, :origin, :transition, :kind, :to_key, :below_key, :page_id, :count, :verified, :weight, :weighted_at,
                :duration_ms, :at, :now)
             ON CONFLICT (transition_id, kind, to_key, below_key) DO UPDATE SET
                count = count + excluded.count,
                verified_count = verified_count + excluded.verified_count,
                weight = excluded.weight,
                weighted_at = excluded.weighted_at,
                duration_ms = duration_ms + excluded.duration_ms,
                last_at = max(last_at, excluded.last_at),
                updated_at = excluded.updated_at",
        args! {
            uid: derived_uid(&["outcome", from_key, a.action_key, a.kind.word(), &to_key, &below_key]),
            origin: store, transition, kind: a.kind.word(), to_key, below_key, page_id: to.map(|p| p.id),
            count: a.times, verified: a.verified, weight: weight.max(0.0), weighted_at: now,
            duration_ms: a.duration_ms, at: a.at, now: now_ms()
        },
    )?;
    Ok(())
}

/// Deletes a transition's outcomes that have no counts left, and the transition itself if it then has no outcomes.
fn remove_empty(connection: &Connection, transition: i64) -> Result<()> {
    connection.run(
        "DELETE FROM outcomes WHERE transition_id = :transition AND count <= 0 AND verified_count <= 0",
        args! {transition},
    )?;
    connection.run(
        "DELETE FROM transitions WHERE id = :transition AND NOT EXISTS (SELECT 1 FROM outcomes WHERE transition_id = :transition)",
        args! {transition},
    )?;
    Ok(())
}

/// An outcome of a transition, with its counts.
#[derive(Debug, Clone)]
pub struct Counted {
    /// Kind of outcome.
    pub kind: Kind,
    /// Page that the action led to.
    pub page: Option<Page>,
    /// Structure key of the page under the dialog, if the action led to a dialog.
    pub below: Option<String>,
    /// Failure cause, if the outcome is a failure.
    pub cause: Option<String>,
    /// Number of attempts with this outcome.
    pub count: i64,
    /// Number of attempts in which a check confirmed this outcome.
    pub verified: i64,
    /// The count, with each attempt weighted by its age.
    pub weight: f64,
    /// Mean time until the page had settled, in milliseconds.
    pub mean_ms: Option<i64>,
    /// Time of the last attempt with this outcome, in Unix milliseconds.
    pub last_at: i64,
}

/// Returns the outcomes of a transition, most frequent first, with their weights at the time `now` (Unix milliseconds).
pub fn of_transition(connection: &Connection, transition: i64, now: i64) -> Result<Vec<Counted>> {
    let sql = format!(
        "SELECT o.kind, o.to_key, o.below_key, o.count, o.verified_count, o.weight, o.weighted_at, o.duration_ms, o.last_at, {}
         FROM outcomes o LEFT JOIN pages p ON p.id = o.page_id WHERE o.transition_id = :transition
         ORDER BY o.count DESC, o.last_at DESC, o.id",
        pages::COLUMNS
    );
    let read = |row: &Row<'_>| -> rusqlite::Result<Counted> {
        let (kind, count, duration): (Kind, i64, i64) =
            (word(row, "kind")?, row.get("count")?, row.get("duration_ms")?);
        Ok(Counted {
            kind,
            page: pages::read(row)?,
            below: Some(row.get::<_, String>("below_key")?).filter(|key| !key.is_empty()),
            cause: if matches!(kind, Kind::Failed | Kind::Refuted) { Some(row.get("to_key")?) } else { None },
            count,
            verified: row.get("verified_count")?,
            weight: decayed(row.get("weight")?, now - row.get::<_, i64>("weighted_at")?),
            mean_ms: (count > 0 && duration > 0).then(|| duration / count),
            last_at: row.get("last_at")?,
        })
    };
    connection.all(&sql, args! {transition}, read)
}

/// Returns the outcomes of all actions that start or end in an app, in the order in which the outcomes were first
/// counted. The state graph is built from them. Weights are those at the time `now` (Unix milliseconds).
pub fn of_app(connection: &Connection, app: &str, now: i64) -> Result<Vec<Move>> {
    let read = |row: &Row<'_>| -> rusqlite::Result<Move> {
        let some = |text: String| (!text.is_empty()).then_some(text);
        let kind: Kind = word(row, "kind")?;
        let from: String = row.get("from_key")?;
        let to = match kind {
            Kind::Page => some(row.get("to_key")?),
            Kind::Same => Some(from.clone()),
            Kind::Nothing | Kind::Failed | Kind::Refuted => None,
        };
        Ok(Move {
            from,
            action: json::<Action>(row, "action")?,
            action_key: row.get("action_key")?,
            kind,
            to,
            below: some(row.get("below_key")?),
            count: row.get("count")?,
            weight: decayed(row.get("weight")?, now - row.get::<_, i64>("weighted_at")?),
            duration_ms: row.get("duration_ms")?,
            last_at: row.get("last_at")?,
        })
    };
    let mut statement = connection.prepare_cached(
        "SELECT o.id, t.from_key, t.action, t.action_key, o.kind, o.to_key, o.below_key, o.count, o.weight, o.weighted_at, o.duration_ms,
            o.last_at FROM transitions t JOIN outcomes o ON o.transition_id = t.id WHERE t.app = :app
         UNION SELECT o.id, t.from_key, t.action, t.action_key, o.kind, o.to_key, o.below_key, o.count, o.weight, o.weighted_at,
            o.duration_ms, o.last_at FROM pages p JOIN outcomes o ON o.page_id = p.id JOIN transitions t ON t.id = o.transition_id
            WHERE p.app = :app
         ORDER BY 1",
    )?;
    let moves = statement.query_map(args! {app}, read)?.filter_map(|row| skip_unreadable(row).transpose());
    Ok(moves.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_halves_with_every_half_life() {
        let day = 24 * 3600 * 1000;
        assert!((decayed(8.0, 30 * day) - 4.0).abs() < 1e-9);
        assert!((decayed(8.0, 90 * day) - 1.0).abs() < 1e-9);
        assert_eq!(decayed(8.0, -day), 8.0);
    }
}
