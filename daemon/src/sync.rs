//! Locks by key.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// One lock for each key that is in use; who waits for the same key gets it in the order of asking.
pub struct KeyedLocks<K>(Mutex<HashMap<K, Arc<AsyncMutex<()>>>>);

impl<K> Default for KeyedLocks<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> KeyedLocks<K> {
    fn of(&self, key: K) -> Arc<AsyncMutex<()>> {
        let mut locks = self.0.lock();
        // Looking through all of them now and then is cheaper than at each use.
        if locks.len() >= 64 {
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
        }
        locks.entry(key).or_default().clone()
    }

    /// Takes the lock of a key until the guard is dropped, unless somebody else has it.
    pub fn try_lock(&self, key: K) -> Option<OwnedMutexGuard<()>> {
        self.of(key).try_lock_owned().ok()
    }

    /// Waits for the lock of a key and takes it until the guard is dropped.
    pub async fn lock(&self, key: K) -> OwnedMutexGuard<()> {
        self.of(key).lock_owned().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_is_locked_and_others_are_not() {
        let locks = KeyedLocks::default();
        let held = locks.lock("a").await;
        assert!(locks.try_lock("a").is_none() && locks.try_lock("b").is_some());
        drop(held);
        assert!(locks.try_lock("a").is_some());
    }
}
