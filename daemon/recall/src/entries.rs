//! Entries: the row that each entry represents, its use, and whether it is archived.

use std::collections::HashSet;

use rusqlite::{Connection, Row};

use super::vectors;
use afd_base::text;
use afd_store::{Result, Sql as _, args, now_ms, read};

/// The row of another table that an entry represents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Row id of the entry.
    pub id: i64,
    /// Uid of the row that the entry represents.
    pub uid: String,
    /// Kind of row that the entry represents, as named by the database triggers.
    pub kind: String,
    /// Row id of the row that the entry represents.
    pub row: i64,
    /// Whether the row is deleted.
    pub gone: bool,
    /// Whether the entry was archived.
    pub archived: bool,
    /// Number of searches that returned the entry, and time of the last one, in Unix milliseconds.
    pub used: (i64, Option<i64>),
}

/// Name of the table that holds the entries.
pub const TABLE: &str = "entries";
/// Query that returns a row if any entry is due.
pub const ARE_DUE: &str = "SELECT 1 FROM entries WHERE due = 1 LIMIT 1";

const SOURCE: &str =
    "SELECT id, uid, kind, row_id, gone, archived_at IS NOT NULL AS archived, use_count, used_at FROM entries";

fn source(row: &Row<'_>) -> rusqlite::Result<Source> {
    Ok(read!(row => Source {
        id, uid, kind, gone, archived,
        row: row.get("row_id")?,
        used: (row.get("use_count")?, row.get("used_at")?),
    }))
}

/// Returns up to `limit` due entries, whose rows have changed, newest first.
pub fn due(connection: &Connection, limit: i64) -> Result<Vec<Source>> {
    connection.all(&format!("{SOURCE} WHERE due = 1 ORDER BY id DESC LIMIT :limit"), args! {limit}, source)
}

/// Returns an entry and the row that it represents, given the row id of the entry.
pub fn source_of(connection: &Connection, entry: i64) -> Result<Option<Source>> {
    connection.first(&format!("{SOURCE} WHERE id = :id"), args! {id: entry}, source)
}

/// Returns the entry that represents the row with this uid, unless the row was deleted.
pub fn find(connection: &Connection, uid: &str) -> Result<Option<Source>> {
    connection.first(&format!("{SOURCE} WHERE uid = :uid AND gone = 0"), args! {uid}, source)
}

/// Returns the row id of the entry with this uid, even if the row that it represents was deleted.
pub fn id_of(connection: &Connection, uid: &str) -> Result<Option<i64>> {
    connection.first("SELECT id FROM entries WHERE uid = :uid", args! {uid}, |row| row.get("id"))
}

/// Returns the version of the most recent change to any entry, or 0 if there are no entries.
pub fn newest_version(connection: &Connection) -> Result<i64> {
    connection.one("SELECT coalesce(max(version), 0) AS newest FROM entries", [], |row| row.get("newest"))
}

/// Returns the version for the next change to an entry.
pub(super) fn next_version(connection: &Connection) -> Result<i64> {
    Ok(newest_version(connection)? + 1)
}

/// Returns the number of entries that are due, at most `most`.
pub fn count_due(connection: &Connection, most: i64) -> Result<i64> {
    connection.one(
        "SELECT count(*) AS count FROM (SELECT 1 FROM entries WHERE due = 1 LIMIT :most)",
        args! {most},
        |row| row.get("count"),
    )
}

/// Returns the row ids of the entries with all of the given tags.
pub fn tagged(connection: &Connection, tags: &[String]) -> Result<HashSet<i64>> {
    let mut with_all: Option<HashSet<i64>> = None;
    for tag in tags {
        let with: Vec<i64> = connection.all(
            "SELECT entry_id FROM entry_tags WHERE tag = :tag",
            args! {tag: text::fold(tag)},
            |row| row.get("entry_id"),
        )?;
        let mut with: HashSet<i64> = with.into_iter().collect();
        with.retain(|id| with_all.as_ref().is_none_or(|others| others.contains(id)));
        with_all = Some(with);
    }
    Ok(with_all.unwrap_or_default())
}

/// Gives an entry a new version, so that indexes read it again, for example after a vector of another model was stored
/// for it.
pub fn announce(connection: &Connection, entry: i64) -> Result<()> {
    connection.run(
        "UPDATE entries SET version = :version WHERE id = :id",
        args! {id: entry, version: next_version(connection)?},
    )?;
    Ok(())
}

