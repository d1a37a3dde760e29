//! Statements with named values, without the steps between the text of a statement and its result.

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

/// Returns a struct of a row: `read!(row => Task {id, title, done: word(row, "status")?})` takes `id` and `title` from the
/// columns of these names, and the others as they are given.
#[macro_export]
macro_rules! read {
    (@ $row:ident $field:ident) => { $row.get(stringify!($field))? };
    (@ $row:ident $field:ident $value:expr) => { $value };
    ($row:ident => $($type:ident)::+ { $($field:ident $(: $value:expr)?),* $(,)? }) => {
        $($type)::+ { $($field: $crate::read!(@ $row $field $($value)?)),* }
    };
}

pub(crate) use {args, read};

/// Statements of a connection. Each is prepared once and kept.
pub trait Sql {
    /// Returns what is read of each row.
    ///
    /// # Errors
    /// If the statement cannot be executed, or a row cannot be read.
    fn all<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        args: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<C>;

    /// Returns what is read of the first row; `None` if there is none.
    ///
    /// # Errors
    /// As [`Sql::all`].
    fn first<T>(
        &self,
        sql: &str,
        args: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>>;

    /// Returns what is read of the first row.
    ///
    /// # Errors
    /// As [`Sql::all`]; also if there is no row.
    fn one<T>(&self, sql: &str, args: impl Params, read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>) -> Result<T>;

    /// Changes rows; returns how many.
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
