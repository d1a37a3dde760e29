//! A blocking connection that speaks newline-delimited JSON-RPC.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

/// How often a waiting read looks whether it was interrupted.
const TICK: Duration = Duration::from_millis(50);

/// Why there is no result.
#[derive(Debug)]
pub enum CallError {
    /// The daemon answered an error: number, message, data.
    Answered {
        /// JSON-RPC number.
        number: i64,
        /// What happened.
        message: String,
        /// `{code, retryable, hint, details}`.
        data: Value,
    },
    /// The connection broke, or was silent for too long.
    Broken(io::Error),
}

impl From<io::Error> for CallError {
    fn from(error: io::Error) -> Self {
        CallError::Broken(error)
    }
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<Fault>,
    #[serde(default)]
    params: Option<Notification>,
}

#[derive(Deserialize)]
struct Fault {
    code: i64,
    message: String,
    #[serde(default)]
    data: Value,
}

#[derive(Deserialize)]
struct Notification {
    #[serde(default)]
    result: Value,
}

/// A connection to the daemon.
pub struct Connection {
    stream: BufReader<UnixStream>,
    next_id: u64,
    timeout: Option<Duration>,
    interrupted: Option<Arc<AtomicBool>>,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// `NotFound` or `ConnectionRefused` when no daemon listens there.
    pub fn open(socket: &Path) -> io::Result<Self> {
        Ok(Self { stream: BufReader::new(UnixStream::connect(socket)?), next_id: 1, timeout: None, interrupted: None })
    }

    /// Gives up when an answer takes longer.
    ///
    /// # Errors
    /// When the time is zero.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.timeout = timeout;
        self.stream.get_ref().set_read_timeout(timeout)
    }

    /// Gives up with `Interrupted` soon after the flag was set.
    ///
    /// # Errors
    /// When the socket does not take the time-out.
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) -> io::Result<()> {
        self.interrupted = Some(flag);
        self.stream.get_ref().set_read_timeout(Some(TICK))
    }

    fn read(&mut self) -> io::Result<Answer> {
        let mut line = Vec::new();
        let deadline = self.timeout.map(|t| Instant::now() + t);
        loop {
            match self.stream.read_until(b'\n', &mut line) {
                Ok(_) if line.ends_with(b"\n") => return serde_json::from_slice(&line).map_err(io::Error::other),
                Ok(_) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the daemon closed the connection")),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.keep_waiting(deadline)?,
                Err(error) => return Err(error),
            }
        }
    }

    /// A read ran out of time: whether that is the end of it.
    fn keep_waiting(&self, deadline: Option<Instant>) -> io::Result<()> {
        if self.interrupted.as_ref().is_some_and(|flag| flag.load(Ordering::SeqCst)) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if deadline.is_some_and(|d| Instant::now() >= d) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }

    /// Calls a method.
    ///
    /// # Errors
    /// The daemon's error, or that the connection broke.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value, CallError> {
        let id = self.next_id;
        self.next_id += 1;
        let mut text = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        text.push('\n');
        self.stream.get_mut().write_all(text.as_bytes())?;
        let answer = self.read()?;
        match answer.error {
            Some(fault) => Err(CallError::Answered { number: fault.code, message: fault.message, data: fault.data }),
            None => Ok(answer.result.unwrap_or_default()),
        }
    }

    /// The next notification of a subscription.
    ///
    /// # Errors
    /// That the connection broke.
    pub fn notification(&mut self) -> io::Result<Value> {
        loop {
            if let Some(notification) = self.read()?.params {
                return Ok(notification.result);
            }
        }
    }
}
