//! Permanent deletion. A deleted or forgotten item keeps its content while the change can be undone. After that, its
//! labels, text and pictures are removed. A row without content remains, so that copies of this memory learn of the
//! deletion.

use std::collections::HashSet;

use rusqlite::Connection;

use super::history;
use afd_store::Result;
use afd_store::args;

/// Time for which a change can be undone, in milliseconds.
pub const UNDO_MS: i64 = 30 * 24 * 3600 * 1000;

/// Statements that remove the content of deleted rows, by table. Callers append a condition.
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

/// Removes the content of rows that were deleted before this time (Unix milliseconds), and deletes older changes from
/// the history.
pub fn expired(connection: &Connection, before: i64) -> Result<()> {
    connection.execute("DELETE FROM visual_history WHERE at < :before", args! {before})?;
    for (_, empty) in EMPTY {
        connection.execute(&format!("{empty} AND deleted_at < :before"), args! {before})?;
    }
    Ok(())
}

/// Removes the content of the rows that a change deleted, and deletes from the history all changes that could restore
/// them.
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

/// Returns the uids of the pictures to which components, pages and changes in the history refer.
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