/// Records that a search returned these entries. Their stale vectors will be computed again.
pub fn used(connection: &Connection, entries: &[i64]) -> Result<()> {
    let mut update = connection
        .prepare_cached("UPDATE entries SET use_count = use_count + 1, used_at = :now WHERE id = :id AND gone = 0")?;
    let now = now_ms();
    for id in entries {
        update.execute(args! {id, now})?;
        if vectors::renew(connection, *id)? {
            announce(connection, *id)?;
        }
    }
    Ok(())
}

/// Archives the entry that represents a row, or restores it from the archive. Returns the row id of the entry if it was
/// changed.
pub fn archive(connection: &Connection, kind: &str, row: i64, archived: bool) -> Result<Option<i64>> {
    let changed: Option<i64> = connection.first(
        "UPDATE entries SET archived_at = CASE WHEN :archived THEN :now END
             WHERE kind = :kind AND row_id = :row AND gone = 0 AND due = 0 AND words > 0 AND (archived_at IS NOT NULL) <> :archived
             RETURNING id",
        args! {now: now_ms(), kind, row, archived},
        |row| row.get("id"),
    )?;
    changed.map_or(Ok(()), |id| announce(connection, id))?;
    Ok(changed)
}

/// Returns the row ids of the rows of a kind whose entries are archived.
pub fn archived(connection: &Connection, kind: &str) -> Result<Vec<i64>> {
    connection.all(
        "SELECT row_id FROM entries WHERE kind = :kind AND archived_at IS NOT NULL AND gone = 0",
        args! {kind},
        |row| row.get("row_id"),
    )
}

/// Returns whether a session has recorded anything since a given time.
pub fn recorded_since(connection: &Connection, session: i64, since: i64) -> Result<bool> {
    connection.one(
        "SELECT EXISTS (SELECT 1 FROM entries WHERE session_id = :session AND gone = 0 AND kind <> 'session' AND at >= :since) AS found",
        args! {session, since},
        |row| row.get("found"),
    )
}

/// Returns the row ids of the entries of a kind, newest first, each with the row id of the row that the entry
/// represents.
pub fn of_kind(connection: &Connection, kind: &str) -> Result<Vec<(i64, i64)>> {
    connection.all(
        "SELECT id, row_id FROM entries WHERE kind = :kind AND gone = 0 AND words > 0 ORDER BY row_id DESC",
        args! {kind},
        |row| Ok((row.get("id")?, row.get("row_id")?)),
    )
}

/// Returns groups of rows of a kind whose entries have the same wording (see [`text::gist`]), older rows first.
pub fn repeated(connection: &Connection, kind: &str) -> Result<Vec<Vec<i64>>> {
    let rows: Vec<(i64, i64)> = connection.all(
        "SELECT gist, row_id FROM entries WHERE kind = :kind AND gone = 0 AND due = 0 AND gist IN (SELECT gist FROM entries
            WHERE kind = :kind AND gone = 0 AND due = 0 AND gist <> 0 GROUP BY gist HAVING count(*) > 1) ORDER BY gist, row_id",
        args! {kind},
        |row| {
            Ok((row.get::<_, i64>("gist")?, row.get::<_, i64>("row_id")?))
        },
    )?;
    Ok(rows.chunk_by(|a, b| a.0 == b.0).map(|same| same.iter().map(|(_, row)| *row).collect()).collect())
}

/// Returns the number of searchable entries by type, and the number of due entries.
pub fn counts(connection: &Connection) -> Result<(Vec<(String, i64)>, i64)> {
    let mut statement = connection.prepare_cached(
        "SELECT type, count(*) AS count FROM entries WHERE gone = 0 AND words > 0 GROUP BY type ORDER BY type",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get("type")?, row.get("count")?)))?;
    let due = connection.one("SELECT count(*) AS count FROM entries WHERE due = 1", [], |row| row.get("count"))?;
    Ok((rows.collect::<rusqlite::Result<_>>()?, due))
}

/// Returns the number of searchable entries that are private to a session.
pub fn count_private(connection: &Connection) -> Result<i64> {
    connection.one("SELECT count(*) AS count FROM entries WHERE gone = 0 AND words > 0 AND private = 1", [], |row| {
        row.get("count")
    })
}
