//! `daemon.*`: version, status and control of the daemon.

use crate::vocabulary::NoParams;
use crate::{Effect, ErrorCode, SharedParams};

words! {
    /// State of a background task.
    TaskState {
        /// The task is running.
        Running = "running",
        /// The task has failed and is waiting to be restarted.
        Restarting = "restarting",
    }
}

wire! {
    /// Version and capabilities of the daemon, which do not change while it runs.
    #[cfg_attr(feature = "schema", schemars(rename = "DaemonVersion"))]
    pub struct Version {
        /// Version of the daemon program.
        pub version: String,
        /// Version of the wire contract.
        pub protocol: u32,
        /// Capabilities of the daemon; clients should check these instead of the version.
        pub capabilities: Vec<String>,
        /// Process id of the daemon.
        pub pid: u32,
        /// Time at which the daemon was started, in Unix milliseconds.
        pub started_at: i64,
    }

    /// Status of the daemon.
    #[cfg_attr(feature = "schema", schemars(rename = "DaemonStatus"))]
    pub struct Status {
        /// Process id of the daemon.
        pub pid: u32,
        /// Version of the daemon program.
        pub version: String,
        /// Time since the start of the daemon, in milliseconds.
        pub uptime_ms: u64,
        /// Path of the daemon's socket.
        pub socket: String,
        /// Path of the memory database.
        pub database: String,
        /// Path of the configuration file, whether or not it exists.
        pub config: String,
        /// Path of the log file; absent if the log goes to the journal or a terminal.
        pub log: Option<String>,
        /// Number of open connections, including this one.
        pub connections: u64,
        /// Number of calls in progress, including this one.
        pub calls_in_flight: u64,
        /// The devices, sorted by name.
        pub devices: Vec<crate::device::DeviceInfo>,
        /// State of the memory database.
        pub store: StoreStatus,
        /// Sizes on disk of the write-ahead log, the artifacts and the backups.
        #[serde(default)]
        pub sizes: Sizes,
        /// Time of the newest backup, in Unix milliseconds; absent if there is none.
        pub last_backup_at: Option<i64>,
        /// Background tasks, sorted by name.
        #[serde(default)]
        pub tasks: Vec<TaskInfo>,
        /// Reason why the configuration file was rejected; absent if the file is valid. While the file is invalid, the
        /// previous settings remain in effect.
        pub config_error: Option<String>,
        /// Unknown keys in the configuration file.
        pub config_warnings: Vec<String>,
    }

    /// A background task.
    pub struct TaskInfo {
        /// Name of the task.
        pub name: String,
        /// State of the task.
        pub state: TaskState,
        /// Number of times the task failed and was restarted.
        pub restarts: u64,
        /// Error of the task's last failure; absent if it never failed.
        pub last_error: Option<String>,
    }

    /// State of the memory database.
    #[derive(Default)]
    pub struct StoreStatus {
        /// Whether writes are accepted.
        pub writable: bool,
        /// Description of the damage to the database; absent if there is none.
        pub damage: Option<String>,
        /// Suggested remedy for the damage; absent if there is none.
        pub advice: Option<String>,
        /// False if devices can be used while nothing is recorded; otherwise absent.
        pub recorded: Option<bool>,
        /// Size of the database file, in bytes.
        pub size_bytes: u64,
        /// Version of the database schema.
        pub schema: u32,
        /// Number of writes that are waiting to be committed.
        pub pending_writes: u64,
    }

    /// Call statistics of one method since the start of the daemon.
    pub struct MethodLoad {
        /// Wire name of the method.
        pub name: String,
        /// Number of completed calls.
        pub calls: u64,
        /// Number of completed calls that returned an error.
        pub errors: u64,
        /// Mean duration of a call, including the wait for a device, in microseconds.
        pub mean_us: u64,
        /// Longest duration of a call, in microseconds.
        pub max_us: u64,
    }

    /// Result of `daemon.metrics`.
    pub struct Metrics {
        /// All metrics in the Prometheus text format.
        pub text: String,
        /// Call statistics of the methods that were called, sorted by name.
        pub methods: Vec<MethodLoad>,
    }

    /// Sizes on disk, in bytes. A file with several hard links is counted once.
    #[derive(Default)]
    pub struct Sizes {
        /// Size of the database's write-ahead log, in bytes.
        pub wal_bytes: u64,
        /// Size of the files in the shared artifact directory, in bytes.
        pub artifact_bytes: u64,
        /// Size of the backups, in bytes.
        pub backup_bytes: u64,
    }

    /// Result of reloading the configuration file.
    #[derive(Default)]
    pub struct ReloadResult {
        /// Names of devices that were added.
        pub added: Vec<String>,
        /// Names of devices whose settings have changed.
        pub changed: Vec<String>,
        /// Names of devices that were removed.
        pub removed: Vec<String>,
        /// Unknown keys in the configuration file.
        pub warnings: Vec<String>,
        /// Changed settings that take effect only after a restart.
        pub restart_needed: Vec<String>,
    }

    /// Result of `daemon.methods`.
    pub struct MethodList {
        /// The methods, grouped by namespace.
        pub methods: Vec<MethodSummary>,
    }

    /// A row of the method table, without the schemas. The schemas are returned by `rpc.discover`.
    pub struct MethodSummary {
        /// Wire name, `namespace.verb`.
        pub name: String,
        /// Summary of the method in one sentence.
        pub summary: String,
        /// Effect of the method.
        pub effect: Effect,
        /// Common parameters that the method accepts.
        pub takes: SharedParams,
        /// Whether the method accepts a `requestKey`.
        pub request_key: bool,
        /// Codes of all errors that the method can return.
        pub errors: Vec<ErrorCode>,
    }

    /// Result of `daemon.shutdown`.
    pub struct ShutdownResult {
        /// Always true: the daemon is stopping.
        pub stopping: bool,
    }
}

methods! {
    /// Returns the version, the protocol version and the capabilities of the daemon.
    DaemonVersion = "daemon.version" (NoParams) -> Version, Read, [], "{}";
    /// Returns the status of the daemon, its devices and its database.
    DaemonStatus = "daemon.status" (NoParams) -> Status, Read, [], "{}";
    /// Returns call statistics by method, and all metrics in the Prometheus text format.
    DaemonMetrics = "daemon.metrics" (NoParams) -> Metrics, Read, [], "{}";
    /// Lists all methods with their common parameters and possible errors.
    DaemonMethods = "daemon.methods" (NoParams) -> MethodList, Read, [], "{}";
    /// Reloads the configuration file; if it is invalid, nothing changes.
    DaemonReload = "daemon.reload" (NoParams) -> ReloadResult, Admin, [Conflict], "{}";
    /// Stops the daemon after finishing the calls in progress.
    DaemonShutdown = "daemon.shutdown" (NoParams) -> ShutdownResult, Admin, [], "{}";
}
