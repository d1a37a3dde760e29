//! Devices as records that another copy of the memory can import: their names and kinds, without their connection
//! settings.

use rusqlite::Connection;
use serde_json::Value;

use afd_store::exchange::{self, Kind, Limits, LoadError, Loaded, Loader, Record, times};
use afd_store::{Sql as _, args};

/// The record kind for devices.
pub const KIND: Kind = Kind { name: "device", table: "devices", skipped: &[], natural: &[] };

/// Imports a device. If another device already has the record's name, the imported device is renamed, because two
/// copies of the memory may use one name for different phones. If the record is new and no row refers to the other
/// device, the record replaces that device instead.
///
/// # Errors
/// If the record is not valid, or the database cannot be read or written.
pub fn load(connection: &Connection, loader: &mut Loader, mut record: Record) -> Result<Loaded, LoadError> {
    Limits { longest: |_, field| if field == "uid" { 64 } else { 255 }, range: |_, _| times() }
        .check(KIND.name, &record)
        .map_err(LoadError::Invalid)?;
    let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (uid, name, part_of) = (text("uid"), text("name"), text("part_of"));
    let holder: Option<i64> =
        connection.first("SELECT id FROM devices WHERE name = :name AND uid <> :uid", args! {name, uid}, |row| {
            row.get("id")
        })?;
    if let Some(id) = holder {
        if loader.knows(connection, &KIND, &record)? || exchange::is_referenced(connection, KIND.table, id)? {
            // The screens of one device stay together.
            let mark = if part_of.is_empty() { uid } else { text("origin") };
            record.insert("name".to_owned(), Value::from(exchange::another_name(&name, &mark)));
            if !part_of.is_empty() {
                record.insert("part_of".to_owned(), Value::from(exchange::another_name(&part_of, &mark)));
            }
        } else {
            exchange::become_row(connection, &KIND, id, &uid)?;
            loader.load(connection, &KIND, record)?;
            return Ok(Loaded::Inserted);
        }
    }
    loader.load(connection, &KIND, record)
}
