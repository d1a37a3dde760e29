//! The history of changes to the visual memory itself (forget, merge, rename, delete, cleanup), and how to undo them.
//!
//! A change records the rows that it is about to touch ([`Change::keep`]) and, when it is committed, the keys of the
//! rows that were added in the meantime. Undo restores the former and deletes the latter. A change can be undone only
//! while no later change that is still in effect has touched the same rows ([`blocked_by`]).
//!
//! Undo keeps the counts that were added since the change: it adds later visits to the restored states, and shifts
//! later links so that their counts stay the same. No observation checked for the restored components in the meantime,
//! so these visits count neither as seen nor as missed. Misses are reset, because otherwise the next observation would
//! repeat the change.
//!
//! Rows of [`REFERENCED_TABLES`] are updated in place, because other rows refer to them. All other rows are deleted
//! first and inserted again, because another row may now have the unique key of a restored row.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use afd_proto::history::ChangeOp;
use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use afd_store::{Conditions, Page, Result, Sql as _, StoreError, args, new_uid, read, word};

/// A change in the history.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Row id of the change.
    pub id: i64,
    /// Unique id, the same in every copy of this memory.
    pub uid: String,
    /// Row id of the scope.
    pub app: i64,
    /// Kind of change: `forget`, `merge`, `rename`, `delete` or `cleanup`.
    pub op: ChangeOp,
    /// Description of the changed item.
    pub what: String,
    /// Reason for the change.
    pub why: String,
    /// Time when the change was undone, in Unix milliseconds; `None` if it was not undone.
    pub undone_at: Option<i64>,
    /// Time of the change, in Unix milliseconds.
    pub at: i64,
}

/// A table whose rows can be restored: its name and its key columns.
type Table = (&'static str, &'static [&'static str]);

/// Tables in the order in which their rows are restored. A row is restored after the rows to which it refers.
const TABLES: &[Table] = &[
    ("components", &["id"]),
    ("states", &["id"]),
    ("state_components", &["state_id", "component_id"]),
    ("state_variants", &["key"]),
    ("imported_edges", &["id"]),
];

/// Tables to whose rows other rows refer.
const REFERENCED_TABLES: &[&str] = &["components", "states"];

/// Columns of the table `components` that only observations change.
const SEEN: &[&str] =
    &["label", "dynamic", "bounds_left", "bounds_top", "bounds_right", "bounds_bottom", "confidence", "crop"];

/// The data that undoes a change.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Undo {
    /// Rows as they were before the change, by table.
    restore: BTreeMap<String, Vec<Map<String, Value>>>,
    /// Keys of rows that were added, by table.
    remove: BTreeMap<String, Vec<Map<String, Value>>>,
    /// Row ids of states, each with its number of visits right after the change, from which later visits are counted.
    visits: Vec<(i64, i64)>,
}

impl Undo {
    /// Returns the states whose rows or links were changed.
    fn affected_states(&self) -> BTreeSet<i64> {
        let rows = |table: &str| self.restore.get(table).into_iter().flatten();
        let own = rows("states").filter_map(|row| row["id"].as_i64());
        own.chain(rows("state_components").filter_map(|row| row["state_id"].as_i64())).collect()
    }

    /// Returns the table and key of every row that was changed or added, as text.
    fn touched(&self) -> HashSet<String> {
        let of = |(name, rows): (&String, &Vec<Map<String, Value>>)| -> Vec<String> {
            table_of(name)
                .map(|t| rows.iter().map(|row| format!("{name} {}", text_key(t, row))).collect())
                .unwrap_or_default()
        };
        self.restore.iter().chain(&self.remove).flat_map(of).collect()
    }
}

/// A change in progress.
pub struct Change<'a> {
    connection: &'a Connection,
    app: i64,
    watched: Vec<(Table, &'static str, i64)>,
    undo: Undo,
}

impl<'a> Change<'a> {
    /// Starts a change.
    pub fn begin(connection: &'a Connection, app: i64) -> Self {
        Self { connection, app, watched: Vec::new(), undo: Undo::default() }
    }

    /// Records the rows of a table in which a column has this value. Call this method before the rows are modified.
    pub fn keep(&mut self, table: &'static str, column: &'static str, value: i64) -> Result<()> {
        let table = table_of(table)?;
        if self.watched.iter().any(|w| w.0.0 == table.0 && w.1 == column && w.2 == value) {
            return Ok(());
        }
        let rows = capture(self.connection, table, column, value)?;
        self.watched.push((table, column, value));
        let kept = self.undo.restore.entry(table.0.to_owned()).or_default();
        let mut keys: HashSet<String> = kept.iter().map(|k| text_key(table, k)).collect();
        kept.extend(rows.into_iter().filter(|row| keys.insert(text_key(table, row))));
        Ok(())
    }

    /// Finishes the change and adds it to the history.
    pub fn commit(mut self, origin: &str, op: ChangeOp, what: &str, why: &str, at: i64) -> Result<Entry> {
        for (table, column, value) in std::mem::take(&mut self.watched) {
            let kept: HashSet<String> =
                self.undo.restore.get(table.0).into_iter().flatten().map(|k| text_key(table, k)).collect();
            let added = capture(self.connection, table, column, value)?
                .into_iter()
                .filter(|row| !kept.contains(&text_key(table, row)));
            self.undo.remove.entry(table.0.to_owned()).or_default().extend(added.map(|row| key_of(table, &row)));
        }
        for state in self.undo.affected_states() {
            let visits = self
                .connection
                .query_row("SELECT visit_count FROM states WHERE id = :id", args! {id: state}, |row| {
                    row.get("visit_count")
                })
                .optional()?;
            self.undo.visits.extend(visits.map(|v| (state, v)));
        }
        let undo = serde_json::to_string(&self.undo).map_err(|e| StoreError::Unavailable(e.to_string()))?;
        let uid = new_uid();
        self.connection.execute(
            "INSERT INTO visual_history (uid, origin, app_id, op, what, why, undo, at, updated_at) VALUES (:uid, :origin, :app_id, :op,
                :what, :why, :undo, :at, :at)",
            args! {uid, origin, app_id: self.app, op: op.word(), what, why, undo, at},
        )?;
        let id = self.connection.last_insert_rowid();
        Ok(Entry { id, uid, app: self.app, op, what: what.to_owned(), why: why.to_owned(), undone_at: None, at })
    }
}

