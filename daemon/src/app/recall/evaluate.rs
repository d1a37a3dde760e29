//! `recall.evaluate`: measures how well queries find the expected entries, for each search method, using the files in a
//! directory.
//!
//! The entries are stored in an in-memory database, through the same functions as any other entries.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use afd_proto::pattern::PatternScope;
use afd_proto::recall::{SearchMode, StoredType};
use afd_proto::recall_upkeep::{Evaluation, EvaluationGroup, RecallEvaluate, RecallEvaluateParams, RecallEvaluated};
use serde::Deserialize;

use super::search::Embedded;
use super::{Recall, indexer};
use crate::app::checks::absolute;
use crate::app::{Core, Error, Methods, Result};
use afd_base::model::embed::{BUILTIN, Embedder};
use afd_base::task::run_blocking;
use afd_base::text;
use afd_recall::search::{self, Ask, Scope};
use afd_recall::terms::Effort;
use afd_recall::{entries, memories, vectors};
use afd_store::{self as store, Connection, Piece, Result as Stored, now_ms};
use afd_workspace as session;

/// Registers the RPC methods that this file implements.
pub(in crate::app) fn register(methods: &mut Methods) {
    methods.add::<RecallEvaluate, _, _>(|core, p| async move { evaluate(&core, &p).await });
}

/// Maximum wait for a query vector.
const PATIENCE: Duration = Duration::from_secs(600);

/// Maximum size of an evaluation file, in bytes.
const MAX_FILE: u64 = 64 << 20;
/// Maximum number of lines in an evaluation file. Each line is an entry or a query.
const MAX_LINES: usize = 100_000;
/// Number of texts that are embedded at a time.
const BATCH: usize = 32;
/// Names of the search methods, as printed.
const WAYS: [&str; 4] = ["like", "text", "vector", "hybrid"];
/// Number of results per query that are evaluated.
const DEPTH: usize = 10;

/// An entry in an evaluation file.
#[derive(Debug, Deserialize)]
struct Entry {
    id: String,
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    title: Option<String>,
    text: String,
    #[serde(default)]
    app: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
}

/// A query in an evaluation file, with the entries that it should find.
#[derive(Debug, Clone, Deserialize)]
struct Query {
    query: String,
    expected: Vec<String>,
    #[serde(default)]
    language: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    app: Option<String>,
}

/// Entries and queries read from a directory.
struct Set {
    name: String,
    entries: Vec<Entry>,
    queries: Vec<Query>,
}

fn lines<T: serde::de::DeserializeOwned>(file: &Path) -> std::result::Result<Vec<T>, String> {
    let bytes = afd_base::file::read_capped(file, MAX_FILE).map_err(|e| format!("{}: {e}", file.display()))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{}: not UTF-8", file.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read: Vec<T> = lines
        .map(|(i, line)| serde_json::from_str(line).map_err(|e| format!("{}, line {}: {e}", file.display(), i + 1)))
        .collect::<std::result::Result<_, _>>()?;
    if read.len() > MAX_LINES { Err(format!("{}: more than {MAX_LINES} lines", file.display())) } else { Ok(read) }
}

fn read(directory: &Path) -> std::result::Result<Vec<Set>, String> {
    let mut directories: Vec<PathBuf> = vec![directory.to_owned()];
    if !directory.join("queries.jsonl").exists() {
        let inside = std::fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        directories = inside
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.join("queries.jsonl").exists())
            .collect();
        directories.sort();
    }
    if directories.is_empty() {
        return Err(format!("{}: has no entries.jsonl and queries.jsonl", directory.display()));
    }
    let set = |dir: &PathBuf| {
        let name = dir.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let set =
            Set { entries: lines(&dir.join("entries.jsonl"))?, queries: lines(&dir.join("queries.jsonl"))?, name };
        let ids: std::collections::HashSet<&str> = set.entries.iter().map(|e| e.id.as_str()).collect();
        if ids.len() < set.entries.len() {
            return Err(format!("{}: two entries have the same id", dir.join("entries.jsonl").display()));
        }
        if set.queries.is_empty() {
            return Err(format!("{}: has no queries", dir.join("queries.jsonl").display()));
        }
        if let Some(query) = set.queries.iter().find(|q| q.query.trim().is_empty() || q.expected.is_empty()) {
            return Err(format!("{}: the query {:?} has no words or expects nothing", dir.display(), query.query));
        }
        for query in &set.queries {
            if let Some(unknown) = query.expected.iter().find(|id| !ids.contains(id.as_str())) {
                return Err(format!(
                    "{}: the query {:?} expects {unknown:?}, which is no entry",
                    dir.display(),
                    query.query
                ));
            }
        }
        Ok(set)
    };
    directories.iter().map(set).collect()
}

