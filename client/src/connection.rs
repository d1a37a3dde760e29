//! A blocking connection that speaks newline-delimited JSON-RPC.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use afd_proto::Method;
use afd_proto::daemon::DaemonVersion;
use afd_proto::vocabulary::NoParams;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::trust;

/// How often a waiting read checks whether it was interrupted.
const TICK: Duration = Duration::from_millis(50);

/// The daemon takes calls and answers none.
#[derive(Debug)]
pub struct Unresponsive;

impl std::fmt::Display for Unresponsive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the daemon is there and does not answer")
    }
}

impl std::error::Error for Unresponsive {}

/// The user interrupted the call.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

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

#[derive(Serialize)]
struct Request<'a, P> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: &'a P,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    result: Option<Box<RawValue>>,
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

/// How long connecting may wait for a daemon that takes no connections.
const CONNECT: Duration = Duration::from_secs(5);
/// How long the daemon may take to say that it is alive.
const ALIVE: Duration = Duration::from_secs(5);

/// A connection to the daemon.
pub struct Connection {
    stream: BufReader<UnixStream>,
    socket: PathBuf,
    next_id: u64,
    timeout: Option<Duration>,
    /// How often, while an answer is awaited, the daemon is asked whether it is alive.
    probe: Option<Duration>,
    interrupted: Option<Arc<AtomicBool>>,
}

/// How long something was waited for, and when to ask whether it is worth it.
struct Wait {
    begun: Instant,
    next_probe: Option<Instant>,
}

impl Wait {
    fn new(probe: Option<Duration>) -> Self {
        let begun = Instant::now();
        Self { begun, next_probe: probe.map(|every| begun + every) }
    }
}

impl Connection {
    /// Connects, and makes sure that whoever listens is the caller, before the first byte is sent: a token must not reach
    /// somebody who made the socket first.
    ///
    /// # Errors
    /// `NotFound` or `ConnectionRefused` when no daemon listens there, `PermissionDenied` when somebody else does, `TimedOut` when
    /// it takes no connections.
    pub fn open(socket: &Path) -> io::Result<Self> {
        trust::check_directory(socket)?;
        let stream = connect(socket)?;
        trust::check_peer(&stream, socket)?;
        stream.set_read_timeout(Some(TICK))?;
        stream.set_write_timeout(Some(TICK))?;
        Ok(Self { stream: BufReader::new(stream), socket: socket.to_owned(), next_id: 1, timeout: None, probe: None, interrupted: None })
    }

    /// Gives up when an answer takes longer.
    ///
    /// # Errors
    /// When the time is zero.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        if timeout.is_some_and(|t| t.is_zero()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a time-out must be longer than nothing"));
        }
        self.timeout = timeout;
        Ok(())
    }

    /// Asks the daemon now and then whether it is alive, while an answer is awaited: a call may take long, but a daemon that
    /// answers nobody is not worth waiting for.
    pub fn set_probe(&mut self, every: Duration) {
        self.probe = Some(every);
    }

    /// Gives up with `Interrupted` soon after the flag was set.
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) {
        self.interrupted = Some(flag);
    }

    fn read(&mut self) -> io::Result<Answer> {
        let mut line = Vec::new();
        let mut wait = Wait::new(self.probe);
        loop {
            match self.stream.read_until(b'\n', &mut line) {
                Ok(_) if line.ends_with(b"\n") => return serde_json::from_slice(&line).map_err(io::Error::other),
                Ok(_) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the daemon closed the connection")),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.keep_waiting(&mut wait)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let mut wait = Wait::new(self.probe);
        while !bytes.is_empty() {
            match self.stream.get_mut().write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.keep_waiting(&mut wait)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The daemon took or said nothing for a while: whether that is the end of it.
    fn keep_waiting(&self, wait: &mut Wait) -> io::Result<()> {
        if self.interrupted.as_ref().is_some_and(|flag| flag.load(Ordering::SeqCst)) {
            return Err(io::Error::other(Interrupted));
        }
        if self.timeout.is_some_and(|timeout| wait.begun.elapsed() >= timeout) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if wait.next_probe.is_some_and(|at| Instant::now() >= at) {
            self.ask_whether_alive()?;
            wait.next_probe = self.probe.map(|every| Instant::now() + every);
        }
        Ok(())
    }

    /// Asks over another connection; this one waits for its answer.
    fn ask_whether_alive(&self) -> io::Result<()> {
        let asked = Self::open(&self.socket).and_then(|mut other| {
            other.set_timeout(Some(self.probe.map_or(ALIVE, |every| ALIVE.min(every * 10))))?;
            match other.call_as::<DaemonVersion>(&NoParams {}) {
                Err(CallError::Broken(error)) => Err(error),
                // Whatever it answers, it is alive.
                _ => Ok(()),
            }
        });
        match asked {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(io::Error::other(Unresponsive)),
            // A daemon that is leaving takes no connections and still answers this one.
            _ => Ok(()),
        }
    }

    /// Calls a method and returns its result as it came.
    ///
    /// # Errors
    /// The daemon's error, or that the connection broke.
    pub fn call_raw(&mut self, method: &str, params: &impl Serialize) -> Result<Box<RawValue>, CallError> {
        let id = self.next_id;
        self.next_id += 1;
        let mut text = serde_json::to_string(&Request { jsonrpc: "2.0", id, method, params }).map_err(io::Error::other)?;
        text.push('\n');
        self.write(text.as_bytes())?;
        let answer = self.read()?;
        match answer.error {
            Some(fault) => Err(CallError::Answered { number: fault.code, message: fault.message, data: fault.data }),
            None => Ok(answer.result.unwrap_or_else(|| RawValue::NULL.to_owned())),
        }
    }

    /// Calls a method by name.
    ///
    /// # Errors
    /// The daemon's error, or that the connection broke.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value, CallError> {
        let result = self.call_raw(method, &params)?;
        Ok(serde_json::from_str(result.get()).map_err(io::Error::other)?)
    }

    /// Calls a method of the contract.
    ///
    /// # Errors
    /// The daemon's error, that the connection broke, or that the result is not what the contract says.
    pub fn call_as<M: Method>(&mut self, params: &M::Params) -> Result<M::Result, CallError> {
        let result = self.call_raw(M::INFO.name, params)?;
        Ok(serde_json::from_str(result.get()).map_err(io::Error::other)?)
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

/// Connects, for as long as that makes sense.
fn connect(socket: &Path) -> io::Result<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
    let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_timeout(&fd, sockopt::Timeout::Send, Some(CONNECT))?;
    match rustix::net::connect(&fd, &SocketAddrUnix::new(socket)?) {
        Ok(()) => {}
        Err(rustix::io::Errno::AGAIN) => return Err(io::Error::new(io::ErrorKind::TimedOut, Unresponsive)),
        Err(error) => return Err(error.into()),
    }
    sockopt::set_socket_timeout(&fd, sockopt::Timeout::Send, None)?;
    Ok(fd.into())
}
