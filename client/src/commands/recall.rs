//! The `recall` and `model` commands.

use afd_proto::model::{ModelAdd, ModelAddParams, ModelRemove, ModelRemoveParams};
use afd_proto::pattern::PatternScope;
use afd_proto::recall::{
    EntryType, RecallContextFor, RecallContextParams, RecallDelete, RecallDeleteParams, RecallGet, RecallGetParams,
    RecallSearch, RecallSearchParams, RecallStore, RecallStoreParams, RecallUsed, RecallUsedParams, SearchMode,
    StoredType,
};
use afd_proto::recall_upkeep::{
    RecallEvaluate, RecallEvaluateParams, RecallStatusOf, RecallStatusParams, RecallUpkeepParams, RecallUpkeepRun,
};
use clap::{Args, Subcommand};

use super::{Call, Group, absolute, true_if};
use afd_link::options::Context;

/// Search the memory: notes, bugs, test results, patterns, pages, sessions.
#[derive(Debug, Subcommand)]
pub enum Recall {
    /// Search by words and by meaning
    Search(Search),
    /// Store a fact, a preference or a procedure
    Store(Store),
    /// Show an entry in full
    Get {
        /// Uid of the entry, as shown by search
        uid: String,
    },
    /// Report that a pattern or a stored entry was used, and whether it held
    Used {
        /// Uid of the entry, as shown by search
        uid: String,
        /// Whether the pattern or entry turned out to be true
        #[arg(long, value_name = "BOOL")]
        held: Option<bool>,
    },
    /// Delete an entry created by `recall store`
    Delete {
        /// Uid of the entry, as shown by search
        uid: String,
    },
    /// Assemble what is known about a task, within a token budget
    Context {
        /// Description of the task [default: the session's current task, else its goal]
        task: Option<String>,
        /// Maximum size of the assembled text, in tokens
        #[arg(long, value_name = "TOKENS")]
        budget: Option<u32>,
        /// Only entries about this package or about no package [default: the app of the session]
        #[arg(long)]
        app: Option<String>,
    },
    /// Show the number of entries by type, and the state of the embedding models and of Qdrant
    Status,
    /// Run maintenance: expire, archive and deduplicate entries, and drop unused vectors
    Upkeep {
        /// Only show what would change, without changing anything
        #[arg(long)]
        dry_run: bool,
    },
    /// Measure how well search queries find the entries expected for them
    Evaluate {
        /// Directory with entries.jsonl and queries.jsonl or with several of these, or a file in the format of LoCoMo
        directory: String,
    },
}

/// Embedding models for `recall`.
#[derive(Debug, Subcommand)]
pub enum Model {
    /// Check a sentence model and use it from now on
    Add {
        /// Directory with config.json, tokenizer.json and model.safetensors
        directory: String,
    },
    /// List the models, with the number of entries that each has embedded
    List,
    /// Go back to the built-in model
    Remove,
}

/// Options for `search`.
#[derive(Debug, Args)]
pub struct Search {
    /// Words or question to search for
    #[arg(required = true)]
    query: Vec<String>,
    /// Only entries of this type; repeatable
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    types: Vec<EntryType>,
    /// Only entries about this package or about no package
    #[arg(long)]
    app: Option<String>,
    /// Only entries about this site
    #[arg(long)]
    site: Option<String>,
    /// Only entries with this tag; repeat it for entries with several tags
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only entries that this session recorded
    #[arg(long, value_name = "NAME")]
    for_session: Option<String>,
    /// Only entries recorded at or after this time, in Unix milliseconds
    #[arg(long, value_name = "MS")]
    since: Option<i64>,
    /// Only entries recorded at or before this time, in Unix milliseconds
    #[arg(long, value_name = "MS")]
    until: Option<i64>,
    /// Only entries that expire at or before this time, in Unix milliseconds
    #[arg(long, value_name = "MS")]
    expires_until: Option<i64>,
    /// Search archived entries, too
    #[arg(long)]
    archived: bool,
    /// How entries are searched: by words, by meaning, or both
    #[arg(long, value_enum)]
    mode: Option<SearchMode>,
    /// Show why each entry was found
    #[arg(long)]
    explain: bool,
    /// Maximum number of entries
    #[arg(long)]
    limit: Option<u32>,
}

/// Options for `store`.
#[derive(Debug, Args)]
pub struct Store {
    /// Text of the entry
    text: String,
    /// Title of the entry
    #[arg(long)]
    title: Option<String>,
    /// Type of the entry
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    kind: Option<StoredType>,
    /// Package that the entry is about
    #[arg(long)]
    app: Option<String>,
    /// Site that the entry is about, for example example.com
    #[arg(long)]
    site: Option<String>,
    /// Visibility of the entry [default: everyone who uses the app; without --app only this session]
    #[arg(long, value_enum)]
    scope: Option<PatternScope>,
    /// Source of the entry: user, assistant, page, or the name of a tool
    #[arg(long)]
    source: Option<String>,
    /// Confidence of the entry, from 0 to 1
    #[arg(long, value_name = "SHARE")]
    confidence: Option<f64>,
    /// Tag of the entry; repeatable
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Uid of a related entry; repeatable
    #[arg(long, value_name = "UID")]
    related: Vec<String>,
    /// Time at which the entry expires, in Unix milliseconds
    #[arg(long, value_name = "MS")]
    expires_at: Option<i64>,
}

impl Group for Recall {
    fn call(self, _: &Context) -> Call {
        match self {
            Recall::Search(search) => Call::of::<RecallSearch>(RecallSearchParams {
                query: search.query.join(" "),
                types: search.types,
                app: search.app,
                site: search.site,
                tags: search.tags,
                of_session: search.for_session,
                since: search.since,
                until: search.until,
                expires_until: search.expires_until,
                archived: true_if(search.archived),
                mode: search.mode,
                explain: true_if(search.explain),
                limit: search.limit,
                session: None,
            }),
            Recall::Store(store) => Call::of::<RecallStore>(RecallStoreParams {
                text: store.text,
                title: store.title,
                kind: store.kind,
                app: store.app,
                site: store.site,
                scope: store.scope,
                source: store.source,
                confidence: store.confidence,
                tags: store.tags,
                related: store.related,
                expires_at: store.expires_at,
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
