//! `memory.prune` and `memory.vacuum`, and the job that keeps the memory within its limits.

use std::sync::Arc;
use std::time::Duration;

use afd_proto::ErrorCode;
use afd_proto::session::Statistics;
use afd_proto::upkeep::{MemoryPrune, MemoryVacuum, PruneParams, Pruned, Vacuumed};

use crate::app::{Core, Error, Methods, Result};
use afd_experience::memory::prune::{self, Cut, Share};
use afd_experience::memory::rebuild;
use afd_store::job::Outcome;
use afd_store::{Space, Store, StoreError, now_ms};
use afd_workspace::elsewhere::{self, Elsewhere};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<MemoryPrune, _, _>(|core, p| async move { prune(&core, &p).await });
    methods.add::<MemoryVacuum, _, _>(|core, _| async move { vacuum(&core.store).await });
}

/// Name of the job that keeps the memory within its limits.
pub const JOB: &str = "memory-limits";

/// Number of rows that are folded in one write, so that other writes are not blocked.
const BATCH: usize = 300;
/// Age below which rows are kept whatever the size of the database, in milliseconds.
const ALWAYS_KEPT_MS: i64 = 7 * DAY_MS;
const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;
/// Number of free pages that are returned to the file system in one write.
const SHORTENED_PAGES: u32 = 500;
/// Divisor of the file size that gives the space that may stay free for new rows: one tenth of the file.
const FREE_PART: u64 = 10;

/// Implements `memory.prune`.
///
/// # Errors
/// If `older` is not an age, if the experience counters are being rebuilt, or if the database cannot be written.
pub async fn prune(core: &Arc<Core>, params: &PruneParams) -> Result<Pruned> {
    let before = now_ms() - age(&params.older)?;
    let cut = Cut { events: before, observations: before };
    let dry_run = params.dry_run();
    let (events, observations) = if dry_run {
        let (events, observations) = core.store.read_all(move |c| prune::count(c, cut)).await?;
        (events.unsigned_abs(), observations.unsigned_abs())
    } else {
        if core.store.read(rebuild::is_under_way).await? {
            return Err(Error::new(
                ErrorCode::Conflict,
                "the counters of experience are being rebuilt, which requires all events",
            )
            .hint("try again in a minute"));
        }
        if core.store.read(prune::is_clock_doubtful).await? {
            return Err(Error::new(
                ErrorCode::Conflict,
                "the newest events are from the future, so the age of events cannot be determined",
            )
            .hint("set the clock; `afctl doctor` checks it"));
        }
        delete(core, cut).await?
    };
    Ok(Pruned { before, events, observations, dry_run, used_bytes: used(&core.store).await? })
}

/// Parses an age such as `90d` or `2h`. Returns milliseconds.
fn age(text: &str) -> Result<i64> {
    let refused =
        || Error::param("older", "a number with d for days or h for hours, such as 90d, and at least one hour", text);
    let unit = |end: char, ms: i64| text.trim().strip_suffix(end).map(|number| (number, ms));
    let (number, unit) = unit('d', DAY_MS).or_else(|| unit('h', HOUR_MS)).ok_or_else(refused)?;
    let number: i64 = number.trim().parse().map_err(|_| refused())?;
    number.checked_mul(unit).filter(|ms| (HOUR_MS..=now_ms()).contains(ms)).ok_or_else(refused)
}

/// Folds and deletes old rows. Returns the numbers of deleted events and observations. Waits while an import is in
/// progress, because events are folded in the order of their sequence numbers, and an import adds events in a different
/// order.
async fn delete(core: &Core, cut: Cut) -> std::result::Result<(u64, u64), StoreError> {
    let (mut events, mut observations) = (0, 0);
    for origin in core.store.read_all(prune::origins).await? {
        loop {
            let origin = origin.clone();
            let _turn = core.locks.memory.lock().await;
            let step = core.store.write_long(move |c, piece| {
                let step = prune::some(c, &origin, cut, BATCH, piece)?;
                for (session, share) in &step.shares {
                    elsewhere::add(c, *session, moved(share))?;
                }
                Ok::<_, StoreError>(step)
            });
            let step = step.await?;
            events += step.events;
            observations += step.observations;
            if step.done {
                break;
            }
        }
    }
    Ok((events, observations))
}

