//! Upkeep of a memory: deleting what is old, and moving everything to another memory.

use std::collections::BTreeMap;

use crate::vocabulary::NoParams;

params! {
    /// Parameters of `memory.prune`.
    #[derive(Default)]
    pub struct PruneParams {
        /// Age of what is deleted: a number with `d` for days or `h` for hours, such as `90d`; at least one hour.
        pub older: String,
        /// Only count what would be deleted.
        pub dry_run: Option<bool> = false,
    }
}

params! {
    /// Parameters of `memory.export`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "MemoryExportParams"))]
    pub struct ExportParams {
        /// Absolute path of the file.
        pub file: String,
    }

    /// Parameters of `memory.import`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "MemoryImportParams"))]
    pub struct ImportParams {
        /// Absolute path of a file written by `memory.export`.
        pub file: String,
        /// Only tell what would be taken in.
        pub dry_run: Option<bool> = false,
        /// Whether the file may change the goal, tasks, next steps and blockers of sessions that are here already.
        pub merge: Option<bool> = false,
    }
}

wire! {
    /// Result of `memory.export`.
    #[cfg_attr(feature = "schema", schemars(rename = "ExportedMemory"))]
    pub struct Exported {
        /// Absolute path of the file.
        pub file: String,
        /// Number of records by type.
        pub records: BTreeMap<String, u64>,
        /// Size of the file, bytes.
        pub bytes: u64,
    }

    /// What became of the records of a type.
    #[derive(Default)]
    pub struct ImportCounts {
        /// Number of records that are new here.
        pub added: u64,
        /// Number of records that replaced older versions.
        pub renewed: u64,
        /// Number of records that were here already.
        pub present: u64,
        /// Number of records that could not be taken in beside what is here.
        pub left_out: u64,
    }

    /// Result of `memory.import`.
    #[cfg_attr(feature = "schema", schemars(rename = "ImportedMemory"))]
    pub struct Imported {
        /// Whether nothing was changed.
        pub dry_run: bool,
        /// What became of the records, by type.
        pub records: BTreeMap<String, ImportCounts>,
        /// Why the first records were left out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub remarks: Vec<String>,
    }

    /// Result of `memory.prune`.
    pub struct Pruned {
        /// Time before which events and observations were deleted, UTC milliseconds.
        pub before: i64,
        /// Number of events.
        pub events: u64,
        /// Number of observations.
        pub observations: u64,
        /// Whether they were only counted. The count is of everything that is old; a few old rows stay as long as newer
        /// ones need them.
        pub dry_run: bool,
        /// Size of what is stored in the database now, bytes; the file shrinks later.
        pub used_bytes: u64,
    }

    /// Result of `memory.vacuum`.
    pub struct Vacuumed {
        /// Size of the database before, bytes.
        pub before_bytes: u64,
        /// Size of the database now, bytes.
        pub after_bytes: u64,
    }
}

methods! {
    /// Deletes old events and observations. What was learned from them stays, and so do the totals of sessions.
    MemoryPrune = "memory.prune" (PruneParams) -> Pruned, Admin, [Conflict, StoreUnavailable, StoreFull], r#"{"older":"90d","dryRun":true}"#;
    /// Rewrites the database without the space of what was deleted. Writes wait until it is done.
    MemoryVacuum = "memory.vacuum" (NoParams) -> Vacuumed, Admin, [StoreUnavailable, StoreFull], "{}";
    /// Writes everything that is known to a file of JSON lines. Artifacts and settings are not in it.
    MemoryExport = "memory.export" (ExportParams) -> Exported, Read, [StoreUnavailable, StoreFull], r#"{"file":"/home/me/memory.jsonl"}"#;
    /// Takes in what another memory exported; repeating it changes nothing. Only import files that you trust like your own memory.
    MemoryImport = "memory.import" (ImportParams) -> Imported, Admin, [StoreUnavailable, StoreFull], r#"{"file":"/home/me/memory.jsonl","dryRun":true}"#;
}
