//! Validation of `limit` and `cursor` parameters of list methods.

use super::{Error, Result};
use afd_store::Page;

/// Maximum number of rows that a list returns.
const MAX_LIMIT: u32 = 10_000;

/// Returns the requested number of rows, checked.
pub(super) fn limit(asked: Option<u32>, default: u32) -> Result<usize> {
    match asked.unwrap_or(default) {
        n if (1..=MAX_LIMIT).contains(&n) => Ok(n as usize),
        n => Err(Error::param("limit", "1 to 10000", n)),
    }
}

/// Returns the requested page, checked.
pub(super) fn page(asked: Option<u32>, cursor: Option<i64>, default: u32) -> Result<Page> {
    let limit = limit(asked, default)?;
    match cursor {
        Some(cursor) if cursor < 0 => Err(Error::param("cursor", "the nextCursor of a previous response", cursor)),
        cursor => Ok(Page { cursor, limit }),
    }
}
