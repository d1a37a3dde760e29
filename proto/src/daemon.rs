//! `daemon.*`: version, status and control of the daemon.

use crate::vocabulary::NoParams;
use crate::{Effect, ErrorCode, SharedParams};

words! {
    /// State of a background task.
    TaskState {
        /// Running.
        Running = "running",
        /// Failed, waiting to be restarted.
        Restarting = "restarting",
    }
}

wire! {
    /// Version and capabilities; constant while the daemon runs.
    #[cfg_attr(feature = "schema", schemars(rename = "DaemonVersion"))]
    pub struct Version {
        /// Version of the program.
        pub version: String,
        /// Version of the wire contract.
        pub protocol: u32,
        /// Capabilities; clients should check these instead of the version.
        pub capabilities: Vec<String>,
        /// Process id.
        pub pid: u32,
        /// Start time, UTC milliseconds.
        pub started_at: i64,
    }

    /// Status of the daemon.
    #[cfg_attr(feature = "schema", schemars(rename = "DaemonStatus"))]
    pub struct Status {
        /// Process id.
        pub pid: u32,
        /// Version of the program.
        pub version: String,
        /// Time since the start of the daemon, milliseconds.
        pub uptime_ms: u64,
        /// Path of the socket.
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
        /// The devices, by name.
        pub devices: Vec<crate::device::DeviceInfo>,
        /// State of the database.
        pub store: StoreStatus,
        /// Sizes on disk, apart from the database itself.
        #[serde(default)]
        pub sizes: Sizes,
        /// Time of the newest backup, UTC milliseconds; absent if there is none.
        pub last_backup_at: Option<i64>,
        /// Background tasks, by name.
        #[serde(default)]
        pub tasks: Vec<TaskInfo>,
        /// Reason why the configuration file was last rejected; absent if it is valid. The previous settings remain in
        /// effect.
        pub config_error: Option<String>,
        /// Unknown keys in the configuration file.
        pub config_warnings: Vec<String>,
    }

    /// A background task.
    pub struct TaskInfo {
        /// Name.
        pub name: String,
        /// State.
        pub state: TaskState,
        /// Number of times it failed and was restarted.
        pub restarts: u64,
        /// Error of its last failure; absent if it never failed.
        pub last_error: Option<String>,
    }

    /// The state of the memory database.
    #[derive(Default)]
    pub struct StoreStatus {
        /// Whether writes are accepted.
        pub writable: bool,
        /// Description of the damage; absent if there is none.
        pub damage: Option<String>,
        /// Suggested remedy for the damage; absent if there is none.
        pub advice: Option<String>,
        /// False if devices can be used while nothing is recorded; otherwise absent.
        pub recorded: Option<bool>,
        /// Size of the database file, bytes.
        pub size_bytes: u64,
        /// Version of the database schema.
        pub schema: u32,
        /// Number of writes that are waiting to be committed.
        pub pending_writes: u64,
    }

    /// Calls of one method since the start of the daemon.
    pub struct MethodLoad {
        /// Wire name.
        pub name: String,
        /// Number of calls that ended.
        pub calls: u64,
        /// Number of those that ended with an error.
        pub errors: u64,
        /// Mean duration, microseconds; waiting for a device included.
        pub mean_us: u64,
        /// Longest duration, microseconds.
        pub max_us: u64,
    }

    /// Result of `daemon.metrics`.
    pub struct Metrics {
        /// All metrics in the Prometheus text format.
        pub text: String,
        /// Methods that were called, by name.
        pub methods: Vec<MethodLoad>,
    }

    /// Sizes on disk, bytes. A file with several hard links counts once.
    #[derive(Default)]
    pub struct Sizes {
        /// Size of the write-ahead log of the database.
        pub wal_bytes: u64,
        /// Size of the files in the shared artifact directory.
        pub artifact_bytes: u64,
        /// Size of the backups.
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

    /// A row of the method table without its schemas; `rpc.discover` returns the schemas.
    pub struct MethodSummary {
        /// Wire name, `namespace.verb`.
        pub name: String,
        /// Summary in one sentence.
        pub summary: String,
        /// Effect of the method.
        pub effect: Effect,
        /// Common parameters that it accepts.
        pub takes: SharedParams,
        /// Whether it accepts a `requestKey`.
        pub request_key: bool,
        /// Codes of all errors that it can return.
        pub errors: Vec<ErrorCode>,
    }

    /// Result of `daemon.shutdown`.
    pub struct ShutdownResult {
        /// Always true.
        pub stopping: bool,
    }
}

methods! {
    /// Returns the version, the protocol version and the capabilities of the daemon.
    DaemonVersion = "daemon.version" (NoParams) -> Version, Read, [], "{}";
    /// Returns the status of the daemon, its devices and its database.
    DaemonStatus = "daemon.status" (NoParams) -> Status, Read, [], "{}";
    /// Returns metrics of calls, devices, queues and sizes, also in the Prometheus text format.
    DaemonMetrics = "daemon.metrics" (NoParams) -> Metrics, Read, [], "{}";
    /// Lists all methods with their common parameters and possible errors.
    DaemonMethods = "daemon.methods" (NoParams) -> MethodList, Read, [], "{}";
    /// Reloads the configuration file; if it is invalid, nothing changes.
    DaemonReload = "daemon.reload" (NoParams) -> ReloadResult, Admin, [Conflict], "{}";
    /// Stops the daemon after finishing the calls in progress.
    DaemonShutdown = "daemon.shutdown" (NoParams) -> ShutdownResult, Admin, [], "{}";
}
