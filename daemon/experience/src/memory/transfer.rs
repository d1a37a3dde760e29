//! Records of pages, baselines, observations, events, imported counts and notes, which another copy of the memory can
//! import.

use std::collections::HashMap;

use afd_proto::Word as _;
use afd_proto::vocabulary::{Action, ObservationSource};
use rusqlite::Connection;
use serde_json::Value;

use super::baseline::{self, Clearing, Folded};
use super::notes;
use afd_store::exchange::{Kind, Limits, LoadError, Loaded, Loader, MAX_FIGURE, Record, times};
use afd_store::{Piece, Result, Sql as _, args, origin_of};

const fn kind(name: &'static str, table: &'static str, natural: &'static [&'static str]) -> Kind {
    Kind { name, table, skipped: &[], natural }
}

/// Name of the record kind that contains the sequence numbers up to which a store's rows are folded.
pub const FOLD: &str = "fold";

/// The record kinds, in the order in which they are written. A record follows the records to which it refers.
pub const KINDS: [Kind; 9] = [
    kind("page", "pages", &["structure_key", "page_key", "fingerprint", "activity", "app"]),
    kind(FOLD, "folds", &[]),
    kind("baselineOutcome", "baseline_outcomes", &[]),
    kind("baselineRecovery", "baseline_recoveries", &[]),
    kind("observation", "observations", &[]),
    kind("event", "events", &[]),
    kind("importedTransition", "imported_transitions", &[]),
    kind("importedRecovery", "imported_recoveries", &[]),
    kind("note", "notes", &[]),
];

/// The state of the baselines during an import.
#[derive(Default)]
pub struct Folds {
    /// For each store, the sequence numbers up to which its events and observations are folded in this memory, and
    /// whether its baseline is imported from the file.
    known: HashMap<String, (Folded, bool)>,
    /// The preparation for a baseline from the file, while that preparation is in progress.
    clearing: Option<Clearing>,
}

impl Folds {
    fn of(&mut self, connection: &Connection, origin: &str) -> Result<(Folded, bool)> {
        if let Some(known) = self.known.get(origin) {
            return Ok(*known);
        }
        let known = (baseline::upto(connection, origin)?, false);
        self.known.insert(origin.to_owned(), known);
        Ok(known)
    }
}

fn text<'a>(record: &'a Record, field: &str) -> &'a str {
    record.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn number(record: &Record, field: &str) -> i64 {
    record.get(field).and_then(Value::as_i64).unwrap_or_default()
}

const LIMITS: Limits = Limits { longest, range };
/// Maximum value of a sequence number or a duration (milliseconds). Real values are far lower, and sums of many such
/// values do not overflow.
const MAX_NUMBER: i64 = 1 << 50;

fn longest(kind: &str, field: &str) -> usize {
    match (kind, field) {
        ("note", "content") => notes::MAX_CONTENT,
        ("note", "topic") => notes::MAX_TOPIC,
        ("event", "action" | "result" | "error" | "evidence") => 1 << 20,
        (_, "action") => 1 << 20,
        (_, "app") => 255,
        (_, "uid" | "origin") => 64,
        _ => 10_000,
    }
}

fn range(_: &str, field: &str) -> (i64, i64) {
    match field {
        field if field == "at" || field.ends_with("At") => times(),
        "seq" | "eventsUpto" | "observationsUpto" | "durationMs" | "arrivedMs" => (0, MAX_NUMBER),
        _ => (0, MAX_FIGURE),
    }
}

/// Checks what the column types do not check: string lengths, number ranges, enum words, and actions.
fn check(kind: &Kind, record: &Record) -> std::result::Result<(), LoadError> {
    let refused = |field: &str, expected: String, got: &Value| {
        Err(LoadError::Invalid(format!("{field}: expected {expected}, got {got}")))
    };
    LIMITS.check(kind.name, record).map_err(LoadError::Invalid)?;
    let content = record.get("content").filter(|_| kind.name == "note").and_then(Value::as_str).map_or(0, str::len);
    if content > notes::MAX_CONTENT {
        return Err(LoadError::Invalid(format!(
            "content: expected at most {} bytes, got {content}",
            notes::MAX_CONTENT
        )));
    }
    if let Some(action) = record
        .get("action")
        .filter(|action| serde_json::from_str::<Action>(action.as_str().unwrap_or_default()).is_err())
    {
        return refused("action", "an action as JSON".to_owned(), action);
    }
    match record.get("source").filter(|_| kind.name == "observation") {
        Some(source) if ObservationSource::of(source.as_str().unwrap_or_default()).is_none() => {
            refused("source", "a kind of observation".to_owned(), source)
        }
        _ => Ok(()),
    }
}

