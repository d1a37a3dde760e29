//! Client for the Android Debug Bridge. It runs the `adb` program for actions, and connects directly to the adb server
//! to track devices.
//!
//! The `adb` program works with any version of the server, and starts the server if it is not running. Tracking must
//! not start the server: a user who stopped it wants it to stay stopped until a phone is needed.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

use afd_base::config;

/// Timeout for a single `adb` invocation.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(15);
/// Timeout for a single request to the adb server.
const SERVER_TIMEOUT: Duration = Duration::from_secs(5);
/// Default port of the adb server.
const DEFAULT_PORT: u16 = 5037;
/// Maximum size of what a command prints, in bytes.
const MAX_OUTPUT: usize = 64 << 20;
/// Maximum length of a command line, in bytes. The length is sent with four digits.
const MAX_COMMAND: usize = 60_000;
/// Maximum size of a device list from the adb server, in bytes.
const MAX_LIST: usize = 1 << 16;

/// Error from an `adb` command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdbError {
    /// The `adb` program cannot be run.
    #[error("cannot run {}: {why}", path.display())]
    Missing {
        /// Path of the `adb` program.
        path: PathBuf,
        /// Reason why the program cannot be run.
        why: String,
    },
    /// The command failed; holds the error message.
    #[error("adb: {0}")]
    Failed(String),
    /// The command did not finish in time.
    #[error("adb did not finish within {} s", COMMAND_TIMEOUT.as_secs())]
    TimedOut,
}

/// A phone listed by `adb devices`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedDevice {
    /// Serial of the phone, or its `host:port` if it is connected over the network.
    pub serial: String,
    /// Connection state: `device` if the phone can be used, otherwise for example `offline` or `unauthorized`.
    pub state: String,
}

/// A port forward listed by `adb forward --list`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// Serial of the phone to which the port is forwarded.
    pub serial: String,
    /// Port on this machine from which connections are forwarded.
    pub local: u16,
    /// Port on the phone to which connections are forwarded.
    pub remote: u16,
}

/// The configured `adb` program and the port of its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adb {
    path: PathBuf,
    port: u16,
}

fn port_from_env() -> Option<u16> {
    std::env::var("ANDROID_ADB_SERVER_PORT").ok()?.parse().ok()
}

fn parse_devices(text: &str) -> Vec<AttachedDevice> {
    let line = |line: &str| {
        let (serial, state) = line.split_once('\t')?;
        Some(AttachedDevice { serial: serial.to_owned(), state: state.trim().to_owned() })
    };
    text.lines().filter_map(line).collect()
}

fn parse_forwards(text: &str) -> Vec<Forward> {
    let port = |spec: &str| spec.strip_prefix("tcp:").and_then(|p| p.parse().ok());
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        Some(Forward { serial: words.next()?.to_owned(), local: port(words.next()?)?, remote: port(words.next()?)? })
    };
    text.lines().filter_map(line).collect()
}

