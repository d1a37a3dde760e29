//! Columns that hold more than SQLite knows of: words of closed lists, and JSON.

use afd_proto::Word;
use rusqlite::Row;
use rusqlite::types::Type;
use serde::de::DeserializeOwned;

fn unreadable(row: &Row<'_>, column: &str, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    let index = row.as_ref().column_index(column).unwrap_or_default();
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, why.into())
}

/// A word of a closed list.
///
/// # Errors
/// When the column holds another word.
pub fn word<W: Word>(row: &Row<'_>, column: &str) -> rusqlite::Result<W> {
    let text: String = row.get(column)?;
    W::of(&text).ok_or_else(|| unreadable(row, column, format!("{column} holds {text:?}, which is no word of its list")))
}

/// A value that is kept as JSON.
///
/// # Errors
/// When the column holds something else.
pub fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| unreadable(row, column, error))
}

/// A row, or nothing where one of its columns cannot be read: one damaged row must not keep all others from being told.
///
/// # Errors
/// Everything else that SQLite says.
pub fn readable<T>(row: rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
    match row {
        Ok(row) => Ok(Some(row)),
        Err(error @ rusqlite::Error::FromSqlConversionFailure(..)) => {
            tracing::warn!(%error, "a row is passed over");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
