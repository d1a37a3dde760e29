//! Records of the visual memory, which another copy of the memory can import. They contain no pictures.

use rusqlite::Connection;
use serde_json::Value;

use afd_screen::page::site;
use afd_store::exchange::{Kind, Limits, LoadError, Loaded, Loader, MAX_FIGURE, Record, dump_kind, times};
use afd_store::{Result, Sql as _, args};

const fn kind(name: &'static str, table: &'static str, natural: &'static [&'static str]) -> Kind {
    Kind { name, table, skipped: &[], natural }
}

/// The record kinds, in the order in which they are written. A record follows the records to which it refers.
pub const KINDS: [Kind; 6] = [
    kind("app", "apps", &["app", "site"]),
    kind("component", "components", &["app_id", "key"]),
    kind("state", "states", &[]),
    kind("stateComponent", "state_components", &[]),
    kind("stateVariant", "state_variants", &[]),
    kind("importedEdge", "imported_edges", &["from_state", "action", "to_state"]),
];

const LIMITS: Limits = Limits { longest, range };

fn longest(kind: &str, field: &str) -> usize {
    match (kind, field) {
        (_, "uid" | "origin") => 64,
        (_, "app" | "site") => 255,
        ("state", "visibleTexts") | ("stateVariant", "features") | (_, "extra" | "action" | "crop") => 1 << 20,
        _ => 10_000,
    }
}

fn range(_: &str, field: &str) -> (i64, i64) {
    match field {
        // Parts of pages may be outside the screen.
        field if field.starts_with("bounds") => (-MAX_FIGURE, MAX_FIGURE),
        "firstSeen" | "lastSeen" | "baseLastSeen" | "looseSince" | "lastUsed" => times(),
        field if field.ends_with("At") => times(),
        _ => (0, MAX_FIGURE),
    }
}

/// Name of the field that contains the structures by which a state is recognised.
const VARIANTS: &str = "variants";

/// Calls `each` with the records of a kind.
///
/// # Errors
/// Returns an error if the database cannot be read.
pub fn dump(connection: &Connection, kind: &Kind, mut each: impl FnMut(Record)) -> Result<()> {
    if kind.name != "state" {
        return dump_kind(connection, kind, each);
    }
    let mut variants = connection.prepare(
        "SELECT v.key FROM state_variants v JOIN states s ON s.id = v.state_id WHERE s.uid = :uid ORDER BY v.key",
    )?;
    let mut failure = None;
    dump_kind(connection, kind, |mut record| {
        let uid = record.get("uid").and_then(Value::as_str).unwrap_or_default();
        let keys = variants.query_map(args! {uid}, |row| row.get::<_, String>("key"));
        match keys.and_then(Iterator::collect::<rusqlite::Result<Vec<String>>>) {
            Ok(keys) => drop(record.insert(VARIANTS.to_owned(), Value::from(keys))),
            Err(error) => failure = Some(error),
        }
        each(record);
    })?;
    failure.map_or(Ok(()), |error| Err(error.into()))
}

/// Imports a record. A state that shares a structure with a stored state becomes that state.
///
/// # Errors
/// Returns an error if the record is invalid, conflicts with another row or refers to a missing one, or if the database
/// operation fails.
pub fn load(
    connection: &Connection,
    loader: &mut Loader,
    kind: &Kind,
    mut record: Record,
) -> std::result::Result<Loaded, LoadError> {
    LIMITS.check(kind.name, &record).map_err(LoadError::Invalid)?;
    // Older versions of the program named sites by the directories of their exports.
    if let Some(name) =
        record.get("site").and_then(Value::as_str).filter(|site| !site.is_empty()).and_then(site::name_of)
    {
        record.insert("site".to_owned(), name.into());
    }
    if let Some(variants) = record.remove(VARIANTS)
        && !loader.knows(connection, kind, &record)?
        && let Some(state) = state_of(connection, &variants)?
    {
        loader.alias(kind, &record, state);
        return Ok(Loaded::Present);
    }
    let renamed = match kind.name {
        "component" => "name",
        "state" => "code",
        _ => return loader.load(connection, kind, record),
    };
    match loader.load(connection, kind, record.clone()) {
        Err(LoadError::Taken(_)) => {
            let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
            let uid = text("uid");
            let name = format!("{}_{}", text(renamed), &uid.get(uid.len().saturating_sub(6)..).unwrap_or_default());
            record.insert(renamed.to_owned(), Value::from(name));
            loader.load(connection, kind, record)
        }
        done => done,
    }
}

/// Returns the state that has one of these structures.
fn state_of(connection: &Connection, variants: &Value) -> Result<Option<i64>> {
    for key in variants.as_array().into_iter().flatten().filter_map(Value::as_str) {
        let found = connection
            .first("SELECT state_id FROM state_variants WHERE key = :key", args! {key}, |row| row.get("state_id"))?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}
