//! A blocking connection that speaks newline-delimited JSON-RPC.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use afd_proto::Method;
use afd_proto::daemon::DaemonVersion;
use afd_proto::rpc::{PROGRESS, Progress, ReportProgressParams, RpcReportProgress};
use afd_proto::vocabulary::NoParams;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::trust;

/// Interval at which a blocked read or write checks for an interrupt, a timeout and a due liveness probe.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Error: the daemon accepts connections but does not respond.
#[derive(Debug)]
pub struct Unresponsive;

impl std::fmt::Display for Unresponsive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the daemon is running but does not respond")
    }
}

impl std::error::Error for Unresponsive {}

/// Error: the user interrupted the call.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Reason why a call returned no result.
#[derive(Debug)]
pub enum CallError {
    /// The daemon returned an error.
    Rpc {
        /// JSON-RPC error code.
        number: i64,
        /// Error message.
        message: String,
        /// `{code, retryable, hint, details}`.
        data: Value,
    },
    /// The connection failed or timed out.
    Io(io::Error),
}

impl From<io::Error> for CallError {
    fn from(error: io::Error) -> Self {
        CallError::Io(error)
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
struct Response {
    #[serde(default)]
    id: Option<u64>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<RpcError>,
    #[serde(default)]
    params: Option<Value>,
}

#[derive(Deserialize)]
struct RpcError {
    code: i64,
    message: String,
    #[serde(default)]
    data: Value,
}

/// Maximum time to wait for a connection to a daemon whose connection backlog is full.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time to wait for the response to a liveness probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection to the daemon.
pub struct Connection {
    stream: BufReader<UnixStream>,
    socket: PathBuf,
    next_id: u64,
    timeout: Option<Duration>,
    /// Interval between liveness probes while waiting for the daemon; `None` to send no probes.
    probe: Option<Duration>,
    interrupted: Option<Arc<AtomicBool>>,
    progress: Option<OnProgress>,
}

/// Receives the progress of a call.
pub type OnProgress = Box<dyn FnMut(Progress) + Send>;

/// When a blocked read or write started, and when its next liveness probe is due.
struct Wait {
    started: Instant,
    next_probe: Option<Instant>,
}

impl Wait {
    fn new(probe: Option<Duration>) -> Self {
        let started = Instant::now();
        Self { started, next_probe: probe.map(|every| started + every) }
    }
}

impl Connection {
    /// Connects to a socket. Before the first byte is sent, checks that the directory and the listening process belong
    /// to the caller or root, because a token must not reach another user who created the socket first.
    ///
    /// # Errors
    /// `NotFound` or `ConnectionRefused` if no daemon is listening, `PermissionDenied` if the socket belongs to another
    /// user, `TimedOut` if the daemon accepts no connections.
    pub fn open(socket: &Path) -> io::Result<Self> {
        trust::check_directory(socket)?;
        let stream = connect(socket)?;
        trust::check_peer(&stream, socket)?;
        stream.set_read_timeout(Some(POLL_INTERVAL))?;
        stream.set_write_timeout(Some(POLL_INTERVAL))?;
        Ok(Self {
            stream: BufReader::new(stream),
            socket: socket.to_owned(),
            next_id: 1,
            timeout: None,
            probe: None,
            interrupted: None,
            progress: None,
        })
    }

    /// Sets the timeout for a response; `None` waits forever.
    ///
    /// # Errors
    /// `InvalidInput` if the timeout is zero.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        if timeout.is_some_and(|t| t.is_zero()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the timeout must not be zero"));
        }
        self.timeout = timeout;
        Ok(())
    }

    /// Sets the interval between liveness probes while waiting for a response. A call may take a long time, but a
    /// daemon that does not even answer a probe has failed.
    pub fn set_probe(&mut self, every: Duration) {
        self.probe = Some(every);
    }

