//! `job.*`: the daemon's background jobs.

params! {
    /// Parameters of `job.run`.
    #[derive(Default)]
    pub struct RunParams {
        /// Name of the job to run.
        pub name: String,
    }
}

wire! {
    /// A background job.
    pub struct Job {
        /// Name of the job.
        pub name: String,
        /// Short description of the job.
        pub about: String,
        /// Interval between scheduled runs, in milliseconds.
        pub every_ms: u64,
        /// Whether the job is running now.
        pub running: bool,
        /// Number of runs since the daemon started.
        pub runs: u64,
        /// Time at which the last run ended, in Unix milliseconds; absent if there was none.
        pub last_run_at: Option<i64>,
        /// Duration of the last run, in milliseconds.
        pub last_duration_ms: Option<u64>,
        /// Summary of the last run; absent if that run failed.
        pub last_result: Option<String>,
        /// Error of the last run; absent if that run succeeded.
        pub last_error: Option<String>,
    }

    /// Result of `job.list`: all jobs.
    pub struct Jobs {
        /// The jobs.
        pub jobs: Vec<Job>,
    }
}

methods! {
    /// Lists the background jobs with the results of their last runs.
    JobList = "job.list" (crate::vocabulary::NoParams) -> Jobs, Read, [], "{}";
    /// Runs a job now and waits until the run has finished.
    JobRun = "job.run" (RunParams) -> Job, Admin, [NotFound], r#"{"name":"artifact-limits"}"#;
}