/// An in-memory database with the entries.
struct Bench {
    connection: Connection,
    recall: Recall,
    /// Row ids of the entries, by their id in the file with the directory name as prefix.
    rows: HashMap<String, i64>,
    texts: HashMap<i64, String>,
}

impl Bench {
    fn new(sets: &[Set]) -> Stored<Self> {
        let connection = store::in_memory()?;
        let origin = "evaluation".to_owned();
        let session = session::row_id(&connection, &origin, "evaluation")?;
        let mut bench = Self { connection, recall: Recall::default(), rows: HashMap::new(), texts: HashMap::new() };
        for set in sets {
            for entry in &set.entries {
                let mut tags = entry.tags.clone();
                tags.extend((!entry.kind.is_empty()).then(|| entry.kind.clone()));
                let new = memories::Memory {
                    uid: String::new(),
                    session,
                    kind: StoredType::Fact,
                    title: entry.title.clone(),
                    text: entry.text.clone(),
                    app: entry.app.clone().unwrap_or_default(),
                    site: set.name.clone(),
                    scope: PatternScope::Everybody,
                    source: set.name.clone() + "/" + &entry.id,
                    confidence: 0.7,
                    tags,
                    related: Vec::new(),
                    expires_at: None,
                    created_at: now_ms(),
                };
                let (uid, _) = memories::store(&bench.connection, &origin, &new)?;
                while indexer::some(&bench.connection, 100, &Piece::whole())? > 0 {}
                if let Some(source) = entries::find(&bench.connection, &uid)? {
                    bench.rows.insert(format!("{}/{}", set.name, entry.id), source.id);
                    bench
                        .texts
                        .insert(source.id, format!("{}\n{}", entry.title.as_deref().unwrap_or_default(), entry.text));
                }
            }
        }
        Ok(bench)
    }

    /// Returns the entries that a query finds, best first.
    fn search(&self, query: &Query, embedded: &Embedded, way: &str) -> Stored<Vec<i64>> {
        let mode = match way {
            "like" => return self.like(query),
            "text" => SearchMode::Text,
            "vector" => SearchMode::Vector,
            _ => SearchMode::Hybrid,
        };
        self.recall.with_index(&self.connection, embedded.identity(), |index, builtin, other| {
            let mut vectors = embedded.lists(builtin, other);
            if mode == SearchMode::Vector {
                vectors.truncate(1);
            }
            let ask = Ask {
                text: query.query.clone(),
                vectors,
                fluency: embedded.fluency(),
                knows_script: embedded.knows_script(),
                mode,
                scope: Scope { now: now_ms(), app: query.app.as_deref().map(entries::name_hash), ..Scope::default() },
                effort: Effort::SEARCH,
                half_life_days: 180.0,
                limit: DEPTH,
                fold: false,
            };
            Ok(search::run(&self.connection, index, index.corpus(), &ask)?.into_iter().map(|hit| hit.entry).collect())
        })
    }

    /// Returns the results of the baseline: entries whose text contains words of the query, those with more words
    /// first, then the newest.
    fn like(&self, query: &Query) -> Stored<Vec<i64>> {
        let folded = query.query.to_lowercase();
        let words: Vec<&str> = folded.split_whitespace().filter(|word| !text::is_stop(word)).take(16).collect();
        let mut counts: HashMap<i64, usize> = HashMap::new();
        for word in words {
            for id in memories::entries_like(&self.connection, &format!("%{word}%"))? {
                *counts.entry(id).or_default() += 1;
            }
        }
        let mut found: Vec<(i64, usize)> = counts.into_iter().collect();
        found.sort_by_key(|(id, count)| (std::cmp::Reverse(*count), std::cmp::Reverse(*id)));
        Ok(found.into_iter().take(DEPTH).map(|(id, _)| id).collect())
    }
}

