//! `recall.evaluate`: measures how well each search method finds the expected entries.
//!
//! The entries are loaded into an in-memory database. Beside the real search, three simple ones are measured
//! (`afd_recall::baseline`).

mod bench;
mod sets;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use afd_proto::recall_upkeep::{Evaluation, EvaluationGroup, RecallEvaluate, RecallEvaluateParams, RecallEvaluated};

use self::bench::Bench;
use self::sets::Query;
use super::search::Embedded;
use crate::app::checks::absolute;
use crate::app::{Core, Error, Methods, Result};
use afd_base::model::embed::BUILTIN;
use afd_base::task::run_blocking;
use afd_store::Result as Stored;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<RecallEvaluate, _, _>(|core, p| async move { evaluate(&core, &p).await });
}

/// Maximum wait for a query vector.
const PATIENCE: Duration = Duration::from_secs(600);

/// Names of the search methods, as printed.
const WAYS: [&str; 6] = ["like", "bm25", "fts5", "text", "vector", "hybrid"];

/// Results that each search method returned for a query.
struct Outcome {
    set: String,
    query: Query,
    ways: Vec<Found>,
    expected: Vec<i64>,
}

/// What a search method returned for a query.
struct Found {
    entries: Vec<i64>,
    /// Whether the best entry is a strong match.
    strong: bool,
    ms: f64,
}

/// Implements `recall.evaluate`.
///
/// # Errors
/// `INVALID_PARAMS` if a file cannot be read; the message names the line.
pub async fn evaluate(core: &Arc<Core>, params: &RecallEvaluateParams) -> Result<RecallEvaluated> {
    let directory = absolute("directory", &params.directory)?;
    let read = run_blocking(move || sets::read(&directory)).await?;
    let sets = read.map_err(|why| {
        Error::param("directory", "entries.jsonl and queries.jsonl, or conversations with questions", why)
    })?;
    let current = core.recall.model(&core.config.get().recall.clone()).await;
    if let Some(error) = current.error {
        return Err(Error::param("directory", "a model that can be used (recall.model_dir)", error));
    }
    let (mut bench, sets) = run_blocking(move || Bench::new(&sets).map(|bench| (bench, sets))).await??;
    if let Some(model) = &current.model {
        bench = bench.embed(model).await?;
    }
    let mut outcomes = Vec::new();
    for set in &sets {
        for query in &set.queries {
            let started = Instant::now();
            let (embedded, failed) = Embedded::of(&query.query, current.model.as_ref(), PATIENCE).await;
            if let Some(why) = failed {
                return Err(Error::param("directory", "queries that the model can embed", why));
            }
            let embedding_ms = started.elapsed().as_secs_f64() * 1e3;
            let (name, query) = (set.name.clone(), query.clone());
            let ran = run_blocking(move || {
                let outcome = ask(&bench, name, query, &embedded, embedding_ms);
                (bench, outcome)
            });
            let (back, outcome) = ran.await?;
            bench = back;
            outcomes.push(outcome?);
        }
    }
    let model = current.model.map_or_else(|| BUILTIN.to_owned(), |model| model.identity().to_owned());
    let entries = u32::try_from(bench.len()).unwrap_or(u32::MAX);
    Ok(RecallEvaluated { model, entries, groups: groups(&outcomes) })
}

fn ask(bench: &Bench, set: String, query: Query, embedded: &Embedded, embedding_ms: f64) -> Stored<Outcome> {
    let mut ways = Vec::new();
    for way in WAYS {
        let started = Instant::now();
        let (entries, strong) = bench.search(&set, &query, embedded, way)?;
        let extra = if matches!(way, "vector" | "hybrid") { embedding_ms } else { 0.0 };
        ways.push(Found { entries, strong, ms: started.elapsed().as_secs_f64() * 1e3 + extra });
    }
    let expected = bench.expected(&set, &query);
    Ok(Outcome { set, query, ways, expected })
}

/// Function that returns the name of the group that an outcome belongs to.
type NameOf = fn(&Outcome) -> &str;

fn groups(outcomes: &[Outcome]) -> Vec<EvaluationGroup> {
    let mut groups = vec![group("all".to_owned(), &outcomes.iter().collect::<Vec<_>>())];
    let by: [(&str, NameOf); 3] =
        [("", |o| &o.set), ("language ", |o| &o.query.language), ("kind ", |o| &o.query.kind)];
    for (prefix, name) in by {
        let mut parts: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
        outcomes.iter().filter(|o| !name(o).is_empty()).for_each(|o| parts.entry(name(o)).or_default().push(o));
        if parts.len() > 1 {
            groups.extend(parts.into_iter().map(|(part, of)| group(format!("{prefix}{part}"), &of)));
        }
    }
    groups
}

fn group(name: String, outcomes: &[&Outcome]) -> EvaluationGroup {
    let (answered, unanswered): (Vec<&Outcome>, Vec<&Outcome>) =
        outcomes.iter().copied().partition(|outcome| !outcome.expected.is_empty());
    let rounded = |n: f64| (n * 10_000.0).round() / 10_000.0 + 0.0;
    let mean = |of: &[&Outcome], value: &dyn Fn(&Outcome) -> f64| {
        rounded(of.iter().map(|outcome| value(outcome)).sum::<f64>() / of.len().max(1) as f64)
    };
    let ways = WAYS.iter().enumerate().map(|(i, way)| {
        let recall = |outcome: &Outcome, depth: usize| {
            let found = outcome.ways[i].entries.iter().take(depth);
            let found = found.filter(|id| outcome.expected.contains(id)).count();
            found as f64 / outcome.expected.len().max(1) as f64
        };
        let rank = |outcome: &Outcome| {
            let first = outcome.ways[i].entries.iter().position(|id| outcome.expected.contains(id));
            first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64)
        };
        let weak = |outcome: &Outcome| f64::from(u8::from(!outcome.ways[i].strong));
        let mut times: Vec<f64> = outcomes.iter().map(|o| o.ways[i].ms).collect();
        times.sort_by(f64::total_cmp);
        let at =
            |share: f64| times.get(((times.len().max(1) - 1) as f64 * share).round() as usize).copied().unwrap_or(0.0);
        let says_weak = matches!(*way, "text" | "vector" | "hybrid");
        Evaluation {
            way: (*way).to_owned(),
            recall_at5: mean(&answered, &|o| recall(o, 5)),
            recall_at10: mean(&answered, &|o| recall(o, 10)),
            recall_at25: mean(&answered, &|o| recall(o, 25)),
            mrr: mean(&answered, &rank),
            weak: says_weak.then(|| mean(&answered, &weak)),
            weak_unanswered: (says_weak && !unanswered.is_empty()).then(|| mean(&unanswered, &weak)),
            p50_ms: (at(0.5) * 100.0).round() / 100.0,
            p99_ms: (at(0.99) * 100.0).round() / 100.0,
        }
    });
    let count = |of: &[&Outcome]| u32::try_from(of.len()).unwrap_or(u32::MAX);
    EvaluationGroup { name, queries: count(&answered), unanswered: count(&unanswered), ways: ways.collect() }
}
