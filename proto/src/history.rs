//! `visual.delete`, `visual.history` and `visual.undo`: deleting items of the visual memory, and undoing changes to it.

use crate::visual::ScopeInfo;

scope_params! {
    /// Parameters of `visual.delete`: exactly one of `component` and `state` is required.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "VisualDeleteParams"))]
    pub struct DeleteParams {
        /// Name of the component to delete.
        pub component: Option<String>,
        /// Id or name of the state to delete.
        pub state: Option<String>,
        /// Whether to erase the item at once: its labels, texts and pictures, and the records that are needed to undo
        /// this and earlier changes of it. By default, this happens 30 days later.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub purge: bool,
    }

    /// Parameters of `visual.history`.
    #[derive(Default)]
    pub struct HistoryParams {
        /// Maximum number of changes.
        pub limit: Option<u32> where 1..=10_000 = 20,
        /// Value of `nextCursor` from the previous page.
        pub cursor: Option<i64>,
    }

    /// Parameters of `visual.undo`.
    #[derive(Default)]
    pub struct UndoParams {
        /// Id of the change; by default the newest one that has not been undone.
        pub id: Option<i64>,
    }
}

words! {
    /// Kind of change to the visual memory.
    ChangeOp {
        /// Forgotten, because it was missing for too long.
        Forget = "forget",
        /// Merged with an equal or similar item.
        Merge = "merge",
        /// Renamed.
        Rename = "rename",
        /// Deleted by a caller.
        Delete = "delete",
        /// Deleted, because its text is dynamic.
        Cleanup = "cleanup",
    }
}

wire! {
    /// A change to the visual memory.
    pub struct Change {
        /// Id, for `visual.undo`.
        pub id: i64,
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// App or site that the changed item belongs to.
        #[serde(flatten)]
        pub about: ScopeInfo,
        /// Kind of change.
        pub op: ChangeOp,
        /// Item that was changed.
        pub what: String,
        /// Reason.
        pub why: String,
        /// Time of the change, UTC milliseconds.
        pub at: i64,
        /// Time at which it was undone, UTC milliseconds; absent if it was not.
        pub undone_at: Option<i64>,
    }

    /// A page of changes, newest first.
    pub struct Changes {
        /// The changes.
        pub changes: Vec<Change>,
        /// Cursor of the next page; absent on the last one.
        pub next_cursor: Option<i64>,
    }
}

methods! {
    /// Deletes a component, or a state with everything that depends on it.
    VisualDelete = "visual.delete" (DeleteParams, SCOPE) -> Change, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"app":"com.android.settings","component":"avatar"}"#;
    /// Lists the items that were forgotten, merged, renamed or deleted, with the reasons.
    VisualHistory = "visual.history" (HistoryParams, SCOPE) -> Changes, Read, [StoreUnavailable], r#"{"limit":20}"#;
    /// Undoes a change to the visual memory.
    VisualUndo = "visual.undo" (UndoParams, SCOPE) -> Change, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"app":"com.android.settings"}"#;
}
