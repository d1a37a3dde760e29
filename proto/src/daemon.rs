//! `daemon.*`: the daemon itself.

use crate::vocabulary::NoParams;
use crate::{Effect, ErrorCode, Takes};

words! {
    /// What a background task is doing.
    TaskState {
        /// It runs.
        Running = "running",
        /// It failed and waits to be started again.
        Restarting = "restarting",
    }
}

wire! {
    /// Constant while the daemon lives.
    pub struct Version {
        /// Version of the program.
        pub version: String,
        /// Version of the wire contract.
        pub protocol: u32,
        /// What it can do; clients go by these.
        pub capabilities: Vec<String>,
        /// Process id.
        pub pid: u32,
        /// Start, UTC milliseconds.
        pub started_at: i64,
    }

    /// How the daemon is doing.
    pub struct Status {
        /// Process id.
        pub pid: u32,
        /// Version of the program.
        pub version: String,
        /// Time since the start, milliseconds.
        pub uptime_ms: u64,
        /// The socket.
        pub socket: String,
        /// The memory database.
        pub database: String,
        /// The settings file, whether it exists or not.
        pub config: String,
        /// Open connections, this one included.
        pub connections: u64,
        /// Calls being worked on, this one included.
        pub calls_in_flight: u64,
        /// The devices.
        pub devices: Vec<crate::device::DeviceInfo>,
        /// The database.
        pub store: StoreStatus,
        /// Background tasks, by name.
        #[serde(default)]
        pub tasks: Vec<TaskInfo>,
        /// Why the settings file was last refused, while the old settings are kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub config_error: Option<String>,
        /// Keys of the settings file that nobody knows.
        pub config_warnings: Vec<String>,
    }

    /// A background task.
    pub struct TaskInfo {
        /// Its name.
        pub name: String,
        /// What it is doing.
        pub state: TaskState,
        /// How often it failed and was started again.
        pub restarts: u64,
        /// Why it failed last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub last_error: Option<String>,
    }

    /// The state of the memory database.
    #[derive(Default)]
    pub struct StoreStatus {
        /// Whether writes are accepted.
        pub writable: bool,
        /// What is wrong with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub damage: Option<String>,
        /// Size of the database file, bytes.
        pub size_bytes: u64,
        /// Number of its schema.
        pub schema: u32,
        /// Writes that wait for their commit.
        pub pending_writes: u64,
    }

    /// What a reload did.
    #[derive(Default)]
    pub struct Reloaded {
        /// Names of devices that came.
        pub added: Vec<String>,
        /// Names of devices whose settings changed.
        pub changed: Vec<String>,
        /// Names of devices that went.
        pub removed: Vec<String>,
        /// Keys that nobody knows.
        pub warnings: Vec<String>,
        /// Changed settings that only a restart applies.
        pub restart_needed: Vec<String>,
    }

    /// The methods of the daemon.
    pub struct MethodList {
        /// The methods, grouped by namespace.
        pub methods: Vec<MethodSummary>,
    }

    /// A row of the method table, without its schemas; `rpc.discover` has these.
    pub struct MethodSummary {
        /// Wire name, `namespace.verb`.
        pub name: String,
        /// One sentence about what it does.
        pub summary: String,
        /// What it does to the world.
        pub effect: Effect,
        /// Which shared parameters it takes.
        pub takes: Takes,
        /// Whether it takes a `requestKey`.
        pub request_key: bool,
        /// Codes of the errors that it may answer.
        pub errors: Vec<ErrorCode>,
    }

    /// The daemon is on its way out.
    pub struct ShuttingDown {
        /// Always true.
        pub stopping: bool,
    }
}

methods! {
    /// Tells version, protocol and capabilities.
    DaemonVersion = "daemon.version" (NoParams) -> Version, Read, [], "{}";
    /// Tells how the daemon, its devices and its database are doing.
    DaemonStatus = "daemon.status" (NoParams) -> Status, Read, [], "{}";
    /// Lists the methods of the daemon with what they take and which errors they may answer.
    DaemonMethods = "daemon.methods" (NoParams) -> MethodList, Read, [], "{}";
    /// Reads the settings file again; a bad file changes nothing.
    DaemonReload = "daemon.reload" (NoParams) -> Reloaded, Admin, [Conflict], "{}";
    /// Finishes what is in flight, then stops.
    DaemonShutdown = "daemon.shutdown" (NoParams) -> ShuttingDown, Admin, [], "{}";
}
