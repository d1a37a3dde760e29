//! Findings of a session: bugs, test results, tested elements. The methods belong to `session.*`.

use crate::vocabulary::RecordScope;

session_params! {
    /// Parameters of `session.bug.add`.
    #[derive(Default)]
    pub struct BugAddParams {
        /// Title of the bug, on one line.
        pub title: String where chars 1..=300,
        /// Severity of the bug.
        pub severity: Option<Severity> = Severity::Medium,
        /// Description of the bug.
        pub description: Option<String> where chars 1..=10_000,
        /// Steps to reproduce the bug, in order. By default, the session's last actions: at most 10 from the last 30
        /// minutes, starting at the last app launch if there is one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub steps: Vec<String> where items 0..=100,
        /// Expected behaviour of the app.
        pub expected: Option<String> where chars 1..=10_000,
        /// Actual behaviour of the app.
        pub actual: Option<String> where chars 1..=10_000,
        /// Key, activity or URL of the page; by default the page that the session observed last.
        pub page: Option<String> where chars 1..=2000,
        /// Package; by default the package of the last observed page if `page` is omitted, else the package of the
        /// session.
        pub app: Option<String> where chars 1..=255,
        /// Id or uid of an artifact that shows the bug, or `latest` for the session's newest screenshot.
        pub screenshot: Option<String>,
        /// Whether to add to the description what the app logged since the session's last action, and to `actual`, if that is
        /// not given, the crash that the session's last actions met. Only for devices that can be managed.
        #[serde(default, skip_serializing_if = "crate::act::is_false")]
        pub from_log: bool,
        /// Visibility of the bug; by default the scope of the session, which is `app` unless the session was started
        /// with another scope.
        pub scope: Option<RecordScope>,
    }

    /// Parameters of `session.bug.show`.
    #[derive(Default)]
    pub struct BugShowParams {
        /// Id of the bug to return.
        pub id: i64,
    }

    /// Parameters of `session.bug.update`. Fields that are not given remain unchanged.
    #[derive(Default)]
    pub struct BugUpdateParams {
        /// Id of the bug to change.
        pub id: i64,
        /// New title on one line.
        pub title: Option<String> where chars 1..=300,
        /// New severity of the bug.
        pub severity: Option<Severity>,
        /// New description of the bug; an empty string removes it.
        pub description: Option<String> where chars 0..=10_000,
        /// New steps to reproduce the bug, in order; they replace the previous ones.
        pub steps: Option<Vec<String>> where items 0..=100,
        /// New expected behaviour; an empty string removes it.
        pub expected: Option<String> where chars 0..=10_000,
        /// New actual behaviour; an empty string removes it.
        pub actual: Option<String> where chars 0..=10_000,
        /// New key, activity or URL of the page; an empty string removes it.
        pub page: Option<String> where chars 0..=2000,
        /// New package of the app; an empty string removes it.
        pub app: Option<String> where chars 0..=255,
        /// New screenshot: id or uid of an artifact, or `latest` for the newest screenshot of the bug's session; an
        /// empty string removes it.
        pub screenshot: Option<String>,
        /// New visibility of the bug.
        pub scope: Option<RecordScope>,
    }

    /// Parameters of `session.bug.reopen`.
    #[derive(Default)]
    pub struct BugReopenParams {
        /// Id of the bug to reopen.
        pub id: i64,
    }

    /// Parameters of `session.bug.resolve`.
    #[derive(Default)]
    pub struct BugResolveParams {
        /// Id of the bug to resolve.
        pub id: i64,
        /// Reason for the resolution, for example `fixed in 2.4` or `duplicate of 3`.
        pub reason: String where chars 1..=10_000,
    }

    /// Parameters of `session.result.add`.
    pub struct ResultAddParams {
        /// Name of the test.
        pub name: String where chars 1..=300,
        /// Outcome of the test.
        pub status: ResultStatus,
        /// Key, activity or URL of the page; by default the page that the session observed last.
        pub page: Option<String> where chars 1..=2000,
        /// Package; by default the package of the last observed page if `page` is omitted, else the package of the
        /// session.
        pub app: Option<String> where chars 1..=255,
        /// Duration of the test, in milliseconds.
        pub duration_ms: Option<u64>,
        /// Description of the observed behaviour.
        pub summary: Option<String> where chars 1..=10_000,
        /// Id or uid of an artifact that serves as evidence, or `latest` for the session's newest screenshot.
        pub evidence: Option<String>,
        /// Id of a bug that the test found.
        pub bug: Option<i64>,
        /// Visibility of the result; by default the scope of the session, which is `app` unless the session was started
        /// with another scope.
        pub scope: Option<RecordScope>,
    }

    /// Parameters of `session.tested`.
    #[derive(Default)]
    pub struct TestedParams {
        /// Tested elements, each given by component name, resource id, label, or alias such as `@n3`.
        pub elements: Vec<String> where items 1..=1000,
        /// Whether to accept elements that are neither on the current page nor in the visual memory of the app.
        #[serde(default)]
        pub new: bool,
        /// Whether an assertion about the elements passed; omit this parameter if there was no assertion.
        pub passed: Option<bool>,
        /// Key, activity or URL of the page; by default the page that the session observed last.
        pub page: Option<String> where chars 1..=2000,
        /// Package; by default the package of the last observed page if `page` is omitted, else the package of the
        /// session.
        pub app: Option<String> where chars 1..=255,
    }
}

