//! `recall.upkeep`, and the job that does the same: keeps what can be recalled true, small and free of repetition.
//!
//! Each step changes some rows at a time, so that others get their turn, and tells what it changed.

use std::sync::Arc;

use afd_proto::pattern::{Pattern, PatternScope};
use afd_proto::recall_upkeep::{RecallUpkeep, RecallUpkeepParams, UpkeepChange, UpkeepRun};
use rusqlite::Connection;

use super::super::{Core, Result};
use crate::job::Outcome;
use crate::memory::requests;
use crate::model::embed::BUILTIN;
use crate::recall::{entries, log, memories, vectors};
use crate::session::{self, patterns};
use crate::store::{Result as Stored, StoreError, now_ms};
use crate::text::{self, cut};

/// Name of the job.
pub const JOB: &str = "recall-upkeep";

const DAY_MS: i64 = 86_400_000;
/// After this time an ended session is archived, and a vector that nobody used is emptied.
const ARCHIVED: i64 = 30 * DAY_MS;
const STALE: i64 = 90 * DAY_MS;
/// Rows that are changed in one write, and examples that are told.
const BATCH: i64 = 100;
const EXAMPLES: usize = 5;
/// Runs that are shown.
const RUNS: i64 = 20;
/// Length of an example, characters.
const BRIEF: usize = 80;

