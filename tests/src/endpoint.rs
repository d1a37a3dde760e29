//! A fake language model endpoint: a real HTTP server on loopback that returns prepared replies.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};

/// A reply to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// A completion with this text, in the format of the API that the request path belongs to.
    Text(String),
    /// An embedding of each text of the request, with this number of dimensions. Texts that share words have similar
    /// embeddings.
    Embeddings(usize),
    /// A status with an empty JSON object.
    Status(u16),
    /// Status 200 with this body, which is not a valid completion.
    Malformed(String),
    /// No reply; the connection stays open until the endpoint is stopped.
    Hang,
}

/// A request that the endpoint received.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// Path.
    pub path: String,
    /// Headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Value,
}

#[derive(Default)]
struct Shared {
    replies: Mutex<Vec<Reply>>,
    requests: Mutex<Vec<ReceivedRequest>>,
    hanging: Mutex<Vec<TcpStream>>,
    stopped: AtomicBool,
}

/// A running endpoint; dropping it stops it.
pub struct Endpoint {
    port: u16,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Endpoint {
    /// Starts an endpoint that returns these replies in order and then repeats the last one.
    pub fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared { replies: Mutex::new(replies), ..Shared::default() });
        let own = shared.clone();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if own.stopped.load(Ordering::SeqCst) {
                    return;
                }
                if let Ok(stream) = stream {
                    serve(&own, stream);
                }
            }
        });
        Self { port, shared, thread: Some(thread) }
    }

    /// Returns the base URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns the requests received so far.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.requests.lock().expect("not poisoned").clone()
    }

    /// Replaces the remaining replies.
    pub fn set_replies(&self, replies: Vec<Reply>) {
        *self.shared.replies.lock().expect("not poisoned") = replies;
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.shared.hanging.lock().expect("not poisoned").clear();
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read(stream: &TcpStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(n, _)| n == "content-length").and_then(|(_, v)| v.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(ReceivedRequest { path, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

fn serve(shared: &Shared, mut stream: TcpStream) {
    let Some(request) = read(&stream) else { return };
    let anthropic = request.path.ends_with("/v1/messages");
    let input = request.body["input"].clone();
    shared.requests.lock().expect("not poisoned").push(request);
    let reply = {
        let mut replies = shared.replies.lock().expect("not poisoned");
        if replies.len() > 1 { replies.remove(0) } else { replies[0].clone() }
    };
    let (status, body) = match reply {
        Reply::Hang => {
            shared.hanging.lock().expect("not poisoned").push(stream);
            return;
        }
        Reply::Status(status) => (status, "{}".to_owned()),
        Reply::Malformed(body) => (200, body),
        Reply::Embeddings(size) => (200, embeddings(&input, size).to_string()),
        Reply::Text(text) if anthropic => (200, json!({"content": [{"type": "text", "text": text}]}).to_string()),
        Reply::Text(text) => {
            (200, json!({"choices": [{"message": {"role": "assistant", "content": text}}]}).to_string())
        }
    };
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
}

fn embeddings(input: &Value, size: usize) -> Value {
    let vector = |text: &str| {
        let mut vector = vec![0.0_f32; size];
        for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
            let hash = word.bytes().fold(5_381_usize, |hash, byte| hash.wrapping_mul(33) ^ usize::from(byte));
            for i in 0..4 {
                vector[(hash >> (i * 7)) % size] += 1.0;
            }
        }
        vector
    };
    let texts = input.as_array().cloned().unwrap_or_default();
    let data = texts
        .iter()
        .enumerate()
        .map(|(index, text)| json!({"index": index, "embedding": vector(text.as_str().unwrap_or_default())}));
    json!({"object": "list", "data": data.collect::<Vec<_>>()})
}
