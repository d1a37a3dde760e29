//! Reads column types that SQLite does not have (enum words and JSON), and determines the origin of rows.

use std::fmt::Display;

use afd_proto::Word;
use rusqlite::types::Type;
use rusqlite::{Row, RowIndex};
use serde::de::DeserializeOwned;

/// SQL for a query's column `elsewhere`: the origin of a row if another memory created the row, otherwise null. The
/// argument is the alias of the row's table. Rows from memories that this store replaced count as this store's own
/// rows.
#[macro_export]
macro_rules! elsewhere {
    ($alias:literal) => {
        concat!(
            "CASE WHEN ",
            $alias,
            ".origin NOT IN (SELECT origin FROM store UNION ALL SELECT origin FROM former_origins) AND EXISTS (SELECT 1 FROM store) THEN ",
            $alias,
            ".origin END AS elsewhere"
        )
    };
}

/// Returns the source that is shown for a row from another memory. `source` is the source that the row records.
pub fn said_elsewhere(source: Option<&str>) -> String {
    source.map_or_else(|| "another memory".to_owned(), |source| format!("{source} of another memory"))
}

fn conversion_error(
    row: &Row<'_>,
    column: impl RowIndex,
    why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    let index = column.idx(row.as_ref()).unwrap_or_default();
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, why.into())
}

/// Reads an enum value that a column stores as a word. `column` is the column's name or index.
///
/// # Errors
/// If the column does not contain a word of the enum.
pub fn word<W: Word>(row: &Row<'_>, column: impl RowIndex + Copy + Display) -> rusqlite::Result<W> {
    let text: String = row.get(column)?;
    W::of(&text)
        .ok_or_else(|| conversion_error(row, column, format!("{column} holds {text:?}, which is not a valid value")))
}

/// Reads a value that is stored as JSON.
///
/// # Errors
/// If the column does not contain valid JSON for this type.
pub fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| conversion_error(row, column, error))
}

/// Returns `None` instead of the error for a row that cannot be decoded, so that one damaged row does not hide all
/// others. Other errors are returned unchanged.
pub fn skip_unreadable<T>(row: rusqlite::Result<T>) -> rusqlite::Result<Option<T>> {
    match row {
        Ok(row) => Ok(Some(row)),
        Err(error @ rusqlite::Error::FromSqlConversionFailure(..)) => {
            tracing::warn!(%error, "skipping a row that cannot be decoded");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Serialises a value as JSON for a column. Returns the JSON text `null` if that fails.
pub fn to_json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// Parses a JSON list from a column. Returns an empty list if the text is malformed.
pub fn parse_list<T: DeserializeOwned>(text: &str) -> Vec<T> {
    serde_json::from_str(text).unwrap_or_default()
}
