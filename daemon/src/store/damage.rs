//! Known damage of the database, and the number of rolled-back writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::error::StoreError;

/// Remembers damage once it is known, and counts rolled-back writes.
#[derive(Debug, Clone, Default)]
pub(super) struct Damage(Arc<Mutex<Option<String>>>, Arc<AtomicU64>);

impl Damage {
    pub(super) fn get(&self) -> Option<String> {
        self.0.lock().clone()
    }

    /// Returns the shared counter of rolled-back writes.
    pub(super) fn rollback_count(&self) -> Arc<AtomicU64> {
        self.1.clone()
    }

    pub(super) fn count_rollback(&self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn set(&self, what: String) {
        tracing::error!(%what, "the memory database is damaged; further writes are refused");
        self.0.lock().get_or_insert(what);
    }

    pub(super) fn set_if_damaged(&self, error: &StoreError) {
        if let StoreError::Damaged(what) = error {
            self.set(what.clone());
        }
    }
}
