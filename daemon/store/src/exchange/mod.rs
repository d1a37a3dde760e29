//! Converts rows to and from JSON objects that mean the same in every copy of a memory. Column names become camelCase,
//! and the row id is left out. A foreign key becomes the uid of the row to which it refers, under the column name
//! without `_id`. Columns that contain JSON text stay strings, so that nothing is lost. Binary values are Base64.

pub mod imports;
mod limits;
mod loader;

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, params_from_iter};
use serde_json::{Map, Value};

use super::sql::{Sql as _, args, read};
use super::{Result, StoreError};
pub use limits::{Limits, MAX_FIGURE, times};
pub use loader::Loader;

/// A row as a JSON object.
pub type Record = Map<String, Value>;

/// Result of loading a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    /// The row did not exist and was inserted.
    Inserted,
    /// The row exists, and the record is not newer.
    Present,
    /// The row exists, and the record is newer; the row is updated if the caller asked for that.
    Newer,
    /// The record was not loaded, because the rows that it replaces are being removed in several pieces. Load the
    /// record again in the next piece.
    Unfinished,
}

/// Why a record cannot become a row.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A field is missing or unknown, or its column does not accept the value. Contains the error message.
    #[error("{0}")]
    Invalid(String),
    /// The record conflicts with existing data, for example because another row already has a value that must be
    /// unique. Contains the error message.
    #[error("{0}")]
    Taken(String),
    /// The record refers to a missing row. Contains the error message.
    #[error("{0}")]
    Missing(String),
    /// The database operation failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for LoadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// A kind of record.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Value of the field `type` in records of this kind.
    pub name: &'static str,
    /// Name of the table that contains the rows.
    pub table: &'static str,
    /// Columns that only concern this copy and are not exchanged.
    pub skipped: &'static [&'static str],
    /// Columns that identify a row independently of its uid, which can differ between copies of a memory. Empty if only
    /// the uid identifies a row.
    pub natural: &'static [&'static str],
}

/// A column of a table, and the table to which it refers if it is a foreign key.
struct Column {
    name: String,
    table: Option<String>,
    required: bool,
    binary: bool,
}

/// Mapping from the uids in references to row ids.
#[derive(Default)]
struct References {
    /// Ids of existing rows that have another uid in the imported records, by table and by that other uid.
    aliases: HashMap<&'static str, HashMap<String, i64>>,
    /// Whether all references are accepted. This is used to check only the other fields, in a database without rows.
    unchecked: bool,
}

impl References {
    /// Returns the id of the row to which a uid refers; `None` if there is none.
    fn row(&self, connection: &Connection, table: &str, uid: &str) -> Result<Option<i64>> {
        if self.unchecked {
            return Ok(Some(1));
        }
        if let Some(id) = self.aliases.get(table).and_then(|of_table| of_table.get(uid)) {
            return Ok(Some(*id));
        }
        row_of(connection, table, uid)
    }

    fn alias(&mut self, table: &'static str, uid: String, id: i64) {
        self.aliases.entry(table).or_default().insert(uid, id);
    }
}

impl Column {
    /// Returns the name of the record field for the column.
    fn field(&self) -> String {
        let name = if self.table.is_some() { self.name.trim_end_matches("_id") } else { &self.name };
        let mut field = String::new();
        for (i, part) in name.split('_').enumerate() {
            let mut letters = part.chars();
            match letters.next().filter(|_| i > 0) {
                Some(first) => field.extend(first.to_uppercase().chain(letters)),
                None => field.push_str(part),
            }
        }
        field
    }
}

/// A table's columns, except its row id and the columns that are not exchanged.
pub struct Table {
    name: &'static str,
    columns: Vec<Column>,
    natural: &'static [&'static str],
}

