//! `artifact.*`: files that hold results too large for a response, or results that were requested as a file.

params! {
    /// Parameters of `artifact.list`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "ArtifactListParams"))]
    pub struct ListParams {
        /// Only artifacts of this session.
        pub session: Option<String>,
        /// Only artifacts of this kind, for example `screenshot_image`.
        pub kind: Option<String>,
        /// Maximum number of artifacts.
        pub limit: Option<u32> where 1..=10_000 = 20,
        /// Value of `nextCursor` from the previous page.
        pub cursor: Option<i64>,
    }

    /// Parameters of `artifact.get`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "ArtifactGetParams"))]
    pub struct GetParams {
        /// Id of the artifact.
        pub id: i64,
        /// Whether to also return the content. The call fails with `LIMIT_EXCEEDED` if the content is larger than
        /// `limits.inline_bytes`.
        #[serde(default)]
        pub content: bool,
    }

    /// Parameters of `artifact.delete`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "ArtifactDeleteParams"))]
    pub struct DeleteParams {
        /// Id of the artifact.
        pub id: i64,
    }
}

words! {
    /// State of the file of an artifact.
    #[cfg_attr(feature = "schema", schemars(rename = "ArtifactStatus"))]
    Status {
        /// The file exists and is unchanged.
        Present = "present",
        /// The file was deleted or its content has changed.
        Missing = "missing",
    }
}

wire! {
    /// A file that the daemon wrote.
    pub struct Artifact {
        /// Id in this database.
        pub artifact_id: i64,
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Session that the artifact belongs to.
        pub session: String,
        /// Device that the content comes from; absent if there is none.
        pub device: Option<String>,
        /// Trace id of the call that created it.
        pub trace_id: String,
        /// Method of the call that created it.
        pub op: String,
        /// Kind of content: `screenshot_image`, `screen_full_json`, `screen_json`, `page_screen_json`,
        /// `page_refs_json`, `shell_output_text`, `page_image`, `component_image`, `message_image`, `state_graph`,
        /// `session_report` or `session_export`.
        pub kind: String,
        /// Media type.
        pub mime_type: String,
        /// Absolute path of the file.
        pub file_path: String,
        /// Size of the file, bytes.
        pub size_bytes: i64,
        /// SHA-256 hash of the content, hexadecimal.
        pub content_hash: String,
        /// Time of creation, UTC milliseconds.
        pub created_at: i64,
        /// State of the file.
        pub status: Status,
    }

    /// Reference to a file that a call saved.
    pub struct SavedArtifact {
        /// Id in this database.
        pub artifact_id: i64,
        /// Kind of content, as in `artifact.list`.
        pub kind: String,
        /// Media type.
        pub mime_type: String,
        /// Absolute path of the file.
        pub saved_file: String,
        /// Size of the file, bytes.
        pub size_bytes: i64,
        /// SHA-256 hash of the content, hexadecimal.
        pub content_hash: String,
    }

    /// A page of artifacts, newest first.
    pub struct Artifacts {
        /// The artifacts.
        pub artifacts: Vec<Artifact>,
        /// Cursor of the next page; absent on the last one.
        pub next_cursor: Option<i64>,
    }

    /// An artifact, with its content if that was requested.
    pub struct ArtifactDetails {
        /// The artifact.
        #[serde(flatten)]
        pub artifact: Artifact,
        /// Content of a text or JSON file, if it was requested.
        pub text: Option<String>,
        /// Content of any other file in base64, if it was requested.
        pub base64: Option<String>,
    }

    /// Result of `artifact.delete`.
    pub struct DeletedArtifact {
        /// Id of the deleted artifact.
        pub artifact_id: i64,
        /// Whether the file was deleted as well. It is kept if another artifact has the same content, or if it was
        /// changed after it was written.
        pub file_deleted: bool,
    }
}

methods! {
    /// Lists artifacts, newest first.
    ArtifactList = "artifact.list" (ListParams) -> Artifacts, Read, [StoreUnavailable], r#"{"limit":20}"#;
    /// Returns an artifact, optionally with its content.
    ArtifactGet = "artifact.get" (GetParams) -> ArtifactDetails, Read, [NotFound, LimitExceeded, StoreUnavailable], r#"{"id":1}"#;
    /// Deletes an artifact and its file.
    ArtifactDelete = "artifact.delete" (DeleteParams) -> DeletedArtifact, Admin, [NotFound, StoreUnavailable], r#"{"id":1}"#;
}
