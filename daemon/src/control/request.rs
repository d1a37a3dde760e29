//! Doing it once: actions with the same `requestKey` that come while the first is under way wait for its outcome.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Session, device and key.
type Name = (String, String, String);

/// One lock per key that is under way.
#[derive(Default)]
pub(super) struct Requests {
    locks: Mutex<HashMap<Name, Arc<AsyncMutex<()>>>>,
}

impl Requests {
    fn lock_of(&self, session: &str, device: &str, key: &str) -> Arc<AsyncMutex<()>> {
        let mut locks = self.locks.lock();
        locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        locks.entry((session.to_owned(), device.to_owned(), key.to_owned())).or_default().clone()
    }

    /// Takes the key until the guard is dropped, unless somebody else works on it.
    pub(super) fn try_enter(&self, session: &str, device: &str, key: &str) -> Option<OwnedMutexGuard<()>> {
        self.lock_of(session, device, key).try_lock_owned().ok()
    }

    /// Waits until nobody else works on this key, and takes it until the guard is dropped.
    pub(super) async fn enter(&self, session: &str, device: &str, key: &str) -> OwnedMutexGuard<()> {
        self.lock_of(session, device, key).lock_owned().await
    }
}