    /// Sets the interrupt flag. Soon after the flag is raised, pending calls fail with [`Interrupted`].
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) {
        self.interrupted = Some(flag);
    }

    /// Sets the callback that receives progress. Only long calls, such as waits, report progress.
    pub fn set_progress(&mut self, progress: OnProgress) {
        self.progress = Some(progress);
    }

    /// Returns the stream, and the bytes that were read from it but not yet processed.
    pub fn into_stream(self) -> (UnixStream, Vec<u8>) {
        let rest = self.stream.buffer().to_vec();
        (self.stream.into_inner(), rest)
    }

    fn read(&mut self) -> io::Result<Response> {
        let mut line = Vec::new();
        let mut wait = Wait::new(self.probe);
        loop {
            match self.stream.read_until(b'\n', &mut line) {
                Ok(_) if line.ends_with(b"\n") => return serde_json::from_slice(&line).map_err(io::Error::other),
                Ok(_) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the daemon closed the connection")),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.check_wait(&mut wait)?,
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
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.check_wait(&mut wait)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Checks a read or write that made no progress for one interval. Fails if the call was interrupted, if it has
    /// timed out, or if the daemon does not respond.
    fn check_wait(&self, wait: &mut Wait) -> io::Result<()> {
        if self.interrupted.as_ref().is_some_and(|flag| flag.load(Ordering::SeqCst)) {
            return Err(io::Error::other(Interrupted));
        }
        if self.timeout.is_some_and(|timeout| wait.started.elapsed() >= timeout) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if wait.next_probe.is_some_and(|at| Instant::now() >= at) {
            self.probe_daemon()?;
            wait.next_probe = self.probe.map(|every| Instant::now() + every);
        }
        Ok(())
    }

    /// Checks that the daemon responds, over a second connection, because this one is still waiting for a response.
    fn probe_daemon(&self) -> io::Result<()> {
        let probed = Self::open(&self.socket).and_then(|mut other| {
            other.set_timeout(Some(self.probe.map_or(PROBE_TIMEOUT, |every| PROBE_TIMEOUT.min(every * 10))))?;
            match other.call_as::<DaemonVersion>(&NoParams {}) {
                Err(CallError::Io(error)) => Err(error),
                // Any response shows that the daemon is alive.
                _ => Ok(()),
            }
        });
        match probed {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(io::Error::other(Unresponsive)),
            // A daemon that is shutting down accepts no new connections, but still answers on the existing connection.
            _ => Ok(()),
        }
    }

    /// Calls a method and returns its result as raw JSON.
    pub fn call_raw(&mut self, method: &str, params: &impl Serialize) -> Result<Box<RawValue>, CallError> {
        if self.progress.is_some() && method != RpcReportProgress::INFO.name {
            self.send(RpcReportProgress::INFO.name, &ReportProgressParams { enabled: true })?;
        }
        let id = self.send(method, params)?;
        let response = loop {
            let message = self.read()?;
            match (message.method.as_deref(), message.params) {
                (Some(PROGRESS), Some(params)) => {
                    if let (Some(progress), Ok(step)) = (&mut self.progress, serde_json::from_value(params)) {
                        progress(step);
                    }
                }
                // The response to a message that the daemon could not parse has no id.
                (None, params) if message.id == Some(id) || message.id.is_none() => {
                    break Response { params, ..message };
                }
                _ => {}
            }
        };
        match response.error {
            Some(error) => Err(CallError::Rpc { number: error.code, message: error.message, data: error.data }),
            None => Ok(response.result.unwrap_or_else(|| RawValue::NULL.to_owned())),
        }
    }

    /// Sends a request; returns its id.
    fn send(&mut self, method: &str, params: &impl Serialize) -> io::Result<u64> {
        let id = self.next_id;
        self.next_id += 1;
        let mut text =
            serde_json::to_string(&Request { jsonrpc: "2.0", id, method, params }).map_err(io::Error::other)?;
        text.push('\n');
        self.write(text.as_bytes())?;
        Ok(id)
    }

    /// Calls a method by name and returns its result.
    pub fn call(&mut self, method: &str, params: Value) -> Result<Value, CallError> {
        let result = self.call_raw(method, &params)?;
        Ok(serde_json::from_str(result.get()).map_err(io::Error::other)?)
    }

    /// Calls a method and returns its typed result.
    ///
    /// # Errors
    /// The daemon's error, or a connection error. A result of an unexpected type is a connection error, too.
    pub fn call_as<M: Method>(&mut self, params: &M::Params) -> Result<M::Result, CallError> {
        let result = self.call_raw(M::INFO.name, params)?;
        Ok(serde_json::from_str(result.get()).map_err(io::Error::other)?)
    }

    /// Waits for the next notification on this connection.
    pub fn notification(&mut self) -> io::Result<Value> {
        loop {
            if let Some(mut params) = self.read()?.params {
                return Ok(params["result"].take());
            }
        }
    }
}

/// Connects to a socket. If the daemon's connection backlog is full, waits for at most [`CONNECT_TIMEOUT`].
fn connect(socket: &Path) -> io::Result<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
    let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_timeout(&fd, sockopt::Timeout::Send, Some(CONNECT_TIMEOUT))?;
    match rustix::net::connect(&fd, &SocketAddrUnix::new(socket)?) {
        Ok(()) => {}
        Err(rustix::io::Errno::AGAIN) => return Err(io::Error::new(io::ErrorKind::TimedOut, Unresponsive)),
        Err(error) => return Err(error.into()),
    }
    sockopt::set_socket_timeout(&fd, sockopt::Timeout::Send, None)?;
    Ok(fd.into())
}