fn table_of(name: &str) -> Result<Table> {
    TABLES
        .iter()
        .copied()
        .find(|t| t.0 == name)
        .ok_or_else(|| StoreError::Unavailable(format!("changes of table {name} are not recorded")))
}

/// Returns the key columns of a row.
fn key_of(table: Table, row: &Map<String, Value>) -> Map<String, Value> {
    table.1.iter().map(|column| ((*column).to_owned(), row.get(*column).cloned().unwrap_or_default())).collect()
}

/// Returns the key of a row as text, for comparison.
fn text_key(table: Table, row: &Map<String, Value>) -> String {
    table
        .1
        .iter()
        .map(|column| row.get(*column).map(Value::to_string).unwrap_or_default())
        .collect::<Vec<_>>()
        .join("|")
}

/// Returns the rows of a table in which a column has this value.
fn capture(connection: &Connection, table: Table, column: &str, value: i64) -> Result<Vec<Map<String, Value>>> {
    let mut statement = connection.prepare(&format!("SELECT * FROM {} WHERE {column} = :value", table.0))?;
    let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let rows = statement.query_map(args! {value}, |row| {
        names
            .iter()
            .enumerate()
            .map(|(i, name)| Ok((name.clone(), from_sql(row.get_ref(i)?))))
            .collect::<rusqlite::Result<Map<_, _>>>()
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn from_sql(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(n) => json!(n),
        ValueRef::Real(n) => json!(n),
        ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => json!({"hex": afd_base::hex::encode(bytes)}),
    }
}

fn to_sql(value: &Value) -> Sql {
    match value {
        Value::Null => Sql::Null,
        Value::Bool(b) => Sql::Integer(i64::from(*b)),
        Value::Number(n) => n.as_i64().map_or_else(|| Sql::Real(n.as_f64().unwrap_or_default()), Sql::Integer),
        Value::String(text) => Sql::Text(text.clone()),
        other => {
            let hex = other["hex"].as_str().unwrap_or_default();
            let byte = |i: usize| u8::from_str_radix(hex.get(i..i + 2).unwrap_or_default(), 16).ok();
            Sql::Blob((0..hex.len()).step_by(2).filter_map(byte).collect())
        }
    }
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(read!(row => Entry {
        id, uid, what, why, undone_at, at,
        app: row.get("app_id")?,
        op: word(row, "op")?,
    }))
}

const COLUMNS: &str = "id, uid, app_id, op, what, why, undone_at, at";

/// Returns a page of the changes in a scope, or in all scopes, newest first, and the cursor for the next page.
pub fn list(connection: &Connection, app: Option<i64>, page: Page) -> Result<(Vec<Entry>, Option<i64>)> {
    let wanted = Conditions::new("1")
        .given("app_id = :app", ":app", app)
        .given("id < :before", ":before", page.cursor)
        .value(":limit", page.reads());
    let sql = format!("SELECT {COLUMNS} FROM visual_history WHERE {} ORDER BY id DESC LIMIT :limit", wanted.sql());
    let mut statement = connection.prepare_cached(&sql)?;
    let mut found: Vec<Entry> = statement.query_map(&*wanted.values(), entry)?.collect::<rusqlite::Result<_>>()?;
    let next = page.cut(&mut found, |entry| entry.id);
    Ok((found, next))
}

/// Returns the change with this id or, without an id, the newest change in the scope that has not been undone.
pub fn find(connection: &Connection, app: Option<i64>, id: Option<i64>) -> Result<Option<Entry>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM visual_history WHERE (:app IS NULL OR app_id = :app) AND (:id IS NULL OR id = :id)
            AND (:id IS NOT NULL OR undone_at IS NULL) ORDER BY id DESC LIMIT 1"
    );
    connection.first(&sql, args! {app, id}, entry)
}

