//! `memory.importAf`: importing data from `af` 0.5.

params! {
    /// Parameters of `memory.importAf`: at least one of `configFile` and `databaseFile` is required.
    #[derive(Default)]
    pub struct ImportAfParams {
        /// Absolute path of the `af` configuration file.
        pub config_file: Option<String>,
        /// Absolute path of the `af` database; by default the database named in the `af` configuration file.
        pub database_file: Option<String>,
        /// Whether to report what would be imported without importing it.
        #[serde(default)]
        pub dry_run: bool,
    }
}

words! {
    /// Import result for a setting or row.
    ImportOutcome {
        /// The item was imported.
        Added = "added",
        /// The item was already present.
        Present = "present",
        /// The item was imported with corrections.
        Cleaned = "cleaned",
        /// The item was not imported.
        Skipped = "skipped",
    }
}

wire! {
    /// Counts of the rows of a table, or of the entries of a file.
    #[derive(Default, Eq)]
    pub struct Tally {
        /// Number of rows found.
        pub found: u64,
        /// Number of rows imported.
        pub added: u64,
        /// Number of rows that were already present.
        pub present: u64,
        /// Number of rows that had to be corrected for the import.
        pub cleaned: u64,
        /// Number of rows that were not imported.
        pub skipped: u64,
    }

    /// Import result for a setting.
    #[derive(Eq)]
    pub struct ImportedSetting {
        /// Key of the setting in the `af` configuration file.
        pub key: String,
        /// Outcome of the import.
        pub outcome: ImportOutcome,
        /// Key of the setting in the `afd` configuration file, or the reason why the setting was skipped.
        pub remark: String,
    }

    /// Remark about a row that was corrected or skipped.
    #[derive(Eq)]
    pub struct Remark {
        /// Name of the table in the `af` database.
        pub table: String,
        /// Row id in that table.
        pub id: i64,
        /// Outcome of the import.
        pub outcome: ImportOutcome,
        /// Reason why the row was corrected or skipped.
        pub why: String,
    }

    /// Result of `memory.importAf`.
    pub struct ImportReport {
        /// Whether this was a dry run.
        pub dry_run: bool,
        /// Results for the settings.
        pub settings: Vec<ImportedSetting>,
        /// Counts of notes.
        pub notes: Tally,
        /// Counts of transitions.
        pub transitions: Tally,
        /// Counts of recoveries.
        pub recoveries: Tally,
        /// Counts of artifacts; the artifact files stay where they are.
        pub artifacts: Tally,
        /// Counts of events. No events are imported, because events contain typed text in readable form.
        pub events: Tally,
        /// Remarks about rows that were corrected or skipped; at most 200.
        pub remarks: Vec<Remark>,
        /// Total number of remarks, including those that `remarks` omits.
        pub remark_count: u64,
    }
}
