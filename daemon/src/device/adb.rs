//! The real `adb`: its program for everything that is done, its server's socket for being told when phones come and go.
//!
//! The program knows its server, whatever version they are of, and starts it when it does not run. Watching must not do
//! that: who stopped the server wants it stopped, until somebody needs the phone.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::process::Command;

use crate::config;

/// How long one call of the program may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long the server may take to answer a question.
const SERVER_PATIENCE: Duration = Duration::from_secs(5);
/// The port of the server unless something else is said.
const DEFAULT_PORT: u16 = 5037;
/// The longest list of phones that is read, bytes.
const MAX_LIST: usize = 1 << 16;

/// Why `adb` did not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AdbError {
    /// There is no such program.
    #[error("{} cannot be run: {why}", path.display())]
    Missing {
        /// The program.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// It said no.
    #[error("adb: {0}")]
    Failed(String),
    /// It did not end.
    #[error("adb gave no answer within {} s", PATIENCE.as_secs())]
    Slow,
}

/// A phone as `adb` lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// Its serial.
    pub serial: String,
    /// `device` when it can be used, else `offline`, `unauthorized` ...
    pub state: String,
}

/// A forward as `adb` lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// The phone.
    pub serial: String,
    /// Port on this machine.
    pub local: u16,
    /// Port on the phone.
    pub remote: u16,
}

/// The `adb` of the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adb {
    path: PathBuf,
    port: u16,
}

fn port_of_environment() -> Option<u16> {
    std::env::var("ANDROID_ADB_SERVER_PORT").ok()?.parse().ok()
}

fn attached(text: &str) -> Vec<Attached> {
    let line = |line: &str| {
        let (serial, state) = line.split_once('\t')?;
        Some(Attached { serial: serial.to_owned(), state: state.trim().to_owned() })
    };
    text.lines().filter_map(line).collect()
}

fn forwards(text: &str) -> Vec<Forward> {
    let port = |spec: &str| spec.strip_prefix("tcp:").and_then(|p| p.parse().ok());
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        Some(Forward { serial: words.next()?.to_owned(), local: port(words.next()?)?, remote: port(words.next()?)? })
    };
    text.lines().filter_map(line).collect()
}

