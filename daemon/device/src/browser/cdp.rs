//! Client of the Chrome DevTools Protocol over a pipe: JSON messages that end with a zero byte.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::oneshot;

use crate::DriverError;

/// Maximum size of a message from the browser, in bytes.
const MAX_MESSAGE: usize = 128 << 20;

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

/// A connection to a browser.
pub struct Cdp {
    out: tokio::sync::Mutex<ChildStdin>,
    next: AtomicU64,
    waiting: Arc<Mutex<Waiting>>,
    timeout: Duration,
}

impl Cdp {
    /// Starts to read messages. `seen` is called for each event, in order, and must not block.
    pub fn start(
        (out, input): (ChildStdin, ChildStdout),
        timeout: Duration,
        seen: impl Fn(Event) + Send + 'static,
    ) -> Self {
        let waiting: Arc<Mutex<Waiting>> = Arc::default();
        tokio::spawn(read(BufReader::new(input), waiting.clone(), seen));
        Self { out: tokio::sync::Mutex::new(out), next: AtomicU64::new(1), waiting, timeout }
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
        let mut message = json!({"id": id, "method": method, "params": params});
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let sent = async {
            let mut out = self.out.lock().await;
            out.write_all(&bytes).await?;
            out.flush().await
        };
        if sent.await.is_err() {
            self.waiting.lock().answers.remove(&id);
            return Err(CdpError::Closed);
        }
        match tokio::time::timeout(self.timeout, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(CdpError::Closed),
            Err(_) => {
                self.waiting.lock().answers.remove(&id);
                Err(CdpError::Late)
            }
        }
    }
}

/// Reads messages until the browser closes the connection.
async fn read(mut input: BufReader<ChildStdout>, waiting: Arc<Mutex<Waiting>>, seen: impl Fn(Event)) {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match input.read_until(0, &mut bytes).await {
            Ok(read) if read > 0 && bytes.len() <= MAX_MESSAGE => {}
            _ => break,
        }
        bytes.pop();
        let Ok(mut message) = serde_json::from_slice::<Value>(&bytes) else { continue };
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
    let mut waiting = waiting.lock();
    waiting.closed = true;
    waiting.answers.clear();
}