params! {
    /// Parameters of `session.bug.list`. Without `session`, the bugs of all sessions are listed, except bugs with the
    /// scope `session`.
    #[derive(Default)]
    pub struct BugListParams {
        /// Only bugs found in this session.
        pub session: Option<String>,
        /// Only bugs of this severity.
        pub severity: Option<Severity>,
        /// Only bugs with this status.
        pub status: Option<BugStatus>,
        /// Only bugs of this package.
        pub app: Option<String>,
        /// Only bugs on pages whose key, activity or URL contains this string.
        pub page: Option<String>,
        /// Maximum number of bugs.
        pub limit: Option<u32> where 1..=10_000 = 20,
        /// Value of `nextCursor` from the previous page.
        pub cursor: Option<i64>,
    }

    /// Parameters of `session.result.list`. Without `session`, the results of all sessions are listed, except results
    /// with the scope `session`.
    #[derive(Default)]
    pub struct ResultListParams {
        /// Only results of this session.
        pub session: Option<String>,
        /// Only results with this status.
        pub status: Option<ResultStatus>,
        /// Only results on pages whose key, activity or URL contains this string.
        pub page: Option<String>,
        /// Only results recorded at or after this time, in Unix milliseconds.
        pub since: Option<i64>,
        /// Maximum number of results.
        pub limit: Option<u32> where 1..=10_000 = 20,
        /// Value of `nextCursor` from the previous page.
        pub cursor: Option<i64>,
    }
}

words! {
    /// Severity of a bug, worst first.
    Severity {
        /// Data loss, or the app is unusable.
        Critical = "critical",
        /// An important function does not work.
        High = "high",
        /// A function works only partially.
        Medium = "medium",
        /// A cosmetic problem.
        Low = "low",
    }

    /// Status of a bug.
    BugStatus {
        /// The bug has not been resolved.
        Open = "open",
        /// The bug has been resolved.
        Resolved = "resolved",
    }

    /// Outcome of a test.
    ResultStatus {
        /// The app behaved as expected.
        Passed = "passed",
        /// The app did not behave as expected.
        Failed = "failed",
        /// The test was not run.
        Skipped = "skipped",
        /// The test could not be completed.
        Error = "error",
    }
}

