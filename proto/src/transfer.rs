//! `session.export` and `session.import`: exporting a session as one document, or as JSON lines that another memory can
//! import.

use std::collections::BTreeMap;

use crate::coverage::Coverage;
use crate::findings::{Bug, TestResult, TestedElement};
use crate::session::{SessionInfo, Statistics, VisitedPage};
use crate::tasks::Task;

session_params! {
    /// Parameters of `session.export`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "SessionExportParams"))]
    pub struct ExportParams {
        /// Format of the export.
        pub format: Option<ExportFormat> = ExportFormat::Document,
        /// Absolute path of a file for the export. By default, a document is returned inline, or saved as an artifact
        /// if it exceeds `limits.inline_bytes`; JSON lines are always saved to a file.
        pub file: Option<String>,
    }
}

params! {
    /// Parameters of `session.import`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "SessionImportParams"))]
    pub struct ImportParams {
        /// Absolute path of a file written by `session.export` with `format: lines`.
        pub file: String,
        /// Name for the imported session; by default the name in the file.
        pub name: Option<String>,
        /// Whether to import new and newer records into a session that already exists. If false, the import is refused
        /// if the file would change such a session.
        #[serde(default)]
        pub merge: bool,
    }
}

words! {
    /// Format of an export.
    ExportFormat {
        /// One JSON document for programs that evaluate a session.
        Document = "document",
        /// JSON lines, one per record, for `session.import`.
        Lines = "lines" | "jsonl",
    }
}

wire! {
    /// Result of `session.import`.
    pub struct Imported {
        /// Name of the session.
        pub session: String,
        /// Unique id of the session.
        pub uid: String,
        /// Number of inserted records by type.
        pub inserted: BTreeMap<String, i64>,
        /// Number of records that replaced older versions.
        #[serde(default)]
        pub renewed: i64,
        /// Number of records that were already present.
        pub present: i64,
        /// Number of system messages that were skipped, because system messages from another memory are not imported.
        #[serde(default)]
        pub left_out: i64,
    }

    /// A conversation with its messages.
    pub struct ExportedConversation {
        /// Name of the conversation.
        pub conversation: String,
        /// All messages of the conversation, oldest first.
        pub messages: Vec<crate::conversation::RecordedMessage>,
        /// All summaries of the conversation.
        pub summaries: Vec<crate::conversation::SummaryInfo>,
    }

    /// Complete record of a session.
    pub struct Export {
        /// Type of this document: `afd-session`.
        pub format: String,
        /// Version of the document format.
        pub version: u32,
        /// The session, with counts of its tasks, bugs and test results.
        pub info: SessionInfo,
        /// Duration of the session in milliseconds, until its end or, if it has not ended, until the export.
        #[serde(default)]
        pub duration_ms: i64,
        /// Prose summary of the session.
        pub summary: String,
        /// Statistics of the session.
        pub statistics: Statistics,
        /// Coverage of the pages and elements in the visual memory.
        pub coverage: Coverage,
        /// All tasks: the finished tasks, then the active task, then the pending tasks.
        pub tasks: Vec<Task>,
        /// All bugs.
        pub bugs: Vec<Bug>,
        /// All test results.
        pub results: Vec<TestResult>,
        /// All elements that were marked as tested.
        pub tested: Vec<TestedElement>,
        /// All visited pages, most recent first.
        pub pages: Vec<VisitedPage>,
        /// All messages of the main conversation, oldest first.
        pub messages: Vec<crate::conversation::RecordedMessage>,
        /// All summaries of the main conversation.
        pub summaries: Vec<crate::conversation::SummaryInfo>,
        /// The other conversations.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub conversations: Vec<ExportedConversation>,
        /// Patterns learned in the session.
        pub patterns: Vec<crate::pattern::Pattern>,
        /// All events, oldest first.
        pub events: Vec<crate::memory::Event>,
        /// All notes saved in the session.
        pub notes: Vec<crate::notes::Note>,
        /// All artifacts of the session.
        pub artifacts: Vec<crate::artifact::Artifact>,
        /// Next steps of the session.
        pub next_steps: Vec<String>,
        /// Blockers of the session.
        pub blockers: Vec<String>,
        /// Context keys and their values.
        pub context: BTreeMap<String, String>,
    }

    /// Result of `session.export`: the document, or the location of the file.
    pub struct ExportResult {
        /// Name of the session.
        pub session: String,
        /// The document; absent if it was saved to a file.
        pub document: Option<Box<Export>>,
        /// Absolute path of the file; absent if the document is returned inline.
        pub file: Option<String>,
        /// Id of the artifact; absent if the document is returned inline.
        pub artifact_id: Option<i64>,
        /// Size of the document, in bytes.
        pub size_bytes: i64,
    }
}

methods! {
    /// Imports a session from an export in JSON lines.
    SessionImport = "session.import" (ImportParams) -> Imported, Admin, [Conflict, StoreUnavailable, StoreFull], r#"{"file":"/tmp/checkout-1.jsonl"}"#;
    /// Exports the complete record of a session as one document, or as JSON lines that can be imported.
    SessionExport = "session.export" (ExportParams, SESSION) -> ExportResult, Read, [NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1"}"#;
}
