//! Upload state of external indexes: the entry version up to which each index has received changes.

use rusqlite::{Connection, Row};

use afd_store::{Result, Sql as _, args, now_ms, read};

/// Upload state of a collection in an external index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outbox {
    /// Row id of the outbox.
    pub id: i64,
    /// Uid of the store that owns the points.
    pub origin: String,
    /// Name of the collection.
    pub collection: String,
    /// Entry version up to which changes were sent.
    pub position: i64,
    /// Entry version up to which changed entries were deleted from this collection while another collection was in use.
    pub forgotten: i64,
    /// Number of the current upload round. In each round, all entries are sent.
    pub round: i64,
    /// Whether the current round is complete.
    pub whole: bool,
    /// Whether anything was sent to the collection, or may have been.
    pub reached: bool,
}

impl Outbox {
    /// Returns the entry version up to which the collection is up to date, whether or not the collection is in use.
    pub fn followed(&self) -> i64 {
        self.position.max(self.forgotten)
    }
}

fn outbox(row: &Row<'_>) -> rusqlite::Result<Outbox> {
    Ok(read!(row => Outbox { id, origin, collection, position, forgotten, round, whole, reached }))
}

/// Returns the outbox for a collection, if the outbox was ever opened.
pub fn find(connection: &Connection, url: &str, collection: &str, origin: &str) -> Result<Option<Outbox>> {
    connection.first(
        "SELECT id, origin, collection, position, forgotten, round, whole, reached FROM outboxes
             WHERE url = :url AND collection = :collection AND origin = :origin",
        args! {url, collection, origin},
        outbox,
    )
}

/// Returns the outbox for a collection, creating the outbox if it does not exist.
pub fn open(connection: &Connection, url: &str, collection: &str, origin: &str) -> Result<Outbox> {
    connection.run(
        "INSERT OR IGNORE INTO outboxes (url, collection, origin, updated_at) VALUES (:url, :collection, :origin, :now)",
        args! {url, collection, origin, now: now_ms()},
    )?;
    find(connection, url, collection, origin)?.ok_or_else(|| rusqlite::Error::QueryReturnedNoRows.into())
}

/// Returns all outboxes at a URL except one, for this store and the stores that it replaced. They belong to earlier
/// models and settings.
pub fn others(connection: &Connection, url: &str, origin: &str, except: i64) -> Result<Vec<Outbox>> {
    connection.all(
        "SELECT id, origin, collection, position, forgotten, round, whole, reached FROM outboxes
         WHERE url = :url AND id <> :except AND (origin = :origin OR origin IN (SELECT origin FROM former_origins))",
        args! {url, origin, except},
        outbox,
    )
}

/// Records that something is about to be sent to the collection of an outbox.
pub fn reach(connection: &Connection, id: i64) -> Result<()> {
    connection.run("UPDATE outboxes SET reached = 1 WHERE id = :id", args! {id})?;
    Ok(())
}

/// Returns whether anything was sent to a URL, or may have been.
pub fn was_reached(connection: &Connection, url: &str, origin: &str) -> Result<bool> {
    connection.one(
        "SELECT EXISTS (SELECT 1 FROM outboxes WHERE url = :url AND reached = 1
                AND (origin = :origin OR origin IN (SELECT origin FROM former_origins))) AS reached",
        args! {url, origin},
        |row| row.get("reached"),
    )
}

/// Returns the most recently used URL, other than `url`, to which something was sent.
pub fn elsewhere(connection: &Connection, url: &str, origin: &str) -> Result<Option<String>> {
    connection.first(
        "SELECT url FROM outboxes WHERE url <> :url AND reached = 1 AND (origin = :origin OR origin IN (SELECT origin FROM former_origins))
             ORDER BY updated_at DESC LIMIT 1",
        args! {url, origin},
        |row| row.get("url"),
    )
}

/// Records that the changes up to a version were sent.
pub fn advance(connection: &Connection, id: i64, position: i64) -> Result<()> {
    connection.run(
        "UPDATE outboxes SET position = :position, updated_at = :now WHERE id = :id",
        args! {id, position, now: now_ms()},
    )?;
    Ok(())
}

/// Records that the entries that changed up to a version were deleted from the collection.
pub fn forget(connection: &Connection, id: i64, upto: i64) -> Result<()> {
    connection.run(
        "UPDATE outboxes SET forgotten = :upto, updated_at = :now WHERE id = :id",
        args! {id, upto, now: now_ms()},
    )?;
    Ok(())
}

/// Records that the current upload round is complete.
pub fn complete(connection: &Connection, id: i64) -> Result<()> {
    connection.run("UPDATE outboxes SET whole = 1, updated_at = :now WHERE id = :id", args! {id, now: now_ms()})?;
    Ok(())
}

/// Begins a new upload round, in which all entries are sent again.
pub fn begin_again(connection: &Connection, id: i64) -> Result<()> {
    connection.run(
        "UPDATE outboxes SET position = 0, forgotten = 0, round = round + 1, whole = 0, updated_at = :now WHERE id = :id",
        args! {id, now: now_ms()},
    )?;
    Ok(())
}

/// Deletes an outbox after its points were deleted from the external index.
pub fn delete(connection: &Connection, id: i64) -> Result<()> {
    connection.run("DELETE FROM outboxes WHERE id = :id", args! {id})?;
    Ok(())
}

/// Returns the number of entries that changed after a version or are due.
pub fn pending(connection: &Connection, after: i64) -> Result<i64> {
    connection.one("SELECT count(*) AS count FROM entries WHERE version > :after OR due = 1", args! {after}, |row| {
        row.get("count")
    })
}

/// A change to an entry that an external index must receive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Row id of the entry.
    pub entry: i64,
    /// Uid of the row that the entry represents.
    pub uid: String,
    /// Version of the change.
    pub version: i64,
    /// Whether an external index should contain the entry: only if the entry is searchable, has a current vector and is
    /// not private.
    pub shared: bool,
}

/// SQL condition for the entries that an external index should contain.
const SHARED: &str = "e.gone = 0 AND e.words > 0 AND e.private = 0 AND v.vector <> x'' AND v.content = e.content";

/// Returns up to `limit` changes after a version, in the order of their versions.
pub fn changes(connection: &Connection, model: i64, after: i64, limit: i64) -> Result<Vec<Change>> {
    connection.all(
        &format!(
            "SELECT e.id, e.uid, e.version, coalesce({SHARED}, 0) AS shared
         FROM entries e LEFT JOIN embeddings v ON v.entry_id = e.id AND v.model_id = :model
         WHERE e.version > :after ORDER BY e.version LIMIT :limit"
        ),
        args! {model, after, limit},
        |row| {
            Ok(read!(row => Change {
                uid, version, shared,
                entry: row.get("id")?,
            }))
        },
    )
}

/// Returns the number of entries that Qdrant should contain once it has received all changes up to the version
/// `position`, and the highest version among these entries.
pub fn expected(connection: &Connection, model: i64, position: i64) -> Result<(i64, i64)> {
    connection.one(
        &format!(
            "SELECT count(*) AS count, coalesce(max(e.version), 0) AS newest
             FROM entries e JOIN embeddings v ON v.entry_id = e.id AND v.model_id = :model
             WHERE e.version <= :position AND {SHARED}"
        ),
        args! {model, position},
        |row| Ok((row.get("count")?, row.get("newest")?)),
    )
}
