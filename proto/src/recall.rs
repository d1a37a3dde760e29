//! `recall.*`: finding again what is worth remembering. How it is looked after is in `recall_upkeep`.

use crate::pattern::PatternScope;

words! {
    /// Type of a memory entry.
    EntryType {
        /// Note that somebody saved.
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
        /// Stored preference of the user.
        Preference = "preference",
        /// Stored way of doing something.
        Procedure = "procedure",
        /// Message of a conversation of the asking session.
        Message = "message",
    }

    /// Type of what `recall.store` stores.
    StoredType {
        /// A statement about the world, an app or the user.
        Fact = "fact",
        /// What the user prefers.
        Preference = "preference",
        /// How something is done.
        Procedure = "procedure",
    }

    /// How entries are searched.
    SearchMode {
        /// By full text and vectors.
        Hybrid = "hybrid",
        /// By full text only.
        Text = "text",
        /// By vectors only.
        Vector = "vector",
    }
}

params! {
    /// Parameters of `recall.store`.
    pub struct RecallStoreParams {
        /// The text.
        pub text: String where chars 1..=16_000,
        /// Title.
        pub title: Option<String> where chars 1..=300,
        /// Type.
        #[serde(rename = "type")]
        pub kind: Option<StoredType> = StoredType::Fact,
        /// Package that it is about; if omitted, it is about no app.
        pub app: Option<String> where chars 1..=255,
        /// Site that it is about, such as `example.com`.
        pub site: Option<String> where chars 1..=255,
        /// Who sees it; by default everybody who uses the app, and this session alone without an app or if that
        /// is its scope.
        pub scope: Option<PatternScope>,
        /// Who said it: `user`, `assistant`, `page`, or the name of a tool.
        pub source: Option<String> where chars 1..=100 = "assistant",
        /// Confidence.
        pub confidence: Option<f64> where 0.0..=1.0 = 0.7,
        /// Tags, each of at most 100 characters.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub tags: Vec<String> where items 0..=20,
        /// Uids of entries that it refers to.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub related: Vec<String> where items 0..=50,
        /// When it stops being true, UTC milliseconds.
        pub expires_at: Option<i64>,
        /// Session that stores it.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `recall.search`.
    #[derive(Default)]
    pub struct RecallSearchParams {
        /// What is sought, in words of any language.
        pub query: String where chars 1..=4_000,
        /// Only entries of these types.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub types: Vec<EntryType>,
        /// Only entries about this package, and those about no app; by default those about any.
        pub app: Option<String> where chars 1..=255,
        /// Only entries about this site.
        pub site: Option<String> where chars 1..=255,
        /// Only entries with this tag.
        pub tag: Option<String> where chars 1..=255,
        /// Only entries that this session recorded.
        pub of_session: Option<String>,
        /// Only entries recorded since then, UTC milliseconds.
        pub since: Option<i64>,
        /// Only entries recorded until then, UTC milliseconds.
        pub until: Option<i64>,
        /// Only entries that stop being true until then, UTC milliseconds.
        pub expires_until: Option<i64>,
        /// Whether to find what was archived, too.
        pub archived: Option<bool> = false,
        /// How to search.
        pub mode: Option<SearchMode> = SearchMode::Hybrid,
        /// Whether each entry says why it was found.
        pub explain: Option<bool> = false,
        /// Maximum number of entries.
        pub limit: Option<u32> where 1..=100 = 10,
        /// Session that asks: what was said in it, and what was saved for it alone, is found, too.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `recall.get`.
    #[derive(Default)]
    pub struct RecallGetParams {
        /// Uid of the entry.
        pub uid: String,
        /// Session that asks.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `recall.used`.
    #[derive(Default)]
    pub struct RecallUsedParams {
        /// Uid of a pattern, or of an entry that `recall.store` stored.
        pub uid: String,
        /// Whether it held; omit it if unknown.
        pub held: Option<bool>,
        /// Session that used it: what is known to another session alone is not found.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `recall.delete`.
    #[derive(Default)]
    pub struct RecallDeleteParams {
        /// Uid of an entry that `recall.store` stored.
        pub uid: String,
        /// Session that asks: what is known to another session alone is not found.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `recall.context`.
    #[derive(Default)]
    pub struct RecallContextParams {
        /// The task; by default the session's current task, else its goal.
        pub task: Option<String> where chars 1..=4_000,
        /// Maximum size, tokens.
        pub budget: Option<u32> where 100..=100_000 = 1_500,
        /// Only what is about this package or about no app; by default the session's.
        pub app: Option<String>,
        /// Session.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }
}

wire! {
    /// A memory entry.
    pub struct RecallEntry {
        /// Unique id: that of the note, bug, pattern or other row that it stands for.
        pub uid: String,
        /// Type.
        #[serde(rename = "type")]
        pub kind: EntryType,
        /// Number of the row, as other commands take it; absent for what `recall.store` stored.
        pub id: Option<i64>,
        /// Title.
        pub title: Option<String>,
        /// Text; that of a search is cut to what matters of it.
        pub text: String,
        /// Whether the text was cut.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub cut: bool,
        /// Package that it is about.
        pub app: Option<String>,
        /// Site that it is about.
        pub site: Option<String>,
        /// Session that it was recorded in.
        pub session: Option<String>,
        /// Who said it: `user`, `assistant`, `page`, the name of a tool, or `recorded` for what a session recorded on
        /// purpose.
        pub source: String,
        /// Who sees it.
        pub scope: PatternScope,
        /// Confidence, 0 to 1.
        pub confidence: f64,
        /// Tags.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub tags: Vec<String>,
        /// Uids of entries that it refers to.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub related: Vec<String>,
        /// When it was recorded, UTC milliseconds.
        pub at: i64,
        /// When it stops being true, UTC milliseconds.
        pub expires_at: Option<i64>,
        /// How often a search has handed it over.
        #[serde(default, skip_serializing_if = "crate::recall::is_zero")]
        pub use_count: i64,
        /// When a search did so last, UTC milliseconds.
        pub last_used_at: Option<i64>,
        /// Store that it comes from, if it is another one that shares the Qdrant.
        pub origin: Option<String>,
        /// Score of a search, 0 to 1.
        pub score: Option<f64>,
        /// Why a search found it.
        pub why: Option<Why>,
        /// Whether little speaks for it: it has few of the words that were sought, and its vector is not near.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub weak: bool,
        /// Uids of entries that say the same, apart from case, space and punctuation.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub duplicates: Vec<String>,
    }

    /// Why an entry was found.
    #[derive(Default)]
    pub struct Why {
        /// Rank by full text, from 1.
        pub text_rank: Option<u32>,
        /// Score of BM25.
        pub bm25: Option<f64>,
        /// Share of the query that it has, by the rarity of the words, 0 to 1.
        pub share: Option<f64>,
        /// Words of the query that it has, as far as they are written the same.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub words: Vec<String>,
        /// Rank by the vectors of the model of the settings, from 1.
        pub vector_rank: Option<u32>,
        /// Cosine of the angle between its vector and that of the query.
        pub cosine: Option<f64>,
        /// Rank by the vectors of the built-in model, from 1.
        pub builtin_rank: Option<u32>,
        /// Cosine of the built-in model.
        pub builtin_cosine: Option<f64>,
        /// Factor by age.
        pub age_factor: f64,
        /// Factor by confidence.
        pub confidence_factor: f64,
    }

    /// Result of `recall.search`, best first.
    pub struct RecallFound {
        /// The entries.
        pub entries: Vec<RecallEntry>,
        /// Model whose vectors were searched.
        pub model: String,
        /// What the search could not use, and why; absent if nothing is missing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub missing: Vec<String>,
    }

    /// Result of `recall.store`.
    pub struct RecallStored {
        /// The entry.
        pub entry: RecallEntry,
        /// Whether it had been stored before, with the same text and source, and is changed.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub updated: bool,
        /// Entries that say much the same.
        pub similar: Vec<RecallEntry>,
        /// What could not be looked at, and why; absent if nothing is missing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub missing: Vec<String>,
    }

    /// Result of `recall.delete`.
    pub struct RecallDeleted {
        /// Uid of the entry.
        pub uid: String,
        /// Backups that still hold it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub backups: Vec<String>,
        /// URL of a Qdrant that still holds it, until it is told.
        pub qdrant: Option<String>,
    }

    /// Result of `recall.context`.
    pub struct RecallContext {
        /// The text, for a message that is not the system's: it quotes what was recorded.
        pub text: String,
        /// Tokens of the text.
        pub tokens: i64,
        /// Task that it is for.
        pub task: String,
        /// Uids of the entries in it.
        pub entries: Vec<String>,
        /// What could not be used, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub missing: Vec<String>,
    }
}

/// Whether a count is left out.
fn is_zero(count: &i64) -> bool {
    *count == 0
}

methods! {
    /// Stores a fact, a preference or a procedure.
    RecallStore = "recall.store" (RecallStoreParams, SESSION) -> RecallStored, Admin, [StoreUnavailable, StoreFull], r#"{"text":"the coupon SPRING10 is accepted once per account","app":"com.example.shop","tags":["coupon"]}"#;
    /// Searches everything that is remembered, by words and by meaning.
    RecallSearch = "recall.search" (RecallSearchParams, SESSION) -> RecallFound, Read, [NotFound, StoreUnavailable], r#"{"query":"payment is refused","limit":5}"#, RECALL;
    /// Returns a whole entry.
    RecallGet = "recall.get" (RecallGetParams, SESSION) -> RecallEntry, Read, [NotFound, StoreUnavailable], r#"{"uid":"0192f3c2-7b1a-7c3d-8e4f-0123456789ab"}"#;
    /// Records that an entry was used, and whether it held: its confidence follows.
    RecallUsed = "recall.used" (RecallUsedParams, SESSION) -> RecallEntry, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"uid":"0192f3c2-7b1a-7c3d-8e4f-0123456789ab","held":true}"#;
    /// Deletes an entry that `recall.store` stored.
    RecallDelete = "recall.delete" (RecallDeleteParams, SESSION) -> RecallDeleted, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"uid":"0192f3c2-7b1a-7c3d-8e4f-0123456789ab"}"#;
    /// Assembles what is known for a task: from the session, and from everything that is remembered.
    RecallContextFor = "recall.context" (RecallContextParams, SESSION) -> RecallContext, Read, [NotFound, StoreUnavailable], r#"{"task":"test the checkout with a coupon","budget":1000}"#;
}
