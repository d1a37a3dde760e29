//! `memory.importAf`: importing the data of `af` 0.5.

params! {
    /// Parameters of `memory.importAf`: at least one of `configFile` and `databaseFile` is required.
    #[derive(Default)]
    pub struct ImportAfParams {
        /// Absolute path of the configuration file of `af`.
        pub config_file: Option<String>,
        /// Absolute path of the database of `af`; by default the one named in its configuration file.
        pub database_file: Option<String>,
        /// Whether to only report what would be imported.
        #[serde(default)]
        pub dry_run: bool,
    }
}

words! {
    /// Import result of a setting or row.
    ImportOutcome {
        /// Imported.
        Added = "added",
        /// Already present.
        Present = "present",
        /// Imported with corrections.
        Cleaned = "cleaned",
        /// Not imported.
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

    /// Import result of a setting.
    #[derive(Eq)]
    pub struct ImportedSetting {
        /// Key in the configuration file of `af`.
        pub key: String,
        /// Outcome.
        pub outcome: ImportOutcome,
        /// Key of the setting in the configuration file of `afd`, or the reason why it was skipped.
        pub remark: String,
    }

    /// Remark about a row that was corrected or skipped.
    #[derive(Eq)]
    pub struct Remark {
        /// Table in the database of `af`.
        pub table: String,
        /// Row id in that table.
        pub id: i64,
        /// Outcome.
        pub outcome: ImportOutcome,
        /// Reason.
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
        /// Counts of artifacts; their files stay where they are.
        pub artifacts: Tally,
        /// Counts of events. No events are imported, because they contain typed text in readable form.
        pub events: Tally,
        /// Remarks about rows that were corrected or skipped; at most 200.
        pub remarks: Vec<Remark>,
        /// Total number of remarks.
        pub remark_count: u64,
    }
}
