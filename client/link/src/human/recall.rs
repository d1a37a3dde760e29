//! Renders the results of the `recall` and `model` commands.

use std::fmt::Write as _;

use afd_proto::model::{EmbeddingModel, ModelAdd, ModelAdded, ModelRemove, ModelRemoved};
use afd_proto::recall::{
    RecallContext, RecallContextFor, RecallDelete, RecallDeleted, RecallEntry, RecallFound, RecallGet, RecallSearch,
    RecallStore, RecallStored, RecallUsed, Why,
};
use afd_proto::recall_upkeep::{
    Evaluation, EvaluationGroup, QdrantStatus, RecallEvaluate, RecallEvaluated, RecallStatus, RecallStatusOf,
    RecallUpkeep, RecallUpkeepRun, SimilarPatterns, UpkeepChange,
};

use super::parts::{BAD, BOLD, DIM, GOOD, WARN, bytes, count, missing, paint, table, time};
use super::render::human;

human! {
    RecallSearch => found;
    RecallStore => stored;
    RecallGet => |entry: &RecallEntry| entry_lines(entry);
    RecallUsed => |entry: &RecallEntry| format!("{}  confidence {:.2}\n", entry_lines(entry), entry.confidence);
    RecallContextFor => |context: &RecallContext| {
        let missing = missing(&context.missing);
        format!("{}\n{missing}{}\n", context.text, paint(DIM, &format!("{} tokens", context.tokens)))
    };
    RecallDelete => |deleted: &RecallDeleted| {
        let held = if deleted.backups.is_empty() { String::new() } else { format!("; still in the backups {}", deleted.backups.join(", ")) };
        let told = deleted.qdrant.as_ref().map_or(String::new(), |url| format!("; deletion pending at Qdrant {url}"));
        format!("{} {}{held}{told}\n", paint(GOOD, "deleted"), deleted.uid)
    };
    RecallStatusOf => status;
    RecallUpkeepRun => upkeep;
    RecallEvaluate => evaluated;
    ModelAdd => added;
    ModelRemove => |removed: &ModelRemoved| format!("{}; {} deleted\n", paint(GOOD, "the built-in model is used"), count(removed.deleted, "vector"));
}

pub(super) fn entry_lines(entry: &RecallEntry) -> String {
    let mut out = String::new();
    let title = entry.title.as_deref().map_or(String::new(), |title| format!(" {title}"));
    let id = entry.id.map_or(String::new(), |id| format!(" {id}"));
    let weak = if entry.weak { ", weak match" } else { "" };
    let score = entry.score.map_or(String::new(), |score| format!(" {score:.2}{weak}"));
    let _ = writeln!(out, "{}{title}{}", paint(BOLD, &format!("{}{id}", entry.kind)), paint(DIM, &score));
    for line in entry.text.lines() {
        let _ = writeln!(out, "  {line}");
    }
    let about = [entry.app.as_deref(), entry.site.as_deref(), entry.session.as_deref()];
    let mut about: Vec<String> = about.into_iter().flatten().map(str::to_owned).collect();
    if entry.source != "recorded" {
        about.push(format!("source {}", entry.source));
    }
    if entry.origin.is_some() {
        about.push("from another memory".to_owned());
    }
    about.extend(entry.tags.iter().map(|tag| format!("#{tag}")));
    about.push(time(entry.at));
    about.extend(entry.last_used_at.map(|at| format!("used {} times, last {}", entry.use_count, time(at))));
    let _ = writeln!(out, "  {}", paint(DIM, &format!("{}  {}", about.join(", "), entry.uid)));
    if let Some(why) = &entry.why {
        let _ = writeln!(out, "  {}", paint(DIM, &reasons(why)));
    }
    if !entry.duplicates.is_empty() {
        let _ = writeln!(out, "  {}", paint(DIM, &format!("duplicates: {}", entry.duplicates.join(", "))));
    }
    out
}

