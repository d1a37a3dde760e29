//! Test harness of the end-to-end tests and benchmarks: a [`World`] with a real daemon, a real database, and practice
//! phones over real HTTP, all in a temporary directory and on loopback.

pub mod adb;
pub mod clients;
pub mod contexts;
pub mod copies;
pub mod daemon;
pub mod docs;
pub mod endpoint;
pub mod http;
pub mod imports;
pub mod inputs;
pub mod learner;
pub mod pages;
pub mod phone;
pub mod programs;
mod provider_rules;
pub mod qdrant;
pub mod screens;
pub mod site;
pub mod traces;

pub mod wait;
pub mod websocket;

use std::path::{Path, PathBuf};

use afd_proto::MethodInfo;
use serde_json::{Value, json};

pub use afd_link::connection::{CallError, Connection};
pub use daemon::Daemon;
pub use phone::TestPhone;

/// A test environment: a temporary directory with a daemon, and a phone that the daemon knows as `pixel`.
pub struct World {
    /// The phone.
    pub phone: TestPhone,
    /// The daemon.
    pub daemon: Daemon,
    dir: tempfile::TempDir,
}

impl World {
    /// Starts a phone, which shows the settings app, and a daemon.
    pub fn new() -> Self {
        Self::with(TestPhone::start(), "")
    }

    /// Starts a daemon for this phone. The settings are appended to the phone's `[device.pixel]` table, so they may
    /// begin with more keys of that table.
    pub fn with(phone: TestPhone, settings: &str) -> Self {
        let settings = with_phone(&phone, settings);
        Self::bare(phone, &settings)
    }

    /// Starts a daemon with exactly these settings, which need not include the phone.
    pub fn bare(phone: TestPhone, settings: &str) -> Self {
        Self::start(phone, settings, Daemon::host)
    }

    /// Like [`World::new`], with a daemon in its own process; see [`World::with_process`].
    pub fn process() -> Self {
        Self::with_process(TestPhone::start(), "")
    }

    /// Like [`World::with`], with a daemon in its own process, for tests of its signals, log, memory usage or exit.
    pub fn with_process(phone: TestPhone, settings: &str) -> Self {
        let settings = with_phone(&phone, settings);
        Self::start(phone, &settings, Daemon::start)
    }

    /// Starts a daemon with exactly these settings, using the function `start`.
    pub fn start(phone: TestPhone, settings: &str, start: impl FnOnce(&Path) -> Daemon) -> Self {
        let dir = tempfile::Builder::new().prefix("afd-").tempdir().expect("a temporary directory");
        std::fs::write(dir.path().join("config.toml"), settings).expect("writes the settings");
        let daemon = start(dir.path());
        Self { phone, daemon, dir }
    }

    /// Starts a daemon whose database, artifacts and backups are on a separate disk of `kib` KiB. Returns the path at
    /// which this process sees that disk.
    pub fn on_disk(settings: &str, kib: u32) -> (Self, PathBuf) {
        let phone = TestPhone::start();
        let dir = tempfile::Builder::new().prefix("afd-").tempdir().expect("a temporary directory");
        let disk = dir.path().join("disk");
        std::fs::create_dir(&disk).expect("creates the directory");
        std::os::unix::fs::symlink(disk.join("memory.db"), dir.path().join("memory.db")).expect("links");
        let places = ["artifacts", "backup"].map(|part| format!("[{part}]\ndir = \"{}/{part}\"\n", disk.display()));
        let settings = with_phone(&phone, &format!("{settings}\n{}", places.concat()));
        std::fs::write(dir.path().join("config.toml"), settings).expect("writes the settings");
        let daemon = Daemon::start_with_disk(dir.path(), &disk, kib);
        let seen = PathBuf::from(format!("/proc/{}/root{}", daemon.pid(), disk.display()));
        (Self { phone, daemon, dir }, seen)
    }

    /// Like [`World::new`], with a clock that [`World::advance`] controls. Requires debug assertions.
    pub fn with_clock() -> Self {
        Self::with_clock_and("")
    }

    /// Like [`World::with_clock`], with additional settings.
    pub fn with_clock_and(settings: &str) -> Self {
        Self::with_clock_on(TestPhone::start(), settings)
    }

    /// Like [`World::with_clock_and`], with the given phone.
    pub fn with_clock_on(phone: TestPhone, settings: &str) -> Self {
        let settings = with_phone(&phone, settings);
        Self::start(phone, &settings, |dir| {
            let clock = dir.join("clock");
            Daemon::start_with_env(dir, &[("AFD_TEST_CLOCK", clock.to_str().expect("a path in UTF-8"))])
        })
    }

