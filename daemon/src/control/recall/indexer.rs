//! Keeps entries in step with their rows.
//!
//! The writer derives the entries of the rows that a group of writes changed before it commits them, so that what was
//! answered with success is found at once. More than a few, as after an import or an upgrade, are derived behind, some
//! at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use super::super::Core;
use super::describe::describe;
use afd_recall::entries::{self, Source};
use afd_store::{Connection, Piece, Result, all_or_nothing};

/// Maximum number of entries that are derived within the group of writes that changed their rows, while many others are
/// due, and within a write of their own.
const WITH_WRITES: i64 = 32;
const WHILE_BEHIND: i64 = 8;
const BEHIND: i64 = 200;
/// How long entries are derived within a group of writes, which wait for it.
const MAX_TIME: Duration = Duration::from_millis(10);
/// Entries that are checked in one write.
const CHECKED: i64 = 300;

/// Derives entries that are due, until the piece is over. Returns how many; `limit` if there may be more.
pub fn some(c: &Connection, limit: i64, piece: &Piece) -> Result<i64> {
    let due = entries::due(c, limit)?;
    let mut done = 0;
    for source in &due {
        derive(c, source)?;
        done += 1;
        if piece.is_over() {
            return Ok(limit);
        }
    }
    Ok(done)
}

/// Derives an entry. One whose row cannot be understood is given up, so that it does not keep the others from being
/// found.
fn derive(c: &Connection, source: &Source) -> Result<()> {
    let derived = all_or_nothing(c, |c| {
        let described = if source.gone { None } else { describe(c, source)? };
        entries::settle(c, source, described.as_ref())
    });
    match derived {
        Err(error) if error.is_unreadable_row() => {
            tracing::warn!(%error, kind = source.kind, row = source.row, "cannot derive an entry");
            entries::give_up(c, source.id)
        }
        done => done,
    }
}

/// Lets the writer derive entries, and a background task those that it leaves.
pub fn start(core: &Arc<Core>) {
    let more = core.recall.due.clone();
    let (wake, embed, send) = (more.clone(), core.recall.wake.clone(), core.recall.changed.clone());
    // The newest come first, so what a group changed is derived with it although others are due.
    let is_behind = Arc::new(AtomicBool::new(false));
    let behind = is_behind.clone();
    core.store.set_follower(Box::new(move |c| {
        let limit = if behind.load(Ordering::Relaxed) { WHILE_BEHIND } else { WITH_WRITES };
        let done = some(c, limit, &Piece::lasting(MAX_TIME))?;
        if done == limit {
            behind.store(true, Ordering::Relaxed);
            wake.notify_one();
        }
        if done > 0 {
            embed.notify_one();
            send.notify_one();
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
        let (weak, more, is_behind) = (weak.clone(), more.clone(), is_behind.clone());
        async move {
            loop {
                more.notified().await;
                while let Some(core) = weak.upgrade() {
                    match core.store.write_long(|c, piece| some(c, BEHIND, piece)).await {
                        Ok(BEHIND) => {
                            is_behind.store(true, Ordering::Relaxed);
                            tokio::task::yield_now().await;
                        }
                        Ok(_) => {
                            is_behind.store(false, Ordering::Relaxed);
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

/// Looks once for entries that are lost or whose index is damaged, and lets them be derived again.
async fn check(core: Weak<Core>, more: Arc<Notify>) {
    let (mut after, mut damaged) = (0, 0);
    while let Some(core) = core.upgrade() {
        match check_some(&core, after).await {
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

/// Checks some entries after one, the first time also whether all are there. Returns the last one, and how many are
/// derived again; `None` if there are no more.
async fn check_some(core: &Core, after: i64) -> Result<Option<(i64, usize)>> {
    let mut found = 0;
    if after == 0 && core.store.read_all(entries::some_are_lost).await? {
        found += core.store.write(entries::restore).await?;
    }
    let Some((last, damaged)) = core.store.read_all(move |c| entries::check(c, after, CHECKED)).await? else {
        return Ok((found > 0).then_some((after, found)));
    };
    found += damaged.len();
    if !damaged.is_empty() {
        core.store.write(move |c| entries::derive_again(c, &damaged)).await?;
    }
    Ok(Some((last, found)))
}
