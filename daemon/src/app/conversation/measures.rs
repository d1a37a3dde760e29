//! Statistics about contexts.

/// Returns the percentage of tokens that sending `sent` instead of `all` tokens avoids, rounded to one decimal.
pub(super) fn percent_saved(sent: i64, all: i64) -> f64 {
    if all <= 0 { 0.0 } else { ((all - sent).max(0) as f64 * 1000.0 / all as f64).round() / 10.0 }
}