    /// Advances the clock of the daemon by this time, in milliseconds.
    pub fn advance(&self, by_ms: i64) {
        let file = self.dir().join("clock");
        let before: i64 = std::fs::read_to_string(&file).ok().and_then(|t| t.parse().ok()).unwrap_or_default();
        let next = self.dir().join("clock.next");
        std::fs::write(&next, (before + by_ms).to_string()).expect("writes");
        std::fs::rename(&next, &file).expect("renames");
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the path of the daemon's socket.
    pub fn socket(&self) -> PathBuf {
        self.daemon.socket()
    }

    /// Returns a client of the session `default`.
    pub fn client(&self) -> Client {
        Client { connection: self.daemon.connect(), session: "default".into() }
    }

    /// Returns a client of this session.
    pub fn client_for(&self, session: &str) -> Client {
        Client { connection: self.daemon.connect(), session: session.to_owned() }
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns settings that begin with the table of the phone.
fn with_phone(phone: &TestPhone, settings: &str) -> String {
    let device = format!("[device.pixel]\nurl = \"{}\"\ntoken = \"{}\"\n", phone.url(), phone::TOKEN);
    // Disable adb, so that no test leaves an adb server running; the USB tests use their own.
    format!("{device}{settings}\n[adb]\npath = \"/nonexistent/adb\"\n")
}

/// A connection that makes its calls in one session.
pub struct Client {
    /// The connection.
    pub connection: Connection,
    session: String,
}

/// An error that a call returned.
#[derive(Debug, Clone)]
pub struct CallFailure {
    /// Error code, for example `DEVICE_BUSY`.
    pub code: String,
    /// JSON-RPC error number.
    pub number: i64,
    /// Error message.
    pub message: String,
    /// Suggested next step.
    pub hint: Option<String>,
    /// Structured details.
    pub details: Value,
}

/// Checks that the contract of the method lists an error, and returns its code.
fn documented<'a>(info: Option<&MethodInfo>, code: &'a Value) -> &'a Value {
    if let (Some(info), Some(code)) = (info, code.as_str()) {
        assert!(
            info.all_errors().any(|c| c.name() == code),
            "{} answered {code}, which its row does not have",
            info.name
        );
    }
    code
}

impl Client {
    /// Calls a method; adds the session to the parameters of methods that take one.
    ///
    /// # Errors
    /// The daemon's error, or the code `BROKEN` if the connection failed.
    pub fn call(&mut self, method: &str, mut params: Value) -> Result<Value, CallFailure> {
        let info = afd_proto::method(method);
        if info.is_some_and(|info| info.takes.session) && params.get("session").is_none() {
            params["session"] = json!(self.session);
        }
        self.connection.call(method, params).map_err(|error| match error {
            CallError::Rpc { number, message, data } => CallFailure {
                code: documented(info, &data["code"]).as_str().unwrap_or_default().to_owned(),
                number,
                message,
                hint: data["hint"].as_str().map(str::to_owned),
                details: data["details"].clone(),
            },
            CallError::Io(error) => CallFailure {
                code: "BROKEN".into(),
                number: 0,
                message: error.to_string(),
                hint: None,
                details: Value::Null,
            },
        })
    }

    /// Calls a method that must succeed, and returns its result. Contexts are checked against the rules of the
    /// providers, see `provider_rules`.
    pub fn ok(&mut self, method: &str, params: Value) -> Value {
        let result = match self.call(method, params.clone()) {
            Ok(result) => result,
            Err(error) => panic!("{method} failed: {error:?}"),
        };
        if method == "conversation.context" {
            provider_rules::check(self, &params, &result);
        }
        result
    }

    /// Calls a method that must fail with this code, and returns the error.
    pub fn fails(&mut self, method: &str, params: Value, code: &str) -> CallFailure {
        match self.call(method, params) {
            Ok(result) => panic!("{method} succeeded: {result}"),
            Err(error) => {
                assert_eq!(error.code, code, "{error:?}");
                error
            }
        }
    }

    /// Makes an observation and returns the alias of the first ref whose label starts with `label`.
    pub fn alias(&mut self, label: &str) -> String {
        let refs = self.ok("observe.refs", json!({"full": true, "hints": false}));
        find_alias(&refs, label).unwrap_or_else(|| panic!("no ref label starts with {label:?}: {refs}"))
    }
}

/// Returns the alias of the first ref of an observation whose label starts with `label`.
pub fn find_alias(observation: &Value, label: &str) -> Option<String> {
    let rows = observation["refs"]["rows"].as_array().or_else(|| observation["rows"].as_array())?;
    rows.iter()
        .find(|r| r["label"].as_str().is_some_and(|l| l.starts_with(label)))
        .and_then(|r| r["ref"].as_str())
        .map(str::to_owned)
}