/// `recall.upkeep`
///
/// # Errors
/// If the database cannot be written.
pub async fn upkeep(core: &Arc<Core>, params: &RecallUpkeepParams) -> Result<RecallUpkeep> {
    let dry_run = params.dry_run.unwrap_or(false);
    let changes = run(core, dry_run).await?;
    let runs = core.store.read_all(|c| log::newest(c, RUNS)).await?;
    Ok(RecallUpkeep { dry_run, changes, runs: runs.into_iter().map(|(at, changes)| UpkeepRun { at, changes }).collect() })
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

type Step = fn(&Connection, &Known) -> Stored<Vec<String>>;

/// What the steps need to know.
#[derive(Clone)]
struct Known {
    now: i64,
    /// Identity of the model of the settings.
    model: Option<String>,
    /// Whether the settings name a model that cannot be used now: its vectors are kept.
    broken: bool,
    /// Rows that are changed at a time.
    limit: i64,
}

async fn run(core: &Arc<Core>, dry_run: bool) -> std::result::Result<Vec<UpkeepChange>, StoreError> {
    let current = core.recall.model(&core.config.get().recall.clone()).await;
    let (model, broken) = (current.model.map(|m| m.identity().to_owned()), current.error.is_some());
    // What is only counted is counted whole.
    let known = Known { now: now_ms(), model, broken, limit: if dry_run { i64::MAX } else { BATCH } };
    let steps: [(&str, Step); 4] = [("expired", expire), ("archived", archive), ("stale", empty_stale), ("unused", delete_unused)];
    let mut changes = vec![merge(core, dry_run).await?];
    for (change, step) in steps {
        let mut done = UpkeepChange { change: change.to_owned(), count: 0, examples: Vec::new() };
        loop {
            let known = known.clone();
            let work = move |c: &Connection| step(c, &known);
            let changed = if dry_run { core.store.dry_run(work).await? } else { core.store.write(work).await? };
            done.count += i64::try_from(changed.len()).unwrap_or(i64::MAX);
            let more = changed.len() as i64 >= BATCH && !dry_run;
            done.examples.extend(changed.into_iter().filter(|e| !e.is_empty()).take(EXAMPLES - done.examples.len().min(EXAMPLES)));
            if !more {
                break;
            }
        }
        changes.push(done);
    }
    changes.retain(|change| change.count > 0);
    if !dry_run {
        core.recall.nudge();
        // What it says may be erased later: only numbers are kept.
        let logged: Vec<UpkeepChange> = changes.iter().map(|c| UpkeepChange { examples: Vec::new(), ..c.clone() }).collect();
        core.store
            .write(move |c| {
                if !logged.is_empty() {
                    log::add(c, &logged)?;
                }
                Ok(c.execute_batch("PRAGMA optimize")?)
            })
            .await?;
    }
    Ok(changes)
}

fn expire(c: &Connection, known: &Known) -> Stored<Vec<String>> {
    let expired = memories::delete_expired(c, known.now)?;
    expired.iter().try_for_each(|uid| requests::forget_results_about(c, "recall.store", uid))?;
    Ok(vec![String::new(); expired.len()])
}

fn archive(c: &Connection, known: &Known) -> Stored<Vec<String>> {
    let mut names = Vec::new();
    let ended = session::ended_before(c, known.now - ARCHIVED)?;
    for entry in entries::archive(c, "session", &ended, usize::try_from(known.limit).unwrap_or(usize::MAX))? {
        let source = entries::source_of(c, entry)?;
        names.push(source.map(|source| session::name_of(c, source.row)).transpose()?.flatten().unwrap_or_default());
    }
    Ok(names)
}

fn empty_stale(c: &Connection, known: &Known) -> Stored<Vec<String>> {
    let Some(model) = known.model.as_deref().map(|identity| vectors::find_model(c, identity)).transpose()?.flatten() else {
        return Ok(Vec::new());
    };
    let stale = vectors::empty_stale(c, model.id, known.now - STALE, known.limit)?;
    stale.iter().try_for_each(|entry| entries::announce(c, *entry))?;
    Ok(vec![String::new(); stale.len()])
}

fn delete_unused(c: &Connection, known: &Known) -> Stored<Vec<String>> {
    if known.broken {
        return Ok(Vec::new());
    }
    let keep: Vec<&str> = known.model.as_deref().into_iter().chain([BUILTIN]).collect();
    let deleted = vectors::delete_others(c, &keep, known.limit)?;
    Ok(vec![String::new(); usize::try_from(deleted).unwrap_or(0)])
}

/// Merges patterns that say the same.
async fn merge(core: &Arc<Core>, dry_run: bool) -> std::result::Result<UpkeepChange, StoreError> {
    let mut done = UpkeepChange { change: "merged".to_owned(), count: 0, examples: Vec::new() };
    loop {
        let work = |c: &Connection| merge_some(c);
        let merged = if dry_run { core.store.dry_run(work).await? } else { core.store.write(work).await? };
        done.count += i64::try_from(merged.len()).unwrap_or(i64::MAX);
        let more = !merged.is_empty() && !dry_run;
        let room = EXAMPLES - done.examples.len();
        done.examples.extend(merged.into_iter().take(room));
        if !more {
            return Ok(done);
        }
    }
}

fn merge_some(c: &Connection) -> Stored<Vec<String>> {
    let mut merged = Vec::new();
    for (one, other) in entries::same(c, "pattern", BATCH)? {
        let (Some(one), Some(other)) = (patterns::get(c, one)?, patterns::get(c, other)?) else { continue };
        if says_the_same(&one, &other) {
            // Of two that are believed the same the older one stays.
            let (keep, gone) = if other.confidence > one.confidence { (&other, &one) } else { (&one, &other) };
            patterns::merge(c, keep.id, gone.id)?;
            merged.push(cut::brief(&cut::one_line(&gone.text), BRIEF));
        }
    }
    Ok(merged)
}

/// Returns whether two patterns say the same of the same: word for word, apart from case, space and punctuation. Near vectors are not
/// enough, as another figure, a negation or another order turns a statement around.
fn says_the_same(a: &Pattern, b: &Pattern) -> bool {
    let session = a.scope != PatternScope::Session || a.session == b.session;
    let about = a.kind == b.kind && a.scope == b.scope && a.app == b.app && a.page == b.page && session && a.data == b.data;
    about && text::gist(&a.text) == text::gist(&b.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use afd_proto::pattern::PatternKind;

    fn pattern(text: &str) -> Pattern {
        Pattern {
            id: 1,
            uid: String::new(),
            kind: PatternKind::ValidationRule,
            text: text.to_owned(),
            scope: PatternScope::App,
            source: None,
            app: Some("a.b".to_owned()),
            page: None,
            data: None,
            confidence: 0.5,
            usage_count: 0,
            success_count: 0,
            failure_count: 0,
            last_used_at: None,
            session: None,
            created_at: 0,
        }
    }

    #[test]
    fn figures_negations_and_order_make_a_difference() {
        let same = |a: &str, b: &str| says_the_same(&pattern(a), &pattern(b));
        assert!(same("The password needs 8 characters", "the password needs 8 characters."));
        assert!(!same("The password needs 8 characters", "The password needs 9 characters"));
        assert!(!same("The field accepts blanks", "The field does not accept blanks"));
        assert!(!same("Das Feld nimmt Leerzeichen", "Das Feld nimmt keine Leerzeichen"));
        assert!(!same("Pay the buyer from the seller account", "Pay the seller from the buyer account"));
        assert!(!same("use staging, never production", "use production, never staging"));
    }
}
