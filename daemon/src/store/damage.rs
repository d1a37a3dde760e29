//! Damage of the database, and writes that were undone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::error::StoreError;

/// Remembers damage, once it is known, and counts writes that were undone.
#[derive(Debug, Clone, Default)]
pub(super) struct Damage(Arc<Mutex<Option<String>>>, Arc<AtomicU64>);

impl Damage {
    pub(super) fn get(&self) -> Option<String> {
        self.0.lock().clone()
    }

    /// The counter of writes that were undone.
    pub(super) fn undone(&self) -> Arc<AtomicU64> {
        self.1.clone()
    }

    pub(super) fn count_undone(&self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn set(&self, what: String) {
        tracing::error!(%what, "the memory database is damaged; writing stops");
        self.0.lock().get_or_insert(what);
    }

    pub(super) fn note(&self, error: &StoreError) {
        if let StoreError::Damaged(what) = error {
            self.set(what.clone());
        }
    }
}
