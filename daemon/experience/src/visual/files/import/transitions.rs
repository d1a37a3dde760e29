//! Import of transitions, whose rows have one of two formats.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::super::OURS;
use super::Step;
use super::members::{fraction, number, rest, text, time};
use crate::visual::components::next_position;
use afd_store::{Result, Sql as _, args, new_uid};

impl Step<'_> {
    /// Imports transitions in either row format, row by row.
    pub(super) fn transitions(&mut self, mut states: HashMap<String, i64>) -> Result<()> {
        let rows = std::mem::take(&mut self.from.transitions).0;
        self.report.transitions.found = rows.len() as u64;
        for (key, row) in rows {
            let Value::Object(row) = row else {
                self.report.transitions.skipped += 1;
                self.skip("transitions.json", &key, "skipped: not a JSON object");
                continue;
            };
            match edge_of(row) {
                Some(edge) => {
                    let added = self.transition(edge, &mut states)?;
                    let tally = &mut self.report.transitions;
                    *(if added { &mut tally.added } else { &mut tally.present }) += 1;
                }
                None => {
                    self.report.transitions.skipped += 1;
                    self.skip("transitions.json", &key, "skipped: it has no start or no target state");
                }
            }
        }
        Ok(())
    }

    fn transition(&mut self, edge: Edge, states: &mut HashMap<String, i64>) -> Result<bool> {
        let (from, to) = (self.endpoint(&edge.from, states)?, self.endpoint(&edge.to, states)?);
        let changed = self
            .connection
            .prepare_cached(
                "INSERT INTO imported_edges (uid, origin, app_id, position, from_state, action, to_state, count, success_rate, last_used,
                    extra, updated_at)
                 VALUES (:uid, :origin, :app_id, :position, :from_state, :action, :to_state, :count, :success_rate, :last_used, :extra,
                 :updated_at) ON CONFLICT (from_state, action, to_state) DO NOTHING",
            )?
            .execute(args! {
                uid: new_uid(), origin: self.origin, app_id: self.app,
                position: next_position(self.connection, "imported_edges", self.app)?, from_state: from,
                action: edge.action, to_state: to, count: edge.count, success_rate: edge.success_rate,
                last_used: edge.last_used, extra: rest(edge.rest), updated_at: self.at
            })?;
        Ok(changed > 0)
    }

    /// Returns the row id of a state to which a transition refers. If no file describes the state, inserts it with only
    /// its code.
    fn endpoint(&mut self, code: &str, states: &mut HashMap<String, i64>) -> Result<i64> {
        if let Some(state) = states.get(code) {
            return Ok(*state);
        }
        self.connection.run(
            "INSERT INTO states (uid, origin, app_id, position, code, name, kind, place, first_seen, last_seen, extra, updated_at)
                 VALUES (:uid, :origin, :app, :position, :code, :code, 'opaque', '', :at, :at, '{\"_named_only\":true}', :at)",
            args! {
                uid: new_uid(), origin: self.origin, app: self.app,
                position: next_position(self.connection, "states", self.app)?, code, at: self.at
            },
        )?;
        let state = self.connection.last_insert_rowid();
        states.insert(code.to_owned(), state);
        Ok(state)
    }
}

/// A transition, parsed from either row format.
struct Edge {
    from: String,
    action: String,
    to: String,
    count: i64,
    success_rate: f64,
    last_used: Option<i64>,
    rest: Map<String, Value>,
}

/// Parses a row: `from_state, action, to_state, count`, or the later `from, action, target, to, use_count`.
fn edge_of(mut row: Map<String, Value>) -> Option<Edge> {
    row.remove(OURS);
    let from = text(&mut row, "from_state").or_else(|| text(&mut row, "from"))?;
    let to = text(&mut row, "to_state").or_else(|| text(&mut row, "to"))?;
    let verb = text(&mut row, "action").unwrap_or_default();
    let action = match text(&mut row, "target") {
        Some(target) if !target.is_empty() => format!("{verb}:{target}"),
        _ => verb,
    };
    let count = number(&mut row, "count").or_else(|| number(&mut row, "use_count")).unwrap_or(1);
    let success_rate = fraction(&mut row, "success_rate");
    row.remove("success_rate");
    let last_used = time(&mut row, "last_used");
    Some(Edge { from, action, to, count, success_rate: success_rate.unwrap_or(1.0), last_used, rest: row })
}
