//! What end-to-end tests and benches share: a world with a real daemon, the real database, and practice phones over real
//! HTTP, all in a temporary directory and on loopback.

pub mod adb;
pub mod daemon;
pub mod endpoint;
pub mod http;
pub mod phone;
pub mod programs;
pub mod traces;
pub mod wait;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub use afctl::connection::{CallError, Connection};
pub use daemon::Daemon;
pub use phone::TestPhone;

/// A temporary directory with a daemon and a phone, which the daemon knows as `pixel`.
pub struct World {
    /// The phone.
    pub phone: TestPhone,
    /// The daemon.
    pub daemon: Daemon,
    dir: tempfile::TempDir,
}

impl World {
    /// Starts both; the phone shows the settings app.
    pub fn new() -> Self {
        Self::with(TestPhone::start(), "")
    }

    /// Starts a daemon for this phone; the settings may begin with more keys of the device.
    pub fn with(phone: TestPhone, settings: &str) -> Self {
        let dir = tempfile::Builder::new().prefix("afd-").tempdir().expect("a temporary directory");
        let config = dir.path().join("config.toml");
        let device = format!("[device.pixel]\nurl = \"{}\"\ntoken = \"{}\"\n", phone.url(), phone::TOKEN);
        // No test starts an adb server that it does not stop: tests of the cable bring their own.
        std::fs::write(&config, format!("{device}{settings}\n[adb]\npath = \"/nonexistent/adb\"\n")).expect("writes the settings");
        let daemon = Daemon::start(dir.path());
        Self { phone, daemon, dir }
    }

    /// Starts a daemon with these settings, which need not know the phone.
    pub fn bare(phone: TestPhone, settings: &str) -> Self {
        let dir = tempfile::Builder::new().prefix("afd-").tempdir().expect("a temporary directory");
        std::fs::write(dir.path().join("config.toml"), settings).expect("writes the settings");
        let daemon = Daemon::start(dir.path());
        Self { phone, daemon, dir }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.daemon.socket()
    }

    /// A client.
    pub fn client(&self) -> Client {
        Client { connection: self.daemon.connect(), session: "default".into() }
    }

    /// A client with a session of its own.
    pub fn client_of(&self, session: &str) -> Client {
        Client { connection: self.daemon.connect(), session: session.to_owned() }
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

/// A connection with a session.
pub struct Client {
    /// The connection.
    pub connection: Connection,
    session: String,
}

/// Code, message and details of an error.
#[derive(Debug, Clone)]
pub struct Failed {
    /// For example `DEVICE_BUSY`.
    pub code: String,
    /// JSON-RPC number.
    pub number: i64,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Facts.
    pub details: Value,
}

impl Client {
    /// Calls a method; the session is added where it is taken.
    ///
    /// # Errors
    /// The daemon's error.
    pub fn call(&mut self, method: &str, mut params: Value) -> Result<Value, Failed> {
        let takes = [
            "observe.",
            "act.",
            "verify.",
            "recover.",
            "device.lease",
            "device.release",
            "device.health",
            "device.packages",
            "memory.context",
            "visual.learn",
            "visual.match",
            "memory.save",
            "memory.experience",
            "session.",
            "conversation.",
            "pattern.save",
        ];
        let of_all =
            ["session.list", "session.bug.list", "session.bug.resolve", "session.bug.show", "session.result.list"].contains(&method);
        if takes.iter().any(|t| method.starts_with(t)) && !of_all && params.get("session").is_none() {
            params["session"] = json!(self.session);
        }
        self.connection.call(method, params).map_err(|error| match error {
            CallError::Answered { number, message, data } => Failed {
                code: data["code"].as_str().unwrap_or_default().to_owned(),
                number,
                message,
                hint: data["hint"].as_str().map(str::to_owned),
                details: data["details"].clone(),
            },
            CallError::Broken(error) => {
                Failed { code: "BROKEN".into(), number: 0, message: error.to_string(), hint: None, details: Value::Null }
            }
        })
    }

    /// Calls a method that must succeed.
    pub fn ok(&mut self, method: &str, params: Value) -> Value {
        match self.call(method, params) {
            Ok(result) => result,
            Err(error) => panic!("{method} failed: {error:?}"),
        }
    }

    /// Calls a method that must fail with this code.
    pub fn fails(&mut self, method: &str, params: Value, code: &str) -> Failed {
        match self.call(method, params) {
            Ok(result) => panic!("{method} succeeded: {result}"),
            Err(error) => {
                assert_eq!(error.code, code, "{error:?}");
                error
            }
        }
    }

    /// The alias of the first ref whose label begins so, from an observation that is made now.
    pub fn alias(&mut self, label: &str) -> String {
        let refs = self.ok("observe.refs", json!({"full": true, "hints": false}));
        find_alias(&refs, label).unwrap_or_else(|| panic!("no ref begins with {label:?}: {refs}"))
    }
}

/// The alias of the first ref whose label begins so.
pub fn find_alias(observation: &Value, label: &str) -> Option<String> {
    let rows = observation["refs"]["rows"].as_array().or_else(|| observation["rows"].as_array())?;
    rows.iter().find(|r| r["label"].as_str().is_some_and(|l| l.starts_with(label))).and_then(|r| r["ref"].as_str()).map(str::to_owned)
}
