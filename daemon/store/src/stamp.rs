//! Uids and timestamps for rows.

/// Returns the current time in milliseconds since the Unix epoch.
pub fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX).saturating_add(advanced_ms())
}

/// Returns by how many milliseconds a test has advanced the clock, read from the file that `AFD_TEST_CLOCK` names.
#[cfg(debug_assertions)]
fn advanced_ms() -> i64 {
    static FILE: std::sync::LazyLock<Option<std::path::PathBuf>> =
        std::sync::LazyLock::new(|| std::env::var_os("AFD_TEST_CLOCK").map(std::path::PathBuf::from));
    let text = FILE.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
    text.and_then(|t| t.trim().parse().ok()).unwrap_or_default()
}

#[cfg(not(debug_assertions))]
const fn advanced_ms() -> i64 {
    0
}

/// Returns a new uid for a row.
pub fn new_uid() -> String {
    if std::time::SystemTime::now() < std::time::UNIX_EPOCH {
        // Version 7 uids cannot represent a time before the epoch, so use the epoch.
        return uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, 0, 0)).to_string();
    }
    uuid::Uuid::now_v7().to_string()
}

/// Formats a time (Unix milliseconds) as RFC 3339 in UTC, with second precision.
pub fn rfc3339(ms: i64) -> String {
    jiff::Timestamp::from_second(ms.div_euclid(1000)).map(|t| t.to_string()).unwrap_or_default()
}
