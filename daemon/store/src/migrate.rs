//! Schema migrations.

use std::path::Path;
use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use rusqlite::{Connection, OptionalExtension};
use rusqlite_migration::Migrations;

use super::sql::{Sql as _, args};
use super::{Result, StoreError, new_uid, now_ms};

static DIR: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../migrations");

static MIGRATIONS: LazyLock<Migrations<'static>> =
    LazyLock::new(|| Migrations::from_directory(&DIR).expect("the embedded migrations are well-formed"));

/// Newest schema version that this version of the program supports.
pub const SCHEMA: u32 = 22;

/// First schema version in which a store records the stores that it replaced.
const WITH_FORMER: u32 = 14;

/// Refuses a database that has tables but no schema version, because it belongs to another program.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<()> {
    let foreign: bool = connection.query_row(
        "SELECT (SELECT user_version FROM pragma_user_version) = 0 AND EXISTS (SELECT 1 FROM sqlite_schema
            WHERE type = 'table') AS is_foreign",
        [],
        |row| row.get("is_foreign"),
    )?;
    if foreign {
        return Err(StoreError::Unavailable(format!(
            "{} was created by another program; use `afctl import af --db` to import the memory of af",
            path.display()
        )));
    }
    Ok(())
}

/// Returns why a database cannot be an afd memory with this schema version: the version is 0, or a table is missing.
/// Returns `None` if it can be one.
pub(super) fn foreign(connection: &Connection, schema: u32) -> Result<Option<String>> {
    if schema == 0 {
        return Ok(Some("it has no schema version".to_owned()));
    }
    let theirs = objects(connection)?;
    let is_there = |name: &str| theirs.iter().any(|(kind, other, _)| kind == "table" && other == name);
    let ours = objects(&fresh(schema)?)?;
    let missing =
        ours.iter().find(|(kind, name, _)| kind == "table" && !name.starts_with("sqlite_") && !is_there(name));
    Ok(missing.map(|(_, name, _)| format!("the table {name:?} is missing")))
}

/// Drops the triggers and views that afd's migrations did not create. Otherwise, foreign code would run whenever rows
/// are written or read.
///
/// # Errors
/// If the database cannot be written.
pub fn drop_foreign(connection: &Connection) -> Result<()> {
    let ours = objects(&fresh(schema_of(connection)?)?)?;
    let runs = |kind: &str| matches!(kind, "trigger" | "view");
    for (kind, name, _) in objects(connection)?.iter().filter(|object| runs(&object.0) && !ours.contains(object)) {
        tracing::warn!(kind, name, "dropped from a restored memory, because afd did not create it");
        connection.execute_batch(&format!("DROP {kind} \"{}\"", name.replace('"', "\"\"")))?;
    }
    Ok(())
}

/// Creates an empty in-memory database with this schema version.
fn fresh(schema: u32) -> Result<Connection> {
    let mut fresh = Connection::open_in_memory()?;
    let made = MIGRATIONS.to_version(&mut fresh, schema as usize);
    made.map_err(|e| StoreError::Unavailable(format!("migration failed: {e}")))?;
    Ok(fresh)
}

/// Returns the type, name and definition of each object in a database's schema.
fn objects(connection: &Connection) -> Result<Vec<(String, String, String)>> {
    let mut statement = connection.prepare("SELECT type, name, coalesce(sql, '') AS sql FROM sqlite_schema")?;
    let found = statement.query_map([], |row| Ok((row.get("type")?, row.get("name")?, row.get("sql")?)))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Returns a database's schema version.
///
/// # Errors
/// If the database cannot be read.
pub fn schema_of(connection: &Connection) -> Result<u32> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get("user_version"))?)
}

/// Migrates a database to the schema version [`SCHEMA`]. Refuses a database with a later version and leaves it
/// unchanged. `before` is called before an existing database with an older schema is changed.
pub(super) fn run(connection: &mut Connection, before: impl FnOnce(&Connection)) -> Result<()> {
    let found = schema_of(connection)?;
    if found > SCHEMA {
        return Err(StoreError::TooNew { found, known: SCHEMA });
    }
    if found > 0 && found < SCHEMA {
        before(connection);
    }
    MIGRATIONS.to_latest(connection).map_err(|e| StoreError::Unavailable(format!("migration failed: {e}")))
}

/// Returns a store's uid; `None` if the store has not been opened yet and therefore has none.
///
/// # Errors
/// If the database cannot be read.
pub fn origin_of(connection: &Connection) -> Result<Option<String>> {
    Ok(connection.query_row("SELECT origin FROM store", [], |row| row.get("origin")).optional()?)
}

