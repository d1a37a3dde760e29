//! Request keys, which make sure that a call is executed only once.

/// Returns a unique request key. It consists of 128 random bits, taken from the random state of the standard library's
/// hash maps, the time and the process id.
pub fn request_key() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let draw = || RandomState::new().build_hasher().finish();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("afctl-{:016x}{:016x}-{:x}-{:x}", draw(), draw(), now.as_nanos(), std::process::id())
}
