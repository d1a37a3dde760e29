//! What a session found: bugs, test results, tested elements. They belong to `session.*`.

session_params! {
    /// Parameters of `session.bug.add`.
    #[derive(Default)]
    pub struct BugAddParams {
        /// One line; 1 to 300 characters.
        pub title: String,
        /// How bad it is; by default `medium`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub severity: Option<Severity>,
        /// What it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// How to make it happen, step by step.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub steps: Vec<String>,
        /// What should happen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub expected: Option<String>,
        /// What happens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub actual: Option<String>,
        /// Page key, activity or URL; by default the page that the session saw last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// Package; by default that of that page, else of the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Number or uid of the artifact that shows it, or `latest` for the newest screenshot of the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub screenshot: Option<String>,
    }

    /// Parameters of `session.bug.show`.
    #[derive(Default)]
    pub struct BugShowParams {
        /// Number of the bug.
        pub id: i64,
    }

    /// Parameters of `session.bug.resolve`.
    #[derive(Default)]
    pub struct BugResolveParams {
        /// Number of the bug.
        pub id: i64,
        /// Why it counts as resolved, for example `fixed in 2.4` or `duplicate of 3`.
        pub reason: String,
    }

    /// Parameters of `session.result.add`.
    pub struct ResultAddParams {
        /// What was tested; 1 to 300 characters.
        pub name: String,
        /// How it ended.
        pub status: ResultStatus,
        /// Page key, activity or URL; by default the page that the session saw last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// Package; by default that of that page, else of the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// How long it took, milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub duration_ms: Option<u64>,
        /// What was seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub summary: Option<String>,
        /// Number or uid of the artifact that shows it, or `latest` for the newest screenshot of the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub evidence: Option<String>,
        /// Number of the bug that it found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub bug: Option<i64>,
    }

    /// Parameters of `session.tested`.
    #[derive(Default)]
    pub struct TestedParams {
        /// Elements by name of their component, resource id or label.
        pub elements: Vec<String>,
        /// Whether an assertion about them held; left out when there was none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub passed: Option<bool>,
        /// Page key, activity or URL; by default the page that the session saw last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// Package; by default that of that page, else of the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
    }
}

params! {
    /// Parameters of `session.bug.list`. Without a session, the bugs of all.
    #[derive(Default)]
    pub struct BugListParams {
        /// Only those of this session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
        /// Only those of this severity.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub severity: Option<Severity>,
        /// Only `open` or `resolved` ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub status: Option<BugStatus>,
        /// Only those in this package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Only those on pages whose key, activity or URL contains this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// At most this many, by default 20, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
        /// The `nextCursor` of the previous answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<i64>,
    }

    /// Parameters of `session.result.list`. Without a session, the results of all.
    #[derive(Default)]
    pub struct ResultListParams {
        /// Only those of this session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub session: Option<String>,
        /// Only those that ended so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub status: Option<ResultStatus>,
        /// Only those on pages whose key, activity or URL contains this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// Only those since then, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub since: Option<i64>,
        /// At most this many, by default 20, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
        /// The `nextCursor` of the previous answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub cursor: Option<i64>,
    }
}

words! {
    /// How bad a bug is, worst first.
    Severity {
        /// Data is lost, or nothing works.
        Critical = "critical",
        /// Something important does not work.
        High = "high",
        /// Something does not work well.
        Medium = "medium",
        /// It could be nicer.
        Low = "low",
    }

    /// Where a bug stands.
    BugStatus {
        /// It is there.
        Open = "open",
        /// It counts as resolved.
        Resolved = "resolved",
    }

    /// How a test ended.
    ResultStatus {
        /// As expected.
        Passed = "passed",
        /// Not as expected.
        Failed = "failed",
        /// Not done.
        Skipped = "skipped",
        /// It could not be carried out.
        Error = "error",
    }
}