/// Returns the statistics and pages that a session keeps after its rows are deleted.
fn moved(share: &Share) -> Elsewhere {
    let totals = &share.totals;
    let statistics = Statistics {
        actions_performed: totals.done,
        assertions_passed: totals.passed_checks,
        assertions_failed: totals.failed_checks,
        errors_encountered: totals.errors,
        observations: totals.observations,
        ..Statistics::default()
    };
    Elsewhere { statistics, pages: share.pages.clone() }
}

async fn used(store: &Store) -> std::result::Result<u64, StoreError> {
    let Space { file, free, .. } = store.space().await?;
    Ok(file.saturating_sub(free))
}

/// Implements `memory.vacuum`.
///
/// # Errors
/// If the disk is full or the database is damaged.
pub async fn vacuum(store: &Store) -> Result<Vacuumed> {
    let before = store.space().await?;
    store.vacuum().await?;
    let after = store.space().await?;
    tracing::info!(before = before.file, after = after.file, "rewrote the database");
    Ok(Vacuumed { before_bytes: before.file, after_bytes: after.file })
}

/// Deletes rows beyond the age and size limits, and returns free space to the file system.
pub(in crate::app) async fn run_job(core: &Arc<Core>) -> Outcome {
    let store = &core.store;
    if store.read(rebuild::is_under_way).await? {
        return Ok("postponed: the counters of experience are being rebuilt".to_owned());
    }
    let limits = core.config.get().retention.clone();
    let since = |age: Duration| now_ms().saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX)).max(0);
    if store.read(prune::is_clock_doubtful).await? {
        return Ok("postponed: the newest events are from the future, so the clock is wrong".to_owned());
    }
    let (mut events, mut observations) =
        delete(core, Cut { events: since(limits.events), observations: since(limits.observations) }).await?;
    let mut note = "";
    while used(store).await? > limits.max_bytes {
        let newest = now_ms() - ALWAYS_KEPT_MS;
        let Some(oldest) = store.read(prune::oldest).await?.filter(|oldest| *oldest < newest) else {
            note = "; it is still larger than `memory.max_bytes`, but nothing else may be deleted";
            break;
        };
        let before = (oldest + DAY_MS).min(newest);
        let (more_events, more_observations) = delete(core, Cut { events: before, observations: before }).await?;
        if more_events + more_observations == 0 && store.read(prune::oldest).await? == Some(oldest) {
            note = "; it is still larger than `memory.max_bytes`, but the oldest rows are still needed";
            break;
        }
        events += more_events;
        observations += more_observations;
    }
    let freed = give_back(store).await?;
    if store.space().await?.wal > limits.max_wal_bytes {
        store.scrub().await?;
    }
    Ok(format!("deleted {events} events and {observations} observations, gave back {freed} bytes{note}"))
}

/// Gives most of the database file's free space back to the file system. Returns the number of bytes freed.
async fn give_back(store: &Store) -> std::result::Result<u64, StoreError> {
    let begun = store.space().await?;
    let mut now = begun;
    while now.free > now.file / FREE_PART {
        store.shorten(SHORTENED_PAGES).await?;
        let next = store.space().await?;
        if next.free >= now.free {
            break;
        }
        now = next;
    }
    Ok(begun.file.saturating_sub(now.file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_days_or_hours() {
        assert_eq!(age("90d").expect("an age"), 90 * DAY_MS);
        assert_eq!(age(" 2h ").expect("an age"), 2 * HOUR_MS);
        for wrong in ["", "90", "d", "-1d", "0d", "1.5d", "90days", "99999999999999999d", "1000000d", "90dd"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
    }
}