impl Table {
    /// Reads the columns of a table, except those in `skipped`, which concern only this copy of the memory.
    pub fn of(connection: &Connection, name: &'static str, skipped: &[&str]) -> Result<Self> {
        let mut columns: Vec<Column> = connection.all(
            "SELECT c.name, c.type = 'BLOB' AS binary, c.\"notnull\" AS required, f.\"table\" AS target FROM pragma_table_info(:table) c
             LEFT JOIN pragma_foreign_key_list(:table) f ON f.\"from\" = c.name WHERE c.name <> 'id' ORDER BY c.cid",
            args! {table: name},
            |row| {
                Ok(read!(row => Column {
                    name, required, binary,
                    table: row.get("target")?,
                }))
            },
        )?;
        columns.retain(|column| !skipped.contains(&column.name.as_str()));
        Ok(Self { name, columns, natural: &[] })
    }

    /// Calls `each` with a record for each row that meets the SQL condition, in the order of the row ids. In the
    /// condition, `t` is the table's alias, and `:owner` has the value `owner`.
    pub fn dump(&self, connection: &Connection, condition: &str, owner: i64, each: impl FnMut(Record)) -> Result<()> {
        self.select(connection, &format!("WHERE {condition} AND :owner IS NOT NULL ORDER BY t.id"), owner, each)
    }

    /// Calls `each` with a record for each row, in an order that is the same in every copy of the memory.
    pub fn dump_all(&self, connection: &Connection, each: impl FnMut(Record)) -> Result<()> {
        let order = if self.has("uid") {
            "t.uid".to_owned()
        } else {
            self.columns.iter().take(2).map(|c| self.value_of(c)).collect::<Vec<_>>().join(", ")
        };
        self.select(connection, &format!("WHERE :owner IS NOT NULL ORDER BY {order}"), 0, each)
    }

    fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|c| c.name == column)
    }

    /// Returns the SQL expression for the value that a column has in a record.
    fn value_of(&self, column: &Column) -> String {
        match &column.table {
            Some(table) => format!("(SELECT uid FROM {table} r WHERE r.id = t.{})", column.name),
            None => format!("t.{}", column.name),
        }
    }

    fn select(&self, connection: &Connection, rest: &str, owner: i64, mut each: impl FnMut(Record)) -> Result<()> {
        let columns = self.columns.iter().map(|column| format!("{} AS {}", self.value_of(column), column.name));
        let columns = columns.collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {columns} FROM {} t {rest}", self.name);
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query(args! {owner})?;
        while let Some(row) = rows.next()? {
            let mut record = Record::new();
            for column in &self.columns {
                let value = match row.get_ref(column.name.as_str())? {
                    ValueRef::Null => continue,
                    ValueRef::Blob(bytes) => Value::from(BASE64.encode(bytes)),
                    ValueRef::Integer(n) => Value::from(n),
                    ValueRef::Real(x) => Value::from(x),
                    ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text)),
                };
                record.insert(column.field(), value);
            }
            each(record);
        }
        Ok(())
    }

    /// Inserts the row for a record. An existing row with the same uid is updated only if `renew` is set and the record
    /// is newer.
    ///
    /// # Errors
    /// If a field is invalid or refers to a missing row, or if another row already has a value that must be unique.
    pub fn load(&self, connection: &Connection, record: Record, renew: bool) -> Result<Loaded, LoadError> {
        self.load_among(connection, record, renew, &mut References::default())
    }

    fn load_among(
        &self,
        connection: &Connection,
        record: Record,
        renew: bool,
        references: &mut References,
    ) -> Result<Loaded, LoadError> {
        if !self.has("uid") {
            let (names, values) = self.values(connection, record, references)?;
            let sql = format!(
                "INSERT OR IGNORE INTO {} ({}) VALUES ({})",
                self.name,
                names.join(", "),
                vec!["?"; names.len()].join(", ")
            );
            let inserted = connection.prepare_cached(&sql)?.execute(params_from_iter(values)).map_err(refused)?;
            return Ok(if inserted == 1 { Loaded::Inserted } else { Loaded::Present });
        }
        let uid = record.get("uid").and_then(Value::as_str).filter(|uid| !uid.is_empty() && uid.len() <= 64);
        let uid =
            uid.ok_or_else(|| LoadError::Invalid("uid: expected a text of 1 to 64 characters".to_owned()))?.to_owned();
        let known = self.state_of(connection, &uid)?;
        if let Some((at, deleted)) = known {
            let deletes = self.has("deleted_at") && record.contains_key("deletedAt");
            // A deleted row stays deleted, even if the record is newer.
            if deleted && !deletes
                || deleted == deletes && record.get("updatedAt").and_then(Value::as_i64).is_none_or(|new| new <= at)
            {
                return Ok(Loaded::Present);
            }
            if !renew {
                return Ok(Loaded::Newer);
            }
        }
        let (mut names, mut values) = self.values(connection, record, references)?;
        if known.is_none()
            && let Some(id) = self.same(connection, &names, &values)?
        {
            references.alias(self.name, uid, id);
            return Ok(Loaded::Present);
        }
        if known.is_some() {
            // Clear the optional columns that the newer version does not have.
            for column in self.columns.iter().filter(|column| !column.required) {
                if !names.contains(&column.name.as_str()) {
                    names.push(&column.name);
                    values.push(Sql::Null);
                }
            }
        }
        let places = vec!["?"; names.len()].join(", ");
        let sql = if known.is_some() {
            values.push(Sql::Text(uid));
            format!("UPDATE {} SET ({}) = ({places}) WHERE uid = ?", self.name, names.join(", "))
        } else {
            format!("INSERT INTO {} ({}) VALUES ({places})", self.name, names.join(", "))
        };
        connection.prepare_cached(&sql)?.execute(params_from_iter(values)).map_err(refused)?;
        Ok(if known.is_some() { Loaded::Newer } else { Loaded::Inserted })
    }

    /// Returns the id of the existing row with the same values in the natural columns; `None` if there is none.
    fn same(&self, connection: &Connection, names: &[&str], values: &[Sql]) -> Result<Option<i64>> {
        let natural: Option<Vec<usize>> =
            self.natural.iter().map(|n| names.iter().position(|name| name == n)).collect();
        let Some(natural) = natural.filter(|natural| !natural.is_empty()) else { return Ok(None) };
        let alive = if self.has("deleted_at") { " AND deleted_at IS NULL" } else { "" };
        let conditions = natural.iter().map(|i| format!("{} = ?", names[*i])).collect::<Vec<_>>().join(" AND ");
        let sql = format!("SELECT id FROM {} WHERE {conditions}{alive}", self.name);
        let values = natural.iter().map(|i| &values[*i]);
        connection.first(&sql, params_from_iter(values), |row| row.get("id"))
    }

    /// Returns the columns for which a record has values, together with those values.
    fn values(
        &self,
        connection: &Connection,
        mut record: Record,
        references: &References,
    ) -> Result<(Vec<&str>, Vec<Sql>), LoadError> {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for column in &self.columns {
            let field = column.field();
            let value = match (record.remove(&field), &column.table) {
                (None | Some(Value::Null), _) => continue,
                (Some(Value::String(uid)), Some(table)) => match references.row(connection, table, &uid)? {
                    Some(id) => Sql::Integer(id),
                    None if !column.required => continue,
                    None => {
                        return Err(LoadError::Missing(format!(
                            "{field}: expected the uid of an existing row or an earlier record, got {uid:?}"
                        )));
                    }
                },
                (Some(Value::String(text)), None) if column.binary => Sql::Blob(
                    BASE64
                        .decode(text)
                        .map_err(|error| LoadError::Invalid(format!("{field}: expected Base64: {error}")))?,
                ),
                (Some(Value::String(text)), None) => Sql::Text(text),
                (Some(Value::Number(n)), None) => {
                    n.as_i64().map_or_else(|| Sql::Real(n.as_f64().unwrap_or_default()), Sql::Integer)
                }
                (Some(other), _) => {
                    return Err(LoadError::Invalid(format!("{field}: expected a text or a number, got {other}")));
                }
            };
            names.push(column.name.as_str());
            values.push(value);
        }
        if let Some(unknown) = record.keys().next() {
            return Err(LoadError::Invalid(format!("unknown field {unknown:?}")));
        }
        Ok((names, values))
    }

    /// Returns when the row with this uid was last changed (Unix milliseconds) and whether it is deleted; `None` if
    /// there is no such row.
    fn state_of(&self, connection: &Connection, uid: &str) -> Result<Option<(i64, bool)>> {
        let deleted = if self.has("deleted_at") { "deleted_at IS NOT NULL" } else { "0" };
        let sql = format!("SELECT updated_at, {deleted} AS deleted FROM {} WHERE uid = :uid", self.name);
        let row = |row: &rusqlite::Row<'_>| Ok((row.get("updated_at")?, row.get("deleted")?));
        connection.first(&sql, args! {uid}, row)
    }
}