/// Whether a serial is the address of a phone that `adb connect` reaches.
pub fn is_address(serial: &str) -> bool {
    serial.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

impl Adb {
    /// The `adb` that the settings name; its server's port is theirs, the environment's or the usual one.
    pub fn new(settings: &config::Adb) -> Self {
        Self { path: settings.path.clone(), port: settings.server_port.or_else(port_of_environment).unwrap_or(DEFAULT_PORT) }
    }

    async fn run(&self, args: &[&str]) -> Result<String, AdbError> {
        let mut command = Command::new(&self.path);
        command.arg("-P").arg(self.port.to_string()).args(args).stdin(Stdio::null()).kill_on_drop(true);
        // Which phone is meant is said in the arguments.
        command.env_remove("ANDROID_SERIAL").current_dir("/");
        let output = match tokio::time::timeout(PATIENCE, command.output()).await {
            Err(_) => return Err(AdbError::Slow),
            Ok(Err(error)) => return Err(AdbError::Missing { path: self.path.clone(), why: error.to_string() }),
            Ok(Ok(output)) => output,
        };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(said);
        }
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        let words: Vec<&str> =
            complaint.lines().chain(said.lines()).map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('*')).collect();
        Err(AdbError::Failed(words.join(" ").trim_start_matches("error: ").trim_start_matches("adb: ").chars().take(300).collect()))
    }

    /// The phones that are attached. Starts the server when it does not run.
    ///
    /// # Errors
    /// [`AdbError`]
    pub async fn devices(&self) -> Result<Vec<Attached>, AdbError> {
        Ok(attached(&self.run(&["devices"]).await?))
    }

    /// Connects to a phone by its address.
    ///
    /// # Errors
    /// [`AdbError`]; the program itself ends well even when it could not connect.
    pub async fn connect(&self, address: &str) -> Result<(), AdbError> {
        let said = self.run(&["connect", address]).await?;
        let connected = said.contains("connected to") && !said.contains("cannot") && !said.contains("failed");
        if connected { Ok(()) } else { Err(AdbError::Failed(said.trim().to_owned())) }
    }

    /// Ends the connection to a phone by its address.
    ///
    /// # Errors
    /// [`AdbError`]
    pub async fn disconnect(&self, address: &str) -> Result<(), AdbError> {
        self.run(&["disconnect", address]).await.map(|_| ())
    }

    /// All forwards.
    ///
    /// # Errors
    /// [`AdbError`]
    pub async fn forwards(&self) -> Result<Vec<Forward>, AdbError> {
        Ok(forwards(&self.run(&["forward", "--list"]).await?))
    }

    /// Forwards a port of this machine, or a free one for 0, to a port of the phone; returns which. Takes no port away from
    /// another forward.
    ///
    /// # Errors
    /// [`AdbError`], also when the port is taken.
    pub async fn forward(&self, serial: &str, local: u16, remote: u16) -> Result<u16, AdbError> {
        let (from, to) = (format!("tcp:{local}"), format!("tcp:{remote}"));
        let said = self.run(&["-s", serial, "forward", "--no-rebind", &from, &to]).await?;
        match (local, said.trim().parse()) {
            (0, Ok(chosen)) => Ok(chosen),
            (0, Err(_)) => Err(AdbError::Failed(format!("it did not tell the port that it chose: {:?}", said.trim()))),
            (local, _) => Ok(local),
        }
    }

    /// Removes a forward. One that is not there any more is as good as removed.
    ///
    /// # Errors
    /// [`AdbError`]
    pub async fn remove_forward(&self, forward: &Forward) -> Result<(), AdbError> {
        if !self.forwards().await?.contains(forward) {
            return Ok(());
        }
        self.run(&["-s", &forward.serial, "forward", "--remove", &format!("tcp:{}", forward.local)]).await.map(|_| ())
    }

    /// What `cat` says of a file on the phone. Old phones do not tell whether it worked.
    ///
    /// # Errors
    /// [`AdbError`]
    pub async fn cat(&self, serial: &str, path: &str) -> Result<String, AdbError> {
        self.run(&["-s", serial, "shell", "cat", path]).await
    }

    /// Asks the server itself; `None` while none runs, or while it does not answer. Never starts one.
    async fn ask(&self, request: &str) -> Option<Tracker> {
        let ask = async {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.ok()?;
            stream.write_all(format!("{:04x}{request}", request.len()).as_bytes()).await.ok()?;
            let mut answer = [0; 4];
            stream.read_exact(&mut answer).await.ok()?;
            (&answer == b"OKAY").then_some(Tracker { stream })
        };
        tokio::time::timeout(SERVER_PATIENCE, ask).await.ok().flatten()
    }

    /// Follows which phones are attached; `None` while no server runs.
    pub async fn track(&self) -> Option<Tracker> {
        self.ask("host:track-devices").await
    }

    /// The phones that are attached right now; `None` while no server runs.
    pub async fn attached(&self) -> Option<Vec<Attached>> {
        let mut list = self.ask("host:devices").await?;
        tokio::time::timeout(SERVER_PATIENCE, list.next()).await.ok().flatten()
    }
}

/// What a server tells of the phones that come and go.
pub struct Tracker {
    stream: TcpStream,
}

impl Tracker {
    /// The phones, now and after each change; `None` when the server is gone. A cancelled call loses nothing as long as no list
    /// has begun to arrive, and lists arrive whole.
    pub async fn next(&mut self) -> Option<Vec<Attached>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).await.ok()?;
        let length = usize::from_str_radix(std::str::from_utf8(&length).ok()?, 16).ok().filter(|l| *l <= MAX_LIST)?;
        let mut text = vec![0; length];
        self.stream.read_exact(&mut text).await.ok()?;
        Some(attached(&String::from_utf8_lossy(&text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let text = "List of devices attached\nR5CT\tdevice\n127.0.0.1:5555\toffline\n\n";
        let of = |serial: &str, state: &str| Attached { serial: serial.into(), state: state.into() };
        assert_eq!(attached(text), [of("R5CT", "device"), of("127.0.0.1:5555", "offline")]);
        let text = "R5CT tcp:8081 tcp:8081\n127.0.0.1:5555 tcp:4000 localabstract:x\n";
        assert_eq!(forwards(text), [Forward { serial: "R5CT".into(), local: 8081, remote: 8081 }]);
    }

    #[test]
    fn addresses_are_told_from_serials() {
        assert!(is_address("127.0.0.1:5555") && is_address("phone.local:1"));
        assert!(!is_address("R5CT30ABCDE") && !is_address(":5555") && !is_address("a:b"));
    }
}