wire! {
    /// A bug.
    pub struct Bug {
        /// Its number in this store.
        pub id: i64,
        /// Names it in every copy of this memory.
        pub uid: String,
        /// Session that found it.
        pub session: String,
        /// One line.
        pub title: String,
        /// How bad it is.
        pub severity: Severity,
        /// What it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// How to make it happen.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub steps: Vec<String>,
        /// What should happen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub expected: Option<String>,
        /// What happens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub actual: Option<String>,
        /// Package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Page key, activity or URL.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// The state that the visual memory knew the page as.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub state: Option<String>,
        /// Uid of the artifact that shows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub screenshot: Option<String>,
        /// Uid of the task that found it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub task: Option<String>,
        /// Where it stands.
        pub status: BugStatus,
        /// Why it counts as resolved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub resolution: Option<String>,
        /// When it was found, UTC milliseconds.
        pub created_at: i64,
        /// When it was resolved, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub resolved_at: Option<i64>,
    }

    /// A bug that was recorded.
    pub struct BugAdded {
        /// It.
        pub bug: Bug,
        /// Open bugs of the app that are called much the same, most similar first.
        pub similar: Vec<Bug>,
    }

    /// Bugs, newest first.
    pub struct Bugs {
        /// The bugs.
        pub bugs: Vec<Bug>,
        /// How many the filters find, by severity and status.
        pub counts: BugCounts,
        /// Give this as `cursor` for the next page; absent on the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_cursor: Option<i64>,
    }

    /// Bugs by severity and status.
    #[derive(Default, Copy, Eq)]
    pub struct BugCounts {
        /// All.
        pub total: i64,
        /// Critical.
        pub critical: i64,
        /// High.
        pub high: i64,
        /// Medium.
        pub medium: i64,
        /// Low.
        pub low: i64,
        /// Open.
        pub open: i64,
        /// Resolved.
        pub resolved: i64,
    }

    /// A test result.
    pub struct TestResult {
        /// Its number in this store.
        pub id: i64,
        /// Names it in every copy of this memory.
        pub uid: String,
        /// Session.
        pub session: String,
        /// What was tested.
        pub name: String,
        /// How it ended.
        pub status: ResultStatus,
        /// Package.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub app: Option<String>,
        /// Page key, activity or URL.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub page: Option<String>,
        /// The state that the visual memory knew the page as.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub state: Option<String>,
        /// How long it took, milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub duration_ms: Option<i64>,
        /// What was seen.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub summary: Option<String>,
        /// Uid of the artifact that shows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub evidence: Option<String>,
        /// Uid of the bug that it found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub bug: Option<String>,
        /// Uid of its task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub task: Option<String>,
        /// When, UTC milliseconds.
        pub created_at: i64,
    }

    /// Test results, newest first.
    pub struct Results {
        /// The results.
        pub results: Vec<TestResult>,
        /// How many the filters find, by status.
        pub counts: ResultCounts,
        /// Give this as `cursor` for the next page; absent on the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub next_cursor: Option<i64>,
    }

    /// Test results by status.
    #[derive(Default, Copy, Eq)]
    pub struct ResultCounts {
        /// All.
        pub total: i64,
        /// Passed.
        pub passed: i64,
        /// Failed.
        pub failed: i64,
        /// Skipped.
        pub skipped: i64,
        /// With an error.
        pub error: i64,
    }

    /// An element that was marked as tested.
    pub struct TestedElement {
        /// As it was named.
        pub element: String,
        /// Name of its component, if the visual memory knows it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub component: Option<String>,
        /// Package.
        pub app: String,
        /// Page key, activity or URL.
        pub page: String,
        /// How often an assertion about it held.
        pub passed: i64,
        /// How often one did not.
        pub failed: i64,
        /// How often it was marked.
        pub times: i64,
        /// The last time, UTC milliseconds.
        pub last_at: i64,
    }

    /// Elements that were marked.
    pub struct Tested {
        /// The session.
        pub session: String,
        /// They.
        pub elements: Vec<TestedElement>,
        /// How many the session has marked in all.
        pub total: i64,
    }
}

methods! {
    /// Records a bug.
    BugAdd = "session.bug.add" (BugAddParams, SESSION) -> BugAdded, Admin, [Conflict, NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","title":"The total is wrong","severity":"high","steps":["put two in the cart","open the cart"],"expected":"20","actual":"10"}"#;
    /// Lists bugs, newest first, and counts them.
    BugList = "session.bug.list" (BugListParams) -> Bugs, Read, [NotFound, StoreUnavailable], r#"{"status":"open","severity":"high"}"#;
    /// Shows a bug in full.
    BugShow = "session.bug.show" (BugShowParams) -> Bug, Read, [NotFound, StoreUnavailable], r#"{"id":1}"#;
    /// Marks a bug as resolved, and why.
    BugResolve = "session.bug.resolve" (BugResolveParams) -> Bug, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"id":1,"reason":"fixed in 2.4"}"#;
    /// Records a test result.
    ResultAdd = "session.result.add" (ResultAddParams, SESSION) -> TestResult, Admin, [Conflict, NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","name":"coupon","status":"failed","durationMs":1200}"#;
    /// Lists test results, newest first, and counts them.
    ResultList = "session.result.list" (ResultListParams) -> Results, Read, [NotFound, StoreUnavailable], r#"{"status":"failed"}"#;
    /// Marks elements as tested.
    TestedMark = "session.tested" (TestedParams, SESSION) -> Tested, Admin, [Conflict, NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","elements":["Pay"],"passed":true}"#;
}
