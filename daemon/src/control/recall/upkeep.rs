//! `recall.upkeep`, and the job that does the same: keeps what can be recalled true, small and free of repetition.
//!
//! Each step changes some rows at a time, so that others get their turn, and tells what it changed.

use std::collections::HashSet;
use std::sync::Arc;

use afd_proto::pattern::{Pattern, PatternScope};
use afd_proto::recall::{RecallUpkeep, RecallUpkeepParams, UpkeepChange, UpkeepRun};
use rusqlite::Connection;

use super::super::{Core, Result};
use super::Recall;
use crate::job::Outcome;
use crate::model::embed::BUILTIN;
use crate::recall::search::SAME;
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
/// Neighbours of a pattern that are compared with it.
const NEIGHBOURS: usize = 6;
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
}

async fn run(core: &Arc<Core>, dry_run: bool) -> std::result::Result<Vec<UpkeepChange>, StoreError> {
    let current = core.recall.model(&core.config.get().recall.clone());
    let known = Known { now: now_ms(), model: current.model.map(|m| m.identity().to_owned()), broken: current.error.is_some() };
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
        let logged = changes.clone();
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
    Ok(vec![String::new(); memories::delete_expired(c, known.now)?])
}

fn archive(c: &Connection, known: &Known) -> Stored<Vec<String>> {
    let mut names = Vec::new();
    for entry in entries::archive_sessions(c, known.now - ARCHIVED, BATCH)? {
        let source = entries::source_of(c, entry)?;
        names.push(source.map(|source| session::name_of(c, source.row)).transpose()?.flatten().unwrap_or_default());
    }
    Ok(names)
}

fn empty_stale(c: &Connection, known: &Known) -> Stored<Vec<String>> {
    let Some(model) = known.model.as_deref().map(|identity| vectors::find_model(c, identity)).transpose()?.flatten() else {
        return Ok(Vec::new());
    };
    let stale = vectors::empty_stale(c, model.id, known.now - STALE, BATCH)?;
    stale.iter().try_for_each(|entry| entries::announce(c, *entry))?;
    Ok(vec![String::new(); stale.len()])
}

fn delete_unused(c: &Connection, known: &Known) -> Stored<Vec<String>> {
    if known.broken {
        return Ok(Vec::new());
    }
    let keep: Vec<&str> = known.model.as_deref().into_iter().chain([BUILTIN]).collect();
    let deleted = vectors::delete_others(c, &keep)?;
    Ok(vec![String::new(); usize::try_from(deleted).unwrap_or(0)])
}

/// Merges patterns that say the same.
async fn merge(core: &Arc<Core>, dry_run: bool) -> std::result::Result<UpkeepChange, StoreError> {
    let own = core.clone();
    // The index must not follow what a write may take back, so pairs are looked for outside of one.
    let pairs = core.store.read_all(move |c| pairs(&own.recall, c)).await?;
    let mut done = UpkeepChange { change: "merged".to_owned(), count: 0, examples: Vec::new() };
    for batch in pairs.chunks(BATCH as usize) {
        done.examples.extend(batch.iter().map(|(_, _, text)| text.clone()).take(EXAMPLES - done.examples.len()));
        done.count += batch.len() as i64;
        if dry_run {
            continue;
        }
        let batch: Vec<(i64, i64)> = batch.iter().map(|(keep, gone, _)| (*keep, *gone)).collect();
        core.store
            .write(move |c| {
                for (keep, gone) in batch {
                    let both = (patterns::get(c, keep)?, patterns::get(c, gone)?);
                    if matches!(&both, (Some(a), Some(b)) if says_the_same(a, b)) {
                        patterns::merge(c, keep, gone)?;
                    }
                }
                Ok(())
            })
            .await?;
    }
    Ok(done)
}

/// Returns pairs of patterns of which the second says the same as the first, with its text.
fn pairs(recall: &Recall, c: &Connection) -> Stored<Vec<(i64, i64, String)>> {
    let (mut pairs, mut gone) = (Vec::new(), HashSet::new());
    let mut after = 0;
    loop {
        let page = entries::of_kind(c, "pattern", after, BATCH)?;
        let Some(last) = page.last() else { return Ok(pairs) };
        after = last.id;
        for source in page {
            let Some(pattern) = patterns::get(c, source.row)?.filter(|p| !gone.contains(&p.id)) else { continue };
            for other in near(recall, c, source.id)? {
                let twin = patterns::get(c, other)?.filter(|twin| !gone.contains(&twin.id) && says_the_same(&pattern, twin));
                // Of two that are believed the same the older one stays.
                let Some(twin) = twin.filter(|twin| (pattern.confidence, -pattern.id) > (twin.confidence, -twin.id)) else { continue };
                gone.insert(twin.id);
                pairs.push((pattern.id, twin.id, cut::brief(&cut::one_line(&twin.text), BRIEF)));
            }
        }
    }
}

/// Returns the rows of the patterns that are nearest to an entry.
fn near(recall: &Recall, c: &Connection, entry: i64) -> Stored<Vec<i64>> {
    recall.with_index(c, None, |index, builtin, _| {
        let Some((model, own)) = builtin.zip(index.get(entry)) else { return Ok(Vec::new()) };
        let Some(vector) = vectors::get(c, model, entry)? else { return Ok(Vec::new()) };
        let alike = index.nearest(c, model, &vector, NEIGHBOURS, |f| f.kind == own.kind && f.app == own.app && f.private == own.private)?;
        let alike = alike.into_iter().filter(|(id, cosine)| *id != entry && *cosine >= f64::from(SAME));
        let rows = alike.map(|(id, _)| Ok(entries::source_of(c, id)?.filter(|s| !s.gone).map(|s| s.row)));
        Ok(rows.collect::<Stored<Vec<_>>>()?.into_iter().flatten().collect())
    })
}

/// Returns whether two patterns whose vectors are near say the same of the same: with other figures, or with a negation, they do not.
fn says_the_same(a: &Pattern, b: &Pattern) -> bool {
    let session = a.scope != PatternScope::Session || a.session == b.session;
    let about = a.kind == b.kind && a.scope == b.scope && a.app == b.app && a.page == b.page && session && a.data == b.data;
    let telling = |text: &str| {
        let mut words = text::words(text);
        words.retain(|word| word.contains(|c: char| c.is_numeric()) || text::is_negation(word));
        words.sort();
        words
    };
    about && telling(&a.text) == telling(&b.text)
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
    fn figures_and_negations_make_a_difference() {
        let same = |a: &str, b: &str| says_the_same(&pattern(a), &pattern(b));
        assert!(same("The password needs 8 characters", "the password needs 8 characters."));
        assert!(!same("The password needs 8 characters", "The password needs 9 characters"));
        assert!(!same("The field accepts blanks", "The field does not accept blanks"));
        assert!(!same("Das Feld nimmt Leerzeichen", "Das Feld nimmt keine Leerzeichen"));
    }
}