/// Returns the data that undoes a change.
fn read(connection: &Connection, id: i64) -> Result<Undo> {
    let text: String =
        connection.query_row("SELECT undo FROM visual_history WHERE id = :id", args! {id}, |row| row.get("undo"))?;
    serde_json::from_str(&text).map_err(|e| StoreError::Unavailable(format!("malformed change history: {e}")))
}

/// Returns the id of the newest later change that touched the same rows and has not been undone. That change must be
/// undone first.
pub fn blocked_by(connection: &Connection, id: i64) -> Result<Option<i64>> {
    let own = read(connection, id)?.touched();
    let mut statement = connection.prepare(
        "SELECT id FROM visual_history WHERE id > :id AND undone_at IS NULL AND app_id = (SELECT app_id FROM visual_history WHERE id = :id)
         ORDER BY id DESC",
    )?;
    let later: Vec<i64> = statement.query_map(args! {id}, |row| row.get("id"))?.collect::<rusqlite::Result<_>>()?;
    for other in later {
        if !read(connection, other)?.touched().is_disjoint(&own) {
            return Ok(Some(other));
        }
    }
    Ok(None)
}

/// Returns the ids of all changes that touched the same rows, including this one.
pub(super) fn touching(connection: &Connection, id: i64) -> Result<Vec<i64>> {
    let own = read(connection, id)?.touched();
    let mut statement = connection
        .prepare("SELECT id FROM visual_history WHERE app_id = (SELECT app_id FROM visual_history WHERE id = :id)")?;
    let all: Vec<i64> = statement.query_map(args! {id}, |row| row.get("id"))?.collect::<rusqlite::Result<_>>()?;
    let mut found = Vec::new();
    for other in all {
        if !read(connection, other)?.touched().is_disjoint(&own) {
            found.push(other);
        }
    }
    Ok(found)
}

/// Returns the components and states that a change recorded, as pairs of table and row id.
pub(super) fn rows_of(connection: &Connection, id: i64) -> Result<Vec<(&'static str, i64)>> {
    let undo = read(connection, id)?;
    let of = |table: &'static str| -> Vec<(&'static str, i64)> {
        undo.restore.get(table).into_iter().flatten().filter_map(|row| Some((table, row["id"].as_i64()?))).collect()
    };
    Ok(REFERENCED_TABLES.iter().flat_map(|table| of(table)).collect())
}