/// Computes the vectors of the configured model for all entries.
async fn embed(bench: Bench, model: &Arc<dyn Embedder>) -> Result<Bench> {
    let texts: Vec<(i64, String)> = bench.texts.iter().map(|(id, text)| (*id, text.trim().to_owned())).collect();
    let mut made = Vec::with_capacity(texts.len());
    for batch in texts.chunks(BATCH) {
        let vectors = model.embed(batch.iter().map(|(_, text)| text.clone()).collect()).await;
        let vectors = vectors.map_err(|e| Error::param("directory", "entries that the model can embed", e))?;
        made.extend(batch.iter().map(|(id, _)| *id).zip(vectors));
    }
    let identity = model.identity().to_owned();
    let put = move || -> Stored<Bench> {
        for (entry, vector) in &made {
            let row = vectors::model(&bench.connection, &identity, vector.len() as i64)?;
            vectors::put(&bench.connection, row.id, *entry, 0, vector)?;
            entries::announce(&bench.connection, *entry)?;
        }
        Ok(bench)
    };
    Ok(run_blocking(put).await??)
}

/// Results that each search method returned for a query.
struct Outcome {
    set: String,
    query: Query,
    ways: Vec<(Vec<i64>, f64)>,
    expected: Vec<i64>,
}

/// Implements `recall.evaluate`.
///
/// # Errors
/// `INVALID_PARAMS` if a file cannot be read; the message names the line.
pub async fn evaluate(core: &Arc<Core>, params: &RecallEvaluateParams) -> Result<RecallEvaluated> {
    let directory = absolute("directory", &params.directory)?;
    let read = run_blocking(move || read(&directory)).await?;
    let sets = read
        .map_err(|why| Error::param("directory", "entries.jsonl and queries.jsonl, a JSON object on each line", why))?;
    let current = core.recall.model(&core.config.get().recall.clone()).await;
    if let Some(error) = current.error {
        return Err(Error::param("directory", "a model that can be used (recall.model_dir)", error));
    }
    let (mut bench, sets) = run_blocking(move || Bench::new(&sets).map(|bench| (bench, sets))).await??;
    if let Some(model) = &current.model {
        bench = embed(bench, model).await?;
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
    let entries = u32::try_from(bench.rows.len()).unwrap_or(u32::MAX);
    Ok(RecallEvaluated { model, entries, groups: groups(&outcomes) })
}

fn ask(bench: &Bench, set: String, query: Query, embedded: &Embedded, embedding_ms: f64) -> Stored<Outcome> {
    let mut ways = Vec::new();
    for way in WAYS {
        let started = Instant::now();
        let found = bench.search(&query, embedded, way)?;
        let extra = if matches!(way, "vector" | "hybrid") { embedding_ms } else { 0.0 };
        ways.push((found, started.elapsed().as_secs_f64() * 1e3 + extra));
    }
    let expected = query.expected.iter().filter_map(|id| bench.rows.get(&format!("{set}/{id}")).copied()).collect();
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
    let count = outcomes.len().max(1) as f64;
    let ways = WAYS.iter().enumerate().map(|(i, way)| {
        let recall = |outcome: &Outcome, depth: usize| {
            let found = outcome
                .expected
                .iter()
                .filter(|id| outcome.ways[i].0.iter().take(depth).any(|found| found == *id))
                .count();
            found as f64 / outcome.expected.len().max(1) as f64
        };
        let rank = |outcome: &Outcome| outcome.ways[i].0.iter().position(|id| outcome.expected.contains(id));
        let mut times: Vec<f64> = outcomes.iter().map(|o| o.ways[i].1).collect();
        times.sort_by(f64::total_cmp);
        let at =
            |share: f64| times.get(((times.len().max(1) - 1) as f64 * share).round() as usize).copied().unwrap_or(0.0);
        let rounded = |n: f64| (n * 10_000.0).round() / 10_000.0 + 0.0;
        Evaluation {
            way: (*way).to_owned(),
            recall_at5: rounded(outcomes.iter().map(|o| recall(o, 5)).sum::<f64>() / count),
            recall_at10: rounded(outcomes.iter().map(|o| recall(o, 10)).sum::<f64>() / count),
            mrr: rounded(
                outcomes.iter().filter_map(|o| rank(o)).map(|rank| 1.0 / (rank + 1) as f64).sum::<f64>() / count,
            ),
            p50_ms: (at(0.5) * 100.0).round() / 100.0,
            p99_ms: (at(0.99) * 100.0).round() / 100.0,
        }
    });
    EvaluationGroup { name, queries: u32::try_from(outcomes.len()).unwrap_or(u32::MAX), ways: ways.collect() }
}
