//! `recall.*`, looking after what can be recalled: its state, its upkeep, and how well it is found.

use crate::model::EmbeddingModel;

params! {
    /// Parameters of `recall.status`.
    #[derive(Default)]
    pub struct RecallStatusParams {}

    /// Parameters of `recall.upkeep`.
    #[derive(Default)]
    pub struct RecallUpkeepParams {
        /// Whether to tell only what would change.
        pub dry_run: Option<bool> = false,
    }

    /// Parameters of `recall.evaluate`.
    #[derive(Default)]
    pub struct RecallEvaluateParams {
        /// Directory with `entries.jsonl` and `queries.jsonl`, or with directories that have them.
        pub directory: String,
    }
}

wire! {
    /// Number of entries of a type.
    pub struct EntryCount {
        /// The type.
        #[serde(rename = "type")]
        pub kind: String,
        /// The number.
        pub count: i64,
    }

    /// Result of `recall.status`.
    pub struct RecallStatus {
        /// Number of entries by type.
        pub entries: Vec<EntryCount>,
        /// Number of rows whose entries are still to be made.
        pub due: i64,
        /// The models; that of the settings first, the built-in one last.
        pub models: Vec<EmbeddingModel>,
        /// Memory that the index takes, bytes.
        pub index_bytes: u64,
        /// The Qdrant of the settings.
        pub qdrant: Option<QdrantStatus>,
    }

    /// How far a Qdrant has got.
    pub struct QdrantStatus {
        /// URL.
        pub url: String,
        /// Collection of the model in use; absent before the model made a vector.
        pub collection: Option<String>,
        /// Number of changes that are still to be sent there.
        pub pending: i64,
        /// Why they cannot be sent.
        pub error: Option<String>,
    }

    /// A row that upkeep changed.
    pub struct UpkeepRow {
        /// Its uid.
        pub uid: String,
        /// Uid of the pattern that it was merged into.
        pub into: Option<String>,
    }

    /// What upkeep changed, of one kind.
    pub struct UpkeepChange {
        /// `merged` patterns said the same as another one, `confidence` follows what reports of uses count by now,
        /// `expired` memories were deleted, `archived` sessions are found on request only, `resumed` ones are found
        /// again, `stale` vectors were emptied until their entries are used again, `unused` vectors belonged to other
        /// models.
        pub change: String,
        /// Number of changes.
        pub count: i64,
        /// Some of what was changed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub examples: Vec<String>,
        /// What was changed, at most 100 rows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub rows: Vec<UpkeepRow>,
    }

    /// Two patterns about the same whose vectors are near. Whether they say the same is for somebody who reads them to
    /// say.
    pub struct SimilarPatterns {
        /// Id of the older one.
        pub id: i64,
        /// Its text.
        pub text: String,
        /// Id of the newer one.
        pub other: i64,
        /// Its text.
        pub other_text: String,
        /// Cosine of the angle between their vectors.
        pub similarity: f64,
    }

    /// A run of upkeep that changed something.
    pub struct UpkeepRun {
        /// When, UTC milliseconds.
        pub at: i64,
        /// What it changed.
        pub changes: Vec<UpkeepChange>,
    }

    /// Result of `recall.upkeep`.
    pub struct RecallUpkeep {
        /// Whether nothing was changed.
        pub dry_run: bool,
        /// What was changed, or would be.
        pub changes: Vec<UpkeepChange>,
        /// The runs before, newest first, at most 20.
        pub runs: Vec<UpkeepRun>,
        /// Pairs of patterns that may say the same, at most 20; `pattern.merge` merges one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub similar: Vec<SimilarPatterns>,
    }

    /// How well a way of searching finds what is expected.
    pub struct Evaluation {
        /// Way of searching: `like`, `text`, `vector` or `hybrid`.
        pub way: String,
        /// Share of the expected entries among the first 5, mean over the queries.
        pub recall_at5: f64,
        /// Share of the expected entries among the first 10.
        pub recall_at10: f64,
        /// Mean of 1 through the rank of the first expected entry.
        pub mrr: f64,
        /// Median time of a query, milliseconds.
        pub p50_ms: f64,
        /// Time that one of a hundred queries exceeds, milliseconds.
        pub p99_ms: f64,
    }

    /// Evaluations of a set of queries.
    pub struct EvaluationGroup {
        /// Directory, language or kind of the queries; `all` for all of them.
        pub name: String,
        /// Number of queries.
        pub queries: u32,
        /// One for each way of searching.
        pub ways: Vec<Evaluation>,
    }

    /// Result of `recall.evaluate`.
    pub struct RecallEvaluated {
        /// Model whose vectors were used.
        pub model: String,
        /// Number of entries.
        pub entries: u32,
        /// All queries, then those of each directory, language and kind.
        pub groups: Vec<EvaluationGroup>,
    }
}

methods! {
    /// Returns what can be recalled, and how far embeddings have got.
    RecallStatusOf = "recall.status" (RecallStatusParams) -> RecallStatus, Read, [StoreUnavailable], r#"{}"#;
    /// Tidies what can be recalled, and tells which patterns may say the same.
    RecallUpkeepRun = "recall.upkeep" (RecallUpkeepParams) -> RecallUpkeep, Admin, [StoreUnavailable, StoreFull], r#"{"dryRun":true}"#;
    /// Measures how well queries find what is expected.
    RecallEvaluate = "recall.evaluate" (RecallEvaluateParams) -> RecallEvaluated, Read, [StoreUnavailable], r#"{"directory":"/home/me/queries"}"#;
}
