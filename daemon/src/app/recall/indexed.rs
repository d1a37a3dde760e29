//! Access to the in-memory index. Explicit searches use an index that is up to date; automatic recall uses only what is
//! available without waiting.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::RwLockWriteGuard;

use super::Recall;
use crate::app::Core;
use afd_base::model::embed::BUILTIN;
use afd_recall::index::Index;
use afd_recall::{entries, vectors};
use afd_store::{Connection, Result, StoreError};

/// Maximum number of entries that are loaded while a response waits. This takes two or three milliseconds.
const READ_ASIDE: i64 = 1_000;
/// Maximum number of changes that are applied while a response waits. This takes two or three milliseconds.
const FOLLOWED_ASIDE: i64 = 300;
/// Maximum time that a response waits for other users of the index.
const PATIENCE: Duration = Duration::from_millis(2);
/// Maximum number of entries with which the index stays in memory while the daemon is idle, about half a megabyte. A
/// larger index is loaded again in the background when a client begins to work.
const KEPT: usize = 2_000;

/// Message for a response that did not use the index.
const NOT_READ: &str = "the recall index is still being loaded, and was not searched";
/// Message for a response that used the index without its newest changes.
const NOT_FOLLOWED: &str = "the newest entries were not searched, because the index is in use";

/// Maximum number of entries that are counted for the message that entries are not in the index yet.
const MAX_DUE: i64 = 10_000;

/// Returns the message that entries are not in the index yet, for example after an upgrade; `None` if all are.
///
/// # Errors
/// If the database cannot be read.
pub fn unindexed(c: &Connection) -> Result<Option<String>> {
    let due = entries::count_due(c, MAX_DUE)?;
    let more = if due >= MAX_DUE { " or more" } else { "" };
    Ok((due > 0).then(|| format!("{due}{more} entries and messages, which are still being indexed")))
}

/// Result of automatic recall.
#[derive(Debug, Default, PartialEq)]
pub struct AtHand<T> {
    /// The result, or the default value if the index was not searched.
    pub found: T,
    /// The part that was not searched, with the reason.
    pub missing: Option<&'static str>,
}

