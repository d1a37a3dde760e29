//! What a session has to do. Tasks belong to `session.*`.

session_params! {
    /// Parameters of `session.task.add`.
    #[derive(Default)]
    pub struct TaskAddParams {
        /// What is to be done; 1 to 2,000 characters.
        pub description: String,
        /// Tasks with a higher one come first; by default 0.
        #[serde(default)]
        pub priority: i64,
        /// Numbers of tasks that come first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub blocked_by: Vec<i64>,
    }

    /// Parameters of `session.task.start`.
    #[derive(Default)]
    pub struct TaskStartParams {
        /// Number of the task; by default the one that is due.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub id: Option<i64>,
        /// Whether the task that is worked on goes back to the queue; else it must be finished first.
        #[serde(default)]
        pub switch: bool,
    }

    /// Parameters of `session.task.update`.
    #[derive(Default)]
    pub struct TaskUpdateParams {
        /// Number of the task; by default the one that is worked on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub id: Option<i64>,
        /// How far it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub progress: Option<String>,
        /// Another description.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// Another priority.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub priority: Option<i64>,
    }

    /// Parameters of `session.task.finish`.
    #[derive(Default)]
    pub struct TaskFinishParams {
        /// Number of the task; by default the one that is worked on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub id: Option<i64>,
        /// `passed` (by default), `failed` or `skipped`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub status: Option<Finish>,
        /// What came of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub summary: Option<String>,
    }

    /// Parameters of `session.task.list`.
    #[derive(Default)]
    pub struct TaskListParams {
        /// Only those of this status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub status: Option<TaskStatus>,
        /// At most this many, by default 100, at most 10,000.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub limit: Option<u32>,
    }
}

words! {
    /// Where a task stands.
    TaskStatus {
        /// It waits.
        Pending = "pending",
        /// It is worked on.
        Active = "active",
        /// Done, and well.
        Passed = "passed",
        /// Done, and not well.
        Failed = "failed",
        /// Given up.
        Skipped = "skipped",
    }

    /// How a task ends.
    Finish {
        /// Well.
        Passed = "passed",
        /// Not well.
        Failed = "failed",
        /// Given up.
        Skipped = "skipped",
    }
}

wire! {
    /// A task.
    pub struct Task {
        /// Its number in this store.
        pub id: i64,
        /// Names it in every copy of this memory.
        pub uid: String,
        /// Session.
        pub session: String,
        /// What is to be done.
        pub description: String,
        /// Where it stands.
        pub status: TaskStatus,
        /// Higher ones come first.
        pub priority: i64,
        /// Numbers of tasks that come before it and are not done.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub blocked_by: Vec<i64>,
        /// How far it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub progress: Option<String>,
        /// What came of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub summary: Option<String>,
        /// When it was queued, UTC milliseconds.
        pub created_at: i64,
        /// When it was begun, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub started_at: Option<i64>,
        /// When it was done, UTC milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub finished_at: Option<i64>,
    }

    /// Tasks: the one that is worked on, those that wait in the order in which they are due, those that are done.
    pub struct Tasks {
        /// The tasks.
        pub tasks: Vec<Task>,
        /// How many of each status.
        pub counts: TaskCounts,
    }

    /// The task that is worked on.
    pub struct CurrentTask {
        /// Its uid.
        pub id: String,
        /// What is to be done.
        pub description: String,
        /// When it was begun, as RFC 3339 in UTC.
        pub started_at: String,
        /// How far it is.
        pub progress: String,
        /// What was done on a device last.
        pub last_action: String,
    }

    /// Tasks by status.
    #[derive(Default, Copy, Eq)]
    pub struct TaskCounts {
        /// Waiting.
        pub pending: i64,
        /// Worked on: 0 or 1.
        pub active: i64,
        /// Passed.
        pub passed: i64,
        /// Failed.
        pub failed: i64,
        /// Skipped.
        pub skipped: i64,
    }
}

methods! {
    /// Queues a task.
    TaskAdd = "session.task.add" (TaskAddParams, SESSION) -> Task, Admin, [Conflict, NotFound, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","description":"pay with a coupon","priority":2}"#;
    /// Begins a task: the one that is named, or the one that is due.
    TaskStart = "session.task.start" (TaskStartParams, SESSION) -> Task, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1"}"#;
    /// Notes how far a task is, or changes what it is.
    TaskUpdate = "session.task.update" (TaskUpdateParams, SESSION) -> Task, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","progress":"the form is filled in"}"#;
    /// Finishes a task with what came of it.
    TaskFinish = "session.task.finish" (TaskFinishParams, SESSION) -> Task, Admin, [NotFound, Conflict, StoreUnavailable, StoreFull], r#"{"session":"checkout-1","status":"passed","summary":"the coupon counts"}"#;
    /// Lists the tasks of a session.
    TaskList = "session.task.list" (TaskListParams, SESSION) -> Tasks, Read, [NotFound, StoreUnavailable], r#"{"session":"checkout-1","status":"pending"}"#;
}
