//! `recall.*`: status, maintenance and evaluation of the recall entries.

use crate::model::EmbeddingModel;

params! {
    /// Parameters of `recall.status`.
    #[derive(Default)]
    pub struct RecallStatusParams {}

    /// Parameters of `recall.upkeep`.
    #[derive(Default)]
    pub struct RecallUpkeepParams {
        /// Whether to report what would change without changing it.
        pub dry_run: Option<bool> = false,
    }

    /// Parameters of `recall.evaluate`.
    #[derive(Default)]
    pub struct RecallEvaluateParams {
        /// Absolute path of a directory with `entries.jsonl` and `queries.jsonl`, of a directory with several of these,
        /// or of a file with conversations and questions in the format of LoCoMo (`locomo10.json`).
        pub directory: String,
    }
}

wire! {
    /// Number of entries of a given type.
    pub struct EntryCount {
        /// Type of the entries.
        #[serde(rename = "type")]
        pub kind: String,
        /// Number of entries of this type.
        pub count: i64,
    }

    /// Result of `recall.status`.
    pub struct RecallStatus {
        /// Number of entries by type.
        pub entries: Vec<EntryCount>,
        /// Number of records that have not been indexed yet.
        pub due: i64,
        /// Embedding models; the configured model first, the built-in model last.
        pub models: Vec<EmbeddingModel>,
        /// Size of the index in main memory, in bytes.
        pub index_bytes: u64,
        /// State of the configured Qdrant server; absent if none is configured.
        pub qdrant: Option<QdrantStatus>,
    }

    /// State of the upload to a Qdrant server.
    pub struct QdrantStatus {
        /// URL of the server.
        pub url: String,
        /// Name of the collection for the model in use; absent until the model has produced a vector.
        pub collection: Option<String>,
        /// Number of changes that have not been sent to the server yet.
        pub pending: i64,
        /// Reason why changes cannot be sent; absent if they can be sent.
        pub error: Option<String>,
    }

    /// A row that an upkeep run changed.
    pub struct UpkeepRow {
        /// Uid of the row.
        pub uid: String,
        /// Uid of the pattern that the row was merged into; absent if it was not merged.
        pub into: Option<String>,
    }

    /// Changes of one kind that an upkeep run made.
    pub struct UpkeepChange {
        /// Kind of change. `merged`: patterns with the same text and subject were merged. `confidence`: confidence
        /// values were recalculated, because the weight of reported uses changes with time. `expired`: expired entries
        /// were deleted. `archived`: sessions were archived, and are found only on request. `resumed`: archived
        /// sessions are found again without a request. `stale`: vectors were cleared until their entries are used
        /// again. `unused`: vectors from other models were deleted.
        pub change: String,
        /// Number of changes.
        pub count: i64,
        /// Examples of what was changed, at most 5.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub examples: Vec<String>,
        /// Changed rows, at most 100.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub rows: Vec<UpkeepRow>,
    }

    /// Two patterns with the same subject and similar vectors. Whether they have the same meaning must be decided by
    /// reading them.
    pub struct SimilarPatterns {
        /// Id of the older pattern.
        pub id: i64,
        /// Text of the older pattern, at most 200 characters.
        pub text: String,
        /// Id of the newer pattern.
        pub other: i64,
        /// Text of the newer pattern, at most 200 characters.
        pub other_text: String,
        /// Cosine similarity between the patterns' vectors.
        pub similarity: f64,
    }

    /// An upkeep run that changed something.
    pub struct UpkeepRun {
        /// Time of the run, in Unix milliseconds.
        pub at: i64,
        /// Changes by kind.
        pub changes: Vec<UpkeepChange>,
    }

    /// Result of `recall.upkeep`.
    pub struct RecallUpkeep {
        /// Whether this was a dry run.
        pub dry_run: bool,
        /// Changes by kind; in a dry run, the changes that would be made.
        pub changes: Vec<UpkeepChange>,
        /// Runs that changed something, newest first, at most 20.
        pub runs: Vec<UpkeepRun>,
        /// Pairs of patterns that may have the same meaning, most similar first, at most 20; `pattern.merge` merges a pair.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub similar: Vec<SimilarPatterns>,
        /// Number of all such pairs.
        #[serde(default)]
        pub similar_count: u64,
    }

    /// Quality of the results that one search method returns.
    pub struct Evaluation {
        /// Search method: `text`, `vector` and `hybrid`, and for comparison `like`, `bm25` and `fts5`.
        pub way: String,
        /// Share of the expected entries that are among the first 5 results, 0 to 1; mean over all queries.
        pub recall_at5: f64,
        /// Share of the expected entries that are among the first 10 results, 0 to 1; mean over all queries.
        pub recall_at10: f64,
        /// Share of the expected entries that are among the first 25 results, 0 to 1; mean over all queries.
        pub recall_at25: f64,
        /// Mean reciprocal rank of the first expected entry, 0 to 1.
        pub mrr: f64,
        /// Share of the queries whose first result is marked as weak, 0 to 1.
        pub weak: Option<f64>,
        /// The same share of the queries that have no expected entries.
        pub weak_unanswered: Option<f64>,
        /// Median query duration, in milliseconds.
        pub p50_ms: f64,
        /// 99th percentile of the query duration, in milliseconds.
        pub p99_ms: f64,
    }

    /// Evaluation of each search method on a set of queries.
    pub struct EvaluationGroup {
        /// Directory, language or kind of the queries, or `all` for all queries.
        pub name: String,
        /// Number of queries that have expected entries.
        pub queries: u32,
        /// Number of queries that have none.
        pub unanswered: u32,
        /// One evaluation per search method.
        pub ways: Vec<Evaluation>,
    }

    /// Result of `recall.evaluate`.
    pub struct RecallEvaluated {
        /// Embedding model whose vectors were used.
        pub model: String,
        /// Number of entries in all evaluated directories.
        pub entries: u32,
        /// Evaluations of all queries, then of the queries in each directory, language and kind.
        pub groups: Vec<EvaluationGroup>,
    }
}

methods! {
    /// Returns the number of recall entries by type, and the state of the embedding models and of Qdrant.
    RecallStatusOf = "recall.status" (RecallStatusParams) -> RecallStatus, Read, [StoreUnavailable], r#"{}"#;
    /// Merges, expires and archives recall entries, and lists patterns that may have the same meaning.
    RecallUpkeepRun = "recall.upkeep" (RecallUpkeepParams) -> RecallUpkeep, Admin, [StoreUnavailable, StoreFull], r#"{"dryRun":true}"#;
    /// Measures how well each search method finds the expected entries.
    RecallEvaluate = "recall.evaluate" (RecallEvaluateParams) -> RecallEvaluated, Read, [StoreUnavailable], r#"{"directory":"/home/me/queries"}"#;
}