/// Returns whether a serial is a `host:port` address for `adb connect`.
pub fn is_address(serial: &str) -> bool {
    serial.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

impl Adb {
    /// Creates a client for the configured program. The server port is taken from the configuration or else from the
    /// environment variable `ANDROID_ADB_SERVER_PORT`. If neither sets a port, the default is used.
    pub fn new(settings: &config::Adb) -> Self {
        Self { path: settings.path.clone(), port: settings.server_port.or_else(port_from_env).unwrap_or(DEFAULT_PORT) }
    }

    async fn run(&self, args: &[&str]) -> Result<String, AdbError> {
        let mut command = Command::new(&self.path);
        command.arg("-P").arg(self.port.to_string()).args(args).stdin(Stdio::null()).kill_on_drop(true);
        // The arguments select the phone, so the environment must not.
        command.env_remove("ANDROID_SERIAL").current_dir("/");
        let output = match tokio::time::timeout(COMMAND_TIMEOUT, command.output()).await {
            Err(_) => return Err(AdbError::TimedOut),
            Ok(Err(error)) => return Err(AdbError::Missing { path: self.path.clone(), why: error.to_string() }),
            Ok(Ok(output)) => output,
        };
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(stdout);
        }
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let lines: Vec<&str> = stderr
            .lines()
            .chain(stdout.lines())
            .map(str::trim)
            .filter(|l| !l.is_empty() && !l.starts_with('*'))
            .collect();
        Err(AdbError::Failed(
            lines.join(" ").trim_start_matches("error: ").trim_start_matches("adb: ").chars().take(300).collect(),
        ))
    }

    /// Lists the attached phones. Starts the adb server if it is not running.
    pub async fn devices(&self) -> Result<Vec<AttachedDevice>, AdbError> {
        Ok(parse_devices(&self.run(&["devices"]).await?))
    }

    /// Connects to the phone at an address.
    ///
    /// # Errors
    /// [`AdbError`] if `adb` fails, or exits successfully without having connected.
    pub async fn connect(&self, address: &str) -> Result<(), AdbError> {
        let output = self.run(&["connect", address]).await?;
        let connected = output.contains("connected to") && !output.contains("cannot") && !output.contains("failed");
        if connected { Ok(()) } else { Err(AdbError::Failed(output.trim().to_owned())) }
    }

    /// Disconnects from the phone at an address.
    pub async fn disconnect(&self, address: &str) -> Result<(), AdbError> {
        self.run(&["disconnect", address]).await.map(|_| ())
    }

    /// Lists all TCP forwards.
    pub async fn forwards(&self) -> Result<Vec<Forward>, AdbError> {
        Ok(parse_forwards(&self.run(&["forward", "--list"]).await?))
    }

    /// Forwards a local port (0 for any free port) to a port on the phone, and returns the local port. Never rebinds a
    /// port that is already forwarded.
    ///
    /// # Errors
    /// [`AdbError`] if `adb` fails or the local port is in use.
    pub async fn forward(&self, serial: &str, local: u16, remote: u16) -> Result<u16, AdbError> {
        let (from, to) = (format!("tcp:{local}"), format!("tcp:{remote}"));
        let output = self.run(&["-s", serial, "forward", "--no-rebind", &from, &to]).await?;
        match (local, output.trim().parse()) {
            (0, Ok(chosen)) => Ok(chosen),
            (0, Err(_)) => Err(AdbError::Failed(format!("expected the forwarded port, got {:?}", output.trim()))),
            (local, _) => Ok(local),
        }
    }

    /// Removes a forward. Succeeds even if the forward does not exist.
    pub async fn remove_forward(&self, forward: &Forward) -> Result<(), AdbError> {
        if !self.forwards().await?.contains(forward) {
            return Ok(());
        }
        self.run(&["-s", &forward.serial, "forward", "--remove", &format!("tcp:{}", forward.local)]).await.map(|_| ())
    }

    /// Reads a file on the phone with `cat`. Older phones do not report that `cat` failed, so the output may be an
    /// error message.
    pub async fn cat(&self, serial: &str, path: &str) -> Result<String, AdbError> {
        self.run(&["-s", serial, "shell", "cat", path]).await
    }

    /// Sends a request to the adb server without starting it. Returns `None` if the server is not running or does not
    /// accept the request.
    async fn query_server(&self, request: &str) -> Option<Tracker> {
        let exchange = async {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.ok()?;
            stream.write_all(format!("{:04x}{request}", request.len()).as_bytes()).await.ok()?;
            let mut status = [0; 4];
            stream.read_exact(&mut status).await.ok()?;
            (&status == b"OKAY").then_some(Tracker { stream })
        };
        tokio::time::timeout(SERVER_TIMEOUT, exchange).await.ok().flatten()
    }

    /// Starts tracking the attached phones. Returns `None` if the adb server is not running.
    pub async fn track(&self) -> Option<Tracker> {
        self.query_server("host:track-devices").await
    }

    /// Lists the attached phones without starting the adb server. Returns `None` if the server is not running.
    pub async fn attached(&self) -> Option<Vec<AttachedDevice>> {
        let mut list = self.query_server("host:devices").await?;
        tokio::time::timeout(SERVER_TIMEOUT, list.next()).await.ok().flatten()
    }
}

