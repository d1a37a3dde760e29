//! `recall.*`: storing, searching and assembling recall entries. Their maintenance is in the module `recall_upkeep`.

use crate::pattern::PatternScope;

words! {
    /// Type of a recall entry.
    EntryType {
        /// Saved note.
        Note = "note",
        /// Reported bug.
        Bug = "bug",
        /// Test result.
        Result = "result",
        /// Model of a page.
        Page = "page",
        /// Learned pattern.
        Pattern = "pattern",
        /// Goal, summary and next steps of a session.
        Session = "session",
        /// Named or described state of an app.
        State = "state",
        /// Stored fact.
        Fact = "fact",
        /// Stored user preference.
        Preference = "preference",
        /// Stored description of how something is done.
        Procedure = "procedure",
        /// Message in a conversation of the calling session.
        Message = "message",
    }

    /// Type of an entry that `recall.store` stores.
    StoredType {
        /// A statement about the world, an app or the user.
        Fact = "fact",
        /// A user preference.
        Preference = "preference",
        /// A description of how something is done.
        Procedure = "procedure",
    }

    /// How entries are searched.
    SearchMode {
        /// Full-text and vector search combined.
        Hybrid = "hybrid",
        /// Full-text search only.
        Text = "text",
        /// Vector search only.
        Vector = "vector",
    }
}

