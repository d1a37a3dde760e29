//! Standard input and output, one message per line. Lines are checked before the protocol library reads them, because
//! the library does not answer messages that are invalid or come too early.

use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, Stdout};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::input;

/// Maximum length of a line in bytes.
const MAX_LINE: u64 = 16 * 1024 * 1024;
/// Size in bytes of the buffers between the library and the streams.
const BUFFER: usize = 64 * 1024;
/// Methods that a client may call before `initialize`.
const EARLY: &[&str] = &["ping", "server/discover"];
/// Key in `_meta` of requests from clients that do not call `initialize`.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// Returns the streams that the library reads from and writes to, and the task that forwards the library's output. The
/// task ends when the library closes its stream.
pub fn transport() -> ((DuplexStream, DuplexStream), JoinHandle<()>) {
    let (lines, input) = tokio::io::duplex(BUFFER);
    let (output, answers) = tokio::io::duplex(BUFFER);
    let stdout = Arc::new(Mutex::new(tokio::io::stdout()));
    let writing = tokio::spawn(write(answers, stdout.clone()));
    tokio::spawn(read(lines, stdout));
    ((input, output), writing)
}

/// Forwards messages from the client to the library until standard input ends.
async fn read(mut to: DuplexStream, stdout: Arc<Mutex<Stdout>>) {
    let mut from = BufReader::new(tokio::io::stdin());
    let mut started = false;
    loop {
        let mut line = Vec::new();
        match (&mut from).take(MAX_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if line.len() as u64 == MAX_LINE && !line.ends_with(b"\n") {
            let why = format!("the line is too long: expected at most {MAX_LINE} bytes");
            tell(&stdout, &input::answer(&Value::Null, -32600, &why)).await;
            if !skip_line(&mut from).await {
                return;
            }
            continue;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let message = match input::read(&line) {
            Ok(message) => message,
            Err(answer) => {
                tell(&stdout, &answer).await;
                continue;
            }
        };
        let method = message.method.as_deref().unwrap_or_default();
        started |= method == "initialize" || message.text.contains(VERSION_KEY);
        if !started && !EARLY.contains(&method) {
            // Notifications and responses are never answered, even if they come too early.
            if message.is_request {
                tell(&stdout, &input::too_early(&message)).await;
            }
            continue;
        }
        let text = message.text.trim_end();
        if to.write_all(text.as_bytes()).await.is_err() || to.write_all(b"\n").await.is_err() {
            return;
        }
    }
}

/// Skips the rest of a line; returns false if the input has ended.
async fn skip_line(from: &mut BufReader<tokio::io::Stdin>) -> bool {
    loop {
        let (read, done) = match from.fill_buf().await {
            Ok([]) | Err(_) => return false,
            Ok(bytes) => match bytes.iter().position(|b| *b == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), false),
            },
        };
        from.consume(read);
        if done {
            return true;
        }
    }
}

/// Forwards the output of the library line by line, so that other responses can be written in between.
async fn write(from: DuplexStream, stdout: Arc<Mutex<Stdout>>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).await.is_ok_and(|read| read > 0) {
        let mut stdout = stdout.lock().await;
        if stdout.write_all(&line).await.is_err() || stdout.flush().await.is_err() {
            return;
        }
        line.clear();
    }
}

async fn tell(stdout: &Mutex<Stdout>, answer: &Value) {
    let mut stdout = stdout.lock().await;
    // Ignore errors: a client that no longer reads has exited.
    let _ = stdout.write_all(format!("{answer}\n").as_bytes()).await;
    let _ = stdout.flush().await;
}