/// Error from running a command on a phone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The command did not reach the phone.
    #[error("{0}")]
    NotSent(String),
    /// The connection was lost while the command ran.
    #[error("{0}")]
    Lost(String),
    /// The command did not end in time.
    #[error("{0}")]
    Late(String),
}

impl Adb {
    /// Runs a command line in the shell of a phone, with the first bytes of a file as its standard input, and returns what it prints, until a line
    /// begins with `end` or the phone closes the stream. Starts the adb server if it is not running.
    ///
    /// # Errors
    /// [`RunError`] says whether the command reached the phone.
    pub async fn exec(
        &self,
        serial: &str,
        command: &str,
        input: Option<(tokio::fs::File, u64)>,
        end: &str,
        within: Duration,
    ) -> Result<Vec<u8>, RunError> {
        if command.len() > MAX_COMMAND {
            return Err(RunError::NotSent(format!("the command is longer than {MAX_COMMAND} bytes")));
        }
        let mut stream = self.open_or_connect(serial).await?;
        let run = async {
            let lost = |error: OpenError| match error {
                OpenError::Refused(why) => RunError::NotSent(why),
                // The phone may have started the command.
                OpenError::NoServer | OpenError::Broken(_) => RunError::Lost(error.to_string()),
            };
            ask(&mut stream, &format!("exec:{command}")).await.map_err(lost)?;
            if let Some((input, size)) = input {
                send_file(input, size, &mut stream).await?;
            }
            read_until(&mut stream, end).await
        };
        let late = || RunError::Late(format!("the command did not end within {} ms", within.as_millis()));
        tokio::time::timeout(within, run).await.unwrap_or_else(|_| Err(late()))
    }

    /// Like [`Self::open`]. Starts the adb server if it does not run, and connects to an address that it does not know.
    async fn open_or_connect(&self, serial: &str) -> Result<TcpStream, RunError> {
        let not_sent = |error: &dyn std::fmt::Display| RunError::NotSent(error.to_string());
        let mut opened = self.open(serial).await;
        if matches!(opened, Err(OpenError::NoServer)) {
            self.devices().await.map_err(|error| not_sent(&error))?;
            opened = self.open(serial).await;
        }
        let is_lost = |why: &str| ["not found", "offline"].iter().any(|state| why.contains(state));
        match opened {
            Err(OpenError::Refused(why)) if is_address(serial) && is_lost(&why) => {
                // The server keeps a connection that broke in its list.
                if why.contains("offline") {
                    let _ = self.disconnect(serial).await;
                }
                self.connect(serial).await.map_err(|error| not_sent(&error))?;
                self.open(serial).await
            }
            other => other,
        }
        .map_err(|error| not_sent(&error))
    }

    /// Opens a connection to a phone, on which nothing runs yet.
    async fn open(&self, serial: &str) -> Result<TcpStream, OpenError> {
        let opened = async {
            let connected = TcpStream::connect(("127.0.0.1", self.port)).await;
            let mut stream = connected.map_err(|_| OpenError::NoServer)?;
            let _ = stream.set_nodelay(true);
            ask(&mut stream, &format!("host:transport:{serial}")).await?;
            Ok(stream)
        };
        let late = || OpenError::Broken("it does not answer".to_owned());
        tokio::time::timeout(SERVER_TIMEOUT, opened).await.unwrap_or_else(|_| Err(late()))
    }
}

/// Reason why a request to the adb server failed.
#[derive(Debug, thiserror::Error)]
enum OpenError {
    #[error("the adb server does not run")]
    NoServer,
    /// The server refused the request.
    #[error("{0}")]
    Refused(String),
    /// The connection failed before the server answered.
    #[error("the connection to the adb server failed: {0}")]
    Broken(String),
}

