//! Maintenance of the memory: deleting old rows, reclaiming disk space, and copying everything to another memory.

use std::collections::BTreeMap;

use crate::vocabulary::NoParams;

params! {
    /// Parameters of `memory.prune`.
    #[derive(Default)]
    pub struct PruneParams {
        /// Minimum age of the deleted rows, at least one hour: a number followed by `d` for days or `h` for hours, such
        /// as `90d`.
        pub older: String,
        /// Whether to count the rows that would be deleted without deleting them.
        pub dry_run: Option<bool> = false,
    }
}

params! {
    /// Parameters of `memory.export`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "MemoryExportParams"))]
    pub struct ExportParams {
        /// Absolute path of the export file.
        pub file: String,
    }

    /// Parameters of `memory.import`.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "MemoryImportParams"))]
    pub struct ImportParams {
        /// Absolute path of a file written by `memory.export`.
        pub file: String,
        /// Whether to report what would be imported without importing it.
        pub dry_run: Option<bool> = false,
        /// Whether the file may change the goal, tasks, next steps and blockers of sessions that already exist here.
        pub merge: Option<bool> = false,
    }
}

wire! {
    /// Result of `memory.export`.
    #[cfg_attr(feature = "schema", schemars(rename = "ExportedMemory"))]
    pub struct Exported {
        /// Absolute path of the export file.
        pub file: String,
        /// Number of records by type.
        pub records: BTreeMap<String, u64>,
        /// Size of the file, in bytes.
        pub bytes: u64,
    }

    /// Counts of the imported records of one type.
    #[derive(Default)]
    pub struct ImportCounts {
        /// Number of records that were added.
        pub added: u64,
        /// Number of records that replaced older versions.
        pub renewed: u64,
        /// Number of records that were already present.
        pub present: u64,
        /// Number of records that were skipped, because they are invalid, refer to a missing record, or conflict with
        /// an existing one.
        pub left_out: u64,
    }

    /// Result of `memory.import`.
    #[cfg_attr(feature = "schema", schemars(rename = "ImportedMemory"))]
    pub struct Imported {
        /// Whether this was a dry run.
        pub dry_run: bool,
        /// Counts of the records by type.
        pub records: BTreeMap<String, ImportCounts>,
        /// Reasons why records were skipped, at most 20.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub remarks: Vec<String>,
    }

    /// Result of `memory.prune`.
    pub struct Pruned {
        /// Time before which events and observations were deleted, in Unix milliseconds.
        pub before: i64,
        /// Number of deleted events.
        pub events: u64,
        /// Number of deleted observations.
        pub observations: u64,
        /// Whether the events and observations were only counted. If so, the counts include all old rows, although an
        /// actual run keeps a few of them as long as newer rows need them.
        pub dry_run: bool,
        /// Space used in the database after the call, in bytes; the file itself shrinks later.
        pub used_bytes: u64,
    }

    /// Result of `memory.vacuum`.
    pub struct Vacuumed {
        /// Size of the database before the call, in bytes.
        pub before_bytes: u64,
        /// Size of the database after the call, in bytes.
        pub after_bytes: u64,
    }
}

methods! {
    /// Deletes old events and observations; learned experience and the totals of sessions are kept.
    MemoryPrune = "memory.prune" (PruneParams) -> Pruned, Admin, [Conflict, StoreUnavailable, StoreFull], r#"{"older":"90d","dryRun":true}"#;
    /// Rewrites the database to reclaim space from deleted data; other writes wait until the rewrite is done.
    MemoryVacuum = "memory.vacuum" (NoParams) -> Vacuumed, Admin, [StoreUnavailable, StoreFull], "{}";
    /// Writes the whole memory, except artifacts and settings, to a file of JSON lines.
    MemoryExport = "memory.export" (ExportParams) -> Exported, Read, [StoreUnavailable, StoreFull], r#"{"file":"/home/me/memory.jsonl"}"#;
    /// Imports the export of another memory; importing it again changes nothing. Import only files that you trust.
    MemoryImport = "memory.import" (ImportParams) -> Imported, Admin, [StoreUnavailable, StoreFull], r#"{"file":"/home/me/memory.jsonl","dryRun":true}"#;
}
