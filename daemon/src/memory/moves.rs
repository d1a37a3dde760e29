//! Moves: which action leads from which page to which, a projection of events and observations keyed by page structures.
//!
//! An act or recovery that was closed by a settled observation is a success that leads to the observed page; an act that
//! failed, or whose check failed, is a failure without a destination. A page that appeared although nothing had been done
//! counts as a move by waiting. Successes and failures are also kept as weights that halve every 30 days, so that recent
//! experience counts more. States are not known here: the structures are mapped to states when the state graph is read, so
//! moves need not be recounted when states change.

use afd_proto::vocabulary::{Action, Verb};
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use super::observations::Observation;
use super::{Origin, Place, derived_uid};
use crate::page::moves::Move;
use crate::page::target;
use crate::store::{Result, json, now_ms, skip_unreadable};

/// Time after which the weight of an experience is halved, milliseconds.
const HALF_LIFE_MS: f64 = 30.0 * 24.0 * 3600.0 * 1000.0;

/// A success or failure to be added to a move.
pub(super) struct Count<'a> {
    pub from: &'a Place,
    pub action: &'a str,
    pub action_key: &'a str,
    /// Where it led; `None` for a failure.
    pub to: Option<&'a Place>,
    pub duration_ms: i64,
    pub at: i64,
}

/// Returns what is left of a weight after a time in milliseconds.
fn decayed(weight: f64, since: i64) -> f64 {
    weight * (-(since.max(0) as f64) / HALF_LIFE_MS).exp2()
}

/// Reads the weights of a move's successes and failures, and the time at which they were computed.
fn weights(connection: &Connection, from: &str, action_key: &str, to: &str, below: &str) -> Result<Option<(f64, f64, i64)>> {
    Ok(connection
        .prepare_cached(
            "SELECT success_weight, failure_weight, weighted_at FROM moves
             WHERE from_key = :from_key AND action_key = :action_key AND to_key = :to_key AND below_key = :below_key",
        )?
        .query_row(named_params! {":from_key": from, ":action_key": action_key, ":to_key": to, ":below_key": below}, |row| {
            Ok((row.get("success_weight")?, row.get("failure_weight")?, row.get("weighted_at")?))
        })
        .optional()?)
}

/// Adds a success or failure to its move; does nothing when a structure is unknown.
pub(super) fn count(connection: &Connection, store: &str, c: &Count<'_>) -> Result<()> {
    let Some(from) = &c.from.structure else { return Ok(()) };
    let to = match c.to {
        Some(place) => match &place.structure {
            Some(to) => to.as_str(),
            None => return Ok(()),
        },
        None => "",
    };
    let below = c.to.and_then(|p| p.below.as_deref()).unwrap_or_default();
    let (good, bad) = (i64::from(c.to.is_some()), i64::from(c.to.is_none()));
    let known = weights(connection, from, c.action_key, to, below)?;
    let (successes, failures, weighted_at) = known.unwrap_or((0.0, 0.0, c.at));
    let at = weighted_at.max(c.at);
    // An experience that is added late, as when memories are merged, has lost weight already.
    let add = |weight: f64, one: i64| decayed(weight, at - weighted_at) + decayed(one as f64, at - c.at);
    connection
        .prepare_cached(
            "INSERT INTO moves (uid, origin, from_key, from_app, action_key, action, to_key, to_app, below_key, success_count,
                failure_count, success_weight, failure_weight, weighted_at, duration_ms, last_at, updated_at)
             VALUES (:uid, :origin, :from_key, :from_app, :action_key, :action, :to_key, :to_app, :below_key, :success_count,
             :failure_count, :success_weight, :failure_weight, :weighted_at, :duration_ms, :last_at, :updated_at)
             ON CONFLICT (from_key, action_key, to_key, below_key) DO UPDATE SET
                action = excluded.action,
                success_count = success_count + excluded.success_count,
                failure_count = failure_count + excluded.failure_count,
                success_weight = excluded.success_weight,
                failure_weight = excluded.failure_weight,
                weighted_at = excluded.weighted_at,
                duration_ms = duration_ms + excluded.duration_ms,
                last_at = max(last_at, excluded.last_at),
                updated_at = excluded.updated_at",
        )?
        .execute(named_params! {
            ":uid": derived_uid(&["move", from, c.action_key, to, below]),
            ":origin": store,
            ":from_key": from,
            ":from_app": c.from.app.as_deref().unwrap_or_default(),
            ":action_key": c.action_key,
            ":action": c.action,
            ":to_key": to,
            ":to_app": c.to.and_then(|p| p.app.as_deref()).unwrap_or_default(),
            ":below_key": below,
            ":success_count": good,
            ":failure_count": bad,
            ":success_weight": add(successes, good),
            ":failure_weight": add(failures, bad),
            ":weighted_at": at,
            ":duration_ms": if good > 0 { c.duration_ms } else { 0 },
            ":last_at": c.at,
            ":updated_at": now_ms(),
        })?;
    Ok(())
}

