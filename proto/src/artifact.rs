//! `artifact.*`: files that were written because they are too large for an answer, or because they were asked for.

params! {
    /// Parameters of `artifact.list`.
    #[derive(Default)]
    pub struct ListParams {
        /// Only this session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
        /// Only this kind, for example `screenshot_image`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub kind: Option<String>,
        /// At most this many, by default 20, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
        /// The `nextCursor` of the previous answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<i64>,
    }

    /// Parameters of `artifact.get`.
    #[derive(Default)]
    pub struct GetParams {
        /// Its number.
        pub id: i64,
        /// Send the content along, if it is small enough.
        #[serde(default)]
        pub content: bool,
    }

    /// Parameters of `artifact.delete`.
    #[derive(Default)]
    pub struct DeleteParams {
        /// Its number.
        pub id: i64,
    }
}

words! {
    /// Whether the file of an artifact is there.
    Status {
        /// It is.
        Present = "present",
        /// It is gone, or holds something else by now.
        Missing = "missing",
    }
}

wire! {
    /// An artifact.
    pub struct Artifact {
        /// Its number in this store.
        pub artifact_id: i64,
        /// Names it, here and in every copy of this memory.
        pub uid: String,
        /// Session that it was written for.
        pub session: String,
        /// Device that it shows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub device: Option<String>,
        /// The call that wrote it.
        pub trace_id: String,
        /// Method of that call.
        pub op: String,
        /// `screenshot_image`, `screen_full_json`, `screen_json`, `page_screen_json`, `page_refs_json` or `shell_output_text`.
        pub kind: String,
        /// Its media type.
        pub mime_type: String,
        /// The file.
        pub file_path: String,
        /// Its size, bytes.
        pub size_bytes: i64,
        /// SHA-256 of its content, hex.
        pub content_hash: String,
        /// When it was written, UTC milliseconds.
        pub created_at: i64,
        /// Whether its file is there.
        pub status: Status,
    }

    /// What an answer says about the artifact that it wrote.
    pub struct Written {
        /// Its number in this store.
        pub artifact_id: i64,
        /// What it is.
        pub kind: String,
        /// Its media type.
        pub mime_type: String,
        /// The file.
        pub saved_file: String,
        /// Its size, bytes.
        pub size_bytes: i64,
        /// SHA-256 of its content, hex.
        pub content_hash: String,
    }

    /// Artifacts, newest first.
    pub struct Artifacts {
        /// The artifacts.
        pub artifacts: Vec<Artifact>,
        /// Give this as `cursor` for the next page; absent on the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_cursor: Option<i64>,
    }

    /// An artifact, perhaps with its content.
    pub struct Got {
        /// It.
        #[serde(flatten)]
        pub artifact: Artifact,
        /// Its content, when it is text, was asked for and is small enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub text: Option<String>,
        /// Its content in base64, when it is no text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub base64: Option<String>,
    }

    /// An artifact that was deleted.
    pub struct Deleted {
        /// Its number.
        pub artifact_id: i64,
        /// Whether its file went too; it stays while another artifact has the same content, or when it was changed since.
        pub file_deleted: bool,
    }
}

methods! {
    /// Lists artifacts, newest first.
    ArtifactList = "artifact.list" (ListParams) -> Artifacts, Read, [StoreUnavailable], r#"{"limit":20}"#;
    /// Tells about an artifact.
    ArtifactGet = "artifact.get" (GetParams) -> Got, Read, [NotFound, LimitExceeded, StoreUnavailable], r#"{"id":1}"#;
    /// Deletes an artifact and its file.
    ArtifactDelete = "artifact.delete" (DeleteParams) -> Deleted, Admin, [NotFound, StoreUnavailable], r#"{"id":1}"#;
}
