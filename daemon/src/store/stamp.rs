//! Uids and timestamps of rows.

/// Returns the current time in milliseconds since the Unix epoch.
pub fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Returns a new uid for a row.
pub fn new_uid() -> String {
    uuid::Uuid::now_v7().to_string()
}