fn reasons(why: &Why) -> String {
    let place = |name: &str, rank: Option<u32>, measure: Option<f64>| {
        rank.map(|rank| format!("{name} {rank}{}", measure.map_or(String::new(), |m| format!(" ({m:.2})"))))
    };
    let mut parts: Vec<String> = [
        place("text", why.text_rank, why.bm25),
        place("vectors", why.vector_rank, why.cosine),
        place("built-in vectors", why.builtin_rank, why.builtin_cosine),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !why.words.is_empty() {
        parts.push(format!("has {}", why.words.join(", ")));
    }
    parts.push(format!("age {:.2}, confidence {:.2}", why.age_factor, why.confidence_factor));
    format!("why: {}", parts.join("; "))
}

fn found(found: &RecallFound) -> String {
    let mut out: String = found.entries.iter().map(entry_lines).collect();
    if found.entries.is_empty() {
        out.push_str("nothing was found\n");
    } else if found.entries.iter().all(|entry| entry.weak) {
        let _ = writeln!(out, "{}", paint(WARN, "all of these are weak matches"));
    }
    out + &missing(&found.missing)
}

fn stored(stored: &RecallStored) -> String {
    let mut out =
        format!("{} {}", paint(GOOD, if stored.updated { "updated" } else { "stored" }), entry_lines(&stored.entry));
    if !stored.similar.is_empty() {
        let _ = writeln!(out, "{}", paint(WARN, "similar entries:"));
        stored.similar.iter().for_each(|entry| out.push_str(&entry_lines(entry)));
    }
    out + &missing(&stored.missing)
}

fn status(status: &RecallStatus) -> String {
    let mut out = table(["type", "entries"], status.entries.iter().map(|e| [e.kind.clone(), e.count.to_string()]));
    if status.due > 0 {
        let _ = writeln!(out, "{} entries not indexed yet", status.due);
    }
    let row = |model: &EmbeddingModel| {
        let state = match &model.error {
            Some(error) => paint(BAD, error),
            None if model.pending > 0 => format!("{} pending", model.pending),
            None => "complete".to_owned(),
        };
        [
            model.identity.clone(),
            model.dimensions.map_or(String::new(), |n| n.to_string()),
            model.embedded.to_string(),
            state,
        ]
    };
    out.push_str(&table(["model", "dimensions", "embedded", "state"], status.models.iter().map(row)));
    let _ = writeln!(out, "{}", paint(DIM, &format!("index in memory: {}", bytes(status.index_bytes))));
    if let Some(QdrantStatus { url, collection, pending, error }) = &status.qdrant {
        let state = match error {
            Some(error) => paint(BAD, &format!("{error}; {pending} changes not uploaded yet")),
            None if *pending > 0 => format!("{pending} changes not uploaded yet"),
            None => "complete".to_owned(),
        };
        let _ = writeln!(out, "Qdrant {url} {}: {state}", collection.as_deref().unwrap_or_default());
    }
    out
}

fn added(added: &ModelAdded) -> String {
    let ModelAdded { identity, dimensions, sentence_ms, directory, pending } = added;
    format!(
        "{} {identity}: {dimensions} dimensions, {sentence_ms} ms for a sentence\n{directory}\n{pending} entries to embed in the background\n",
        paint(GOOD, "added")
    )
}

fn upkeep(upkeep: &RecallUpkeep) -> String {
    let row = |at: String, change: &UpkeepChange| {
        [at, change.change.clone(), change.count.to_string(), change.examples.join("; ")]
    };
    let now = if upkeep.dry_run { "would be" } else { "now" };
    let rows = upkeep.changes.iter().map(|change| row(now.to_owned(), change));
    let before = upkeep.runs.iter().skip(usize::from(!upkeep.dry_run && !upkeep.changes.is_empty()));
    let before = before.flat_map(|run| run.changes.iter().map(move |change| row(time(run.at), change)));
    let all: Vec<[String; 4]> = rows.chain(before).collect();
    let mut out =
        if all.is_empty() { "nothing to do\n".to_owned() } else { table(["when", "change", "count", "such as"], all) };
    if !upkeep.similar.is_empty() {
        let (listed, all) = (upkeep.similar.len(), upkeep.similar_count);
        let of = if all > listed as u64 { format!(", {listed} of {all} pairs") } else { String::new() };
        let _ = writeln!(out, "\npossible duplicates{of}; `afctl pattern merge --id N --into N` merges two patterns:");
    }
    for SimilarPatterns { id, text, other, other_text, similarity } in &upkeep.similar {
        let _ = writeln!(out, "{similarity:.2}  {id}: {text}\n      {other}: {other_text}");
    }
    out
}

fn evaluated(evaluated: &RecallEvaluated) -> String {
    let mut out = format!("{} entries with {}\n", evaluated.entries, evaluated.model);
    let share = |n: f64| format!("{:.1}", n * 100.0);
    let optional = |n: Option<f64>| n.map_or_else(|| "-".to_owned(), share);
    let rows = evaluated.groups.iter().flat_map(|group: &EvaluationGroup| {
        group.ways.iter().enumerate().map(move |(i, way): (usize, &Evaluation)| {
            let asked = match group.unanswered {
                0 => group.queries.to_string(),
                more => format!("{} + {more}", group.queries),
            };
            let name = if i == 0 { format!("{} ({asked})", group.name) } else { String::new() };
            let found = format!("{} / {} / {}", share(way.recall_at5), share(way.recall_at10), share(way.recall_at25));
            let weak = format!("{} / {}", optional(way.weak), optional(way.weak_unanswered));
            [
                name,
                way.way.clone(),
                found,
                share(way.mrr),
                weak,
                format!("{:.2}", way.p50_ms),
                format!("{:.2}", way.p99_ms),
            ]
        })
    });
    let columns = ["queries", "way", "recall@5 / 10 / 25, %", "mrr, %", "weak / unanswered, %", "p50 ms", "p99 ms"];
    out.push_str(&table(columns, rows));
    out
}
