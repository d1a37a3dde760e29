//! Locks that are identified by keys.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// A set of locks, one for each key in use. Callers that wait for the same lock acquire it in FIFO order.
pub struct KeyedLocks<K>(Mutex<HashMap<K, Arc<AsyncMutex<()>>>>);

impl<K> Default for KeyedLocks<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> KeyedLocks<K> {
    fn entry(&self, key: K) -> Arc<AsyncMutex<()>> {
        let mut locks = self.0.lock();
        // Remove unused locks only occasionally, which is cheaper than removing each lock after use.
        if locks.len() >= 64 {
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        }
        locks.entry(key).or_default().clone()
    }

    /// Tries to acquire the lock for a key. Returns a guard that holds the lock until it is dropped, or `None` if the
    /// lock is already held.
    pub fn try_lock(&self, key: K) -> Option<OwnedMutexGuard<()>> {
        self.entry(key).try_lock_owned().ok()
    }

    /// Waits for the lock for a key. The lock is held until the guard is dropped.
    pub async fn lock(&self, key: K) -> OwnedMutexGuard<()> {
        self.entry(key).lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn locking_a_key_leaves_others_free() {
        let locks = KeyedLocks::default();
        let held = locks.lock("a").await;
        assert!(locks.try_lock("a").is_none() && locks.try_lock("b").is_some());
        drop(held);
        assert!(locks.try_lock("a").is_some());
    }
}