impl Recall {
    /// Runs work on an index that is up to date with a connection. This must be a read connection, because the index
    /// must not include changes that a write may roll back. `identity` names the model whose vectors are searched in
    /// addition to those of the built-in model. `work` receives the row ids of both models, if they have vectors.
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
            // A read lock is enough, so other searches are not blocked.
            self.mark_read(identity);
            return work(&index, builtin, other);
        }
        drop(index);
        let mut index = self.index.write();
        self.follow(&mut index, c, &models)?;
        self.mark_read(identity);
        work(&RwLockWriteGuard::downgrade(index), builtin, other)
    }

    /// Records that the index contains the vectors of the built-in model and of the model `identity`. Must be called
    /// while the index is locked.
    fn mark_read(&self, identity: Option<&str>) {
        let mut was_read = self.was_read.lock();
        for name in identity.into_iter().chain([BUILTIN]) {
            if !was_read.contains(name) {
                was_read.insert(name.to_owned());
            }
        }
    }

    /// Updates the index from the database. If this fails, for example because the caller disconnects, the next call
    /// loads the index again in the background.
    fn follow(&self, index: &mut Index, c: &Connection, models: &[i64]) -> Result<()> {
        let followed = index.follow(c, models);
        if followed.is_err() {
            self.was_read.lock().clear();
        }
        followed
    }

    /// Runs work for automatic recall, which must not wait. The work uses the index with vectors of the built-in model,
    /// as far as the index is available without waiting. An index that is far behind is loaded in the background.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn with_index_at_hand<T: Default>(
        &self,
        c: &Connection,
        work: impl FnOnce(&Index, Option<i64>) -> Result<T>,
    ) -> Result<AtHand<T>> {
        let builtin = vectors::find_model(c, BUILTIN)?.map(|m| m.id);
        let models: Vec<i64> = builtin.into_iter().collect();
        let until = Instant::now() + PATIENCE;
        let found = |index: &Index, missing| Ok(AtHand { found: work(index, builtin)?, missing });
        let not_read = || AtHand { missing: Some(NOT_READ), ..AtHand::default() };
        // The lock is recursive, so that it does not wait for a queued writer.
        let Some(index) = self.index.try_read_recursive_until(until) else { return Ok(not_read()) };
        let is_much =
            |index: &Index, behind: i64| behind > if index.is_loaded(&models) { FOLLOWED_ASIDE } else { READ_ASIDE };
        let behind = index.behind(c, &models)?;
        if behind == 0 {
            return found(&index, None);
        }
        if is_much(&index, behind) {
            self.unread.notify_one();
            return Ok(not_read());
        }
        drop(index);
        if let Some(mut index) = self.index.try_write_until(until) {
            // The index may have been dropped in the meantime.
            let behind = index.behind(c, &models)?;
            if is_much(&index, behind) {
                return Ok(not_read());
            }
            self.follow(&mut index, c, &models)?;
            return found(&RwLockWriteGuard::downgrade(index), None);
        }
        let index = self.index.try_read_recursive().filter(|index| index.is_loaded(&models));
        index.map_or_else(|| Ok(not_read()), |index| found(&index, Some(NOT_FOLLOWED)))
    }

    /// Waits until earlier commits can be found and the index is loaded with the vectors of a model. The wait does not
    /// occupy one of the few reader threads. `identity` names the model, if it is not the built-in one.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn read_first(core: &Arc<Core>, identity: Option<&str>) -> Result<()> {
        core.recall.catch_up().await;
        let name = identity.unwrap_or(BUILTIN).to_owned();
        if core.recall.was_read.lock().contains(&name) {
            return Ok(());
        }
        let own = core.clone();
        // Loads in a separate task, so that a caller that disconnects does not abort it.
        let reading = tokio::spawn(async move {
            let _turn = own.recall.reading.lock().await;
            if own.recall.was_read.lock().contains(&name) {
                return Ok(());
            }
            let recall = own.clone();
            let model = Some(name).filter(|name| name != BUILTIN);
            own.store.read(move |c| recall.recall.with_index(c, model.as_deref(), |_, _, _| Ok(()))).await
        });
        reading.await.unwrap_or_else(|error| Err(StoreError::Unavailable(error.to_string())))
    }

    /// Takes deleted text out of the search index and out of the database's log.
    ///
    /// # Errors
    /// If the database cannot be opened.
    pub async fn scrub(core: &Core) -> Result<()> {
        core.recall.catch_up().await;
        core.store.scrub().await
    }

    /// Starts loading the index if it was dropped, because a client begins to work.
    pub fn warm(&self) {
        if self.was_read.lock().is_empty() {
            self.unread.notify_one();
        }
    }

    /// Drops the index. It is loaded again when it is needed.
    pub fn drop_index(&self) {
        let mut index = self.index.write();
        *index = Index::default();
        self.was_read.lock().clear();
    }

    /// Drops the index if it is large; called while the daemon is idle.
    pub fn shrink(&self) {
        self.drop_above(KEPT);
    }

    fn drop_above(&self, most: usize) {
        let is_large = self.index.read().corpus().entries > most;
        if is_large {
            self.drop_index();
        }
    }
}

