//! Notes: what an agent wants to know again. They belong to `memory.*`.

params! {
    /// Parameters of `memory.save`.
    #[derive(Default)]
    pub struct SaveParams {
        /// What it is about, in parts divided by `/`, for example `nav/home-to-wifi`; 1 to 200 characters.
        pub topic: String,
        /// The note, at most 64 KiB.
        pub content: String,
        /// Package that it is about; none means that it holds everywhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Session that it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
    }

    /// Parameters of `memory.search`. Without a query the newest notes come first, else those that match best, of the 200 newest
    /// that have the words in their topic and the 200 newest that have them at all.
    #[derive(Default)]
    pub struct SearchParams {
        /// Words in any language, or parts of words from three letters (one in Chinese and Japanese). Punctuation only divides.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub query: Option<String>,
        /// Only notes about this package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Only topics that begin so, for example `nav/`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub topic: Option<String>,
        /// At most this many, by default 20, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
        /// The `nextCursor` of the previous answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<i64>,
    }

    /// Parameters of `memory.delete`: one of both.
    #[derive(Default)]
    pub struct DeleteParams {
        /// Number of the note in this store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub id: Option<i64>,
        /// Its uid.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub uid: Option<String>,
    }
}

words! {
    /// Whether all or only some words of the query were found.
    Matched {
        /// Every note has all of them.
        All = "all",
        /// No note has all of them; these have some.
        Any = "any",
    }
}

wire! {
    /// A note.
    pub struct Note {
        /// Its number in this store.
        pub id: i64,
        /// Names it, here and in every copy of this memory.
        pub uid: String,
        /// The package that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// What it is about.
        pub topic: String,
        /// Its place in the chain of its app and topic, from 1; places of deleted notes stay empty.
        pub position: i64,
        /// The note.
        pub content: String,
        /// Session that saved it.
        pub session: String,
        /// When, UTC milliseconds.
        pub created_at: i64,
        /// The part of the content that matched, with the matches in brackets.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub snippet: Option<String>,
        /// How well it matches, from 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub score: Option<f64>,
    }

    /// A note that says much the same.
    pub struct SimilarNote {
        /// Share of the words that both have, from 0 to 1.
        pub similarity: f64,
        /// It.
        #[serde(flatten)]
        pub note: Note,
    }

    /// The note that was saved.
    pub struct Saved {
        /// It.
        pub note: Note,
        /// How many notes its chain has now.
        pub chain_length: i64,
        /// Notes that were there and say much the same, most similar first.
        pub similar: Vec<SimilarNote>,
    }

    /// Notes.
    pub struct Notes {
        /// The notes.
        pub notes: Vec<Note>,
        /// How they match, with a query.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub matched: Option<Matched>,
        /// Give this as `cursor` for the next page; absent on the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_cursor: Option<i64>,
    }

    /// The note that was deleted.
    pub struct Deleted {
        /// Its number.
        pub id: i64,
        /// Its uid.
        pub uid: String,
        /// How many notes are left in its chain.
        pub chain_length: i64,
    }
}
