//! The page before the one in front, to which Back usually leads.
//!
//! The newest events of the device are played on a stack: a page that opens is put on it; one that is on it already takes away
//! what lies above, however it was reached; launching an app starts again. Dialogs are left out.

use rusqlite::Connection;

use super::destination::Destination;
use afd_store::{Result, Sql as _, args};

/// Maximum number of the newest events of a device that are played.
const EVENTS: i64 = 80;

/// A move from one page to another.
struct Moved {
    op: String,
    from: Option<Destination>,
    to: Option<Destination>,
}

/// Returns the page before the one in front on a device; `None` if it is not known. `store` is the uid of this store,
/// `structures` are the keys of the page in front.
pub fn page_before(
    connection: &Connection,
    (store, device): (&str, i64),
    structures: &[String],
) -> Result<Option<Destination>> {
    let page = |row: &rusqlite::Row<'_>, prefix: &str| -> rusqlite::Result<Option<Destination>> {
        let key: Option<String> = row.get(format!("{prefix}_key").as_str())?;
        let is_dialog = row.get::<_, Option<bool>>(format!("{prefix}_dialog").as_str())?.unwrap_or_default();
        let (state, id) = (row.get(format!("{prefix}_state").as_str())?, row.get(format!("{prefix}_id").as_str())?);
        Ok(key.filter(|key| !key.is_empty() && !is_dialog).map(|key| Destination::new(state, key, id)))
    };
    let mut moves: Vec<Moved> = connection.all(
        &format!(
            "SELECT e.op, b.id AS from_id, b.structure_key AS from_key, b.dialog AS from_dialog, vb.state_id AS from_state,
                    a.id AS to_id, a.structure_key AS to_key, a.dialog AS to_dialog, va.state_id AS to_state
                 FROM events e LEFT JOIN pages b ON b.id = e.page_id LEFT JOIN state_variants vb ON vb.key = b.structure_key
                     LEFT JOIN pages a ON a.id = e.after_page_id LEFT JOIN state_variants va ON va.key = a.structure_key
                 WHERE e.device_id = :device AND e.category <> 'verify' AND e.origin = :store
                 ORDER BY e.seq DESC LIMIT {EVENTS}"
        ),
        args! {device, store},
        |row| Ok(Moved { op: row.get("op")?, from: page(row, "from")?, to: page(row, "to")? }),
    )?;
    moves.reverse();
    let mut stack: Vec<Destination> = Vec::new();
    for moved in moves {
        if matches!(moved.op.as_str(), "launch" | "relaunch" | "home" | "tab" | "stop") {
            stack.clear();
        } else {
            moved.from.into_iter().for_each(|page| open(&mut stack, page));
        }
        moved.to.into_iter().for_each(|page| open(&mut stack, page));
    }
    let is_front = |page: &Destination| structures.iter().any(|key| page.has_key(key));
    let at = stack.iter().rposition(is_front);
    Ok(at.and_then(|at| at.checked_sub(1)).and_then(|below| stack.into_iter().nth(below)))
}

/// Puts a page on the stack, or takes away what lies above it.
fn open(stack: &mut Vec<Destination>, page: Destination) {
    match stack.iter().position(|known| *known == page) {
        Some(at) => stack.truncate(at + 1),
        None => stack.push(page),
    }
}
