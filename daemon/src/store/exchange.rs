//! Rows as JSON objects that mean the same in every copy of a memory: columns in camelCase, without the row id; a reference is the uid of
//! the row that it names, under the name of the column without `Id`. Texts that hold JSON stay texts, so nothing is lost.

use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, OptionalExtension, named_params, params_from_iter};
use serde_json::{Map, Value};

use super::{Result, StoreError};

/// A row as a JSON object.
pub type Record = Map<String, Value>;

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loaded {
    /// It was inserted.
    Inserted,
    /// Its row is here and as new.
    Present,
    /// Its row is here, and the record is newer.
    Newer,
}

/// Why a record cannot become a row.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A field is missing, unknown, or has a value that its column refuses; holds the message.
    #[error("{0}")]
    Invalid(String),
    /// Another row holds a place that only one may have; holds the message.
    #[error("{0}")]
    Taken(String),
    /// The database operation failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<rusqlite::Error> for LoadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// A column of a table, and the table that it refers to.
struct Column {
    name: String,
    table: Option<String>,
    required: bool,
}

impl Column {
    /// Returns the name of its field.
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

/// The columns of a table apart from its row id.
pub struct Table {
    name: &'static str,
    columns: Vec<Column>,
}

impl Table {
    /// Reads the columns of a table. `skipped` ones belong to this copy alone.
    pub fn of(connection: &Connection, name: &'static str, skipped: &[&str]) -> Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT c.name, c.\"notnull\" AS required, f.\"table\" AS target FROM pragma_table_info(:table) c
             LEFT JOIN pragma_foreign_key_list(:table) f ON f.\"from\" = c.name WHERE c.name <> 'id' ORDER BY c.cid",
        )?;
        let rows = statement.query_map(named_params! {":table": name}, |row| {
            Ok(Column { name: row.get("name")?, table: row.get("target")?, required: row.get::<_, i64>("required")? == 1 })
        })?;
        let mut columns: Vec<Column> = rows.collect::<rusqlite::Result<_>>()?;
        columns.retain(|column| !skipped.contains(&column.name.as_str()));
        Ok(Self { name, columns })
    }

    /// Calls `each` with the records of the rows that meet a condition on `t` with the value `:owner`, in the order of their row ids.
    pub fn dump(&self, connection: &Connection, condition: &str, owner: i64, mut each: impl FnMut(Record)) -> Result<()> {
        let columns = self.columns.iter().map(|column| match &column.table {
            Some(table) => format!("(SELECT uid FROM {table} r WHERE r.id = t.{}) AS {}", column.name, column.name),
            None => format!("t.{}", column.name),
        });
        let columns = columns.collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {columns} FROM {} t WHERE {condition} ORDER BY t.id", self.name);
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query(named_params! {":owner": owner})?;
        while let Some(row) = rows.next()? {
            let mut record = Record::new();
            for column in &self.columns {
                let value = match row.get_ref(column.name.as_str())? {
                    ValueRef::Null | ValueRef::Blob(_) => continue,
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

    /// Inserts the row of a record. A row with its uid stays as it is, unless `renew` is set and the record is newer.
    ///
    /// # Errors
    /// If a field does not fit, or another row has what only one may have.
    pub fn load(&self, connection: &Connection, mut record: Record, renew: bool) -> Result<Loaded, LoadError> {
        let uid = record.get("uid").and_then(Value::as_str).filter(|uid| !uid.is_empty() && uid.len() <= 64);
        let uid = uid.ok_or_else(|| LoadError::Invalid("uid: expected a text of 1 to 64 characters".to_owned()))?.to_owned();
        let known = self.updated_at(connection, &uid)?;
        if let Some(at) = known {
            if record.get("updatedAt").and_then(Value::as_i64).is_none_or(|new| new <= at) {
                return Ok(Loaded::Present);
            }
            if !renew {
                return Ok(Loaded::Newer);
            }
        }
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for column in &self.columns {
            let field = column.field();
            let value = match (record.remove(&field), &column.table) {
                (None | Some(Value::Null), _) => continue,
                (Some(Value::String(uid)), Some(table)) => match row_of(connection, table, &uid)? {
                    Some(id) => Sql::Integer(id),
                    None if !column.required => continue,
                    None => {
                        return Err(LoadError::Invalid(format!(
                            "{field}: expected the uid of a row that is here or comes before, got {uid:?}"
                        )));
                    }
                },
                (Some(Value::String(text)), None) => Sql::Text(text),
                (Some(Value::Number(n)), None) => n.as_i64().map_or_else(|| Sql::Real(n.as_f64().unwrap_or_default()), Sql::Integer),
                (Some(other), _) => return Err(LoadError::Invalid(format!("{field}: expected a text or a number, got {other}"))),
            };
            names.push(column.name.as_str());
            values.push(value);
        }
        if let Some(unknown) = record.keys().next() {
            return Err(LoadError::Invalid(format!("unknown field {unknown:?}")));
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

    /// Returns when the row with a uid was changed last, UTC milliseconds.
    fn updated_at(&self, connection: &Connection, uid: &str) -> Result<Option<i64>> {
        let sql = format!("SELECT updated_at FROM {} WHERE uid = :uid", self.name);
        Ok(connection.prepare_cached(&sql)?.query_row(named_params! {":uid": uid}, |row| row.get("updated_at")).optional()?)
    }
}

fn row_of(connection: &Connection, table: &str, uid: &str) -> Result<Option<i64>> {
    let sql = format!("SELECT id FROM {table} WHERE uid = :uid");
    Ok(connection.prepare_cached(&sql)?.query_row(named_params! {":uid": uid}, |row| row.get("id")).optional()?)
}

/// Tells a value that a column refuses, and a place that is taken, from a failure of the database.
fn refused(error: rusqlite::Error) -> LoadError {
    let text = error.to_string();
    match error.sqlite_error() {
        Some(e) if e.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE => LoadError::Taken(text),
        Some(e) if e.code == rusqlite::ErrorCode::ConstraintViolation || e.code == rusqlite::ErrorCode::TypeMismatch => {
            LoadError::Invalid(text)
        }
        _ => LoadError::Store(error.into()),
    }
}