wire! {
    /// A bug.
    pub struct Bug {
        /// Id in this database.
        pub id: i64,
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Uid of the memory that the bug came from; absent if it originated in this memory.
        pub origin: Option<String>,
        /// Session in which the bug was found.
        pub session: String,
        /// `session` if the bug is visible only to the session that found it; absent otherwise.
        pub scope: Option<RecordScope>,
        /// Title of the bug, on one line.
        pub title: String,
        /// Severity of the bug.
        pub severity: Severity,
        /// Description of the bug.
        pub description: Option<String>,
        /// Steps to reproduce the bug, in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub steps: Vec<String>,
        /// Expected behaviour of the app.
        pub expected: Option<String>,
        /// Actual behaviour of the app.
        pub actual: Option<String>,
        /// Package of the app that has the bug; absent if unknown.
        pub app: Option<String>,
        /// Key, activity or URL of the page; absent if unknown.
        pub page: Option<String>,
        /// Id of the state that the page was recognised as; absent if there is none.
        pub state: Option<String>,
        /// Uid of the artifact that shows the bug.
        pub screenshot: Option<String>,
        /// Uid of the task that was active when the bug was found.
        pub task: Option<String>,
        /// Status of the bug.
        pub status: BugStatus,
        /// Reason for the resolution.
        pub resolution: Option<String>,
        /// Time at which the bug was recorded, in Unix milliseconds.
        pub created_at: i64,
        /// Time of the resolution, in Unix milliseconds; absent while the bug is open.
        pub resolved_at: Option<i64>,
    }

    /// Result of `session.bug.add`.
    pub struct BugAddResult {
        /// The new bug.
        pub bug: Bug,
        /// Similar bugs in the same app: open bugs, and resolved bugs that may have recurred; at most 3.
        pub similar: Vec<Bug>,
        /// Parts of the memory that were not searched, with the reasons; absent if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub missing: Vec<String>,
    }

    /// A page of bugs, newest first.
    pub struct Bugs {
        /// Bugs on this page.
        pub bugs: Vec<Bug>,
        /// Counts of all bugs that match the filters.
        pub counts: BugCounts,
        /// Cursor for the next page; absent on the last page.
        pub next_cursor: Option<i64>,
    }

    /// Number of bugs by severity and by status.
    #[derive(Default, Copy, Eq)]
    pub struct BugCounts {
        /// Number of all bugs.
        pub total: i64,
        /// Number of critical bugs.
        pub critical: i64,
        /// Number of bugs of high severity.
        pub high: i64,
        /// Number of bugs of medium severity.
        pub medium: i64,
        /// Number of bugs of low severity.
        pub low: i64,
        /// Number of open bugs.
        pub open: i64,
        /// Number of resolved bugs.
        pub resolved: i64,
    }

    /// A test result.
    pub struct TestResult {
        /// Id in this database.
        pub id: i64,
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Uid of the memory that the result came from; absent if it originated in this memory.
        pub origin: Option<String>,
        /// Name of the session.
        pub session: String,
        /// `session` if the result is visible only to the session that recorded it; absent otherwise.
        pub scope: Option<RecordScope>,
        /// Name of the test.
        pub name: String,
        /// Outcome of the test.
        pub status: ResultStatus,
        /// Package of the tested app; absent if unknown.
        pub app: Option<String>,
        /// Key, activity or URL of the page; absent if unknown.
        pub page: Option<String>,
        /// Id of the state that the page was recognised as; absent if there is none.
        pub state: Option<String>,
        /// Duration of the test, in milliseconds.
        pub duration_ms: Option<i64>,
        /// Description of the observed behaviour.
        pub summary: Option<String>,
        /// Uid of the artifact that serves as evidence.
        pub evidence: Option<String>,
        /// Uid of the bug that the test found.
        pub bug: Option<String>,
        /// Uid of the task that was active when the result was recorded.
        pub task: Option<String>,
        /// Time at which the result was recorded, in Unix milliseconds.
        pub created_at: i64,
    }

    /// A page of test results, newest first.
    pub struct Results {
        /// Test results on this page.
        pub results: Vec<TestResult>,
        /// Counts of all results that match the filters.
        pub counts: ResultCounts,
        /// Cursor for the next page; absent on the last page.
        pub next_cursor: Option<i64>,
    }

    /// Number of test results by outcome.
    #[derive(Default, Copy, Eq)]
    pub struct ResultCounts {
        /// Number of all results.
        pub total: i64,
        /// Number of passed tests.
        pub passed: i64,
        /// Number of failed tests.
        pub failed: i64,
        /// Number of skipped tests.
        pub skipped: i64,
        /// Number of tests that could not be completed.
        pub error: i64,
    }

    /// An element that was marked as tested.
    pub struct TestedElement {
        /// Element name as given by the caller; an alias is replaced with the element's label.
        pub element: String,
        /// Name of the element's component; absent if the visual memory does not know the element.
        pub component: Option<String>,
        /// Package of the app that the element belongs to; empty if unknown.
        pub app: String,
        /// Key, activity or URL of the page; empty if unknown.
        pub page: String,
        /// Number of passed assertions about the element.
        pub passed: i64,
        /// Number of failed assertions about the element.
        pub failed: i64,
        /// Number of times the element was marked as tested.
        pub times: i64,
        /// Time at which the element was last marked as tested, in Unix milliseconds.
        pub last_at: i64,
    }

    /// Result of `session.tested`.
    pub struct TestedElements {
        /// Name of the session.
        pub session: String,
        /// Elements that this call marked as tested.
        pub elements: Vec<TestedElement>,
        /// Number of elements that the session has marked as tested so far.
        pub total: i64,
    }
}

methods! {
    /// Records a bug.
    BugAdd = "session.bug.add" (BugAddParams, SESSION) -> BugAddResult, Admin, [Conflict, NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","title":"The total is wrong","severity":"high","steps":["put two in the cart","open the cart"],"expected":"20","actual":"10"}"#, BUG;
    /// Lists bugs, newest first, with counts by severity and status.
    BugList = "session.bug.list" (BugListParams) -> Bugs, Read, [NotFound, StoreUnavailable], r#"{"status":"open","severity":"high"}"#;
    /// Returns a bug.
    BugShow = "session.bug.show" (BugShowParams, SESSION) -> Bug, Read, [NotFound, StoreUnavailable], r#"{"id":1}"#;
    /// Marks a bug as resolved, with a reason.
    BugResolve = "session.bug.resolve" (BugResolveParams, SESSION) -> Bug, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"id":1,"reason":"fixed in 2.4"}"#;
    /// Changes the given fields of a bug.
    BugUpdate = "session.bug.update" (BugUpdateParams, SESSION) -> Bug, Admin, [NotFound, StoreUnavailable, StoreFull], r#"{"id":1,"severity":"low"}"#;
    /// Reopens a resolved bug.
    BugReopen = "session.bug.reopen" (BugReopenParams, SESSION) -> Bug, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"id":1}"#;
    /// Records a test result.
    ResultAdd = "session.result.add" (ResultAddParams, SESSION) -> TestResult, Admin, [Conflict, NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","name":"coupon","status":"failed","durationMs":1200}"#, RESULT;
    /// Lists test results, newest first, with counts by outcome.
    ResultList = "session.result.list" (ResultListParams) -> Results, Read, [NotFound, StoreUnavailable], r#"{"status":"failed"}"#;
    /// Marks elements as tested, optionally with the outcome of an assertion.
    TestedMark = "session.tested" (TestedParams, SESSION) -> TestedElements, Admin, [Conflict, NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","elements":["Pay"],"new":true,"passed":true}"#;
}
