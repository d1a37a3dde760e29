//! Keeps entries in step with their rows.
//!
//! The writer derives the entries of the rows that a group of writes changed before it commits them, so that what was answered with success
//! is found at once. More than a few, as after an import or an upgrade, are derived behind, some at a time.

use std::sync::{Arc, Weak};

use rusqlite::Connection;
use tokio::sync::Notify;

use super::super::Core;
use super::describe::describe;
use crate::recall::entries;
use crate::store::Result;

/// Maximum number of entries that are derived within the group of writes that changed their rows, and within a write of their own.
const WITH_WRITES: i64 = 32;
const BEHIND: i64 = 200;
/// Entries that are checked in one write.
const CHECKED: i64 = 300;

/// Derives entries that are due. Returns how many.
pub fn some(c: &Connection, limit: i64) -> Result<i64> {
    let due = entries::due(c, limit)?;
    for source in &due {
        let described = if source.gone { None } else { describe(c, source)? };
        entries::settle(c, source, described.as_ref())?;
    }
    Ok(due.len() as i64)
}

/// Lets the writer derive entries, and a background task those that it leaves.
pub fn start(core: &Arc<Core>) {
    let more = core.recall.due.clone();
    let (wake, embed) = (more.clone(), core.recall.wake.clone());
    core.store.set_follower(Box::new(move |c| {
        let done = some(c, WITH_WRITES)?;
        if done == WITH_WRITES {
            wake.notify_one();
        }
        if done > 0 {
            embed.notify_one();
        }
        Ok(())
    }));
    // Rows may have been written by another version, or by an import that was cut off.
    more.notify_one();
    let weak = Arc::downgrade(core);
    let found = more.clone();
    core.tasks.spawn("check-entries", move || check(weak.clone(), found.clone()));
    let weak = Arc::downgrade(core);
    core.tasks.spawn("entries", move || {
        let (weak, more) = (weak.clone(), more.clone());
        async move {
            loop {
                more.notified().await;
                while let Some(core) = weak.upgrade() {
                    match core.store.write(|c| some(c, BEHIND)).await {
                        Ok(BEHIND) => tokio::task::yield_now().await,
                        Ok(_) => {
                            core.recall.nudge();
                            break;
                        }
                        Err(error) => {
                            tracing::warn!(%error, "cannot derive entries; it is tried again with the next write");
                            break;
                        }
                    }
                }
            }
        }
    });
}

/// Looks once for entries whose index is damaged, and lets them be derived again.
async fn check(core: Weak<Core>, more: Arc<Notify>) {
    let (mut after, mut damaged) = (0, 0);
    while let Some(core) = core.upgrade() {
        match core.store.write(move |c| entries::check(c, after, CHECKED)).await {
            Ok(Some((last, found))) => {
                (after, damaged) = (last, damaged + found);
                if found > 0 {
                    more.notify_one();
                }
                tokio::task::yield_now().await;
            }
            Ok(None) => break,
            Err(error) => {
                tracing::warn!(%error, "cannot check the entries; it is tried again at the next start");
                break;
            }
        }
    }
    if damaged > 0 {
        tracing::warn!(damaged, "entries lacked a part of their index, and are derived again");
    }
}
