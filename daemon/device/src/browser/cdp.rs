//! Client of the Chrome DevTools Protocol over a pipe: JSON messages that end with a zero byte.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use afd_proto::characters::whole_characters;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};

use crate::DriverError;

/// Maximum size of a message from the browser, in bytes.
const MAX_MESSAGE: u64 = 128 << 20;

/// Event that is reported when the connection has been closed.
pub const CLOSED: &str = "afd.closed";

/// Error from a request to the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CdpError {
    /// The connection to the browser is closed.
    Closed,
    /// The browser did not answer in time.
    Late,
    /// The browser answered with an error; holds its message.
    Refused(String),
}

impl CdpError {
    /// Returns the error of a request that only reads.
    pub fn of_read(self) -> DriverError {
        match self {
            CdpError::Closed => DriverError::Unreachable("the browser has ended".into()),
            CdpError::Late => DriverError::Unreachable("the page does not respond".into()),
            CdpError::Refused(message) => DriverError::Refused { status: None, message: message.into() },
        }
    }

    /// Returns the error of a request that the page may have acted on.
    pub fn of_input(self) -> DriverError {
        match self {
            CdpError::Closed => DriverError::Lost("the browser has ended".to_owned()),
            CdpError::Late => DriverError::Lost("the page does not respond".to_owned()),
            other => other.of_read(),
        }
    }
}

/// A notification from the browser.
#[derive(Debug)]
pub struct Event {
    /// Name of the event, such as `Page.frameNavigated`.
    pub method: String,
    /// Session of the tab that the event is about; empty for the browser itself.
    pub session: String,
    /// Parameters of the event.
    pub params: Value,
}

type Answer = Result<Value, CdpError>;

#[derive(Default)]
struct Waiting {
    answers: HashMap<u64, oneshot::Sender<Answer>>,
    closed: bool,
}

/// Stops waiting for an answer when it is dropped.
struct Entry<'a>(&'a Mutex<Waiting>, u64);

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.0.lock().answers.remove(&self.1);
    }
}

/// A connection to a browser.
pub struct Cdp {
    out: mpsc::UnboundedSender<Vec<u8>>,
    next: AtomicU64,
    waiting: Arc<Mutex<Waiting>>,
    timeout: Duration,
}

impl Cdp {
    /// Starts to read and to write messages. `seen` is called for each event, in order, and must not block.
    pub fn start(
        (out, input): (ChildStdin, ChildStdout),
        timeout: Duration,
        seen: impl Fn(Event) + Send + 'static,
    ) -> Self {
        let waiting: Arc<Mutex<Waiting>> = Arc::default();
        let (send, messages) = mpsc::unbounded_channel();
        tokio::spawn(write(out, messages));
        tokio::spawn(read(BufReader::new(input), waiting.clone(), seen));
        Self { out: send, next: AtomicU64::new(1), waiting, timeout }
    }

    /// Returns whether the browser has closed the connection.
    pub fn is_closed(&self) -> bool {
        self.waiting.lock().closed
    }

    /// Sends a request, and waits for its answer. `session` is the session of a tab; empty for the browser itself.
    ///
    /// # Errors
    /// If the browser answers with an error, too late or not at all.
    pub async fn call(&self, session: &str, method: &str, params: Value) -> Answer {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (send, answer) = oneshot::channel();
        {
            let mut waiting = self.waiting.lock();
            if waiting.closed {
                return Err(CdpError::Closed);
            }
            waiting.answers.insert(id, send);
        }
        let _entry = Entry(&self.waiting, id);
        let mut message = json!({"id": id, "method": method, "params": params});
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.out.send(bytes).map_err(|_| CdpError::Closed)?;
        match tokio::time::timeout(self.timeout, answer).await {
            Ok(answer) => answer.unwrap_or(Err(CdpError::Closed)),
            Err(_) => Err(CdpError::Late),
        }
    }
}

/// Writes messages, each whole, until the browser closes the connection.
async fn write(mut out: ChildStdin, mut messages: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(message) = messages.recv().await {
        if out.write_all(&message).await.is_err() || out.flush().await.is_err() {
            return;
        }
    }
}

/// Reads messages until the browser closes the connection, or sends one that is too large or no JSON.
async fn read(mut input: BufReader<ChildStdout>, waiting: Arc<Mutex<Waiting>>, seen: impl Fn(Event)) {
    loop {
        let mut bytes = Vec::new();
        let read = (&mut input).take(MAX_MESSAGE).read_until(0, &mut bytes).await;
        if read.is_err() || bytes.pop() != Some(0) {
            break;
        }
        let Some(mut message) = parsed(&bytes) else { break };
        if let Some(id) = message["id"].as_u64() {
            let answer = match message["error"]["message"].as_str() {
                Some(error) => Err(CdpError::Refused(error.to_owned())),
                None => Ok(message["result"].take()),
            };
            if let Some(waiting) = waiting.lock().answers.remove(&id) {
                let _ = waiting.send(answer);
            }
        } else if let Some(method) = message["method"].as_str().map(str::to_owned) {
            let session = message["sessionId"].as_str().unwrap_or_default().to_owned();
            seen(Event { method, session, params: message["params"].take() });
        }
    }
    {
        let mut waiting = waiting.lock();
        waiting.closed = true;
        waiting.answers.clear();
    }
    seen(Event { method: CLOSED.to_owned(), session: String::new(), params: Value::Null });
}

/// Parses a message. A page can have halves of characters, which the browser passes on.
fn parsed(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes)
        .ok()
        .or_else(|| serde_json::from_str(&whole_characters(std::str::from_utf8(bytes).ok()?)).ok())
}
