//! The tour's own daemon and practice phone.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use afd_proto::daemon::DaemonShutdown;
use afd_proto::device::{AddParams, DeviceAdd};
use afd_proto::vocabulary::NoParams;
use afd_proto::{Method, Secret};
use serde::Deserialize;
use serde_json::Value;

use crate::connection::{CallError, Connection};
use crate::outcome::{FAILED, Failure};
use crate::spawn::{self, Start};

/// Why the tour ended early.
pub(super) struct Interrupted(pub String);

impl From<String> for Interrupted {
    fn from(why: String) -> Self {
        Self(why)
    }
}

impl From<&str> for Interrupted {
    fn from(why: &str) -> Self {
        Self(why.to_owned())
    }
}

impl From<Failure> for Interrupted {
    fn from(failure: Failure) -> Self {
        Self(format!("{}: {}", failure.code, failure.message))
    }
}

/// A practice phone and a daemon that belong to the tour alone.
pub(super) struct World {
    connection: Connection,
    phone: Child,
    pub url: String,
    control: String,
    _dir: tempfile::TempDir,
}

impl World {
    /// Starts both.
    pub(super) fn start(seed: u64) -> Result<Self, Interrupted> {
        let dir = tempfile::Builder::new().prefix("afd-demo-").tempdir().map_err(|e| format!("cannot make a temporary directory: {e}"))?;
        let (phone, Ready { url, control }) = start_phone(seed)?;
        let path = |name: &str| -> PathBuf { dir.path().join(name) };
        let start = Start {
            socket: path("run/afd.sock"),
            memory_db: Some(path("memory.db")),
            config: Some(path("config.toml")),
            log: Some(path("afd.log")),
            private: true,
        };
        let mut world = match spawn::start_private(&start) {
            Ok(connection) => Self { connection, phone, url, control, _dir: dir },
            Err(error) => {
                stop(phone);
                return Err(error.why.into());
            }
        };
        let token = Some(Secret::new("practice"));
        let params = AddParams { name: "practice".into(), url: world.url.clone(), token, timeout_ms: None, persist: true };
        world.call::<DeviceAdd>(&params)?;
        Ok(world)
    }

    /// Calls the daemon.
    pub(super) fn call<M: Method>(&mut self, params: &M::Params) -> Result<M::Result, Failure> {
        self.connection.call_as::<M>(params).map_err(|error| match error {
            CallError::Answered { number, message, data } => Failure::answered(number, message, data),
            CallError::Broken(error) => Failure::new("NO_DAEMON", error.to_string(), FAILED),
        })
    }

    /// Arranges the phone behind the agent's back.
    pub(super) fn arrange(&self, what: &str, params: &Value) -> Result<Value, Interrupted> {
        http_post(&self.control, what, &params.to_string())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.connection.call_as::<DaemonShutdown>(&NoParams {});
        // The daemon ends the connection when it has finished; then its files may go.
        let _ = self.connection.set_timeout(Some(Duration::from_secs(10)));
        let _ = self.connection.notification();
        let _ = self.phone.kill();
        let _ = self.phone.wait();
    }
}

fn stop(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Where the practice phone can be reached.
#[derive(Deserialize)]
struct Ready {
    url: String,
    control: String,
}

fn start_phone(seed: u64) -> Result<(Child, Ready), Interrupted> {
    let program = spawn::program("afphone");
    let mut child = Command::new(&program)
        .args(["--until-eof", "--open", "com.android.settings", "--seed", &seed.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| {
            format!("cannot start the practice phone {}: {e}; `cargo build --release` makes it beside afctl", program.display())
        })?;
    let mut line = String::new();
    let read = child.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
    match serde_json::from_str(&line) {
        Ok(ready) if matches!(read, Some(Ok(_))) => Ok((child, ready)),
        _ => {
            stop(child);
            Err("the practice phone did not start".into())
        }
    }
}

/// One request to the phone's control interface, on loopback.
fn http_post(base: &str, path: &str, body: &str) -> Result<Value, Interrupted> {
    let host = base.trim_start_matches("http://");
    let exchange = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(stream, "POST /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = exchange().map_err(|e| format!("the practice phone does not answer: {e}"))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    if !head.starts_with("HTTP/1.1 200") {
        return Err(format!("the practice phone refused: {body}").into());
    }
    serde_json::from_str(body).map_err(|e| e.to_string().into())
}
