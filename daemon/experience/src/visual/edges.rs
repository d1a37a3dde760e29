//! Imported edges of the state graph. Their actions refer to components by name, for example `click:Save`.

use rusqlite::Connection;

use afd_store::{Result, Sql as _, args};

/// Returns the row ids of the imported edges whose actions refer to one of these components.
pub fn naming(connection: &Connection, app: i64, names: &[&str]) -> Result<Vec<i64>> {
    let mut statement =
        connection.prepare_cached("SELECT id, action FROM imported_edges WHERE app_id = :app_id ORDER BY position")?;
    let rows = statement
        .query_map(args! {app_id: app}, |row| Ok((row.get::<_, i64>("id")?, row.get::<_, String>("action")?)))?;
    let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let named = |action: &str| action.split_once(':').is_some_and(|(_, name)| names.contains(&name));
    Ok(rows.into_iter().filter(|(_, action)| named(action)).map(|(id, _)| id).collect())
}

/// SQL statement that merges an imported edge into another one. It adds up the counts, keeps the later time of use, and
/// sets the success rate to the mean of both rates, weighted by the counts.
pub(super) const JOIN_EDGES: &str = "UPDATE imported_edges AS kept SET
        success_rate = (kept.success_rate * kept.count + other.success_rate * other.count) / max(kept.count + other.count, 1),
        count = kept.count + other.count,
        last_used = nullif(max(coalesce(kept.last_used, 0), coalesce(other.last_used, 0)), 0), updated_at = :at
    FROM imported_edges other WHERE kept.id = :kept AND other.id = :other";

/// Renames a component in the actions of imported edges. If an edge with the new name already exists, the counts are
/// added up.
pub fn rename(connection: &Connection, app: i64, old: &str, new: &str, at: i64) -> Result<()> {
    const RENAMED: &str = "substr(action, 1, instr(action, ':')) || :name";
    for edge in naming(connection, app, &[old])? {
        let twin: Option<i64> = connection.first(
            &format!(
                "SELECT o.id FROM imported_edges e JOIN imported_edges o ON o.from_state = e.from_state AND o.to_state = e.to_state
                    AND o.action = (SELECT {RENAMED} FROM imported_edges WHERE id = :edge) WHERE e.id = :edge"
            ),
            args! {edge, name: new},
            |row| row.get("id"),
        )?;
        match twin {
            Some(twin) => {
                connection.run(JOIN_EDGES, args! {kept: twin, other: edge, at})?;
                connection.run("DELETE FROM imported_edges WHERE id = :id", args! {id: edge})?;
            }
            None => {
                connection.run(
                    &format!("UPDATE imported_edges SET action = {RENAMED}, updated_at = :at WHERE id = :edge"),
                    args! {edge, name: new, at},
                )?;
            }
        }
    }
    Ok(())
}