/// Calls `each` with a record for each row of a kind. The records include the field `type`.
pub fn dump_kind(connection: &Connection, kind: &Kind, mut each: impl FnMut(Record)) -> Result<()> {
    Table::of(connection, kind.table, kind.skipped)?.dump_all(connection, |mut record| {
        record.insert("type".to_owned(), Value::from(kind.name));
        each(record);
    })
}

/// Gives an existing row, to which no other row refers, the uid of a record. The row is marked as older than any
/// record, so that loading the record replaces the row's content.
///
/// # Errors
/// If the database cannot be written.
pub fn become_row(connection: &Connection, kind: &Kind, id: i64, uid: &str) -> Result<()> {
    let sql = format!("UPDATE {} SET uid = :uid, updated_at = -1 WHERE id = :id", kind.table);
    connection.run(&sql, args! {uid, id})?;
    Ok(())
}

/// Returns an alternative for a name that is already taken: the name followed by the end of the uid in parentheses.
pub fn another_name(name: &str, uid: &str) -> String {
    let end: String = uid.chars().rev().take(8).collect::<Vec<_>>().into_iter().rev().collect();
    let kept: String = name.chars().take(100).collect();
    format!("{kept} ({end})")
}

/// Returns whether any row refers to the row with this id in a table.
pub fn is_referenced(connection: &Connection, table: &str, id: i64) -> Result<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT m.name AS name, f.\"from\" AS source FROM sqlite_schema m, pragma_foreign_key_list(m.name) f
         WHERE m.type = 'table' AND f.\"table\" = :table",
    )?;
    let references = statement
        .query_map(args! {table}, |row| Ok((row.get::<_, String>("name")?, row.get::<_, String>("source")?)))?;
    for reference in references {
        let (name, column) = reference?;
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {name} WHERE {column} = :id) AS found");
        if connection.one(&sql, args! {id}, |row| row.get::<_, bool>("found"))? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn row_of(connection: &Connection, table: &str, uid: &str) -> Result<Option<i64>> {
    let sql = format!("SELECT id FROM {table} WHERE uid = :uid");
    connection.first(&sql, args! {uid}, |row| row.get("id"))
}

/// Classifies a SQLite error: another row already has a value that must be unique, a column does not accept a value, or
/// the database operation failed.
fn refused(error: rusqlite::Error) -> LoadError {
    let text = error.to_string();
    match error.sqlite_error() {
        Some(e) if e.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE => LoadError::Taken(text),
        Some(e)
            if e.code == rusqlite::ErrorCode::ConstraintViolation || e.code == rusqlite::ErrorCode::TypeMismatch =>
        {
            LoadError::Invalid(text)
        }
        _ => LoadError::Store(error.into()),
    }
}
