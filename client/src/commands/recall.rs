//! The `recall` and `model` commands.

use std::fmt::Write as _;

use afd_proto::model::{
    EmbeddingModel, ModelAdd, ModelAddParams, ModelAdded, ModelRemove, ModelRemoveParams, ModelRemoved,
};
use afd_proto::pattern::PatternScope;
use afd_proto::recall::{
    EntryType, RecallContext, RecallContextFor, RecallContextParams, RecallDelete, RecallDeleteParams, RecallDeleted,
    RecallEntry, RecallFound, RecallGet, RecallGetParams, RecallSearch, RecallSearchParams, RecallStore,
    RecallStoreParams, RecallStored, RecallUsed, RecallUsedParams, SearchMode, StoredType, Why,
};
use afd_proto::recall_upkeep::{
    Evaluation, EvaluationGroup, QdrantStatus, RecallEvaluate, RecallEvaluateParams, RecallEvaluated, RecallStatus,
    RecallStatusOf, RecallStatusParams, RecallUpkeep, RecallUpkeepParams, RecallUpkeepRun, SimilarPatterns,
    UpkeepChange,
};
use clap::{Args, Subcommand};

use super::{Call, Group, absolute, true_if};
use crate::human::parts::{BAD, BOLD, DIM, GOOD, WARN, missing, time};
use crate::human::{bytes, count, human, paint, table};
use crate::options::Context;

/// Find again what is worth remembering: notes, bugs, results, patterns, pages, sessions.
#[derive(Debug, Subcommand)]
pub enum Recall {
    /// Search by words and by meaning
    Search(Search),
    /// Store a fact, a preference or a procedure
    Store(Store),
    /// Show a whole entry
    Get {
        /// Uid of the entry, as shown by search
        uid: String,
    },
    /// Report that a pattern or a stored entry was used, and whether it held
    Used {
        /// Uid of the entry, as shown by search
        uid: String,
        /// Whether it held
        #[arg(long, value_name = "BOOL")]
        held: Option<bool>,
    },
    /// Delete an entry that `recall store` stored
    Delete {
        /// Uid of the entry, as shown by search
        uid: String,
    },
    /// Assemble what is known for a task, within a budget of tokens
    Context {
        /// The task [default: the session's current task, else its goal]
        task: Option<String>,
        /// Maximum size, tokens [default: 1500]
        #[arg(long, value_name = "TOKENS")]
        budget: Option<u32>,
        /// Only what is about this package or about no package [default: the session's]
        #[arg(long)]
        app: Option<String>,
    },
    /// Show how many entries there are, and how far embeddings have got
    Status,
    /// Tidy what can be recalled: expired, archived, repeated and unused entries
    Upkeep {
        /// Tell only what would change
        #[arg(long)]
        dry_run: bool,
    },
    /// Measure how well queries find what is expected
    Evaluate {
        /// Directory with entries.jsonl and queries.jsonl, or with directories that have them
        directory: String,
    },
}

/// Models that make embeddings for `recall`.
#[derive(Debug, Subcommand)]
pub enum Model {
    /// Check a sentence model and use it from now on
    Add {
        /// Directory with config.json, tokenizer.json and model.safetensors
        directory: String,
    },
    /// Show the models, and how many entries have their vectors
    List,
    /// Go back to the built-in model
    Remove,
}

/// Options of `search`.
#[derive(Debug, Args)]
pub struct Search {
    /// What is sought
    #[arg(required = true)]
    query: Vec<String>,
    /// Only entries of this type; may be repeated
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    types: Vec<EntryType>,
    /// Only entries about this package or about no package
    #[arg(long)]
    app: Option<String>,
    /// Only entries about this site
    #[arg(long)]
    site: Option<String>,
    /// Only entries with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only entries that this session recorded
    #[arg(long, value_name = "NAME")]
    for_session: Option<String>,
    /// Only entries recorded since then, UTC milliseconds
    #[arg(long, value_name = "MS")]
    since: Option<i64>,
    /// Only entries recorded until then, UTC milliseconds
    #[arg(long, value_name = "MS")]
    until: Option<i64>,
    /// Only entries that stop being true until then, UTC milliseconds
    #[arg(long, value_name = "MS")]
    expires_until: Option<i64>,
    /// Find what was archived, too
    #[arg(long)]
    archived: bool,
    /// How to search [default: hybrid]
    #[arg(long, value_enum)]
    mode: Option<SearchMode>,
    /// Say why each entry was found
    #[arg(long)]
    explain: bool,
    /// Maximum number of entries [default: 10]
    #[arg(long)]
    limit: Option<u32>,
}

