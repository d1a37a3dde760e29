//! `recall.upkeep`, and the job that does the same: merges, expires and archives recall entries, and drops unused
//! vectors.
//!
//! Each step changes a limited number of rows at a time, so that other writes are not blocked, and reports its changes.

use std::collections::HashMap;
use std::sync::Arc;

use afd_proto::pattern::Pattern;
use afd_proto::recall_upkeep::{RecallUpkeep, RecallUpkeepParams, RecallUpkeepRun, UpkeepChange, UpkeepRow, UpkeepRun};

use super::similar;
use super::store::forget_results;
use crate::app::{Core, Methods, Result};
use afd_base::model::embed::BUILTIN;
use afd_base::text::{self, cut};
use afd_experience::memory::log as events;
use afd_recall::{entries, log, memories, vectors};
use afd_store::job::Outcome;
use afd_store::{Connection, Result as Stored, StoreError, now_ms};
use afd_workspace::{self as session, patterns};

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<RecallUpkeepRun, _, _>(|core, p| async move { upkeep(&core, &p).await });
}

/// Name of the job that runs the same steps as `recall.upkeep`.
pub const JOB: &str = "recall-upkeep";

const DAY_MS: i64 = 86_400_000;
/// Age after which a session that ended or was inactive is archived, in milliseconds.
const ARCHIVED: i64 = 30 * DAY_MS;
/// Age after which an unused vector is emptied, in milliseconds.
const STALE: i64 = 90 * DAY_MS;
/// Number of rows that are changed in one write.
const BATCH: usize = 100;
/// Maximum number of changed rows that are logged for each step.
const LOGGED: usize = 100;
/// Maximum number of examples that are returned for each step.
const EXAMPLES: usize = 5;
/// Number of earlier runs that are returned.
const RUNS: i64 = 20;
/// Maximum length of an example in the response, in characters.
const BRIEF: usize = 80;

/// Implements `recall.upkeep`.
///
/// # Errors
/// If the database cannot be written.
pub async fn upkeep(core: &Arc<Core>, params: &RecallUpkeepParams) -> Result<RecallUpkeep> {
    let dry_run = params.dry_run();
    core.recall.catch_up().await;
    let changes = run(core, dry_run).await?;
    let runs = core.store.read_all(|c| log::newest(c, RUNS)).await?;
    let runs = runs.into_iter().map(|(at, changes)| UpkeepRun { at, changes }).collect();
    let (similar, similar_count) = similar::patterns(core).await?;
    Ok(RecallUpkeep { dry_run, changes, runs, similar, similar_count: similar_count as u64 })
}

/// Runs the job.
///
/// # Errors
/// If the database cannot be written.
pub async fn run_job(core: &Arc<Core>) -> Outcome {
    let changes = run(core, false).await?;
    let told: Vec<String> = changes.iter().map(|c| format!("{} {}", c.count, c.change)).collect();
    Ok(if told.is_empty() { "nothing to do".to_owned() } else { told.join(", ") })
}

/// A changed row, with an example for the response.
#[derive(Debug, Clone, PartialEq)]
struct Changed {
    row: UpkeepRow,
    example: Option<String>,
}

impl Changed {
    fn row(uid: String) -> Self {
        Self { row: UpkeepRow { uid, into: None }, example: None }
    }
}

type Step = fn(&Connection, &Known) -> Stored<Vec<Changed>>;

/// The upkeep steps, in the order in which they run. Merged and expired rows need no further step.
const STEPS: [(&str, Step); 7] = [
    ("merged", merge),
    ("confidence", refresh),
    ("expired", expire),
    ("archived", archive),
    ("resumed", resume),
    ("stale", empty_stale),
    ("unused", delete_unused),
];

/// Input for the upkeep steps.
#[derive(Clone)]
struct Known {
    now: i64,
    /// Identity of the configured model.
    model: Option<String>,
    /// Whether the configured model cannot be used now. In that case its vectors are kept.
    broken: bool,
    /// Maximum number of rows that are changed at a time.
    limit: usize,
}

async fn run(core: &Arc<Core>, dry_run: bool) -> std::result::Result<Vec<UpkeepChange>, StoreError> {
    let current = core.recall.model(&core.config.get().recall.clone()).await;
    let failing = current.error.is_some() || core.recall.failing.lock().is_some();
    let (model, broken) = (current.model.map(|m| m.identity().to_owned()), failing);
    // A dry run counts all rows at once.
    let known = Known { now: now_ms(), model, broken, limit: if dry_run { i64::MAX as usize } else { BATCH } };
    let mut changes = Vec::new();
    for (change, step) in STEPS {
        let mut done = UpkeepChange { change: change.to_owned(), count: 0, examples: Vec::new(), rows: Vec::new() };
        loop {
            let known = known.clone();
            let work = move |c: &Connection| step(c, &known);
            let changed = if dry_run { core.store.dry_run(work).await? } else { core.store.write(work).await? };
            let last = dry_run || changed.is_empty();
            done.count += i64::try_from(changed.len()).unwrap_or(i64::MAX);
            for Changed { row, example } in changed {
                done.rows.extend(Some(row).filter(|_| done.rows.len() < LOGGED));
                done.examples.extend(example.filter(|_| done.examples.len() < EXAMPLES));
            }
            if last {
                break;
            }
        }
        changes.push(done);
    }
    changes.retain(|change| change.count > 0);
    if !dry_run {
        if changes.iter().any(|change| change.change == "unused") {
            // If the model that the deleted vectors came from is configured again, its vectors must be computed again.
            core.recall.look_again();
        }
        core.recall.nudge();
        // The texts may be erased later, so the log keeps only the uids of the rows.
        let logged: Vec<UpkeepChange> =
            changes.iter().map(|c| UpkeepChange { examples: Vec::new(), ..c.clone() }).collect();
        if !logged.is_empty() {
            core.store.write(move |c| log::add(c, &logged)).await?;
        }
    }
    Ok(changes)
}

