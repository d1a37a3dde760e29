//! `session.task.*`: the tasks of a session.

use crate::vocabulary::RecordScope;

session_params! {
    /// Parameters of `session.task.add`.
    #[derive(Default)]
    pub struct TaskAddParams {
        /// Description of the task.
        pub description: String where chars 1..=2000,
        /// Priority of the task; tasks with higher values come first.
        pub priority: Option<i64> where -1000..=1000 = 0,
        /// Ids of the tasks that block this task until each of them has passed or been skipped.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub blocked_by: Vec<i64> where items 0..=100,
        /// Visibility of the task; by default the scope of the session, which is `app` unless the session was started
        /// with another scope.
        pub scope: Option<RecordScope>,
    }

    /// Parameters of `session.task.start`.
    #[derive(Default)]
    pub struct TaskStartParams {
        /// Id of the task; by default the first task in the queue.
        pub id: Option<i64>,
        /// Whether to put the active task back in the queue. Otherwise the call fails with `CONFLICT` while another
        /// task is active.
        #[serde(default)]
        pub switch: bool,
    }

    /// Parameters of `session.task.update`.
    #[derive(Default)]
    pub struct TaskUpdateParams {
        /// Id of the task; by default the active task.
        pub id: Option<i64>,
        /// Progress note on the task.
        pub progress: Option<String> where chars 1..=2000,
        /// New description of the task.
        pub description: Option<String> where chars 1..=2000,
        /// New priority of the task; tasks with higher values come first.
        pub priority: Option<i64> where -1000..=1000,
        /// New visibility of the task.
        pub scope: Option<RecordScope>,
    }

    /// Parameters of `session.task.finish`.
    #[derive(Default)]
    pub struct TaskFinishParams {
        /// Id of the task; by default the active task.
        pub id: Option<i64>,
        /// Outcome of the task.
        pub status: Option<FinishStatus> = FinishStatus::Passed,
        /// Summary of the outcome of the task.
        pub summary: Option<String> where chars 1..=2000,
    }

    /// Parameters of `session.task.list`.
    #[derive(Default)]
    pub struct TaskListParams {
        /// Only tasks with this status.
        pub status: Option<TaskStatus>,
        /// Maximum number of tasks.
        pub limit: Option<u32> where 1..=10_000 = 100,
    }
}

words! {
    /// Status of a task.
    TaskStatus {
        /// The task is waiting in the queue.
        Pending = "pending",
        /// The task is in progress.
        Active = "active",
        /// The task finished successfully.
        Passed = "passed",
        /// The task finished with a failure.
        Failed = "failed",
        /// The task was not attempted.
        Skipped = "skipped",
    }

    /// Outcome of a task.
    FinishStatus {
        /// The task was completed.
        Passed = "passed",
        /// The task could not be completed.
        Failed = "failed",
        /// The task was not attempted.
        Skipped = "skipped",
    }
}

wire! {
    /// Result of `session.task.start`.
    pub struct TaskStarted {
        /// The task that was started.
        #[serde(flatten)]
        pub task: Task,
        /// Recall entries that are clearly about the subject of the task: bugs, patterns, notes and others.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub known: Vec<crate::recall::RecallEntry>,
        /// Parts of the memory that were not searched, with the reasons; absent if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub missing: Vec<String>,
    }

    /// A task.
    pub struct Task {
        /// Id in this database.
        pub id: i64,
        /// Unique id, the same in every copy of this memory.
        pub uid: String,
        /// Uid of the memory that the task came from; absent if it originated in this memory.
        pub origin: Option<String>,
        /// Name of the session.
        pub session: String,
        /// `session` if the task is visible only to the session that it belongs to; absent otherwise.
        pub scope: Option<RecordScope>,
        /// Description of the task.
        pub description: String,
        /// Status of the task.
        pub status: TaskStatus,
        /// Priority of the task; tasks with higher values come first.
        pub priority: i64,
        /// Ids of the tasks that still block this one. A failed task continues to block it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub blocked_by: Vec<i64>,
        /// Progress note on the task.
        pub progress: Option<String>,
        /// Summary of the outcome of the task.
        pub summary: Option<String>,
        /// Time at which the task was queued, in Unix milliseconds.
        pub created_at: i64,
        /// Time at which the task was first started, in Unix milliseconds.
        pub started_at: Option<i64>,
        /// Time at which the task was finished, in Unix milliseconds.
        pub finished_at: Option<i64>,
    }

    /// The tasks of a session: the active task, then the queue in order, then the finished tasks.
    pub struct Tasks {
        /// The tasks.
        pub tasks: Vec<Task>,
        /// Number of tasks by status, regardless of the `status` filter.
        pub counts: TaskCounts,
    }

    /// The active task.
    pub struct CurrentTask {
        /// Uid of the task.
        pub id: String,
        /// Description of the task.
        pub description: String,
        /// Time at which the task was started, in RFC 3339 format, UTC.
        pub started_at: String,
        /// Progress note on the task; may be empty.
        pub progress: String,
        /// Description of the last action on a device; may be empty.
        pub last_action: String,
        /// `session` if the task is visible only to the session that it belongs to; absent otherwise.
        pub scope: Option<RecordScope>,
    }

    /// Number of tasks by status.
    #[derive(Default, Copy, Eq)]
    pub struct TaskCounts {
        /// Number of pending tasks.
        pub pending: i64,
        /// Number of active tasks: 0 or 1.
        pub active: i64,
        /// Number of passed tasks.
        pub passed: i64,
        /// Number of failed tasks.
        pub failed: i64,
        /// Number of skipped tasks.
        pub skipped: i64,
    }
}

methods! {
    /// Adds a task to the queue.
    TaskAdd = "session.task.add" (TaskAddParams, SESSION) -> Task, Admin, [Conflict, NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","description":"pay with a coupon","priority":2}"#, TASK_ADD;
    /// Starts a task, by default the first task in the queue.
    TaskStart = "session.task.start" (TaskStartParams, SESSION) -> TaskStarted, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1"}"#, TASK_START;
    /// Updates the progress note, description, priority or scope of a task.
    TaskUpdate = "session.task.update" (TaskUpdateParams, SESSION) -> Task, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","progress":"the form is filled in"}"#;
    /// Finishes a task as passed, failed or skipped, with a summary.
    TaskFinish = "session.task.finish" (TaskFinishParams, SESSION) -> Task, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","status":"passed","summary":"the coupon counts"}"#, TASK_FINISH;
    /// Lists the tasks of a session.
    TaskList = "session.task.list" (TaskListParams, SESSION) -> Tasks, Read, [NotFound, StoreUnavailable], r#"{"session":"checkout-1","status":"pending"}"#;
}
