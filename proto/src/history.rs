//! `visual.delete`, `visual.history` and `visual.undo`: deleting items from the visual memory, and undoing changes to
//! it.

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
        /// Whether to erase the item at once: its labels, text and pictures, and the records that are needed to undo
        /// the deletion and earlier changes to the item. By default, the item is erased after 30 days.
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
        /// Id of the change; by default the newest change that has not been undone.
        pub id: Option<i64>,
    }
}

words! {
    /// Kind of change to the visual memory.
    ChangeOp {
        /// The item was forgotten because it was missing for too long.
        Forget = "forget",
        /// The item was merged with an equal or similar item.
        Merge = "merge",
        /// The item was renamed.
        Rename = "rename",
        /// A caller deleted the item.
        Delete = "delete",
        /// The item was deleted because its text is dynamic.
        Cleanup = "cleanup",
    }
}

wire! {
    /// A change to the visual memory.
    pub struct Change {
        /// Id of the change, as accepted by `visual.undo`.
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
        /// Reason for the change.
        pub why: String,
        /// Time of the change, in Unix milliseconds.
        pub at: i64,
        /// Time at which the change was undone, in Unix milliseconds; absent if it was not undone.
        pub undone_at: Option<i64>,
    }

    /// A page of changes, newest first.
    pub struct Changes {
        /// Changes on this page.
        pub changes: Vec<Change>,
        /// Cursor for the next page; absent on the last page.
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
