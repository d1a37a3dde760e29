//! Code shared by bugs and test results: where they were found, and how their rows are queried.

use rusqlite::{Connection, Row};

use afd_store::{Conditions, Result, Sql as _, args};

/// Place where a bug was found or a test was run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Package of the app in which the bug was found or the test was run.
    pub app: Option<String>,
    /// Page, given as a page key, an activity or a URL.
    pub page: Option<String>,
    /// Code of the visual state of the page.
    pub state: Option<String>,
}

/// A finding (a bug or a test result) that is stored as a database row.
pub(super) trait Finding: Sized {
    /// Table name. Queries alias it as `f`, and its `sessions` row as `s`.
    const TABLE: &'static str;
    /// Columns that queries select from the finding's table and from `sessions`.
    const COLUMNS: &'static str;

    /// Reads a finding from a row with the columns in `COLUMNS`.
    fn read(row: &Row<'_>) -> rusqlite::Result<Self>;
}

/// Returns a finding by its row id, or `None` if it is missing or deleted.
pub(super) fn get<F: Finding>(connection: &Connection, id: i64) -> Result<Option<F>> {
    let (columns, table) = (F::COLUMNS, F::TABLE);
    let sql = format!(
        "SELECT {columns} FROM {table} f JOIN sessions s ON s.id = f.session_id WHERE f.id = :id AND f.deleted_at IS NULL"
    );
    connection.first(&sql, args! {id}, F::read)
}

/// Returns up to `limit` findings that meet the conditions, in the given SQL order.
pub(super) fn select<F: Finding>(
    connection: &Connection,
    wanted: Conditions,
    order: &str,
    limit: i64,
) -> Result<Vec<F>> {
    let wanted = wanted.value(":limit", limit);
    let (columns, table, conditions) = (F::COLUMNS, F::TABLE, wanted.sql());
    let sql = format!(
        "SELECT {columns} FROM {table} f JOIN sessions s ON s.id = f.session_id WHERE {conditions} ORDER BY {order} LIMIT :limit"
    );
    connection.all(&sql, &*wanted.values(), F::read)
}