/// Options of `store`.
#[derive(Debug, Args)]
pub struct Store {
    /// The text
    text: String,
    /// Title
    #[arg(long)]
    title: Option<String>,
    /// Type [default: fact]
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    kind: Option<StoredType>,
    /// Package that it is about
    #[arg(long)]
    app: Option<String>,
    /// Site that it is about
    #[arg(long)]
    site: Option<String>,
    /// Who may be told it [default: everybody who uses the app; without one this session]
    #[arg(long, value_enum)]
    scope: Option<PatternScope>,
    /// Who said it: user, assistant, page, or the name of a tool [default: assistant]
    #[arg(long)]
    source: Option<String>,
    /// Confidence, 0 to 1 [default: 0.7]
    #[arg(long, value_name = "SHARE")]
    confidence: Option<f64>,
    /// Tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Uid of an entry that it refers to; may be repeated
    #[arg(long, value_name = "UID")]
    related: Vec<String>,
    /// When it stops being true, UTC milliseconds
    #[arg(long, value_name = "MS")]
    expires_at: Option<i64>,
}

impl Group for Recall {
    fn call(self, _: &Context) -> Call {
        match self {
            Recall::Search(search) => {
                let Search {
                    query,
                    types,
                    app,
                    site,
                    tag,
                    for_session,
                    since,
                    until,
                    expires_until,
                    archived,
                    mode,
                    explain,
                    limit,
                } = search;
                let (archived, explain, query) = (true_if(archived), true_if(explain), query.join(" "));
                let of_session = for_session;
                Call::of::<RecallSearch>(RecallSearchParams {
                    query,
                    types,
                    app,
                    site,
                    tag,
                    of_session,
                    since,
                    until,
                    expires_until,
                    archived,
                    mode,
                    explain,
                    limit,
                    session: None,
                })
            }
            Recall::Store(Store {
                text,
                title,
                kind,
                app,
                site,
                scope,
                source,
                confidence,
                tags,
                related,
                expires_at,
            }) => Call::of::<RecallStore>(RecallStoreParams {
                text,
                title,
                kind,
                app,
                site,
                scope,
                source,
                confidence,
                tags,
                related,
                expires_at,
                session: None,
            }),
            Recall::Get { uid } => Call::of::<RecallGet>(RecallGetParams { uid, session: None }),
            Recall::Used { uid, held } => Call::of::<RecallUsed>(RecallUsedParams { uid, held, session: None }),
            Recall::Delete { uid } => Call::of::<RecallDelete>(RecallDeleteParams { uid, session: None }),
            Recall::Context { task, budget, app } => {
                Call::of::<RecallContextFor>(RecallContextParams { task, budget, app, session: None })
            }
            Recall::Status => Call::of::<RecallStatusOf>(RecallStatusParams {}),
            Recall::Upkeep { dry_run } => Call::of::<RecallUpkeepRun>(RecallUpkeepParams { dry_run: true_if(dry_run) }),
            Recall::Evaluate { directory } => {
                Call::of::<RecallEvaluate>(RecallEvaluateParams { directory: absolute(&directory) })
            }
        }
    }
}

impl Group for Model {
    fn call(self, _: &Context) -> Call {
        match self {
            Model::Add { directory } => Call::of::<ModelAdd>(ModelAddParams { directory: absolute(&directory) }),
            Model::List => Call::of::<RecallStatusOf>(RecallStatusParams {}).named("model", "list"),
            Model::Remove => Call::of::<ModelRemove>(ModelRemoveParams {}),
        }
    }
}

