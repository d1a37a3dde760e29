//! `artifact.*`: files that hold results that are too large for a response or were requested as files.

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
        /// Id of the artifact to return.
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
        /// Id of the artifact to delete.
        pub id: i64,
    }
}

words! {
    /// State of an artifact's file.
    #[cfg_attr(feature = "schema", schemars(rename = "ArtifactStatus"))]
    Status {
        /// The file exists and is unchanged.
        Present = "present",
        /// The file was deleted, or the content of the file has changed.
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
        /// Device that the content comes from; absent if it does not come from a device.
        pub device: Option<String>,
        /// Trace id of the call that created the artifact.
        pub trace_id: String,
        /// Method whose call created the artifact.
        pub op: String,
        /// Kind of content: `screenshot_image`, `screen_full_json`, `screen_json`, `page_screen_json`,
        /// `page_refs_json`, `shell_output_text`, `page_tool_text`, `page_image`, `component_image`, `message_image`, `state_graph`,
        /// `session_report` or `session_export`.
        pub kind: String,
        /// Media type of the content.
        pub mime_type: String,
        /// Absolute path of the file.
        pub file_path: String,
        /// Size of the file, in bytes.
        pub size_bytes: i64,
        /// SHA-256 hash of the content, in hexadecimal digits.
        pub content_hash: String,
        /// Time at which the artifact was created, in Unix milliseconds.
        pub created_at: i64,
        /// State of the artifact's file.
        pub status: Status,
    }

    /// Reference to a file that a call saved.
    pub struct SavedArtifact {
        /// Id in this database.
        pub artifact_id: i64,
        /// Kind of content, as in `artifact.list`.
        pub kind: String,
        /// Media type of the content.
        pub mime_type: String,
        /// Absolute path of the file.
        pub saved_file: String,
        /// Size of the file, in bytes.
        pub size_bytes: i64,
        /// SHA-256 hash of the content, in hexadecimal digits.
        pub content_hash: String,
    }

    /// A page of artifacts, newest first.
    pub struct Artifacts {
        /// Artifacts on this page.
        pub artifacts: Vec<Artifact>,
        /// Cursor for the next page; absent on the last page.
        pub next_cursor: Option<i64>,
    }

    /// An artifact, with its content if the content was requested.
    pub struct ArtifactDetails {
        /// The artifact.
        #[serde(flatten)]
        pub artifact: Artifact,
        /// Content of the file if it is a text or JSON file and the content was requested.
        pub text: Option<String>,
        /// Content of the file in base64 if it is neither a text nor a JSON file and the content was requested.
        pub base64: Option<String>,
    }

    /// Result of `artifact.delete`.
    pub struct DeletedArtifact {
        /// Id of the deleted artifact.
        pub artifact_id: i64,
        /// Whether the artifact's file was deleted as well. The file is kept if another artifact has the same content,
        /// or if the file was changed after it was written.
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
