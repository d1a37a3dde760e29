//! SQL statements with named parameters. A single call prepares and executes a statement, and reads its rows.

use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::Result;

/// The named parameters of a statement: `args! {id, at: now_ms()}` binds `id` to `:id` and the time to `:at`.
#[macro_export]
macro_rules! args {
    (@value $name:ident) => { &$name as &dyn $crate::ToSql };
    (@value $name:ident, $value:expr) => { &$value as &dyn $crate::ToSql };
    ($($name:ident $(: $value:expr)?),* $(,)?) => {
        &[$((concat!(":", stringify!($name)), $crate::args!(@value $name $(, $value)?))),*]
            as &[(&str, &dyn $crate::ToSql)]
    };
}

/// Reads a struct from a row: `read!(row => Task {id, title, done: word(row, "status")?})` takes `id` and `title` from
/// the columns with these names, and `done` from its expression.
#[macro_export]
macro_rules! read {
    (@ $row:ident $field:ident) => { $row.get(stringify!($field))? };
    (@ $row:ident $field:ident $value:expr) => { $value };
    ($row:ident => $($type:ident)::+ { $($field:ident $(: $value:expr)?),* $(,)? }) => {
        $($type)::+ { $($field: $crate::read!(@ $row $field $($value)?)),* }
    };
}

pub(crate) use {args, read};

/// Methods of a connection that execute statements. Each statement is prepared once and then cached.
pub trait Sql {
    /// Executes a query, calls `read` for each row, and returns the collected values.
    ///
    /// # Errors
    /// If the statement cannot be executed, or a row cannot be read.
    fn all<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        args: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C>;

    /// Executes a query and returns what `read` returns for the first row; `None` if there is no row.
    ///
    /// # Errors
    /// If the statement cannot be executed, or the row cannot be read.
    fn first<T>(
        &self,
        sql: &str,
        args: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>>;

    /// Executes a query that must find a row, and returns what `read` returns for the first row.
    ///
    /// # Errors
    /// If the statement cannot be executed, there is no row, or the row cannot be read.
    fn one<T>(&self, sql: &str, args: impl Params, read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>) -> Result<T>;

    /// Executes a statement and returns the number of rows that it changed.
    ///
    /// # Errors
    /// If the statement cannot be executed.
    fn run(&self, sql: &str, args: impl Params) -> Result<usize>;
}

impl Sql for Connection {
    fn all<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        args: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C> {
        Ok(self.prepare_cached(sql)?.query_map(args, read)?.collect::<rusqlite::Result<_>>()?)
    }

    fn first<T>(
        &self,
        sql: &str,
        args: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.prepare_cached(sql)?.query_row(args, read).optional()?)
    }

    fn one<T>(&self, sql: &str, args: impl Params, read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>) -> Result<T> {
        Ok(self.prepare_cached(sql)?.query_row(args, read)?)
    }

    fn run(&self, sql: &str, args: impl Params) -> Result<usize> {
        Ok(self.prepare_cached(sql)?.execute(args)?)
    }
}
