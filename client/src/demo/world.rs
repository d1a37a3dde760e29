//! The tour's private daemon, and the practice phone or site that it operates.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use afd_proto::Method;
use afd_proto::daemon::DaemonShutdown;
use afd_proto::vocabulary::NoParams;
use serde::Deserialize;
use serde_json::Value;
use toml_edit::{DocumentMut, value};

use afd_link::connection::{CallError, Connection};
use afd_link::outcome::{FAILED, Failure};
use afd_link::spawn::{self, Start};

/// Message of the error that ended the tour early.
pub(super) struct DemoError(pub String);

impl From<String> for DemoError {
    fn from(message: String) -> Self {
        Self(message)
    }
}

impl From<&str> for DemoError {
    fn from(message: &str) -> Self {
        Self(message.to_owned())
    }
}

impl From<Failure> for DemoError {
    fn from(failure: Failure) -> Self {
        Self(format!("{}: {}", failure.code, failure.message))
    }
}

/// Name of the directory for the browser's profile.
const PROFILE: &str = "browser";
/// Maximum time for the browser to exit after the daemon has stopped.
const BROWSER_EXIT: Duration = Duration::from_secs(5);
/// Time after which a browser that has written nothing more has exited.
const QUIET: Duration = Duration::from_millis(500);

/// What the tour operates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Phone,
    Browser,
}

/// A daemon and a practice phone or site that only the tour uses.
pub(super) struct World {
    connection: Connection,
    practice: Child,
    /// Base URL of the practice phone or site, which ends in a slash for a site.
    pub url: String,
    control_url: String,
    has_browser: bool,
    dir: tempfile::TempDir,
}

impl World {
    /// Starts the practice phone or site, and a daemon whose only device is the phone, or a browser for the site.
    pub(super) fn start(kind: Kind, seed: u64) -> Result<Self, DemoError> {
        let dir = tempfile::Builder::new()
            .prefix("afd-demo-")
            .tempdir()
            .map_err(|e| format!("cannot create a temporary directory: {e}"))?;
        let path = |name: &str| -> PathBuf { dir.path().join(name) };
        let (practice, ready) = start_practice(kind, seed)?;
        let start = Start {
            socket: path("run/afd.sock"),
            memory_db: Some(path("memory.db")),
            config: Some(path("config.toml")),
            log: Some(path("afd.log")),
            private: true,
        };
        let started = configure(&path("config.toml"), kind, &ready, &path(PROFILE))
            .and_then(|()| spawn::start_private(&start).map_err(|error| error.message.into()));
        let has_browser = kind == Kind::Browser;
        let url = if has_browser { ready.site } else { ready.url };
        match started {
            Ok(connection) => Ok(Self { connection, practice, url, control_url: ready.control, has_browser, dir }),
            Err(error) => {
                stop(practice);
                Err(error)
            }
        }
    }

    /// Calls a method of the daemon.
    pub(super) fn call<M: Method>(&mut self, params: &M::Params) -> Result<M::Result, Failure> {
        self.connection.call_as::<M>(params).map_err(|error| match error {
            CallError::Rpc { number, message, data } => Failure::from_response(number, message, data),
            CallError::Io(error) => Failure::new("NO_DAEMON", error.to_string(), FAILED),
        })
    }

    /// Changes or reads the state of the phone through its control interface, bypassing the daemon.
    pub(super) fn control_phone(&self, what: &str, params: &Value) -> Result<Value, DemoError> {
        http_post(&self.control_url, what, &params.to_string())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.connection.call_as::<DaemonShutdown>(&NoParams {});
        // The daemon closes the connection when it has stopped; only then may its files be deleted.
        let _ = self.connection.set_timeout(Some(Duration::from_secs(10)));
        let _ = self.connection.notification();
        let _ = self.practice.kill();
        let _ = self.practice.wait();
        if self.has_browser {
            delete_profile(&self.dir.path().join(PROFILE));
        }
    }
}

/// Deletes the profile of a browser that exits. It still writes to the profile, which would keep the directory from being
/// deleted.
fn delete_profile(profile: &Path) {
    let until = Instant::now() + BROWSER_EXIT;
    let mut written = Instant::now();
    while written.elapsed() < QUIET && Instant::now() < until {
        if profile.exists() {
            let _ = std::fs::remove_dir_all(profile);
            written = Instant::now();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn stop(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Addresses that `afphone` prints when it is ready.
#[derive(Deserialize)]
struct Ready {
    url: String,
    control: String,
    #[serde(default)]
    site: String,
}

/// Writes the daemon's configuration with its only device. A browser keeps its profile in `profile`.
fn configure(file: &Path, kind: Kind, ready: &Ready, profile: &Path) -> Result<(), DemoError> {
    let mut settings = DocumentMut::new();
    let device = &mut settings["device"]["practice"];
    match kind {
        Kind::Phone => {
            device["url"] = value(&ready.url);
            device["token"] = value("practice");
        }
        Kind::Browser => {
            device["kind"] = value("browser");
            device["url"] = value(&ready.site);
            device["browser"]["profile"] = value(profile.to_string_lossy().as_ref());
        }
    }
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    opened
        .and_then(|mut opened| opened.write_all(settings.to_string().as_bytes()))
        .map_err(|e| format!("cannot write {}: {e}", file.display()).into())
}

fn start_practice(kind: Kind, seed: u64) -> Result<(Child, Ready), DemoError> {
    let program = spawn::program("afphone");
    let mut command = Command::new(&program);
    command.args(["--until-eof", "--open", "com.android.settings", "--seed", &seed.to_string()]);
    if kind == Kind::Browser {
        command.args(["--site", "0"]);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|e| {
        format!("cannot start {}: {e}; `cargo build --release` builds it next to afctl", program.display())
    })?;
    let mut line = String::new();
    let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
    match serde_json::from_str(&line) {
        Ok(ready) if matches!(read, Some(Ok(_))) => Ok((child, ready)),
        _ => {
            stop(child);
            Err(format!("{} did not start", program.display()).into())
        }
    }
}

/// Sends a POST request to the phone's control interface on loopback.
fn http_post(base: &str, path: &str, body: &str) -> Result<Value, DemoError> {
    let host = base.trim_start_matches("http://");
    let exchange = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(
            stream,
            "POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        Ok(response)
    };
    let response = exchange().map_err(|e| format!("the practice phone does not respond: {e}"))?;
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
    if !head.starts_with("HTTP/1.1 200") {
        return Err(format!("the practice phone rejected the request: {body}").into());
    }
    serde_json::from_str(body).map_err(|e| e.to_string().into())
}