human! {
    RecallSearch => found;
    RecallStore => stored;
    RecallGet => |entry: &RecallEntry| entry_lines(entry);
    RecallUsed => |entry: &RecallEntry| format!("{}  believed {:.2}\n", entry_lines(entry), entry.confidence);
    RecallContextFor => |context: &RecallContext| {
        let missing = missing(&context.missing);
        format!("{}\n{missing}{}\n", context.text, paint(DIM, &format!("{} tokens", context.tokens)))
    };
    RecallDelete => |deleted: &RecallDeleted| {
        let held = if deleted.backups.is_empty() { String::new() } else { format!("; still in the backups {}", deleted.backups.join(", ")) };
        let told = deleted.qdrant.as_ref().map_or(String::new(), |url| format!("; the Qdrant at {url} is still to be told"));
        format!("{} {}{held}{told}\n", paint(GOOD, "deleted"), deleted.uid)
    };
    RecallStatusOf => status;
    RecallUpkeepRun => upkeep;
    RecallEvaluate => evaluated;
    ModelAdd => added;
    ModelRemove => |removed: &ModelRemoved| format!("{}; {} deleted\n", paint(GOOD, "the built-in model is used"), count(removed.deleted, "vector"));
}

pub(crate) fn entry_lines(entry: &RecallEntry) -> String {
    let mut out = String::new();
    let title = entry.title.as_deref().map_or(String::new(), |title| format!(" {title}"));
    let id = entry.id.map_or(String::new(), |id| format!(" {id}"));
    let weak = if entry.weak { ", little speaks for it" } else { "" };
    let score = entry.score.map_or(String::new(), |score| format!(" {score:.2}{weak}"));
    let _ = writeln!(out, "{}{title}{}", paint(BOLD, &format!("{}{id}", entry.kind)), paint(DIM, &score));
    for line in entry.text.lines() {
        let _ = writeln!(out, "  {line}");
    }
    let about = [entry.app.as_deref(), entry.site.as_deref(), entry.session.as_deref()];
    let mut about: Vec<String> = about.into_iter().flatten().map(str::to_owned).collect();
    if entry.source != "recorded" {
        about.push(format!("said by {}", entry.source));
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
        let _ = writeln!(out, "  {}", paint(DIM, &format!("stands for {} as well", entry.duplicates.join(", "))));
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
        let _ = writeln!(out, "{}", paint(WARN, "nothing clearly answers this; the above is only nearest"));
    }
    out + &missing(&found.missing)
}

fn stored(stored: &RecallStored) -> String {
    let mut out =
        format!("{} {}", paint(GOOD, if stored.updated { "updated" } else { "stored" }), entry_lines(&stored.entry));
    if !stored.similar.is_empty() {
        let _ = writeln!(out, "{}", paint(WARN, "says much the same as:"));
        stored.similar.iter().for_each(|entry| out.push_str(&entry_lines(entry)));
    }
    out + &missing(&stored.missing)
}

fn status(status: &RecallStatus) -> String {
    let mut out = table(["type", "entries"], status.entries.iter().map(|e| [e.kind.clone(), e.count.to_string()]));
    if status.due > 0 {
        let _ = writeln!(out, "{} entries still to be made", status.due);
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
            Some(error) => paint(BAD, &format!("{error}; {pending} changes to be sent")),
            None if *pending > 0 => format!("{pending} changes to be sent"),
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
        out.push_str("\npatterns that may say the same; `afctl pattern merge --id N --into N` merges one:\n");
    }
    for SimilarPatterns { id, text, other, other_text, similarity } in &upkeep.similar {
        let _ = writeln!(out, "{similarity:.2}  {id}: {text}\n      {other}: {other_text}");
    }
    out
}

fn evaluated(evaluated: &RecallEvaluated) -> String {
    let mut out = format!("{} entries with {}\n", evaluated.entries, evaluated.model);
    let share = |n: f64| format!("{n:.3}");
    let rows = evaluated.groups.iter().flat_map(|group: &EvaluationGroup| {
        group.ways.iter().enumerate().map(move |(i, way): (usize, &Evaluation)| {
            let name = if i == 0 { format!("{} ({})", group.name, group.queries) } else { String::new() };
            let times = [format!("{:.2}", way.p50_ms), format!("{:.2}", way.p99_ms)];
            let [p50, p99] = times;
            [name, way.way.clone(), share(way.recall_at5), share(way.recall_at10), share(way.mrr), p50, p99]
        })
    });
    out.push_str(&table(["queries", "way", "recall@5", "recall@10", "mrr", "p50 ms", "p99 ms"], rows));
    out
}
