//! The index in memory as it is used: up to date for who asked, and only as far as it is at hand for what is offered beside other answers.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::RwLockWriteGuard;
use rusqlite::Connection;

use super::super::Core;
use super::Recall;
use crate::model::embed::BUILTIN;
use crate::recall::index::Index;
use crate::recall::vectors;
use crate::store::Result;

/// Changes that are followed while an answer waits: some milliseconds.
const FOLLOWED_ASIDE: i64 = 1_000;
/// How long an answer waits for others who use the index.
const PATIENCE: Duration = Duration::from_millis(2);
/// Entries up to which the index is kept while nobody calls: some megabytes.
const KEPT: usize = 25_000;

/// What an answer says that was given without the index.
pub const NOT_READ: &str = "the index of what is remembered is being read: nothing was looked for";

impl Recall {
    /// Runs work on an index that is up to date with the connection of a reader: it must not follow what a write may take back. `identity` is
    /// that of the model whose vectors are searched beside those of the built-in one; `work` gets the row ids of both, if they have made
    /// vectors.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn with_index<T>(
        &self,
        c: &Connection,
        identity: Option<&str>,
        work: impl FnOnce(&Index, Option<i64>, Option<i64>) -> Result<T>,
    ) -> Result<T> {
        let builtin = vectors::find_model(c, BUILTIN)?.map(|m| m.id);
        let other = identity.map(|identity| vectors::find_model(c, identity)).transpose()?.flatten().map(|m| m.id);
        let models: Vec<i64> = builtin.into_iter().chain(other).collect();
        let index = self.index.read();
        if index.behind(c, &models)? == 0 {
            // Others who search need not be waited for.
            return work(&index, builtin, other);
        }
        drop(index);
        let mut index = self.index.write();
        index.follow(c, &models)?;
        work(&RwLockWriteGuard::downgrade(index), builtin, other)
    }

    /// Runs work beside another answer, which must not wait: on the index with vectors of the built-in model, without the newest changes while
    /// others keep it. Returns `None` if the index has to be read first, which is then done behind.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn with_index_at_hand<T>(&self, c: &Connection, work: impl FnOnce(&Index, Option<i64>) -> Result<T>) -> Result<Option<T>> {
        let builtin = vectors::find_model(c, BUILTIN)?.map(|m| m.id);
        let models: Vec<i64> = builtin.into_iter().collect();
        // Recursive, so that it does not wait for who waits to follow.
        let Some(index) = self.index.try_read_recursive_for(PATIENCE) else { return Ok(None) };
        let behind = index.behind(c, &models)?;
        if behind > FOLLOWED_ASIDE {
            self.unread.notify_one();
            return Ok(None);
        }
        if behind == 0 {
            return work(&index, builtin).map(Some);
        }
        drop(index);
        if let Some(mut index) = self.index.try_write_for(PATIENCE) {
            index.follow(c, &models)?;
            return work(&RwLockWriteGuard::downgrade(index), builtin).map(Some);
        }
        self.index.try_read_recursive_for(PATIENCE).map(|index| work(&index, builtin)).transpose()
    }

    /// Lets the index be read, if it was dropped: somebody begins to work.
    pub fn warm(&self) {
        if !self.is_warm.swap(true, Ordering::Relaxed) {
            self.unread.notify_one();
        }
    }

    /// Drops the index; it is read again when it is needed.
    pub fn drop_index(&self) {
        *self.index.write() = Index::default();
        self.is_warm.store(false, Ordering::Relaxed);
    }

    /// Drops an index that takes much memory, as nobody calls.
    pub fn shrink(&self) {
        let is_large = self.index.read().corpus().entries > KEPT;
        if is_large {
            self.drop_index();
        }
    }
}

/// Starts the background task that reads the index before it is needed.
pub fn start(core: &Arc<Core>) {
    let (weak, unread) = (Arc::downgrade(core), core.recall.unread.clone());
    core.tasks.spawn("index", move || {
        let (weak, unread) = (weak.clone(), unread.clone());
        async move {
            loop {
                unread.notified().await;
                let Some(core) = weak.upgrade() else { return };
                let own = core.clone();
                if let Err(error) = core.store.read(move |c| own.recall.with_index(c, None, |_, _, _| Ok(()))).await {
                    tracing::warn!(%error, "cannot read the index of what is remembered; it is tried again when it is needed");
                    core.recall.is_warm.store(false, Ordering::Relaxed);
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use afd_proto::pattern::PatternScope;
    use afd_proto::recall::StoredType;

    use super::super::follow;
    use super::*;
    use crate::recall::memories::{self, Memory};
    use crate::session;

    fn add(c: &Connection, session: i64, range: std::ops::Range<i64>) {
        for n in range {
            let memory = Memory {
                uid: String::new(),
                session,
                kind: StoredType::Fact,
                title: None,
                text: format!("fact {n}"),
                app: String::new(),
                site: String::new(),
                scope: PatternScope::Everybody,
                source: "user".to_owned(),
                confidence: 0.7,
                tags: Vec::new(),
                related: Vec::new(),
                expires_at: None,
                created_at: 1,
            };
            memories::store(c, "o", &memory).expect("stores");
        }
        while follow::some(c, 100).expect("derives") > 0 {}
    }

    /// Returns how many entries are found at hand.
    fn at_hand(recall: &Recall, c: &Connection) -> Option<usize> {
        recall.with_index_at_hand(c, |index, _| Ok(index.corpus().entries)).expect("reads")
    }

    #[test]
    fn an_answer_waits_neither_for_a_large_index_nor_for_those_who_use_it() {
        let c = crate::store::in_memory().expect("opens");
        let session = session::row_id(&c, "o", "s").expect("a session");
        let recall = Recall::default();
        assert_eq!(at_hand(&recall, &c), Some(0));
        add(&c, session, 0..3);
        assert_eq!(at_hand(&recall, &c), Some(3), "few changes are followed");
        add(&c, session, 3..FOLLOWED_ASIDE + 10);
        assert_eq!(at_hand(&recall, &c), None, "many are followed behind");
        recall.with_index(&c, None, |_, _, _| Ok(())).expect("follows");
        assert_eq!(at_hand(&recall, &c), Some(FOLLOWED_ASIDE as usize + 10));
        add(&c, session, 2_000..2_001);
        let others = recall.index.read();
        assert_eq!(at_hand(&recall, &c), Some(FOLLOWED_ASIDE as usize + 10), "what is new is missing while others search");
        drop(others);
        assert_eq!(at_hand(&recall, &c), Some(FOLLOWED_ASIDE as usize + 11));
        let follows = recall.index.write();
        assert_eq!(at_hand(&recall, &c), None);
        drop(follows);
        recall.drop_index();
        assert_eq!(at_hand(&recall, &c), None, "a dropped one is read behind");
    }

    #[test]
    fn only_a_large_index_is_dropped_while_nobody_calls() {
        let c = crate::store::in_memory().expect("opens");
        let session = session::row_id(&c, "o", "s").expect("a session");
        let recall = Recall::default();
        add(&c, session, 0..3);
        assert_eq!(at_hand(&recall, &c), Some(3));
        recall.shrink();
        assert_eq!(recall.index.read().corpus().entries, 3);
        recall.drop_index();
        assert_eq!(recall.index.read().corpus().entries, 0);
    }
}
