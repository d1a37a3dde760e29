//! Client of the Chrome DevTools Protocol: JSON messages over a pipe, where they end with a zero byte, or over a WebSocket.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use afd_proto::characters::whole_characters;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::DriverError;

/// Maximum size of a message from the browser, in bytes.
pub const MAX_MESSAGE: usize = 128 << 20;

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
pub enum Wire {
    /// Pipes of a browser that this process has started.
    Pipe(ChildStdin, ChildStdout),
    /// A WebSocket of a browser that runs already.
    Socket(Box<WebSocketStream<TcpStream>>),
}

enum Out {
    Pipe(ChildStdin),
    Socket(SplitSink<WebSocketStream<TcpStream>, Message>),
}

impl Out {
    /// Writes a message. Returns `None` if the connection is closed.
    async fn send(&mut self, message: String) -> Option<()> {
        match self {
            Self::Pipe(out) => {
                let mut bytes = message.into_bytes();
                bytes.push(0);
                out.write_all(&bytes).await.ok()?;
                out.flush().await.ok()
            }
            Self::Socket(out) => out.send(Message::text(message)).await.ok(),
        }
    }
}

enum In {
    Pipe(BufReader<ChildStdout>),
    Socket(SplitStream<WebSocketStream<TcpStream>>),
}

impl In {
    /// Reads a message. Returns `None` if the connection is closed, or if the message is too large.
    async fn next(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Pipe(input) => {
                let mut bytes = Vec::new();
                input.take(MAX_MESSAGE as u64).read_until(0, &mut bytes).await.ok()?;
                (bytes.pop() == Some(0)).then_some(bytes)
            }
            Self::Socket(input) => loop {
                let message = input.next().await?.ok()?;
                if message.is_text() || message.is_binary() {
                    return Some(message.into_data().to_vec());
                }
            },
        }
    }
}

/// Client of a browser.
pub struct Cdp {
    out: mpsc::UnboundedSender<String>,
    next: AtomicU64,
    waiting: Arc<Mutex<Waiting>>,
    timeout: Duration,
    reading: AbortHandle,
}

impl Drop for Cdp {
    /// Ends the connection, after what was sent has been written.
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl Cdp {
    /// Starts to read and to write messages. `seen` is called for each event, in order, and must not block.
    pub fn start(wire: Wire, timeout: Duration, seen: impl Fn(Event) + Send + 'static) -> Self {
        let waiting: Arc<Mutex<Waiting>> = Arc::default();
        let (send, messages) = mpsc::unbounded_channel();
        let (out, input) = match wire {
            Wire::Pipe(out, input) => (Out::Pipe(out), In::Pipe(BufReader::new(input))),
            Wire::Socket(socket) => {
                let (out, input) = (*socket).split();
                (Out::Socket(out), In::Socket(input))
            }
        };
        tokio::spawn(write(out, messages));
        let reading = tokio::spawn(read(input, waiting.clone(), seen)).abort_handle();
        Self { out: send, next: AtomicU64::new(1), waiting, timeout, reading }
    }

    /// Sends a request without waiting for its answer.
    pub fn send(&self, method: &str, params: Value) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let _ = self.out.send(json!({"id": id, "method": method, "params": params}).to_string());
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
        self.out.send(message.to_string()).map_err(|_| CdpError::Closed)?;
        match tokio::time::timeout(self.timeout, answer).await {
            Ok(answer) => answer.unwrap_or(Err(CdpError::Closed)),
            Err(_) => Err(CdpError::Late),
        }
    }
}

/// Writes messages, each whole, until the browser closes the connection.
async fn write(mut out: Out, mut messages: mpsc::UnboundedReceiver<String>) {
    while let Some(message) = messages.recv().await {
        if out.send(message).await.is_none() {
            return;
        }
    }
    if let Out::Socket(mut out) = out {
        let _ = out.close().await;
    }
}

/// Reads messages until the browser closes the connection, or sends one that is too large or no JSON.
async fn read(mut input: In, waiting: Arc<Mutex<Waiting>>, seen: impl Fn(Event)) {
    while let Some(bytes) = input.next().await {
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

/// Returns the text of a value; empty if it is none.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
