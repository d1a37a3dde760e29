//! Deleting for good. What was deleted or forgotten keeps its content as long as that can be undone; then its labels,
//! texts and pictures go, and a row without content remains, by which a copy of this memory learns of the deletion.

use std::collections::HashSet;

use rusqlite::Connection;

use super::history;
use afd_store::Result;
use afd_store::args;

/// Time for which a change can be undone, milliseconds.
pub const UNDO_MS: i64 = 30 * 24 * 3600 * 1000;

/// Statements that remove the content of deleted rows, by table; a condition follows.
const EMPTY: [(&str, &str); 2] = [
    (
        "components",
        "UPDATE components SET key = uid, name = uid, label = NULL, res_id = NULL, class = NULL, page = NULL, crop = NULL, extra = NULL
         WHERE deleted_at IS NOT NULL AND key <> uid",
    ),
    (
        "states",
        "UPDATE states SET code = NULL, name = NULL, description = NULL, title = NULL, place = uid, visible_texts = '[]', extra = NULL
         WHERE deleted_at IS NOT NULL AND place <> uid",
    ),
];

/// Removes the content of what was deleted before this time (UTC milliseconds), with the records of changes until then.
pub fn expired(connection: &Connection, before: i64) -> Result<()> {
    connection.execute("DELETE FROM visual_history WHERE at < :before", args! {before})?;
    for (_, empty) in EMPTY {
        connection.execute(&format!("{empty} AND deleted_at < :before"), args! {before})?;
    }
    Ok(())
}

/// Removes the content of what a change deleted, with the records of all changes by which it could be restored.
pub fn change(connection: &Connection, id: i64) -> Result<()> {
    let rows = history::rows_of(connection, id)?;
    for other in history::touching(connection, id)? {
        connection.execute("DELETE FROM visual_history WHERE id = :id", args! {id: other})?;
    }
    for (table, row) in rows {
        let statements = EMPTY.iter().filter(|(name, _)| *name == table);
        for (_, empty) in statements {
            connection.execute(&format!("{empty} AND id = :id"), args! {id: row})?;
        }
    }
    Ok(())
}

/// Returns the uids of the pictures that components, pages and records of changes refer to.
pub fn pictures_in_use(connection: &Connection) -> Result<HashSet<String>> {
    let mut statement = connection.prepare(
        "SELECT crop AS picture FROM components WHERE crop IS NOT NULL
         UNION SELECT kept.value ->> '$.crop' FROM visual_history h, json_each(h.undo, '$.restore.components') kept
             WHERE kept.value ->> '$.crop' IS NOT NULL
         UNION SELECT page.value FROM apps a, json_each(a.extra, '$._pages') page WHERE page.type = 'text'",
    )?;
    let found = statement.query_map([], |row| row.get("picture"))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