/// Imports a record, or does a piece of the work that must precede it.
///
/// # Errors
/// Returns an error if the record is invalid, conflicts with another row or refers to a missing one, or if the database
/// operation fails.
pub fn load(
    connection: &Connection,
    loader: &mut Loader,
    folds: &mut Folds,
    (kind, record): (&Kind, Record),
    piece: &Piece,
) -> std::result::Result<Loaded, LoadError> {
    check(kind, &record)?;
    match kind.name {
        FOLD => load_fold(connection, loader, folds, (kind, record), piece),
        // A baseline is imported completely or not at all.
        "baselineOutcome" | "baselineRecovery" => match folds.of(connection, text(&record, "origin"))? {
            (_, true) => loader.load(connection, kind, record),
            (_, false) => Ok(Loaded::Present),
        },
        "observation" | "event" => load_done(connection, loader, folds, kind, record),
        "note" => load_note(connection, loader, kind, record),
        _ => loader.load(connection, kind, record),
    }
}

/// Imports the baseline of a store if it covers more than the stored one.
fn load_fold(
    connection: &Connection,
    loader: &mut Loader,
    folds: &mut Folds,
    (kind, record): (&Kind, Record),
    piece: &Piece,
) -> std::result::Result<Loaded, LoadError> {
    let origin = text(&record, "origin").to_owned();
    let theirs = Folded { events: number(&record, "eventsUpto"), observations: number(&record, "observationsUpto") };
    let ours = baseline::upto(connection, &origin)?;
    if loader.chose(&origin) {
        // An earlier run of this import chose this baseline. Some of its rows may still be missing.
        folds.known.insert(origin, (theirs, true));
        return Ok(Loaded::Present);
    }
    let covers_more = theirs != ours && theirs.events >= ours.events && theirs.observations >= ours.observations;
    // The baseline that this store made itself is never replaced.
    if !covers_more || origin_of(connection)?.as_ref() == Some(&origin) {
        folds.known.insert(origin, (ours, false));
        return Ok(Loaded::Present);
    }
    let mut clearing = folds
        .clearing
        .take()
        .filter(|begun| begun.is_for(&origin, theirs))
        .unwrap_or_else(|| Clearing::begin(&origin, theirs));
    if !clearing.some(connection, piece)? {
        folds.clearing = Some(clearing);
        return Ok(Loaded::Unfinished);
    }
    loader.choose(connection, &origin)?;
    folds.known.insert(origin, (theirs, true));
    loader.load(connection, kind, record).map_err(|error| match error {
        LoadError::Taken(what) => LoadError::Invalid(what),
        other => other,
    })
}

/// Imports an event or observation, unless the baseline already covers it.
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
        // Both copies used the same request key.
        Err(LoadError::Taken(_)) if record.remove("requestKey").is_some() => loader.load(connection, kind, record),
        done => done,
    }
}

/// Imports a note with its search entry. If the note's position in its chain is taken, it gets the position after the
/// last note.
fn load_note(
    connection: &Connection,
    loader: &mut Loader,
    kind: &Kind,
    mut record: Record,
) -> std::result::Result<Loaded, LoadError> {
    let done = match loader.load(connection, kind, record.clone()) {
        Err(LoadError::Taken(_)) => {
            let last: i64 = connection.one(
                "SELECT coalesce(max(position), 0) AS last FROM notes WHERE app = :app AND topic = :topic AND origin = :origin",
                args! {
                    app: text(&record, "app"), topic: text(&record, "topic"), origin: text(&record, "origin")
                },
                |row| row.get("last"),
            )?;
            record.insert("position".to_owned(), Value::from(last + 1));
            loader.load(connection, kind, record)?
        }
        done => done?,
    };
    Ok(done)
}
