//! Validation of the `cursor` of list methods.

use super::{Error, Result};
use afd_store::Page;

/// Returns the page that `limit` and `cursor` request. Returns an error if the cursor is negative.
pub(super) fn page(limit: u32, cursor: Option<i64>) -> Result<Page> {
    match cursor {
        Some(cursor) if cursor < 0 => Err(Error::param("cursor", "the nextCursor of a previous response", cursor)),
        cursor => Ok(Page { cursor, limit: limit as usize }),
    }
}
