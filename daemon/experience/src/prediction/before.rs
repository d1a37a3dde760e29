//! The page before the one in front, to which Back usually leads.
//!
//! The newest events of the device, or of the session's tab, are played on a stack. On a phone, a page that opens is put on
//! it; one that is on it already takes away what lies above, however it was reached; launching an app starts again. In a
//! tab, each page that opens is put on it, and only Back takes one away. Dialogs are left out.

use rusqlite::Connection;

use super::destination::Destination;
use afd_store::{Result, Sql as _, args};

/// Maximum number of the newest events that are played.
const EVENTS: i64 = 80;

/// Whose events are played.
#[derive(Debug, Clone)]
pub struct History {
    /// Uid of this store.
    pub store: String,
    /// Row id of the device.
    pub device: i64,
    /// Row id of the session, if each session has a tab of its own on the device.
    pub tab_of: Option<i64>,
}

/// A move from one page to another.
struct Moved {
    op: String,
    from: Option<Destination>,
    to: Option<Destination>,
}

/// Returns the page before the one in front; `None` if it is not known. `structures` are the keys of the page in front.
pub fn page_before(connection: &Connection, history: &History, structures: &[String]) -> Result<Option<Destination>> {
    let moves = moves(connection, history)?;
    let mut stack: Vec<Destination> = Vec::new();
    for moved in moves {
        if history.tab_of.is_some() {
            move_in_tab(&mut stack, moved);
            continue;
        }
        if matches!(moved.op.as_str(), "launch" | "relaunch" | "home" | "stop") {
            stack.clear();
        } else {
            moved.from.into_iter().for_each(|page| open(&mut stack, page));
        }
        moved.to.into_iter().for_each(|page| open(&mut stack, page));
    }
    let is_front = |page: &Destination| structures.iter().any(|key| page.has_key(key));
    // A page that came to the front of a tab without an action is a new one there.
    if history.tab_of.is_some() && !stack.last().is_some_and(is_front) {
        return Ok(None);
    }
    let at = stack.iter().rposition(is_front);
    Ok(at.and_then(|at| at.checked_sub(1)).and_then(|below| stack.into_iter().nth(below)))
}

/// Reads the newest events, oldest first.
fn moves(connection: &Connection, history: &History) -> Result<Vec<Moved>> {
    let page = |row: &rusqlite::Row<'_>, prefix: &str| -> rusqlite::Result<Option<Destination>> {
        let key: Option<String> = row.get(format!("{prefix}_key").as_str())?;
        let is_dialog = row.get::<_, Option<bool>>(format!("{prefix}_dialog").as_str())?.unwrap_or_default();
        let (state, id) = (row.get(format!("{prefix}_state").as_str())?, row.get(format!("{prefix}_id").as_str())?);
        Ok(key.filter(|key| !key.is_empty() && !is_dialog).map(|key| Destination::new(state, key, id)))
    };
    // With a condition that may be absent, SQLite would read the events of all sessions.
    let mut values = args! {device: history.device, store: history.store}.to_vec();
    if let Some(session) = &history.tab_of {
        values.push((":session", session));
    }
    let of_session = if history.tab_of.is_some() { "e.session_id = :session AND" } else { "" };
    let mut moves: Vec<Moved> = connection.all(
        &format!(
            "SELECT e.op, b.id AS from_id, b.structure_key AS from_key, b.dialog AS from_dialog, vb.state_id AS from_state,
                    a.id AS to_id, a.structure_key AS to_key, a.dialog AS to_dialog, va.state_id AS to_state
                 FROM events e LEFT JOIN pages b ON b.id = e.page_id LEFT JOIN state_variants vb ON vb.key = b.structure_key
                     LEFT JOIN pages a ON a.id = e.after_page_id LEFT JOIN state_variants va ON va.key = a.structure_key
                 WHERE {of_session} e.device_id = :device AND e.category <> 'verify' AND e.origin = :store
                 ORDER BY e.seq DESC LIMIT {EVENTS}"
        ),
        values.as_slice(),
        |row| Ok(Moved { op: row.get("op")?, from: page(row, "from")?, to: page(row, "to")? }),
    )?;
    moves.reverse();
    Ok(moves)
}

/// Puts a page on the stack, or takes away what lies above it.
fn open(stack: &mut Vec<Destination>, page: Destination) {
    match stack.iter().position(|known| *known == page) {
        Some(at) => stack.truncate(at + 1),
        None => stack.push(page),
    }
}

/// Plays a move in a tab.
fn move_in_tab(stack: &mut Vec<Destination>, moved: Moved) {
    // A page that is opened where none was is in a new tab.
    if moved.op == "tab" || moved.op == "launch" && moved.from.is_none() {
        stack.clear();
    }
    if let Some(from) = moved.from.filter(|from| moved.op != "tab" && stack.last() != Some(from)) {
        // Something else moved the tab.
        stack.clear();
        stack.push(from);
    }
    let Some(to) = moved.to.filter(|to| stack.last() != Some(to)) else { return };
    if moved.op == "back" {
        stack.pop();
        if stack.last() == Some(&to) {
            return;
        }
        // What lies below it is not known.
        stack.clear();
    }
    stack.push(to);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_back_takes_a_page_from_a_tab() {
        let page = |state: i64| Some(Destination::of_state(state));
        let played = |moves: &[(&str, Option<Destination>, Option<Destination>)]| {
            let mut stack = Vec::new();
            for (op, from, to) in moves {
                move_in_tab(&mut stack, Moved { op: (*op).to_owned(), from: from.clone(), to: to.clone() });
            }
            stack
        };
        let all = |states: &[i64]| states.iter().map(|state| Destination::of_state(*state)).collect::<Vec<_>>();
        let to_first = [("tap", page(1), page(2)), ("tap", page(2), page(1))];
        assert_eq!(played(&to_first), all(&[1, 2, 1]), "a link to an earlier page does not go back");
        let and_back = [to_first.as_slice(), &[("back", page(1), page(2))]].concat();
        assert_eq!(played(&and_back), all(&[1, 2]));
        assert_eq!(played(&[("tap", page(1), page(2)), ("launch", page(2), page(3))]), all(&[1, 2, 3]));
        assert_eq!(played(&[("tap", page(1), page(2)), ("tab", page(2), page(4))]), all(&[4]));
        assert_eq!(played(&[("tap", page(1), page(2)), ("launch", None, page(4))]), all(&[4]), "a new tab");
        assert_eq!(played(&[("tap", page(1), page(2)), ("tap", page(5), page(6))]), all(&[5, 6]), "moved by hand");
        assert_eq!(played(&[("tap", page(1), page(2)), ("back", page(2), page(7))]), all(&[7]), "moved by hand");
    }
}
