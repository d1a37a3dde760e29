//! Locks that serialise calls working on the same data.

use std::sync::Arc;

use afd_base::sync::KeyedLocks;

/// Locks that use cases hold to serialise calls.
#[derive(Default)]
pub(super) struct CallLocks {
    /// Locks for actions with a request key, by session, device and key.
    pub(super) acts: KeyedLocks<(String, String, String)>,
    /// Locks for other calls with a request key, by method and key.
    pub(super) calls: KeyedLocks<(&'static str, String)>,
    /// Lock held during imports, exports and backups, which exclude each other.
    pub(super) memory: Arc<tokio::sync::Mutex<()>>,
    /// Lock held while the settings are re-read and applied.
    pub(super) settings: tokio::sync::Mutex<()>,
}
