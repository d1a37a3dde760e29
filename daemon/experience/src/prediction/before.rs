//! The page before the one in front, to which Back usually leads.

use rusqlite::Connection;

use super::destination::Destination;
use super::evidence::marks;
use afd_store::Result;

/// Maximum number of the newest events of a device among which the page before is searched.
const EVENTS: i64 = 300;

/// Returns the page from which the page in front was opened last on a device, unless it was opened by launching an app.
/// `structures` are the keys of the page in front.
pub fn page_before(connection: &Connection, device: i64, structures: &[String]) -> Result<Option<Destination>> {
    if structures.is_empty() {
        return Ok(None);
    }
    let here = marks(structures.len());
    let sql = format!(
        "SELECT b.id AS page_id, b.structure_key AS key, e.op AS op
             FROM (SELECT page_id, after_page_id, outcome, op, seq FROM events WHERE device_id = ? ORDER BY seq DESC LIMIT {EVENTS}) e
             JOIN pages a ON a.id = e.after_page_id JOIN pages b ON b.id = e.page_id
             WHERE e.outcome = 'page' AND e.op NOT IN ('back', 'home') AND a.structure_key IN ({here})
                 AND b.structure_key <> '' AND b.structure_key NOT IN ({here})
             ORDER BY e.seq DESC LIMIT 1"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut values: Vec<&dyn rusqlite::types::ToSql> = vec![&device];
    for _ in 0..2 {
        values.extend(structures.iter().map(|key| key as &dyn rusqlite::types::ToSql));
    }
    let mut rows = statement.query(values.as_slice())?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let (page, key, op): (i64, String, String) = (row.get("page_id")?, row.get("key")?, row.get("op")?);
    if matches!(op.as_str(), "launch" | "relaunch" | "tab" | "open") {
        return Ok(None);
    }
    Destination::of_structure(connection, &key, Some(page)).map(Some)
}