/// Starts the background task that loads the index before it is needed.
pub fn start(core: &Arc<Core>) {
    let (weak, unread) = (Arc::downgrade(core), core.recall.unread.clone());
    core.tasks.spawn("index", move || {
        let (weak, unread) = (weak.clone(), unread.clone());
        async move {
            loop {
                unread.notified().await;
                let Some(core) = weak.upgrade() else { return };
                let own = core.clone();
                let followed = match Recall::read_first(&core, None).await {
                    // The index may still be far behind.
                    Ok(()) => core.store.read(move |c| own.recall.with_index(c, None, |_, _, _| Ok(()))).await,
                    failed => failed,
                };
                if let Err(error) = followed {
                    tracing::warn!(%error, "cannot load the recall index; it is retried when it is needed");
                }
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use afd_proto::pattern::PatternScope;
    use afd_proto::recall::StoredType;

    use super::super::indexer;
    use super::*;
    use afd_recall::memories::{self, Memory};
    use afd_store::Piece;
    use afd_workspace as session;

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
        while indexer::some(c, 100, &Piece::whole()).expect("derives") > 0 {}
    }

    fn at_hand(recall: &Recall, c: &Connection) -> (usize, Option<&'static str>) {
        let at_hand = recall.with_index_at_hand(c, |index, _| Ok(index.corpus().entries)).expect("reads");
        (at_hand.found, at_hand.missing)
    }

    #[test]
    fn an_answer_waits_neither_for_a_large_index_nor_for_those_who_use_it() {
        let c = afd_store::in_memory().expect("opens");
        let session = session::row_id(&c, "o", "s").expect("a session");
        let recall = Recall::default();
        assert_eq!(at_hand(&recall, &c), (0, None));
        add(&c, session, 0..3);
        assert_eq!(at_hand(&recall, &c), (3, None), "few changes are followed");
        add(&c, session, 3..READ_ASIDE + 10);
        assert_eq!(at_hand(&recall, &c), (0, Some(NOT_READ)), "many are followed behind");
        recall.with_index(&c, None, |_, _, _| Ok(())).expect("follows");
        let all = READ_ASIDE as usize + 10;
        assert_eq!(at_hand(&recall, &c), (all, None));
        add(&c, session, 2_000..2_001);
        let others = recall.index.read();
        assert_eq!(at_hand(&recall, &c), (all, Some(NOT_FOLLOWED)), "what is new is missing while others search");
        drop(others);
        assert_eq!(at_hand(&recall, &c), (all + 1, None));
        let follows = recall.index.write();
        assert_eq!(at_hand(&recall, &c), (0, Some(NOT_READ)));
        drop(follows);
        recall.drop_index();
        assert_eq!(at_hand(&recall, &c), (0, Some(NOT_READ)), "a dropped one is read behind");
    }

    #[test]
    fn only_a_large_index_is_dropped_while_nobody_calls() {
        let c = afd_store::in_memory().expect("opens");
        let session = session::row_id(&c, "o", "s").expect("a session");
        let recall = Recall::default();
        add(&c, session, 0..3);
        assert_eq!(at_hand(&recall, &c), (3, None));
        let state = || (recall.index.read().corpus().entries, recall.was_read.lock().contains(BUILTIN));
        recall.with_index(&c, None, |_, _, _| Ok(())).expect("reads");
        recall.drop_above(3);
        assert_eq!(state(), (3, true));
        recall.drop_above(2);
        assert_eq!(state(), (0, false), "it is read again");
    }

    #[test]
    fn an_index_that_was_broken_off_is_read_again() {
        let c = afd_store::in_memory().expect("opens");
        let session = session::row_id(&c, "o", "s").expect("a session");
        let recall = Recall::default();
        add(&c, session, 0..500);
        recall.with_index(&c, None, |_, _, _| Ok(())).expect("reads");
        assert!(recall.was_read.lock().contains(BUILTIN));
        add(&c, session, 500..1_000);
        c.progress_handler(50, Some(|| true)).expect("interrupts");
        recall.with_index(&c, None, |_, _, _| Ok(())).expect_err("is broken off");
        c.progress_handler(0, None::<fn() -> bool>).expect("goes on");
        assert!(recall.was_read.lock().is_empty());
        let entries = recall.with_index(&c, None, |index, _, _| Ok(index.corpus().entries)).expect("reads");
        assert_eq!(entries, 1_000);
    }
}
