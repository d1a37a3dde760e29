//! Notes: text that agents save for later use. The methods belong to `memory.*`.

use crate::vocabulary::RecordScope;

params! {
    /// Parameters of `memory.save`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "NoteSaveParams"))]
    pub struct SaveParams {
        /// Topic: a path whose parts are separated by `/`, for example `nav/home-to-wifi`; 1 to 200 characters.
        pub topic: String where chars 1..=200,
        /// Text of the note, at most 64 KiB.
        pub content: String,
        /// Package that the note is about; if omitted, the note applies to all apps.
        pub app: Option<String>,
        /// Visibility of the note; by default the scope of the session, which is `app` unless the session was started
        /// with another scope.
        pub scope: Option<RecordScope>,
        /// Session that saves the note.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `memory.search`. Without a query, the newest notes come first. With a query, the best matches come
    /// first; they are selected from the 200 newest notes with the words in their topic and the 200 newest notes with
    /// the words anywhere.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "NoteSearchParams"))]
    pub struct SearchParams {
        /// Words to search for, in any language. Parts of words match if they have at least three letters (one in
        /// Chinese and Japanese); punctuation is ignored.
        pub query: Option<String> where chars 0..=1000,
        /// Only notes about this package.
        pub app: Option<String>,
        /// Only notes whose topic starts with this prefix, for example `nav/`.
        pub topic: Option<String>,
        /// Maximum number of notes.
        pub limit: Option<u32> where 1..=10_000 = 20,
        /// Value of `nextCursor` from the previous page.
        pub cursor: Option<i64>,
        /// Session that performs the search. Its own notes with the scope `session` are found as well.
        pub session: Option<String> = crate::vocabulary::DEFAULT_SESSION,
    }

    /// Parameters of `memory.delete`: exactly one of `id` and `uid` is required.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "NoteDeleteParams"))]
    pub struct DeleteParams {
        /// Id of the note in this database.
        pub id: Option<i64>,
        /// Uid of the note.
        pub uid: Option<String>,
    }
}

words! {
    /// Whether the notes contain all words of the query.
    TermMatch {
        /// Every note contains all words.
        All = "all",
        /// No note contains all words; the returned notes contain some.
        Any = "any",
    }
}

wire! {
    /// A note.
    pub struct Note {
        /// Id in this database.
        pub id: i64,
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Uid of the memory that the note came from; absent if it originated in this memory.
        pub origin: Option<String>,
        /// Package that the note is about; absent if the note applies to all apps.
        pub app: Option<String>,
        /// Topic of the note.
        pub topic: String,
        /// Position in the chain of notes with the same app and topic, from 1; positions of deleted notes are not
        /// reused.
        pub position: i64,
        /// Text of the note.
        pub content: String,
        /// Session that saved the note.
        pub session: String,
        /// `session` if the note is visible only to the session that saved it; absent otherwise.
        pub scope: Option<RecordScope>,
        /// Time at which the note was created, in Unix milliseconds.
        pub created_at: i64,
        /// Excerpt of the content around the matches, which are in brackets; only with a query.
        pub snippet: Option<String>,
        /// Relevance of the note to the query, 0 to 1; only with a query.
        pub score: Option<f64>,
    }

    /// A note with similar content.
    pub struct SimilarNote {
        /// Similarity, 0 to 1: the share of common words, or the cosine similarity of the vectors.
        pub similarity: f64,
        /// The similar note.
        #[serde(flatten)]
        pub note: Note,
    }

    /// Result of `memory.save`.
    pub struct SavedNote {
        /// The new note.
        pub note: Note,
        /// Number of notes in the new note's chain, including the new note.
        pub chain_length: i64,
        /// Existing notes with similar content, at most 5.
        pub similar: Vec<SimilarNote>,
        /// Parts of the memory that were not searched, with the reasons; absent if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub missing: Vec<String>,
    }

    /// A page of notes.
    pub struct Notes {
        /// Notes on this page.
        pub notes: Vec<Note>,
        /// Whether the notes contain all words of the query; absent without a query.
        pub matched: Option<TermMatch>,
        /// Cursor for the next page; absent on the last page.
        pub next_cursor: Option<i64>,
        /// Parts of the memory that could not be searched, with the reasons; absent if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub missing: Vec<String>,
    }

    /// Result of `memory.delete`.
    pub struct DeletedNote {
        /// Id of the deleted note.
        pub id: i64,
        /// Uid of the deleted note.
        pub uid: String,
        /// Number of notes left in the deleted note's chain.
        pub chain_length: i64,
        /// Names of the backups that still contain the note, newest first; `backup.delete` deletes a backup.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub backups: Vec<String>,
    }
}
