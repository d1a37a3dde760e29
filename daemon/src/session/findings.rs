//! What bugs and test results share: where they were found, and how they are read.

use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::store::{Conditions, Result};

/// Where something was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Package.
    pub app: Option<String>,
    /// Page key, activity or URL.
    pub page: Option<String>,
    /// State.
    pub state: Option<String>,
}

/// Something that a session found.
pub(super) trait Finding: Sized {
    /// The table, which goes by `f`; that of its session goes by `s`.
    const TABLE: &'static str;
    /// What is read of both.
    const COLUMNS: &'static str;

    /// Reads a row.
    fn read(row: &Row<'_>) -> rusqlite::Result<Self>;
}

/// A finding by its number.
pub(super) fn get<F: Finding>(connection: &Connection, id: i64) -> Result<Option<F>> {
    let (columns, table) = (F::COLUMNS, F::TABLE);
    let sql = format!("SELECT {columns} FROM {table} f JOIN sessions s ON s.id = f.session_id WHERE f.id = :id AND f.deleted_at IS NULL");
    Ok(connection.prepare_cached(&sql)?.query_row(named_params! {":id": id}, F::read).optional()?)
}

/// Findings in an order.
pub(super) fn select<F: Finding>(connection: &Connection, wanted: Conditions, order: &str, limit: i64) -> Result<Vec<F>> {
    let wanted = wanted.value(":limit", limit);
    let (columns, table, conditions) = (F::COLUMNS, F::TABLE, wanted.sql());
    let sql =
        format!("SELECT {columns} FROM {table} f JOIN sessions s ON s.id = f.session_id WHERE {conditions} ORDER BY {order} LIMIT :limit");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(&*wanted.values(), F::read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