params! {
    /// Parameters of `recall.store`.
    pub struct RecallStoreParams {
        /// Text of the entry.
        pub text: String where chars 1..=16_000,
        /// Title of the entry.
        pub title: Option<String> where chars 1..=300,
        /// Type of the entry.
        #[serde(rename = "type")]
        pub kind: Option<StoredType> = StoredType::Fact,
        /// Package that the entry is about; if omitted, the entry is not about any particular app.
        pub app: Option<String> where chars 1..=255,
        /// Site that the entry is about, such as `example.com`.
        pub site: Option<String> where chars 1..=255,
        /// Visibility of the entry; by default `everybody` for a preference. For other types, by default `session` if the
        /// parameter `app` is omitted or the session has the scope `session`, else `app`.
        pub scope: Option<PatternScope>,
        /// Source of the statement: `user`, `assistant`, `page`, or the name of a tool.
        pub source: Option<String> where chars 1..=100 = "assistant",
        /// Confidence that the entry is correct.
        pub confidence: Option<f64> where 0.0..=1.0 = 0.7,
        /// Tags, each of at most 100 characters.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub tags: Vec<String> where items 0..=20,
        /// Uids of other entries that this entry refers to.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub related: Vec<String> where items 0..=50,
        /// Time at which the entry expires, in Unix milliseconds; must be in the future. By default, the entry does not
        /// expire.
        pub expires_at: Option<i64>,
        /// Session that stores the entry.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `recall.search`.
    #[derive(Default)]
    pub struct RecallSearchParams {
        /// Search query, in any language.
        pub query: String where chars 1..=4_000,
        /// Only entries of these types.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub types: Vec<EntryType>,
        /// Only entries about this package, and entries about no app; by default entries about any package.
        pub app: Option<String> where chars 1..=255,
        /// Only entries about this site.
        pub site: Option<String> where chars 1..=255,
        /// Only entries with all of these tags.
        #[serde(
            default,
            alias = "tag",
            deserialize_with = "crate::incoming::texts",
            skip_serializing_if = "Vec::is_empty"
        )]
        pub tags: Vec<String> where items 0..=20,
        /// Only entries that this session recorded.
        pub of_session: Option<String>,
        /// Only entries recorded at or after this time, in Unix milliseconds.
        pub since: Option<i64>,
        /// Only entries recorded at or before this time, in Unix milliseconds.
        pub until: Option<i64>,
        /// Only entries that expire at or before this time, in Unix milliseconds.
        pub expires_until: Option<i64>,
        /// Whether to include archived entries.
        pub archived: Option<bool> = false,
        /// Search method.
        pub mode: Option<SearchMode> = SearchMode::Hybrid,
        /// Whether to explain for each entry why it was found.
        pub explain: Option<bool> = false,
        /// Maximum number of entries.
        pub limit: Option<u32> where 1..=100 = 10,
        /// Session that performs the search. Messages of this session, and entries that are visible only to this
        /// session, are found as well.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `recall.get`.
    #[derive(Default)]
    pub struct RecallGetParams {
        /// Uid of the entry.
        pub uid: String,
        /// Session that reads the entry. Entries that are visible only to another session are not found.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `recall.used`.
    #[derive(Default)]
    pub struct RecallUsedParams {
        /// Uid of a pattern, or of an entry that `recall.store` stored.
        pub uid: String,
        /// Whether the entry held true; omit this parameter if unknown.
        pub held: Option<bool>,
        /// Session that used the entry. Entries that are visible only to another session are not found.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `recall.delete`.
    #[derive(Default)]
    pub struct RecallDeleteParams {
        /// Uid of an entry that `recall.store` stored.
        pub uid: String,
        /// Session that deletes the entry. Entries that are visible only to another session are not found.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `recall.context`.
    #[derive(Default)]
    pub struct RecallContextParams {
        /// Description of the task; by default the session's current task, else its goal.
        pub task: Option<String> where chars 1..=4_000,
        /// Maximum size of the assembled text, in tokens.
        pub budget: Option<u32> where 100..=100_000 = 1_500,
        /// Only entries about this package, and entries about no app; by default the package of the session.
        pub app: Option<String>,
        /// Name of the session.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }
}

wire! {
    /// A recall entry.
    pub struct RecallEntry {
        /// Unique id: the uid of the note, bug, pattern or other record that the entry represents.
        pub uid: String,
        /// Type of the entry.
        #[serde(rename = "type")]
        pub kind: EntryType,
        /// Id of the represented record in this database (for a message, its position), as accepted by other methods;
        /// absent for entries stored by `recall.store`.
        pub id: Option<i64>,
        /// Title of the entry.
        pub title: Option<String>,
        /// Text of the entry; if it is long, a search returns only the relevant part.
        pub text: String,
        /// Whether the text was shortened.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub cut: bool,
        /// Package that the entry is about.
        pub app: Option<String>,
        /// Site that the entry is about.
        pub site: Option<String>,
        /// Session in which the entry was recorded.
        pub session: Option<String>,
        /// Source of the entry: `user`, `assistant`, `page`, the name of a tool, or `recorded` if a session recorded
        /// the entry on purpose.
        pub source: String,
        /// Visibility of the entry.
        pub scope: PatternScope,
        /// Confidence that the entry is correct, 0 to 1.
        pub confidence: f64,
        /// Tags of the entry.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub tags: Vec<String>,
        /// Uids of other entries that this entry refers to.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub related: Vec<String>,
        /// Time at which the entry was recorded, in Unix milliseconds.
        pub at: i64,
        /// Time at which the entry expires, in Unix milliseconds; absent if it does not expire.
        pub expires_at: Option<i64>,
        /// Number of times a search has returned the entry.
        #[serde(default, skip_serializing_if = "crate::recall::is_zero")]
        pub use_count: i64,
        /// Time at which a search last returned the entry, in Unix milliseconds; absent if no search has returned it.
        pub last_used_at: Option<i64>,
        /// Memory that the entry comes from; only for entries from another memory that shares the Qdrant server.
        pub origin: Option<String>,
        /// Search score, 0 to 1; only in search results.
        pub score: Option<f64>,
        /// Explanation of why a search found the entry; only with `explain`.
        pub why: Option<Why>,
        /// Whether the match is weak: the entry contains few of the query's words, and its vector is not close to the
        /// query's vector.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub weak: bool,
        /// Uids of other entries whose text differs from this entry's text only in case, whitespace and punctuation.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub duplicates: Vec<String>,
    }

    /// Explanation of why an entry was found.
    #[derive(Default)]
    pub struct Why {
        /// Rank in the full-text results, from 1.
        pub text_rank: Option<u32>,
        /// BM25 score of the full-text match.
        pub bm25: Option<f64>,
        /// Share of the query's words that the entry contains, weighted by rarity, 0 to 1.
        pub share: Option<f64>,
        /// Query words whose stems occur in the entry.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub words: Vec<String>,
        /// Rank in the vector results of the configured model, from 1.
        pub vector_rank: Option<u32>,
        /// Cosine similarity between the entry's vector and the query's vector in the configured model.
        pub cosine: Option<f64>,
        /// Rank in the vector results of the built-in model, from 1.
        pub builtin_rank: Option<u32>,
        /// Cosine similarity between the entry's vector and the query's vector in the built-in model.
        pub builtin_cosine: Option<f64>,
        /// Score factor that depends on the entry's age.
        pub age_factor: f64,
        /// Score factor that depends on the entry's confidence.
        pub confidence_factor: f64,
    }

    /// Result of `recall.search`.
    pub struct RecallFound {
        /// Entries that were found, best match first.
        pub entries: Vec<RecallEntry>,
        /// Embedding model whose vectors were searched.
        pub model: String,
        /// Sources that the search could not use, with the reasons; absent if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub missing: Vec<String>,
    }

    /// Result of `recall.store`.
    pub struct RecallStored {
        /// The stored or updated entry.
        pub entry: RecallEntry,
        /// Whether an existing entry with the same text and source was updated, so that no new entry was stored.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub updated: bool,
        /// Other entries that are similar to the stored one, at most 3.
        pub similar: Vec<RecallEntry>,
        /// Parts of the memory that were not searched, with the reasons; absent if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub missing: Vec<String>,
    }

    /// Result of `recall.delete`.
    pub struct RecallDeleted {
        /// Uid of the deleted entry.
        pub uid: String,
        /// Names of the backups that still contain the entry, newest first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub backups: Vec<String>,
        /// URL of the Qdrant server that keeps the entry until the deletion has been sent to it; absent if there is
        /// none.
        pub qdrant: Option<String>,
    }

    /// Result of `recall.context`.
    pub struct RecallContext {
        /// Text for the language model. The text quotes recorded data, so do not send it in a system message.
        pub text: String,
        /// Number of tokens in the text.
        pub tokens: i64,
        /// Task that the text was assembled for.
        pub task: String,
        /// Uids of the entries that the text contains.
        pub entries: Vec<String>,
        /// Sources that could not be used, with the reasons; absent if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub missing: Vec<String>,
    }
}

/// Returns whether a count is 0. Such a count is omitted from the output.
fn is_zero(count: &i64) -> bool {
    *count == 0
}

methods! {
    /// Stores a fact, a preference or a procedure.
    RecallStore = "recall.store" (RecallStoreParams, SESSION) -> RecallStored, Admin, [StoreUnavailable, StoreFull], r#"{"text":"the coupon SPRING10 is accepted once per account","app":"com.example.shop","tags":["coupon"]}"#;
    /// Searches the memory by words and by meaning.
    RecallSearch = "recall.search" (RecallSearchParams, SESSION) -> RecallFound, Read, [NotFound, StoreUnavailable], r#"{"query":"payment is refused","limit":5}"#, RECALL;
    /// Returns an entry with its complete text.
    RecallGet = "recall.get" (RecallGetParams, SESSION) -> RecallEntry, Read, [NotFound, StoreUnavailable], r#"{"uid":"0192f3c2-7b1a-7c3d-8e4f-0123456789ab"}"#;
    /// Records that an entry was used and whether it held true, and updates the entry's confidence.
    RecallUsed = "recall.used" (RecallUsedParams, SESSION) -> RecallEntry, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"uid":"0192f3c2-7b1a-7c3d-8e4f-0123456789ab","held":true}"#;
    /// Deletes an entry that `recall.store` stored.
    RecallDelete = "recall.delete" (RecallDeleteParams, SESSION) -> RecallDeleted, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"uid":"0192f3c2-7b1a-7c3d-8e4f-0123456789ab"}"#;
    /// Assembles the knowledge about a task from the session and from the memory, within a token budget.
    RecallContextFor = "recall.context" (RecallContextParams, SESSION) -> RecallContext, Read, [NotFound, StoreUnavailable], r#"{"task":"test the checkout with a coupon","budget":1000}"#;
}
