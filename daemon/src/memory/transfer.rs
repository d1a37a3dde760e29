//! What was observed, done and noted, as records that another copy of the memory can take in.

use std::collections::HashMap;

use rusqlite::{Connection, named_params};
use serde_json::Value;

use super::baseline::{self, Folded};
use super::notes;
use crate::store::Result;
use crate::store::exchange::{Kind, LoadError, Loaded, Loader, Record};

const fn kind(name: &'static str, table: &'static str, natural: &'static [&'static str]) -> Kind {
    Kind { name, table, skipped: &[], natural }
}

/// The kinds in the order in which they are written: what a record refers to comes first.
pub const KINDS: [Kind; 9] = [
    kind("page", "pages", &["structure_key", "page_key", "fingerprint", "activity", "app"]),
    kind("fold", "folds", &[]),
    kind("baselineOutcome", "baseline_outcomes", &[]),
    kind("baselineRecovery", "baseline_recoveries", &[]),
    kind("observation", "observations", &[]),
    kind("event", "events", &[]),
    kind("importedTransition", "imported_transitions", &[]),
    kind("importedRecovery", "imported_recoveries", &[]),
    kind("note", "notes", &[]),
];

/// How far the events and observations of each store are folded here, and whether the baseline is the one of the file.
#[derive(Default)]
pub struct Folds(HashMap<String, (Folded, bool)>);

impl Folds {
    fn of(&mut self, connection: &Connection, origin: &str) -> Result<(Folded, bool)> {
        if let Some(known) = self.0.get(origin) {
            return Ok(*known);
        }
        let known = (baseline::upto(connection, origin)?, false);
        self.0.insert(origin.to_owned(), known);
        Ok(known)
    }
}

fn text<'a>(record: &'a Record, field: &str) -> &'a str {
    record.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn number(record: &Record, field: &str) -> i64 {
    record.get(field).and_then(Value::as_i64).unwrap_or_default()
}

/// Takes in a record.
///
/// # Errors
/// If it does not fit.
pub fn load(
    connection: &Connection,
    loader: &mut Loader,
    folds: &mut Folds,
    kind: &Kind,
    record: Record,
) -> std::result::Result<Loaded, LoadError> {
    match kind.name {
        "fold" => load_fold(connection, loader, folds, kind, record),
        // A baseline comes whole or not at all.
        "baselineOutcome" | "baselineRecovery" => match folds.of(connection, text(&record, "origin"))? {
            (_, true) => loader.load(connection, kind, record),
            (_, false) => Ok(Loaded::Present),
        },
        "observation" | "event" => load_done(connection, loader, folds, kind, record),
        "note" => load_note(connection, loader, kind, record),
        _ => loader.load(connection, kind, record),
    }
}

/// Takes the baseline of a store from the file if it covers more than the one that is here.
fn load_fold(
    connection: &Connection,
    loader: &mut Loader,
    folds: &mut Folds,
    kind: &Kind,
    record: Record,
) -> std::result::Result<Loaded, LoadError> {
    let origin = text(&record, "origin").to_owned();
    let theirs = Folded { events: number(&record, "eventsUpto"), observations: number(&record, "observationsUpto") };
    let ours = baseline::upto(connection, &origin)?;
    if (theirs.events, theirs.observations) <= (ours.events, ours.observations) {
        folds.0.insert(origin, (ours, false));
        return Ok(Loaded::Present);
    }
    baseline::replace(connection, &origin, theirs)?;
    folds.0.insert(origin, (theirs, true));
    loader.load(connection, kind, record)
}

/// Takes in an event or observation, unless the baseline has it already.
fn load_done(
    connection: &Connection,
    loader: &mut Loader,
    folds: &mut Folds,
    kind: &Kind,
    mut record: Record,
) -> std::result::Result<Loaded, LoadError> {
    let (folded, taken) = folds.of(connection, text(&record, "origin"))?;
    let upto = if kind.name == "event" { folded.events } else { folded.observations };
    let is_folded = number(&record, "folded") == 1;
    if number(&record, "seq") <= upto && !(taken && is_folded) {
        return Ok(Loaded::Present);
    }
    match loader.load(connection, kind, record.clone()) {
        // The same key was used in both copies.
        Err(LoadError::Taken(_)) if record.remove("requestKey").is_some() => loader.load(connection, kind, record),
        done => done,
    }
}

/// Takes in a note, with its search entry. One whose place in its chain is taken stands at the end.
fn load_note(connection: &Connection, loader: &mut Loader, kind: &Kind, mut record: Record) -> std::result::Result<Loaded, LoadError> {
    let uid = text(&record, "uid").to_owned();
    let done = match loader.load(connection, kind, record.clone()) {
        Err(LoadError::Taken(_)) => {
            let last: i64 = connection
                .prepare_cached(
                    "SELECT coalesce(max(position), 0) AS last FROM notes WHERE app = :app AND topic = :topic AND origin = :origin",
                )?
                .query_row(
                    named_params! {":app": text(&record, "app"), ":topic": text(&record, "topic"), ":origin": text(&record, "origin")},
                    |row| row.get("last"),
                )?;
            record.insert("position".to_owned(), Value::from(last + 1));
            loader.load(connection, kind, record)?
        }
        done => done?,
    };
    if done != Loaded::Present {
        notes::index_again(connection, &uid)?;
    }
    Ok(done)
}
