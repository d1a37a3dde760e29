//! `visual.*`: deleting, what was changed in the visual memory, and undoing it.

use crate::visual::About;

scope_params! {
    /// Parameters of `visual.delete`: one of the two.
    #[derive(Default)]
    pub struct DeleteParams {
        /// Name of a component.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub component: Option<String>,
        /// Id or name of a state.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub state: Option<String>,
    }

    /// Parameters of `visual.history`.
    #[derive(Default)]
    pub struct HistoryParams {
        /// At most this many, by default 20, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
        /// The `nextCursor` of the previous answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<i64>,
    }

    /// Parameters of `visual.undo`.
    #[derive(Default)]
    pub struct UndoParams {
        /// Number of the change; by default the newest that was not undone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub id: Option<i64>,
    }
}

words! {
    /// What was done to the memory.
    ChangeOp {
        /// What was not seen for long was forgotten.
        Forget = "forget",
        /// Two that are the same became one.
        Merge = "merge",
        /// Something got another name.
        Rename = "rename",
        /// Somebody deleted something.
        Delete = "delete",
        /// What changes by itself was taken away.
        Cleanup = "cleanup",
    }
}

wire! {
    /// A change of the memory.
    pub struct Change {
        /// Number, for `visual.undo`.
        pub id: i64,
        /// Names it in every copy of this memory.
        pub uid: String,
        /// What it belongs to.
        #[serde(flatten)]
        pub about: About,
        /// What was done.
        pub op: ChangeOp,
        /// What it was done to.
        pub what: String,
        /// Why.
        pub why: String,
        /// When, UTC milliseconds.
        pub at: i64,
        /// When it was undone, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub undone_at: Option<i64>,
    }

    /// Changes of the memory, newest first.
    pub struct Changes {
        /// The changes.
        pub changes: Vec<Change>,
        /// Give this as `cursor` for the next page; absent on the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_cursor: Option<i64>,
    }
}

methods! {
    /// Deletes a component or a state with all that hangs on it.
    VisualDelete = "visual.delete" (DeleteParams, SCOPE) -> Change, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"app":"com.android.settings","component":"avatar"}"#;
    /// Tells what was forgotten, merged, renamed and deleted, and why.
    VisualHistory = "visual.history" (HistoryParams, SCOPE) -> Changes, Read, [StoreUnavailable], r#"{"limit":20}"#;
    /// Undoes a change of the memory.
    VisualUndo = "visual.undo" (UndoParams, SCOPE) -> Change, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"app":"com.android.settings"}"#;
}
