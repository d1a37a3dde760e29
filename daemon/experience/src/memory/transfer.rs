//! What was observed, done and noted, as records that another copy of the memory can take in.

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

/// The kind of records that say how far a store is folded.
pub const FOLD: &str = "fold";

/// The kinds in the order in which they are written: what a record refers to comes first.
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

/// What is known of baselines during an import.
#[derive(Default)]
pub struct Folds {
    /// How far the events and observations of each store are folded here, and whether the baseline is the one of the
    /// file.
    known: HashMap<String, (Folded, bool)>,
    /// The baseline that is being replaced.
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
/// Maximum of a sequence number or a duration: far more than there will be, and sums of them stay numbers.
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

/// Checks what the types of columns do not: lengths of texts, ranges of numbers, words, and actions.
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

/// Takes in a record, or does a piece of the work that comes before it.
///
/// # Errors
/// If it does not fit.
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
    (kind, record): (&Kind, Record),
    piece: &Piece,
) -> std::result::Result<Loaded, LoadError> {
    let origin = text(&record, "origin").to_owned();
    let theirs = Folded { events: number(&record, "eventsUpto"), observations: number(&record, "observationsUpto") };
    let ours = baseline::upto(connection, &origin)?;
    if loader.chose(&origin) {
        // It was taken over before a stop, and what belongs to it may be missing.
        folds.known.insert(origin, (theirs, true));
        return Ok(Loaded::Present);
    }
    let covers_more = theirs != ours && theirs.events >= ours.events && theirs.observations >= ours.observations;
    // Nobody knows more about what this store recorded than this store.
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
fn load_note(
    connection: &Connection,
    loader: &mut Loader,
    kind: &Kind,
    mut record: Record,
) -> std::result::Result<Loaded, LoadError> {
    let uid = text(&record, "uid").to_owned();
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
    if done != Loaded::Present {
        notes::index_again(connection, &uid)?;
    }
    Ok(done)
}