/// Merges patterns about the same subject with the same words. Similar vectors are not enough, because a different
/// number, a negation or another order can reverse a statement. Patterns that are only similar are reported, see
/// [`similar`].
fn merge(c: &Connection, known: &Known) -> Stored<Vec<Changed>> {
    let mut merged = Vec::new();
    for rows in entries::repeated(c, "pattern")? {
        let mut kept: Vec<Pattern> = Vec::new();
        for row in rows {
            let Some(mut other) = patterns::get(c, row)? else { continue };
            let same = |one: &&mut Pattern| {
                patterns::difference(one, &other).is_none() && text::gist(&one.text) == text::gist(&other.text)
            };
            let Some(one) = kept.iter_mut().find(same) else {
                kept.push(other);
                continue;
            };
            if merged.len() == known.limit {
                return Ok(merged);
            }
            // Of two patterns with the same confidence, the older one stays.
            if other.confidence > one.confidence {
                std::mem::swap(one, &mut other);
            }
            let row = UpkeepRow { uid: other.uid.clone(), into: Some(one.uid.clone()) };
            merged.push(Changed { row, example: Some(cut::brief(&cut::one_line(&other.text), BRIEF)) });
            if let Some(both) = merge_pattern(c, other.id, one.id)? {
                *one = both;
            }
        }
    }
    Ok(merged)
}

/// Merges a pattern into another one.
///
/// # Errors
/// If the database cannot be written.
pub fn merge_pattern(c: &Connection, id: i64, into: i64) -> Stored<Option<Pattern>> {
    let Some(gone) = patterns::get(c, id)? else { return Ok(None) };
    let kept = patterns::merge(c, into, id)?;
    if kept.is_some() {
        crate::app::memory::forgotten_results::of_pattern(c, &gone.uid)?;
    }
    Ok(kept)
}

fn refresh(c: &Connection, known: &Known) -> Stored<Vec<Changed>> {
    let mut uids = patterns::refresh(c, known.now, known.limit)?;
    uids.extend(memories::refresh(c, known.now, known.limit)?);
    Ok(uids.into_iter().map(Changed::row).collect())
}

fn expire(c: &Connection, known: &Known) -> Stored<Vec<Changed>> {
    let expired = memories::delete_expired(c, known.now, known.limit)?;
    expired.iter().try_for_each(|uid| forget_results(c, uid))?;
    Ok(expired.into_iter().map(Changed::row).collect())
}

fn archive(c: &Connection, known: &Known) -> Stored<Vec<Changed>> {
    let (since, mut archived) = (known.now - ARCHIVED, Vec::new());
    for (row, ended) in session::idle_since(c, since)? {
        if archived.len() == known.limit {
            break;
        }
        if !ended && is_active(c, row, since)? {
            continue;
        }
        if entries::archive(c, "session", row, true)?.is_some() {
            archived.push(session_changed(c, row)?);
        }
    }
    Ok(archived)
}

/// Takes sessions that have become active again out of the archive.
fn resume(c: &Connection, known: &Known) -> Stored<Vec<Changed>> {
    let (since, mut resumed) = (known.now - ARCHIVED, Vec::new());
    let archived = entries::archived(c, "session")?;
    if archived.is_empty() {
        return Ok(resumed);
    }
    let idle: HashMap<i64, bool> = session::idle_since(c, since)?.into_iter().collect();
    for row in archived {
        let goes_on = match idle.get(&row) {
            Some(true) => false,
            Some(false) => is_active(c, row, since)?,
            None => true,
        };
        if goes_on && resumed.len() < known.limit && entries::archive(c, "session", row, false)?.is_some() {
            resumed.push(session_changed(c, row)?);
        }
    }
    Ok(resumed)
}

/// Returns whether a session acted or recorded anything since the time `since` (Unix milliseconds).
fn is_active(c: &Connection, session: i64, since: i64) -> Stored<bool> {
    Ok(events::acted_since(c, session, since)? || entries::recorded_since(c, session, since)?)
}

fn session_changed(c: &Connection, row: i64) -> Stored<Changed> {
    Ok(Changed { example: session::name_of(c, row)?, ..Changed::row(session::uid_of(c, row)?) })
}

fn empty_stale(c: &Connection, known: &Known) -> Stored<Vec<Changed>> {
    let Some(model) = known.model.as_deref().map(|identity| vectors::find_model(c, identity)).transpose()?.flatten()
    else {
        return Ok(Vec::new());
    };
    let stale = vectors::empty_stale(c, model.id, known.now - STALE, i64::try_from(known.limit).unwrap_or(i64::MAX))?;
    stale.iter().try_for_each(|entry| entries::announce(c, *entry))?;
    of_entries(c, &stale)
}

fn delete_unused(c: &Connection, known: &Known) -> Stored<Vec<Changed>> {
    if known.broken {
        return Ok(Vec::new());
    }
    let keep: Vec<&str> = known.model.as_deref().into_iter().chain([BUILTIN]).collect();
    of_entries(c, &vectors::delete_others(c, &keep, i64::try_from(known.limit).unwrap_or(i64::MAX))?)
}

fn of_entries(c: &Connection, ids: &[i64]) -> Stored<Vec<Changed>> {
    let uids =
        ids.iter().map(|id| Ok(Changed::row(entries::source_of(c, *id)?.map(|source| source.uid).unwrap_or_default())));
    uids.collect()
}