/// Gives a store a new uid, so that its rows can be distinguished from rows created in another copy of the store.
/// `former` contains the uids of the stores that this store replaces.
///
/// # Errors
/// If the database cannot be written.
pub fn renew_origin(connection: &Connection, former: &[String]) -> Result<()> {
    connection.execute("UPDATE store SET origin = :origin", args! {origin: new_uid()})?;
    // A store with an earlier schema has never uploaded anything.
    if schema_of(connection)? >= WITH_FORMER {
        let mut insert =
            connection.prepare("INSERT OR IGNORE INTO former_origins (origin, created_at) VALUES (:origin, :now)")?;
        for origin in former {
            insert.execute(args! {origin, now: now_ms()})?;
        }
    }
    Ok(())
}

/// Returns the uids of a store and of the stores that it replaced.
///
/// # Errors
/// If the database cannot be read.
pub fn origins_of(connection: &Connection) -> Result<Vec<String>> {
    let mut origins: Vec<String> = origin_of(connection)?.into_iter().collect();
    if schema_of(connection)? >= WITH_FORMER {
        origins.extend(former_origins(connection)?);
    }
    Ok(origins)
}

/// Returns the uids of the stores that a store replaced when it was restored from a backup.
///
/// # Errors
/// If the database cannot be read.
pub fn former_origins(connection: &Connection) -> Result<Vec<String>> {
    connection.all("SELECT origin FROM former_origins", [], |row| row.get("origin"))
}

/// Returns the store's uid, and creates it when the store is opened for the first time.
pub(super) fn origin(connection: &Connection) -> Result<String> {
    if let Some(origin) = origin_of(connection)? {
        return Ok(origin);
    }
    let origin = new_uid();
    connection.execute(
        "INSERT INTO store (id, origin, created_at) VALUES (1, :origin, :created_at)",
        args! {origin: &origin, created_at: now_ms()},
    )?;
    Ok(origin)
}

/// Returns an empty in-memory database with the newest schema.
///
/// # Errors
/// If SQLite cannot create it.
pub fn in_memory() -> Result<Connection> {
    let mut connection = Connection::open_in_memory()?;
    run(&mut connection, |_| {})?;
    Ok(connection)
}

/// Returns an empty in-memory database that does not enforce foreign keys and in which a transaction has begun.
///
/// # Errors
/// If SQLite cannot create it.
pub fn unchecked_in_memory() -> Result<Connection> {
    let connection = in_memory()?;
    connection.execute_batch("PRAGMA foreign_keys = OFF; BEGIN")?;
    Ok(connection)
}

/// Rolls back a connection's transaction and begins a new one.
///
/// # Errors
/// If SQLite cannot execute the statements.
pub fn start_over(connection: &Connection) -> Result<()> {
    Ok(connection.execute_batch("ROLLBACK; BEGIN")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_valid_and_match_the_schema_version() {
        MIGRATIONS.validate().expect("valid");
        assert_eq!(DIR.dirs().count(), SCHEMA as usize);
    }

    #[test]
    fn migration_keeps_existing_rows() {
        let mut connection = Connection::open_in_memory().expect("opens");
        MIGRATIONS.to_version(&mut connection, 2).expect("migrates to version 2");
        connection
            .execute_batch(
                "INSERT INTO sessions VALUES (1, 's', 'o', 'default', 1, 1, NULL);
                 INSERT INTO devices VALUES (1, 'd', 'o', 'pixel', 'k', 1, 1, NULL);
                 INSERT INTO observations (uid, origin, seq, session_id, device_id, trace_id, source, settled, reliable, observed_at,
                 updated_at)
                    VALUES ('seen', 'o', 5, 1, 1, 't', 'page', 1, 1, 7, 7);",
            )
            .expect("inserts");
        run(&mut connection, |_| {}).expect("migrates");
        let (at, page): (i64, Option<i64>) = connection
            .query_row("SELECT observed_at, page_id FROM observations WHERE uid = 'seen'", [], |row| {
                Ok((row.get("observed_at")?, row.get("page_id")?))
            })
            .expect("the row exists");
        assert_eq!((at, page), (7, None));
        let version: u32 =
            connection.pragma_query_value(None, "user_version", |row| row.get("user_version")).expect("reads");
        assert_eq!(version, SCHEMA);
    }
}