/// Undoes a change. Sightings since the change are kept. Misses are reset, because otherwise the next observation would
/// repeat the change.
///
/// # Errors
/// Returns a constraint violation if a removed item has been learned again since.
pub fn undo(connection: &Connection, id: i64, at: i64) -> Result<()> {
    let undo = read(connection, id)?;
    let visits = |state: i64| -> Result<Option<i64>> {
        Ok(connection
            .query_row("SELECT visit_count FROM states WHERE id = :id", args! {id: state}, |row| row.get("visit_count"))
            .optional()?)
    };
    let mut since = Vec::new();
    for (state, then) in &undo.visits {
        let now = visits(*state)?.unwrap_or(*then);
        since.push((*state, now, (now - then).max(0)));
    }
    for table in TABLES.iter().rev() {
        let added = undo.remove.get(table.0).into_iter().flatten();
        // Rows to which nothing refers are deleted before they are restored, because they may swap unique keys.
        let changed = undo.restore.get(table.0).filter(|_| !REFERENCED_TABLES.contains(&table.0)).into_iter().flatten();
        for key in added.chain(changed) {
            let condition =
                table.1.iter().enumerate().map(|(i, c)| format!("{c} = ?{}", i + 1)).collect::<Vec<_>>().join(" AND ");
            let values = table.1.iter().map(|column| to_sql(&key[*column]));
            connection.execute(&format!("DELETE FROM {} WHERE {condition}", table.0), params_from_iter(values))?;
        }
    }
    // Links that still exist on these states were made after the change.
    for table in TABLES.iter().filter(|t| REFERENCED_TABLES.contains(&t.0)) {
        undo.restore.get(table.0).into_iter().flatten().try_for_each(|row| restore_row(connection, *table, row))?;
    }
    let restored: BTreeSet<i64> =
        undo.restore.get("states").into_iter().flatten().filter_map(|row| row["id"].as_i64()).collect();
    for (state, now, more) in since.iter().filter(|(state, _, _)| restored.contains(state)) {
        connection.execute(
            "UPDATE states SET visit_count = visit_count + :visit_count WHERE id = :id",
            args! {id: state, visit_count: more},
        )?;
        let shift = visits(*state)?.unwrap_or(*now) - now;
        connection.execute(
            "UPDATE state_components SET from_visit = from_visit + :from_visit WHERE state_id = :state_id",
            args! {state_id: state, from_visit: shift},
        )?;
    }
    for table in TABLES.iter().filter(|t| !REFERENCED_TABLES.contains(&t.0)) {
        undo.restore.get(table.0).into_iter().flatten().try_for_each(|row| restore_row(connection, *table, row))?;
    }
    reset_misses(connection, &undo, &since)?;
    connection.execute("UPDATE visual_history SET undone_at = :at, updated_at = :at WHERE id = :id", args! {id, at})?;
    Ok(())
}

/// Resets the misses of restored components. Visits since the change count neither as seen nor as missed, because no
/// observation checked for these components.
fn reset_misses(connection: &Connection, undo: &Undo, since: &[(i64, i64, i64)]) -> Result<()> {
    for row in undo.restore.get("state_components").into_iter().flatten() {
        let (Some(state), Some(component)) = (row["state_id"].as_i64(), row["component_id"].as_i64()) else { continue };
        let more = since.iter().find(|(s, _, _)| *s == state).map_or(0, |(_, _, more)| *more);
        connection.execute(
            "UPDATE state_components SET misses = 0, from_visit = from_visit + :more,
                seen_before = CASE WHEN :more > 0 OR misses > 0 THEN coalesce(seen_before, (SELECT last_seen FROM states WHERE id = :state))
                    ELSE seen_before END
             WHERE state_id = :state AND component_id = :component_id",
            args! {state, component_id: component, more},
        )?;
    }
    for row in undo.restore.get("components").into_iter().flatten() {
        connection.execute(
            "UPDATE components SET loose_since = (SELECT detector_looks FROM apps WHERE apps.id = components.app_id) WHERE id = :id
                AND loose = 1",
            args! {id: row["id"].as_i64()},
        )?;
    }
    Ok(())
}

/// Inserts a row, or overwrites the one with the same key.
fn restore_row(connection: &Connection, table: Table, row: &Map<String, Value>) -> Result<()> {
    let columns: Vec<&str> = row.keys().map(String::as_str).collect();
    let places = (1..=columns.len()).map(|i| format!("?{i}")).collect::<Vec<_>>().join(", ");
    // The current text and position of a component come from later observations, and no recorded change modifies them.
    let seen = |c: &&&str| table.0 == "components" && SEEN.contains(c);
    let update =
        columns.iter().filter(|c| !seen(c)).map(|c| format!("{c} = excluded.{c}")).collect::<Vec<_>>().join(", ");
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({places}) ON CONFLICT ({}) DO UPDATE SET {update}",
        table.0,
        columns.join(", "),
        table.1.join(", ")
    );
    connection.execute(&sql, params_from_iter(row.values().map(to_sql)))?;
    Ok(())
}

/// Maximum number of changes that are kept for undo.
const MAX_CHANGES: i64 = 10_000;

/// Deletes the oldest changes, so that at most [`MAX_CHANGES`] remain.
pub fn prune(connection: &Connection) -> Result<usize> {
    let newest: Option<i64> =
        connection.query_row("SELECT max(id) AS max_id FROM visual_history", [], |row| row.get("max_id"))?;
    Ok(connection
        .execute("DELETE FROM visual_history WHERE id <= :id", args! {id: newest.unwrap_or_default() - MAX_CHANGES})?)
}