/// Sends a request on a connection to the adb server, and waits until it is accepted.
async fn ask(stream: &mut TcpStream, request: &str) -> Result<(), OpenError> {
    let broken = |error: std::io::Error| OpenError::Broken(error.to_string());
    stream.write_all(format!("{:04x}{request}", request.len()).as_bytes()).await.map_err(broken)?;
    let mut status = [0; 4];
    stream.read_exact(&mut status).await.map_err(broken)?;
    if &status == b"OKAY" {
        return Ok(());
    }
    let mut length = [0; 4];
    stream.read_exact(&mut length).await.map_err(broken)?;
    let length = std::str::from_utf8(&length).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
    let mut why = vec![0; length.unwrap_or_default().min(MAX_LIST)];
    stream.read_exact(&mut why).await.map_err(broken)?;
    Err(OpenError::Refused(format!("adb: {}", String::from_utf8_lossy(&why))))
}

/// Sends `size` bytes of a file. A command that does not want its input closes the stream, and its output says why.
async fn send_file(file: tokio::fs::File, size: u64, stream: &mut TcpStream) -> Result<(), RunError> {
    let mut file = file.take(size);
    let mut buffer = vec![0; 1 << 16];
    let mut rest = size;
    while rest > 0 {
        let read = file.read(&mut buffer).await;
        let count = read.map_err(|error| RunError::Lost(format!("the file cannot be read: {error}")))?;
        if count == 0 {
            // The phone would wait for the rest.
            return Err(RunError::Lost("the file became shorter while it was sent".to_owned()));
        }
        if stream.write_all(&buffer[..count]).await.is_err() {
            return Ok(());
        }
        rest -= count as u64;
    }
    Ok(())
}

/// Reads until a whole line begins with `end`, or until the stream ends. Processes that the command left behind may keep the
/// stream open.
async fn read_until(stream: &mut TcpStream, end: &str) -> Result<Vec<u8>, RunError> {
    let mut output = Vec::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = stream.read(&mut buffer).await;
        let count =
            read.map_err(|error| RunError::Lost(format!("the connection to the adb server failed: {error}")))?;
        output.extend_from_slice(&buffer[..count]);
        let tail = &output[output.len().saturating_sub(end.len() + 16)..];
        let has_ended =
            !end.is_empty() && tail.ends_with(b"\n") && tail.windows(end.len()).any(|part| part == end.as_bytes());
        if count == 0 || has_ended || output.len() > MAX_OUTPUT {
            return Ok(output);
        }
    }
}

/// Stream of device lists from the adb server.
pub struct Tracker {
    stream: TcpStream,
}

impl Tracker {
    /// Waits for the next device list: first the current list, then a new one after each change. Returns `None` when
    /// the connection to the server is lost. Cancelling the wait loses data only if part of a list has already arrived,
    /// but the server sends each list as a whole.
    pub async fn next(&mut self) -> Option<Vec<AttachedDevice>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).await.ok()?;
        let length = usize::from_str_radix(std::str::from_utf8(&length).ok()?, 16).ok().filter(|l| *l <= MAX_LIST)?;
        let mut text = vec![0; length];
        self.stream.read_exact(&mut text).await.ok()?;
        Some(parse_devices(&String::from_utf8_lossy(&text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_devices_and_forwards() {
        let text = "List of devices attached\nR5CT\tdevice\n127.0.0.1:5555\toffline\n\n";
        let of = |serial: &str, state: &str| AttachedDevice { serial: serial.into(), state: state.into() };
        assert_eq!(parse_devices(text), [of("R5CT", "device"), of("127.0.0.1:5555", "offline")]);
        let text = "R5CT tcp:8081 tcp:8081\n127.0.0.1:5555 tcp:4000 localabstract:x\n";
        assert_eq!(parse_forwards(text), [Forward { serial: "R5CT".into(), local: 8081, remote: 8081 }]);
    }

    #[test]
    fn distinguishes_addresses_from_serials() {
        assert!(is_address("127.0.0.1:5555") && is_address("phone.local:1"));
        assert!(!is_address("R5CT30ABCDE") && !is_address(":5555") && !is_address("a:b"));
    }
}
