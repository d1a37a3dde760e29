//! Statements with named values. One call prepares and executes a statement, and reads its rows.

use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::Result;

/// The named values of a statement: `args! {id, at: now_ms()}` binds `:id` to `id` and `:at` to the time.
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
/// the columns of these names, and the other fields from their expressions.
#[macro_export]
macro_rules! read {
    (@ $row:ident $field:ident) => { $row.get(stringify!($field))? };
    (@ $row:ident $field:ident $value:expr) => { $value };
    ($row:ident => $($type:ident)::+ { $($field:ident $(: $value:expr)?),* $(,)? }) => {
        $($type)::+ { $($field: $crate::read!(@ $row $field $($value)?)),* }
    };
}

pub(crate) use {args, read};

/// Statements on a connection. Each is prepared once and cached.
pub trait Sql {
    /// Executes a query and returns the values that `read` returns for its rows.
    ///
    /// # Errors
    /// If the statement cannot be executed, or a row cannot be read.
    fn all<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        args: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C>;

    /// Executes a query and returns the value that `read` returns for its first row; `None` if there is no row.
    ///
    /// # Errors
    /// As for [`Sql::all`].
    fn first<T>(
        &self,
        sql: &str,
        args: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>>;

    /// Executes a query and returns the value that `read` returns for its first row.
    ///
    /// # Errors
    /// As for [`Sql::all`], and if there is no row.
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
