//! Devices as records that another copy of the memory can take in: their names and kinds, not how they are reached.

use rusqlite::Connection;
use serde_json::Value;

use afd_store::exchange::{self, Kind, Limits, LoadError, Loaded, Loader, Record, times};
use afd_store::{Sql as _, args};

/// The kind of devices.
pub const KIND: Kind = Kind { name: "device", table: "devices", skipped: &[], natural: &[] };

/// Takes in a device. One whose name is taken by another gets a name of its own, unless the other one was never used:
/// two copies may call different phones the same.
///
/// # Errors
/// If it does not fit.
pub fn load(connection: &Connection, loader: &mut Loader, mut record: Record) -> Result<Loaded, LoadError> {
    Limits { longest: |_, field| if field == "uid" { 64 } else { 255 }, range: |_, _| times() }
        .check(KIND.name, &record)
        .map_err(LoadError::Invalid)?;
    let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (uid, name) = (text("uid"), text("name"));
    let holder: Option<i64> =
        connection.first("SELECT id FROM devices WHERE name = :name AND uid <> :uid", args! {name, uid}, |row| {
            row.get("id")
        })?;
    if let Some(id) = holder {
        if loader.knows(connection, &KIND, &record)? || exchange::is_referenced(connection, KIND.table, id)? {
            record.insert("name".to_owned(), Value::from(exchange::another_name(&name, &uid)));
        } else {
            exchange::become_row(connection, &KIND, id, &uid)?;
            loader.load(connection, &KIND, record)?;
            return Ok(Loaded::Inserted);
        }
    }
    loader.load(connection, &KIND, record)
}
