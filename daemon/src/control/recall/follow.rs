//! Keeps entries in step with their rows.
//!
//! The writer derives the entries of the rows that a group of writes changed before it commits them, so that what was answered with success
//! is found at once. More than a few, as after an import or an upgrade, are derived behind, some at a time.

use std::sync::Arc;

use rusqlite::Connection;

use super::super::Core;
use super::describe::describe;
use crate::recall::entries;
use crate::store::Result;

/// Maximum number of entries that are derived within the group of writes that changed their rows, and within a write of their own.
const WITH_WRITES: i64 = 32;
const BEHIND: i64 = 200;

/// Derives entries that are due. Returns whether there may be more.
pub fn some(c: &Connection, limit: i64) -> Result<bool> {
    let due = entries::due(c, limit)?;
    for source in &due {
        let described = if source.gone { None } else { describe(c, source)? };
        entries::settle(c, source, described.as_ref())?;
    }
    Ok(due.len() as i64 == limit)
}

/// Lets the writer derive entries, and a background task those that it leaves.
pub fn start(core: &Arc<Core>) {
    let more = Arc::new(tokio::sync::Notify::new());
    let wake = more.clone();
    core.store.set_follower(Box::new(move |c| {
        if some(c, WITH_WRITES)? {
            wake.notify_one();
        }
        Ok(())
    }));
    // Rows may have been written by another version, or by an import that was cut off.
    more.notify_one();
    let weak = Arc::downgrade(core);
    core.tasks.spawn("entries", move || {
        let (weak, more) = (weak.clone(), more.clone());
        async move {
            loop {
                more.notified().await;
                while let Some(core) = weak.upgrade() {
                    match core.store.write(|c| some(c, BEHIND)).await {
                        Ok(true) => tokio::task::yield_now().await,
                        Ok(false) => {
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
