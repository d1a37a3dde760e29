//! `job.*`: what the daemon does in the background.

params! {
    /// Parameters of `job.run`.
    #[derive(Default)]
    pub struct RunParams {
        /// Its name.
        pub name: String,
    }
}

wire! {
    /// A job.
    pub struct Job {
        /// Its name.
        pub name: String,
        /// What it does.
        pub about: String,
        /// How often it runs, milliseconds.
        pub every_ms: u64,
        /// Whether it runs right now.
        pub running: bool,
        /// How often it has run since the start.
        pub runs: u64,
        /// When it last ended, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_run_at: Option<i64>,
        /// How long that took, milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_duration_ms: Option<u64>,
        /// What came of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_result: Option<String>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_error: Option<String>,
    }

    /// All jobs.
    pub struct Jobs {
        /// The jobs.
        pub jobs: Vec<Job>,
    }
}

methods! {
    /// Lists the background jobs and what came of them.
    JobList = "job.list" (crate::vocabulary::NoParams) -> Jobs, Read, [], "{}";
    /// Runs a job now and waits for its end.
    JobRun = "job.run" (RunParams) -> Job, Admin, [NotFound], r#"{"name":"artifact-limits"}"#;
}
