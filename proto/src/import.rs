//! Taking over what another tool remembered. It belongs to `memory.*`.

params! {
    /// Parameters of `memory.importAf`: at least one of both files.
    #[derive(Default)]
    pub struct ImportAfParams {
        /// Settings file of `af`, an absolute path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub config_file: Option<String>,
        /// Database of `af`, an absolute path; by default the one that its settings name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub database_file: Option<String>,
        /// Tell what would be done, and do nothing.
        #[serde(default)]
        pub dry_run: bool,
    }
}

words! {
    /// What became of something that was to be taken over.
    ImportOutcome {
        /// It was.
        Added = "added",
        /// It is there already.
        Present = "present",
        /// It was, but not as it stood.
        Cleaned = "cleaned",
        /// It was left behind.
        Skipped = "skipped",
    }
}

wire! {
    /// What became of the rows of a table.
    #[derive(Default, Eq)]
    pub struct Tally {
        /// How many there are.
        pub found: u64,
        /// How many were taken over.
        pub added: u64,
        /// How many had been taken over before.
        pub present: u64,
        /// How many of those that were taken over had to be cleaned.
        pub cleaned: u64,
        /// How many were left behind.
        pub skipped: u64,
    }

    /// What became of a setting.
    #[derive(Eq)]
    pub struct ImportedSetting {
        /// Its key in the file of `af`.
        pub key: String,
        /// What became of it.
        pub outcome: ImportOutcome,
        /// Its key here, or why it was left behind.
        pub remark: String,
    }

    /// Why a row was cleaned or left behind.
    #[derive(Eq)]
    pub struct Remark {
        /// Table of `af`.
        pub table: String,
        /// Number of the row there.
        pub id: i64,
        /// What became of it.
        pub outcome: ImportOutcome,
        /// Why.
        pub why: String,
    }

    /// What an import did, or would do.
    pub struct ImportReport {
        /// Whether nothing was done.
        pub dry_run: bool,
        /// The settings.
        pub settings: Vec<ImportedSetting>,
        /// Notes.
        pub notes: Tally,
        /// Transitions.
        pub transitions: Tally,
        /// Recoveries.
        pub recoveries: Tally,
        /// Artifacts; their files stay where they are.
        pub artifacts: Tally,
        /// Events, which are not taken over: they hold what was typed, in clear.
        pub events: Tally,
        /// Why rows were cleaned or left behind, at most 200 of them.
        pub remarks: Vec<Remark>,
        /// How many remarks there are in all.
        pub remark_count: u64,
    }
}
