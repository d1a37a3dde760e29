//! Finds and repairs entries that are damaged, or that a database trigger did not insert.

use rusqlite::Connection;

use super::{text_index, vectors};
use afd_base::model::embed::BUILTIN;
use afd_store::{Result, Sql as _, args};

/// Checks up to `limit` entries whose row ids are greater than `after`: their tokens, their vectors from the built-in
/// model, and the sketches of all their vectors. Returns the row ids of the last checked entry and of the damaged
/// entries, or `None` if there are no more entries.
pub fn check(connection: &Connection, after: i64, limit: i64) -> Result<Option<(i64, Vec<i64>)>> {
    let builtin = vectors::find_model(connection, BUILTIN)?.map_or(0, |model| model.id);
    let mut statement = connection.prepare_cached(
        "SELECT id, words FROM entries WHERE id > :after AND gone = 0 AND due = 0 AND content <> 0 ORDER BY id LIMIT :limit",
    )?;
    let rows =
        statement.query_map(args! {after, limit}, |row| Ok((row.get::<_, i64>("id")?, row.get::<_, i64>("words")?)))?;
    let (mut last, mut damaged) = (None, Vec::new());
    for row in rows {
        let (id, words) = row?;
        last = Some(id);
        if words == 0 || !text_index::is_there(connection, id)? || !vectors::are_sound(connection, id, builtin)? {
            damaged.push(id);
        }
    }
    Ok(last.map(|last| (last, damaged)))
}

/// Marks damaged entries as due, so that they are derived again from their rows.
pub fn derive_again(connection: &Connection, entries: &[i64]) -> Result<()> {
    for id in entries {
        if text_index::is_there(connection, *id)? {
            text_index::remove(connection, *id)?;
        } else {
            // Tokens that the index lacks must not be taken out of it.
            text_index::forget(connection, *id)?;
        }
        connection.run("UPDATE entries SET due = 1, content = 0 WHERE id = :id", args! {id})?;
    }
    Ok(())
}

/// Kinds of rows that have entries, and their tables.
const TABLES: [(&str, &str); 9] = [
    ("note", "notes"),
    ("bug", "bugs"),
    ("result", "test_results"),
    ("page", "page_models"),
    ("pattern", "patterns"),
    ("session", "sessions"),
    ("state", "states"),
    ("memory", "memories"),
    ("message", "messages"),
];

/// Returns whether any row lacks the entry that a database trigger should have inserted for it.
pub fn some_are_lost(connection: &Connection) -> Result<bool> {
    for (kind, table) in TABLES {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} t WHERE {LOST}) AS lost");
        if connection.one(&sql, args! {kind}, |row| row.get("lost"))? {
            return Ok(true);
        }
    }
    Ok(false)
}

const LOST: &str = "NOT EXISTS (SELECT 1 FROM entries e WHERE e.kind = :kind AND e.row_id = t.id)";

/// Inserts the entries that rows lack. Returns the number of inserted entries.
pub fn restore(connection: &Connection) -> Result<usize> {
    let mut restored = 0;
    for (kind, table) in TABLES {
        let sql = format!(
            "INSERT INTO entries (uid, kind, row_id, gone) SELECT uid, :kind, id, deleted_at IS NOT NULL FROM {table} t WHERE {LOST}"
        );
        restored += connection.run(&sql, args! {kind})?;
    }
    Ok(restored)
}
