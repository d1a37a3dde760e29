//! Sessions with everything said and found in them, as records that another copy of the memory can take in.

use rusqlite::{Connection, OptionalExtension, named_params};
use serde_json::Value;

use super::records::limits;
use crate::store::exchange::{self, Kind, LoadError, Loaded, Loader, Record};

const fn kind(name: &'static str, table: &'static str, natural: &'static [&'static str]) -> Kind {
    Kind { name, table, skipped: &[], natural }
}

/// The kind of sessions, to which most others refer. Directories are those of this machine.
pub const SESSION: Kind = Kind { skipped: &["directory", "progress_dir"], ..kind("session", "sessions", &[]) };

/// The other kinds in the order in which they are written: what a record refers to comes first.
pub const KINDS: [Kind; 9] = [
    kind("task", "tasks", &[]),
    kind("bug", "bugs", &[]),
    kind("result", "test_results", &[]),
    kind("tested", "tested_elements", &["session_id", "app", "page", "element"]),
    kind("conversation", "conversations", &["session_id", "name"]),
    Kind { skipped: &["indexed"], ..kind("message", "messages", &[]) },
    kind("summary", "summaries", &[]),
    kind("pattern", "patterns", &[]),
    kind("pageModel", "page_models", &["app", "page"]),
];

/// Takes in a record.
///
/// # Errors
/// If it does not fit.
pub fn load(connection: &Connection, loader: &mut Loader, kind: &Kind, mut record: Record) -> Result<Loaded, LoadError> {
    limits::check(kind.name, &record).map_err(LoadError::Invalid)?;
    match kind.name {
        "session" => load_session(connection, loader, kind, record),
        // What was said stays as it is; a message that was deleted here stays deleted.
        "message" if loader.knows(connection, kind, &record)? => Ok(Loaded::Present),
        "task" => match loader.load(connection, kind, record.clone()) {
            Err(LoadError::Taken(_)) => {
                record.insert("status".to_owned(), Value::from("pending"));
                loader.load(connection, kind, record)
            }
            done => done,
        },
        "pattern" => match loader.load(connection, kind, record) {
            Err(LoadError::Taken(_)) => Ok(Loaded::Present),
            done => done,
        },
        _ => loader.load(connection, kind, record),
    }
}

/// Takes in a session. One whose name is taken by another gets a name of its own, unless the other one was never used.
fn load_session(connection: &Connection, loader: &mut Loader, kind: &Kind, mut record: Record) -> Result<Loaded, LoadError> {
    let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (uid, name) = (text("uid"), text("name"));
    let holder: Option<(i64, bool)> = connection
        .prepare_cached(
            "SELECT id, goal IS NULL AND started_at IS NULL AND deleted_at IS NULL AS blank FROM sessions WHERE name = :name AND uid <> :uid",
        )?
        .query_row(named_params! {":name": name, ":uid": uid}, |row| Ok((row.get("id")?, row.get("blank")?)))
        .optional()?;
    match holder {
        None => return loader.load(connection, kind, record),
        Some((id, true)) if !loader.knows(connection, kind, &record)? && !exchange::is_referenced(connection, kind.table, id)? => {
            exchange::become_row(connection, kind, id, &uid)?;
            loader.load(connection, kind, record)?;
            return Ok(Loaded::Inserted);
        }
        Some(_) => {}
    }
    record.insert("name".to_owned(), Value::from(exchange::another_name(&name, &uid)));
    loader.load(connection, kind, record)
}