/// Counts a page that appeared although nothing had been done since the session's previous observation.
pub(super) fn appeared_spontaneously(connection: &Connection, origin: &Origin, observation: &Observation) -> Result<()> {
    if observation.place.structure.is_none() {
        return Ok(());
    }
    let before = connection
        .prepare_cached(
            "SELECT seq, app, structure_key, observed_at FROM observations
             WHERE session_id = :session_id AND device_id = :device_id AND seq < :seq AND settled = 1 AND reliable = 1
             AND structure_key IS NOT NULL
             ORDER BY seq DESC LIMIT 1",
        )?
        .query_row(named_params! {":session_id": origin.session, ":device_id": origin.device, ":seq": observation.seq}, |row| {
            let place = Place { app: row.get("app")?, structure: row.get("structure_key")?, ..Place::default() };
            Ok((row.get::<_, i64>("seq")?, place, row.get::<_, i64>("observed_at")?))
        })
        .optional()?;
    let Some((seq, before, at)) = before.filter(|(_, place, _)| place.structure != observation.place.structure) else { return Ok(()) };
    let acted: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM events WHERE device_id = :device AND seq > :after AND seq < :before AND category <> 'verify'
                AND sent = 1)
                 OR EXISTS (SELECT 1 FROM intents WHERE device_id = :device AND seq > :after AND seq < :before) AS found",
        )?
        .query_row(named_params! {":device": origin.device, ":after": seq, ":before": observation.seq}, |row| row.get("found"))?;
    if acted {
        return Ok(());
    }
    let action = Action::of(Verb::Wait);
    let text = serde_json::to_string(&action).unwrap_or_default();
    let waited = observation.at.saturating_sub(at);
    let (from, to) = (&before, Some(&observation.place));
    count(
        connection,
        &origin.store,
        &Count { from, action: &text, action_key: &target::action_key(&action), to, duration_ms: waited, at: observation.at },
    )
}

/// Recounts all pages that appeared spontaneously, from the observations.
pub(super) fn recount_spontaneous(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare(
        "SELECT origin, session_id, device_id, uid, seq, app, structure_key, below_key, observed_at FROM observations
         WHERE settled = 1 AND reliable = 1 AND structure_key IS NOT NULL AND deleted_at IS NULL ORDER BY origin, seq, id",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let origin =
            Origin { store: row.get("origin")?, session: row.get("session_id")?, device: row.get("device_id")?, trace: String::new() };
        let place = Place { app: row.get("app")?, structure: row.get("structure_key")?, below: row.get("below_key")?, ..Place::default() };
        let observation = Observation::at_place(row.get("uid")?, row.get("seq")?, place, row.get("observed_at")?);
        appeared_spontaneously(connection, &origin, &observation)?;
    }
    Ok(())
}

/// Returns the moves that start or end in an app, with their weights at the time `now`, in the order of their creation.
pub fn of_app(connection: &Connection, app: &str, now: i64) -> Result<Vec<Move>> {
    let read = |row: &Row<'_>| -> rusqlite::Result<Move> {
        let age = now - row.get::<_, i64>("weighted_at")?;
        let some = |text: String| (!text.is_empty()).then_some(text);
        Ok(Move {
            from: row.get("from_key")?,
            action: json(row, "action")?,
            action_key: row.get("action_key")?,
            to: some(row.get("to_key")?),
            below: some(row.get("below_key")?),
            successes: row.get("success_count")?,
            failures: row.get("failure_count")?,
            success_weight: decayed(row.get("success_weight")?, age),
            failure_weight: decayed(row.get("failure_weight")?, age),
            duration_ms: row.get("duration_ms")?,
            last_at: row.get("last_at")?,
        })
    };
    let mut statement = connection.prepare_cached("SELECT * FROM moves WHERE from_app = :app OR to_app = :app ORDER BY id")?;
    let moves = statement.query_map(named_params! {":app": app}, read)?.filter_map(|row| skip_unreadable(row).transpose());
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
